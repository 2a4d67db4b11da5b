//! Where a value was written, so that later faults can point at it.

use std::ops::Deref;

/// A range of one of the texts that a scenario was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which text: 0 is the scenario file, `n` the n-th override.
    pub text: usize,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// A value and its place. Two are equal if their values are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct At<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub place: Place,
}

impl<T> At<T> {
    /// `value`, written at `place`.
    pub const fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
    /// Another value with the same place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> At<U> {
        At { value: change(self.value), place: self.place }
    }
}

impl<T: PartialEq> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> Deref for At<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}
