//! Uniqueness of prices: the rank condition of Theorem 1 and Proposition 2 (Paganini et al.).

use super::AllocationProblem;
use nalgebra::DMatrix;

/// Whether the equilibrium is unique.
#[derive(Clone, Debug, PartialEq)]
pub enum Uniqueness {
    /// Rates and prices are unique.
    Unique,
    /// Rates are unique, prices are not: the routing matrix of the bottlenecks does not have full row rank. About any
    /// such equilibrium, some combination of prices has no feedback and a characteristic root is zero.
    Prices {
        /// Rank of the routing matrix of the bottlenecks.
        rank: usize,
        /// Number of bottlenecks.
        bottlenecks: usize,
        /// Links that are linearly dependent on others.
        links: Vec<usize>,
    },
}

impl std::fmt::Display for Uniqueness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unique => write!(f, "unique"),
            Self::Prices { rank, bottlenecks, .. } => {
                write!(f, "prices not unique: bottlenecks not of full rank ({rank} of {bottlenecks})")
            }
        }
    }
}

/// The routing matrix of these links: one row per link, one column per class of flows that responds to prices.
pub(super) fn routing(network: &AllocationProblem, responds: &[bool], links: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(links.len(), network.flows.len(), |row, column| {
        let uses = responds[column] && network.flows[column].path.contains(&links[row]);
        f64::from(u8::from(uses))
    })
}

/// The rank of the bottlenecks' routing matrix over the flows that respond to prices. A flow at its own limit does not
/// respond.
#[must_use]
pub fn uniqueness(network: &AllocationProblem, responds: &[bool], bottlenecks: &[usize]) -> Uniqueness {
    const NEGLIGIBLE: f64 = 1e-9;
    let matrix = routing(network, responds, bottlenecks);
    if matrix.is_empty() {
        return Uniqueness::Unique;
    }
    let rank_of = |matrix: DMatrix<f64>| matrix.rank(NEGLIGIBLE);
    let rank = rank_of(matrix.clone());
    if rank == bottlenecks.len() {
        return Uniqueness::Unique;
    }
    let redundant = |row: usize| rank_of(matrix.clone().remove_row(row)) == rank;
    let links = (0..bottlenecks.len()).filter(|&row| redundant(row)).map(|row| bottlenecks[row]).collect();
    Uniqueness::Prices { rank, bottlenecks: bottlenecks.len(), links }
}
