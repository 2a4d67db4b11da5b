//! Each piece of a network as a linear system about a moment: exact, by dual numbers.

use crate::assembly::{Assembly, Entity, HopData, SharedFlow};
use crate::discrete_state::Held;
use crate::fair_sharing::{ShareRequest, level};
use crate::frozen::{Frozen, OperatingPoint};
use crate::path::{join, neutral};
use crate::queue::{LEAST_LOAD, QueueOutput};
use crate::relay_feedback::RelayFeedback;
use millpond_law::fluid::{
    DownstreamFeedback, Dual64, LinkInput, PathAggregation, SenderInput, UpstreamFeedback, Verdicts,
    greatest, least,
};
use nalgebra::DMatrix;
use std::collections::BTreeMap;

/// A channel as it was some time ago.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// By its place in [`Assembly::channel_columns`].
    pub channel: usize,
    /// In seconds.
    pub delay: f64,
}

/// `x' = A x + B u`, `y = C x + D u`, where `u` are delayed channels and `y` channels. Rows are vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Subsystem {
    /// Whose.
    pub entity: Entity,
    /// Its states, by their places in the state vector. What is held at a bound has rows of zeros.
    pub states: Vec<usize>,
    /// u.
    pub inputs: Vec<Input>,
    /// y, by their places among the channels.
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

impl Frozen<'_> {
    /// All pieces about a moment: each active loop, each link, each relay. Together they are the network's
    /// linearization: every channel that moves is an output of one of them.
    pub fn subsystems(&self, point: &OperatingPoint) -> Vec<Subsystem> {
        let loops =
            (0..self.asm.loops.len()).filter(|l| self.is_active(*l)).map(|l| self.loop_subsystem(l, point));
        let links = (0..self.asm.links.len()).map(|link| self.link_subsystem(link, point));
        loops
            .chain(links)
            .chain((0..self.asm.relays.len()).map(|relay| self.relay_subsystem(relay, point)))
            .collect()
    }

    /// The sender of one loop: its inputs are what each of its links says, its own rate a round trip ago, and the next
    /// loop; its outputs its rate, its round-trip time, what it carries, and behind a relay what it may send.
    pub fn loop_subsystem(&self, l: usize, point: &OperatingPoint) -> Subsystem {
        let asm = self.asm;
        if asm.is_shared_flow(l) {
            return self.shared_flow_subsystem(l, point);
        }
        let data = &asm.loops[l];
        let class = &asm.classes[data.class];
        let first = class.first_state + data.place * class.width;
        let carried = class.law.carried().len();
        let own = class.first_carried + data.place * carried;
        let mut outputs = vec![asm.channels.rate + l, asm.channels.rtt + l];
        outputs.extend(own..own + carried);
        outputs.extend(asm.start_relays(l).map(|relay| asm.channels.permitted + relay));
        let states: Vec<usize> = (first..first + class.width).collect();
        let inputs = asm.heard(l);
        differentiate(Entity::Loop(l), states, inputs, outputs, point, |x, u| self.sender(l, point, x, u))
    }

    /// A flow's part of a shared loop: its inputs are what the loop's law permits and what comes of each flow, its output
    /// its rate.
    fn shared_flow_subsystem(&self, l: usize, point: &OperatingPoint) -> Subsystem {
        let (asm, at) = (self.asm, &self.asm.channels);
        let there = self.there(asm.controlling_loop(l));
        let permitted = asm.loops[l].start_relay.map(|relay| at.permitted + relay);
        let heard = permitted.into_iter().chain(there.iter().map(|member| asm.comes(member.relay)));
        let inputs = heard.map(|channel| Input { channel, delay: 0.0 }).collect();
        let outputs = vec![at.rate + l];
        differentiate(Entity::Loop(l), Vec::new(), inputs, outputs, point, |_, u| {
            let sends = self.divided(&there, point, u[0], &u[1..]);
            let own = there.iter().zip(sends).find(|(member, _)| member.part == l);
            (Vec::new(), vec![own.map_or(Dual64::from(0.0), |(_, sends)| sends)])
        })
    }

    /// The flows that share a loop now.
    fn there(&self, l: usize) -> Vec<&SharedFlow> {
        self.asm.flows_of(l).iter().filter(|member| self.is_active(member.part)).collect()
    }

    /// What one of each of the flows that share a loop sends of what is permitted to all, `comes` of each.
    fn divided(
        &self,
        there: &[&SharedFlow],
        point: &OperatingPoint,
        permitted: Dual64,
        comes: &[Dual64],
    ) -> Vec<Dual64> {
        let turn = |(member, comes): (&&SharedFlow, &Dual64)| self.asm.turn(member, &point.held, |_| *comes);
        let turns: Vec<ShareRequest<Dual64>> = there.iter().zip(comes).map(turn).collect();
        let level = level(permitted, &turns);
        turns.iter().map(|turn| turn.at(level).1).collect()
    }

    /// One relay: its inputs are what the loop before it has sent, what the links on the way let pass and what they mark,
    /// and what the loop behind it sends; its outputs its backlog, what arrives, and what of it is marked.
    pub fn relay_subsystem(&self, r: usize, point: &OperatingPoint) -> Subsystem {
        let asm = self.asm;
        let (relay, at) = (&asm.relays[r], &asm.channels);
        let (before, behind) = (relay.upstream.0, relay.downstream.0);
        let mut inputs = vec![Input { channel: at.rate + before, delay: relay.forward }];
        for hop in asm.hops_of(before) {
            let delay = relay.forward - hop.forward;
            let link_subsystem = [at.passing, at.lost, at.marked].map(|first| first + hop.link);
            inputs.extend(link_subsystem.map(|channel| Input { channel, delay }));
        }
        inputs.push(Input { channel: at.rate + behind, delay: 0.0 });
        let earlier = asm.loops[before].start_relay.map(|earlier| at.upstream_marked + earlier);
        inputs.extend(earlier.map(|channel| Input { channel, delay: asm.through(before) }));
        let outputs = vec![at.backlog + r, at.delivered + before, at.upstream_marked + r];
        let (states, hops) = (vec![asm.offsets.backlogs + r], 3 * asm.hops_of(before).len());
        let shows = f64::from(u8::from(asm.loops[before].ecn));
        differentiate(Entity::Relay(r), states, inputs, outputs, point, |x, u| {
            let (sent, hops, sends, earlier) = (u[0], &u[1..=hops], u[hops + 1], u.get(hops + 2));
            let passes = |inflow: Dual64, hop: &[Dual64]| inflow * hop[0] * (-hop[1] + 1.0);
            let inflow = hops.chunks_exact(3).fold(sent, passes);
            let clean = earlier.map_or(Dual64::from(1.0), |earlier| -*earlier + 1.0);
            let clean = hops.chunks_exact(3).fold(clean, |clean, hop| clean * (-hop[2] * shows + 1.0));
            (vec![inflow - sends], vec![x[0], inflow, -clean + 1.0])
        })
    }

    /// One link: its inputs are the rates of its loops and what they carry, its outputs what it says.
    pub fn link_subsystem(&self, link: usize, point: &OperatingPoint) -> Subsystem {
        let asm = self.asm;
        let at = &asm.channels;
        let sets: Vec<(usize, usize)> = asm.laws_of(link).collect();
        let of_law = |&(s, place): &(usize, usize)| {
            let first = asm.sets[s].first_state + place * asm.sets[s].width;
            first..first + asm.sets[s].width
        };
        let queue = asm.offsets.queues + link;
        let states = std::iter::once(queue).chain(sets.iter().flat_map(of_law)).collect();
        let mut outputs: Vec<usize> = [at.delay, at.slope, at.marked, at.lost, at.arriving, at.passing]
            .iter()
            .map(|first| first + link)
            .collect();
        for &(s, place) in &sets {
            let width = asm.sets[s].law.signal_names().len();
            let first = asm.sets[s].first_signal + place * width;
            outputs.extend(first..first + width);
        }
        let held = point.held[queue];
        let inputs = self.arrivals(link).into_iter().map(|(input, ..)| input).collect();
        differentiate(Entity::Link(link), states, inputs, outputs, point, |x, u| {
            self.router(link, &sets, held, x, u)
        })
    }

    /// Derivatives and outputs of a loop's sender. Behind a dry relay no more is sent than arrives there.
    fn sender(
        &self,
        l: usize,
        point: &OperatingPoint,
        x: &[Dual64],
        u: &[Dual64],
    ) -> (Vec<Dual64>, Vec<Dual64>) {
        let data = &self.asm.loops[l];
        let law = &self.asm.classes[data.class].law;
        let (loop_without_feedback, said, comes) = self.hear(l, point, u);
        let feedback = self.aggregate(l, x, &loop_without_feedback, &said);
        let input = SenderInput { feedback: &feedback, ..loop_without_feedback };
        let zero = Dual64::from(0.0);
        let mut dx = vec![zero; x.len()];
        let mut carried = vec![zero; law.carried().len()];
        let wanted = law.dual(data.place, x, &input, &mut dx, &mut carried);
        let backlog = data.start_relay.map(|relay| self.asm.offsets.backlogs + relay);
        let is_dry = backlog.is_some_and(|backlog| point.held[backlog] == Held::Lower);
        let there = self.there(l);
        let rate = match comes[..] {
            [inflow] if is_dry => least(wanted, inflow),
            _ if !there.is_empty() => {
                let sends = self.divided(&there, point, wanted, &comes);
                there.iter().zip(sends).fold(zero, |sum, (member, sends)| sum + sends * member.count)
            }
            _ => wanted,
        };
        let permitted = self.asm.start_relays(l).map(|_| wanted);
        let outputs = [rate, input.rtt()].into_iter().chain(carried).chain(permitted).collect();
        (dx, outputs)
    }

    /// What a sender hears but for its feedback, what each of its routers says, and what comes to the relays at its
    /// beginning.
    fn hear(
        &self,
        l: usize,
        point: &OperatingPoint,
        u: &[Dual64],
    ) -> (SenderInput<'static, Dual64>, Vec<Vec<Dual64>>, Vec<Dual64>) {
        let data = &self.asm.loops[l];
        let hops = self.asm.hops_of(l);
        let (zero, one) = (Dual64::from(0.0), Dual64::from(1.0));
        let (mut queueing, mut slope, mut unmarked, mut kept) = (zero, zero, one, one);
        let mut heard = u.iter().copied();
        let mut hear = || heard.next().unwrap_or(zero);
        let mut said = Vec::new();
        for hop in hops {
            queueing += hear();
            slope += hear();
            unmarked *= one - hear();
            kept *= one - hear();
            said.push((0..hop.signals).map(|_| hear()).collect());
        }
        if !data.ecn {
            (kept, unmarked) = (kept * unmarked, one);
        }
        let acked = hear();
        let mut present_queueing = zero;
        if self.asm.classes[data.class].law.inputs_used().present_queueing {
            hops.iter().for_each(|_| present_queueing += hear());
        }
        let (downstream, upstream, comes) = self.hear_relays(l, point, hear);
        let input = SenderInput {
            base_rtt: data.base_rtt,
            capacity: hops.iter().map(|hop| self.capacity(hop.link)).fold(f64::INFINITY, f64::min),
            queueing,
            queueing_slope: slope,
            marked: one - unmarked,
            lost: one - kept,
            acked,
            present_queueing,
            feedback: &[],
            downstream,
            upstream,
        };
        (input, said, comes)
    }

    /// What a sender is told by the relays on its two sides, and what comes to those at its beginning.
    fn hear_relays(
        &self,
        l: usize,
        point: &OperatingPoint,
        mut hear: impl FnMut() -> Dual64,
    ) -> (Option<DownstreamFeedback<Dual64>>, Option<UpstreamFeedback<Dual64>>, Vec<Dual64>) {
        let asm = self.asm;
        let present = |member: &SharedFlow| point.channels[asm.channels.present + member.slot] > 0.5;
        let said = |relay| {
            let sharing = asm.sharing(relay, present);
            (relay, RelayFeedback { permitted: hear(), backlog: hear(), rtt: hear(), sharing })
        };
        let said: BTreeMap<usize, RelayFeedback<Dual64>> = asm.end_relays(l).map(said).collect();
        let next = asm.downstream_feedback(l, present, |relay| said[&relay]);
        let handed: Vec<(usize, Dual64, Dual64)> =
            asm.start_relays(l).map(|relay| (relay, hear(), hear())).collect();
        let upstream_marked: BTreeMap<usize, Dual64> =
            handed.iter().map(|(relay, marked, _)| (*relay, *marked)).collect();
        let upstream = asm.upstream_feedback(l, &self.discrete.active, |relay| upstream_marked[&relay]);
        let there = handed.iter().filter(|(relay, ..)| self.is_active(asm.relays[*relay].downstream.0));
        (next, upstream, there.map(|(.., comes)| *comes).collect())
    }

    fn aggregate(
        &self,
        l: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        said: &[Vec<Dual64>],
    ) -> Vec<Dual64> {
        let data = &self.asm.loops[l];
        let law = &self.asm.classes[data.class].law;
        let kinds = law.feedback();
        let mut sums: Vec<Dual64> = kinds.iter().map(|kind| Dual64::from(neutral(kind.over_path))).collect();
        for signals in said.iter().filter(|_| !kinds.is_empty()) {
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
        sets: &[(usize, usize)],
        held: Held,
        x: &[Dual64],
        u: &[Dual64],
    ) -> (Vec<Dual64>, Vec<Dual64>) {
        let zero = Dual64::from(0.0);
        let arrivals = self.arrivals(link);
        let capacity = self.capacity(link);
        let rates = || arrivals.iter().zip(u).filter(|((_, _, carried), _)| carried.is_none());
        let arriving = rates().fold(zero, |sum, ((_, l, _), u)| sum + *u * self.asm.loops[*l].count);
        let (mut dx, mut said) = (vec![zero], Vec::new());
        let (mut marked, mut dropped) = (zero, zero);
        let seen = self.discrete.queue_models[link].see(x[0]);
        let mut states = &x[1..];
        for &(s, place) in sets {
            let set = &self.asm.sets[s];
            let is_own =
                |l: usize| self.asm.loops[l].protocol == set.protocol().unwrap_or(self.asm.loops[l].protocol);
            let own_rates = rates().filter(|((_, l, _), _)| is_own(*l));
            let own_arriving =
                own_rates.fold(zero, |sum, ((_, l, _), u)| sum + *u * self.asm.loops[*l].count);
            let mut carried = vec![zero; set.carried];
            for ((_, l, k), u) in arrivals.iter().zip(u) {
                if let Some(k) = k.filter(|_| is_own(*l)) {
                    carried[k] += *u * self.asm.loops[*l].count;
                }
            }
            let input = LinkInput { capacity, arriving, own_arriving, queue: seen.queue, carried: &carried };
            let (mine, rest) = states.split_at(set.width);
            states = rest;
            let mut derivatives = vec![zero; set.width];
            let mut signals = vec![zero; set.law.signal_names().len()];
            set.law.dual(place, mine, &input, &mut derivatives, &mut signals);
            match set.verdicts() {
                Some(Verdicts::Marks) => marked = seen.judged.unwrap_or(signals[0]),
                Some(Verdicts::Drops) => dropped = seen.judged.unwrap_or(signals[0]),
                None => {}
            }
            dx.extend(derivatives);
            said.extend(signals);
        }
        let (excess, outputs) = queue_says(&seen, arriving, (marked, dropped), held, capacity);
        dx[0] = excess;
        (dx, outputs.into_iter().chain(said).collect())
    }

    /// What arrives at a link: rates (no index) and carried quantities of each loop that crosses it.
    fn arrivals(&self, link: usize) -> Vec<(Input, usize, Option<usize>)> {
        let asm = self.asm;
        let mut arrivals = Vec::new();
        for l in (0..asm.loops.len()).filter(|l| self.is_active(*l) && !asm.is_shared_flow(*l)) {
            let data = &asm.loops[l];
            let class = &asm.classes[data.class];
            let carried = class.law.carried().len();
            let own = class.first_carried + data.place * carried;
            for HopData { forward: delay, .. } in
                asm.hops_of(l).iter().filter(|hop| hop.link == link).copied()
            {
                arrivals.push((Input { channel: asm.channels.rate + l, delay }, l, None));
                arrivals.extend((0..carried).map(|k| (Input { channel: own + k, delay }, l, Some(k))));
            }
        }
        arrivals
    }
}

impl Assembly {
    /// What the sender of a loop hears, in the order in which [`Frozen::sender`] reads it.
    fn heard(&self, l: usize) -> Vec<Input> {
        let at = &self.channels;
        let mut inputs = Vec::new();
        for hop in self.hops_of(l) {
            let said = hop.first_signal..hop.first_signal + hop.signals;
            let link_subsystem = [at.delay, at.slope, at.marked, at.lost].map(|first| first + hop.link);
            inputs.extend(
                link_subsystem.into_iter().chain(said).map(|channel| Input { channel, delay: hop.backward }),
            );
        }
        inputs.push(Input { channel: at.rate + l, delay: self.loops[l].base_rtt });
        if self.classes[self.loops[l].class].law.inputs_used().present_queueing {
            inputs
                .extend(self.hops_of(l).iter().map(|hop| Input { channel: at.delay + hop.link, delay: 0.0 }));
        }
        for relay in self.end_relays(l) {
            let next = self.controlling_loop(self.relays[relay].downstream.0);
            let delay = self.return_delay(&self.relays[relay]);
            let channels = [at.permitted + relay, at.backlog + relay, at.rtt + next];
            inputs.extend(channels.map(|channel| Input { channel, delay }));
        }
        for relay in self.start_relays(l) {
            inputs.extend(
                [at.upstream_marked + relay, self.comes(relay)].map(|channel| Input { channel, delay: 0.0 }),
            );
        }
        inputs
    }

    /// The channel of what comes to a relay, one flow.
    fn comes(&self, relay: usize) -> usize {
        self.channels.delivered + self.relays[relay].upstream.0
    }
}

impl Frozen<'_> {
    /// The exact Jacobian of [`Moment::derivatives`], every delay collapsed: `A + B (1 - D)^-1 C` of all pieces
    /// together; none if senders and links without states of their own answer each other without limit.
    pub fn jacobian(&self, point: &OperatingPoint) -> Option<DMatrix<f64>> {
        let (states, channels) = (self.asm.states.len(), self.asm.channels.count);
        let mut a = DMatrix::<f64>::zeros(states, states);
        let mut b = DMatrix::<f64>::zeros(states, channels);
        let mut c = DMatrix::<f64>::zeros(channels, states);
        let mut rest = DMatrix::<f64>::identity(channels, channels);
        for subsystem in self.subsystems(point) {
            for (row, &i) in subsystem.states.iter().enumerate() {
                subsystem
                    .states
                    .iter()
                    .enumerate()
                    .for_each(|(column, &j)| a[(i, j)] += subsystem.a[row][column]);
                subsystem
                    .inputs
                    .iter()
                    .enumerate()
                    .for_each(|(k, input)| b[(i, input.channel)] += subsystem.b[row][k]);
            }
            for (row, &i) in subsystem.outputs.iter().enumerate() {
                subsystem
                    .states
                    .iter()
                    .enumerate()
                    .for_each(|(column, &j)| c[(i, j)] += subsystem.c[row][column]);
                subsystem
                    .inputs
                    .iter()
                    .enumerate()
                    .for_each(|(k, input)| rest[(i, input.channel)] -= subsystem.d[row][k]);
            }
        }
        Some(a + b * rest.lu().solve(&c)?)
    }
}

/// What a queue does, and queueing delay, its slope, probabilities of a mark and of a loss, what arrives and what share
/// of it passes.
fn queue_says(
    seen: &QueueOutput<Dual64>,
    arriving: Dual64,
    (marked, dropped): (Dual64, Dual64),
    held: Held,
    capacity: f64,
) -> (Dual64, [Dual64; 6]) {
    let (zero, one) = (Dual64::from(0.0), Dual64::from(1.0));
    let admitted = arriving * (one - dropped);
    let stretched = seen.overflow.unwrap_or(zero);
    let excess = admitted * (one - stretched) - capacity;
    let overflow = if held == Held::Upper { excess / admitted } else { stretched };
    let slope = if held == Held::Free && !seen.is_constant { excess / capacity } else { zero };
    let lost = one - (one - dropped) * (one - overflow);
    let accepted = greatest(admitted * (one - overflow), Dual64::from(LEAST_LOAD * capacity));
    let passing = if held == Held::Lower { one } else { Dual64::from(capacity) / accepted };
    (excess, [seen.queue / capacity, slope, marked, lost, arriving, passing])
}

/// One column after the other: a unit disturbance of each state and each input.
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
