//! The pages of a Parquet column, and their encoding as runs and packed numbers
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::ops::Range;

/// A column without levels under construction: a dictionary page, then data pages.
pub(super) struct ColumnPages {
    dictionary: Option<(Vec<u8>, u32)>,
    data: Vec<DataPage>,
    compression: Compression,
}

/// The content of a data page.
#[derive(Clone)]
struct DataPage {
    encoded: Bytes,
    uncompressed_size: usize,
    rows: u32,
    encoding: Encoding,
}

impl ColumnPages {
    /// A column whose pages are compressed with Snappy, or not at all.
    pub(super) fn new(compression: Compression) -> Self {
        Self { dictionary: None, data: Vec::new(), compression }
    }

    /// Sets the dictionary: its entries in the encoding `PLAIN`, and their number.
    pub(super) fn set_dictionary(&mut self, encoded: Vec<u8>, count: usize) {
        self.dictionary = Some((encoded, count as u32));
    }

    /// Adds a data page.
    pub(super) fn push(
        &mut self,
        encoded: Vec<u8>,
        rows: usize,
        encoding: Encoding,
    ) -> Result<(), ParquetError> {
        let uncompressed_size = encoded.len();
        let encoded = compressed(encoded, self.compression)?.into();
        self.data.push(DataPage { encoded, uncompressed_size, rows: rows as u32, encoding });
        Ok(())
    }

    /// The number of data pages so far.
    pub(super) fn count(&self) -> usize {
        self.data.len()
    }

    /// Adds data pages again.
    pub(super) fn repeat(&mut self, pages: Range<usize>) {
        self.data.extend_from_within(pages);
    }

    /// Appends the column to the row group.
    pub(super) fn append(
        self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        column: ColumnDescPtr,
    ) -> Result<(), ParquetError> {
        let mut file = TrackedWrite::new(Vec::new());
        let mut chunk =
            WrittenPages { pages: SerializedPageWriter::new(&mut file), compressed: 0, uncompressed: 0 };
        let mut metadata = ColumnChunkMetaData::builder(column);
        if let Some((entries, num_values)) = self.dictionary {
            let uncompressed_size = entries.len();
            let buf = compressed(entries, self.compression)?.into();
            let page = Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, is_sorted: false };
            chunk.write(page, uncompressed_size)?;
            metadata = metadata.set_dictionary_page_offset(Some(0));
        }
        let data_page_offset = chunk.compressed;
        let rows: u64 = self.data.iter().map(|page| u64::from(page.rows)).sum();
        for DataPage { encoded, uncompressed_size, rows, encoding } in self.data {
            let page = Page::DataPage {
                buf: encoded,
                num_values: rows,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            chunk.write(page, uncompressed_size)?;
        }
        let metadata = metadata
            .set_compression(self.compression)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE_DICTIONARY])
            .set_num_values(rows as i64)
            .set_total_compressed_size(chunk.compressed)
            .set_total_uncompressed_size(chunk.uncompressed)
            .set_data_page_offset(data_page_offset)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: chunk.compressed as u64,
            rows_written: rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&Bytes::from(file.into_inner()?), close)
    }
}

fn compressed(encoded: Vec<u8>, compression: Compression) -> Result<Vec<u8>, ParquetError> {
    let failed = |error: snap::Error| ParquetError::General(error.to_string());
    match compression {
        Compression::SNAPPY => snap::raw::Encoder::new().compress_vec(&encoded).map_err(failed),
        _ => Ok(encoded),
    }
}

/// The pages written so far, and their sizes in bytes with headers.
struct WrittenPages<'a> {
    pages: SerializedPageWriter<'a, Vec<u8>>,
    compressed: i64,
    uncompressed: i64,
}

impl WrittenPages<'_> {
    fn write(&mut self, page: Page, uncompressed_size: usize) -> Result<(), ParquetError> {
        let written = self.pages.write_page(CompressedPage::new(page, uncompressed_size))?;
        self.compressed += written.compressed_size as i64;
        self.uncompressed += written.uncompressed_size as i64;
        Ok(())
    }
}

/// Bits of a number of a list whose largest one is `largest`.
pub(super) fn width(largest: u32) -> u8 {
    (u32::BITS - largest.leading_zeros()).max(1) as u8
}

/// Appends a run of `rows` equal numbers of `width` bits: twice its length as a variable-length integer, then the number in
/// whole bytes, little-endian.
pub(super) fn encode_run(encoded: &mut Vec<u8>, number: u32, rows: u64, width: u8) {
    encode_integer(encoded, rows << 1);
    encoded.extend(&number.to_le_bytes()[..usize::from(width.div_ceil(8))]);
}

/// Numbers that are packed together.
const PACKED: usize = 8;

/// Numbers in the encoding `RLE_DICTIONARY`: their width in bits, then runs of at least eight equal ones, and the others packed
/// in groups of eight.
pub(super) fn encode_numbers(numbers: &[u32]) -> Vec<u8> {
    let width = width(numbers.iter().fold(0, |largest, number| largest.max(*number)));
    let mut encoded = vec![width];
    let (mut begin, mut now) = (0, 0);
    while let Some(group) = numbers.get(now..now + PACKED) {
        if group.iter().any(|number| *number != group[0]) {
            now += PACKED;
            continue;
        }
        let run = numbers[now..].iter().take_while(|number| **number == group[0]).count();
        encode_packed(&mut encoded, &numbers[begin..now], width);
        encode_run(&mut encoded, group[0], run as u64, width);
        now += run;
        begin = now;
    }
    encode_packed(&mut encoded, &numbers[begin..], width);
    encoded
}

/// Appends numbers of `width` bits each, lowest bits first: the number of groups of eight, then the groups, of which the last is
/// filled up with zeros.
fn encode_packed(encoded: &mut Vec<u8>, numbers: &[u32], width: u8) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(PACKED);
    encode_integer(encoded, (groups as u64) << 1 | 1);
    let mut at = encoded.len();
    let end = at + groups * usize::from(width);
    encoded.resize(end + size_of::<u32>(), 0);
    let mut append = |bits: u32| {
        if let Some(bytes) = encoded.get_mut(at..at + size_of::<u32>()) {
            bytes.copy_from_slice(&bits.to_le_bytes());
        }
        at += size_of::<u32>();
    };
    let (mut bits, mut count) = (0_u64, 0);
    for number in numbers {
        bits |= u64::from(*number) << count;
        count += u32::from(width);
        if count >= u32::BITS {
            append(bits as u32);
            bits >>= u32::BITS;
            count -= u32::BITS;
        }
    }
    append(bits as u32);
    encoded.truncate(end);
}

/// Appends a variable-length integer: seven bits per byte, lowest first.
fn encode_integer(encoded: &mut Vec<u8>, mut integer: u64) {
    while integer >= 0x80 {
        encoded.push(integer as u8 | 0x80);
        integer >>= 7;
    }
    encoded.push(integer as u8);
}
