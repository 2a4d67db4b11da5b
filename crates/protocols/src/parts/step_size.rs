//! The adaptive step size of LGC and LGCC: large far from the target, small near it (LGCC section IX-A).

use millpond_law::fluid::Number;
use millpond_law::key::{Key, above, from, number, word};
use millpond_law::{Settings, words};

pub(crate) const GAMMA_INIT: Key<f64> = number("gamma_init", "1", 0.3, above(0.0).to(4.6))
    .source("LGCC Algorithm 1 line 15, section X-A")
    .meaning("step size per interval far from the target rate");
pub(crate) const GAMMA_CONV: Key<f64> = number("gamma_conv", "1", 0.05, above(0.0).to(4.6))
    .source("LGCC Algorithm 1 line 13, section X-A")
    .meaning("step size per interval near the target rate");
pub(crate) const G1: Key<f64> = number("g1", "1", 0.015, from(0.0).to(1.0))
    .source("LGCC Algorithm 1 line 12; printed as 0.05 in section X-A, see ERRATA.md")
    .meaning("relative distance from the target up to which the step size is gamma_conv");
pub(crate) const G2: Key<f64> = number("g2", "1", 0.05, from(0.0).to(1.0))
    .source("LGCC Algorithm 1 line 14; printed as 0.015 in section X-A, see ERRATA.md")
    .meaning("relative distance from the target from which the step size is gamma_init");
pub(crate) const STEP_SIZE: Key<StepSizeReading> = word("step_size", StepSizeReading::Linear)
    .source("LGCC Algorithm 1 lines 12 to 18")
    .meaning("between g1 and g2: linear; a switch at the larger one; or line 17 as printed, with two jumps");

words! {
    /// The step size between the thresholds g1 and g2.
    pub(crate) enum StepSizeReading { Linear = "linear", Switch = "switch", Unshifted = "unshifted" }
}

/// The step size as a function of the distance from the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSize {
    init: f64,
    conv: f64,
    g1: f64,
    g2: f64,
    reading: StepSizeReading,
}

impl StepSize {
    /// The step size under these settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            init: settings.get(GAMMA_INIT),
            conv: settings.get(GAMMA_CONV),
            g1: settings.get(G1),
            g2: settings.get(G2),
            reading: settings.get(STEP_SIZE),
        }
    }

    /// The step size before the first target.
    pub fn initial(&self) -> f64 {
        self.init
    }

    /// The step size at rate `x` with this target, in the same unit.
    pub fn at<T: Number>(&self, x: T, target: T) -> T {
        let distance = (x - target).abs() / target;
        let near = if self.reading == StepSizeReading::Switch { self.g1.max(self.g2) } else { self.g1 };
        if distance <= near {
            T::from(self.conv)
        } else if distance >= self.g2 {
            T::from(self.init)
        } else {
            self.between(distance)
        }
    }

    /// Whether the rate `x` is within the larger threshold, g2, of its target. Both have the same unit.
    pub fn is_near(&self, x: f64, target: f64) -> bool {
        (x - target).abs() <= self.g1.max(self.g2) * target
    }

    /// Algorithm 1 line 17, at a distance from g1 to g2.
    fn between<T: Number>(&self, distance: T) -> T {
        let start = if self.reading == StepSizeReading::Unshifted { 0.0 } else { self.g1 };
        (distance - start) * (self.init - self.conv) / (self.g2 - self.g1) + self.conv
    }

    /// The distances at which the step size is not smooth.
    pub fn thresholds(&self) -> [f64; 2] {
        [self.g1, self.g2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::logistic::Bases;

    fn paper(reading: StepSizeReading) -> StepSize {
        StepSize { init: 0.3, conv: 0.05, g1: 0.015, g2: 0.05, reading }
    }

    fn at(step: StepSize, distance: f64) -> f64 {
        step.at(100.0 * (1.0 + distance), 100.0)
    }

    #[test]
    fn between_the_thresholds_the_step_size_is_linear_and_continuous() {
        let step = paper(StepSizeReading::Linear);
        for (distance, gamma) in [(0.0, 0.05), (0.0149, 0.05), (0.02, 0.0857), (0.03, 0.1571), (0.04, 0.2286)]
        {
            assert!((at(step, distance) - gamma).abs() < 1e-4, "{distance}");
            assert!((at(step, -distance) - gamma).abs() < 1e-4, "{distance}");
        }
        assert!((at(step, 0.01501) - 0.05).abs() < 1e-3 && (at(step, 0.04999) - 0.3).abs() < 1e-3);
        assert_eq!(at(step, 0.06), 0.3);
    }

    #[test]
    fn a_rate_is_near_its_target_within_the_larger_threshold() {
        let printed = StepSize { g1: 0.05, g2: 0.015, ..paper(StepSizeReading::Switch) };
        for step in [paper(StepSizeReading::Linear), printed] {
            let near = [94.9, 95.1, 100.0, 104.9, 105.1].map(|x| step.is_near(x, 100.0));
            assert_eq!(near, [false, true, true, true, false]);
        }
        assert!(!paper(StepSizeReading::Linear).is_near(1.0, 0.0), "no rate is near a target of zero");
    }

    #[test]
    fn the_printed_thresholds_make_a_switch() {
        let printed = StepSize { g1: 0.05, g2: 0.015, ..paper(StepSizeReading::Linear) };
        let switch = paper(StepSizeReading::Switch);
        for distance in [0.0, 0.01, 0.02, 0.049, 0.051, 0.5] {
            assert_eq!(at(printed, distance), at(switch, distance), "{distance}");
            assert_eq!(at(switch, distance), if distance < 0.05 { 0.05 } else { 0.3 });
        }
    }

    #[test]
    fn the_printed_line_17_jumps_at_both_ends() {
        // .05 + .015 * .25 / .035 = .157 and .05 + .05 * .25 / .035 = .407, above gamma_init.
        let step = paper(StepSizeReading::Unshifted);
        assert!((at(step, 0.01501) - 0.157).abs() < 2e-3);
        assert!((at(step, 0.04999) - 0.407).abs() < 1e-3);
    }

    #[test]
    fn the_last_percents_take_longer_than_the_approach() {
        let bases = Bases::new(10.0, 5.0);
        let steps = |mut x: f64, k: f64| {
            (1..).find(|_| {
                x = bases.step(x, k, 0.0, paper(StepSizeReading::Linear).at(x, k));
                (x - k).abs() <= 0.005 * k
            })
        };
        // To 5 % it takes 38 and 17 (see logistic); gamma_conv alone would add ln(10) / -ln(.9783) = 105 to each, a
        // jump to gamma_init 17.
        assert_eq!((steps(1.0, 500.0), steps(500.0, 300.0)), (Some(111), Some(89)));
    }
}
