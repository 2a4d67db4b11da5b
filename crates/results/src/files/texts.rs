//! A Parquet column of texts in which the same text comes in many rows, one after the other.
//!
//! The general writer hashes the text of every row. Here the work depends on the number of runs of equal texts: the
//! dictionary page has each text once, and a data page has a number and a length for each run (encodings `PLAIN` and
//! `RLE_DICTIONARY` of the Parquet format, <https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

use super::table::TextRun;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::BTreeMap;

/// Most rows of a data page.
const PAGE_ROWS: u64 = 1 << 20;

/// Appends the column. The runs have at least one row; the texts need not differ from each other.
pub(super) fn append(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    column: ColumnDescPtr,
    texts: &[&str],
    runs: &[TextRun],
) -> Result<(), ParquetError> {
    let Dictionary { entries, numbers } = Dictionary::of(texts);
    let mut file = TrackedWrite::new(Vec::new());
    let mut chunk =
        ColumnPages { pages: SerializedPageWriter::new(&mut file), compressed: 0, uncompressed: 0 };
    chunk.write(Page::DictionaryPage {
        buf: plain(&entries).into(),
        num_values: entries.len() as u32,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    })?;
    let data_page_offset = chunk.compressed;
    let mut page = RunPage::new(entries.len());
    for run in runs {
        let (number, mut rows) = (numbers[run.text as usize], run.rows);
        while rows > 0 {
            let fitting = rows.min(PAGE_ROWS - page.rows);
            page.push(number, fitting);
            rows -= fitting;
            if page.rows == PAGE_ROWS {
                chunk.write(page.take())?;
            }
        }
    }
    if page.rows > 0 {
        chunk.write(page.take())?;
    }
    let rows: u64 = runs.iter().map(|run| run.rows).sum();
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::UNCOMPRESSED)
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE_DICTIONARY])
        .set_num_values(rows as i64)
        .set_total_compressed_size(chunk.compressed)
        .set_total_uncompressed_size(chunk.uncompressed)
        .set_dictionary_page_offset(Some(0))
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

/// The pages of a column, and their sizes in bytes with headers.
struct ColumnPages<'a> {
    pages: SerializedPageWriter<'a, Vec<u8>>,
    compressed: i64,
    uncompressed: i64,
}

impl ColumnPages<'_> {
    fn write(&mut self, page: Page) -> Result<(), ParquetError> {
        let size = page.buffer().len();
        let written = self.pages.write_page(CompressedPage::new(page, size))?;
        self.compressed += written.compressed_size as i64;
        self.uncompressed += written.uncompressed_size as i64;
        Ok(())
    }
}

/// The distinct texts, and the number of each given text among them.
struct Dictionary<'a> {
    entries: Vec<&'a str>,
    numbers: Vec<u32>,
}

impl<'a> Dictionary<'a> {
    fn of(texts: &[&'a str]) -> Self {
        let (mut entries, mut known) = (Vec::new(), BTreeMap::new());
        let number = |text: &&'a str| {
            *known.entry(*text).or_insert_with(|| {
                entries.push(*text);
                (entries.len() - 1) as u32
            })
        };
        let numbers = texts.iter().map(number).collect();
        Self { entries, numbers }
    }
}

/// Texts in the encoding `PLAIN`: each with its length in four bytes, little-endian.
fn plain(texts: &[&str]) -> Vec<u8> {
    let encoded = |text: &&str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    texts.iter().flat_map(encoded).collect()
}

/// A data page of runs: the width of a number in bits, then for each run its length and its number.
struct RunPage {
    /// Bits of a number.
    width: u8,
    encoded: Vec<u8>,
    rows: u64,
    /// The last run, which is not encoded yet: its number, and its rows.
    last: (u32, u64),
}

impl RunPage {
    /// An empty page of numbers below `count`.
    fn new(count: usize) -> Self {
        let width = (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1) as u8;
        Self { width, encoded: vec![width], rows: 0, last: (0, 0) }
    }

    fn push(&mut self, number: u32, rows: u64) {
        if number != self.last.0 {
            self.encode_last();
            self.last.0 = number;
        }
        self.last.1 += rows;
        self.rows += rows;
    }

    /// Encodes the last run: twice its length as a variable-length integer (seven bits per byte, lowest first), then the
    /// number in whole bytes, little-endian.
    fn encode_last(&mut self) {
        let (number, rows) = std::mem::take(&mut self.last);
        if rows == 0 {
            return;
        }
        let mut header = rows << 1;
        while header >= 0x80 {
            self.encoded.push(header as u8 | 0x80);
            header >>= 7;
        }
        self.encoded.push(header as u8);
        let bytes = usize::from(self.width.div_ceil(8));
        self.encoded.extend(&number.to_le_bytes()[..bytes]);
    }

    /// The page; afterwards this one is empty.
    fn take(&mut self) -> Page {
        self.encode_last();
        let rows = std::mem::take(&mut self.rows);
        let encoded = std::mem::replace(&mut self.encoded, vec![self.width]);
        Page::DataPage {
            buf: encoded.into(),
            num_values: rows as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }
}
