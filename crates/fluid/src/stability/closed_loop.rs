//! What a disturbance of one input does everywhere, all loops closed.

use super::characteristic::{Characteristic, Transfers};
use super::matrix::Matrix;
use nalgebra::{Complex, DVector};

/// A system at one complex frequency, ready to be asked how it responds.
pub struct ClosedLoop<'a> {
    function: &'a Characteristic<'a>,
    s: Complex<f64>,
    transfers: Transfers,
    /// I + L(s).
    loops: nalgebra::LU<Complex<f64>, nalgebra::Dyn, nalgebra::Dyn>,
}

/// How one output moves when one flow of a class is disturbed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrequencyResponse {
    /// What that flow does by itself, before any link answers: zero for everybody else.
    pub own: Complex<f64>,
    /// What comes of it through the links: the same for all flows of a class.
    pub shared: Complex<f64>,
}

impl<'a> Characteristic<'a> {
    /// Of a function over all links ([`Self::of_all_links`]). None where s is a pole of a piece, or a root.
    #[must_use]
    pub fn responses(&'a self, s: Complex<f64>) -> Option<ClosedLoop<'a>> {
        let transfers = self.transfers(s)?;
        let loops = (Matrix::identity(self.size(), self.size()) + self.ratio(&transfers, s)).lu();
        loops.is_invertible().then_some(ClosedLoop { function: self, s, transfers, loops })
    }
}

impl ClosedLoop<'_> {
    /// How `outputs` (block and output) move when `input` (block and input) of one flow is disturbed, its piece standing
    /// for a class of `count` equal flows. For a link's input, `count` is one.
    #[must_use]
    pub fn to(
        &self,
        input: (usize, usize),
        count: f64,
        outputs: &[(usize, usize)],
    ) -> Vec<FrequencyResponse> {
        let links = self.at_links(input, count);
        outputs.iter().map(|&output| self.at(output, input, &links)).collect()
    }

    /// What the disturbance is at the inputs of the links.
    fn at_links(&self, input: (usize, usize), count: f64) -> DVector<Complex<f64>> {
        let mut arriving = DVector::zeros(self.function.size());
        for (group, transfer) in self.function.with_transfers(&self.transfers) {
            if !group.blocks.contains(&input.0) {
                continue;
            }
            for told in &group.to_links {
                if let Some(cut) = self.function.cut_of[told.to.0][told.to.1] {
                    let through = transfer[(group.output(told.from), group.input(input))];
                    arriving[cut] += told.at(self.s) * through / count;
                }
            }
        }
        if let Some(Some(cut)) = self.function.cut_of[input.0].get(input.1) {
            arriving[*cut] += Complex::new(1.0, 0.0);
        }
        self.loops.solve(&arriving).unwrap_or(arriving)
    }

    fn at(
        &self,
        output: (usize, usize),
        input: (usize, usize),
        links: &DVector<Complex<f64>>,
    ) -> FrequencyResponse {
        let zero = Complex::new(0.0, 0.0);
        if self.transfers.links[output.0].is_some() {
            return FrequencyResponse { own: zero, shared: self.said(output, links) };
        }
        let mut response = FrequencyResponse { own: zero, shared: zero };
        for (group, transfer) in self.function.with_transfers(&self.transfers) {
            if !group.blocks.contains(&output.0) {
                continue;
            }
            let row = group.output(output);
            for heard in &group.from_links {
                let gain = transfer[(row, group.input(heard.to))] * heard.at(self.s);
                response.shared += gain * self.said(heard.from, links);
            }
            if group.blocks.contains(&input.0) {
                response.own = transfer[(row, group.input(input))];
            }
        }
        response
    }

    /// What a link says, its inputs being these.
    fn said(&self, (block, output): (usize, usize), links: &DVector<Complex<f64>>) -> Complex<f64> {
        let Some(transfer) = &self.transfers.links[block] else { return Complex::new(0.0, 0.0) };
        let cuts = self.function.cut_of[block].iter().enumerate();
        cuts.filter_map(|(input, cut)| cut.map(|cut| transfer[(output, input)] * links[cut])).sum()
    }
}
