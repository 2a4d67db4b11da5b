//! Parts of the summary that are the same in both worlds: the loops of a flow, the groups of flows.

use millpond_results::metrics::spread;
use millpond_results::{Flow, Group, Loop, Milliseconds};
use millpond_stats::{jain_of_several, mean, min_over_max};
use millpond_units::Time;

/// `flow` with its loops, or with window and round-trip times of the only loop.
pub(crate) fn with_loops(flow: Flow, mut loops: Vec<Loop>) -> Flow {
    match (loops.len(), loops.pop()) {
        (1, Some(only)) => {
            Flow { window_packets: only.window_packets, rtt_ms: if_sampled(only.rtt_ms), ..flow }
        }
        (_, last) => Flow { loops: loops.into_iter().chain(last).collect(), ..flow },
    }
}

/// Round-trip times, if there are any: none of them is zero.
pub(crate) fn if_sampled(rtt_ms: Milliseconds) -> Option<Milliseconds> {
    (rtt_ms.max > 0.0).then_some(rtt_ms)
}

/// The goodput over the weight of each flow that ran in the measured time, which begins at `from`, in bit/s.
pub(crate) fn weighted_goodputs<'a>(
    flows: impl IntoIterator<Item = (&'a Flow, f64)>,
    from: Time,
) -> Vec<f64> {
    let measured = flows.into_iter().filter(|(flow, _)| flow.is_measured(from.secs()));
    measured.map(|(flow, weight)| flow.goodput_bps / weight).collect()
}

/// The summary of the group `name` with the flows `members`, without transfers. The measured time begins at `from`.
pub(crate) fn group_of_flows(name: &str, members: &[&Flow], queueing_ms: Milliseconds, from: Time) -> Group {
    // Flows of one group have equal weights.
    let goodputs = weighted_goodputs(members.iter().map(|flow| (*flow, 1.0)), from);
    let windows: Vec<f64> = members.iter().filter_map(|flow| flow.window_packets).collect();
    Group {
        name: name.to_owned(),
        flows: members.len() as u64,
        starving: members.iter().filter(|flow| flow.starves()).count() as u64,
        goodput_bps: spread(&goodputs),
        window_packets: (!windows.is_empty()).then(|| mean(&windows)),
        jain: jain_of_several(&goodputs),
        min_over_max: min_over_max(&goodputs),
        queueing_ms,
        ..Group::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows at 4 Mbit/s per unit of weight, and one that stops before the measured time.
    #[test]
    fn goodputs_are_divided_by_the_weights_of_the_flows_that_ran_in_the_measured_time() {
        let flow = |goodput_bps, stop_s| Flow { goodput_bps, stop_s, ..Flow::default() };
        let flows = [(flow(8e6, 20.0), 2.0), (flow(4e6, 20.0), 1.0), (flow(9e6, 5.0), 1.0)];
        let weighted = flows.iter().map(|(flow, weight)| (flow, *weight));
        assert_eq!(weighted_goodputs(weighted, Time::from_secs(10.0)), [4e6, 4e6]);
    }
}
