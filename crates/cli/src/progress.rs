//! Progress bars: one per run, or one for very many; silent when standard error is not a terminal.

use crate::interrupt::Interrupt;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use millpond_results::Watch;
use std::sync::Mutex;

/// Bars count thousandths of a run.
const STEPS: u64 = 1000;
/// More runs than this share one bar.
const MOST_BARS: usize = 16;

/// Watches runs for the user: bars, and Ctrl-C.
pub(crate) struct Progress {
    /// One for each run, or a single one for all.
    bars: Vec<ProgressBar>,
    done: Mutex<Vec<f64>>,
    interrupt: Interrupt,
}

impl Progress {
    /// One bar for each of these runs, if they are few.
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

    /// All is over: leaves the terminal to the tables.
    pub(crate) fn clear(&self) {
        self.bars.iter().for_each(ProgressBar::finish_and_clear);
    }

    /// The share of the runs that share a bar, or of this run alone.
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
