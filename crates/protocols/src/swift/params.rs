//! Swift's parameters. The paper gives the equations and few numbers; the other defaults are those of the packet simulator
//! csg-htsim, whose model of Swift was tuned to reproduce the paper's figures.

use super::target::TargetParams;
use crate::parts::window::INITIAL_WINDOW;
use millpond_law::key::{Key, Keys, above, from, number, span, span_or_zero, whole};
use millpond_law::{SettingError, Settings};
use millpond_units::Span;

/// Swift's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// Growth in packets per round trip.
    pub(super) ai: f64,
    /// Reduction over relative excess of the delay.
    pub(super) beta: f64,
    /// Largest reduction, as a share of the window.
    pub(super) max_mdf: f64,
    /// Smallest window in packets.
    pub(super) min_cwnd: f64,
    /// Largest window in packets.
    pub(super) max_cwnd: f64,
    /// Consecutive timeouts that reset the window to its minimum.
    pub(super) retx_reset_threshold: u64,
    /// The target delay.
    pub(super) target: TargetParams,
    /// Initial window in packets; none: the formula of RFC 9002.
    pub(super) initial_window: Option<f64>,
}

/// Origin of the numbers that the paper does not give.
const HTSIM: &str = "Algorithm 1, SIGCOMM 2020; value of csg-htsim";
const HTSIM_TARGET: &str = "section 3.5, SIGCOMM 2020; value of csg-htsim";

const AI: Key<f64> = number("ai", "packets", 1.0, above(0.0).to(1e3))
    .source(HTSIM)
    .meaning("growth per round trip while the delay is below its target; below a window of one packet, growth per packet");
const BETA: Key<f64> = number("beta", "1", 0.8, above(0.0).to(1.0))
    .source(HTSIM)
    .meaning("reduction of the window over the relative excess of the delay");
const MAX_MDF: Key<f64> = number("max_mdf", "1", 0.5, above(0.0).to(0.99))
    .source(HTSIM)
    .meaning("largest reduction of the window at once, also that of a loss");
const MIN_CWND: Key<f64> = number("min_cwnd", "packets", 0.01, above(0.0).to(1.0))
    .source("Algorithm 1, SIGCOMM 2020; csg-htsim has 10 bytes")
    .meaning("smallest window; below one packet, packets leave at window over round-trip time");
const MAX_CWND: Key<f64> = number("max_cwnd", "packets", 1e4, from(1.0).to(1e9))
    .source("Algorithm 1, SIGCOMM 2020; csg-htsim has 1000, too few for 100 Gbit/s and 200 us")
    .meaning("largest window");
const RETX_RESET_THRESHOLD: Key<u64> =
    whole("retx_reset_threshold", "1", 5, from(1.0).to(1e6)).source(HTSIM).meaning(
        "consecutive timeouts that reset the window to min_cwnd; each earlier one reduces it by max_mdf",
    );
const BASE_TARGET: Key<Span> = span("base_target", Span::from_micros(20))
    .source(HTSIM_TARGET)
    .meaning("target of the round-trip time without links and without many flows");
const PER_HOP: Key<Span> = span_or_zero("per_hop", Span::from_picos(3_053_000))
    .source("h-bar in section 3.5, SIGCOMM 2020; csg-htsim has base_target / 6.55")
    .meaning("addition to the target for each link from the sender to the receiver");
const FS_RANGE: Key<Span> = span_or_zero("fs_range", Span::from_micros(100))
    .source("section 3.5, SIGCOMM 2020; csg-htsim has 5 base_target")
    .meaning("largest addition to the target for a small window; 0s: none");
const FS_MIN_CWND: Key<f64> = number("fs_min_cwnd", "packets", 0.1, above(0.0).to(1e6))
    .source(HTSIM_TARGET)
    .meaning("window at and below which the addition is fs_range");
const FS_MAX_CWND: Key<f64> = number("fs_max_cwnd", "packets", 100.0, above(0.0).to(1e9))
    .source(HTSIM_TARGET)
    .meaning("window at and above which there is no addition; above fs_min_cwnd");

pub(super) static PARAMETERS: Keys = &[
    &AI,
    &BETA,
    &MAX_MDF,
    &BASE_TARGET,
    &PER_HOP,
    &FS_RANGE,
    &FS_MIN_CWND,
    &FS_MAX_CWND,
    &MIN_CWND,
    &MAX_CWND,
    &RETX_RESET_THRESHOLD,
    &INITIAL_WINDOW,
];

impl Params {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let target = TargetParams {
            base: settings.get(BASE_TARGET),
            per_hop: settings.get(PER_HOP),
            range: settings.get(FS_RANGE),
            min_cwnd: settings.get(FS_MIN_CWND),
            max_cwnd: settings.get(FS_MAX_CWND),
        };
        if target.max_cwnd <= target.min_cwnd {
            let message =
                format!("must exceed fs_min_cwnd, which is {}, found {}", target.min_cwnd, target.max_cwnd);
            return Err(FS_MAX_CWND.error(message));
        }
        Ok(Self {
            ai: settings.get(AI),
            beta: settings.get(BETA),
            max_mdf: settings.get(MAX_MDF),
            min_cwnd: settings.get(MIN_CWND),
            max_cwnd: settings.get(MAX_CWND),
            retx_reset_threshold: settings.get(RETX_RESET_THRESHOLD),
            target,
            initial_window: settings.get(INITIAL_WINDOW),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    #[test]
    fn a_range_of_windows_without_width_is_rejected() {
        let settings = Settings::check(PARAMETERS, [("fs_max_cwnd", Value::Number(0.1))]).unwrap();
        let fault = Params::read(&settings).unwrap_err();
        assert_eq!(fault.to_string(), "fs_max_cwnd: must exceed fs_min_cwnd, which is 0.1, found 0.1");
    }
}
