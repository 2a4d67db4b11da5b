//! Suites: the criteria that documents, such as RFC 9743, have for protocols or for queues. The evidence for a criterion are
//! recipes in which the protocol or the queue is a parameter.
//!
//! ```text
//!   suites/<suite>/suite.toml ---> Suite: criteria
//!   suites/<suite>/<name>.toml --> its recipes
//!                                     |  runs with each subject, runs of the baselines
//!                                     v
//!                         values of rows, one for each seed --> Evidence, with a verdict --> JudgedCriterion
//!
//!   verdicts of all subjects --> a section of MatrixPage, stale when the fingerprint of the suite changes; a row of it is
//!                                stale when that of its subject does
//! ```

mod evaluate;
mod evidence;
mod fingerprint;
mod matrix_page;
mod subject;
mod suite;

pub use evaluate::{EvaluationPlan, EvaluationRequest};
pub use evidence::{Evaluation, Evaluations, Evidence, EvidenceVerdict, JudgedCriterion, JudgedSuite};
pub use matrix_page::{MatrixPage, MatrixSection, RowOrigin};
pub use subject::{Subject, SubjectKind};
pub use suite::{Criterion, Suite, SuiteDescription, Suites};
