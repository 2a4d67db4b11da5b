//! Ramp: marks each packet with a probability in proportion to the queueing delay that it meets.
//!
//! ```text
//!   queueing delay d = queue [B] / capacity [B/s]
//!   on arrival:      mark with probability p = min(1, d / full)
//! ```

use millpond_law::fluid::{FluidLink, FluidQueue, LinkInput, Number, Quantity, State, Verdicts, link_law};
use millpond_law::key::{self, Key};
use millpond_law::{
    Context, Gauge, Hooks, Link, LinkFacts, PacketView, Queue, QueueCard, QueueLaw, QueueView, SettingError,
    Settings, Verdict,
};
use millpond_units::Span;

/// The queue, as the registry lists it.
pub(crate) struct Ramp;

static CARD: QueueCard =
    QueueCard { name: "ramp", title: "Ramp", source: "this example", parameters: &[&FULL], presets: &[] };

const FULL: Key<Span> = key::span("full", Span::from_millis(1000))
    .source("this example")
    .meaning("queueing delay at which every packet is marked");

impl Queue for Ramp {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, _facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(RampLink { full: settings.get(FULL).secs(), probability: 0.0 }))
    }

    fn fluid(&self, settings: &Settings, _facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        let law = link_law(RampFluid { full: settings.get(FULL).secs() });
        Ok(FluidQueue::Law { law, verdicts: Verdicts::Marks })
    }
}

/// The probability at a queueing delay in seconds.
fn probability(delay: f64, full: f64) -> f64 {
    (delay / full).min(1.0)
}

/// The law at one link in packets.
struct RampLink {
    /// In seconds.
    full: f64,
    /// At the last arrival.
    probability: f64,
}

impl Link for RampLink {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, ..Hooks::default() }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, _packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let capacity = queue.configured_capacity.bytes_per_sec();
        // During an outage no delay is known: the probability stays.
        if capacity > 0.0 {
            self.probability = probability(queue.bytes.as_f64() / capacity, self.full);
        }
        if cx.random.chance(self.probability) { Verdict::Mark } else { Verdict::Keep }
    }

    /// Under fair queueing each flow has a queue, and a law, of its own.
    fn for_flow(&self) -> Option<Box<dyn Link>> {
        Some(Box::new(Self { full: self.full, probability: 0.0 }))
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("marking probability", "1", self.probability);
    }
}

/// The same law without packets: no state, one signal.
struct RampFluid {
    /// In seconds.
    full: f64,
}

impl FluidLink for RampFluid {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "marking probability", unit: "1" }];
    const GUARDS: &'static [&'static str] = &["full"];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        let share = input.queue / input.capacity / self.full;
        signals[0] = if share < T::one() { share } else { T::one() };
    }

    /// The derivative of the probability jumps where it reaches one.
    fn guards<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.queue - input.capacity * self.full;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_fluid::Entity;
    use millpond_law::{Classifier, Ecn, FlowQueueing, FlowQueues, Header, Overflow, PacketKind, Random};
    use millpond_plan::fluid;
    use millpond_protocols::{Registry, queues};
    use millpond_scenario::{Disk, Scenario};
    use millpond_theory::equilibrium::find_equilibrium;
    use millpond_units::{Bytes, Rate, Time};
    use std::path::Path;

    /// The number of marks of 10000 packets that meet a queue of this size on a link of 8 Mbit/s.
    fn marks(queue: Bytes) -> usize {
        let mut link = RampLink { full: 0.1, probability: 0.0 };
        let mut random = Random::stream(1, "link");
        let view = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: queue,
            link_bytes: queue,
            packets: queue.get() / 1000,
            head_sojourn: Span::ZERO,
        };
        let mut arrive = |_: &u32| {
            let (mut ecn, mut header) = (Ecn::Ect0, Header::NONE);
            let (bytes, kind) = (Bytes::new(1000), PacketKind::Data);
            let mut packet = PacketView { bytes, kind, flow: 0, ecn: &mut ecn, header: &mut header };
            let mut cx = Context { now: Time::ZERO, random: &mut random };
            link.arrive(&mut cx, &mut packet, &view) == Verdict::Mark
        };
        (0..10_000_u32).filter(|packet| arrive(packet)).count()
    }

    #[test]
    fn packets_are_marked_in_proportion_to_the_delay_that_they_meet() {
        assert_eq!(marks(Bytes::ZERO), 0);
        // 20 KB are served in 20 ms, a fifth of 100 ms: 2000 +- 40 marks, five standard errors.
        assert!(marks(Bytes::new(20_000)).abs_diff(2000) < 200);
        assert_eq!(marks(Bytes::new(200_000)), 10_000);
    }

    /// The same law in the queue of each flow: it then has the functions of CoDel, which acts at departures.
    #[test]
    fn a_law_in_a_queue_for_each_flow() {
        let registry = Registry::builtin();
        let built_in = registry.queue("codel").unwrap();
        let settings = queues::settings(built_in, []).unwrap();
        let facts = LinkFacts::fifo(Rate::from_mbps(8.0), None, Bytes::new(1500));
        let QueueLaw::Single(codel) = built_in.law(&settings, &facts).unwrap() else { panic!("one queue") };
        let quantum = Bytes::new(1514);
        let law = QueueLaw::multi(FlowQueues::new(
            Classifier::Hash(1024),
            Overflow::OldestHalf,
            FlowQueueing::new(quantum),
            Some(codel),
        ));
        let QueueLaw::Multi(law) = law else { panic!("several queues") };
        assert!(law.hooks().depart && !law.hooks().arrive);
    }

    /// The window law of TCP in equilibrium: `W^2 p = 2` (Misra, Gong, Towsley, SIGCOMM 2000), here with `p = d / full`.
    #[test]
    fn the_equilibrium_of_newreno_is_that_of_the_closed_form() {
        let text = r#"
            title = "Ramp"
            duration = "10s"
            [[links]]
            name = "L"
            between = ["A", "B"]
            rate = "15Mbps"
            delay = "100ms"
            buffer = "unlimited"
            queue = { ramp = { full = "5s" } }
            [[flows]]
            name = "f"
            protocol = "newreno"
            count = 60
            path = ["A", "B"]
            packet = "500B"
            [protocols.newreno]
            params = { ecn = true }
        "#;
        let scenario = Scenario::parse(text, "ramp.toml", Path::new(""), &[], &Disk).unwrap();
        let plan = fluid::plan(&scenario, &Registry::builtin().with_queue(&Ramp)).unwrap();
        let equilibrium = find_equilibrium(&plan).unwrap();
        let link = plan.links.iter().find_map(|link| link.id).unwrap();
        let delay = equilibrium.value(Entity::Link(link.0), "queueing delay").unwrap();
        let window = (0.2 + delay) * 15e6 / (60.0 * 4000.0);
        assert!((window * window * delay / 5.0 - 2.0).abs() < 1e-3, "{delay} s, {window} packets");
    }

    #[test]
    fn it_conforms_to_what_every_queue_must_do() {
        millpond_conformance::check(&millpond_conformance::Laws::new([], [&Ramp as &dyn Queue]));
    }
}
