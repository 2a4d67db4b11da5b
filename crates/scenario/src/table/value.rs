//! The types of fields that keys store: how each is read and written.

use super::{Form, Written, number, text};
use crate::place::At;
use millpond_units::{Bytes, Rate, Span, Time};

/// A type of field that a key can store.
pub(crate) trait Field: Sized {
    /// Reads a value in the key's form. Returns `None` after it has reported a fault.
    fn read(written: &Written<'_>) -> Option<Self>;
    /// The value as TOML.
    fn to_toml(&self) -> String;
}

/// A type that is one of a few words.
pub(crate) trait Keyword: Copy + PartialEq + 'static {
    /// Each spelling and its meaning.
    const WORDS: &'static [(&'static str, Self)];
}

/// The spellings of a type that is one of a few words.
pub(crate) fn spellings<W: Keyword>() -> Vec<&'static str> {
    W::WORDS.iter().map(|&(word, _)| word).collect()
}

/// Stores a value that was read, if it was.
pub(crate) fn set<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

/// A field as the value of a key that is never left out.
pub(crate) fn put<F: Field>(field: &F) -> Option<String> {
    Some(field.to_toml())
}

impl Written<'_> {
    /// Reads the value into a field.
    pub(crate) fn store<F: Field>(&self, field: &mut F) -> Option<()> {
        set(field, F::read(self))
    }
}

impl<W: Keyword> Field for W {
    fn read(written: &Written<'_>) -> Option<Self> {
        let word = written.placed_text()?;
        let found = W::WORDS.iter().find(|(known, _)| *known == word.value).map(|&(_, meaning)| meaning);
        found.or_else(|| written.context.faults.unknown(&word, "word", spellings::<W>()))
    }
    fn to_toml(&self) -> String {
        text(W::WORDS.iter().find(|(_, meaning)| meaning == self).map_or("", |(word, _)| word))
    }
}

impl Field for bool {
    fn read(written: &Written<'_>) -> Option<Self> {
        match written.node.value {
            crate::tree::Raw::Flag(flag) => Some(flag),
            _ => written.expected("true or false"),
        }
    }
    fn to_toml(&self) -> String {
        self.to_string()
    }
}

impl Field for u64 {
    fn read(written: &Written<'_>) -> Option<Self> {
        match written.form {
            Form::Whole { least, most } => written.whole(*least, *most),
            _ => written.whole(0, Self::MAX),
        }
    }
    fn to_toml(&self) -> String {
        self.to_string()
    }
}

impl Field for u32 {
    fn read(written: &Written<'_>) -> Option<Self> {
        Self::try_from(u64::read(written)?).ok()
    }
    fn to_toml(&self) -> String {
        self.to_string()
    }
}

impl Field for f64 {
    fn read(written: &Written<'_>) -> Option<Self> {
        match written.form {
            Form::Number { least, most } => written.number(*least, *most),
            Form::Share { least, most } => written.share(*least, *most),
            _ => written.finite(),
        }
    }
    fn to_toml(&self) -> String {
        number(*self)
    }
}

impl Field for String {
    fn read(written: &Written<'_>) -> Option<Self> {
        written.text().map(str::to_owned)
    }
    fn to_toml(&self) -> String {
        text(self)
    }
}

impl Field for At<String> {
    fn read(written: &Written<'_>) -> Option<Self> {
        match written.form {
            Form::Name => written.name(),
            Form::ProtocolName => written.protocol_name(),
            _ => written.placed_text(),
        }
    }
    fn to_toml(&self) -> String {
        text(&self.value)
    }
}

impl Field for Time {
    fn read(written: &Written<'_>) -> Option<Self> {
        written.quantity()
    }
    fn to_toml(&self) -> String {
        text(self)
    }
}

impl Field for Span {
    fn read(written: &Written<'_>) -> Option<Self> {
        match written.form {
            Form::Span { least, most } => written.within(*least, *most),
            _ => written.quantity(),
        }
    }
    fn to_toml(&self) -> String {
        text(self)
    }
}

impl Field for Bytes {
    fn read(written: &Written<'_>) -> Option<Self> {
        match written.form {
            Form::Bytes { most: Self::MAX, least } => {
                let bytes = written.quantity()?;
                if bytes >= *least { Some(bytes) } else { written.expected("a size above zero") }
            }
            Form::Bytes { least, most } => written.within(*least, *most),
            _ => written.quantity(),
        }
    }
    fn to_toml(&self) -> String {
        text(self)
    }
}

impl Field for Rate {
    fn read(written: &Written<'_>) -> Option<Self> {
        match written.form {
            Form::Rate { least, most } => written.within(*least, *most),
            _ => written.quantity(),
        }
    }
    fn to_toml(&self) -> String {
        text(self)
    }
}

/// Left out if there is none.
impl<F: Field> Field for Option<F> {
    fn read(written: &Written<'_>) -> Option<Self> {
        F::read(written).map(Some)
    }
    fn to_toml(&self) -> String {
        self.as_ref().map(F::to_toml).unwrap_or_default()
    }
}
