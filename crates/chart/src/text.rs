//! Text that fits into a chart.

/// The text cut to at most `most` characters; the last one is an ellipsis if something was cut.
pub fn elide(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_ends_in_an_ellipsis() {
        assert_eq!(elide("newreno", 7), "newreno");
        assert_eq!(elide("newreno-long", 7), "newren…");
    }
}
