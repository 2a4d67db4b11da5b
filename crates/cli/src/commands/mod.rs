//! One file per command.

mod check;
mod compare;
mod papers;
mod protocols;
mod report;
mod run;
mod trace;

pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use papers::papers;
pub(crate) use protocols::protocols;
pub(crate) use report::report;
pub(crate) use run::run;
pub(crate) use trace::trace;
