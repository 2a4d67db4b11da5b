//! The harm of protocols to CUBIC.

use millpond_lab::{CompetingFlows, Harm, HarmRow, HarmVerdict, coexistence, harm};
use millpond_protocols::Registry;
use millpond_results::{Estimate, Unwatched};

fn harm_of(protocol: &str, seeds: u64) -> Vec<HarmRow> {
    let registry = Registry::builtin();
    let card = registry.protocol(protocol).unwrap().card();
    let rows = harm(card, &CompetingFlows::BESIDE_CUBIC, seeds, &registry, &Unwatched);
    rows.unwrap_or_else(|error| panic!("{error}"))
}

/// By definition: beside CUBIC, CUBIC is what is deployed today. All flows are alike, so that `n` others leave one flow the
/// share `1 / (n + 1)` of what it has alone, and the harm to its goodput is `n / (n + 1)`.
#[test]
fn the_harm_of_cubic_to_itself_is_the_threshold_and_that_of_equal_shares() {
    let rows = harm_of("cubic", 5);
    for (row, others) in rows.iter().zip([1.0, 4.0, 1.0]) {
        assert_eq!(row.goodput.by_protocol, row.goodput.by_cubic);
        assert_eq!(row.delay.by_protocol, row.delay.by_cubic);
        assert_eq!([row.goodput.verdict, row.delay.verdict], [HarmVerdict::NoMore; 2]);
        let Estimate { mean, .. } = row.goodput.by_cubic.unwrap();
        let expected = others / (others + 1.0);
        assert!((mean - expected).abs() < 0.1, "{row:?}");
    }
}

/// A flow that does not compete has the run that it has alone.
#[test]
fn a_flow_that_does_not_compete_does_no_harm() {
    let registry = Registry::builtin();
    let card = registry.protocol("vegas").unwrap().card();
    let shares = coexistence(card, &CompetingFlows::BESIDE_CUBIC[..1], &registry, &Unwatched);
    let run = shares.unwrap().remove(0).run;
    assert_eq!(Harm::of(&run, &run), Harm { goodput: 0.0, delay: 0.0 });
}

/// Vegas retreats. The shares of the table of coexistence and the harm are of the same runs: alone, CUBIC has the link.
#[test]
fn harm_agrees_with_the_shares_and_a_protocol_that_retreats_does_no_more_than_cubic() {
    let registry = Registry::builtin();
    let card = registry.protocol("vegas").unwrap().card();
    let shares = coexistence(card, &CompetingFlows::BESIDE_CUBIC, &registry, &Unwatched).unwrap();
    for (row, share) in harm_of("vegas", 1).iter().zip(&shares) {
        let flows = share.run.summary.flows.len() as f64;
        let kept = share.other / flows;
        let harm = row.goodput.by_protocol.unwrap().mean;
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
        assert!(row.goodput.by_protocol.is_some_and(|harm| harm.mean > 0.7), "{row:?}");
        assert_eq!([row.goodput.verdict, row.delay.verdict], [HarmVerdict::More; 2], "{row:?}");
    }
}
