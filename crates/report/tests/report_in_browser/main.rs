//! The report in a real browser: no error, no request, no empty chart, and in a second's time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test's helpers may give up")]

mod browser;
mod fixture;
mod stability;

use std::path::PathBuf;

use browser::Browser;
use millpond_report::page;
use millpond_results::Run;

/// What is wrong with the page that is open; nothing if all is well.
fn faults(browser: &mut Browser) -> Vec<String> {
    let mut faults = browser.complaints();
    faults.extend(browser.requests().into_iter().map(|address| format!("asks the network for {address}")));
    let empty = browser.evaluate(EMPTY_CHARTS);
    let names = empty.as_array().unwrap().iter().map(|name| format!("empty chart: {name}"));
    faults.extend(names);
    faults
}

/// Names of plots in which nothing visible is drawn, or something that is not a number; and a page without plots.
const EMPTY_CHARTS: &str = r#"(() => {
    document.querySelectorAll("details").forEach(fold => fold.open = true);
    const visible = shape => { const box = shape.getBoundingClientRect(); return box.width + box.height > 1; };
    const broken = plot => /NaN|Infinity/i.test(plot.dataset.x + plot.dataset.y)
        || [...plot.querySelectorAll("*")].some(part => [...part.attributes].some(
            one => /^(d|x|y|x1|x2|y1|y2|width|height|viewBox)$/.test(one.name) && /NaN|inf|undefined/i.test(one.value)));
    const empty = plot => ![...plot.querySelectorAll(".curve, .mark, .box, .cell")].some(visible);
    const plots = [...document.querySelectorAll("svg.plot")];
    const faulty = plots.filter(plot => broken(plot) || empty(plot)).map(plot => plot.getAttribute("aria-label"));
    return plots.length ? faulty : ["there is no plot at all"];
})()"#;

fn page_of(html: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, html).unwrap();
    (folder, page)
}

fn faults_of(html: &str) -> Vec<String> {
    let (_folder, page) = page_of(html);
    let mut browser = Browser::start();
    browser.open(&page);
    faults(&mut browser)
}

fn report_on(runs: &[Run]) -> String {
    page::html(runs, "A report")
}

#[test]
fn six_protocols_are_drawn_without_error_request_or_empty_chart_in_light_dark_print_and_on_a_phone() {
    in_each_view(&report_on(&fixture::six_runs(600)), |name, _, picture| {
        assert!(picture.len() > 50_000, "{name}: the picture is nearly empty");
        keep_picture(name, picture);
    });
}

/// Opens a page in light, dark, print and on a phone; nothing may be at fault or wider than the window. `look` gets the
/// view's name and a picture in base64.
fn in_each_view(html: &str, mut look: impl FnMut(&str, &mut Browser, &str)) {
    let (_folder, page) = page_of(html);
    let mut browser = Browser::start();
    for (name, width, scheme, media) in [
        ("light", 1280, "light", "screen"),
        ("dark", 1280, "dark", "screen"),
        ("print", 690, "dark", "print"),
        ("phone", 390, "light", "screen"),
    ] {
        browser.set_view(width, scheme, media);
        browser.open(&page);
        let picture = browser.screenshot();
        assert_eq!(faults(&mut browser), Vec::<String>::new(), "{name}");
        let overflow = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(overflow.as_f64().unwrap() <= 0.0, "{name}: wider than the window by {overflow} px");
        look(name, &mut browser, &picture);
    }
}

/// For people who want to look: set REPORT_PICTURES to a folder, and undo the files there with `base64 -d`.
fn keep_picture(name: &str, base64: &str) {
    if let Some(folder) = std::env::var_os("REPORT_PICTURES") {
        std::fs::write(PathBuf::from(folder).join(format!("{name}.png.base64")), base64).unwrap();
    }
}

#[test]
fn one_run_of_one_flow_twelve_runs_and_a_thousand_flows_are_drawn() {
    let characters = fixture::SIX.iter().chain(&fixture::SIX);
    let twelve: Vec<Run> = characters.map(|character| fixture::run(character, 300, 2)).collect();
    assert_eq!(faults_of(&report_on(&twelve[..1])), Vec::<String>::new());
    assert_eq!(faults_of(&report_on(&twelve)), Vec::<String>::new());
    let crowd = report_on(&[fixture::run(&fixture::SIX[2], 300, 1000)]);
    assert!(crowd.contains("mean of 1000"));
    assert_eq!(faults_of(&crowd), Vec::<String>::new());
}

#[test]
fn a_million_samples_stay_small_and_keep_their_extremes() {
    let mut run = fixture::run(&fixture::SIX[0], 1_000_000, 2);
    let spike = &mut run.series.iter_mut().find(|series| series.quantity == "queueing delay").unwrap().values
        [654_321];
    *spike = 77_000.0;
    let html = report_on(&[run]);
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    let (_folder, page) = page_of(&html);
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(faults(&mut browser), Vec::<String>::new());
    let highest = "Math.min(...document.querySelector('[data-name=delay]').points.map(point => point[1]))";
    browser.evaluate("document.querySelectorAll('svg.plot').forEach(plot => plot.dispatchEvent(new PointerEvent('pointermove')))");
    assert!(
        browser.evaluate(highest).as_f64().unwrap() < 4000.0 * 0.05,
        "the spike reaches the top of its axis"
    );
}

#[test]
fn names_that_look_like_markup_stay_names() {
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
    let (_folder, page) = page_of(&page::html(&runs, hostile));
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(faults(&mut browser), Vec::<String>::new());
    assert_eq!(browser.evaluate("document.images.length"), 0);
    assert_eq!(browser.evaluate("document.title"), hostile);
}

#[test]
fn a_page_is_the_same_bytes_every_time() {
    assert!(report_on(&fixture::six_runs(100)) == report_on(&fixture::six_runs(100)));
}

#[test]
fn runs_without_series_or_distributions_still_give_their_numbers() {
    let mut runs = fixture::six_runs(50);
    for run in &mut runs {
        run.series.clear();
        run.distributions.clear();
    }
    let (_folder, page) = page_of(&report_on(&runs));
    let mut browser = Browser::start();
    browser.open(&page);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.evaluate("document.querySelectorAll('tbody tr').length"), 6);
    assert!(report_on(&[]).contains("nothing to show"));
}

#[test]
fn pointing_reads_every_plot_over_time_and_dragging_zooms_them_all() {
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

/// What the tests above would see if the page were broken: each of these pages must be found out.
mod broken_pages {
    use super::*;

    fn broken(from: &str, to: &str) -> Vec<String> {
        let page = report_on(&fixture::six_runs(50));
        let damaged = page.replace(from, to);
        assert!(damaged != page, "nothing was damaged");
        faults_of(&damaged)
    }

    fn assert_found(faults: &[String], what: &str) {
        assert!(faults.iter().any(|fault| fault.contains(what)), "{what} not among {faults:?}");
    }

    #[test]
    fn an_error_on_the_console_is_found() {
        assert_found(&broken("<script>", "<script>console.error('broken on purpose');"), "broken on purpose");
    }

    #[test]
    fn an_exception_is_found() {
        assert_found(&broken("<script>", "<script>setTimeout(() => nobody.knows());"), "nobody");
    }

    #[test]
    fn a_request_is_found_even_though_the_policy_stops_it() {
        assert_found(&broken("<main>", r#"<main><img src="http://127.0.0.1:9/x.png">"#), "127.0.0.1:9/x.png");
    }

    #[test]
    fn a_request_without_the_policy_is_found() {
        let open = report_on(&fixture::six_runs(50)).replace("default-src 'none'", "default-src *");
        let page = open
            .replace("img-src data:", "img-src *")
            .replace("<main>", r#"<main><img src="http://127.0.0.1:9/x.png">"#);
        assert_found(&faults_of(&page), "asks the network for http://127.0.0.1:9/x.png");
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
        assert_found(&faults_of("<!DOCTYPE html><title>empty</title>"), "no plot at all");
    }
}
