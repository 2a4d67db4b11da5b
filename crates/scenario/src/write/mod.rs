//! Writing a scenario as resolved: every key, every link and every path, so that reading it gives the same again.

mod flow;
mod link;

use crate::model::{Method, ProtocolEntry, QueueSpec, Relays, Scenario, Setting, Value};
use std::fmt::Write;

impl Scenario {
    /// The scenario as a TOML file that can be run again. Shorthands are written out, overrides applied, trace
    /// files named by their absolute paths.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        put(&mut out, "title", text(&self.title));
        put(&mut out, "duration", text(self.duration));
        put(&mut out, "seed", self.seed);
        let measure = &self.measure;
        out.push_str("\n[measure]\n");
        put(&mut out, "from", text(measure.from));
        put(&mut out, "every", text(measure.every));
        put(&mut out, "jain_window", text(measure.jain_window));
        put(&mut out, "converged_within", number(measure.converged_within));
        out.push_str("\n[fluid]\n");
        fluid(&mut out, &self.fluid);
        for link in &self.links {
            link::write(&mut out, self, link);
        }
        for flow in &self.flows {
            flow::write(&mut out, self, flow);
        }
        for (name, entry) in &self.protocols {
            protocol(&mut out, name, entry);
        }
        out
    }

    fn node_name(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", String::as_str)
    }
}

fn fluid(out: &mut String, method: &Method) {
    match method {
        Method::Adaptive => put(out, "method", text("adaptive")),
        Method::FixedStep(step) => {
            put(out, "method", text("fixed-step"));
            put(out, "step", text(**step));
        }
    }
}

fn protocol(out: &mut String, name: &str, entry: &ProtocolEntry) {
    header(out, &format!("[protocols.{}]", key(name)));
    put(out, "protocol", text(&entry.protocol.value));
    put(out, "relays", relays(&entry.relays));
    put(out, "relay_buffer", link::buffer(&entry.relay_buffer));
    put(out, "aggregate", relays(&entry.aggregate));
    put(out, "queue", queue(entry.queue.as_ref()));
    put(out, "params", settings(&entry.params));
}

fn relays(relays: &Relays) -> String {
    match relays {
        Relays::All => text("all"),
        Relays::Nodes(names) => list(names.iter().map(|name| text(&name.value))),
    }
}

/// A queue law with its settings, or the word for the protocol's own choice.
fn queue(queue: Option<&QueueSpec>) -> String {
    match queue {
        None => text("default"),
        Some(queue) => format!("{{ {} = {} }}", key(&queue.name), settings(&queue.settings)),
    }
}

fn settings(settings: &[Setting]) -> String {
    let setting = |setting: &Setting| {
        let value = match &setting.value.value {
            Value::Number(x) => number(*x),
            Value::Text(written) => text(written),
            Value::Flag(flag) => flag.to_string(),
            Value::Count(word, n) => format!("{{ {} = {} }}", key(word), number(*n)),
        };
        format!("{} = {value}", key(&setting.name))
    };
    let settings: Vec<_> = settings.iter().map(setting).collect();
    if settings.is_empty() { "{}".into() } else { format!("{{ {} }}", settings.join(", ")) }
}

fn header(out: &mut String, header: &str) {
    out.push('\n');
    out.push_str(header);
    out.push('\n');
}

/// One line: `name = value`.
fn put(out: &mut String, name: &str, value: impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{name} = {value}");
}

/// A quoted text.
fn text(value: impl std::fmt::Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// A number as a TOML float, which reads back as the same number.
fn number(x: f64) -> String {
    format!("{x:?}")
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// A key, quoted if it must be.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { name.to_owned() } else { text(name) }
}
