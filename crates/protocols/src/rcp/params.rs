//! The parameters of RCP.

use crate::parts::interval;
use millpond_law::key::{Key, Keys, above, from, number, span, span_or, word};
use millpond_law::{SettingError, Settings, words};
use millpond_units::Span;

pub(super) const ALPHA: Key<f64> = number("alpha", "1", 0.4, from(0.0).to(10.0))
    .source("Eq. (2), IWQoS 2005, which has 0.1; value of the thesis and of the published router")
    .meaning("share of the spare capacity that is allocated in a round-trip time");
pub(super) const BETA: Key<f64> = number("beta", "1", 0.226, from(0.0).to(10.0))
    .source("Eq. (2), IWQoS 2005, which has 1; value of the thesis")
    .meaning("share of the queue that is drained in a round-trip time");
pub(super) const INTERVAL: Key<Option<Span>> = span_or("mean-rtt", "interval", Some(Span::from_millis(10)))
    .source("T in Eq. (2), IWQoS 2005")
    .meaning("update interval of a router; the mean round-trip time, if that is less or if it is set");
const FLOOR: Key<f64> = number("floor", "packets", 0.01, above(0.0).to(1e6))
    .source("ns-2's RCP; ACP's comparison has one packet")
    .meaning("least rate that a router advises, in packets per mean round-trip time");
const INITIAL_RATE: Key<f64> = number("initial_rate", "1", 0.05, above(0.0).to(1.0))
    .source("ns-2's RCP")
    .meaning("initial rate that a router advises, as a share of its capacity");
const INITIAL_RTT: Key<Span> = span("initial_rtt", Span::from_millis(200))
    .source("ns-2's RCP")
    .meaning("mean round-trip time of a router before any packet carries one");
pub(super) const CONTROL: Key<Control> = word("control", Control::Rate)
    .source("section 2, IWQoS 2005; ACP's comparison shows windows")
    .meaning("a sender paces at the advised rate, or holds a window of that rate times its least RTT");
pub(super) const INITIAL_WINDOW: Key<f64> = number("initial_window", "packets", 2.0, from(1.0).to(1e6))
    .source("not in the paper, whose handshake asks for a rate before any data is sent")
    .meaning("window of a sender before its first advised rate");
pub(super) const REFERENCE_INTERVAL: Key<f64> = number("reference_interval", "RTTs", 1.0, above(0.0).to(1e9))
    .source("REF_INTVAL = 1.0 in the authors' rcp-host.cc for ns-2, which counts least RTTs")
    .meaning(
        "longest time without a packet: a slower sender sends packets without data, to receive new rates",
    );

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &ALPHA, &BETA, &INTERVAL, &FLOOR, &INITIAL_RATE, &INITIAL_RTT, &CONTROL, &INITIAL_WINDOW, &REFERENCE_INTERVAL,
];

words! {
    /// How a sender applies the advised rate.
    pub(super) enum Control { Rate = "rate", Window = "window" }
}

/// The router's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// alpha of Eq. (2): share of the spare capacity.
    pub(super) alpha: f64,
    /// beta of Eq. (2): share of the queue.
    pub(super) beta: f64,
    /// Upper limit on the update interval; none: the mean round-trip time.
    pub(super) interval: Option<Span>,
    /// Smallest rate, in packets per mean round-trip time.
    pub(super) floor: f64,
    /// Initial rate, as a share of the capacity.
    pub(super) initial_rate: f64,
    /// Initial mean round-trip time, used until the first packet that carries one.
    pub(super) initial_rtt: Span,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            alpha: settings.get(ALPHA),
            beta: settings.get(BETA),
            interval: settings.get(INTERVAL).map(|span| interval::checked(INTERVAL, span)).transpose()?,
            floor: settings.get(FLOOR),
            initial_rate: settings.get(INITIAL_RATE),
            initial_rtt: settings.get(INITIAL_RTT),
        })
    }
}

/// Phase margin in radians of Eq. (2) near equilibrium, for flows with the same round-trip time d, a queue that is
/// never empty, and T much smaller than d. The loop is `e^(-s) (alpha s + beta) / s^2` in time units of d.
fn phase_margin(alpha: f64, beta: f64) -> f64 {
    let half = alpha * alpha / 2.0;
    let crossover = libm::sqrt(half + libm::sqrt(half * half + beta * beta));
    libm::atan2(alpha * crossover, beta) - crossover
}

/// A warning if the gains leave no phase margin.
pub(super) fn instability(alpha: f64, beta: f64) -> Option<String> {
    let margin = phase_margin(alpha, beta);
    (margin <= 0.0).then(|| {
        format!(
            "alpha = {alpha}, beta = {beta}: the linear loop of rate and standing queue has a phase margin of \
             {margin:.2} rad and is unstable; rates undershoot when flows join"
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
