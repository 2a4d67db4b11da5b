//! Times in which a flow had data and sent nothing.

use super::summary::FinishedPacketRun;
use millpond_plan::packets::PacketFlowPlan;
use millpond_results::Silence;
use millpond_sim::LEAST_SILENCE;
use millpond_units::{Span, Time};

/// A shorter time without a packet is no silence, in base RTTs of the flow. A probe timeout after a congested round trip
/// is shorter than that.
const LEAST_BASE_RTTS: u64 = 20;

impl FinishedPacketRun<'_> {
    /// The silences of all declared flows that last into the measured time, longest first.
    pub(super) fn silences(&self) -> Vec<Silence> {
        let mut silences: Vec<Silence> =
            self.plan.flows.iter().flat_map(|flow| self.silences_of(flow)).collect();
        silences.sort_by(|one, other| other.silent_s.total_cmp(&one.silent_s));
        silences
    }

    fn silences_of(&self, flow: &PacketFlowPlan) -> Vec<Silence> {
        let (network, view) = (&self.plan.network, self.plan.network.flow(flow.id));
        let end = [view.stop(), view.completed()].into_iter().flatten().fold(network.now(), Time::min);
        let least = LEAST_SILENCE.max(flow.base_rtt * LEAST_BASE_RTTS);
        let silence = |from: Time, to: Time| {
            let up = self.times_up(flow, from, to.min(end));
            let silent = up.iter().map(|(from, to)| to.since(*from)).sum::<Span>();
            let (&(from, _), &(_, to)) = (up.first()?, up.last()?);
            (silent > least && to > self.from()).then(|| Silence {
                flow: flow.name.clone(),
                from_s: from.secs(),
                to_s: to.secs(),
                silent_s: silent.secs(),
                base_rtts: silent.secs() / flow.base_rtt.secs().max(1e-9),
            })
        };
        let silences = view.first().sender().silences(network.now());
        silences.filter_map(|recorded| silence(recorded.from, recorded.to)).collect()
    }

    /// The times between `from` and `to` in which every link on the path of the flow's data has a capacity.
    fn times_up(&self, flow: &PacketFlowPlan, from: Time, to: Time) -> Vec<(Time, Time)> {
        if from >= to {
            return Vec::new();
        }
        let links = flow.links.iter().filter_map(|index| self.plan.links.get(*index));
        let mut outages: Vec<(Time, Time)> =
            links.flat_map(|link| self.plan.network.link(link.id).outages(from, to)).collect();
        outages.sort();
        let (mut times, mut since) = (Vec::new(), from);
        for (begin, end) in outages {
            if begin > since {
                times.push((since, begin));
            }
            since = since.max(end);
        }
        if since < to {
            times.push((since, to));
        }
        times
    }
}
