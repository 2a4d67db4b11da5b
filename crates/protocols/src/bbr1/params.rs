//! BBRv1's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, from, number, span, whole};
use millpond_units::Span;

/// BBRv1's parameters. Section numbers are those of draft-cardwell-iccrg-bbr-congestion-control-00.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    pub(super) initial_window: Option<f64>,
    pub(super) high_gain: f64,
    pub(super) probe_gain: f64,
    pub(super) pacing_margin: f64,
    pub(super) window_gain: f64,
    pub(super) bandwidth_rounds: u64,
    pub(super) min_rtt_window: Span,
    pub(super) probe_rtt_duration: Span,
}

const HIGH_GAIN: Key<f64> = number("high_gain", "1", 2.89, from(1.0).to(10.0))
    .source("BBRHighGain, section 4.3.2.1: 2 / ln 2")
    .meaning("pacing rate over bandwidth, and window over the bandwidth-delay product, at the start; its inverse drains the queue");
const PROBE_GAIN: Key<f64> = number("probe_gain", "1", 1.25, from(1.0).to(1.9))
    .source("section 4.3.4.1")
    .meaning("pacing rate over bandwidth in one of eight round trips; the next one has 2 minus this");
const PACING_MARGIN: Key<f64> = number("pacing_margin", "1", 0.0, from(0.0).to(0.5))
    .source("not in the draft; Linux has 1 % since version 4.20 (bbr_pacing_margin_percent)")
    .meaning("part by which the pacing rate is below the gain times the bandwidth");
const WINDOW_GAIN: Key<f64> = number("window_gain", "1", 2.0, from(1.0).to(10.0))
    .source("section 4.2.3.2")
    .meaning("window over the bandwidth-delay product after the start");
const BANDWIDTH_ROUNDS: Key<u64> = whole("bandwidth_rounds", "round trips", 10, from(1.0).to(1000.0))
    .source("BtlBwFilterLen, section 4.1.1.3")
    .meaning("age at which a sample of the bandwidth expires");
const MIN_RTT_WINDOW: Key<Span> = span("min_rtt_window", Span::from_millis(10_000))
    .source("RTpropFilterLen, section 4.1.2.3")
    .meaning("time without an RTT as low after which the base RTT is measured with a window of four packets");
const PROBE_RTT_DURATION: Key<Span> = span("probe_rtt_duration", Span::from_millis(200))
    .source("ProbeRTTDuration, section 4.3.5.2")
    .meaning("least duration of the window of four packets");

pub(super) static PARAMETERS: Keys = &[
    &INITIAL_WINDOW,
    &HIGH_GAIN,
    &PROBE_GAIN,
    &PACING_MARGIN,
    &WINDOW_GAIN,
    &BANDWIDTH_ROUNDS,
    &MIN_RTT_WINDOW,
    &PROBE_RTT_DURATION,
];

impl Params {
    /// Reads the parameters from settings.
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            initial_window: settings.get(INITIAL_WINDOW),
            high_gain: settings.get(HIGH_GAIN),
            probe_gain: settings.get(PROBE_GAIN),
            pacing_margin: settings.get(PACING_MARGIN),
            window_gain: settings.get(WINDOW_GAIN),
            bandwidth_rounds: settings.get(BANDWIDTH_ROUNDS),
            min_rtt_window: settings.get(MIN_RTT_WINDOW),
            probe_rtt_duration: settings.get(PROBE_RTT_DURATION),
        }
    }
}
