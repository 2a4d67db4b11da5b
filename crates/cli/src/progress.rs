//! Progress of runs: bars on a terminal, lines elsewhere, nothing with `--quiet`.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::messages::{has_colour, is_quiet, note};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use millpond_results::Watch;
use millpond_units::format;
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Bars count thousandths of a run.
const STEPS: u64 = 1000;
/// More runs than this share one bar.
const MOST_BARS: usize = 16;
/// The time between two lines where there is no terminal. A shorter run prints none.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Shows the progress of runs, and stops them at Ctrl-C.
pub(crate) struct Progress {
    /// One for each run, or one for all runs.
    bars: Vec<ProgressBar>,
    done: Mutex<Shares>,
    /// Where there is no terminal.
    lines: Option<Mutex<ProgressLines>>,
    interrupt: Interrupt,
}

/// What is done.
struct Shares {
    /// The share of each run.
    of_runs: Vec<f64>,
    /// Their sum. A sum over all runs at each step of each run would take a time that grows with the square of their number.
    sum: f64,
}

impl Shares {
    fn of(runs: usize) -> Self {
        Self { of_runs: vec![0.0; runs], sum: 0.0 }
    }

    /// Notes the share of a run that is done, and returns the sum.
    fn note(&mut self, run: usize, done: f64) -> f64 {
        if let Some(before) = self.of_runs.get_mut(run) {
            self.sum += done - *before;
            *before = done;
        }
        self.sum
    }
}

/// Progress as lines.
struct ProgressLines {
    /// What is done.
    what: String,
    begin: Instant,
    last: Instant,
}

impl Progress {
    /// One bar for each of these runs; one bar for all of them if they are many.
    pub(crate) fn of_each(labels: &[String], interrupt: Interrupt) -> Self {
        if labels.len() > MOST_BARS {
            return Self::of_all(labels.len(), interrupt);
        }
        let all = MultiProgress::with_draw_target(target());
        let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let bars = labels.iter().map(|label| all.add(bar(STEPS, format!("{label:width$}"))));
        let what = if let [one] = labels { one.clone() } else { format!("{} runs", labels.len()) };
        Self::new(bars.collect(), what, labels.len(), interrupt)
    }

    /// One bar for this many runs.
    pub(crate) fn of_all(runs: usize, interrupt: Interrupt) -> Self {
        let what = format!("{runs} runs");
        let bar = bar(runs as u64 * STEPS, what.clone());
        bar.set_draw_target(target());
        Self::new(vec![bar], what, runs, interrupt)
    }

    fn new(bars: Vec<ProgressBar>, what: String, runs: usize, interrupt: Interrupt) -> Self {
        let lines = (!is_quiet() && !stderr().is_terminal()).then(|| Mutex::new(ProgressLines::begin(what)));
        Self { bars, done: Mutex::new(Shares::of(runs)), lines, interrupt }
    }

    /// Removes the bars.
    pub(crate) fn clear(&self) {
        self.bars.iter().for_each(ProgressBar::finish_and_clear);
    }

    /// Notes the share of a run that is done; returns the number of runs that are done, with their parts.
    fn note(&self, run: usize, done: f64) -> f64 {
        self.done.lock().map_or(0.0, |mut shares| shares.note(run, done))
    }

    fn runs(&self) -> usize {
        self.done.lock().map_or(1, |shares| shares.of_runs.len())
    }
}

impl ProgressLines {
    #[allow(clippy::disallowed_methods, reason = "the progress of a command is shown every few seconds")]
    fn begin(what: String) -> Self {
        let begin = Instant::now();
        Self { what, begin, last: begin }
    }

    /// Prints a line if the last one is old enough; `share` is the share of all work that is done.
    fn show(&mut self, share: f64) {
        if self.last.elapsed() < BETWEEN_LINES {
            return;
        }
        self.last += self.last.elapsed();
        let elapsed = self.begin.elapsed().as_secs_f64();
        note(line(&self.what, share, elapsed));
    }
}

/// `30 runs: 40 % after 20.0 s, about 30.0 s left`.
fn line(what: &str, share: f64, elapsed: f64) -> String {
    let (percent, after) = (100.0 * share, format::duration(elapsed));
    if share <= 0.0 {
        return format!("{what}: {percent:.0} % after {after}");
    }
    let left = format::duration(elapsed * (1.0 - share) / share);
    format!("{what}: {percent:.0} % after {after}, about {left} left")
}

fn target() -> ProgressDrawTarget {
    if is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

fn bar(length: u64, prefix: String) -> ProgressBar {
    let colours = if has_colour() { ".cyan/dim" } else { "" };
    let template = format!("{{prefix}} {{bar:40{colours}}} {{percent:>3}} % {{elapsed:>4}}, {{eta:>4}} left");
    let style = ProgressStyle::with_template(&template);
    let style = style.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("━╸─"));
    ProgressBar::new(length).with_style(style).with_prefix(prefix)
}

impl Watch for Progress {
    fn progress(&self, run: usize, done: f64) {
        let all = self.note(run, done);
        if let [bar] = self.bars.as_slice() {
            bar.set_position((all * STEPS as f64) as u64);
        } else if let Some(bar) = self.bars.get(run) {
            bar.set_position((done * STEPS as f64) as u64);
        }
        if let Some(Ok(mut lines)) = self.lines.as_ref().map(Mutex::lock) {
            lines.show(all / self.runs().max(1) as f64);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_what_is_done_follows_each_run() {
        let mut shares = Shares::of(3);
        let sums =
            [(0, 0.5), (2, 1.0), (0, 1.0), (7, 1.0), (1, 0.25)].map(|(run, done)| shares.note(run, done));
        assert_eq!(sums, [0.5, 1.5, 2.0, 2.0, 2.25]);
    }

    #[test]
    fn a_line_of_progress_has_the_time_that_is_left() {
        assert_eq!(line("30 runs", 0.4, 20.0), "30 runs: 40 % after 20.0 s, about 30.0 s left");
        assert_eq!(line("map", 0.0, 20.0), "map: 0 % after 20.0 s");
    }
}
