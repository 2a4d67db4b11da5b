//! The exact linearization of each part of a network about an operating point, by dual numbers.

use crate::assembly::{Assembly, Entity, HopData, LinkLaw, SharedFlow};
use crate::discrete_state::Held;
use crate::fair_sharing::{ShareRequest, fair_level};
use crate::frozen::{Frozen, OperatingPoint};
use crate::path::{join, neutral};
use crate::queue::{MIN_LOAD, QueueOutput};
use crate::relay_feedback::RelayFeedback;
use millpond_law::fluid::{
    DownstreamFeedback, Dual64, LinkInput, PathAggregation, SenderInput, UpstreamFeedback, Verdicts,
    greatest, least,
};
use std::collections::BTreeMap;

/// A channel one delay ago.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Index in [`Assembly::channel_columns`].
    pub channel: usize,
    /// Delay in seconds.
    pub delay: f64,
}

/// A linear subsystem `x' = A x + B u`, `y = C x + D u` with delayed channels `u` and channels `y`. Matrices are stored
/// by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Subsystem {
    /// The part of the network that it describes.
    pub entity: Entity,
    /// Indices of its states. Rows of held states are zero.
    pub states: Vec<usize>,
    /// The inputs u.
    pub inputs: Vec<Input>,
    /// Indices of the outputs y among the channels.
    pub outputs: Vec<usize>,
    /// A.
    pub a: Vec<Vec<f64>>,
    /// B.
    pub b: Vec<Vec<f64>>,
    /// C.
    pub c: Vec<Vec<f64>>,
    /// D.
    pub d: Vec<Vec<f64>>,
}

/// The inputs of a loop.
struct LoopInputs<'a> {
    /// Inputs of the sender without its feedback.
    input: SenderInput<'a, Dual64>,
    /// Signals of the router at each hop.
    signals: Vec<Vec<Dual64>>,
    /// Rate that arrives at each relay at the beginning of the loop, in bit/s.
    inflows: Vec<Dual64>,
}

/// The inputs of a loop from the relays on both sides.
struct RelayInputs {
    downstream: Option<DownstreamFeedback<Dual64>>,
    upstream: Option<UpstreamFeedback<Dual64>>,
    /// Rate that arrives at each relay at the beginning of the loop, in bit/s.
    inflows: Vec<Dual64>,
}

/// What arrives at a link under the protocol of one of its laws.
struct LawArrivals {
    /// Rate in bit/s.
    own_arriving: Dual64,
    /// Carried quantities, summed over the flows.
    carried: Vec<Dual64>,
}

/// A channel of a loop that a link receives.
struct ArrivingChannel {
    input: Input,
    loop_id: usize,
    /// Index of the carried quantity; none for the rate.
    carried: Option<usize>,
}

impl Frozen<'_> {
    /// The subsystems of all active loops, links and relays. Together they are the linearization of the network: every
    /// channel that depends on a state is an output of one of them.
    pub fn subsystems(&self, point: &OperatingPoint) -> Vec<Subsystem> {
        let loops =
            (0..self.asm.loops.len()).filter(|l| self.is_active(*l)).map(|l| self.loop_subsystem(l, point));
        let links = (0..self.asm.links.len()).map(|link| self.link_subsystem(link, point));
        loops
            .chain(links)
            .chain((0..self.asm.relays.len()).map(|relay| self.relay_subsystem(relay, point)))
            .collect()
    }

    /// The sender of one loop. Inputs: the channels of its links, its own rate one round trip ago, the feedback of its
    /// relays. Outputs: rate, round-trip time, carried quantities, and the permitted rate if it begins at a relay.
    pub fn loop_subsystem(&self, loop_index: usize, point: &OperatingPoint) -> Subsystem {
        let asm = self.asm;
        if asm.is_shared_flow(loop_index) {
            return self.shared_flow_subsystem(loop_index, point);
        }
        let data = &asm.loops[loop_index];
        let class = &asm.sender_classes[data.class];
        let carried = class.law.carried().len();
        let own = class.first_carried + data.place * carried;
        let mut outputs = vec![asm.channels.rate + loop_index, asm.channels.rtt + loop_index];
        outputs.extend(own..own + carried);
        outputs.extend(asm.start_relays(loop_index).map(|relay| asm.channels.permitted + relay));
        let states = class.states_of(data.place).collect();
        let inputs = asm.sender_channels(loop_index, &point.x);
        differentiate(Entity::Loop(loop_index), states, inputs, outputs, point, |x, u| {
            self.sender(loop_index, point, x, u)
        })
    }

    /// One flow's share of a shared loop. Inputs: the rate that the loop's law permits, and the inflow of each flow.
    /// Output: the flow's rate.
    fn shared_flow_subsystem(&self, loop_index: usize, point: &OperatingPoint) -> Subsystem {
        let (asm, at) = (self.asm, &self.asm.channels);
        let active_flows = self.active_flows(asm.controlling_loop(loop_index));
        let permitted = asm.loops[loop_index].start_relay.map(|relay| at.permitted + relay);
        let channels =
            permitted.into_iter().chain(active_flows.iter().map(|flow| asm.inflow_channel(flow.relay)));
        let inputs = channels.map(|channel| Input { channel, delay: 0.0 }).collect();
        let outputs = vec![at.rate + loop_index];
        differentiate(Entity::Loop(loop_index), Vec::new(), inputs, outputs, point, |_, u| {
            let sent = self.shared_rates(&active_flows, point, u[0], &u[1..]);
            let own = active_flows.iter().zip(sent).find(|(flow, _)| flow.loop_id == loop_index);
            (Vec::new(), vec![own.map_or(Dual64::from(0.0), |(_, sent)| sent)])
        })
    }

    /// The active flows of a shared loop.
    fn active_flows(&self, loop_index: usize) -> Vec<&SharedFlow> {
        self.asm.flows_of(loop_index).iter().filter(|flow| self.is_active(flow.loop_id)).collect()
    }

    /// The rate of one flow of each kind, given the permitted total rate and the inflow of each.
    fn shared_rates(
        &self,
        active_flows: &[&SharedFlow],
        point: &OperatingPoint,
        permitted: Dual64,
        inflow: &[Dual64],
    ) -> Vec<Dual64> {
        let request =
            |(flow, inflow): (&&SharedFlow, &Dual64)| self.asm.share_request(flow, &point.held, |_| *inflow);
        let requests: Vec<ShareRequest<Dual64>> = active_flows.iter().zip(inflow).map(request).collect();
        let level = fair_level(permitted, &requests);
        requests.iter().map(|request| request.rates(level).sent).collect()
    }

    /// One relay. Inputs: the rate of the upstream loop, the departing shares and marking probabilities of its links,
    /// the rate of the downstream loop. Outputs: backlog, delivered rate, upstream marking probability.
    pub fn relay_subsystem(&self, r: usize, point: &OperatingPoint) -> Subsystem {
        let asm = self.asm;
        let (relay, at) = (&asm.relays[r], &asm.channels);
        let (before, behind) = (relay.upstream.0, relay.downstream.0);
        let mut inputs = vec![Input { channel: at.rate + before, delay: relay.forward }];
        for hop in asm.hops_of(before) {
            let delay = relay.forward - hop.forward;
            let channels_of_link = [at.passing, at.lost, at.marked].map(|first| first + hop.link);
            inputs.extend(channels_of_link.map(|channel| Input { channel, delay }));
        }
        inputs.push(Input { channel: at.rate + behind, delay: 0.0 });
        let earlier = asm.loops[before].start_relay.map(|earlier| at.upstream_marked + earlier);
        inputs.extend(earlier.map(|channel| Input { channel, delay: asm.forward_delay(before) }));
        let outputs = vec![at.backlog + r, at.delivered + before, at.upstream_marked + r];
        let (states, hops) = (vec![asm.offsets.backlogs + r], 3 * asm.hops_of(before).len());
        let marks_count = f64::from(u8::from(asm.loops[before].ecn));
        differentiate(Entity::Relay(r), states, inputs, outputs, point, |x, u| {
            let (sent, hops, downstream_rate, earlier) = (u[0], &u[1..=hops], u[hops + 1], u.get(hops + 2));
            let pass = |inflow: Dual64, hop: &[Dual64]| inflow * hop[0] * (-hop[1] + 1.0);
            let inflow = hops.chunks_exact(3).fold(sent, pass);
            let unmarked = earlier.map_or(Dual64::from(1.0), |earlier| -*earlier + 1.0);
            let unmarked =
                hops.chunks_exact(3).fold(unmarked, |unmarked, hop| unmarked * (-hop[2] * marks_count + 1.0));
            (vec![inflow - downstream_rate], vec![x[0], inflow, -unmarked + 1.0])
        })
    }

    /// One link. Inputs: rates and carried quantities of its loops. Outputs: its channels and signals.
    pub fn link_subsystem(&self, link: usize, point: &OperatingPoint) -> Subsystem {
        let asm = self.asm;
        let at = &asm.channels;
        let laws: Vec<LinkLaw> = asm.laws_of(link).collect();
        let of_law = |law: &LinkLaw| asm.link_sets[law.set].states_of(law.place);
        let queue = asm.offsets.queues + link;
        let states = std::iter::once(queue).chain(laws.iter().flat_map(of_law)).collect();
        let mut outputs: Vec<usize> = [at.delay, at.slope, at.marked, at.lost, at.arriving, at.passing]
            .iter()
            .map(|first| first + link)
            .collect();
        for &LinkLaw { set: s, place } in &laws {
            let width = asm.link_sets[s].law.signal_names().len();
            let first = asm.link_sets[s].first_signal + place * width;
            outputs.extend(first..first + width);
        }
        let held = point.held[queue];
        let inputs = self.arrivals(link).into_iter().map(|arrival| arrival.input).collect();
        differentiate(Entity::Link(link), states, inputs, outputs, point, |x, u| {
            self.router(link, &laws, held, x, u)
        })
    }

    /// Derivatives and outputs of a sender. With an empty backlog at its relay, the rate is at most the inflow.
    fn sender(
        &self,
        loop_index: usize,
        point: &OperatingPoint,
        x: &[Dual64],
        u: &[Dual64],
    ) -> (Vec<Dual64>, Vec<Dual64>) {
        let data = &self.asm.loops[loop_index];
        let law = &self.asm.sender_classes[data.class].law;
        let LoopInputs { input, signals, inflows } = self.loop_inputs(loop_index, point, u);
        let feedback = self.aggregate(loop_index, x, &input, &signals);
        let input = SenderInput { feedback: &feedback, ..input };
        let zero = Dual64::from(0.0);
        let mut dx = vec![zero; x.len()];
        let mut carried = vec![zero; law.carried().len()];
        let permitted_rate = law.dual(data.place, x, &input, &mut dx, &mut carried);
        let backlog = data.start_relay.map(|relay| self.asm.offsets.backlogs + relay);
        let is_empty = backlog.is_some_and(|backlog| point.held[backlog] == Held::Lower);
        let active_flows = self.active_flows(loop_index);
        let rate = match inflows[..] {
            [inflow] if is_empty => least(permitted_rate, inflow),
            _ if !active_flows.is_empty() => {
                let sent = self.shared_rates(&active_flows, point, permitted_rate, &inflows);
                active_flows.iter().zip(sent).fold(zero, |sum, (flow, sent)| sum + sent * flow.count)
            }
            _ => permitted_rate,
        };
        let permitted = self.asm.start_relays(loop_index).map(|_| permitted_rate);
        let outputs = [rate, input.rtt()].into_iter().chain(carried).chain(permitted).collect();
        (dx, outputs)
    }

    /// The switching functions of a sender.
    pub(crate) fn sender_guards(
        &self,
        loop_index: usize,
        point: &OperatingPoint,
        x: &[Dual64],
        u: &[Dual64],
    ) -> Vec<Dual64> {
        let data = &self.asm.loops[loop_index];
        let law = &self.asm.sender_classes[data.class].law;
        let LoopInputs { input, signals, .. } = self.loop_inputs(loop_index, point, u);
        let feedback = self.aggregate(loop_index, x, &input, &signals);
        let mut guards = vec![Dual64::from(0.0); law.guard_names().len()];
        law.guards_dual(data.place, x, &SenderInput { feedback: &feedback, ..input }, &mut guards);
        guards
    }

    /// The inputs of a loop, from the values of [`Assembly::sender_channels`].
    fn loop_inputs(&self, loop_index: usize, point: &OperatingPoint, u: &[Dual64]) -> LoopInputs<'_> {
        let data = &self.asm.loops[loop_index];
        let hops = self.asm.hops_of(loop_index);
        let (zero, one) = (Dual64::from(0.0), Dual64::from(1.0));
        let (mut queueing, mut slope, mut unmarked, mut kept) = (zero, zero, one, one);
        let mut values = u.iter().copied();
        let mut read = || values.next().unwrap_or(zero);
        let mut signals = Vec::new();
        for hop in hops {
            queueing += read();
            slope += read();
            unmarked *= one - read();
            kept *= one - read();
            signals.push((0..hop.signals).map(|_| read()).collect());
        }
        if !data.ecn {
            (kept, unmarked) = (kept * unmarked, one);
        }
        let acked = read();
        let mut present_queueing = zero;
        if self.asm.sender_classes[data.class].law.inputs_used().present_queueing {
            hops.iter().for_each(|_| present_queueing += read());
        }
        let mut earlier_queueing = zero;
        if self.asm.sender_classes[data.class].law.inputs_used().earlier_queueing {
            hops.iter().for_each(|_| earlier_queueing += read());
        }
        let RelayInputs { downstream, upstream, inflows } = self.relay_inputs(loop_index, point, read);
        let input = SenderInput {
            base_rtt: data.base_rtt,
            capacity: hops.iter().map(|hop| self.configured_capacity(hop.link)).fold(f64::INFINITY, f64::min),
            queueing,
            queueing_slope: slope,
            marked: one - unmarked,
            lost: one - kept,
            acked,
            present_queueing,
            earlier_queueing,
            feedback: &[],
            discrete: &self.discrete.laws[self.asm.sender_classes[data.class].discrete_of(data.place)],
            growth: 1.0,
            downstream,
            upstream,
        };
        LoopInputs { input, signals, inflows }
    }

    /// The inputs of a loop from the relays on both sides.
    fn relay_inputs(
        &self,
        loop_index: usize,
        point: &OperatingPoint,
        mut read: impl FnMut() -> Dual64,
    ) -> RelayInputs {
        let asm = self.asm;
        let present = |flow: &SharedFlow| point.channels[asm.channels.present + flow.presence] > 0.5;
        let feedback = |relay| {
            let sharing = asm.sharing(relay, present);
            let next = asm.controlling_loop(asm.relays[relay].downstream.0);
            let base_rtt = asm.loops[next].base_rtt;
            (relay, RelayFeedback { permitted: read(), backlog: read(), rtt: read(), base_rtt, sharing })
        };
        let feedback: BTreeMap<usize, RelayFeedback<Dual64>> =
            asm.end_relays(loop_index).map(feedback).collect();
        let downstream = asm.downstream_feedback(loop_index, present, |relay| feedback[&relay]);
        // Relay, upstream marking probability, inflow.
        let starts: Vec<(usize, Dual64, Dual64)> =
            asm.start_relays(loop_index).map(|relay| (relay, read(), read())).collect();
        let upstream_marked: BTreeMap<usize, Dual64> =
            starts.iter().map(|(relay, marked, _)| (*relay, *marked)).collect();
        let upstream =
            asm.upstream_feedback(loop_index, &self.discrete.active, |relay| upstream_marked[&relay]);
        let active = starts.iter().filter(|(relay, ..)| self.is_active(asm.relays[*relay].downstream.0));
        RelayInputs { downstream, upstream, inflows: active.map(|(.., inflow)| *inflow).collect() }
    }

    /// The feedback of a sender, aggregated over its path.
    fn aggregate(
        &self,
        loop_index: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        signals_of_hops: &[Vec<Dual64>],
    ) -> Vec<Dual64> {
        let data = &self.asm.loops[loop_index];
        let law = &self.asm.sender_classes[data.class].law;
        let kinds = law.feedback();
        let mut sums: Vec<Dual64> = kinds.iter().map(|kind| Dual64::from(neutral(kind.over_path))).collect();
        for signals in signals_of_hops.iter().filter(|_| !kinds.is_empty()) {
            let mut feedback = vec![Dual64::from(0.0); kinds.len()];
            if law.maps_signals() {
                law.map_signals_dual(data.place, x, input, signals, &mut feedback);
            } else {
                feedback.copy_from_slice(signals);
            }
            for ((sum, kind), signal) in sums.iter_mut().zip(kinds).zip(feedback) {
                *sum = join(kind.over_path, *sum, signal);
            }
        }
        for (sum, _) in
            sums.iter_mut().zip(kinds).filter(|(_, kind)| kind.over_path == PathAggregation::Marked)
        {
            *sum = Dual64::from(1.0) - *sum;
        }
        sums
    }

    /// Derivatives and outputs of a link.
    fn router(
        &self,
        link: usize,
        laws: &[LinkLaw],
        held: Held,
        x: &[Dual64],
        u: &[Dual64],
    ) -> (Vec<Dual64>, Vec<Dual64>) {
        let zero = Dual64::from(0.0);
        let arrivals = self.arrivals(link);
        let capacity = self.capacity(link);
        let arriving = self.arriving(&arrivals, u, |_| true);
        let (mut dx, mut emitted) = (vec![zero], Vec::new());
        let (mut marked, mut dropped) = (zero, zero);
        let output = self.discrete.queue_models[link].output(x[0]);
        let mut states = &x[1..];
        for &LinkLaw { set: s, place } in laws {
            let set = &self.asm.link_sets[s];
            let LawArrivals { own_arriving, carried } = self.law_arrivals(s, &arrivals, u);
            let (capacity, queue) = (self.configured_capacity(link), output.queue);
            let discrete = &self.discrete.laws[set.discrete_of(place)];
            let input = LinkInput { capacity, arriving, own_arriving, queue, carried: &carried, discrete };
            let (mine, rest) = states.split_at(set.width);
            states = rest;
            let mut derivatives = vec![zero; set.width];
            let mut signals = vec![zero; set.law.signal_names().len()];
            set.law.dual(place, mine, &input, &mut derivatives, &mut signals);
            match set.verdicts() {
                Some(Verdicts::Marks) => marked = output.law_probability.unwrap_or(signals[0]),
                Some(Verdicts::Drops) => dropped = output.law_probability.unwrap_or(signals[0]),
                None => {}
            }
            dx.extend(derivatives);
            emitted.extend(signals);
        }
        let (excess, outputs) = queue_channels(&output, arriving, (marked, dropped), held, capacity);
        dx[0] = excess;
        (dx, outputs.into_iter().chain(emitted).collect())
    }

    /// The switching functions of all laws at a link.
    pub(crate) fn link_guards(&self, link: usize, x: &[Dual64], u: &[Dual64]) -> Vec<Dual64> {
        let (arrivals, capacity) = (self.arrivals(link), self.configured_capacity(link));
        let arriving = self.arriving(&arrivals, u, |_| true);
        let queue = self.discrete.queue_models[link].output(x[0]).queue;
        let (mut states, mut guards) = (&x[1..], Vec::new());
        for LinkLaw { set: s, place } in self.asm.laws_of(link) {
            let set = &self.asm.link_sets[s];
            let LawArrivals { own_arriving, carried } = self.law_arrivals(s, &arrivals, u);
            let discrete = &self.discrete.laws[set.discrete_of(place)];
            let input = LinkInput { capacity, arriving, own_arriving, queue, carried: &carried, discrete };
            let (mine, rest) = states.split_at(set.width);
            states = rest;
            let first = guards.len();
            guards.resize(first + set.law.guard_names().len(), Dual64::from(0.0));
            set.law.guards_dual(place, mine, &input, &mut guards[first..]);
        }
        guards
    }

    /// The rate in bit/s at which these loops arrive at a link.
    fn arriving(&self, arrivals: &[ArrivingChannel], u: &[Dual64], counts: impl Fn(usize) -> bool) -> Dual64 {
        let rates = arrivals.iter().zip(u).filter(|(arrival, _)| arrival.carried.is_none());
        let counted = rates.filter(|(arrival, _)| counts(arrival.loop_id));
        counted.fold(Dual64::from(0.0), |sum, (arrival, u)| sum + *u * self.asm.loops[arrival.loop_id].count)
    }

    /// What arrives at a link under the protocol of one of its laws.
    fn law_arrivals(&self, set: usize, arrivals: &[ArrivingChannel], u: &[Dual64]) -> LawArrivals {
        let set = &self.asm.link_sets[set];
        let protocol = |l: usize| self.asm.loops[l].protocol;
        let is_own = |l: usize| set.protocol().is_none_or(|own| own == protocol(l));
        // A queue law has no protocol and reads no carried quantity.
        let is_read = |arrival: &ArrivingChannel| set.protocol() == Some(protocol(arrival.loop_id));
        let mut carried = vec![Dual64::from(0.0); set.carried];
        for (arrival, u) in arrivals.iter().zip(u) {
            if let Some(k) = arrival.carried.filter(|_| is_read(arrival)) {
                carried[k] += *u * self.asm.loops[arrival.loop_id].count;
            }
        }
        LawArrivals { own_arriving: self.arriving(arrivals, u, is_own), carried }
    }

    /// The arrivals at a link: the rate and the carried quantities of each loop that crosses it.
    fn arrivals(&self, link: usize) -> Vec<ArrivingChannel> {
        let asm = self.asm;
        let mut arrivals = Vec::new();
        for l in (0..asm.loops.len()).filter(|l| self.is_active(*l) && !asm.is_shared_flow(*l)) {
            let data = &asm.loops[l];
            let class = &asm.sender_classes[data.class];
            let carried = class.law.carried().len();
            let own = class.first_carried + data.place * carried;
            for HopData { forward: delay, .. } in
                asm.hops_of(l).iter().filter(|hop| hop.link == link).copied()
            {
                let rate = Input { channel: asm.channels.rate + l, delay };
                arrivals.push(ArrivingChannel { input: rate, loop_id: l, carried: None });
                arrivals.extend((0..carried).map(|k| ArrivingChannel {
                    input: Input { channel: own + k, delay },
                    loop_id: l,
                    carried: Some(k),
                }));
            }
        }
        arrivals
    }
}

impl Assembly {
    /// The inputs of a loop's sender, in the order in which [`Frozen::sender`] reads them. A lag of the law's own is that at the
    /// states `x`.
    fn sender_channels(&self, loop_index: usize, x: &[f64]) -> Vec<Input> {
        let at = &self.channels;
        let used = self.sender_classes[self.loops[loop_index].class].law.inputs_used();
        let mut inputs = Vec::new();
        for hop in self.hops_of(loop_index) {
            let signals = hop.first_signal..hop.first_signal + hop.signals;
            let link = [at.delay, at.slope, at.marked, at.lost].map(|first| first + hop.link);
            inputs.extend(
                link.into_iter().chain(signals).map(|channel| Input { channel, delay: hop.backward }),
            );
        }
        inputs.push(Input { channel: at.rate + loop_index, delay: self.loops[loop_index].base_rtt });
        if used.present_queueing {
            inputs.extend(
                self.hops_of(loop_index).iter().map(|hop| Input { channel: at.delay + hop.link, delay: 0.0 }),
            );
        }
        if used.earlier_queueing {
            let lag = self.lag(loop_index, x);
            let earlier = |hop: &HopData| Input { channel: at.delay + hop.link, delay: hop.backward + lag };
            inputs.extend(self.hops_of(loop_index).iter().map(earlier));
        }
        for relay in self.end_relays(loop_index) {
            let next = self.controlling_loop(self.relays[relay].downstream.0);
            let delay = self.return_delay(&self.relays[relay]);
            let channels = [at.permitted + relay, at.backlog + relay, at.rtt + next];
            inputs.extend(channels.map(|channel| Input { channel, delay }));
        }
        for relay in self.start_relays(loop_index) {
            inputs.extend(
                [at.upstream_marked + relay, self.inflow_channel(relay)]
                    .map(|channel| Input { channel, delay: 0.0 }),
            );
        }
        inputs
    }

    /// The channel of the rate that arrives at a relay, for one flow.
    fn inflow_channel(&self, relay: usize) -> usize {
        self.channels.delivered + self.relays[relay].upstream.0
    }
}

/// Derivative of a queue and channels of its link: queueing delay and its derivative, marking and loss probability,
/// arriving rate, departing share.
fn queue_channels(
    output: &QueueOutput<Dual64>,
    arriving: Dual64,
    (marked, dropped): (Dual64, Dual64),
    held: Held,
    capacity: f64,
) -> (Dual64, [Dual64; 6]) {
    let (zero, one) = (Dual64::from(0.0), Dual64::from(1.0));
    let admitted = arriving * (one - dropped);
    let stretched = output.overflow.unwrap_or(zero);
    let excess = admitted * (one - stretched) - capacity;
    let overflow = if held == Held::Upper { excess / admitted } else { stretched };
    let slope = if held == Held::Free && !output.is_constant { excess / capacity } else { zero };
    let lost = one - (one - dropped) * (one - overflow);
    let accepted = greatest(admitted * (one - overflow), Dual64::from(MIN_LOAD * capacity));
    let passing = if held == Held::Lower { one } else { Dual64::from(capacity) / accepted };
    (excess, [output.queue / capacity, slope, marked, lost, arriving, passing])
}

/// Differentiates a subsystem, one column per state and input.
fn differentiate(
    entity: Entity,
    states: Vec<usize>,
    inputs: Vec<Input>,
    outputs: Vec<usize>,
    point: &OperatingPoint,
    system: impl Fn(&[Dual64], &[Dual64]) -> (Vec<Dual64>, Vec<Dual64>),
) -> Subsystem {
    let mut x: Vec<Dual64> = states.iter().map(|i| Dual64::from(point.x[*i])).collect();
    let mut u: Vec<Dual64> = inputs.iter().map(|input| Dual64::from(point.channels[input.channel])).collect();
    let rows = |n: usize, width: usize| vec![vec![0.0; width]; n];
    let (n, m) = (states.len(), inputs.len());
    let (mut a, mut b) = (rows(n, n), rows(n, m));
    let (mut c, mut d) = (rows(outputs.len(), n), rows(outputs.len(), m));
    for j in 0..n + m {
        let slot = if j < n { &mut x[j] } else { &mut u[j - n] };
        slot.eps = 1.0;
        let (dx, y) = system(&x, &u);
        let slot = if j < n { &mut x[j] } else { &mut u[j - n] };
        slot.eps = 0.0;
        let (state_rows, output_rows, column) =
            if j < n { (&mut a, &mut c, j) } else { (&mut b, &mut d, j - n) };
        for (i, (row, dx)) in state_rows.iter_mut().zip(dx).enumerate() {
            row[column] = if point.is_held(states[i]) { 0.0 } else { dx.eps };
        }
        for (row, y) in output_rows.iter_mut().zip(y) {
            row[column] = y.eps;
        }
    }
    Subsystem { entity, states, inputs, outputs, a, b, c, d }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values and derivatives of the probability of a loss and of the departing share, and of the queue's derivative, for a
    /// link of 1 Mbit/s with this arriving rate in Mbit/s, of which a tenth is dropped.
    fn derivatives(arriving: Dual64, overflow: Option<Dual64>, held: Held) -> [Dual64; 3] {
        let output = QueueOutput {
            queue: Dual64::from(5e4),
            law_probability: None,
            overflow,
            is_constant: overflow.is_some(),
        };
        let dropped = Dual64::from(0.1);
        let (excess, [.., lost, _, passing]) =
            queue_channels(&output, arriving * 1e6, (Dual64::from(0.0), dropped), held, 1e6);
        [excess / 1e6, lost, passing]
    }

    fn assert_near(found: Dual64, value: f64, derivative: f64) {
        assert!((found.re - value).abs() < 1e-12, "{found} {value}");
        assert!((found.eps - derivative).abs() < 1e-12, "{found} {derivative}");
    }

    /// Arrivals of 2 Mbit/s. Of the 1.8 Mbit/s that are not dropped, 1 Mbit/s departs, and the rest is lost: 1 - 1 / y of all
    /// arrivals y.
    #[test]
    fn a_full_buffer_loses_what_does_not_depart() {
        let [excess, lost, passing] = derivatives(Dual64::new(2.0, 1.0), None, Held::Upper);
        assert_near(excess, 0.8, 0.9);
        assert_near(lost, 0.5, 0.25);
        assert_near(passing, 1.0, 0.0);
    }

    /// On the plateau at the end of the buffer, the state determines the overflow s: (1 - .1) (1 - s) y remain of y.
    #[test]
    fn a_state_beyond_the_buffer_loses_by_its_overflow() {
        let overflow = Some(Dual64::new(0.25, 1.0));
        let [excess, lost, passing] = derivatives(Dual64::from(2.0), overflow, Held::Free);
        assert_near(excess, 1.8 * 0.75 - 1.0, -1.8);
        assert_near(lost, 1.0 - 0.9 * 0.75, 0.9);
        assert_near(passing, 1.0 / (1.8 * 0.75), 1.0 / (1.8 * 0.75 * 0.75));
        let overflow = Some(Dual64::from(0.25));
        let [excess, lost, passing] = derivatives(Dual64::new(2.0, 1.0), overflow, Held::Free);
        assert_near(excess, 1.8 * 0.75 - 1.0, 0.9 * 0.75);
        assert_near(lost, 1.0 - 0.9 * 0.75, 0.0);
        assert_near(passing, 1.0 / (1.8 * 0.75), -1.0 / (2.0 * 1.8 * 0.75));
    }
}
