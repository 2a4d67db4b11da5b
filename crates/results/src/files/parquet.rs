//! Parquet files without time stamps, so that equal tables give equal bytes.

use super::table::{Cells, Column};
use super::texts;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// The bytes of a Parquet file with the table as one row group; absent values are null.
///
/// # Errors
/// Columns of different lengths.
pub fn bytes(columns: &[Column]) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(schema(columns)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("millpond ", env!("CARGO_PKG_VERSION")).to_owned());
    let described = SchemaDescriptor::new(Arc::clone(&schema));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for (number, column) in columns.iter().enumerate() {
        if let Cells::Texts { distinct, rows } = &column.cells
            && !rows.is_empty()
        {
            texts::append(&mut group, described.column(number), distinct, rows)?;
            continue;
        }
        let Some(mut cells) = group.next_column()? else {
            return Err(ParquetError::General("the schema has fewer columns than the table".into()));
        };
        write_values(&mut cells, &column.cells)?;
        cells.close()?;
    }
    group.close()?;
    writer.into_inner()
}

fn schema(columns: &[Column]) -> Result<Type, ParquetError> {
    let fields: Result<_, _> = columns.iter().map(|column| field(column).map(Arc::new)).collect();
    Type::group_type_builder("millpond").with_fields(fields?).build()
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.cells {
        Cells::Numbers(_) => (Physical::DOUBLE, None),
        Cells::Counts(_) => (Physical::INT64, None),
        Cells::Texts { .. } => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if logical.is_some() { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

/// The number of cells per batch, which bounds the memory for copies of a column.
const BATCH: usize = 1 << 16;

/// Writes numbers; texts are written by [`texts`] where there are any.
fn write_values(writer: &mut SerializedColumnWriter<'_>, cells: &Cells) -> Result<(), ParquetError> {
    match cells {
        Cells::Numbers(cells) => {
            for cells in cells.chunks(BATCH) {
                let (present, levels) = optional(cells);
                writer.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
            }
        }
        Cells::Counts(cells) => {
            for cells in cells.chunks(BATCH) {
                let (present, levels) = optional(cells);
                writer.typed::<Int64Type>().write_batch(&present, Some(&levels), None)?;
            }
        }
        Cells::Texts { .. } => {}
    }
    Ok(())
}

/// The present values, and a definition level per cell: 1 if the cell has a value.
fn optional<T: Copy>(cells: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    (cells.iter().flatten().copied().collect(), levels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn table() -> Vec<Column> {
        let distinct = vec!["L1 ->".to_owned(), "flow".to_owned()];
        vec![
            Column { name: "entity".into(), cells: Cells::Texts { distinct, rows: vec![1, 0, 1].into() } },
            Column { name: "value".into(), cells: Cells::Numbers(vec![Some(0.1), None, Some(-2.5)]) },
            Column { name: "count".into(), cells: Cells::Counts(vec![None, Some(7), Some(i64::MAX)]) },
        ]
    }

    #[test]
    fn a_written_table_reads_back_unchanged() {
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes(&table()).unwrap())).unwrap();
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
        assert_eq!(bytes(&table()).unwrap(), bytes(&table()).unwrap());
    }
    /// Writes a table with one column of texts and reads it.
    fn read_texts(distinct: &[String], rows: Vec<u32>) -> Vec<String> {
        let cells = Cells::Texts { distinct: distinct.to_vec(), rows: rows.into() };
        let written = bytes(&[Column { name: "entity".into(), cells }]).unwrap();
        let file = SerializedFileReader::new(bytes::Bytes::from(written)).unwrap();
        file.get_row_iter(None).unwrap().map(|row| row.unwrap().get_string(0).unwrap().clone()).collect()
    }

    #[test]
    fn texts_of_any_number_and_runs_of_any_length_read_back() {
        // The numbers of the texts take 1, 1, 2, 8, 9 and 17 bits.
        for count in [1, 2, 3, 256, 257, 65_537] {
            let distinct: Vec<String> = (0..count).map(|n| format!("text {n}")).collect();
            let rows: Vec<u32> = std::iter::repeat_n(0, 200).chain(0..count).collect();
            let expected = rows.iter().map(|row| &distinct[*row as usize]);
            assert!(read_texts(&distinct, rows.clone()).iter().eq(expected), "{count} texts");
        }
        // Equal texts of different series, a run longer than a page, and no row at all.
        let texts = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(read_texts(&texts, vec![0, 1, 1, 2]), ["a", "b", "b", "a"]);
        let long = read_texts(&texts, [vec![0; 3], vec![1; 1_100_000], vec![2; 5]].concat());
        let expected = |row: usize| if (3..1_100_003).contains(&row) { "b" } else { "a" };
        assert!(long.len() == 1_100_008 && (0..).zip(&long).all(|(row, text)| text == expected(row)));
        assert!(read_texts(&[], Vec::new()).is_empty());
    }
}
