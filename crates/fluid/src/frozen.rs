//! The network at one moment with every delay collapsed: what rests there, and what each piece of it does to small
//! disturbances.

use crate::assembly::Assembly;
use crate::discrete_state::{DiscreteState, Held};
use crate::error::Error;
use crate::network::{LinkId, LoopId};
use crate::queue::QueueModel;
use crate::right_hand_side::{ConstantHistory, RightHandSide};
use millpond_law::fluid::{Jump, LinkInputs, SenderInputs};

/// The network at one moment: these loops, these capacities.
#[derive(Clone)]
pub struct Frozen<'a> {
    pub(crate) asm: &'a Assembly,
    pub(crate) discrete: DiscreteState,
}

/// A state of a frozen network, what it does, and what its channels say.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatingPoint {
    /// In the order of [`Assembly::state_columns`].
    pub x: Vec<f64>,
    /// Derivatives, bounds disregarded.
    pub raw: Vec<f64>,
    /// Which states are at a bound and pushed outwards.
    pub(crate) held: Vec<Held>,
    /// In the order of [`Assembly::channel_columns`].
    pub channels: Vec<f64>,
}

impl OperatingPoint {
    /// Whether a state is at a bound and pushed outwards: it does not move.
    pub fn is_held(&self, state: usize) -> bool {
        self.held[state] != Held::Free
    }

    /// Derivatives, zero for what is held.
    pub fn derivatives(&self) -> Vec<f64> {
        let one = |(raw, held): (&f64, &Held)| if *held == Held::Free { *raw } else { 0.0 };
        self.raw.iter().zip(&self.held).map(one).collect()
    }
}

impl<'a> Frozen<'a> {
    /// As it is at this time.
    pub fn new(asm: &'a Assembly, time: f64) -> Self {
        let mut discrete = DiscreteState::before(asm);
        for (active, l) in discrete.active.iter_mut().zip(&asm.loops) {
            *active = l.start.is_none_or(|start| start <= time) && l.stop.is_none_or(|stop| time < stop);
        }
        for step in asm.steps.iter().filter(|step| step.time <= time) {
            discrete.capacity[step.link.0] = step.capacity;
        }
        Self { asm, discrete }
    }

    /// The same with another capacity of one link, in bit/s.
    #[must_use]
    pub fn with_capacity(&self, link: LinkId, capacity: f64) -> Self {
        let mut other = self.clone();
        other.discrete.capacity[link.0] = capacity;
        other
    }

    /// The same without one loop.
    #[must_use]
    pub fn without(&self, gone: LoopId) -> Self {
        let mut other = self.clone();
        other.discrete.active[gone.0] = false;
        other
    }

    /// Whether a loop is there.
    pub fn is_active(&self, l: usize) -> bool {
        self.discrete.active[l]
    }

    /// How many links.
    pub(crate) fn links(&self) -> usize {
        self.asm.links.len()
    }

    /// The state that is a link's queue.
    pub(crate) fn queue_state(&self, link: usize) -> usize {
        self.asm.offsets.queues + link
    }

    /// Of a link, in bit/s.
    pub fn capacity(&self, link: usize) -> f64 {
        self.discrete.capacity[link]
    }

    /// Lowest and highest value of each state.
    pub fn bounds(&self) -> Vec<(f64, f64)> {
        self.asm.states.iter().enumerate().map(|(i, state)| (state.lower, self.upper(i))).collect()
    }

    /// A queue that is stretched at its edges runs on beyond the buffer.
    fn upper(&self, i: usize) -> f64 {
        let link = i.checked_sub(self.asm.offsets.queues);
        let edge = link.and_then(|link| self.discrete.queue_models.get(link));
        edge.and_then(QueueModel::top).unwrap_or(self.asm.states[i].upper)
    }

    /// What of each state is as good as nothing: of one that begins at zero a thousandth of its scale, of a queue or a
    /// backlog that scale itself.
    pub(crate) fn floors(&self) -> Vec<f64> {
        let of_laws = self.asm.offsets.queues.min(self.asm.offsets.backlogs);
        let floor = |(i, scale): (usize, f64)| match self.asm.states[i].initial {
            _ if i >= of_laws => scale,
            0.0 => 1e-3 * scale,
            _ => 1e-9 * scale,
        };
        self.sizes().into_iter().enumerate().map(floor).collect()
    }

    /// What is a small value of each state.
    pub fn sizes(&self) -> Vec<f64> {
        self.asm.scales()
    }

    /// What the network does at these states, once everybody has heard everybody. Where senders and links without
    /// states answer each other, this is their own point of rest.
    ///
    /// # Errors
    /// If they have none that repeated hearing finds.
    pub fn at(&self, x: &[f64]) -> Result<OperatingPoint, Error> {
        const SWEEPS: usize = 2000;
        let mut rhs = RightHandSide::new(self.asm);
        let mut discrete = self.discrete.clone();
        let mut point = OperatingPoint {
            x: x.to_vec(),
            raw: vec![0.0; x.len()],
            held: discrete.held.clone(),
            channels: vec![0.0; self.asm.channels.count],
        };
        for sweep in 0..SWEEPS {
            let before = point.channels.clone();
            rhs.evaluate(&discrete, &ConstantHistory(&before), x, &mut point.raw, &mut point.channels);
            let held: Vec<Held> = (0..x.len()).map(|i| self.hold(i, x[i], point.raw[i])).collect();
            let same = before
                .iter()
                .zip(&point.channels)
                .all(|(b, c)| (b - c).abs() <= 1e-13 * b.abs().max(c.abs()));
            if same && held == discrete.held {
                point.held = held;
                return Ok(point);
            }
            discrete.held = held;
            // Answers that overshoot are met half way.
            if sweep > 20 {
                let halves = point.channels.iter_mut().zip(&before);
                halves.for_each(|(channel, before)| *channel = 0.5 * (*channel + before));
            }
        }
        let reason =
            "senders and links without states of their own do not come to terms at this point".to_owned();
        Err(Error::InvalidNetwork { name: "network".to_owned(), reason })
    }

    /// The moment as small disturbances of it are judged: queues on their edge that stay empty do not move.
    #[must_use]
    pub fn judged(&self, point: &OperatingPoint) -> OperatingPoint {
        const ROUNDING: f64 = 1e-9;
        let mut judged = point.clone();
        for link in 0..self.links() {
            let (queue, mut laws) = (self.queue_state(link), self.asm.laws_of(link));
            let is_empty = point.x[queue] <= ROUNDING * self.capacity(link);
            if is_empty
                && laws.any(|(set, place)| self.asm.sets[set].law.equilibrium(place).linearized_as_empty)
            {
                judged.held[queue] = Held::Lower;
            }
        }
        judged
    }

    /// An empty queue at which exactly as much arrives as leaves is not held: whether anything presses on its bound would
    /// be decided by rounding, and what is more than that fills it.
    fn hold(&self, i: usize, x: f64, raw: f64) -> Held {
        const ROUNDING: f64 = 1e-9;
        let queue = i.checked_sub(self.asm.offsets.queues).filter(|link| *link < self.asm.links.len());
        let balance = queue.map_or(0.0, |link| ROUNDING * self.discrete.capacity[link]);
        if x <= self.asm.states[i].lower && (raw < -balance || raw <= 0.0 && queue.is_none()) {
            Held::Lower
        } else if x >= self.upper(i) && raw >= 0.0 {
            Held::Upper
        } else {
            Held::Free
        }
    }
}

impl<'a> Frozen<'a> {
    /// The same with queues stretched at their edges, and what this state is there.
    pub(crate) fn stretched(&self, x: &[f64]) -> (Frozen<'a>, Vec<f64>) {
        let (mut stretched, mut x) = (self.clone(), x.to_vec());
        for (link, edge) in stretched.discrete.queue_models.iter_mut().enumerate() {
            let queue = self.asm.offsets.queues + link;
            let jumps = self.asm.links[link]
                .queue
                .map(|(set, place)| self.asm.sets[set].law.equilibrium(place).jumps);
            *edge = QueueModel::stretched(
                jumps.unwrap_or_default(),
                self.asm.states[queue].upper,
                self.capacity(link),
            );
            x[queue] = edge.state_for(x[queue]);
        }
        (stretched, x)
    }

    /// The same with queues as they are, but where the state slides along a jump; and what this state is there.
    pub(crate) fn sharpened(&self, x: &[f64]) -> (Frozen<'a>, Vec<f64>) {
        let (mut sharp, mut x) = (self.clone(), x.to_vec());
        for (link, edge) in sharp.discrete.queue_models.iter_mut().enumerate() {
            let queue = self.asm.offsets.queues + link;
            let seen = edge.see(x[queue]).queue;
            (*edge, x[queue]) = (edge.sharpened(x[queue]), seen);
        }
        (sharp, x)
    }

    /// The links whose queues rest at a jump of their law's probability, with what it is there.
    pub fn sliding(&self) -> Vec<Sliding> {
        let of = |(link, edge): (usize, &QueueModel)| match *edge {
            QueueModel::Ramp { jump, at, .. } => Some(Sliding { link, jump, probability: at }),
            _ => None,
        };
        self.discrete.queue_models.iter().enumerate().filter_map(of).collect()
    }

    /// The same with each jump on which a queue rests taken as a slope: so much probability per bit.
    #[must_use]
    pub fn with_slope(&self, per_bit: f64) -> Frozen<'a> {
        let mut sloping = self.clone();
        for edge in &mut sloping.discrete.queue_models {
            if let QueueModel::Ramp { slope, .. } = edge {
                *slope = per_bit;
            }
        }
        sloping
    }
}

/// A queue that rests at a jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sliding {
    /// The link.
    pub link: usize,
    /// The jump.
    pub jump: Jump,
    /// What the law would have to say for rest: between what it says below and above.
    pub probability: f64,
}

impl Assembly {
    /// Arriving rate over capacity at which a link rests when it is a bottleneck: the least that its laws aim at.
    pub fn utilization(&self, link: LinkId) -> f64 {
        let laws = self.laws_of(link.0);
        laws.map(|(set, place)| self.sets[set].law.equilibrium(place).utilization).fold(1.0, f64::min)
    }

    /// Whether a loop's sender, or a law at one of its links, decides at discrete times.
    pub fn is_clocked(&self, l: usize) -> bool {
        let data = &self.loops[l];
        let class = &self.classes[data.class];
        let mut inputs = SenderInputs::zeros(1, class.law.feedback().len());
        inputs.base_rtt[0] = data.base_rtt;
        let states: Vec<f64> = class.law.states(data.place).iter().map(|state| state.initial).collect();
        let sender = class.law.period(data.place, &states, &inputs.flow(0));
        let link = |link: usize| self.laws_of(link).any(|(set, place)| self.ticks(set, place, link));
        sender.is_some() || self.hops_of(l).iter().any(|hop| link(hop.link))
    }

    /// The switching functions of a loop's sender, in words: its law is another one on their other side.
    pub fn guards_of(&self, l: usize) -> &'static [&'static str] {
        self.classes[self.loops[l].class].law.guard_names()
    }

    fn ticks(&self, set: usize, place: usize, link: usize) -> bool {
        let set = &self.sets[set];
        let mut inputs = LinkInputs::zeros(1, set.carried);
        inputs.capacity[0] = self.links[link].capacity;
        let states: Vec<f64> = set.law.states(place).iter().map(|state| state.initial).collect();
        set.law.period(place, &states, &inputs.link(0)).is_some()
    }
}
