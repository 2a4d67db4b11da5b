//! Where loops come back in phase, and by which gain.

use super::{Nyquist, Root, System, Unknown};

/// An eigenvalue of the return ratio on the negative real axis: a disturbance of this frequency comes back as it was, times
/// the gain. At a gain of one it goes on for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossover {
    /// Angular frequency in rad/s.
    pub frequency: f64,
    /// Of one turn around the loop.
    pub gain: f64,
}

/// The phase crossover that decides: the one whose gain is nearest to one, and, of a network that is unstable, whose frequency
/// is nearest to that of its rightmost root, both as ratios. A stable network with a gain above one needs it: it is
/// conditionally stable.
/// None where no locus crosses the axis.
///
/// # Errors
/// [`Unknown::NoLoop`] where there is nothing to be unstable.
pub fn loop_gain(system: &System, rightmost: Option<&Root>) -> Result<Option<Crossover>, Unknown> {
    let unstable = rightmost.filter(|root| root.s.re >= 0.0 && root.s.im > 0.0);
    let apart = |crossover: &Crossover| {
        let detuned = unstable.map_or(0.0, |root| (crossover.frequency / root.s.im).ln());
        crossover.gain.ln().hypot(detuned)
    };
    let crossings = Nyquist::new(system)?.crossings(1.0.into());
    let crossovers = crossings.into_iter().map(|(frequency, value)| Crossover { frequency, gain: -value });
    Ok(crossovers.min_by(|a, b| apart(a).total_cmp(&apart(b))))
}

#[cfg(test)]
mod tests {
    use super::super::{Block, Connection, rightmost};
    use super::*;
    use nalgebra::DMatrix;
    use std::f64::consts::FRAC_PI_2;

    /// x' = -a x(t - 1): L = a e^(-s) / s is real and negative at pi/2 rad/s first, where its size is a / (pi/2).
    #[test]
    fn the_gain_at_the_crossover_is_that_of_the_closed_form_stable_or_not() {
        for a in [0.5, 1.5, 1.65, 3.0] {
            let link = Block::single(0.0, 1.0, 1.0, 0.0).as_link();
            let connection = |from, to, delay| Connection { from: (from, 0), to: (to, 0), gain: 1.0, delay };
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
