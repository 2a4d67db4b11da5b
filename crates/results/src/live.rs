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
    /// Time between two samples of a series, in milliseconds: `measure.every`; null in files of earlier versions.
    #[serde(default)]
    pub sample_interval_ms: Option<f64>,
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
    /// The largest lateness at which results are trusted, as a share of the shortest RTT and of the sampling interval.
    pub const LATEST: f64 = 0.1;

    /// Mean queueing delays agree if they differ by at most this, in milliseconds, ...
    pub const QUEUEING_MS: f64 = 1.0;

    /// ... or by at most this share of the one that they are compared with.
    pub const QUEUEING_SHARE: f64 = 0.1;

    /// By how much a mean queueing delay may be wrong: worlds agree up to this difference, and lateness may not be larger.
    #[must_use]
    pub fn queueing_tolerance_ms(mean_ms: f64) -> f64 {
        (Self::QUEUEING_SHARE * mean_ms).max(Self::QUEUEING_MS)
    }

    /// A sentence about the machine, one if lateness is a part of the mean queueing delay `queueing_ms` that counts, and one
    /// for each reason not to trust the results.
    #[must_use]
    pub fn sentences(&self, queueing_ms: f64) -> Vec<String> {
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
        let distrust =
            self.distrust(queueing_ms).into_iter().map(|reason| format!("untrustworthy: {reason}"));
        std::iter::once(machine).chain(self.unresolved_queueing(queueing_ms)).chain(distrust).collect()
    }

    /// A sentence if lateness is more than a tenth of the mean queueing delay; none if nothing was acknowledged.
    fn unresolved_queueing(&self, queueing_ms: f64) -> Option<String> {
        let late = self.late_ms().filter(|_| self.shortest_rtt_ms.is_some())?;
        (late > Self::LATEST * queueing_ms).then(|| {
            format!(
                "the mean queueing delay, {queueing_ms:.3} ms, is less than ten times the 99th percentile of lateness ({late:.3} ms), which may be a part of it"
            )
        })
    }

    /// The larger 99th percentile of the lateness of departures and of wake-ups, in milliseconds; none if there was neither.
    #[must_use]
    pub fn late_ms(&self) -> Option<f64> {
        let found = [self.machine.lateness_us, self.wake_ups_us].into_iter().flatten();
        found.map(|late| late.p99 / 1e3).reduce(f64::max)
    }

    /// What the 99th percentile of lateness must not exceed, in milliseconds, each with its name; empty without a measured
    /// round-trip time, because nothing was acknowledged then.
    fn lateness_limits(&self, queueing_ms: f64) -> Vec<(f64, &'static str)> {
        let Some(rtt_ms) = self.shortest_rtt_ms else { return Vec::new() };
        let mut limits = vec![
            (Self::LATEST * rtt_ms, "a tenth of the shortest RTT"),
            (Self::queueing_tolerance_ms(queueing_ms), "the accepted error of the mean queueing delay"),
        ];
        limits.extend(
            self.sample_interval_ms.map(|every| (Self::LATEST * every, "a tenth of the sampling interval")),
        );
        limits
    }

    /// Why the results cannot be trusted, each in a sentence; empty if they can. `queueing_ms`: the mean queueing delay of the
    /// run.
    #[must_use]
    pub fn distrust(&self, queueing_ms: f64) -> Vec<String> {
        let limits = self.lateness_limits(queueing_ms);
        let late = |what: &str, lateness: Option<Lateness>| {
            let late = lateness?.p99 / 1e3;
            let exceeded = limits.iter().filter(|(limit, _)| late > *limit);
            let exceeded: Vec<_> =
                exceeded.map(|(limit, name)| format!("more than {name} ({limit:.3} ms)")).collect();
            (!exceeded.is_empty()).then(|| {
                let exceeded = exceeded.join(", ");
                format!("the 99th percentile of the lateness of {what} is {late:.3} ms, {exceeded}")
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
        // A mean queueing delay of 50 ms may be wrong by 5 ms.
        assert!(facts(2000.0, 2000.0).distrust(50.0).is_empty());
        assert!(facts(2001.0, 0.0).distrust(50.0)[0].contains("departures is 2.001 ms"));
        assert!(facts(0.0, 2001.0).distrust(50.0)[0].contains("wake-ups is 2.001 ms"));
    }

    #[test]
    fn lateness_may_not_exceed_what_a_short_queue_may_differ_by_on_a_long_path() {
        // A tenth of the RTT of 100 ms would be 10 ms.
        let long_path = |late| LiveFacts { shortest_rtt_ms: Some(100.0), ..facts(late, 0.0) };
        assert!(long_path(1000.0).distrust(1.0).is_empty());
        let reasons = long_path(1001.0).distrust(1.0);
        assert_eq!(
            reasons,
            [
                "the 99th percentile of the lateness of departures is 1.001 ms, more than the accepted error of the mean queueing delay (1.000 ms)"
            ]
        );
        assert!(long_path(2000.0).distrust(20.0).is_empty(), "a tenth of 20 ms");
        assert_eq!(long_path(2001.0).distrust(20.0).len(), 1);
    }

    #[test]
    fn lateness_may_not_exceed_a_tenth_of_the_sampling_interval() {
        let sampled = |late| LiveFacts { sample_interval_ms: Some(5.0), ..facts(late, 0.0) };
        assert!(sampled(500.0).distrust(0.0).is_empty());
        assert!(sampled(501.0).distrust(0.0)[0].ends_with("a tenth of the sampling interval (0.500 ms)"));
        let reasons = sampled(2001.0).distrust(0.0);
        assert_eq!((reasons.len(), reasons[0].matches("more than").count()), (1, 3), "{reasons:?}");
    }

    #[test]
    fn a_queue_shorter_than_ten_times_the_lateness_is_named_and_not_distrusted() {
        let unresolved = |queueing| facts(0.0, 150.0).sentences(queueing);
        assert_eq!(unresolved(1.51).len(), 1);
        let sentences = unresolved(1.49);
        assert!(sentences[1].starts_with("the mean queueing delay, 1.490 ms, is less than ten times"));
        assert_eq!(sentences.len(), 2, "{sentences:?}");
    }

    #[test]
    fn without_a_measured_round_trip_time_or_a_departure_there_is_no_lateness_to_judge() {
        let unmeasured =
            LiveFacts { shortest_rtt_ms: None, sample_interval_ms: Some(1.0), ..facts(2001.0, 2001.0) };
        assert_eq!((unmeasured.distrust(0.0).len(), unmeasured.sentences(0.0).len()), (0, 1));
        assert_eq!((facts(1.0, 2001.0).late_ms(), LiveFacts::default().late_ms()), (Some(2.001), None));
        let sentences = LiveFacts::default().sentences(0.0);
        assert!(sentences[0].starts_with("no packet left a link and no host acted;"), "{sentences:?}");
    }

    #[test]
    fn lost_datagrams_marks_and_bytes_are_reasons_of_their_own() {
        let facts = LiveFacts { overruns: 1, lost_ecn: 2, wrong_bytes: 3, ..facts(0.0, 0.0) };
        let reasons = facts.distrust(0.0);
        assert!(reasons[0].starts_with("1 datagram dropped"), "{reasons:?}");
        assert!(reasons[1].starts_with("2 datagrams without") && reasons[2].starts_with("3 datagrams with"));
    }
}
