//! Traces: statistics against closed forms, the generator against its preset, files against what they hold.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

use millpond_scenario::trace::{Dropouts, Format, LEVELS, PRESETS, Stats, Trace, TraceRecipe, preset};
use millpond_units::{Rate, Span, Time};
use std::path::Path;

fn csv(rows: impl IntoIterator<Item = (f64, f64)>) -> Trace {
    let lines: String = rows.into_iter().map(|(time, mbps)| format!("{time},{mbps}\n")).collect();
    Trace::parse(lines.as_bytes(), "test.csv", None).unwrap()
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found} for {expected}");
}

#[test]
fn a_byte_order_mark_before_a_trace_is_no_part_of_it() {
    let read = |bytes: &[u8]| Trace::parse(bytes, "trace", None).unwrap();
    assert_eq!(read(b"\xef\xbb\xbftime_s,mbps\n0,5\n1,6\n"), read(b"time_s,mbps\n0,5\n1,6\n"));
    assert_eq!(read(b"\xef\xbb\xbf1\n4\n"), read(b"1\n4\n"));
}

#[test]
fn a_constant_trace_has_no_variation() {
    let stats = csv((0..100).map(|i| (f64::from(i), 5.0))).stats();
    assert_eq!([stats.min, Some(stats.mean), stats.max], [Some(Rate::from_mbps(5.0)); 3]);
    assert_eq!((stats.variation, stats.autocorrelation), ([Some(0.0); 3], [Some(0.0); 3]));
    assert_eq!((stats.decay, stats.near_zero, stats.jump), ([None; 2], Some(0.0), Some(0.0)));
    assert_eq!((stats.duration, stats.fine), (Span::from_secs(100.0), Span::from_secs(1.0)));
    assert_eq!(stats.packets, None);
}

#[test]
fn a_statistic_for_which_a_trace_is_too_short_has_no_value() {
    let stats = csv((0..10).map(|i| (f64::from(i), f64::from(i + 1)))).stats();
    assert!(stats.variation[1].is_some() && stats.autocorrelation[1].is_some());
    assert_eq!((stats.variation[2], stats.autocorrelation[2]), (None, None), "a single bin of ten seconds");
    let Dropouts { per_minute, median, p90, longest, long_mean, .. } = stats.dropouts;
    assert_eq!((per_minute, median, p90, longest, long_mean), (0.0, None, None, None, None));
    let stats = Trace::parse(b"5\n9\n", "short.down", None).unwrap().stats();
    assert_eq!((stats.min, stats.max, stats.near_zero), (None, None, None), "no bin is filled");
    assert_eq!((stats.jump, stats.doubling, stats.halving), (None, None, None));
    assert_eq!((stats.variation, stats.autocorrelation), ([None; 3], [None; 3]));
}

#[test]
fn a_square_wave_has_the_statistics_of_a_square_wave() {
    // Ten seconds at 8 Mbps, ten at 2 Mbps: mean 5, standard deviation 3.
    let wave = |i: u32| if i % 20 < 10 { 8.0 } else { 2.0 };
    let stats = csv((0..2000).map(|i| (f64::from(i), wave(i)))).stats();
    let rates = [stats.min, Some(stats.mean), stats.max];
    assert_eq!(rates, [2.0, 5.0, 8.0].map(Rate::from_mbps).map(Some));
    stats.variation.iter().for_each(|variation| near(variation.unwrap(), 0.6, 1e-12, "variation"));
    // The correlation falls linearly from 1 at lag 0 to -1 at half a period: 0.8 at 1 s, 1/e at 3.16 s.
    near(stats.autocorrelation[1].unwrap(), 0.8, 2e-3, "correlation at 1 s");
    near(stats.autocorrelation[2].unwrap(), -1.0, 2e-3, "correlation at 10 s");
    near(stats.decay[1].unwrap(), 5.0 * (1.0 - 1.0 / std::f64::consts::E), 0.02, "decay");
    // One jump of ln 4 up and one down in 20 s.
    near(stats.jump.unwrap(), libm::sqrt(0.1) * libm::log(4.0), 2e-3, "jump");
    near(stats.doubling.unwrap(), 0.05, 1e-3, "doubling");
    near(stats.halving.unwrap(), 0.05, 1e-3, "halving");
}

#[test]
fn dropouts_are_counted_per_minute_with_their_lengths() {
    // In each minute one dropout of 2 s and one of 0.5 s, the second half-minute at a hundredth of the mean.
    let level = |i: u32| match i % 120 {
        10..14 => 0.0,
        70 => 0.1,
        _ => 10.0,
    };
    let stats = csv((0..1200).map(|i| (f64::from(i) / 2.0, level(i)))).stats();
    let dropouts = stats.dropouts;
    near(dropouts.per_minute, 2.0, 1e-9, "dropouts");
    near(dropouts.long_per_minute, 1.0, 1e-9, "long ones");
    near(dropouts.long_mean.unwrap(), 2.0, 1e-9, "their length");
    near(dropouts.longest.unwrap(), 2.0, 1e-9, "the longest");
    near(dropouts.median.unwrap(), 1.25, 1e-9, "the median of as many of 0.5 s as of 2 s");
    near(stats.near_zero.unwrap(), 5.0 / 120.0, 1e-12, "share near zero");
}

#[test]
fn regular_opportunities_are_under_dispersed_and_bursts_over() {
    let every_tenth: String = (1..=10_000).map(|i| format!("{}\n", 10 * i)).collect();
    let stats = Trace::parse(every_tenth.as_bytes(), "t", None).unwrap().stats();
    let packets = stats.packets.unwrap();
    // A millisecond holds one packet with probability 0.1: variance 0.09 over mean 0.1. Longer windows never vary.
    near(packets.busy, 0.1, 1e-12, "busy");
    near(packets.dispersion[0].unwrap(), 0.9, 1e-9, "1 ms");
    assert_eq!(packets.dispersion[1..], [Some(0.0), Some(0.0)]);
    let bursts: String = (1..=1000).map(|i| format!("{}\n", 1000 * i).repeat(100)).collect();
    let stats = Trace::parse(bursts.as_bytes(), "t", None).unwrap().stats();
    // A hundred packets in one of a thousand milliseconds: variance 9.99 over mean 0.1.
    near(stats.packets.unwrap().dispersion[0].unwrap(), 99.9, 1e-6, "1 ms");
    assert_eq!(stats.fine, Span::from_millis(100));
}

#[test]
fn presets_are_distributions_and_share_out_their_variance() {
    for preset in PRESETS {
        let name = preset.name;
        assert!(preset.quantiles.is_sorted(), "{name}: quantiles must not fall");
        let variance = preset.white + preset.fast + preset.slow;
        near(variance, 1.0, 0.08, name);
        let mean: f64 = trapezes(preset.quantiles, |x| x);
        let silent = preset.outages / 60.0 * preset.outage;
        near(
            mean * (1.0 - silent),
            1.0,
            0.12,
            &format!("{name}: the mean of the quantiles, outages taken off"),
        );
        assert!(PRESETS.iter().filter(|other| other.name == name).count() == 1, "{name} twice");
    }
}

/// The mean of `f` over a distribution whose quantiles are joined by straight lines.
fn trapezes(quantiles: [f64; 11], f: impl Fn(f64) -> f64) -> f64 {
    let pieces = LEVELS.windows(2).zip(quantiles.windows(2));
    // Simpson's rule is exact for squares.
    pieces.map(|(p, q)| (p[1] - p[0]) * (f(q[0]) + 4.0 * f((q[0] + q[1]) / 2.0) + f(q[1])) / 6.0).sum()
}

fn long_run(name: &str) -> Stats {
    TraceRecipe::new(preset(name).unwrap(), Span::from_secs(40_000.0), 1).generate().unwrap().stats()
}

#[test]
fn a_long_generated_trace_has_the_variation_of_its_quantiles_and_the_memory_of_its_processes() {
    for name in ["lte-fading", "lte-short", "5g-static", "wifi-restaurant"] {
        let preset = preset(name).unwrap();
        let stats = long_run(name);
        let mean = trapezes(preset.quantiles, |x| x);
        let square = trapezes(preset.quantiles, |x| x * x);
        // Outages (share s) add to the variation: the mean falls by 1 - s, the mean square as well.
        let silent = preset.outages / 60.0 * preset.outage;
        let expected = libm::sqrt(square / (mean * mean * (1.0 - silent)) - 1.0);
        near(stats.variation[0].unwrap(), expected, 0.05 * expected, name);
        // The share that a step forgets, before the quantile map: the map weakens it by a few percent at most.
        let (fast, slow) = (
            libm::exp(-preset.step.secs() / preset.fast_tau),
            libm::exp(-preset.step.secs() / preset.slow_tau),
        );
        let variance = preset.fast + preset.slow + preset.white;
        let correlation = (preset.fast * fast + preset.slow * slow) / variance;
        near(stats.autocorrelation[0].unwrap(), correlation, 0.06, name);
    }
}

#[test]
fn the_mean_is_exact_and_the_seed_decides_the_rest() {
    for preset in PRESETS {
        let mut recipe = TraceRecipe::new(preset, Span::from_secs(120.0), 1);
        recipe.mean = Some(Rate::from_mbps(33.0));
        let trace = recipe.generate().unwrap();
        near(trace.mean().as_f64(), 33e6, 2.0, preset.name);
        assert_eq!(trace.length, Span::from_secs(120.0));
        assert_eq!(trace, recipe.generate().unwrap());
        recipe.seed = 2;
        assert_ne!(trace, recipe.generate().unwrap());
    }
}

#[test]
fn a_recipe_that_cannot_be_followed_says_why() {
    let recipe = TraceRecipe::new(preset("5g-static").unwrap(), Span::from_secs(60.0), 1);
    for (recipe, words) in [
        (TraceRecipe { duration: Span::ZERO, ..recipe }, "0 samples"),
        (TraceRecipe { step: Some(Span::ZERO), ..recipe }, "in steps of 0s"),
        (TraceRecipe { step: Some(Span::from_picos(1)), ..recipe }, "expected 1 to 10000000"),
        (TraceRecipe { mean: Some(Rate::ZERO), ..recipe }, "a mean of 0bps"),
        (TraceRecipe { mean: Some(Rate::MAX), ..recipe }, "expected 1bps to 1000Gbps"),
        (TraceRecipe { peak: Some(Rate::from_mbps(1.0)), ..recipe }, "expected at least"),
    ] {
        let error = recipe.generate().unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn a_written_csv_reads_back_the_same() {
    for preset in PRESETS {
        let trace = TraceRecipe::new(preset, Span::from_secs(30.0), 3).generate().unwrap();
        let again = Trace::parse(trace.to_csv().as_bytes(), "again.csv", Some(Format::Csv)).unwrap();
        assert_eq!(again, trace, "{}", preset.name);
    }
}

#[test]
fn written_opportunities_carry_all_whole_packets_in_their_share_of_milliseconds() {
    let preset = preset("lte-uplink").unwrap();
    let trace = TraceRecipe::new(preset, Span::from_secs(100.0), 1).generate().unwrap();
    let file = trace.to_mahimahi(preset.busy, 1).unwrap();
    let whole = (trace.mean().as_f64() * 100.0 / 12_000.0) as usize;
    assert!(file.lines().count().abs_diff(whole) <= 1, "{} lines, {whole} packets", file.lines().count());
    let again = Trace::parse(file.as_bytes(), "again", Some(Format::Mahimahi)).unwrap();
    let stats = again.stats();
    // A tenth of a second with fewer packets than slots leaves some of them idle.
    let busy = stats.packets.unwrap().busy;
    assert!(busy <= preset.busy + 0.005 && busy > 0.8 * preset.busy, "{busy} of {}", preset.busy);
    // At any time the file is behind by less than a packet per tenth of a second.
    let (fine, again) = (trace.stats(), stats.variation);
    near(again[1].unwrap(), fine.variation[1].unwrap(), 0.01, "variation of seconds");
}

#[test]
fn opportunities_of_a_constant_rate_come_to_the_packet() {
    let trace = csv([(0.0, 12.0), (1.0, 12.0)]);
    let file = trace.to_mahimahi(1.0, 1).unwrap();
    let expected: String = (1..=2000).map(|i| format!("{i}\n")).collect();
    assert_eq!(file, expected, "12 Mbps are one packet of 1500 bytes per millisecond");
    let stretched = csv([(0.0, 1e6), (1000.0, 1e6)]);
    assert!(stretched.to_mahimahi(1.0, 1).unwrap_err().to_string().contains("expected 1 to 50000000"));
    let slow = csv([(0.0, 0.001), (1.0, 0.001)]);
    assert!(slow.to_mahimahi(1.0, 1).unwrap_err().to_string().contains("0 delivery opportunities"));
}

#[test]
fn shipped_traces_are_what_their_recipes_make() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let commands: Vec<_> =
        readme.lines().filter(|line| line.starts_with("millpond trace generate")).collect();
    assert_eq!(commands.len(), 5);
    for command in commands {
        let (file, recipe) = recipe_of(command);
        let shipped = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(recipe.generate().unwrap().to_csv() == shipped, "{command}");
    }
}

/// The file and the recipe that a command of the README names.
fn recipe_of(command: &str) -> (&str, TraceRecipe) {
    let words: Vec<_> = command.split_whitespace().collect();
    let option = |name: &str| words.iter().position(|word| *word == name).map(|at| words[at + 1]);
    let kind = preset(option("--preset").unwrap()).unwrap();
    let duration = option("--duration").unwrap().parse().unwrap();
    let mut recipe = TraceRecipe::new(kind, duration, option("--seed").unwrap().parse().unwrap());
    recipe.mean = option("--mean").map(|rate| rate.parse().unwrap());
    recipe.peak = option("--peak").map(|rate| rate.parse().unwrap());
    recipe.step = option("--step").map(|step| step.parse().unwrap());
    (option("--out").unwrap(), recipe)
}

#[test]
fn the_trace_of_the_demo_has_the_statistics_of_the_readme() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces");
    let trace = Trace::load(&folder.join("5g-static-demo.csv"), None).unwrap();
    assert_eq!(trace.length, Span::from_secs(60.0));
    near(trace.mean().as_f64() / 1e6, 158.0, 0.001, "mean");
    let peak = trace.steps.iter().map(|&(_, rate)| rate.as_f64() / 1e6).fold(0.0, f64::max);
    near(peak, 330.0, 5.0, "peak");
    assert!(trace.steps.iter().all(|&(_, rate)| rate > Rate::from_mbps(10.0)), "no outage");
    assert!(trace.steps.first().is_some_and(|&(start, _)| start == Time::ZERO));
}
