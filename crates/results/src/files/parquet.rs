//! Parquet files without time stamps, so that equal tables give equal bytes.

use super::table::{Cells, Column};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
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
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        let Some(mut cells) = group.next_column()? else {
            return Err(ParquetError::General("the schema has fewer columns than the table".into()));
        };
        write_cells(&mut cells, &column.cells)?;
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

fn write_cells(writer: &mut SerializedColumnWriter<'_>, cells: &Cells) -> Result<(), ParquetError> {
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
        Cells::Texts { distinct, rows } => {
            let distinct: Vec<ByteArray> = distinct.iter().map(|text| text.as_str().into()).collect();
            for rows in rows.chunks(BATCH) {
                let cells: Vec<ByteArray> = rows.iter().map(|&row| distinct[row as usize].clone()).collect();
                writer.typed::<ByteArrayType>().write_batch(&cells, None, None)?;
            }
        }
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
}
