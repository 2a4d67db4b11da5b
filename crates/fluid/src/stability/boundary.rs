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

/// Searches the boundary nearest to `now`, first for larger and then for smaller values, by factors.
///
/// `rightmost` gives the real part of the rightmost root at a parameter value, at the equilibrium for that value. None
/// means that there is no equilibrium, and ends the search in that direction.
pub fn search_boundaries(now: f64, mut rightmost: impl FnMut(f64) -> Option<f64>) -> [BoundarySearch; 2] {
    let Some(here) = rightmost(now) else { return [BoundarySearch { boundary: None, to: now }; 2] };
    [FACTOR, 1.0 / FACTOR].map(|factor| boundary(now, here, factor, &mut rightmost))
}

/// The boundaries that [`search_boundaries`] finds.
pub fn stability_boundaries(now: f64, rightmost: impl FnMut(f64) -> Option<f64>) -> Vec<StabilityBoundary> {
    search_boundaries(now, rightmost).iter().filter_map(|followed| followed.boundary).collect()
}

const FACTOR: f64 = 1.25;
/// Largest factor between the present value and the ends of the range.
const FARTHEST: f64 = 100.0;

fn boundary(
    now: f64,
    here: f64,
    factor: f64,
    rightmost: &mut impl FnMut(f64) -> Option<f64>,
) -> BoundarySearch {
    let (mut near, mut step, mut last) = (now, factor, here);
    let end = now * if factor > 1.0 { FARTHEST } else { 1.0 / FARTHEST };
    while near != end {
        let next = if factor > 1.0 { (near * step).min(end) } else { (near * step).max(end) };
        let Some(there) = rightmost(next) else { break };
        if (there < 0.0) == (here < 0.0) {
            (near, step, last) = (next, step.powf(1.05), there);
            continue;
        }
        let Some(value) = root((near, last), (next, there), rightmost) else { break };
        let stable_below = (here < 0.0) == (factor > 1.0);
        return BoundarySearch { boundary: Some(StabilityBoundary { value, stable_below }), to: value };
    }
    BoundarySearch { boundary: None, to: near }
}

/// The sign change of the growth rate, by the Illinois method (Dowell and Jarratt, BIT 11, 1971), with bisection where
/// the growth rate jumps. `first` and `second` are parameter values with their growth rates.
fn root(
    mut first: (f64, f64),
    mut second: (f64, f64),
    rightmost: &mut impl FnMut(f64) -> Option<f64>,
) -> Option<f64> {
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
        let growth = rightmost(middle)?;
        if (growth < 0.0) == (second.1 < 0.0) {
            first.1 /= 2.0;
        } else {
            first = second;
        }
        second = (middle, growth);
        waited += 1;
        if width(first.0, second.0) < halved / 2.0 {
            (halved, waited) = (width(first.0, second.0), 0);
        }
    }
    Some((first.0 * second.0).sqrt())
}
