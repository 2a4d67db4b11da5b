//! What relays tell the loops on their two sides: of the next loop, how it is shared, and of marks on the way so far.

use crate::assembly::{Assembly, LoopRole, SharedFlow};
use millpond_law::Sharing;
use millpond_law::fluid::{DownstreamFeedback, Number, UpstreamFeedback};

/// What a relay knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelayFeedback<T> {
    /// What the next loop may send, for all that share it, in bit/s.
    pub(crate) permitted: T,
    /// Of one flow, in bits.
    pub(crate) backlog: T,
    /// Of the next loop, in seconds.
    pub(crate) rtt: T,
    /// As the loop before sees it.
    pub(crate) sharing: Sharing,
}

/// A loop that comes to a relay, seen from a loop that begins there: how many equal ones there are, and what each weighs.
struct Incoming {
    loop_id: usize,
    count: f64,
    weight: f64,
}

impl Assembly {
    /// The relays at the end of a loop: its own, or those of each flow that shares it.
    pub(crate) fn end_relays(&self, l: usize) -> impl Iterator<Item = usize> + '_ {
        let parts = self.flows_of(l).iter().filter_map(|member| self.loops[member.part].end_relay);
        self.loops[l].end_relay.into_iter().chain(parts)
    }

    /// The relays at the beginning of a loop: its own, or those of each flow that shares it.
    pub(crate) fn start_relays(&self, l: usize) -> impl Iterator<Item = usize> + '_ {
        let own = self.loops[l].start_relay.filter(|_| !self.is_shared_flow(l));
        own.into_iter().chain(self.flows_of(l).iter().map(|member| member.relay))
    }

    /// How the loop behind a relay is shared, as the loop before it sees it; `present`: whose flows are there.
    pub(crate) fn sharing(&self, relay: usize, present: impl Fn(&SharedFlow) -> bool) -> Sharing {
        let relay = &self.relays[relay];
        let LoopRole::SharedFlow(shared) = self.loops[relay.downstream.0].part else { return Sharing::ALONE };
        let own = self.controlling_loop(relay.upstream.0);
        let mut incoming: Vec<Incoming> = Vec::new();
        for member in &self.shared[shared].members {
            let upstream = self.relays[member.relay].upstream.0;
            let loop_id = self.controlling_loop(upstream);
            // A loop that is no flow's part counts itself as soon as it is there.
            let counts = present(member) || upstream == own;
            let known = incoming.iter().position(|known| known.loop_id == loop_id);
            match known {
                _ if !counts => {}
                Some(known) => incoming[known].weight += member.count * member.weight,
                None if loop_id == upstream => {
                    incoming.push(Incoming { loop_id, count: member.count, weight: member.weight });
                }
                None => {
                    let weight = member.count * member.weight;
                    incoming.push(Incoming { loop_id, count: 1.0, weight });
                }
            }
        }
        let Some(this) = incoming.iter().find(|one| one.loop_id == own) else { return Sharing::ALONE };
        let sum: f64 = incoming.iter().map(|one| one.count * one.weight).sum();
        Sharing {
            members: incoming.iter().map(|one| one.count).sum::<f64>() as u32,
            weight: this.weight / sum,
            largest: incoming.iter().map(|one| one.weight).fold(0.0, f64::max) / sum,
            inverses: incoming.iter().map(|one| one.count * sum / one.weight).sum(),
        }
    }

    /// What a loop is told of the next one; where flows that share it part, of all next loops together. Nothing if one of
    /// them goes no further: nothing limits that.
    pub(crate) fn downstream_feedback<T: Number>(
        &self,
        l: usize,
        present: impl Fn(&SharedFlow) -> bool,
        said: impl Fn(usize) -> RelayFeedback<T>,
    ) -> Option<DownstreamFeedback<T>> {
        if let Some(relay) = self.loops[l].end_relay {
            let RelayFeedback { permitted: rate, backlog, rtt, sharing } = said(relay);
            return Some(DownstreamFeedback { rate, backlog, rtt, sharing });
        }
        let there: Vec<&SharedFlow> = self.flows_of(l).iter().filter(|member| present(member)).collect();
        let relays =
            there.iter().map(|member| self.loops[member.part].end_relay).collect::<Option<Vec<usize>>>()?;
        let first = said(*relays.first()?);
        let next: Vec<usize> =
            relays.iter().map(|r| self.controlling_loop(self.relays[*r].downstream.0)).collect();
        let (mut rate, mut backlog, mut rtt, mut flows) = (T::zero(), T::zero(), T::zero(), 0.0);
        for (i, (member, relay)) in there.iter().zip(&relays).enumerate() {
            let one = said(*relay);
            let is_shared = next[i] != self.relays[*relay].downstream.0;
            // Of a loop that several flows of this one share, they have their part together.
            if !is_shared {
                rate += one.permitted * member.count;
            } else if !next[..i].contains(&next[i]) {
                rate += one.permitted * one.sharing.weight;
            }
            backlog += one.backlog * member.count;
            rtt += one.rtt * member.count;
            flows += member.count;
        }
        let is_one = flows == 1.0 || next[0] != self.relays[relays[0]].downstream.0;
        let together = is_one && next.iter().all(|other| *other == next[0]);
        Some(match together {
            true => {
                DownstreamFeedback { rate: first.permitted, backlog, rtt: first.rtt, sharing: first.sharing }
            }
            false => DownstreamFeedback { rate, backlog, rtt: rtt / flows, sharing: Sharing::ALONE },
        })
    }

    /// What a loop is told of what the relays at its beginning hand on; `active`: which loops are there now.
    pub(crate) fn upstream_feedback<T: Number>(
        &self,
        l: usize,
        active: &[bool],
        upstream_marked: impl Fn(usize) -> T,
    ) -> Option<UpstreamFeedback<T>> {
        if let Some(relay) = self.loops[l].start_relay {
            return Some(UpstreamFeedback { marked: upstream_marked(relay), weight: None });
        }
        let there = || self.flows_of(l).iter().filter(|member| active[member.part]);
        let weight: f64 = there().map(|member| member.count * member.weight).sum();
        // As fair turns hand them on.
        let marked = there().fold(T::zero(), |sum, member| {
            sum + upstream_marked(member.relay) * (member.count * member.weight)
        });
        (weight > 0.0).then(|| UpstreamFeedback { marked: marked / weight, weight: Some(weight) })
    }
}
