//! Numbers on LGCC's page that are measured.

use crate::common::{flow, mean, results, samples_of, series};
use millpond_results::{Run, quantity};
use rayon::prelude::*;

const PAGE: &str = include_str!("../../../protocols/src/lgcc/README.md");

const RELAYS: [usize; 3] = [2, 4, 8];
const DRAINS: [f64; 3] = [8.0, 16.0, 46.0];
/// RED marks at random, and the last departure of the rate from its equilibrium depends on the random sample.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=9;

/// A chain at 40 Mbit/s with round trips of 6 ms, whose last link has 25 Mbit/s from 20 s on.
fn chain(relays: usize, drain: f64, seed: u64) -> Run {
    let text = format!(
        "title = \"chain\"\nseed = {seed}\nduration = \"50s\"\nmeasure = {{ every = \"100ms\" }}\n[chain]\nhops = {}\n\
         link = {{ rate = \"40Mbps\", delay = \"3ms\", buffer = \"unlimited\" }}\n[chain.last]\n\
         rate = {{ steps = [[\"0s\", \"40Mbps\"], [\"20s\", \"25Mbps\"]] }}\ndelay = \"3ms\"\nbuffer = \"unlimited\"\n\
         [[flows]]\nname = \"f\"\nprotocol = \"lgcc\"\n[protocols.lgcc]\nrelays = \"all\"\n\
         params = {{ drain = {drain} }}\n",
        relays + 1
    );
    results(&text, &[])
}

/// The time in seconds after the step until the sending rate stays within 5 % of 25 Mbit/s, its least value in Mbit/s and the
/// mean queueing delay in ms.
fn response(run: &Run) -> [f64; 3] {
    let rates = samples_of(series(run, "f", quantity::SEND_RATE), (20.0, 50.0));
    let outside = |(_, rate): &&(f64, f64)| (rate / 25e6 - 1.0).abs() > 0.05;
    let settled = rates.iter().rev().find(outside).map_or(0.0, |(time, _)| time - 20.0);
    let least = rates.iter().map(|(_, rate)| rate / 1e6).fold(f64::INFINITY, f64::min);
    [settled, least, flow(run, "f").queueing_ms.mean]
}

/// The cell of the page: the medians over the seeds, and the longest time.
fn cell(relays: usize, drain: f64) -> String {
    let responses: Vec<_> = SEEDS.into_par_iter().map(|seed| response(&chain(relays, drain, seed))).collect();
    let sorted = |column: usize| {
        let mut values: Vec<f64> = responses.iter().map(|response| response[column]).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let [settled, least, queueing] = [0, 1, 2].map(sorted);
    let middle = settled.len() / 2;
    let longest = settled.last().unwrap();
    format!(
        "{:.1} s ({longest:.1} s), {:.0} Mbit/s, {:.0} ms",
        settled[middle], least[middle], queueing[middle]
    )
}

#[test]
fn the_page_has_the_table_of_chains_over_their_length_and_drain() {
    let cells: Vec<String> =
        RELAYS.par_iter().flat_map(|n| DRAINS.par_iter().map(|drain| cell(*n, *drain))).collect();
    let row = |(n, cells): (&usize, &[String])| format!("  | {n} | {} |", cells.join(" | "));
    let rows: Vec<_> = RELAYS.iter().zip(cells.chunks(DRAINS.len())).map(row).collect();
    let table = rows.join("\n");
    assert!(PAGE.contains(&table), "in crates/protocols/src/lgcc/README.md it must be:\n{table}");
}

/// Ten flows, one every two seconds, behind a relay before 1 Mbit/s, where the bandwidth-delay product is two packets.
const TEN: &str = r#"
title = "ten flows"
duration = "120s"
measure = { every = "1s" }
links = [
  { name = "fast", between = ["A", "R"], rate = "10Mbps", delay = "5ms" },
  { name = "slow", between = ["R", "B"], rate = "1Mbps", delay = "5ms", buffer = "100KB" },
]
[[flows]]
name = "f"
count = 10
protocol = "lgcc"
path = ["A", "R", "B"]
start = { first = "0s", every = "2s" }
[protocols.lgcc]
relays = ["R"]
"#;

/// By Algorithm 1 all flows have the same rate x, and a window of x times the base RTT, rounded up. The base RTT that a flow
/// measures contains the queue at its start, so that shares are proportional to it.
#[test]
fn shares_of_late_starters_are_proportional_to_the_base_rtt_that_they_measure() {
    let run = results(TEN, &[]);
    let measured = (0..10).map(|n| {
        let name = format!("f.{n}");
        let rate = mean(series(&run, &name, quantity::GOODPUT), (60.0, 120.0));
        (rate, flow(&run, &name).loops[1].rtt_ms.min)
    });
    let measured: Vec<(f64, f64)> = measured.collect();
    let packet = 12e3 / 0.44;
    // A flow with two packets or more: rounding up adds less than one.
    let ratios = measured.iter().filter(|(rate, _)| *rate > 1.9 * packet).map(|(rate, rtt)| rate / rtt);
    let (low, high) = ratios.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    assert!(high / low < 1.5, "{measured:?}");
    let rates: Vec<f64> = measured.iter().map(|(rate, _)| *rate).collect();
    let rtts = || measured.iter().map(|(_, rtt)| *rtt);
    let (least, greatest) = (rtts().fold(f64::INFINITY, f64::min), rtts().fold(0.0, f64::max));
    let sentence = format!(
        "base RTTs of {least:.0} to {greatest:.0} ms, and Jain's index is {:.2}",
        millpond_stats::jain(&rates)
    );
    assert!(
        PAGE.contains(&sentence),
        "in crates/protocols/src/lgcc/README.md it must be: {sentence}\n{measured:?}"
    );
}
