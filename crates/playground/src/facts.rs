//! The numbers beside the figures of a run.

use crate::messages::Fact;
use millpond_results::{Group, Link, Run};

/// Utilization, queue, drops and marks of the link at position `link`, the goodput of each group, queueing delay, fairness, and the
/// values of applications.
pub(crate) fn of_run(run: &Run, link: Option<usize>) -> Vec<Fact> {
    let summary = &run.summary;
    let mut facts = Vec::new();
    if let Some(index) = link {
        facts.extend(of_link(&summary.links[index], summary.packet_hops > 0));
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
    // Without a delivered packet there is no delay.
    if summary.flows.iter().any(|flow| flow.delivered > 0) {
        facts.push(Fact::new("delay.mean", "mean queueing delay", summary.queueing_ms.mean, "ms"));
        let p95 = summary.queueing_ms.p95;
        facts.push(Fact::new("delay.p95", "95th percentile of queueing delay", p95, "ms"));
    }
    if let Some(jain) = summary.fairness.jain {
        facts.push(Fact::new("jain", "Jain's fairness index", jain, ""));
    }
    facts.extend(summary.groups.iter().flat_map(applications));
    facts
}

/// Utilization and queue of a link, and what it dropped and marked if it served packets.
fn of_link(link: &Link, has_packets: bool) -> Vec<Fact> {
    let name = &link.name;
    // A line may break after a hyphen, and so inside of an arrow of two characters.
    let direction = link.direction.replace("->", "\u{2192}");
    let fact = |id: &str, label: String, value: f64, unit: &str| Fact::new(id, &label, value, unit);
    let mut facts = vec![
        fact("utilization", format!("utilization of {name} ({direction})"), 100.0 * link.utilization, "%"),
        fact("queue.mean", format!("mean queue of {name}"), link.queue_packets.mean, "packets"),
        fact("queue.max", format!("greatest queue of {name}"), link.queue_packets.max, "packets"),
    ];
    if has_packets {
        facts.push(fact("drops", format!("packets dropped at {name}"), link.drops as f64, ""));
        facts.push(fact("marks", format!("packets marked at {name}"), link.marks as f64, ""));
    }
    facts
}

/// Completion times of transfers, pages, segments and frames of a group, and what the viewers of its video saw.
fn applications(group: &Group) -> Vec<Fact> {
    let fact = |id: &str, label: &str, value: f64, unit: &str| {
        Fact::new(&format!("{id}.{}", group.name), &format!("{label} of {}", group.name), value, unit)
    };
    let mut facts = Vec::new();
    if let Some(times) = group.completion_ms {
        facts.push(fact("completion.mean", "mean completion time", times.mean, "ms"));
        facts.push(fact("completion.p95", "95th percentile of completion time", times.p95, "ms"));
    }
    if let Some(video) = group.playback {
        facts.push(fact("video.bitrate", "video bitrate", video.bitrate_bps.mean / 1e6, "Mbit/s"));
        facts.push(fact("video.startup", "time to the first picture", video.startup_s.mean, "s"));
        facts.push(fact("video.standstill", "time without a picture", video.rebuffering_s.mean, "s"));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Milliseconds, Playback, Summary};

    #[test]
    fn the_direction_of_a_link_has_no_hyphen_at_which_a_line_could_break() {
        let link = Link { name: "last-hop".into(), direction: "R1 -> phone".into(), ..Link::default() };
        assert_eq!(of_link(&link, false)[0].label, "utilization of last-hop (R1 \u{2192} phone)");
    }

    #[test]
    fn groups_have_their_completion_times_and_video_values_and_nothing_delivered_has_no_delay() {
        let groups = vec![Group {
            name: "tv".into(),
            completion_ms: Some(Milliseconds { mean: 2139.0, ..Milliseconds::default() }),
            playback: Some(Playback::default()),
            ..Group::default()
        }];
        let facts =
            of_run(&Run { summary: Summary { groups, ..Summary::default() }, ..Run::default() }, None);
        let value = |id: &str| facts.iter().find(|fact| fact.id == id).map(|fact| fact.value);
        assert_eq!(value("completion.mean.tv"), Some(2139.0));
        assert_eq!(value("video.standstill.tv"), Some(0.0));
        assert_eq!(value("delay.mean"), None);
    }
}
