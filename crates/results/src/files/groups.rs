//! Comparison of many items in groups, without a branch for each item, so that an instruction compares several.

use std::ops::BitOr;

/// Items that are compared at once.
pub(super) const GROUP: usize = 8;

/// How many items are the same, up to the first that differs; `difference`: zero for an item that is the same.
pub(super) fn count_same<T, B: BitOr<Output = B> + Default + PartialEq>(
    items: &[T],
    difference: impl Fn(&T) -> B,
) -> usize {
    let is_same = |group: &&[T; GROUP]| {
        group.iter().fold(B::default(), |bits, item| bits | difference(item)) == B::default()
    };
    let same = GROUP * items.as_chunks().0.iter().take_while(is_same).count();
    same + items[same..].iter().take_while(|item| difference(item) == B::default()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_item_that_differs_ends_the_count() {
        for length in 0..30_usize {
            for first in 0..=length {
                let items: Vec<usize> = (0..length).collect();
                let difference = |item: &usize| u64::from(*item == first || *item == first + 2);
                assert_eq!(count_same(&items, difference), first, "{first} of {length}");
            }
        }
    }
}
