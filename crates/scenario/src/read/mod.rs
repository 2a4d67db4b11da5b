//! From a document to a scenario: each table is read by the file named after it.

mod capacity;
mod flows;
mod fluid;
pub(crate) mod links;
mod protocols;
mod times;
mod workloads;

pub(crate) use capacity::{ENDS, FORMATS};

use crate::fields::{self, Complaints, Fields};
use crate::files::Files;
use crate::model::{Measure, Scenario};
use crate::network::Network;
use crate::place::At;
use crate::shorthand;
use crate::source::Faults;
use crate::trace::Trace;
use crate::tree::{Node, Raw};
use millpond_units::{Span, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest run: the range of [`Time`].
const LONGEST_RUN: Span = Span::from_millis(213 * 86_400_000);
/// Most samples of one series.
const MOST_SAMPLES: u64 = 10_000_000;

/// What reading needs besides the document.
pub(crate) struct Reader<'a> {
    pub(crate) complaints: &'a Complaints,
    /// Where trace files come from.
    pub(crate) files: &'a dyn Files,
    /// Where the scenario file is: its traces' paths are relative to it.
    pub(crate) folder: &'a Path,
    /// Traces already read, each shared by the links that name it; `None` if it was wrong.
    pub(crate) traces: RefCell<BTreeMap<PathBuf, Option<Arc<Trace>>>>,
}

impl Reader<'_> {
    /// Where the file is that the scenario names. A path in an override is relative to where the command runs, as
    /// the shell completes it.
    pub(crate) fn path(&self, node: &Node, file: &str) -> PathBuf {
        let folder = if node.place.text == 0 { self.folder } else { Path::new("") };
        let path = folder.join(file);
        std::path::absolute(&path).unwrap_or(path)
    }

    /// The bytes of a file that the scenario names; `what` says what it should be.
    pub(crate) fn bytes(&self, node: &Node, path: &Path, what: &str) -> Option<Vec<u8>> {
        let help =
            "paths in the file are relative to the scenario file, those of --set to the current folder";
        let message = || format!("cannot read the {what} {}", path.display());
        let read = self.files.read(path);
        read.map_err(|error| self.complaints.wrong::<()>(node.place, message(), error.to_string(), help)).ok()
    }

    /// The text of a file that the scenario names.
    pub(crate) fn text(&self, node: &Node, path: &Path, what: &str) -> Option<String> {
        String::from_utf8(self.bytes(node, path, what)?).ok().or_else(|| {
            let message = format!("cannot read the {what} {}", path.display());
            let help = "save it in this encoding";
            self.complaints.wrong(node.place, message, "it is not a text in UTF-8", help)
        })
    }
}

/// Reads a whole document.
pub(crate) fn scenario(
    complaints: Complaints,
    files: &dyn Files,
    folder: &Path,
    document: &Node,
) -> Result<Scenario, Faults> {
    let reader = Reader { complaints: &complaints, files, folder, traces: RefCell::default() };
    let scenario = read(&reader, document);
    match scenario {
        Some(scenario) if !complaints.any() => Ok(Scenario { sources: complaints.sources, ..scenario }),
        _ => Err(complaints.into_faults()),
    }
}

fn read(reader: &Reader<'_>, document: &Node) -> Option<Scenario> {
    let mut fields = Fields::new(reader.complaints, document, "scenario")?;
    let title = fields.read_or("title", "", |c, node| fields::text(c, node)).to_owned();
    let duration = fields.required("duration", "\"100s\"");
    let duration = duration.and_then(|node| self::duration(reader.complaints, node));
    let seed = fields.read_or("seed", 1, |c, node| fields::whole(c, node, 0, u64::MAX));
    let measure = fields.read("measure", |c, node| measure(c, node, duration));
    let measure = measure.unwrap_or_else(|| default_measure(duration.unwrap_or_default()));
    let fluid = fields.read("fluid", |c, node| fluid::read(c, node, duration, &measure)).unwrap_or_default();
    let mut network = Network::default();
    shorthand::read(reader, &mut fields, &mut network);
    if let Some(node) = fields.get("links") {
        links::read(reader, node, &mut network);
    }
    let flows = fields.required("flows", "[[flows]] tables, at least one");
    let extent = duration.unwrap_or_default();
    let flows = flows.map(|node| flows::read(reader, node, &network, extent)).unwrap_or_default();
    let protocols = fields.read("protocols", |c, node| protocols::read(c, node, &network, &flows));
    let protocols = protocols.unwrap_or_default();
    fields.finish();
    let duration = duration?;
    let Network { nodes, links, .. } = network;
    Some(Scenario {
        title,
        duration,
        seed,
        measure,
        fluid,
        nodes,
        links,
        flows,
        protocols,
        ..Scenario::default()
    })
}

fn duration(complaints: &Complaints, node: &Node) -> Option<Span> {
    fields::within(complaints, node, Span::from_picos(1), LONGEST_RUN)
}

fn default_measure(duration: Span) -> Measure {
    let fewest = Span::from_picos(duration.picos() / MOST_SAMPLES + 1);
    Measure {
        from: Time::ZERO,
        every: Span::from_millis(100).max(fewest),
        jain_window: Span::from_secs(1.0),
        converged_within: 0.1,
    }
}

/// Bounds depend on the duration, if that is right itself.
fn measure(complaints: &Complaints, node: &Node, duration: Option<Span>) -> Option<Measure> {
    let mut fields = Fields::new(complaints, node, "measure table")?;
    let default = default_measure(duration.unwrap_or_default());
    let least = Span::from_picos(1);
    let finest = Span::from_picos(duration.unwrap_or(least).picos().div_ceil(MOST_SAMPLES));
    let from = fields.read("from", |c, node| measure_from(c, node, duration.unwrap_or(LONGEST_RUN)));
    let every = fields.read("every", |c, node| fields::within(c, node, finest, LONGEST_RUN));
    let window = fields.read("jain_window", |c, node| fields::within(c, node, least, LONGEST_RUN));
    let within = fields.read("converged_within", |c, node| fields::number(c, node, 1e-6, 1.0));
    fields.finish();
    Some(Measure {
        from: from.unwrap_or(default.from),
        every: every.unwrap_or(default.every),
        jain_window: window.unwrap_or(default.jain_window),
        converged_within: within.unwrap_or(default.converged_within),
    })
}

fn measure_from(complaints: &Complaints, node: &Node, duration: Span) -> Option<Time> {
    let from = fields::quantity::<Time>(complaints, node)?;
    if from < Time::ZERO + duration {
        return Some(from);
    }
    complaints.wrong(
        node.place,
        format!("measuring would begin at {from}, but the run ends at {duration}"),
        "not before the end of the run",
        "measure from an earlier time, such as \"0s\", or run for longer",
    )
}

/// The tables of a list of tables.
fn tables<'a>(complaints: &Complaints, node: &'a Node, header: &str) -> &'a [Node] {
    match &node.value {
        Raw::List(items) => items,
        _ => {
            let _: Option<()> = complaints.expected(node, &format!("[[{header}]] tables"));
            &[]
        }
    }
}

/// Complains if the name is taken already.
fn unique(complaints: &Complaints, name: &At<String>, what: &str, is_taken: bool) {
    if is_taken {
        let message = format!("a second {what} called \"{}\"", name.value);
        let _: Option<()> = complaints.wrong(name.place, message, "taken", "give each its own name");
    }
}
