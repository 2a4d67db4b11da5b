//! What a reader does in each step of each lesson. A step must not be reached before, and be reached afterwards.

use super::browser::Browser;
use super::{VIEWS, inspect};

/// A reader's action.
enum Act {
    /// Drags the slider of a key to about this value.
    Drag(&'static str, f64),
    /// Clicks a value of a key.
    Pick(&'static str, &'static str),
    /// Chooses the law of all flows.
    Law(&'static str),
}
use Act::{Drag, Law, Pick};

const DELAY: &str = "links.far.delay";
const FLOOR: &str = "links.L.queue.red.min_th";
const RELAY: &str = "protocols.lgcc.relays";

/// Name, width and colour scheme, and the action of each step.
const LESSONS: [(&str, u32, &str, &[Act]); 5] = [
    (
        "why-a-delay-oscillates",
        1400,
        "light",
        &[
            Drag(DELAY, 170.0),
            Drag(DELAY, 370.0),
            Drag("links.near.rate", 26.0),
            Pick("protocols.cltcp.params.scaling", "rtt"),
        ],
    ),
    (
        "why-marks-need-a-noise-floor",
        400,
        "dark",
        &[Drag(FLOOR, 6.0), Drag("links.L.queue.red.max_th", 12.0), Drag(FLOOR, 63.0)],
    ),
    (
        "what-a-relay-changes",
        1400,
        "dark",
        &[
            Pick(RELAY, "[\"R\"]"),
            Drag(DELAY, 36.0),
            Drag(DELAY, 190.0),
            Drag("protocols.lgcc.params.drain", 20.0),
        ],
    ),
    (
        "max-min-or-proportional",
        400,
        "light",
        &[Drag("links.L2.rate", 19.5), Law("paganini-ecn"), Pick("flows.long.weight", "3"), Law("newreno")],
    ),
    (
        "phase-effects",
        1400,
        "light",
        &[
            Drag("flows.two.rtt", 113.0),
            Pick("hosts.jitter", "10ms"),
            Pick("links.L.queue", "{ red = { min_th = \"5KB\", max_th = \"15KB\" } }"),
        ],
    ),
];

const RUNS: &str = "Number(document.body.dataset.runs ?? 0)";

/// Opens each lesson and does what its steps ask for.
pub(crate) fn drive_all(browser: &mut Browser) {
    let listed = browser.list("[...document.querySelectorAll('#scenario option')].map(one => one.value).filter(one => one.startsWith('lesson:'))");
    let driven: Vec<String> = LESSONS.iter().map(|(name, ..)| format!("lesson:{name}")).collect();
    assert_eq!(listed, driven, "the lessons of the page and those of this test");
    for (name, width, scheme, acts) in LESSONS {
        browser.set_view(width, scheme, "screen");
        let runs = browser.evaluate(RUNS);
        browser.choose("#scenario", &format!("lesson:{name}"));
        browser.wait_until(&format!("{RUNS} > {runs} && document.querySelector('#lesson .control')"));
        let steps = browser.evaluate("document.querySelectorAll('nav .step').length");
        assert_eq!(steps, acts.len(), "{name}");
        controls_are_near_the_results(browser, name, width);
        for (index, act) in acts.iter().enumerate() {
            let step = format!("{name}, step {}", index + 1);
            assert!(
                browser.holds("document.querySelector('.reached').hidden"),
                "{step} is reached from the start"
            );
            perform(browser, act);
            browser.wait_until("!document.querySelector('.reached').hidden");
            // The whole of a lesson is seen in all views, each step in two of them.
            inspect(browser, &step, &[VIEWS[index % 4], VIEWS[(index + 1) % 4]]);
            browser.set_view(width, scheme, "screen");
            if index + 1 < acts.len() {
                let runs = browser.evaluate(RUNS);
                browser.click("#next");
                let title = format!(
                    "document.activeElement.id === 'step-title' && {RUNS} > {runs} && document.querySelector('#lesson .control')"
                );
                browser.wait_until(&title);
            }
        }
    }
}

/// A run that is under way when the reader goes on to the next step does not reach it: its settings are those of the step before.
pub(crate) fn go_on_during_a_run(browser: &mut Browser) {
    let slider = "#lesson input[data-path=\"flows.two.rtt\"]";
    for lesson in ["why-a-delay-oscillates", "phase-effects"] {
        browser.choose("#scenario", &format!("lesson:{lesson}"));
    }
    browser.wait_until(&format!("document.querySelector('{slider}')"));
    browser.drag_slider(slider, 113.0);
    browser.wait_until("!document.querySelector('.reached').hidden");
    // The last run of the drag has ended; one that takes longer than `PATIENCE_MS` of the page is stopped
    // when the next one waits, but not here.
    std::thread::sleep(std::time::Duration::from_secs(1));
    browser.evaluate(
        "(() => { const later = window.setTimeout; window.setTimeout = (act, ms) => later(act, ms === 120 ? 1e6 : ms); })()",
    );
    let runs = browser.evaluate(RUNS);
    browser.evaluate(&format!(
        "document.querySelector('{slider}').dispatchEvent(new Event('input')), document.querySelector('#next').click()"
    ));
    browser.wait_until(&format!("document.activeElement.id === 'step-title' && {RUNS} > {runs} + 1"));
    assert!(browser.holds("document.querySelector('.reached').hidden"), "a run of step 1 reached step 2");
}

/// The text of a result is hidden by settings for which it would be false; the step stays marked.
pub(crate) fn results_are_hidden_when_they_no_longer_hold(browser: &mut Browser) {
    browser.set_view(1400, "light", "screen");
    browser.choose("#scenario", "lesson:why-marks-need-a-noise-floor");
    browser.wait_until("document.querySelector('#lesson .control')");
    browser.click("nav .step:nth-of-type(2)");
    browser.wait_until("document.getElementById('step-title').textContent.startsWith('The steeper')");
    let slider = "#lesson input[data-path=\"links.L.queue.red.max_th\"]";
    browser.wait_until(&format!("document.querySelector('{slider}')"));
    browser.drag_slider(slider, 12.0);
    browser.wait_until("!document.querySelector('.reached').hidden");
    browser.drag_slider(slider, 1000.0);
    browser.wait_until("document.querySelector('.reached').hidden");
    assert!(browser.holds("document.querySelector('nav .step[aria-current]').classList.contains('done')"));
    // A step that is opened again begins with its own settings.
    browser.drag_slider(slider, 12.0);
    browser.wait_until("!document.querySelector('.reached').hidden");
    let runs = browser.evaluate(RUNS);
    browser.click("nav .step:nth-of-type(2)");
    browser.wait_until(&format!("{RUNS} > {runs}"));
    assert!(browser.holds("document.querySelector('.reached').hidden"));
}

/// On a phone, no more than the drawing of the network is between the controls of a lesson and its results.
fn controls_are_near_the_results(browser: &mut Browser, name: &str, width: u32) {
    let distance = "document.getElementById('sentence').getBoundingClientRect().top \
                    - document.querySelector('#lesson .lesson-controls').getBoundingClientRect().bottom";
    let distance = browser.evaluate(distance).as_f64().unwrap();
    assert!(width > 400 || distance < 600.0, "{name}: {distance} pixels");
}

fn perform(browser: &mut Browser, act: &Act) {
    match act {
        Drag(path, value) => {
            let slider = format!("#lesson input[data-path=\"{path}\"]");
            browser.drag_slider(&slider, *value);
        }
        Pick(path, value) => {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            browser.click(&format!("#lesson input[data-path=\"{path}\"][value=\"{value}\"]"));
        }
        Law(name) => browser.choose("#lesson select", name),
    }
}
