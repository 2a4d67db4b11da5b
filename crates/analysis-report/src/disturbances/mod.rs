//! What disturbances change: tables and charts for the terminal, a page, and a figure.

mod page;
mod table;
mod tornado;

pub use page::{disturbances as disturbance_page, tornado as tornado_figure};
pub use table::disturbances as disturbance_table;
