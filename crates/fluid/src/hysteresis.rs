//! Hysteresis of switching functions along which a solution slides.
//!
//! A law that jumps at a threshold and is driven back from both sides slides along it: its switching function changes its
//! sign again and again, and no step can end beyond. Filippov's solution is the one whose derivative is the convex combination
//! of both sides that stays on the threshold (Filippov, "Differential Equations with Discontinuous Righthand Sides", 1988).
//!
//! With a hysteresis the law stays on its side until the switching function is beyond zero by a width w. The solution then
//! moves to and fro within w of the threshold, and it differs from Filippov's by order w: the law is always evaluated within
//! order w of the solution, and a limit of such solutions for w to zero is a solution in Filippov's sense. Two switches are at
//! least `2 w` over the speed of the switching function apart, so the number of steps is bounded.
//!
//! A law decides by its inputs alone, and has no memory of its side. Within the width it is therefore evaluated at the nearest
//! point of its side, along the gradient of its switching function, with all inputs and states scaled by their magnitude.

use crate::path_switches::GuardOwner;

/// A switching function with hysteresis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeldSide {
    pub(crate) owner: GuardOwner,
    /// Index among the switching functions of its owner.
    pub(crate) place: usize,
    /// The sign of the side that the law is on.
    pub(crate) sign: f64,
}

/// The switching functions with hysteresis.
#[derive(Debug, Default)]
pub(crate) struct Hysteresis {
    pub(crate) sides: Vec<HeldSide>,
    /// States at which laws are evaluated.
    pub(crate) x: Vec<f64>,
    /// The inputs of laws before they were moved.
    pub(crate) inputs: Vec<(GuardOwner, Vec<f64>)>,
}

/// The laws that are moved to their sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LawSet {
    /// Those of senders.
    Senders,
    /// Those of links.
    Links,
}

impl LawSet {
    /// Whether the owner of a guard is one of them.
    pub(crate) fn contain(self, owner: GuardOwner) -> bool {
        match owner {
            GuardOwner::Sender(..) => self == Self::Senders,
            GuardOwner::Link(..) => self == Self::Links,
            GuardOwner::Path(_) => false,
        }
    }
}

impl Hysteresis {
    /// The states at which laws are evaluated, given the present ones.
    pub(crate) fn states<'x>(&'x self, x: &'x [f64]) -> &'x [f64] {
        if self.sides.is_empty() { x } else { &self.x }
    }

    /// Sets the side of a law, which has a hysteresis from now on.
    pub(crate) fn hold(&mut self, owner: GuardOwner, place: usize, sign: f64) {
        match self.sides.iter_mut().find(|side| (side.owner, side.place) == (owner, place)) {
            Some(side) => side.sign = sign,
            None => self.sides.push(HeldSide { owner, place, sign }),
        }
    }
}
