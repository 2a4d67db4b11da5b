//! `docs/scenario.md` lists the keys as the tables in the source declare them; `make scenario-reference` writes them.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

use millpond_scenario::{heading_anchor, schema, update_reference};
use std::path::PathBuf;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md")
}

#[test]
fn the_tables_of_the_reference_page_equal_the_tables_of_keys() {
    let text = std::fs::read_to_string(page()).unwrap();
    let updated = update_reference(&text).unwrap();
    assert!(text == updated, "docs/scenario.md is stale: run make scenario-reference");
}

#[test]
fn the_schema_beside_the_scenarios_is_that_of_the_tables_of_keys() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let written = std::fs::read_to_string(folder.join("scenario.schema.json")).unwrap();
    assert!(
        written == format!("{:#}\n", schema()),
        "scenarios/scenario.schema.json is stale: run make scenario-reference"
    );
}

#[test]
fn the_anchor_of_a_heading_has_lower_case_hyphens_and_no_punctuation() {
    for (heading, anchor) in [
        ("Variants of a protocol", "variants-of-a-protocol"),
        (" `parking-lot` ", "parking-lot"),
        ("What holds, at 5 %?", "what-holds-at-5-"),
        ("jain_window", "jain_window"),
    ] {
        assert_eq!(heading_anchor(heading), anchor);
    }
}

#[test]
fn every_link_within_the_reference_page_leads_to_a_heading() {
    let text = std::fs::read_to_string(page()).unwrap();
    let headings: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("##"))
        .map(|line| heading_anchor(line.trim_matches('#')))
        .collect();
    let links = text.split("](#").skip(1).filter_map(|rest| rest.split(')').next());
    for link in links {
        assert!(headings.iter().any(|heading| heading == link), "no heading for #{link}");
    }
}

#[test]
fn a_page_with_a_wrong_marker_is_refused() {
    for (page, message) in [
        ("", "is not in the page"),
        ("<!-- keys: lnk -->\n<!-- end of keys -->", "no table (or a second one) is called \"lnk\""),
        ("<!-- keys: link -->\n", "has no end"),
    ] {
        let error = update_reference(page).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}
