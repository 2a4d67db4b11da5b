//! From a network to its assembly.

use super::layout::{Channels, Offsets};
use super::{
    Assembly, HopData, LinkClass, LinkData, LoopData, LoopRole, Role, SenderClass, SharedFlow, SharedLoop,
    check,
};
use crate::error::Error;
use crate::network::{CapacityStep, FluidNetwork, LinkSpec, Loop, Relay, Share};
use millpond_law::fluid::{LinkLaws, SenderLaws, State};

impl Assembly {
    /// Puts the network together, or says by name what has no meaning as equations.
    pub fn new(network: FluidNetwork) -> Result<Self, Error> {
        check::check(&network)?;
        let mut parts = Parts::default();
        let shares: Vec<Option<Share>> = network.loops.iter().map(|l| l.share).collect();
        let laws: Vec<_> = network.loops.into_iter().map(|l| parts.add_loop(l)).collect();
        parts.enroll_all(laws);
        for link in network.links {
            parts.add_link(link);
        }
        for (i, relay) in network.relays.iter().enumerate() {
            parts.loops[relay.upstream.0].end_relay = Some(i);
            parts.loops[relay.downstream.0].start_relay = Some(i);
        }
        parts.share(&shares);
        Ok(parts.finish(network.relays, network.steps))
    }
}

#[derive(Default)]
struct Parts {
    classes: Vec<SenderClass>,
    sets: Vec<LinkClass>,
    links: Vec<LinkData>,
    loops: Vec<LoopData>,
    hops: Vec<HopData>,
    shared: Vec<SharedLoop>,
}

impl Parts {
    /// Takes down a loop but for its class; gives back its law.
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
            part: LoopRole::Own,
        });
        l.sender
    }

    /// Every loop into the class of its law. Neighbours there hear words of like age, and of these, those of like paths
    /// come together: large networks are worked on in chunks of neighbours.
    fn enroll_all(&mut self, laws: Vec<Box<dyn SenderLaws>>) {
        let mut laws: Vec<(usize, Box<dyn SenderLaws>)> = laws.into_iter().enumerate().collect();
        let hops = |l: usize| &self.hops[self.loops[l].hops.clone()];
        let links = |l: usize| hops(l).iter().map(|hop| hop.link);
        let age = |l: usize| hops(l).iter().map(|hop| hop.backward).fold(1.0, f64::min).log2() as i32;
        laws.sort_by(|(a, _), (b, _)| age(*a).cmp(&age(*b)).then_with(|| links(*a).cmp(links(*b))));
        for (l, law) in laws {
            let (class, place) = self.enroll(l, law);
            (self.loops[l].class, self.loops[l].place) = (class, place);
        }
    }

    /// Into the class of its law, or a new one.
    fn enroll(&mut self, l: usize, mut law: Box<dyn SenderLaws>) -> (usize, usize) {
        let protocol = self.loops[l].protocol;
        for (c, class) in self.classes.iter_mut().enumerate().filter(|(_, class)| class.protocol == protocol)
        {
            match class.law.append(law) {
                Ok(()) => {
                    class.loops.push(l);
                    return (c, class.loops.len() - 1);
                }
                Err(back) => law = back,
            }
        }
        let width = law.states(0).len();
        self.classes.push(SenderClass {
            law,
            loops: vec![l],
            first_state: 0,
            width,
            first_carried: 0,
            protocol,
        });
        (self.classes.len() - 1, 0)
    }

    /// Brings the flows of each shared loop together.
    fn share(&mut self, shares: &[Option<Share>]) {
        let parts = shares.iter().enumerate().filter_map(|(part, share)| Some((part, (*share)?)));
        for (slot, (part, Share { of, weight })) in parts.enumerate() {
            let known = self.shared.iter().position(|shared| shared.whole == of.0);
            let place = known.unwrap_or_else(|| {
                self.shared.push(SharedLoop { whole: of.0, members: Vec::new() });
                self.shared.len() - 1
            });
            self.loops[of.0].part = LoopRole::Whole(place);
            let data = &mut self.loops[part];
            data.part = LoopRole::SharedFlow(place);
            let relay = data.start_relay.unwrap_or_default();
            let member = SharedFlow { part, relay, count: data.count, weight, slot };
            self.shared[place].members.push(member);
        }
        for SharedLoop { whole, members } in &self.shared {
            let starts = members.iter().map(|member| self.loops[member.part].start);
            let first = starts.map(|start| start.unwrap_or(f64::NEG_INFINITY)).fold(f64::INFINITY, f64::min);
            self.loops[*whole].start = first.is_finite().then_some(first);
        }
    }

    fn add_link(&mut self, link: LinkSpec) {
        let new = self.links.len();
        let queue = link.queue.map(|(law, verdicts)| self.install(new, Role::Queue(verdicts), law));
        let mut routers = Vec::new();
        for (protocol, law) in link.routers {
            let (set, place) = self.install(new, Role::LinkLawStates(protocol.0), law);
            routers.push((protocol.0, set, place));
        }
        let (name, capacity, buffer) = (link.name, link.capacity, link.buffer);
        self.links.push(LinkData { name, capacity, buffer, queue, routers });
    }

    /// Into the set of its law, or a new one.
    fn install(&mut self, link: usize, role: Role, mut law: Box<dyn LinkLaws>) -> (usize, usize) {
        for (s, set) in self.sets.iter_mut().enumerate().filter(|(_, set)| set.role == role) {
            match set.law.append(law) {
                Ok(()) => {
                    set.links.push(link);
                    return (s, set.links.len() - 1);
                }
                Err(back) => law = back,
            }
        }
        let width = law.states(0).len();
        let set =
            LinkClass { law, links: vec![link], first_state: 0, width, first_signal: 0, role, carried: 0 };
        self.sets.push(set);
        (self.sets.len() - 1, 0)
    }

    fn finish(mut self, relays: Vec<Relay>, mut steps: Vec<CapacityStep>) -> Assembly {
        let members = self.shared.iter().map(|shared| shared.members.len()).sum();
        let (offsets, channels) = self.place(relays.len(), members);
        self.connect();
        steps.sort_by(|a, b| a.time.total_cmp(&b.time));
        let states = self.states(relays.len());
        let Self { classes, sets, links, loops, hops, shared } = self;
        Assembly { classes, sets, links, loops, hops, relays, shared, steps, offsets, channels, states }
    }

    /// Gives every state and every channel its place.
    fn place(&mut self, relays: usize, members: usize) -> (Offsets, Channels) {
        let (loops, links) = (self.loops.len(), self.links.len());
        let mut channels = Channels::new(loops, links, relays, members);
        let mut state = 0;
        for class in &mut self.classes {
            class.first_state = state;
            class.first_carried = channels.count;
            state += class.width * class.loops.len();
            channels.count += class.law.carried().len() * class.loops.len();
        }
        for set in &mut self.sets {
            set.first_state = state;
            set.first_signal = channels.count;
            state += set.width * set.links.len();
            channels.count += set.law.signal_names().len() * set.links.len();
            if let Role::LinkLawStates(protocol) = set.role {
                let carriers = self.classes.iter().filter(|class| class.protocol == protocol);
                set.carried = carriers.map(|class| class.law.carried().len()).max().unwrap_or(0);
            }
        }
        (Offsets { queues: state, backlogs: state + links }, channels)
    }

    /// Tells each hop where its router speaks.
    fn connect(&mut self) {
        for l in &self.loops {
            for hop in &mut self.hops[l.hops.clone()] {
                let routers = &self.links[hop.link].routers;
                let Some(&(_, s, place)) = routers.iter().find(|(protocol, ..)| *protocol == l.protocol)
                else {
                    continue;
                };
                let set = &self.sets[s];
                hop.router = Some((s, place));
                hop.signals = set.law.signal_names().len();
                hop.first_signal = set.first_signal + place * hop.signals;
            }
        }
    }

    fn states(&self, relays: usize) -> Vec<State> {
        let laws = self.classes.iter().flat_map(|c| (0..c.loops.len()).flat_map(|i| c.law.states(i)));
        let routers = self.sets.iter().flat_map(|s| (0..s.links.len()).flat_map(|i| s.law.states(i)));
        let queue = |link: &LinkData| State::new("queue", "bit", 0.0).within(0.0, link.buffer);
        let backlog = State::new("backlog", "bit", 0.0).within(0.0, f64::INFINITY);
        let queues = self.links.iter().map(queue);
        laws.chain(routers).chain(queues).chain(std::iter::repeat_n(backlog, relays)).collect()
    }
}
