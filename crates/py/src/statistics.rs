//! Statistics that the figures of the package need.

use pyo3::prelude::*;

/// The 97.5 % quantile of Student's t with this many degrees of freedom, at least one.
#[pyfunction]
pub fn student_t(freedom: usize) -> f64 {
    millpond_stats::student_t(freedom)
}
