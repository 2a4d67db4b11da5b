//! What disturbances change: results of protocols with a disturbance, beside those without.

use crate::{Estimate, Run, RunHeadline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario under disturbances: what `millpond compare --perturb --json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DisturbanceComparison {
    /// The command that made the comparison, without the options that change no result.
    pub command: String,
    /// Title of the scenario.
    pub scenario: String,
    /// Version of Millpond, with the commit that it was built from if that is known.
    pub version: String,
    /// Seeds of the runs, which are the same with and without a disturbance.
    pub seeds: Vec<u64>,
    /// One for each protocol.
    pub protocols: Vec<DisturbedProtocol>,
}

/// One protocol under all disturbances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DisturbedProtocol {
    /// The protocol, or the title of the scenario if none was chosen.
    pub protocol: String,
    /// Without a disturbance.
    pub undisturbed: Indicators,
    /// One for each level of each disturbance.
    pub rows: Vec<DisturbedRow>,
}

/// One level of a disturbance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DisturbedRow {
    /// Name of the disturbance.
    pub disturbance: String,
    /// The level, with its unit.
    pub level: String,
    /// Why the disturbance does not apply; null if it does.
    pub does_not_apply: Option<String>,
    /// The results; null if it does not apply.
    pub values: Option<Indicators>,
    /// Differences from the results without it, seed by seed; null if it does not apply.
    pub changes: Option<Indicators>,
}

/// The results by which disturbances are compared, or their differences. Means over the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Indicators {
    /// Utilization of the bottleneck, from 0 to 1; null without links.
    pub utilization: Option<Estimate>,
    /// 95th percentile of end-to-end queueing delay in milliseconds; null if no packet was delivered.
    pub queueing_p95_ms: Option<Estimate>,
    /// Jain's index of the goodputs over the weights of the flows, from 1/n to 1; null for fewer than two flows.
    pub jain: Option<Estimate>,
    /// Least goodput of a flow as a share of its fair share; null if no flow was measured.
    pub least_share: Option<Estimate>,
}

/// One number of a run for each indicator; not a number where there is none.
type Sample = [f64; 4];

impl Indicators {
    /// The estimates in the order of the fields.
    pub const fn all(&self) -> [Option<Estimate>; 4] {
        [self.utilization, self.queueing_p95_ms, self.jain, self.least_share]
    }

    /// Of runs that differ in their seeds only; the bottleneck is that of the runs `among`.
    pub fn of(runs: &[Run], among: &[Run]) -> Self {
        Self::estimated(&runs.iter().map(|run| sample(run, among)).collect::<Vec<_>>())
    }

    /// The differences between disturbed and undisturbed runs with the same seeds.
    pub fn changes(disturbed: &[Run], undisturbed: &[Run], among: &[Run]) -> Self {
        let pairs = disturbed.iter().zip(undisturbed);
        let differences = pairs.map(|(disturbed, undisturbed)| {
            let (with, without) = (sample(disturbed, among), sample(undisturbed, among));
            std::array::from_fn(|index| with[index] - without[index])
        });
        Self::estimated(&differences.collect::<Vec<Sample>>())
    }

    fn estimated(samples: &[Sample]) -> Self {
        let [utilization, queueing_p95_ms, jain, least_share] =
            std::array::from_fn(|index| Estimate::of(samples.iter().map(|sample| sample[index])));
        Self { utilization, queueing_p95_ms, jain, least_share }
    }
}

fn sample(run: &Run, among: &[Run]) -> Sample {
    let headline = RunHeadline::of(run, among);
    let summary = &run.summary;
    let measured = summary.flows.iter().filter(|flow| flow.is_measured(summary.measured_from_s));
    let shares =
        measured.filter_map(|flow| Some(flow.goodput_bps / flow.fair_share_bps.filter(|fair| *fair > 0.0)?));
    [
        headline.utilization,
        headline.queueing_ms.p95,
        headline.jain.unwrap_or(f64::NAN),
        shares.reduce(f64::min).unwrap_or(f64::NAN),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flow, Link, Summary};

    fn run(utilization: f64, goodputs: &[f64]) -> Run {
        let flow = |goodput: &f64| Flow {
            goodput_bps: *goodput,
            fair_share_bps: Some(10.0),
            stop_s: 1.0,
            ..Flow::default()
        };
        let link = Link { name: "L".into(), utilization, ..Link::default() };
        let flows = goodputs.iter().map(flow).collect();
        Run { summary: Summary { flows, links: vec![link], ..Summary::default() }, ..Run::default() }
    }

    /// Both seeds lose exactly a tenth of the utilization, although they differ from each other by more.
    #[test]
    fn changes_are_differences_between_runs_with_the_same_seed() {
        let (without, with) = (
            [run(0.9, &[8.0, 10.0]), run(0.5, &[8.0, 10.0])],
            [run(0.8, &[4.0, 9.0]), run(0.4, &[2.0, 9.0])],
        );
        let among = [without.clone(), with.clone()].concat();
        let changes = Indicators::changes(&with, &without, &among);
        let utilization = changes.utilization.unwrap();
        assert!((utilization.mean + 0.1).abs() < 1e-12 && utilization.half_width.unwrap() < 1e-12);
        assert!((changes.least_share.unwrap().mean + 0.5).abs() < 1e-12, "from 0.8 to 0.4 and 0.2");
        assert!((Indicators::of(&without, &among).least_share.unwrap().mean - 0.8).abs() < 1e-12);
    }
}
