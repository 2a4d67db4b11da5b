//! TOML values with their place in the text.

use toml::Spanned;
use toml::de::DeValue;

/// A TOML value with its byte range in the text.
pub(super) type Node<'i> = Spanned<DeValue<'i>>;
