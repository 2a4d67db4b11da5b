//! The harm of protocols to CUBIC.

use crate::common::scenario;
use millpond_lab::{CompetingFlows, Harm, HarmPlan, HarmRow, HarmVerdict, coexistence};
use millpond_protocols::Registry;
use millpond_results::{Estimate, Unwatched};
use millpond_scenario::Faults;

const BESIDE: &str = include_str!("../../../../scenarios/beside-cubic.toml");

fn harm_of(protocol: &str, seeds: u64) -> Vec<HarmRow> {
    let registry = Registry::builtin();
    let card = registry.protocol(protocol).unwrap().card();
    let plan = HarmPlan::to_cubic(card.name, card, &CompetingFlows::BESIDE_CUBIC);
    let rows = plan.and_then(|plan| plan.run(seeds, &registry, &Unwatched));
    rows.unwrap_or_else(|error| panic!("{error}"))
}

/// By definition: beside CUBIC, CUBIC is what is deployed today. All flows are alike, so that `n` others leave one flow the
/// share `1 / (n + 1)` of what it has alone, and the harm to its goodput is `n / (n + 1)`.
#[test]
fn the_harm_of_cubic_to_itself_is_the_threshold_and_that_of_equal_shares() {
    let rows = harm_of("cubic", 5);
    for (row, others) in rows.iter().zip([1.0, 4.0, 1.0]) {
        assert_eq!(row.goodput.by_flows, row.goodput.by_own_kind);
        assert_eq!(row.delay.by_flows, row.delay.by_own_kind);
        assert_eq!([row.goodput.verdict, row.delay.verdict], [HarmVerdict::NoMore; 2]);
        let Estimate { mean, .. } = row.goodput.by_own_kind.unwrap();
        let expected = others / (others + 1.0);
        assert!((mean - expected).abs() < 0.1, "{row:?}");
    }
}

/// A flow that does not compete has the run that it has alone.
#[test]
fn a_flow_that_does_not_compete_does_no_harm() {
    let registry = Registry::builtin();
    let card = registry.protocol("vegas").unwrap().card();
    let shares = coexistence(card.name, card, &CompetingFlows::BESIDE_CUBIC[..1], &registry, &Unwatched);
    let run = shares.unwrap().remove(0).run;
    assert_eq!(Harm::of("beside", &run, &run), Harm { goodput: 0.0, delay: 0.0 });
}

/// Vegas retreats. The shares of the table of coexistence and the harm are of the same runs: alone, CUBIC has the link.
#[test]
fn harm_agrees_with_the_shares_and_a_protocol_that_retreats_does_no_more_than_cubic() {
    let registry = Registry::builtin();
    let card = registry.protocol("vegas").unwrap().card();
    let shares = coexistence(card.name, card, &CompetingFlows::BESIDE_CUBIC, &registry, &Unwatched).unwrap();
    for (row, share) in harm_of("vegas", 1).iter().zip(&shares) {
        let flows = share.run.summary.flows.len() as f64;
        let kept = share.other / flows;
        let harm = row.goodput.by_flows.unwrap().mean;
        assert!((harm - (1.0 - kept)).abs() < 0.01, "{harm} beside a share of {kept}");
        assert_eq!(row.goodput.verdict, HarmVerdict::Undecided, "a verdict needs two seeds");
    }
    for row in harm_of("vegas", 3) {
        assert_eq!([row.goodput.verdict, row.delay.verdict], [HarmVerdict::NoMore; 2], "{row:?}");
    }
}

/// At the queue of LGCC, which marks and drops early, CUBIC keeps a quarter of what it has alone, or less.
#[test]
fn a_protocol_that_takes_the_link_does_more_harm_than_cubic() {
    let rows = harm_of("lgcc", 3);
    for row in &rows {
        assert!(row.goodput.by_flows.is_some_and(|harm| harm.mean > 0.7), "{row:?}");
        assert_eq!([row.goodput.verdict, row.delay.verdict], [HarmVerdict::More; 2], "{row:?}");
    }
}

/// The table of coexistence is the harm by a group of a scenario, so that both have the same numbers.
#[test]
fn harm_by_a_group_of_any_scenario_is_that_of_the_table_of_coexistence() {
    let scenario = scenario(BESIDE, &["links.L.queue=droptail"]);
    let registry = Registry::builtin();
    let plan = HarmPlan::by_group(scenario, "one", &["vegas".to_owned()]).unwrap();
    assert_eq!(plan.run_count(3), 9, "beside vegas, beside cubic, alone");
    let rows = plan.run(3, &registry, &Unwatched).unwrap();
    let of_table = &harm_of("vegas", 3)[0];
    assert_eq!((rows.len(), rows[0].goodput, rows[0].delay), (1, of_table.goodput, of_table.delay));
    assert_eq!([&rows[0].by, &rows[0].label, &rows[0].own_kind], ["vegas", "beside", "cubic"]);
}

/// Each harmed group has its own bar: the harm by its own protocol.
#[test]
fn each_other_group_has_a_row_with_the_bar_of_its_own_protocol() {
    const THIRD: &str = "\n[[flows]]\nname = \"third\"\nprotocol = \"newreno\"\npath = [\"A\", \"B\"]\n";
    let text = BESIDE.to_owned() + THIRD;
    let scenario = scenario(&text, &["duration=20s", "measure.from=5s", "flows.one.protocol=cubic"]);
    let plan = HarmPlan::by_group(scenario, "one", &[]).unwrap();
    assert_eq!(
        plan.run_count(1),
        3,
        "the group with cubic, which is the own kind of one; with newreno; without it"
    );
    let rows = plan.run(1, &Registry::builtin(), &Unwatched).unwrap();
    let names = |row: &HarmRow| [row.label.clone(), row.own_kind.clone()];
    assert_eq!(rows.iter().map(names).collect::<Vec<_>>(), [["beside", "cubic"], ["third", "newreno"]]);
    assert_eq!(rows[0].goodput.by_flows, rows[0].goodput.by_own_kind);
    assert_ne!(rows[1].goodput.by_flows, rows[1].goodput.by_own_kind);
}

#[test]
fn an_unknown_group_is_refused_with_the_nearest_one() {
    let refused = |group: &str| {
        let refused = HarmPlan::by_group(scenario(BESIDE, &[]), group, &[]).err();
        refused.map(|fault| Faults::from(fault).to_string())
    };
    assert!(refused("besid").is_some_and(|text| text.contains("did you mean \"beside\"?")));
    assert!(refused("xyzzy").is_some_and(|text| text.contains("the scenario has: one, beside")));
}
