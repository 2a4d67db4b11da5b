//! What a person reads: tables for the terminal, and one self-contained HTML page.

pub mod page;
pub mod terminal;
