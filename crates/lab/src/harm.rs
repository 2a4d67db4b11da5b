//! The harm that flows do to others, beside the harm that as many flows of the others' own protocol do to them in the same
//! place: R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index: Setting the Bar For The Deployment of
//! Congestion Control Algorithms", HotNets 2019.

use crate::coexistence::CompetingFlows;
use crate::compare::{Choice, ComparisonCase, cases, compare, protocols as chosen_protocols};
use crate::error::Error;
use millpond_law::Card;
use millpond_protocols::Registry;
use millpond_results::{Estimate, Finished, Run, RunOrigin, Watch, World};
use millpond_scenario::{At, Fault, Place, Scenario};
use millpond_units::nearest;

/// Harms that differ by no more are equal: a hundredth of what the flow has.
const EQUAL_WITHIN: f64 = 0.01;

/// How much worse a flow does beside others than alone: from 0, no harm, to 1, nothing is left of its performance. Below 0
/// it does better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Harm {
    /// Of its goodput.
    pub goodput: f64,
    /// Of the 95th percentile of its one-way times. Not a number without delivered packets.
    pub delay: f64,
}

impl Harm {
    /// The harm to the flows of the group `harmed`.
    pub fn of(harmed: &str, alone: &Run, beside: &Run) -> Self {
        let group = |run: &Run| run.summary.groups.iter().find(|group| group.name == harmed).cloned();
        let goodput = |run: &Run| group(run).map_or(f64::NAN, |group| group.goodput_bps.mean);
        let delay =
            |run: &Run| group(run).and_then(|group| group.one_way_ms).map_or(f64::NAN, |times| times.p95);
        Self {
            goodput: of_more_is_better(goodput(alone), goodput(beside)),
            delay: of_less_is_better(delay(alone), delay(beside)),
        }
    }
}

/// The harm to a quantity of which more is better, such as goodput.
fn of_more_is_better(alone: f64, beside: f64) -> f64 {
    (alone - beside) / alone
}

/// The harm to a quantity of which less is better, such as delay.
fn of_less_is_better(alone: f64, beside: f64) -> f64 {
    (beside - alone) / beside
}

/// Whether flows do more harm to others than the others' own protocol does, at 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarmVerdict {
    /// It is acceptable by the threshold of Ware et al.
    NoMore,
    /// It is not.
    More,
    /// The runs differ too much from seed to seed.
    Undecided,
}

impl HarmVerdict {
    /// From the differences of both harms, one for each seed.
    fn of(differences: impl Iterator<Item = f64>) -> Self {
        let Some(Estimate { mean, half_width }) = Estimate::of(differences) else { return Self::Undecided };
        let half = half_width.unwrap_or(f64::INFINITY);
        if mean - half > EQUAL_WITHIN {
            Self::More
        } else if mean + half <= EQUAL_WITHIN {
            Self::NoMore
        } else {
            Self::Undecided
        }
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoMore => "no more",
            Self::More => "more",
            Self::Undecided => "undecided",
        }
    }
}

/// The harm to one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarmTo {
    /// By the harming flows; none if the quantity was measured under no seed.
    pub by_flows: Option<Estimate>,
    /// By as many flows of the harmed flows' own protocol.
    pub by_own_kind: Option<Estimate>,
    /// Whether the first is greater.
    pub verdict: HarmVerdict,
}

impl HarmTo {
    /// From the harms by the flows and by the own kind, a pair for each seed.
    fn of(harms: &[(Harm, Harm)], quantity: fn(&Harm) -> f64) -> Self {
        Self {
            by_flows: Estimate::of(harms.iter().map(|(flows, _)| quantity(flows))),
            by_own_kind: Estimate::of(harms.iter().map(|(_, own)| quantity(own))),
            verdict: HarmVerdict::of(harms.iter().map(|(flows, own)| quantity(flows) - quantity(own))),
        }
    }
}

/// One row of a table of harm.
#[derive(Clone, Debug, PartialEq)]
pub struct HarmRow {
    /// The protocol of the harming flows, as the scenario names it.
    pub by: String,
    /// The flows that share the link, or the harmed group.
    pub label: String,
    /// The protocol of the harmed flows.
    pub own_kind: String,
    /// The harm to the goodput of the harmed flows.
    pub goodput: HarmTo,
    /// The harm to the 95th percentile of their one-way times.
    pub delay: HarmTo,
}

/// A row before its runs: the harmed group, and the numbers of its scenarios.
struct PlannedHarm {
    by: String,
    label: String,
    harmed: String,
    harmed_protocol: String,
    /// The harmed group beside the harming one.
    beside: usize,
    /// Beside as many flows of its own protocol in the place of the harming ones.
    own_kind: usize,
    /// Without the harming group.
    alone: usize,
}

/// The runs of a table of harm.
#[derive(Default)]
pub struct HarmPlan {
    scenarios: Vec<Scenario>,
    rows: Vec<PlannedHarm>,
}

impl HarmPlan {
    /// The harm of a protocol to the flow of CUBIC of each of these scenarios of coexistence.
    ///
    /// # Errors
    /// A scenario that the protocol refuses.
    pub fn to_cubic(name: &str, card: &Card, competitions: &[CompetingFlows]) -> Result<Self, Error> {
        let mut plan = Self::default();
        for competition in competitions {
            plan.add(competition.scenario(name, card)?, "one", |_| competition.label());
        }
        Ok(plan)
    }

    /// The harm that the group `harming` does to each other group of a scenario, with each of these protocols in turn; without
    /// any, with its own.
    ///
    /// # Errors
    /// An unknown group, a scenario without another one, or a protocol that is named twice.
    pub fn by_group(mut scenario: Scenario, harming: &str, protocols: &[String]) -> Result<Self, Fault> {
        let names: Vec<&str> = scenario.flows.iter().map(|group| group.name.value.as_str()).collect();
        let problem = match (names.contains(&harming), names.len()) {
            (true, 2..) => None,
            (true, _) => Some((
                "the scenario has no other group of flows".to_owned(),
                "add a [[flows]] table: the flows that are harmed".to_owned(),
            )),
            (false, _) => Some((
                format!("unknown group of flows \"{harming}\""),
                match nearest(harming, names.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("the scenario has: {}", names.join(", ")),
                },
            )),
        };
        if let Some((message, help)) = problem {
            let text = scenario.sources.add("--harm", harming);
            let place = Place { text, start: 0, end: harming.len() };
            return Err(scenario.fault(place, message, "the harming group").help(help));
        }
        let mut plan = Self::default();
        for protocol in chosen_protocols(&mut scenario, protocols)? {
            let mut beside = scenario.clone();
            let harming_groups = beside.flows.iter_mut().filter(|group| group.name.value == harming);
            if let Some(protocol) = protocol {
                harming_groups.for_each(|group| group.protocol = protocol.clone());
            }
            plan.add(beside, harming, str::to_owned);
        }
        Ok(plan)
    }

    /// Adds a row for each group of `beside` but `harming`.
    fn add(&mut self, beside: Scenario, harming: &str, label: impl Fn(&str) -> String) {
        let is_harming = |name: &str| name == harming;
        let alone = Scenario {
            flows: beside.flows.iter().filter(|group| !is_harming(&group.name.value)).cloned().collect(),
            ..beside.clone()
        };
        let with_protocol = |protocol: &str| {
            let mut scenario = beside.clone();
            let harming = scenario.flows.iter_mut().filter(|group| is_harming(&group.name.value));
            harming.for_each(|group| group.protocol = At::new(protocol.to_owned(), Place::default()));
            scenario
        };
        let harming_group = beside.flows.iter().find(|group| is_harming(&group.name.value));
        let by = harming_group.map_or_else(String::new, |group| group.protocol.value.clone());
        for group in &alone.flows {
            let row = PlannedHarm {
                by: by.clone(),
                harmed_protocol: group.protocol.value.clone(),
                label: label(&group.name.value),
                harmed: group.name.value.clone(),
                own_kind: self.number(with_protocol(&group.protocol.value)),
                beside: self.number(beside.clone()),
                alone: self.number(alone.clone()),
            };
            self.rows.push(row);
        }
    }

    /// The number of a scenario, each of which is run once.
    fn number(&mut self, scenario: Scenario) -> usize {
        let known = self.scenarios.iter().position(|other| *other == scenario);
        known.unwrap_or_else(|| {
            self.scenarios.push(scenario);
            self.scenarios.len() - 1
        })
    }

    /// The number of runs under this number of seeds.
    pub fn run_count(&self, seeds: u64) -> usize {
        self.scenarios.len().saturating_mul(usize::try_from(seeds).unwrap_or(usize::MAX))
    }

    /// The rows, under this number of seeds from that of the scenario upwards: the runs of a row are paired by their seeds.
    ///
    /// # Errors
    /// A scenario that a protocol refuses, or that `watch` stopped the runs.
    pub fn run(&self, seeds: u64, registry: &Registry, watch: &dyn Watch) -> Result<Vec<HarmRow>, Error> {
        let choice = Choice { seeds, ..Choice::of(World::Packets) };
        let mut all: Vec<ComparisonCase> = Vec::new();
        for scenario in &self.scenarios {
            all.extend(cases(scenario, registry, &choice)?);
        }
        let runs = compare(&all, registry, &RunOrigin::default(), &|_, _| Ok(()), watch)?;
        let per_scenario = (runs.len() / self.scenarios.len().max(1)).max(1);
        let runs: Vec<&[Finished]> = runs.chunks(per_scenario).collect();
        Ok(self.rows.iter().map(|row| row.of(&runs)).collect())
    }
}

impl PlannedHarm {
    /// The row of these runs: for each scenario one for each seed.
    fn of(&self, runs: &[&[Finished]]) -> HarmRow {
        let [beside, own_kind, alone] = [self.beside, self.own_kind, self.alone].map(|number| runs[number]);
        let harm = |alone: &Finished, beside: &Finished| Harm::of(&self.harmed, &alone.run, &beside.run);
        let harms = alone.iter().zip(beside.iter().zip(own_kind));
        let harms: Vec<(Harm, Harm)> =
            harms.map(|(alone, (beside, own))| (harm(alone, beside), harm(alone, own))).collect();
        HarmRow {
            by: self.by.clone(),
            label: self.label.clone(),
            own_kind: self.harmed_protocol.clone(),
            goodput: HarmTo::of(&harms, |harm| harm.goodput),
            delay: HarmTo::of(&harms, |harm| harm.delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Harm, HarmTo, HarmVerdict, of_less_is_better, of_more_is_better};
    use millpond_results::{Group, Milliseconds, Run, Spread, Summary};

    /// A quarter of the goodput or four times the delay: three quarters of the performance are lost.
    #[test]
    fn harm_is_the_share_of_the_performance_alone_that_is_lost() {
        assert_eq!([of_more_is_better(40.0, 10.0), of_less_is_better(10.0, 40.0)], [0.75, 0.75]);
        assert_eq!([of_more_is_better(40.0, 40.0), of_less_is_better(10.0, 10.0)], [0.0, 0.0]);
        assert_eq!(of_more_is_better(40.0, 0.0), 1.0, "nothing is left");
        assert_eq!([of_more_is_better(40.0, 50.0), of_less_is_better(10.0, 8.0)], [-0.25, -0.25]);
    }

    /// The group has a quarter of the goodput, and twice the 95th percentile of the one-way times. Other groups and other
    /// percentiles do not count.
    #[test]
    fn harm_is_that_to_the_goodput_and_the_95th_percentile_of_the_one_way_times_of_the_group() {
        let group = |name: &str, goodput: f64, p95: f64| {
            let times =
                Milliseconds { min: 1.0, mean: 3.0, p50: 2.0, p95, p99: 99.0, ..Milliseconds::default() };
            Group {
                name: name.to_owned(),
                goodput_bps: Spread { mean: goodput, ..Spread::default() },
                one_way_ms: Some(times),
                ..Group::default()
            }
        };
        let run =
            |groups: Vec<Group>| Run { summary: Summary { groups, ..Summary::default() }, ..Run::default() };
        let alone = run(vec![group("harmed", 8e6, 20.0)]);
        let beside = run(vec![group("harming", 5e6, 50.0), group("harmed", 2e6, 40.0)]);
        let harm = Harm::of("harmed", &alone, &beside);
        assert_eq!(harm, Harm { goodput: 0.75, delay: 0.5 });
        let harms = [(harm, Harm { goodput: 0.25, delay: 0.5 }); 2];
        let [goodput, delay] =
            [|harm: &Harm| harm.goodput, |harm: &Harm| harm.delay].map(|of| HarmTo::of(&harms, of));
        assert_eq!([goodput.verdict, delay.verdict], [HarmVerdict::More, HarmVerdict::NoMore]);
        let means = [goodput.by_flows, goodput.by_own_kind, delay.by_flows, delay.by_own_kind];
        assert_eq!(means.map(|estimate| estimate.unwrap().mean), [0.75, 0.25, 0.5, 0.5]);
    }

    #[test]
    fn a_verdict_needs_differences_that_have_one_sign() {
        let of = |differences: &[f64]| HarmVerdict::of(differences.iter().copied());
        assert_eq!(of(&[0.0, 0.0, 0.0]), HarmVerdict::NoMore);
        assert_eq!(of(&[-0.3, -0.31, -0.29]), HarmVerdict::NoMore);
        assert_eq!(of(&[0.3, 0.31, 0.29]), HarmVerdict::More);
        assert_eq!(of(&[0.3, -0.3, 0.1]), HarmVerdict::Undecided);
        assert_eq!(of(&[-0.3, 0.3, -0.1]), HarmVerdict::Undecided, "less harm in the mean");
        assert_eq!(of(&[0.3]), HarmVerdict::Undecided, "one seed says nothing about the others");
        assert_eq!(of(&[f64::NAN]), HarmVerdict::Undecided);
    }
}
