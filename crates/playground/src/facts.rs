//! The numbers beside the figures of a run.

use crate::messages::Fact;
use millpond_results::{Run, bottleneck};

/// Utilization, queue, drops and marks of the bottleneck, the goodput of each group, queueing delay and fairness.
pub(crate) fn of_run(run: &Run) -> Vec<Fact> {
    let summary = &run.summary;
    let mut facts = Vec::new();
    if let Some(index) = bottleneck(summary, std::slice::from_ref(run)) {
        let link = &summary.links[index];
        let name = summary.link_entity(index);
        facts.push(Fact::new(
            "utilization",
            &format!("utilization of {name}"),
            100.0 * link.utilization,
            "%",
        ));
        facts.push(Fact::new("queue.mean", "mean queue there", link.queue_packets.mean, "packets"));
        facts.push(Fact::new("queue.max", "greatest queue there", link.queue_packets.max, "packets"));
        if summary.packet_hops > 0 {
            facts.push(Fact::new("drops", "packets dropped there", link.drops as f64, ""));
            facts.push(Fact::new("marks", "packets marked there", link.marks as f64, ""));
        }
    }
    for group in &summary.groups {
        let each = if group.flows > 1 { " per flow" } else { "" };
        let label = format!("goodput of {}{each}", group.name);
        facts.push(Fact::new(
            &format!("goodput.{}", group.name),
            &label,
            group.goodput_bps.mean / 1e6,
            "Mbit/s",
        ));
    }
    facts.push(Fact::new("delay.mean", "mean queueing delay", summary.queueing_ms.mean, "ms"));
    facts.push(Fact::new("delay.p95", "95th percentile of it", summary.queueing_ms.p95, "ms"));
    if let Some(jain) = summary.fairness.jain {
        facts.push(Fact::new("jain", "Jain's fairness index", jain, ""));
    }
    facts
}
