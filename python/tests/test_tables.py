"""Tables arrive in pandas, polars, pyarrow and xarray with their values and units."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import duckdb
import millpond
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from millpond.documents import ComparisonResult


def test_series_arrive_everywhere_as_in_the_file(run: millpond.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run")
    expected = pq.read_table(tmp_path / "run/series.parquet")
    table = run.series.to_arrow()
    assert table.column_names == expected.column_names
    texts = pa.schema(
        [(name, pa.string() if name not in {"time", "value"} else pa.float64()) for name in table.column_names]
    )
    assert table.cast(texts).equals(expected.cast(texts))
    assert len(run.series) == expected.num_rows

    frame = run.series.to_pandas()
    assert frame["value"].to_numpy() == pytest.approx(expected["value"].to_numpy())
    assert frame["entity"].astype(str).tolist() == expected["entity"].to_pylist()
    plain = run.series.to_polars().cast({pl.Categorical: pl.String})
    assert plain.to_dict(as_series=False) == expected.to_pydict()


def test_transfers_are_those_of_the_file(run: millpond.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run")
    expected = pq.read_table(tmp_path / "run/flows.parquet").to_pylist()
    assert run.transfers.to_arrow().to_pylist() == expected


def test_flows_and_links_have_the_numbers_of_the_summary(run: millpond.Run) -> None:
    flows, links = run.flows.to_pandas(), run.links.to_pandas()
    assert flows["goodput_bps"].tolist() == [flow.goodput_bps for flow in run.summary.flows]
    assert flows["rtt_ms_p95"].tolist() == [flow.rtt_ms and flow.rtt_ms.p95 for flow in run.summary.flows]
    assert links["queue_packets_mean"].tolist() == [link.queue_packets.mean for link in run.summary.links]
    assert links["drops"].tolist() == [link.drops for link in run.summary.links]


def test_units_are_in_the_metadata(run: millpond.Run) -> None:
    def unit(table: millpond.Table, name: str) -> bytes:
        metadata: dict[bytes, bytes] = table.to_arrow().schema.field(name).metadata
        return metadata[b"unit"]

    assert unit(run.series, "time") == b"s"
    assert unit(run.flows, "goodput_bps") == b"bit/s"
    assert unit(run.flows, "sent") == b"packets"
    assert unit(run.links, "queueing_ms_p99") == b"ms"
    assert unit(run.transfers, "delivered_bytes") == b"bytes"
    assert run.links.to_pandas().attrs["units"]["utilization"] == "1"
    numeric = {name for table in (run.flows, run.links) for name in table.column_names}
    texts = {"name", "group", "protocol", "direction"}
    assert numeric - texts == {name for table in (run.flows, run.links) for name in table.units}


def address(column: Any) -> int:
    """Where the numbers of a column of Arrow are."""
    number: int = column.buffers()[1].address
    return number


def test_libraries_read_the_memory_of_a_table(run: millpond.Run) -> None:
    for table in (run.series, run.flows, run.links):
        first = pa.table(table)
        for name in table.column_names:
            pairs = zip(first[name].chunks, table.to_arrow()[name].chunks, strict=True)
            numbers = [address(one) == address(other) for one, other in pairs if pa.types.is_floating(one.type)]
            assert all(numbers), name
        assert pl.DataFrame(table).height == len(table)


def test_duckdb_queries_a_table(run: millpond.Run) -> None:
    series = run.series
    query = "select entity, max(value) from series where quantity = 'goodput' group by entity order by entity"
    found = duckdb.sql(query)
    assert found is not None
    expected = [(one.entity, float(one.value.max())) for one in run.series.select(quantity="goodput")]
    assert found.fetchall() == expected
    assert len(series) > 0


def test_long_series_share_their_numbers_with_the_run(scenario: millpond.Scenario) -> None:
    # 10000 samples of each series.
    run = scenario.set("measure.every", "500us").run()
    table = run.series.to_arrow()
    # Two tables that the run has made independently of each other.
    other = millpond.SeriesTable(run._core).to_arrow()
    long = [chunk for name in ("time", "value") for chunk in table[name].chunks if len(chunk) == 10_000]
    assert len(long) > 10
    for name in ("time", "value"):
        pairs = zip(table[name].chunks, other[name].chunks, strict=True)
        assert all(address(mine) == address(theirs) for mine, theirs in pairs if len(mine) == 10_000)
    (capacity,) = run.series.select(quantity="capacity", entity="access ->")
    assert len(capacity.time) == 10_000
    chosen = table.filter(pa.compute.equal(table["quantity"], "capacity"))
    chosen = chosen.filter(pa.compute.equal(chosen["entity"], "access ->"))
    assert chosen["value"].to_numpy() == pytest.approx(capacity.value)
    # The table outlives the run.
    del run, other
    assert np.isfinite(table["value"].to_numpy()).all()


def test_a_data_set_has_units_and_the_values_of_the_series(run: millpond.Run) -> None:
    data = run.to_xarray()
    assert data["time"].attrs["units"] == "s"
    assert data["goodput"].attrs["units"] == "bit/s"
    assert data["goodput"].dims == ("time", "flow")
    for series in run.series.select(quantity="goodput"):
        column = data["goodput"].sel(flow=series.entity, time=series.time)
        np.testing.assert_array_equal(column.to_numpy(), series.value)
    assert set(data["goodput"]["flow"].to_numpy()) == {"download.0", "download.1"}


def test_a_data_set_of_one_kind_has_plain_names(run: millpond.Run) -> None:
    every = run.to_xarray()
    assert {"queueing delay (link, ms)", "queueing delay (flow, ms)"} <= set(every.data_vars)
    for kind in ("link", "flow"):
        data = run.to_xarray(kind=kind)
        assert data["queueing delay"].dims == ("time", kind)
        expected = every[f"queueing delay ({kind}, ms)"].sel(time=data["time"])
        np.testing.assert_array_equal(data["queueing delay"].to_numpy(), expected.to_numpy())
    with pytest.raises(millpond.Error, match="no series of the kind 'links'; there are: link, flow"):
        run.to_xarray(kind="links")


def test_a_table_has_columns_and_rows(run: millpond.Run) -> None:
    assert run.flows["goodput_bps"].tolist() == [flow.goodput_bps for flow in run.summary.flows]
    assert run.flows["name"].tolist() == [flow.name for flow in run.summary.flows]
    assert run.flows["sent"].dtype == np.int64
    assert np.isnan(run.flows["completed_s"]).all()
    for row, flow in zip(run.flows, run.summary.flows, strict=True):
        assert list(row) == run.flows.column_names
        assert (row["protocol"], row["sent"], row["completed_s"]) == (flow.protocol, flow.sent, None)
    assert len(list(run.series)) == len(run.series)
    with pytest.raises(KeyError, match="no column 'goodput'; it has: name, group"):
        run.flows["goodput"]


def test_notebooks_show_the_first_rows_of_a_table(run: millpond.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run.flows._repr_html_()
    assert "<th>goodput_bps, bit/s</th>" in shown
    assert f"<td>{run.summary.flows[1].goodput_bps:.6g}</td>" in shown
    assert "more rows" not in shown
    assert f"and {len(run.series) - 12} more rows" in run.series._repr_html_()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run.flows._repr_html_() == f"<pre>&lt;{repr(run.flows)[1:-1]}&gt;</pre>"


def test_a_comparison_is_a_document_and_a_data_frame(comparison: millpond.Comparison) -> None:
    assert ComparisonResult.from_json(json.loads(comparison.to_json())) == comparison.result
    frame = comparison.to_pandas()
    assert frame["run"].tolist() == ["cubic", "dctcp"]
    assert frame["seeds"].tolist() == [3, 3]
    for number, row in enumerate(comparison.result.rows):
        assert row.utilization is not None
        assert row.queueing_ms is not None
        assert frame["utilization"][number] == row.utilization.mean
        assert frame["utilization_half_width"][number] == row.utilization.half_width
        assert frame["queueing_ms_p95"][number] == row.queueing_ms.p95.mean
    assert frame["completion_ms_mean"].isna().all()
    units = frame.attrs["units"]
    assert set(units) == set(frame.columns) - {"run", "group", "world", "protocols", "flows", "seeds"}
    assert units["queueing_ms_p95_half_width"] == "ms"


def test_goodput_over_time_is_that_of_the_summary(run: millpond.Run) -> None:
    for flow in run.summary.flows:
        (series,) = run.series.select(quantity="goodput", entity=flow.name)
        measured = series.value[series.time > run.summary.measured_from_s + 1e-9]
        assert measured.mean() == pytest.approx(flow.goodput_bps, rel=1e-6)


def test_distributions_have_the_quantiles_of_the_summary(run: millpond.Run) -> None:
    (every,) = [one for one in run.distributions if one.entity == "all"]
    assert every.unit == "ms"
    assert every.share[-1] == 1.0
    assert (np.diff(every.value) >= 0).all()
    p95 = every.value[np.searchsorted(every.share, 0.95)]
    assert p95 == pytest.approx(run.summary.queueing_ms.p95, rel=0.05)


def test_a_selection_of_nothing_that_exists_is_refused(run: millpond.Run) -> None:
    with pytest.raises(millpond.Error, match=r"no series of the quantity 'gooodput'; did you mean 'goodput'\?"):
        run.series.select(quantity="gooodput")
    with pytest.raises(millpond.Error, match=r"no series of the entity 'nobody'; there are: .*download\.0"):
        run.series.select(entity="nobody", quantity="goodput")
    # Both exist, but not together.
    assert run.series.select(quantity="goodput", kind="link") == []
