//! A Parquet column of texts in which the same text comes in many rows, one after the other.
//!
//! The general writer hashes the text of every row. Here the work depends on the number of runs of equal texts: the
//! dictionary page has each text once, and a data page has a number and a length for each run (encodings `PLAIN` and
//! `RLE_DICTIONARY` of the Parquet format, <https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

use super::pages::{ColumnPages, encode_run, width};
use super::table::TextRun;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;
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
    let mut pages = ColumnPages::new(Compression::UNCOMPRESSED);
    pages.set_dictionary(&plain(&entries), entries.len())?;
    let mut page = RunPage::new(entries.len());
    for run in runs {
        let (number, mut rows) = (numbers[run.text as usize], run.rows);
        while rows > 0 {
            let fitting = rows.min(PAGE_ROWS - page.rows);
            page.push(number, fitting);
            rows -= fitting;
            if page.rows == PAGE_ROWS {
                page.close(&mut pages)?;
            }
        }
    }
    page.close(&mut pages)?;
    pages.append(group, column)
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
        let width = width(count.saturating_sub(1) as u32);
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

    fn encode_last(&mut self) {
        let (number, rows) = std::mem::take(&mut self.last);
        if rows > 0 {
            encode_run(&mut self.encoded, number, rows, self.width);
        }
    }

    /// Adds the page to the column, unless it is empty; afterwards this one is.
    fn close(&mut self, pages: &mut ColumnPages) -> Result<(), ParquetError> {
        self.encode_last();
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return Ok(());
        }
        pages.push(&self.encoded, rows as usize, Encoding::RLE_DICTIONARY)?;
        self.encoded.truncate(1);
        Ok(())
    }
}
