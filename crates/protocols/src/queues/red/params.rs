//! RED's parameters.

use millpond_law::key::{Key, Keys, above, bytes, bytes_or_zero, flag, number, word};
use millpond_law::{SettingError, Settings, words};
use millpond_units::Bytes;

/// RED's parameters in the units of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Shape of the marking probability as a function of the queue.
    pub shape: Shape,
    /// min_th: queue in bytes at which marking begins.
    pub min_th: f64,
    /// max_th: queue in bytes at which the first line ends.
    pub max_th: f64,
    /// Marking probability at max_th.
    pub max_p: f64,
    /// Weight w_q of the newest sample in the average; 1: the instantaneous queue.
    pub weight: f64,
    /// Whether marks are spread evenly or sampled independently.
    pub spacing: Spacing,
    /// When a packet is marked.
    pub mark_at: MarkAt,
    /// Whether ECN-capable packets are marked rather than dropped.
    pub ecn: bool,
}

const MIN_TH: Key<Bytes> = bytes_or_zero("min_th", Bytes::new(7_500))
    .source("Floyd & Jacobson 1993, section IV (5 packets of 1500 B); Eq. (17), LGCC")
    .meaning("no packet is marked while the queue is shorter");
const MAX_TH: Key<Bytes> = bytes("max_th", Bytes::new(22_500))
    .source("Floyd & Jacobson 1993, section IV (3 min_th); K in RFC 8257, section 3.1; Eq. (17), LGCC")
    .meaning("queue at which the probability reaches max_p; above it, unless gentle, all are marked");
const MAX_P: Key<f64> = number("max_p", "1", 0.02, above(0.0).to(1.0))
    .source("Floyd & Jacobson 1993, section IV")
    .meaning("marking probability at max_th");
const WEIGHT: Key<f64> = number("weight", "1", 0.002, above(0.0).to(1.0))
    .source("w_q in Floyd & Jacobson 1993, section IV")
    .meaning("weight of the newest sample in the average; 1: the instantaneous queue");
const SHAPE: Key<Shape> = word("shape", Shape::Classic)
    .source(
        "classic: Floyd & Jacobson 1993, section IV; gentle: S. Floyd, Recommendation on using the \
         gentle_ variant of RED, 2000; proportional: Eq. (17), LGCC; step: RFC 8257, section 3.1",
    )
    .meaning("marking probability as a function of the queue");
const SPACING: Key<Spacing> = word("spacing", Spacing::Uniform)
    .source("Floyd & Jacobson 1993, section VII")
    .meaning("marks are spread evenly by counting (Method 2), or packets are independent (Method 1)");
const MARK_AT: Key<MarkAt> = word("mark_at", MarkAt::Arrival)
    .source("Floyd & Jacobson 1993, section IV")
    .meaning("event at which the queue is sampled and the packet is marked");
const ECN: Key<bool> = flag("ecn", true)
    .source("RFC 3168, section 5")
    .meaning("ECN-capable packets are marked; false: all are dropped");

pub(super) static PARAMETERS: Keys = &[&MIN_TH, &MAX_TH, &MAX_P, &WEIGHT, &SHAPE, &SPACING, &MARK_AT, &ECN];

words! {
    /// How the marking probability p_b depends on the (averaged) queue b.
    pub enum Shape {
        /// 0 below `min_th`, a straight line to `max_p` at `max_th`, 1 from there on.
        Classic = "classic",
        /// The same, but from `max_th` a second line to 1 at `2 max_th`.
        Gentle = "gentle",
        /// 0 below `min_th`, from there on `max_p b / max_th`, 1 from `max_th` on.
        Proportional = "proportional",
        /// 0 up to `max_th`, 1 above.
        Step = "step",
    }

    /// Whether marks are spread evenly or sampled independently.
    pub enum Spacing {
        /// Method 2: marks are spread evenly by counting packets.
        Uniform = "uniform",
        /// Method 1: packets are marked independently.
        Geometric = "geometric",
    }

    /// When a packet is marked.
    pub enum MarkAt {
        /// When it arrives at the queue.
        Arrival = "arrival",
        /// When it departs.
        Departure = "departure",
    }
}

impl Params {
    /// The name and the bytes of the parameter up to which no packet is marked.
    pub(super) fn least_queue(&self) -> (&'static str, f64) {
        match self.shape {
            Shape::Step => ("max_th", self.max_th),
            Shape::Classic | Shape::Gentle | Shape::Proportional => ("min_th", self.min_th),
        }
    }

    /// Reads the parameters from settings; an error if the thresholds of a linear shape do not increase.
    pub fn read(settings: &Settings) -> Result<Self, SettingError> {
        let shape = settings.get(SHAPE);
        let (min_th, max_th) = (settings.get(MIN_TH), settings.get(MAX_TH));
        if matches!(shape, Shape::Classic | Shape::Gentle) && min_th >= max_th {
            let message =
                format!("{max_th} must be above min_th = {min_th}; for a step write shape = \"step\"");
            return Err(MAX_TH.error(message));
        }
        Ok(Self {
            shape,
            min_th: min_th.as_f64(),
            max_th: max_th.as_f64(),
            max_p: settings.get(MAX_P),
            weight: settings.get(WEIGHT),
            spacing: settings.get(SPACING),
            mark_at: settings.get(MARK_AT),
            ecn: settings.get(ECN),
        })
    }
}
