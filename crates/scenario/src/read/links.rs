//! `[[links]]`: names, ends, and the two directions.

use super::capacity::{capacity, delay, word};
use super::{Reader, tables, unique};
use crate::fields::{self, Complaints, Fields, probability};
use crate::model::{Buffer, Capacity, Delay, Direction, Link, Loss, QueueSpec, Scheduler, Setting, Value};
use crate::network::Network;
use crate::place::At;
use crate::tree::{Node, Raw};
use millpond_units::{Bytes, Rate, Span};

/// Adds every `[[links]]` table to the network.
pub(crate) fn read(reader: &Reader<'_>, node: &Node, network: &mut Network) {
    for table in tables(reader.complaints, node, "links") {
        let _ = link(reader, table, network);
    }
}

fn link(reader: &Reader<'_>, node: &Node, network: &mut Network) -> Option<()> {
    let complaints = reader.complaints;
    let mut fields = Fields::new(complaints, node, "link")?;
    let name = fields.required("name", "\"L1\"").and_then(|node| fields::name(complaints, node));
    let between = fields.required("between", "[\"R1\", \"R2\"]").and_then(|node| ends(complaints, node));
    let simplex = fields.read_or("simplex", false, fields::flag);
    let directions = both_ways(reader, &mut fields, simplex, None);
    fields.finish();
    let (name, (from, to), (forward, backward)) = (name?, between?, directions?);
    unique(complaints, &name, "link", network.has_link(&name));
    let (from, to) = (network.node(&from), network.node(&to));
    let link = Link { name, from, to, forward, backward };
    if let Some(other) = network.parallel(&link) {
        let message =
            format!("\"{}\" and \"{}\" lead from the same node to the same node", *other.name, *link.name);
        let help = "a path between them would be ambiguous: put a node into one of them";
        let _: Option<()> = complaints.wrong(link.name.place, message, "parallel link", help);
    }
    network.add(link);
    Some(())
}

fn ends(complaints: &Complaints, node: &Node) -> Option<(At<String>, At<String>)> {
    let (from, to) = fields::pair(complaints, node, "[\"R1\", \"R2\"]")?;
    let (from, to) = (fields::name(complaints, from)?, fields::name(complaints, to)?);
    if from.value == to.value {
        return complaints.wrong(
            to.place,
            "a link from a node to itself",
            "the same node",
            "name another node",
        );
    }
    Some((from, to))
}

/// Both directions of a link; the way back differs in what the sub-table `back` says. What is not written is as in
/// `like`, or has its default.
pub(crate) fn both_ways(
    reader: &Reader<'_>,
    fields: &mut Fields<'_>,
    simplex: bool,
    like: Option<&Direction>,
) -> Option<(Direction, Option<Direction>)> {
    let forward = direction(reader, fields, like);
    let backward = match fields.get("back") {
        Some(node) if simplex => {
            let help = "remove simplex = true or the back table";
            return reader.complaints.wrong(node.place, "a simplex link has no way back", "not here", help);
        }
        Some(node) => {
            let mut fields = Fields::new(reader.complaints, node, "back table")?;
            let backward = direction(reader, &mut fields, Some(&forward));
            fields.finish();
            backward
        }
        None => forward.clone(),
    };
    Some((forward, (!simplex).then_some(backward)))
}

/// One direction; what is not written is as in `like`, or has its default.
fn direction(reader: &Reader<'_>, fields: &mut Fields<'_>, like: Option<&Direction>) -> Direction {
    let rate = match like {
        Some(_) => fields.get("rate"),
        None => fields.required("rate", "\"155Mbps\""),
    };
    let rate = rate.and_then(|node| capacity(reader, node));
    let like = like.cloned().unwrap_or_default();
    Direction {
        told: fields.read_or("told", like.told, |_, node| told(reader, node)),
        delay: fields.read_or("delay", like.delay, delay),
        reorder: fields.read_or("reorder", like.reorder, fields::flag),
        jitter: fields.read_or("jitter", like.jitter, jitter),
        loss: fields.read_or("loss", like.loss, loss),
        buffer: fields.read_or("buffer", like.buffer, buffer),
        queue: fields.read_or("queue", like.queue, queue),
        scheduler: fields.read_or("scheduler", like.scheduler, |c, node| word(c, node, SCHEDULERS)),
        rate: rate.unwrap_or(like.rate),
    }
}

/// A capacity, or the word `truth`.
fn told(reader: &Reader<'_>, node: &Node) -> Option<Option<Capacity>> {
    match &node.value {
        Raw::Text(text) if text == "truth" => Some(None),
        _ => capacity(reader, node).map(Some),
    }
}

impl Default for Direction {
    fn default() -> Self {
        Self {
            rate: Capacity::Constant(Rate::ZERO),
            told: None,
            delay: Delay::Constant(Span::ZERO),
            reorder: false,
            jitter: Span::ZERO,
            loss: Loss::None,
            buffer: Buffer::Bdp(1.0),
            queue: None,
            scheduler: Scheduler::Fifo,
        }
    }
}

/// The spellings of [`Scheduler`].
pub(crate) const SCHEDULERS: &[(&str, Scheduler)] = &[("fifo", Scheduler::Fifo), ("fair", Scheduler::Fair)];

fn jitter(complaints: &Complaints, node: &Node) -> Option<Span> {
    fields::within(complaints, node, Span::ZERO, Span::from_secs(60.0))
}

/// `"none"`, `0.01`, `{ bernoulli = 0.01 }` or `{ gilbert-elliott = { good_to_bad = ..., bad_to_good = ... } }`.
fn loss(complaints: &Complaints, node: &Node) -> Option<Loss> {
    match &node.value {
        Raw::Text(text) if text == "none" => return Some(Loss::None),
        Raw::Text(_) => return complaints.expected(node, "\"none\", a probability such as 0.01 or a table"),
        Raw::Table(_) => {}
        _ => return probability(complaints, node).map(Loss::Bernoulli),
    }
    let mut fields = Fields::new(complaints, node, "loss")?;
    let forms = "{ bernoulli = 0.01 } or { gilbert-elliott = { good_to_bad = 0.001, bad_to_good = 0.1 } }";
    let chosen = fields::alternative(&mut fields, &["bernoulli", "gilbert-elliott"], forms);
    fields.finish();
    let (key, value) = chosen?;
    match key {
        "bernoulli" => probability(complaints, value).map(Loss::Bernoulli),
        _ => gilbert_elliott(complaints, value),
    }
}

fn gilbert_elliott(complaints: &Complaints, node: &Node) -> Option<Loss> {
    let mut fields = Fields::new(complaints, node, "gilbert-elliott table")?;
    let good_to_bad = fields.required("good_to_bad", "0.001").and_then(|node| probability(complaints, node));
    let bad_to_good = fields.required("bad_to_good", "0.1").and_then(|node| probability(complaints, node));
    let loss_good = fields.read_or("loss_good", 0.0, probability);
    let loss_bad = fields.read_or("loss_bad", 1.0, probability);
    fields.finish();
    Some(Loss::GilbertElliott { good_to_bad: good_to_bad?, bad_to_good: bad_to_good?, loss_good, loss_bad })
}

const BUFFERS: &str = "\"1bdp\", \"500packets\", \"75KB\", \"20ms\" or \"unlimited\"";

/// `"1bdp"`, `"500packets"`, `"75KB"`, `"20ms"` or `"unlimited"`.
pub(crate) fn buffer(complaints: &Complaints, node: &Node) -> Option<Buffer> {
    let Raw::Text(written) = &node.value else {
        return complaints.expected(node, &format!("a buffer: {BUFFERS}"));
    };
    let buffer = match written.trim() {
        "unlimited" => Some(Buffer::Unlimited),
        text => counted(text).or_else(|| measured(text)),
    };
    let expected = format!("a buffer above zero: {BUFFERS}");
    buffer.or_else(|| match nearest_buffer(written) {
        Some(near) => complaints.wrong(
            node.place,
            format!("expected {expected}"),
            format!("this is {}", node.value.kind()),
            format!("did you mean \"{near}\"?"),
        ),
        None => complaints.expected(node, &expected),
    })
}

/// The buffer that a misspelt one is nearest to.
fn nearest_buffer(text: &str) -> Option<String> {
    let [bytes, time] = [text.parse::<Bytes>().err(), text.parse::<Span>().err()];
    let units = [bytes, time].into_iter().flatten().flat_map(|error| error.units().collect::<Vec<_>>());
    let amount = fields::respelt(text, ["bdp", "packets"].into_iter().chain(units));
    amount.or_else(|| fields::nearest(text, ["unlimited"]).map(str::to_owned))
}

/// So many BDP or packets.
fn counted(text: &str) -> Option<Buffer> {
    if let Some(number) = text.strip_suffix("bdp") {
        let times: f64 = number.trim().parse().ok()?;
        return (times > 0.0 && times <= 1e6).then_some(Buffer::Bdp(times));
    }
    let number = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"))?;
    let packets: u64 = number.trim().parse().ok()?;
    (1..=1_000_000_000).contains(&packets).then_some(Buffer::Packets(packets))
}

/// So many bytes or so much time.
fn measured(text: &str) -> Option<Buffer> {
    if let Ok(bytes) = text.parse::<Bytes>() {
        return (bytes > Bytes::ZERO).then_some(Buffer::Bytes(bytes));
    }
    let time: Span = text.parse().ok()?;
    (!time.is_zero()).then_some(Buffer::Time(time))
}

/// `"droptail"` or `{ red = { max_th = "75KB" } }`; `"default"` is the protocol's own choice.
pub(crate) fn queue(complaints: &Complaints, node: &Node) -> Option<Option<QueueSpec>> {
    match &node.value {
        Raw::Text(text) if text == "default" => Some(None),
        Raw::Text(text) => {
            Some(Some(QueueSpec { name: At::new(text.clone(), node.place), settings: Vec::new() }))
        }
        Raw::Table(table) => match table.entries.as_slice() {
            [(name, value)] => {
                let settings = settings(complaints, value, "queue's settings")?;
                Some(Some(QueueSpec { name: name.clone(), settings }))
            }
            _ => complaints
                .expected(node, "one queue with its settings, such as { red = { max_th = \"75KB\" } }"),
        },
        _ => complaints.expected(node, "a queue such as \"droptail\" or { red = { max_th = \"75KB\" } }"),
    }
}

/// Parameters as written, for the lab to check.
pub(crate) fn settings(complaints: &Complaints, node: &Node, what: &str) -> Option<Vec<Setting>> {
    let Raw::Table(table) = &node.value else {
        return complaints.expected(node, &format!("a table: the {what}"));
    };
    let setting = |(name, node): &(At<String>, Node)| {
        let value = At::new(value(complaints, node)?, node.place);
        Some(Setting { name: name.clone(), value })
    };
    table.entries.iter().map(setting).collect()
}

fn value(complaints: &Complaints, node: &Node) -> Option<Value> {
    match &node.value {
        Raw::Text(text) => Some(Value::Text(text.clone())),
        Raw::Flag(flag) => Some(Value::Flag(*flag)),
        Raw::Whole(_) | Raw::Number(_) => fields::finite(complaints, node).map(Value::Number),
        Raw::Table(table) => match table.entries.as_slice() {
            [(word, number)] => {
                let number = fields::finite(complaints, number)?;
                Some(Value::Count(word.value.clone(), number))
            }
            _ => complaints.expected(node, "one word with a number, such as { acks = 4 }"),
        },
        _ => complaints.expected(node, "a number, a text, true, false or a word with a number"),
    }
}
