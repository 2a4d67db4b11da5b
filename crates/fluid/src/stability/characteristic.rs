//! The characteristic function of a system, computed from the return ratio of its links.

use super::cycles::on_cycles;
use super::matrix::{Matrix, ln_det, spectral_radius, spectrum};
use super::sender_groups::{SenderGroup, groups};
use super::system::{Block, BlockInput, System};
use nalgebra::Complex;

/// det(I + L(s)) times the characteristic polynomials of the blocks: an entire function whose zeros are the
/// characteristic roots.
pub struct Characteristic<'a> {
    system: &'a System,
    /// The link inputs at which loops are cut.
    cuts: Vec<BlockInput>,
    /// The index of a cut, by block and input.
    pub(super) cut_of: Vec<Vec<Option<usize>>>,
    pub(super) groups: Vec<SenderGroup>,
    /// Kinds of identical sender groups: the first group of each kind, and the number of groups.
    kinds: Vec<(usize, f64)>,
    /// The kind of each group.
    kind_of: Vec<usize>,
    /// Kinds of identical links without loops, which contribute only their poles: the first link of each kind, and the
    /// number of links.
    idle: Vec<(usize, f64)>,
}

/// The transfer functions of all blocks at one complex frequency.
pub(super) struct Transfers {
    /// For each block, the transfer matrix if it is a link with a cut.
    pub(super) links: Vec<Option<Matrix>>,
    /// For each kind of sender group.
    groups: Vec<Matrix>,
    /// Logarithm of the product of the characteristic polynomials.
    own: Complex<f64>,
    /// Logarithm of the product of det(I - inner loops) over the sender groups.
    inner: Complex<f64>,
}

/// The most complex multiplications of one search for roots, or of the eigenloci: some seconds. The networks of the papers
/// take less than a tenth.
pub(super) const MOST_WORK: u64 = 250_000_000;

impl<'a> Characteristic<'a> {
    /// Groups the blocks of a system. L has one row for each link input that is part of a loop.
    #[must_use]
    pub fn new(system: &'a System) -> Self {
        let looped = on_cycles(system);
        // Connections of links without loops are not part of L; keeping them would make identical groups different.
        let is_looped = |block: usize| looped[block].contains(&true);
        let reduced = |mut group: SenderGroup| {
            group.from_links.retain(|connection| is_looped(connection.from.block));
            group.to_links.retain(|connection| looped[connection.to.block][connection.to.input]);
            group.with_columns_of_links()
        };
        let groups = groups(system).into_iter().map(reduced).collect();
        Self::cut_at(system, groups, |block, input| looped[block][input])
    }

    /// The same function with a row for every link input that has an effect, for responses outside of loops.
    #[must_use]
    pub fn of_all_links(system: &'a System) -> Self {
        Self::cut_at(system, groups(system), |block, input| {
            let subsystem = &system.blocks[block];
            subsystem
                .b
                .column(input)
                .iter()
                .chain(subsystem.d.column(input).iter())
                .any(|entry| *entry != 0.0)
        })
    }

    fn cut_at(system: &'a System, groups: Vec<SenderGroup>, matters: impl Fn(usize, usize) -> bool) -> Self {
        let mut cut_of: Vec<Vec<Option<usize>>> =
            system.blocks.iter().map(|block| vec![None; block.d.ncols()]).collect();
        let mut cuts = Vec::new();
        for connection in
            system.connections.iter().filter(|connection| system.blocks[connection.to.block].is_link)
        {
            let BlockInput { block, input } = connection.to;
            if cut_of[block][input].is_none() && matters(block, input) {
                cut_of[block][input] = Some(cuts.len());
                cuts.push(connection.to);
            }
        }
        let (kinds, kind_of) = kinds(system, &groups);
        let idle = idle(system, &cut_of);
        Self { system, cuts, cut_of, groups, kinds, kind_of, idle }
    }

    /// The number of rows of L.
    #[must_use]
    pub fn size(&self) -> usize {
        self.cuts.len()
    }

    /// About how many complex multiplications one evaluation takes.
    pub(super) fn multiplications(&self) -> u64 {
        /// What everything but matrix products and decompositions takes.
        const LEAST: u64 = 1000;
        let groups = self.kinds.iter().map(|(group, _)| self.groups[*group].multiplications());
        LEAST + (self.size() as u64).pow(3) / 3 + groups.sum::<u64>()
    }

    /// The block of each cut.
    #[must_use]
    pub fn cut_blocks(&self) -> Vec<usize> {
        self.cuts.iter().map(|cut| cut.block).collect()
    }

    /// The return ratio L(s): minus the open-loop transfer from link inputs to link inputs. None at a pole of a block.
    #[must_use]
    pub fn return_ratio(&self, s: Complex<f64>) -> Option<Matrix> {
        Some(self.ratio(&self.transfers(s)?, s))
    }

    /// The eigenvalues of L(i w) at an angular frequency in rad/s, in no particular order. None at a pole of a block.
    pub(super) fn eigenvalues(&self, frequency: f64) -> Option<Vec<Complex<f64>>> {
        let ratio = self.return_ratio(Complex::new(0.0, frequency))?;
        if ratio.len() == 1 { Some(vec![ratio[(0, 0)]]) } else { spectrum(ratio) }
    }

    /// The logarithm of the characteristic function: minus infinity at a root, none at a pole of a block.
    #[must_use]
    pub fn ln(&self, s: Complex<f64>) -> Option<Complex<f64>> {
        let (loops, own) = self.ln_parts(s)?;
        finite(loops + own)
    }

    /// The logarithm of det(I + L(s)), including the inner loops of sender groups: [`Self::ln`] without the
    /// characteristic polynomials. It tends to zero where the loop gain vanishes.
    pub(super) fn ln_loops(&self, s: Complex<f64>) -> Option<Complex<f64>> {
        finite(self.ln_parts(s)?.0)
    }

    /// The logarithm of det(I + L(s)), and that of the characteristic polynomials.
    fn ln_parts(&self, s: Complex<f64>) -> Option<(Complex<f64>, Complex<f64>)> {
        let transfers = self.transfers(s)?;
        let matrix = Matrix::identity(self.size(), self.size()) + self.ratio(&transfers, s);
        let value = if self.size() == 1 { matrix[(0, 0)].ln() } else { ln_det(&matrix.lu()) };
        Some((value + transfers.inner, transfers.own))
    }

    /// The transfer functions of the blocks. None at a pole of a block.
    pub(super) fn transfers(&self, s: Complex<f64>) -> Option<Transfers> {
        let (mut own, mut inner) = (Complex::new(0.0, 0.0), Complex::new(0.0, 0.0));
        let mut links: Vec<Option<Matrix>> = vec![None; self.system.blocks.len()];
        for &(block, count) in &self.idle {
            own += self.system.blocks[block].transfer(s)?.1 * count;
        }
        let is_cut = |(index, _): &(usize, &Block)| self.cut_of[*index].iter().any(Option::is_some);
        for (index, block) in self.system.blocks.iter().enumerate().filter(is_cut) {
            let (transfer, ln) = block.transfer(s)?;
            own += ln;
            links[index] = Some(transfer);
        }
        let mut groups = Vec::with_capacity(self.kinds.len());
        for &(group, count) in &self.kinds {
            let closed = self.groups[group].transfer(self.system, s)?;
            own += closed.own * count;
            inner += closed.inner * count;
            groups.push(closed.transfer);
        }
        Some(Transfers { links, groups, own, inner })
    }

    /// Each sender group with its transfer matrix.
    pub(super) fn with_transfers<'t>(
        &'t self,
        transfers: &'t Transfers,
    ) -> impl Iterator<Item = (&'t SenderGroup, &'t Matrix)> {
        self.groups.iter().zip(&self.kind_of).map(|(group, kind)| (group, &transfers.groups[*kind]))
    }

    /// The return ratio L(s).
    pub(super) fn ratio(&self, transfers: &Transfers, s: Complex<f64>) -> Matrix {
        let mut ratio = Matrix::zeros(self.size(), self.size());
        for (&(group, count), transfer) in self.kinds.iter().zip(&transfers.groups) {
            let group = &self.groups[group];
            let outgoing = group.to_links.iter().filter_map(|connection| {
                let row = self.cut_of[connection.to.block][connection.to.input]?;
                Some((row, group.output(connection.from), connection.at(s) * count))
            });
            let outgoing: Vec<_> = outgoing.collect();
            for incoming in &group.from_links {
                let Some(link) = &transfers.links[incoming.from.block] else { continue };
                let columns = self.cut_of[incoming.from.block].iter().enumerate();
                let gains = columns
                    .filter_map(|(input, column)| Some(((*column)?, link[(incoming.from.output, input)])));
                let gains: Vec<_> = gains.filter(|(_, gains)| *gains != Complex::new(0.0, 0.0)).collect();
                if gains.is_empty() {
                    continue;
                }
                let (weight, place) = (incoming.at(s), group.input(incoming.to));
                for &(row, output, way) in &outgoing {
                    let through = way * transfer[(output, place)] * weight;
                    for &(column, gains) in &gains {
                        ratio[(row, column)] -= through * gains;
                    }
                }
            }
        }
        ratio
    }

    /// An upper bound on the loop gain for |s| = radius and Re s >= left: the spectral radius of the absolute values of
    /// L, with delays amplified as on the line Re s = left. If it is below one, there is no root of this size.
    #[must_use]
    pub fn gain_bound(&self, radius: f64, left: f64) -> Option<f64> {
        let s = Complex::new(0.0, radius);
        let ratio = self.return_ratio(s)?;
        let stretch = (-left.min(0.0) * 2.0 * self.system.longest_delay()).exp();
        let inner =
            self.groups.iter().map(|group| group.inner_gain(self.system, s)).collect::<Option<Vec<_>>>()?;
        let inner = inner.into_iter().fold(0.0, f64::max);
        Some((spectral_radius(&ratio.map(|entry| entry.norm())) * stretch).max(inner * stretch))
    }

    /// An upper bound on the absolute value of the poles of all blocks.
    #[must_use]
    pub fn fastest_pole(&self) -> f64 {
        self.system.blocks.iter().map(|block| spectral_radius(&block.a.abs())).fold(0.0, f64::max)
    }

    /// The poles of all blocks. None if the eigenvalues cannot be computed.
    pub(super) fn poles(&self) -> Option<Vec<Complex<f64>>> {
        let mut poles = Vec::new();
        for block in &self.system.blocks {
            poles.extend(spectrum(block.a.map(Complex::from))?);
        }
        Some(poles)
    }

    /// The system.
    #[must_use]
    pub fn system(&self) -> &System {
        self.system
    }
}

fn finite(value: Complex<f64>) -> Option<Complex<f64>> {
    (value.re < f64::INFINITY && !value.im.is_nan()).then_some(value)
}

/// The first group of each kind with the number of groups, and the kind of each group.
fn kinds(system: &System, groups: &[SenderGroup]) -> (Vec<(usize, f64)>, Vec<usize>) {
    let mut kinds: Vec<(usize, f64)> = Vec::new();
    let mut kind_of = Vec::with_capacity(groups.len());
    for (index, group) in groups.iter().enumerate() {
        let known = kinds.iter().position(|(first, _)| group.is_identical(&groups[*first], system));
        if let Some(known) = known {
            kinds[known].1 += 1.0;
        } else {
            kinds.push((index, 1.0));
        }
        kind_of.push(known.unwrap_or(kinds.len() - 1));
    }
    (kinds, kind_of)
}

/// Links with states but without cuts: the first link of each kind with the number of links.
fn idle(system: &System, cut_of: &[Vec<Option<usize>>]) -> Vec<(usize, f64)> {
    let mut kinds: Vec<(usize, f64)> = Vec::new();
    let is_idle = |block: &usize| {
        let subsystem = &system.blocks[*block];
        subsystem.is_link && subsystem.states() > 0 && cut_of[*block].iter().all(Option::is_none)
    };
    for block in (0..system.blocks.len()).filter(is_idle) {
        match kinds.iter_mut().find(|(first, _)| system.blocks[*first] == system.blocks[block]) {
            Some((_, count)) => *count += 1.0,
            None => kinds.push((block, 1.0)),
        }
    }
    kinds
}
