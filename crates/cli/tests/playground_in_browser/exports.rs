//! The buttons that copy and save: what the clipboard and the files contain.

use super::browser::Browser;
use crate::input::PATIENCE;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

const LESSON: &str = include_str!("../../../playground/assets/lessons/why-a-delay-oscillates.toml");

/// Clicks the buttons for the link, the scenario and the notebook of a lesson with a changed delay. `folder` receives the
/// files.
pub(crate) fn buttons_copy_and_save(browser: &mut Browser, folder: &Path) {
    let allowed = json!({ "behavior": "allow", "downloadPath": folder });
    browser.ask("Browser.setDownloadBehavior", allowed);
    let granted = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    browser.ask("Browser.grantPermissions", granted);
    let slider = "#lesson input[type=range]";
    let delay = browser.value_of_slider(slider);
    let changed = LESSON.replace("delay   = \"100ms\"", &format!("delay   = \"{delay}ms\""));
    assert_ne!(changed, LESSON, "the delay of the lesson's far link");

    browser.click("#copy-link");
    browser.wait_until("document.getElementById('announcement').textContent === 'Link copied'");
    let copied = browser.evaluate("navigator.clipboard.readText()");
    assert_eq!(copied, browser.evaluate("location.href"));
    assert!(!copied.as_str().unwrap().contains("token"), "{copied}");

    browser.click("#save-scenario");
    let scenario = saved(&folder.join("why-a-delay-oscillates.toml"));
    assert_eq!(scenario, changed);

    browser.click("#save-notebook");
    let notebook: Value = serde_json::from_str(&saved(&folder.join("why-a-delay-oscillates.ipynb"))).unwrap();
    let source = |cell: usize| notebook["cells"][cell]["source"].as_str().unwrap().to_owned();
    assert!(source(1).ends_with(&format!("millpond.Scenario.parse({})", json!(LESSON))), "{}", source(1));
    assert!(source(2).contains(&format!("\"links.far.delay\": \"{delay}ms\",")), "{}", source(2));
}

/// The content of a file, as soon as the browser has saved it.
fn saved(file: &Path) -> String {
    let end = Instant::now() + PATIENCE;
    loop {
        // The browser renames the file when it is complete.
        match std::fs::read_to_string(file) {
            Ok(content) if !content.is_empty() => return content,
            _ => assert!(Instant::now() < end, "{} is not saved", file.display()),
        }
        std::thread::sleep(std::time::Duration::from_millis(15));
    }
}

/// The fragment of an address whose state has a text of this length. Repeated letters take little of it.
fn fragment(browser: &mut Browser, length: usize) -> String {
    let script = format!(
        "(async () => {{ \
         const state = JSON.stringify({{ text: '# ' + 'a'.repeat({length}), overrides: [], origin: '', step: 0, reached: [] }}); \
         const stream = new Blob([state]).stream().pipeThrough(new CompressionStream('deflate-raw')); \
         const bytes = new Uint8Array(await new Response(stream).arrayBuffer()); \
         return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''); }})()"
    );
    browser.evaluate(&script).as_str().unwrap().to_owned()
}

/// A state that is longer than a request may be, one that expands a thousandfold, and one that is broken open the first
/// lesson and say so.
pub(crate) fn states_that_cannot_be_read_are_refused(browser: &mut Browser, origin: &str) {
    let [accepted, too_long, expanding] =
        [200_000, 262_144, 20_000_000].map(|length| fragment(browser, length));
    assert!(expanding.len() < 30_000, "{}", expanding.len());
    let mut opened = |fragment: &str| {
        browser.open_address("about:blank");
        browser.open_address(&format!("{origin}/#{fragment}"));
        browser.wait_until("document.body.dataset.ready === ''");
        let script = "[document.getElementById('source').value.length, document.getElementById('scenario').value, \
                      document.getElementById('notice').textContent]";
        browser.evaluate(script)
    };
    assert_eq!(opened(&accepted), json!([200_002, "", ""]));
    for fragment in [too_long.as_str(), &expanding, "no-state"] {
        let notice = "The state in the address cannot be read. This is the first lesson instead.";
        let first = json!([LESSON.len(), "lesson:why-a-delay-oscillates", notice]);
        assert_eq!(opened(fragment), first, "{} characters", fragment.len());
    }
}
