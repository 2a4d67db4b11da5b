//! The rate after an update, in both forms, for numbers and for dual numbers.

use millpond_law::fluid::{Number, greatest, least};

/// Which rule applies between the two thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleForm {
    /// Algorithm 1, SIGCOMM 2015.
    Published,
    /// Section 4.3, CoNEXT 2016.
    Patched,
}

/// Parameters of the rule, in seconds and bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateRule {
    pub(super) form: RuleForm,
    pub(super) t_low: f64,
    pub(super) t_high: f64,
    pub(super) min_rtt: f64,
    /// Additive increase, in bit/s.
    pub(super) delta: f64,
    pub(super) beta: f64,
    pub(super) alpha: f64,
    pub(super) hai_threshold: u64,
}

/// A change of the rate: `rate + added - rate * removed`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateChange<T> {
    /// In bit/s.
    pub(super) added: T,
    /// As a share of the rate.
    pub(super) removed: T,
}

/// Gradient at which the weight of the patched form reaches zero, with the sign reversed, and one (section 4.3, CoNEXT 2016).
pub(super) const FULL_WEIGHT: f64 = 0.25;

/// Section 4.3, CoNEXT 2016: 0 below -1/4, 1 above 1/4, and a line between.
fn weight<T: Number>(gradient: T) -> T {
    least(greatest(gradient * 2.0 + 0.5, T::zero()), T::one())
}

impl RateRule {
    /// The change after an update with this round-trip time in seconds and this normalized gradient.
    pub(super) fn change<T: Number>(&self, rtt: T, gradient: T) -> RateChange<T> {
        if rtt.re() < self.t_low {
            return self.addition();
        }
        if rtt.re() > self.t_high {
            let removed = (-(rtt.recip() * self.t_high) + 1.0) * self.beta;
            return RateChange { added: T::zero(), removed };
        }
        match self.form {
            RuleForm::Published if gradient.re() <= 0.0 => self.addition(),
            RuleForm::Published => RateChange { added: T::zero(), removed: gradient * self.beta },
            RuleForm::Patched => {
                let weight = weight(gradient);
                let error = (rtt - self.t_low) / self.t_low;
                RateChange { added: (-weight + 1.0) * self.delta, removed: weight * error * self.beta }
            }
        }
    }

    fn addition<T: Number>(&self) -> RateChange<T> {
        RateChange { added: T::from(self.delta), removed: T::zero() }
    }

    /// The moving average of differences of round-trip times, in seconds.
    pub(super) fn average(&self, average: f64, newest: f64) -> f64 {
        (1.0 - self.alpha) * average + self.alpha * newest
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn rule(form: RuleForm, beta: f64) -> RateRule {
        RateRule {
            form,
            t_low: 50e-6,
            t_high: 500e-6,
            min_rtt: 20e-6,
            delta: 10e6,
            beta,
            alpha: 0.875,
            hai_threshold: 5,
        }
    }

    /// A rate of 1 Gbit/s after an update, in Mbit/s.
    fn after(rule: &RateRule, rtt_us: f64, gradient: f64) -> f64 {
        let change = rule.change(rtt_us * 1e-6, gradient);
        (1e9 + change.added - 1e9 * change.removed) / 1e6
    }

    #[test]
    fn both_forms_add_below_the_low_threshold_and_multiply_above_the_high_one() {
        for form in [RuleForm::Published, RuleForm::Patched] {
            let rule = rule(form, 0.8);
            for gradient in [-1.0, 0.0, 1.0] {
                assert_eq!(after(&rule, 49.0, gradient), 1010.0);
                // 1 - 0.8 (1 - 500 / 1000) = 0.6.
                assert!((after(&rule, 1000.0, gradient) - 600.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_published_form_reduces_by_the_gradient_alone() {
        let rule = rule(RuleForm::Published, 0.8);
        for rtt in [51.0, 100.0, 499.0] {
            assert_eq!(
                after(&rule, rtt, 0.0),
                1010.0,
                "no fixed point: the rate grows at a gradient of zero"
            );
            assert_eq!(after(&rule, rtt, -0.3), 1010.0);
            assert!((after(&rule, rtt, 0.25) - 800.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_patched_form_weighs_increase_and_decrease() {
        let rule = rule(RuleForm::Patched, 0.008);
        // At 100 us the error is one: the rate falls by 0.8 % at full weight.
        for (gradient, rate) in
            [(-0.25, 1010.0), (0.25, 992.0), (0.0, 1001.0), (0.125, 996.5), (-1.0, 1010.0)]
        {
            assert!((after(&rule, 100.0, gradient) - rate).abs() < 1e-9, "{gradient}");
        }
    }

    #[test]
    fn the_patched_form_has_a_fixed_point_at_a_gradient_of_zero() {
        // delta = beta R (rtt - t_low) / t_low: for 5 Gbit/s at 1.25 t_low.
        let change = rule(RuleForm::Patched, 0.008).change(62.5e-6, 0.0);
        assert!((change.added - 5e9 * change.removed).abs() < 1e-3, "{change:?}");
    }
}
