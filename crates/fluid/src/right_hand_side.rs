//! The right-hand side of the equations: derivatives of all states and values of all channels, given the history of the
//! channels.

use crate::assembly::{Assembly, HopData, LinkLaw, Role, SharedFlow, SharedLoop};
use crate::channel_history::{ChannelHistory, ConstantHistory, channel_at};
use crate::credit::Credits;
use crate::delays::{DelayTable, HopDelays};
use crate::delivery::{Deliveries, HopService};
use crate::discrete_state::{DiscreteState, Held};
use crate::fair_sharing::{ShareRequest, SharedRates, fair_level};
use crate::hysteresis::{Hysteresis, LawSet};
use crate::path::{join, neutral, selects_hop};
use crate::path_switches::{GuardOwner, PathSwitch};
use crate::queue::{departing_share, offered_share};
use crate::relay_feedback::RelayFeedback;
use crate::unused_rate::UnusedRates;
use millpond_law::fluid::{LinkInputs, PathAggregation, SenderInput, SenderInputs, Verdicts};
use std::ops::Range;

/// Arrivals at an empty queue exceed its capacity if they are greater than this multiple of it, and not by an error of rounding.
const BEYOND: f64 = 1.0 + 1e-6;

/// The right-hand side with its buffers.
pub(crate) struct RightHandSide<'a> {
    pub(crate) asm: &'a Assembly,
    pub(crate) delays: DelayTable,
    /// Inputs of each sender class.
    pub(crate) senders: Vec<SenderInputs>,
    /// Inputs of each link set.
    pub(crate) links: Vec<LinkInputs>,
    rates: Vec<f64>,
    carried: Vec<f64>,
    signals: Vec<f64>,
    mapped: Vec<f64>,
    /// The service of each hop in bit/s, for the loops of [`Deliveries::loops`].
    pub(crate) services: Vec<HopService>,
    metered: Vec<usize>,
    /// The selected hops of paths, and the range of each sender's switches by class and position.
    pub(crate) switches: Vec<PathSwitch>,
    switches_of: Vec<Vec<Range<usize>>>,
    /// Owners of guards, each with its number of guards.
    pub(crate) guard_counts: Vec<(GuardOwner, usize)>,
    /// For each guard: its owner, and its index among the owner's guards.
    pub(crate) guards: Vec<(GuardOwner, usize)>,
    /// The thresholds along which the solution slides.
    pub(crate) hysteresis: Hysteresis,
    pub(crate) credits: Credits,
    unused: UnusedRates,
}

impl<'a> RightHandSide<'a> {
    pub(crate) fn new(asm: &'a Assembly) -> Self {
        let sender_inputs = asm.sender_classes.iter().map(|class| {
            let mut inputs = SenderInputs::of(&*class.law, 0..class.loops.len());
            for (base_rtt, l) in inputs.base_rtt.iter_mut().zip(&class.loops) {
                *base_rtt = asm.loops[*l].base_rtt;
            }
            if class.loops.iter().any(|l| asm.end_relays(*l).next().is_some()) {
                inputs.downstream = vec![None; class.loops.len()];
            }
            if class.loops.iter().any(|l| asm.start_relays(*l).next().is_some()) {
                inputs.upstream = vec![None; class.loops.len()];
            }
            inputs
        });
        let mut senders: Vec<SenderInputs> = sender_inputs.collect();
        let unused = UnusedRates::new(asm, &mut senders);
        let links =
            asm.link_sets.iter().map(|set| LinkInputs::of(&*set.law, 0..set.links.len(), set.carried));
        let (switches, switches_of) = asm.switches();
        let guard_counts = asm.guard_counts(switches.len());
        let guards = guard_counts.iter().flat_map(|(owner, count)| (0..*count).map(|index| (*owner, index)));
        Self {
            asm,
            delays: DelayTable::new(asm),
            senders,
            links: links.collect(),
            rates: Vec::new(),
            carried: Vec::new(),
            signals: Vec::new(),
            mapped: Vec::new(),
            services: vec![HopService::default(); asm.hops.len()],
            metered: Deliveries::new(asm).loops().to_vec(),
            guards: guards.collect(),
            guard_counts,
            switches,
            switches_of,
            hysteresis: Hysteresis::default(),
            credits: Credits::new(asm, true),
            unused,
        }
    }

    /// The equations as the analyses need them: limited buffers of relays have no effect, and a law may raise a rate that it
    /// does not use.
    pub(crate) fn for_analyses(asm: &'a Assembly) -> Self {
        Self { credits: Credits::new(asm, false), unused: UnusedRates::none(), ..Self::new(asm) }
    }

    /// Computes the derivatives (without regard to bounds) and all channels at the states `x`.
    pub(crate) fn evaluate(
        &mut self,
        discrete: &DiscreteState,
        history: &impl ChannelHistory,
        x: &[f64],
        dx: &mut [f64],
        channels: &mut [f64],
    ) {
        self.set_upstream_marking(history, channels);
        for class in 0..self.asm.sender_classes.len() {
            self.set_inputs(class, discrete, history, x);
            self.set_relay_inputs(class, discrete, history, channels);
        }
        self.move_to_sides(x, LawSet::Senders);
        self.set_delivered_rates(history, channels, true);
        self.credits.set_limits(self.asm, &self.delays, history, x);
        self.credits.set_departures(self.asm, &self.delays, history, x, channels);
        for class in 0..self.asm.sender_classes.len() {
            self.set_sending_rates(class, discrete, x, channels);
        }
        let rates = self.asm.channels.rate..self.asm.channels.rate + self.asm.loops.len();
        self.unused.note_permitted(&channels[rates.clone()]);
        self.credits.limit(self.asm, &self.delays, &self.senders, history, channels);
        self.set_relay_rates(discrete, x, dx, channels);
        self.unused.set_growth(self.asm, &channels[rates], &mut self.senders);
        self.credits.set_derivatives(self.asm, x, dx, channels);
        self.set_arrivals(history, discrete, x, channels);
        self.move_to_sides(x, LawSet::Links);
        for set in 0..self.asm.link_sets.len() {
            self.evaluate_link_laws(set, x, dx, channels);
        }
        self.evaluate_queues(discrete, x, dx, channels);
        self.set_delivered_rates(history, channels, false);
        for class in 0..self.asm.sender_classes.len() {
            self.set_sender_derivatives(class, discrete, x, dx);
        }
        self.restore_inputs();
    }

    /// Inputs of a sender class, except those from relays.
    fn set_inputs(&mut self, c: usize, discrete: &DiscreteState, history: &impl ChannelHistory, x: &[f64]) {
        let (asm, class) = (self.asm, &self.asm.sender_classes[c]);
        let channels = &asm.channels;
        let uses_present_queueing = class.law.inputs_used().present_queueing;
        let modes = discrete.laws[class.first_discrete..].iter();
        self.senders[c].discrete.iter_mut().zip(modes).for_each(|(own, mode)| *own = *mode);
        for (i, &l) in class.loops.iter().enumerate() {
            let (mut queueing, mut slope, mut unmarked, mut delivered_share) = (0.0, 0.0, 1.0, 1.0);
            let (mut capacity, mut present_queueing) = (f64::INFINITY, 0.0);
            for (hop, delays) in asm.hops_of(l).iter().zip(&self.delays.hops[asm.loops[l].hops.clone()]) {
                let value = |channel: usize| history.get(channel + hop.link, delays.backward);
                queueing += value(channels.delay);
                slope += value(channels.slope);
                unmarked *= 1.0 - value(channels.marked);
                delivered_share *= 1.0 - value(channels.lost);
                capacity = capacity.min(discrete.configured[hop.link]);
                if uses_present_queueing {
                    let queue = x[asm.offsets.queues + hop.link];
                    present_queueing +=
                        discrete.queue_models[hop.link].output(queue).queue / discrete.capacity[hop.link];
                }
            }
            if !asm.loops[l].ecn {
                (delivered_share, unmarked) = (delivered_share * unmarked, 1.0);
            }
            let inputs = &mut self.senders[c];
            inputs.capacity[i] = capacity;
            inputs.queueing[i] = queueing;
            inputs.queueing_slope[i] = slope;
            inputs.marked[i] = 1.0 - unmarked;
            inputs.lost[i] = 1.0 - delivered_share;
            inputs.present_queueing[i] = present_queueing;
            inputs.acked[i] = history.get(channels.rate + l, self.delays.loops[l].rtt);
            if class.law.inputs_used().earlier_queueing {
                let lag = asm.lag(l, x);
                let earlier = |hop: &HopData| history.earlier(channels.delay + hop.link, hop.backward + lag);
                inputs.earlier_queueing[i] = asm.hops_of(l).iter().map(earlier).sum();
            }
            self.set_feedback(c, i, l, history, x);
        }
    }

    /// Inputs of a sender class from the relays at both ends of each loop.
    fn set_relay_inputs(
        &mut self,
        c: usize,
        discrete: &DiscreteState,
        history: &impl ChannelHistory,
        now: &[f64],
    ) {
        let (asm, delays, at) = (self.asm, &self.delays, &self.asm.channels);
        let is_present = |flow: &SharedFlow, delay| history.get(at.present + flow.presence, delay) > 0.5;
        let relay_feedback = |relay: usize| {
            let (delay, next) = (delays.relays[relay], asm.controlling_loop(asm.relays[relay].downstream.0));
            RelayFeedback {
                permitted: history.get(at.permitted + relay, delay),
                backlog: history.get(at.backlog + relay, delay),
                rtt: history.get(at.rtt + next, delay),
                base_rtt: asm.loops[next].base_rtt,
                sharing: asm.sharing(relay, |flow| is_present(flow, delay)),
            }
        };
        for (i, &l) in
            asm.sender_classes[c].loops.iter().enumerate().filter(|(_, l)| !asm.is_shared_flow(**l))
        {
            let inputs = &mut self.senders[c];
            if let Some(next) = inputs.downstream.get_mut(i) {
                *next =
                    asm.downstream_feedback(l, |flow| is_present(flow, delays.loops[l].rtt), relay_feedback);
            }
            if let Some(upstream) = inputs.upstream.get_mut(i) {
                *upstream =
                    asm.upstream_feedback(l, &discrete.active, |relay| now[at.upstream_marked + relay]);
            }
        }
    }

    /// Upstream marking probability at each relay.
    fn set_upstream_marking(&self, history: &impl ChannelHistory, channels: &mut [f64]) {
        let (asm, at) = (self.asm, &self.asm.channels);
        for (r, relay) in asm.relays.iter().enumerate() {
            let (l, before) = (relay.upstream.0, &asm.loops[relay.upstream.0]);
            let delay = self.delays.loops[l].forward;
            let upstream_marked =
                before.start_relay.map_or(0.0, |earlier| history.get(at.upstream_marked + earlier, delay));
            let hops =
                asm.hops_of(l).iter().zip(&self.delays.hops[before.hops.clone()]).filter(|_| before.ecn);
            let unmarked = hops.map(|(hop, delays)| 1.0 - history.get(at.marked + hop.link, delays.onward));
            channels[at.upstream_marked + r] = 1.0 - (1.0 - upstream_marked) * unmarked.product::<f64>();
        }
    }

    /// Feedback of one sender from its own routers, aggregated over its path.
    fn set_feedback(
        &mut self,
        c: usize,
        i: usize,
        loop_index: usize,
        history: &impl ChannelHistory,
        x: &[f64],
    ) {
        let (asm, class) = (self.asm, &self.asm.sender_classes[c]);
        let kinds = class.law.feedback();
        let width = kinds.len();
        for (k, kind) in kinds.iter().enumerate() {
            self.senders[c].feedback[i * width + k] = neutral(kind.over_path);
        }
        if width == 0 {
            return;
        }
        let x = &x[class.states_of(i)];
        let switches = self.switches_of[c][i].clone();
        self.switches[switches.clone()].iter_mut().for_each(PathSwitch::reset);
        let hops = asm.hops_of(loop_index).iter().zip(&self.delays.hops[asm.loops[loop_index].hops.clone()]);
        for (place, (hop, delays)) in hops.enumerate() {
            self.signals.clear();
            let signals = hop.first_signal..hop.first_signal + hop.signals;
            self.signals.extend(signals.map(|channel| history.get(channel, delays.backward)));
            if class.law.maps_signals() {
                self.mapped.resize(width, 0.0);
                let input = self.senders[c].flow(i);
                let input = SenderInput { feedback: &[], ..input };
                class.law.map_signals(i, x, &input, &self.signals, &mut self.mapped);
                std::mem::swap(&mut self.signals, &mut self.mapped);
            }
            let selecting = kinds.iter().zip(&self.signals).filter(|(kind, _)| selects_hop(kind.over_path));
            for (switch, (_, signal)) in self.switches[switches.clone()].iter_mut().zip(selecting) {
                switch.add_signal(place, *signal);
            }
            let feedback = &mut self.senders[c].feedback[i * width..][..width];
            for ((sum, kind), signal) in feedback.iter_mut().zip(kinds).zip(&self.signals) {
                *sum = join(kind.over_path, *sum, *signal);
            }
        }
        let feedback = &mut self.senders[c].feedback[i * width..][..width];
        for (sum, _) in feedback.iter_mut().zip(kinds).filter(|(_, k)| k.over_path == PathAggregation::Marked)
        {
            *sum = 1.0 - *sum;
        }
    }

    /// Sending rates and carried quantities of a sender class.
    fn set_sending_rates(&mut self, c: usize, discrete: &DiscreteState, x: &[f64], channels: &mut [f64]) {
        let (asm, class) = (self.asm, &self.asm.sender_classes[c]);
        let (flows, carried) = (class.loops.len(), class.law.carried().len());
        self.rates.resize(flows, 0.0);
        self.carried.resize(flows * carried, 0.0);
        let x = &self.hysteresis.states(x)[class.first_state..][..flows * class.width];
        class.law.rates(0, x, &self.senders[c], &mut self.rates, &mut self.carried);
        for (i, &l) in class.loops.iter().enumerate() {
            let own = class.first_carried + i * carried;
            let active = discrete.active[l];
            channels[asm.channels.rate + l] = if active { self.rates[i].max(0.0) } else { 0.0 };
            channels[asm.channels.rtt + l] = self.senders[c].base_rtt[i] + self.senders[c].queueing[i];
            for k in 0..carried {
                channels[own + k] = if active { self.carried[i * carried + k] } else { 0.0 };
            }
        }
    }

    /// Rates delivered at the ends of loops: at relays or elsewhere.
    fn set_delivered_rates(&self, history: &impl ChannelHistory, channels: &mut [f64], at_relays: bool) {
        let asm = self.asm;
        for (l, data) in
            asm.loops.iter().enumerate().filter(|(_, data)| data.end_relay.is_some() == at_relays)
        {
            // Between the nodes of a step, a polynomial can be negative where the quantity is not.
            let value = |channel: usize, delay| channel_at(history, channels, channel, delay).max(0.0);
            let sent = value(asm.channels.rate + l, self.delays.loops[l].forward);
            let delays = &self.delays.hops[data.hops.clone()];
            let passing = asm.hops_of(l).iter().zip(delays).map(|(hop, delays)| {
                let (passing, lost) = (asm.channels.passing + hop.link, asm.channels.lost + hop.link);
                value(passing, delays.onward) * (1.0 - value(lost, delays.onward)).max(0.0)
            });
            channels[asm.channels.delivered + l] = sent * passing.product::<f64>();
        }
    }

    /// Sets the deliveries of loops that end at a receiver, and the service of the hops of all loops whose deliveries differ from
    /// what one link serves. They have no effect on the equations, and read links with delays that may be shorter than a step:
    /// `history` contains the step.
    pub(crate) fn measure_deliveries(&mut self, history: &impl ChannelHistory, channels: &mut [f64]) {
        self.set_delivered_rates(history, channels, false);
        self.set_services(history, channels);
    }

    /// The service of the hops of all loops whose deliveries differ from what one link serves.
    fn set_services(&mut self, history: &impl ChannelHistory, channels: &[f64]) {
        let (asm, at) = (self.asm, &self.asm.channels);
        let value = |channel: usize, delay| channel_at(history, channels, channel, delay).max(0.0);
        for &l in &self.metered {
            let hops = asm.loops[l].hops.clone();
            let sent = value(at.rate + l, self.delays.loops[l].forward);
            let delays = &self.delays.hops[hops.clone()];
            let lost = |(hop, delays): (&HopData, &HopDelays)| value(at.lost + hop.link, delays.onward);
            let kept: f64 = asm.hops_of(l).iter().zip(delays).map(|hop| (1.0 - lost(hop)).max(0.0)).product();
            if self.credits.of_loop(asm, l).is_some() {
                // The bits of this loop are conserved: it delivers what flows into its relay.
                let inflow = channels[at.delivered + l];
                self.services[hops].fill(HopService { served: inflow, offered: inflow });
                continue;
            }
            for ((hop, delays), service) in asm.hops_of(l).iter().zip(delays).zip(&mut self.services[hops]) {
                let at_link = |channel: usize| value(channel + hop.link, delays.onward);
                let admitted = at_link(at.arriving) * (1.0 - at_link(at.lost));
                *service = HopService {
                    served: sent * kept * at_link(at.passing),
                    offered: sent * kept * offered_share(admitted, at_link(at.capacity)),
                };
            }
        }
    }

    /// Backlogs of relays, and rates of the loops that begin there: with an empty backlog, at most the inflow.
    fn set_relay_rates(&mut self, discrete: &DiscreteState, x: &[f64], dx: &mut [f64], channels: &mut [f64]) {
        let asm = self.asm;
        for (r, relay) in asm.relays.iter().enumerate() {
            let backlog = asm.offsets.backlogs + r;
            channels[asm.channels.backlog + r] = x[backlog];
            if asm.is_shared_flow(relay.downstream.0) {
                continue;
            }
            let inflow = channels[asm.channels.delivered + relay.upstream.0];
            channels[asm.channels.permitted + r] = channels[asm.channels.rate + relay.downstream.0];
            let rate = &mut channels[asm.channels.rate + relay.downstream.0];
            dx[backlog] = inflow - *rate;
            if discrete.held[backlog] == Held::Lower {
                *rate = rate.min(inflow);
            }
        }
        for shared in &asm.shared_loops {
            self.divide_rate(shared, discrete, dx, channels);
        }
    }

    /// Divides the rate that a shared loop's law permits among its flows. The loop's rate becomes the sum of the flows'
    /// rates.
    fn divide_rate(
        &mut self,
        shared: &SharedLoop,
        discrete: &DiscreteState,
        dx: &mut [f64],
        channels: &mut [f64],
    ) {
        let (asm, at) = (self.asm, &self.asm.channels);
        let permitted = channels[at.rate + shared.loop_id];
        let (active_flows, inactive_flows): (Vec<&SharedFlow>, Vec<&SharedFlow>) =
            shared.flows.iter().partition(|flow| discrete.active[flow.loop_id]);
        let requests: Vec<ShareRequest<f64>> = active_flows
            .iter()
            .map(|flow| ShareRequest {
                credit: self.credits.of_loop(asm, flow.loop_id),
                ..asm.share_request(flow, &discrete.held, |l| channels[at.delivered + l])
            })
            .collect();
        let level = fair_level(permitted, &requests);
        let mut total = 0.0;
        for (flow, request) in active_flows.iter().zip(&requests) {
            let inflow = channels[at.delivered + asm.relays[flow.relay].upstream.0];
            let SharedRates { permitted, sent } = request.rates(level);
            dx[asm.offsets.backlogs + flow.relay] = inflow - permitted;
            channels[at.rate + flow.loop_id] = sent;
            total += flow.count * sent;
        }
        for flow in &inactive_flows {
            dx[asm.offsets.backlogs + flow.relay] =
                channels[at.delivered + asm.relays[flow.relay].upstream.0];
            channels[at.rate + flow.loop_id] = 0.0;
        }
        for flow in &shared.flows {
            channels[at.permitted + flow.relay] = permitted;
            channels[at.present + flow.presence] = f64::from(u8::from(discrete.active[flow.loop_id]));
        }
        channels[at.rate + shared.loop_id] = total;
    }

    /// Arrivals at each link.
    fn set_arrivals(
        &mut self,
        history: &impl ChannelHistory,
        discrete: &DiscreteState,
        x: &[f64],
        channels: &mut [f64],
    ) {
        let asm = self.asm;
        for inputs in &mut self.links {
            inputs.own_arriving.fill(0.0);
            inputs.carried.fill(0.0);
        }
        let arriving = asm.channels.arriving;
        channels[arriving..arriving + asm.links.len()].fill(0.0);
        for (l, data) in asm.loops.iter().enumerate().filter(|(l, _)| !asm.is_shared_flow(*l)) {
            let class = &asm.sender_classes[data.class];
            let carried = class.law.carried().len();
            let first = class.first_carried + data.place * carried;
            for (hop, delays) in asm.hops_of(l).iter().zip(&self.delays.hops[data.hops.clone()]) {
                let rate = data.count * channel_at(history, channels, asm.channels.rate + l, delays.forward);
                channels[arriving + hop.link] += rate;
                let Some(LinkLaw { set, place }) = hop.router else { continue };
                let inputs = &mut self.links[set];
                inputs.own_arriving[place] += rate;
                let width = asm.link_sets[set].carried;
                for k in 0..carried {
                    let carried = channel_at(history, channels, first + k, delays.forward);
                    inputs.carried[place * width + k] += data.count * carried;
                }
            }
        }
        for (set, inputs) in asm.link_sets.iter().zip(&mut self.links) {
            let modes = discrete.laws[set.first_discrete..].iter();
            inputs.discrete.iter_mut().zip(modes).for_each(|(own, mode)| *own = *mode);
            for (i, &link) in set.links.iter().enumerate() {
                inputs.capacity[i] = discrete.configured[link];
                inputs.arriving[i] = channels[arriving + link];
                inputs.queue[i] = discrete.queue_models[link].output(x[asm.offsets.queues + link]).queue;
                if let Role::Queue(_) = set.role {
                    inputs.own_arriving[i] = inputs.arriving[i];
                }
            }
        }
    }

    /// Derivatives and signals of a link set.
    fn evaluate_link_laws(&self, s: usize, x: &[f64], dx: &mut [f64], channels: &mut [f64]) {
        let set = &self.asm.link_sets[s];
        let states = set.first_state..set.first_state + set.width * set.links.len();
        let signals = set.law.signal_names().len() * set.links.len();
        let x = &self.hysteresis.states(x)[states.clone()];
        set.law.derivatives(0, x, &self.links[s], &mut dx[states]);
        set.law.signals(0, x, &self.links[s], &mut channels[set.first_signal..][..signals]);
    }

    /// Queues, with their delays, marks, losses and departures.
    fn evaluate_queues(&self, discrete: &DiscreteState, x: &[f64], dx: &mut [f64], channels: &mut [f64]) {
        let asm = self.asm;
        let at = &asm.channels;
        for (l, link) in asm.links.iter().enumerate() {
            let (state, capacity) = (asm.offsets.queues + l, discrete.capacity[l]);
            let output = discrete.queue_models[l].output(x[state]);
            let arriving = channels[at.arriving + l];
            let (marked, dropped) = link.queue.map_or((0.0, 0.0), |LinkLaw { set, place }| {
                let p = output
                    .law_probability
                    .unwrap_or(channels[asm.link_sets[set].first_signal + place])
                    .clamp(0.0, 1.0);
                if asm.link_sets[set].role == Role::Queue(Verdicts::Marks) { (p, 0.0) } else { (0.0, p) }
            });
            let admitted = arriving * (1.0 - dropped);
            let stretched = output.overflow.unwrap_or(0.0);
            let excess = admitted * (1.0 - stretched) - capacity;
            let held = discrete.held[state];
            let overflow = if held == Held::Upper && excess > 0.0 { excess / admitted } else { stretched };
            let is_constant = output.is_constant
                || (held == Held::Lower && excess < 0.0)
                || (held == Held::Upper && excess > 0.0);
            dx[state] = excess;
            channels[at.delay + l] = output.queue / capacity;
            channels[at.slope + l] = if is_constant { 0.0 } else { excess / capacity };
            channels[at.marked + l] = marked;
            channels[at.lost + l] = 1.0 - (1.0 - dropped) * (1.0 - overflow);
            let (stays, is_empty) = (admitted * (1.0 - overflow), held == Held::Lower);
            channels[at.passing + l] = departing_share(stays, capacity, is_empty);
            channels[at.capacity + l] = capacity;
            // Delayed arrivals can be negative between the nodes of a step, and exceed the capacity at the node of a jump that ends it.
            channels[at.departing + l] = if is_empty {
                if stays > BEYOND * capacity { capacity } else { stays.max(0.0) }
            } else {
                capacity
            };
        }
    }

    /// Derivatives of a sender class.
    fn set_sender_derivatives(&mut self, c: usize, discrete: &DiscreteState, x: &[f64], dx: &mut [f64]) {
        let class = &self.asm.sender_classes[c];
        let states = class.first_state..class.first_state + class.width * class.loops.len();
        let x = &self.hysteresis.states(x)[states.clone()];
        class.law.derivatives(0, x, &self.senders[c], &mut dx[states.clone()]);
        self.unused.hold(class, &self.senders[c], x, &mut dx[states.clone()]);
        for (i, _) in class.loops.iter().enumerate().filter(|(_, l)| !discrete.active[**l]) {
            dx[states.start + i * class.width..][..class.width].fill(0.0);
        }
    }
}

/// The value of every channel before time zero: the constant rates of loops without a start time, and the signals that
/// links emit in response.
pub(crate) fn initial_history(rhs: &mut RightHandSide<'_>, discrete: &DiscreteState, x: &[f64]) -> Vec<f64> {
    let mut dx = vec![0.0; x.len()];
    let mut before = vec![0.0; rhs.asm.channels.count];
    // Rates, then the signals of links, then the response of senders.
    for _ in 0..4 {
        let mut channels = before.clone();
        rhs.evaluate(discrete, &ConstantHistory(&before), x, &mut dx, &mut channels);
        before = channels;
    }
    before
}
