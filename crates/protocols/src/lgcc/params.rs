//! The parameters of LGCC. The keys in the table that are not declared here are shared with LGC.

use super::price::{PRICE_CAPACITY, PRICE_DRAIN, PRICE_GAIN, PRICE_RTT, PriceParams};
use crate::parts::capacity_estimate::PROBE_GAIN;
use crate::parts::logistic::{Bases, PHI1, PHI2};
use crate::parts::marking::{ALPHA, FIRST_MARKS, INTERVAL};
use crate::parts::send_rate::{CONTROL, Control, INITIAL_WINDOW, ROUNDING};
use crate::parts::step_size::{G1, G2, GAMMA_CONV, GAMMA_INIT, STEP_SIZE, StepSize};
use millpond_law::key::{Interval, Key, Keys, above, flag, from, number, span_or_zero, word};
use millpond_law::{Knowledge, SettingError, Settings, Value, words};
use millpond_units::Span;

const ALGORITHM: Key<Algorithm> = word("algorithm", Algorithm::PrimalDual)
    .source("Eq. (14), Eq. (15); Algorithm 1")
    .meaning("the rate moves towards its target in steps (Eq. 14), or is set to it (Eq. 15)");
pub(super) const PRESET: Key<Preset> = word("preset", Preset::Paper)
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning(
        "values of other parameters: for links whose capacity fluctuates, or with prices in packets for many flows; written parameters override them",
    )
    .presets(&[("cellular", CELLULAR), ("priced", PRICED)]);
pub(super) const FOLLOW: Key<Follow> = word("follow", Follow::Rate)
    .source("not in the paper: see docs/extensions/lgcc-share.md")
    .meaning("steps of Eq. (14) move the rate, or its share of the carrying capacity, so that the rate follows k at once");
const CAPACITY: Key<CapacitySource> = word("capacity", CapacitySource::Signalled)
    .source("Eq. (10), section IX-B")
    .meaning("capacity of the loop's links: signalled; or unknown, then the next loop's rate or an estimate");
pub(super) const ECHO: Key<EchoedRate> = word("echo", EchoedRate::Sent)
    .source("section VI-A; see ERRATA.md")
    .meaning("the next loop's sending rate corrected by the relay's queue; its x; or rate and queue for the sender to correct");
const CUSHION: Key<f64> = number("cushion", "packets", 2.0, from(0.0).to(1e6))
    .source("not in the paper: see ERRATA.md")
    .meaning("target queue of a relay; it keeps the next loop supplied while this loop follows it");
pub(super) const DRAIN: Key<f64> = number("drain", "RTTs of the next loop", 8.0, above(0.0).to(1e9))
    .source("not in the paper: see ERRATA.md")
    .meaning("time constant with which an echo returns the relay's queue to its target; with echo = \"excess\" in RTTs of this loop");
const CUSHION_TIME: Key<Span> = span_or_zero("cushion_time", Span::ZERO)
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning("the target queue of a relay also holds what the next loop sends in this time");
const IDLE_TARGET: Key<f64> = number("idle_target", "1", 0.0, from(0.0).to(0.5))
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning("share of the time in which the next loop may lack data: a relay holds as much of its target queue as that needs; 0: all of it");
pub(super) const DRAIN_TIME: Key<Span> = span_or_zero("drain_time", Span::ZERO)
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning(
        "added to that time constant: the time over which the signalled capacity is averaged, and its delay",
    );
const BACKLOG: Key<CountedBacklog> = word("backlog", CountedBacklog::Relay)
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning("the queue that an echo returns to its target: the relay's; or with the queue of the next loop");
pub(super) const SERVICE_GAP: Key<Span> = span_or_zero("service_gap", Span::ZERO)
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning(
        "a loop limited by its own links has a window for this time beyond the base RTT: gaps of a scheduler",
    );
pub(super) const PROBE_INTERVAL: Key<Span> = span_or_zero("probe_interval", Span::ZERO)
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning("least rate: a packet in this time or in the base RTT; 0s: the initial window per base RTT");
const UPDATES: Key<bool> = flag("updates", false)
    .source("not in the paper: see docs/extensions/lgcc-cellular.md")
    .meaning("with echo = \"excess\": a relay sends an echo that has doubled at once; above its target it needs few probes");
const WEIGHTS: Key<Weights> = word("weights", Weights::Capacity)
    .source("Eq. (11), (22), section VI-B; see ERRATA.md; \"rate\": docs/extensions/lgcc-cellular.md")
    .meaning("division of a shared loop: capacities in proportion to weights, Eq. (11)'s prices p / w, or max-min fair rates without marks");
const UPSTREAM: Key<Upstream> = word("upstream", Upstream::Ignored)
    .source("Theorem 8.4; see ERRATA.md")
    .meaning("marks of earlier loops are ignored, or set the flow's weight w = own price / price so far");
pub(super) const PRICE: Key<PriceSignal> = word("price", PriceSignal::Marks)
    .source("not in the paper: see docs/extensions/lgcc-price.md")
    .meaning("links signal their price by marks of their queue, or also in a field of each packet to which each link adds its own");
const BACKPRESSURE: Key<Backpressure> = word("backpressure", Backpressure::Product)
    .source("Eq. (20); proof of Theorem 8.4")
    .meaning("the next loop's rate is a carrying capacity that marks deflate (Eq. 20), or an upper limit");

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &PRESET, &ALGORITHM, &FOLLOW, &PHI1, &PHI2, &GAMMA_INIT, &GAMMA_CONV, &G1, &G2, &STEP_SIZE, &ALPHA, &FIRST_MARKS, &INTERVAL, &CONTROL,
    &ROUNDING, &INITIAL_WINDOW, &PROBE_INTERVAL, &SERVICE_GAP, &CAPACITY, &PROBE_GAIN, &ECHO, &CUSHION, &CUSHION_TIME, &IDLE_TARGET,
    &DRAIN, &DRAIN_TIME, &BACKLOG, &UPDATES, &WEIGHTS, &UPSTREAM, &BACKPRESSURE, &PRICE, &PRICE_RTT, &PRICE_GAIN,
    &PRICE_CAPACITY, &PRICE_DRAIN,
];

/// Links whose capacity fluctuates, behind a relay. docs/extensions/lgcc-cellular.md derives each value.
const CELLULAR: &[(&str, Value)] = &[
    ("control", Value::text("paced-window")),
    ("follow", Value::text("share")),
    ("service_gap", Value::text("80ms")),
    ("probe_interval", Value::text("100ms")),
    ("echo", Value::text("excess")),
    ("cushion_time", Value::text("15ms")),
    ("idle_target", Value::Number(0.05)),
    ("drain", Value::Number(1.0)),
    ("drain_time", Value::text("110ms")),
    ("backlog", Value::text("relay-and-loop")),
    ("updates", Value::Flag(true)),
    ("weights", Value::text("rate")),
];

/// Many flows at a link without marks. docs/extensions/lgcc-price.md derives each value.
const PRICED: &[(&str, Value)] = &[
    ("price", Value::text("field")),
    ("control", Value::text("paced-window")),
    ("gamma_conv", Value::Number(0.3)),
    ("probe_interval", Value::text("50ms")),
];

words! {
    /// How the rate is computed.
    pub(super) enum Algorithm {
        /// Eq. (14): a step towards the target.
        PrimalDual = "primal-dual",
        /// Eq. (15): the target itself.
        Dual = "dual",
    }

    /// Named sets of parameters.
    pub(super) enum Preset {
        /// The paper's form.
        Paper = "paper",
        /// Links whose capacity fluctuates.
        Cellular = "cellular",
        /// Prices in packets, for many flows.
        Priced = "priced",
    }

    /// How links signal their price.
    pub(super) enum PriceSignal {
        /// By the marks of their queue.
        Marks = "marks",
        /// In a field of each packet; marks count as well.
        Field = "field",
    }

    /// The queue that an echo returns to its target.
    pub(super) enum CountedBacklog {
        /// The relay's send queue.
        Relay = "relay",
        /// The relay's send queue, and the queue that the next loop's RTT shows.
        RelayAndLoop = "relay-and-loop",
    }

    /// What the steps of Eq. (14) move.
    pub(super) enum Follow {
        /// The rate x: it approaches a changed carrying capacity in steps.
        Rate = "rate",
        /// The share z = x / k: the rate k z follows the carrying capacity at once.
        Share = "share",
    }

    /// Source of the capacity of the loop's links.
    enum CapacitySource { Signalled = "signalled", Estimated = "estimated" }

    /// Which rate of the next loop a relay echoes.
    pub(super) enum EchoedRate { Sent = "sent", X = "x", Excess = "excess" }

    /// How weights divide a shared next loop.
    pub(super) enum Weights {
        /// Carrying capacities in proportion to the weights.
        Capacity = "capacity",
        /// Eq. (11): marking probabilities divided by weights.
        Price = "price",
        /// Each loop receives its share of the rate, without marks.
        Rate = "rate",
    }

    /// The effect of marks of upstream loops.
    pub(super) enum Upstream {
        /// None.
        Ignored = "ignored",
        /// They set the weight of the flow (Theorem 8.4).
        Weights = "weights",
    }

    /// How the downstream loop's rate limits this loop.
    pub(super) enum Backpressure {
        /// As a carrying capacity, which this loop's marks deflate.
        Product = "product",
        /// As a limit that this loop's marks do not deflate.
        Minimum = "minimum",
    }
}

/// The rate that a relay echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EchoReading {
    /// The downstream loop's sending rate, corrected by the relay's queue.
    Sent,
    /// The downstream loop's sending rate, and the relay's queue less its target, which the sender corrects.
    Excess,
    /// The x of the downstream loop, computed from its window.
    WindowRate,
    /// The x of the downstream loop, which is its pacing rate.
    Pace,
}

/// The parameters of sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Params {
    /// How the rate is computed.
    pub(super) algorithm: Algorithm,
    /// What the steps move.
    pub(super) follow: Follow,
    /// phi1 and phi2.
    pub(super) bases: Bases,
    /// gamma as a function of the distance from the target.
    pub(super) step_size: StepSize,
    /// The rate that a relay echoes.
    pub(super) echo: EchoReading,
    /// Target queue of a relay, in packets.
    pub(super) cushion: f64,
    /// Time constant of its convergence to the target, in RTTs of the downstream loop.
    pub(super) drain: f64,
    /// The target queue also holds what the downstream loop sends in this time.
    pub(super) cushion_time: Span,
    /// Share of the time in which the downstream loop may lack data; zero: the target queue is constant.
    pub(super) idle_target: f64,
    /// Added to the time constant.
    pub(super) drain_time: Span,
    /// Whether the queue of the downstream loop counts as the relay's.
    pub(super) counts_next_queue: bool,
    /// What the window of a loop that its own links limit holds beyond the base RTT, as a time.
    pub(super) service_gap: Span,
    /// The least rate is a packet in this time; zero: the initial window per base RTT.
    pub(super) probe_interval: Span,
    /// Whether a relay sends changed feedback without waiting for data.
    pub(super) sends_updates: bool,
    /// How weights divide a shared downstream loop.
    pub(super) weights: Weights,
    /// The effect of marks of upstream loops.
    pub(super) upstream: Upstream,
    /// How the downstream loop's rate limits this loop.
    pub(super) backpressure: Backpressure,
    /// Whether packets carry the price of their path.
    pub(super) has_price_field: bool,
    /// How x is applied.
    pub(super) control: Control,
}

impl Params {
    pub(super) fn read(settings: &Settings) -> Self {
        let control = settings.get(CONTROL);
        let echo = match (settings.get(ECHO), control) {
            (EchoedRate::Sent, _) => EchoReading::Sent,
            (EchoedRate::Excess, _) => EchoReading::Excess,
            (EchoedRate::X, Control::Rate) => EchoReading::Pace,
            (EchoedRate::X, Control::Window | Control::PacedWindow) => EchoReading::WindowRate,
        };
        Self {
            algorithm: settings.get(ALGORITHM),
            follow: settings.get(FOLLOW),
            bases: Bases::read(settings),
            step_size: StepSize::read(settings),
            echo,
            cushion: settings.get(CUSHION),
            drain: settings.get(DRAIN),
            cushion_time: settings.get(CUSHION_TIME),
            idle_target: settings.get(IDLE_TARGET),
            drain_time: settings.get(DRAIN_TIME),
            counts_next_queue: settings.get(BACKLOG) == CountedBacklog::RelayAndLoop,
            service_gap: settings.get(SERVICE_GAP),
            probe_interval: settings.get(PROBE_INTERVAL),
            sends_updates: settings.get(UPDATES) && echo == EchoReading::Excess,
            weights: settings.get(WEIGHTS),
            upstream: settings.get(UPSTREAM),
            backpressure: settings.get(BACKPRESSURE),
            has_price_field: settings.get(PRICE) == PriceSignal::Field,
            control,
        }
    }
}

/// The capacities that are signalled to the sender.
pub(super) fn knowledge(settings: &Settings) -> Knowledge {
    match settings.get(CAPACITY) {
        CapacitySource::Signalled => Knowledge::Live,
        CapacitySource::Estimated => Knowledge::Nothing,
    }
}

/// The parameters of the links' prices; none if links signal by marks alone.
pub(super) fn price(settings: &Settings) -> Result<Option<PriceParams>, SettingError> {
    match settings.get(PRICE) {
        PriceSignal::Marks => Ok(None),
        PriceSignal::Field => PriceParams::read(settings).map(Some),
    }
}

/// A warning if a loop has a longer base RTT than the links' prices are set for.
pub(super) fn rtt_warning(settings: &Settings, base_rtt: Span) -> Option<String> {
    let rtt = settings.get(PRICE_RTT);
    let is_too_long = settings.get(PRICE) == PriceSignal::Field && base_rtt > rtt;
    is_too_long.then(|| {
        format!(
            "price_rtt = {rtt}, but a loop has a base RTT of {base_rtt}: the price changes too fast for it; set price_rtt to the \
             longest base RTT"
        )
    })
}

/// Warnings about these settings.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let rate_control = settings.get(CONTROL) == Control::Rate;
    let echo_x = settings.get(ECHO) == EchoedRate::X && !rate_control;
    let every_ack = settings.get(INTERVAL) == Interval::Acks(1);
    let follows_share = settings.get(FOLLOW) == Follow::Share;
    let warnings = [
        (
            rate_control,
            "control = \"rate\": without a window the queue is an integrator, and several flows oscillate unless \
             max_th is 34 (gamma_conv) to 71 (gamma_init) times the bandwidth-delay product",
        ),
        (
            echo_x,
            "echo = \"x\": a queue increases the downstream loop's RTT, so it sends less than its x, and the relay's \
             send queue grows until it is full",
        ),
        (
            follows_share && settings.get(CONTROL) == Control::Window,
            "follow = \"share\" with control = \"window\": a rise of the carrying capacity lets a burst of packets leave at \
             once, which queues and is marked; set control = \"paced-window\"",
        ),
        (
            settings.get(SERVICE_GAP) > Span::ZERO && settings.get(CONTROL) == Control::Window,
            "service_gap with control = \"window\": without pacing the window of a longer time is a standing queue; set control = \
             \"paced-window\"",
        ),
        (
            settings.get(PRICE) == PriceSignal::Field && settings.get(UPSTREAM) == Upstream::Weights,
            "upstream = \"weights\" with price = \"field\": weights count marks of earlier loops, not prices",
        ),
        (
            settings.get(CAPACITY) == CapacitySource::Estimated,
            "capacity = \"estimated\": flows share a link equally only if they measure equal base RTTs; one with a longer base RTT, or that \
             starts while there is a queue, takes most of the link",
        ),
        (every_ack, "interval = { acks = 1 }: an update per acknowledgement oscillates; the paper advises 4"),
    ];
    warnings.into_iter().filter(|(applies, _)| *applies).map(|(_, text)| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings_of(key: &'static str, value: &'static str) -> Vec<String> {
        warnings(&Settings::check(PARAMETERS, [(key, Value::text(value))]).unwrap())
    }

    #[test]
    fn an_estimated_capacity_has_a_warning_about_base_rtts() {
        assert_eq!(warnings_of("capacity", "signalled"), Vec::<String>::new());
        assert!(warnings_of("capacity", "estimated")[0].contains("equal base RTTs"));
    }
}
