//! The right-hand side: what every state does now, and what every channel says, given the past of the channels.

use crate::assembly::{Assembly, Role, SharedFlow, SharedLoop};
use crate::delays::{DelayTable, NO_DELAY};
use crate::discrete_state::{DiscreteState, Held};
use crate::fair_sharing::{ShareRequest, level};
use crate::path::{join, neutral, selects_hop};
use crate::path_switches::{GuardOwner, PathSwitch};
use crate::queue::passing;
use crate::relay_feedback::RelayFeedback;
use millpond_law::fluid::{LinkInputs, PathAggregation, SenderInput, SenderInputs, Verdicts};
use std::ops::Range;

/// The past of the channels.
pub(crate) trait ChannelHistory {
    /// What a channel said a tap's delay ago.
    fn get(&self, channel: usize, tap: usize) -> f64;
}

/// A past in which nothing ever changed: these channels at all times.
pub(crate) struct ConstantHistory<'a>(pub(crate) &'a [f64]);

impl ChannelHistory for ConstantHistory<'_> {
    fn get(&self, channel: usize, _tap: usize) -> f64 {
        self.0[channel]
    }
}

/// A channel now or then.
fn see(past: &impl ChannelHistory, now: &[f64], channel: usize, tap: usize) -> f64 {
    if tap == NO_DELAY { now[channel] } else { past.get(channel, tap) }
}

/// The right-hand side with its working memory.
pub(crate) struct RightHandSide<'a> {
    pub(crate) asm: &'a Assembly,
    pub(crate) delays: DelayTable,
    /// Of each class.
    pub(crate) senders: Vec<SenderInputs>,
    /// Of each set.
    pub(crate) links: Vec<LinkInputs>,
    rates: Vec<f64>,
    carried: Vec<f64>,
    signals: Vec<f64>,
    mapped: Vec<f64>,
    /// Which hop counts, and where each sender's switches are, by class and place.
    pub(crate) switches: Vec<PathSwitch>,
    switches_of: Vec<Vec<Range<usize>>>,
    /// Who has guards, and how many.
    pub(crate) guarded: Vec<(GuardOwner, usize)>,
    /// Guard by guard: whose it is, and which of theirs.
    pub(crate) guards: Vec<(GuardOwner, usize)>,
}

impl<'a> RightHandSide<'a> {
    pub(crate) fn new(asm: &'a Assembly) -> Self {
        let senders = asm.classes.iter().map(|class| {
            let mut inputs = SenderInputs::zeros(class.loops.len(), class.law.feedback().len());
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
        let links = asm.sets.iter().map(|set| LinkInputs::zeros(set.links.len(), set.carried));
        let (switches, switches_of) = asm.switches();
        let guarded = asm.guarded(switches.len());
        let guards = guarded.iter().flat_map(|(whose, count)| (0..*count).map(|which| (*whose, which)));
        Self {
            asm,
            delays: DelayTable::new(asm),
            senders: senders.collect(),
            links: links.collect(),
            rates: Vec::new(),
            carried: Vec::new(),
            signals: Vec::new(),
            mapped: Vec::new(),
            guards: guards.collect(),
            guarded,
            switches,
            switches_of,
        }
    }

    /// Derivatives with bounds disregarded, and channels, at these states.
    pub(crate) fn evaluate(
        &mut self,
        discrete: &DiscreteState,
        past: &impl ChannelHistory,
        x: &[f64],
        dx: &mut [f64],
        channels: &mut [f64],
    ) {
        self.stain(past, channels);
        for class in 0..self.asm.classes.len() {
            self.hear(class, discrete, past, x);
            self.hear_relays(class, discrete, past, channels);
        }
        self.deliver(past, channels, true);
        for class in 0..self.asm.classes.len() {
            self.send(class, discrete, x, channels);
        }
        self.relay(discrete, x, dx, channels);
        self.arrive(past, discrete, x, channels);
        for set in 0..self.asm.sets.len() {
            self.speak(set, x, dx, channels);
        }
        self.queue(discrete, x, dx, channels);
        self.deliver(past, channels, false);
        for class in 0..self.asm.classes.len() {
            self.derive(class, discrete, x, dx);
        }
    }

    /// What each sender of a class sees.
    fn hear(&mut self, c: usize, discrete: &DiscreteState, past: &impl ChannelHistory, x: &[f64]) {
        let (asm, class) = (self.asm, &self.asm.classes[c]);
        let channels = &asm.channels;
        let meets_queues = class.law.inputs_used().present_queueing;
        for (i, &l) in class.loops.iter().enumerate() {
            let (mut queueing, mut slope, mut unmarked, mut kept) = (0.0, 0.0, 1.0, 1.0);
            let (mut capacity, mut ahead) = (f64::INFINITY, 0.0);
            for (hop, lookups) in asm.hops_of(l).iter().zip(&self.delays.hops[asm.loops[l].hops.clone()]) {
                let of = |channel: usize| past.get(channel + hop.link, lookups.backward);
                queueing += of(channels.delay);
                slope += of(channels.slope);
                unmarked *= 1.0 - of(channels.marked);
                kept *= 1.0 - of(channels.lost);
                capacity = capacity.min(discrete.capacity[hop.link]);
                if meets_queues {
                    let queue = x[asm.offsets.queues + hop.link];
                    ahead += discrete.queue_models[hop.link].see(queue).queue / discrete.capacity[hop.link];
                }
            }
            if !asm.loops[l].ecn {
                (kept, unmarked) = (kept * unmarked, 1.0);
            }
            let inputs = &mut self.senders[c];
            inputs.capacity[i] = capacity;
            inputs.queueing[i] = queueing;
            inputs.queueing_slope[i] = slope;
            inputs.marked[i] = 1.0 - unmarked;
            inputs.lost[i] = 1.0 - kept;
            inputs.present_queueing[i] = ahead;
            inputs.acked[i] = past.get(channels.rate + l, self.delays.loops[l].rtt);
            self.listen(c, i, l, past, x);
        }
    }

    /// What each sender of a class is told by the relays on its two sides.
    fn hear_relays(&mut self, c: usize, discrete: &DiscreteState, past: &impl ChannelHistory, now: &[f64]) {
        let (asm, delays, at) = (self.asm, &self.delays, &self.asm.channels);
        let is_there = |member: &SharedFlow, tap| past.get(at.present + member.slot, tap) > 0.5;
        let said = |relay: usize| {
            let (tap, next) = (delays.relays[relay], asm.controlling_loop(asm.relays[relay].downstream.0));
            RelayFeedback {
                permitted: past.get(at.permitted + relay, tap),
                backlog: past.get(at.backlog + relay, tap),
                rtt: past.get(at.rtt + next, tap),
                sharing: asm.sharing(relay, |member| is_there(member, tap)),
            }
        };
        for (i, &l) in asm.classes[c].loops.iter().enumerate().filter(|(_, l)| !asm.is_shared_flow(**l)) {
            let inputs = &mut self.senders[c];
            if let Some(next) = inputs.downstream.get_mut(i) {
                *next = asm.downstream_feedback(l, |member| is_there(member, delays.loops[l].rtt), said);
            }
            if let Some(upstream) = inputs.upstream.get_mut(i) {
                *upstream =
                    asm.upstream_feedback(l, &discrete.active, |relay| now[at.upstream_marked + relay]);
            }
        }
    }

    /// What of the flow that comes to each relay has been marked on the way; which parts of shared loops are there.
    fn stain(&self, past: &impl ChannelHistory, channels: &mut [f64]) {
        let (asm, at) = (self.asm, &self.asm.channels);
        for (r, relay) in asm.relays.iter().enumerate() {
            let (l, before) = (relay.upstream.0, &asm.loops[relay.upstream.0]);
            let through = self.delays.loops[l].through;
            let upstream_marked =
                before.start_relay.map_or(0.0, |earlier| past.get(at.upstream_marked + earlier, through));
            let hops =
                asm.hops_of(l).iter().zip(&self.delays.hops[before.hops.clone()]).filter(|_| before.ecn);
            let clean = hops.map(|(hop, lookups)| 1.0 - past.get(at.marked + hop.link, lookups.onward));
            channels[at.upstream_marked + r] = 1.0 - (1.0 - upstream_marked) * clean.product::<f64>();
        }
    }

    /// The feedback of one sender's own routers.
    fn listen(&mut self, c: usize, i: usize, l: usize, past: &impl ChannelHistory, x: &[f64]) {
        let (asm, class) = (self.asm, &self.asm.classes[c]);
        let kinds = class.law.feedback();
        let width = kinds.len();
        for (k, kind) in kinds.iter().enumerate() {
            self.senders[c].feedback[i * width + k] = neutral(kind.over_path);
        }
        if width == 0 {
            return;
        }
        let x = &x[class.first_state + i * class.width..][..class.width];
        let switches = self.switches_of[c][i].clone();
        self.switches[switches.clone()].iter_mut().for_each(PathSwitch::begin);
        let hops = asm.hops_of(l).iter().zip(&self.delays.hops[asm.loops[l].hops.clone()]);
        for (place, (hop, lookups)) in hops.enumerate() {
            self.signals.clear();
            let signals = hop.first_signal..hop.first_signal + hop.signals;
            self.signals.extend(signals.map(|channel| past.get(channel, lookups.backward)));
            if class.law.maps_signals() {
                self.mapped.resize(width, 0.0);
                let input = self.senders[c].flow(i);
                let input = SenderInput { feedback: &[], ..input };
                class.law.map_signals(i, x, &input, &self.signals, &mut self.mapped);
                std::mem::swap(&mut self.signals, &mut self.mapped);
            }
            let said = kinds.iter().zip(&self.signals).filter(|(kind, _)| selects_hop(kind.over_path));
            for (switch, (_, signal)) in self.switches[switches.clone()].iter_mut().zip(said) {
                switch.hear(place, *signal);
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

    /// What each sender of a class sends and carries.
    fn send(&mut self, c: usize, discrete: &DiscreteState, x: &[f64], channels: &mut [f64]) {
        let (asm, class) = (self.asm, &self.asm.classes[c]);
        let (flows, carried) = (class.loops.len(), class.law.carried().len());
        self.rates.resize(flows, 0.0);
        self.carried.resize(flows * carried, 0.0);
        let x = &x[class.first_state..][..flows * class.width];
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

    /// What reaches the ends of the loops: at relays, or elsewhere.
    fn deliver(&self, past: &impl ChannelHistory, channels: &mut [f64], at_relays: bool) {
        let asm = self.asm;
        for (l, data) in
            asm.loops.iter().enumerate().filter(|(_, data)| data.end_relay.is_some() == at_relays)
        {
            let sent = see(past, channels, asm.channels.rate + l, self.delays.loops[l].through);
            let lookups = &self.delays.hops[data.hops.clone()];
            let passing = asm.hops_of(l).iter().zip(lookups).map(|(hop, lookups)| {
                let (passing, lost) = (asm.channels.passing + hop.link, asm.channels.lost + hop.link);
                see(past, channels, passing, lookups.onward)
                    * (1.0 - see(past, channels, lost, lookups.onward))
            });
            channels[asm.channels.delivered + l] = sent * passing.product::<f64>();
        }
    }

    /// A loop behind a relay cannot send what the relay does not have.
    fn relay(&self, discrete: &DiscreteState, x: &[f64], dx: &mut [f64], channels: &mut [f64]) {
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
        for shared in &asm.shared {
            self.divide(shared, discrete, dx, channels);
        }
    }

    /// What the flows of a shared loop send of what its law permits, and what that makes together.
    fn divide(&self, shared: &SharedLoop, discrete: &DiscreteState, dx: &mut [f64], channels: &mut [f64]) {
        let (asm, at) = (self.asm, &self.asm.channels);
        let permitted = channels[at.rate + shared.whole];
        let (there, gone): (Vec<&SharedFlow>, Vec<&SharedFlow>) =
            shared.members.iter().partition(|member| discrete.active[member.part]);
        let turns: Vec<ShareRequest<f64>> = there
            .iter()
            .map(|member| asm.turn(member, &discrete.held, |l| channels[at.delivered + l]))
            .collect();
        let level = level(permitted, &turns);
        let mut together = 0.0;
        for (member, turn) in there.iter().zip(&turns) {
            let inflow = channels[at.delivered + asm.relays[member.relay].upstream.0];
            let (may, sends) = turn.at(level);
            dx[asm.offsets.backlogs + member.relay] = inflow - may;
            channels[at.rate + member.part] = sends;
            together += member.count * sends;
        }
        for member in &gone {
            dx[asm.offsets.backlogs + member.relay] =
                channels[at.delivered + asm.relays[member.relay].upstream.0];
            channels[at.rate + member.part] = 0.0;
        }
        for member in &shared.members {
            channels[at.permitted + member.relay] = permitted;
            channels[at.present + member.slot] = f64::from(u8::from(discrete.active[member.part]));
        }
        channels[at.rate + shared.whole] = together;
    }

    /// What arrives at each link.
    fn arrive(
        &mut self,
        past: &impl ChannelHistory,
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
            let class = &asm.classes[data.class];
            let carried = class.law.carried().len();
            let first = class.first_carried + data.place * carried;
            for (hop, lookups) in asm.hops_of(l).iter().zip(&self.delays.hops[data.hops.clone()]) {
                let rate = data.count * see(past, channels, asm.channels.rate + l, lookups.forward);
                channels[arriving + hop.link] += rate;
                let Some((set, place)) = hop.router else { continue };
                let inputs = &mut self.links[set];
                inputs.own_arriving[place] += rate;
                let width = asm.sets[set].carried;
                for k in 0..carried {
                    let carried = see(past, channels, first + k, lookups.forward);
                    inputs.carried[place * width + k] += data.count * carried;
                }
            }
        }
        for (set, inputs) in asm.sets.iter().zip(&mut self.links) {
            for (i, &link) in set.links.iter().enumerate() {
                inputs.capacity[i] = discrete.capacity[link];
                inputs.arriving[i] = channels[arriving + link];
                inputs.queue[i] = discrete.queue_models[link].see(x[asm.offsets.queues + link]).queue;
                if let Role::Queue(_) = set.role {
                    inputs.own_arriving[i] = inputs.arriving[i];
                }
            }
        }
    }

    /// What the laws of a set do and say.
    fn speak(&self, s: usize, x: &[f64], dx: &mut [f64], channels: &mut [f64]) {
        let set = &self.asm.sets[s];
        let states = set.first_state..set.first_state + set.width * set.links.len();
        let signals = set.law.signal_names().len() * set.links.len();
        set.law.derivatives(0, &x[states.clone()], &self.links[s], &mut dx[states.clone()]);
        set.law.signals(0, &x[states], &self.links[s], &mut channels[set.first_signal..][..signals]);
    }

    /// The queue of each link, and what it does to packets.
    fn queue(&self, discrete: &DiscreteState, x: &[f64], dx: &mut [f64], channels: &mut [f64]) {
        let asm = self.asm;
        let at = &asm.channels;
        for (l, link) in asm.links.iter().enumerate() {
            let (state, capacity) = (asm.offsets.queues + l, discrete.capacity[l]);
            let seen = discrete.queue_models[l].see(x[state]);
            let arriving = channels[at.arriving + l];
            let (marked, dropped) = link.queue.map_or((0.0, 0.0), |(set, place)| {
                let p = seen.judged.unwrap_or(channels[asm.sets[set].first_signal + place]).clamp(0.0, 1.0);
                if asm.sets[set].role == Role::Queue(Verdicts::Marks) { (p, 0.0) } else { (0.0, p) }
            });
            let admitted = arriving * (1.0 - dropped);
            let stretched = seen.overflow.unwrap_or(0.0);
            let excess = admitted * (1.0 - stretched) - capacity;
            let held = discrete.held[state];
            let overflow = if held == Held::Upper && excess > 0.0 { excess / admitted } else { stretched };
            let is_constant = seen.is_constant
                || (held == Held::Lower && excess < 0.0)
                || (held == Held::Upper && excess > 0.0);
            dx[state] = excess;
            channels[at.delay + l] = seen.queue / capacity;
            channels[at.slope + l] = if is_constant { 0.0 } else { excess / capacity };
            channels[at.marked + l] = marked;
            channels[at.lost + l] = 1.0 - (1.0 - dropped) * (1.0 - overflow);
            let (stays, is_empty) = (admitted * (1.0 - overflow), held == Held::Lower);
            channels[at.passing + l] = passing(stays, capacity, is_empty);
            channels[at.departing + l] = if is_empty { stays } else { capacity };
        }
    }

    /// What the states of a class do.
    fn derive(&self, c: usize, discrete: &DiscreteState, x: &[f64], dx: &mut [f64]) {
        let class = &self.asm.classes[c];
        let states = class.first_state..class.first_state + class.width * class.loops.len();
        class.law.derivatives(0, &x[states.clone()], &self.senders[c], &mut dx[states.clone()]);
        for (i, _) in class.loops.iter().enumerate().filter(|(_, l)| !discrete.active[**l]) {
            dx[states.start + i * class.width..][..class.width].fill(0.0);
        }
    }
}

/// What every channel said before time zero: what loops that have always been there send, and what links say to that.
pub(crate) fn before(rhs: &mut RightHandSide<'_>, discrete: &DiscreteState, x: &[f64]) -> Vec<f64> {
    let mut dx = vec![0.0; x.len()];
    let mut before = vec![0.0; rhs.asm.channels.count];
    // Rates, then what links say of them, then what senders make of that.
    for _ in 0..4 {
        let mut channels = before.clone();
        rhs.evaluate(discrete, &ConstantHistory(&before), x, &mut dx, &mut channels);
        before = channels;
    }
    before
}
