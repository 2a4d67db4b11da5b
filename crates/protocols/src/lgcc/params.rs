//! The parameters of LGCC, for the sender, the receiver and whoever else shares the law.

use crate::parts::capacity_estimate::PROBE_GAIN;
use crate::parts::logistic::{Bases, PHI1, PHI2};
use crate::parts::marking::{ALPHA, INTERVAL};
use crate::parts::send_rate::{CONTROL, INITIAL_WINDOW};
use crate::parts::step_size::{G1, G2, GAMMA_CONV, GAMMA_INIT, STEP_SIZE, StepSize};
use millpond_law::{Domain, Knowledge, Parameter, Pipe, Settings};
use millpond_units::Rate;

/// Every parameter; those with a name in capitals are shared with LGC.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "algorithm",
        unit: "",
        domain: Domain::Word(&["primal-dual", "dual"]),
        default: "primal-dual",
        source: "Eq. (14), Eq. (15); Algorithm 1",
        meaning: "steps towards the target rate (Eq. 14), or jumps to it (Eq. 15)",
    },
    PHI1,
    PHI2,
    GAMMA_INIT,
    GAMMA_CONV,
    G1,
    G2,
    STEP_SIZE,
    ALPHA,
    INTERVAL,
    CONTROL,
    INITIAL_WINDOW,
    Parameter {
        name: "capacity",
        unit: "",
        domain: Domain::Word(&["told", "estimated"]),
        default: "told",
        source: "Eq. (10), section IX-B",
        meaning: "the capacity of the loop's own links: as told by the link layer, or never; where it is not told, \
                  the next loop's rate is the carrying capacity, and without a next loop an estimate",
    },
    PROBE_GAIN,
    Parameter {
        name: "echo",
        unit: "",
        domain: Domain::Word(&["sent", "x"]),
        default: "sent",
        source: "section VI-A; see ERRATA.md",
        meaning: "what a relay echoes: what its next loop really sends, corrected so that its queue returns to the \
                  cushion, or the next loop's x",
    },
    Parameter {
        name: "cushion",
        unit: "packets",
        domain: Domain::Number(0.0, 1e6),
        default: "2",
        source: "not in the paper: see ERRATA.md",
        meaning: "what a relay's queue is to hold, so that the next loop does not run dry while this one follows it",
    },
    Parameter {
        name: "drain",
        unit: "RTTs of the next loop",
        domain: Domain::Above(0.0, 1e9),
        default: "8",
        source: "not in the paper: see ERRATA.md",
        meaning: "the time in which an echo of what is sent brings the relay's queue back to its cushion",
    },
    Parameter {
        name: "weights",
        unit: "",
        domain: Domain::Word(&["capacity", "price"]),
        default: "capacity",
        source: "Eq. (11), (22), section VI-B; see ERRATA.md",
        meaning: "how a relay divides a next loop that incoming loops share: carrying capacities in proportion to the \
                  weights and one marking probability for all, or one carrying capacity and Eq. (11)'s p / w",
    },
    Parameter {
        name: "upstream",
        unit: "",
        domain: Domain::Word(&["ignored", "weights"]),
        default: "ignored",
        source: "Theorem 8.4; see ERRATA.md",
        meaning: "marks of earlier loops: of no consequence here, or they weigh the flow, w = own price / price so far",
    },
    Parameter {
        name: "backpressure",
        unit: "",
        domain: Domain::Word(&["product", "minimum"]),
        default: "product",
        source: "Eq. (20); proof of Theorem 8.4",
        meaning: "the next loop's rate is a carrying capacity, which this loop's marks deflate (Eq. 20), or a limit beside \
                  the deflated capacity of this loop's links",
    },
];

/// How the rate is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Eq. (14): a step towards the target.
    PrimalDual,
    /// Eq. (15): the target itself.
    Dual,
}

/// What a relay echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EchoReading {
    /// What the next loop really sends, corrected by what the relay's queue holds.
    Sent,
    /// The x of the next loop, undone from its window.
    WindowRate,
    /// The x of the next loop, at which it paces.
    Pace,
}

/// How weights divide a next loop that is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weights {
    /// Carrying capacities in proportion to the weights.
    Capacity,
    /// Eq. (11): marks over weights.
    Price,
}

/// The parameters, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Params {
    /// How the rate is found.
    pub(super) algorithm: Algorithm,
    /// phi1 and phi2.
    pub(super) bases: Bases,
    /// gamma as a function of the distance from the target.
    pub(super) step_size: StepSize,
    /// What a relay echoes.
    pub(super) echo: EchoReading,
    /// What a relay's queue is to hold, in packets.
    pub(super) cushion: f64,
    /// In how many RTTs of the next loop it is to return to that.
    pub(super) drain: f64,
    /// How weights divide a next loop that is shared.
    pub(super) weights: Weights,
    /// Do marks of earlier loops weigh the flow?
    pub(super) upstream: bool,
    /// Is the next loop's rate a limit, not deflated by this loop's marks?
    pub(super) minimum: bool,
    /// Does x bound what is in flight?
    pub(super) windowed: bool,
}

impl Params {
    pub(super) fn read(settings: &Settings) -> Self {
        let algorithm =
            if settings.word("algorithm") == "dual" { Algorithm::Dual } else { Algorithm::PrimalDual };
        let echo = match (settings.word("echo"), settings.word(CONTROL.name)) {
            ("x", "rate") => EchoReading::Pace,
            ("x", _) => EchoReading::WindowRate,
            _ => EchoReading::Sent,
        };
        Self {
            algorithm,
            bases: Bases::read(settings),
            step_size: StepSize::read(settings),
            echo,
            cushion: settings.number("cushion"),
            drain: settings.number("drain"),
            weights: if settings.word("weights") == "price" { Weights::Price } else { Weights::Capacity },
            upstream: settings.word("upstream") == "weights",
            minimum: settings.word("backpressure") == "minimum",
            windowed: settings.word(CONTROL.name) != "rate",
        }
    }
}

/// Which capacities the sender is to be told.
pub(super) fn knowledge(settings: &Settings) -> Knowledge {
    if settings.word("capacity") == "told" { Knowledge::Live } else { Knowledge::Nothing }
}

/// What a user of these settings should know before trusting the run.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let rate_control = settings.word(CONTROL.name) == "rate";
    let echo_x = settings.word("echo") == "x" && !rate_control;
    let every_ack = settings.count(INTERVAL.name, "acks") == Some(1);
    let warnings = [
        (
            rate_control,
            "control = \"rate\": with pacing alone the queue integrates, and several flows oscillate unless max_th \
             is 34 (gamma_conv) to 71 (gamma_init) times the bandwidth-delay product",
        ),
        (
            echo_x,
            "echo = \"x\": a queue stretches the next loop's RTT, so it sends less than its x, and the relay's \
             send queue grows until it is full",
        ),
        (every_ack, "interval = { acks = 1 }: an update per acknowledgement oscillates; the paper advises 4"),
    ];
    warnings.into_iter().filter(|(applies, _)| *applies).map(|(_, text)| text.to_owned()).collect()
}

/// A rate never falls below the initial window per base RTT: a slower link cannot hold it back.
pub(super) fn floor_warning(settings: &Settings, pipe: &Pipe) -> Option<String> {
    let window = settings.number(INITIAL_WINDOW.name);
    let least = Rate::from_bps_f64(window * pipe.packet.bits() as f64 / pipe.base_rtt.secs().max(1e-9));
    (pipe.packets() < window).then(|| {
        format!(
            "a loop with a base RTT of {} sends at least {least} (initial_window in each), and a link on the way from there \
             has {} for it: the queue or the relay before that link stays full",
            pipe.base_rtt, pipe.rate
        )
    })
}
