//! The target delay (section 3.5, SIGCOMM 2020).

use millpond_units::Span;

/// Parameters of the target delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TargetParams {
    /// Target without links and without many flows.
    pub(super) base: Span,
    /// Addition for each link.
    pub(super) per_hop: Span,
    /// Largest addition for a small window.
    pub(super) range: Span,
    /// Window in packets at and below which that addition is made.
    pub(super) min_cwnd: f64,
    /// Window in packets at and above which none is made.
    pub(super) max_cwnd: f64,
}

/// The target delay of a path, as a function of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    /// Topology-based part in seconds: the base target and the links.
    path: f64,
    /// Flow-based part: `alpha / sqrt(window) + beta`, in seconds.
    alpha: f64,
    beta: f64,
    range: f64,
}

impl Target {
    /// `alpha = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd))` and `beta = -alpha / sqrt(fs_max_cwnd)`.
    pub(super) fn new(params: &TargetParams, hops: u32) -> Self {
        let inverse_root = |packets: f64| 1.0 / libm::sqrt(packets);
        let (least, most) = (inverse_root(params.max_cwnd), inverse_root(params.min_cwnd));
        let range = params.range.secs();
        let alpha = range / (most - least);
        let path = params.base.secs() + f64::from(hops) * params.per_hop.secs();
        Self { path, alpha, beta: -alpha * least, range }
    }

    /// `base_target + hops * per_hop + max(0, min(alpha / sqrt(window) + beta, fs_range))` in seconds, for a window in packets.
    pub(super) fn secs(&self, window: f64) -> f64 {
        let flows = self.alpha / libm::sqrt(window) + self.beta;
        self.path + flows.min(self.range).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: TargetParams = TargetParams {
        base: Span::from_micros(20),
        per_hop: Span::from_micros(3),
        range: Span::from_micros(90),
        min_cwnd: 0.25,
        max_cwnd: 25.0,
    };

    #[test]
    fn the_target_falls_with_the_root_of_the_window_between_its_two_ends() {
        // alpha = 90 us / (2 - 0.2) = 50 us and beta = -10 us; two links add 6 us to 20 us.
        let target = Target::new(&PARAMS, 2);
        for (window, micros) in
            [(0.01, 116.0), (0.25, 116.0), (1.0, 66.0), (4.0, 41.0), (25.0, 26.0), (1e4, 26.0)]
        {
            assert!((target.secs(window) * 1e6 - micros).abs() < 1e-9, "{window}: {}", target.secs(window));
        }
    }

    #[test]
    fn without_a_range_the_target_does_not_depend_on_the_window() {
        let target = Target::new(&TargetParams { range: Span::ZERO, ..PARAMS }, 0);
        assert_eq!([0.01, 1.0, 100.0].map(|window| target.secs(window)), [20e-6; 3]);
    }
}
