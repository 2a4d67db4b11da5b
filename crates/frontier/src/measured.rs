//! Protocols on the trace: one flow over one link in the packet world.

use crate::error::Error;
use millpond_lab::{Choice, ComparisonCase, cases, compare};
use millpond_law::{Card, Domain};
use millpond_protocols::Registry;
use millpond_results::{Run, RunOrigin, Watch, World};
use millpond_scenario::{Files, Scenario};
use millpond_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
use std::path::Path;

/// The parameter of protocols that is a queueing delay which the user wants.
const TARGET: &str = "target";
/// The size of a data packet.
const PACKET: Bytes = Bytes::new(1500);
/// The file name by which the scenario refers to the trace.
const TRACE: &str = "trace";

/// The scenario. The feedback delay of the link is the propagation delay of both directions.
const SCENARIO: &str = r#"
title    = "Frontier"
duration = "DURATION"
seed     = 1
measure  = { from = "FROM" }

[[links]]
name    = "link"
between = ["server", "client"]
rate    = { trace = { file = "trace", end = "loop" } }
delay   = "DELAY"
buffer  = "BUFFER"
back    = { rate = "1Gbps", buffer = "unlimited" }

[[flows]]
name     = "flow"
protocol = "newreno"
path     = ["server", "client"]
"#;

/// What is measured.
#[derive(Clone, Debug)]
pub(crate) struct Measurement<'a> {
    /// The content of the trace file.
    pub(crate) trace: &'a [u8],
    /// The base round-trip time.
    pub(crate) rtt: Span,
    /// The beginning of the measured time.
    pub(crate) from: Span,
    /// The end of the run.
    pub(crate) to: Span,
    /// The buffer of the link, as a scenario writes it.
    pub(crate) buffer: &'a str,
    /// Delays that protocols with a parameter `target` get.
    pub(crate) targets: &'a [Span],
}

/// A protocol on the trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProtocolPoint {
    /// The protocol, with its target delay if it has one: `pledge@50ms`.
    pub label: String,
    /// Served bits over the bits that the capacity could have served, from 0 to 1.
    pub utilization: f64,
    /// 95th percentile of the queueing delay at the link over packets, in milliseconds.
    pub queueing_p95_ms: f64,
    /// Share of packets that the link dropped, from 0 to 1. The bound is for controllers without losses.
    pub loss: f64,
    /// The bound, or the guide, at the 95th percentile plus the service time of a packet at the mean rate; null if the delay is
    /// outside of its range.
    pub limit: Option<f64>,
    /// Why the protocol is not in the range for which it is designed, one sentence each.
    pub warnings: Vec<String>,
}

/// The trace, by its name alone.
struct OneFile<'a>(&'a [u8]);

impl Files for OneFile<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match path.file_name().is_some_and(|name| name == TRACE) {
            true => Ok(self.0.to_vec()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Measurement<'_> {
    /// The runs of these protocols: one for each target of a protocol that has one, and one of each other protocol.
    ///
    /// # Errors
    /// A protocol that is unknown or named twice, or a buffer that is none.
    pub(crate) fn cases(
        &self,
        protocols: &[String],
        registry: &Registry,
    ) -> Result<Vec<ComparisonCase>, Error> {
        let choice = Choice { protocols: protocols.to_vec(), ..Choice::of(World::Packets) };
        let mut all = Vec::new();
        for case in cases(&self.scenario(&[])?, registry, &choice)? {
            let card = registry.protocol(&case.label).map(|protocol| protocol.card());
            match card.ok().filter(|card| has_target(card)) {
                Some(card) => {
                    for target in self.targets {
                        all.extend(self.with_target(card, *target, registry)?);
                    }
                }
                None => all.push(case),
            }
        }
        Ok(all)
    }

    fn with_target(
        &self,
        card: &Card,
        target: Span,
        registry: &Registry,
    ) -> Result<Vec<ComparisonCase>, Error> {
        let set = format!("protocols.{}.params.{TARGET}=\"{target}\"", card.name);
        let choice = Choice { protocols: vec![card.name.to_owned()], ..Choice::of(World::Packets) };
        let mut found = cases(&self.scenario(&[set])?, registry, &choice)?;
        found.iter_mut().for_each(|case| case.label = format!("{}@{target}", card.name));
        Ok(found)
    }

    fn scenario(&self, sets: &[String]) -> Result<Scenario, Error> {
        let values = [
            ("DURATION", self.to.to_string()),
            ("FROM", self.from.to_string()),
            ("DELAY", (self.rtt / 2).to_string()),
            ("BUFFER", self.buffer.to_owned()),
        ];
        let text = values.iter().fold(SCENARIO.to_owned(), |text, (name, value)| text.replace(name, value));
        Ok(Scenario::parse(&text, "frontier.toml", Path::new(""), sets, &OneFile(self.trace))?)
    }
}

/// Whether the protocol has a target delay.
fn has_target(card: &Card) -> bool {
    let target = card.parameters.iter().map(|key| key.parameter()).find(|one| one.name == TARGET);
    target.is_some_and(|target| matches!(target.domain, Domain::Span { .. }))
}

/// Runs the cases. The limits of the points are not set yet.
///
/// # Errors
/// That `watch` stopped the runs.
pub(crate) fn measure(
    cases: &[ComparisonCase],
    registry: &Registry,
    watch: &dyn Watch,
) -> Result<Vec<ProtocolPoint>, Error> {
    let runs = compare(cases, registry, &RunOrigin::default(), &|_, _| Ok(()), watch)?;
    Ok(runs.iter().map(|finished| point(&finished.run)).collect())
}

fn point(run: &Run) -> ProtocolPoint {
    let link = run.summary.links.first().cloned().unwrap_or_default();
    ProtocolPoint {
        label: run.label.clone(),
        utilization: link.utilization,
        queueing_p95_ms: link.queueing_ms.p95,
        loss: link.drops as f64 / link.arrivals.max(1) as f64,
        limit: None,
        warnings: run.summary.warnings.clone(),
    }
}

/// The service time of a packet at this mean rate in bit/s, in seconds.
pub(crate) fn packet_time(mean: f64) -> f64 {
    8.0 * PACKET.as_f64() / mean.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Link, Milliseconds, Summary};

    /// Counts of the measured time, in which 2 of 100 packets were dropped after 9 before it.
    #[test]
    fn a_point_has_the_numbers_of_the_link_in_the_measured_time() {
        let queueing_ms = Milliseconds { mean: 3.0, p50: 2.0, p95: 7.0, p99: 9.0, ..Milliseconds::default() };
        let (utilization, arrivals, drops, drops_total) = (0.75, 100, 2, 11);
        let link = Link { utilization, queueing_ms, arrivals, drops, drops_total, ..Link::default() };
        let summary = Summary { links: vec![link], ..Summary::default() };
        let point = point(&Run { summary, ..Run::default() });
        assert_eq!((point.utilization, point.queueing_p95_ms, point.loss), (0.75, 7.0, 0.02));
    }

    /// 12,000 bits at 6 Mbit/s take 2 ms.
    #[test]
    fn a_packet_takes_its_bits_over_the_rate() {
        assert!((packet_time(6e6) - 0.002).abs() < 1e-15);
    }
}
