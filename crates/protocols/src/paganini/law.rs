//! The equations of the sources: rates in packets per second, prices and times in seconds, windows in packets.

use super::params::{Gains, Params, Utility};
use millpond_law::fluid::Number;

impl Utility {
    /// `U'(x)`, the price at which the demand is the rate x.
    pub(super) fn marginal<T: Number>(&self, rate: T) -> T {
        T::from(self.weight) / (rate + self.offset)
    }
}

/// Eq. (33): the change of xi in an interval, `beta (U'(x) - q) T_s / d` with `x = w / d`; for K log x that is
/// `beta (K / w - q / d) T_s`.
pub(super) fn step(params: &Params, window: f64, price: f64, base_rtt: f64) -> f64 {
    let surplus = params.utility.marginal(window / base_rtt) - price;
    params.gains.beta * surplus * params.interval.secs() / base_rtt
}

/// Eq. (34) and Eq. (18): the factor `exp(-alpha q / (M d))` by which a price reduces a window.
pub(super) fn backoff(gains: Gains, price: f64, base_rtt: f64) -> f64 {
    libm::exp(-gains.alpha * price / base_rtt)
}

/// Queueing delay now and an interval ago, and the current round-trip time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delays {
    pub(super) price: f64,
    pub(super) last_price: f64,
    pub(super) rtt: f64,
}

/// Eq. (43) with Eq. (41)'s marginal utility: `w [1 + (beta T_s (U'(x) - q) - alpha / M (q - q')) / tau]`, `x = w / tau`;
/// for K log x the first term is `beta K T_s`.
pub(super) fn next_window(params: &Params, window: f64, delays: Delays) -> f64 {
    let Delays { price, last_price, rtt } = delays;
    let surplus = params.utility.marginal(window / rtt) - price;
    let slow = params.gains.beta * params.interval.secs() * surplus;
    let fast = params.gains.alpha * (price - last_price);
    window * (1.0 + (slow - fast) / rtt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::Span;

    /// The published gains and utility, with T_s of 10 ms.
    const PUBLISHED: Params = Params {
        gains: Gains { alpha: 0.37, beta: 1.18 },
        utility: Utility { weight: 50.0, offset: 0.0 },
        interval: Span::from_millis(10),
        initial_window: 1.0,
        loss_reduction_factor: 0.5,
    };

    #[test]
    fn steps_follow_equation_33_computed_by_hand() {
        // 1.18 (50 / 100 - .02 / .04) .01 = 0; at half the price half of 1.18 * .5 * .01.
        assert!(step(&PUBLISHED, 100.0, 0.02, 0.04).abs() < 1e-15);
        assert!((step(&PUBLISHED, 100.0, 0.01, 0.04) - 0.00295).abs() < 1e-15);
        assert!((step(&PUBLISHED, 1.0, 0.0, 0.04) - 0.59).abs() < 1e-12);
        // From a packet per second, .04 packets: 1.18 * 50 / .04 * .01.
        assert!((step(&PUBLISHED, 0.04, 0.0, 0.04) - 14.75).abs() < 1e-12);
    }

    #[test]
    fn equilibrium_windows_are_those_of_the_five_stages_at_any_round_trip_time() {
        // c_0 = 237500 packets/s, K = 50: q = K N / c_0, w = c_0 d / N.
        let stages = [(32.0, 6.7368e-3, 296.88), (128.0, 26.9474e-3, 74.22), (512.0, 107.7895e-3, 18.55)];
        for (flows, price, window) in stages {
            for stretch in 1..=5 {
                let base_rtt = 0.04 * f64::from(stretch);
                let change = step(&PUBLISHED, window * f64::from(stretch), price, base_rtt);
                assert!(change.abs() < 1e-5, "{flows} flows, {base_rtt} s: {change}");
                assert!((50.0 * flows / 237_500.0 - price).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn without_a_price_rates_grow_by_beta_k_over_tau() {
        // 1475 packets/s per second at 40 ms.
        let (mut window, base_rtt) = (20.0_f64, 0.04);
        for _ in 0..100 {
            window *= libm::exp(step(&PUBLISHED, window, 0.0, base_rtt));
        }
        assert!(((window - 20.0) / base_rtt / 1475.0 - 1.0).abs() < 0.01, "{window}");
    }

    #[test]
    fn a_marginal_utility_that_ends_at_zero_makes_small_rates_grow_exponentially() {
        let utility = Utility { weight: 50.0, offset: 100.0 };
        let params = Params { utility, ..PUBLISHED };
        assert_eq!(utility.marginal(0.0), 0.5);
        // beta U'(0) / tau per second: 14.75 at 40 ms.
        let growth = step(&params, 1e-6, 0.0, 0.04) / 0.01;
        assert!((growth - 14.75).abs() < 1e-4, "{growth}");
        // At equilibrium x = K / q - offset.
        assert!(step(&params, 400.0 * 0.04, 0.1, 0.04).abs() < 1e-15);
    }

    #[test]
    fn the_shares_of_the_static_law_by_round_trip_time_have_their_closed_form() {
        // One link of 1000 packets/s, x_max = 1000, alpha = .9, five round trips: q = .210900 s.
        let gains = Gains { alpha: 0.9, beta: 1.18 };
        let theory = [8.693, 93.236, 205.616, 305.346, 387.109];
        for (base_rtt, rate) in [0.04, 0.08, 0.12, 0.16, 0.2].into_iter().zip(theory) {
            assert!((1000.0 * backoff(gains, 0.2109, base_rtt) - rate).abs() < 0.01);
        }
        // Eight flows of up to 500 with alpha = 1 at 100 ms: (tau / alpha) ln(N x_max / c_0) = .138629 s, 125 each.
        let gains = Gains { alpha: 1.0, beta: 1.18 };
        assert!((500.0 * backoff(gains, 0.1 * 4_f64.ln(), 0.1) - 125.0).abs() < 1e-9);
    }

    #[test]
    fn windows_of_the_delay_form_are_equation_43_term_by_term() {
        let delays = Delays { price: 0.03, last_price: 0.02, rtt: 0.13 };
        let bracket = 1.0 - (1.18 * 0.01 + 0.37) * 0.03 / 0.13 + 0.37 * 0.02 / 0.13;
        let literal = 1.18 * 50.0 * 0.01 + 70.0 * bracket;
        assert!((next_window(&PUBLISHED, 70.0, delays) - literal).abs() < 1e-12);
    }

    #[test]
    fn at_equilibrium_each_flow_of_the_delay_form_keeps_k_packets_in_the_queue() {
        // Stage 5 at 200 ms: q = 102.4 ms, w = x d + K = 147.66.
        let delays = Delays { price: 0.1024, last_price: 0.1024, rtt: 0.3024 };
        let window = 50.0 / 0.1024 * 0.3024_f64;
        assert!((window - 147.66).abs() < 0.01);
        assert!((next_window(&PUBLISHED, window, delays) - window).abs() < 1e-12);
    }
}
