//! The network at one time with all delays set to zero: its derivatives and channels, and the discontinuities of its
//! queues.

use crate::assembly::{Assembly, LinkLaw};
use crate::channel_history::ConstantHistory;
use crate::discrete_state::{DiscreteState, Held};
use crate::error::Error;
use crate::network::{ConfiguredCapacity, LinkId, LoopId};
use crate::queue::QueueModel;
use crate::right_hand_side::RightHandSide;
use millpond_law::fluid::{Jump, LinkEquilibrium, SenderInputs};

/// The range of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateBounds {
    /// The lower end.
    pub lower: f64,
    /// The upper end, infinite for none.
    pub upper: f64,
}

/// The network with the loops and capacities of one time, and all delays set to zero. Limited buffers of relays have no effect
/// in it: nothing is under way, and all credit returns.
#[derive(Clone)]
pub struct Frozen<'a> {
    pub(crate) asm: &'a Assembly,
    pub(crate) discrete: DiscreteState,
}

/// States of a frozen network, with their derivatives and all channels.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatingPoint {
    /// States, in the order of [`Assembly::state_columns`].
    pub x: Vec<f64>,
    /// Derivatives without regard to bounds.
    pub raw: Vec<f64>,
    /// Whether each state is held at a bound.
    pub(crate) held: Vec<Held>,
    /// Channels, in the order of [`Assembly::channel_columns`].
    pub channels: Vec<f64>,
}

impl OperatingPoint {
    /// Whether a state is at a bound with its derivative pointing outwards, so that it does not change.
    pub fn is_held(&self, state: usize) -> bool {
        self.held[state] != Held::Free
    }

    /// Derivatives; zero for held states.
    pub fn derivatives(&self) -> Vec<f64> {
        let one = |(raw, held): (&f64, &Held)| if *held == Held::Free { *raw } else { 0.0 };
        self.raw.iter().zip(&self.held).map(one).collect()
    }
}

impl<'a> Frozen<'a> {
    /// The network as it is at this time, in seconds.
    pub fn new(asm: &'a Assembly, time: f64) -> Self {
        let mut discrete = DiscreteState::initial(asm);
        for (active, l) in discrete.active.iter_mut().zip(&asm.loops) {
            *active = l.start.is_none_or(|start| start <= time) && l.stop.is_none_or(|stop| time < stop);
        }
        for step in asm.steps.iter().filter(|step| step.time <= time) {
            discrete.apply(asm, *step);
        }
        Self { asm, discrete }
    }

    /// The same network with another capacity of one link, in bit/s. A configured capacity that is a share of it changes as
    /// well.
    #[must_use]
    pub fn with_capacity(&self, link: LinkId, capacity: f64) -> Self {
        let mut other = self.clone();
        other.discrete.set_capacity(self.asm, link.0, capacity);
        other
    }

    /// The same network without one loop.
    #[must_use]
    pub fn without(&self, removed: LoopId) -> Self {
        let mut other = self.clone();
        other.discrete.active[removed.0] = false;
        other
    }

    /// Whether a loop is active.
    pub fn is_active(&self, loop_index: usize) -> bool {
        self.discrete.active[loop_index]
    }

    /// The number of links.
    pub(crate) fn links(&self) -> usize {
        self.asm.links.len()
    }

    /// The index of a link's queue among the states.
    pub(crate) fn queue_state(&self, link: usize) -> usize {
        self.asm.offsets.queues + link
    }

    /// The capacity of a link, in bit/s.
    pub fn capacity(&self, link: usize) -> f64 {
        self.discrete.capacity[link]
    }

    /// The capacity with which the laws of a link compute, in bit/s.
    pub fn configured_capacity(&self, link: usize) -> f64 {
        self.discrete.configured[link]
    }

    /// Whether the configured capacity of a link changes with the actual one.
    pub fn configured_follows_actual(&self, link: usize) -> bool {
        matches!(self.asm.links[link].configured, ConfiguredCapacity::Share(_))
    }

    /// The bounds of each state.
    pub fn bounds(&self) -> Vec<StateBounds> {
        let states = self.asm.states.iter().enumerate();
        states.map(|(i, state)| StateBounds { lower: state.lower, upper: self.upper(i) }).collect()
    }

    /// The upper bound of a state; the state of a stretched queue extends beyond the buffer.
    fn upper(&self, i: usize) -> f64 {
        let link = i.checked_sub(self.asm.offsets.queues);
        let model = link.and_then(|link| self.discrete.queue_models.get(link));
        model.and_then(QueueModel::upper_bound).unwrap_or(self.asm.states[i].upper)
    }

    /// A negligible value of each state: its scale for queues and backlogs, a thousandth of its scale for a state that
    /// starts at zero, otherwise 1e-9 of its scale.
    pub(crate) fn floors(&self) -> Vec<f64> {
        let of_laws = self.asm.offsets.queues.min(self.asm.offsets.backlogs);
        let floor = |(i, scale): (usize, f64)| match self.asm.states[i].initial {
            _ if i >= of_laws => scale,
            0.0 => 1e-3 * scale,
            _ => 1e-9 * scale,
        };
        self.sizes().into_iter().enumerate().map(floor).collect()
    }

    /// The scale of each state.
    pub fn sizes(&self) -> Vec<f64> {
        self.asm.scales()
    }

    /// Evaluates the network at these states. Senders and links without states depend on each other without delay;
    /// their channels are found by fixed-point iteration.
    ///
    /// # Errors
    /// The iteration does not converge.
    pub fn at(&self, x: &[f64]) -> Result<OperatingPoint, Error> {
        const SWEEPS: usize = 2000;
        let mut rhs = RightHandSide::for_analyses(self.asm);
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
            let held: Vec<Held> = (0..x.len()).map(|i| self.held_at(i, x[i], point.raw[i])).collect();
            let same = before
                .iter()
                .zip(&point.channels)
                .all(|(b, c)| (b - c).abs() <= 1e-13 * b.abs().max(c.abs()));
            if same && held == discrete.held {
                point.held = held;
                return Ok(point);
            }
            discrete.held = held;
            // Under-relaxation by one half against oscillation.
            if sweep > 20 {
                let halves = point.channels.iter_mut().zip(&before);
                halves.for_each(|(channel, before)| *channel = 0.5 * (*channel + before));
            }
        }
        let reason = "senders and links without states have no common solution at this point".to_owned();
        Err(Error::InvalidNetwork { name: "network".to_owned(), reason })
    }

    /// The loop after a relay whose buffer is too short for what is outstanding at an operating point with delays. None if all
    /// buffers suffice.
    pub fn loop_after_short_buffer(&self, point: &OperatingPoint) -> Option<LoopId> {
        let (asm, at) = (self.asm, &self.asm.channels);
        let is_short = |r: &&usize| {
            let relay = &asm.relays[**r];
            let weight = asm.sharing(**r, |flow| self.is_active(flow.loop_id)).weight;
            let buffer = relay.buffer.bits(point.channels[at.permitted + **r] * weight);
            self.is_active(relay.upstream.0) && asm.outstanding(**r, &point.x, &point.channels) > buffer
        };
        asm.credits.iter().find(is_short).map(|r| asm.relays[*r].downstream)
    }

    /// The operating point for linearization: an empty queue whose law declares
    /// [`linearized_as_empty`](millpond_law::fluid::LinkEquilibrium::linearized_as_empty) is held at zero.
    #[must_use]
    pub fn holding_empty_queues(&self, point: &OperatingPoint) -> OperatingPoint {
        const ROUNDING: f64 = 1e-9;
        let mut held = point.clone();
        for link in 0..self.links() {
            let (queue, mut laws) = (self.queue_state(link), self.asm.laws_of(link));
            let is_empty = point.x[queue] <= ROUNDING * self.capacity(link);
            if is_empty && laws.any(|law| self.asm.equilibrium_at(law).linearized_as_empty) {
                held.held[queue] = Held::Lower;
            }
        }
        held
    }

    /// Whether a state is held. An empty queue, or one of the length of its buffer, with balanced arrivals and departures is
    /// not held, because rounding would decide the sign of its derivative.
    fn held_at(&self, i: usize, x: f64, raw: f64) -> Held {
        const ROUNDING: f64 = 1e-9;
        let queue = i.checked_sub(self.asm.offsets.queues).filter(|link| *link < self.asm.links.len());
        let balance = queue.map_or(0.0, |link| ROUNDING * self.discrete.capacity[link]);
        if x <= self.asm.states[i].lower && (raw < -balance || raw <= 0.0 && queue.is_none()) {
            Held::Lower
        } else if x >= self.upper(i) && raw >= 0.0 && (queue.is_none() || raw > balance) {
            Held::Upper
        } else {
            Held::Free
        }
    }
}

/// A network with delays of zero, and states in it.
pub(crate) struct FrozenState<'a> {
    pub(crate) frozen: Frozen<'a>,
    pub(crate) x: Vec<f64>,
}

impl<'a> Frozen<'a> {
    /// The same network with stretched queues, and these states in it.
    pub(crate) fn with_stretched_queues(&self, x: &[f64]) -> FrozenState<'a> {
        let (mut stretched, mut x) = (self.clone(), x.to_vec());
        for (link, model) in stretched.discrete.queue_models.iter_mut().enumerate() {
            let queue = self.asm.offsets.queues + link;
            let jumps = self.asm.links[link].queue.map(|law| self.asm.equilibrium_at(law).jumps);
            *model = QueueModel::stretched(
                jumps.unwrap_or_default(),
                self.asm.states[queue].upper,
                self.capacity(link),
            );
            x[queue] = model.state_for(x[queue]);
        }
        FrozenState { frozen: stretched, x }
    }

    /// The same network with exact queues, except at a jump on which the state slides; and these states in it.
    pub(crate) fn with_exact_queues(&self, x: &[f64]) -> FrozenState<'a> {
        let (mut exact, mut x) = (self.clone(), x.to_vec());
        for (link, model) in exact.discrete.queue_models.iter_mut().enumerate() {
            let queue = self.asm.offsets.queues + link;
            let output = model.output(x[queue]).queue;
            (*model, x[queue]) = (model.ramp_at(x[queue]), output);
        }
        FrozenState { frozen: exact, x }
    }

    /// The queues that slide on a jump of their law's probability.
    pub fn sliding(&self) -> Vec<Sliding> {
        let of = |(link, model): (usize, &QueueModel)| match *model {
            QueueModel::Ramp { jump, at, .. } => Some(Sliding { link, jump, probability: at }),
            _ => None,
        };
        self.discrete.queue_models.iter().enumerate().filter_map(of).collect()
    }

    /// The same network with each jump on which a queue slides replaced by a ramp of this slope, in 1/bit.
    #[must_use]
    pub fn with_slope(&self, per_bit: f64) -> Frozen<'a> {
        let mut sloping = self.clone();
        for model in &mut sloping.discrete.queue_models {
            if let QueueModel::Ramp { slope, .. } = model {
                *slope = per_bit;
            }
        }
        sloping
    }
}

/// A queue that slides on a jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sliding {
    /// The link.
    pub link: usize,
    /// The jump.
    pub jump: Jump,
    /// The probability that keeps the queue at the jump, between the values below and above.
    pub probability: f64,
}

impl Assembly {
    /// Arriving rate over capacity of a link that is a bottleneck: the smallest target of its laws.
    pub fn utilization(&self, link: LinkId) -> f64 {
        self.laws_of(link.0).map(|law| self.equilibrium_at(law).utilization).fold(1.0, f64::min)
    }

    /// The equilibrium of a law at a link, if the link is a bottleneck.
    fn equilibrium_at(&self, LinkLaw { set, place }: LinkLaw) -> LinkEquilibrium {
        self.link_sets[set].law.equilibrium(place)
    }

    /// Whether a loop's sender or a law at one of its links runs in discrete time.
    pub fn is_clocked(&self, loop_index: usize) -> bool {
        let data = &self.loops[loop_index];
        let class = &self.sender_classes[data.class];
        let mut inputs = SenderInputs::of(&*class.law, data.place..data.place + 1);
        inputs.base_rtt[0] = data.base_rtt;
        let states: Vec<f64> = class.law.states(data.place).iter().map(|state| state.initial).collect();
        let sender = class.law.period(data.place, &states, &inputs.flow(0));
        let ticks = |LinkLaw { set, place }: LinkLaw| self.link_sets[set].law.ticks(place);
        sender.is_some() || self.hops_of(loop_index).iter().any(|hop| self.laws_of(hop.link).any(ticks))
    }

    /// The names of the switching functions of a loop's sender.
    pub fn guards_of(&self, loop_index: usize) -> &'static [&'static str] {
        self.sender_classes[self.loops[loop_index].class].law.guard_names()
    }
}
