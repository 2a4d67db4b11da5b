//! How long a packet is on its way once it has left: delay, its steps, and jitter.

use millpond_law::Random;
use millpond_units::{Span, Time};

/// A random amount added to the delay of each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// Evenly between zero and this.
    Uniform(Span),
    /// Normal around `mean`; draws beyond zero or twice the mean are set to these bounds.
    Normal {
        /// Mean of what is added.
        mean: Span,
        /// Standard deviation before the bounds are applied.
        deviation: Span,
    },
    /// Exponential with this mean.
    Exponential(Span),
}

impl Jitter {
    fn draw(&self, random: &mut Random) -> Span {
        match *self {
            Self::Uniform(most) => most.scale(random.uniform()),
            Self::Normal { mean, deviation } => {
                let bounded = mean.picos() as f64 + deviation.picos() as f64 * random.normal();
                Span::from_picos((bounded + 0.5) as u64).min(mean * 2)
            }
            Self::Exponential(mean) => {
                Span::from_picos((random.exponential(mean.picos() as f64) + 0.5) as u64)
            }
        }
    }
}

/// The way from a link's server to its far end.
#[derive(Clone, Debug)]
pub struct Propagation {
    /// The delay at the start.
    pub delay: Span,
    /// Later delays, each from its time on, ascending.
    pub steps: Vec<(Time, Span)>,
    /// A random amount added for each packet.
    pub jitter: Option<Jitter>,
    /// May a packet overtake another? If not, it arrives no earlier than the one before it.
    pub reorder: bool,
}

impl Propagation {
    /// The same delay for every packet.
    pub fn constant(delay: Span) -> Self {
        Self { delay, steps: Vec::new(), jitter: None, reorder: false }
    }
}

/// A way whose delay varies, at work: packets enter in the order in which they left the server.
#[derive(Debug)]
pub(super) struct Wire {
    propagation: Propagation,
    /// How many steps have been taken.
    taken: usize,
    last: Time,
    random: Random,
}

impl Wire {
    /// None if the delay never varies.
    pub(super) fn new(propagation: Propagation, random: Random) -> Option<Self> {
        let varies = !propagation.steps.is_empty() || propagation.jitter.is_some();
        varies.then_some(Self { propagation, taken: 0, last: Time::ZERO, random })
    }

    pub(super) fn reorders(&self) -> bool {
        self.propagation.reorder
    }

    /// When a packet that leaves now arrives.
    pub(super) fn arrival(&mut self, leaves: Time) -> Time {
        let arrives = leaves + self.delay(leaves);
        self.last = if self.propagation.reorder { arrives } else { arrives.max(self.last) };
        self.last
    }

    fn delay(&mut self, now: Time) -> Span {
        let propagation = &mut self.propagation;
        while let Some(&(time, delay)) = propagation.steps.get(self.taken)
            && time <= now
        {
            propagation.delay = delay;
            self.taken += 1;
        }
        let jitter = propagation.jitter.map_or(Span::ZERO, |jitter| jitter.draw(&mut self.random));
        propagation.delay + jitter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wire(propagation: Propagation) -> Wire {
        Wire::new(propagation, Random::stream(1, "link")).unwrap()
    }

    #[test]
    fn a_shorter_delay_does_not_let_packets_overtake() {
        let steps = vec![(Time::from_secs(1.0), Span::from_millis(10))];
        let propagation = Propagation { steps, ..Propagation::constant(Span::from_millis(100)) };
        let mut wire = wire(propagation);
        let arrivals = [0.0, 0.999, 1.0, 1.05, 1.2].map(|leaves| wire.arrival(Time::from_secs(leaves)));
        assert_eq!(arrivals, [0.1, 1.099, 1.099, 1.099, 1.21].map(Time::from_secs));
    }

    #[test]
    fn jitter_stays_within_its_bounds_and_has_its_mean() {
        let mean = Span::from_millis(4);
        let bounded = [Jitter::Uniform(mean * 2), Jitter::Normal { mean, deviation: Span::from_millis(3) }];
        let mut random = Random::stream(3, "jitter");
        for jitter in bounded.into_iter().chain([Jitter::Exponential(mean)]) {
            let draws: Vec<f64> = (0..100_000).map(|_| jitter.draw(&mut random).millis()).collect();
            let average = draws.iter().sum::<f64>() / draws.len() as f64;
            // Standard deviation is at most that of the exponential, 4 ms; five standard errors.
            assert!((average - 4.0).abs() < 5.0 * 4.0 / 1e5_f64.sqrt(), "{jitter:?} {average}");
            let unbounded = matches!(jitter, Jitter::Exponential(_));
            assert!(unbounded || draws.iter().all(|draw| (0.0..=8.0).contains(draw)), "{jitter:?}");
        }
    }

    proptest! {
        #[test]
        fn no_jitter_reorders_unless_asked(gaps in prop::collection::vec(0_u64..1_000_000_000, 1..100)) {
            let jitter = Some(Jitter::Uniform(Span::from_millis(5)));
            let mut wire = wire(Propagation { jitter, ..Propagation::constant(Span::from_millis(1)) });
            let (mut now, mut last) = (Time::ZERO, Time::ZERO);
            for gap in gaps {
                now += Span::from_picos(gap);
                let arrives = wire.arrival(now);
                prop_assert!(arrives >= last && arrives >= now + Span::from_millis(1));
                last = arrives;
            }
        }
    }
}
