//! The characteristic function of a system, through the return ratio of its links.

use super::cycles::on_cycles;
use super::matrix::{Matrix, ln_det, spectral_radius, spectrum};
use super::sender_groups::{SenderGroup, groups};
use super::system::{Block, System};
use nalgebra::Complex;

/// det(I + L(s)), times the characteristic polynomials of the pieces: an entire function whose zeros are the roots.
pub struct Characteristic<'a> {
    system: &'a System,
    /// The link inputs at which loops are cut: block and input.
    cuts: Vec<(usize, usize)>,
    /// The number of a cut, by block and input.
    pub(super) cut_of: Vec<Vec<Option<usize>>>,
    pub(super) groups: Vec<SenderGroup>,
    /// Parties that differ in nothing but their number: one of each kind, and how many there are.
    kinds: Vec<(usize, f64)>,
    /// The kind of each party.
    kind_of: Vec<usize>,
    /// Links without loops, which count for their modes alone: one of each kind, and how many there are.
    idle: Vec<(usize, f64)>,
}

/// The transfer functions of all pieces at one complex frequency.
pub(super) struct Transfers {
    /// Of each link, by block.
    pub(super) links: Vec<Option<Matrix>>,
    /// Of each kind of party.
    groups: Vec<Matrix>,
    /// The logarithm of their characteristic polynomials.
    own: Complex<f64>,
    /// The logarithm of what closes the parties: det(I - inner loops).
    inner: Complex<f64>,
}

impl<'a> Characteristic<'a> {
    /// Sorts a system's pieces; L has a row for each input of a link that is part of a loop.
    #[must_use]
    pub fn new(system: &'a System) -> Self {
        let looped = on_cycles(system);
        let mut groups = groups(system);
        // What comes from links without loops or goes to them is no part of L, and would make equal flows unlike.
        let is_looped = |block: usize| looped[block].contains(&true);
        for group in &mut groups {
            group.from_links.retain(|connection| is_looped(connection.from.0));
            group.to_links.retain(|connection| looped[connection.to.0][connection.to.1]);
        }
        Self::cut_at(system, groups, |block, input| looped[block][input])
    }

    /// The same with a row for every input of a link that does anything, for what disturbances do where no loop is.
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
            system.connections.iter().filter(|connection| system.blocks[connection.to.0].is_link)
        {
            let (block, input) = connection.to;
            if cut_of[block][input].is_none() && matters(block, input) {
                cut_of[block][input] = Some(cuts.len());
                cuts.push(connection.to);
            }
        }
        let (kinds, kind_of) = kinds(system, &groups);
        let idle = idle(system, &cut_of);
        Self { system, cuts, cut_of, groups, kinds, kind_of, idle }
    }

    /// The size of L.
    #[must_use]
    pub fn size(&self) -> usize {
        self.cuts.len()
    }

    /// The blocks at whose inputs loops are cut.
    #[must_use]
    pub fn cut_blocks(&self) -> Vec<usize> {
        self.cuts.iter().map(|(block, _)| *block).collect()
    }

    /// The return ratio L(s): minus what comes back to the inputs of the links. None where s is a pole of a piece.
    #[must_use]
    pub fn return_ratio(&self, s: Complex<f64>) -> Option<Matrix> {
        Some(self.ratio(&self.transfers(s)?, s))
    }

    /// The eigenvalues of L(i w) at an angular frequency in rad/s, in no order. None where it is that of a mode of a piece.
    pub(super) fn eigenvalues(&self, frequency: f64) -> Option<Vec<Complex<f64>>> {
        let ratio = self.return_ratio(Complex::new(0.0, frequency))?;
        if ratio.len() == 1 { Some(vec![ratio[(0, 0)]]) } else { spectrum(ratio) }
    }

    /// The logarithm of the characteristic function: minus infinity at a root, none where s is a pole of a piece.
    #[must_use]
    pub fn ln(&self, s: Complex<f64>) -> Option<Complex<f64>> {
        let (loops, own) = self.ln_parts(s)?;
        known(loops + own)
    }

    /// The logarithm of det(I + L(s)) alone, inner loops of parties included: what [`Self::ln`] has beside the characteristic
    /// polynomials of the pieces. It tends to zero where all loops fall silent.
    pub(super) fn ln_loops(&self, s: Complex<f64>) -> Option<Complex<f64>> {
        known(self.ln_parts(s)?.0)
    }

    /// The logarithms of det(I + L(s)) and of the characteristic polynomials.
    fn ln_parts(&self, s: Complex<f64>) -> Option<(Complex<f64>, Complex<f64>)> {
        let transfers = self.transfers(s)?;
        let matrix = Matrix::identity(self.size(), self.size()) + self.ratio(&transfers, s);
        let value = if self.size() == 1 { matrix[(0, 0)].ln() } else { ln_det(&matrix.lu()) };
        Some((value + transfers.inner, transfers.own))
    }

    /// What each piece does by itself. None where s is a pole of one.
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

    /// Each party with what it does.
    pub(super) fn with_transfers<'t>(
        &'t self,
        transfers: &'t Transfers,
    ) -> impl Iterator<Item = (&'t SenderGroup, &'t Matrix)> {
        self.groups.iter().zip(&self.kind_of).map(|(group, kind)| (group, &transfers.groups[*kind]))
    }

    /// L(s).
    pub(super) fn ratio(&self, transfers: &Transfers, s: Complex<f64>) -> Matrix {
        let mut ratio = Matrix::zeros(self.size(), self.size());
        for (&(group, count), transfer) in self.kinds.iter().zip(&transfers.groups) {
            let group = &self.groups[group];
            let told = group.to_links.iter().filter_map(|connection| {
                let row = self.cut_of[connection.to.0][connection.to.1]?;
                Some((row, group.output(connection.from), connection.at(s) * count))
            });
            let told: Vec<_> = told.collect();
            for heard in &group.from_links {
                let Some(link) = &transfers.links[heard.from.0] else { continue };
                let columns = self.cut_of[heard.from.0].iter().enumerate();
                let said =
                    columns.filter_map(|(input, column)| Some(((*column)?, link[(heard.from.1, input)])));
                let said: Vec<_> = said.filter(|(_, said)| *said != Complex::new(0.0, 0.0)).collect();
                if said.is_empty() {
                    continue;
                }
                let (weight, place) = (heard.at(s), group.input(heard.to));
                for &(row, output, way) in &told {
                    let through = way * transfer[(output, place)] * weight;
                    for &(column, said) in &said {
                        ratio[(row, column)] -= through * said;
                    }
                }
            }
        }
        ratio
    }

    /// The spectral radius of the entries' sizes, taken at the frequency |s| = radius with all phases in the worst place and
    /// delays stretched as on the line Re s = left. Below one, no root has this frequency.
    #[must_use]
    pub fn worst_gain(&self, radius: f64, left: f64) -> Option<f64> {
        let s = Complex::new(0.0, radius);
        let ratio = self.return_ratio(s)?;
        let stretch = (-left.min(0.0) * 2.0 * self.system.longest_delay()).exp();
        let inner =
            self.groups.iter().map(|group| group.inner_gain(self.system, s)).collect::<Option<Vec<_>>>()?;
        let inner = inner.into_iter().fold(0.0, f64::max);
        Some((spectral_radius(&ratio.map(|entry| entry.norm())) * stretch).max(inner * stretch))
    }

    /// A bound on the fastest mode that any piece has by itself.
    #[must_use]
    pub fn fastest_pole(&self) -> f64 {
        self.system.blocks.iter().map(|block| spectral_radius(&block.a.abs())).fold(0.0, f64::max)
    }

    /// The modes of all pieces by themselves: the zeros of their characteristic polynomials. None if they cannot be found.
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

fn known(value: Complex<f64>) -> Option<Complex<f64>> {
    (value.re < f64::INFINITY && !value.im.is_nan()).then_some(value)
}

/// One of each kind of party with their number, and the kind of each.
fn kinds(system: &System, groups: &[SenderGroup]) -> (Vec<(usize, f64)>, Vec<usize>) {
    let mut kinds: Vec<(usize, f64)> = Vec::new();
    let mut kind_of = Vec::with_capacity(groups.len());
    for (index, group) in groups.iter().enumerate() {
        let known = kinds.iter().position(|(first, _)| group.is_like(&groups[*first], system));
        if let Some(known) = known {
            kinds[known].1 += 1.0;
        } else {
            kinds.push((index, 1.0));
        }
        kind_of.push(known.unwrap_or(kinds.len() - 1));
    }
    (kinds, kind_of)
}

/// Links with modes and no cuts: one of each kind with their number.
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
