//! Queues near their edges, where what they say jumps.
//!
//! A buffer that overflows, or a law that marks all beyond a threshold, answers a queue of one length with any
//! probability between two: the network slides along the edge (Filippov), and rests there with the probability that
//! senders need. A search for rest finds it by a queue that is stretched at the edge: its state runs on while the queue
//! stays and the probability rises.
//!
//! ```text
//!   probability       above .------      queue           /
//!                          /                      ._____/
//!       below ------------'                      /
//!                         |--|  state           /  |--|  state
//! ```

use millpond_law::fluid::{Jump, Number, least};

/// How long a plateau is: so much time's worth of capacity. It decides how fast a search is, and not where it ends.
const WIDTH: f64 = 0.05;

/// What a queue is near its edges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum QueueModel {
    /// As it is: what jumps, jumps.
    #[default]
    Sharp,
    /// Stretched at each jump of its law's probability, and at the end of its buffer.
    Stretched {
        /// From the shortest queue up.
        jumps: [Option<Jump>; 2],
        /// In bits; infinite if it never overflows.
        buffer: f64,
        /// Of each plateau, in bits.
        width: f64,
    },
    /// At a jump, its law's probability being `at` there and rising by so much per bit.
    Ramp {
        /// The jump.
        jump: Jump,
        /// Probability at the jump.
        at: f64,
        /// Per bit.
        slope: f64,
    },
}

/// What a state of a queue means.
pub(crate) struct QueueOutput<T> {
    /// In bits.
    pub(crate) queue: T,
    /// What the queue's law says, if the edge decides it.
    pub(crate) judged: Option<T>,
    /// What is lost at the buffer's end, if the edge decides it.
    pub(crate) overflow: Option<T>,
    /// Whether the queue stays while its state moves.
    pub(crate) is_constant: bool,
}

impl QueueModel {
    /// Of a link of this capacity, if there is anything to stretch.
    pub(crate) fn stretched(jumps: [Option<Jump>; 2], buffer: f64, capacity: f64) -> Self {
        let jumps = jumps.map(|jump| jump.filter(|jump| jump.queue < buffer));
        if jumps == [None; 2] && buffer.is_infinite() {
            return Self::Sharp;
        }
        Self::Stretched { jumps, buffer, width: WIDTH * capacity }
    }

    /// What this state means.
    pub(crate) fn see<T: Number>(&self, state: T) -> QueueOutput<T> {
        let mut seen = QueueOutput { queue: state, judged: None, overflow: None, is_constant: false };
        match *self {
            Self::Sharp => {}
            Self::Ramp { jump, at, slope } => seen.judged = Some((state - jump.queue) * slope + at),
            Self::Stretched { jumps, buffer, width } => {
                for jump in jumps.into_iter().flatten() {
                    if seen.queue <= jump.queue {
                        break;
                    }
                    let climbed = least(seen.queue - jump.queue, T::from(width));
                    if climbed < width {
                        seen.judged = Some(climbed / width * (jump.above - jump.below) + jump.below);
                        seen.is_constant = true;
                    }
                    seen.queue -= climbed;
                }
                if seen.queue > buffer {
                    seen.overflow = Some((seen.queue - buffer) / width);
                    (seen.queue, seen.is_constant) = (T::from(buffer), true);
                }
            }
        }
        seen
    }

    /// The state of a queue of this length, at the near end of a plateau.
    pub(crate) fn state_for(&self, queue: f64) -> f64 {
        let Self::Stretched { jumps, width, .. } = self else { return queue };
        let passed = jumps.iter().flatten().filter(|jump| queue > jump.queue);
        passed.fold(queue, |state, _| state + width)
    }

    /// The highest state, if it is not the buffer: there next to everything is lost.
    pub(crate) fn top(&self) -> Option<f64> {
        const NEARLY: f64 = 0.999;
        let Self::Stretched { jumps, buffer, width } = self else { return None };
        Some(jumps.iter().flatten().fold(buffer + NEARLY * width, |top, _| top + width))
    }

    /// The edge on which this state slides, as a ramp without a slope.
    pub(crate) fn sharpened(&self, state: f64) -> Self {
        let (Self::Stretched { jumps, .. }, QueueOutput { queue, judged: Some(at), .. }) =
            (self, self.see(state))
        else {
            return Self::Sharp;
        };
        let near = |jump: &&Jump| (jump.queue - queue).abs() <= 1e-9 * queue;
        jumps.iter().flatten().find(near).map_or(Self::Sharp, |jump| Self::Ramp {
            jump: *jump,
            at,
            slope: 0.0,
        })
    }
}

/// While less than this share of the capacity arrives, the queue's packets are not counted as anybody's.
pub(crate) const LEAST_LOAD: f64 = 1e-3;

/// What of the admitted rate departs: all of it while nothing waits, otherwise as much as the link serves.
pub(crate) fn passing(admitted: f64, capacity: f64, is_empty: bool) -> f64 {
    if is_empty { 1.0 } else { capacity / admitted.max(LEAST_LOAD * capacity) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUMP: Jump = Jump { queue: 100.0, below: 0.25, above: 0.75 };

    /// A width of 50, a buffer of 300: the queue waits from 100 to 150, and from 350 on.
    #[test]
    fn a_state_runs_on_while_its_queue_waits() {
        let edge = QueueModel::stretched([Some(JUMP), None], 300.0, 50.0 / WIDTH);
        let at = |state: f64| {
            let QueueOutput { queue, judged, overflow, .. } = edge.see(state);
            (queue, judged, overflow)
        };
        assert_eq!(at(90.0), (90.0, None, None));
        assert_eq!(at(125.0), (100.0, Some(0.5), None));
        assert_eq!(at(250.0), (200.0, None, None));
        assert_eq!(at(375.0), (300.0, None, Some(0.5)));
        assert_eq!((edge.state_for(90.0), edge.state_for(200.0)), (90.0, 250.0));
        assert_eq!(edge.sharpened(125.0), QueueModel::Ramp { jump: JUMP, at: 0.5, slope: 0.0 });
        assert_eq!(edge.sharpened(250.0), QueueModel::Sharp);
    }

    #[test]
    fn a_jump_that_the_buffer_hides_is_none() {
        let edge = QueueModel::stretched([Some(JUMP), None], 80.0, 1e3);
        assert_eq!(edge.see(90.0).judged, None);
        assert!(edge.see(90.0).overflow.is_some());
        assert_eq!(QueueModel::stretched([None; 2], f64::INFINITY, 1e3), QueueModel::Sharp);
    }
}
