//! What a command prints: lines of text and tables of cells, for terminals of any width, as CSV and as Markdown.

mod document;
mod table;

pub use document::Document;
pub use table::{Cell, Table, are_shown_equal, table, text_table};
