//! One file per command.

mod axis;
mod capacity;
mod check;
mod coexistence;
mod compare;
mod equilibrium;
mod explain;
mod figure;
mod harm;
mod link;
mod papers;
mod protocols;
mod report;
mod run;
mod schema;
mod shell;
mod stability;
mod sweep;
mod trace;
mod transients;
mod with_run;

pub(crate) use check::check;
pub(crate) use coexistence::coexistence;
pub(crate) use compare::compare;
pub(crate) use equilibrium::equilibrium;
pub(crate) use figure::figure;
pub(crate) use link::link;
pub(crate) use papers::papers;
pub(crate) use protocols::protocols;
pub(crate) use report::report;
pub(crate) use run::run;
pub(crate) use schema::schema;
pub(crate) use shell::{completions, man};
pub(crate) use stability::stability;
pub(crate) use sweep::sweep;
pub(crate) use trace::trace;
