//! One disturbance after the other, applied to a scenario under several protocols: what each changes.
//!
//! ```text
//!   Scenario --protocol--> scenario without disturbance ------------------+--run--> Indicators
//!                            \--disturbance, level--> disturbed scenario --+--run--> Indicators, changes
//! ```

mod disturbance;
mod feedback_path;
mod paths;

pub use disturbance::Disturbance;

use crate::compare::{Choice, ComparisonCase, assigned, cases, compare, protocols as chosen_protocols};
use crate::error::Error;
use millpond_protocols::Registry;
use millpond_results::{
    DisturbanceComparison, DisturbedProtocol, DisturbedRow, Indicators, Run, RunOrigin, Watch, World,
};
use millpond_scenario::{Fault, Place, Scenario};
use millpond_units::nearest;
use std::ops::Range;

/// The runs of a comparison of disturbances.
pub struct DisturbancePlan {
    title: String,
    protocols: Vec<PlannedProtocol>,
    cases: Vec<ComparisonCase>,
}

/// The runs of one protocol, as numbers of cases.
struct PlannedProtocol {
    label: String,
    undisturbed: Range<usize>,
    levels: Vec<PlannedLevel>,
}

/// One level of a disturbance: its runs, or why it does not apply.
struct PlannedLevel {
    disturbance: &'static Disturbance,
    value: f64,
    runs: Result<Range<usize>, String>,
}

/// The disturbances with these names; `all`: all of them.
///
/// # Errors
/// An unknown name, with the nearest one.
pub fn disturbances(scenario: &mut Scenario, names: &[String]) -> Result<Vec<&'static Disturbance>, Fault> {
    if names.iter().any(|name| name == "all") {
        return Ok(Disturbance::ALL.iter().collect());
    }
    let find = |name: &String| Disturbance::ALL.iter().find(|one| one.name == name);
    if let Some(unknown) = names.iter().find(|name| find(name).is_none()) {
        let text = scenario.sources.add("--perturb", unknown);
        let place = Place { text, start: 0, end: unknown.len() };
        let known = Disturbance::ALL.iter().map(|one| one.name);
        let help = match nearest(unknown, known.clone()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("there are: all, {}", known.collect::<Vec<_>>().join(", ")),
        };
        let fault =
            scenario.fault(place, format!("unknown disturbance \"{unknown}\""), "no such disturbance");
        return Err(fault.help(help));
    }
    // Each once, in the order of the list.
    Ok(Disturbance::ALL.iter().filter(|one| names.iter().any(|name| name == one.name)).collect())
}

impl DisturbancePlan {
    /// Every level of these disturbances, under each protocol and seed in the packet world.
    ///
    /// # Errors
    /// An unknown protocol, or one that is named twice, or a scenario that it refuses.
    pub fn new(
        scenario: Scenario,
        protocols: &[String],
        disturbances: &[&'static Disturbance],
        seeds: u64,
        registry: &Registry,
    ) -> Result<Self, Error> {
        // Disturbances change links of the paths.
        let mut scenario = scenario.with_fixed_paths();
        let mut plan = Self { title: scenario.title.clone(), protocols: Vec::new(), cases: Vec::new() };
        let choice = Choice { seeds, ..Choice::of(World::Packets) };
        for protocol in chosen_protocols(&mut scenario, protocols)? {
            let label = protocol.as_ref().map_or_else(|| scenario.title.clone(), |name| name.value.clone());
            let scenario =
                protocol.map_or_else(|| scenario.clone(), |protocol| assigned(&scenario, &protocol));
            let undisturbed = plan.add(&label, &scenario, registry, &choice)?;
            let mut levels = Vec::new();
            for &disturbance in disturbances {
                for &value in disturbance.levels {
                    let label = format!("{label}+{} {}", disturbance.name, disturbance.level(value));
                    let runs = match disturbance.disturbed(&scenario, value) {
                        Ok(disturbed) => Ok(plan.add(&label, &disturbed, registry, &choice)?),
                        Err(reason) => Err(reason),
                    };
                    levels.push(PlannedLevel { disturbance, value, runs });
                }
            }
            plan.protocols.push(PlannedProtocol { label, undisturbed, levels });
        }
        Ok(plan)
    }

    /// Adds the runs of a scenario under all seeds; returns their numbers.
    fn add(
        &mut self,
        label: &str,
        scenario: &Scenario,
        registry: &Registry,
        choice: &Choice,
    ) -> Result<Range<usize>, Error> {
        let first = self.cases.len();
        let cases = cases(scenario, registry, choice)?;
        self.cases.extend(cases.into_iter().map(|case| ComparisonCase { label: label.to_owned(), ..case }));
        Ok(first..self.cases.len())
    }

    /// The labels of all runs.
    pub fn labels(&self) -> Vec<String> {
        self.cases.iter().map(|case| case.label.clone()).collect()
    }

    /// Runs everything.
    ///
    /// # Errors
    /// `watch` stopped the runs.
    pub fn run(
        &self,
        registry: &Registry,
        origin: &RunOrigin,
        watch: &dyn Watch,
    ) -> Result<DisturbanceComparison, Error> {
        let finished = compare(&self.cases, registry, origin, &|_, _| Ok(()), watch)?;
        let runs: Vec<Run> = finished.into_iter().map(|finished| finished.run).collect();
        let seeds = self.protocols.first().map_or(0..0, |protocol| protocol.undisturbed.clone());
        Ok(DisturbanceComparison {
            command: origin.command.clone(),
            scenario: self.title.clone(),
            version: origin.version.clone(),
            seeds: runs[seeds].iter().map(|run| run.summary.seed).collect(),
            protocols: self.protocols.iter().map(|protocol| protocol.results(&runs)).collect(),
        })
    }
}

impl PlannedProtocol {
    fn results(&self, runs: &[Run]) -> DisturbedProtocol {
        let own: Vec<Run> = self.levels.iter().filter_map(|level| level.runs.clone().ok()).fold(
            runs[self.undisturbed.clone()].to_vec(),
            |mut own, range| {
                own.extend_from_slice(&runs[range]);
                own
            },
        );
        let undisturbed = &runs[self.undisturbed.clone()];
        DisturbedProtocol {
            protocol: self.label.clone(),
            undisturbed: Indicators::of(undisturbed, &own),
            rows: self.levels.iter().map(|level| level.row(runs, undisturbed, &own)).collect(),
        }
    }
}

impl PlannedLevel {
    /// The row of this level. A disturbance after which every run is the same to the last bit does not apply.
    fn row(&self, runs: &[Run], undisturbed: &[Run], among: &[Run]) -> DisturbedRow {
        let Self { disturbance, value, runs: planned } = self;
        let row = DisturbedRow {
            disturbance: disturbance.name.to_owned(),
            level: disturbance.level(*value),
            ..DisturbedRow::default()
        };
        let disturbed = match planned {
            Ok(range) => &runs[range.clone()],
            Err(reason) => return DisturbedRow { does_not_apply: Some(reason.clone()), ..row },
        };
        if disturbed.iter().zip(undisturbed).all(|(one, other)| have_equal_results(one, other)) {
            return DisturbedRow { does_not_apply: Some(disturbance.reader.to_owned()), ..row };
        }
        DisturbedRow {
            values: Some(Indicators::of(disturbed, among)),
            changes: Some(Indicators::changes(disturbed, undisturbed, among)),
            ..row
        }
    }
}

/// Whether flows got the same in both runs.
fn have_equal_results(one: &Run, other: &Run) -> bool {
    let (one, other) = (&one.summary, &other.summary);
    one.groups == other.groups && one.queueing_ms == other.queueing_ms && one.fairness == other.fairness
}
