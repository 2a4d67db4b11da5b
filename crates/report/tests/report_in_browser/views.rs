//! A page in several views, and its faults.

use super::browser::Browser;
use std::path::PathBuf;

/// All faults of the open page: errors, network requests and empty charts.
pub(crate) fn faults(browser: &mut Browser) -> Vec<String> {
    let mut faults = browser.errors();
    faults.extend(browser.requests().into_iter().map(|address| format!("requests {address}")));
    let empty = browser.evaluate(EMPTY_CHARTS);
    let names = empty.as_array().unwrap().iter().map(|name| format!("empty chart: {name}"));
    faults.extend(names);
    faults
}

/// Labels of plots without any visible curve or mark, and of plots with a coordinate that is not a number; a text if there
/// is no plot.
const EMPTY_CHARTS: &str = r#"(() => {
    document.querySelectorAll("details").forEach(fold => fold.open = true);
    const visible = shape => { const box = shape.getBoundingClientRect(); return box.width + box.height > 1; };
    const broken = plot => /NaN|Infinity/i.test(plot.dataset.x + plot.dataset.y)
        || [...plot.querySelectorAll("*")].some(part => [...part.attributes].some(
            one => /^(d|x|y|x1|x2|y1|y2|width|height|viewBox)$/.test(one.name) && /NaN|inf|undefined/i.test(one.value)));
    const empty = plot => ![...plot.querySelectorAll(".curve, .mark, .box, .cell")].some(visible);
    const plots = [...document.querySelectorAll("svg.plot")];
    const faulty = plots.filter(plot => broken(plot) || empty(plot)).map(plot => plot.getAttribute("aria-label"));
    return plots.length ? faulty : ["no plot on the page"];
})()"#;

pub(crate) fn page_of(html: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, html).unwrap();
    (folder, page)
}

/// Opens a page in light, dark, print and on a phone. It must have no fault and must not be wider than the window. `inspect`
/// gets the name of the view and a picture in base64.
pub(crate) fn in_each_view(html: &str, mut inspect: impl FnMut(&str, &mut Browser, &str)) {
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
        inspect(name, &mut browser, &picture);
    }
}

/// Writes the picture into the folder REPORT_PICTURES, if it is set; `base64 -d` decodes it.
pub(crate) fn keep_picture(name: &str, base64: &str) {
    if let Some(folder) = std::env::var_os("REPORT_PICTURES") {
        std::fs::write(PathBuf::from(folder).join(format!("{name}.png.base64")), base64).unwrap();
    }
}
