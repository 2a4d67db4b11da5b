//! Warnings about laws that set a window or a pacing rate without meaning.

use super::summary::FinishedPacketRun;
use millpond_endpoint::{MeaninglessPermit, MeaninglessValue};
use millpond_plan::packets::PacketFlowPlan;

impl FinishedPacketRun<'_> {
    /// One sentence for each loop of a declared flow whose law set such a value, with the protocol and the first time.
    pub(super) fn meaningless_permits(&self, flow: &PacketFlowPlan) -> Vec<String> {
        let loops = self.plan.network.flow(flow.id).loops().enumerate();
        let warning = |(position, permit): (usize, MeaninglessPermit)| {
            let of_loop = flow.loop_protocols.get(position).and_then(Option::as_deref);
            let protocol = of_loop.unwrap_or(&flow.protocol);
            let (name, seconds) = (flow.loop_name(position), permit.at.secs());
            format!(
                "flow \"{name}\": {protocol} set {} at {seconds} s: {}",
                what(permit.value),
                effect(permit.value)
            )
        };
        let found =
            loops.filter_map(|(position, view)| Some((position, view.sender().meaningless_permit()?)));
        found.map(warning).collect()
    }
}

/// The value that the law set.
fn what(value: MeaninglessValue) -> &'static str {
    match value {
        MeaninglessValue::ZeroWindow => "a window of zero bytes",
        MeaninglessValue::ZeroPace => "a pacing rate of zero",
        MeaninglessValue::NoLimit => "an infinite window or pacing rate",
    }
}

/// Where such a value comes from, and what it does.
fn effect(value: MeaninglessValue) -> &'static str {
    match value {
        MeaninglessValue::ZeroWindow => {
            "a window that is negative or not a number becomes zero, with which one packet may be in flight"
        }
        MeaninglessValue::ZeroPace => {
            "a rate that is negative or not a number becomes zero, and the law has no timer that ends this pause"
        }
        MeaninglessValue::NoLimit => "it sets no other limit, so that nothing limits the sender",
    }
}
