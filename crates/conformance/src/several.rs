//! Laws with several internal queues serve each packet once, for any packets.

use crate::any::{Hook, Visit};
use crate::links::{Seen, assert_advances, assert_finite_quantities};
use millpond_law::{Context, Hooks, MultiQueue, PacketView, QueuedFlow, Queues, Random, Verdict};
use millpond_units::{Bytes, Span, Time};
use std::collections::VecDeque;

/// Number of flows of the packets.
const FLOWS: u32 = 7;

/// Internal queues of packets, each with its size and arrival time.
struct QueueBacklog {
    queues: Vec<VecDeque<(Bytes, Time)>>,
    now: Time,
}

impl QueueBacklog {
    fn head(&self, queue: u32) -> Option<&(Bytes, Time)> {
        self.queues.get(queue as usize)?.front()
    }

    fn push(&mut self, queue: u32, bytes: Bytes) {
        if self.queues.len() <= queue as usize {
            self.queues.resize_with(queue as usize + 1, VecDeque::new);
        }
        self.queues[queue as usize].push_back((bytes, self.now));
    }
}

impl Queues for QueueBacklog {
    fn count(&self) -> u32 {
        self.queues.len() as u32
    }

    fn packets(&self, queue: u32) -> u64 {
        self.queues.get(queue as usize).map_or(0, |queue| queue.len() as u64)
    }

    fn bytes(&self, queue: u32) -> Bytes {
        let sizes = self.queues.get(queue as usize).into_iter().flatten().map(|(bytes, _)| bytes.get());
        Bytes::new(sizes.fold(0, u64::saturating_add))
    }

    fn head_bytes(&self, queue: u32) -> Bytes {
        self.head(queue).map_or(Bytes::ZERO, |(bytes, _)| *bytes)
    }

    fn head_sojourn(&self, queue: u32) -> Span {
        self.head(queue).map_or(Span::ZERO, |(_, entered)| self.now.since(*entered))
    }
}

/// Largest packet on a wire, in bytes.
const LARGEST_PACKET: u64 = 65_535;

/// Applies visits to a law with several internal queues; then serves what still waits.
pub(crate) fn pass_several(law: &mut dyn MultiQueue, visits: &[Visit]) -> Vec<Seen> {
    let mut random = Random::stream(1, "link");
    let mut backlog = QueueBacklog { queues: Vec::new(), now: Time::ZERO };
    let hooks = law.hooks();
    (0..FLOWS).for_each(|flow| law.add_flow(QueuedFlow::new(&format!("flow.{flow}"), f64::from(flow + 1))));
    let mut seen = Vec::new();
    for (flow, visit) in (0..FLOWS).cycle().zip(visits) {
        let bytes = Bytes::new(visit.bytes.get().clamp(1, LARGEST_PACKET));
        backlog.now += visit.after;
        let cx = &mut Context { now: backlog.now, random: &mut random };
        seen.push(present(law, hooks, cx, &mut backlog, flow, &Visit { bytes, ..visit.clone() }));
        assert_finite_quantities(|gauges| law.observe(gauges));
    }
    while let Some(queue) = law.scheduler().next(&backlog) {
        take(law, &mut backlog, queue);
    }
    assert!(backlog.queues.iter().all(VecDeque::is_empty), "the scheduler left packets in a queue");
    seen
}

/// Removes the packet to serve from its queue, which must not be empty.
fn take(law: &mut dyn MultiQueue, backlog: &mut QueueBacklog, queue: u32) {
    let taken = backlog.queues.get_mut(queue as usize).and_then(VecDeque::pop_front);
    assert!(taken.is_some(), "the scheduler selects an empty queue");
    if let Some((bytes, _)) = taken {
        law.scheduler().served(queue, bytes, backlog);
    }
}

fn present(
    law: &mut dyn MultiQueue,
    hooks: Hooks,
    cx: &mut Context<'_>,
    backlog: &mut QueueBacklog,
    flow: u32,
    visit: &Visit,
) -> Seen {
    let (mut ecn, mut header) = (visit.ecn, visit.header);
    let mut packet =
        PacketView { bytes: visit.bytes, kind: visit.kind, flow, ecn: &mut ecn, header: &mut header };
    let verdict = match visit.hook {
        Hook::Arrive => {
            let queue = law.classify(cx, &packet, flow);
            let verdict = match hooks.arrive {
                true => law.arrive(cx, queue, &mut packet, &visit.queue),
                false => Verdict::Keep,
            };
            if verdict != Verdict::Drop {
                backlog.push(queue, visit.bytes);
                law.scheduler().arrived(queue);
            }
            // The search among tens of thousands of queues takes time: one flow is enough.
            if flow == 0
                && let Some(victims) = law.make_room(queue, visit.bytes, backlog)
            {
                assert!((1..=backlog.packets(victims.queue)).contains(&victims.packets), "{victims:?}");
            }
            verdict
        }
        Hook::Depart => match law.scheduler().next(backlog) {
            Some(queue) if hooks.depart => {
                let verdict = law.depart(cx, queue, &mut packet, &visit.queue);
                take(law, backlog, queue);
                verdict
            }
            Some(queue) => {
                take(law, backlog, queue);
                Verdict::Keep
            }
            None => Verdict::Keep,
        },
        Hook::Tick if hooks.tick => {
            assert_advances(law.tick(cx, visit.queue.configured_capacity, backlog), cx.now);
            Verdict::Keep
        }
        Hook::Tick => Verdict::Keep,
    };
    Seen { verdict, ecn, header }
}
