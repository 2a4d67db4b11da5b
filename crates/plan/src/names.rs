//! Names of the parts of a flow in series and results.

/// The name of the loop at `position` (from 0) of a flow: `short.3/loop1`, or `short.3` if it has no relay.
pub(crate) fn loop_name(flow: &str, relays: usize, position: usize) -> String {
    if relays == 0 { flow.to_owned() } else { format!("{flow}/loop{}", position + 1) }
}

/// The name of the relay at `position` (from 0) of a flow: `short.3@R1`.
pub(crate) fn relay_name(flow: &str, relays: &[String], position: usize) -> Option<String> {
    relays.get(position).map(|node| format!("{flow}@{node}"))
}
