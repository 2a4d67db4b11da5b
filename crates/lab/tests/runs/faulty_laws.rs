//! Laws with a defect: a window that is no number, and a panic. Both are reported with protocol and simulated time.

use crate::common::scenario;
use millpond_lab::{Choice, Error, cases, compare, run};
use millpond_law::{
    Ack, Card, Congestion, Context, Needs, Permit, Protocol, QueueChoice, Sender, SettingError, Settings,
};
use millpond_protocols::Registry;
use millpond_results::{About, Run, RunOrigin, Unwatched, World};
use millpond_units::{Bytes, Rate, Time};

const ONE_FLOW: &str = r#"
title = "One flow of a faulty law"
duration = "2s"
[dumbbell]
bottleneck = { rate = "12Mbps", delay = "5ms", buffer = "20packets" }
[[flows]]
name = "a"
protocol = "faulty"
rtt = "20ms"
"#;

/// When the defect begins.
const BEGIN: Time = Time::from_picos(500_000_000_000);

static CARD: Card = Card {
    name: "faulty",
    title: "Faulty",
    summary: "Ten packets in flight, until the defect begins.",
    source: "this test",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: &[],
};

/// What the law does from [`BEGIN`] on.
#[derive(Clone, Copy)]
enum Defect {
    /// It permits this.
    Permits(fn() -> Permit),
    /// It panics.
    Panics,
}

struct Faulty(Defect);

impl Protocol for Faulty {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, _settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(FaultySender { defect: self.0, has_begun: false }))
    }
}

struct FaultySender {
    defect: Defect,
    has_begun: bool,
}

impl Sender for FaultySender {
    fn on_ack(&mut self, cx: &mut Context<'_>, _ack: &Ack) {
        self.has_begun = cx.now >= BEGIN;
        assert!(!(self.has_begun && matches!(self.defect, Defect::Panics)), "a defect of the law");
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, _congestion: &Congestion) {}

    fn permit(&self) -> Permit {
        match self.defect {
            Defect::Permits(permit) if self.has_begun => permit(),
            _ => Permit { window: Some(Bytes::new(15_000)), ..Permit::default() },
        }
    }
}

static NO_NUMBER: Faulty =
    Faulty(Defect::Permits(|| Permit { window: Some(Bytes::from_f64(f64::NAN)), ..Permit::default() }));
static NEGATIVE: Faulty =
    Faulty(Defect::Permits(|| Permit { pace: Some(Rate::from_bps_f64(-1e6)), ..Permit::default() }));
static INFINITE: Faulty =
    Faulty(Defect::Permits(|| Permit { window: Some(Bytes::from_f64(f64::INFINITY)), ..Permit::default() }));
static PANICS: Faulty = Faulty(Defect::Panics);

fn finished(law: &'static Faulty) -> Result<Run, Error> {
    let registry = Registry::builtin().with(law);
    run(&scenario(ONE_FLOW, &[]), &registry, About::default(), &Unwatched).map(|finished| finished.run)
}

/// The number before " s" after the text.
fn seconds_after(text: &str, before: &str) -> f64 {
    let number = text.split_once(before).and_then(|(_, rest)| rest.split_once(" s"));
    number.and_then(|(number, _)| number.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn a_permit_without_meaning_is_a_warning_with_flow_protocol_and_time() {
    for (law, what, effect) in [
        (&NO_NUMBER, "a window of zero bytes", "not a number"),
        (&NEGATIVE, "a pacing rate of zero", "negative"),
        (&INFINITE, "an infinite window or pacing rate", "nothing limits the sender"),
    ] {
        let warnings = finished(law).unwrap().summary.warnings;
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        let begin = format!("flow \"a\": faulty set {what} at ");
        assert!(warning.starts_with(&begin) && warning.contains(effect), "{warning}");
        // The first acknowledgement after the defect begins comes within a round trip and the queue of a window.
        assert!((0.5..0.55).contains(&seconds_after(warning, &begin)), "{warning}");
    }
}

#[test]
fn a_panic_of_a_law_is_an_error_with_protocol_and_time() {
    let error = finished(&PANICS).unwrap_err().to_string();
    let begin = "law \"faulty\" at ";
    assert!(error.starts_with(begin) && error.contains("a defect of the law ("), "{error}");
    assert!(error.contains("faulty_laws.rs:"), "{error}");
    assert!((0.5..0.55).contains(&seconds_after(&error, begin)), "{error}");
}

#[test]
fn a_comparison_ends_with_the_panic_and_writes_no_run_of_it() {
    let registry = Registry::builtin().with(&PANICS);
    let choice = Choice { protocols: vec!["faulty".into(), "newreno".into()], ..Choice::of(World::Packets) };
    let cases = cases(&scenario(ONE_FLOW, &[]), &registry, &choice).unwrap();
    let kept = std::sync::Mutex::new(Vec::new());
    let keep = |case: &millpond_lab::ComparisonCase, _: &millpond_results::Finished| {
        kept.lock().unwrap().push(case.label.clone());
        Ok(())
    };
    let error = compare(&cases, &registry, &RunOrigin::default(), &keep, &Unwatched).unwrap_err();
    assert!(matches!(error, Error::Panic(_)), "{error}");
    assert_eq!(*kept.lock().unwrap(), ["newreno"]);
}
