//! Nyquist loci: the eigenvalues of the return ratio along the imaginary axis.

use super::RootError;
use super::characteristic::Characteristic;
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

/// Most points of all loci together: some seconds, and less than 100 MB.
const MOST_POINTS: usize = 1_000_000;

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
    // Each evaluation decomposes a matrix of this size.
    let points = MOST_POINTS / loci.len().pow(2).max(1);
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
        if loci.first().is_some_and(|locus| locus.points.len() >= points) {
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
