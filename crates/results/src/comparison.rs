//! Rows by which runs are compared: one for all flows of a run, and one for each of its groups. Runs that differ only in
//! their seed are one row, whose values are means with confidence intervals.

use crate::findings::{MOST_SENTENCES, late_start, longest_silences, starvation};
use crate::headline::{RunHeadline, loss, total_goodput};
use crate::{Flow, Group, Milliseconds, Run, Slowdown, Summary, TraceKey};
use millpond_stats::{ConfidenceInterval, confidence_interval, mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The file `comparison.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The command that made the comparison, without the options that change no result; empty if the runs were loaded.
    pub command: String,
    /// For each run the row of all its flows, then those of its groups if it has several.
    pub rows: Vec<ComparisonRow>,
    /// Sentences about starving and silent flows, and about protocols that are not at their own queue because the scenario
    /// sets the queue of a link.
    pub findings: Vec<String>,
}

/// All flows of a run, or one group of them. Values are means over the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRow {
    /// Label of the run: its protocol, its queue and its world, as far as they are chosen.
    pub run: String,
    /// Name of the group; null for all flows.
    pub group: Option<String>,
    /// Protocols of the flows.
    pub protocols: Vec<String>,
    /// World of the run: `packets`, `fluid` or `live`.
    pub world: String,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// Version of Millpond, with the commit that it was built from if that is known.
    pub version: String,
    /// The hash of the resolved scenario without its seed: SHA-256 in hexadecimal digits.
    pub scenario_sha256: String,
    /// The traces of the scenario.
    pub traces: Vec<TraceKey>,
    /// The changes of the scenario by the command, as `--set` has them.
    pub overrides: Vec<String>,
    /// Number of flows.
    pub flows: u64,
    /// Number of flows that starve: their goodput is below a tenth of their fair share.
    pub starving: Estimate,
    /// Utilization of the bottleneck, from 0 to 1; null for a group and without links.
    pub utilization: Option<Estimate>,
    /// Sum of the goodputs of the flows, averaged over the measured time, in bit/s.
    pub total_goodput_bps: Estimate,
    /// Mean of the goodputs of the flows, each over the time in which it ran, in bit/s.
    pub flow_goodput_bps: Estimate,
    /// Least of these goodputs, in bit/s.
    pub least_goodput_bps: Estimate,
    /// End-to-end queueing delay, relays included; null if no packet was delivered.
    pub queueing_ms: Option<DelayEstimates>,
    /// Jain's fairness index of the goodputs over the weights of the flows, from 1/n to 1; null if fewer than two flows ran in the measured time, or if none delivered anything.
    pub jain: Option<Estimate>,
    /// Packets declared lost divided by packets sent, from 0 to 1.
    pub loss: Estimate,
    /// Numbers of transfers; null without any.
    pub transfers: Option<TransferCounts>,
    /// Completion times of transfers; null if none is complete.
    pub completion_ms: Option<DelayEstimates>,
    /// Slowdown of transfers, those of all groups together; null if it is not known of any.
    pub slowdown: Option<SlowdownEstimates>,
}

impl ComparisonRow {
    /// The loss; none if no packet was delivered, since senders declare packets lost when later ones are acknowledged.
    pub fn measured_loss(&self) -> Option<Estimate> {
        self.queueing_ms.map(|_| self.loss)
    }
}

/// A mean over seeds with half the width of its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Mean, in the unit of the key.
    pub mean: f64,
    /// Half the width of the confidence interval; null for a single seed.
    pub half_width: Option<f64>,
}

/// Numbers of transfers of a group, or of all groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransferCounts {
    /// Transfers of the measured time.
    pub transfers: Estimate,
    /// Those of them that are complete.
    pub completed: Estimate,
}

impl TransferCounts {
    fn of(samples: &IndependentSamples<'_>, parts: &[RunPart<'_>]) -> Option<Self> {
        let sum = |count: fn(&Group) -> u64| {
            let of_part = |part: &RunPart<'_>| part.groups().map(count).sum::<u64>() as f64;
            samples.estimate(parts.iter().map(of_part))
        };
        let counts =
            Self { transfers: sum(|group| group.transfers)?, completed: sum(|group| group.completed)? };
        Some(counts).filter(|counts| counts.transfers.mean > 0.0)
    }
}

/// Statistics of a distribution of times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayEstimates {
    /// Mean, in milliseconds.
    pub mean: Estimate,
    /// Median, in milliseconds.
    pub p50: Estimate,
    /// 95th percentile, in milliseconds.
    pub p95: Estimate,
    /// 99th percentile, in milliseconds.
    pub p99: Estimate,
    /// 99.9th percentile, in milliseconds.
    pub p999: Estimate,
}

/// Statistics of the slowdown of transfers: completion time divided by the shortest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowdownEstimates {
    /// Mean.
    pub mean: Estimate,
    /// Median.
    pub p50: Estimate,
    /// 95th percentile.
    pub p95: Estimate,
    /// 99th percentile.
    pub p99: Estimate,
}

impl Comparison {
    /// The same comparison, made by this command with these changes of the scenario.
    #[must_use]
    pub fn made_by(mut self, command: String, overrides: &[String]) -> Self {
        self.command = command;
        self.rows.iter_mut().for_each(|row| row.overrides = overrides.to_vec());
        self
    }

    /// The comparison of `runs`, in the order in which their labels first occur.
    pub fn of(runs: &[Run]) -> Self {
        let mut seen = BTreeSet::new();
        let labels = runs.iter().map(|run| run.label.as_str()).filter(|label| seen.insert(*label));
        let mut comparison = Self::default();
        for label in labels {
            let seeds: Vec<&Run> = runs.iter().filter(|run| run.label == label).collect();
            comparison.rows.extend(rows(&seeds, runs));
            comparison.findings.extend(findings(label, &seeds));
        }
        // All runs have the same flows, whose starts differ by their random samples at most.
        comparison.findings.extend(runs.first().and_then(|run| late_start(&run.summary)));
        comparison
    }
}

/// The rows of runs that differ in their seeds only.
fn rows(seeds: &[&Run], all: &[Run]) -> Vec<ComparisonRow> {
    let Some(first) = seeds.first() else { return Vec::new() };
    let groups = &first.summary.groups;
    let samples = IndependentSamples::of(seeds);
    let utilization = seeds.iter().map(|run| RunHeadline::of(run, all).utilization);
    let whole = ComparisonRow { utilization: samples.estimate(utilization), ..row(seeds, None) };
    let of_groups = groups.iter().filter(|_| groups.len() > 1).map(|group| row(seeds, Some(&group.name)));
    std::iter::once(whole).chain(of_groups).collect()
}

/// The values of all flows, or of a group.
fn row(seeds: &[&Run], group: Option<&str>) -> ComparisonRow {
    let first = seeds.first().map(|run| &run.summary);
    let parts: Vec<RunPart<'_>> = seeds.iter().map(|run| RunPart::of(&run.summary, group)).collect();
    let samples = IndependentSamples::of(seeds);
    let estimate =
        |value: &dyn Fn(&RunPart<'_>) -> f64| samples.estimate(parts.iter().map(value)).unwrap_or_default();
    let goodputs = |part: &RunPart<'_>| {
        let measured = part.flows.iter().filter(|flow| flow.is_measured(part.summary.measured_from_s));
        measured.map(|flow| flow.goodput_bps).collect::<Vec<_>>()
    };
    let protocols: BTreeSet<&String> =
        parts.iter().flat_map(|part| &part.flows).map(|flow| &flow.protocol).collect();
    ComparisonRow {
        run: seeds.first().map_or_else(String::new, |run| run.label.clone()),
        group: group.map(str::to_owned),
        protocols: protocols.into_iter().cloned().collect(),
        world: first.map_or_else(String::new, |summary| summary.world.clone()),
        seeds: seeds.iter().map(|run| run.summary.seed).collect(),
        version: first.map_or_else(String::new, |summary| summary.version.clone()),
        scenario_sha256: first.map_or_else(String::new, |summary| summary.scenario_sha256.clone()),
        traces: first.map_or_else(Vec::new, |summary| summary.traces.clone()),
        overrides: Vec::new(),
        flows: parts.first().map_or(0, |part| part.flows.len() as u64),
        starving: estimate(&|part| part.flows.iter().filter(|flow| flow.starves()).count() as f64),
        utilization: None,
        total_goodput_bps: estimate(&|part| total_goodput(part.summary, &part.flows)),
        flow_goodput_bps: estimate(&|part| mean(&goodputs(part))),
        least_goodput_bps: estimate(&|part| goodputs(part).into_iter().reduce(f64::min).unwrap_or_default()),
        queueing_ms: DelayEstimates::of(&samples, parts.iter().map(RunPart::queueing)),
        jain: samples.estimate(parts.iter().map(|part| part.jain().unwrap_or(f64::NAN))),
        loss: estimate(&|part| loss(&part.flows)),
        transfers: TransferCounts::of(&samples, &parts),
        completion_ms: DelayEstimates::of(&samples, parts.iter().map(RunPart::completion)),
        slowdown: SlowdownEstimates::of(&samples, parts.iter().map(RunPart::slowdown)),
    }
}

/// Which runs of a row are independent samples. Runs that differ in their seeds only are; of runs with the same label over
/// several scenarios or traces, those of one scenario resemble one another, so that each scenario is one sample.
struct IndependentSamples<'a> {
    /// For each run its scenario.
    scenarios: Vec<ScenarioIdentity<'a>>,
}

/// The hash of a scenario, and its traces.
type ScenarioIdentity<'a> = (&'a str, &'a [TraceKey]);

impl<'a> IndependentSamples<'a> {
    fn of(runs: &'a [&'a Run]) -> Self {
        let key = |run: &&'a Run| (run.summary.scenario_sha256.as_str(), run.summary.traces.as_slice());
        Self { scenarios: runs.iter().map(key).collect() }
    }

    /// The estimate from one value for each run; none if there is no finite value.
    fn estimate(&self, values: impl Iterator<Item = f64>) -> Option<Estimate> {
        let first = self.scenarios.first()?;
        if self.scenarios.iter().all(|scenario| scenario == first) {
            return Estimate::of(values);
        }
        let mut of_scenarios: Vec<(&ScenarioIdentity<'a>, Vec<f64>)> = Vec::new();
        for (scenario, value) in self.scenarios.iter().zip(values).filter(|(_, value)| value.is_finite()) {
            match of_scenarios.iter_mut().find(|(known, _)| *known == scenario) {
                Some((_, values)) => values.push(value),
                None => of_scenarios.push((scenario, vec![value])),
            }
        }
        Estimate::of(of_scenarios.iter().map(|(_, values)| mean(values)))
    }
}

/// The part of a run that a row is about.
struct RunPart<'a> {
    summary: &'a Summary,
    /// None for all flows.
    group: Option<&'a Group>,
    flows: Vec<&'a Flow>,
}

impl<'a> RunPart<'a> {
    fn of(summary: &'a Summary, group: Option<&str>) -> Self {
        let flows = summary.flows.iter().filter(|flow| group.is_none_or(|group| flow.group == group));
        let group = group.and_then(|name| summary.groups.iter().find(|group| group.name == name));
        Self { summary, group, flows: flows.collect() }
    }

    fn jain(&self) -> Option<f64> {
        self.group.map_or(self.summary.fairness.jain, |group| group.jain)
    }

    fn queueing(&self) -> Option<Milliseconds> {
        let queueing_ms = self.group.map_or(self.summary.queueing_ms, |group| group.queueing_ms);
        self.flows.iter().any(|flow| flow.delivered > 0).then_some(queueing_ms)
    }

    /// The group, or all groups.
    fn groups(&self) -> impl Iterator<Item = &'a Group> {
        let all = if self.group.is_none() { self.summary.groups.as_slice() } else { &[] };
        self.group.into_iter().chain(all)
    }

    fn slowdown(&self) -> Option<Slowdown> {
        self.group.map_or(self.summary.slowdown, |group| group.slowdown)
    }

    /// The completion times of the group, or of the only group with transfers.
    fn completion(&self) -> Option<Milliseconds> {
        let mut with_transfers = self.groups().filter(|group| group.transfers > 0);
        with_transfers.next().filter(|_| with_transfers.next().is_none())?.completion_ms
    }
}

impl Estimate {
    /// The estimate in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self { mean: factor * self.mean, half_width: self.half_width.map(|half| factor * half) }
    }

    /// The mean of finite values with its confidence interval; none if there is no finite value.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let ConfidenceInterval { mean, half_width } = confidence_interval(&values)?;
        Some(Self { mean, half_width })
    }
}

impl DelayEstimates {
    /// The means over the distributions of the runs; none if there is no distribution.
    fn of(
        samples: &IndependentSamples<'_>,
        distributions: impl Iterator<Item = Option<Milliseconds>>,
    ) -> Option<Self> {
        let all: Vec<Option<Milliseconds>> = distributions.collect();
        let estimate = |value: fn(&Milliseconds) -> f64| {
            samples.estimate(all.iter().map(|times| times.as_ref().map_or(f64::NAN, value)))
        };
        Some(Self {
            mean: estimate(|times| times.mean)?,
            p50: estimate(|times| times.p50)?,
            p95: estimate(|times| times.p95)?,
            p99: estimate(|times| times.p99)?,
            p999: estimate(|times| times.p999)?,
        })
    }
}

impl SlowdownEstimates {
    /// The means over the runs; none if no run has a slowdown.
    fn of(
        samples: &IndependentSamples<'_>,
        slowdowns: impl Iterator<Item = Option<Slowdown>>,
    ) -> Option<Self> {
        let all: Vec<Option<Slowdown>> = slowdowns.collect();
        let estimate = |value: fn(&Slowdown) -> f64| {
            samples.estimate(all.iter().map(|slowdown| slowdown.as_ref().map_or(f64::NAN, value)))
        };
        Some(Self {
            mean: estimate(|slowdown| slowdown.mean)?,
            p50: estimate(|slowdown| slowdown.p50)?,
            p95: estimate(|slowdown| slowdown.p95)?,
            p99: estimate(|slowdown| slowdown.p99)?,
        })
    }
}

/// Sentences about starving flows, the longest silence in any of the runs and the number of the others of that run. The runs
/// differ in their seeds only.
fn findings(label: &str, seeds: &[&Run]) -> Vec<String> {
    let starving = starving_groups(seeds);
    let sentence = |(first, runs): &(&Group, Vec<&&Run>)| {
        let sentence = runs.first().map(|run| starvation(first, &run.summary)).unwrap_or_default();
        format!("{label}: {sentence}{}", in_seeds(runs, seeds))
    };
    let mut found: Vec<String> = starving.iter().take(MOST_SENTENCES).map(sentence).collect();
    if let Some(others @ 1..) = starving.len().checked_sub(MOST_SENTENCES) {
        found
            .push(format!("{label}: {others} more groups have starving flows; summary.json has all of them"));
    }
    let silent: Vec<&&Run> = seeds.iter().filter(|run| !run.summary.silences.is_empty()).collect();
    let longest = silent.iter().max_by(|one, other| {
        let length = |run: &Run| run.summary.silences.first().map_or(0.0, |silence| silence.silent_s);
        length(one).total_cmp(&length(other))
    });
    if let Some(run) = longest {
        let which = in_seeds(&silent, seeds);
        let sentences = longest_silences(&run.summary, 1);
        found.extend(sentences.into_iter().map(|sentence| format!("{label}: {sentence}{which}")));
    }
    let live = seeds.iter().flat_map(|run| run.summary.live_sentences());
    found.extend(live.map(|sentence| format!("{label}: {sentence}")));
    found
}

/// Each group with starving flows as it is in the first seed in which it has some, and the runs of all such seeds.
fn starving_groups<'a>(seeds: &'a [&'a Run]) -> Vec<(&'a Group, Vec<&'a &'a Run>)> {
    let mut found: Vec<(&Group, Vec<&&Run>)> = Vec::new();
    for run in seeds {
        for group in run.summary.groups.iter().filter(|group| group.starving > 0) {
            match found.iter_mut().find(|(first, _)| first.name == group.name) {
                Some((_, runs)) => runs.push(run),
                None => found.push((group, vec![run])),
            }
        }
    }
    found
}

/// In how many of several seeds something was found, and in which of them the numbers of the sentence were.
fn in_seeds(found: &[&&Run], seeds: &[&Run]) -> String {
    match (found.first(), seeds.len()) {
        (Some(first), 2..) => {
            format!(" (seed {}; in {} of {} seeds)", first.summary.seed, found.len(), seeds.len())
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Silence;

    fn run(label: &str, seed: u64, goodputs: [f64; 2]) -> Run {
        let flow = |group: &str, goodput_bps| Flow {
            group: group.into(),
            protocol: format!("{group}-law"),
            goodput_bps,
            fair_share_bps: Some(10e6),
            stop_s: 20.0,
            delivered: 1,
            sent: 100,
            lost: 2,
            ..Flow::default()
        };
        let flows = vec![flow("a", goodputs[0]), flow("b", goodputs[1])];
        let group = |name: &str, flow: &Flow| Group {
            name: name.into(),
            flows: 1,
            starving: u64::from(flow.starves()),
            ..Group::default()
        };
        let groups = vec![group("a", &flows[0]), group("b", &flows[1])];
        let summary = Summary { seed, flows, groups, simulated_s: 20.0, ..Summary::default() };
        Run { label: label.into(), summary, ..Run::default() }
    }

    #[test]
    fn a_run_has_a_row_of_all_flows_and_one_for_each_group_with_intervals_over_the_seeds() {
        let runs = [run("x", 1, [8e6, 4e6]), run("y", 1, [5e6, 5e6]), run("x", 2, [8e6, 6e6])];
        let Comparison { rows, findings, .. } = Comparison::of(&runs);
        let names: Vec<(&str, Option<&str>)> =
            rows.iter().map(|row| (row.run.as_str(), row.group.as_deref())).collect();
        assert_eq!(names[..3], [("x", None), ("x", Some("a")), ("x", Some("b"))]);
        assert_eq!(names[3..], [("y", None), ("y", Some("a")), ("y", Some("b"))]);
        // 12 and 14 Mbit/s: t(1) = 12.706 times the standard error 1.
        let total = rows[0].total_goodput_bps;
        assert!((total.mean - 13e6).abs() < 1.0 && (total.half_width.unwrap() - 12.706e6).abs() < 1e3);
        assert_eq!((rows[0].flow_goodput_bps.mean, rows[0].least_goodput_bps.mean), (6.5e6, 5e6));
        assert_eq!(
            (rows[2].total_goodput_bps.mean, &rows[2].protocols[..]),
            (5e6, &["b-law".to_owned()][..])
        );
        assert_eq!((rows[0].seeds.as_slice(), rows[3].total_goodput_bps.half_width), (&[1, 2][..], None));
        assert_eq!((rows[0].loss.mean, rows[0].queueing_ms.is_some()), (0.02, true));
        assert_eq!(findings, Vec::<String>::new());
    }

    /// A second flow that would stop before it starts delivers nothing in no time.
    #[test]
    fn a_flow_that_did_not_run_in_the_measured_time_is_left_out_of_the_goodputs_of_flows() {
        let mut run = run("x", 1, [8e6, 0.0]);
        (run.summary.flows[1].start_s, run.summary.flows[1].stop_s) = (20.0, 20.0);
        let row = &Comparison::of(&[run]).rows[0];
        let goodputs = [row.total_goodput_bps, row.flow_goodput_bps, row.least_goodput_bps];
        assert_eq!(goodputs.map(|goodput| goodput.mean), [8e6; 3]);
    }

    #[test]
    fn each_statistic_of_the_queueing_delay_is_its_mean_over_the_seeds() {
        let delays = |seed, first: f64| {
            let mut run = run("x", seed, [8e6, 4e6]);
            let [mean, p50, p95, p99, p999] = [0.0, 1.0, 2.0, 3.0, 4.0].map(|more| first + more);
            run.summary.queueing_ms = Milliseconds { min: 0.0, mean, p50, p95, p99, p999, max: 99.0 };
            run
        };
        let found = Comparison::of(&[delays(1, 10.0), delays(2, 20.0)]).rows[0].queueing_ms.unwrap();
        let DelayEstimates { mean, p50, p95, p99, p999 } = found;
        let means = [mean, p50, p95, p99, p999].map(|statistic| statistic.mean);
        assert_eq!(means, [15.0, 16.0, 17.0, 18.0, 19.0]);
    }

    /// Two seeds on each of two traces: the means are 13 and 9 Mbit/s, so that the interval is that of two samples, t(1) =
    /// 12.706 times the standard error 2.
    #[test]
    fn runs_of_one_trace_are_one_sample_of_a_row_over_several_traces() {
        let on = |trace: &str, run: Run| {
            let traces = vec![TraceKey { name: trace.into(), sha256: trace.into() }];
            Run { summary: Summary { traces, ..run.summary.clone() }, ..run }
        };
        let runs = [
            on("one", run("x", 1, [8e6, 4e6])),
            on("one", run("x", 2, [8e6, 6e6])),
            on("two", run("x", 1, [4e6, 5e6])),
            on("two", run("x", 2, [5e6, 4e6])),
        ];
        let total = Comparison::of(&runs).rows[0].total_goodput_bps;
        assert!((total.mean - 11e6).abs() < 1.0, "{total:?}");
        assert!((total.half_width.unwrap() - 25.412e6).abs() < 1e3, "{total:?}");
    }

    #[test]
    fn each_starving_group_has_a_sentence_with_its_own_number_of_seeds() {
        let runs = [run("x", 1, [8e6, 0.5e6]), run("x", 2, [0.2e6, 8e6]), run("x", 3, [0.1e6, 9e6])];
        let findings = Comparison::of(&runs).findings;
        let starves = |group: &str, goodput: &str, share: &str, which: &str| {
            format!(
                "x: flow \"{group}\" starves: {goodput} Mbit/s, {share} % of the fair share of 10.0 Mbit/s ({which})"
            )
        };
        assert_eq!(
            findings,
            [
                starves("b", "0.500", "5.0", "seed 1; in 1 of 3 seeds"),
                starves("a", "0.200", "2.0", "seed 2; in 2 of 3 seeds")
            ]
        );
    }

    #[test]
    fn a_flow_that_starts_late_in_all_runs_has_one_sentence_without_a_label() {
        let late = |label: &str, seed| {
            let mut run = run(label, seed, [8e6, 4e6]);
            (run.summary.flows[1].start_s, run.summary.flows[1].stop_s) = (15.0, 20.0);
            run
        };
        let findings = Comparison::of(&[late("x", 1), late("x", 2), late("y", 1)]).findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains(" starts at 15 s, after measure.from = 0 s: "), "{findings:?}");
    }

    #[test]
    fn a_finding_names_the_run_and_the_number_of_seeds_that_have_it() {
        let runs = [run("x", 1, [8e6, 4e6]), run("x", 2, [8e6, 0.5e6]), run("y", 1, [9e6, 0.1e6])];
        let findings = Comparison::of(&runs).findings;
        let starves = "flow \"b\" starves: 0.500 Mbit/s, 5.0 % of the fair share of 10.0 Mbit/s";
        assert_eq!(findings[0], format!("x: {starves} (seed 2; in 1 of 2 seeds)"));
        assert_eq!(findings.len(), 2, "{findings:?}");
    }

    #[test]
    fn a_group_that_delivered_nothing_has_no_delay_and_runs_without_links_no_utilization() {
        let mut idle = run("x", 1, [0.0, 0.0]);
        idle.summary.flows.iter_mut().for_each(|flow| flow.delivered = 0);
        let rows = Comparison::of(&[idle]).rows;
        assert!(rows.iter().all(|row| row.queueing_ms.is_none() && row.utilization.is_none()));
        assert!(rows.iter().all(|row| row.measured_loss().is_none()), "no sender measured a loss");
    }

    #[test]
    fn the_longest_silence_has_a_sentence_and_the_others_are_counted() {
        let mut run = run("x", 1, [8e6, 4e6]);
        let silence = |silent_s| Silence { flow: "a".into(), silent_s, ..Silence::default() };
        run.summary.silences = vec![silence(9.0), silence(4.0), silence(2.0)];
        let findings = Comparison::of(&[run]).findings;
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert_eq!(findings[1], "x: 2 more such silences of 2 to 4 s; summary.json has all of them");
    }
}
