//! The formulas of logistic growth, which LGC and LGCC share. Rates are in any common unit; equation numbers are those
//! of the LGCC paper (Teymoori, Welzl, Hayes, IEEE/ACM Trans. Networking, 2023).

use millpond_law::Settings;
use millpond_law::fluid::{Number, exp, greatest, least, ln};
use millpond_law::key::{Key, above, number};

/// Smallest difference of a marking probability from one, for a finite logarithm.
pub(crate) const LARGEST_MARKING: f64 = 1.0 - 1e-6;

pub(crate) const PHI1: Key<f64> = number("phi1", "1", 10.0, above(1.0))
    .source("Eq. (7), (14); LGCC section X-A")
    .meaning("base of the logarithm of the normalized rate");
pub(crate) const PHI2: Key<f64> = number("phi2", "1", 5.0, above(1.0))
    .source("Eq. (7), (14); LGCC section X-A")
    .meaning("base of the logarithm of the marking probability; a smaller base needs fewer marks");

/// The two bases of the deflated law, which needs fewer marks than the plain one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bases {
    ln_phi1: f64,
    ln_phi2: f64,
}

impl Bases {
    /// The deflation with these bases, each above one.
    pub fn new(phi1: f64, phi2: f64) -> Self {
        Self { ln_phi1: libm::log(phi1), ln_phi2: libm::log(phi2) }
    }

    /// The bases under these settings.
    pub fn read(settings: &Settings) -> Self {
        Self::new(settings.get(PHI1), settings.get(PHI2))
    }

    /// ln(phi1) / ln(phi2).
    pub fn exponent(&self) -> f64 {
        self.ln_phi1 / self.ln_phi2
    }

    /// The price of a marking probability: `-log_phi2(1 - p)`, LGCC section VI-D. Prices add up over links.
    pub fn price(&self, marking: f64) -> f64 {
        -libm::log1p(-marking.clamp(0.0, LARGEST_MARKING)) / self.ln_phi2
    }

    /// Eq. (15): the target rate for a carrying capacity `k` and a marking probability, `k phi1^(-price)`.
    pub fn rate_from_price(&self, k: f64, marking: f64) -> f64 {
        k * libm::exp(-self.price(marking) * self.ln_phi1)
    }

    /// Eq. (8) and (22): the marking probability at which `flows` equal flows share one link.
    pub fn equilibrium_marking(&self, flows: f64) -> f64 {
        -libm::expm1(-libm::log(flows) / self.exponent())
    }

    /// One step of Eq. (7) and (14), the deflated form, as in line 19 of Algorithm 1.
    pub fn step(&self, x: f64, k: f64, marking: f64, gamma: f64) -> f64 {
        x - x * gamma * (self.price(marking) + libm::log(x / k) / self.ln_phi1)
    }

    /// Factor by which a step with `gamma` multiplies `ln(x / target)`: Eq. (14) is linear in the logarithm of the rate.
    pub fn contraction(&self, gamma: f64) -> f64 {
        1.0 - gamma / self.ln_phi1
    }
}

/// The growth law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogisticForm {
    /// Eq. (4) and (5).
    Plain,
    /// Eq. (7) and (14).
    Deflated(Bases),
}

impl LogisticForm {
    /// Equilibrium rate of the law with capacity `k` at a marking probability.
    pub fn target(&self, k: f64, marking: f64) -> f64 {
        match self {
            Self::Plain => plain_rate(k, marking),
            Self::Deflated(bases) => bases.rate_from_price(k, marking),
        }
    }

    /// One step from `x`.
    pub fn step(&self, x: f64, k: f64, marking: f64, gamma: f64) -> f64 {
        match self {
            Self::Plain => plain_step(x, k, marking, gamma),
            Self::Deflated(bases) => bases.step(x, k, marking, gamma),
        }
    }

    /// eta = ln(phi1) / ln(phi2), one for the plain form: at equilibrium `x = k (1 - p)^eta`.
    pub fn exponent(&self) -> f64 {
        match self {
            Self::Plain => 1.0,
            Self::Deflated(bases) => bases.exponent(),
        }
    }

    /// [`Self::target`] for the fluid model: Eq. (15), (19).
    pub fn equilibrium<T: Number>(&self, k: T, marking: T) -> T {
        k * exp(ln(unmarked(marking)) * self.exponent())
    }

    /// Eq. (4), (7) and (14) for the fluid model: `x' / (gamma x)`.
    pub fn growth<T: Number>(&self, x: T, k: T, marking: T) -> T {
        match self {
            Self::Plain => plain_growth(x, k, marking),
            Self::Deflated(bases) => ln(unmarked(marking)) / bases.ln_phi2 - ln(x / k) / bases.ln_phi1,
        }
    }
}

/// 1 - p, bounded so that its logarithm is finite.
fn unmarked<T: Number>(marking: T) -> T {
    -least(greatest(marking, T::zero()), T::from(LARGEST_MARKING)) + 1.0
}

/// Eq. (6) and (16): the marking probability changes by the excess of arrivals, between 0 and 1.
pub fn next_marking(marking: f64, excess: f64) -> f64 {
    (marking + excess).clamp(0.0, 1.0)
}

/// `1 - x / k - p`.
fn plain_growth<T: Number>(x: T, k: T, marking: T) -> T {
    T::one() - x / k - marking
}

/// One step of Eq. (5), the plain form, with the rate not normalized.
pub fn plain_step(x: f64, k: f64, marking: f64, gamma: f64) -> f64 {
    x + x * gamma * plain_growth(x, k, marking)
}

/// Eq. (19): equilibrium rate of Eq. (4) at a marking probability.
pub fn plain_rate(k: f64, marking: f64) -> f64 {
    k * (1.0 - marking.clamp(0.0, LARGEST_MARKING))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The general setting of the paper's section X-A.
    fn general() -> Bases {
        Bases::new(10.0, 5.0)
    }

    /// Number of steps at price zero until `x` is within `share` of `k`.
    fn steps_until_near(bases: &Bases, mut x: f64, k: f64, marking: f64, gamma: f64, share: f64) -> u32 {
        let target = bases.rate_from_price(k, marking);
        let mut steps = 0;
        while (x - target).abs() > share * target {
            x = bases.step(x, k, marking, gamma);
            steps += 1;
        }
        steps
    }

    #[test]
    fn equilibrium_marking_is_one_less_a_power_of_the_number_of_flows() {
        // 1 - S^(-ln phi2 / ln phi1) by hand; ten flows make 1 - 1/phi2 where phi1 is ten.
        for (flows, ten_two, ten_three, ten_five) in [
            (2.0, 0.1883, 0.2816, 0.3840),
            (3.0, 0.2816, 0.4080, 0.5360),
            (5.0, 0.3840, 0.5360, 0.6753),
            (10.0, 0.5000, 0.6667, 0.8000),
            (50.0, 0.6920, 0.8453, 0.9351),
        ] {
            for (phi2, expected) in [(2.0, ten_two), (3.0, ten_three), (5.0, ten_five)] {
                let marking = Bases::new(10.0, phi2).equilibrium_marking(flows);
                assert!((marking - expected).abs() < 1e-4, "{flows} flows, phi2 = {phi2}: {marking}");
            }
            let equal_bases = Bases::new(7.0, 7.0).equilibrium_marking(flows);
            assert!((equal_bases - (1.0 - 1.0 / flows)).abs() < 1e-12);
        }
    }

    #[test]
    fn at_the_equilibrium_marking_each_flow_has_its_share() {
        for flows in [1.0, 2.0, 5.0, 50.0] {
            let rate = general().rate_from_price(500.0, general().equilibrium_marking(flows));
            assert!((rate - 500.0 / flows).abs() < 1e-9, "{rate}");
        }
    }

    #[test]
    fn the_rate_of_eq_15_is_the_fixed_point_of_eq_14() {
        for (k, marking) in [(500.0, 0.0), (500.0, 0.4), (1e9, 0.9)] {
            let target = general().rate_from_price(k, marking);
            assert!((general().step(target, k, marking, 0.3) - target).abs() < 1e-9 * k);
            assert_eq!(plain_step(plain_rate(k, marking), k, marking, 0.3), plain_rate(k, marking));
        }
    }

    #[test]
    fn prices_add_up_over_links_that_mark_independently() {
        let (a, b) = (0.3, 0.45);
        let both = 1.0 - (1.0 - a) * (1.0 - b);
        assert!((general().price(both) - general().price(a) - general().price(b)).abs() < 1e-12);
    }

    #[test]
    fn the_logarithm_of_the_distance_shrinks_by_a_constant_factor() {
        assert!((general().contraction(0.3) - 0.8697).abs() < 1e-4);
        assert!((general().contraction(0.05) - 0.9783).abs() < 1e-4);
        // Steps to 5 %. The bare contraction of the logarithm would take 35 and 17; far below its target the step
        // is a little slower, since ln(1 + y) < y.
        assert_eq!(steps_until_near(&general(), 1.0, 500.0, 0.0, 0.3, 0.05), 38);
        assert_eq!(steps_until_near(&general(), 500.0, 300.0, 0.0, 0.3, 0.05), 17);
        assert_eq!(steps_until_near(&general(), 1.0, 500.0, 0.0, 0.05, 0.05), 222);
        assert_eq!(steps_until_near(&general(), 500.0, 300.0, 0.0, 0.05, 0.05), 107);
    }

    #[test]
    fn a_change_of_capacity_is_followed_within_a_few_steps() {
        let marking = general().equilibrium_marking(5.0);
        for (from, to, steps) in [
            (500.0, 400.0, 11),
            (400.0, 300.0, 13),
            (300.0, 400.0, 13),
            (400.0, 500.0, 11),
            (500.0, 150.0, 23),
        ] {
            let x = general().rate_from_price(from, marking);
            let taken = steps_until_near(&general(), x, to, marking, 0.3, 0.05);
            assert!(u32::abs_diff(taken, steps) <= 1, "{from} to {to}: {taken}");
        }
    }

    #[test]
    fn a_marking_probability_of_one_has_a_finite_price_and_may_give_a_negative_rate() {
        assert!(general().price(1.0).is_finite() && general().rate_from_price(500.0, 1.0) > 0.0);
        // At x = k the step turns negative where gamma times the price exceeds one: 1 - 5^(-1/.3) = .9953.
        assert!(general().step(500.0, 500.0, 0.9952, 0.3) > 0.0);
        assert!(general().step(500.0, 500.0, 0.9954, 0.3) < 0.0);
    }

    #[test]
    fn two_flows_on_a_full_link_converge_much_faster_than_under_abc() {
        // The price at each step is the one that keeps the sum at 200 packets; the second flow starts with 2.
        let bases = general();
        let (k, gamma) = (200.0, 0.3);
        let mut windows = [198.0, 2.0];
        let mut reached = Vec::new();
        for step in 1..=30 {
            let sum: f64 = windows.iter().map(|w| w * libm::log10(w / k)).sum();
            let marking = 1.0 - libm::pow(5.0, sum / k);
            windows = windows.map(|w| bases.step(w, k, marking, gamma));
            assert!((windows[0] + windows[1] - k).abs() < 1e-9);
            if reached.len() < [40.0, 95.0].iter().filter(|goal| windows[1] >= **goal).count() {
                reached.push(step);
            }
        }
        assert_eq!(reached, [10, 30]);
    }
}
