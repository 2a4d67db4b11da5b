//! The numbers beside the figures of a run.

use crate::messages::Fact;
use millpond_results::{Run, bottleneck};
use millpond_units::format::{fixed, mbit_per_s, number};

/// Utilization and drops of the bottleneck, the sum of goodputs, queueing delay and fairness.
pub(crate) fn of_run(run: &Run) -> Vec<Fact> {
    let summary = &run.summary;
    let mut facts = Vec::new();
    if let Some(index) = bottleneck(summary, std::slice::from_ref(run)) {
        let link = &summary.links[index];
        let name = summary.link_entity(index);
        facts.push(Fact::new(&format!("utilization of {name}"), fixed(100.0 * link.utilization, 1), "%"));
        facts.push(Fact::new("mean queue there", number(link.queue_packets.mean), "packets"));
        if run.summary.packet_hops > 0 {
            facts.push(Fact::new("packets dropped there", link.drops.to_string(), ""));
            facts.push(Fact::new("packets marked there", link.marks.to_string(), ""));
        }
    }
    let goodput: f64 = summary.flows.iter().map(|flow| flow.goodput_bps).sum();
    facts.push(Fact::new("goodput of all flows", mbit_per_s(goodput).replace(" Mbit/s", ""), "Mbit/s"));
    facts.push(Fact::new("median queueing delay", number(summary.queueing_ms.p50), "ms"));
    facts.push(Fact::new("95th percentile of it", number(summary.queueing_ms.p95), "ms"));
    if let Some(jain) = summary.fairness.jain {
        facts.push(Fact::new("Jain's fairness index", fixed(jain, 3), ""));
    }
    facts
}
