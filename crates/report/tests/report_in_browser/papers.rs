//! The page about recipes: pictures with the papers' values, the filter of rows, small files.

use super::{Browser, faults, in_each_view, keep_picture, page_of};
use millpond_papers::{CheckOptions, CheckedPapers, Library, check};
use millpond_report as page;
use millpond_results::{RunOrigin, Unwatched};

/// The page about these recipes.
fn page_about(recipes: &[&str]) -> String {
    let library = Library::builtin().unwrap();
    let selected: Vec<_> = recipes.iter().flat_map(|name| library.select(Some(name)).unwrap()).collect();
    let options = CheckOptions { draw: true, ..CheckOptions::quick() };
    let checked = CheckedPapers::new(check(&selected, &options, &Unwatched).unwrap());
    page::papers(&checked, &RunOrigin::default())
}

/// Recipes with each kind of picture: phase portraits, values over a parameter, boxes, series over steps and over time.
const RECIPES: [&str; 4] = ["acp/fig20", "lgcc/eq8", "lgcc/fig10", "acp/window"];

/// Elements that are wider than their section, outside of boxes that scroll.
const OVERFLOWING: &str = r#"[...document.querySelectorAll("section.recipe :is(h2, p, figure, .panel, svg.plot, table, td, th)")]
    .filter(one => !one.closest(".scrolls") || one.closest(".scrolls").scrollWidth <= one.closest(".scrolls").clientWidth)
    .filter(one => one.getBoundingClientRect().right > one.closest("section").getBoundingClientRect().right + 1)
    .map(one => `${one.closest("section").id}: ${one.tagName} ${one.textContent.slice(0, 40)}`)"#;

#[test]
fn recipes_are_drawn_without_error_request_empty_chart_or_overflow_in_light_dark_print_and_on_a_phone() {
    in_each_view(&page_about(&RECIPES), |name, browser, picture| {
        keep_picture(&format!("papers-{name}"), picture);
        assert_eq!(browser.evaluate(OVERFLOWING), serde_json::json!([]), "{name}");
        let pictures = browser.evaluate("document.querySelectorAll('.pictures svg.plot').length");
        assert!(pictures.as_u64().unwrap() >= 8, "{name}: {pictures} plots");
        let papers = browser.evaluate(
            "document.querySelectorAll('.pictures :is(.paper-core, .paper-band, .mark.open)').length",
        );
        assert!(papers.as_u64().unwrap() > 0, "{name}: no value of a paper");
    });
}

#[test]
fn the_filter_shows_rows_that_differ_alone_and_paper_shows_all() {
    const VISIBLE: &str = "[...document.querySelectorAll('.verdicts tbody tr:not(.subject)')]\
                           .filter(row => row.getClientRects().length).map(row => row.className)";
    let (_folder, page) = page_of(&page_about(&RECIPES));
    let mut browser = Browser::start();
    browser.set_view(1280, "light", "screen");
    browser.open(&page);
    let classes = |browser: &mut Browser| -> Vec<String> {
        let found = browser.evaluate(VISIBLE);
        found.as_array().unwrap().iter().map(|class| class.as_str().unwrap().to_owned()).collect()
    };
    let all = classes(&mut browser);
    let differing = all.iter().filter(|class| *class == "differs").count();
    assert!(0 < differing && differing < all.len(), "{all:?}");
    browser.evaluate("document.querySelector('#show-all').focus()");
    browser.press("ArrowRight");
    assert_eq!(
        browser.evaluate("document.activeElement.id"),
        "show-differs",
        "the filter follows the keyboard"
    );
    assert_eq!(classes(&mut browser), vec!["differs"; differing]);
    let sections =
        "[...document.querySelectorAll('section.recipe')].filter(one => one.getClientRects().length).length";
    assert!(browser.evaluate(sections).as_u64().unwrap() < RECIPES.len() as u64);
    browser.set_view(690, "light", "print");
    assert_eq!(classes(&mut browser), all, "paper shows every row");
    assert_eq!(faults(&mut browser), Vec::<String>::new());
}

#[test]
fn runs_of_different_length_are_zoomed_apart() {
    let (_folder, page) = page_of(&page_about(&["lgcc/fig10", "acp/window"]));
    let mut browser = Browser::start();
    browser.open(&page);
    browser.evaluate(
        "(() => { const plot = document.querySelector('.own-time svg.plot'); plot.setPointerCapture = () => {}; \
         const box = plot.getBoundingClientRect(); \
         for (const [kind, share] of [['pointerdown', .25], ['pointermove', .5], ['pointerup', .5]]) \
           plot.dispatchEvent(new PointerEvent(kind, { clientX: box.left + share * box.width, button: 0 })); })()",
    );
    let zoomed = browser.evaluate("document.querySelectorAll('.zoomed').length");
    let first = browser.evaluate("document.querySelector('.own-time').querySelectorAll('svg.plot').length");
    assert_eq!(zoomed, first, "the plots of the first run, and no others");
    assert_eq!(faults(&mut browser), Vec::<String>::new());
}
