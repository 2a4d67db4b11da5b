//! The parameters of CLTCP, and the round-trip times for which the law is stable.

use crate::parts::interval;
use millpond_law::key::{Key, Keys, above, from, number, span, word};
use millpond_law::{Settings, words};
use millpond_units::Span;

pub(super) const ALPHA: Key<f64> = number("alpha", "1/s", 2.0, above(0.0).to(1e3))
    .source("Eq. (3), section IV-C")
    .meaning("rate constant with which a sending rate follows the rate factor");
const BETA: Key<f64> = number("beta", "1/s", 1.0, above(0.0).to(1e3))
    .source("Eq. (2), (43)")
    .meaning("growth rate of a router's rate factor on an idle link");
const TIME_CONSTANT: Key<Span> = span("time_constant", Span::from_millis(2_000))
    .source("T in Eq. (2), (43)")
    .meaning("time constant for draining the excess queue: the excess divided by this counts as load");
const TARGET_QUEUE: Key<f64> = number("target_queue", "packets", 100.0, from(0.0).to(1e9))
    .source("q0 in Eq. (2), section V")
    .meaning("queue at equilibrium");
const INTERVAL: Key<Span> = interval::timer("interval", Span::from_millis(100))
    .source("T2 in Eq. (46), section V")
    .meaning("interval at which a router samples its load and updates its rate factor");
pub(super) const EXPONENT: Key<Exponent> = word("exponent", Exponent::Capped)
    .source("Eq. (48); see ERRATA.md")
    .meaning("e per round trip: min(alpha rtt, 1); alpha rtt; 1 - exp(-alpha rtt); or min(alpha rtt, 1/2)");
pub(super) const APPLIED: Key<Applied> = word("applied", Applied::PerRound)
    .source("Eq. (48), whose sampling time is T1 = tau; see ERRATA.md")
    .meaning("once per round trip, or at each acknowledgement, which sets a rate to the factor at once");
pub(super) const INITIAL_RATE: Key<f64> = number("initial_rate", "packets/s", 100.0, above(0.0).to(1e9))
    .source("x0, not in the paper: see ERRATA.md")
    .meaning("initial rate of a sender");
const INITIAL_FACTOR: Key<f64> = number("initial_factor", "packets/s", 100.0, above(0.0).to(1e9))
    .source("r(0), not in the paper: see ERRATA.md")
    .meaning("initial rate factor of a router");
const CAP: Key<f64> = number("cap", "1", 2.0, from(1.0).to(1e6))
    .source("not in the paper: see ERRATA.md")
    .meaning("upper limit of a rate factor, as a multiple of the link's capacity");
pub(super) const SCALING: Key<Scaling> = word("scaling", Scaling::Fixed)
    .source("fixed: Eq. (2); rtt: docs/extensions/cltcp-any-rtt.md")
    .meaning(
        "beta and T as given, or at most .45 / tau and at least 8 tau, with tau the mean round-trip time that routers \
         compute from headers",
    );

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &ALPHA, &BETA, &TIME_CONSTANT, &TARGET_QUEUE, &INTERVAL, &EXPONENT, &APPLIED, &INITIAL_RATE,
    &INITIAL_FACTOR, &CAP, &SCALING,
];

words! {
    /// The reading of the exponent of (48).
    pub(super) enum Exponent {
        /// At most one: a rate never passes the factor.
        Capped = "capped",
        /// As printed.
        Raw = "raw",
        /// The solution of (3) over a round trip with a constant factor.
        Exact = "exact",
        /// At most one half.
        Half = "half",
    }

    /// Whether the gains of routers depend on the round-trip time.
    pub(super) enum Scaling { Fixed = "fixed", Rtt = "rtt" }

    /// When (48) is applied.
    pub(super) enum Applied { PerRound = "per-round", PerAck = "per-ack" }
}

impl Exponent {
    /// alpha T1 of (46), with T1 a round trip.
    pub(super) fn of(self, alpha: f64, rtt: f64) -> f64 {
        match self {
            Self::Capped => (alpha * rtt).min(1.0),
            Self::Raw => alpha * rtt,
            Self::Exact => -libm::expm1(-alpha * rtt),
            Self::Half => (alpha * rtt).min(0.5),
        }
    }
}

/// Smallest rate factor in packets/s: it must be able to grow again.
pub(super) const LEAST_FACTOR: f64 = 1.0;

/// The router's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// beta in 1/s.
    pub(super) beta: f64,
    /// T in seconds.
    pub(super) time_constant: f64,
    /// q0 in packets.
    pub(super) target_queue: f64,
    /// T2.
    pub(super) interval: Span,
    /// r(0) in packets/s.
    pub(super) initial_factor: f64,
    /// Upper limit of r, as a multiple of the capacity.
    pub(super) cap: f64,
    /// Whether beta and T depend on the round-trip time.
    pub(super) scaling: Scaling,
}

/// Largest product of beta and the round-trip time: the phase in radians that the delay costs at the crossover, beta.
pub(super) const DELAY_PHASE: f64 = 0.45;

/// Smallest ratio of T to the round-trip time.
pub(super) const DELAY_RATIO: f64 = 8.0;

/// `min(beta, .45 / tau)` of `scaling = "rtt"`, in 1/s, for the mean round-trip time in seconds.
pub(super) fn scaled_beta(beta: f64, rtt: f64) -> f64 {
    if beta * rtt > DELAY_PHASE { DELAY_PHASE / rtt } else { beta }
}

/// `max(T, 8 tau)` of `scaling = "rtt"`, in seconds.
pub(super) fn scaled_time_constant(time_constant: f64, rtt: f64) -> f64 {
    time_constant.max(DELAY_RATIO * rtt)
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            beta: settings.get(BETA),
            time_constant: settings.get(TIME_CONSTANT).secs(),
            target_queue: settings.get(TARGET_QUEUE),
            interval: settings.get(INTERVAL),
            initial_factor: settings.get(INITIAL_FACTOR),
            cap: settings.get(CAP),
            scaling: settings.get(SCALING),
        }
    }

    /// This factor, at most the multiple of the capacity and at least one packet per second, in bit/s. In an outage there is
    /// no upper limit.
    pub(super) fn bounded(&self, factor: f64, capacity: f64, packet_bits: f64) -> f64 {
        let most = if capacity > 0.0 { self.cap * capacity } else { f64::INFINITY };
        factor.min(most).max(LEAST_FACTOR * packet_bits)
    }

    /// The parameters with beta and T for this mean round-trip time in seconds; zero if it is not known.
    pub(super) fn at(&self, rtt: f64) -> Self {
        match self.scaling {
            Scaling::Fixed => *self,
            Scaling::Rtt => Self {
                beta: scaled_beta(self.beta, rtt),
                time_constant: scaled_time_constant(self.time_constant, rtt),
                ..*self
            },
        }
    }
}

/// The gains of the linear loop (38): `L(s) = alpha beta (s + 1/T) / (s^2 (s + alpha))`, delayed by a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gains {
    alpha: f64,
    beta: f64,
    time_constant: f64,
    scaling: Scaling,
}

impl Gains {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            alpha: settings.get(ALPHA),
            beta: settings.get(BETA),
            time_constant: settings.get(TIME_CONSTANT).secs(),
            scaling: settings.get(SCALING),
        }
    }

    /// The gains of flows with this round-trip time in seconds.
    fn at(&self, rtt: f64) -> Self {
        match self.scaling {
            Scaling::Fixed => *self,
            Scaling::Rtt => Self {
                beta: scaled_beta(self.beta, rtt),
                time_constant: scaled_time_constant(self.time_constant, rtt),
                ..*self
            },
        }
    }

    /// |L(iw)| of (38).
    fn magnitude(&self, w: f64) -> f64 {
        self.alpha * self.beta * libm::hypot(w, 1.0 / self.time_constant)
            / (w * w * libm::hypot(w, self.alpha))
    }

    /// The crossover frequency in rad/s, at which |L| is one. It is unique, because |L| decreases with the frequency.
    fn crossover(&self) -> f64 {
        let (mut low, mut high) = (1e-9, 1e9);
        for _ in 0..200 {
            let middle = libm::sqrt(low * high);
            if self.magnitude(middle) > 1.0 { low = middle } else { high = middle }
        }
        low
    }

    /// Phase margin in radians, without delay.
    fn phase_margin(&self) -> f64 {
        let w = self.crossover();
        libm::atan(w * self.time_constant) - libm::atan(w / self.alpha)
    }

    /// The round-trip time in seconds from which the linear loop is unstable.
    pub(super) fn delay_margin(&self) -> f64 {
        self.phase_margin() / self.crossover()
    }

    /// A warning if no round-trip time is stable.
    pub(super) fn instability(&self) -> Option<String> {
        (self.phase_margin() <= 0.0).then(|| {
            format!(
                "time_constant = {} s is not above 1/alpha = {} s: the linear loop (38) has no phase margin, and rates \
                 oscillate with growing amplitude at every round-trip time",
                self.time_constant,
                1.0 / self.alpha
            )
        })
    }

    /// A warning if this round-trip time is unstable and shorter ones are stable.
    pub(super) fn instability_at(&self, rtt: Span) -> Option<String> {
        let gains = self.at(rtt.secs());
        let (margin, most) = (gains.phase_margin(), gains.delay_margin());
        (margin > 0.0 && rtt.secs() >= most).then(|| {
            format!(
                "a round-trip time of {rtt} is unstable: the linear loop (38) has a phase margin of {:.1} degrees, and a \
                 delay margin of {most:.3} s (Theorem 1, stability at every round-trip time, does not hold); scaling = \
                 \"rtt\" is stable at every round-trip time",
                margin.to_degrees()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    fn gains(alpha: f64, beta: f64, time_constant: f64) -> Gains {
        Gains { alpha, beta, time_constant, scaling: Scaling::Fixed }
    }

    #[test]
    fn scaled_gains_are_the_papers_up_to_a_quarter_of_a_second_and_have_a_margin_at_every_round_trip_time() {
        let written = [("scaling", millpond_law::Value::text("rtt"))];
        let scaled = Gains::read(&Settings::check(PARAMETERS, written).unwrap());
        for rtt in [1e-6, 0.05, 0.25] {
            let Gains { beta, time_constant, .. } = scaled.at(rtt);
            assert_eq!((beta, time_constant), (1.0, 2.0), "{rtt}");
        }
        for (rtt, beta, time_constant) in [(0.45, 1.0, 3.6), (0.9, 0.5, 7.2), (3.0, 0.15, 24.0)] {
            let gains = scaled.at(rtt);
            assert!((gains.beta - beta).abs() < 1e-12 && (gains.time_constant - time_constant).abs() < 1e-12);
        }
        for rtt in (1..400).map(|n| f64::from(n) * 0.02) {
            let gains = scaled.at(rtt);
            let left = (gains.phase_margin() - gains.crossover() * rtt).to_degrees();
            assert!(left > 20.0, "{rtt} s: {left} degrees");
            assert_eq!(scaled.instability_at(Span::from_secs(rtt)), None);
        }
        // For long round-trip times alpha has no effect. With w = |L|-crossover times tau, w^2 = .45 hypot(w, 1/8):
        // w = .4659, and the margin is atan(8 w) - w = 48.3 degrees.
        let gains = scaled.at(1e4);
        let left = (gains.phase_margin() - gains.crossover() * 1e4).to_degrees();
        assert!((left - 48.3).abs() < 0.1, "{left}");
    }

    #[test]
    fn the_published_gains_have_36_87_degrees_and_a_delay_margin_of_643_5_ms() {
        let published = Gains::read(&Settings::check(PARAMETERS, []).unwrap());
        assert_eq!(published, gains(2.0, 1.0, 2.0));
        assert!((published.crossover() - 1.0).abs() < 1e-9);
        // atan 2 - atan 1/2.
        assert!((published.phase_margin().to_degrees() - 36.870).abs() < 1e-3);
        assert!((published.delay_margin() - 0.643_501).abs() < 1e-6);
        assert_eq!(published.instability(), None);
        assert_eq!(published.instability_at(Span::from_millis(643)), None);
        let warning = published.instability_at(Span::from_millis(700)).unwrap();
        assert!(
            warning.contains("700ms") && warning.contains("0.644 s") && warning.contains("Theorem 1"),
            "{warning}"
        );
    }

    #[test]
    fn under_43_the_delay_margin_is_1_287_over_alpha() {
        for alpha in [0.5, 1.0, 4.0, 20.0] {
            let margin = gains(alpha, alpha / 2.0, 4.0 / alpha).delay_margin();
            assert!((margin * alpha - 1.2870).abs() < 1e-4, "{alpha}: {margin}");
        }
    }

    #[test]
    fn beta_of_one_has_the_largest_phase_margin_for_t_of_two() {
        for beta in [0.5, 2.0] {
            assert!((gains(2.0, beta, 2.0).phase_margin().to_degrees() - 33.81).abs() < 0.01);
        }
    }

    #[test]
    fn a_time_constant_below_1_over_alpha_is_never_stable() {
        let warning = gains(2.0, 1.0, 0.4).instability().unwrap();
        assert!(warning.contains("1/alpha = 0.5 s"), "{warning}");
        assert_eq!(gains(2.0, 1.0, 0.4).instability_at(Span::from_millis(10)), None, "one warning is enough");
    }

    #[test]
    fn values_without_meaning_are_rejected() {
        for (name, value) in [
            ("alpha", Value::Number(0.0)),
            ("beta", Value::Number(-1.0)),
            ("time_constant", Value::text("0s")),
            ("interval", Value::text("0s")),
            ("cap", Value::Number(0.9)),
            ("initial_rate", Value::Number(0.0)),
        ] {
            assert!(Settings::check(PARAMETERS, [(name, value)]).is_err(), "{name}");
        }
    }

    #[test]
    fn the_exponents_agree_only_for_short_round_trips() {
        let all = ["capped", "raw", "exact", "half"].map(|reading| {
            let written = [("exponent", millpond_law::Value::text(reading))];
            Settings::check(PARAMETERS, written).unwrap().get(EXPONENT)
        });
        let of = |rtt| all.map(|exponent| exponent.of(2.0, rtt));
        assert!(of(1e-3).iter().all(|e| (e / 2e-3 - 1.0).abs() < 1.1e-3));
        let [capped, raw, exact, half] = of(0.8);
        assert!(capped == 1.0 && raw == 1.6 && (exact - 0.7981).abs() < 1e-4 && half == 0.5);
    }
}
