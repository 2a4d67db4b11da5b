//! The characteristic function of a system, through the return ratio of its links.

use super::system::{Block, System, Wire, ln_det};
use nalgebra::{Complex, DMatrix, DVector};

/// det(I + L(s)), times the characteristic polynomials of the pieces: an entire function whose zeros are the roots.
pub struct Characteristic<'a> {
    system: &'a System,
    /// The link inputs at which loops are cut: block and input.
    cuts: Vec<(usize, usize)>,
    /// The number of a cut, by block and input.
    pub(super) cut_of: Vec<Vec<Option<usize>>>,
    pub(super) parties: Vec<Party>,
}

/// Senders and relays that hear each other directly; most are alone.
pub(super) struct Party {
    pub(super) blocks: Vec<usize>,
    /// Where the inputs and outputs of each block begin.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// From links, to links, and among themselves.
    pub(super) hears: Vec<Wire>,
    pub(super) tells: Vec<Wire>,
    inner: Vec<Wire>,
}

pub(super) type Matrix = DMatrix<Complex<f64>>;

/// The transfer functions of all pieces at one complex frequency.
pub(super) struct Transfers {
    /// Of each link, by block.
    pub(super) links: Vec<Option<Matrix>>,
    /// Of each party.
    pub(super) parties: Vec<Matrix>,
    /// The logarithm of their characteristic polynomials.
    rest: Complex<f64>,
}

impl<'a> Characteristic<'a> {
    /// Sorts a system's pieces.
    #[must_use]
    pub fn new(system: &'a System) -> Self {
        let link = |block: usize| system.blocks[block].is_link;
        let mut cut_of: Vec<Vec<Option<usize>>> =
            system.blocks.iter().map(|block| vec![None; block.d.ncols()]).collect();
        let mut cuts = Vec::new();
        for wire in system.wires.iter().filter(|wire| link(wire.to.0)) {
            let (block, input) = wire.to;
            let matters = |matrix: &DMatrix<f64>| matrix.column(input).iter().any(|entry| *entry != 0.0);
            let piece = &system.blocks[block];
            if cut_of[block][input].is_none() && (matters(&piece.b) || matters(&piece.d)) {
                cut_of[block][input] = Some(cuts.len());
                cuts.push(wire.to);
            }
        }
        let parties = parties(system);
        Self { system, cuts, cut_of, parties }
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
        self.evaluate(s).map(|(ratio, _)| ratio)
    }

    /// The logarithm of the characteristic function: minus infinity at a root, none where s is a pole of a piece.
    #[must_use]
    pub fn ln(&self, s: Complex<f64>) -> Option<Complex<f64>> {
        let (ratio, rest) = self.evaluate(s)?;
        let matrix = Matrix::identity(self.size(), self.size()) + ratio;
        let value = if self.size() == 1 { matrix[(0, 0)].ln() } else { ln_det(&matrix.lu()) };
        let all = value + rest;
        (all.re < f64::INFINITY && !all.im.is_nan()).then_some(all)
    }

    /// L(s), and the logarithm of what the determinant lacks.
    fn evaluate(&self, s: Complex<f64>) -> Option<(Matrix, Complex<f64>)> {
        let transfers = self.transfers(s)?;
        Some((self.ratio(&transfers, s), transfers.rest))
    }

    /// What each piece does by itself. None where s is a pole of one.
    pub(super) fn transfers(&self, s: Complex<f64>) -> Option<Transfers> {
        let mut rest = Complex::new(0.0, 0.0);
        let mut links: Vec<Option<Matrix>> = vec![None; self.system.blocks.len()];
        for (index, block) in self.system.blocks.iter().enumerate().filter(|(_, block)| block.is_link) {
            let (transfer, ln) = block.transfer(s)?;
            rest += ln;
            links[index] = Some(transfer);
        }
        let mut parties = Vec::with_capacity(self.parties.len());
        for party in &self.parties {
            let (transfer, ln) = party.transfer(self.system, s)?;
            rest += ln;
            parties.push(transfer);
        }
        Some(Transfers { links, parties, rest })
    }

    /// L(s).
    pub(super) fn ratio(&self, transfers: &Transfers, s: Complex<f64>) -> Matrix {
        let mut ratio = Matrix::zeros(self.size(), self.size());
        for (party, transfer) in self.parties.iter().zip(&transfers.parties) {
            for heard in &party.hears {
                let Some(link) = &transfers.links[heard.from.0] else { continue };
                let weight = heard.at(s);
                for told in &party.tells {
                    let Some(row) = self.cut_of[told.to.0][told.to.1] else { continue };
                    let through = transfer[(party.output(told.from), party.input(heard.to))];
                    if through == Complex::new(0.0, 0.0) {
                        continue;
                    }
                    let through = told.at(s) * through * weight;
                    for (input, column) in self.cut_of[heard.from.0].iter().enumerate() {
                        let Some(column) = *column else { continue };
                        ratio[(row, column)] -= through * link[(heard.from.1, input)];
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
        let (ratio, _) = self.evaluate(s)?;
        let stretch = (-left.min(0.0) * 2.0 * self.system.longest_delay()).exp();
        let inner =
            self.parties.iter().map(|party| party.inner_gain(self.system, s)).collect::<Option<Vec<_>>>()?;
        let inner = inner.into_iter().fold(0.0, f64::max);
        Some((spectral_radius(&ratio.map(|entry| entry.norm())) * stretch).max(inner * stretch))
    }

    /// A bound on the fastest mode that any piece has by itself.
    #[must_use]
    pub fn fastest_pole(&self) -> f64 {
        self.system.blocks.iter().map(|block| spectral_radius(&block.a.abs())).fold(0.0, f64::max)
    }

    /// The system.
    #[must_use]
    pub fn system(&self) -> &System {
        self.system
    }
}

/// Groups the pieces that are no links by who hears whom directly.
fn parties(system: &System) -> Vec<Party> {
    let mut group: Vec<usize> = (0..system.blocks.len()).collect();
    let inner = |wire: &&Wire| !system.blocks[wire.from.0].is_link && !system.blocks[wire.to.0].is_link;
    for wire in system.wires.iter().filter(inner) {
        let (a, b) = (group[wire.from.0], group[wire.to.0]);
        for member in &mut group {
            if *member == a {
                *member = b;
            }
        }
    }
    let mut members = vec![Vec::new(); system.blocks.len()];
    for (index, _) in system.blocks.iter().enumerate().filter(|(_, block)| !block.is_link) {
        members[group[index]].push(index);
    }
    let mut parties: Vec<Party> = members
        .iter()
        .filter(|members| !members.is_empty())
        .map(|members| Party::of(system, members))
        .collect();
    let mut place = vec![usize::MAX; system.blocks.len()];
    for (number, party) in parties.iter().enumerate() {
        for block in &party.blocks {
            place[*block] = number;
        }
    }
    for wire in &system.wires {
        match (place.get(wire.from.0).copied(), place.get(wire.to.0).copied()) {
            (Some(usize::MAX), Some(to)) if to != usize::MAX => parties[to].hears.push(*wire),
            (Some(from), Some(usize::MAX)) if from != usize::MAX => parties[from].tells.push(*wire),
            (Some(from), Some(_)) if from != usize::MAX => parties[from].inner.push(*wire),
            _ => {}
        }
    }
    parties
}

impl Party {
    fn of(system: &System, members: &[usize]) -> Self {
        let count = |of: fn(&Block) -> usize| -> Vec<usize> {
            let mut first = 0;
            let next = |member: &usize| {
                first += of(&system.blocks[*member]);
                first
            };
            std::iter::once(0).chain(members.iter().map(next)).collect()
        };
        Self {
            blocks: members.to_vec(),
            inputs: count(|block| block.d.ncols()),
            outputs: count(|block| block.d.nrows()),
            hears: Vec::new(),
            tells: Vec::new(),
            inner: Vec::new(),
        }
    }

    fn place(&self, block: usize) -> usize {
        self.blocks.iter().position(|member| *member == block).unwrap_or(0)
    }

    pub(super) fn input(&self, (block, input): (usize, usize)) -> usize {
        self.inputs[self.place(block)] + input
    }

    pub(super) fn output(&self, (block, output): (usize, usize)) -> usize {
        self.outputs[self.place(block)] + output
    }

    /// From the inputs of all members to their outputs, inner wires closed.
    pub(super) fn transfer(&self, system: &System, s: Complex<f64>) -> Option<(Matrix, Complex<f64>)> {
        if let ([block], []) = (&self.blocks[..], &self.inner[..]) {
            return system.blocks[*block].transfer(s);
        }
        let (open, mut rest) = self.open(system, s)?;
        let closed = Matrix::identity(open.nrows(), open.nrows()) - &open * self.joints(s, &open);
        let closed = closed.lu();
        rest += ln_det(&closed);
        Some((closed.solve(&open)?, rest))
    }

    fn open(&self, system: &System, s: Complex<f64>) -> Option<(Matrix, Complex<f64>)> {
        let size = |first: &[usize]| first.last().copied().unwrap_or(0);
        let mut open = Matrix::zeros(size(&self.outputs), size(&self.inputs));
        let mut rest = Complex::new(0.0, 0.0);
        for (place, block) in self.blocks.iter().enumerate() {
            let (transfer, ln) = system.blocks[*block].transfer(s)?;
            rest += ln;
            open.view_mut((self.outputs[place], self.inputs[place]), transfer.shape()).copy_from(&transfer);
        }
        Some((open, rest))
    }

    /// From outputs to inputs, through the inner wires.
    fn joints(&self, s: Complex<f64>, open: &Matrix) -> Matrix {
        let mut joints = Matrix::zeros(open.ncols(), open.nrows());
        for wire in &self.inner {
            joints[(self.input(wire.to), self.output(wire.from))] += wire.at(s);
        }
        joints
    }

    fn inner_gain(&self, system: &System, s: Complex<f64>) -> Option<f64> {
        if self.inner.is_empty() {
            return Some(0.0);
        }
        let (open, _) = self.open(system, s)?;
        let around = &open.map(|entry| entry.norm()) * self.joints(s, &open).map(|entry| entry.norm());
        Some(spectral_radius(&around))
    }
}

/// An upper bound on the largest eigenvalue of a matrix without negative entries, and nearly that eigenvalue: of a positive
/// vector v, the largest (Mv)_i / v_i (Collatz and Wielandt), where v has been turned towards the eigenvector.
pub(super) fn spectral_radius(matrix: &DMatrix<f64>) -> f64 {
    const TURNS: usize = 60;
    if matrix.is_empty() {
        return 0.0;
    }
    let mut vector = DVector::from_element(matrix.nrows(), 1.0);
    let mut least = f64::INFINITY;
    for _ in 0..TURNS {
        let image = matrix * &vector;
        least = least.min(image.iter().zip(&vector).map(|(image, part)| image / part).fold(0.0, f64::max));
        // A part of the vector itself keeps every entry positive.
        vector += image / least.max(f64::MIN_POSITIVE);
        vector /= vector.amax();
    }
    least
}
