//! TOML values that know where they were written.

use toml::Spanned;
use toml::de::DeValue;

/// A TOML value with its bytes in the text.
pub(super) type Node<'i> = Spanned<DeValue<'i>>;
