//! The Nyquist plot of a network: its eigenloci, read at frequencies and where they cross the negative real axis.

use super::function::Characteristic;
use super::loci::{Locus, eigenvalues, loci};
use super::margins::{band, refine};
use super::{System, Unknown};
use nalgebra::Complex;

/// The eigenvalues of a return ratio over frequency.
pub struct Nyquist<'a> {
    function: Characteristic<'a>,
    /// From where the longest delay does not matter to where the loops have fallen silent.
    pub loci: Vec<Locus>,
}

impl<'a> Nyquist<'a> {
    /// Follows all eigenvalues.
    ///
    /// # Errors
    /// [`Unknown::NoLoop`] where there is no return ratio.
    pub fn new(system: &'a System) -> Result<Self, Unknown> {
        let function = Characteristic::new(system);
        if function.size() == 0 {
            return Err(Unknown::NoLoop);
        }
        let (low, high) = band(&function);
        let loci = loci(&function, low, high);
        Ok(Self { function, loci })
    }

    /// The eigenvalues at an angular frequency in rad/s, in no order. None where it is that of a mode of a piece.
    #[must_use]
    pub fn at(&self, frequency: f64) -> Option<Vec<Complex<f64>>> {
        eigenvalues(&self.function, frequency)
    }

    /// Where the loci, times a factor, cross the negative real axis: frequency and value, in the order of frequency.
    #[must_use]
    pub fn crossings(&self, factor: Complex<f64>) -> Vec<(f64, f64)> {
        let mut found: Vec<(f64, f64)> = Vec::new();
        for pair in self.loci.iter().flat_map(|locus| locus.points.windows(2)) {
            let [a, b] = [pair[0], pair[1]];
            let turned = |(_, value): (f64, Complex<f64>)| value * factor;
            if turned(a).im * turned(b).im < 0.0 && turned(a).re < 0.0 && turned(b).re < 0.0 {
                let (frequency, value) = refine(&self.function, a, b, |value| (value * factor).im);
                found.push((frequency, (value * factor).re));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found
    }
}
