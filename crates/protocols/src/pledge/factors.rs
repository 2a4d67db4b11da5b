//! The two learned factors of a router and the window that follows from them: Eqs. (3) to (5).
//!
//! ```text
//!  late bytes ----> late factor (4) --+
//!                                     +--> window W (3) = the less of both --> offered rates
//!  idle time -----> use factor (5) ---+
//! ```

use super::params::RouterParams;
use core::f64::consts::E;

/// Least use factor.
pub(super) const USE_FLOOR: f64 = 0.2;

/// Windows after which a mean has forgotten its initial value; eta_l begins at its inverse.
pub(super) const FIRST_WINDOWS: f64 = 10.0;

/// Share of a buffer that the queue of a whole target may fill.
pub(super) const BUFFER_SHARE: f64 = 0.9;

/// What a router knows about its link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    /// mu: signalled capacity, in bytes/s.
    pub(super) capacity: f64,
    /// T: mean base round-trip time of the flows, in seconds.
    pub(super) base_rtt: f64,
    /// d: in seconds.
    pub(super) target: f64,
    /// In bytes; infinite if it is unlimited.
    pub(super) buffer: f64,
    /// p: size of a packet, in bytes.
    pub(super) packet: f64,
}

impl Known {
    /// `mu T`: the bytes that the link serves in a base round-trip time.
    #[inline]
    pub(super) fn product(&self) -> f64 {
        self.capacity * self.base_rtt
    }

    /// `mu T + min(mu d, 0.9 buffer)`: the bytes that it serves until a packet sent now is late.
    #[inline]
    pub(super) fn in_time(&self) -> f64 {
        self.product() + (self.capacity * self.target).min(BUFFER_SHARE * self.buffer)
    }
}

/// Eq. (3): bytes that may be in the loop, in flight or queued. The packet that completes the window waits for those before
/// it alone, so that it is in addition to what the link serves.
#[inline]
pub(super) fn window(known: &Known, late_factor: f64, use_factor: f64) -> f64 {
    known.packet + (late_factor * known.in_time()).min(use_factor * known.product())
}

/// Step lengths of the late factor: eta_l after `windows`.
#[inline]
pub(super) fn late_step(params: &RouterParams, windows: f64) -> f64 {
    params.late_step.max(1.0 / (FIRST_WINDOWS + windows))
}

/// The late factor theta_l.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LateFactor {
    /// theta_l.
    pub(super) value: f64,
    /// Windows of bytes that have departed.
    pub(super) windows: f64,
}

impl LateFactor {
    pub(super) const INITIAL: Self = Self { value: 1.0, windows: 0.0 };

    /// Eq. (4): `ln theta_l += eta_l share (late - 1[late])`, between the floor and one. `share` is the size of the
    /// packet as a share of a mean window, or a time as a share of a round trip. The step is the linear one, `theta (1 + x)`,
    /// which is at most `theta exp x`.
    #[inline]
    pub(super) fn count(&mut self, params: &RouterParams, share: f64, is_late: bool) {
        let excess = params.late - f64::from(u8::from(is_late));
        let step = late_step(params, self.windows) * share * excess;
        self.value = (self.value * (1.0 + step)).clamp(params.late_floor, 1.0);
        self.windows += share;
    }
}

/// Eq. (5): the next use factor, `ln theta_u += eta_u ((1 - spare) wasted - spare served)`, for bytes as shares of a mean
/// window. `most` is the factor at which the late factor determines the window.
#[inline]
pub(super) fn next_use_factor(
    params: &RouterParams,
    use_factor: f64,
    wasted: f64,
    served: f64,
    most: f64,
) -> f64 {
    let step = params.use_step * ((1.0 - params.spare) * wasted - params.spare * served);
    let next = (use_factor * (1.0 + step)).max(USE_FLOOR);
    if step > 0.0 { next.min(most.max(use_factor)) } else { next }
}

/// Eq. (5): B, the window of which bytes are a share. With a delay of T the loop of the use factor has the gain `eta_u mu T / B`
/// per T, and oscillates above `1 / e`. On a link that is now much faster than in the mean B is therefore at least as much
/// that the gain is `1 / e`, or `eta_u` if that is more.
#[inline]
pub(super) fn use_window(params: &RouterParams, known: &Known, mean_window: f64) -> f64 {
    mean_window.max(known.product() * (E * params.use_step).min(1.0))
}

/// Eq. (6): the use factor after fifty windows in which the queue was never below `standing` bytes, for this W: a window
/// that is less by as much would have left no instant unused.
#[inline]
pub(super) fn without_standing_queue(known: &Known, window: f64, standing: f64) -> f64 {
    ((window - known.packet - standing) / known.product()).max(USE_FLOOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pledge::params::PARAMETERS;
    use millpond_law::{Random, Settings};

    fn defaults() -> RouterParams {
        RouterParams::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    /// 1 Mbyte/s, 50 ms, target 50 ms.
    const KNOWN: Known =
        Known { capacity: 1e6, base_rtt: 0.05, target: 0.05, buffer: f64::INFINITY, packet: 1500.0 };

    #[test]
    fn the_window_is_a_packet_and_the_less_of_both_terms_of_equation_3() {
        // mu T = 50 kB, mu (T + d) = 100 kB.
        assert!((window(&KNOWN, 1.0, 1.0) - 51.5e3).abs() < 1e-6);
        assert!((window(&KNOWN, 0.3, 1.0) - 31.5e3).abs() < 1e-6);
        assert!((window(&KNOWN, 1.0, 1.5) - 76.5e3).abs() < 1e-6);
        let small = Known { buffer: 10e3, ..KNOWN };
        assert!((window(&small, 1.0, 2.0) - 60.5e3).abs() < 1e-6, "0.9 of the buffer");
    }

    #[test]
    fn the_late_factor_follows_equation_4() {
        let params = defaults();
        let mut factor = LateFactor { value: 0.8, windows: 1000.0 };
        factor.count(&params, 0.5, false);
        assert!((factor.value / 0.8 - (1.0 + 0.02 * 0.5 * 0.05)).abs() < 1e-12);
        let before = factor.value;
        factor.count(&params, 1.0, true);
        assert!((factor.value / before - (1.0 - 0.02 * 0.95)).abs() < 1e-12);
        assert!((factor.windows - 1001.5).abs() < 1e-9);
        // eta_l = 1 / (10 + n) at first.
        let mut young = LateFactor::INITIAL;
        young.count(&params, 1.0, true);
        assert!((young.value - (1.0 - 0.1 * 0.95)).abs() < 1e-12);
    }

    #[test]
    fn the_late_factor_stays_between_its_floor_and_one() {
        let params = defaults();
        let mut factor = LateFactor::INITIAL;
        factor.count(&params, 1.0, false);
        assert_eq!(factor.value, 1.0);
        factor.count(&params, 1e9, true);
        assert_eq!(factor.value, params.late_floor);
    }

    #[test]
    fn the_use_factor_is_in_equilibrium_where_the_spare_share_is_wasted() {
        let params = defaults();
        let after = |wasted: f64| next_use_factor(&params, 1.0, wasted, 1.0 - wasted, 2.0);
        assert!((after(0.01) - 1.0).abs() < 1e-12);
        assert!((after(0.11) - (1.0 + 0.05 * 0.1)).abs() < 1e-12, "step 0.05 times (wasted - spare)");
        assert!(after(0.0) < 1.0);
        assert_eq!(next_use_factor(&params, 1.99, 1.0, 0.0, 2.0), 2.0, "not beyond the late window");
        assert_eq!(next_use_factor(&params, 2.5, 1.0, 0.0, 2.0), 2.5);
        assert_eq!(next_use_factor(&params, USE_FLOOR, 0.0, 1.0, 2.0), USE_FLOOR);
    }

    #[test]
    fn the_gain_of_the_use_loop_is_at_most_one_by_e_however_fast_the_link_is_now() {
        let params = defaults();
        let gain = |mean: f64| params.use_step * KNOWN.product() / use_window(&params, &KNOWN, mean);
        assert!((gain(100e3) - 0.025).abs() < 1e-12, "half as fast as in the mean");
        assert!((gain(10e3) - 0.25).abs() < 1e-12);
        assert!((gain(1e3) - 1.0 / E).abs() < 1e-12, "50 times as fast");
        let hasty = RouterParams { use_step: 0.8, ..params };
        assert_eq!(use_window(&hasty, &KNOWN, 1e3), KNOWN.product());
    }

    #[test]
    fn a_standing_queue_is_taken_from_the_window_at_once() {
        // 61.5 kB in the loop, never less than 15 kB queued: a packet and 45 kB of 50.
        assert!((without_standing_queue(&KNOWN, 61.5e3, 15e3) - 0.9).abs() < 1e-12);
        assert_eq!(without_standing_queue(&KNOWN, 61.5e3, 90e3), USE_FLOOR);
    }

    /// Late bytes beyond the promised share, and their bound while the factor is off its floor: packets of these bytes,
    /// late or not, with mean windows B. The bound is `ln 2 (B_1 / eta_1 + V)`, with V the sum of all increases of `B / eta`.
    struct Account {
        factor: LateFactor,
        excess: f64,
        total: f64,
        first: f64,
        last: f64,
        increases: f64,
        touched_floor: bool,
        /// `-ln` of the floor.
        slack: f64,
    }

    impl Account {
        fn new(params: &RouterParams, windows: f64) -> Self {
            let factor = LateFactor { value: 1.0, windows };
            Self {
                factor,
                excess: 0.0,
                total: 0.0,
                first: 0.0,
                last: 0.0,
                increases: 0.0,
                touched_floor: false,
                slack: -libm::log(params.late_floor),
            }
        }

        fn count(&mut self, params: &RouterParams, bytes: f64, mean_window: f64, is_late: bool) {
            let scale = mean_window / late_step(params, self.factor.windows);
            if self.first == 0.0 {
                (self.first, self.last) = (scale, scale);
            }
            self.increases += (scale - self.last).max(0.0);
            self.last = scale;
            self.factor.count(params, bytes / mean_window, is_late);
            self.excess += bytes * (f64::from(u8::from(is_late)) - params.late);
            self.total += bytes;
            self.touched_floor |= self.factor.value <= params.late_floor;
        }

        fn bound(&self) -> f64 {
            self.slack * (self.first + self.increases)
        }
    }

    /// One adversary: late packets in runs, as long as the factor is above a threshold.
    fn attack(genes: &[f64; 6], seed: u64, params: &RouterParams, check: impl Fn(&Account)) -> f64 {
        let mut random = Random::numbered(seed, 18);
        let [enter, leave, threshold, swing, period, young] = *genes;
        let mut account = Account::new(params, if young < 0.5 { 0.0 } else { 1e6 });
        let (mut is_late, mut worst) = (false, 0.0_f64);
        for packet in 0..20_000 {
            is_late = random.chance(if is_late { 1.0 - leave } else { enter });
            let late = is_late && account.factor.value > params.late_floor + threshold;
            let phase = f64::from(packet) / (10.0 + 1000.0 * period);
            let mean_window = 20_000.0 * libm::exp(swing * libm::sin(phase));
            account.count(params, 1500.0, mean_window, late);
            if account.touched_floor {
                break;
            }
            check(&account);
            worst = worst.max(account.excess / account.bound());
        }
        worst
    }

    #[test]
    fn no_adversary_makes_more_bytes_late_than_the_bound_while_the_factor_is_off_its_floor() {
        // A search: random adversaries, and changes of the best so far.
        let params = defaults();
        let mut random = Random::numbered(1, 4);
        let mut best = ([0.5; 6], 0.0);
        for trial in 0..300 {
            let genes = if trial % 3 == 0 {
                std::array::from_fn(|_| random.uniform())
            } else {
                best.0.map(|gene: f64| (gene + 0.1 * random.normal()).clamp(0.0, 1.0))
            };
            let within = |account: &Account| {
                assert!(
                    account.excess <= account.bound() * (1.0 + 1e-9),
                    "{genes:?}: {} of {}",
                    account.excess,
                    account.bound()
                );
            };
            let worst = attack(&genes, trial, &params, within);
            if worst > best.1 {
                best = (genes, worst);
            }
        }
        assert!(best.1 > 0.5, "the search finds no adversary that comes near the bound: {best:?}");
    }

    #[test]
    fn with_constant_windows_the_bound_is_the_logarithm_of_the_floor_over_eta_n_and_an_adversary_reaches_it()
    {
        // All bytes are late until the factor is just above its floor: share 1, n = ln 2 / (0.95 eta) windows.
        let params = defaults();
        let mut account = Account::new(&params, 1e6);
        while account.factor.value > params.late_floor * 1.001 {
            account.count(&params, 15.0, 20_000.0, true);
        }
        assert!(!account.touched_floor);
        let windows = account.total / 20_000.0;
        let slack = core::f64::consts::LN_2 / (params.late_step * windows);
        assert!((account.bound() / account.total / slack - 1.0).abs() < 1e-9);
        assert!(
            (0.99..=1.0).contains(&(account.excess / account.bound())),
            "{}",
            account.excess / account.bound()
        );
    }
}
