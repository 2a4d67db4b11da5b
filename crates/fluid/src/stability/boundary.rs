//! The value of a parameter at which a network begins to oscillate.

/// A stability boundary along one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityBoundary {
    /// The parameter value at which the rightmost root is on the imaginary axis.
    pub value: f64,
    /// Whether the network is stable for smaller values.
    pub stable_below: bool,
}

/// The search in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundarySearch {
    /// The first boundary in this direction.
    pub boundary: Option<StabilityBoundary>,
    /// The last value that was evaluated: the boundary, the end of the range, or the last value with an equilibrium.
    pub to: f64,
}

/// The growth of disturbances at the equilibrium of each parameter value. None means that there is no equilibrium, and ends
/// a search in that direction.
pub trait Growth {
    /// The real part of the rightmost root in 1/s.
    fn rate(&mut self, value: f64) -> Option<f64>;

    /// Whether the rate is negative, where this is found with less work than the rate.
    fn decays(&mut self, value: f64) -> Option<bool> {
        Some(self.rate(value)? < 0.0)
    }
}

impl<F: FnMut(f64) -> Option<f64>> Growth for F {
    fn rate(&mut self, value: f64) -> Option<f64> {
        self(value)
    }
}

/// Searches the boundary nearest to `now`, first for larger and then for smaller values, by factors.
pub fn search_boundaries(now: f64, mut growth: impl Growth) -> [BoundarySearch; 2] {
    let Some(decays) = growth.decays(now) else { return [BoundarySearch { boundary: None, to: now }; 2] };
    [FACTOR, 1.0 / FACTOR].map(|factor| boundary(now, decays, factor, &mut growth))
}

/// The boundaries that [`search_boundaries`] finds.
pub fn stability_boundaries(now: f64, growth: impl Growth) -> Vec<StabilityBoundary> {
    search_boundaries(now, growth).iter().filter_map(|followed| followed.boundary).collect()
}

const FACTOR: f64 = 1.25;
/// Largest factor between the present value and the ends of the range.
const FARTHEST: f64 = 100.0;

fn boundary(now: f64, decays: bool, factor: f64, growth: &mut impl Growth) -> BoundarySearch {
    let (mut near, mut step) = (now, factor);
    let end = now * if factor > 1.0 { FARTHEST } else { 1.0 / FARTHEST };
    while near != end {
        let next = if factor > 1.0 { (near * step).min(end) } else { (near * step).max(end) };
        let Some(there) = growth.decays(next) else { break };
        if there == decays {
            (near, step) = (next, step.powf(1.05));
            continue;
        }
        let Some(value) = between(near, next, growth) else { break };
        let stable_below = decays == (factor > 1.0);
        return BoundarySearch { boundary: Some(StabilityBoundary { value, stable_below }), to: value };
    }
    BoundarySearch { boundary: None, to: near }
}

fn between(near: f64, far: f64, growth: &mut impl Growth) -> Option<f64> {
    let (here, there) = (growth.rate(near)?, growth.rate(far)?);
    root((near, here), (far, there), growth)
}

/// The sign change of the growth rate, by the Illinois method (Dowell and Jarratt, BIT 11, 1971), with bisection where
/// the growth rate jumps. `first` and `second` are parameter values with their growth rates.
fn root(mut first: (f64, f64), mut second: (f64, f64), growth: &mut impl Growth) -> Option<f64> {
    const STEPS: usize = 60;
    const PRECISE: f64 = 1e-7;
    // After this many steps without halving the interval, the interval is bisected.
    const PATIENCE: usize = 3;
    let width = |a: f64, b: f64| (b / a).ln().abs();
    let (mut halved, mut waited) = (width(first.0, second.0), 0);
    for _ in 0..STEPS {
        let apart = width(first.0, second.0);
        if apart < PRECISE {
            break;
        }
        let part = first.1 / (first.1 - second.1);
        let part = if waited >= PATIENCE || !part.is_finite() { 0.5 } else { part };
        // A minimum distance from both ends, so that both ends converge.
        let least = (0.4 * PRECISE / apart).min(0.5);
        let middle = first.0 * (second.0 / first.0).powf(part.clamp(least, 1.0 - least));
        let rate = growth.rate(middle)?;
        if (rate < 0.0) == (second.1 < 0.0) {
            first.1 /= 2.0;
        } else {
            first = second;
        }
        second = (middle, rate);
        waited += 1;
        if width(first.0, second.0) < halved / 2.0 {
            (halved, waited) = (width(first.0, second.0), 0);
        }
    }
    Some((first.0 * second.0).sqrt())
}
