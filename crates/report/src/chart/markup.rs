//! Text made harmless for HTML, and numbers made short for people.

use std::fmt::{self, Display, Formatter};

/// Any text, escaped so that it may stand between tags or inside a quoted attribute.
pub(crate) struct Text<'a>(pub &'a str);

impl Display for Text<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            out.write_str(&rest[..at])?;
            out.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        out.write_str(rest)
    }
}

/// About three digits: `158`, `12.3`, `0.0417`; a dash where there is no number.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "–".into(),
        _ if size >= 99.95 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.9995 => format!("{value:.2}"),
        _ if size == 0.0 => "0".into(),
        _ if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// Cut to `most` characters, the last one an ellipsis if something is missing.
pub(crate) fn elide(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_markup_survives() {
        let hostile = r#"</script><img src=x onerror="alert('x')">&copy"#;
        let text = Text(hostile).to_string();
        assert!(!text.contains(['<', '>', '"', '\'']));
        assert_eq!(text.matches('&').count(), text.matches(';').count());
    }

    #[test]
    fn plain_text_in_any_alphabet_stays_as_it_is() {
        assert_eq!(Text("Łódź → 東京").to_string(), "Łódź → 東京");
    }

    #[test]
    fn numbers_keep_about_three_digits() {
        let shown = [1234.5, 99.96, 12.34, 9.996, 0.9996, 0.0417, 0.0, 2e-5, f64::NAN].map(short);
        assert_eq!(shown, ["1234", "100", "12.3", "10.0", "1.00", "0.042", "0", "2.0e-5", "–"]);
    }

    #[test]
    fn a_long_name_ends_in_an_ellipsis() {
        assert_eq!(elide("newreno", 7), "newreno");
        assert_eq!(elide("newreno-long", 7), "newren…");
    }
}
