//! The numbers by which runs are compared in tables and reports.

use crate::{Flow, Link, Milliseconds, Run, Summary};

/// The row of one run in a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunHeadline {
    /// Utilization of the bottleneck, from 0 to 1; not a number without links.
    pub utilization: f64,
    /// Sum of the goodputs of all flows, averaged over the measured time, in bit/s.
    pub goodput_bps: f64,
    /// End-to-end queueing delay of all flows, relays included.
    pub queueing_ms: Milliseconds,
    /// Jain's index of the goodputs over the weights of the flows; none of fewer than two flows.
    pub jain: Option<f64>,
    /// Packets declared lost divided by packets sent, from 0 to 1.
    pub loss: f64,
}

impl RunHeadline {
    /// The row of `run`, which is compared with the runs `among`.
    pub fn of(run: &Run, among: &[Run]) -> Self {
        let summary = &run.summary;
        let flows: Vec<&Flow> = summary.flows.iter().collect();
        Self {
            utilization: bottleneck(summary, among).map_or(f64::NAN, |link| summary.links[link].utilization),
            goodput_bps: total_goodput(summary, &flows),
            queueing_ms: summary.queueing_ms,
            jain: summary.fairness.jain,
            loss: loss(&flows),
        }
    }
}

/// The index of the bottleneck: the link direction with the greatest utilization, averaged over all runs `among` that
/// have it, so that it is the same in every run of a comparison. Of equal directions it is the one of least capacity.
pub fn bottleneck(summary: &Summary, among: &[Run]) -> Option<usize> {
    let rank = |link: &Link| (mean_utilization(link, among), -link.capacity_bps);
    (0..summary.links.len()).max_by(|&one, &other| {
        let (one, other) = (rank(&summary.links[one]), rank(&summary.links[other]));
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
    })
}

fn mean_utilization(link: &Link, among: &[Run]) -> f64 {
    let links = among.iter().flat_map(|run| &run.summary.links);
    let (count, sum) = links
        .filter(|other| (&other.name, &other.direction) == (&link.name, &link.direction))
        .fold((0, 0.0), |(count, sum), other| (count + 1, sum + other.utilization));
    if count == 0 { link.utilization } else { sum / f64::from(count) }
}

/// The sum of the goodputs of flows of a run in bit/s, each weighted by the share of the measured time in which it ran.
pub(crate) fn total_goodput(summary: &Summary, flows: &[&Flow]) -> f64 {
    let measured = summary.simulated_s - summary.measured_from_s;
    let delivered =
        |flow: &&Flow| flow.goodput_bps * (flow.stop_s - flow.start_s.max(summary.measured_from_s)).max(0.0);
    flows.iter().map(delivered).sum::<f64>() / measured
}

impl Flow {
    /// Whether it ran in the measured time, which begins at `measured_from_s`. A flow that never starts, or stops before, has
    /// no goodput that could be compared.
    pub fn is_measured(&self, measured_from_s: f64) -> bool {
        self.stop_s > self.start_s.max(measured_from_s)
    }
}

/// Packets declared lost divided by packets sent; zero if none was sent.
pub(crate) fn loss(flows: &[&Flow]) -> f64 {
    let total = |count: fn(&Flow) -> u64| flows.iter().map(|flow| count(flow)).sum::<u64>();
    let sent = total(|flow| flow.sent);
    if sent == 0 { 0.0 } else { total(|flow| flow.lost) as f64 / sent as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str, direction: &str, utilization: f64) -> Link {
        Link { name: name.into(), direction: direction.into(), utilization, ..Link::default() }
    }

    fn run(links: Vec<Link>) -> Run {
        Run { summary: Summary { links, ..Summary::default() }, ..Run::default() }
    }

    #[test]
    fn the_bottleneck_is_the_same_direction_in_every_run() {
        let runs = [
            run(vec![link("L", "A -> B", 0.99), link("L", "B -> A", 0.1), link("M", "B -> C", 0.2)]),
            run(vec![link("L", "A -> B", 0.70), link("L", "B -> A", 0.1), link("M", "B -> C", 0.8)]),
        ];
        assert_eq!(bottleneck(&runs[1].summary, &runs[1..]), Some(2));
        assert_eq!(bottleneck(&runs[1].summary, &runs), Some(0));
    }

    /// A link of which one run alone has 0.9 is used more than one of which two runs have 0.5.
    #[test]
    fn the_bottleneck_has_the_greatest_mean_utilization_of_the_runs_that_have_it() {
        let runs = [
            run(vec![link("L", "A -> B", 0.5), link("M", "B -> C", 0.9)]),
            run(vec![link("L", "A -> B", 0.5)]),
        ];
        assert_eq!(bottleneck(&runs[0].summary, &runs), Some(1));
    }

    #[test]
    fn of_links_with_equal_utilization_the_bottleneck_has_the_least_capacity() {
        let full = |name: &str, capacity_bps| Link { capacity_bps, ..link(name, "A -> B", 1.0) };
        let run = run(vec![full("L", 20e6), full("M", 5e6), full("N", 10e6)]);
        assert_eq!(bottleneck(&run.summary, std::slice::from_ref(&run)), Some(1));
    }

    #[test]
    fn a_flow_is_measured_if_it_runs_in_a_part_of_the_measured_time() {
        let measured = |start_s, stop_s| Flow { start_s, stop_s, ..Flow::default() }.is_measured(10.0);
        assert!(measured(0.0, 10.5) && measured(15.0, 16.0));
        assert!(!measured(0.0, 10.0) && !measured(2.0, 9.0) && !measured(20.0, 20.0));
    }

    #[test]
    fn a_flow_that_ran_for_half_of_the_measured_time_has_half_the_weight() {
        let flow = |start_s| Flow { start_s, stop_s: 30.0, goodput_bps: 8e6, ..Flow::default() };
        let summary = Summary {
            simulated_s: 30.0,
            measured_from_s: 10.0,
            flows: vec![flow(0.0), flow(20.0)],
            ..Summary::default()
        };
        assert_eq!(total_goodput(&summary, &summary.flows.iter().collect::<Vec<_>>()), 12e6);
    }

    #[test]
    fn a_run_without_links_and_flows_has_a_headline() {
        let empty = run(vec![]);
        assert!(RunHeadline::of(&empty, std::slice::from_ref(&empty)).utilization.is_nan());
        assert_eq!(loss(&[]), 0.0);
    }
}
