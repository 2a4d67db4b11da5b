//! Queues near discontinuities of their law's probability and at the end of their buffer.
//!
//! A buffer that overflows, or a law that marks everything beyond a threshold, gives a queue of one length any
//! probability between two values. The network slides along the threshold (Filippov), and its equilibrium there has the
//! probability that senders need. The search for an equilibrium inserts a plateau: the state of the queue increases
//! while its length is constant and its probability rises.
//!
//! ```text
//!   probability       above .------      queue           /
//!                          /                      ._____/
//!       below ------------'                      /
//!                         |--|  state           /  |--|  state
//! ```

use millpond_law::fluid::{Jump, Number, least};

/// Length of a plateau, in seconds of the link's capacity. It affects the speed of a search but not its result.
const WIDTH: f64 = 0.05;

/// How the state of a queue determines its length, its law's probability and its overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum QueueModel {
    /// The state is the length; discontinuities remain.
    #[default]
    Exact,
    /// A plateau is inserted at each jump of the law's probability and at the end of the buffer.
    Stretched {
        /// Jumps in increasing order of queue length.
        jumps: [Option<Jump>; 2],
        /// Buffer in bits; infinite if there is no overflow.
        buffer: f64,
        /// Length of each plateau, in bits.
        width: f64,
    },
    /// The jump is replaced by a ramp: the probability is `at` at the jump and rises by `slope` per bit.
    Ramp {
        /// The jump.
        jump: Jump,
        /// Probability at the jump.
        at: f64,
        /// Slope in 1/bit.
        slope: f64,
    },
}

/// The outputs of a queue for one value of its state.
pub(crate) struct QueueOutput<T> {
    /// Queue length, in bits.
    pub(crate) queue: T,
    /// Probability of the queue law, if it is determined by the plateau or ramp.
    pub(crate) law_probability: Option<T>,
    /// Probability of overflow, if it is determined by the plateau at the end of the buffer.
    pub(crate) overflow: Option<T>,
    /// Whether the state is on a plateau: the queue length is constant while the state changes.
    pub(crate) is_constant: bool,
}

impl QueueModel {
    /// The stretched model for a link of this capacity in bit/s; the exact model if there is no discontinuity.
    pub(crate) fn stretched(jumps: [Option<Jump>; 2], buffer: f64, capacity: f64) -> Self {
        let jumps = jumps.map(|jump| jump.filter(|jump| jump.queue < buffer));
        if jumps == [None; 2] && buffer.is_infinite() {
            return Self::Exact;
        }
        Self::Stretched { jumps, buffer, width: WIDTH * capacity }
    }

    /// The outputs for this state.
    pub(crate) fn output<T: Number>(&self, state: T) -> QueueOutput<T> {
        let mut output =
            QueueOutput { queue: state, law_probability: None, overflow: None, is_constant: false };
        match *self {
            Self::Exact => {}
            Self::Ramp { jump, at, slope } => {
                output.law_probability = Some((state - jump.queue) * slope + at)
            }
            Self::Stretched { jumps, buffer, width } => {
                for jump in jumps.into_iter().flatten() {
                    if output.queue <= jump.queue {
                        break;
                    }
                    let climbed = least(output.queue - jump.queue, T::from(width));
                    if climbed < width {
                        output.law_probability =
                            Some(climbed / width * (jump.above - jump.below) + jump.below);
                        output.is_constant = true;
                    }
                    output.queue -= climbed;
                }
                if output.queue > buffer {
                    output.overflow = Some((output.queue - buffer) / width);
                    (output.queue, output.is_constant) = (T::from(buffer), true);
                }
            }
        }
        output
    }

    /// The smallest state with this queue length, in bits.
    pub(crate) fn state_for(&self, queue: f64) -> f64 {
        let Self::Stretched { jumps, width, .. } = self else { return queue };
        let passed = jumps.iter().flatten().filter(|jump| queue > jump.queue);
        passed.fold(queue, |state, _| state + width)
    }

    /// Upper bound of the state beyond the buffer; the loss probability is close to one there. None if there is no
    /// plateau.
    pub(crate) fn upper_bound(&self) -> Option<f64> {
        const NEARLY: f64 = 0.999;
        let Self::Stretched { jumps, buffer, width } = self else { return None };
        Some(jumps.iter().flatten().fold(buffer + NEARLY * width, |top, _| top + width))
    }

    /// For a state on the plateau of a jump, the ramp of slope zero with the present probability; otherwise the exact
    /// model.
    pub(crate) fn ramp_at(&self, state: f64) -> Self {
        let (Self::Stretched { jumps, .. }, QueueOutput { queue, law_probability: Some(at), .. }) =
            (self, self.output(state))
        else {
            return Self::Exact;
        };
        let near = |jump: &&Jump| (jump.queue - queue).abs() <= 1e-9 * queue;
        jumps.iter().flatten().find(near).map_or(Self::Exact, |jump| Self::Ramp {
            jump: *jump,
            at,
            slope: 0.0,
        })
    }
}

/// Below this share of the capacity, departures from the queue are not attributed to the arriving flows.
pub(crate) const MIN_LOAD: f64 = 1e-3;

/// Departing rate over admitted rate: one while the queue is empty, otherwise capacity over admitted rate.
pub(crate) fn departing_share(admitted: f64, capacity: f64, is_empty: bool) -> f64 {
    if is_empty { 1.0 } else { offered_share(admitted, capacity) }
}

/// The capacity over the admitted rate, whether the queue is empty or not.
pub(crate) fn offered_share(admitted: f64, capacity: f64) -> f64 {
    capacity / admitted.max(MIN_LOAD * capacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUMP: Jump = Jump { queue: 100.0, below: 0.25, above: 0.75 };

    /// Plateaus of 50 bits; a buffer of 300 bits. The length is constant for states from 100 to 150 and from 350 on.
    #[test]
    fn the_queue_is_constant_while_its_state_is_on_a_plateau() {
        let model = QueueModel::stretched([Some(JUMP), None], 300.0, 50.0 / WIDTH);
        let at = |state: f64| {
            let QueueOutput { queue, law_probability, overflow, .. } = model.output(state);
            (queue, law_probability, overflow)
        };
        assert_eq!(at(90.0), (90.0, None, None));
        assert_eq!(at(125.0), (100.0, Some(0.5), None));
        assert_eq!(at(250.0), (200.0, None, None));
        assert_eq!(at(375.0), (300.0, None, Some(0.5)));
        assert_eq!((model.state_for(90.0), model.state_for(200.0)), (90.0, 250.0));
        assert_eq!(model.ramp_at(125.0), QueueModel::Ramp { jump: JUMP, at: 0.5, slope: 0.0 });
        assert_eq!(model.ramp_at(250.0), QueueModel::Exact);
    }

    /// At its upper bound a state is at the end of the last plateau: nearly all is lost.
    #[test]
    fn the_upper_bound_of_a_state_is_behind_all_plateaus() {
        let higher = Jump { queue: 200.0, below: 0.75, above: 1.0 };
        for jumps in [[None; 2], [Some(JUMP), None], [Some(JUMP), Some(higher)]] {
            let model = QueueModel::stretched(jumps, 300.0, 1e3);
            let QueueOutput { queue, overflow, .. } = model.output(model.upper_bound().unwrap());
            assert!(
                queue == 300.0 && overflow.is_some_and(|lost| (0.99..1.0).contains(&lost)),
                "{overflow:?}"
            );
        }
    }

    #[test]
    fn a_jump_beyond_the_buffer_is_ignored() {
        let model = QueueModel::stretched([Some(JUMP), None], 80.0, 1e3);
        assert_eq!(model.output(90.0).law_probability, None);
        assert!(model.output(90.0).overflow.is_some());
        assert_eq!(QueueModel::stretched([None; 2], f64::INFINITY, 1e3), QueueModel::Exact);
    }
}
