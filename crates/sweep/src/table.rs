//! Records as tables in columns: `runs.parquet`, one row per run, and `groups.parquet`, one row per group of each run.

use crate::quantity::{Quantity, Unit};
use crate::record::{Metric, SweepRecord, SweepRow};
use millpond_results::files::{Cells, Column};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts by settings, numbers by their size, then by protocol and seed.
pub(crate) fn sort(records: &mut [SweepRecord]) {
    records.sort_by(|one, other| {
        compare_settings(one, other)
            .then_with(|| one.protocol.cmp(&other.protocol))
            .then_with(|| one.seed.cmp(&other.seed))
            .then_with(|| one.run.cmp(&other.run))
    });
}

/// The order of the settings of two runs with the same keys.
pub(crate) fn compare_settings(one: &SweepRecord, other: &SweepRecord) -> Ordering {
    let pairs = one.settings.values().zip(other.settings.values());
    pairs.map(|(one, other)| compare_values(one, other)).fold(Ordering::Equal, Ordering::then)
}

/// The order of two values: numbers by their unit and size, then texts.
fn compare_values(one: &str, other: &str) -> Ordering {
    let by_size = match (Quantity::parse(one), Quantity::parse(other)) {
        (Some(a), Some(b)) => a.unit.name().cmp(b.unit.name()).then(a.number.total_cmp(&b.number)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    by_size.then_with(|| one.cmp(other))
}

/// One row per run: settings, what identifies the run, an error, and the values of all flows.
pub(crate) fn runs(records: &[SweepRecord]) -> Vec<Column> {
    let rows: Vec<(&SweepRecord, Option<&SweepRow>)> =
        records.iter().map(|record| (record, record.rows.first())).collect();
    let error = |record: &SweepRecord| record.error.clone().unwrap_or_default();
    let mut columns = identity(&rows);
    columns.push(texts("error", rows.iter().map(|(record, _)| error(record))));
    columns.extend(values(&rows));
    columns
}

/// One row per group of each run.
pub(crate) fn groups(records: &[SweepRecord]) -> Vec<Column> {
    let of = |record| SweepRecord::groups(record).map(move |row| (record, Some(row)));
    let rows: Vec<(&SweepRecord, Option<&SweepRow>)> = records.iter().flat_map(of).collect();
    let group = |row: &Option<&SweepRow>| row.and_then(|row| row.group.clone()).unwrap_or_default();
    let mut columns = identity(&rows);
    columns.push(texts("group", rows.iter().map(|(_, row)| group(row))));
    columns.extend(values(&rows));
    columns
}

impl SweepRecord {
    fn groups(&self) -> impl Iterator<Item = &SweepRow> {
        self.rows.iter().filter(|row| row.group.is_some())
    }
}

type Rows<'a> = [(&'a SweepRecord, Option<&'a SweepRow>)];

/// The settings, each in a column of its own, and the columns that identify a run.
fn identity(rows: &Rows<'_>) -> Vec<Column> {
    let keys: BTreeSet<&String> = rows.iter().flat_map(|(record, _)| record.settings.keys()).collect();
    let mut columns: Vec<Column> = keys.into_iter().map(|key| setting(key, rows)).collect();
    let text = |name: &'static str, of: fn(&SweepRecord) -> String| {
        texts(name, rows.iter().map(|(record, _)| of(record)))
    };
    columns.extend([
        text("protocol", |record| record.protocol.clone().unwrap_or_default()),
        text("world", |record| record.world.clone()),
        counts("seed", rows.iter().map(|(record, _)| Some(record.seed))),
        text("run", |record| record.run.clone()),
        text("scenario_sha256", |record| record.scenario_sha256.clone()),
        text("version", |record| record.version.clone()),
    ]);
    columns
}

/// The values of a varied key: numbers in base units, with the unit in the name of the column (`links.L.rate [bit/s]`), or
/// texts.
fn setting(key: &str, rows: &Rows<'_>) -> Column {
    let text = |record: &SweepRecord| record.settings.get(key).cloned().unwrap_or_default();
    let quantities: Option<Vec<Quantity>> =
        rows.iter().map(|(record, _)| Quantity::parse(&text(record))).collect();
    let units = |all: &[Quantity]| all.iter().map(|one| one.unit.name().to_owned()).collect::<BTreeSet<_>>();
    match quantities.filter(|all| units(all).len() == 1) {
        Some(all) => {
            let unit = all.first().map_or(Unit::One, |one| one.unit.clone());
            let unit = if unit.name().is_empty() { String::new() } else { format!(" [{}]", unit.name()) };
            numbers(format!("{key}{unit}"), all.into_iter().map(|one| Some(one.number)))
        }
        None => texts(key.to_owned(), rows.iter().map(|(record, _)| text(record))),
    }
}

/// The protocols of the flows, their number and all metrics.
fn values(rows: &Rows<'_>) -> Vec<Column> {
    let mut columns = vec![
        texts(
            "protocols",
            rows.iter().map(|(_, row)| row.map_or_else(String::new, |row| row.protocols.clone())),
        ),
        counts("flows", rows.iter().map(|(_, row)| row.map(|row| row.flows))),
    ];
    columns.extend(Metric::ALL.iter().enumerate().map(|(index, metric)| {
        numbers(metric.name, rows.iter().map(|(_, row)| row.and_then(|row| row.values().nth(index)?)))
    }));
    columns
}

fn numbers(name: impl Into<Cow<'static, str>>, cells: impl Iterator<Item = Option<f64>>) -> Column {
    Column { name: name.into(), cells: Cells::Numbers(cells.collect()) }
}

fn counts(name: &'static str, cells: impl Iterator<Item = Option<u64>>) -> Column {
    let whole = |cell: Option<u64>| cell.and_then(|count| i64::try_from(count).ok());
    Column { name: name.into(), cells: Cells::Counts(cells.map(whole).collect()) }
}

fn texts(name: impl Into<Cow<'static, str>>, cells: impl Iterator<Item = String>) -> Column {
    let (mut distinct, mut indices, mut rows) = (Vec::new(), BTreeMap::new(), Vec::new());
    for cell in cells {
        // At most one distinct text for each of a million runs.
        #[allow(clippy::cast_possible_truncation)]
        let next = distinct.len() as u32;
        let index = *indices.entry(cell.clone()).or_insert(next);
        if index == next {
            distinct.push(cell);
        }
        rows.push(index);
    }
    Column { name: name.into(), cells: Cells::Texts { distinct, rows: rows.into() } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first cells of the first table of a section, without backticks.
    fn documented(page: &str, section: &str) -> Vec<String> {
        let (_, text) = page.split_once(section).unwrap();
        let lines = text.lines().skip_while(|line| !line.starts_with("| column"));
        let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
        rows.map(|row| row.split('`').nth(1).unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn the_page_on_results_documents_every_column() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
        let page = std::fs::read_to_string(path).unwrap();
        let names = |columns: Vec<Column>| -> Vec<String> {
            columns.into_iter().map(|column| column.name.into_owned()).collect()
        };
        let expected = documented(&page, "### runs.parquet");
        assert_eq!(names(runs(&[])), expected);
        let of_groups = expected.iter().map(|name| if name == "error" { "group" } else { name.as_str() });
        assert_eq!(names(groups(&[])), of_groups.collect::<Vec<_>>());
    }

    #[test]
    fn values_are_numbers_in_base_units_where_all_of_them_have_one_unit() {
        let record = |rate: &str, count: &str| SweepRecord {
            settings: [("rate".to_owned(), rate.to_owned()), ("count".to_owned(), count.to_owned())].into(),
            ..SweepRecord::default()
        };
        let mut records = [record("1Gbps", "10"), record("20Mbps", "x"), record("20Mbps", "9")];
        sort(&mut records);
        let columns = runs(&records);
        assert_eq!(columns[0].name, "count");
        assert!(matches!(&columns[0].cells, Cells::Texts { distinct, .. } if distinct == &["9", "10", "x"]));
        assert_eq!(columns[1].name, "rate [bit/s]");
        assert_eq!(columns[1].cells, Cells::Numbers(vec![Some(2e7), Some(1e9), Some(2e7)]));
    }
}
