//! A queue for each flow, or for each hash value of flows, with a law of its own and a scheduler.

use crate::{
    Context, Gauge, Hooks, Link, MultiQueue, PacketKind, PacketView, QueueView, QueuedFlow, Queues, Random,
    Scheduler, Verdict, Victims,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use millpond_units::{Bytes, Rate, Time};

/// How packets are assigned to internal queues.
#[derive(Clone, Copy, Debug)]
pub enum Classifier {
    /// A queue for each flow.
    Flow,
    /// This many queues; a flow, in each direction, has the queue of its hash value. The hash depends on a random number
    /// of the run (RFC 8290, section 4.1).
    Hash(u32),
}

/// Which packets are dropped if the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The newest packet of the longest queue in bytes.
    Newest,
    /// From the head of the longest queue in bytes half its packets, but at most 64 (RFC 8290, section 4.1).
    OldestHalf,
}

/// Most packets that [`Overflow::OldestHalf`] drops at once.
const MOST_VICTIMS: u64 = 64;

/// Several internal queues, each with the same law and a state of its own, and a scheduler.
pub struct FlowQueues<S> {
    classifier: Classifier,
    overflow: Overflow,
    scheduler: S,
    laws: QueueLaws,
    /// The address of each flow.
    addresses: Vec<u32>,
    /// Random number of the hash.
    salt: Option<u32>,
}

impl<S: Scheduler> FlowQueues<S> {
    /// A queue for each flow. `law`: the law of each queue, made from this one by [`Link::for_flow`]; none for drop-tail.
    pub fn per_flow(scheduler: S, law: Option<Box<dyn Link>>) -> Self {
        Self::new(Classifier::Flow, Overflow::Newest, scheduler, law)
    }

    /// Queues with this classifier, this choice of victims, and these laws.
    pub fn new(classifier: Classifier, overflow: Overflow, scheduler: S, law: Option<Box<dyn Link>>) -> Self {
        Self { classifier, overflow, scheduler, laws: QueueLaws::new(law), addresses: Vec::new(), salt: None }
    }

    /// The number of the random stream of a queue: the address of its flow, which no other flow changes, or its hash value.
    fn stream(&self, queue: u32) -> u32 {
        match self.classifier {
            Classifier::Flow => self.addresses.get(queue as usize).copied().unwrap_or(queue),
            Classifier::Hash(_) => queue,
        }
    }
}

/// The address of a flow, in the direction of data or of acknowledgements, as a hash of 32 bits: the finalizer of MurmurHash3,
/// in which each bit of the key changes each bit of the result with a probability of about one half.
fn hash(address: u32, kind: PacketKind, salt: u32) -> u32 {
    let direction = if kind == PacketKind::Ack { 0x9e37_79b9 } else { 0 };
    let mut h = address.wrapping_add(direction) ^ salt;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

impl<S: Scheduler> MultiQueue for FlowQueues<S> {
    fn hooks(&self) -> Hooks {
        self.laws.hooks
    }

    fn has_flow_queues(&self) -> bool {
        true
    }

    fn add_flow(&mut self, flow: QueuedFlow) {
        self.addresses.push(flow.address);
        if let Classifier::Flow = self.classifier {
            self.scheduler.add_queue(flow.weight);
        }
    }

    fn classify(&mut self, cx: &mut Context<'_>, packet: &PacketView<'_>, flow: u32) -> u32 {
        match self.classifier {
            Classifier::Flow => flow,
            Classifier::Hash(queues) => {
                let salt = *self.salt.get_or_insert_with(|| cx.random.bits());
                let address = self.addresses.get(flow as usize).copied().unwrap_or(flow);
                hash(address, packet.kind, salt) % queues.max(1)
            }
        }
    }

    fn arrive(
        &mut self,
        cx: &mut Context<'_>,
        queue: u32,
        packet: &mut PacketView<'_>,
        view: &QueueView,
    ) -> Verdict {
        let stream = self.stream(queue);
        self.laws.apply(cx, queue, stream, |law, cx| law.arrive(cx, packet, view))
    }

    fn depart(
        &mut self,
        cx: &mut Context<'_>,
        queue: u32,
        packet: &mut PacketView<'_>,
        view: &QueueView,
    ) -> Verdict {
        let stream = self.stream(queue);
        self.laws.apply(cx, queue, stream, |law, cx| law.depart(cx, packet, view))
    }

    fn tick(&mut self, cx: &mut Context<'_>, capacity: Rate, queues: &dyn Queues) -> Option<Time> {
        self.laws.tick(cx, capacity, queues)
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        &mut self.scheduler
    }

    fn make_room(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues) -> Option<Victims> {
        match self.overflow {
            Overflow::Newest => newest(queue, bytes, queues),
            Overflow::OldestHalf => oldest_half(queue, bytes, queues),
        }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        self.laws.observe(gauge);
    }
}

/// The newest packet of the longest queue, if that is longer than the one that the arriving packet joins and has more than
/// one packet.
fn newest(queue: u32, bytes: Bytes, queues: &dyn Queues) -> Option<Victims> {
    let longest = (0..queues.count())
        .filter(|queue| queues.packets(*queue) > 1)
        .max_by_key(|queue| queues.bytes(*queue))?;
    (queues.bytes(longest) > queues.bytes(queue) + bytes).then_some(Victims {
        queue: longest,
        packets: 1,
        from_head: false,
    })
}

/// The older half of the longest queue, the arriving packet included.
fn oldest_half(queue: u32, bytes: Bytes, queues: &dyn Queues) -> Option<Victims> {
    let joined = |other: u32| if other == queue { bytes } else { Bytes::ZERO };
    let longest = (0..queues.count()).max_by_key(|other| queues.bytes(*other) + joined(*other))?;
    let waiting = queues.packets(longest);
    let half = (waiting + u64::from(longest == queue)).div_ceil(2).min(MOST_VICTIMS).min(waiting);
    (half > 0).then_some(Victims { queue: longest, packets: half, from_head: true })
}

/// The law of each internal queue that has had a packet.
struct QueueLaws {
    /// The law of a new queue.
    first: Option<Box<dyn Link>>,
    hooks: Hooks,
    queues: Vec<Option<(Box<dyn Link>, Random)>>,
    /// Seeds the random stream of each queue.
    seed: Option<u64>,
}

impl QueueLaws {
    fn new(law: Option<Box<dyn Link>>) -> Self {
        let first = law.and_then(|law| law.for_flow());
        let hooks = first.as_ref().map_or(Hooks::default(), |law| law.hooks());
        Self { first, hooks, queues: Vec::new(), seed: None }
    }

    /// Calls the law of a queue; [`Verdict::Keep`] if it has none.
    #[inline]
    fn apply(
        &mut self,
        cx: &mut Context<'_>,
        queue: u32,
        stream: u32,
        call: impl FnOnce(&mut dyn Link, &mut Context<'_>) -> Verdict,
    ) -> Verdict {
        let index = queue as usize;
        if self.queues.get(index).is_none_or(Option::is_none) {
            self.add(cx, index, stream);
        }
        match self.queues.get_mut(index) {
            Some(Some((law, random))) => call(law.as_mut(), &mut Context { now: cx.now, random }),
            _ => Verdict::Keep,
        }
    }

    #[cold]
    fn add(&mut self, cx: &mut Context<'_>, index: usize, stream: u32) {
        if self.queues.len() <= index {
            self.queues.resize_with(index + 1, || None);
        }
        let mut sample = || u64::from(cx.random.bits()) << 32 | u64::from(cx.random.bits());
        let seed = *self.seed.get_or_insert_with(&mut sample);
        let law = self.first.as_ref().and_then(|law| law.for_flow());
        self.queues[index] = law.map(|law| (law, Random::stream(seed, &format!("queue {stream}"))));
    }

    /// Ends a control interval of all laws; returns when the next one ends.
    fn tick(&mut self, cx: &mut Context<'_>, capacity: Rate, queues: &dyn Queues) -> Option<Time> {
        let link_bytes = (0..queues.count()).fold(Bytes::ZERO, |sum, queue| sum + queues.bytes(queue));
        let view = |queue: u32| QueueView {
            configured_capacity: capacity,
            bytes: queues.bytes(queue),
            link_bytes,
            packets: queues.packets(queue),
            head_sojourn: queues.head_sojourn(queue),
        };
        for (queue, law) in (0..).zip(&mut self.queues) {
            if let Some((law, random)) = law {
                law.tick(&mut Context { now: cx.now, random }, &view(queue));
            }
        }
        // The law that no queue uses determines the time of the next interval.
        let empty = QueueView {
            configured_capacity: capacity,
            bytes: Bytes::ZERO,
            link_bytes,
            packets: 0,
            head_sojourn: millpond_units::Span::ZERO,
        };
        self.first.as_mut()?.tick(cx, &empty)
    }

    /// Reports the greatest value of each quantity of the laws.
    fn observe(&self, gauge: &mut dyn Gauge) {
        let mut greatest: Vec<(&'static str, &'static str, f64)> = Vec::new();
        for (law, _) in self.queues.iter().flatten() {
            let mut observed: Vec<(&'static str, &'static str, f64)> = Vec::new();
            law.observe(&mut observed);
            for (name, unit, value) in observed {
                match greatest.iter_mut().find(|(known, ..)| *known == name) {
                    Some((_, _, most)) => *most = most.max(value),
                    None => greatest.push((name, unit, value)),
                }
            }
        }
        greatest.into_iter().for_each(|(name, unit, value)| gauge.quantity(name, unit, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::{FairScheduler, FlowQueueing};
    use crate::{Ecn, Header};
    use alloc::collections::BTreeSet;
    use millpond_units::Span;

    /// Packets of 1000 bytes in each queue.
    struct Lengths(&'static [u64]);

    impl Queues for Lengths {
        fn count(&self) -> u32 {
            self.0.len() as u32
        }

        fn packets(&self, queue: u32) -> u64 {
            self.0.get(queue as usize).copied().unwrap_or(0)
        }

        fn bytes(&self, queue: u32) -> Bytes {
            Bytes::new(self.packets(queue) * 1000)
        }

        fn head_bytes(&self, _queue: u32) -> Bytes {
            Bytes::new(1000)
        }

        fn head_sojourn(&self, _queue: u32) -> Span {
            Span::ZERO
        }
    }

    const PACKET: Bytes = Bytes::new(1000);

    #[test]
    fn the_newest_packet_of_the_longest_queue_makes_room() {
        let victim = |queue, lengths| newest(queue, PACKET, &Lengths(lengths)).map(|victims| victims.queue);
        assert_eq!(victim(1, &[10, 1, 3]), Some(0));
        assert_eq!(victim(0, &[10, 1, 3]), None, "its own queue is the longest");
        assert_eq!(victim(1, &[1, 0]), None);
    }

    #[test]
    fn half_of_the_fattest_queue_is_dropped_from_its_head_up_to_64_packets() {
        let victims = |queue, lengths| oldest_half(queue, PACKET, &Lengths(lengths));
        let head = |queue, packets| Some(Victims { queue, packets, from_head: true });
        assert_eq!(victims(1, &[10, 1]), head(0, 5));
        assert_eq!(victims(0, &[10, 1]), head(0, 6), "eleven with the arriving one");
        assert_eq!(victims(1, &[1000, 1]), head(0, 64));
        assert_eq!(victims(0, &[0, 0]), None, "the arriving packet is the fattest queue");
    }

    /// The queues of flows with these names.
    fn classes(salt: u64, names: &[String]) -> Vec<u32> {
        let mut queues =
            FlowQueues::new(Classifier::Hash(1024), Overflow::OldestHalf, FlowQueueing::new(PACKET), None);
        let mut random = Random::stream(salt, "link");
        let (mut ecn, mut header) = (Ecn::Ect0, Header::NONE);
        let packet =
            PacketView { bytes: PACKET, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header: &mut header };
        let cx = &mut Context { now: Time::ZERO, random: &mut random };
        names.iter().for_each(|name| queues.add_flow(QueuedFlow::new(name, 1.0)));
        (0..).take(names.len()).map(|flow| queues.classify(cx, &packet, flow)).collect()
    }

    fn names(flows: u32) -> Vec<String> {
        (0..flows).map(|flow| format!("user.{flow}")).collect()
    }

    #[test]
    fn flows_collide_as_often_as_random_numbers() {
        // 100 flows in 1024 queues: 1024 (1 - (1 - 1/1024)^100) = 95.3 queues are used, with a deviation of 2.1. The mean of
        // 400 runs has a standard error of 0.1.
        let used = |seed| classes(seed, &names(100)).into_iter().collect::<BTreeSet<u32>>().len() as f64;
        let mean = (0..400).map(used).sum::<f64>() / 400.0;
        let expected = 1024.0 * (1.0 - libm::pow(1.0 - 1.0 / 1024.0, 100.0));
        assert!((mean - expected).abs() < 0.5, "{mean}, not {expected}");
    }

    #[test]
    fn the_hash_depends_on_the_seed_and_not_on_other_flows() {
        let (flows, reversed) = (names(50), names(90).into_iter().rev().collect::<Vec<_>>());
        assert_ne!(classes(1, &flows), classes(2, &flows));
        let mut found = classes(1, &reversed);
        found.reverse();
        assert_eq!(classes(1, &flows), found[..50]);
    }

    /// Marks every second packet on average.
    struct Coin;

    impl Link for Coin {
        fn hooks(&self) -> Hooks {
            Hooks { arrive: true, ..Hooks::default() }
        }

        fn arrive(&mut self, cx: &mut Context<'_>, _: &mut PacketView<'_>, _: &QueueView) -> Verdict {
            if cx.random.chance(0.5) { Verdict::Mark } else { Verdict::Keep }
        }

        fn for_flow(&self) -> Option<Box<dyn Link>> {
            Some(Box::new(Self))
        }
    }

    /// The verdicts about a hundred packets of the last of these flows.
    fn verdicts(flows: &[&str]) -> Vec<Verdict> {
        let mut queues = FlowQueues::per_flow(FairScheduler::default(), Some(Box::new(Coin)));
        flows.iter().for_each(|name| queues.add_flow(QueuedFlow::new(name, 1.0)));
        let mut random = Random::stream(1, "link");
        let (mut ecn, mut header) = (Ecn::Ect0, Header::NONE);
        let view = QueueView {
            configured_capacity: Rate::ZERO,
            bytes: PACKET,
            link_bytes: PACKET,
            packets: 1,
            head_sojourn: Span::ZERO,
        };
        let mut verdict = |_| {
            let mut packet = PacketView {
                bytes: PACKET,
                kind: PacketKind::Data,
                flow: 0,
                ecn: &mut ecn,
                header: &mut header,
            };
            let cx = &mut Context { now: Time::ZERO, random: &mut random };
            let queue = queues.classify(cx, &packet, flows.len() as u32 - 1);
            queues.arrive(cx, queue, &mut packet, &view)
        };
        (0..100).map(&mut verdict).collect()
    }

    #[test]
    fn the_random_decisions_about_a_flow_depend_on_its_name_and_not_on_other_flows() {
        assert_eq!(verdicts(&["user"]), verdicts(&["unrelated", "other", "user"]));
        assert_ne!(verdicts(&["user"]), verdicts(&["another"]));
    }
}
