//! The nearest spelling of a mistyped name.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The candidate nearest to `text` by Damerau-Levenshtein distance, upper and lower case being equal. `None` if each of
/// them needs more edits than a third of the length of `text` (one edit is always allowed), or shares no letter with it.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    all_nearest(text, candidates).first().copied()
}

/// The names that are as near as [`nearest`], in their order.
pub fn all_nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
    let written = lower(text);
    let most = (written.len() / 3).max(1);
    let near = |name: &'a str| {
        let candidate = lower(name);
        // The difference of the lengths is a lower bound of the distance; it keeps long texts cheap.
        let is_close = written.len().abs_diff(candidate.len()) <= most;
        let edits = is_close.then(|| distance(&written, &candidate))?;
        (edits <= most && edits < written.len().max(candidate.len())).then_some((edits, name))
    };
    let near: Vec<(usize, &str)> = candidates.into_iter().filter_map(near).collect();
    let least = near.iter().map(|&(edits, _)| edits).min();
    near.into_iter().filter(|&(edits, _)| Some(edits) == least).map(|(_, name)| name).collect()
}

/// The Damerau-Levenshtein distance: the least number of characters that are inserted, deleted, replaced or swapped with
/// the next one, and a swapped pair may be edited again. Lowrance and Wagner, Journal of the ACM 22, 1975.
fn distance(a: &[char], b: &[char]) -> usize {
    // The distance of the first i characters of a and the first j characters of b.
    let mut distances: Vec<Vec<usize>> = (0..=a.len()).map(|i| vec![i; b.len() + 1]).collect();
    distances[0] = (0..=b.len()).collect();
    // The last row of each character of a, up to the current row.
    let mut rows = BTreeMap::new();
    for (i, x) in (1..).zip(a) {
        // The last column before the current one in which b has this character.
        let mut column = None;
        for (j, y) in (1..).zip(b) {
            let replaced = distances[i - 1][j - 1] + usize::from(x != y);
            let inserted_or_deleted = distances[i][j - 1].min(distances[i - 1][j]) + 1;
            let swapped = rows.get(y).zip(column).map(|(&row, column): (&usize, usize)| {
                distances[row - 1][column - 1] + (i - row - 1) + 1 + (j - column - 1)
            });
            distances[i][j] = replaced.min(inserted_or_deleted).min(swapped.unwrap_or(usize::MAX));
            if x == y {
                column = Some(j);
            }
        }
        rows.insert(x, i);
    }
    distances[a.len()][b.len()]
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
        assert_eq!(nearest("bbr", ["abc", "rcp", "vcp"]), None);
        assert_eq!(nearest("m", ["s", "ms", "h"]), Some("ms"));
        assert_eq!(nearest("x", ["s", "h"]), None);
    }

    #[test]
    fn names_at_the_same_distance_are_all_nearest() {
        let known = ["cubic", "bbr1", "bbr3"];
        assert_eq!(all_nearest("bbr4", known), ["bbr1", "bbr3"]);
        assert_eq!(all_nearest("bbr3", known), ["bbr3"]);
        assert_eq!(all_nearest("timely", known), [""; 0]);
    }

    #[test]
    fn the_distance_is_that_of_the_reference_for_all_words_of_three_letters_up_to_length_four() {
        let mut words = vec![String::new()];
        for length in 0..4 {
            let shorter: Vec<String> = words.iter().filter(|word| word.len() == length).cloned().collect();
            words.extend(shorter.iter().flat_map(|word| ["a", "b", "c"].map(|letter| word.clone() + letter)));
        }
        let letters: Vec<Vec<char>> = words.iter().map(|word| word.chars().collect()).collect();
        for (a, of_a) in words.iter().zip(&letters) {
            for (b, of_b) in words.iter().zip(&letters) {
                assert_eq!(distance(of_a, of_b), strsim::damerau_levenshtein(a, b), "{a} {b}");
            }
        }
    }
}
