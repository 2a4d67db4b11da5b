//! BBRv3's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number, span, span_or_zero, whole};
use millpond_units::Span;

/// BBRv3's parameters. Section numbers are those of draft-ietf-ccwg-bbr-06.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    pub(super) initial_window: Option<f64>,
    pub(super) startup_pacing_gain: f64,
    pub(super) drain_pacing_gain: f64,
    pub(super) probe_up_pacing_gain: f64,
    pub(super) probe_down_pacing_gain: f64,
    pub(super) window_gain: f64,
    pub(super) probe_up_window_gain: f64,
    pub(super) probe_rtt_window_gain: f64,
    pub(super) pacing_margin: f64,
    pub(super) loss_threshold: f64,
    pub(super) startup_losses: u64,
    pub(super) beta: f64,
    pub(super) headroom: f64,
    pub(super) min_rtt_window: Span,
    pub(super) probe_rtt_interval: Span,
    pub(super) probe_rtt_duration: Span,
    pub(super) quantum: Span,
}

const STARTUP_PACING_GAIN: Key<f64> = number("startup_pacing_gain", "1", 2.77, from(1.0).to(10.0))
    .source("BBR.StartupPacingGain, section 2.5: 4 ln 2")
    .meaning("pacing rate over bandwidth while the bandwidth is first searched for");
const DRAIN_PACING_GAIN: Key<f64> = number("drain_pacing_gain", "1", 0.5, above(0.0).to(1.0))
    .source("BBR.DrainPacingGain, section 2.5")
    .meaning("pacing rate over bandwidth while the queue of the start is emptied");
const PROBE_UP_PACING_GAIN: Key<f64> = number("probe_up_pacing_gain", "1", 1.25, from(1.0).to(10.0))
    .source("section 5.3.3.4")
    .meaning("pacing rate over bandwidth while more bandwidth is probed for");
const PROBE_DOWN_PACING_GAIN: Key<f64> = number("probe_down_pacing_gain", "1", 0.9, above(0.0).to(1.0))
    .source("section 5.3.3.1")
    .meaning("pacing rate over bandwidth after a probe");
const WINDOW_GAIN: Key<f64> = number("window_gain", "1", 2.0, from(1.0).to(10.0))
    .source("BBR.DefaultCwndGain, section 2.6")
    .meaning("window over the bandwidth-delay product");
const PROBE_UP_WINDOW_GAIN: Key<f64> = number("probe_up_window_gain", "1", 2.25, from(1.0).to(10.0))
    .source("section 5.6.1")
    .meaning("window over the bandwidth-delay product while more bandwidth is probed for");
const PROBE_RTT_WINDOW_GAIN: Key<f64> = number("probe_rtt_window_gain", "1", 0.5, above(0.0).to(1.0))
    .source("BBR.ProbeRTTCwndGain, section 2.16.2")
    .meaning("window over the bandwidth-delay product while the base RTT is measured");
const PACING_MARGIN: Key<f64> = number("pacing_margin", "1", 0.01, from(0.0).to(0.5))
    .source("BBR.PacingMarginPercent, section 2.5: 1 %")
    .meaning("part by which the pacing rate stays below gain times bandwidth");
const LOSS_THRESHOLD: Key<f64> = number("loss_threshold", "1", 0.02, above(0.0).to(0.5))
    .source("BBR.LossThresh, section 2.8: 2 %")
    .meaning("lost part of the bytes in flight from which a probe has gone too high");
const STARTUP_LOSSES: Key<u64> = whole("startup_losses", "1", 6, from(1.0).to(1000.0))
    .source("BBRStartupFullLossCnt, section 5.3.1.3")
    .meaning("acknowledgements with new losses in a round trip from which the start may end by loss");
const BETA: Key<f64> = number("beta", "1", 0.7, above(0.0).to(1.0)).source("BBR.Beta, section 2.8").meaning(
    "factor applied to the short-term limits in a round trip with loss, if the delivered data is less",
);
const HEADROOM: Key<f64> = number("headroom", "1", 0.15, from(0.0).to(0.9))
    .source("BBR.Headroom, section 2.8")
    .meaning("part of the long-term limit that is left free for other flows between probes");
const MIN_RTT_WINDOW: Key<Span> = span("min_rtt_window", Span::from_millis(10_000))
    .source("BBR.MinRTTFilterLen, section 2.16.1")
    .meaning("age at which a base RTT expires");
const PROBE_RTT_INTERVAL: Key<Span> = span("probe_rtt_interval", Span::from_millis(5000))
    .source("BBR.ProbeRTTInterval, section 2.16.2")
    .meaning("time without a lower RTT after which the base RTT is measured with a smaller window");
const PROBE_RTT_DURATION: Key<Span> = span("probe_rtt_duration", Span::from_millis(200))
    .source("BBR.ProbeRTTDuration, section 2.16.2")
    .meaning("least duration of the smaller window");
const QUANTUM: Key<Span> = span_or_zero("quantum", Span::from_millis(1)).source("section 5.6.3").meaning(
    "time at the pacing rate whose data leaves at once: at least two packets, at most 64 kB; 0s: one packet",
);

pub(super) static PARAMETERS: Keys = &[
    &INITIAL_WINDOW,
    &STARTUP_PACING_GAIN,
    &DRAIN_PACING_GAIN,
    &PROBE_UP_PACING_GAIN,
    &PROBE_DOWN_PACING_GAIN,
    &WINDOW_GAIN,
    &PROBE_UP_WINDOW_GAIN,
    &PROBE_RTT_WINDOW_GAIN,
    &PACING_MARGIN,
    &LOSS_THRESHOLD,
    &STARTUP_LOSSES,
    &BETA,
    &HEADROOM,
    &MIN_RTT_WINDOW,
    &PROBE_RTT_INTERVAL,
    &PROBE_RTT_DURATION,
    &QUANTUM,
];

impl Params {
    /// Reads the parameters from settings.
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            initial_window: settings.get(INITIAL_WINDOW),
            startup_pacing_gain: settings.get(STARTUP_PACING_GAIN),
            drain_pacing_gain: settings.get(DRAIN_PACING_GAIN),
            probe_up_pacing_gain: settings.get(PROBE_UP_PACING_GAIN),
            probe_down_pacing_gain: settings.get(PROBE_DOWN_PACING_GAIN),
            window_gain: settings.get(WINDOW_GAIN),
            probe_up_window_gain: settings.get(PROBE_UP_WINDOW_GAIN),
            probe_rtt_window_gain: settings.get(PROBE_RTT_WINDOW_GAIN),
            pacing_margin: settings.get(PACING_MARGIN),
            loss_threshold: settings.get(LOSS_THRESHOLD),
            startup_losses: settings.get(STARTUP_LOSSES),
            beta: settings.get(BETA),
            headroom: settings.get(HEADROOM),
            min_rtt_window: settings.get(MIN_RTT_WINDOW),
            probe_rtt_interval: settings.get(PROBE_RTT_INTERVAL),
            probe_rtt_duration: settings.get(PROBE_RTT_DURATION),
            quantum: settings.get(QUANTUM),
        }
    }
}
