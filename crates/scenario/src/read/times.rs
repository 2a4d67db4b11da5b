//! Moments and lengths of time that may be drawn at random.

use crate::fields::{self, Complaints, Fields, alternative, quantity, range};
use crate::model::{DelayedAcks, Lasting, Start, Stop};
use crate::tree::{Node, Raw};
use millpond_units::{Span, Time};

/// `"5s"`, `{ uniform = ["0s", "10s"] }`, `{ first = "0s", every = "2s" }`, `{ first = "0s", poisson = "2s" }`.
pub(crate) fn start(complaints: &Complaints, node: &Node) -> Option<Start> {
    if !matches!(node.value, Raw::Table(_)) {
        return quantity(complaints, node).map(Start::At);
    }
    let mut fields = Fields::new(complaints, node, "start")?;
    let forms =
        "\"5s\", { uniform = [\"0s\", \"10s\"] }, { first = \"0s\", every = \"2s\" } or { poisson = \"2s\" }";
    let chosen = alternative(&mut fields, &["uniform", "every", "poisson"], forms);
    let first = match chosen {
        Some(("every" | "poisson", _)) => fields.read_or("first", Time::ZERO, quantity),
        _ => Time::ZERO,
    };
    fields.finish();
    match chosen? {
        ("uniform", value) => {
            range(complaints, value, "[\"0s\", \"10s\"]").map(|(low, high)| Start::Uniform(low, high))
        }
        ("every", value) => positive(complaints, value).map(|interval| Start::Every { first, interval }),
        (_, value) => positive(complaints, value).map(|mean| Start::Poisson { first, mean }),
    }
}

/// `stop = ` as for a start, or `lasts = "12s"`, `{ uniform = ["1s", "5s"] }`, `{ exponential = "10s" }`.
pub(crate) fn stop(fields: &mut Fields<'_>) -> Option<Stop> {
    let (stop, lasts) = (fields.get("stop"), fields.get("lasts"));
    match (stop, lasts) {
        (None, None) => None,
        (Some(node), None) => start(fields.complaints, node).map(Stop::At),
        (None, Some(node)) => lasting(fields.complaints, node).map(Stop::After),
        (Some(_), Some(node)) => fields.complaints.wrong(
            node.place,
            "both \"stop\" and \"lasts\"",
            "a second end for the same flows",
            "keep one: stop is a moment of the run, lasts counts from each flow's start",
        ),
    }
}

/// `"12s"`, `{ uniform = ["1s", "5s"] }`, `{ exponential = "10s" }` or `{ pareto = "10s", shape = 1.5 }`.
pub(crate) fn lasting(complaints: &Complaints, node: &Node) -> Option<Lasting> {
    if !matches!(node.value, Raw::Table(_)) {
        return positive(complaints, node).map(Lasting::Constant);
    }
    let mut fields = Fields::new(complaints, node, "lasting time")?;
    let forms = "\"12s\", { uniform = [\"1s\", \"5s\"] }, { exponential = \"10s\" } or { pareto = \"10s\", shape = 1.5 }";
    let chosen = alternative(&mut fields, &["uniform", "exponential", "pareto"], forms);
    let shape = fields::shape(&mut fields, chosen);
    fields.finish();
    let (key, value) = chosen?;
    match key {
        "uniform" => {
            range(complaints, value, "[\"1s\", \"5s\"]").map(|(low, high)| Lasting::Uniform(low, high))
        }
        "pareto" => Some(Lasting::Pareto { mean: positive(complaints, value)?, shape: shape? }),
        _ => positive(complaints, value).map(Lasting::Exponential),
    }
}

/// `true` for every second packet within 25 ms (RFC 9000 section 13.2), or `{ packets = 2, after = "25ms" }`.
pub(crate) fn delayed_acks(complaints: &Complaints, node: &Node) -> Option<Option<DelayedAcks>> {
    let usual = DelayedAcks { packets: 2, after: Span::from_millis(25) };
    if let Raw::Flag(wanted) = node.value {
        return Some(wanted.then_some(usual));
    }
    let mut fields = Fields::new(complaints, node, "delayed_acks table")?;
    let packets = fields.read_or("packets", 2, |c, node| fields::whole(c, node, 1, 1000));
    let after = fields.read_or("after", usual.after, positive);
    fields.finish();
    Some(Some(DelayedAcks { packets: u32::try_from(packets).ok()?, after }))
}

/// A time above zero and below the longest run.
pub(crate) fn positive(complaints: &Complaints, node: &Node) -> Option<Span> {
    fields::within(complaints, node, Span::from_picos(1), super::LONGEST_RUN)
}
