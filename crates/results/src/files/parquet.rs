//! Parquet files without time stamps, so that equal tables give equal bytes.

use super::table::{Cells, Column};
use super::{numbers, texts};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// The bytes of a Parquet file with the table as one row group; absent values are null.
///
/// # Errors
/// Columns of different lengths.
pub fn bytes(columns: Vec<Column<'_>>) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(schema(&columns)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("millpond ", env!("CARGO_PKG_VERSION")).to_owned());
    let described = SchemaDescriptor::new(Arc::clone(&schema));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for (number, column) in columns.into_iter().enumerate() {
        match column.cells {
            Cells::Texts { runs, .. } if runs.is_empty() => {
                write_optional::<ByteArrayType>(&mut group, std::iter::empty())?;
            }
            Cells::Lists(lists) if lists.iter().all(|list| list.is_empty()) => {
                write_optional::<DoubleType>(&mut group, std::iter::empty())?;
            }
            Cells::Lists(lists) => numbers::append(&mut group, described.column(number), &lists)?,
            Cells::Texts { texts, runs } => {
                texts::append(&mut group, described.column(number), &texts, &runs)?;
            }
            Cells::Numbers(cells) => write_optional::<DoubleType>(&mut group, cells)?,
            Cells::Counts(cells) => write_optional::<Int64Type>(&mut group, cells)?,
        }
    }
    group.close()?;
    writer.into_inner()
}

fn schema(columns: &[Column<'_>]) -> Result<Type, ParquetError> {
    let fields: Result<_, _> = columns.iter().map(|column| field(column).map(Arc::new)).collect();
    Type::group_type_builder("millpond").with_fields(fields?).build()
}

fn field(column: &Column<'_>) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.cells {
        Cells::Numbers(_) | Cells::Lists(_) => (Physical::DOUBLE, None),
        Cells::Counts(_) => (Physical::INT64, None),
        Cells::Texts { .. } => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = match column.cells {
        Cells::Texts { .. } | Cells::Lists(_) => Repetition::REQUIRED,
        Cells::Numbers(_) | Cells::Counts(_) => Repetition::OPTIONAL,
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

/// The number of cells per batch, which bounds the memory for copies of a column.
const BATCH: usize = 1 << 16;

/// Writes the next column of the row group; a cell without a value has definition level zero.
fn write_optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    mut cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than the table".into()));
    };
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    loop {
        present.clear();
        levels.clear();
        for cell in cells.by_ref().take(BATCH) {
            levels.push(i16::from(cell.is_some()));
            present.extend(cell);
        }
        if levels.is_empty() {
            return writer.close();
        }
        writer.typed::<T>().write_batch(&present, Some(&levels), None)?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{NumberList, TextRun};
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    use proptest::prelude::*;
    use std::rc::Rc;

    fn table() -> Vec<Column<'static>> {
        let runs = [(1, 1), (0, 1), (1, 1)].map(|(text, rows)| TextRun { text, rows });
        let numbers = [Some(0.1), None, Some(-2.5)].into_iter();
        let counts = [None, Some(7), Some(i64::MAX)].into_iter();
        vec![
            Column {
                name: "entity".into(),
                cells: Cells::Texts { texts: vec!["L1 ->", "flow"], runs: Rc::new(runs) },
            },
            Column { name: "value".into(), cells: Cells::Numbers(Box::new(numbers)) },
            Column { name: "count".into(), cells: Cells::Counts(Box::new(counts)) },
        ]
    }

    #[test]
    fn a_written_table_reads_back_unchanged() {
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes(table()).unwrap())).unwrap();
        let rows: Vec<_> = file.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].get_string(0).unwrap(), "flow");
        assert_eq!(rows[1].get_string(0).unwrap(), "L1 ->");
        assert_eq!(rows[2].get_double(1).unwrap(), -2.5);
        assert!(rows[1].get_double(1).is_err(), "an absent value is null");
        assert_eq!(rows[2].get_long(2).unwrap(), i64::MAX);
    }

    #[test]
    fn the_same_table_gives_the_same_bytes() {
        assert_eq!(bytes(table()).unwrap(), bytes(table()).unwrap());
    }
    /// Reads the texts of a table with one column.
    fn read_texts(texts: &[&str], runs: Vec<TextRun>) -> Vec<String> {
        let cells = Cells::Texts { texts: texts.to_vec(), runs: runs.into() };
        let written = bytes(vec![Column { name: "entity".into(), cells }]).unwrap();
        let file = SerializedFileReader::new(bytes::Bytes::from(written)).unwrap();
        file.get_row_iter(None).unwrap().map(|row| row.unwrap().get_string(0).unwrap().clone()).collect()
    }

    #[test]
    fn texts_of_any_number_and_runs_of_any_length_read_back() {
        // The numbers of the texts take 1, 1, 2, 8, 9 and 17 bits.
        for count in [1, 2, 3, 256, 257, 65_537] {
            let texts: Vec<String> = (0..count).map(|n| format!("text {n}")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let rows = |text| if text == 0 { 200 } else { 1 };
            let runs: Vec<TextRun> = (0..count).map(|text| TextRun { text, rows: rows(text) }).collect();
            let expected = runs.iter().flat_map(|run| vec![texts[run.text as usize]; run.rows as usize]);
            assert!(read_texts(&texts, runs.clone()).iter().eq(expected), "{count} texts");
        }
        // Equal texts of different series, a run longer than a page, and no row at all.
        let runs = |rows: [u64; 3]| (0..).zip(rows).map(|(text, rows)| TextRun { text, rows }).collect();
        assert_eq!(read_texts(&["a", "b", "a"], runs([1, 2, 1])), ["a", "b", "b", "a"]);
        let long = read_texts(&["a", "b", "c"], runs([3, 1_100_000, 5]));
        let is_right = |row: usize| {
            if row < 3 {
                "a"
            } else if row < 1_100_003 {
                "b"
            } else {
                "c"
            }
        };
        assert!(long.len() == 1_100_008 && (0..).zip(&long).all(|(row, text)| text == is_right(row)));
        assert!(read_texts(&[], Vec::new()).is_empty());
    }

    /// Reads the numbers of a table with one column.
    fn read_numbers(lists: &[&[f64]]) -> Vec<f64> {
        read_lists(lists.iter().map(|list| NumberList::All(list)).collect())
    }

    /// Reads the numbers of a table with one column, which has these lists.
    fn read_lists(lists: Vec<NumberList<'_>>) -> Vec<f64> {
        let cells = Cells::Lists(lists);
        let written = bytes(vec![Column { name: "value".into(), cells }]).unwrap();
        let file = SerializedFileReader::new(bytes::Bytes::from(written)).unwrap();
        file.get_row_iter(None).unwrap().map(|row| row.unwrap().get_double(0).unwrap()).collect()
    }

    #[test]
    fn numbers_of_any_count_and_repetition_read_back() {
        let ascending = |count: usize| (0..count).map(|n| n as f64 * 0.1).collect::<Vec<f64>>();
        // A page has 65536 rows and a dictionary 131072 entries: one fewer, as many, one more.
        for count in [0, 1, 7, 8, 9, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 300_000] {
            let numbers = ascending(count);
            assert!(read_numbers(&[&numbers]) == numbers, "{count} different numbers");
            // The same again: positions in the dictionary, or the numbers themselves if it is full.
            assert!(
                read_numbers(&[&numbers, &[], &numbers]) == [&numbers[..], &numbers].concat(),
                "{count} twice"
            );
        }
        // Zeros of both signs are different, as are infinities.
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324];
        let read = read_numbers(&[&special, &special]);
        assert!(read.iter().map(|x| x.to_bits()).eq(special.iter().chain(&special).map(|x| x.to_bits())));
    }

    #[test]
    fn numbers_without_a_value_beside_them_are_left_out() {
        let is_absent = |n: &usize| n.is_multiple_of(3);
        // A block has 4096 numbers; with the last two, the dictionary becomes full within a list.
        for count in [1, 2, 4096, 4097, 150_000, 300_000] {
            let numbers: Vec<f64> = (0..count).map(|n| n as f64 * 0.1).collect();
            let positions: Vec<usize> = (0..count).filter(|n| !is_absent(n)).collect();
            let expected: Vec<f64> = positions.iter().map(|n| numbers[*n]).collect();
            let positions = positions.iter().map(|n| *n as u32).collect();
            let list = NumberList::Present { numbers: &numbers, positions };
            assert_eq!((list.len(), list.is_empty()), (expected.len(), expected.is_empty()));
            assert!(list.iter().eq(expected.iter().copied()), "{count} numbers");
            let twice = [&expected[..], &expected].concat();
            assert!(read_lists(vec![list.clone(), list.clone()]) == twice, "{count} numbers");
            // With all of them before, their positions in the dictionary are known.
            let all = NumberList::All(&numbers);
            let after_all = [&numbers[..], &twice].concat();
            assert!(read_lists(vec![all, list.clone(), list]) == after_all, "{count} numbers");
        }
    }

    proptest! {
        #[test]
        fn runs_of_numbers_read_back(
            runs in prop::collection::vec((0_u32..40, 1_usize..20), 0..200), long in 0_usize..70_000, split in 0.0..1.0_f64,
        ) {
            let run = |(number, rows): &(u32, usize)| std::iter::repeat_n(f64::from(*number) / 7.0, *rows);
            let mut numbers: Vec<f64> = runs.iter().flat_map(run).collect();
            numbers.extend(std::iter::repeat_n(-1.0, long));
            numbers.extend(runs.iter().rev().flat_map(run));
            let (before, after) = numbers.split_at((split * numbers.len() as f64) as usize);
            prop_assert!(read_numbers(&[before, after]) == numbers);
        }
    }
}
