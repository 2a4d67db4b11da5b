//! Suites: the criteria that documents, such as RFC 9743, have for protocols. The evidence for a criterion are recipes in which
//! the protocol is a parameter.
//!
//! ```text
//!   suites/<suite>/suite.toml ---> Suite: criteria
//!   suites/<suite>/<name>.toml --> its recipes
//!                                     |  runs with each protocol, runs of the baselines
//!                                     v
//!                         values of rows, one for each seed --> Evidence, with a verdict --> JudgedCriterion
//! ```

mod evaluate;
mod evidence;
mod suite;

pub use evaluate::{EvaluationPlan, EvaluationRequest};
pub use evidence::{Evaluation, Evidence, EvidenceVerdict, JudgedCriterion, JudgedSuite};
pub use suite::{Criterion, Suite, SuiteDescription, Suites};
