//! Feedback that relays give to the loops on their two sides: the downstream loop's rate, backlog, round-trip time and
//! sharing, and the marks of the upstream loops.

use crate::assembly::{Assembly, LoopRole, SharedFlow};
use millpond_law::Sharing;
use millpond_law::fluid::{DownstreamFeedback, Number, UpstreamFeedback};

/// The feedback of one relay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelayFeedback<T> {
    /// Rate that the downstream loop's law permits for all flows that share the loop, in bit/s.
    pub(crate) permitted: T,
    /// Backlog of one flow, in bits.
    pub(crate) backlog: T,
    /// Round-trip time of the downstream loop, in seconds.
    pub(crate) rtt: T,
    /// The same without queues, in seconds.
    pub(crate) base_rtt: f64,
    /// How the downstream loop is shared, from the upstream loop's point of view.
    pub(crate) sharing: Sharing,
}

/// An upstream loop of a shared loop: the number of equal loops, and the weight of each.
struct Incoming {
    loop_id: usize,
    count: f64,
    weight: f64,
}

impl Assembly {
    /// The relays at the end of a loop. A shared loop has one for each flow that continues.
    pub(crate) fn end_relays(&self, loop_index: usize) -> impl Iterator<Item = usize> + '_ {
        let parts = self.flows_of(loop_index).iter().filter_map(|flow| self.loops[flow.loop_id].end_relay);
        self.loops[loop_index].end_relay.into_iter().chain(parts)
    }

    /// The relays at the beginning of a loop. A shared loop has one for each flow.
    pub(crate) fn start_relays(&self, loop_index: usize) -> impl Iterator<Item = usize> + '_ {
        let own = self.loops[loop_index].start_relay.filter(|_| !self.is_shared_flow(loop_index));
        own.into_iter().chain(self.flows_of(loop_index).iter().map(|flow| flow.relay))
    }

    /// How the loop downstream of a relay is shared, from the point of view of the loop upstream. `present` tells which
    /// flows are active.
    pub(crate) fn sharing(&self, relay: usize, present: impl Fn(&SharedFlow) -> bool) -> Sharing {
        let relay = &self.relays[relay];
        let LoopRole::FlowOf(shared) = self.loops[relay.downstream.0].role else { return Sharing::ALONE };
        let own = self.controlling_loop(relay.upstream.0);
        let mut incoming: Vec<Incoming> = Vec::new();
        for flow in &self.shared_loops[shared].flows {
            let upstream = self.relays[flow.relay].upstream.0;
            let loop_id = self.controlling_loop(upstream);
            // An unshared upstream loop counts itself while it is active.
            let counts = present(flow) || upstream == own;
            let known = incoming.iter().position(|known| known.loop_id == loop_id);
            match known {
                _ if !counts => {}
                Some(known) => incoming[known].weight += flow.count * flow.weight,
                None if loop_id == upstream => {
                    incoming.push(Incoming { loop_id, count: flow.count, weight: flow.weight });
                }
                None => {
                    let weight = flow.count * flow.weight;
                    incoming.push(Incoming { loop_id, count: 1.0, weight });
                }
            }
        }
        let Some(this) = incoming.iter().find(|upstream| upstream.loop_id == own) else {
            return Sharing::ALONE;
        };
        let sum: f64 = incoming.iter().map(|upstream| upstream.count * upstream.weight).sum();
        Sharing {
            members: incoming.iter().map(|upstream| upstream.count).sum::<f64>() as u32,
            weight: this.weight / sum,
            largest: incoming.iter().map(|upstream| upstream.weight).fold(0.0, f64::max) / sum,
            inverses: incoming.iter().map(|upstream| upstream.count * sum / upstream.weight).sum(),
            // Demands are not measured: each loop has the share of its weight.
            max_min: this.weight / sum,
        }
    }

    /// The feedback for a loop from its downstream loop. If its flows continue on different loops: the aggregate of all
    /// of them. None if one of its flows ends here, because nothing limits that flow.
    pub(crate) fn downstream_feedback<T: Number>(
        &self,
        loop_index: usize,
        present: impl Fn(&SharedFlow) -> bool,
        feedback: impl Fn(usize) -> RelayFeedback<T>,
    ) -> Option<DownstreamFeedback<T>> {
        if let Some(relay) = self.loops[loop_index].end_relay {
            let RelayFeedback { permitted: rate, backlog, rtt, base_rtt, sharing } = feedback(relay);
            return Some(DownstreamFeedback { rate, backlog, rtt, base_rtt, sharing });
        }
        let active_flows: Vec<&SharedFlow> =
            self.flows_of(loop_index).iter().filter(|flow| present(flow)).collect();
        let relays = active_flows
            .iter()
            .map(|flow| self.loops[flow.loop_id].end_relay)
            .collect::<Option<Vec<usize>>>()?;
        let first = feedback(*relays.first()?);
        let next: Vec<usize> =
            relays.iter().map(|r| self.controlling_loop(self.relays[*r].downstream.0)).collect();
        let (mut rate, mut backlog, mut rtt, mut flows) = (T::zero(), T::zero(), T::zero(), 0.0);
        let mut base_rtt = 0.0;
        for (i, (flow, relay)) in active_flows.iter().zip(&relays).enumerate() {
            let feedback_of_flow = feedback(*relay);
            let is_shared = next[i] != self.relays[*relay].downstream.0;
            // Flows that continue together on one shared loop have their common share of it.
            if !is_shared {
                rate += feedback_of_flow.permitted * flow.count;
            } else if !next[..i].contains(&next[i]) {
                rate += feedback_of_flow.permitted * feedback_of_flow.sharing.weight;
            }
            backlog += feedback_of_flow.backlog * flow.count;
            rtt += feedback_of_flow.rtt * flow.count;
            base_rtt += feedback_of_flow.base_rtt * flow.count;
            flows += flow.count;
        }
        let is_one = flows == 1.0 || next[0] != self.relays[relays[0]].downstream.0;
        let total = is_one && next.iter().all(|other| *other == next[0]);
        Some(match total {
            true => DownstreamFeedback {
                rate: first.permitted,
                backlog,
                rtt: first.rtt,
                base_rtt: first.base_rtt,
                sharing: first.sharing,
            },
            false => DownstreamFeedback {
                rate,
                backlog,
                rtt: rtt / flows,
                base_rtt: base_rtt / flows,
                sharing: Sharing::ALONE,
            },
        })
    }

    /// The feedback for a loop from the relays at its beginning. `active` tells which loops are active now.
    pub(crate) fn upstream_feedback<T: Number>(
        &self,
        loop_index: usize,
        active: &[bool],
        upstream_marked: impl Fn(usize) -> T,
    ) -> Option<UpstreamFeedback<T>> {
        if let Some(relay) = self.loops[loop_index].start_relay {
            return Some(UpstreamFeedback { marked: upstream_marked(relay), weight: None });
        }
        let active_flows = || self.flows_of(loop_index).iter().filter(|flow| active[flow.loop_id]);
        let weight: f64 = active_flows().map(|flow| flow.count * flow.weight).sum();
        // The mean over flows, in proportion to their weights.
        let marked = active_flows()
            .fold(T::zero(), |sum, flow| sum + upstream_marked(flow.relay) * (flow.count * flow.weight));
        (weight > 0.0).then(|| UpstreamFeedback { marked: marked / weight, weight: Some(weight) })
    }
}
