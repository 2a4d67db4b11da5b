//! Values as a scenario writes them, and the error of a value that a parameter does not accept.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// A value as written in a scenario, before its meaning is checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `0.3`
    Number(f64),
    /// `"75KB"`, `"window"`: a quantity with its unit, or a word
    Text(Cow<'static, str>),
    /// `true`
    Flag(bool),
    /// `{ acks = 4 }`: a count of something
    Count(Cow<'static, str>, f64),
}

impl Value {
    /// A constant text.
    pub const fn text(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// The text of a quantity or a word.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The value that a card writes as `0.3`, `true`, `75KB` or `window`.
    pub fn read(text: &'static str) -> Self {
        match text {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            _ => text.parse().map_or(Self::text(text), Self::Number),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Count(word, n) => write!(f, "{{ {word} = {n} }}"),
        }
    }
}

/// A setting that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// Which parameter.
    pub name: String,
    /// What is wrong, and what was expected.
    pub message: String,
    /// The known name or word of the most similar spelling, if the one written is unknown.
    pub nearest: Option<String>,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)?;
        self.nearest.as_ref().map_or(Ok(()), |nearest| write!(f, " (did you mean \"{nearest}\"?)"))
    }
}

impl core::error::Error for SettingError {}

impl SettingError {
    /// A setting with this name is wrong in this way.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), nearest: None }
    }
}
