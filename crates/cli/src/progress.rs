//! Progress bars: one per run, or one for many runs; none if standard error is not a terminal.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use millpond_results::Watch;
use std::sync::Mutex;

/// Bars count thousandths of a run.
const STEPS: u64 = 1000;
/// More runs than this share one bar.
const MOST_BARS: usize = 16;

/// Shows the progress of runs, and stops them at Ctrl-C.
pub(crate) struct Progress {
    /// One for each run, or one for all runs.
    bars: Vec<ProgressBar>,
    /// The share of each run that is done, if all runs have one bar.
    done: Mutex<Vec<f64>>,
    interrupt: Interrupt,
}

impl Progress {
    /// One bar for each of these runs; one bar for all of them if they are many.
    pub(crate) fn of_each(labels: &[String], interrupt: Interrupt) -> Self {
        if labels.len() > MOST_BARS {
            return Self::of_all(labels.len(), interrupt);
        }
        let all = MultiProgress::new();
        let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let bar = |label: &String| all.add(bar(STEPS, format!("{label:width$}")));
        Self { bars: labels.iter().map(bar).collect(), done: Mutex::default(), interrupt }
    }

    /// One bar for this many runs.
    pub(crate) fn of_all(runs: usize, interrupt: Interrupt) -> Self {
        let bar = bar(runs as u64 * STEPS, format!("{runs} runs"));
        Self { bars: vec![bar], done: Mutex::new(vec![0.0; runs]), interrupt }
    }

    /// Removes the bars.
    pub(crate) fn clear(&self) {
        self.bars.iter().for_each(ProgressBar::finish_and_clear);
    }

    /// The position of the bar of `run`.
    fn steps(&self, run: usize, done: f64) -> u64 {
        let sum = match self.done.lock() {
            Ok(mut all) if !all.is_empty() => {
                all.get_mut(run).into_iter().for_each(|one| *one = done);
                all.iter().sum()
            }
            _ => done,
        };
        (sum * STEPS as f64) as u64
    }
}

fn bar(length: u64, prefix: String) -> ProgressBar {
    let template = ProgressStyle::with_template("{prefix} {bar:40.cyan/dim} {percent:>3} % {elapsed:>4}");
    let style = template.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─"));
    ProgressBar::new(length).with_style(style).with_prefix(prefix)
}

impl Watch for Progress {
    fn progress(&self, run: usize, done: f64) {
        if let Some(bar) = self.bars.get(run).or(self.bars.first()) {
            bar.set_position(self.steps(run, done));
        }
    }

    fn stopped(&self) -> bool {
        self.interrupt.is_raised()
    }
}

/// Does `work` under a progress bar. If it is interrupted, its result is dropped.
pub(crate) fn watched<T>(
    what: &str,
    interrupt: &Interrupt,
    work: impl FnOnce(&Progress) -> T,
) -> Result<T, Failure> {
    let progress = Progress::of_each(&[what.to_owned()], interrupt.clone());
    let found = work(&progress);
    progress.clear();
    if interrupt.is_raised() {
        return Err(Failure::Interrupted(format!("the {what} had not ended")));
    }
    Ok(found)
}
