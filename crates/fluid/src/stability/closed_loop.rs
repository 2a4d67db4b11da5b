//! Closed-loop frequency responses to a disturbance of one input.

use super::characteristic::{Characteristic, Transfers};
use super::matrix::Matrix;
use super::system::{BlockInput, BlockOutput};
use nalgebra::{Complex, DVector};

/// A closed-loop system at one complex frequency.
pub struct ClosedLoop<'a> {
    function: &'a Characteristic<'a>,
    s: Complex<f64>,
    transfers: Transfers,
    /// LU decomposition of I + L(s).
    loops: nalgebra::LU<Complex<f64>, nalgebra::Dyn, nalgebra::Dyn>,
}

/// The response of one output to a disturbance of one flow of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrequencyResponse {
    /// The direct response of that flow, without feedback from links; zero for other flows.
    pub own: Complex<f64>,
    /// The response through the links, which is the same for all flows of a class.
    pub shared: Complex<f64>,
}

impl<'a> Characteristic<'a> {
    /// The closed loop at a frequency, for a function over all links ([`Self::of_all_links`]). None at a pole of a
    /// block or at a root.
    #[must_use]
    pub fn responses(&'a self, s: Complex<f64>) -> Option<ClosedLoop<'a>> {
        let transfers = self.transfers(s)?;
        let loops = (Matrix::identity(self.size(), self.size()) + self.ratio(&transfers, s)).lu();
        loops.is_invertible().then_some(ClosedLoop { function: self, s, transfers, loops })
    }
}

impl ClosedLoop<'_> {
    /// The responses of `outputs` to a disturbance of `input` of one flow. The
    /// block of the input represents `count` equal flows; for the input of a link, `count` is one.
    #[must_use]
    pub fn to(&self, input: BlockInput, count: f64, outputs: &[BlockOutput]) -> Vec<FrequencyResponse> {
        let links = self.at_links(input, count);
        outputs.iter().map(|&output| self.at(output, input, &links)).collect()
    }

    /// The disturbance at the inputs of the links.
    fn at_links(&self, input: BlockInput, count: f64) -> DVector<Complex<f64>> {
        let mut arriving = DVector::zeros(self.function.size());
        for (group, transfer) in self.function.with_transfers(&self.transfers) {
            if !group.blocks.contains(&input.block) {
                continue;
            }
            for outgoing in &group.to_links {
                if let Some(cut) = self.function.cut_of[outgoing.to.block][outgoing.to.input] {
                    let through = transfer[(group.output(outgoing.from), group.input(input))];
                    arriving[cut] += outgoing.at(self.s) * through / count;
                }
            }
        }
        if let Some(Some(cut)) = self.function.cut_of[input.block].get(input.input) {
            arriving[*cut] += Complex::new(1.0, 0.0);
        }
        self.loops.solve(&arriving).unwrap_or(arriving)
    }

    fn at(&self, output: BlockOutput, input: BlockInput, links: &DVector<Complex<f64>>) -> FrequencyResponse {
        let zero = Complex::new(0.0, 0.0);
        if self.transfers.links[output.block].is_some() {
            return FrequencyResponse { own: zero, shared: self.link_output(output, links) };
        }
        let mut response = FrequencyResponse { own: zero, shared: zero };
        for (group, transfer) in self.function.with_transfers(&self.transfers) {
            if !group.blocks.contains(&output.block) {
                continue;
            }
            let row = group.output(output);
            for incoming in &group.from_links {
                let gain = transfer[(row, group.input(incoming.to))] * incoming.at(self.s);
                response.shared += gain * self.link_output(incoming.from, links);
            }
            if group.blocks.contains(&input.block) {
                response.own = transfer[(row, group.input(input))];
            }
        }
        response
    }

    /// An output of a link for these inputs.
    fn link_output(
        &self,
        BlockOutput { block, output }: BlockOutput,
        links: &DVector<Complex<f64>>,
    ) -> Complex<f64> {
        let Some(transfer) = &self.transfers.links[block] else { return Complex::new(0.0, 0.0) };
        let cuts = self.function.cut_of[block].iter().enumerate();
        cuts.filter_map(|(input, cut)| cut.map(|cut| transfer[(output, input)] * links[cut])).sum()
    }
}
