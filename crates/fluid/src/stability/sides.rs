//! The linearizations on both sides of a threshold.
//!
//! A law with a `min`, a `max` or a threshold is linear on each side of it only. If its equilibrium lies on the threshold,
//! rounding would decide which side dual numbers evaluate. [`one_sided`] finds such thresholds by the switching functions that
//! laws declare, and linearizes at points that are moved off them by a negligible distance.

use super::Linearized;
use crate::assembly::Entity;
use crate::channel_history::ConstantHistory;
use crate::frozen::{Frozen, OperatingPoint};
use crate::right_hand_side::RightHandSide;
use crate::subsystems::Subsystem;
use millpond_law::fluid::Dual64;

/// A switching function is zero if its value is below this share of its terms.
const ZERO: f64 = 1e-8;

/// The distance from a threshold at which a side is linearized, relative to the terms of its switching function.
const DISTANCE: f64 = 1e-7;

/// Two linearizations are equal if no entry differs by more than this share of the largest entry of its row.
const EQUAL: f64 = 1e-5;

/// With more thresholds than this, only the combinations are analyzed in which all have the same sign.
const MOST_COMBINED: usize = 3;

/// A side of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The switching function is negative.
    Below,
    /// The switching function is positive.
    Above,
}

impl Side {
    const fn sign(self) -> f64 {
        match self {
            Self::Below => -1.0,
            Self::Above => 1.0,
        }
    }
}

/// A threshold on which an operating point lies, with different linearizations on its sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// Name of the switching function.
    pub name: &'static str,
    /// The loops and links whose laws have it. They are on the same side at the same time.
    pub owners: Vec<Entity>,
}

/// The linearization on one side of each threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct OneSided {
    /// The side of each threshold.
    pub sides: Vec<Side>,
    /// The linearization.
    pub linear: Linearized,
}

/// All thresholds on which an operating point lies, with the linearization on each side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// The thresholds.
    pub thresholds: Vec<Threshold>,
    /// The linearizations, of which there are two or more; none without thresholds.
    pub linearizations: Vec<OneSided>,
}

/// A switching function of one law that is zero at an operating point.
struct Surface {
    entity: Entity,
    /// Index among the switching functions of the entity.
    place: usize,
    name: &'static str,
    /// The moves of states and inputs by which it becomes positive.
    moves: Vec<f64>,
    /// The sides that the law can be on: it may return from one of them at once.
    sides: Vec<Side>,
}

/// The thresholds of laws on which `point` lies, and the linearizations on their sides.
#[must_use]
pub fn one_sided(frozen: &Frozen<'_>, point: &OperatingPoint) -> Sides {
    let subsystems = frozen.subsystems(point);
    let surfaces: Vec<Surface> =
        subsystems.iter().flat_map(|subsystem| frozen.surfaces(point, subsystem)).collect();
    let mut thresholds: Vec<Threshold> = Vec::new();
    for surface in surfaces.iter().filter(|surface| surface.sides.len() == 2) {
        match thresholds.iter_mut().find(|known| known.name == surface.name) {
            Some(known) => known.owners.push(surface.entity),
            None => thresholds.push(Threshold { name: surface.name, owners: vec![surface.entity] }),
        }
    }
    if surfaces.is_empty() {
        return Sides::default();
    }
    let side_of = |surface: &Surface, sides: &[Side]| {
        let shared = thresholds.iter().position(|threshold| threshold.name == surface.name);
        match (&surface.sides[..], shared) {
            ([only], _) => Some(*only),
            (_, shared) => shared.map(|index| sides[index]),
        }
    };
    let linearize = |sides: Vec<Side>| {
        let moved: Vec<Subsystem> = subsystems
            .iter()
            .map(|subsystem| {
                let own = surfaces.iter().filter(|surface| surface.entity == subsystem.entity);
                let moves: Vec<(&Surface, Side)> =
                    own.filter_map(|surface| Some((surface, side_of(surface, &sides)?))).collect();
                if moves.is_empty() { subsystem.clone() } else { frozen.moved(point, subsystem, &moves) }
            })
            .collect();
        OneSided { sides, linear: Linearized::of_subsystems(&moved, point) }
    };
    let linearizations = combinations(thresholds.len()).into_iter().map(linearize).collect();
    Sides { thresholds, linearizations }
}

/// The combinations of sides of this number of thresholds.
fn combinations(thresholds: usize) -> Vec<Vec<Side>> {
    let side = |is_above: bool| if is_above { Side::Above } else { Side::Below };
    if thresholds > MOST_COMBINED {
        return [false, true].map(|is_above| vec![side(is_above); thresholds]).to_vec();
    }
    (0..1_usize << thresholds)
        .map(|number| (0..thresholds).map(|bit| side(number >> bit & 1 == 1)).collect())
        .collect()
}

impl Frozen<'_> {
    /// The switching functions of a subsystem that are zero and at which its linearization jumps.
    fn surfaces(&self, point: &OperatingPoint, subsystem: &Subsystem) -> Vec<Surface> {
        let values = self.values(point, subsystem);
        let zeros = self.zero_guards(point, subsystem, &values);
        zeros.into_iter().filter_map(|zero| self.surface(point, subsystem, zero)).collect()
    }

    /// States and inputs of a subsystem.
    fn values(&self, point: &OperatingPoint, subsystem: &Subsystem) -> Vec<f64> {
        let states = subsystem.states.iter().map(|state| point.x[*state]);
        states.chain(subsystem.inputs.iter().map(|input| point.channels[input.channel])).collect()
    }

    /// The switching functions of a loop or link at these states and inputs, with their derivatives by one of them.
    fn guards_at(
        &self,
        point: &OperatingPoint,
        subsystem: &Subsystem,
        values: &[f64],
        by: Option<usize>,
    ) -> Vec<Dual64> {
        let number = |(index, value): (usize, &f64)| {
            let number = Dual64::from(*value);
            if by == Some(index) { number.derivative() } else { number }
        };
        let numbers: Vec<Dual64> = values.iter().enumerate().map(number).collect();
        let (x, u) = numbers.split_at(subsystem.states.len());
        match subsystem.entity {
            Entity::Loop(l) if !self.asm.is_shared_flow(l) => self.sender_guards(l, point, x, u),
            Entity::Link(link) => self.link_guards(link, x, u),
            Entity::Loop(_) | Entity::Relay(_) => Vec::new(),
        }
    }

    /// The names of the switching functions of a loop or link, in the order of [`Self::guards_at`].
    fn guard_names(&self, entity: Entity) -> Vec<&'static str> {
        match entity {
            Entity::Loop(l) if !self.asm.is_shared_flow(l) => self.asm.guards_of(l).to_vec(),
            Entity::Link(link) => self
                .asm
                .laws_of(link)
                .flat_map(|law| self.asm.link_sets[law.set].law.guard_names().iter().copied())
                .collect(),
            Entity::Loop(_) | Entity::Relay(_) => Vec::new(),
        }
    }

    /// The switching functions that are zero: index, and the moves of states and inputs by which they become positive.
    fn zero_guards(
        &self,
        point: &OperatingPoint,
        subsystem: &Subsystem,
        values: &[f64],
    ) -> Vec<(usize, Vec<f64>)> {
        if self.guard_names(subsystem.entity).is_empty() {
            return Vec::new();
        }
        let columns: Vec<Vec<Dual64>> =
            (0..values.len()).map(|by| self.guards_at(point, subsystem, values, Some(by))).collect();
        let here = self.guards_at(point, subsystem, values, None);
        let sizes = self.sizes();
        // A quantity of zero is moved relative to the scale of its state; the scale of a channel is one.
        let fallback = |index: usize| subsystem.states.get(index).map_or(1.0, |state| sizes[*state]);
        let zero = |guard: usize| {
            let terms = |size: &dyn Fn(usize) -> f64| -> Vec<f64> {
                columns.iter().enumerate().map(|(by, column)| column[guard].eps * size(by)).collect()
            };
            let relative = terms(&|by| values[by].abs());
            let is_relative = relative.iter().any(|term| *term != 0.0);
            let size = |by: usize| if is_relative { values[by].abs() } else { fallback(by) };
            let terms = if is_relative { relative } else { terms(&size) };
            let (sum, squares) =
                (terms.iter().map(|t| t.abs()).sum::<f64>(), terms.iter().map(|t| t * t).sum::<f64>());
            let is_zero = here[guard].re.abs() <= ZERO * sum && sum > 0.0;
            let moves =
                || terms.iter().enumerate().map(|(by, term)| DISTANCE * sum * term / squares * size(by));
            is_zero.then(|| (guard, moves().collect()))
        };
        (0..here.len()).filter_map(zero).collect()
    }

    /// The surface of a switching function that is zero; none if the law is the same on both sides.
    fn surface(
        &self,
        point: &OperatingPoint,
        subsystem: &Subsystem,
        (place, moves): (usize, Vec<f64>),
    ) -> Option<Surface> {
        let name = *self.guard_names(subsystem.entity).get(place)?;
        let mut surface = Surface { entity: subsystem.entity, place, name, moves, sides: Vec::new() };
        let both = [Side::Below, Side::Above];
        let sides = both.map(|side| self.moved(point, subsystem, &[(&surface, side)]));
        if is_equal(&sides[0], &sides[1]) {
            return None;
        }
        surface.sides =
            both.into_iter().filter(|side| self.stays(point, subsystem, &surface, *side)).collect();
        (!surface.sides.is_empty()).then_some(surface)
    }

    /// A point that is moved to these sides of surfaces of one subsystem.
    fn moved_point(
        &self,
        point: &OperatingPoint,
        subsystem: &Subsystem,
        moves: &[(&Surface, Side)],
    ) -> OperatingPoint {
        let mut moved = point.clone();
        for (surface, side) in moves {
            let (states, inputs) = surface.moves.split_at(subsystem.states.len());
            for (state, by) in subsystem.states.iter().zip(states) {
                moved.x[*state] += side.sign() * by;
            }
            for (input, by) in subsystem.inputs.iter().zip(inputs) {
                moved.channels[input.channel] += side.sign() * by;
            }
        }
        moved
    }

    /// A subsystem linearized on these sides of its surfaces.
    fn moved(&self, point: &OperatingPoint, subsystem: &Subsystem, moves: &[(&Surface, Side)]) -> Subsystem {
        let point = self.moved_point(point, subsystem, moves);
        match subsystem.entity {
            Entity::Loop(l) => self.loop_subsystem(l, &point),
            Entity::Link(link) => self.link_subsystem(link, &point),
            Entity::Relay(relay) => self.relay_subsystem(relay, &point),
        }
    }

    /// Whether a law can be on this side of a surface: its switching function has this sign there, and the law does not
    /// return its states when the sign changes.
    fn stays(&self, point: &OperatingPoint, subsystem: &Subsystem, surface: &Surface, side: Side) -> bool {
        let moved = self.moved_point(point, subsystem, &[(surface, side)]);
        let values = self.values(&moved, subsystem);
        let guards = self.guards_at(&moved, subsystem, &values, None);
        if guards[surface.place].re * side.sign() <= 0.0 {
            return false;
        }
        let mut rhs = RightHandSide::for_analyses(self.asm);
        let (mut dx, mut channels) = (vec![0.0; moved.x.len()], point.channels.clone());
        rhs.evaluate(&self.discrete, &ConstantHistory(&point.channels), &moved.x, &mut dx, &mut channels);
        let (mut x, mut discrete) = (moved.x.clone(), self.discrete.clone());
        let crossed = rhs.guard_index(surface.entity, surface.place);
        !crossed.is_some_and(|guard| rhs.cross_guard(guard, side == Side::Above, &mut x, &mut discrete))
    }
}

/// Whether two linearizations of one subsystem agree.
fn is_equal(one: &Subsystem, other: &Subsystem) -> bool {
    let rows = |s: &Subsystem| -> Vec<Vec<f64>> {
        let join = |(left, right): (&Vec<f64>, &Vec<f64>)| left.iter().chain(right).copied().collect();
        let states = s.a.iter().zip(&s.b).map(join);
        states.chain(s.c.iter().zip(&s.d).map(join)).collect()
    };
    rows(one).iter().zip(&rows(other)).all(|(one, other)| {
        let largest = one.iter().chain(other).fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        one.iter().zip(other).all(|(a, b)| (a - b).abs() <= EQUAL * largest)
    })
}
