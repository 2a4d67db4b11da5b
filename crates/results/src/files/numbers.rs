//! A Parquet column of numbers, of which many are equal or follow each other in the same order again, as the times and
//! values of series do.
//!
//! The first different numbers form a dictionary, and data pages have their positions in it. When it is full, the other pages
//! have the numbers themselves (encodings `RLE_DICTIONARY` and `PLAIN`).

use super::groups::{GROUP, count_same};
use super::pages::{ColumnPages, encode_numbers};
use super::table::NumberList;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;
use std::collections::BTreeMap;
use std::ops::Range;

/// Most rows of a data page.
const PAGE_ROWS: usize = 1 << 16;

/// Fewest rows of a list with pages of its own. If the same list comes again, as the times of series do, these pages are
/// repeated.
const OWN_PAGE_ROWS: usize = 1 << 12;

/// Most entries of a dictionary: a megabyte.
const MOST_ENTRIES: usize = 1 << 17;

/// Appends the column with the numbers of all lists.
pub(super) fn append(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    column: ColumnDescPtr,
    lists: &[NumberList<'_>],
) -> Result<(), ParquetError> {
    let mut encoder = NumberEncoder {
        pages: ColumnPages::new(Compression::SNAPPY),
        dictionary: Dictionary::default(),
        positions: Vec::with_capacity(PAGE_ROWS),
        plain: Vec::new(),
        long_lists: BTreeMap::new(),
    };
    lists.iter().try_for_each(|list| encoder.push_list(list))?;
    encoder.finish()?.append(group, column)
}

struct NumberEncoder {
    pages: ColumnPages,
    dictionary: Dictionary,
    /// Positions in the dictionary that are not on a page yet.
    positions: Vec<u32>,
    /// Numbers that are not on a page yet, in the encoding `PLAIN`. They follow all positions.
    plain: Vec<u8>,
    long_lists: BTreeMap<ListIdentity, LongList>,
}

/// The address and the length of a list.
type ListIdentity = (usize, usize);

fn identity(list: &[f64]) -> ListIdentity {
    (list.as_ptr().addr(), list.len())
}

/// A list that has pages of its own.
struct LongList {
    pages: Range<usize>,
    /// The position of its first number in the dictionary if all of its numbers are entries, one after the other.
    first_entry: Option<usize>,
}

impl NumberEncoder {
    /// Appends a list. All lists must stay where they are until the last one has been appended.
    fn push_list(&mut self, list: &NumberList<'_>) -> Result<(), ParquetError> {
        let long = match list {
            NumberList::All(numbers) if numbers.len() >= OWN_PAGE_ROWS => *numbers,
            NumberList::All(numbers) => return self.push(numbers),
            NumberList::Present { numbers, positions } => match self.first_entry(numbers) {
                Some(first) => return self.push_entries(first, positions),
                None => return list.try_blocks(|numbers| self.push(numbers)),
            },
        };
        self.close_pages()?;
        if let Some(known) = self.long_lists.get(&identity(long)) {
            self.pages.repeat(known.pages.clone());
            return Ok(());
        }
        let first = self.pages.count();
        self.push(long)?;
        self.close_pages()?;
        let known = LongList { pages: first..self.pages.count(), first_entry: self.dictionary.place(long) };
        self.long_lists.insert(identity(long), known);
        Ok(())
    }

    /// The position of the first of these numbers in the dictionary if they are a list that has pages of its own, all of them
    /// are entries, one after the other, and the dictionary is not full.
    fn first_entry(&self, numbers: &[f64]) -> Option<usize> {
        if !self.dictionary.has_room() {
            return None;
        }
        self.long_lists.get(&identity(numbers))?.first_entry
    }

    /// Appends the entries of the dictionary at these positions after `first`.
    fn push_entries(&mut self, first: usize, positions: &[u32]) -> Result<(), ParquetError> {
        let mut rest = positions;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(PAGE_ROWS - self.positions.len()));
            self.positions.extend(now.iter().map(|position| first as u32 + position));
            rest = later;
            if self.positions.len() == PAGE_ROWS {
                self.close_positions()?;
            }
        }
        Ok(())
    }

    fn push(&mut self, list: &[f64]) -> Result<(), ParquetError> {
        let mut rest = list;
        while !rest.is_empty() && self.dictionary.has_room() {
            let (now, later) = rest.split_at(rest.len().min(PAGE_ROWS - self.positions.len()));
            let known = self.dictionary.append_positions(now, &mut self.positions);
            rest = if known < now.len() { &rest[known..] } else { later };
            if self.positions.len() == PAGE_ROWS || !self.dictionary.has_room() {
                self.close_positions()?;
            }
        }
        for numbers in rest.chunks(PAGE_ROWS) {
            append_plain(&mut self.plain, numbers);
            if self.plain.len() >= PAGE_ROWS * size_of::<f64>() {
                self.close_plain()?;
            }
        }
        Ok(())
    }

    fn close_pages(&mut self) -> Result<(), ParquetError> {
        self.close_positions()?;
        self.close_plain()
    }

    fn close_positions(&mut self) -> Result<(), ParquetError> {
        if !self.positions.is_empty() {
            let encoded = encode_numbers(&self.positions);
            self.pages.push(&encoded, self.positions.len(), Encoding::RLE_DICTIONARY)?;
            self.positions.clear();
        }
        Ok(())
    }

    fn close_plain(&mut self) -> Result<(), ParquetError> {
        let rows = self.plain.len() / size_of::<f64>();
        if rows > 0 {
            self.pages.push(&self.plain, rows, Encoding::PLAIN)?;
            self.plain.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ColumnPages, ParquetError> {
        self.close_pages()?;
        let entries = &self.dictionary.entries;
        let encoded: Vec<u8> = entries.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        self.pages.set_dictionary(&encoded, entries.len())?;
        Ok(self.pages)
    }
}

/// Appends numbers in the encoding `PLAIN`.
fn append_plain(plain: &mut Vec<u8>, numbers: &[f64]) {
    let start = plain.len();
    plain.resize(start + size_of_val(numbers), 0);
    let places = plain[start..].as_chunks_mut().0;
    places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number.to_le_bytes());
}

/// The different numbers so far, by their bits, and a hash table of them with linear probing.
#[derive(Default)]
struct Dictionary {
    entries: Vec<u64>,
    /// Positions in `entries` plus one; zero in free slots. At most half of the slots are used.
    slots: Vec<u32>,
}

impl Dictionary {
    fn has_room(&self) -> bool {
        self.entries.len() < MOST_ENTRIES
    }

    /// Appends the position of each number until the dictionary is full; returns how many it has appended.
    fn append_positions(&mut self, numbers: &[f64], positions: &mut Vec<u32>) -> usize {
        let (mut rest, mut last) = (numbers, 0);
        while let Some(number) = rest.first() {
            let bits = number.to_bits();
            // Most numbers are equal to the last one, or follow it as they did before.
            if self.entries.get(last) == Some(&bits) {
                let equal = count_same(rest, |number| number.to_bits() ^ bits);
                positions.resize(positions.len() + equal, last as u32);
                rest = &rest[equal..];
                continue;
            }
            if self.entries.get(last + 1) == Some(&bits) {
                let following = self.following(last + 1, rest);
                positions.extend(last as u32 + 1..(last + following) as u32 + 1);
                (rest, last) = (&rest[following..], last + following);
                continue;
            }
            let Some(position) = self.position(bits) else { break };
            positions.push(position as u32);
            (rest, last) = (&rest[1..], position);
        }
        numbers.len() - rest.len()
    }

    /// How many of these numbers are the entries from `first` on.
    fn following(&self, first: usize, numbers: &[f64]) -> usize {
        let entries = self.entries.get(first..).unwrap_or_default();
        let differs = |(number, entry): (&f64, &u64)| number.to_bits() ^ entry;
        let blocks = numbers.as_chunks::<GROUP>().0.iter().zip(entries.as_chunks::<GROUP>().0);
        let is_same = |(numbers, entries): &(&[f64; GROUP], &[u64; GROUP])| {
            numbers.iter().zip(*entries).map(differs).fold(0, |all, one| all | one) == 0
        };
        let same = GROUP * blocks.take_while(is_same).count();
        let rest = numbers[same..].iter().zip(&entries[same..]);
        same + rest.take_while(|pair| differs(*pair) == 0).count()
    }

    /// The position of the first number if all of them are entries, one after the other.
    fn place(&self, numbers: &[f64]) -> Option<usize> {
        let bits = numbers.first()?.to_bits();
        if self.slots.is_empty() {
            return None;
        }
        let first = self.slots[self.slot(bits)].checked_sub(1)? as usize;
        (self.following(first, numbers) == numbers.len()).then_some(first)
    }

    /// The position of a number, which is added if it is new; none if the dictionary is full.
    fn position(&mut self, bits: u64) -> Option<usize> {
        if !self.has_room() {
            return None;
        }
        if 2 * self.entries.len() >= self.slots.len() {
            self.grow();
        }
        let slot = self.slot(bits);
        match self.slots[slot] {
            0 => {
                self.entries.push(bits);
                self.slots[slot] = self.entries.len() as u32;
                Some(self.entries.len() - 1)
            }
            used => Some(used as usize - 1),
        }
    }

    /// The slot of a number, or the free one where it belongs.
    fn slot(&self, bits: u64) -> usize {
        /// 2^64 over the golden ratio: the upper bits of the product depend on all bits of the number.
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut slot =
            (bits.wrapping_mul(FACTOR) >> (u64::BITS - self.slots.len().trailing_zeros())) as usize;
        while let Some(used) = self.slots[slot].checked_sub(1)
            && self.entries[used as usize] != bits
        {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    /// Doubles the number of slots, a power of two.
    #[cold]
    fn grow(&mut self) {
        self.slots = vec![0; (2 * self.slots.len()).max(64)];
        for position in 0..self.entries.len() {
            let slot = self.slot(self.entries[position]);
            self.slots[slot] = position as u32 + 1;
        }
    }
}
