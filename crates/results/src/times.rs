//! The times of a series.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The times of a series in seconds: a part of a list that several series share. Most series of a run are sampled together,
/// so that a list of its own for each would double the memory of a run.
#[derive(Clone)]
pub struct Times {
    all: Arc<[f64]>,
    part: Range<usize>,
}

impl Times {
    /// The times at these positions, in the same list. Positions behind the last one are left out.
    #[must_use]
    pub fn part(&self, positions: Range<usize>) -> Self {
        let end = positions.end.min(self.len());
        let part = self.part.start + positions.start.min(end)..self.part.start + end;
        Self { all: Arc::clone(&self.all), part }
    }

    /// True if both are parts of one list in memory.
    pub fn shares_list_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all)
    }
}

impl Deref for Times {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        self.all.get(self.part.clone()).unwrap_or_default()
    }
}

impl From<Vec<f64>> for Times {
    fn from(times: Vec<f64>) -> Self {
        Self { part: 0..times.len(), all: times.into() }
    }
}

impl From<&[f64]> for Times {
    fn from(times: &[f64]) -> Self {
        Self { part: 0..times.len(), all: times.into() }
    }
}

impl FromIterator<f64> for Times {
    fn from_iter<I: IntoIterator<Item = f64>>(times: I) -> Self {
        times.into_iter().collect::<Vec<f64>>().into()
    }
}

impl<'a> IntoIterator for &'a Times {
    type Item = &'a f64;
    type IntoIter = std::slice::Iter<'a, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Default for Times {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl PartialEq for Times {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_part_has_the_times_at_its_positions() {
        let all = Times::from(vec![1.0, 2.0, 3.0, 4.0]);
        let part = all.part(1..4);
        assert_eq!((&*part, &*part.part(1..2)), (&[2.0, 3.0, 4.0][..], &[3.0][..]));
        assert!(part.part(2..9).shares_list_with(&all) && *part.part(2..9) == [4.0]);
        assert!(part.part(5..9).is_empty() && Times::default().is_empty());
        assert_eq!(part, Times::from(vec![2.0, 3.0, 4.0]));
        assert_ne!(part, all);
    }
}
