//! Progress bars: one per run; silent when standard error is not a terminal.

use crate::interrupt::Interrupt;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use millpond_lab::Watch;
use std::sync::Mutex;

/// Bars count thousandths of a run.
const STEPS: u64 = 1000;

/// Watches runs for the user: one bar each, and Ctrl-C.
pub(crate) struct Progress {
    bars: Vec<ProgressBar>,
    interrupt: Interrupt,
}

impl Progress {
    /// One bar for each of these runs.
    pub(crate) fn new(labels: &[String], interrupt: Interrupt) -> Self {
        let all = MultiProgress::new();
        let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let bar = |label: &String| {
            let bar = all.add(ProgressBar::new(STEPS)).with_style(style());
            bar.with_prefix(format!("{label:width$}"))
        };
        Self { bars: labels.iter().map(bar).collect(), interrupt }
    }

    /// All is over: leaves the terminal to the table.
    pub(crate) fn clear(&self) {
        self.bars.iter().for_each(ProgressBar::finish_and_clear);
    }
}

fn style() -> ProgressStyle {
    let template = "{prefix} {bar:40.cyan/dim} {percent:>3} % {elapsed:>4}";
    ProgressStyle::with_template(template)
        .map_or_else(|_| ProgressStyle::default_bar(), |s| s.progress_chars("━╸─"))
}

impl Watch for Progress {
    fn progress(&self, run: usize, done: f64) {
        if let Some(bar) = self.bars.get(run) {
            bar.set_position((done * STEPS as f64) as u64);
        }
    }

    fn stopped(&self) -> bool {
        self.interrupt.is_raised()
    }
}

/// Watches many runs for the user: one bar for all, and Ctrl-C.
pub(crate) struct Total {
    bar: ProgressBar,
    done: Mutex<Vec<f64>>,
    interrupt: Interrupt,
}

impl Total {
    /// One bar for this many runs.
    pub(crate) fn new(runs: usize, interrupt: Interrupt) -> Self {
        let bar = ProgressBar::new(runs as u64 * STEPS).with_style(style());
        Self { bar: bar.with_prefix(format!("{runs} runs")), done: Mutex::new(vec![0.0; runs]), interrupt }
    }

    /// All is over: leaves the terminal to the tables.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Total {
    fn progress(&self, run: usize, done: f64) {
        let Ok(mut all) = self.done.lock() else { return };
        if let Some(one) = all.get_mut(run) {
            *one = done;
        }
        self.bar.set_position((all.iter().sum::<f64>() * STEPS as f64) as u64);
    }

    fn stopped(&self) -> bool {
        self.interrupt.is_raised()
    }
}
