//! Folders of recipes, and readings of papers.

mod folders;
mod readings;
