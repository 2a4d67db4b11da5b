//! GraphML, as the Internet Topology Zoo and graph libraries write it: nodes with coordinates, edges with speeds.

mod attributes;
mod distance;
mod name;
mod read;

use crate::source::{Fault, Sources};
use millpond_units::{Rate, Span};

/// The part of a GraphML file that describes a network.
pub(crate) struct Graph {
    /// The name of each node, unique and fit for a scenario.
    pub(crate) nodes: Vec<String>,
    pub(crate) edges: Vec<Edge>,
}

/// One edge.
pub(crate) struct Edge {
    /// Index of the node where it begins.
    pub(crate) from: usize,
    /// Index of the node where it ends.
    pub(crate) to: usize,
    /// Whether it has one direction only.
    pub(crate) directed: bool,
    /// Its rate, if the file contains one.
    pub(crate) rate: Option<Rate>,
    /// Its propagation delay, if the file contains it or the coordinates of two different places.
    pub(crate) delay: Option<Span>,
    /// The first byte of its element.
    pub(crate) start: usize,
}

/// The file's text, to point into.
pub(crate) struct Text<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Text<'a> {
    /// Reads the graph.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn graph(&self) -> Result<Graph, Fault> {
        read::graph(self)
    }

    /// A fault of the line with byte `start`; a line too long to show is not quoted.
    pub(crate) fn wrong(&self, start: usize, what: &str, label: &str, help: impl Into<String>) -> Fault {
        let (before, rest) = self.text.split_at_checked(start).unwrap_or((self.text, ""));
        let number = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
        let message = format!("line {number} of the graph {}: {what}", self.name);
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        let left = rest.find('\n').unwrap_or(rest.len());
        let sources = Sources::new(self.name, self.text);
        let fault = match column + left {
            0..200 => {
                let end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
                sources.fault(crate::place::Place { text: 0, start, end }, message, label)
            }
            _ => sources.plain(format!("{message}: {label}")),
        };
        fault.help(help)
    }
}
