//! Suites run for protocols: the baselines meet their own bars, known failures are found.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use millpond_evaluation::{
    Evaluation, EvaluationPlan, EvaluationRequest, EvidenceVerdict, JudgedCriterion, Suites,
};
use millpond_protocols::Registry;
use millpond_results::Unwatched;

/// The evaluation of protocols by some sections of a suite, with overrides of every scenario.
fn evaluate(protocols: &[&str], sections: &[&str], set: &[&str]) -> Vec<Evaluation> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
    let suites = Suites::builtin().unwrap();
    let request = EvaluationRequest {
        suites: suites.select(&owned(&["bcp133"])).unwrap(),
        sections: owned(sections),
        protocols: owned(protocols),
        registry: Registry::builtin(),
        full: false,
        set: owned(set),
    };
    EvaluationPlan::new(request).unwrap().run("version", &Unwatched).unwrap()
}

fn criteria(evaluation: &Evaluation) -> &[JudgedCriterion] {
    &evaluation.suites[0].criteria
}

/// The same seeds and scenarios: the quotient is exactly one.
#[test]
fn cubic_and_newreno_meet_the_bars_that_they_are() {
    for evaluation in evaluate(&["cubic", "newreno"], &["5.1.1", "7.4", "7.11"], &[]) {
        for criterion in criteria(&evaluation) {
            assert_eq!(criterion.verdict, EvidenceVerdict::Met, "{}: {criterion:#?}", evaluation.protocol);
        }
        let compared = criteria(&evaluation).iter().flat_map(|criterion| &criterion.evidence);
        let compared: Vec<_> = compared.filter(|row| row.versus.is_some()).collect();
        assert!(compared.len() >= 8);
        if evaluation.protocol == "cubic" {
            assert!(compared.iter().all(|row| row.measured.unwrap().mean == 1.0), "{compared:#?}");
        }
    }
}

/// RFC 9743, section 5.1.3: BBRv1 failed this requirement where flows share a small buffer. Vegas keeps its queue so short
/// that it loses less than CUBIC there.
#[test]
fn the_sustained_loss_of_bbr1_at_small_buffers_is_found_and_vegas_meets_the_criterion() {
    let found = evaluate(&["bbr1", "vegas"], &["5.1.3"], &[]);
    let verdicts: Vec<_> = found.iter().map(|evaluation| criteria(evaluation)[0].verdict).collect();
    assert_eq!(verdicts, [EvidenceVerdict::NotMet, EvidenceVerdict::Met], "{found:#?}");
}

/// A window that is halved three times as deep leaves the queue empty more often; CUBIC itself, the bar, is as it was.
#[test]
fn a_parameter_of_the_tested_protocol_does_not_change_its_baseline() {
    let shrunk = evaluate(&["cubic"], &["6.3"], &["protocols.tested.params.beta=0.2"]);
    let utilization = criteria(&shrunk[0])[0].evidence.iter().find(|row| row.what == "utilization").unwrap();
    assert!(utilization.measured.unwrap().mean < 0.999, "{utilization:#?}");
}
