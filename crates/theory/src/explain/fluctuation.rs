//! What moves in a run, and how much of that is chance.

use super::model::{Floor, Model, first_loops};
use super::series::Sampled;
use super::spectrum::{Density, Peak, peak, periodogram, without_trend};
use super::{Inexplicable, Subject};
use millpond_fluid::Entity;
use millpond_fluid::stability::NoiseOutput;
use millpond_plan::fluid::PlannedFlow;
use millpond_results::{Kind, quantity};
use millpond_stats::{mean, root_mean_square};

/// Whose quantity it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The sending rates of all flows, added up.
    Load,
    /// The sending rate of one flow of a class.
    Flow,
    /// The queue of a link.
    Queue,
}

/// A quantity that moves about its mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Swing {
    /// Whose.
    pub of: Of,
    /// Its name, in plain words.
    pub name: String,
    /// Mean: bit/s, or packets.
    pub mean: f64,
    /// Standard deviation; of a class that of one of its flows, in quadratic mean.
    pub deviation: f64,
    /// Greatest less least value.
    pub peak_to_peak: f64,
    /// The frequency that stands out.
    pub peak: Option<Peak>,
    /// Its spectrum.
    pub spectrum: Density,
    /// What packets make of it if the loop is stable.
    pub floor: Floor,
}

/// What moves by less than this part of its mean is at rest.
const STILL: f64 = 1e-4;

impl Swing {
    /// Standard deviation over what chance and counting make.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.deviation / self.floor.total().max(STILL * self.mean)
    }
}

/// A series without its trend, and what it says by itself.
struct Moved {
    mean: f64,
    values: Vec<f64>,
    peak_to_peak: f64,
}

impl Moved {
    fn of(values: &[f64]) -> Self {
        let ends = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
        Self { mean: mean(values), values: without_trend(values), peak_to_peak: ends.1 - ends.0 }
    }
}

/// Everything that is looked at: all flows together, one flow of each class, the queue of each link that has one at rest.
pub(super) fn swings(
    subject: &Subject<'_>,
    model: &Model,
    sampled: &Sampled<'_>,
) -> Result<Vec<Swing>, Inexplicable> {
    let mut swings = Vec::new();
    let classes = first_loops(subject.plan, subject.settled);
    let rates = classes.iter().map(|l| rates(subject, *l, sampled)).collect::<Result<Vec<_>, _>>()?;
    if rates.iter().map(|rates| rates.flows.len()).sum::<usize>() > 1 {
        swings.push(load(subject, model, sampled, (&classes, &rates)));
    }
    for (l, rates) in classes.iter().zip(&rates) {
        swings.push(class(subject, model, sampled, (*l, rates)));
    }
    for (place, link) in subject.plan.links.iter().enumerate() {
        let Some(id) = link.id.filter(|id| model.stability.bottlenecks.contains(&id.0)) else { continue };
        let values = sampled.whole(Kind::Link, &link.entity, quantity::QUEUE)?;
        // Where the model rests without a queue, what packets leave of one is no part of the loop.
        if subject.settled.value(Entity::Link(id.0), "queueing delay").is_some_and(|delay| delay > 0.0) {
            swings.push(queue(subject, model, sampled, (place, id.0, &values)));
        }
    }
    Ok(swings)
}

/// The sending rates of the flows of a class.
struct Rates {
    flows: Vec<Vec<f64>>,
    /// Over how many seconds each value is a mean.
    interval: f64,
    /// What counting whole packets makes of each.
    grain: f64,
}

/// What a window permits, over the round-trip time: packets themselves come in bunches that the clock of acknowledgements
/// keeps, and that no fluid has. Of a law without a window what was sent, counted in whole packets: too many or too few by up
/// to one at each end of an interval, uniformly, which makes a variance of 1/6 packet² (less if they come at a fixed distance).
fn rates(subject: &Subject<'_>, l: usize, sampled: &Sampled<'_>) -> Result<Rates, Inexplicable> {
    let packet = subject.plan.loops[l].facts.packet;
    let flows = || subject.plan.flows.iter().filter(|flow| flow.loops.first().is_some_and(|id| id.0 == l));
    let sent = |flow: &PlannedFlow| sampled.whole(Kind::Flow, &flow.name, quantity::SEND_RATE);
    let permitted = |flow: &PlannedFlow| -> Result<Vec<f64>, Inexplicable> {
        let name = flow.loop_name(0);
        let windows = sampled.whole(Kind::Flow, &name, quantity::WINDOW)?;
        let rtts = sampled.whole(Kind::Flow, &name, quantity::RTT)?;
        Ok(windows.iter().zip(&rtts).map(|(window, ms)| window * packet / (ms / 1e3)).collect())
    };
    if !subject.windows[l] {
        let flows = flows().map(sent).collect::<Result<_, _>>()?;
        let grain = if subject.has_packets { packet / sampled.interval / 6_f64.sqrt() } else { 0.0 };
        return Ok(Rates { flows, interval: sampled.interval, grain });
    }
    let interval = subject.settled.value(Entity::Loop(l), "round-trip time").unwrap_or(sampled.interval);
    Ok(Rates { flows: flows().map(permitted).collect::<Result<_, _>>()?, interval, grain: 0.0 })
}

fn load(
    subject: &Subject<'_>,
    model: &Model,
    sampled: &Sampled<'_>,
    (classes, rates): (&[usize], &[Rates]),
) -> Swing {
    let sum = |i: usize| rates.iter().flat_map(|rates| &rates.flows).map(|values| values[i]).sum();
    let total: Vec<f64> = (0..sampled.count()).map(sum).collect();
    let outputs = classes
        .iter()
        .filter_map(|l| Some(((model.block(Entity::Loop(*l))?, 0), subject.plan.loops[*l].count)));
    let interval = rates.iter().map(|rates| rates.interval).fold(f64::INFINITY, f64::min);
    let mut floor = model.floor(&NoiseOutput::Flows(outputs.collect()), (interval, subject.length), 1.0);
    let counted = rates.iter().map(|rates| rates.grain.powi(2) * rates.flows.len() as f64);
    floor.grain = counted.sum::<f64>().sqrt();
    finish((Of::Load, "all flows together".to_owned()), &[Moved::of(&total)], sampled.interval, floor)
}

fn class(subject: &Subject<'_>, model: &Model, sampled: &Sampled<'_>, (l, rates): (usize, &Rates)) -> Swing {
    let target = NoiseOutput::Flow((model.block(Entity::Loop(l)).unwrap_or(0), 0));
    let mut floor = model.floor(&target, (rates.interval, subject.length), 1.0);
    floor.grain = rates.grain;
    let name = &subject.plan.loops[l].name;
    let name = if rates.flows.len() > 1 { format!("one flow of {name}") } else { name.clone() };
    let moved: Vec<Moved> = rates.flows.iter().map(|values| Moved::of(values)).collect();
    finish((Of::Flow, name), &moved, sampled.interval, floor)
}

/// A queue is known to a packet.
fn queue(
    subject: &Subject<'_>,
    model: &Model,
    sampled: &Sampled<'_>,
    (place, id, values): (usize, usize, &[f64]),
) -> Swing {
    let link = &subject.plan.links[place];
    let per_packet = subject.settled.frozen.capacity(id) / link.packet.bits() as f64;
    let target = NoiseOutput::Link((model.block(Entity::Link(id)).unwrap_or(0), 0));
    let mut floor = model.floor(&target, (sampled.interval, subject.length), per_packet);
    floor.grain = if subject.has_packets { 1.0 } else { 0.0 };
    finish((Of::Queue, format!("queue of {}", link.entity)), &[Moved::of(values)], sampled.interval, floor)
}

/// Of several flows of a class: means of squares and of spectra, and the surest peak.
fn finish((of, name): (Of, String), moved: &[Moved], interval: f64, floor: Floor) -> Swing {
    let over = |of: &dyn Fn(&Moved) -> f64| mean(&moved.iter().map(of).collect::<Vec<_>>());
    let peaks = moved.iter().filter_map(|moved| peak(&moved.values, interval));
    let spectra: Vec<Density> = moved.iter().map(|moved| periodogram(&moved.values, interval)).collect();
    let mean_density = |place: usize, frequency: f64| {
        (frequency, mean(&spectra.iter().map(|spectrum| spectrum[place].1).collect::<Vec<_>>()))
    };
    let spectrum = spectra.first().map_or_else(Vec::new, |first| {
        first.iter().enumerate().map(|(place, (frequency, _))| mean_density(place, *frequency)).collect()
    });
    Swing {
        of,
        name,
        mean: over(&|moved| moved.mean),
        deviation: over(&|moved| root_mean_square(&moved.values).powi(2)).sqrt(),
        peak_to_peak: over(&|moved| moved.peak_to_peak),
        peak: peaks.max_by(|a, b| a.share.total_cmp(&b.share)),
        spectrum,
        floor,
    }
}
