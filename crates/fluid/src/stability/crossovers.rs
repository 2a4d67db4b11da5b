//! Phase crossovers of the loop and their gains.

use super::{Nyquist, Root, RootError, System};

/// An eigenvalue of the return ratio on the negative real axis: a disturbance of this frequency returns in phase,
/// multiplied by the gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossover {
    /// Angular frequency in rad/s.
    pub frequency: f64,
    /// Loop gain at this frequency.
    pub gain: f64,
}

/// The decisive phase crossover: the one with the gain closest to one; for an unstable network also with the frequency
/// closest to that of its rightmost root. Both distances are ratios. A gain above one in a stable network means
/// conditional stability. None if no locus crosses the negative real axis.
///
/// # Errors
/// [`RootError::NoLoop`] if the system has no loop.
pub fn loop_gain(system: &System, rightmost: Option<&Root>) -> Result<Option<Crossover>, RootError> {
    let unstable = rightmost.filter(|root| root.s.re >= 0.0 && root.s.im > 0.0);
    let apart = |crossover: &Crossover| {
        let detuned = unstable.map_or(0.0, |root| (crossover.frequency / root.s.im).ln());
        crossover.gain.ln().hypot(detuned)
    };
    let crossings = Nyquist::new(system)?.crossings(1.0.into());
    let crossovers = crossings.into_iter().map(|at| Crossover { frequency: at.frequency, gain: -at.value });
    Ok(crossovers.min_by(|a, b| apart(a).total_cmp(&apart(b))))
}

#[cfg(test)]
mod tests {
    use super::super::{Block, BlockInput, BlockOutput, Connection, rightmost};
    use super::*;
    use nalgebra::DMatrix;
    use std::f64::consts::FRAC_PI_2;

    /// x' = -a x(t - 1): L = a e^(-s) / s is real and negative first at pi/2 rad/s, with absolute value a / (pi/2). For a = 5.5 the
    /// gain 0.70 at 5 pi/2 is closer to one than 3.5, but the oscillation that grows has 2.0 rad/s.
    #[test]
    fn the_crossover_gain_agrees_with_the_closed_form_for_stable_and_unstable_loops() {
        for a in [0.5, 1.5, 1.65, 3.0, 5.5] {
            let link = Block::single(0.0, 1.0, 1.0, 0.0).as_link();
            let connection = |from, to, delay| Connection {
                from: BlockOutput::new(from, 0),
                to: BlockInput::new(to, 0),
                gain: 1.0,
                delay,
            };
            let system = System {
                blocks: vec![link, Block::gain(DMatrix::from_element(1, 1, -a))],
                connections: vec![connection(0, 1, 0.0), connection(1, 0, 1.0)],
            };
            let roots = rightmost(&system).unwrap().roots;
            let found = loop_gain(&system, roots.first()).unwrap().unwrap();
            assert!((found.gain - a / FRAC_PI_2).abs() < 1e-9, "{a}: {found:?}");
            assert!((found.frequency - FRAC_PI_2).abs() < 1e-9, "{a}: {found:?}");
        }
    }
}
