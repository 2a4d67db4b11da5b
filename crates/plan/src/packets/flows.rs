//! From the flows of a scenario to those of the simulator: each is a chain of loops, divided at the relays of its protocol.

use super::ShortestCompletion;
use super::shared_loops::SharedLoops;
use crate::conduct::{Greedy, Uncontrolled};
use crate::delays::{base_rtt, extra_delay};
use crate::faults;
use crate::flow_instances::FlowInstance;
use crate::protocols::{ConfiguredProtocol, labelled, labels_of_loops};
use crate::rate_code::CodedReceiver;
use crate::relay_buffers::{RelayedLoop, relay_buffer};
use crate::sampling::{FlowStream, arrivals, production};
use crate::shared_loops::{SharedLoopKey, is_shared};
use millpond_endpoint::{Honesty, ReceiverConfig, RelayBuffer, SenderConfig};
use millpond_law::{Needs, PlainReceiver, Protocol, Receiver, Sender, SettingError, Settings};
use millpond_scenario::{
    self as scenario, At, Fault, Gap, Hop, ProtocolEntry, RateCode, ReceiverConduct, Scenario, SenderConduct,
    Size,
};
use millpond_sim::{Builder, FlowLoop, FlowSpec, LinkId, LoopSpec, Schedule, TransfersSpec, Workload};
use millpond_units::{Bytes, Rate, Span, Time};
use std::ops::Range;
use std::sync::Arc;

/// A loop without its laws, from which several equal loops can be made.
struct LoopTemplate {
    conduct: SenderConduct,
    sending: SenderConfig,
    receiving: ReceiverConfig,
    forward: Vec<LinkId>,
    backward: Vec<LinkId>,
    extra_delay: Span,
    host_processing: Span,
    protocol: &'static dyn Protocol,
    settings: Arc<Settings>,
    rate_code: Option<RateCode>,
}

/// The loops of a flow, each with the name of its protocol, and the buffers of the relays between them.
struct LoopTemplates<'s> {
    loops: Vec<(LoopTemplate, &'s At<String>)>,
    relays: Vec<RelayBuffer>,
}

/// Builds one flow, or one source of transfers, of the simulator.
pub(super) struct FlowBuilder<'a, 's> {
    pub(super) scenario: &'s Scenario,
    /// The protocol of the flow.
    pub(super) configured: &'a ConfiguredProtocol<'s>,
    /// All protocols of the scenario.
    pub(super) protocols: &'a [ConfiguredProtocol<'s>],
    pub(super) instance: &'a FlowInstance<'s>,
    /// The simulator's link for a hop.
    pub(super) link: &'a dyn Fn(Hop) -> Option<LinkId>,
}

impl<'s> FlowBuilder<'_, 's> {
    /// The flow, for a workload without spawned transfers.
    ///
    /// # Errors
    /// A path that acknowledgements cannot take in the reverse direction, or a setting that a law refuses.
    pub(super) fn flow(
        &self,
        shared_loops: &mut SharedLoops,
        builder: &mut Builder,
    ) -> Result<FlowSpec, Fault> {
        let instance = self.instance;
        let LoopTemplates { loops, relays } = self.loop_templates()?;
        let mut legs = Vec::with_capacity(loops.len());
        for (number, (template, label)) in loops.iter().enumerate() {
            let with_laws = || template.with_laws().map_err(|error| self.fault(label, &error));
            legs.push(match self.begins_shared(number) {
                Some(path) => {
                    let key = SharedLoopKey::of(&label.value, instance.group, &path);
                    FlowLoop::Shared(shared_loops.join(key, with_laws, builder)?)
                }
                None => with_laws()?.into(),
            });
        }
        Ok(FlowSpec {
            name: instance.name.clone(),
            weight: instance.group.weight,
            relays,
            loops: legs,
            workload: self.workload(),
            start: instance.samples.start,
            stop: instance.samples.stop,
        })
    }

    /// The links of loop number `number` (from 0), if flows share it.
    fn begins_shared(&self, number: usize) -> Option<Vec<Hop>> {
        let (scenario, entry) = (self.scenario, self.entry());
        let path = scenario.loops(self.instance.forward_path, entry).into_iter().nth(number)?;
        is_shared(scenario, entry, number, &path).then_some(path)
    }

    /// What the sender at the source does. Pings have no congestion control.
    fn conduct(&self) -> SenderConduct {
        match self.instance.group.workload {
            scenario::Workload::Ping(_) => SenderConduct::Unresponsive,
            _ => self.instance.group.sender,
        }
    }

    /// The entry of the flow's protocol, which divides it into loops.
    fn entry(&self) -> Option<&ProtocolEntry> {
        self.configured.entry.filter(|_| !self.instance.group.is_uncontrolled())
    }

    /// What senders of this protocol need.
    fn needs(&self, configured: &ConfiguredProtocol<'_>) -> Needs {
        let needs = configured.needs;
        let is_uncontrolled = self.instance.group.is_uncontrolled();
        if is_uncontrolled { Needs { ecn: needs.ecn, ..Needs::NONE } } else { needs }
    }

    /// The source of transfers of this size and with these gaps.
    ///
    /// # Errors
    /// As for [`flow`](Self::flow), and a path with a shared loop.
    pub(super) fn transfers(&self, size: &Size, gap: Gap) -> Result<TransfersSpec, Fault> {
        let instance = self.instance;
        let LoopTemplates { loops, relays } = self.loop_templates()?;
        if let Some(path) = (0..loops.len()).find_map(|number| self.begins_shared(number)) {
            return Err(self.cannot_share(&path));
        }
        let stream = FlowStream { seed: self.scenario.seed, flow: &instance.name };
        let loops: Vec<LoopTemplate> = loops.into_iter().map(|(template, _)| template).collect();
        Ok(TransfersSpec {
            name: instance.name.clone(),
            weight: instance.group.weight,
            relays,
            // Laws with these settings have been built before, so that this does not fail.
            loops: Box::new(move || loops.iter().filter_map(|template| template.with_laws().ok()).collect()),
            arrivals: Box::new(arrivals(stream, size, gap, self.activity())),
        })
    }

    /// The time in which the application is active, within the run.
    fn activity(&self) -> Range<Time> {
        let end = Time::ZERO + self.scenario.duration;
        let samples = self.instance.samples;
        samples.start..samples.stop.map_or(end, |stop| stop.min(end))
    }

    /// How long transfers of the flow take at least, if its links say so. If its loops have headers of different lengths,
    /// with the shortest of them.
    pub(super) fn shortest_completion(&self) -> Option<ShortestCompletion> {
        let (scenario, instance) = (self.scenario, self.instance);
        let cut = scenario.loops(instance.forward_path, self.entry());
        let labels = labels_of_loops(scenario, instance, &cut);
        let headers = cut.iter().zip(labels).filter_map(|(path, label)| {
            Some(self.needs(labelled(self.protocols, label)?).header_size.over(path.len()))
        });
        let overhead = instance.group.overhead + headers.min().unwrap_or_default();
        let extra_delay = extra_delay(scenario, instance, 0);
        ShortestCompletion::over(
            scenario,
            instance.forward_path,
            extra_delay,
            (instance.group.packet, overhead),
        )
    }

    /// The rate at which the application produces data, if that is limited.
    pub(super) fn demand(&self, workload: &Workload) -> Option<Arc<Schedule>> {
        let rate = match workload {
            Workload::Produced(schedule) => return Some(Arc::clone(schedule)),
            Workload::Sized(size) => self.shortest_completion().map(|shortest| size.per(shortest.of(*size))),
            _ => self.instance.group.demand(),
        };
        rate.map(|rate| Arc::new(Schedule::constant(rate)))
    }

    fn workload(&self) -> Workload {
        let stream = FlowStream { seed: self.scenario.seed, flow: &self.instance.name };
        match &self.instance.group.workload {
            scenario::Workload::Sized(_) => Workload::Sized(self.instance.samples.size.unwrap_or_default()),
            scenario::Workload::Produced(rate, activity) => {
                let steps = production(stream, *rate, activity, self.activity());
                let schedule = Schedule::steps(&steps).unwrap_or_else(|_| Schedule::constant(*rate));
                Workload::Produced(Arc::new(schedule))
            }
            scenario::Workload::Ping(every) => Workload::Periodic(*every),
            scenario::Workload::Bulk | scenario::Workload::Transfers { .. } => Workload::Bulk,
            scenario::Workload::Pages(_) | scenario::Workload::Video(_) | scenario::Workload::Call(_) => {
                Workload::Requested
            }
        }
    }

    fn loop_templates(&self) -> Result<LoopTemplates<'s>, Fault> {
        let (scenario, instance) = (self.scenario, self.instance);
        let cut = scenario.loops(instance.forward_path, self.entry());
        let labels = labels_of_loops(scenario, instance, &cut);
        let protocols = labels.into_iter().filter_map(|label| labelled(self.protocols, label));
        let mut loops = Vec::with_capacity(cut.len());
        let mut relayed = Vec::with_capacity(cut.len());
        for (number, (path, configured)) in cut.iter().zip(protocols).enumerate() {
            let extra_delay = extra_delay(scenario, instance, number);
            let mut template = self.loop_template(configured, path, extra_delay)?;
            // The hosts of the application may break the rules, relays do not.
            if number == 0 {
                template.conduct = self.conduct();
            }
            if number + 1 == cut.len() && self.begins_shared(number).is_none() {
                template.receiving.honesty = honesty(instance.group.receiver);
            }
            loops.push((template, configured.label));
            relayed.push(RelayedLoop { path, base_rtt: base_rtt(scenario, path, extra_delay) });
        }
        let buffer = |(previous, next)| {
            let entry = self.entry()?;
            Some(relay_buffer(scenario, &entry.relay_buffer, [previous, next], instance.group.packet))
        };
        let relays = relayed.iter().zip(relayed.iter().skip(1)).filter_map(buffer).collect();
        Ok(LoopTemplates { loops, relays })
    }

    fn loop_template(
        &self,
        configured: &ConfiguredProtocol<'_>,
        path: &[Hop],
        extra_delay: Span,
    ) -> Result<LoopTemplate, Fault> {
        let (scenario, group) = (self.scenario, self.instance.group);
        let return_path =
            scenario.return_path(path).ok_or_else(|| faults::no_return_path(scenario, group))?;
        let max_ack_delay = group.delayed_acks.map_or(Span::ZERO, |delayed| delayed.after);
        let needs = self.needs(configured);
        let header = needs.header_size.over(path.len());
        let overhead = group.overhead + header;
        if overhead >= group.packet {
            return Err(faults::no_room_for_header(scenario, group, header));
        }
        let endpoint = scenario.endpoint;
        Ok(LoopTemplate {
            conduct: SenderConduct::Honest,
            protocol: configured.protocol,
            settings: Arc::clone(&configured.settings),
            rate_code: configured.entry.and_then(|entry| entry.rate_code),
            sending: SenderConfig {
                initial_rtt: endpoint.initial_rtt,
                granularity: endpoint.granularity,
                min_probe_timeout: endpoint.min_probe_timeout,
                max_probe_timeout: endpoint.max_probe_timeout,
                probes_per_timeout: endpoint.probes_per_timeout,
                packet_threshold: endpoint.packet_threshold,
                skip_numbers: endpoint.skip_numbers,
                validate_ecn: endpoint.validate_ecn,
                clock_tick: endpoint.clock_tick,
                overhead,
                weight: group.weight,
                max_ack_delay,
                hops: u32::try_from(path.len()).unwrap_or(u32::MAX).max(1),
                interface: path.first().map(|hop| peak_rate(scenario, hop)),
                ..SenderConfig::new(group.packet, needs)
            },
            receiving: ReceiverConfig {
                packets_per_ack: group.delayed_acks.map_or(1, |delayed| delayed.packets),
                max_ack_delay,
                ack_size: group.ack + header,
                urgent: group.delayed_acks.is_none_or(|delayed| delayed.urgent),
                honesty: Honesty::Honest,
            },
            forward: path.iter().filter_map(|hop| (self.link)(*hop)).collect(),
            backward: return_path.iter().filter_map(|hop| (self.link)(*hop)).collect(),
            extra_delay,
            host_processing: host_processing(scenario, path, group.packet),
        })
    }

    /// The error for transfers whose path has a shared loop.
    fn cannot_share(&self, path: &[Hop]) -> Fault {
        let relay = path.first().map_or("", |hop| &self.scenario.nodes[self.scenario.tail(*hop)]);
        let entry = self.configured.protocol.card().name;
        faults::transfers_cannot_share(self.scenario, self.instance.group, entry, relay)
    }

    fn fault(&self, label: &At<String>, error: &SettingError) -> Fault {
        faults::setting(self.scenario, &label.value, &[], label.place, error)
    }
}

impl LoopTemplate {
    /// A loop with new laws.
    fn with_laws(&self) -> Result<LoopSpec, SettingError> {
        let (protocol, settings) = (self.protocol, &self.settings);
        let (law, receiver) = match self.conduct {
            SenderConduct::Unresponsive => {
                return Ok(self.with(Box::new(Uncontrolled), Box::new(PlainReceiver)));
            }
            _ => (protocol.sender(settings)?, protocol.receiver(settings)?),
        };
        let receiver = match (&self.rate_code, protocol.rate_field()) {
            (Some(code), Some(field)) => Box::new(CodedReceiver::new(receiver, field, code)),
            _ => receiver,
        };
        let sender = match self.conduct {
            SenderConduct::Greedy(factor) => Box::new(Greedy { law, factor }),
            _ => law,
        };
        Ok(self.with(sender, receiver))
    }

    /// A loop with these laws.
    fn with(&self, sender: Box<dyn Sender>, receiver: Box<dyn Receiver>) -> LoopSpec {
        LoopSpec {
            sender,
            receiver,
            sender_config: self.sending,
            receiver_config: self.receiving,
            forward: self.forward.clone(),
            backward: self.backward.clone(),
            extra_delay: self.extra_delay,
            host_processing: self.host_processing,
        }
    }
}

fn honesty(conduct: ReceiverConduct) -> Honesty {
    match conduct {
        ReceiverConduct::Honest => Honesty::Honest,
        ReceiverConduct::HidesMarks => Honesty::HidesMarks,
        ReceiverConduct::AcksEarly(packets) => Honesty::AcksEarly(packets),
    }
}

/// Upper bound of the processing time of a host that sends packets of this size over the links of `path`. Default:
/// the service time of one packet at the slowest link, at its highest rate, because only a constant rate has a fixed phase.
fn host_processing(scenario: &Scenario, path: &[Hop], packet: Bytes) -> Span {
    let service_time =
        || path.iter().map(|hop| peak_rate(scenario, hop).time_for(packet)).max().unwrap_or_default();
    scenario.hosts.jitter.unwrap_or_else(|| service_time().min(scenario::Processing::LONGEST))
}

/// The highest rate of a link.
fn peak_rate(scenario: &Scenario, hop: &Hop) -> Rate {
    scenario.links[hop.link].direction(hop.forward).rate.schedule().peak()
}
