//! Text that fits into a chart.

/// The text cut to at most `most` characters, with an ellipsis in its middle: names often differ in their ends.
pub fn elide(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.into();
    }
    let kept = most.saturating_sub(1);
    let end = kept / 2;
    text.chars().take(kept - end).chain(['…']).chain(text.chars().skip(count - end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends_so_that_they_stay_distinct() {
        assert_eq!(elide("newreno", 7), "newreno");
        assert_eq!(elide("downloads-of-students-in-room-1", 11), "downl…oom-1");
        assert_eq!(elide("downloads-of-students-in-room-2", 12), "downlo…oom-2");
    }
}
