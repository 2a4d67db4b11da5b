//! From a scenario's flows to those of the packet world: each a chain of loops, cut at its protocol's relays.

use super::shared_loops::Aggregates;
use crate::delays::{base_rtt, extra_delay};
use crate::faults;
use crate::flow_instances::Member;
use crate::protocols::Role;
use crate::sampling::{arrivals, production};
use crate::shared_loops::is_shared;
use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_law::{Protocol, SettingError, Settings};
use millpond_scenario::{self as scenario, Fault, Gap, Hop, Scenario, Size};
use millpond_sim::{Builder, FlowLoop, FlowSpec, LinkId, LoopSpec, Schedule, TransfersSpec, Workload};
use millpond_units::{Bytes, Rate, Span, Time};
use std::sync::Arc;

/// A loop without its laws.
struct Line {
    sending: SenderConfig,
    receiving: ReceiverConfig,
    forward: Vec<LinkId>,
    backward: Vec<LinkId>,
    extra_delay: Span,
}

/// The loops of a flow and the bounds of the relays between them.
struct Lines {
    loops: Vec<Line>,
    relays: Vec<Bytes>,
}

/// What makes a flow of the packet world.
pub(super) struct Maker<'a, 's> {
    pub(super) scenario: &'s Scenario,
    pub(super) role: &'a Role<'s>,
    pub(super) member: &'a Member<'s>,
    pub(super) link: &'a dyn Fn(Hop) -> Option<LinkId>,
}

impl Maker<'_, '_> {
    /// The flow that the member is, if it is one.
    pub(super) fn flow(&self, aggregates: &mut Aggregates, builder: &mut Builder) -> Result<FlowSpec, Fault> {
        let member = self.member;
        let Lines { loops, relays } = self.lines()?;
        let mut legs = Vec::with_capacity(loops.len());
        for (number, line) in loops.iter().enumerate() {
            legs.push(match self.begins_shared(number) {
                Some(there) => {
                    FlowLoop::Shared(aggregates.join(self, &there, || self.with_laws(line), builder)?)
                }
                None => FlowLoop::Own(self.with_laws(line)?),
            });
        }
        Ok(FlowSpec {
            name: member.name.clone(),
            weight: member.group.weight,
            relays,
            loops: legs,
            workload: self.workload(),
            start: member.draw.start,
            stop: member.draw.stop,
        })
    }

    /// The links of the loop with this number, if flows share it.
    fn begins_shared(&self, number: usize) -> Option<Vec<Hop>> {
        let (scenario, entry) = (self.scenario, self.role.entry);
        let there = scenario.loops(self.member.there, entry).into_iter().nth(number)?;
        is_shared(scenario, entry, number, &there).then_some(there)
    }

    fn with_laws(&self, line: &Line) -> Result<LoopSpec, Fault> {
        line.with_laws(self.role.protocol, &self.role.settings).map_err(|error| self.fault(&error))
    }

    /// The source of such transfers that the member is.
    pub(super) fn transfers(&self, size: &Size, gap: Gap) -> Result<TransfersSpec, Fault> {
        let (member, protocol, settings) = (self.member, self.role.protocol, self.role.settings.clone());
        let Lines { loops, relays } = self.lines()?;
        if let Some(there) = (0..loops.len()).find_map(|number| self.begins_shared(number)) {
            return Err(self.nothing_shared(&there));
        }
        let draw = (self.scenario.seed, member.name.as_str());
        Ok(TransfersSpec {
            name: member.name.clone(),
            weight: member.group.weight,
            relays,
            // The role was tried out: its laws can be built.
            loops: Box::new(move || {
                loops.iter().filter_map(|line| line.with_laws(protocol, &settings).ok()).collect()
            }),
            arrivals: Box::new(arrivals(draw, (size, gap), self.extent())),
        })
    }

    /// When it begins and ends to ask for anything.
    fn extent(&self) -> (Time, Time) {
        let end = Time::ZERO + self.scenario.duration;
        let draw = self.member.draw;
        (draw.start, draw.stop.map_or(end, |stop| stop.min(end)))
    }

    fn workload(&self) -> Workload {
        let draw = (self.scenario.seed, self.member.name.as_str());
        match &self.member.group.workload {
            scenario::Workload::Sized(_) => Workload::Sized(self.member.draw.size.unwrap_or_default()),
            scenario::Workload::Produced(rate, activity) => {
                let steps = production(draw, (*rate, activity), self.extent());
                let schedule = Schedule::steps(&steps).unwrap_or_else(|_| Schedule::constant(*rate));
                Workload::Produced(Arc::new(schedule))
            }
            scenario::Workload::Bulk | scenario::Workload::Transfers { .. } => Workload::Bulk,
        }
    }

    fn lines(&self) -> Result<Lines, Fault> {
        let (scenario, member, role) = (self.scenario, self.member, self.role);
        let cut = scenario.loops(member.there, role.entry);
        let mut lines = Lines { loops: Vec::with_capacity(cut.len()), relays: Vec::new() };
        for (number, there) in cut.iter().enumerate() {
            let extra_delay = extra_delay(scenario, member, number);
            if let Some(entry) = role.entry.filter(|_| number + 1 < cut.len()) {
                let base_rtt = base_rtt(scenario, there, extra_delay);
                lines.relays.push(relay_limit(scenario, entry, there, base_rtt, member.group.packet));
            }
            lines.loops.push(self.line(there, extra_delay)?);
        }
        Ok(lines)
    }

    fn line(&self, there: &[Hop], extra_delay: Span) -> Result<Line, Fault> {
        let (scenario, group) = (self.scenario, self.member.group);
        let back = scenario.return_path(there).ok_or_else(|| faults::no_way_back(scenario, group))?;
        let max_ack_delay = group.delayed_acks.map_or(Span::ZERO, |delayed| delayed.after);
        Ok(Line {
            sending: SenderConfig {
                overhead: group.overhead,
                weight: group.weight,
                max_ack_delay,
                ..SenderConfig::new(group.packet, self.role.needs)
            },
            receiving: ReceiverConfig {
                packets_per_ack: group.delayed_acks.map_or(1, |delayed| delayed.packets),
                max_ack_delay,
                ack_size: group.ack,
            },
            forward: there.iter().filter_map(|hop| (self.link)(*hop)).collect(),
            backward: back.iter().filter_map(|hop| (self.link)(*hop)).collect(),
            extra_delay,
        })
    }

    /// Transfers would share the loop over these links.
    fn nothing_shared(&self, there: &[Hop]) -> Fault {
        let relay = there.first().map_or("", |hop| &self.scenario.nodes[self.scenario.tail(*hop)]);
        let entry = self.role.protocol.card().name;
        faults::transfers_share_nothing(self.scenario, self.member.group, entry, relay)
    }

    fn fault(&self, error: &SettingError) -> Fault {
        let label = self.role.label;
        faults::setting(self.scenario, &label.value, &[], label.place, error)
    }
}

impl Line {
    /// The loop with laws of its own.
    fn with_laws(&self, protocol: &dyn Protocol, settings: &Settings) -> Result<LoopSpec, SettingError> {
        Ok(LoopSpec {
            sender: protocol.sender(settings)?,
            receiver: protocol.receiver(settings)?,
            sender_config: self.sending,
            receiver_config: self.receiving,
            forward: self.forward.clone(),
            backward: self.backward.clone(),
            extra_delay: self.extra_delay,
        })
    }
}

/// The bound of the relay at the end of a loop that takes the links `there`.
fn relay_limit(
    scenario: &Scenario,
    entry: &scenario::ProtocolEntry,
    there: &[Hop],
    base_rtt: Span,
    packet: Bytes,
) -> Bytes {
    let rates =
        there.iter().map(|hop| scenario.links[hop.link].direction(hop.forward).rate.schedule().mean());
    let slowest = rates.min().unwrap_or(Rate::MAX);
    match &entry.relay_buffer {
        scenario::Buffer::Unlimited => Bytes::MAX,
        scenario::Buffer::Bytes(bytes) => *bytes,
        scenario::Buffer::Packets(packets) => packet * *packets,
        scenario::Buffer::Time(span) => slowest.bytes_in(*span),
        scenario::Buffer::Bdp(times) => Bytes::from_f64(times * slowest.bytes_in(base_rtt).as_f64()),
    }
}
