//! TIMELY as delay-differential equations (section 4, CoNEXT 2016), with round-trip times that include propagation, as the law
//! measures them.
//!
//! `tau* = max(segment / R, min_rtt)` between updates; the gradient compares the queueing delay with that of `tau*` ago, a lag
//! of the law's own.

use super::params::Params;
use super::rule::{FULL_WEIGHT, RateRule, RuleForm};
use millpond_law::fluid::{
    Allocation, FluidModel, FluidSender, InputSet, LoopFacts, Number, SenderInput, SenderLaws, State,
    SteadyStateFacts, greatest, sender_law,
};

/// The fluid model of TIMELY.
pub(super) struct TimelyFluid(pub(super) Params);

const NO_FIXED_POINT: &str =
    "the rate grows while the round-trip time is constant, so that no rate is an equilibrium";

impl FluidModel for TimelyFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let least = self.0.min_rate.bps() as f64;
        sender_law(Source {
            rule: self.0.rule,
            segment: self.0.segment.bits() as f64,
            least,
            most: facts.capacity.max(least),
            initial: facts.capacity * self.0.initial_share,
        })
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        let reason = match self.0.rule.form {
            RuleForm::Published => NO_FIXED_POINT,
            RuleForm::Patched => {
                "the round-trip time of the fixed point is t_low (1 + delta / (beta rate)) up to t_high only"
            }
        };
        Allocation::Numeric { reason }
    }

    fn steady_state(&self, _facts: &LoopFacts) -> SteadyStateFacts {
        let limit_cycle = (self.0.rule.form == RuleForm::Published).then_some(NO_FIXED_POINT);
        SteadyStateFacts { limit_cycle, ..SteadyStateFacts::default() }
    }

    fn left_out(&self) -> &'static [&'static str] {
        match self.0.rule.form {
            RuleForm::Published => &["hyperactive increase", "bursts", "updates at discrete times"],
            RuleForm::Patched => &["bursts", "updates at discrete times"],
        }
    }
}

struct Source {
    rule: RateRule,
    /// In bits.
    segment: f64,
    /// In bit/s.
    least: f64,
    most: f64,
    initial: f64,
}

impl Source {
    /// tau* of section 4, CoNEXT 2016: seconds between two updates.
    fn interval<T: Number>(&self, rate: T) -> T {
        greatest(rate.recip() * self.segment, T::from(self.rule.min_rtt))
    }
}

impl FluidSender for Source {
    const GROWS_UNUSED: bool = true;
    const GUARDS: &'static [&'static str] = &[
        "rtt less t_low",
        "rtt less t_high",
        "gradient",
        "gradient below the line",
        "gradient above the line",
        "interval",
    ];

    const INPUTS: InputSet = InputSet { queueing: true, earlier_queueing: true, ..InputSet::NONE };

    fn states(&self) -> Vec<State> {
        vec![
            State::new("rate", "bit/s", self.initial).within(self.least, self.most),
            State::new("gradient", "1", 0.0),
        ]
    }

    /// Sections 4.1 and, for the patched form, 4.3, CoNEXT 2016.
    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let (rate, gradient) = (x[0], x[1]);
        let interval = self.interval(rate);
        let change = self.rule.change(input.rtt(), gradient);
        let difference = (input.queueing - input.earlier_queueing) / self.rule.min_rtt;
        dx[0] = (change.added - rate * change.removed) / interval;
        dx[1] = (difference - gradient) * self.rule.alpha / interval;
    }

    fn lag(&self, x: &[f64], _base_rtt: f64) -> f64 {
        self.interval(x[0]).min(self.longest_lag(0.0))
    }

    fn longest_lag(&self, _base_rtt: f64) -> f64 {
        self.interval(self.least)
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        let (rtt, gradient) = (input.rtt(), x[1]);
        let is_published = self.rule.form == RuleForm::Published;
        guards[0] = rtt - self.rule.t_low;
        guards[1] = rtt - self.rule.t_high;
        // Each form has only its own thresholds of the gradient; a constant never changes its sign.
        let line = |offset: f64| if is_published { T::one() } else { gradient + offset };
        guards[2] = if is_published { gradient } else { T::one() };
        guards[3] = line(FULL_WEIGHT);
        guards[4] = line(-FULL_WEIGHT);
        guards[5] = x[0] - self.segment / self.rule.min_rtt;
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::{PATCHED, PUBLISHED};
    use super::*;
    use crate::testing::fluid::{flow, inputs, near, one_loop};
    use millpond_law::Settings;

    const D: f64 = 10e-6;

    fn model(form: RuleForm) -> TimelyFluid {
        let keys = if form == RuleForm::Published { PUBLISHED } else { PATCHED };
        TimelyFluid(Params::read(&Settings::check(keys, []).unwrap(), form).unwrap())
    }

    #[test]
    fn the_gradient_follows_the_difference_of_queueing_delays_within_an_update() {
        let senders = model(RuleForm::Patched).sender(&one_loop(D));
        // At 1 Gbit/s a segment takes 128 us: alpha / tau* = 0.875 / 128 us.
        let seen = inputs(&*senders, D, |i| (i.queueing[0], i.earlier_queueing[0]) = (60e-6, 50e-6));
        let (dx, rate) = flow(&*senders, &[1e9, 0.1], &seen);
        assert!(near(dx[1], 0.875 / 128e-6 * (0.5 - 0.1)), "{dx:?}");
        assert!(near(rate, 1e9));
        // Above 6.4 Gbit/s updates are 20 us apart.
        let (dx, _) = flow(&*senders, &[9e9, 0.1], &seen);
        assert!(near(dx[1], 0.875 / 20e-6 * (0.5 - 0.1)), "{dx:?}");
    }

    #[test]
    fn the_patched_form_rests_where_the_published_one_grows() {
        // t_low (1 + delta / (beta R)) = 62.5 us at 5 Gbit/s.
        let queueing = 62.5e-6 - D;
        for (form, growth) in [(RuleForm::Patched, 0.0), (RuleForm::Published, 10e6 / 25.6e-6)] {
            let senders = model(form).sender(&one_loop(D));
            let seen =
                inputs(&*senders, D, |i| (i.queueing[0], i.earlier_queueing[0]) = (queueing, queueing));
            let (dx, _) = flow(&*senders, &[5e9, 0.0], &seen);
            assert!((dx[0] - growth).abs() <= 1e-6 * 10e6 / 25.6e-6, "{form:?}: {dx:?}");
        }
    }
}
