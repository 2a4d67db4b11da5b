//! The harm that flows of a protocol do to a flow of CUBIC, beside the harm that as many flows of CUBIC do to it in the same
//! place: R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index: Setting the Bar For The Deployment of
//! Congestion Control Algorithms", HotNets 2019.

use crate::coexistence::CompetingFlows;
use crate::compare::{Choice, ComparisonCase, cases, compare};
use crate::error::Error;
use millpond_law::Card;
use millpond_protocols::Registry;
use millpond_results::{Estimate, Finished, Run, RunOrigin, Watch, World};
use millpond_scenario::{At, Place, Scenario};

/// The group of the flow of CUBIC.
const HARMED: &str = "beside";

/// What is deployed today.
const PRESENT: &str = "cubic";

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
    /// The harm to the flow of CUBIC.
    pub fn of(alone: &Run, beside: &Run) -> Self {
        let group = |run: &Run| run.summary.groups.iter().find(|group| group.name == HARMED).cloned();
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

/// Whether a protocol does more harm than what is deployed today, at 95 % confidence.
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
    /// By the flows of the protocol; none if the quantity was measured under no seed.
    pub by_protocol: Option<Estimate>,
    /// By as many flows of CUBIC.
    pub by_cubic: Option<Estimate>,
    /// Whether the first is greater.
    pub verdict: HarmVerdict,
}

impl HarmTo {
    /// From the harms by the protocol and by CUBIC, a pair for each seed.
    fn of(harms: &[(Harm, Harm)], quantity: fn(&Harm) -> f64) -> Self {
        Self {
            by_protocol: Estimate::of(harms.iter().map(|(protocol, _)| quantity(protocol))),
            by_cubic: Estimate::of(harms.iter().map(|(_, cubic)| quantity(cubic))),
            verdict: HarmVerdict::of(
                harms.iter().map(|(protocol, cubic)| quantity(protocol) - quantity(cubic)),
            ),
        }
    }
}

/// One row of the table of harm.
#[derive(Clone, Debug, PartialEq)]
pub struct HarmRow {
    /// The flows that share the link.
    pub competition: CompetingFlows,
    /// The harm to the goodput of the flow of CUBIC.
    pub goodput: HarmTo,
    /// The harm to the 95th percentile of its one-way times.
    pub delay: HarmTo,
}

impl HarmRow {
    /// The number of runs of each row under each seed: beside the protocol, beside CUBIC, alone.
    pub const RUNS: usize = 3;
}

/// The rows for a protocol under seeds from 1 to `seeds`, for each of `competitions` with a flow of CUBIC.
///
/// # Errors
/// A scenario that the protocol refuses, or that `watch` stopped the runs.
pub fn harm(
    card: &Card,
    competitions: &[CompetingFlows],
    seeds: u64,
    registry: &Registry,
    watch: &dyn Watch,
) -> Result<Vec<HarmRow>, Error> {
    let choice = Choice { protocols: Vec::new(), queues: Vec::new(), worlds: vec![World::Packets], seeds };
    let mut all: Vec<ComparisonCase> = Vec::new();
    for competition in competitions {
        for scenario in scenarios(&competition.scenario(card)?) {
            all.extend(cases(&scenario, registry, &choice)?);
        }
    }
    let runs = compare(&all, registry, &RunOrigin::default(), &|_, _| Ok(()), watch)?;
    let per_row = (all.len() / competitions.len().max(1)).max(1);
    Ok(competitions.iter().zip(runs.chunks(per_row)).map(|(one, runs)| row(*one, runs)).collect())
}

/// The flow of CUBIC beside the protocol, beside as many flows of CUBIC, and alone. The link is the same.
fn scenarios(beside: &Scenario) -> [Scenario; HarmRow::RUNS] {
    let (mut cubic, mut alone) = (beside.clone(), beside.clone());
    for group in &mut cubic.flows {
        group.protocol = At::new(PRESENT.to_owned(), Place::default());
    }
    alone.flows.retain(|group| group.name.value == HARMED);
    [beside.clone(), cubic, alone]
}

/// The row of these runs: for each scenario in turn, one for each seed.
fn row(competition: CompetingFlows, runs: &[Finished]) -> HarmRow {
    let seeds = runs.len() / HarmRow::RUNS;
    let run = |scenario: usize, seed: usize| &runs[scenario * seeds + seed].run;
    let harm = |scenario, seed| Harm::of(run(2, seed), run(scenario, seed));
    let harms: Vec<(Harm, Harm)> = (0..seeds).map(|seed| (harm(0, seed), harm(1, seed))).collect();
    HarmRow {
        competition,
        goodput: HarmTo::of(&harms, |harm| harm.goodput),
        delay: HarmTo::of(&harms, |harm| harm.delay),
    }
}

#[cfg(test)]
mod tests {
    use super::{HarmVerdict, of_less_is_better, of_more_is_better};

    /// A quarter of the goodput or four times the delay: three quarters of the performance are lost.
    #[test]
    fn harm_is_the_share_of_the_performance_alone_that_is_lost() {
        assert_eq!([of_more_is_better(40.0, 10.0), of_less_is_better(10.0, 40.0)], [0.75, 0.75]);
        assert_eq!([of_more_is_better(40.0, 40.0), of_less_is_better(10.0, 10.0)], [0.0, 0.0]);
        assert_eq!(of_more_is_better(40.0, 0.0), 1.0, "nothing is left");
        assert_eq!([of_more_is_better(40.0, 50.0), of_less_is_better(10.0, 8.0)], [-0.25, -0.25]);
    }

    #[test]
    fn a_verdict_needs_differences_that_have_one_sign() {
        let of = |differences: &[f64]| HarmVerdict::of(differences.iter().copied());
        assert_eq!(of(&[0.0, 0.0, 0.0]), HarmVerdict::NoMore);
        assert_eq!(of(&[-0.3, -0.31, -0.29]), HarmVerdict::NoMore);
        assert_eq!(of(&[0.3, 0.31, 0.29]), HarmVerdict::More);
        assert_eq!(of(&[0.3, -0.3, 0.1]), HarmVerdict::Undecided);
        assert_eq!(of(&[0.3]), HarmVerdict::Undecided, "one seed says nothing about the others");
        assert_eq!(of(&[f64::NAN]), HarmVerdict::Undecided);
    }
}
