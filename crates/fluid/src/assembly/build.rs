//! From the description of a network to its assembly.

use super::layout::{Channels, Offsets};
use super::{
    Assembly, FLOWS_IN_BLOCK, HopData, LinkData, LinkLaw, LinkSet, LoopData, LoopRole, Role, RouterData,
    SenderClass, SharedFlow, SharedLoop, check,
};
use crate::error::Error;
use crate::network::{CapacityStep, FluidLinkSpec, FluidNetwork, Loop, Relay, Share};
use millpond_law::fluid::{LinkLaws, SenderLaws, State};

/// The shortest delay from a link to the relay at the end of a loop, in shortest base round-trip times of the network.
const SHORTEST_TO_RELAY: f64 = 0.01;

impl Assembly {
    /// Assembles the equations of a network.
    ///
    /// # Errors
    /// [`Error::InvalidNetwork`] names the part that cannot be expressed as equations.
    pub fn new(network: FluidNetwork) -> Result<Self, Error> {
        check::check(&network)?;
        let mut parts = AssemblyBuilder::default();
        let shares: Vec<Option<Share>> = network.loops.iter().map(|l| l.share).collect();
        let laws: Vec<_> = network.loops.into_iter().map(|l| parts.add_loop(l)).collect();
        parts.classify_loops(laws);
        for link in network.links {
            parts.add_link(link);
        }
        for (i, relay) in network.relays.iter().enumerate() {
            parts.loops[relay.upstream.0].end_relay = Some(i);
            parts.loops[relay.downstream.0].start_relay = Some(i);
        }
        parts.set_stops(&network.relays);
        parts.collect_shared_flows(&shares);
        Ok(parts.finish(network.relays, network.steps))
    }
}

#[derive(Default)]
struct AssemblyBuilder {
    sender_classes: Vec<SenderClass>,
    link_sets: Vec<LinkSet>,
    links: Vec<LinkData>,
    loops: Vec<LoopData>,
    hops: Vec<HopData>,
    shared_loops: Vec<SharedLoop>,
}

impl AssemblyBuilder {
    /// Adds a loop without its class; returns its law.
    fn add_loop(&mut self, l: Loop) -> Box<dyn SenderLaws> {
        let first = self.hops.len();
        self.hops.extend(l.path.iter().map(|hop| HopData {
            link: hop.link.0,
            forward: hop.forward,
            backward: l.base_rtt - hop.forward,
            router: None,
            first_signal: 0,
            signals: 0,
        }));
        self.loops.push(LoopData {
            name: l.name,
            protocol: l.protocol.0,
            class: 0,
            place: 0,
            base_rtt: l.base_rtt,
            count: l.count,
            start: l.start,
            stop: l.stop,
            ecn: l.ecn,
            hops: first..self.hops.len(),
            end_relay: None,
            start_relay: None,
            role: LoopRole::Unshared,
        });
        l.sender
    }

    /// Puts every loop into the class of its law. Loops are sorted by feedback delay, then by path, because the
    /// fixed-step scheme processes blocks of consecutive loops. Delays that differ by less than a factor of two are equal; in
    /// networks of several blocks by less than a tenth, so that the shortest delay of a block is close to all of them.
    fn classify_loops(&mut self, laws: Vec<Box<dyn SenderLaws>>) {
        let mut laws: Vec<(usize, Box<dyn SenderLaws>)> = laws.into_iter().enumerate().collect();
        let hops = |l: usize| &self.hops[self.loops[l].hops.clone()];
        let links = |l: usize| hops(l).iter().map(|hop| hop.link);
        let parts_of_octave = if self.loops.len() > FLOWS_IN_BLOCK { 8.0 } else { 1.0 };
        let shortest = |l: usize| hops(l).iter().map(|hop| hop.backward).fold(1.0, f64::min);
        let age = |l: usize| (parts_of_octave * shortest(l).log2()) as i32;
        laws.sort_by(|(a, _), (b, _)| age(*a).cmp(&age(*b)).then_with(|| links(*a).cmp(links(*b))));
        for (l, law) in laws {
            let (class, place) = self.add_to_class(l, law);
            (self.loops[l].class, self.loops[l].place) = (class, place);
        }
    }

    /// Adds a loop to the class of its law, or to a new class. Returns class and position.
    fn add_to_class(&mut self, loop_index: usize, mut law: Box<dyn SenderLaws>) -> (usize, usize) {
        let protocol = self.loops[loop_index].protocol;
        for (c, class) in
            self.sender_classes.iter_mut().enumerate().filter(|(_, class)| class.protocol == protocol)
        {
            match class.law.append(law) {
                Ok(()) => {
                    class.loops.push(loop_index);
                    return (c, class.loops.len() - 1);
                }
                Err(back) => law = back,
            }
        }
        let width = law.states(0).len();
        self.sender_classes.push(SenderClass {
            law,
            loops: vec![loop_index],
            first_state: 0,
            width,
            first_discrete: 0,
            first_carried: 0,
            protocol,
        });
        (self.sender_classes.len() - 1, 0)
    }

    /// Sets the stops of the loops that begin at relays to those of the first loops of their chains.
    fn set_stops(&mut self, relays: &[Relay]) {
        for first in 0..self.loops.len() {
            let LoopData { start_relay: None, mut end_relay, stop, .. } = self.loops[first] else { continue };
            while let Some(relay) = end_relay {
                let next = &mut self.loops[relays[relay].downstream.0];
                (next.stop, end_relay) = (stop, next.end_relay);
            }
        }
    }

    /// Collects the flows of each shared loop.
    fn collect_shared_flows(&mut self, shares: &[Option<Share>]) {
        let parts = shares.iter().enumerate().filter_map(|(part, share)| Some((part, (*share)?)));
        for (presence, (part, Share { shared_loop, weight })) in parts.enumerate() {
            let known = self.shared_loops.iter().position(|shared| shared.loop_id == shared_loop.0);
            let place = known.unwrap_or_else(|| {
                self.shared_loops.push(SharedLoop { loop_id: shared_loop.0, flows: Vec::new() });
                self.shared_loops.len() - 1
            });
            self.loops[shared_loop.0].role = LoopRole::Shared(place);
            let data = &mut self.loops[part];
            data.role = LoopRole::FlowOf(place);
            let relay = data.start_relay.unwrap_or_default();
            let flow = SharedFlow { loop_id: part, relay, count: data.count, weight, presence };
            self.shared_loops[place].flows.push(flow);
        }
        for SharedLoop { loop_id, flows } in &self.shared_loops {
            let starts = flows.iter().map(|flow| self.loops[flow.loop_id].start);
            let first = starts.map(|start| start.unwrap_or(f64::NEG_INFINITY)).fold(f64::INFINITY, f64::min);
            self.loops[*loop_id].start = first.is_finite().then_some(first);
        }
    }

    fn add_link(&mut self, link: FluidLinkSpec) {
        let new = self.links.len();
        let queue = link.queue.map(|(law, verdicts)| self.add_law(new, Role::Queue(verdicts), law));
        let mut routers = Vec::new();
        for (protocol, law) in link.routers {
            let law = self.add_law(new, Role::Router(protocol.0), law);
            routers.push(RouterData { protocol: protocol.0, law });
        }
        let (name, capacity, buffer) = (link.name, link.capacity, link.buffer);
        let configured = link.configured;
        self.links.push(LinkData { name, capacity, configured, buffer, queue, routers });
    }

    /// Adds a law at a link to the set of its type, or to a new set.
    fn add_law(&mut self, link: usize, role: Role, mut law: Box<dyn LinkLaws>) -> LinkLaw {
        for (s, set) in self.link_sets.iter_mut().enumerate().filter(|(_, set)| set.role == role) {
            match set.law.append(law) {
                Ok(()) => {
                    set.links.push(link);
                    return LinkLaw { set: s, place: set.links.len() - 1 };
                }
                Err(back) => law = back,
            }
        }
        let width = law.states(0).len();
        self.link_sets.push(LinkSet {
            law,
            links: vec![link],
            first_state: 0,
            width,
            first_discrete: 0,
            first_signal: 0,
            role,
            carried: 0,
        });
        LinkLaw { set: self.link_sets.len() - 1, place: 0 }
    }

    fn finish(mut self, relays: Vec<Relay>, mut steps: Vec<CapacityStep>) -> Assembly {
        let flows = self.shared_loops.iter().map(|shared| shared.flows.len()).sum();
        let (offsets, channels) = self.assign_offsets(relays.len(), flows);
        let credits: Vec<usize> = (0..relays.len()).filter(|r| relays[*r].buffer.is_limited()).collect();
        let discrete = self.assign_discrete();
        self.connect_routers();
        steps.sort_by(|a, b| a.time.total_cmp(&b.time));
        let states = self.states(&relays, &credits);
        let Self { sender_classes, link_sets, links, loops, hops, shared_loops } = self;
        let shortest_rtt = loops.iter().map(|l| l.base_rtt).fold(f64::INFINITY, f64::min);
        Assembly {
            shortest_to_relay: SHORTEST_TO_RELAY * shortest_rtt,
            sender_classes,
            link_sets,
            links,
            loops,
            hops,
            relays,
            credits,
            shared_loops,
            steps,
            offsets,
            channels,
            states,
            discrete,
        }
    }

    /// Assigns an offset to every state and every channel.
    fn assign_offsets(&mut self, relays: usize, shared_flows: usize) -> (Offsets, Channels) {
        let (loops, links) = (self.loops.len(), self.links.len());
        let mut channels = Channels::new(loops, links, relays, shared_flows);
        let mut state = 0;
        for class in &mut self.sender_classes {
            class.first_state = state;
            class.first_carried = channels.count;
            state += class.width * class.loops.len();
            channels.count += class.law.carried().len() * class.loops.len();
        }
        for set in &mut self.link_sets {
            set.first_state = state;
            set.first_signal = channels.count;
            state += set.width * set.links.len();
            channels.count += set.law.signal_names().len() * set.links.len();
            if let Role::Router(protocol) = set.role {
                let carriers = self.sender_classes.iter().filter(|class| class.protocol == protocol);
                set.carried = carriers.map(|class| class.law.carried().len()).max().unwrap_or(0);
            }
        }
        let (queues, backlogs) = (state, state + links);
        (Offsets { queues, backlogs, credits: backlogs + relays }, channels)
    }

    /// Assigns an offset to every discrete state; returns their number.
    fn assign_discrete(&mut self) -> usize {
        let mut count = 0;
        for class in &mut self.sender_classes {
            class.first_discrete = count;
            count += class.law.discrete().len() * class.loops.len();
        }
        for set in &mut self.link_sets {
            set.first_discrete = count;
            count += set.law.discrete().len() * set.links.len();
        }
        count
    }

    /// Stores in each hop where its router's signals are.
    fn connect_routers(&mut self) {
        for l in &self.loops {
            for hop in &mut self.hops[l.hops.clone()] {
                let routers = &self.links[hop.link].routers;
                let Some(router) = routers.iter().find(|router| router.protocol == l.protocol) else {
                    continue;
                };
                let set = &self.link_sets[router.law.set];
                hop.router = Some(router.law);
                hop.signals = set.law.signal_names().len();
                hop.first_signal = set.first_signal + router.law.place * hop.signals;
            }
        }
    }

    fn states(&self, relays: &[Relay], credits: &[usize]) -> Vec<State> {
        let credit = |r: &usize| State::new("credit", "bit", relays[*r].buffer.reference());
        let laws = self.sender_classes.iter().flat_map(|c| (0..c.loops.len()).flat_map(|i| c.law.states(i)));
        let routers = self.link_sets.iter().flat_map(|s| (0..s.links.len()).flat_map(|i| s.law.states(i)));
        let queue = |link: &LinkData| State::new("queue", "bit", 0.0).within(0.0, link.buffer);
        let backlog = State::new("backlog", "bit", 0.0).within(0.0, f64::INFINITY);
        let queues = self.links.iter().map(queue);
        let queued = std::iter::repeat_n(State::new("queued before the relay", "bit", 0.0), credits.len());
        let relays =
            std::iter::repeat_n(backlog, relays.len()).chain(credits.iter().map(credit)).chain(queued);
        laws.chain(routers).chain(queues).chain(relays).collect()
    }
}
