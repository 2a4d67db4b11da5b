//! Links as TOML.

use super::{header, list, number, put, queue, text};
use crate::model::{Buffer, Capacity, Delay, Direction, Link, Loss, Scenario};
use crate::read::links::SCHEDULERS;
use crate::read::{ENDS, FORMATS};
use crate::trace::TraceSource;
use std::fmt::Display;

pub(super) fn write(out: &mut String, scenario: &Scenario, link: &Link) {
    header(out, "[[links]]");
    put(out, "name", text(&link.name.value));
    put(out, "between", list([link.from, link.to].map(|node| text(scenario.node_name(node)))));
    put(out, "simplex", link.backward.is_none());
    direction(out, &link.forward);
    if let Some(backward) = link.backward.as_ref().filter(|&backward| *backward != link.forward) {
        header(out, "[links.back]");
        direction(out, backward);
    }
}

fn direction(out: &mut String, direction: &Direction) {
    put(out, "rate", capacity(&direction.rate));
    put(out, "told", direction.told.as_ref().map_or_else(|| text("truth"), capacity));
    put(out, "delay", delay(&direction.delay));
    put(out, "reorder", direction.reorder);
    put(out, "jitter", text(direction.jitter));
    put(out, "loss", loss(&direction.loss));
    put(out, "buffer", buffer(&direction.buffer));
    put(out, "queue", queue(direction.queue.as_ref()));
    put(out, "scheduler", word(SCHEDULERS, &direction.scheduler));
}

fn capacity(capacity: &Capacity) -> String {
    match capacity {
        Capacity::Constant(rate) => text(rate),
        Capacity::Steps(steps) => format!("{{ steps = {} }}", pairs(steps)),
        Capacity::Trace(source) => format!("{{ trace = {} }}", trace(source)),
    }
}

fn trace(source: &TraceSource) -> String {
    let length = source.length.map(|length| format!(", length = {}", text(length))).unwrap_or_default();
    format!(
        "{{ file = {}, format = {}, end = {}, skip = {}{length}, scale = {}, window = {} }}",
        text(source.file.display()),
        word(FORMATS, &source.format),
        word(ENDS, &source.end),
        text(source.skip),
        number(source.scale),
        text(source.window)
    )
}

fn delay(delay: &Delay) -> String {
    match delay {
        Delay::Constant(delay) => text(delay),
        Delay::Steps(steps) => format!("{{ steps = {} }}", pairs(steps)),
    }
}

fn loss(loss: &Loss) -> String {
    match loss {
        Loss::None => text("none"),
        Loss::Bernoulli(probability) => format!("{{ bernoulli = {} }}", number(*probability)),
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => format!(
            "{{ gilbert-elliott = {{ good_to_bad = {}, bad_to_good = {}, loss_good = {}, loss_bad = {} }} }}",
            number(*good_to_bad),
            number(*bad_to_good),
            number(*loss_good),
            number(*loss_bad)
        ),
    }
}

pub(super) fn buffer(buffer: &Buffer) -> String {
    match buffer {
        Buffer::Unlimited => text("unlimited"),
        Buffer::Bytes(bytes) => text(bytes),
        Buffer::Packets(packets) => text(format!("{packets}packets")),
        Buffer::Time(time) => text(time),
        Buffer::Bdp(times) => text(format!("{times}bdp")),
    }
}

fn pairs<T: Display, U: Display>(steps: &[(T, U)]) -> String {
    list(steps.iter().map(|(time, value)| list([text(time), text(value)])))
}

/// The spelling of a value that is one of a few words.
fn word<T: PartialEq>(words: &[(&str, T)], value: &T) -> String {
    text(words.iter().find(|(_, meaning)| meaning == value).map_or("", |(word, _)| word))
}
