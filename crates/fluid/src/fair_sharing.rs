//! Loops that several flows share: what each gets of what their one sender may send.
//!
//! ```text
//!   backlog of flow 1 ==|            level * weight
//!   backlog of flow 2 ==|== turns ====================> the shared loop
//!   flow 3, dry ------->|            what comes
//! ```

use crate::assembly::{Assembly, SharedFlow};
use crate::discrete_state::Held;
use millpond_law::fluid::{Number, greatest, least};

/// Some equal flows that share a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShareRequest<T> {
    /// How many.
    pub(crate) count: f64,
    /// Of each.
    pub(crate) weight: f64,
    /// What comes of each, in bit/s, if nothing of it waits.
    pub(crate) dry: Option<T>,
}

impl<T: Number> ShareRequest<T> {
    /// What one of them may send at this level, and what it does send.
    pub(crate) fn at(&self, level: T) -> (T, T) {
        let may = level * self.weight;
        (may, self.dry.map_or(may, |comes| least(may, comes)))
    }

    fn together(&self) -> f64 {
        self.count * self.weight
    }
}

impl Assembly {
    /// The turn of some flows of a shared loop; `delivered`: what reaches the end of a loop.
    pub(crate) fn turn<T: Number>(
        &self,
        member: &SharedFlow,
        held: &[Held],
        delivered: impl Fn(usize) -> T,
    ) -> ShareRequest<T> {
        let is_dry = held[self.offsets.backlogs + member.relay] == Held::Lower;
        let dry = is_dry.then(|| delivered(self.relays[member.relay].upstream.0));
        ShareRequest { count: member.count, weight: member.weight, dry }
    }
}

/// Weighted fair turns: the rate per unit of weight at which what all send makes up `rate`. Flows of which less comes leave
/// the rest to the others; if not enough comes of all of them, the level is above the greatest by what each could send more.
pub(crate) fn level<T: Number>(rate: T, turns: &[ShareRequest<T>]) -> T {
    let per_weight = |turn: &ShareRequest<T>| turn.dry.map(|comes| comes / turn.weight);
    let mut dry: Vec<(T, f64)> = turns.iter().filter_map(|t| Some((per_weight(t)?, t.together()))).collect();
    dry.sort_by(|a, b| a.0.re().total_cmp(&b.0.re()));
    let (mut left, mut weight) = (rate, turns.iter().map(ShareRequest::together).sum::<f64>());
    let (all, waits) = (weight, turns.iter().any(|turn| turn.dry.is_none()));
    let mut most = T::zero();
    for (comes, together) in dry {
        if comes * weight > left {
            return left / weight;
        }
        left -= comes * together;
        weight -= together;
        most = comes;
    }
    if waits { left / weight } else { most + greatest(left, T::zero()) / all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::fluid::Dual64;

    fn turn(count: f64, weight: f64, dry: Option<f64>) -> ShareRequest<f64> {
        ShareRequest { count, weight, dry }
    }

    fn sent(rate: f64, turns: &[ShareRequest<f64>]) -> Vec<f64> {
        let level = level(rate, turns);
        turns.iter().map(|turn| turn.at(level).1).collect()
    }

    #[test]
    fn flows_that_wait_divide_a_rate_by_weight() {
        let turns = [turn(2.0, 1.0, None), turn(1.0, 2.0, None)];
        assert_eq!(sent(8.0, &turns), [2.0, 4.0]);
        assert_eq!(sent(0.0, &turns), [0.0, 0.0]);
    }

    #[test]
    fn what_a_dry_flow_leaves_is_divided_among_the_others() {
        let turns = [turn(1.0, 1.0, Some(1.0)), turn(1.0, 1.0, Some(9.0)), turn(1.0, 1.0, None)];
        // One takes 1 of 9; the others have 4 each, whether more comes of one or not.
        assert_eq!(sent(9.0, &turns), [1.0, 4.0, 4.0]);
        // Even the first has more to send than its third of 1.5.
        assert_eq!(sent(1.5, &turns), [0.5, 0.5, 0.5]);
    }

    /// As more and more may be sent: when does each begin to wait, which is where what it may send meets what comes?
    #[test]
    fn where_all_are_dry_the_one_that_brings_most_for_its_weight_is_the_first_to_wait() {
        let turns = [turn(1.0, 1.0, Some(3.0)), turn(2.0, 2.0, Some(4.0))];
        assert_eq!(sent(11.0, &turns), [3.0, 4.0]);
        let level = |rate| level(rate, &turns);
        assert_eq!((level(16.0), level(11.0)), (3.0 + 5.0 / 5.0, 3.0));
        assert!(level(11.0 - 1e-9) < 3.0, "more than there is room for: the first waits");
    }

    #[test]
    fn a_level_carries_its_derivative() {
        let dual = |re: f64, eps: f64| Dual64::new(re, eps);
        let turns = [
            ShareRequest { count: 1.0, weight: 1.0, dry: Some(dual(1.0, 1.0)) },
            ShareRequest { count: 2.0, weight: 2.0, dry: None },
        ];
        // (9 - 1) / 4, and a quarter less for each that comes more.
        let level = level(dual(9.0, 0.0), &turns);
        assert_eq!((level.re, level.eps), (2.0, -0.25));
    }
}
