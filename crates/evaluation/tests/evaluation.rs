//! Suites run for protocols and queues: the baselines meet their own bars, known failures are found, equal runs are made once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use millpond_evaluation::{
    Evaluation, EvaluationPlan, EvaluationRequest, EvidenceVerdict, JudgedCriterion, MatrixPage, Subject,
    SubjectKind, Suites,
};
use millpond_protocols::Registry;
use millpond_results::{RunOrigin, Unwatched};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// What is evaluated, with overrides of every scenario.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    suite: &'a str,
    names: &'a [&'a str],
    sections: &'a [&'a str],
    set: &'a [&'a str],
    keep: Option<&'a Path>,
}

impl Wanted<'_> {
    fn plan<'s>(&self, suites: &'s Suites) -> EvaluationPlan<'s> {
        let subjects = Subject::all_named(&owned(self.names), &Registry::builtin()).unwrap();
        EvaluationPlan::new(EvaluationRequest {
            suites: suites.for_subjects(&owned(&[self.suite]), &subjects).unwrap(),
            sections: owned(self.sections),
            subjects,
            registry: Registry::builtin(),
            full: false,
            set: owned(self.set),
            keep: self.keep.map(Path::to_owned),
            origin: RunOrigin::default(),
        })
        .unwrap()
    }

    fn run(&self) -> Vec<Evaluation> {
        self.plan(&Suites::builtin().unwrap()).run(&Unwatched).unwrap()
    }
}

/// The evaluation of protocols by some sections of a suite.
fn evaluate(names: &[&str], sections: &[&str], set: &[&str]) -> Vec<Evaluation> {
    Wanted { suite: "bcp133", names, sections, set, keep: None }.run()
}

fn criteria(evaluation: &Evaluation) -> &[JudgedCriterion] {
    &evaluation.suites[0].criteria
}

/// The same seeds and scenarios: the quotient is exactly one.
#[test]
fn cubic_and_newreno_meet_the_bars_that_they_are() {
    for evaluation in evaluate(&["cubic", "newreno"], &["5.1.1", "7.4", "7.11"], &[]) {
        for criterion in criteria(&evaluation) {
            assert_eq!(criterion.verdict, EvidenceVerdict::Met, "{}: {criterion:#?}", evaluation.name);
        }
        let compared = criteria(&evaluation).iter().flat_map(|criterion| &criterion.evidence);
        let compared: Vec<_> = compared.filter(|row| row.versus.is_some()).collect();
        assert!(compared.len() >= 8);
        if evaluation.name == "cubic" {
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

/// The incast of section 7.11 has three cases with 8 seeds: the protocol, CUBIC and NewReno. That of CUBIC as the protocol is
/// that of CUBIC as the baseline.
#[test]
fn a_run_that_two_rows_need_is_made_once() {
    let suites = Suites::builtin().unwrap();
    let wanted = Wanted { suite: "bcp133", names: &["vegas"], sections: &["7.11"], set: &[], keep: None };
    let runs = |names, set| Wanted { names, set, ..wanted }.plan(&suites).run_count();
    assert_eq!(runs(&["vegas"], &[]), 24);
    assert_eq!(runs(&["cubic"], &[]), 16);
    assert_eq!(runs(&["cubic", "newreno"], &[]), 16);
    assert_eq!(runs(&["cubic", "vegas", "bbr3"], &[]), 32);
    let changed = ["protocols.tested.params.beta=0.5"];
    assert_eq!(runs(&["cubic"], &changed), 24, "with another parameter it is not the baseline");
}

#[test]
fn an_evaluation_continues_from_the_runs_that_were_kept() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = Wanted {
        suite: "bcp133",
        names: &["vegas"],
        sections: &["7.11"],
        set: &[],
        keep: Some(folder.path()),
    };
    let kept = || std::fs::read_dir(folder.path()).unwrap().count();
    let first = wanted.run();
    assert_eq!(kept(), 24);
    assert_eq!(wanted.run(), first);
    assert_eq!(kept(), 24, "nothing was run again");
    let both = Wanted { names: &["vegas", "newreno"], ..wanted }.run();
    assert_eq!(kept(), 24, "NewReno was there as a baseline");
    let second = Wanted { names: &["newreno"], ..wanted }.run();
    assert_eq!(both, [first.clone(), second].concat(), "each has its own rows");
    assert_eq!(Wanted { keep: None, ..wanted }.run(), first, "a kept run gives what a new one gives");
}

/// Marks per round trip are a quotient of zeros for a protocol without ECN.
#[test]
fn a_row_without_a_value_is_not_measured_and_says_why() {
    let wanted = Wanted { suite: "l4s", names: &["vegas"], sections: &["4.3"], set: &[], keep: None };
    let evaluation = &wanted.run()[0];
    let criterion = &criteria(evaluation)[0];
    assert_eq!(criterion.verdict, EvidenceVerdict::NotMeasured, "{criterion:#?}");
    assert_eq!(criterion.evidence[0].fault, "the value is not a finite number");
    assert_eq!((criterion.evidence[0].measured, criterion.cell().as_str()), (None, "none 1/1"));
}

/// A scenario that is refused with the protocol is a row without a value, too.
#[test]
fn a_refused_scenario_is_not_measured_and_the_baselines_are_run() {
    let set = ["protocols.tested.params.no_such_parameter=1"];
    let evaluation = &evaluate(&["vegas"], &["7.11"], &set)[0];
    let criterion = &criteria(evaluation)[0];
    assert_eq!(criterion.verdict, EvidenceVerdict::NotMeasured, "{criterion:#?}");
    assert!(criterion.evidence[0].fault.contains("no_such_parameter"), "{criterion:#?}");
}

#[test]
fn drop_tail_meets_the_bars_that_it_is_and_codel_shortens_the_queue() {
    let wanted = Wanted {
        suite: "aqm",
        names: &["droptail", "codel"],
        sections: &["5.1.1", "5.2"],
        set: &[],
        keep: None,
    };
    let found = wanted.run();
    let rows = |index: usize| criteria(&found[index]).iter().flat_map(|criterion| &criterion.evidence);
    assert!(rows(0).count() >= 6);
    assert!(rows(0).all(|row| row.measured.unwrap().mean == 1.0 && row.verdict == EvidenceVerdict::Met));
    let delays: Vec<_> = rows(1).filter(|row| row.what == "mean queueing delay").collect();
    // RFC 8289, section 4.4: the standing delay is about the target of 5 ms; drop-tail has up to 100 ms here.
    assert!(!delays.is_empty() && delays.iter().all(|row| row.measured.unwrap().mean < 0.5), "{delays:#?}");
}

#[test]
fn a_parameter_of_the_tested_queue_does_not_change_drop_tail() {
    let set = ["links.L.queue.tested.target=60ms"];
    let of = |set| {
        let wanted = Wanted { suite: "aqm", names: &["codel"], sections: &["5.2"], set, keep: None };
        let found = wanted.run();
        let row =
            criteria(&found[0])[0].evidence.iter().find(|row| row.what == "mean queueing delay").cloned();
        row.unwrap().measured.unwrap().mean
    };
    let (long, short) = (of(&set), of(&[]));
    assert!(
        long > 3.0 * short && long < 0.95,
        "a longer target is a longer queue, not that of drop-tail: {long} {short}"
    );
}

#[test]
fn a_queue_is_not_evaluated_by_a_suite_of_protocols_nor_a_protocol_by_one_of_queues() {
    let suites = Suites::builtin().unwrap();
    let refused = |suite: &str, name: &str| {
        let subjects = Subject::all_named(&owned(&[name]), &Registry::builtin()).unwrap();
        suites.for_subjects(&owned(&[suite]), &subjects).unwrap_err().to_string()
    };
    assert_eq!(
        refused("aqm", "bbr3"),
        "--suite: suite \"aqm\" evaluates queues, and bbr3 is a protocol: name a queue, for example fq-codel, or \
         another suite"
    );
    assert!(refused("bcp133", "codel").contains("evaluates protocols, and codel is a queue"));
    let subjects = Subject::all_named(&owned(&["codel"]), &Registry::builtin()).unwrap();
    let selected = suites.for_subjects(&[], &subjects).unwrap();
    assert_eq!(selected.iter().map(|suite| suite.name()).collect::<Vec<_>>(), ["aqm"]);
}

#[test]
fn the_page_with_all_verdicts_has_every_suite_and_no_stale_section() {
    let text = std::fs::read_to_string("../../docs/evaluation-matrix.md").unwrap();
    let page = MatrixPage::parse(&text).unwrap();
    assert_eq!(page.to_string(), text, "its beginning is that of the program");
    let suites = Suites::builtin().unwrap();
    let names: BTreeSet<&str> = suites.suites.iter().map(|suite| suite.name()).collect();
    assert_eq!(page.sections.keys().map(String::as_str).collect::<BTreeSet<_>>(), names);
    let subjects = [SubjectKind::Protocol, SubjectKind::Queue].map(|kind| kind.all(&Registry::builtin()));
    let fingerprint = |subject: &Subject| subject.fingerprint(&Registry::builtin()).unwrap();
    let known: BTreeMap<_, _> =
        subjects.iter().flatten().map(|subject| (&subject.name, fingerprint(subject))).collect();
    for suite in &suites.suites {
        let (section, name) = (&page.sections[suite.name()], suite.name());
        let write = |names: &str| {
            format!("stale: millpond evaluate {names} --suite {name} --matrix docs/evaluation-matrix.md")
        };
        assert_eq!(section.fingerprint, suite.fingerprint(), "{}", write("--all"));
        let all = suite.description.evaluates.all(&Registry::builtin());
        let written = section.origins.iter().map(|origin| (&origin.name, &origin.fingerprint));
        let written: BTreeMap<_, _> = written.collect();
        let is_stale = |subject: &&Subject| written.get(&subject.name) != known.get(&subject.name).as_ref();
        let stale: Vec<&str> = all.iter().filter(is_stale).map(|subject| subject.name.as_str()).collect();
        assert!(stale.is_empty(), "{}", write(&stale.join(" ")));
        assert_eq!(written.len(), all.len(), "{}", write("--all"));
        for subject in &all {
            let criteria = suite.description.criteria.len();
            assert_eq!(section.verdicts(&subject.name).len(), criteria, "{}", write(&subject.name));
        }
    }
}

#[test]
fn fingerprints_change_with_the_files_of_the_suite_and_with_what_the_subject_does() {
    let suites = Suites::builtin().unwrap();
    let suite = |name: &str| suites.suites.iter().find(|suite| suite.name() == name).unwrap();
    assert_eq!(suite("l4s").fingerprint().len(), 32);
    assert_ne!(suite("l4s").fingerprint(), suite("rmcat").fingerprint());
    let registry = Registry::builtin();
    let names = ["newreno", "cubic", "timely", "codel", "pie"];
    let subjects = Subject::all_named(&owned(&names), &registry).unwrap();
    let fingerprints = || subjects.iter().map(|subject| subject.fingerprint(&registry).unwrap());
    assert_eq!(fingerprints().collect::<BTreeSet<_>>().len(), names.len());
    assert!(fingerprints().eq(fingerprints()));
}

/// Both of several suites with the section and one without it are selected.
#[test]
fn a_section_is_judged_in_the_suites_that_have_it_and_unknown_ones_are_listed_by_suite() {
    let suites = Suites::builtin().unwrap();
    let subjects = Subject::all_named(&owned(&["cubic"]), &Registry::builtin()).unwrap();
    let request = |section: &str| EvaluationRequest {
        suites: suites.for_subjects(&owned(&["bcp133", "l4s"]), &subjects).unwrap(),
        sections: owned(&[section]),
        subjects: subjects.clone(),
        registry: Registry::builtin(),
        full: false,
        set: Vec::new(),
        keep: None,
        origin: RunOrigin::default(),
    };
    let evaluations = EvaluationPlan::new(request("7.11")).unwrap().run(&Unwatched).unwrap();
    let judged: Vec<&str> = evaluations[0].suites.iter().map(|suite| suite.suite.as_str()).collect();
    assert_eq!(judged, ["bcp133"]);
    let fault = request("7.12").check_sections().unwrap_err().to_string();
    for part in
        ["no section \"7.12\"; there are: in bcp133 5.1.1, ", "; in l4s 1, 4.1", "(did you mean \"7.1"]
    {
        assert!(fault.contains(part), "{part}: {fault}");
    }
}
