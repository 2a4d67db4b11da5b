//! Flow groups as TOML.

use super::{header, list, number, put, text};
use crate::model::{Activity, FlowGroup, Gap, Hop, Lasting, Rtt, Scenario, Size, Start, Stop, Workload};
use std::fmt::Display;

pub(super) fn write(out: &mut String, scenario: &Scenario, flow: &FlowGroup) {
    header(out, "[[flows]]");
    put(out, "name", text(&flow.name.value));
    put(out, "count", flow.count);
    put(out, "protocol", text(&flow.protocol.value));
    put(out, "pinned", flow.pinned);
    match flow.paths.as_slice() {
        [path] => put(out, "path", nodes(scenario, path)),
        paths => put(out, "paths", list(paths.iter().map(|path| nodes(scenario, path)))),
    }
    match &flow.rtt {
        None => {}
        Some(Rtt::Constant(rtt)) => put(out, "rtt", text(rtt)),
        Some(Rtt::Uniform(low, high)) => put(out, "rtt", uniform(low, high)),
    }
    put(out, "start", start(&flow.start));
    match &flow.stop {
        None => {}
        Some(Stop::At(moment)) => put(out, "stop", start(moment)),
        Some(Stop::After(time)) => put(out, "lasts", lasting(time)),
    }
    put(out, "packet", text(flow.packet));
    put(out, "overhead", text(flow.overhead));
    put(out, "ack", text(flow.ack));
    match flow.delayed_acks {
        None => put(out, "delayed_acks", false),
        Some(acks) => {
            let acks = format!("{{ packets = {}, after = {} }}", acks.packets, text(acks.after));
            put(out, "delayed_acks", acks);
        }
    }
    put(out, "workload", workload(&flow.workload));
    put(out, "weight", number(flow.weight));
}

/// The nodes along a path.
fn nodes(scenario: &Scenario, path: &[Hop]) -> String {
    let first = path.first().map(|&hop| scenario.tail(hop));
    let rest = path.iter().map(|&hop| scenario.head(hop));
    list(first.into_iter().chain(rest).map(|node| text(scenario.node_name(node))))
}

fn start(start: &Start) -> String {
    match start {
        Start::At(time) => text(time),
        Start::Uniform(low, high) => uniform(low, high),
        Start::Every { first, interval } => {
            format!("{{ first = {}, every = {} }}", text(first), text(interval))
        }
        Start::Poisson { first, mean } => format!("{{ first = {}, poisson = {} }}", text(first), text(mean)),
    }
}

fn lasting(lasting: &Lasting) -> String {
    match lasting {
        Lasting::Constant(span) => text(span),
        Lasting::Uniform(low, high) => uniform(low, high),
        Lasting::Exponential(mean) => format!("{{ exponential = {} }}", text(mean)),
        Lasting::Pareto { mean, shape } => pareto("pareto", mean, *shape),
    }
}

fn workload(workload: &Workload) -> String {
    match workload {
        Workload::Bulk => text("bulk"),
        Workload::Sized(bytes) => format!("{{ size = {} }}", size(bytes)),
        Workload::Produced(rate, activity) => {
            format!("{{ rate = {}{} }}", text(rate), self::activity(activity))
        }
        Workload::Transfers { size: bytes, gap } => {
            format!("{{ transfers = {}, {} }}", size(bytes), self::gap(gap))
        }
    }
}

fn activity(activity: &Activity) -> String {
    match activity {
        Activity::Always => String::new(),
        Activity::Turns { on, off } => format!(", on = {}, off = {}", lasting(on), lasting(off)),
        Activity::Bursts(bursts) => {
            let burst = |(from, until): &(_, _)| list([text(from), text(until)]);
            format!(", bursts = {}", list(bursts.iter().map(burst)))
        }
    }
}

fn gap(gap: &Gap) -> String {
    match gap {
        Gap::Every(span) => format!("every = {}", text(span)),
        Gap::Poisson(mean) => format!("poisson = {}", text(mean)),
    }
}

fn size(size: &Size) -> String {
    match size {
        Size::Constant(bytes) => text(bytes),
        Size::Uniform(low, high) => uniform(low, high),
        Size::Exponential(mean) => format!("{{ exponential = {} }}", text(mean)),
        Size::Pareto { mean, shape } => pareto("pareto", mean, *shape),
        Size::ParetoFrom { least, shape } => pareto("pareto_from", least, *shape),
    }
}

fn pareto(key: &str, scale: &impl Display, shape: f64) -> String {
    format!("{{ {key} = {}, shape = {} }}", text(scale), number(shape))
}

fn uniform<T: Display>(low: &T, high: &T) -> String {
    format!("{{ uniform = {} }}", list([text(low), text(high)]))
}
