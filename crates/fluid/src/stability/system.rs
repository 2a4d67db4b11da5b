//! A linear system: blocks connected by delays.

use super::matrix::LinearEquations;
use nalgebra::{Complex, DMatrix, DVector};

/// A linear block: x' = A x + B u, w = C x + D u.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// State matrix A.
    pub a: DMatrix<f64>,
    /// Input matrix B.
    pub b: DMatrix<f64>,
    /// Output matrix C.
    pub c: DMatrix<f64>,
    /// Feedthrough matrix D.
    pub d: DMatrix<f64>,
    /// Whether the block is a link: loops are cut at its inputs. Every loop must contain a link, or stay within a small
    /// group of senders and relays.
    pub is_link: bool,
}

impl Block {
    /// A static block: w = D u.
    #[must_use]
    pub fn gain(d: DMatrix<f64>) -> Self {
        let (outputs, inputs) = d.shape();
        let (a, b, c) = (DMatrix::zeros(0, 0), DMatrix::zeros(0, inputs), DMatrix::zeros(outputs, 0));
        Self { a, b, c, d, is_link: false }
    }

    /// A block with one state, one input and one output: x' = a x + b u, w = c x + d u.
    #[must_use]
    pub fn single(a: f64, b: f64, c: f64, d: f64) -> Self {
        let number = |value| DMatrix::from_element(1, 1, value);
        Self { a: number(a), b: number(b), c: number(c), d: number(d), is_link: false }
    }

    /// The same block as a link.
    #[must_use]
    pub fn as_link(self) -> Self {
        Self { is_link: true, ..self }
    }

    /// Number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.a.nrows()
    }

    /// Adds an input with this column of B above D; returns its index.
    pub(super) fn add_input(&mut self, column: &DVector<f64>) -> usize {
        let (n, (outputs, input)) = (self.states(), self.d.shape());
        self.b = std::mem::take(&mut self.b).insert_column(input, 0.0);
        self.d = std::mem::take(&mut self.d).insert_column(input, 0.0);
        self.b.column_mut(input).copy_from(&column.rows(0, n));
        self.d.column_mut(input).copy_from(&column.rows(n, outputs));
        input
    }

    /// The transfer matrix C (sI - A)^-1 B + D, and ln det(sI - A). None at a pole.
    pub(super) fn transfer(&self, s: Complex<f64>) -> Option<(DMatrix<Complex<f64>>, Complex<f64>)> {
        let complex = |matrix: &DMatrix<f64>| matrix.map(|value| Complex::new(value, 0.0));
        let n = self.states();
        if n == 0 {
            return Some((complex(&self.d), Complex::new(0.0, 0.0)));
        }
        if n == 1 {
            let pole = s - self.a[(0, 0)];
            let entry = |row, column| {
                Complex::from(self.c[(row, 0)] * self.b[(0, column)]) / pole + self.d[(row, column)]
            };
            let matrix = DMatrix::from_fn(self.d.nrows(), self.d.ncols(), entry);
            return (pole.norm() > 0.0).then(|| (matrix, pole.ln()));
        }
        let entry = |row, column| {
            let own = if row == column { s } else { Complex::new(0.0, 0.0) };
            own - self.a[(row, column)]
        };
        let mut states =
            LinearEquations::new(n, self.b.ncols(), entry, |row, input| self.b[(row, input)].into());
        let ln = states.solve()?;
        let mut matrix = complex(&self.d);
        for (state, column) in self.c.column_iter().enumerate() {
            for (output, weight) in column.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
                for input in 0..self.b.ncols() {
                    matrix[(output, input)] += states.solution(state, input) * *weight;
                }
            }
        }
        Some((matrix, ln))
    }
}

/// An input of a block, by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInput {
    /// The block.
    pub block: usize,
    /// The input among those of the block.
    pub input: usize,
}

impl BlockInput {
    /// An input of a block.
    #[must_use]
    pub const fn new(block: usize, input: usize) -> Self {
        Self { block, input }
    }
}

/// An output of a block, by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockOutput {
    /// The block.
    pub block: usize,
    /// The output among those of the block.
    pub output: usize,
}

impl BlockOutput {
    /// An output of a block.
    #[must_use]
    pub const fn new(block: usize, output: usize) -> Self {
        Self { block, output }
    }
}

/// A connection from an output to an input with a delay. Connections to the same input add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connection {
    /// Where it begins.
    pub from: BlockOutput,
    /// Where it ends.
    pub to: BlockInput,
    /// Number of flows that it represents, or 1.
    pub gain: f64,
    /// Delay in seconds.
    pub delay: f64,
}

impl Connection {
    /// The transfer function at a complex frequency.
    pub(super) fn at(&self, s: Complex<f64>) -> Complex<f64> {
        (-s * self.delay).exp() * self.gain
    }
}

/// A linear system with delays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The connections.
    pub connections: Vec<Connection>,
}

impl System {
    /// The same system with this additional delay in seconds on every connection to a link.
    #[must_use]
    pub fn delayed(mut self, extra: f64) -> Self {
        for connection in &mut self.connections {
            if self.blocks[connection.to.block].is_link {
                connection.delay += extra;
            }
        }
        self
    }

    /// The same system with this factor on every connection from a sender or relay to a link, which is the gain of all
    /// loops.
    #[must_use]
    pub fn amplified(mut self, factor: f64) -> Self {
        for connection in &mut self.connections {
            if self.blocks[connection.to.block].is_link && !self.blocks[connection.from.block].is_link {
                connection.gain *= factor;
            }
        }
        self
    }

    /// The same system with this factor on every delay.
    #[must_use]
    pub fn stretched(mut self, factor: f64) -> Self {
        self.connections.iter_mut().for_each(|connection| connection.delay *= factor);
        self
    }

    /// The longest delay, in seconds.
    #[must_use]
    pub fn longest_delay(&self) -> f64 {
        self.connections.iter().map(|connection| connection.delay).fold(0.0, f64::max)
    }
}
