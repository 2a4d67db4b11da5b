//! The parameters of RCP.

use crate::parts::interval;
use millpond_law::{Domain, Parameter, SettingError, Settings};
use millpond_units::Span;

/// Every parameter.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "alpha",
        unit: "1",
        domain: Domain::Number(0.0, 10.0),
        default: "0.4",
        source: "Eq. (2), IWQoS 2005, which has 0.1; value of the thesis and of the published router",
        meaning: "share of the spare capacity that is handed out in a round-trip time",
    },
    Parameter {
        name: "beta",
        unit: "1",
        domain: Domain::Number(0.0, 10.0),
        default: "0.226",
        source: "Eq. (2), IWQoS 2005, which has 1; value of the thesis",
        meaning: "share of the queue that is drained in a round-trip time",
    },
    Parameter {
        name: "interval",
        unit: "",
        domain: Domain::Interval(&["mean-rtt"], &[]),
        default: "10ms",
        source: "T in Eq. (2), IWQoS 2005",
        meaning: "a router updates its rate this often, or each mean round-trip time if that is less or asked for",
    },
    Parameter {
        name: "floor",
        unit: "packets",
        domain: Domain::Above(0.0, 1e6),
        default: "0.01",
        source: "ns-2's RCP; ACP's comparison has one packet",
        meaning: "least rate that a router offers, in packets per mean round-trip time",
    },
    Parameter {
        name: "initial_rate",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.05",
        source: "ns-2's RCP",
        meaning: "share of its capacity that a router offers at the start",
    },
    Parameter {
        name: "initial_rtt",
        unit: "s",
        domain: Domain::Span(true),
        default: "200ms",
        source: "ns-2's RCP",
        meaning: "mean round-trip time of a router before any packet told it one",
    },
    Parameter {
        name: "control",
        unit: "",
        domain: Domain::Word(&["rate", "window"]),
        default: "rate",
        source: "section 2, IWQoS 2005; ACP's comparison shows windows",
        meaning: "a sender paces at the advised rate, or holds a window of it times its least round-trip time",
    },
    Parameter {
        name: "initial_window",
        unit: "packets",
        domain: Domain::Number(1.0, 1e6),
        default: "2",
        source: "not in the paper, whose handshake asks for a rate before any data is sent",
        meaning: "what a sender may have in flight before it knows a rate",
    },
];

/// What following an advised rate means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Rate,
    Window,
}

/// As the parameter says.
pub(super) fn control(settings: &Settings) -> Control {
    if settings.word("control") == "window" { Control::Window } else { Control::Rate }
}

/// The parameters of the router, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// Share of the spare capacity.
    pub(super) alpha: f64,
    /// Share of the queue.
    pub(super) beta: f64,
    /// Longest update interval; none: the mean round-trip time.
    pub(super) interval: Option<Span>,
    /// Packets per mean round-trip time.
    pub(super) floor: f64,
    /// Share of the capacity.
    pub(super) initial_rate: f64,
    /// Before any was told.
    pub(super) initial_rtt: Span,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let interval = settings.interval_span("interval");
        Ok(Self {
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            interval: interval.map(|span| interval::checked("interval", span)).transpose()?,
            floor: settings.number("floor"),
            initial_rate: settings.number("initial_rate"),
            initial_rtt: settings.span("initial_rtt"),
        })
    }
}

/// Phase margin in radians of Eq. (2) near equilibrium, with flows of one round-trip time d, a queue that stands and
/// T much less than d. The loop is `e^(-s) (alpha s + beta) / s^2` in time units of d.
fn phase_margin(alpha: f64, beta: f64) -> f64 {
    let half = alpha * alpha / 2.0;
    let crossover = libm::sqrt(half + libm::sqrt(half * half + beta * beta));
    libm::atan2(alpha * crossover, beta) - crossover
}

/// Says so where the gains leave no phase margin.
pub(super) fn instability(alpha: f64, beta: f64) -> Option<String> {
    let margin = phase_margin(alpha, beta);
    (margin <= 0.0).then(|| {
        format!(
            "alpha = {alpha}, beta = {beta}: the linear loop of rate and standing queue has a phase margin of \
             {margin:.2} rad and swings up; rates undershoot when flows join"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_gains_have_a_phase_margin_and_the_first_have_none() {
        // alpha .4, beta .226: crossover .5655, atan(1.0009) = .7858.
        assert!((phase_margin(0.4, 0.226) - 0.2203).abs() < 1e-3);
        assert!((phase_margin(0.1, 1.0) - (-0.903)).abs() < 1e-3);
        assert_eq!(instability(0.4, 0.226), None);
        assert!(instability(0.1, 1.0).unwrap().contains("-0.90 rad"));
    }

    #[test]
    fn without_a_queue_term_the_margin_is_that_of_a_delayed_integrator() {
        // alpha e^(-s) / s: crossover alpha, margin pi/2 - alpha.
        assert!((phase_margin(0.4, 0.0) - (std::f64::consts::FRAC_PI_2 - 0.4)).abs() < 1e-12);
    }
}
