//! The parameters of ACP.

use crate::parts::interval;
use millpond_law::key::{Key, Keys, above, from, number, span, word};
use millpond_law::{Settings, words};
use millpond_units::Span;

const KI: Key<f64> = number("ki", "1", 0.1587, above(0.0).to(10.0))
    .source("Eq. (6)")
    .meaning("share of the spare capacity that is allocated in a control period");
const KQ: Key<f64> = number("kq", "1", 0.3175, above(0.0).to(10.0))
    .source("Eq. (6)")
    .meaning("share of the persistent queue that is drained in a control period");
const GAMMA: Key<f64> = number("gamma", "1", 0.1, above(0.0).to(1.0))
    .source("Eq. (8)")
    .meaning("share of the estimator's error that is corrected in a control period");
const ESTIMATOR_UNIT: Key<EstimatorUnit> = word("estimator_unit", EstimatorUnit::BytesPerSecond)
    .source("Eq. (8), which names none; see ERRATA.md")
    .meaning("unit of p and y in the estimator; in the larger unit it converges slowly where p is small");
const IDLE_ESTIMATE: Key<IdleEstimate> = word("idle_estimate", IdleEstimate::Decays)
    .source("Eq. (8), and the proof of Theorem 1 otherwise; see ERRATA.md")
    .meaning("in a control period without traffic the estimated number of flows decays, or stays");
const INITIAL_USERS: Key<f64> = number("initial_users", "1", 10.0, from(1.0).to(1e9))
    .source("N-hat(0) in Eq. (8)")
    .meaning("initial estimate of the number of flows");
const TARGET_UTILIZATION: Key<f64> = number("target_utilization", "1", 0.99, above(0.0).to(1.0))
    .source("Eq. (6)")
    .meaning("share of the capacity that is allocated to flows");
const CONGESTION_THRESHOLD: Key<f64> = number("congestion_threshold", "1", 0.95, from(0.0).to(10.0))
    .source("section III-D")
    .meaning("a link signals congestion if its input exceeds this share of its capacity");
pub(super) const DELAYED_INCREASE: Key<f64> = number("delayed_increase", "1", 0.1, above(0.0).to(1.0))
    .source("Eq. (4)")
    .meaning("gain of a window that grows while its path is congested; 1 disables the delayed increase");
pub(super) const INITIAL_WINDOW: Key<f64> = number("initial_window", "packets", 1.0, from(1.0).to(1e6))
    .source("section III-B")
    .meaning("initial window");
pub(super) const LOSS_REDUCTION_FACTOR: Key<f64> =
    number("loss_reduction_factor", "1", 0.5, from(0.0).to(1.0))
        .source("not in the paper, which sees no loss; RFC 9002, section 7.3.2")
        .meaning("factor by which a loss episode multiplies the window");
const INITIAL_INTERVAL: Key<Span> = interval::timer("initial_interval", Span::from_millis(50))
    .source("section III-D")
    .meaning("control period of a router before any packet carries a round-trip time");
const MIN_INTERVAL: Key<Span> = interval::timer("min_interval", Span::from_millis(1))
    .source("not in the paper: for safety only")
    .meaning("least control period, and least time over which the persistent queue is measured");
const MAX_RTT: Key<Span> = span("max_rtt", Span::from_millis(10_000))
    .source("not in the paper: for safety only")
    .meaning("longer round-trip times in packets are treated as this one; a header has at most 4.29 s");

const USERS: Key<Users> = word("users", Users::Estimated)
    .source("estimated: Eq. (8); counted: docs/extensions/acp-start-up.md")
    .meaning("number of flows in (6): the estimate, or a count of the flows whose packets arrive");

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &KI, &KQ, &GAMMA, &ESTIMATOR_UNIT, &IDLE_ESTIMATE, &INITIAL_USERS, &TARGET_UTILIZATION,
    &CONGESTION_THRESHOLD, &DELAYED_INCREASE, &INITIAL_WINDOW, &LOSS_REDUCTION_FACTOR, &INITIAL_INTERVAL,
    &MIN_INTERVAL, &MAX_RTT, &USERS,
];

words! {
    /// The unit of p and y in the estimator.
    enum EstimatorUnit { BytesPerSecond = "B/s", MegabitsPerSecond = "Mbit/s" }

    /// The number of flows that (6) divides by.
    pub(super) enum Users { Estimated = "estimated", Counted = "counted" }

    /// The estimated number of flows in a control period without traffic.
    pub(super) enum IdleEstimate { Decays = "decays", Stays = "stays" }
}

/// The router's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// Share of the spare capacity that is allocated per control period.
    pub(super) ki: f64,
    /// Share of the persistent queue that is drained per control period.
    pub(super) kq: f64,
    /// Share of the estimator's error that is corrected per control period.
    pub(super) gamma: f64,
    /// Unit of p and y in the estimator, in bytes/s.
    pub(super) estimator_unit: f64,
    /// The estimated number of flows in a control period without traffic.
    pub(super) idle_estimate: IdleEstimate,
    /// Initial N-hat.
    pub(super) initial_users: f64,
    /// Share of the capacity that is allocated to flows.
    pub(super) target_utilization: f64,
    /// Share of the capacity above which the link signals congestion.
    pub(super) congestion_threshold: f64,
    /// Control period before the first packet with a round-trip time.
    pub(super) initial_interval: Span,
    /// Smallest control period.
    pub(super) min_interval: Span,
    /// Upper limit on the round-trip times of packets.
    pub(super) max_rtt: Span,
    /// The number of flows that (6) divides by.
    pub(super) users: Users,
}

/// A million bits, in bytes.
const MEGABIT: f64 = 125e3;

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            ki: settings.get(KI),
            kq: settings.get(KQ),
            gamma: settings.get(GAMMA),
            estimator_unit: match settings.get(ESTIMATOR_UNIT) {
                EstimatorUnit::BytesPerSecond => 1.0,
                EstimatorUnit::MegabitsPerSecond => MEGABIT,
            },
            idle_estimate: settings.get(IDLE_ESTIMATE),
            initial_users: settings.get(INITIAL_USERS),
            target_utilization: settings.get(TARGET_UTILIZATION),
            congestion_threshold: settings.get(CONGESTION_THRESHOLD),
            initial_interval: settings.get(INITIAL_INTERVAL),
            min_interval: settings.get(MIN_INTERVAL),
            max_rtt: settings.get(MAX_RTT),
            users: settings.get(USERS),
        }
    }
}

/// Largest ki without oscillation on an empty queue. There (19) is `x' = -ki x(t - tau) / tau`, which converges to zero
/// without overshoot if `ki <= 1/e`, and with oscillation if `ki < pi/2`.
const MAX_KI_WITHOUT_OSCILLATION: f64 = 1.0 / std::f64::consts::E;

/// Warnings about these settings.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let (ki, delayed_increase) = (settings.get(KI), settings.get(DELAYED_INCREASE));
    let warnings = [
        (ki > MAX_KI_WITHOUT_OSCILLATION).then(|| {
            format!(
                "ki = {ki}: rates oscillate even while the queue is empty, because ki is above 1/e = \
                 {MAX_KI_WITHOUT_OSCILLATION:.3} (Eq. (19) with q = 0); below that value they are known to settle after one overshoot"
            )
        }),
        (delayed_increase >= 1.0).then(|| {
            format!(
                "delayed_increase = {delayed_increase}: flows that join a full link reach the desired rate within a \
                 round trip, and a queue grows until the other flows have reduced their rates"
            )
        }),
    ];
    warnings.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    fn warnings_of(name: &'static str, value: f64) -> Vec<String> {
        warnings(&Settings::check(PARAMETERS, [(name, Value::Number(value))]).unwrap())
    }

    #[test]
    fn the_published_gain_does_not_oscillate_on_an_empty_queue_and_a_larger_one_has_a_warning() {
        assert_eq!(warnings_of("ki", 0.1587), Vec::<String>::new());
        assert!(warnings_of("ki", 0.37)[0].contains("1/e = 0.368"));
        assert!(warnings_of("delayed_increase", 1.0)[0].contains("join a full link"));
    }

    /// The minimum of x, and its maximum after 20 tau, of (19) with q = 0 from x = 1, in steps of tau / 1000.
    fn empty_queue(ki: f64) -> (f64, f64) {
        const STEPS: usize = 1000;
        let mut x = vec![1.0; STEPS + 1];
        for step in 0..40 * STEPS {
            let next = x[step + STEPS] - ki * x[step] / STEPS as f64;
            x.push(next);
        }
        let tail = &x[20 * STEPS..];
        (
            x.iter().copied().fold(f64::INFINITY, f64::min),
            tail.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    #[test]
    fn on_an_empty_queue_x_keeps_its_sign_for_ki_up_to_1_over_e() {
        assert!(empty_queue(MAX_KI_WITHOUT_OSCILLATION - 0.01).0 > 0.0);
        assert!(empty_queue(MAX_KI_WITHOUT_OSCILLATION + 0.1).0 < 0.0);
        // The slow rate at the published gain is .1924 / tau: e^-3.85 after 20 tau.
        let (_, tail) = empty_queue(0.1587);
        assert!((libm::log(tail) / -19.0 - 0.1924).abs() < 0.01, "{}", libm::log(tail));
    }
}
