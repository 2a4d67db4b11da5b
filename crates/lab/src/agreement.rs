//! How far the worlds and theory agree about one scenario: at rest, as fluid, in packets.

use crate::analysis::{AtRest, LinkAtRest};
use crate::results::{Link, Run};

/// One scenario under one protocol.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// What is compared, line by line.
    pub lines: Vec<Line>,
    /// Why nothing is said of rest, if so.
    pub restless: Option<String>,
}

/// One quantity.
#[derive(Clone, Debug)]
pub struct Line {
    /// Whose, and which.
    pub what: String,
    /// At rest; none where rest has no such number.
    pub rest: Option<f64>,
    /// The fluid world's mean.
    pub fluid: f64,
    /// The packet world's mean.
    pub packets: f64,
    /// What it is counted in.
    pub unit: Unit,
}

/// How a line's numbers are to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// bit/s, as Mbit/s.
    Rate,
    /// A share of one.
    Share,
    /// As they are.
    Plain,
}

impl Line {
    /// By how much the fluid's number differs, as a share of the packets'.
    #[must_use]
    pub fn difference(&self) -> f64 {
        (self.fluid - self.packets) / self.packets
    }
}

/// Lays a run in packets, the same as fluid, and the point of rest side by side. Only links that are busy count.
#[must_use]
pub fn agreement(packets: &Run, fluid: &Run, rest: Result<AtRest, String>) -> Agreement {
    let (rest, restless) = match rest {
        Ok(rest) => (rest, None),
        Err(why) => (AtRest::default(), Some(why)),
    };
    let mut lines = groups(packets, fluid, &rest);
    let pairs = packets.summary.links.iter().zip(&fluid.summary.links).enumerate();
    let is_busy = |link: &Link| link.utilization > 0.5;
    for (index, (p, f)) in pairs.filter(|(_, (p, f))| is_busy(p) || is_busy(f)) {
        lines.extend(link(p, f, rest.links.get(index).copied().flatten()));
    }
    Agreement { lines, restless }
}

fn groups(packets: &Run, fluid: &Run, rest: &AtRest) -> Vec<Line> {
    let mut lines = Vec::new();
    for (p, f) in packets.summary.groups.iter().zip(&fluid.summary.groups) {
        let line = |what: &str, rest, fluid, packets, unit| {
            let what = format!("{}: {what}", p.name);
            Line { what, rest, fluid, packets, unit }
        };
        let goodput = rest.groups.iter().find(|group| group.name == p.name).map(|group| group.goodput_bps);
        lines.push(line("goodput Mbps", goodput, f.goodput_bps.mean, p.goodput_bps.mean, Unit::Rate));
        lines.push(line("queueing ms", None, f.queueing_ms.mean, p.queueing_ms.mean, Unit::Plain));
        lines.push(line("Jain", None, f.jain, p.jain, Unit::Plain));
    }
    lines
}

fn link(p: &Link, f: &Link, rest: Option<LinkAtRest>) -> Vec<Line> {
    let line = |what: &str, rest, fluid, packets, unit| {
        let what = format!("{} {}: {what}", p.name, p.direction);
        Line { what, rest, fluid, packets, unit }
    };
    let rested = |of: fn(&LinkAtRest) -> f64| rest.as_ref().map(of);
    let marked = |link: &Link| link.marks as f64 / link.arrivals.max(1) as f64;
    let mut lines = vec![
        line("used", rested(|link| link.utilization), f.utilization, p.utilization, Unit::Share),
        line(
            "queue packets",
            rested(|link| link.queue_packets),
            f.queue_packets.mean,
            p.queue_packets.mean,
            Unit::Plain,
        ),
        line("longest queue", None, f.queue_packets.max, p.queue_packets.max, Unit::Plain),
    ];
    if p.marks > 0 || f.marks > 0 {
        lines.push(line("marked", rested(|link| link.marked), marked(f), marked(p), Unit::Share));
    }
    lines
}
