"""Tables that Arrow libraries read without a copy, and series as arrays."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from millpond import _core

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow
    import xarray
    from numpy.typing import NDArray


#: A message lists at most this many names.
MOST_NAMES = 30


def unknown(what: str, name: str, known: list[str]) -> str:
    """The message about a name that is none of those that are known."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    others = f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else ""
    return f"{what} {name!r}; {hint}there are: {', '.join(known[:MOST_NAMES])}{others}"


class Table:
    """A table that any Arrow library imports: pandas, polars, pyarrow, DuckDB.

    It implements the Arrow PyCapsule interface (``__arrow_c_stream__``). The metadata of each field holds its unit
    under ``unit``. ``table["goodput_bps"]`` is a column, and iteration yields a dict for each row; both need pyarrow.
    """

    def __init__(self, core: _core.Table) -> None:
        self._table = core

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column as an array: of numbers, in which a missing one is not a number, or of texts.

        Raises
        ------
        KeyError
            There is no such column.
        """
        if name not in self.column_names:
            raise KeyError(f"the table has no column {name!r}; it has: {', '.join(self.column_names)}")
        import pyarrow

        column = self.to_arrow()[name]
        is_text = pyarrow.types.is_dictionary(column.type)
        values: NDArray[Any] = (column.cast(pyarrow.string()) if is_text else column).to_numpy()
        return values

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows: the value of each column by its name; None if it is missing."""
        for batch in self.to_arrow().to_batches():
            yield from batch.to_pylist()

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self._table.column_names

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column that has one."""
        return self._table.units

    def to_arrow(self) -> pyarrow.Table:
        """The table of pyarrow, which shares the numbers."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The data frame of pandas. Its ``attrs["units"]`` holds the units of the columns; texts are categories."""
        frame = self.to_arrow().to_pandas()
        frame.attrs["units"] = self.units
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The data frame of polars."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "a table of Millpond cannot be pickled: pickle its run, or what to_pandas() or to_arrow() returns"
        )

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.column_names)}>"

    def _repr_html_(self) -> str:
        from millpond._html import rows

        return rows(self)


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity of one entity over time.

    Attributes
    ----------
    kind : str
        ``"flow"``, ``"link"``, ``"relay"`` or ``"group"``.
    entity : str
        Name of the flow (``"user.3"``), of the link with its direction (``"L1 ->"``), of the relay or of the group.
    quantity : str
        Name of the quantity.
    unit : str
        Unit of the values.
    time : ndarray, shape (n,)
        Ends of the sampling intervals, in seconds.
    value : ndarray, shape (n,)
        Values; not a number where the quantity has no value.
    """

    kind: str
    entity: str
    quantity: str
    unit: str
    time: NDArray[np.float64]
    value: NDArray[np.float64]


class SeriesTable(Table):
    """Quantities over time. As a table it has one row per sample; `select` returns arrays."""

    def __init__(self, run: _core.Run) -> None:
        super().__init__(run.series())
        self._run = run

    @property
    def contents(self) -> list[tuple[str, str, str, str]]:
        """Kind, entity, quantity and unit of each series."""
        return self._run.series_keys()

    def select(
        self, *, quantity: str | None = None, entity: str | None = None, kind: str | None = None
    ) -> list[Series]:
        """The series with these properties, in the order of the run.

        Parameters
        ----------
        quantity, entity, kind : str, optional
            Properties that a series must have; see `Series`.

        Raises
        ------
        Error
            No series of the run has such a quantity, entity or kind.
        """
        for position, (name, wanted) in enumerate([("kind", kind), ("entity", entity), ("quantity", quantity)]):
            known = list(dict.fromkeys(key[position] for key in self.contents))
            if wanted is not None and wanted not in known:
                raise _core.Error(unknown(f"the run has no series of the {name}", wanted, known))
        return self.matching(quantity=quantity, entity=entity, kind=kind)

    def matching(
        self, *, quantity: str | None = None, entity: str | None = None, kind: str | None = None
    ) -> list[Series]:
        """As `select`, but without an error if there is no such quantity, entity or kind."""
        return list(self._matching(quantity, entity, kind))

    def _matching(self, quantity: str | None, entity: str | None, kind: str | None) -> Iterator[Series]:
        for number, (of_kind, name, of_quantity, unit) in enumerate(self.contents):
            if quantity in (None, of_quantity) and entity in (None, name) and kind in (None, of_kind):
                time, value = (array(column) for column in self._run.series_values(number))
                yield Series(of_kind, name, of_quantity, unit, time, value)

    def to_xarray(self, *, kind: str | None = None) -> xarray.Dataset:
        """The series as a data set; see `Run.to_xarray`."""
        import numpy as np
        import xarray

        kinds = list(dict.fromkeys(of_kind for of_kind, *_ in self.contents))
        if kind is not None and kind not in kinds:
            raise _core.Error(f"the run has no series of the kind {kind!r}; there are: {', '.join(kinds)}")
        everything = self.matching(kind=kind)
        time = np.unique(np.concatenate([one.time for one in everything] or [np.empty(0)]))
        dataset = xarray.Dataset(coords={"time": ("time", time, {"units": "s", "long_name": "time"})})
        variables = self._variables(everything)
        for dimension in dict.fromkeys(one.kind for one in everything):
            dataset.coords[dimension] = list(dict.fromkeys(one.entity for one in everything if one.kind == dimension))
        for name, series in variables.items():
            dimension = series[0].kind
            columns = {entity: number for number, entity in enumerate(dataset.coords[dimension].values)}
            values = np.full((len(time), len(columns)), np.nan)
            for one in series:
                values[np.searchsorted(time, one.time), columns[one.entity]] = one.value
            attributes = {"units": series[0].unit, "long_name": series[0].quantity}
            dataset[name] = (("time", dimension), values, attributes)
        return dataset

    @staticmethod
    def _variables(everything: list[Series]) -> dict[str, list[Series]]:
        """The series of each variable. Quantities of equal name and different kind or unit are different variables."""
        groups: dict[tuple[str, str, str], list[Series]] = {}
        for one in everything:
            groups.setdefault((one.quantity, one.kind, one.unit), []).append(one)
        names = [quantity for quantity, _, _ in groups]
        return {
            quantity if names.count(quantity) == 1 else f"{quantity} ({kind}, {unit})": series
            for (quantity, kind, unit), series in groups.items()
        }


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of queueing delay, as points of its distribution function.

    Attributes
    ----------
    kind : str
        ``"link"`` or ``"group"``.
    entity : str
        Name of the link with its direction, of the group, or ``"all"`` for all flows.
    quantity : str
        Name of the quantity.
    unit : str
        Unit of the values.
    share : ndarray, shape (n,)
        Cumulative shares, ascending from 0 to 1.
    value : ndarray, shape (n,)
        The value that this share of the packets does not exceed.
    """

    kind: str
    entity: str
    quantity: str
    unit: str
    share: NDArray[np.float64]
    value: NDArray[np.float64]


def distributions(run: _core.Run) -> tuple[Distribution, ...]:
    """The distributions of a run."""
    return tuple(
        Distribution(*key, *(array(column) for column in run.distribution_points(number)))
        for number, key in enumerate(run.distribution_keys())
    )


def array(column: bytes) -> NDArray[np.float64]:
    """The numbers of 64 bits of a column; they cannot be changed."""
    import numpy as np

    numbers: NDArray[Any] = np.frombuffer(column, dtype=np.float64)
    return numbers
