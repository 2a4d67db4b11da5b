//! The parameters of XCP.

use crate::parts::interval;
use millpond_law::key::{Key, Keys, from, number, span, word};
use millpond_law::{Settings, words};
use millpond_units::Span;
use std::f64::consts::{PI, SQRT_2};

pub(super) const ALPHA: Key<f64> = number("alpha", "1", 0.4, from(0.0).to(10.0))
    .source("Eq. (1), SIGCOMM 2002")
    .meaning("share of the spare capacity that is allocated in a control interval");
pub(super) const BETA: Key<f64> = number("beta", "1", 0.226, from(0.0).to(10.0))
    .source("Eq. (1), SIGCOMM 2002")
    .meaning("share of the persistent queue that is drained in a control interval");
const GAMMA: Key<f64> = number("gamma", "1", 0.1, from(0.0).to(1.0))
    .source("Eq. (4), SIGCOMM 2002")
    .meaning("share of the traffic that is redistributed in a control interval, so that shares become equal");
pub(super) const INITIAL_WINDOW: Key<f64> = number("initial_window", "packets", 2.0, from(1.0).to(1e6))
    .source("RFC 2581, as in ns-2's XCP")
    .meaning("initial window");
pub(super) const LOSS_REDUCTION_FACTOR: Key<f64> =
    number("loss_reduction_factor", "1", 0.5, from(0.0).to(1.0))
        .source("RFC 9002, section 7.3.2")
        .meaning("factor by which a loss episode multiplies the window");
pub(super) const FRACTION: Key<Fraction> =
    word("fraction", Fraction::Carried).source("not in the draft; ns-2's XCP truncates").meaning(
        "the fraction of a window that no whole packet fits into: added to the next round trip, or not used",
    );
const INITIAL_INTERVAL: Key<Span> = span("initial_interval", Span::from_millis(50))
    .source("initial Te in ns-2's XCP")
    .meaning("control interval of a router before any packet carries a round-trip time");
const MIN_INTERVAL: Key<Span> = interval::timer("min_interval", Span::from_millis(1))
    .source("MIN_INTERVAL in draft-falk-xcp-spec-03; value of ns-2's XCP")
    .meaning("least control interval");
const MAX_RTT: Key<Span> = span("max_rtt", Span::from_millis(1_000))
    .source("MAX_INTERVAL in draft-falk-xcp-spec-03; value of ns-2's XCP")
    .meaning("longer round-trip times in packets are treated as this one");
const MIN_QUEUE_INTERVAL: Key<Span> = interval::timer("min_queue_interval", Span::from_millis(2))
    .source("ALLOWED_QUEUE in draft-falk-xcp-spec-03; value of ns-2's XCP")
    .meaning("least time over which the persistent queue is measured");

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &ALPHA, &BETA, &GAMMA, &INITIAL_WINDOW, &LOSS_REDUCTION_FACTOR, &FRACTION, &INITIAL_INTERVAL, &MIN_INTERVAL,
    &MAX_RTT, &MIN_QUEUE_INTERVAL,
];

words! {
    /// What becomes of the fraction of a window that no whole packet fits into.
    pub(super) enum Fraction { Carried = "carried", Truncated = "truncated" }
}

/// The router's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// alpha of Eq. (1): share of the spare capacity.
    pub(super) alpha: f64,
    /// beta of Eq. (1): share of the persistent queue.
    pub(super) beta: f64,
    /// gamma of Eq. (4): share of the traffic that is redistributed.
    pub(super) gamma: f64,
    /// Control interval before the first packet with a round-trip time.
    pub(super) initial_interval: Span,
    /// Smallest control interval.
    pub(super) min_interval: Span,
    /// Upper limit on the round-trip times of packets.
    pub(super) max_rtt: Span,
    /// Smallest interval over which the persistent queue is measured.
    pub(super) min_queue_interval: Span,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            alpha: settings.get(ALPHA),
            beta: settings.get(BETA),
            gamma: settings.get(GAMMA),
            initial_interval: settings.get(INITIAL_INTERVAL),
            min_interval: settings.get(MIN_INTERVAL),
            max_rtt: settings.get(MAX_RTT),
            min_queue_interval: settings.get(MIN_QUEUE_INTERVAL),
        }
    }
}

/// Theorem 1: stable for any delay, capacity and number of flows if `0 < alpha < pi / (4 sqrt 2)` and
/// `beta = alpha^2 sqrt 2`. Returns a warning otherwise.
pub(super) fn instability(alpha: f64, beta: f64) -> Option<String> {
    let (most, matching) = (PI / (4.0 * SQRT_2), alpha * alpha * SQRT_2);
    if alpha <= 0.0 || alpha >= most {
        return Some(format!(
            "alpha = {alpha}: stable for every delay only between 0 and {most:.3} (Theorem 1)"
        ));
    }
    let near = (beta / matching - 1.0).abs() < 0.01;
    (!near).then(|| {
        format!("beta = {beta}: proven stable only with alpha^2 sqrt(2) = {matching:.3} (Theorem 1)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_gains_are_those_of_theorem_1() {
        assert_eq!(instability(0.4, 0.226), None);
        assert!(instability(0.56, 0.4435).unwrap().contains("0.555"));
        assert!(instability(0.0, 0.0).unwrap().contains("alpha"));
        assert!(instability(0.4, 0.5).unwrap().contains("0.226"));
    }
}
