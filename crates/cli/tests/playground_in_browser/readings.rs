//! Switches say which figures of the paper another reading changes.

use super::browser::Browser;
use super::{VIEWS, inspect};

const READINGS: &str = "#controls [data-group=\"Readings of lgcc\"]";

/// The text of an element.
fn text(browser: &mut Browser, selector: &str) -> String {
    let script = format!("document.querySelector({selector:?}).textContent");
    browser.evaluate(&script).as_str().unwrap().to_owned()
}

/// The numbers are those of `papers/lgcc/readings.md`.
pub(crate) fn switches_name_what_they_change(browser: &mut Browser, origin: &str) {
    let runs = browser.evaluate("document.body.dataset.runs");
    browser.choose("#scenario", "lesson:what-a-relay-changes");
    browser.wait_until(&format!("Number(document.body.dataset.runs) > {runs}"));
    browser.click("#tab-controls");
    browser.wait_until(&format!("document.querySelector('{READINGS} .outcome')"));
    browser.click(&format!("{READINGS} > summary"));
    // The rate alone has not been measured: the reading of that name also echoes x.
    let rate = format!("{READINGS} [data-reading=\"rate\"]");
    browser.click(&format!("{rate} > summary"));
    assert!(
        text(browser, &format!("{rate} > summary"))
            .starts_with("With rate and echo = x (reading \"rate\"), ")
    );
    let fig12 = text(browser, &format!("{rate} [data-recipe=\"lgcc/fig12\"]"));
    assert!(fig12.contains("3 of 16 rows accepted, now 15"), "{fig12}");
    let fig16 = text(browser, &format!("{rate} [data-recipe=\"lgcc/fig16\"]"));
    assert!(fig16.contains("11 of 21 rows accepted, now 14"), "{fig16}");
    let script = format!(
        "(async () => {{ const link = document.querySelector('{rate} [data-recipe=\"lgcc/fig12\"] a'); \
         return link.href + ' ' + await (await fetch(link.href)).text(); }})()"
    );
    let recipe = browser.evaluate(&script);
    let recipe = recipe.as_str().unwrap();
    assert!(recipe.starts_with(&format!("{origin}/papers/lgcc/fig12.toml ")), "{recipe}");
    assert!(recipe.contains("place"), "{recipe}");
    inspect(browser, "readings", &VIEWS);
    browser.set_view(1400, "light", "screen");
    // The other way round.
    let paced = format!("{READINGS} input[data-path$=\".control\"][value=\"paced-window\"]");
    browser.click(&paced);
    let back = format!("{READINGS} [data-reading=\"window\"]");
    browser.wait_until(&format!("document.querySelector('{back}')"));
    let fig16 = text(browser, &format!("{back} [data-recipe=\"lgcc/fig16\"]"));
    assert!(fig16.contains("14 of 21 rows accepted, now 13"), "{fig16}");
}
