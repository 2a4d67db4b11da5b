//! The playground in a real browser, served by the command: all lessons with real clicks and drags, in light and dark, wide and
//! on a phone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers fail as tests do, and wait for the page by the clock"
)]

#[path = "../../../report/tests/report_in_browser/browser.rs"]
#[allow(dead_code, reason = "shared with other pages")]
mod browser;
mod exports;
mod input;
mod lessons;
mod readings;
mod server;

use browser::Browser;
use server::Server;

/// Everything that the page loads for itself, without answers of the server, in bytes.
const LARGEST_PAGE: f64 = 1e6;

/// What must hold in every view: contrast, widths, names, identifiers, plots.
const FAULTS: &str = include_str!("inspect.js");

/// The page in the folder PLAYGROUND_PICTURES, if it is set; `base64 -d` decodes it.
fn keep_picture(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("PLAYGROUND_PICTURES") {
        let file = std::path::PathBuf::from(folder).join(format!("{name}.png.base64"));
        std::fs::write(file, browser.screenshot()).unwrap();
    }
}

/// Wide and on a phone, light and dark.
const VIEWS: [(u32, &str); 4] = [(1400, "light"), (400, "dark"), (1400, "dark"), (400, "light")];

/// No fault in these views.
fn inspect(browser: &mut Browser, place: &str, views: &[(u32, &str)]) {
    for &(width, scheme) in views {
        browser.set_view(width, scheme, "screen");
        assert_eq!(browser.list(FAULTS), Vec::<String>::new(), "{place}, {width} pixels, {scheme}");
        keep_picture(browser, &format!("{place}, {width}, {scheme}"));
    }
}

fn opened() -> (tempfile::TempDir, Server, Browser) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let mut browser = Browser::start();
    browser.set_view(1400, "light", "screen");
    browser.open_address(&server.address);
    browser.wait_until("document.body.dataset.runs > 0 && document.querySelector('#lesson .control')");
    (folder, server, browser)
}

fn assert_no_error(browser: &Browser, server: &Server) {
    assert_eq!(browser.errors(), Vec::<String>::new());
    assert_eq!(browser.failed_requests(server.origin()), Vec::<String>::new());
}

#[test]
fn every_step_of_every_lesson_is_reached_by_what_it_asks_for() {
    let (_folder, server, mut browser) = opened();
    lessons::drive_all(&mut browser);
    lessons::go_on_during_a_run(&mut browser);
    lessons::results_are_hidden_when_they_no_longer_hold(&mut browser);
    assert_no_error(&browser, &server);
}

/// The text with completion and faults, the keyboard, the history, the theme and the exports.
#[test]
fn the_page_is_operated_by_keyboard_keeps_its_state_in_the_address_and_saves_figures() {
    let (folder, server, mut browser) = opened();
    page_is_small_and_hides_the_token(&mut browser);
    page_is_painted_soon(&mut browser);
    keyboard_moves_sliders(&mut browser);
    changes_are_named_below_the_text(&mut browser);
    exports::buttons_copy_and_save(&mut browser, folder.path());
    history_goes_back_and_forward(&mut browser);
    text_is_completed_and_checked(&mut browser);
    long_runs_are_cancelled(&mut browser);
    beginnings_of_runs_that_take_too_long_stay(&mut browser);
    figures_are_saved(&mut browser);
    readings::switches_name_what_they_change(&mut browser, server.origin());
    theme_is_switched(&mut browser);
    exports::states_that_cannot_be_read_are_refused(&mut browser, server.origin());
    assert_no_error(&browser, &server);
}

fn page_is_small_and_hides_the_token(browser: &mut Browser) {
    let bytes = browser.evaluate(
        "performance.getEntriesByType('navigation')[0].decodedBodySize + performance.getEntriesByType('resource') \
         .filter(one => one.name.includes('/assets/')).reduce((sum, one) => sum + one.decodedBodySize, 0)",
    );
    assert!(bytes.as_f64().unwrap() < LARGEST_PAGE, "{bytes} bytes");
    assert_eq!(browser.evaluate("location.search"), "");
    assert!(browser.holds("location.hash.length > 100 && location.hash.length < 2000"));
    browser.wait_until("document.getElementById('announcement').textContent.startsWith('Stable')");
}

/// Something is painted before the data of the catalogue arrive. The bound leaves room for a loaded machine; the measured
/// time is printed.
fn page_is_painted_soon(browser: &mut Browser) {
    let paint =
        "performance.getEntriesByType('paint').find(one => one.name === 'first-contentful-paint')?.startTime";
    browser.wait_until(paint);
    let [painted, catalogue] =
        [paint, "performance.getEntriesByName(location.origin + '/api/catalogue')[0].responseEnd"]
            .map(|script| browser.evaluate(script).as_f64().unwrap());
    println!("first paint after {painted:.0} ms, catalogue after {catalogue:.0} ms");
    assert!(painted < 3000.0, "first paint after {painted} ms");
}

/// Every stop of the Tab key is visible, and none is a trap; arrows move sliders and tabs.
fn keyboard_moves_sliders(browser: &mut Browser) {
    let mut stops = Vec::new();
    for _ in 0..40 {
        browser.key("Tab", 9, 0);
        let stop = browser.evaluate(
            "(() => { const one = document.activeElement, style = getComputedStyle(one); \
             return one === document.body ? 'end' : [one.tagName, one.id || one.textContent.slice(0, 20), style.outlineStyle].join(' '); })()",
        );
        stops.push(stop.as_str().unwrap().to_owned());
    }
    let hidden: Vec<_> = stops.iter().filter(|stop| stop.ends_with("none")).collect();
    assert!(hidden.is_empty(), "no visible focus: {hidden:?}");
    assert!(stops.iter().any(|stop| stop.contains("tab-controls")), "{stops:?}");
    let slider = "#lesson input[type=range]";
    browser.evaluate(&format!("document.querySelector('{slider}').focus()"));
    let before = browser.value_of_slider(slider);
    let runs = browser.evaluate("document.body.dataset.runs");
    for _ in 0..5 {
        browser.key("ArrowRight", 39, 0);
    }
    browser.wait_until(&format!("Number(document.body.dataset.runs) > {runs}"));
    assert!(browser.value_of_slider(slider) > before);
}

/// A value of a control is not in the text, where a reader would change it in vain.
fn changes_are_named_below_the_text(browser: &mut Browser) {
    browser.click("#tab-text");
    browser.wait_until("document.getElementById('overridden').textContent.includes('links.far.delay=')");
    browser.click("#tab-controls");
}

fn history_goes_back_and_forward(browser: &mut Browser) {
    let slider = "#lesson input[type=range]";
    let moved = browser.value_of_slider(slider);
    let runs = browser.evaluate("document.body.dataset.runs");
    browser.click("#next");
    browser.wait_until(&format!("document.getElementById('step-title').textContent.startsWith('Beyond') && Number(document.body.dataset.runs) > {runs}"));
    browser.evaluate("history.back()");
    browser.wait_until(&format!(
        "document.getElementById('step-title').textContent.startsWith('A delay') && \
         parseFloat(document.querySelector('{slider}')?.getAttribute('aria-valuetext')) === {moved}"
    ));
    browser.evaluate("history.forward()");
    browser.wait_until("document.getElementById('step-title').textContent.startsWith('Beyond')");
    let address = browser.evaluate("location.href");
    browser.open_address("about:blank");
    browser.open_address(address.as_str().unwrap());
    // The text of the step, and what completes it, are there before the first answer.
    browser.wait_until(
        "document.getElementById('step-title')?.textContent.startsWith('Beyond') && Number(document.body.dataset.runs) > 0",
    );
}

fn text_is_completed_and_checked(browser: &mut Browser) {
    browser.click("#tab-text");
    browser.evaluate(
        "(() => { const area = document.getElementById('source'); area.focus(); area.select(); })()",
    );
    browser.type_text(
        "duration = \"5s\"\n\n[[links]]\nname = \"L\"\nbetween = [\"A\", \"B\"]\nrate = \"5Mbps\"\ndel",
    );
    browser.wait_until("document.querySelector('#completions li')");
    browser.key("ArrowDown", 40, 0);
    browser.key("Enter", 13, 0);
    assert!(browser.holds("document.getElementById('source').value.endsWith('delay = ')"));
    browser.type_text("\"10msec\"\n\n[[flows]]\nname = \"f\"\npath = [\"A\", \"B\"]\nprotocol = ");
    browser.key(" ", 32, 2);
    browser.wait_until("document.querySelectorAll('#completions li').length > 20");
    browser.key("Escape", 27, 0);
    browser.type_text("\"cubic\"\n");
    // The lesson has changed a link that the new text does not have.
    browser.wait_until("document.querySelector('#take-back')");
    assert!(
        browser.holds("!document.getElementById('outdated').hidden"),
        "the figures of the lesson beside a text with a fault"
    );
    browser.click("#take-back");
    browser.wait_until("document.querySelector('.gutter .faulty')");
    assert_eq!(browser.evaluate("document.querySelector('.gutter .faulty').textContent"), "7");
    assert!(browser.holds("document.getElementById('source').getAttribute('aria-invalid') === 'true'"));
    inspect(browser, "a fault in the text", &VIEWS);
    browser.set_view(1400, "light", "screen");
    run_with(browser, "10msec", "10ms");
    // On a loaded machine the run of the text with the fault may end first.
    browser.wait_until(
        "!document.querySelector('.gutter .faulty') && document.getElementById('run-faults').textContent === ''",
    );
    assert!(browser.holds("document.getElementById('outdated').hidden"));
    assert_eq!(browser.list(SLOTS), in_order(), "packets before equations, whichever arrives first");
    the_reason_of_a_fault_is_shown(browser);
}

/// The slots of the figures of both worlds, in the order of the document, which is that of reading and of the Tab key.
const SLOTS: &str = "[...document.querySelectorAll('#worlds > section')].map(one => one.dataset.slot)";

fn in_order() -> Vec<String> {
    let figures = ["rates", "queue", "delay-over-time", "delay"];
    figures.iter().flat_map(|figure| ["packets", "fluid"].map(|world| format!("{figure}-{world}"))).collect()
}

/// A script that selects this part of the text in the editor.
fn selected(part: &str) -> String {
    format!(
        "(() => {{ const area = document.getElementById('source'); area.focus(); \
         const start = area.value.indexOf('{part}'); area.setSelectionRange(start, start + {}); }})()",
        part.len()
    )
}

/// Replaces a part of the text in the editor and waits for the end of its run.
fn run_with(browser: &mut Browser, part: &str, by: &str) {
    let runs = browser.evaluate("document.body.dataset.runs");
    browser.evaluate(&selected(part));
    browser.type_text(by);
    browser.wait_until(&format!("Number(document.body.dataset.runs) > {runs}"));
}

/// Why a file cannot be read stands at its place and not in the message.
fn the_reason_of_a_fault_is_shown(browser: &mut Browser) {
    browser.evaluate(&selected("\"5Mbps\""));
    browser.type_text("{ trace = { file = \"/etc/passwd\" } }");
    browser.wait_until(
        "document.getElementById('faults').textContent.includes('reads only files in its folder')",
    );
    run_with(browser, "{ trace = { file = \"/etc/passwd\" } }", "\"5Mbps\"");
}

/// A run of minutes shows its progress and a button that ends it; the picture stays, with the time that it shows.
fn long_runs_are_cancelled(browser: &mut Browser) {
    browser.evaluate(&selected("5Mbps"));
    browser.type_text("50Mbps");
    browser.evaluate(&selected("\"5s\""));
    browser.type_text("\"2000s\"");
    browser.wait_until(
        "!document.getElementById('running').hidden && document.getElementById('progress').value > 0",
    );
    browser.click("#cancel");
    browser.wait_until("document.getElementById('running').hidden && document.getElementById('announcement').textContent === 'Cancelled'");
    assert!(browser.holds("document.querySelector('#worlds svg.plot')"));
    assert_eq!(browser.evaluate(PART_IS_NAMED), true);
    run_with(browser, "\"2000s\"", "\"5s\"");
    assert_eq!(browser.evaluate(PART_IS_NAMED), false);
}

/// Whether the page shows how much of an unfinished run is drawn.
const PART_IS_NAMED: &str = "(() => { const part = document.getElementById('part'); \
     return part.checkVisibility() && part.textContent.includes(': the first '); })()";

/// An answer whose last figures of the equations are those of a beginning, without waiting for the limit of 20 s.
const UNFINISHED: &str = "(() => { \
     const real = window.fetch; \
     const lines = [ \
       { kind: 'figures', world: 'fluid', until: 2, measured: [0, 2], facts: [], warnings: [], \
         figures: [{ id: 'rates', title: 'Rates', description: '', html: '<figure id=beginning></figure>' }] }, \
       { kind: 'fault', world: 'fluid', faults: [{ message: 'it takes too long' }] }, \
       { kind: 'fault', world: 'packets', faults: [{ message: 'it needs too much' }] }, \
       { kind: 'fault', analysis: true, faults: [{ message: 'it takes too long' }] }, \
       { kind: 'done', milliseconds: 1 }]; \
     window.fetch = (address, request) => { \
       if (!String(address).endsWith('/api/run')) return real(address, request); \
       window.fetch = real; \
       return Promise.resolve(new Response(lines.map(line => JSON.stringify(line)).join('\\n'))); }; })()";

/// A world with a fault keeps what its run has drawn, and no figure of an earlier run.
fn beginnings_of_runs_that_take_too_long_stay(browser: &mut Browser) {
    browser.evaluate(UNFINISHED);
    run_with(browser, "\"5s\"", "\"6s\"");
    let shown = "[...document.querySelectorAll('#worlds [data-slot], #run-faults li, #part')].map(one => one.dataset.slot ?? one.textContent)";
    let expected = [
        "Equations: the first 2 s",
        "Equations: it takes too long",
        "Packets: it needs too much",
        "rates-fluid",
    ];
    assert_eq!(browser.list(shown), expected);
    let sentence = browser.evaluate("document.getElementById('sentence').textContent.trim()");
    assert_eq!(sentence, "", "a fault that the list has already");
    assert_eq!(browser.evaluate(PART_IS_NAMED), true);
    run_with(browser, "\"6s\"", "\"5s\"");
    assert_eq!(browser.evaluate(PART_IS_NAMED), false);
}

fn figures_are_saved(browser: &mut Browser) {
    let file = browser.evaluate(
        "import('/assets/figure-file.js').then(module => module.figureFile(document.querySelector('#worlds .picture'), 'Rates'))",
    );
    let file = file.as_str().unwrap();
    assert!(file.starts_with("<?xml") && file.contains("<title>Rates</title>"));
    assert!(!file.contains("class=") && !file.contains("var("), "a style that the file does not have");
    let parsed = browser.evaluate(&format!(
        "new DOMParser().parseFromString({}, 'image/svg+xml').querySelectorAll('parsererror').length",
        serde_json::Value::from(file)
    ));
    assert_eq!(parsed, 0);
    let beyond = browser.list(BEYOND);
    assert_eq!(beyond, Vec::<String>::new(), "texts beyond the edge of the file");
}

/// The texts of the files of all figures that end to the right of the file. Figures of the analysis are narrow.
const BEYOND: &str = "import('/assets/figure-file.js').then(module => [...document.querySelectorAll('#answer .picture')].flatMap(picture => { \
     const holder = document.createElement('div'); \
     holder.innerHTML = module.figureFile(picture, 'Figure').replace(/^<[?].*[?]>/, ''); \
     document.body.append(holder); \
     const file = holder.querySelector('svg'); \
     const end = file.getBoundingClientRect().right; \
     const beyond = [...file.querySelectorAll(':scope > text')].filter(text => text.getBoundingClientRect().right > end); \
     const texts = beyond.map(text => text.textContent); \
     holder.remove(); \
     return texts; }))";

fn theme_is_switched(browser: &mut Browser) {
    let paper = "getComputedStyle(document.documentElement).backgroundColor";
    let light = browser.evaluate(paper);
    browser.click("#theme");
    assert_ne!(browser.evaluate(paper), light);
    assert_eq!(browser.evaluate("document.getElementById('theme').getAttribute('aria-pressed')"), "true");
    browser.click("#theme");
    assert_eq!(browser.evaluate(paper), light);
}
