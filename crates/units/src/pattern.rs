//! Patterns of names.

/// Whether a name matches a pattern in which `*` stands for any text.
pub fn glob(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).any(|i| rest.get(i..).is_some_and(|suffix| glob(tail, suffix)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_pattern_matches_any_text() {
        assert!(glob("user.*/loop2", "user.13/loop2") && glob("*", "") && glob("a", "a"));
        assert!(!glob("user.*/loop2", "user.13/loop1") && !glob("a", "ab"));
    }
}
