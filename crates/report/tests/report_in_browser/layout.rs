//! Where things are on the page about runs: nothing covers anything else, nothing leaves its frame, every axis says its
//! spacing.

use super::{Browser, fixture, in_each_view, page_of, report_on};
use millpond_results::{Group, Milliseconds, Run};
use serde_json::json;

/// Pairs of panels of a figure that cover one another, with all their texts.
const OVERLAPPING_PANELS: &str = r#"[...document.querySelectorAll("figure")].flatMap(figure => {
    const panels = [...figure.querySelectorAll(".panel")].map(panel => {
        const parts = [...panel.querySelectorAll(".panel-head, svg.plot, svg.plot text")];
        const boxes = parts.map(part => part.getBoundingClientRect()).filter(box => box.width * box.height > 0);
        const end = (side, of) => of(...boxes.map(box => box[side]));
        return { name: panel.querySelector(".quantity").textContent, top: end("top", Math.min), bottom: end("bottom", Math.max),
            left: end("left", Math.min), right: end("right", Math.max) };
    });
    return panels.flatMap((one, index) => panels.slice(index + 1)
        .filter(other => Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1
            && Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1)
        .map(other => `${figure.id}: ${one.name} and ${other.name}`));
})"#;

/// Names beside markers that leave their plot, or cover a marker or another name; texts of plots that leave the page.
const MISPLACED_NAMES: &str = r#"[...document.querySelectorAll("svg.plot")].flatMap(plot => {
    const frame = plot.getBoundingClientRect();
    const boxes = what => [...plot.querySelectorAll(what)].map(one => ({ text: one.textContent, box: one.getBoundingClientRect() }));
    const names = boxes("text.name");
    const cover = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
        && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 3;
    const others = boxes("use.mark").concat(names);
    return names.flatMap(one => others.filter(other => other !== one && other.box.width && cover(one.box, other.box))
            .map(other => `${one.text} covers ${other.text || "a marker"}`))
        .concat(names.filter(({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1).map(({ text }) => `${text} leaves its plot`))
        .concat(boxes("text").filter(({ box }) => box.width && (box.left < 0 || box.right > innerWidth)).map(({ text }) => `${text} leaves the page`));
})"#;

/// Panels with numbers on the vertical axis that do not say whether it is linear or logarithmic; horizontal axes likewise.
const UNNAMED_SCALES: &str = r#"[...document.querySelectorAll(".panel")].flatMap(panel => {
    const [plot, text] = [panel.querySelector("svg.plot"), panel.querySelector(".panel-head .quantity").textContent];
    const spacing = axis => axis.split(" ")[0] + " scale";
    const title = plot.querySelector(".axis-title").textContent;
    const isTime = plot.classList.contains("over-time");
    const wrong = [];
    if (!/percentile/.test(text) && !text.includes(spacing(plot.dataset.y))) wrong.push(text);
    if (title && !isTime && !title.endsWith(spacing(plot.dataset.x))) wrong.push(title);
    return wrong;
})"#;

fn assert_well_placed(runs: &[Run]) {
    in_each_view(&report_on(runs), |name, browser, _| {
        for faults in [OVERLAPPING_PANELS, MISPLACED_NAMES, UNNAMED_SCALES] {
            assert_eq!(browser.evaluate(faults), json!([]), "{name}");
        }
    });
}

#[test]
fn nothing_covers_anything_else_or_leaves_its_frame_and_every_axis_names_its_spacing() {
    assert_well_placed(&fixture::six_runs(300));
}

/// Up to four runs have a panel of stacked goodputs, below the others.
#[test]
fn a_run_with_stacked_goodputs_and_an_outage_has_its_panels_one_below_the_other() {
    let run = fixture::with_outage(fixture::run(&fixture::SIX[0], 300, 2));
    let stacked = report_on(std::slice::from_ref(&run));
    assert!(stacked.contains("Goodput, stacked"));
    assert_well_placed(&[run]);
}

/// In an outage there is a hatching and no curve of the delay; where the delay alone is missing there is no hatching. The
/// configured capacity is a curve beside the actual one.
#[test]
fn an_outage_is_hatched_a_missing_delay_is_a_gap_and_the_configured_capacity_is_drawn() {
    let mut run = fixture::with_outage(fixture::run(&fixture::SIX[1], 300, 1));
    for series in run.series.iter_mut().filter(|series| series.quantity == "queueing delay") {
        let samples = series.times.iter().zip(&mut series.values);
        samples.filter(|(time, _)| (45.0..50.0).contains(*time)).for_each(|(_, value)| *value = f64::NAN);
    }
    let (_folder, page) = page_of(&report_on(&[run]));
    let mut browser = Browser::start();
    browser.open(&page);
    // Shares of the width at which a curve of a panel of #run-0 has points, in steps of a hundredth.
    let mut covered = |selector: &str| -> Vec<u64> {
        let script = format!(
            "(() => {{ const path = document.querySelector('#run-0 {selector}').getAttribute('d'); const found = new Set(); \
             for (const piece of path.split('M').slice(1)) {{ const [start, steps] = piece.split('l'); \
             let x = Number(start.split(' ')[0]); const moves = steps.split(' ').map(Number); \
             for (let at = 0; at < moves.length; at += 2) {{ const next = x + moves[at]; \
             for (let place = x; place <= next; place += 50) found.add(Math.floor(place / 200)); x = next; }} }} \
             return [...found]; }})()"
        );
        let found = browser.evaluate(&script);
        found.as_array().unwrap().iter().map(|place| place.as_f64().unwrap() as u64).collect()
    };
    let within = |places: &[u64], seconds: std::ops::Range<f64>| {
        let share = |second: f64| second / fixture::DURATION_S * 100.0;
        let inside = (share(seconds.start) + 2.0)..(share(seconds.end) - 2.0);
        places.iter().filter(|place| inside.contains(&(**place as f64))).count()
    };
    let delay = covered(".panel:nth-of-type(3) .curve.line[data-name=\"end to end\"]");
    let hatch = covered(".panel:nth-of-type(3) .hatch");
    assert_eq!([within(&delay, fixture::OUTAGE_S), within(&delay, 45.0..50.0)], [0, 0]);
    assert!(within(&delay, 0.0..30.0) > 40 && within(&delay, 50.0..60.0) > 10, "{delay:?}");
    assert!(within(&hatch, fixture::OUTAGE_S) > 3, "{hatch:?}");
    assert_eq!([within(&hatch, 45.0..50.0), within(&hatch, 0.0..28.0)], [0, 0]);
    let configured = covered(".panel:nth-of-type(1) .curves .configured");
    assert!(within(&configured, 0.0..60.0) > 90, "{configured:?}");
}

/// Six protocols with five seeds each, on a screen of 1400 by 900 pixels.
#[test]
fn thirty_runs_fit_on_ten_screens() {
    let seeded = |seed: u64| {
        fixture::SIX.iter().map(move |protocol| {
            let mut run = fixture::run(protocol, 300 + seed as usize, 2);
            run.summary.seed = seed;
            run
        })
    };
    let runs: Vec<Run> = (1..=5).flat_map(seeded).collect();
    let (_folder, page) = page_of(&report_on(&runs));
    let mut browser = Browser::start();
    browser.set_view(1400, "light", "screen");
    browser.open(&page);
    let height = browser.evaluate("document.documentElement.scrollHeight").as_f64().unwrap();
    assert!(height <= 10.0 * 900.0, "{height} pixels");
}

/// Intervals over seeds, transfers and groups: the widest table. A phone is too narrow for it.
#[test]
fn the_whole_table_of_results_is_seen_at_1100_pixels_and_is_scrolled_to_on_a_phone() {
    let times = Milliseconds { mean: 1234.5, p95: 4321.0, ..Milliseconds::default() };
    let seeded = |seed: u64| {
        fixture::SIX.iter().map(move |protocol| {
            let mut run = fixture::run(protocol, 30, 2);
            run.label = format!("{}:cellular,headroom=5", protocol.name);
            run.summary.seed = seed;
            run.summary.links[0].utilization -= 0.01 * seed as f64;
            run.summary.queueing_ms.mean += 1000.0 * seed as f64;
            let web =
                Group { name: "web".into(), transfers: 9, completion_ms: Some(times), ..Group::default() };
            let web = Group { queueing_ms: run.summary.queueing_ms, flows: 1, ..web };
            run.summary.groups.push(web);
            run
        })
    };
    let (_folder, page) = page_of(&report_on(&(1..=5).flat_map(seeded).collect::<Vec<_>>()));
    let mut browser = Browser::start();
    let mut hidden = |width: u32| {
        browser.set_view(width, "light", "screen");
        browser.open(&page);
        let table = "(box => [box.scrollWidth - box.clientWidth, box.querySelectorAll('td').length])(document.querySelector('.scrolls'))";
        browser.evaluate(table)
    };
    let shown = hidden(1100);
    assert_eq!(shown, json!([0, 6 * 3 * 11]), "pixels beyond the right edge, cells");
    assert!(hidden(390)[0].as_f64().unwrap() > 100.0);
}

/// The hue of the flow that joins differs from that of the first one by at least a sixth of the circle, in every run and both
/// themes.
#[test]
fn the_flows_of_a_run_have_different_hues() {
    const LEAST_ANGLE: &str = r##"Math.min(...[...document.querySelectorAll("#over-time figure")].map(figure => {
        const hues = [".f0", ".f1"].map(tone => {
            const context = document.createElement("canvas").getContext("2d");
            context.fillStyle = getComputedStyle(figure.querySelector(".panel .curves " + tone)).stroke;
            context.fillRect(0, 0, 1, 1);
            const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
            return Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b) * 180 / Math.PI;
        });
        const angle = Math.abs(hues[0] - hues[1]);
        return Math.min(angle, 360 - angle);
    }))"##;
    in_each_view(&report_on(&fixture::six_runs(50)), |name, browser, _| {
        let angle = browser.evaluate(LEAST_ANGLE).as_f64().unwrap();
        assert!(angle >= 60.0, "{name}: {angle} degrees");
    });
}

/// Damaged pages: the tests above must find each fault.
mod broken_pages {
    use super::*;

    fn found(faults: &str, from: &str, to: &str) -> Vec<String> {
        let run = fixture::run(&fixture::SIX[0], 50, 2);
        let page = report_on(&[run, fixture::run(&fixture::SIX[1], 50, 2)]);
        let damaged = page.replace(from, to);
        assert!(damaged != page, "nothing was damaged");
        let (_folder, file) = page_of(&damaged);
        let mut browser = Browser::start();
        browser.set_view(1280, "light", "screen");
        browser.open(&file);
        let found = browser.evaluate(faults);
        found.as_array().unwrap().iter().map(|fault| fault.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_panel_over_another_one_is_found() {
        let faults = found(OVERLAPPING_PANELS, "grid-row: span 5", "grid-row: span 4");
        assert!(faults.iter().any(|fault| fault.contains("Goodput, stacked")), "{faults:?}");
    }

    #[test]
    fn a_name_outside_of_its_plot_is_found() {
        let faults = found(MISPLACED_NAMES, "<text class=\"name\"", "<text class=\"name\" dx=\"900\"");
        assert!(faults.iter().any(|fault| fault.contains("leaves its plot")), "{faults:?}");
    }

    #[test]
    fn a_name_over_another_one_is_found() {
        let text = "<text class=\"name\"";
        let faults =
            found(MISPLACED_NAMES, text, &format!("{text} x=\"50%\" y=\"50%\" style=\"transform:none\""));
        assert!(faults.iter().any(|fault| fault.contains("covers")), "{faults:?}");
    }

    #[test]
    fn an_axis_without_its_spacing_is_found() {
        let faults = found(UNNAMED_SCALES, "linear scale", "");
        assert!(faults.iter().any(|fault| fault.starts_with("Goodput")), "{faults:?}");
    }
}
