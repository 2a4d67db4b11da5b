//! The parameters of MCP, for the sender and the router.

use super::header::Load;
use millpond_law::{Domain, Parameter, SettingError, Settings};
use millpond_units::Span;

/// Every parameter.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "period",
        unit: "s",
        domain: Domain::Span(true),
        default: "200ms",
        source: "T, section IV-A1",
        meaning: "a router measures its load over this; a sender decides every two of them",
    },
    Parameter {
        name: "medium_load",
        unit: "1",
        domain: Domain::Above(0.0, 10.0),
        default: "0.48",
        source: "Fig. 2",
        meaning: "utilization from which senders no longer scale",
    },
    Parameter {
        name: "heavy_load",
        unit: "1",
        domain: Domain::Above(0.0, 10.0),
        default: "0.88",
        source: "Fig. 2",
        meaning: "utilization from which senders smooth or rest",
    },
    Parameter {
        name: "overload",
        unit: "1",
        domain: Domain::Above(0.0, 10.0),
        default: "0.98",
        source: "Fig. 2",
        meaning: "utilization from which senders decrease",
    },
    Parameter {
        name: "initial_rate",
        unit: "bit/s",
        domain: Domain::Rate,
        default: "80kbps",
        source: "section IV-H",
        meaning: "rate at the start, and the least there is",
    },
    Parameter {
        name: "step",
        unit: "bit/s",
        domain: Domain::Rate,
        default: "80kbps",
        source: "AI(80 kbps) and AD(80 kbps) in Fig. 2",
        meaning: "additive increase and decrease",
    },
    Parameter {
        name: "scaling_factor",
        unit: "1",
        domain: Domain::Above(1.0, 10.0),
        default: "2",
        source: "MI(2) in Fig. 2",
        meaning: "multiplicative increase at light load",
    },
    Parameter {
        name: "enhancing_factor",
        unit: "1",
        domain: Domain::Above(1.0, 10.0),
        default: "1.1",
        source: "MI(1.1) in Fig. 2",
        meaning: "multiplicative increase at medium load",
    },
    Parameter {
        name: "decrease_factor",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.5",
        source: "MD(0.5) in Fig. 2",
        meaning: "what is left of the rate after an overload",
    },
    Parameter {
        name: "fairing_cycles",
        unit: "cycles",
        domain: Domain::Whole(1, 1_000_000),
        default: "7",
        source: "section IV-D1",
        meaning: "increase-decrease cycles for which a flow asks for fairing",
    },
    Parameter {
        name: "cycles",
        unit: "",
        domain: Domain::Word(&["halvings", "peaks"]),
        default: "halvings",
        source: "section IV-D1 and appendix; see ERRATA.md",
        meaning: "a cycle ends at a halving after additive increase, or lies between two of them: one halving more",
    },
    Parameter {
        name: "backoff",
        unit: "",
        domain: Domain::Word(&["twice", "literal"]),
        default: "twice",
        source: "section IV-F; see ERRATA.md",
        meaning: "a step back is tried for the first two decisions of an overload in the stable mode, too, or never",
    },
    Parameter {
        name: "requester",
        unit: "",
        domain: Domain::Word(&["obeys", "ignores"]),
        default: "obeys",
        source: "section IV-D; see ERRATA.md",
        meaning: "a flow that asks for fairing is itself in the fairing mode when it is told so, or goes on without it",
    },
    Parameter {
        name: "told",
        unit: "",
        domain: Domain::Word(&["obeys", "asks"]),
        default: "obeys",
        source: "section IV-D2; see ERRATA.md",
        meaning: "a flow that is told of fairing, and does not ask itself, is in the fairing mode as long as it is told, or asks \
                  for as many cycles as a newcomer",
    },
    Parameter {
        name: "light_fairing",
        unit: "",
        domain: Domain::Word(&["scaling", "additive"]),
        default: "scaling",
        source: "Fig. 2; see ERRATA.md",
        meaning: "what is done at light load when fairing is told",
    },
    Parameter {
        name: "overload_seen",
        unit: "",
        domain: Domain::Word(&["at-once", "by-timer"]),
        default: "at-once",
        source: "section IV-H; see ERRATA.md",
        meaning: "an overload is answered when it is first told, or at the next decision",
    },
];

/// Where the four ranges of utilization meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranges {
    medium: f64,
    heavy: f64,
    over: f64,
}

impl Ranges {
    /// They must rise.
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let [medium, heavy, over] =
            ["medium_load", "heavy_load", "overload"].map(|name| settings.number(name));
        let (name, below) = if medium >= heavy { ("medium_load", heavy) } else { ("heavy_load", over) };
        if settings.number(name) >= below {
            return Err(SettingError::new(name, format!("expected less than the next load, {below}")));
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

/// The parameters of the sender, read.
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
    /// So many halvings after additive increase end a flow's request for fairing.
    pub(super) halvings: u64,
    /// So many steps back may follow each other in the stable mode.
    pub(super) steps_back: u32,
    /// Is a flow that asks for fairing in the fairing mode itself?
    pub(super) requester_obeys: bool,
    /// Does a flow that is told of fairing ask as well?
    pub(super) told_asks: bool,
    /// At light load, are rates scaled although fairing is told?
    pub(super) scales_while_fairing: bool,
    /// Is an overload answered when it is first told?
    pub(super) answers_at_once: bool,
}

impl SenderParams {
    pub(super) fn read(settings: &Settings) -> Self {
        let between_peaks = u64::from(settings.word("cycles") == "peaks");
        Self {
            decision_interval: settings.span("period") * 2,
            initial_rate: settings.rate("initial_rate").as_f64(),
            step: settings.rate("step").as_f64(),
            scaling_factor: settings.number("scaling_factor"),
            enhancing_factor: settings.number("enhancing_factor"),
            decrease_factor: settings.number("decrease_factor"),
            halvings: settings.whole("fairing_cycles") + between_peaks,
            steps_back: if settings.word("backoff") == "twice" { 2 } else { 0 },
            requester_obeys: settings.word("requester") == "obeys",
            told_asks: settings.word("told") == "asks",
            scales_while_fairing: settings.word("light_fairing") == "scaling",
            answers_at_once: settings.word("overload_seen") == "at-once",
        }
    }
}

/// What a user of these settings should know before trusting the run.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let [medium, heavy, over] = ["medium_load", "heavy_load", "overload"].map(|name| settings.number(name));
    let warnings = [
        (
            settings.word("backoff") == "literal",
            "backoff = \"literal\": a link at rest just below an overload can make flows halve one by one, after \
             which nothing repairs fairness",
        ),
        (
            settings.word("told") == "asks",
            "told = \"asks\": the last request is still told when it has ended, all ask again, and the link never rests",
        ),
        (
            settings.number("scaling_factor") * medium >= over,
            "scaling_factor: from just below medium_load it leads into overload (section IV-B)",
        ),
        (
            settings.number("enhancing_factor") * heavy >= over,
            "enhancing_factor: from just below heavy_load it leads into overload (section IV-E)",
        ),
        (
            settings.number("decrease_factor") * over < medium,
            "decrease_factor: from overload it leads below medium_load, where senders scale (section IV-C)",
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
    fn a_period_of_zero_and_ranges_that_do_not_rise_are_refused_by_name() {
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
    fn a_step_that_overshoots_its_range_is_warned_of_and_the_papers_are_not() {
        // .48 * 2 = .96, .88 * 1.1 = .968, .98 / 2 = .49.
        assert_eq!(warnings(&settings(&[]).unwrap()), [""; 0]);
        for (name, value) in [("scaling_factor", 2.1), ("enhancing_factor", 1.12), ("decrease_factor", 0.4)] {
            let said = warnings(&settings(&[(name, Value::Number(value))]).unwrap());
            assert!(said.len() == 1 && said[0].starts_with(name), "{said:?}");
        }
        for (name, word) in [("backoff", "literal"), ("told", "asks")] {
            assert_eq!(warnings(&settings(&[(name, Value::text(word))]).unwrap()).len(), 1, "{name}");
        }
    }
}
