//! The parameters of MCP, for the sender and the router.

use super::header::Load;
use crate::parts::interval;
use millpond_law::key::{Key, Keys, above, from, number, rate, whole, word};
use millpond_law::{SettingError, Settings, words};
use millpond_units::{Rate, Span};

pub(super) const PERIOD: Key<Span> = interval::timer("period", Span::from_millis(200))
    .source("T, section IV-A1")
    .meaning("period over which a router measures its load; a sender decides every two periods");
const MEDIUM_LOAD: Key<f64> = number("medium_load", "1", 0.48, above(0.0).to(10.0))
    .source("Fig. 2")
    .meaning("utilization from which senders no longer scale their rates");
const HEAVY_LOAD: Key<f64> = number("heavy_load", "1", 0.88, above(0.0).to(10.0))
    .source("Fig. 2")
    .meaning("utilization from which senders smooth or hold their rates");
pub(super) const OVERLOAD: Key<f64> = number("overload", "1", 0.98, above(0.0).to(10.0))
    .source("Fig. 2")
    .meaning("utilization from which senders decrease their rates");
const INITIAL_RATE: Key<Rate> =
    rate("initial_rate", Rate::from_bps(80_000)).source("section IV-H").meaning("initial and least rate");
const STEP: Key<Rate> = rate("step", Rate::from_bps(80_000))
    .source("AI(80 kbps) and AD(80 kbps) in Fig. 2")
    .meaning("additive increase and decrease");
const SCALING_FACTOR: Key<f64> = number("scaling_factor", "1", 2.0, above(1.0).to(10.0))
    .source("MI(2) in Fig. 2")
    .meaning("multiplicative increase at light load");
const ENHANCING_FACTOR: Key<f64> = number("enhancing_factor", "1", 1.1, above(1.0).to(10.0))
    .source("MI(1.1) in Fig. 2")
    .meaning("multiplicative increase at medium load");
const DECREASE_FACTOR: Key<f64> = number("decrease_factor", "1", 0.5, above(0.0).to(1.0))
    .source("MD(0.5) in Fig. 2")
    .meaning("factor by which an overload multiplies the rate");
const FAIRING_CYCLES: Key<u64> = whole("fairing_cycles", "cycles", 7, from(1.0).to(1e6))
    .source("section IV-D1")
    .meaning("increase-decrease cycles for which a flow requests fairing");
const CYCLES: Key<Cycles> = word("cycles", Cycles::Halvings)
    .source("section IV-D1 and appendix; see ERRATA.md")
    .meaning("a cycle ends at a halving after additive increase, or lies between two halvings");
const BACKOFF: Key<Backoff> = word("backoff", Backoff::Twice)
    .source("section IV-F; see ERRATA.md")
    .meaning("the first two decisions of an overload step back in the stable mode as well, or never");
const REQUESTER: Key<Requester> = word("requester", Requester::Obeys)
    .source("section IV-D; see ERRATA.md")
    .meaning("a flow that requests fairing enters the fairing mode itself on the signal, or does not");
const NOTIFIED: Key<Notified> = word("notified", Notified::Obeys)
    .source("section IV-D2; see ERRATA.md")
    .meaning("on another flow's request a flow enters the fairing mode, or requests as many cycles itself");
const LIGHT_FAIRING: Key<LightFairing> = word("light_fairing", LightFairing::Scaling)
    .source("Fig. 2; see ERRATA.md")
    .meaning("increase at light load while fairing is signalled");
const OVERLOAD_SEEN: Key<OverloadSeen> = word("overload_seen", OverloadSeen::AtOnce)
    .source("section IV-H; see ERRATA.md")
    .meaning("an overload is answered at its first signal, or at the next decision");
const STEP_SHARE: Key<f64> = number("step_share", "1", 0.0, from(0.0).to(1.0))
    .source("not in the report: docs/extensions/mcp-many-flows.md")
    .meaning(
        "additive step of all flows together, in capacities: each link counts its flows and requests an equal part of this \
         step from each; 0: the fixed step",
    );
const REQUEST_LIMIT: Key<u64> = whole("request_limit", "overloads", 0, from(0.0).to(1e6))
    .source("not in the report: docs/extensions/mcp-many-flows.md")
    .meaning(
        "overloads during which a router serves a flow's requests for fairing; then it ignores them for growing times. 0: it \
         always serves them",
    );

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &PERIOD, &MEDIUM_LOAD, &HEAVY_LOAD, &OVERLOAD, &INITIAL_RATE, &STEP, &SCALING_FACTOR, &ENHANCING_FACTOR,
    &DECREASE_FACTOR, &FAIRING_CYCLES, &CYCLES, &BACKOFF, &REQUESTER, &NOTIFIED, &LIGHT_FAIRING, &OVERLOAD_SEEN,
    &STEP_SHARE, &REQUEST_LIMIT,
];

/// The parameters that only senders use and that do not change the meaning of a header.
pub(super) const OF_SENDERS: &[&str] = &["fairing_cycles"];

words! {
    /// What delimits an increase-decrease cycle.
    enum Cycles { Halvings = "halvings", Peaks = "peaks" }

    /// Whether a step back is tried first in an overload of the stable mode.
    enum Backoff { Twice = "twice", Literal = "literal" }

    /// The mode of a flow that requests fairing while fairing is signalled.
    pub(super) enum Requester { Obeys = "obeys", Ignores = "ignores" }

    /// The reaction of a flow to a request for fairing by another flow.
    pub(super) enum Notified { Obeys = "obeys", Asks = "asks" }

    /// The increase at light load while fairing is signalled.
    pub(super) enum LightFairing { Scaling = "scaling", Additive = "additive" }

    /// When an overload reduces the rate: at its first signal, or at the next decision.
    pub(super) enum OverloadSeen { AtOnce = "at-once", ByTimer = "by-timer" }
}

/// The thresholds between the four ranges of utilization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranges {
    medium: f64,
    heavy: f64,
    over: f64,
}

impl Ranges {
    /// An error if they do not increase.
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let [medium, heavy, over] = [MEDIUM_LOAD, HEAVY_LOAD, OVERLOAD].map(|key| settings.get(key));
        let (key, below) = if medium >= heavy { (MEDIUM_LOAD, heavy) } else { (HEAVY_LOAD, over) };
        if settings.get(key) >= below {
            return Err(key.error(format!("expected less than the next load, {below}")));
        }
        Ok(Self { medium, heavy, over })
    }

    /// The range of a utilization, closed below and open above (Fig. 2).
    pub(super) fn load(&self, utilization: f64) -> Load {
        match utilization {
            u if u < self.medium => Load::Light,
            u if u < self.heavy => Load::Medium,
            u if u < self.over => Load::Heavy,
            _ => Load::Over,
        }
    }
}

/// The step that all flows of a link take together, in capacities; none for the fixed step of the report.
pub(super) fn step_share(settings: &Settings) -> Option<f64> {
    Some(settings.get(STEP_SHARE)).filter(|share| *share > 0.0)
}

/// Number of overloads for which a router serves a request; zero: always.
pub(super) fn request_limit(settings: &Settings) -> u64 {
    settings.get(REQUEST_LIMIT)
}

/// The sender's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SenderParams {
    /// 2 T.
    pub(super) decision_interval: Span,
    /// In bit/s.
    pub(super) initial_rate: f64,
    /// In bit/s.
    pub(super) step: f64,
    /// MI at light load.
    pub(super) scaling_factor: f64,
    /// MI at medium load.
    pub(super) enhancing_factor: f64,
    /// MD.
    pub(super) decrease_factor: f64,
    /// Number of halvings after additive increase that ends a flow's request for fairing.
    pub(super) halvings: u64,
    /// Number of consecutive steps back in the stable mode.
    pub(super) steps_back: u64,
    /// The mode of a flow that requests fairing while fairing is signalled.
    pub(super) requester: Requester,
    /// The reaction of a flow to a request for fairing by another flow.
    pub(super) notified: Notified,
    /// The increase at light load while fairing is signalled.
    pub(super) light_fairing: LightFairing,
    /// When an overload reduces the rate.
    pub(super) overload_seen: OverloadSeen,
    /// Whether links request the step.
    pub(super) requested_steps: bool,
}

impl SenderParams {
    pub(super) fn read(settings: &Settings) -> Self {
        let between_peaks = u64::from(settings.get(CYCLES) == Cycles::Peaks);
        Self {
            decision_interval: settings.get(PERIOD) * 2,
            initial_rate: settings.get(INITIAL_RATE).as_f64(),
            step: settings.get(STEP).as_f64(),
            scaling_factor: settings.get(SCALING_FACTOR),
            enhancing_factor: settings.get(ENHANCING_FACTOR),
            decrease_factor: settings.get(DECREASE_FACTOR),
            halvings: settings.get(FAIRING_CYCLES) + between_peaks,
            steps_back: match settings.get(BACKOFF) {
                Backoff::Twice => 2,
                Backoff::Literal => 0,
            },
            requester: settings.get(REQUESTER),
            notified: settings.get(NOTIFIED),
            light_fairing: settings.get(LIGHT_FAIRING),
            overload_seen: settings.get(OVERLOAD_SEEN),
            requested_steps: step_share(settings).is_some(),
        }
    }
}

/// Warnings about these settings.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let [medium, heavy, over] = [MEDIUM_LOAD, HEAVY_LOAD, OVERLOAD].map(|key| settings.get(key));
    let warnings = [
        (
            settings.get(BACKOFF) == Backoff::Literal,
            "backoff = \"literal\": a link in equilibrium just below an overload can make flows halve one after the \
             other, and no mechanism restores fairness afterwards",
        ),
        (
            settings.get(NOTIFIED) == Notified::Asks,
            "notified = \"asks\": the last request is still signalled when it has ended, all flows request again, and the \
             link has no equilibrium",
        ),
        (
            settings.get(SCALING_FACTOR) * medium >= over,
            "scaling_factor: a load just below medium_load becomes an overload in one step (section IV-B)",
        ),
        (
            settings.get(ENHANCING_FACTOR) * heavy >= over,
            "enhancing_factor: a load just below heavy_load becomes an overload in one step (section IV-E)",
        ),
        (
            settings.get(DECREASE_FACTOR) * over < medium,
            "decrease_factor: one decrease from overload falls below medium_load, where senders scale (section IV-C)",
        ),
    ];
    warnings.into_iter().filter(|(applies, _)| *applies).map(|(_, text)| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    fn settings(written: &[(&'static str, Value)]) -> Result<Settings, SettingError> {
        Settings::check(PARAMETERS, written.iter().cloned())
    }

    #[test]
    fn the_ranges_are_closed_below_and_open_above() {
        let ranges = Ranges::read(&settings(&[]).unwrap()).unwrap();
        let loads = [0.0, 0.479, 0.48, 0.879, 0.88, 0.979, 0.98, 7.0].map(|u| ranges.load(u));
        let expected = [Load::Light, Load::Medium, Load::Heavy, Load::Over].map(|load| [load; 2]);
        assert_eq!(loads.as_slice(), expected.as_flattened());
    }

    #[test]
    fn a_period_of_zero_and_ranges_that_do_not_increase_are_rejected_by_name() {
        assert_eq!(settings(&[("period", Value::text("0s"))]).unwrap_err().name, "period");
        assert_eq!(settings(&[("scaling_factor", Value::Number(-2.0))]).unwrap_err().name, "scaling_factor");
        for (name, value, blamed) in [
            ("medium_load", 0.9, "medium_load"),
            ("heavy_load", 1.0, "heavy_load"),
            ("overload", 0.5, "heavy_load"),
        ] {
            let settings = settings(&[(name, Value::Number(value))]).unwrap();
            assert_eq!(Ranges::read(&settings).unwrap_err().name, blamed);
        }
    }

    #[test]
    fn a_step_that_overshoots_its_range_has_a_warning_and_the_published_steps_have_none() {
        // .48 * 2 = .96, .88 * 1.1 = .968, .98 / 2 = .49.
        assert_eq!(warnings(&settings(&[]).unwrap()), [""; 0]);
        for (name, value) in [("scaling_factor", 2.1), ("enhancing_factor", 1.12), ("decrease_factor", 0.4)] {
            let warnings = warnings(&settings(&[(name, Value::Number(value))]).unwrap());
            assert!(warnings.len() == 1 && warnings[0].starts_with(name), "{warnings:?}");
        }
        for (name, reading) in [("backoff", "literal"), ("notified", "asks")] {
            assert_eq!(warnings(&settings(&[(name, Value::text(reading))]).unwrap()).len(), 1, "{name}");
        }
    }
}
