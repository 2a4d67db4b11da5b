//! What waits at a link: its buffer and its queue law. Settings of laws stay as written.

use crate::model::{Buffer, QueueSpec, SettingValue, WrittenSetting};
use crate::place::At;
use crate::table::{Field, Form, Written, inline_table, number, respelt, text};
use crate::tree::{Raw, TomlNode};
use millpond_units::{Bytes, Span, nearest};

const BUFFERS: &str = "\"1bdp\", \"500packets\", \"75KB\", \"20ms\" or \"unlimited\"";

/// The forms of a buffer.
pub(crate) const BUFFER: Form = Form::AnyOf(&[
    Form::Count { unit: "bdp", whole: false },
    Form::Count { unit: "packets", whole: true },
    Form::SOME_BYTES,
    Form::POSITIVE_SPAN,
    Form::Word("unlimited"),
]);

/// The value of a parameter.
const SETTING: Form = Form::AnyOf(&[Form::Finite, Form::Text, Form::Flag, Form::SingleKey(&Form::Finite)]);

/// Parameters by name.
pub(crate) const SETTINGS: Form = Form::Map(&SETTING);

/// The forms of a queue law.
pub(crate) const QUEUE: Form = Form::AnyOf(&[Form::Word("default"), Form::Name, Form::SingleKey(&SETTINGS)]);

impl Field for Buffer {
    fn read(written: &Written<'_>) -> Option<Self> {
        let number = match &written.node.value {
            Raw::Whole(number) => number.to_string(),
            Raw::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let text = match &written.node.value {
            Raw::Text(text) => text,
            _ if !number.is_empty() => &number,
            _ => return written.expected(&format!("a buffer: {BUFFERS}")),
        };
        let buffer = parsed(text);
        let expected = format!("a buffer above zero: {BUFFERS}");
        if counted_without_unit(text) {
            return written.report(
                format!("no unit: {}", written.node.value.kind()),
                "no unit",
                format!("write \"{text}packets\", \"{text}KB\", \"{text}ms\" or \"{text}bdp\""),
            );
        }
        if let Some(fault) = too_large(text) {
            let message = format!("{fault}: {}", written.node.value.kind());
            return written.report(message, &fault, "write a smaller buffer, or \"unlimited\"".to_owned());
        }
        buffer.or_else(|| match nearest_buffer(text) {
            Some(near) => written.report(
                format!("expected {expected}"),
                format!("this is {}", written.node.value.kind()),
                format!("did you mean \"{near}\"?"),
            ),
            None => written.expected(&expected),
        })
    }
    fn to_toml(&self) -> String {
        match self {
            Self::Unlimited => text("unlimited"),
            Self::Bytes(bytes) => text(bytes),
            Self::Packets(packets) => text(format!("{packets}packets")),
            Self::Time(time) => text(time),
            Self::Bdp(factor) => text(format!("{factor}bdp")),
        }
    }
}

/// The buffer of this text.
fn parsed(text: &str) -> Option<Buffer> {
    match text.trim() {
        "unlimited" => Some(Buffer::Unlimited),
        text => counted(text).or_else(|| measured(text)),
    }
}

fn counted_without_unit(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|number| number > 0.0)
}

/// The buffer that a misspelt one is nearest to.
fn nearest_buffer(text: &str) -> Option<String> {
    let [bytes, time] = [text.parse::<Bytes>().err(), text.parse::<Span>().err()];
    let units = [bytes, time].into_iter().flatten().flat_map(|error| error.units().collect::<Vec<_>>());
    let amount = respelt(text, ["bdp", "packets"].into_iter().chain(units));
    amount.filter(|near| parsed(near).is_some()).or_else(|| nearest(text, ["unlimited"]).map(str::to_owned))
}

/// The greatest multiple of the bandwidth-delay product, and the greatest number of packets.
const MOST_BDP: f64 = 1e6;
const MOST_PACKETS: u64 = 1_000_000_000;

/// A multiple of the bandwidth-delay product, or a number of packets.
fn counted(text: &str) -> Option<Buffer> {
    if let Some(number) = text.strip_suffix("bdp") {
        let factor: f64 = number.trim().parse().ok()?;
        return (factor > 0.0 && factor <= MOST_BDP).then_some(Buffer::Bdp(factor));
    }
    let packets: u64 = in_packets(text)?.parse().ok()?;
    (1..=MOST_PACKETS).contains(&packets).then_some(Buffer::Packets(packets))
}

/// The number of a text such as `500packets`.
fn in_packets(text: &str) -> Option<&str> {
    text.strip_suffix("packets").or_else(|| text.strip_suffix("packet")).map(str::trim)
}

/// Which limit a buffer exceeds.
fn too_large(text: &str) -> Option<String> {
    let exceeds = |number: Option<&str>, most: f64| {
        number.and_then(|number| number.trim().parse::<f64>().ok()).is_some_and(|number| number > most)
    };
    if exceeds(text.trim().strip_suffix("bdp"), MOST_BDP) {
        return Some(format!("too large a number, at most {MOST_BDP}bdp"));
    }
    if exceeds(in_packets(text.trim()), MOST_PACKETS as f64) {
        return Some(format!("too large a number, at most {MOST_PACKETS}packets"));
    }
    let errors = [text.parse::<Bytes>().err(), text.parse::<Span>().err()].into_iter().flatten();
    let mut faults = errors.map(|error| error.fault);
    faults.find(|fault| fault.starts_with("too large"))
}

/// An amount of data or a time.
fn measured(text: &str) -> Option<Buffer> {
    if let Ok(bytes) = text.parse::<Bytes>() {
        return (bytes > Bytes::ZERO).then_some(Buffer::Bytes(bytes));
    }
    let time: Span = text.parse().ok()?;
    (!time.is_zero()).then_some(Buffer::Time(time))
}

/// `"default"`, the protocol's choice, is `None`.
impl Field for Option<QueueSpec> {
    fn read(written: &Written<'_>) -> Option<Self> {
        match &written.node.value {
            Raw::Text(text) if text == "default" => Some(None),
            Raw::Text(text) => {
                Some(Some(QueueSpec { name: At::new(text.clone(), written.place()), settings: Vec::new() }))
            }
            Raw::Table(table) => match table.entries.as_slice() {
                [(name, value)] => {
                    let settings = settings(&written.part(value, written.form), "queue's settings")?;
                    Some(Some(QueueSpec { name: name.clone(), settings }))
                }
                _ => written.expected("one queue with its settings, such as { red = { max_th = \"75KB\" } }"),
            },
            _ => written.expected("a queue such as \"droptail\" or { red = { max_th = \"75KB\" } }"),
        }
    }
    fn to_toml(&self) -> String {
        match self {
            None => text("default"),
            Some(queue) => inline_table([(queue.name.as_str(), queue.settings.to_toml())]),
        }
    }
}

/// The parameters of a protocol, as written.
impl Field for Vec<WrittenSetting> {
    fn read(written: &Written<'_>) -> Option<Self> {
        settings(written, "protocol's parameters")
    }
    fn to_toml(&self) -> String {
        inline_table(self.iter().map(|setting| (setting.name.as_str(), setting.value.value.to_toml())))
    }
}

/// Parameters as written; the plan checks them against the law. `what` names them in messages.
fn settings(written: &Written<'_>, what: &str) -> Option<Vec<WrittenSetting>> {
    let Raw::Table(table) = &written.node.value else {
        return written.expected(&format!("a table: the {what}"));
    };
    let setting = |(name, node): &(At<String>, TomlNode)| {
        let value = At::new(SettingValue::read(&written.part(node, &SETTING))?, node.place);
        Some(WrittenSetting { name: name.clone(), value })
    };
    table.entries.iter().map(setting).collect()
}

impl Field for SettingValue {
    fn read(written: &Written<'_>) -> Option<Self> {
        match &written.node.value {
            Raw::Text(text) => Some(Self::Text(text.clone())),
            Raw::Flag(flag) => Some(Self::Flag(*flag)),
            Raw::Whole(_) | Raw::Number(_) => written.finite().map(Self::Number),
            Raw::Table(table) => match table.entries.as_slice() {
                [(word, number)] => {
                    let number = written.part(number, &Form::Finite).finite()?;
                    Some(Self::Count(word.value.clone(), number))
                }
                _ => written.expected("one word with a number, such as { acks = 4 }"),
            },
            _ => written.expected("a number, a text, true, false or a word with a number"),
        }
    }
    fn to_toml(&self) -> String {
        match self {
            Self::Number(x) => number(*x),
            Self::Text(written) => text(written),
            Self::Flag(flag) => flag.to_string(),
            Self::Count(word, n) => inline_table([(word.as_str(), number(*n))]),
        }
    }
}
