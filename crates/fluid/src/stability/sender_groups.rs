//! Groups of senders and relays, between the links.

use super::matrix::{LinearEquations, Matrix, spectral_radius};
use super::system::{Block, BlockInput, BlockOutput, Connection, System};
use nalgebra::Complex;
use std::collections::BTreeSet;

/// Senders and relays that are connected directly; most groups have one block.
pub(super) struct SenderGroup {
    pub(super) blocks: Vec<usize>,
    /// First input and output of each block, and the totals.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// Connections from links, to links, and within the group.
    pub(super) from_links: Vec<Connection>,
    pub(super) to_links: Vec<Connection>,
    inner: Vec<Connection>,
    /// The outputs from which inner connections come.
    sources: Vec<usize>,
    /// The inputs whose columns of the transfer matrix are computed; the others are zero.
    columns: Vec<usize>,
}

/// The transfer matrix of a group with its inner connections closed.
pub(super) struct GroupTransfer {
    pub(super) transfer: Matrix,
    /// Logarithm of the product of its blocks' characteristic polynomials.
    pub(super) own: Complex<f64>,
    /// Logarithm of det(I - inner loops).
    pub(super) inner: Complex<f64>,
}

/// Groups the blocks that are not links by their direct connections.
pub(super) fn groups(system: &System) -> Vec<SenderGroup> {
    let mut group: Vec<usize> = (0..system.blocks.len()).collect();
    let inner = |connection: &&Connection| {
        !system.blocks[connection.from.block].is_link && !system.blocks[connection.to.block].is_link
    };
    for connection in system.connections.iter().filter(inner) {
        let (a, b) = (group[connection.from.block], group[connection.to.block]);
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
    let mut groups: Vec<SenderGroup> = members
        .iter()
        .filter(|members| !members.is_empty())
        .map(|members| SenderGroup::of(system, members))
        .collect();
    let mut place = vec![usize::MAX; system.blocks.len()];
    for (number, group) in groups.iter().enumerate() {
        for block in &group.blocks {
            place[*block] = number;
        }
    }
    for connection in &system.connections {
        match (place.get(connection.from.block).copied(), place.get(connection.to.block).copied()) {
            (Some(usize::MAX), Some(to)) if to != usize::MAX => groups[to].from_links.push(*connection),
            (Some(from), Some(usize::MAX)) if from != usize::MAX => groups[from].to_links.push(*connection),
            (Some(from), Some(_)) if from != usize::MAX => groups[from].inner.push(*connection),
            _ => {}
        }
    }
    groups.into_iter().map(SenderGroup::completed).collect()
}

impl SenderGroup {
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
            from_links: Vec::new(),
            to_links: Vec::new(),
            inner: Vec::new(),
            sources: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// The same group, whose connections are complete, with all columns of its transfer matrix.
    fn completed(mut self) -> Self {
        let sources: BTreeSet<usize> =
            self.inner.iter().map(|connection| self.output(connection.from)).collect();
        self.sources = sources.into_iter().collect();
        self.columns = (0..self.inputs.last().copied().unwrap_or(0)).collect();
        self
    }

    /// The same group with the columns of the inputs that links feed, which are all that loops through links need. The
    /// others take most of the work in a group of many relays.
    pub(super) fn with_columns_of_links(mut self) -> Self {
        let fed: BTreeSet<usize> =
            self.from_links.iter().map(|connection| self.input(connection.to)).collect();
        self.columns = fed.into_iter().collect();
        self
    }

    /// Whether another group has equal blocks and equal connections.
    pub(super) fn is_identical(&self, other: &Self, system: &System) -> bool {
        let subsystems =
            |group: &Self| group.blocks.iter().map(|block| &system.blocks[*block]).collect::<Vec<_>>();
        self.relative_connections() == other.relative_connections() && subsystems(self) == subsystems(other)
    }

    /// The connections of the group, with inputs and outputs counted within the group.
    fn relative_connections(&self) -> [Vec<Connection>; 3] {
        let outgoing = |connection: &Connection| Connection {
            from: BlockOutput::new(0, self.output(connection.from)),
            ..*connection
        };
        let incoming = |connection: &Connection| Connection {
            to: BlockInput::new(0, self.input(connection.to)),
            ..*connection
        };
        let inner = |connection: &Connection| outgoing(&incoming(connection));
        [
            self.from_links.iter().map(incoming).collect(),
            self.to_links.iter().map(outgoing).collect(),
            self.inner.iter().map(inner).collect(),
        ]
    }

    fn place(&self, block: usize) -> usize {
        self.blocks.iter().position(|member| *member == block).unwrap_or(0)
    }

    pub(super) fn input(&self, BlockInput { block, input }: BlockInput) -> usize {
        self.inputs[self.place(block)] + input
    }

    pub(super) fn output(&self, BlockOutput { block, output }: BlockOutput) -> usize {
        self.outputs[self.place(block)] + output
    }

    /// About how many complex multiplications [`Self::transfer`] takes.
    pub(super) fn multiplications(&self) -> u64 {
        let size = |first: &[usize]| first.last().map_or(0, |size| *size as u64);
        let (inputs, outputs) = (size(&self.inputs), size(&self.outputs));
        if self.inner.is_empty() {
            return outputs * inputs;
        }
        let (sources, columns) = (self.sources.len() as u64, self.columns.len() as u64);
        outputs * (inputs + self.inner.len() as u64 + sources * columns)
            + sources.pow(2) * (sources / 3 + columns)
    }

    /// The transfer matrix from the inputs of `columns` to all outputs, inner connections closed. None at a pole of a block.
    pub(super) fn transfer(&self, system: &System, s: Complex<f64>) -> Option<GroupTransfer> {
        if let ([block], []) = (&self.blocks[..], &self.inner[..]) {
            let (transfer, own) = system.blocks[*block].transfer(s)?;
            return Some(GroupTransfer { transfer, own, inner: Complex::new(0.0, 0.0) });
        }
        let (open, own) = self.open_loop(system, s)?;
        let through = self.through_inner(s, &open);
        let (sources, columns) = (&self.sources, &self.columns);
        let identity = |row, column| Complex::from(if row == column { 1.0 } else { 0.0 });
        let mut at_sources = LinearEquations::new(
            sources.len(),
            columns.len(),
            |row, column| identity(row, column) - through[(sources[row], column)],
            |row, side| open[(sources[row], columns[side])],
        );
        let inner = at_sources.solve()?;
        let mut transfer = Matrix::zeros(open.nrows(), open.ncols());
        for (side, &input) in columns.iter().enumerate() {
            let mut column = transfer.column_mut(input);
            column.copy_from(&open.column(input));
            for (source, way) in through.column_iter().enumerate() {
                column.axpy(at_sources.solution(source, side), &way, Complex::from(1.0));
            }
        }
        Some(GroupTransfer { transfer, own, inner })
    }

    /// The open-loop transfer matrix from the sources of inner connections, through these connections, to all outputs.
    fn through_inner(&self, s: Complex<f64>, open: &Matrix) -> Matrix {
        let mut through = Matrix::zeros(open.nrows(), self.sources.len());
        for connection in &self.inner {
            let Ok(source) = self.sources.binary_search(&self.output(connection.from)) else { continue };
            let column = open.column(self.input(connection.to));
            through.column_mut(source).axpy(connection.at(s), &column, Complex::from(1.0));
        }
        through
    }

    fn open_loop(&self, system: &System, s: Complex<f64>) -> Option<(Matrix, Complex<f64>)> {
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

    /// From outputs to inputs, through the inner connections.
    fn inner_transfer(&self, s: Complex<f64>, open: &Matrix) -> Matrix {
        let mut inner_transfer = Matrix::zeros(open.ncols(), open.nrows());
        for connection in &self.inner {
            inner_transfer[(self.input(connection.to), self.output(connection.from))] += connection.at(s);
        }
        inner_transfer
    }

    pub(super) fn inner_gain(&self, system: &System, s: Complex<f64>) -> Option<f64> {
        if self.inner.is_empty() {
            return Some(0.0);
        }
        let (open, _) = self.open_loop(system, s)?;
        let around =
            &open.map(|entry| entry.norm()) * self.inner_transfer(s, &open).map(|entry| entry.norm());
        Some(spectral_radius(&around))
    }
}
