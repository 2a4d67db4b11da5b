//! The pages of a Parquet column, and their encoding as runs and packed numbers
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

use super::groups::count_same;
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
    dictionary: Option<DictionaryPage>,
    data: Vec<DataPage>,
    compression: Compression,
    /// One for all pages, because a new one has to allocate its table again.
    snappy: snap::raw::Encoder,
    /// What is compressed is written here first: one buffer for all pages, so that its memory is set to zero once.
    buffer: Vec<u8>,
}

/// The content of the dictionary page.
struct DictionaryPage {
    encoded: Bytes,
    uncompressed_size: usize,
    entries: u32,
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
        let snappy = snap::raw::Encoder::new();
        Self { dictionary: None, data: Vec::new(), compression, snappy, buffer: Vec::new() }
    }

    /// Sets the dictionary: its entries in the encoding `PLAIN`, and their number.
    pub(super) fn set_dictionary(&mut self, entries: &[u8], count: usize) -> Result<(), ParquetError> {
        let encoded = self.compressed(entries)?;
        self.dictionary =
            Some(DictionaryPage { encoded, uncompressed_size: entries.len(), entries: count as u32 });
        Ok(())
    }

    /// Adds a data page.
    pub(super) fn push(
        &mut self,
        encoded: &[u8],
        rows: usize,
        encoding: Encoding,
    ) -> Result<(), ParquetError> {
        let uncompressed_size = encoded.len();
        let encoded = self.compressed(encoded)?;
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
        let size: usize = self.data.iter().map(|page| page.encoded.len() + PAGE_HEADER).sum();
        let mut file = TrackedWrite::new(Vec::with_capacity(size));
        let mut chunk =
            WrittenPages { pages: SerializedPageWriter::new(&mut file), compressed: 0, uncompressed: 0 };
        let mut metadata = ColumnChunkMetaData::builder(column);
        if let Some(DictionaryPage { encoded, uncompressed_size, entries }) = self.dictionary {
            let page = Page::DictionaryPage {
                buf: encoded,
                num_values: entries,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
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

    fn compressed(&mut self, encoded: &[u8]) -> Result<Bytes, ParquetError> {
        let failed = |error: snap::Error| ParquetError::General(error.to_string());
        if self.compression != Compression::SNAPPY {
            return Ok(Bytes::copy_from_slice(encoded));
        }
        let most = self.buffer.len().max(snap::raw::max_compress_len(encoded.len()));
        self.buffer.resize(most, 0);
        let size = self.snappy.compress(encoded, &mut self.buffer).map_err(failed)?;
        Ok(Bytes::copy_from_slice(&self.buffer[..size]))
    }
}

/// The most bytes that the header of a page is expected to take.
const PAGE_HEADER: usize = 64;

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

/// Numbers of at most 28 bits in the encoding `RLE_DICTIONARY`: their width in bits, then runs of at least eight equal ones, and
/// the others packed in groups of eight.
pub(super) fn encode_numbers(numbers: &[u32]) -> Vec<u8> {
    // The largest number is as wide as the bits of all of them together, which are collected from several with one instruction.
    let width = width(numbers.iter().fold(0, |bits, number| bits | number));
    let mut encoded = Vec::with_capacity(packed_size(numbers.len(), width) + MOST_OVERHEAD);
    encoded.push(width);
    let (mut begin, mut now) = (0, 0);
    while let Some(group) = numbers.get(now..now + PACKED) {
        if group.iter().any(|number| *number != group[0]) {
            now += PACKED;
            continue;
        }
        let run = count_same(&numbers[now..], |number| number ^ group[0]);
        encode_packed(&mut encoded, &numbers[begin..now], width);
        encode_run(&mut encoded, group[0], run as u64, width);
        now += run;
        begin = now;
    }
    encode_packed(&mut encoded, &numbers[begin..], width);
    encoded
}

/// More bytes than a page without runs has beside its packed numbers.
const MOST_OVERHEAD: usize = 64;

/// Bytes of packed numbers of `width` bits each.
fn packed_size(numbers: usize, width: u8) -> usize {
    numbers.div_ceil(PACKED) * usize::from(width)
}

/// Appends numbers of `width` bits each, at most 28, lowest bits first: the number of groups of eight, then the groups, of which
/// the last is filled up with zeros.
fn encode_packed(encoded: &mut Vec<u8>, numbers: &[u32], width: u8) {
    if numbers.is_empty() {
        return;
    }
    encode_integer(encoded, (numbers.len().div_ceil(PACKED) as u64) << 1 | 1);
    let (start, size) = (encoded.len(), packed_size(numbers.len(), width));
    encoded.resize(start + size + size_of::<u64>(), 0);
    let packed = &mut encoded[start..];
    let mut bit = 0;
    let mut append = |two: u64| {
        // Writes eight bytes from the first one that is not complete.
        if let Some(bytes) = packed.get_mut(bit / 8..bit / 8 + size_of::<u64>()) {
            let word = two << (bit % 8) | u64::from(bytes[0]);
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bit += 2 * usize::from(width);
    };
    let (pairs, last) = numbers.as_chunks();
    pairs.iter().for_each(|[first, second]| append(u64::from(*first) | u64::from(*second) << width));
    last.iter().for_each(|number| append(u64::from(*number)));
    encoded.truncate(start + size);
}

/// Appends a variable-length integer: seven bits per byte, lowest first.
fn encode_integer(encoded: &mut Vec<u8>, mut integer: u64) {
    while integer >= 0x80 {
        encoded.push(integer as u8 | 0x80);
        integer >>= 7;
    }
    encoded.push(integer as u8);
}
