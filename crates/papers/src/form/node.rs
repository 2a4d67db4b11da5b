//! TOML values with their place in the text.

use toml::Spanned;
use toml::de::DeValue;

/// A TOML value with its byte range in the text.
pub(super) type SpannedValue<'i> = Spanned<DeValue<'i>>;
