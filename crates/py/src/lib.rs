//! The compiled part of the Python package `millpond`. It converts arguments and results and calls the crates that the
//! command calls; `python/millpond` is the interface.
//!
//! ```text
//!   Scenario --run, compare--> Run --tables--> Arrow streams
//!       |--sweep--> dataset, as files
//!       \--equilibrium, stability, explain, check_papers, evaluate--> JSON as the command prints it
//! ```
//!
//! Every function that can last long runs on threads of its own without Python's lock, and ends at Ctrl-C: see `work`.

// Python calls these items by their names in the module, which the compiler does not see.
#![allow(unreachable_pub, reason = "the macros of pyo3 need visible items")]

mod compare;
mod environment;
mod error;
mod evaluation;
mod guest;
mod papers;
mod pickle;
mod python_threads;
mod run;
mod scenario;
mod statistics;
mod sweep;
mod table;
mod table_columns;
mod theory;
mod trace;
mod waiting;
mod work;
mod world;

use millpond_protocols::Registry;

/// The version of Millpond, with the commit that it was built from if that is known.
const VERSION: &str = env!("MILLPOND_VERSION");

/// The protocols and queues of every function, with the laws of guests that are registered now.
fn registry() -> Registry {
    guest::registry().0
}

/// The compiled part of the package `millpond`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::compare::{Comparison, compare};
    #[pymodule_export]
    use crate::environment::LinkControl;
    #[pymodule_export]
    use crate::error::{Error, GuestError};
    #[pymodule_export]
    use crate::evaluation::evaluate;
    #[pymodule_export]
    use crate::guest::{
        Ack, Congestion, Data, LinkBase, LinkPacket, QueueState, ReceiverBase, SenderBase, Start,
        conformance, register,
    };
    #[pymodule_export]
    use crate::papers::{check_papers, recipes};
    #[pymodule_export]
    use crate::run::{Run, load_runs, run};
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::statistics::student_t;
    #[pymodule_export]
    use crate::sweep::{Dataset, SweepMeans, SweepPlan};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::theory::{equilibrium, explain, stability};
    #[pymodule_export]
    use crate::trace::{Trace, presets};

    #[pymodule_export]
    const VERSION: &str = crate::VERSION;
}
