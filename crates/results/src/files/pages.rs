//! The pages of a Parquet column, and their encoding as runs and packed numbers
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;
use std::io::Read;
use std::ops::Range;

/// A column without levels under construction: a dictionary page, then data pages.
pub(super) struct ColumnPages {
    dictionary: Option<Bytes>,
    data: Vec<DataPage>,
    /// The size of all pages with headers, if the contents were not compressed.
    uncompressed: usize,
    compression: Compression,
    /// One for all pages, because a new one has to allocate its table again.
    snappy: snap::raw::Encoder,
    /// Where pages are compressed.
    compressed: Vec<u8>,
}

/// A data page with its header.
#[derive(Clone)]
struct DataPage {
    bytes: Bytes,
    /// Its size if its content was not compressed.
    uncompressed: usize,
    rows: usize,
}

impl ColumnPages {
    /// A column whose pages are compressed with Snappy, or not at all.
    pub(super) fn new(compression: Compression) -> Self {
        let (snappy, compressed) = (snap::raw::Encoder::new(), Vec::new());
        Self { dictionary: None, data: Vec::new(), uncompressed: 0, compression, snappy, compressed }
    }

    /// Sets the dictionary: its entries in the encoding `PLAIN`, and their number.
    pub(super) fn set_dictionary(&mut self, encoded: &[u8], count: usize) -> Result<(), ParquetError> {
        let (bytes, uncompressed) = self.page(encoded, &Content::Dictionary { count })?;
        self.uncompressed += uncompressed;
        self.dictionary = Some(bytes);
        Ok(())
    }

    /// Adds a data page.
    pub(super) fn push(
        &mut self,
        encoded: &[u8],
        rows: usize,
        encoding: Encoding,
    ) -> Result<(), ParquetError> {
        let (bytes, uncompressed) = self.page(encoded, &Content::Data { rows, encoding })?;
        self.uncompressed += uncompressed;
        self.data.push(DataPage { bytes, uncompressed, rows });
        Ok(())
    }

    /// The number of data pages so far.
    pub(super) fn count(&self) -> usize {
        self.data.len()
    }

    /// Adds data pages again.
    pub(super) fn repeat(&mut self, pages: Range<usize>) {
        let first = self.data.len();
        self.data.extend_from_within(pages);
        self.uncompressed += self.data[first..].iter().map(|page| page.uncompressed).sum::<usize>();
    }

    /// A page with its header, and its size if its content was not compressed.
    fn page(&mut self, encoded: &[u8], content: &Content) -> Result<(Bytes, usize), ParquetError> {
        let compressed = match self.compression {
            Compression::SNAPPY => {
                let most = snap::raw::max_compress_len(encoded.len());
                self.compressed.resize(most.max(self.compressed.len()), 0);
                let size = self.snappy.compress(encoded, &mut self.compressed);
                &self.compressed[..size.map_err(|error| ParquetError::General(error.to_string()))?]
            }
            _ => encoded,
        };
        let header = content.header(encoded.len(), compressed.len());
        Ok(([&header, compressed].concat().into(), header.len() + encoded.len()))
    }

    /// Appends the column to the row group.
    pub(super) fn append(
        self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        column: ColumnDescPtr,
    ) -> Result<(), ParquetError> {
        let Self { dictionary, data, uncompressed, compression, .. } = self;
        let rows: usize = data.iter().map(|page| page.rows).sum();
        let data_page_offset = dictionary.as_ref().map_or(0, Bytes::len);
        let dictionary_page_offset = dictionary.as_ref().map(|_| 0);
        let pages = Pages(dictionary.into_iter().chain(data.into_iter().map(|page| page.bytes)).collect());
        let metadata = ColumnChunkMetaData::builder(column)
            .set_dictionary_page_offset(dictionary_page_offset)
            .set_compression(compression)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE_DICTIONARY])
            .set_num_values(rows as i64)
            .set_total_compressed_size(pages.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_data_page_offset(data_page_offset as i64)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: pages.len(),
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&pages, close)
    }
}

/// The pages of a column in the order of the file.
struct Pages(Vec<Bytes>);

impl Length for Pages {
    fn len(&self) -> u64 {
        self.0.iter().map(|page| page.len() as u64).sum()
    }
}

impl ChunkReader for Pages {
    type T = PagesReader;

    fn get_read(&self, start: u64) -> Result<PagesReader, ParquetError> {
        let mut reader = PagesReader { pages: self.0.clone().into_iter(), now: Bytes::new() };
        std::io::copy(&mut reader.by_ref().take(start), &mut std::io::sink())?;
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = Vec::with_capacity(length);
        self.get_read(start)?.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads pages one after the other.
struct PagesReader {
    pages: std::vec::IntoIter<Bytes>,
    /// What is left of the present page.
    now: Bytes,
}

impl Read for PagesReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.now.is_empty() {
            let Some(next) = self.pages.next() else { return Ok(0) };
            self.now = next;
        }
        let read = self.now.split_to(buffer.len().min(self.now.len()));
        buffer[..read.len()].copy_from_slice(&read);
        Ok(read.len())
    }
}

/// What a page contains.
enum Content {
    /// The entries of a dictionary, in the encoding `PLAIN`.
    Dictionary { count: usize },
    /// Rows, which all have a value.
    Data { rows: usize, encoding: Encoding },
}

impl Content {
    /// The header of a page whose content has these sizes: a `PageHeader` of the format in Thrift's compact protocol
    /// (<https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>).
    fn header(&self, uncompressed: usize, compressed: usize) -> Vec<u8> {
        let mut header = Vec::with_capacity(32);
        let sizes = |kind: usize| [kind, uncompressed, compressed];
        match *self {
            Self::Data { rows, encoding } => {
                encode_fields(&mut header, &sizes(DATA_PAGE));
                header.push(2 << 4 | STRUCT);
                let rle = Encoding::RLE as usize;
                encode_fields(&mut header, &[rows, encoding as usize, rle, rle]);
            }
            Self::Dictionary { count } => {
                encode_fields(&mut header, &sizes(DICTIONARY_PAGE));
                header.push(4 << 4 | STRUCT);
                encode_fields(&mut header, &[count, Encoding::PLAIN as usize]);
                // It is not sorted.
                header.push(1 << 4 | FALSE);
            }
        }
        header.extend([STOP, STOP]);
        header
    }
}

/// The kinds of pages.
const DATA_PAGE: usize = 0;
const DICTIONARY_PAGE: usize = 2;

/// The types of fields in Thrift's compact protocol. The upper four bits of a field are the distance to the number of the one
/// before.
const FALSE: u8 = 2;
const INTEGER: u8 = 5;
const STRUCT: u8 = 12;

/// The end of a structure.
const STOP: u8 = 0;

/// Appends integers as fields, each with the number after the one before.
fn encode_fields(header: &mut Vec<u8>, integers: &[usize]) {
    for integer in integers {
        header.push(1 << 4 | INTEGER);
        // The lowest bit is the sign.
        encode_integer(header, (*integer as u64) << 1);
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
        let run = count_equal(group[0], &numbers[now..]);
        encode_packed(&mut encoded, &numbers[begin..now], width);
        encode_run(&mut encoded, group[0], run as u64, width);
        now += run;
        begin = now;
    }
    encode_packed(&mut encoded, &numbers[begin..], width);
    encoded
}

/// How many of these numbers are equal to `number`, up to the first that is not.
fn count_equal(number: u32, numbers: &[u32]) -> usize {
    // Without a branch for each number: the compiler compares several at once.
    let is_equal = |block: &&[u32; 8]| block.iter().fold(0, |bits, other| bits | (other ^ number)) == 0;
    let equal = 8 * numbers.as_chunks().0.iter().take_while(is_equal).count();
    equal + numbers[equal..].iter().take_while(|other| **other == number).count()
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
