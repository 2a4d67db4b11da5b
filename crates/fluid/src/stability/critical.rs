//! The value of a parameter at which a network begins to oscillate.

/// A boundary of stability along one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Critical {
    /// The value of the parameter at which the rightmost root is on the imaginary axis.
    pub value: f64,
    /// Whether the network is stable below it.
    pub stable_below: bool,
}

/// How far one direction was followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed {
    /// The first boundary on the way.
    pub boundary: Option<Critical>,
    /// The last value that was looked at: the boundary, or the end of what is looked at, or where there was no equilibrium
    /// beyond.
    pub to: f64,
}

/// Looks for the boundary nearest to `now`, upward first and then downward, by factors, and bisects it.
///
/// `rightmost` gives the real part of the rightmost root at a value of the parameter, with the equilibrium computed anew; none
/// where there is no equilibrium, which ends the search in that direction.
pub fn follow(now: f64, mut rightmost: impl FnMut(f64) -> Option<f64>) -> [Followed; 2] {
    let Some(here) = rightmost(now) else { return [Followed { boundary: None, to: now }; 2] };
    [FACTOR, 1.0 / FACTOR].map(|factor| boundary(now, here, factor, &mut rightmost))
}

/// The boundaries of [`follow`].
pub fn critical(now: f64, rightmost: impl FnMut(f64) -> Option<f64>) -> Vec<Critical> {
    follow(now, rightmost).iter().filter_map(|followed| followed.boundary).collect()
}

const FACTOR: f64 = 1.25;
/// How far from its present value the parameter is followed.
const FARTHEST: f64 = 100.0;

fn boundary(now: f64, here: f64, factor: f64, rightmost: &mut impl FnMut(f64) -> Option<f64>) -> Followed {
    let (mut near, mut step) = (now, factor);
    let end = now * if factor > 1.0 { FARTHEST } else { 1.0 / FARTHEST };
    while near != end {
        let next = if factor > 1.0 { (near * step).min(end) } else { (near * step).max(end) };
        let Some(there) = rightmost(next) else { break };
        if (there < 0.0) == (here < 0.0) {
            (near, step) = (next, step.powf(1.05));
            continue;
        }
        let Some(value) = bisect(near, next, here, rightmost) else { break };
        let stable_below = (here < 0.0) == (factor > 1.0);
        return Followed { boundary: Some(Critical { value, stable_below }), to: value };
    }
    Followed { boundary: None, to: near }
}

fn bisect(
    mut near: f64,
    mut far: f64,
    here: f64,
    rightmost: &mut impl FnMut(f64) -> Option<f64>,
) -> Option<f64> {
    const HALVINGS: usize = 50;
    const PRECISE: f64 = 1e-7;
    for _ in 0..HALVINGS {
        let middle = (near * far).sqrt();
        if (far / near).ln().abs() < PRECISE {
            break;
        }
        if (rightmost(middle)? < 0.0) == (here < 0.0) { near = middle } else { far = middle }
    }
    Some((near * far).sqrt())
}
