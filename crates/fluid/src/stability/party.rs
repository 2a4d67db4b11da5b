//! Senders and relays, as links see them.

use super::matrix::{Matrix, ln_det, spectral_radius};
use super::system::{Block, System, Wire};
use nalgebra::Complex;

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

/// What a party does, its inner wires closed.
pub(super) struct Closed {
    pub(super) transfer: Matrix,
    /// The logarithm of its pieces' characteristic polynomials.
    pub(super) own: Complex<f64>,
    /// The logarithm of det(I - inner loops).
    pub(super) inner: Complex<f64>,
}

/// Groups the pieces that are no links by who hears whom directly.
pub(super) fn parties(system: &System) -> Vec<Party> {
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

    /// Whether another party is the same in other places: its pieces, and what they hear and tell, by which ways.
    pub(super) fn is_like(&self, other: &Self, system: &System) -> bool {
        let pieces =
            |party: &Self| party.blocks.iter().map(|block| &system.blocks[*block]).collect::<Vec<_>>();
        self.ways() == other.ways() && pieces(self) == pieces(other)
    }

    /// Its wires, with its own ends counted from its first input and output.
    fn ways(&self) -> [Vec<Wire>; 3] {
        let told = |wire: &Wire| Wire { from: (0, self.output(wire.from)), ..*wire };
        let heard = |wire: &Wire| Wire { to: (0, self.input(wire.to)), ..*wire };
        let inner = |wire: &Wire| told(&heard(wire));
        [
            self.hears.iter().map(heard).collect(),
            self.tells.iter().map(told).collect(),
            self.inner.iter().map(inner).collect(),
        ]
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
    pub(super) fn transfer(&self, system: &System, s: Complex<f64>) -> Option<Closed> {
        if let ([block], []) = (&self.blocks[..], &self.inner[..]) {
            let (transfer, own) = system.blocks[*block].transfer(s)?;
            return Some(Closed { transfer, own, inner: Complex::new(0.0, 0.0) });
        }
        let (open, own) = self.open(system, s)?;
        let closed = Matrix::identity(open.nrows(), open.nrows()) - &open * self.joints(s, &open);
        let closed = closed.lu();
        Some(Closed { transfer: closed.solve(&open)?, own, inner: ln_det(&closed) })
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

    pub(super) fn inner_gain(&self, system: &System, s: Complex<f64>) -> Option<f64> {
        if self.inner.is_empty() {
            return Some(0.0);
        }
        let (open, _) = self.open(system, s)?;
        let around = &open.map(|entry| entry.norm()) * self.joints(s, &open).map(|entry| entry.norm());
        Some(spectral_radius(&around))
    }
}
