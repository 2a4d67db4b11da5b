//! The velocity: how fast the window moves in one direction (section 2.1, NSDI 2018).

/// Round trips in one direction before the velocity doubles.
const PATIENCE: u32 = 3;

/// The direction of the window in a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowDirection {
    Up,
    Down,
}

/// The velocity and what it depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    value: f64,
    /// Acknowledgements of this round trip that moved the window up and down.
    ups: u32,
    downs: u32,
    last: Option<WindowDirection>,
    /// Round trips in sequence in this direction.
    rounds: u32,
}

impl Velocity {
    pub(super) const INITIAL: Self = Self { value: 1.0, ups: 0, downs: 0, last: None, rounds: 0 };

    /// Counts an acknowledgement that moves the window.
    pub(super) fn count(&mut self, is_up: bool) {
        let counter = if is_up { &mut self.ups } else { &mut self.downs };
        *counter = counter.saturating_add(1);
    }

    /// The direction in which at least two thirds of the acknowledgements have moved the window.
    fn direction(&self) -> Option<WindowDirection> {
        let (ups, downs) = (u64::from(self.ups), u64::from(self.downs));
        if ups >= 2 * downs && ups > 0 {
            Some(WindowDirection::Up)
        } else if downs >= 2 * ups && downs > 0 {
            Some(WindowDirection::Down)
        } else {
            None
        }
    }

    /// A round trip ends: the velocity doubles from the third one in the same direction on, and is one after a change. At most
    /// `most`.
    pub(super) fn end_round(&mut self, most: f64) {
        let direction = self.direction();
        if direction.is_some() && direction == self.last {
            self.rounds = self.rounds.saturating_add(1);
        } else {
            (self.value, self.rounds) = (1.0, 1);
        }
        if self.rounds >= PATIENCE {
            self.value = (2.0 * self.value).min(most).max(1.0);
        }
        (self.last, self.ups, self.downs) = (direction, 0, 0);
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The velocity after a round trip with these movements.
    fn round(velocity: &mut Velocity, ups: u32, downs: u32, most: f64) -> f64 {
        (0..ups).for_each(|_| velocity.count(true));
        (0..downs).for_each(|_| velocity.count(false));
        velocity.end_round(most);
        velocity.value()
    }

    #[test]
    fn the_velocity_doubles_from_the_third_round_trip_in_one_direction_and_returns_to_one() {
        let mut velocity = Velocity::INITIAL;
        let values: Vec<f64> = (0..6).map(|_| round(&mut velocity, 10, 0, 1e3)).collect();
        assert_eq!(values, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
        let values: Vec<f64> = (0..4).map(|_| round(&mut velocity, 0, 10, 1e3)).collect();
        assert_eq!(values, [1.0, 1.0, 2.0, 4.0]);
        assert_eq!(round(&mut velocity, 0, 10, 5.0), 5.0, "it has a bound");
    }

    #[test]
    fn a_direction_is_that_of_two_thirds_of_the_acknowledgements() {
        for (ups, downs, doubles) in [(10, 5, true), (10, 6, false), (9, 10, false), (0, 0, false)] {
            let mut velocity = Velocity::INITIAL;
            (0..3).for_each(|_| {
                round(&mut velocity, ups, downs, 1e3);
            });
            assert_eq!(velocity.value() == 2.0, doubles, "{ups} {downs}");
        }
    }
}
