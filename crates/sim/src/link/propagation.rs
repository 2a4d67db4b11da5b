//! Propagation delay: constant, in steps, and with jitter.

use millpond_law::Random;
use millpond_units::{Span, Time};

/// A random delay added for each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// Uniform between zero and this.
    Uniform(Span),
    /// Normal around `mean`; samples below zero or above twice the mean are set to these bounds.
    Normal {
        /// Mean of the added delay.
        mean: Span,
        /// Standard deviation before the bounds are applied.
        deviation: Span,
    },
    /// Exponential with this mean.
    Exponential(Span),
}

impl Jitter {
    fn sample(&self, random: &mut Random) -> Span {
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

/// Propagation delay of a link.
#[derive(Clone, Debug)]
pub struct Propagation {
    /// Delay at the start.
    pub delay: Span,
    /// Later delays, each from its time on, ascending in time.
    pub steps: Vec<(Time, Span)>,
    /// A random delay added for each packet.
    pub jitter: Option<Jitter>,
    /// True if a packet may overtake another one. Otherwise it arrives no earlier than the packet before it.
    pub reorder: bool,
}

impl Propagation {
    /// A constant delay.
    pub fn constant(delay: Span) -> Self {
        Self { delay, steps: Vec::new(), jitter: None, reorder: false }
    }
}

/// State of a variable delay. Packets enter in the order in which their service ended.
#[derive(Debug)]
pub(super) struct VariableDelay {
    propagation: Propagation,
    /// Number of steps that have been applied.
    applied: usize,
    last: Time,
    random: Random,
}

impl VariableDelay {
    /// None if the delay is constant.
    pub(super) fn new(propagation: Propagation, random: Random) -> Option<Self> {
        let varies = !propagation.steps.is_empty() || propagation.jitter.is_some();
        varies.then_some(Self { propagation, applied: 0, last: Time::ZERO, random })
    }

    pub(super) fn reorders(&self) -> bool {
        self.propagation.reorder
    }

    /// Arrival time of a packet whose service ends at `leaves`.
    pub(super) fn arrival(&mut self, leaves: Time) -> Time {
        let arrives = leaves + self.delay(leaves);
        self.last = if self.propagation.reorder { arrives } else { arrives.max(self.last) };
        self.last
    }

    fn delay(&mut self, now: Time) -> Span {
        let propagation = &mut self.propagation;
        while let Some(&(time, delay)) = propagation.steps.get(self.applied)
            && time <= now
        {
            propagation.delay = delay;
            self.applied += 1;
        }
        let jitter = propagation.jitter.map_or(Span::ZERO, |jitter| jitter.sample(&mut self.random));
        propagation.delay + jitter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wire(propagation: Propagation) -> VariableDelay {
        VariableDelay::new(propagation, Random::stream(1, "link")).unwrap()
    }

    #[test]
    fn a_shorter_delay_does_not_reorder_packets() {
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
            let samples: Vec<f64> = (0..100_000).map(|_| jitter.sample(&mut random).millis()).collect();
            let average = samples.iter().sum::<f64>() / samples.len() as f64;
            // The largest standard deviation is that of the exponential, 4 ms; five standard errors.
            assert!((average - 4.0).abs() < 5.0 * 4.0 / 1e5_f64.sqrt(), "{jitter:?} {average}");
            let unbounded = matches!(jitter, Jitter::Exponential(_));
            assert!(unbounded || samples.iter().all(|sample| (0.0..=8.0).contains(sample)), "{jitter:?}");
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
