//! Pages in a real browser: no error, no network request, no empty chart.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers fail as tests do")]

mod browser;
mod fixture;
mod layout;
mod papers;
mod views;

use browser::Browser;
use millpond_report as page;
use millpond_results::Run;
use views::{faults, in_each_view, keep_picture, page_of};

fn faults_of(html: &str) -> Vec<String> {
    let (_folder, page) = page_of(html);
    let mut browser = Browser::start();
    browser.open(&page);
    faults(&mut browser)
}

fn report_on(runs: &[Run]) -> String {
    page::runs(runs, "A report")
}

#[test]
fn six_protocols_are_drawn_without_error_request_or_empty_chart_in_light_dark_print_and_on_a_phone() {
    in_each_view(&report_on(&fixture::six_runs(600)), |name, _, picture| {
        assert!(picture.len() > 50_000, "{name}: the picture is nearly empty");
        keep_picture(name, picture);
    });
}

#[test]
fn one_run_of_one_flow_twelve_runs_and_a_thousand_flows_are_drawn() {
    let protocols = fixture::SIX.iter().chain(&fixture::SIX);
    let twelve: Vec<Run> = protocols.map(|protocol| fixture::run(protocol, 300, 2)).collect();
    assert_eq!(faults_of(&report_on(&twelve[..1])), Vec::<String>::new());
    assert_eq!(faults_of(&report_on(&twelve)), Vec::<String>::new());
    let many_flows = report_on(&[fixture::run(&fixture::SIX[2], 300, 1000)]);
    assert!(many_flows.contains("mean of 1000"));
    assert_eq!(faults_of(&many_flows), Vec::<String>::new());
}

#[test]
fn a_page_of_a_million_samples_is_small_and_keeps_their_extremes() {
    let mut run = fixture::denser(fixture::run(&fixture::SIX[0], 10_000, 2), 100);
    let peak = &mut run.series.iter_mut().find(|series| series.quantity == "queueing delay").unwrap().values
        [654_321];
    *peak = 77_000.0;
    let html = report_on(&[run]);
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    let (_folder, page) = page_of(&html);
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(faults(&mut browser), Vec::<String>::new());
    let highest = r#"Math.min(...document.querySelector('[data-name="at the bottleneck"]').points.map(point => point[1]))"#;
    browser.evaluate("document.querySelectorAll('svg.plot').forEach(plot => plot.dispatchEvent(new PointerEvent('pointermove')))");
    assert!(
        browser.evaluate(highest).as_f64().unwrap() < 4000.0 * 0.05,
        "the peak is at the top of its axis"
    );
}

#[test]
fn names_that_look_like_markup_are_text() {
    let hostile = r#"</script></style><img src="http://example.org/x" onerror="throw 1">'&"#;
    let mut runs = fixture::six_runs(50);
    for run in &mut runs {
        run.label = hostile.into();
        run.command = hostile.into();
        run.scenario_toml = hostile.into();
        run.summary.warnings = vec![hostile.into()];
        run.summary.world = hostile.into();
        run.series
            .iter_mut()
            .filter(|one| one.quantity == "window")
            .for_each(|one| one.quantity = hostile.into());
        run.series
            .iter_mut()
            .filter(|one| one.quantity == "goodput")
            .for_each(|one| one.entity = hostile.into());
    }
    let (_folder, page) = page_of(&page::runs(&runs, hostile));
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(faults(&mut browser), Vec::<String>::new());
    assert_eq!(browser.evaluate("document.images.length"), 0);
    assert_eq!(browser.evaluate("document.title"), hostile);
}

#[test]
fn every_marker_is_a_shape_around_its_point() {
    let (_folder, page) = page_of(&report_on(&fixture::six_runs(50)));
    let mut browser = Browser::start();
    browser.open(&page);
    let outside = browser.evaluate(
        r#"[...document.querySelectorAll("defs g")].filter(group => {
            const origin = document.querySelector(".definitions").createSVGPoint();
            const shape = group.firstElementChild, box = shape.getBBox();
            return !shape.isPointInFill(origin) || Math.min(box.width, box.height) < 7;
        }).map(group => group.id)"#,
    );
    assert_eq!(outside, serde_json::json!([]));
    assert_eq!(browser.evaluate("document.querySelectorAll('defs g').length"), 8);
}

/// Five seeds of three protocols are three rows, three figures over time and one curve per protocol with its band.
#[test]
fn seeds_of_a_run_are_one_row_one_figure_and_one_curve_with_a_band() {
    let seeded = |seed: u64| {
        fixture::SIX.iter().take(3).map(move |protocol| {
            let mut run = fixture::run(protocol, 300 + seed as usize, 2);
            run.summary.seed = seed;
            run.summary.links[0].utilization -= 0.01 * seed as f64;
            run
        })
    };
    let runs: Vec<Run> = (1..=5).flat_map(seeded).collect();
    let (_folder, page) = page_of(&report_on(&runs));
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(faults(&mut browser), Vec::<String>::new());
    let count = |browser: &mut Browser, what: &str| {
        browser.evaluate(&format!("document.querySelectorAll('{what}').length"))
    };
    assert_eq!(count(&mut browser, ".headline tbody tr"), 3);
    assert_eq!(count(&mut browser, "#over-time figure"), 3);
    assert_eq!(count(&mut browser, "#delays .panel:first-of-type .curve"), 3);
    assert_eq!(count(&mut browser, "#delays .panel:first-of-type .band"), 3);
    assert!(
        browser
            .evaluate("document.querySelector('.headline td').textContent")
            .as_str()
            .unwrap()
            .contains('±')
    );
}

/// A curve, two dots and a box for each of two groups in the colour of its delay over time, and those of all flows in another;
/// the names of the boxes are within the window.
#[test]
fn groups_of_a_single_run_have_distributions_in_the_colours_of_their_delays_over_time() {
    const COLOURS: &str = r##"[".f0", ".f1", ".c6"].map(tone => {
        const all = (what, of) => [...document.querySelectorAll(what + tone)].map(one => getComputedStyle(one)[of]);
        return [all("#over-time .panel:nth-of-type(3) .curve", "stroke"), all("#delays .curve", "stroke"),
            all("#delays .point", "fill"), all("#delays .box", "stroke"), all("#delays .plot .mark", "fill")];
    })"##;
    const NAMES: &str = r##"[...document.querySelectorAll("#delays .panel:last-of-type .tick-y")].map(
        name => [name.textContent, name.getBoundingClientRect().left >= 0])"##;
    let run = fixture::with_two_groups(fixture::run(&fixture::SIX[1], 300, 2));
    in_each_view(&report_on(&[run]), |view, browser, picture| {
        keep_picture(&format!("groups-{view}"), picture);
        let colours = browser.evaluate(COLOURS);
        let mut distinct = std::collections::BTreeSet::new();
        for (index, counts) in [[1, 2, 4, 1, 0], [1, 2, 4, 1, 0], [0, 2, 0, 1, 4]].into_iter().enumerate() {
            let found: Vec<&Vec<_>> = (0..5).map(|kind| colours[index][kind].as_array().unwrap()).collect();
            assert_eq!(found.iter().map(|one| one.len()).collect::<Vec<_>>(), counts, "{view}: {colours}");
            let of_one: std::collections::BTreeSet<String> =
                found.iter().copied().flatten().map(ToString::to_string).collect();
            assert_eq!(of_one.len(), 1, "{view}: {of_one:?}");
            distinct.extend(of_one);
        }
        assert_eq!(distinct.len(), 3, "{view}: {distinct:?}");
        let names = serde_json::json!([["all flows", true], ["fast", true], ["slow", true]]);
        assert_eq!(browser.evaluate(NAMES), names, "{view}");
    });
}

#[test]
fn equal_runs_give_equal_bytes() {
    assert!(report_on(&fixture::six_runs(100)) == report_on(&fixture::six_runs(100)));
}

#[test]
fn runs_without_series_or_distributions_have_a_table() {
    let mut runs = fixture::six_runs(50);
    for run in &mut runs {
        run.series.clear();
        run.distributions.clear();
    }
    let (_folder, page) = page_of(&report_on(&runs));
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(browser.errors(), Vec::<String>::new());
    assert_eq!(browser.evaluate("document.querySelectorAll('tbody tr').length"), 6);
    assert!(report_on(&[]).contains("nothing to show"));
}

#[test]
fn pointing_shows_the_values_of_all_plots_over_time_and_dragging_zooms_all_of_them() {
    let (_folder, page) = page_of(&report_on(&fixture::six_runs(600)));
    let mut browser = Browser::start();
    browser.open(&page);
    browser.evaluate(&pointer("pointermove", 0.5));
    let readouts = browser.evaluate("[...document.querySelectorAll('#over-time .readout')].filter(one => one.textContent.startsWith('30 s')).length");
    assert_eq!(readouts, 18);
    for (kind, share) in [("pointerdown", 0.25), ("pointermove", 0.5), ("pointerup", 0.5)] {
        browser.evaluate(&pointer(kind, share));
    }
    let shown = browser.evaluate("document.querySelector('#run-5 .curves').getAttribute('viewBox')");
    assert_eq!(shown, "5000 0 5000 4000", "a quarter of the time, from the first quarter on");
    browser
        .evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))");
    let shown = browser.evaluate("document.querySelector('#run-5 .curves').getAttribute('viewBox')");
    assert_eq!(shown, "0 0 20000 4000");
    assert_eq!(faults(&mut browser), Vec::<String>::new());
}

/// Moves, presses or releases the pointer over the first plot, at this share of its width.
fn pointer(kind: &str, share: f64) -> String {
    format!(
        "(() => {{ const plot = document.querySelector('svg.plot'); const box = plot.getBoundingClientRect(); \
         plot.setPointerCapture = () => {{}}; \
         plot.dispatchEvent(new PointerEvent('{kind}', {{ clientX: box.left + {share} * box.width, button: 0 }})); }})()"
    )
}

/// Damaged pages: the tests above must find each fault.
mod broken_pages {
    use super::*;

    fn broken(from: &str, to: &str) -> Vec<String> {
        let page = report_on(&fixture::six_runs(50));
        let damaged = page.replace(from, to);
        assert!(damaged != page, "nothing was damaged");
        faults_of(&damaged)
    }

    fn assert_found(faults: &[String], text: &str) {
        assert!(faults.iter().any(|fault| fault.contains(text)), "{text} not among {faults:?}");
    }

    #[test]
    fn an_error_on_the_console_is_found() {
        assert_found(&broken("<script>", "<script>console.error('broken on purpose');"), "broken on purpose");
    }

    #[test]
    fn an_exception_is_found() {
        assert_found(
            &broken("<script>", "<script>setTimeout(() => undefined_name.call());"),
            "undefined_name",
        );
    }

    #[test]
    fn a_request_that_the_policy_blocks_is_found() {
        assert_found(&broken("<main>", r#"<main><img src="http://127.0.0.1:9/x.png">"#), "127.0.0.1:9/x.png");
    }

    #[test]
    fn a_request_without_the_policy_is_found() {
        let open = report_on(&fixture::six_runs(50)).replace("default-src 'none'", "default-src *");
        let page = open
            .replace("img-src data:", "img-src *")
            .replace("<main>", r#"<main><img src="http://127.0.0.1:9/x.png">"#);
        assert_found(&faults_of(&page), "requests http://127.0.0.1:9/x.png");
    }

    #[test]
    fn a_chart_without_curves_is_found() {
        assert_found(&broken(r#"class="curve "#, r#"class="lost "#), "empty chart");
    }

    #[test]
    fn a_curve_of_no_numbers_is_found() {
        assert_found(&broken(r#"l0 0"#, "lNaN 0"), "empty chart");
    }

    #[test]
    fn a_page_without_any_chart_is_found() {
        assert_found(&faults_of("<!DOCTYPE html><title>empty</title>"), "no plot on the page");
    }
}
