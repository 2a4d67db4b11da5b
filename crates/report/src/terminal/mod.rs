//! Tables for the terminal.

mod agreement;
mod coexistence;
mod comparison;
mod emulated_link;
mod equilibrium;
mod evaluation;
mod explain;
mod harm;
mod live_agreement;
mod protocols;
mod readings;
mod recipes;
mod run_keys;
mod stability;
mod summary;
mod sweep;
mod trace;
mod transients;

pub use agreement::agreement;
pub use coexistence::coexistence;
pub use comparison::comparison;
pub use emulated_link::{emulated_link, emulated_link_sentences};
pub use equilibrium::{equilibrium, steady_state, utility_allocation};
pub use evaluation::{evaluations, matrix_section};
pub use explain::explanation;
pub use harm::{HarmCells, harm};
pub use live_agreement::live_agreement;
pub use millpond_tables::Document;
pub use protocols::{parameter_default, parameter_table, protocol, protocols};
pub use readings::{all_rows_under_readings, readings, rows_under_readings};
pub use recipes::{headline, recipe_list, verdicts};
pub use stability::{search_ranges, stability, stability_map, two_sided};
pub use summary::summary;
pub use sweep::sweep;
pub use trace::{trace, trace_rates};
pub use transients::{convergence, step_response};
