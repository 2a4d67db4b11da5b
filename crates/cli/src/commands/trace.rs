//! `millpond trace`: generates link traces and prints statistics of a trace.

use crate::args::{self, TraceCommand, TraceFormat};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{new_file, print, print_line, print_results};
use crate::values;
use millpond_scenario::Faults;
use millpond_scenario::trace::{PRESETS, Stats, Trace, TraceRecipe, preset};
use millpond_terminal as terminal;
use millpond_units::Rate;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn trace(args: &args::Trace) -> Outcome {
    match &args.command {
        TraceCommand::Generate(args) => generate(args),
        TraceCommand::Stats(args) => stats(args),
    }
}

fn generate(args: &args::Generate) -> Outcome {
    let chosen = preset(&args.preset).ok_or_else(|| unknown_preset(&args.preset))?;
    let recipe = TraceRecipe {
        mean: args.mean,
        peak: args.peak,
        step: args.step,
        ..TraceRecipe::new(chosen, args.duration, args.seed)
    };
    let trace = recipe.generate().map_err(Failure::input)?;
    let text = match args.format {
        TraceFormat::Csv => trace.to_csv(),
        TraceFormat::Mahimahi => trace.to_mahimahi(chosen.busy, args.seed).map_err(Failure::input)?,
    };
    match &args.out {
        None => print(text)?,
        Some(path) => {
            write_uninterrupted(path, args.existing, &text)?;
            print_line(format_args!("{}: {}", path.display(), terminal::trace_rates(&trace)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a file. If the user interrupts the command meanwhile, no file is left, neither under its name nor beside it.
fn write_uninterrupted(path: &Path, existing: args::Existing, text: &str) -> Result<(), Failure> {
    let interrupt = Interrupt::install()?;
    let file = new_file(path, existing)?;
    file.write(text.as_bytes()).map_err(Failure::input)?;
    if interrupt.is_raised() {
        return Err(Failure::Interrupted(format!("{} is not written", path.display())));
    }
    file.finish().map_err(Failure::input)
}

fn unknown_preset(name: &str) -> Failure {
    Failure::input(format!("no preset \"{name}\"; {}", presets_near(name)))
}

/// The presets, the one with the nearest name first.
pub(super) fn presets_near(name: &str) -> String {
    let near = millpond_units::nearest(name, PRESETS.iter().map(|preset| preset.name));
    let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    format!("{near}there are:\n{}", values::kinds_of_links())
}

fn stats(args: &args::Stats) -> Outcome {
    let trace = Trace::load(&args.file, None).map_err(Faults::from)?;
    let stats = trace.stats();
    let json = || serde_json::to_string_pretty(&TraceStatistics::of(&stats));
    print_results(&args.form, json, || terminal::trace(&stats))?;
    Ok(ExitCode::SUCCESS)
}

/// Statistics of a trace. What it is too short for is null.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TraceStatistics {
    /// How long the trace is, in seconds.
    duration_s: f64,
    /// Length of a fine bin, in seconds.
    fine_bin_s: f64,
    /// Mean rate, in bit/s.
    mean_bps: f64,
    /// Least mean of a second, in bit/s.
    least_bps: Option<f64>,
    /// Greatest mean of a second, in bit/s.
    greatest_bps: Option<f64>,
    /// Standard deviation over mean of fine bins, of seconds and of ten seconds.
    variation: [Option<f64>; 3],
    /// Autocorrelation of fine bins at one bin, of seconds at 1 s and at 10 s.
    autocorrelation: [Option<f64>; 3],
    /// Time until the autocorrelation falls below 1/e, in seconds, of fine bins and of seconds; null if it does not.
    decay_s: [Option<f64>; 2],
    /// Share of fine bins below 5 % of the mean.
    near_zero: Option<f64>,
    /// Standard deviation of the logarithm of the mean of a second over that of the one before.
    jump: Option<f64>,
    /// Share of seconds with at least twice the rate of the one before.
    doubling: Option<f64>,
    /// Share of seconds with at most half the rate of the one before.
    halving: Option<f64>,
    /// Runs of fine bins near zero.
    dropouts: DropoutStatistics,
    /// Of single delivery opportunities; null if it is no trace of them.
    opportunities: Option<OpportunityStatistics>,
}

/// Runs of fine bins near zero. Lengths are null without one.
#[derive(Serialize, JsonSchema)]
struct DropoutStatistics {
    /// How many per minute.
    per_minute: f64,
    /// Median length, in seconds.
    median_s: Option<f64>,
    /// 90th percentile of the lengths, in seconds.
    p90_s: Option<f64>,
    /// The longest, in seconds.
    longest_s: Option<f64>,
    /// How many of a second or more, per minute.
    long_per_minute: f64,
    /// Mean length of those of a second or more, in seconds.
    long_mean_s: Option<f64>,
}

/// Delivery opportunities at the scale of milliseconds.
#[derive(Serialize, JsonSchema)]
struct OpportunityStatistics {
    /// Share of milliseconds with at least one.
    busy: f64,
    /// Variance over mean of their number in 1, 10 and 100 ms: 1 for a Poisson process.
    dispersion: [Option<f64>; 3],
}

impl TraceStatistics {
    fn of(stats: &Stats) -> Self {
        let Stats { dropouts, packets, .. } = stats;
        let [least_bps, greatest_bps] = [stats.min, stats.max].map(|rate| rate.map(Rate::as_f64));
        Self {
            duration_s: stats.duration.secs(),
            fine_bin_s: stats.fine.secs(),
            mean_bps: stats.mean.as_f64(),
            least_bps,
            greatest_bps,
            variation: stats.variation,
            autocorrelation: stats.autocorrelation,
            decay_s: stats.decay,
            near_zero: stats.near_zero,
            jump: stats.jump,
            doubling: stats.doubling,
            halving: stats.halving,
            dropouts: DropoutStatistics {
                per_minute: dropouts.per_minute,
                median_s: dropouts.median,
                p90_s: dropouts.p90,
                longest_s: dropouts.longest,
                long_per_minute: dropouts.long_per_minute,
                long_mean_s: dropouts.long_mean,
            },
            opportunities: packets
                .as_ref()
                .map(|packets| OpportunityStatistics { busy: packets.busy, dispersion: packets.dispersion }),
        }
    }
}
