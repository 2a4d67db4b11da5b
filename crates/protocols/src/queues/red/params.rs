//! RED's parameters.

use millpond_law::{Domain, Parameter, SettingError, Settings};

/// How the marking probability p_b depends on the (averaged) queue b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 0 below `min_th`, a straight line to `max_p` at `max_th`, 1 from there on.
    Classic,
    /// The same, but from `max_th` a second line to 1 at `2 max_th`.
    Gentle,
    /// 0 below `min_th`, from there on `max_p b / max_th`, 1 from `max_th` on.
    Proportional,
    /// 0 up to `max_th`, 1 above.
    Step,
}

/// RED's parameters with their meaning settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Which curve.
    pub shape: Shape,
    /// Bytes at which marking begins.
    pub min_th: f64,
    /// Bytes at which the first line ends.
    pub max_th: f64,
    /// Probability there.
    pub max_p: f64,
    /// Weight w_q of the newest sample in the average; 1 for the queue as it is.
    pub weight: f64,
    /// Are marks spread evenly instead of drawn one by one?
    pub uniform: bool,
    /// Is a packet judged when it departs rather than when it arrives?
    pub at_departure: bool,
    /// Mark rather than drop?
    pub ecn: bool,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "min_th",
        unit: "B",
        domain: Domain::Bytes(false),
        default: "7.5KB",
        source: "Floyd & Jacobson 1993, section IV (5 packets of 1500 B); Eq. (17), LGCC",
        meaning: "no packet is marked while the queue is below",
    },
    Parameter {
        name: "max_th",
        unit: "B",
        domain: Domain::Bytes(true),
        default: "22.5KB",
        source: "Floyd & Jacobson 1993, section IV (3 min_th); K in RFC 8257, section 3.1; Eq. (17), LGCC",
        meaning: "where the probability reaches max_p; every packet is marked above unless the shape is gentle",
    },
    Parameter {
        name: "max_p",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.02",
        source: "Floyd & Jacobson 1993, section IV",
        meaning: "marking probability at max_th",
    },
    Parameter {
        name: "weight",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.002",
        source: "w_q in Floyd & Jacobson 1993, section IV",
        meaning: "weight of the newest sample in the average; 1 judges by the queue as it is",
    },
    Parameter {
        name: "shape",
        unit: "",
        domain: Domain::Word(&["classic", "gentle", "proportional", "step"]),
        default: "classic",
        source: "classic: Floyd & Jacobson 1993, section IV; gentle: S. Floyd, Recommendation on using the gentle_ \
                 variant of RED, 2000; proportional: Eq. (17), LGCC; step: RFC 8257, section 3.1",
        meaning: "how the probability depends on the queue",
    },
    Parameter {
        name: "spacing",
        unit: "",
        domain: Domain::Word(&["uniform", "geometric"]),
        default: "uniform",
        source: "Floyd & Jacobson 1993, section VII",
        meaning: "marks spread evenly by counting (Method 2), or each packet on its own (Method 1)",
    },
    Parameter {
        name: "mark_at",
        unit: "",
        domain: Domain::Word(&["arrival", "departure"]),
        default: "arrival",
        source: "Floyd & Jacobson 1993, section IV",
        meaning: "when the queue is sampled and the packet judged",
    },
    Parameter {
        name: "ecn",
        unit: "",
        domain: Domain::Flag,
        default: "true",
        source: "RFC 3168, section 5",
        meaning: "mark packets that can bear it; false drops them all",
    },
];

impl Params {
    /// Reads them from settings; a line needs two ends.
    pub fn read(settings: &Settings) -> Result<Self, SettingError> {
        let shape = match settings.word("shape") {
            "gentle" => Shape::Gentle,
            "proportional" => Shape::Proportional,
            "step" => Shape::Step,
            _ => Shape::Classic,
        };
        let (min_th, max_th) = (settings.bytes("min_th"), settings.bytes("max_th"));
        if matches!(shape, Shape::Classic | Shape::Gentle) && min_th >= max_th {
            let message =
                format!("{max_th} must be above min_th = {min_th}; for a step write shape = \"step\"");
            return Err(SettingError::new("max_th", message));
        }
        Ok(Self {
            shape,
            min_th: min_th.as_f64(),
            max_th: max_th.as_f64(),
            max_p: settings.number("max_p"),
            weight: settings.number("weight"),
            uniform: settings.word("spacing") == "uniform",
            at_departure: settings.word("mark_at") == "departure",
            ecn: settings.flag("ecn"),
        })
    }
}
