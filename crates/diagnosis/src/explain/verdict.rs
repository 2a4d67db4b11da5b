//! What follows from the series and the linear model together.

use super::fluctuation::Fluctuation;
use super::model::LinearModel;
use super::operating_point::OperatingPointRow;
use super::spectrum::SpectralPeak;
use super::subject::Subject;
use millpond_fluid::Entity;
use millpond_plan::fluid::FluidFlowPlan;
use millpond_results::{EntityKind, quantity};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The loop is stable, and the series show only noise.
    Noise,
    /// The loop is unstable, and the series oscillate at its frequency.
    Unstable,
    /// The loop is stable, and an oscillation at its frequency decays.
    Decaying,
    /// The loop is unstable, but the series do not oscillate.
    NotExcited,
    /// The loop is unstable and too fast for the sampling of the series.
    Undersampled,
    /// The loop is unstable, and the series oscillate at another frequency.
    OtherOscillation,
    /// The loop is stable, and the series fluctuate more than noise explains.
    Unexplained,
    /// The laws have a limit cycle by design.
    LimitCycle,
    /// Losses at a full buffer cause a sawtooth.
    Sawtooth,
}

impl Finding {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::Unstable => "unstable",
            Self::Decaying => "decaying",
            Self::NotExcited => "not excited",
            Self::Undersampled => "undersampled",
            Self::OtherOscillation => "other oscillation",
            Self::Unexplained => "unexplained",
            Self::LimitCycle => "limit cycle",
            Self::Sawtooth => "sawtooth",
        }
    }
}

/// The cause of a run's fluctuations.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplanationVerdict {
    /// The finding.
    pub finding: Finding,
    /// Index of the fluctuation that shows the finding best; none if nothing was recorded.
    pub clearest: Option<usize>,
    /// Possible causes that the linear model leaves out and that this run has.
    pub candidates: Vec<String>,
}

/// Fluctuations up to this multiple of the noise floor count as noise: a deviation measured over some ten correlation times
/// is itself uncertain by two standard errors, 2 / sqrt(2 x 10) = 0.45.
const NOISE: f64 = 1.45;
/// Two frequencies are equal within this factor, because the series resolve a part of a cycle in the interval.
pub(super) const SAME_FREQUENCY: f64 = 1.25;

/// The verdict on a network with a limit cycle or a sawtooth: it oscillates by its laws, whatever its linear model does.
pub(super) fn verdict_of_cycle(finding: Finding, fluctuations: &[Fluctuation]) -> ExplanationVerdict {
    let is_significant = |found: &Fluctuation| found.peak.is_some_and(|peak| peak.is_significant());
    let share = |found: &Fluctuation| found.peak.map_or(0.0, |peak| peak.variance_share);
    let rank = |index: &usize| (is_significant(&fluctuations[*index]), share(&fluctuations[*index]));
    let clearest = (0..fluctuations.len()).max_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    ExplanationVerdict { finding, clearest, candidates: Vec::new() }
}

pub(super) fn verdict(
    subject: &Subject<'_>,
    model: &LinearModel,
    operating_point: &[OperatingPointRow],
    fluctuations: &[Fluctuation],
) -> ExplanationVerdict {
    let has_loop_frequency = |found: &Fluctuation| {
        found.peak.zip(model.frequency()).is_some_and(|(peak, frequency)| {
            let ratio = peak.frequency / frequency;
            peak.is_significant() && (1.0 / SAME_FREQUENCY..SAME_FREQUENCY).contains(&ratio)
        })
    };
    let share = |index: usize| fluctuations[index].peak.map_or(0.0, |peak| peak.variance_share);
    let above_noise = || (0..fluctuations.len()).filter(|index| fluctuations[*index].noise_ratio() > NOISE);
    let at_loop_frequency = above_noise()
        .filter(|index| has_loop_frequency(&fluctuations[*index]))
        .max_by(|a, b| share(*a).total_cmp(&share(*b)));
    let largest = (0..fluctuations.len())
        .max_by(|a, b| fluctuations[*a].noise_ratio().total_cmp(&fluctuations[*b].noise_ratio()));
    let clearest = at_loop_frequency.or(largest);
    let peak = clearest.and_then(|index| fluctuations[index].peak);
    let evidence = Evidence {
        is_stable: model.is_stable(),
        exceeds_noise: above_noise().next().is_some(),
        has_loop_frequency: at_loop_frequency.is_some(),
        decays: peak.and_then(|peak| peak.growth).is_some_and(|growth| growth.decays()),
        is_undersampled: model.frequency().is_some_and(|frequency| frequency * subject.series.interval > 0.5),
    };
    let finding = evidence.finding();
    let candidates = match finding {
        Finding::OtherOscillation | Finding::Unexplained => {
            Candidates { subject, model, operating_point, peak }.list()
        }
        _ => Vec::new(),
    };
    ExplanationVerdict { finding, clearest, candidates }
}

/// What a finding is based on.
#[allow(clippy::struct_excessive_bools, reason = "five independent observations")]
struct Evidence {
    is_stable: bool,
    exceeds_noise: bool,
    has_loop_frequency: bool,
    decays: bool,
    is_undersampled: bool,
}

impl Evidence {
    fn finding(&self) -> Finding {
        match (self.is_stable, self.exceeds_noise) {
            (true, false) => Finding::Noise,
            (true, true) if self.has_loop_frequency && self.decays => Finding::Decaying,
            (true, true) => Finding::Unexplained,
            (false, _) if self.is_undersampled => Finding::Undersampled,
            (false, false) => Finding::NotExcited,
            (false, true) if self.has_loop_frequency => Finding::Unstable,
            (false, true) => Finding::OtherOscillation,
        }
    }
}

/// Possible causes of an oscillation that the linear model leaves out.
struct Candidates<'a> {
    subject: &'a Subject<'a>,
    model: &'a LinearModel,
    operating_point: &'a [OperatingPointRow],
    /// The peak that is to be explained.
    peak: Option<SpectralPeak>,
}

impl Candidates<'_> {
    /// Those that this run has.
    fn list(&self) -> Vec<String> {
        let subject = self.subject;
        let mut found: Vec<String> = self.operating_point.iter().filter_map(other_operating_point).collect();
        found.extend(self.small_gain_margin());
        found.extend(self.empty_queues());
        let dropped: u64 = subject.run.summary.links.iter().map(|link| link.drops).sum();
        if dropped > 0 {
            found.push(format!("{dropped} packets were dropped: losses come in bursts, while the model has independent losses"));
        }
        if let Some(flow) = self.peak.and_then(|peak| flow_with_period(subject, peak.frequency)) {
            found.push(format!("its period is the round-trip time of {flow}: ack clocking preserves bursts"));
        }
        if subject.has_window.iter().any(|has_window| *has_window) && self.model.is_stable() {
            found.push(
                "windows that change within a round-trip time, over which the predicted rates are averaged"
                    .to_owned(),
            );
        }
        found.extend(guards(subject));
        let other = if subject.has_packets {
            "nonlinear or discrete steps of the law: --world fluid shows whether the nonlinear equations oscillate too"
        } else {
            "switches and bounds of the law, which a linear model leaves out"
        };
        found.push(other.to_owned());
        found
    }

    /// A stable loop with a gain near one.
    fn small_gain_margin(&self) -> Option<String> {
        const NEAR: f64 = 1.4;
        let is_near = |gain: f64| gain.ln().abs() < NEAR.ln();
        let found = self.model.loop_gain.filter(|found| self.model.is_stable() && is_near(found.gain))?;
        Some(format!(
            "a small gain margin (gain {:.2}): laws that decide once per interval or round trip add a delay that the model leaves \
             out",
            found.gain
        ))
    }

    /// Bottlenecks whose queue is empty for a share of the time, in which their loop is open.
    fn empty_queues(&self) -> impl Iterator<Item = String> + '_ {
        const RARE: f64 = 0.01;
        let subject = self.subject;
        subject.plan.links.iter().filter_map(move |link| {
            let id = link.id.filter(|id| self.model.stability.bottlenecks.contains(&id.0))?;
            let has_queue = subject.value(Entity::Link(id.0), "queueing delay")? > 0.0;
            let packets = subject.series.find(EntityKind::Link, &link.entity, quantity::QUEUE)?;
            let empty =
                packets.iter().filter(|packets| **packets < 0.5).count() as f64 / packets.len() as f64;
            (has_queue && empty > RARE).then(|| {
                format!(
                    "the queue of {} is empty {:.0} % of the time, in which its loop is open",
                    link.entity,
                    100.0 * empty
                )
            })
        })
    }
}

/// A mean of the series that differs from the equilibrium: the run has another linear loop.
fn other_operating_point(row: &OperatingPointRow) -> Option<String> {
    const FACTOR: f64 = 1.25;
    let series = row.series?;
    let ratio = series / row.model;
    let is_equal = (1.0 / FACTOR..FACTOR).contains(&ratio);
    (!is_equal && row.model.is_finite()).then(|| {
        let (model, unit) = (row.model, row.unit);
        format!(
            "the run has another operating point than the model: {} is {series:.3} {unit}, not {model:.3}",
            row.name
        )
    })
}

/// Switching functions of the laws: the linear model holds on one side of them.
fn guards(subject: &Subject<'_>) -> Option<String> {
    let mut names: Vec<&str> = (0..subject.plan.loops.len())
        .flat_map(|l| subject.plan.assembly.guards_of(l).iter().copied())
        .collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| format!("its law switches at the zeros of: {}", names.join(", ")))
}

/// A flow whose mean round-trip time is within 15 % of the period.
fn flow_with_period(subject: &Subject<'_>, frequency: f64) -> Option<String> {
    let has_period = |flow: &&FluidFlowPlan| {
        let rtt = subject.series.mean(EntityKind::Flow, &flow.loop_name(0), quantity::RTT);
        rtt.is_some_and(|rtt| (0.85..1.15).contains(&(rtt / 1e3 * frequency)))
    };
    subject.plan.flows.iter().find(has_period).map(|flow| flow.name.clone())
}

/// The rate that exceeds its noise floor most.
pub(super) fn clearest_rate(fluctuations: &[Fluctuation]) -> Option<&Fluctuation> {
    let rates = fluctuations.iter().filter(|found| !found.is_queue());
    rates.max_by(|a, b| a.noise_ratio().total_cmp(&b.noise_ratio()))
}

/// The queue that exceeds its noise floor most.
pub(super) fn clearest_queue(fluctuations: &[Fluctuation]) -> Option<&Fluctuation> {
    let queues = fluctuations.iter().filter(|found| found.is_queue());
    queues.max_by(|a, b| a.noise_ratio().total_cmp(&b.noise_ratio()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_that_differs_from_the_model_by_a_quarter_is_another_operating_point() {
        let row = |model: f64, series: f64| {
            let (name, series) = ("queue of L".to_owned(), Some(series));
            other_operating_point(&OperatingPointRow { name, unit: "packets", model, series })
        };
        let found = row(10.0, 13.0).unwrap();
        assert_eq!(
            found,
            "the run has another operating point than the model: queue of L is 13.000 packets, not 10.000"
        );
        assert!(row(13.0, 10.0).is_some());
        assert_eq!([row(10.0, 12.0), row(12.0, 10.0), row(f64::NAN, 12.0)], [None, None, None]);
    }
}
