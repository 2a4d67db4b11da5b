//! The page about the stability of a scenario, with all of its sections, in a real browser.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers fail as tests do")]

#[path = "../../../report/tests/report_in_browser/browser.rs"]
#[allow(dead_code, reason = "shared with other pages")]
mod browser;
#[path = "../../../report/tests/report_in_browser/fixture.rs"]
#[allow(dead_code, reason = "shared with other pages")]
mod fixture;
#[path = "../../../report/tests/report_in_browser/views.rs"]
mod views;

use browser::Browser;
use millpond_analysis_report as page;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::{RunOrigin, Unwatched};
use millpond_scenario::{Disk, Scenario};
use millpond_theory::Study;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::{ParameterAxis, VariedParameter, analyze_stability, compute_stability_map};
use millpond_theory::transients::{
    ConvergenceCriterion, InitialConditions, Observables, StepChange, compute_convergence_times,
    compute_phase_portrait, simulate_steps,
};
use std::path::Path;
use views::{faults, in_each_view, keep_picture, page_of};

/// The page about CLTCP with this round-trip time: loci, map, portrait, two step responses and convergence times.
fn page_at(rtt: &str) -> String {
    let text = format!(
        "title = \"CLTCP\"\nduration = \"60s\"\n\
         [[links]]\nname = \"L\"\nbetween = [\"A\", \"B\"]\nrate = \"120Mbps\"\ndelay = \"1ms\"\nbuffer = \"unlimited\"\n\
         [[flows]]\nname = \"f\"\nprotocol = \"cltcp\"\npath = [\"A\", \"B\"]\nrtt = \"{rtt}\"\n"
    );
    let scenario = Scenario::parse(&text, "t.toml", Path::new(""), &[], &Disk).unwrap();
    let registry = Registry::builtin();
    let plan = fluid::plan(&scenario, &registry).unwrap();
    let equilibrium = find_equilibrium(&plan).unwrap();
    let stability = analyze_stability(&equilibrium).unwrap();
    let study = Study::new(&scenario, &registry);
    let observables = Observables::new(&equilibrium);
    let plane = ["x", "q"].map(|name| observables.find(name).unwrap());
    let conditions = InitialConditions::parse("grid", 3, &[&plane[0], &plane[1]], &observables).unwrap();
    let portrait = compute_phase_portrait(&equilibrium, plane, &conditions, None, &Unwatched).unwrap();
    let steps = ["L=80%", "join"].map(|text| StepChange::parse(text, &scenario, &equilibrium).unwrap());
    let steps = simulate_steps(&steps, study, &equilibrium, None, &Unwatched).unwrap();
    let over =
        |parameter: VariedParameter, low: f64, high: f64| ParameterAxis::logarithmic(parameter, low, high, 8);
    let axes = (over(VariedParameter::Rtt, 0.1, 2.0), over(VariedParameter::Flows, 1.0, 10.0));
    let map = compute_stability_map(study, axes.0.clone(), axes.1, &Unwatched).unwrap();
    let criterion = ConvergenceCriterion { tolerance: 0.05, initial_condition: Some("x=50%".to_owned()) };
    let convergence = compute_convergence_times(study, axes.0, criterion, &Unwatched).unwrap();
    let run = fixture::run(&fixture::SIX[0], 300, 2);
    page::stability(&page::StabilityPage {
        title: "Stability of CLTCP",
        sentences: &["stable".to_owned()],
        origin: Some(&RunOrigin { command: "millpond stability cltcp.toml".into(), version: "0.1.0".into() }),
        stability: &stability,
        run: Some(page::RunBeside {
            run: &run,
            explanation: None,
            sentence: "in packets, it does not oscillate",
            frequency: Some(0.1),
        }),
        map: Some(&map),
        portrait: Some(&portrait),
        steps: &steps,
        convergence: Some(&convergence),
    })
}

#[test]
fn stability_is_drawn_without_error_request_or_empty_chart_in_light_dark_print_and_on_a_phone() {
    in_each_view(&page_at("200ms"), |name, browser, picture| {
        keep_picture(&format!("stability-{name}"), picture);
        assert_eq!(browser.evaluate("document.querySelectorAll('svg.plot').length"), 12, "{name}");
    });
}

/// Pairs of texts in the Nyquist plot whose boxes overlap.
const OVERLAPS: &str = r#"(() => {
    const texts = [...document.querySelectorAll('#nyquist-loci .plot > text:is(.name, .hint)')];
    const boxes = texts.map(text => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
    return boxes.flatMap((one, index) => boxes.slice(index + 1)
        .filter(other => overlap(one.box, other.box)).map(other => `${one.text} / ${other.text}`));
})()"#;

#[test]
fn margins_and_frequencies_stand_beside_the_locus_without_covering_one_another() {
    let mut browser = Browser::start();
    browser.set_view(1280, "light", "screen");
    for rtt in ["200ms", "900ms"] {
        let (_folder, page) = page_of(&page_at(rtt));
        browser.open(&page);
        assert_eq!(browser.evaluate(OVERLAPS), serde_json::json!([]), "{rtt}");
        let texts =
            "[...document.querySelectorAll('#nyquist-loci .plot > .hint')].map(text => text.textContent)";
        let frequencies = browser.evaluate(texts);
        let first = frequencies[0].as_str().unwrap_or_default();
        assert!(first.ends_with(" rad/s"), "{rtt}: {frequencies}");
    }
}

#[test]
fn a_stable_network_has_an_arc_for_its_phase_margin_and_an_unstable_one_the_gain_that_it_needs() {
    let (_folder, page) = page_of(&page_at("200ms"));
    let mut browser = Browser::start();
    browser.open(&page);
    let count = |browser: &mut Browser, what: &str| {
        browser.evaluate(&format!("document.querySelectorAll('{what}').length"))
    };
    assert_eq!(count(&mut browser, "#nyquist-loci .curves .margin"), 2);
    assert_eq!(count(&mut browser, "#bode .curves .margin"), 2);
    let (_folder, page) = page_of(&page_at("900ms"));
    browser.open(&page);
    assert_eq!(count(&mut browser, "#nyquist-loci .curves .margin"), 1);
    let name = browser
        .evaluate("document.querySelector('#nyquist-loci .plot > .name + circle + .name').textContent");
    assert!(name.as_str().unwrap().starts_with("must fall to x0."), "{name}");
}

#[test]
fn trajectories_that_do_not_settle_are_drawn() {
    let (_folder, page) = page_of(&page_at("900ms"));
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(faults(&mut browser), Vec::<String>::new());
    let legend = browser.evaluate("document.querySelector('#phase-portrait .legend').textContent");
    assert!(legend.as_str().unwrap().contains("does not settle"), "{legend}");
}

#[test]
fn pointing_at_a_plane_shows_the_coordinates() {
    let (_folder, page) = page_of(&page_at("200ms"));
    let mut browser = Browser::start();
    browser.open(&page);
    browser.evaluate(
        "(() => { const plot = document.querySelector('#nyquist-loci svg.plot'); const box = plot.getBoundingClientRect(); \
         plot.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + 2 / 3 * box.width, clientY: box.top + box.height / 2 })); })()",
    );
    // From -2.4 to 1.2, two thirds are the origin.
    let read = browser
        .evaluate("document.querySelector('#nyquist-loci .readout').textContent.split(', ').map(Number)");
    let near = |at: usize| read[at].as_f64().unwrap().abs() < 0.01;
    assert!(near(0) && near(1), "{read}");
}
