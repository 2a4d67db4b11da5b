//! What applications ask of their flows.

use super::times::lasting;
use super::{LONGEST_RUN, MOST_SAMPLES};
use crate::fields::{self, Complaints, Fields, alternative, quantity, within};
use crate::model::{Activity, Gap, Size, Workload};
use crate::tree::{Node, Raw};
use millpond_units::{Bytes, Rate, Span, Time};

/// An application is turned on and off at most so often on the average.
const MOST_TURNS: u64 = 1_000_000;

/// `"bulk"`, `{ size = "1MB" }`, `{ rate = "5Mbps" }`, `{ transfers = "1MB", poisson = "2s" }`.
pub(super) fn workload(complaints: &Complaints, node: &Node, duration: Span) -> Option<Workload> {
    let forms =
        "\"bulk\", { size = \"1MB\" }, { rate = \"5Mbps\" } or { transfers = \"1MB\", poisson = \"2s\" }";
    match &node.value {
        Raw::Text(text) if text == "bulk" => return Some(Workload::Bulk),
        Raw::Table(_) => {}
        _ => return complaints.expected(node, forms),
    }
    let mut fields = Fields::new(complaints, node, "workload")?;
    let chosen = alternative(&mut fields, &["size", "rate", "transfers"], forms);
    let workload = chosen.and_then(|(key, value)| match key {
        "size" => size(complaints, value).map(Workload::Sized),
        "rate" => produced(&mut fields, value, duration),
        _ => transfers(&mut fields, value, duration),
    });
    fields.finish();
    workload
}

fn produced(fields: &mut Fields<'_>, rate: &Node, duration: Span) -> Option<Workload> {
    let activity = activity(fields, duration);
    let rate = within(fields.complaints, rate, Rate::from_bps(1), Rate::from_mbps(1e8));
    Some(Workload::Produced(rate?, activity?))
}

/// `on` and `off`, or `bursts`, or none of them.
fn activity(fields: &mut Fields<'_>, duration: Span) -> Option<Activity> {
    let complaints = fields.complaints;
    match (fields.get("on"), fields.get("off"), fields.get("bursts")) {
        (None, None, None) => Some(Activity::Always),
        (Some(on), Some(off), None) => turns(complaints, on, off, duration),
        (None, None, Some(node)) => bursts(complaints, node),
        _ => complaints.wrong(
            fields.place,
            "an unclear pause",
            "in here",
            "write on = \"1s\" and off = \"2s\", or bursts = [[\"5s\", \"6s\"]] alone",
        ),
    }
}

fn turns(complaints: &Complaints, on: &Node, off: &Node, duration: Span) -> Option<Activity> {
    let times = (lasting(complaints, on), lasting(complaints, off));
    let (place, on, off) = (on.place, times.0?, times.1?);
    let least = Span::from_picos(duration.picos().div_ceil(MOST_TURNS));
    if on.typical() + off.typical() >= least {
        return Some(Activity::Turns { on, off });
    }
    complaints.wrong(
        place,
        "on and off far too often",
        "too short, together with off",
        format!("let on and off together typically last {least} in a run of {duration}"),
    )
}

/// `[["5s", "6s"], ["8s", "12s"]]`: from when until when, ascending and apart.
fn bursts(complaints: &Complaints, node: &Node) -> Option<Activity> {
    let example = "[[\"5s\", \"6s\"], [\"8s\", \"12s\"]]";
    let mut bursts: Vec<(Time, Time)> = Vec::new();
    for item in fields::list(complaints, node, example)? {
        let (from, until) = fields::range::<Time>(complaints, item, "[\"5s\", \"6s\"]")?;
        if from == until || bursts.last().is_some_and(|(_, end)| *end >= from) {
            return complaints.expected(item, "a burst that lasts, after the end of the one before");
        }
        bursts.push((from, until));
    }
    if bursts.is_empty() {
        complaints.expected(node, "at least one burst")
    } else {
        Some(Activity::Bursts(bursts))
    }
}

/// A size, and `every` or `poisson`: the time from one to the next.
fn transfers(fields: &mut Fields<'_>, node: &Node, duration: Span) -> Option<Workload> {
    let complaints = fields.complaints;
    let forms = "every = \"2s\" or poisson = \"2s\"";
    let chosen = alternative(fields, &["every", "poisson"], forms);
    let size = size(complaints, node);
    let (key, value) = chosen?;
    let least = Span::from_picos(duration.picos().div_ceil(MOST_SAMPLES));
    let gap = within(complaints, value, least, LONGEST_RUN)?;
    Some(Workload::Transfers {
        size: size?,
        gap: if key == "every" { Gap::Every(gap) } else { Gap::Poisson(gap) },
    })
}

/// `"1MB"`, `{ uniform = ["1KB", "1MB"] }`, `{ exponential = "1MB" }`, `{ pareto = "1MB", shape = 1.2 }` by its mean or
/// `{ pareto_from = "1KB", shape = 1.2 }` by its least.
fn size(complaints: &Complaints, node: &Node) -> Option<Size> {
    if !matches!(node.value, Raw::Table(_)) {
        return some_bytes(complaints, node).map(Size::Constant);
    }
    let mut fields = Fields::new(complaints, node, "size")?;
    let forms = "\"1MB\", { uniform = [\"1KB\", \"1MB\"] }, { exponential = \"1MB\" }, { pareto = \"1MB\", shape = 1.2 } \
                 or { pareto_from = \"1KB\", shape = 1.2 }";
    let chosen = alternative(&mut fields, &["uniform", "exponential", "pareto", "pareto_from"], forms);
    let shape = fields::shape(&mut fields, chosen);
    fields.finish();
    match chosen? {
        ("uniform", value) => {
            fields::range(complaints, value, "[\"1KB\", \"1MB\"]").map(|(low, high)| Size::Uniform(low, high))
        }
        ("exponential", value) => some_bytes(complaints, value).map(Size::Exponential),
        ("pareto", value) => Some(Size::Pareto { mean: some_bytes(complaints, value)?, shape: shape? }),
        (_, value) => Some(Size::ParetoFrom { least: some_bytes(complaints, value)?, shape: shape? }),
    }
}

fn some_bytes(complaints: &Complaints, node: &Node) -> Option<Bytes> {
    let bytes: Bytes = quantity(complaints, node)?;
    if bytes > Bytes::ZERO { Some(bytes) } else { complaints.expected(node, "a size above zero") }
}
