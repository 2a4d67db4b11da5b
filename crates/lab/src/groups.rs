//! The summary of a group of flows, which is the same in both worlds.

use millpond_results::metrics::spread;
use millpond_results::{Flow, Group, Milliseconds};
use millpond_stats::{jain, mean, min_over_max};

/// The summary of the group `name` with the flows `members`, without transfers.
pub(crate) fn group_of_flows(name: &str, members: &[&Flow], queueing_ms: Milliseconds) -> Group {
    let goodputs: Vec<f64> = members.iter().map(|flow| flow.goodput_bps).collect();
    let windows: Vec<f64> = members.iter().filter_map(|flow| flow.window_packets).collect();
    Group {
        name: name.to_owned(),
        flows: members.len() as u64,
        goodput_bps: spread(&goodputs),
        window_packets: (!windows.is_empty()).then(|| mean(&windows)),
        jain: jain(&goodputs),
        min_over_max: min_over_max(&goodputs),
        queueing_ms,
        ..Group::default()
    }
}
