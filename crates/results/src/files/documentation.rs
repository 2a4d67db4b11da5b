//! `docs/results.md` has a row for every key and every column of the files of a run, and no row for anything else.

use super::table::{self, Column};
use crate::summary::Silence;
use crate::{
    Comparison, ComparisonRow, DelayEstimates, Estimate, Fairness, Flow, Group, Link, LiveFacts, Loop,
    Milliseconds, Packets, Playback, Quartiles, Relay, Run, Slowdown, SlowdownEstimates, Spread, Summary,
    Timing,
};
use serde::Serialize;
use std::path::Path;

/// The first cells of the first table of a section, without backticks.
fn documented(page: &str, section: &str) -> Vec<String> {
    let (_, text) =
        page.split_once(&format!(" {section}\n")).unwrap_or_else(|| panic!("no section on {section}"));
    let lines = text.lines().skip_while(|line| !line.starts_with("| key") && !line.starts_with("| column"));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('`').nth(1).unwrap_or_default().to_owned()).collect()
}

fn keys(value: &impl Serialize) -> Vec<String> {
    let value = serde_json::to_value(value).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

fn columns(columns: &[Column<'_>]) -> Vec<String> {
    columns.iter().map(|column| column.name.clone().into_owned()).collect()
}

#[test]
fn the_page_on_results_documents_every_key_and_every_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let page = std::fs::read_to_string(path).unwrap();
    let run = Run::default();
    let slowdown = Some(Slowdown::default());
    let written = [
        ("summary.json", keys(&Summary { live: Some(LiveFacts::default()), slowdown, ..Summary::default() })),
        ("Live", keys(&LiveFacts::default())),
        ("Flow", keys(&Flow { ecn_stopped_s: Some(0.0), ..Flow::default() })),
        ("Group", keys(&Group { playback: Some(Playback::default()), slowdown, ..Group::default() })),
        ("Slowdown", keys(&Slowdown::default())),
        ("Playback", keys(&Playback::default())),
        ("Loop", keys(&Loop { protocol: Some(String::new()), ..Loop::default() })),
        ("Silence", keys(&Silence::default())),
        ("Link", keys(&Link::default())),
        ("Relay", keys(&Relay::default())),
        ("Fairness", keys(&Fairness::default())),
        ("Milliseconds", keys(&Milliseconds::default())),
        ("Packets", keys(&Packets::default())),
        ("Spread", keys(&Spread::default())),
        ("Quartiles", keys(&Quartiles::default())),
        ("series.parquet", columns(&table::series(&run))),
        ("flows.parquet", columns(&table::flows(&run))),
        ("distributions.parquet", columns(&table::distributions(&run))),
        ("timing.json", keys(&Timing::default())),
        ("comparison.json", keys(&Comparison::default())),
        ("Row of a comparison", keys(&ComparisonRow::default())),
        ("Estimate", keys(&Estimate::default())),
        ("Estimates of times", keys(&DelayEstimates::default())),
        ("Estimates of slowdowns", keys(&SlowdownEstimates::default())),
    ];
    for (section, mut names) in written {
        let mut rows = documented(&page, section);
        names.sort();
        rows.sort();
        assert_eq!(rows, names, "docs/results.md, section {section}");
    }
}
