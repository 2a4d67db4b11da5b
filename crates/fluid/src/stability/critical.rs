//! The value of a parameter at which a network begins to oscillate.

/// A boundary of stability along one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Critical {
    /// The value of the parameter at which the rightmost root is on the imaginary axis.
    pub value: f64,
    /// Whether the network is stable below it.
    pub stable_below: bool,
}

/// Looks for the boundary nearest to `now`, upward first and then downward, by factors, and bisects it.
///
/// `rightmost` gives the real part of the rightmost root at a value of the parameter, with the equilibrium computed anew; none
/// where there is no equilibrium, which ends the search in that direction.
pub fn critical(now: f64, mut rightmost: impl FnMut(f64) -> Option<f64>) -> Vec<Critical> {
    let Some(here) = rightmost(now) else { return Vec::new() };
    [FACTOR, 1.0 / FACTOR].iter().filter_map(|factor| boundary(now, here, *factor, &mut rightmost)).collect()
}

const FACTOR: f64 = 1.25;
/// How far from its present value the parameter is followed.
const FARTHEST: f64 = 100.0;

fn boundary(
    now: f64,
    here: f64,
    factor: f64,
    rightmost: &mut impl FnMut(f64) -> Option<f64>,
) -> Option<Critical> {
    const STEPS: usize = 42;
    const HALVINGS: usize = 50;
    const PRECISE: f64 = 1e-7;
    let (mut near, mut factor) = (now, factor);
    for _ in 0..STEPS {
        let next = near * factor;
        if !(1.0 / FARTHEST..=FARTHEST).contains(&(next / now)) {
            return None;
        }
        let there = rightmost(next)?;
        if (there < 0.0) == (here < 0.0) {
            near = next;
            factor = factor.powf(1.05);
            continue;
        }
        let mut far = next;
        for _ in 0..HALVINGS {
            let middle = (near * far).sqrt();
            if (far / near).ln().abs() < PRECISE {
                break;
            }
            if (rightmost(middle)? < 0.0) == (here < 0.0) { near = middle } else { far = middle }
        }
        let stable_below = (here < 0.0) == (factor > 1.0);
        return Some(Critical { value: (near * far).sqrt(), stable_below });
    }
    None
}
