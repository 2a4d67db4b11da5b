//! The parameters of XCP.

use crate::parts::interval;
use millpond_law::{Domain, Parameter, SettingError, Settings};
use millpond_units::Span;
use std::f64::consts::{PI, SQRT_2};

/// Every parameter.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "alpha",
        unit: "1",
        domain: Domain::Number(0.0, 10.0),
        default: "0.4",
        source: "Eq. (1), SIGCOMM 2002",
        meaning: "share of the spare capacity that is handed out in a control interval",
    },
    Parameter {
        name: "beta",
        unit: "1",
        domain: Domain::Number(0.0, 10.0),
        default: "0.226",
        source: "Eq. (1), SIGCOMM 2002",
        meaning: "share of the persistent queue that is drained in a control interval",
    },
    Parameter {
        name: "gamma",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.1",
        source: "Eq. (4), SIGCOMM 2002",
        meaning: "share of the traffic that is taken from all and handed out anew, so that shares become equal",
    },
    Parameter {
        name: "initial_window",
        unit: "packets",
        domain: Domain::Number(1.0, 1e6),
        default: "2",
        source: "RFC 2581, as in ns-2's XCP",
        meaning: "window at the start",
    },
    Parameter {
        name: "loss_reduction_factor",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.5",
        source: "RFC 9002, section 7.3.2",
        meaning: "what is left of the window when a loss episode begins",
    },
    Parameter {
        name: "initial_interval",
        unit: "s",
        domain: Domain::Span(true),
        default: "50ms",
        source: "initial Te in ns-2's XCP",
        meaning: "control interval of a router while no packet tells it a round-trip time",
    },
    Parameter {
        name: "min_interval",
        unit: "s",
        domain: Domain::Span(true),
        default: "1ms",
        source: "MIN_INTERVAL in draft-falk-xcp-spec-03; value of ns-2's XCP",
        meaning: "least control interval",
    },
    Parameter {
        name: "max_rtt",
        unit: "s",
        domain: Domain::Span(true),
        default: "1s",
        source: "MAX_INTERVAL in draft-falk-xcp-spec-03; value of ns-2's XCP",
        meaning: "a packet that quotes a longer round-trip time counts as if it had quoted this",
    },
    Parameter {
        name: "min_queue_interval",
        unit: "s",
        domain: Domain::Span(true),
        default: "2ms",
        source: "ALLOWED_QUEUE in draft-falk-xcp-spec-03; value of ns-2's XCP",
        meaning: "least time over which a queue must persist to count",
    },
];

/// The parameters of the router, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// Share of the spare capacity.
    pub(super) alpha: f64,
    /// Share of the persistent queue.
    pub(super) beta: f64,
    /// Share of the traffic that is shuffled.
    pub(super) gamma: f64,
    /// Control interval before any round-trip time is known.
    pub(super) initial_interval: Span,
    /// Least control interval.
    pub(super) min_interval: Span,
    /// Longest round-trip time that counts.
    pub(super) max_rtt: Span,
    /// Least queue interval.
    pub(super) min_queue_interval: Span,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let least = |name| interval::checked(name, settings.span(name));
        Ok(Self {
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            gamma: settings.number("gamma"),
            initial_interval: settings.span("initial_interval"),
            min_interval: least("min_interval")?,
            max_rtt: settings.span("max_rtt"),
            min_queue_interval: least("min_queue_interval")?,
        })
    }
}

/// Theorem 1: stable for any delay, capacity and number of flows if `0 < alpha < pi / (4 sqrt 2)` and
/// `beta = alpha^2 sqrt 2`. Says so where that does not hold.
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
