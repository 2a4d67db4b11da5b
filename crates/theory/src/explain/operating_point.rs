//! The operating point: where the model rests, and where the series are in the mean.

use super::Subject;
use super::model::first_loops;
use super::series::Sampled;
use millpond_fluid::Entity;
use millpond_results::{Kind, quantity};

/// One quantity of the operating point.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// In plain words.
    pub name: String,
    /// `Mbps`, `ms`, `packets`, `%`.
    pub unit: &'static str,
    /// Where the model rests.
    pub model: f64,
    /// What the series are in the mean; none if they do not say.
    pub series: Option<f64>,
}

/// More classes than this are not listed.
const MOST: usize = 6;

pub(super) fn points(subject: &Subject<'_>, sampled: &Sampled<'_>) -> Vec<Row> {
    let classes = first_loops(subject.plan, subject.settled);
    let of_classes = classes.iter().take(MOST).flat_map(|l| of_class(subject, sampled, *l));
    let of_links = subject.plan.links.iter().filter_map(|link| {
        let id = link.id?.0;
        let per_packet = subject.settled.frozen.capacity(id) / link.packet.bits() as f64;
        let model = subject.settled.value(Entity::Link(id), "queueing delay")? * per_packet;
        let series = sampled.mean(Kind::Link, &link.entity, quantity::QUEUE);
        let is_there = model >= 1.0 || series.is_some_and(|packets| packets >= 1.0);
        is_there.then(|| Row { name: format!("queue of {}", link.entity), unit: "packets", model, series })
    });
    of_classes.chain(of_links).collect()
}

fn of_class(subject: &Subject<'_>, sampled: &Sampled<'_>, l: usize) -> Vec<Row> {
    let (plan, settled) = (subject.plan, subject.settled);
    let flows: Vec<_> =
        plan.flows.iter().filter(|flow| flow.loops.first().is_some_and(|id| id.0 == l)).collect();
    let name = &plan.loops[l].name;
    let value = |quantity| settled.value(Entity::Loop(l), quantity).unwrap_or(f64::NAN);
    let mean = |entity: &dyn Fn(&millpond_plan::fluid::PlannedFlow) -> String, quantity: &str| {
        let all: Vec<f64> =
            flows.iter().filter_map(|flow| sampled.mean(Kind::Flow, &entity(flow), quantity)).collect();
        (!all.is_empty()).then(|| millpond_stats::mean(&all))
    };
    let rate = mean(&|flow| flow.name.clone(), quantity::SEND_RATE);
    let rtt = mean(&|flow| flow.loop_name(0), quantity::RTT);
    let rows = [
        (format!("rate of {name}, each"), "Mbps", value("sending rate") / 1e6, rate.map(|rate| rate / 1e6)),
        (format!("RTT of {name}"), "ms", value("round-trip time") * 1e3, rtt),
    ];
    let rows = rows.into_iter().map(|(name, unit, model, series)| Row { name, unit, model, series });
    rows.chain(marks(subject, l, &flows)).collect()
}

/// Marks over packets delivered, over all that the run has measured.
fn marks(subject: &Subject<'_>, l: usize, flows: &[&millpond_plan::fluid::PlannedFlow]) -> Option<Row> {
    let links = subject.plan.loops[l].links.iter().filter_map(|place| subject.plan.links[*place].id);
    let spared =
        links.map(|id| 1.0 - subject.settled.value(Entity::Link(id.0), "marking probability").unwrap_or(0.0));
    let model = 1.0 - spared.product::<f64>();
    let is_one = |flow: &&millpond_results::Flow| flows.iter().any(|known| known.name == flow.name);
    let (marked, delivered) = subject
        .run
        .summary
        .flows
        .iter()
        .filter(is_one)
        .fold((0, 0), |(marked, delivered), flow| (marked + flow.marked, delivered + flow.delivered));
    let series = (subject.has_packets && delivered > 0).then(|| 100.0 * marked as f64 / delivered as f64);
    let name = format!("packets of {} marked", subject.plan.loops[l].name);
    // Of a chain of loops the marks of all are counted together.
    let is_one_loop = flows.iter().all(|flow| flow.loops.len() == 1);
    (model > 0.0 && is_one_loop).then_some(Row { name, unit: "%", model: 100.0 * model, series })
}
