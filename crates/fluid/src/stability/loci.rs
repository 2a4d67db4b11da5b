//! Nyquist loci: the eigenvalues of the return ratio along the imaginary axis.

use super::RootError;
use super::characteristic::{Characteristic, MOST_WORK};
use nalgebra::Complex;

/// One eigenvalue as a function of frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locus {
    /// Angular frequency in rad/s and eigenvalue.
    pub points: Vec<(f64, Complex<f64>)>,
}

/// Points per decade of frequency before refinement.
const PER_DECADE: f64 = 40.0;
/// Loci are refined until neighbouring points differ by less than this share of their absolute value.
const SMOOTH: f64 = 0.15;
/// Below this absolute value neighbouring points may differ by `SMOOTH` times it, and the phase is not followed.
const SMALL: f64 = 0.05;
/// How far the phase of the longest delay turns between neighbouring points, in radians. After a full turn a point would
/// look like its predecessor.
const LONGEST_TURN: f64 = 1.0;

/// The points that a network of any size may take.
const LEAST_POINTS: u64 = 10_000;

/// The most points of each locus. One takes about two evaluations, since every second step is too long, and a decomposition
/// into eigenvalues has about 25 multiplications per element and row (Golub and Van Loan, section 7.5.6).
fn most_points(function: &Characteristic<'_>) -> u64 {
    let decomposition = 25 * (function.size() as u64).pow(3);
    (MOST_WORK / (2 * (function.multiplications() + decomposition))).max(LEAST_POINTS)
}

/// All eigenvalues between two angular frequencies in rad/s.
///
/// # Errors
/// [`RootError::TooManyPoints`].
pub fn loci(function: &Characteristic<'_>, from: f64, to: f64) -> Result<Vec<Locus>, RootError> {
    let mut loci = vec![Locus::default(); function.size()];
    let steps = ((to / from).log10() * PER_DECADE).ceil().max(1.0);
    let ratio = (to / from).powf(1.0 / steps);
    let Some(mut here) = function.eigenvalues(from) else { return Ok(loci) };
    push(&mut loci, from, &here);
    let mut frequency = from;
    while frequency < to * (1.0 - 1e-12) {
        let next = (frequency * ratio).min(to);
        here = advance(function, &mut loci, (frequency, here), next)?;
        frequency = next;
    }
    Ok(loci)
}

/// Advances to a frequency in steps that are short enough to identify each eigenvalue.
fn advance(
    function: &Characteristic<'_>,
    loci: &mut [Locus],
    (mut at, mut here): (f64, Vec<Complex<f64>>),
    to: f64,
) -> Result<Vec<Complex<f64>>, RootError> {
    const SHORTEST: f64 = 1e-6;
    let points = most_points(function);
    let longest = LONGEST_TURN / function.system().longest_delay();
    let mut step = to - at;
    while at < to * (1.0 - 1e-14) {
        if here.iter().any(|value| value.norm() > SMALL) {
            step = step.min(longest);
        }
        let next = (at + step).min(to);
        let Some(values) = function.eigenvalues(next) else { break };
        let values = matched(&here, values);
        let rough = here.iter().zip(&values).any(|(a, b)| (a - b).norm() > SMOOTH * a.norm().max(SMALL));
        if rough && step > SHORTEST * at {
            step /= 2.0;
            continue;
        }
        if loci.first().is_some_and(|locus| locus.points.len() as u64 >= points) {
            return Err(RootError::TooManyPoints { points });
        }
        push(loci, next, &values);
        (at, here) = (next, values);
        step = (step * 2.0).min(to - at);
    }
    Ok(here)
}

fn push(loci: &mut [Locus], frequency: f64, values: &[Complex<f64>]) {
    for (locus, value) in loci.iter_mut().zip(values) {
        locus.points.push((frequency, *value));
    }
}

/// The eigenvalues in the order of their nearest predecessors.
pub(super) fn matched(before: &[Complex<f64>], mut values: Vec<Complex<f64>>) -> Vec<Complex<f64>> {
    let mut ordered = Vec::with_capacity(values.len());
    for predecessor in before {
        let distance = |value: &Complex<f64>| (value - predecessor).norm();
        let nearest =
            (0..values.len()).min_by(|a, b| distance(&values[*a]).total_cmp(&distance(&values[*b])));
        if let Some(nearest) = nearest {
            ordered.push(values.swap_remove(nearest));
        }
    }
    ordered
}
