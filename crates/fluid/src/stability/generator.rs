//! The discretized infinitesimal generator of a delay equation: an independent check of the roots of small systems.

use super::{Block, BlockInput, Root, RootError, System};
use nalgebra::DMatrix;
use nalgebra::linalg::balancing::balance_parlett_reinsch;
use std::f64::consts::PI;

/// Largest number of iterations of the eigenvalue computation.
const MAX_ITERATIONS: usize = 100_000;

/// The delay equation x'(t) = sum of A_k x(t - tau_k).
struct Delayed {
    states: usize,
    terms: Vec<(f64, DMatrix<f64>)>,
}

/// Approximate characteristic roots in descending order of real part, by collocation at `points` Chebyshev points of
/// the longest delay (Breda, Maset and Vermiglio, SIAM J. Sci. Comput. 27, 2005). Only roots near zero are accurate.
///
/// # Errors
/// [`RootError::Circular`] if static blocks form an algebraic loop.
pub fn generator_roots(system: &System, points: usize) -> Result<Vec<Root>, RootError> {
    let equation = Delayed::of(system)?;
    let mut matrix = equation.generator(points);
    balance_parlett_reinsch(&mut matrix);
    let schur = nalgebra::Schur::try_new(matrix, 1e-13, MAX_ITERATIONS).ok_or(RootError::Circular)?;
    let mut roots: Vec<Root> = schur
        .complex_eigenvalues()
        .iter()
        .filter(|s| s.im >= 0.0)
        .map(|s| Root { s: *s, multiplicity: 1 })
        .collect();
    roots.sort_by(|a, b| b.s.re.total_cmp(&a.s.re));
    Ok(roots)
}

impl Delayed {
    fn of(system: &System) -> Result<Self, RootError> {
        let mut first = Vec::with_capacity(system.blocks.len());
        let mut states = 0;
        for block in &system.blocks {
            first.push(states);
            states += block.states();
        }
        let mut equation = Self { states, terms: Vec::new() };
        for (index, block) in system.blocks.iter().enumerate() {
            let rows = first[index];
            let own = equation.term(0.0);
            own.view_mut((rows, rows), block.a.shape()).copy_from(&block.a);
            for input in 0..block.d.ncols() {
                for source in sources(system, BlockInput::new(index, input), 0.0, 0)? {
                    let weights = DMatrix::from_row_slice(1, source.weights.len(), &source.weights);
                    let push = block.b.column(input) * weights;
                    let place = (rows, first[source.block]);
                    let mut part = equation.term(source.delay).view_mut(place, push.shape());
                    part += push;
                }
            }
        }
        Ok(equation)
    }

    fn term(&mut self, delay: f64) -> &mut DMatrix<f64> {
        let known = self.terms.iter().position(|(known, _)| (known - delay).abs() <= 1e-12 * delay.max(1e-9));
        let index = known.unwrap_or_else(|| {
            self.terms.push((delay, DMatrix::zeros(self.states, self.states)));
            self.terms.len() - 1
        });
        &mut self.terms[index].1
    }

    fn generator(&self, points: usize) -> DMatrix<f64> {
        let longest = self.terms.iter().map(|(delay, _)| *delay).fold(f64::MIN_POSITIVE, f64::max);
        let nodes = chebyshev(points);
        let differentiation = differentiation(&nodes);
        let n = self.states;
        let mut matrix = DMatrix::zeros(n * (points + 1), n * (points + 1));
        for (delay, term) in &self.terms {
            for (node, weight) in lagrange(&nodes, 1.0 - 2.0 * delay / longest).iter().enumerate() {
                let mut part = matrix.view_mut((0, node * n), (n, n));
                part += term * *weight;
            }
        }
        for row in 1..=points {
            for column in 0..=points {
                let value = differentiation[(row, column)] * 2.0 / longest;
                for state in 0..n {
                    matrix[(row * n + state, column * n + state)] = value;
                }
            }
        }
        matrix
    }
}

/// A block whose states determine an input, through static blocks.
struct StateSource {
    block: usize,
    /// Delay from the block to the input, in seconds.
    delay: f64,
    /// Weights of the states of the block.
    weights: Vec<f64>,
}

fn sources(
    system: &System,
    input: BlockInput,
    delay: f64,
    depth: usize,
) -> Result<Vec<StateSource>, RootError> {
    const DEEPEST: usize = 12;
    if depth > DEEPEST {
        return Err(RootError::Circular);
    }
    let mut all = Vec::new();
    for connection in system.connections.iter().filter(|connection| connection.to == input) {
        let block: &Block = &system.blocks[connection.from.block];
        let delay = delay + connection.delay;
        if block.states() > 0 {
            let weights = block.c.row(connection.from.output).iter().map(|c| c * connection.gain).collect();
            all.push(StateSource { block: connection.from.block, delay, weights });
        }
        for through in 0..block.d.ncols() {
            let d = block.d[(connection.from.output, through)];
            if d == 0.0 {
                continue;
            }
            let through = BlockInput::new(connection.from.block, through);
            for mut source in sources(system, through, delay, depth + 1)? {
                source.weights.iter_mut().for_each(|weight| *weight = *weight * d * connection.gain);
                all.push(source);
            }
        }
    }
    Ok(all)
}

/// Chebyshev points from 1 to -1.
fn chebyshev(points: usize) -> Vec<f64> {
    // At most a few hundred points.
    #[allow(clippy::cast_precision_loss, reason = "counts of nodes are small")]
    let node = |index: usize| (PI * index as f64 / points as f64).cos();
    (0..=points).map(node).collect()
}

fn barycentric(nodes: &[f64]) -> Vec<f64> {
    let last = nodes.len() - 1;
    let weight = |index: usize| {
        let sign = if index.is_multiple_of(2) { 1.0 } else { -1.0 };
        if index == 0 || index == last { sign / 2.0 } else { sign }
    };
    (0..nodes.len()).map(weight).collect()
}

/// The values of all Lagrange polynomials at a point.
fn lagrange(nodes: &[f64], at: f64) -> Vec<f64> {
    if let Some(hit) = nodes.iter().position(|node| (node - at).abs() < 1e-15) {
        return (0..nodes.len()).map(|index| f64::from(u8::from(index == hit))).collect();
    }
    let parts: Vec<f64> =
        barycentric(nodes).iter().zip(nodes).map(|(weight, node)| weight / (at - node)).collect();
    let sum: f64 = parts.iter().sum();
    parts.iter().map(|part| part / sum).collect()
}

/// The differentiation matrix of the interpolating polynomial.
fn differentiation(nodes: &[f64]) -> DMatrix<f64> {
    let weights = barycentric(nodes);
    let size = nodes.len();
    let mut matrix = DMatrix::from_fn(size, size, |row, column| {
        if row == column { 0.0 } else { weights[column] / weights[row] / (nodes[row] - nodes[column]) }
    });
    for row in 0..size {
        matrix[(row, row)] = -matrix.row(row).sum();
    }
    matrix
}
