//! The nearest spelling of a mistyped name.

/// The candidate nearest to `text` by Damerau-Levenshtein distance, upper and lower case being equal. `None` if all of
/// them differ by more than one edit plus a third of the length of `text`.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = text.to_lowercase();
    let distance = |name: &&'a str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    candidates.into_iter().min_by_key(distance).filter(|name| distance(name) <= 1 + text.chars().count() / 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_has_a_nearest_one_and_an_unrelated_name_has_none() {
        let known = ["cubic", "newreno", "xcp"];
        assert_eq!(nearest("cubik", known), Some("cubic"));
        assert_eq!(nearest("CUBIC", known), Some("cubic"));
        assert_eq!(nearest("ucbic", known), Some("cubic"));
        assert_eq!(nearest("timely", known), None);
        assert_eq!(nearest("cubic", []), None);
    }
}
