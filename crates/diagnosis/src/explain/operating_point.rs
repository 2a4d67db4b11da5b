//! The operating point: the equilibrium of the model beside the means of the series.

use super::model::first_loops;
use super::subject::Subject;
use millpond_fluid::Entity;
use millpond_plan::fluid::FluidFlowPlan;
use millpond_results::{EntityKind, quantity};
use millpond_stats::mean;

/// One quantity of the operating point.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatingPointRow {
    /// Name of the quantity.
    pub name: String,
    /// Its unit: `Mbit/s`, `ms`, `packets` or `%`.
    pub unit: &'static str,
    /// Its value at the equilibrium of the model; NaN if the equations have no equilibrium.
    pub model: f64,
    /// The mean of its series; none if it was not recorded.
    pub series: Option<f64>,
}

/// The greatest number of classes of flows that are listed.
const MOST: usize = 6;

/// Rate, round-trip time and marks of each class, and the queue of each link that has one.
pub(super) fn operating_point(subject: &Subject<'_>) -> Vec<OperatingPointRow> {
    let classes = first_loops(subject.plan, &subject.frozen);
    let flow_rows = classes.iter().take(MOST).flat_map(|l| class_rows(subject, *l));
    let link_rows = subject.plan.links.iter().filter_map(|link| {
        let id = link.id?.0;
        let per_packet = subject.frozen.capacity(id) / link.packet.bits() as f64;
        let model =
            subject.value(Entity::Link(id), "queueing delay").map_or(f64::NAN, |delay| delay * per_packet);
        let series = subject.series.mean(EntityKind::Link, &link.entity, quantity::QUEUE);
        let has_queue = model >= 1.0 || series.is_some_and(|packets| packets >= 1.0);
        has_queue.then(|| OperatingPointRow {
            name: format!("queue of {}", link.entity),
            unit: "packets",
            model,
            series,
        })
    });
    flow_rows.chain(link_rows).collect()
}

fn class_rows(subject: &Subject<'_>, l: usize) -> Vec<OperatingPointRow> {
    let plan = subject.plan;
    let flows: Vec<_> =
        plan.flows.iter().filter(|flow| flow.loops.first().is_some_and(|id| id.0 == l)).collect();
    let name = &plan.loops[l].name;
    let value = |quantity| subject.value(Entity::Loop(l), quantity).unwrap_or(f64::NAN);
    let mean_of = |entity: &dyn Fn(&FluidFlowPlan) -> String, quantity: &str| {
        let all: Vec<f64> = flows
            .iter()
            .filter_map(|flow| subject.series.mean(EntityKind::Flow, &entity(flow), quantity))
            .collect();
        (!all.is_empty()).then(|| mean(&all))
    };
    let rate = mean_of(&|flow| flow.name.clone(), quantity::SEND_RATE);
    let rtt = mean_of(&|flow| flow.loop_name(0), quantity::RTT);
    let rows = [
        (format!("rate of {name}, each"), "Mbit/s", value("sending rate") / 1e6, rate.map(|rate| rate / 1e6)),
        (format!("RTT of {name}"), "ms", value("round-trip time") * 1e3, rtt),
    ];
    let rows =
        rows.into_iter().map(|(name, unit, model, series)| OperatingPointRow { name, unit, model, series });
    rows.chain(marks(subject, l, &flows)).collect()
}

/// The share of delivered packets that are marked, over the whole measured part of the run.
fn marks(subject: &Subject<'_>, l: usize, flows: &[&FluidFlowPlan]) -> Option<OperatingPointRow> {
    let links = subject.plan.loops[l].links.iter().filter_map(|place| subject.plan.links[*place].id);
    let unmarked =
        links.map(|id| 1.0 - subject.value(Entity::Link(id.0), "marking probability").unwrap_or(0.0));
    let model = 1.0 - unmarked.product::<f64>();
    let is_of_class = |flow: &&millpond_results::Flow| flows.iter().any(|known| known.name == flow.name);
    let (marked, delivered) = subject
        .run
        .summary
        .flows
        .iter()
        .filter(is_of_class)
        .fold((0, 0), |(marked, delivered), flow| (marked + flow.marked, delivered + flow.delivered));
    let series = (subject.has_packets && delivered > 0).then(|| 100.0 * marked as f64 / delivered as f64);
    let name = format!("packets of {} marked", subject.plan.loops[l].name);
    // A flow with several loops counts the marks of all of them together.
    let has_one_loop = flows.iter().all(|flow| flow.loops.len() == 1);
    (model > 0.0 && has_one_loop).then_some(OperatingPointRow {
        name,
        unit: "%",
        model: 100.0 * model,
        series,
    })
}
