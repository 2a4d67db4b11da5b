//! What the machine and the datagrams did in a run of the live world. Suffixes of keys are units: `_ms` milliseconds, `_us`
//! microseconds.

use crate::{Lateness, Machine};
use millpond_units::format::{percent, two_digits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts of a live run, beside its results. They differ from execution to execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveFacts {
    /// How the datagrams travelled: `loopback`, between UDP sockets of one process.
    pub carrier: String,
    /// The machine. Its lateness is that of packets that left links.
    pub machine: Machine,
    /// By how much hosts acted after their timers, in microseconds; null if none acted.
    pub wake_ups_us: Option<Lateness>,
    /// The shortest round-trip time that a loop measured, in milliseconds; null if none was measured.
    pub shortest_rtt_ms: Option<f64>,
    /// Number of datagrams sent, between hosts and routers in both directions.
    pub datagrams: u64,
    /// Datagrams that the system dropped because a socket was full.
    pub overruns: u64,
    /// Datagrams whose ECN field was not received as it was sent.
    pub lost_ecn: u64,
    /// Datagrams whose checksum, length or fields were wrong.
    pub damaged: u64,
    /// Datagrams of another run.
    pub foreign: u64,
    /// Datagrams with intact checksums but wrong stream bytes.
    pub wrong_bytes: u64,
}

impl LiveFacts {
    /// The largest lateness at which results are trusted, as a share of the shortest RTT.
    pub const LATEST: f64 = 0.1;

    /// A sentence about the machine, then one for each reason not to trust the results.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let Machine { real_time, load, processors, processor_share, lateness_us } = &self.machine;
        let late = |late: &Lateness| [late.p50, late.p99, late.p99_9].map(two_digits).join(", ");
        let departures = lateness_us.map_or_else(
            || "no packet left a link".to_owned(),
            |found| format!("packets left links {} us late (p50, p99, p99.9)", late(&found)),
        );
        let wake_ups = self.wake_ups_us.map_or_else(
            || "no host acted".to_owned(),
            |found| format!("hosts acted {} us late", late(&found)),
        );
        let machine = format!(
            "{departures} and {wake_ups}; {} priority, load {} on {processors} processors, {} of one used; {} datagrams, {} lost by sockets, {} without their ECN field",
            if *real_time { "real-time" } else { "normal" },
            two_digits(*load),
            percent(*processor_share),
            self.datagrams,
            self.overruns,
            self.lost_ecn,
        );
        let distrust = self.distrust().into_iter().map(|reason| format!("untrustworthy: {reason}"));
        std::iter::once(machine).chain(distrust).collect()
    }

    /// The larger 99th percentile of the lateness of departures and of wake-ups, in milliseconds; none if there was neither.
    #[must_use]
    pub fn late_ms(&self) -> Option<f64> {
        let found = [self.machine.lateness_us, self.wake_ups_us].into_iter().flatten();
        found.map(|late| late.p99 / 1e3).reduce(f64::max)
    }

    /// Why the results cannot be trusted, each in a sentence; empty if they can. Lateness is compared with a measured
    /// round-trip time only.
    #[must_use]
    pub fn distrust(&self) -> Vec<String> {
        let late = |what: &str, lateness: Option<Lateness>| {
            let late = lateness?.p99 / 1e3;
            let latest = Self::LATEST * self.shortest_rtt_ms?;
            (late > latest).then(|| {
                format!(
                    "the 99th percentile of the lateness of {what} is {late:.3} ms, more than a tenth of the shortest RTT ({latest:.3} ms)"
                )
            })
        };
        let count = |count: u64, what: &str| {
            let datagrams = if count == 1 { "datagram" } else { "datagrams" };
            (count > 0).then(|| format!("{count} {datagrams} {what}"))
        };
        [
            late("departures", self.machine.lateness_us),
            late("wake-ups", self.wake_ups_us),
            count(self.overruns, "dropped by the system, because a socket was full"),
            count(self.lost_ecn, "without the ECN field that was sent"),
            count(self.wrong_bytes, "with wrong stream bytes"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(departures: f64, wake_ups: f64) -> LiveFacts {
        let late = |p99| Some(Lateness { p99, ..Lateness::default() });
        let machine = Machine { lateness_us: late(departures), ..Machine::default() };
        LiveFacts {
            machine,
            wake_ups_us: late(wake_ups),
            shortest_rtt_ms: Some(20.0),
            ..LiveFacts::default()
        }
    }

    #[test]
    fn results_are_trusted_up_to_a_tenth_of_the_shortest_round_trip_time() {
        assert!(facts(2000.0, 2000.0).distrust().is_empty());
        assert!(facts(2001.0, 0.0).distrust()[0].contains("departures is 2.001 ms"));
        assert!(facts(0.0, 2001.0).distrust()[0].contains("wake-ups is 2.001 ms"));
    }

    #[test]
    fn without_a_measured_round_trip_time_or_a_departure_there_is_no_lateness_to_judge() {
        let unmeasured = LiveFacts { shortest_rtt_ms: None, ..facts(2001.0, 2001.0) };
        assert!(unmeasured.distrust().is_empty());
        assert_eq!((facts(1.0, 2001.0).late_ms(), LiveFacts::default().late_ms()), (Some(2.001), None));
        let sentences = LiveFacts::default().sentences();
        assert!(sentences[0].starts_with("no packet left a link and no host acted;"), "{sentences:?}");
    }

    #[test]
    fn lost_datagrams_marks_and_bytes_are_reasons_of_their_own() {
        let facts = LiveFacts { overruns: 1, lost_ecn: 2, wrong_bytes: 3, ..facts(0.0, 0.0) };
        let reasons = facts.distrust();
        assert!(reasons[0].starts_with("1 datagram dropped"), "{reasons:?}");
        assert!(reasons[1].starts_with("2 datagrams without") && reasons[2].starts_with("3 datagrams with"));
    }
}
