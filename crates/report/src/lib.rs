//! What a person reads: tables for the terminal, and one self-contained HTML page.

mod chart;
pub mod page;
pub mod terminal;
