//! What senders, receivers and routers gain that break the rules, and what the others lose: the numbers of
//! `docs/misbehaviour.md`.

use crate::common::{flow, link, results};
use millpond_results::Run;
use rayon::prelude::*;

const PAGE: &str = include_str!("../../../../docs/misbehaviour.md");

/// The scenario of the page.
fn scenario() -> &'static str {
    PAGE.split("```toml\n")
        .nth(1)
        .and_then(|block| block.split("```").next())
        .expect("a scenario on the page")
}

/// The settings of a row in the page's table, which are the words of its last column in code marks.
fn row_settings(row: &str) -> Vec<String> {
    let column = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
    column.split('`').skip(1).step_by(2).filter(|word| word.contains('=')).map(str::to_owned).collect()
}

fn mbits(run: &Run, name: &str) -> String {
    format!("{:.1}", flow(run, name).goodput_bps / 1e6)
}

/// The measured columns of a row.
fn cells(run: &Run) -> String {
    let bottleneck = link(run, "bottleneck");
    let lost = 100.0 * bottleneck.drops as f64 / bottleneck.arrivals as f64;
    let closed = flow(run, "liar").closed_s.map_or("-".to_owned(), |at| format!("{at:.2} s"));
    format!(
        "{} | {} | {:.0} ms | {lost:.1} % | {closed}",
        mbits(run, "liar"),
        mbits(run, "honest"),
        bottleneck.queueing_ms.p99
    )
}

/// The rows of all tables of measured values.
fn rows() -> Vec<&'static str> {
    PAGE.lines().filter(|line| line.starts_with("| ") && !row_settings(line).is_empty()).collect()
}

fn run_row(row: &str) -> Run {
    let settings = row_settings(row);
    results(scenario(), &settings.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_tables_of_the_page_are_what_its_settings_give() {
    let rows = rows();
    assert!(rows.len() > 30, "{}", rows.len());
    let expected: Vec<String> = rows
        .par_iter()
        .map(|row| {
            let columns: Vec<&str> = row.split('|').collect();
            let (who, settings) = (columns[1].trim(), columns[columns.len() - 2].trim());
            format!("| {who} | {} | {settings} |", cells(&run_row(row)))
        })
        .collect();
    let differ: Vec<_> = rows.iter().zip(&expected).filter(|(row, expected)| row != expected).collect();
    assert!(differ.is_empty(), "docs/misbehaviour.md must have these rows:\n{}", expected.join("\n"));
}

/// The goodputs of both flows in Mbit/s.
fn shares(sets: &[&str]) -> [f64; 2] {
    let run = results(scenario(), sets);
    ["liar", "honest"].map(|name| flow(&run, name).goodput_bps / 1e6)
}

#[test]
fn fair_queueing_bounds_what_a_greedy_sender_takes() {
    // Its share of the capacity is half, or all that the other flow leaves.
    let greedy = "flows.liar.sender={ greedy = 4 }";
    let [liar, honest] = shares(&[greedy]);
    assert!(liar > 3.0 * honest, "{liar} {honest}");
    let [liar, honest] = shares(&[greedy, "dumbbell.bottleneck.queue=fq-codel"]);
    assert!(liar < 11.0 && honest > 9.0, "{liar} {honest}");
}

#[test]
fn an_unresponsive_sender_keeps_its_rate() {
    let sets = ["flows.liar.sender=unresponsive", "flows.liar.workload={ rate = \"12Mbps\" }"];
    let [liar, honest] = shares(&sets);
    assert!((liar - 12.0).abs() < 0.1 && (7.0..8.1).contains(&honest), "{liar} {honest}");
}

/// After seven cycles of fairing MCP keeps between the first overload, .98 of the capacity, and two steps back for each flow.
/// A cycle of two flows lasts `.49 C / (2 * 80 kbit/s)` decisions of 400 ms, 24.5 s, more than the runs of the page.
#[test]
fn two_flows_of_mcp_fill_the_link_after_their_cycles_of_fairing() {
    let mcp = ["flows.liar.protocol=mcp", "flows.honest.protocol=mcp"];
    let long = ["duration=240s", "measure.from=200s"];
    let used = |sets: &[&str]| link(&results(scenario(), sets), "bottleneck").utilization;
    let steps = 2.0 * 2.0 * 80e3 / 20e6;
    let after = used(&[mcp, long].concat());
    assert!((0.98 - steps..=0.98).contains(&after), "{after}");
    // From half of .98 it rises by 80 kbit/s for each flow in 400 ms: within 12 s by at most 0.24.
    let during = used(&mcp);
    assert!((0.49..0.49 + 0.24).contains(&during), "{during}");
}

#[test]
fn a_sender_that_skips_packet_numbers_closes_on_early_acknowledgements_and_on_nothing_else() {
    let early = "flows.liar.receiver={ early_acks = 8 }";
    let run = results(scenario(), &[early, "endpoint.skip_numbers=256"]);
    assert!(flow(&run, "liar").closed_s.is_some_and(|at| at < 2.0));
    assert_eq!(flow(&run, "honest").closed_s, None);
    assert!(flow(&run, "honest").goodput_bps > 19e6);
    let honest = results(scenario(), &["endpoint.skip_numbers=256"]);
    assert!(honest.summary.flows.iter().all(|flow| flow.closed_s.is_none()));
    assert!(honest.summary.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>() > 19.5e6);
}
