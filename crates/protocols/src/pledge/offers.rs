//! What a router offers to its flows: Eqs. (7) and (13).

use super::factors::FIRST_WINDOWS;

/// A flow counts as one of this router's if it follows at least this share of the offer: where two routers offer nearly the
/// same, a flow would otherwise change between them with every fluctuation.
pub(super) const TIE: f64 = 0.95;

/// Least own share in (13), so that q follows the queue within a hundred windows.
const LEAST_OWN_SHARE: f64 = 0.1;

/// Eq. (7) without the division by N: what other traffic leaves of W / (T + q), in bytes/s. `loop_time` is T + q.
#[inline]
pub(super) fn own_rate(window: f64, loop_time: f64, others: &Others) -> f64 {
    let rate = window / loop_time;
    (rate - others.foreign.min(rate / 2.0) - others.elsewhere).max(0.0)
}

/// Eq. (7): the offered rate in bytes/s, a share of the rate that is left to own flows. Without a flow that follows this router,
/// one that would follow it next may have the spare rate beside its present one, which is at most `largest`.
#[inline]
pub(super) fn offered_rate(own: f64, largest: f64, flows: f64) -> f64 {
    if flows > 0.5 { own / flows.max(1.0) } else { own + largest }
}

/// Eq. (13): the mean wait q in seconds after packets that are this share of a mean window and have waited for `wait`. The rate
/// of others times q is subtracted from W, so that an error of q is an error of the queue times the others' share over the own
/// one. With a memory in inverse proportion to the own share the gain of this loop does not depend on it.
#[inline]
pub(super) fn next_mean_wait(mean_wait: f64, wait: f64, share: f64, own_share: f64) -> f64 {
    mean_wait + share * own_share.max(LEAST_OWN_SHARE) / FIRST_WINDOWS * (wait - mean_wait)
}

/// Rates in bytes/s of the traffic that does not follow this router's offer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Others {
    /// Pledge flows whose least offer is of another router, of the last interval and without those that are counted now.
    pub(super) elsewhere: f64,
    /// Packets without a header of Pledge.
    pub(super) foreign: f64,
    /// The largest rate that a flow follows.
    pub(super) largest: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn the_offered_rate_is_equation_7() {
        let others = Others { elsewhere: 2e5, foreign: 1e5, largest: 3e5 };
        // 60 kB in 60 ms: 1 MB/s, less .1 and .2.
        assert!(near(own_rate(60e3, 0.06, &others), 0.7e6));
        assert!(near(offered_rate(0.7e6, others.largest, 2.0), 0.35e6));
        assert!(near(offered_rate(0.7e6, others.largest, 0.0), 0.7e6 + 0.3e6));
        let flood = Others { foreign: 9e6, ..Others::default() };
        assert!(near(own_rate(60e3, 0.06, &flood), 0.5e6), "half of the window is kept");
        assert_eq!(own_rate(60e3, 0.06, &Others { elsewhere: 9e6, ..others }), 0.0);
    }

    /// The mean waits during `windows` of ten packets, in seconds from their equilibrium: a second at first. The queue answers to the
    /// mean wait three windows later, multiplied by the share of others over the own one.
    fn deviations(own_share: f64, memory_of_share: f64, windows: usize) -> Vec<f64> {
        const PER_WINDOW: usize = 10;
        let (gain, mut means) = ((1.0 - own_share) / own_share, vec![1.0; 3 * PER_WINDOW]);
        for packet in 0..windows * PER_WINDOW {
            let wait = -gain * means[packet];
            let last = means[means.len() - 1];
            means.push(next_mean_wait(last, wait, 1.0 / PER_WINDOW as f64, memory_of_share));
        }
        means
    }

    #[test]
    fn the_mean_wait_settles_without_oscillation_whatever_the_own_share_is() {
        for own_share in [1.0, 0.5, 0.2, 0.1] {
            let means = deviations(own_share, own_share, 200);
            assert!(means.windows(2).all(|pair| 0.0 <= pair[1] && pair[1] <= pair[0]), "{own_share}");
            assert!(means[means.len() - 1] < 1e-3, "{own_share}");
        }
        // With a memory of ten windows for every share it oscillates at a fifth, and grows at a tenth: the product of gain and
        // delay is 0.3 times 4 and 9, above 1 / e and above pi / 2.
        assert!(deviations(0.2, 1.0, 200).iter().any(|mean| *mean < -0.1));
        assert!(deviations(0.1, 1.0, 200).iter().any(|mean| mean.abs() > 10.0));
    }
}
