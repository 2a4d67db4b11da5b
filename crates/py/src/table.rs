//! Tables that Arrow libraries import without a copy: the C stream interface in a PyCapsule, as the Arrow PyCapsule
//! interface defines it.

use crate::error::Failure;
use crate::table_columns::UnitColumn;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use millpond_results::files::Cells;
use millpond_results::{Run, Series};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A series of at least this many samples is a record batch of its own, whose numbers are those of the run. Shorter series
/// are gathered, because each batch costs its reader some microseconds.
const OWN_BATCH: usize = 8192;

/// A table as Arrow record batches.
#[pyclass(frozen, module = "millpond._core")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// The record batches as a stream in a capsule. The types are those of the table, whatever the caller requests: the
    /// interface leaves that to the producer.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// The types of the columns in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(Failure::input)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// Unit of each column that has one.
    #[getter]
    fn units(&self) -> BTreeMap<&str, &str> {
        let unit = |field: &'_ Field| field.metadata().get(UNIT).is_some();
        let fields = self.schema.fields().iter().filter(|field| unit(field));
        fields.map(|field| (field.name().as_str(), field.metadata()[UNIT].as_str())).collect()
    }
}

/// The key of the metadata of a field that holds its unit.
const UNIT: &str = "unit";

/// A field with its unit.
fn field(name: &str, kind: DataType, is_nullable: bool, unit: Option<&str>) -> Field {
    let metadata = unit.map(|unit| HashMap::from([(UNIT.to_owned(), unit.to_owned())]));
    Field::new(name, kind, is_nullable).with_metadata(metadata.unwrap_or_default())
}

/// Texts as indices into the distinct ones.
fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

impl Table {
    /// The table of these columns, in one batch.
    pub(crate) fn of(columns: Vec<UnitColumn<'_>>) -> Result<Self, Failure> {
        let converted: Result<Vec<_>, _> = columns.into_iter().map(converted).collect();
        let converted = converted.map_err(Failure::input)?;
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = converted.into_iter().unzip();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(Failure::input)?;
        Ok(Self { schema, batches: vec![batch] })
    }

    /// The rows of `series.parquet`: one for each sample with a value, series after series.
    pub(crate) fn series(run: &Arc<Run>) -> Result<Self, Failure> {
        let schema = Arc::new(Schema::new(vec![
            field("time", DataType::Float64, false, Some("s")),
            field("entity", dictionary(), false, None),
            field("quantity", dictionary(), false, None),
            field("value", DataType::Float64, false, None),
            field("unit", dictionary(), false, None),
            field("kind", dictionary(), false, None),
        ]));
        let texts = SeriesTexts::of(&run.series);
        let batches = parts(&run.series).into_iter().map(|part| part.batch(run, &texts, &schema));
        Ok(Self { batches: batches.collect::<Result<_, _>>().map_err(Failure::input)?, schema })
    }
}

/// A column as an Arrow array.
fn converted(column: UnitColumn<'_>) -> Result<(Field, ArrayRef), ArrowError> {
    let name = column.name.as_ref();
    let unit = column.unit;
    Ok(match column.cells {
        Cells::Numbers(cells) => {
            (field(name, DataType::Float64, true, unit), Arc::new(Float64Array::from_iter(cells)))
        }
        Cells::Lists(lists) => {
            let numbers = lists.iter().flat_map(|list| list.iter());
            (field(name, DataType::Float64, false, unit), Arc::new(Float64Array::from_iter_values(numbers)))
        }
        Cells::Counts(cells) => {
            (field(name, DataType::Int64, true, unit), Arc::new(Int64Array::from_iter(cells)))
        }
        Cells::Texts { texts, runs } => {
            let distinct = Distinct::of(texts.into_iter());
            let rows =
                runs.iter().map(|run| (run.text as usize, usize::try_from(run.rows).unwrap_or(usize::MAX)));
            (field(name, dictionary(), false, unit), distinct.column(rows)?)
        }
    })
}

/// The distinct texts among some, and for each of these its index.
struct Distinct {
    values: ArrayRef,
    keys: Vec<i32>,
}

impl Distinct {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut numbers: BTreeMap<&str, i32> = BTreeMap::new();
        let mut values = Vec::new();
        let key = |text: &'a str| {
            *numbers.entry(text).or_insert_with(|| {
                values.push(text);
                i32::try_from(values.len() - 1).unwrap_or(i32::MAX)
            })
        };
        let keys = texts.map(key).collect();
        Self { values: Arc::new(StringArray::from(values)), keys }
    }

    /// A column of texts: of each text, by its index among all, this number of rows.
    fn column(&self, rows: impl Iterator<Item = (usize, usize)>) -> Result<ArrayRef, ArrowError> {
        let mut keys: Vec<i32> = Vec::new();
        for (text, count) in rows {
            let key = self.keys.get(text).copied().unwrap_or_default();
            keys.resize(keys.len() + count, key);
        }
        let keys = Int32Array::from(keys);
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(&self.values))?))
    }
}

/// The texts of all series, in the order of the columns. All batches share them.
struct SeriesTexts {
    entity: Distinct,
    quantity: Distinct,
    unit: Distinct,
    kind: Distinct,
}

impl SeriesTexts {
    fn of(series: &[Series]) -> Self {
        let texts = |of: fn(&Series) -> &str| Distinct::of(series.iter().map(of));
        Self {
            entity: texts(|series| &series.entity),
            quantity: texts(|series| &series.quantity),
            unit: texts(|series| &series.unit),
            kind: texts(|series| series.kind.name()),
        }
    }
}

/// The series of one record batch.
enum SeriesPart {
    /// One series, whose numbers are shared with the run.
    Shared(usize),
    /// Adjacent series, whose samples with a value are copied.
    Gathered(Vec<usize>),
}

/// The series of each batch, in order.
fn parts(series: &[Series]) -> Vec<SeriesPart> {
    let mut parts = Vec::new();
    for (number, one) in series.iter().enumerate() {
        let is_complete = !one.values.iter().any(|value| value.is_nan());
        if is_complete && one.values.len() >= OWN_BATCH {
            parts.push(SeriesPart::Shared(number));
        } else if let Some(SeriesPart::Gathered(numbers)) = parts.last_mut() {
            numbers.push(number);
        } else {
            parts.push(SeriesPart::Gathered(vec![number]));
        }
    }
    parts
}

impl SeriesPart {
    fn batch(
        &self,
        run: &Arc<Run>,
        texts: &SeriesTexts,
        schema: &SchemaRef,
    ) -> Result<RecordBatch, ArrowError> {
        let (times, values, rows) = match self {
            Self::Shared(number) => shared(run, *number),
            Self::Gathered(numbers) => gathered(&run.series, numbers),
        };
        let column = |distinct: &Distinct| distinct.column(rows.iter().copied());
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::new(times, None)),
            column(&texts.entity)?,
            column(&texts.quantity)?,
            Arc::new(Float64Array::new(values, None)),
            column(&texts.unit)?,
            column(&texts.kind)?,
        ];
        RecordBatch::try_new(Arc::clone(schema), arrays)
    }
}

/// Times and values of a batch, and the number of rows of each of its series.
type Samples = (ScalarBuffer<f64>, ScalarBuffer<f64>, Vec<(usize, usize)>);

/// The numbers of a series, which the buffers share with the run.
fn shared(run: &Arc<Run>, number: usize) -> Samples {
    let length = run.series[number].values.len();
    let buffer = |numbers: fn(&Series) -> &[f64]| {
        let bytes = Bytes::from_owner(SharedNumbers { run: Arc::clone(run), number, numbers });
        ScalarBuffer::new(Buffer::from(bytes), 0, length)
    };
    (buffer(|series| &series.times), buffer(|series| &series.values), vec![(number, length)])
}

/// The numbers of a series, which live as long as the run.
struct SharedNumbers {
    run: Arc<Run>,
    number: usize,
    numbers: fn(&Series) -> &[f64],
}

impl AsRef<[u8]> for SharedNumbers {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice((self.numbers)(&self.run.series[self.number]))
    }
}

/// Copies of the samples that have a value.
fn gathered(series: &[Series], numbers: &[usize]) -> Samples {
    let most = numbers.iter().map(|&number| series[number].values.len()).sum();
    let (mut times, mut values) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let mut rows = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let (before, one) = (values.len(), &series[number]);
        if one.values.iter().any(|value| value.is_nan()) {
            let samples = one.times.iter().zip(&one.values).filter(|(_, value)| !value.is_nan());
            for (time, value) in samples {
                times.push(*time);
                values.push(*value);
            }
        } else {
            times.extend_from_slice(&one.times);
            values.extend_from_slice(&one.values);
        }
        rows.push((number, values.len() - before));
    }
    (times.into(), values.into(), rows)
}
