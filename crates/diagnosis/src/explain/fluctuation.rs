//! The fluctuations of rates and queues, and their noise floors.

use super::error::ExplainError;
use super::model::{LinearModel, NoiseFloor, Observation, first_loops};
use super::spectrum::{PowerSpectrum, SpectralPeak, peak, periodogram, without_trend};
use super::subject::Subject;
use millpond_fluid::Entity;
use millpond_fluid::stability::{BlockOutput, NoiseOutput};
use millpond_plan::fluid::FluidFlowPlan;
use millpond_results::{EntityKind, quantity};
use millpond_stats::{mean, root_mean_square};

/// The kind of a fluctuating quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FluctuationKind {
    /// The sum of the sending rates of all flows.
    TotalRate,
    /// The sending rate of one flow of a class.
    FlowRate,
    /// The queue of a link.
    Queue,
}

/// The fluctuation of a quantity about its mean: in bit/s for rates, in packets for queues.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluctuation {
    /// The kind of the quantity.
    pub kind: FluctuationKind,
    /// Name of the quantity.
    pub name: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation without trend; the root mean square over the flows of a class.
    pub deviation: f64,
    /// Its greatest less its least value.
    pub peak_to_peak: f64,
    /// The peak of its spectrum; none if it is constant.
    pub peak: Option<SpectralPeak>,
    /// Its spectrum.
    pub spectrum: PowerSpectrum,
    /// Its noise floor.
    pub noise_floor: NoiseFloor,
}

impl Fluctuation {
    /// Its standard deviation as a multiple of the noise floor, which counts as at least 1e-4 of the mean.
    #[must_use]
    pub fn noise_ratio(&self) -> f64 {
        const LEAST: f64 = 1e-4;
        self.deviation / self.noise_floor.total_deviation().max(LEAST * self.mean)
    }

    /// Whether it is that of a queue.
    #[must_use]
    pub fn is_queue(&self) -> bool {
        self.kind == FluctuationKind::Queue
    }
}

/// A series without its mean and trend.
struct Detrended {
    mean: f64,
    values: Vec<f64>,
    peak_to_peak: f64,
}

impl Detrended {
    fn of(values: &[f64]) -> Self {
        let ends = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
        Self { mean: mean(values), values: without_trend(values), peak_to_peak: ends.1 - ends.0 }
    }
}

/// The fluctuations of the total rate, of one flow of each class, and of the queue of each link that has one at the
/// equilibrium; without a linear model, in the series.
pub(super) fn fluctuations(
    subject: &Subject<'_>,
    model: Option<&LinearModel>,
) -> Result<Vec<Fluctuation>, ExplainError> {
    let analysis = FluctuationAnalysis { subject, model };
    let classes = first_loops(subject.plan, &subject.frozen);
    let rates = classes.iter().map(|l| analysis.class_rates(*l)).collect::<Result<Vec<_>, _>>()?;
    let mut found = Vec::new();
    if rates.iter().map(|class| class.flows.len()).sum::<usize>() > 1 {
        found.push(analysis.total_rate(&rates));
    }
    found.extend(rates.iter().map(|class| analysis.flow_rate(class)));
    for (index, link) in subject.plan.links.iter().enumerate() {
        let takes_part = |id: usize| model.is_none_or(|model| model.stability.bottlenecks.contains(&id));
        let Some(id) = link.id.filter(|id| takes_part(id.0)) else { continue };
        let values = subject.series.complete(EntityKind::Link, &link.entity, quantity::QUEUE)?;
        // Packets leave a queue even where the model has none, but this queue is no part of the loop.
        let has_queue = match (model, subject.value(Entity::Link(id.0), "queueing delay")) {
            (Some(_), delay) => delay.is_some_and(|delay| delay > 0.0),
            (None, _) => mean(&values) >= 1.0,
        };
        if has_queue {
            found.push(analysis.queue(index, id.0, &values));
        }
    }
    Ok(found)
}

/// The sending rates of the flows of a class, in bit/s.
struct ClassRates {
    /// The first loop of the flows.
    l: usize,
    /// By flow and sample.
    flows: Vec<Vec<f64>>,
    /// The time over which each value is a mean, in seconds.
    interval: f64,
    /// The standard deviation of counting whole packets, in bit/s.
    quantization: f64,
}

/// The series of a run beside the linear model.
struct FluctuationAnalysis<'a> {
    subject: &'a Subject<'a>,
    /// None for a network that oscillates by its law.
    model: Option<&'a LinearModel>,
}

impl FluctuationAnalysis<'_> {
    /// The rates of a class: the sending rate, whose mean over the interval is that of the recorded rate. A law with a
    /// window: the time course of window over round-trip time with this mean, because ack clocking keeps packets in bursts
    /// that no fluid model has. A law without a window: the recorded rate itself; at both ends of an interval it counts up to one
    /// packet too many or too few, uniformly, which has a variance of 1/6 packet² (less if packets are equally spaced).
    fn class_rates(&self, l: usize) -> Result<ClassRates, ExplainError> {
        let Subject { plan, series, .. } = self.subject;
        let packet = plan.loops[l].facts.packet;
        let flows = || plan.flows.iter().filter(|flow| flow.loops.first().is_some_and(|id| id.0 == l));
        let recorded =
            |flow: &FluidFlowPlan| series.complete(EntityKind::Flow, &flow.name, quantity::SEND_RATE);
        if !self.subject.has_window[l] {
            let flows = flows().map(recorded).collect::<Result<_, _>>()?;
            let one_packet = packet / series.interval;
            let quantization = if self.subject.has_packets { one_packet / 6_f64.sqrt() } else { 0.0 };
            return Ok(ClassRates { l, flows, interval: series.interval, quantization });
        }
        let permitted = |flow: &FluidFlowPlan| -> Result<Vec<f64>, ExplainError> {
            let name = flow.loop_name(0);
            let windows = series.complete(EntityKind::Flow, &name, quantity::WINDOW)?;
            let rtts = series.complete(EntityKind::Flow, &name, quantity::RTT)?;
            let rates: Vec<f64> =
                windows.iter().zip(&rtts).map(|(window, ms)| window * packet / (ms / 1e3)).collect();
            let scale = mean(&recorded(flow)?) / mean(&rates).max(f64::MIN_POSITIVE);
            Ok(rates.into_iter().map(|rate| rate * scale).collect())
        };
        let rtt = self.subject.value(Entity::Loop(l), "round-trip time");
        let interval = rtt.unwrap_or(series.interval);
        let flows = flows().map(permitted).collect::<Result<_, _>>()?;
        Ok(ClassRates { l, flows, interval, quantization: 0.0 })
    }

    fn total_rate(&self, classes: &[ClassRates]) -> Fluctuation {
        let sum = |i: usize| classes.iter().flat_map(|class| &class.flows).map(|values| values[i]).sum();
        let total: Vec<f64> = (0..self.subject.series.count()).map(sum).collect();
        let output = |class: &ClassRates| {
            let block = self.model?.block(Entity::Loop(class.l))?;
            Some((BlockOutput::new(block, 0), self.subject.plan.loops[class.l].count))
        };
        let output = NoiseOutput::Flows(classes.iter().filter_map(output).collect());
        let interval = classes.iter().map(|class| class.interval).fold(f64::INFINITY, f64::min);
        let mut noise_floor = self.noise_floor(&output, self.observation(interval, 1.0));
        let counted = classes.iter().map(|class| class.quantization.powi(2) * class.flows.len() as f64);
        noise_floor.quantization = counted.sum::<f64>().sqrt();
        let name = "all flows together".to_owned();
        self.fluctuation(FluctuationKind::TotalRate, name, &[Detrended::of(&total)], noise_floor)
    }

    fn flow_rate(&self, class: &ClassRates) -> Fluctuation {
        let output = NoiseOutput::Flow(BlockOutput::new(self.block(Entity::Loop(class.l)), 0));
        let mut noise_floor = self.noise_floor(&output, self.observation(class.interval, 1.0));
        noise_floor.quantization = class.quantization;
        let name = &self.subject.plan.loops[class.l].name;
        let name = if class.flows.len() > 1 { format!("one flow of {name}") } else { name.clone() };
        let series: Vec<Detrended> = class.flows.iter().map(|values| Detrended::of(values)).collect();
        self.fluctuation(FluctuationKind::FlowRate, name, &series, noise_floor)
    }

    /// The queue of the link with this index in the plan and this number in the engine. It is counted in whole packets.
    fn queue(&self, index: usize, id: usize, values: &[f64]) -> Fluctuation {
        let link = &self.subject.plan.links[index];
        let packets_per_second = self.subject.frozen.capacity(id) / link.packet.bits() as f64;
        let output = NoiseOutput::Link(BlockOutput::new(self.block(Entity::Link(id)), 0));
        let observation = self.observation(self.subject.series.interval, packets_per_second);
        let mut noise_floor = self.noise_floor(&output, observation);
        noise_floor.quantization = if self.subject.has_packets { 1.0 } else { 0.0 };
        let name = format!("queue of {}", link.entity);
        self.fluctuation(FluctuationKind::Queue, name, &[Detrended::of(values)], noise_floor)
    }

    /// The block of a loop or link in the linear model.
    fn block(&self, entity: Entity) -> usize {
        self.model.and_then(|model| model.block(entity)).unwrap_or(0)
    }

    /// The noise floor of the linear model; empty without one.
    fn noise_floor(&self, output: &NoiseOutput, observation: Observation) -> NoiseFloor {
        self.model.map_or_else(NoiseFloor::default, |model| model.noise_floor(output, observation))
    }

    fn observation(&self, interval: f64, scale: f64) -> Observation {
        Observation { interval, duration: self.subject.series.duration(), scale }
    }

    /// Over several flows of a class: means of squares and of spectra, and the peak with the greatest share of the variance.
    fn fluctuation(
        &self,
        kind: FluctuationKind,
        name: String,
        series: &[Detrended],
        noise_floor: NoiseFloor,
    ) -> Fluctuation {
        let interval = self.subject.series.interval;
        let mean_of = |value: &dyn Fn(&Detrended) -> f64| mean(&series.iter().map(value).collect::<Vec<_>>());
        let peaks = series.iter().filter_map(|one| peak(&one.values, interval));
        let spectra: Vec<PowerSpectrum> =
            series.iter().map(|one| periodogram(&one.values, interval)).collect();
        Fluctuation {
            kind,
            name,
            mean: mean_of(&|one| one.mean),
            deviation: mean_of(&|one| root_mean_square(&one.values).powi(2)).sqrt(),
            peak_to_peak: mean_of(&|one| one.peak_to_peak),
            peak: peaks.max_by(|a, b| a.variance_share.total_cmp(&b.variance_share)),
            spectrum: mean_spectrum(&spectra),
            noise_floor,
        }
    }
}

/// The mean of spectra at the same frequencies.
fn mean_spectrum(spectra: &[PowerSpectrum]) -> PowerSpectrum {
    let Some(first) = spectra.first() else { return Vec::new() };
    let density = |index: usize| mean(&spectra.iter().map(|spectrum| spectrum[index].1).collect::<Vec<_>>());
    first.iter().enumerate().map(|(index, (frequency, _))| (*frequency, density(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_noise_a_deviation_is_a_multiple_of_a_ten_thousandth_of_the_mean() {
        let found = Fluctuation {
            kind: FluctuationKind::Queue,
            name: "queue of L".to_owned(),
            mean: 100.0,
            deviation: 0.03,
            peak_to_peak: 0.1,
            peak: None,
            spectrum: Vec::new(),
            noise_floor: NoiseFloor { causes: Vec::new(), quantization: 0.0, spectrum: Vec::new() },
        };
        assert!((found.noise_ratio() - 3.0).abs() < 1e-12, "{}", found.noise_ratio());
    }
}
