//! TIMELY's parameters.

use super::rule::{RateRule, RuleForm};
use millpond_law::key::{Key, Keys, above, bytes, from, number, rate, span, whole, word};
use millpond_law::{SettingError, Settings, words};
use millpond_units::{Bytes, Rate, Span};

words! {
    /// How the packets of a segment leave.
    pub(super) enum Pacing { Burst = "burst", Packet = "packet" }
}

/// TIMELY's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// The law of the rate.
    pub(super) rule: RateRule,
    /// Round-trip time below which the rate grows in any case.
    pub(super) t_low: Span,
    /// Shortest time between two updates, and the unit of gradients.
    pub(super) min_rtt: Span,
    /// Bytes whose last acknowledgement is a completion event.
    pub(super) segment: Bytes,
    /// How the packets of a segment leave.
    pub(super) pacing: Pacing,
    /// Initial rate over that of the sender's interface.
    pub(super) initial_share: f64,
    /// Least rate.
    pub(super) min_rate: Rate,
}

const T_LOW: Key<Span> = span("t_low", Span::from_micros(50)).source("section 6, SIGCOMM 2015").meaning(
    "round-trip time below which the rate grows by delta; above the round-trip time of empty queues",
);
const T_HIGH: Key<Span> = span("t_high", Span::from_micros(500))
    .source("section 6, SIGCOMM 2015")
    .meaning("round-trip time above which the rate shrinks by beta (1 - t_high / rtt); above t_low");
const MIN_RTT: Key<Span> = span("min_rtt", Span::from_micros(20))
    .source("D_minRTT of section 4, CoNEXT 2016")
    .meaning("unit of the gradient: change of the round-trip time in one update over this time; also the least time between updates");
const DELTA: Key<Rate> = rate("delta", Rate::from_bps(10_000_000))
    .source("section 6, SIGCOMM 2015")
    .meaning("additive increase per update");
const BETA: Key<f64> = number("beta", "1", 0.8, above(0.0).to(1.0))
    .source("section 6, SIGCOMM 2015")
    .meaning("factor of multiplicative decreases");
const PATCHED_BETA: Key<f64> =
    BETA.default(0.008).source("section 4.3, CoNEXT 2016; also 0.008 in public simulators of patched TIMELY");
const ALPHA: Key<f64> = number("alpha", "1", 0.875, above(0.0).to(1.0))
    .source("EWMA weight of Algorithm 1, SIGCOMM 2015; value of section 4, CoNEXT 2016")
    .meaning("weight of the newest difference of round-trip times in the gradient");
const HAI_THRESHOLD: Key<u64> = whole("hai_threshold", "1", 5, from(1.0).to(1e6))
    .source("section 4.4, SIGCOMM 2015")
    .meaning("updates in sequence without a positive gradient after which the increase is five times delta");
const SEGMENT: Key<Bytes> = bytes("segment", Bytes::new(16_000))
    .source("section 6, SIGCOMM 2015 (16 KB)")
    .meaning("data per measurement of the round-trip time");
const PACING: Key<Pacing> = word("pacing", Pacing::Packet)
    .source("section 5, SIGCOMM 2015, sends bursts; section 4.2, CoNEXT 2016, compares both")
    .meaning("\"packet\": packets leave at the rate; \"burst\": segments leave at the rate, the packets of one back to back");
const INITIAL_SHARE: Key<f64> = number("initial_share", "1", 1.0, above(0.0).to(1.0))
    .source("section 4, SIGCOMM 2015: 1 / (N + 1) with N other flows of the host")
    .meaning("initial rate over that of the sender's interface");
const MIN_RATE: Key<Rate> = rate("min_rate", Rate::from_bps(1_000_000))
    .source("not in the papers: see ERRATA.md")
    .meaning("least rate");

pub(super) static PUBLISHED: Keys = &[
    &T_LOW,
    &T_HIGH,
    &MIN_RTT,
    &DELTA,
    &BETA,
    &ALPHA,
    &HAI_THRESHOLD,
    &SEGMENT,
    &PACING,
    &INITIAL_SHARE,
    &MIN_RATE,
];

pub(super) static PATCHED: Keys =
    &[&T_LOW, &T_HIGH, &MIN_RTT, &DELTA, &PATCHED_BETA, &ALPHA, &SEGMENT, &PACING, &INITIAL_SHARE, &MIN_RATE];

impl Params {
    pub(super) fn read(settings: &Settings, form: RuleForm) -> Result<Self, SettingError> {
        let (t_low, t_high, min_rtt) = (settings.get(T_LOW), settings.get(T_HIGH), settings.get(MIN_RTT));
        if t_high <= t_low {
            return Err(T_HIGH.error(format!("must exceed t_low, which is {t_low}, found {t_high}")));
        }
        let (beta, hai_threshold) = match form {
            RuleForm::Published => (settings.get(BETA), settings.get(HAI_THRESHOLD)),
            RuleForm::Patched => (settings.get(PATCHED_BETA), u64::MAX),
        };
        let rule = RateRule {
            form,
            t_low: t_low.secs(),
            t_high: t_high.secs(),
            min_rtt: min_rtt.secs(),
            delta: settings.get(DELTA).bps() as f64,
            beta,
            alpha: settings.get(ALPHA),
            hai_threshold,
        };
        Ok(Self {
            rule,
            t_low,
            min_rtt,
            segment: settings.get(SEGMENT),
            pacing: settings.get(PACING),
            initial_share: settings.get(INITIAL_SHARE),
            min_rate: settings.get(MIN_RATE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    #[test]
    fn thresholds_in_the_wrong_order_are_rejected() {
        let settings = Settings::check(PATCHED, [("t_low", Value::text("1ms"))]).unwrap();
        let fault = Params::read(&settings, RuleForm::Patched).unwrap_err();
        assert_eq!(fault.to_string(), "t_high: must exceed t_low, which is 1ms, found 500us");
    }
}
