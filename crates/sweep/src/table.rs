//! Records as tables in columns: `runs.parquet`, one row per run, and `groups.parquet`, one row per group of each run.

use crate::metric::Metric;
use crate::quantity::{NumberWithUnit, Unit};
use crate::record::{SweepRecord, SweepRow};
use millpond_results::files::{Cells, Column, TextRun};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Sorts by settings, numbers by their size, then by protocol and seed.
pub(crate) fn sort(records: &mut [SweepRecord]) {
    let places = places(records);
    let place = |value: &str| places.get(value).copied().unwrap_or_default();
    records.sort_by(|one, other| {
        let settings = one.settings.values().map(place).cmp(other.settings.values().map(place));
        settings
            .then_with(|| one.protocol.cmp(&other.protocol))
            .then_with(|| one.seed.cmp(&other.seed))
            .then_with(|| one.run.cmp(&other.run))
    });
}

/// The place of each value of the settings in the order of all values, so that each is parsed once.
fn places(records: &[SweepRecord]) -> BTreeMap<String, usize> {
    let values: BTreeSet<&str> = records.iter().flat_map(|record| record.settings.values()).collect();
    let mut values: Vec<(Option<NumberWithUnit>, &str)> =
        values.into_iter().map(|value| (NumberWithUnit::parse(value), value)).collect();
    values.sort_by(compare_values);
    values.into_iter().enumerate().map(|(place, (_, value))| (value.to_owned(), place)).collect()
}

/// The order of two values: numbers by their unit and size, then texts.
fn compare_values(one: &(Option<NumberWithUnit>, &str), other: &(Option<NumberWithUnit>, &str)) -> Ordering {
    let by_size = match (&one.0, &other.0) {
        (Some(a), Some(b)) => a.unit.name().cmp(b.unit.name()).then(a.number.total_cmp(&b.number)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    by_size.then_with(|| one.1.cmp(other.1))
}

/// One row per run: settings, what identifies the run, an error, and the values of all flows.
pub(crate) fn runs(records: &[SweepRecord]) -> Vec<Column<'_>> {
    let rows: SweepRows<'_> = records.iter().map(|record| (record, record.rows.first())).collect();
    let mut columns = identity(&rows);
    let errors = rows.iter().map(|(record, _)| record.error.as_deref().unwrap_or_default());
    columns.push(texts("error", errors));
    columns.extend(values(&rows));
    columns
}

/// One row per group of each run.
pub(crate) fn groups(records: &[SweepRecord]) -> Vec<Column<'_>> {
    let of = |record| SweepRecord::groups(record).map(move |row| (record, Some(row)));
    let rows: SweepRows<'_> = records.iter().flat_map(of).collect();
    let mut columns = identity(&rows);
    let groups = rows.iter().map(|&(_, row)| row.and_then(|row| row.group.as_ref()).map_or("", |name| name));
    columns.push(texts("group", groups));
    columns.extend(values(&rows));
    columns
}

impl SweepRecord {
    fn groups(&self) -> impl Iterator<Item = &SweepRow> {
        self.rows.iter().filter(|row| row.group.is_some())
    }
}

/// A row of a table: its run, and the row of all flows or of a group.
type Row<'a> = (&'a SweepRecord, Option<&'a SweepRow>);
/// The rows of a table. Columns of numbers are made from them when they are written, one after the other.
type SweepRows<'a> = Rc<[Row<'a>]>;

/// The settings, each in a column of its own, and the columns that identify a run.
fn identity<'a>(rows: &SweepRows<'a>) -> Vec<Column<'a>> {
    let keys: BTreeSet<&str> = rows.iter().flat_map(|(record, _)| record.settings.keys()).collect();
    let mut columns: Vec<Column<'_>> = keys.into_iter().map(|key| setting(key, rows)).collect();
    let text = |name: &'static str, of: fn(&SweepRecord) -> &str| {
        texts(name, rows.iter().map(|&(record, _)| of(record)))
    };
    columns.extend([
        text("protocol", |record| record.protocol.as_ref().map_or("", |name| name)),
        text("world", |record| &record.world),
        counts("seed", rows, |(record, _)| Some(record.seed)),
        text("run", |record| &record.run),
        text("scenario_sha256", |record| &record.scenario_sha256),
        text("version", |record| &record.version),
    ]);
    columns
}

/// The values of a varied key: numbers in base units, with the unit in the name of the column (`links.L.rate [bit/s]`), or
/// texts.
fn setting<'a>(key: &str, rows: &SweepRows<'a>) -> Column<'a> {
    let text = |record: &'a SweepRecord| record.settings.get(key).unwrap_or_default();
    let quantities: Option<Vec<NumberWithUnit>> =
        rows.iter().map(|&(record, _)| NumberWithUnit::parse(text(record))).collect();
    let units =
        |all: &[NumberWithUnit]| all.iter().map(|one| one.unit.name().to_owned()).collect::<BTreeSet<_>>();
    match quantities.filter(|all| units(all).len() == 1) {
        Some(all) => {
            let unit = all.first().map_or(Unit::One, |one| one.unit.clone());
            let unit = if unit.name().is_empty() { String::new() } else { format!(" [{}]", unit.name()) };
            let cells: Vec<f64> = all.into_iter().map(|one| one.number).collect();
            Column {
                name: format!("{key}{unit}").into(),
                cells: Cells::Numbers(Box::new(cells.into_iter().map(Some))),
            }
        }
        None => texts(key.to_owned(), rows.iter().map(|&(record, _)| text(record))),
    }
}

/// The protocols of the flows, their number and all metrics.
fn values<'a>(rows: &SweepRows<'a>) -> Vec<Column<'a>> {
    let mut columns = vec![
        texts("protocols", rows.iter().map(|(_, row)| row.map_or("", |row| row.protocols.as_str()))),
        counts("flows", rows, |(_, row)| row.map(|row| row.flows)),
    ];
    columns.extend(Metric::ALL.iter().enumerate().map(|(index, metric)| {
        let cells = each(rows, move |(_, row)| row.and_then(|row| row.values().nth(index)?));
        Column { name: metric.name.into(), cells: Cells::Numbers(cells) }
    }));
    columns
}

fn counts<'a>(
    name: &'static str,
    rows: &SweepRows<'a>,
    count: impl Fn(Row<'a>) -> Option<u64> + 'a,
) -> Column<'a> {
    let cells = each(rows, move |row| count(row).and_then(|count| i64::try_from(count).ok()));
    Column { name: name.into(), cells: Cells::Counts(cells) }
}

/// The cell of each row.
fn each<'a, T: 'a>(
    rows: &SweepRows<'a>,
    cell: impl Fn(Row<'a>) -> Option<T> + 'a,
) -> Box<dyn Iterator<Item = Option<T>> + 'a> {
    let rows = Rc::clone(rows);
    Box::new((0..rows.len()).map(move |index| rows.get(index).and_then(|&row| cell(row))))
}

fn texts<'a>(name: impl Into<Cow<'static, str>>, cells: impl Iterator<Item = &'a str>) -> Column<'a> {
    let (mut texts, mut runs): (Vec<&str>, Vec<TextRun>) = (Vec::new(), Vec::new());
    for cell in cells {
        match runs.last_mut().filter(|_| texts.last() == Some(&cell)) {
            Some(run) => run.rows += 1,
            None => {
                // At most one text for each of a million runs and their groups.
                #[allow(clippy::cast_possible_truncation)]
                runs.push(TextRun { text: texts.len() as u32, rows: 1 });
                texts.push(cell);
            }
        }
    }
    Column { name: name.into(), cells: Cells::Texts { texts, runs: runs.into() } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Shared;

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
        let names = |columns: Vec<Column<'_>>| -> Vec<String> {
            columns.into_iter().map(|column| column.name.into_owned()).collect()
        };
        let expected = documented(&page, "### runs.parquet");
        assert_eq!(names(runs(&[])), expected);
        let of_groups = expected.iter().map(|name| if name == "error" { "group" } else { name.as_str() });
        assert_eq!(names(groups(&[])), of_groups.collect::<Vec<_>>());
    }

    #[test]
    fn a_table_of_runs_has_the_values_of_all_flows_and_one_of_groups_those_of_each_group() {
        use crate::values::Values;
        let row = |group: Option<&str>, flows: u64| SweepRow {
            group: group.map(|name| Shared::from(name.to_owned())),
            flows,
            values: Values::of(|metric| (metric.name == "jain").then_some(1.0 / flows as f64)),
            ..SweepRow::default()
        };
        let rows = vec![row(None, 5), row(Some("a"), 4), row(Some("b"), 1)];
        let records = [SweepRecord { rows, ..SweepRecord::default() }];
        let jain = |columns: Vec<Column<'_>>| {
            let column = columns.into_iter().find(|column| column.name == "jain").unwrap();
            let Cells::Numbers(values) = column.cells else { panic!("texts") };
            values.collect::<Vec<_>>()
        };
        assert_eq!(jain(runs(&records)), [Some(0.2)]);
        assert_eq!(jain(groups(&records)), [Some(0.25), Some(1.0)]);
    }

    #[test]
    fn values_are_numbers_in_base_units_where_all_of_them_have_one_unit() {
        let record = |rate: &str, count: &str| SweepRecord {
            settings: Shared::from(BTreeMap::from(
                [("rate", rate), ("count", count)].map(|(key, value)| (key.to_owned(), value.to_owned())),
            )),
            ..SweepRecord::default()
        };
        let mut records = [record("1Gbps", "10"), record("20Mbps", "x"), record("20Mbps", "9")];
        sort(&mut records);
        let mut columns = runs(&records).into_iter();
        let (count, rate) = (columns.next().unwrap(), columns.next().unwrap());
        assert_eq!((count.name, rate.name), ("count".into(), "rate [bit/s]".into()));
        assert!(matches!(&count.cells, Cells::Texts { texts, .. } if texts == &["9", "10", "x"]));
        let Cells::Numbers(rates) = rate.cells else { panic!("texts") };
        assert_eq!(rates.collect::<Vec<_>>(), [Some(2e7), Some(1e9), Some(2e7)]);
    }
}
