//! The bound as a linear program: one newsvendor problem for each state of knowledge, coupled by the share of late bytes.
//!
//! At time `t` a controller with feedback delay `T` has determined all arrivals at the link up to `t + T`: the bytes in the
//! loop `W`, which have arrived by then and have not departed by `t`. With `S_h` the service of the next `h` seconds,
//!
//! ```text
//!   idle  >= (S_T - W)+ / T                 per second                          (1)
//!   late  >= s(t + T + d)  if W > S_{T+d}   bytes that have waited longer than d  (2)
//! ```
//!
//! The program chooses `W` for each state so that the mean of (1) is least while the mean of (2) is at most the permitted
//! share of the departures. States are independent of each other in it, and each gives a convex trade-off after randomization.
//! The optimum spends the permitted late bytes on the steepest parts of all trade-offs first.

/// The service after a time `t`, as one of the possible futures of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Its probability times the time that the state stands for, in seconds.
    pub weight: f64,
    /// What the controller multiplies by a constant of its state to get its window, in bits.
    pub scale: f64,
    /// `S_T`: bits served in the next `T`.
    pub within_rtt: f64,
    /// `S_{T+d}`: bits served in the next `T + d`.
    pub within_delay: f64,
    /// `s(t + T + d)` in bit/s.
    pub rate_after: f64,
}

/// A part of a trade-off: more late bits, less idle capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exchange {
    late: f64,
    gained: f64,
}

impl Exchange {
    fn slope(&self) -> f64 {
        self.gained / self.late
    }
}

/// The trade-off between idle capacity and late bits over all states, as a convex curve.
#[derive(Clone, Debug, Default)]
pub struct TradeOff {
    /// Idle bits if no bit may be late.
    idle: f64,
    exchanges: Vec<Exchange>,
}

impl TradeOff {
    /// Adds one state with its possible futures, which are reordered. `rtt` is `T` in seconds.
    pub fn add(&mut self, outcomes: &mut [Outcome], rtt: f64) {
        let points = hull(points_of(outcomes, rtt));
        let Some(first) = points.first() else { return };
        self.idle += first.1;
        self.exchanges.extend(
            points
                .windows(2)
                .map(|pair| Exchange { late: pair[1].0 - pair[0].0, gained: pair[0].1 - pair[1].1 }),
        );
    }

    /// The trade-off of all states of several trade-offs.
    pub fn sum(parts: Vec<Self>) -> Self {
        let idle = parts.iter().map(|part| part.idle).sum();
        Self { idle, exchanges: parts.into_iter().flat_map(|part| part.exchanges).collect() }
    }

    /// The least idle capacity, in bits, if at most the share `late` of the departing bits of a capacity of `capacity` bits
    /// waits longer than the delay.
    pub fn least_idle(mut self, capacity: f64, late: f64) -> f64 {
        self.exchanges.sort_by(|a, b| b.slope().total_cmp(&a.slope()));
        let (mut idle, mut spent) = (self.idle, 0.0);
        for exchange in &self.exchanges {
            // What may still be late after this exchange, as a share of which it is made.
            let left = late * (capacity - idle) - spent;
            let price = exchange.late - late * exchange.gained;
            let share = if price > 0.0 { (left / price).clamp(0.0, 1.0) } else { 1.0 };
            idle -= share * exchange.gained;
            spent += share * exchange.late;
            if share < 1.0 {
                break;
            }
        }
        idle.max(0.0)
    }
}

/// `(late bits, idle bits)` of each window that may be the best one of a state: the greatest window that is not late in some
/// of the futures, and one that is late in all of them.
fn points_of(outcomes: &mut [Outcome], rtt: f64) -> Vec<(f64, f64)> {
    let window = |bits: f64, scale: f64| bits / scale.max(f64::MIN_POSITIVE);
    // Idle bits at a constant `c` are the sum of weight (S_T - c scale) over the futures with S_T > c scale.
    outcomes.sort_by(|a, b| window(a.within_rtt, a.scale).total_cmp(&window(b.within_rtt, b.scale)));
    let by_rtt: Vec<(f64, f64, f64)> = outcomes
        .iter()
        .map(|one| (window(one.within_rtt, one.scale), one.weight * one.within_rtt, one.weight * one.scale))
        .collect();
    let mut bits: f64 = by_rtt.iter().map(|one| one.1).sum();
    let mut scale: f64 = by_rtt.iter().map(|one| one.2).sum();
    outcomes.sort_by(|a, b| window(a.within_delay, a.scale).total_cmp(&window(b.within_delay, b.scale)));
    let mut points = Vec::with_capacity(outcomes.len() + 1);
    let (mut late, mut next) = (0.0, 0);
    for one in outcomes.iter() {
        let constant = window(one.within_delay, one.scale);
        while let Some(passed) = by_rtt.get(next).filter(|passed| passed.0 <= constant) {
            bits -= passed.1;
            scale -= passed.2;
            next += 1;
        }
        points.push((late, ((bits - constant * scale) / rtt).max(0.0)));
        late += one.weight * one.rate_after;
    }
    points.push((late, 0.0));
    points
}

/// The lower convex hull of points in ascending order of the first coordinate, up to its least second coordinate.
fn hull(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if hull.last().is_some_and(|last| point.1 >= last.1) {
            continue;
        }
        if hull.last().is_some_and(|last| point.0 <= last.0) {
            hull.pop();
        }
        while let [.., a, b] = hull[..] {
            let is_below = (b.1 - a.1) * (point.0 - a.0) < (point.1 - a.1) * (b.0 - a.0);
            if is_below {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: f64 = 2.0;

    fn outcome(weight: f64, within_rtt: f64, within_delay: f64, rate_after: f64) -> Outcome {
        Outcome { weight, scale: 1.0, within_rtt, within_delay, rate_after }
    }

    fn states() -> Vec<Vec<Outcome>> {
        vec![
            vec![outcome(0.5, 4.0, 6.0, 2.0), outcome(0.3, 3.0, 3.5, 1.0), outcome(0.2, 1.0, 1.5, 0.5)],
            vec![outcome(0.7, 2.0, 2.0, 1.0), outcome(0.3, 6.0, 9.0, 3.0)],
            vec![outcome(0.6, 5.0, 5.0, 0.0), outcome(0.4, 8.0, 8.5, 4.0)],
        ]
    }

    fn least_idle(late: f64) -> f64 {
        let mut trade_off = TradeOff::default();
        for mut state in states() {
            trade_off.add(&mut state, RTT);
        }
        trade_off.least_idle(CAPACITY, late)
    }

    const CAPACITY: f64 = 5.0;

    /// Idle and late bits of a window, from (1) and (2).
    fn direct(state: &[Outcome], window: f64) -> (f64, f64) {
        let idle = |one: &Outcome| one.weight * (one.within_rtt - window).max(0.0) / RTT;
        let late = |one: &Outcome| if window > one.within_delay { one.weight * one.rate_after } else { 0.0 };
        (state.iter().map(idle).sum(), state.iter().map(late).sum())
    }

    /// All windows on a fine grid in every state: no randomization of two of them is better than the program, and one of them
    /// comes as near as the grid permits.
    #[test]
    fn the_program_is_the_optimum_over_all_windows_by_enumeration() {
        let grid: Vec<f64> = (0..=40).map(|step| f64::from(step) * 0.25).collect();
        let states = states();
        let mut all = vec![(0.0, 0.0)];
        for state in &states {
            let sums = |sum: &(f64, f64)| {
                let sum = *sum;
                let windows = grid.iter().map(|window| direct(state, *window));
                windows.map(move |one| (sum.0 + one.0, sum.1 + one.1)).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(sums).collect();
            // Pairs that are no better in any way than another one.
            all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
            let mut least = f64::INFINITY;
            all.retain(|one| {
                one.0 < least && {
                    least = one.0;
                    true
                }
            });
        }
        for late in [0.0, 0.02, 0.05, 0.1, 0.2, 0.5] {
            let slack = |one: &(f64, f64)| late * (CAPACITY - one.0) - one.1;
            let mut best = f64::INFINITY;
            for a in &all {
                for b in &all {
                    let (x, y) = (slack(a), slack(b));
                    // The mixture of both whose slack is zero, or one that needs none.
                    let share = if x >= 0.0 {
                        1.0
                    } else if y > 0.0 {
                        y / (y - x)
                    } else {
                        continue;
                    };
                    best = best.min(share * a.0 + (1.0 - share) * b.0);
                }
            }
            let found = least_idle(late);
            assert!((found - best).abs() < 1e-9, "late {late}: {found}, by enumeration {best}");
        }
    }

    /// A point above the line between its neighbours is worse than a mixture of these.
    #[test]
    fn the_hull_leaves_out_points_above_a_line_between_others() {
        assert_eq!(hull(vec![(0.0, 10.0), (1.0, 9.0), (2.0, 0.0)]), [(0.0, 10.0), (2.0, 0.0)]);
        let convex = vec![(0.0, 10.0), (1.0, 4.0), (2.0, 0.0)];
        assert_eq!(hull(convex.clone()), convex);
    }

    #[test]
    fn known_service_is_used_without_late_bytes() {
        let mut trade_off = TradeOff::default();
        trade_off.add(&mut [outcome(1.0, 4.0, 4.0, 2.0)], RTT);
        assert_eq!(trade_off.least_idle(2.0, 0.0), 0.0);
    }

    /// Two futures, served 2 or 4 bits within `T`, and nothing beyond: at the window 2 the second one is idle for half of `T`,
    /// at 4 the first one is late.
    #[test]
    fn a_budget_of_late_bytes_buys_idle_capacity_at_the_price_of_the_state() {
        let mut state = [outcome(0.5, 2.0, 2.0, 1.0), outcome(0.5, 4.0, 4.0, 1.0)];
        let least = |late: f64, state: &mut [Outcome]| {
            let mut trade_off = TradeOff::default();
            trade_off.add(state, RTT);
            trade_off.least_idle(1.5, late)
        };
        assert_eq!(least(0.0, &mut state), 0.5);
        // The exchange costs 0.5 late bits for 0.5 idle ones: x = 0.1 (1.5 - 0.5 + 0.5 x) / 0.5.
        let share = 0.1 * 1.0 / (0.5 - 0.1 * 0.5);
        assert!((least(0.1, &mut state) - 0.5 * (1.0 - share)).abs() < 1e-12);
        assert_eq!(least(1.0, &mut state), 0.0);
    }

    #[test]
    fn a_window_in_proportion_to_the_scale_is_one_constant() {
        let scaled = |scale: f64| Outcome {
            weight: 0.5,
            scale,
            within_rtt: 2.0 * scale,
            within_delay: 2.0 * scale,
            rate_after: scale,
        };
        let mut trade_off = TradeOff::default();
        trade_off.add(&mut [scaled(1.0), scaled(3.0)], RTT);
        assert!(trade_off.least_idle(2.0, 0.0) < 1e-12);
    }
}
