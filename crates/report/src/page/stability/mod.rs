//! A page about the stability of a scenario: Nyquist loci, a map, and how it moves.

mod convergence;
mod explain;
mod map;
mod nyquist;
mod portrait;
mod steps;

pub use explain::explanation;

use super::document::{Section, page};
use crate::chart::markup::Text;
use millpond_theory::stability::{Stability, StabilityMap};
use millpond_theory::transients::{ConvergenceTimes, PhasePortrait, StepTransient};

/// What the page shows.
pub struct Page<'a> {
    /// Of the scenario.
    pub title: &'a str,
    /// The answers in words, the verdict first.
    pub sentences: &'a [String],
    /// The verdict.
    pub stability: &'a Stability,
    /// Stability over two parameters.
    pub map: Option<&'a StabilityMap>,
    /// Trajectories in a plane.
    pub portrait: Option<&'a PhasePortrait>,
    /// Answers to steps.
    pub steps: &'a [StepTransient],
    /// Times of convergence.
    pub convergence: Option<&'a ConvergenceTimes>,
}

/// The page.
#[must_use]
pub fn stability(content: &Page<'_>) -> String {
    let lead: String =
        content.sentences.iter().map(|sentence| format!("<p>{}</p>", Text(sentence))).collect();
    let loci = Section::of_figures(
        "nyquist",
        "Nyquist loci",
        "The eigenvalues of the return ratio over the bottlenecks, along the imaginary axis. The network is stable as long as they \
         pass the point -1 on its right and do not go around it; the room that is left there is its margin.",
        &[nyquist::chart(content.stability)],
    );
    let map = content.map.and_then(|map| {
        let intro =
            "Where the network settles and where it oscillates, its equilibrium computed anew at each point.";
        Section::of_figures("map", "Map of stability", intro, &[map::chart(map)])
    });
    let portrait = content.portrait.and_then(|portrait| {
        let intro = "The delay equations themselves, from many starts. What is not in the plane starts at rest, and before its start \
                     everything has been as it is there for ever.";
        Section::of_figures("portrait", "Phase portrait", intro, &[portrait::chart(portrait)])
    });
    let steps: Vec<_> =
        content.steps.iter().enumerate().map(|(at, answer)| steps::chart(at, answer)).collect();
    let steps = Section::of_figures(
        "steps",
        "Out of rest by a step",
        "At rest until time zero. Dotted: how a disturbance of the size of the step would die out with the rightmost root alone.",
        &steps,
    );
    let convergence = content.convergence.and_then(|convergence| {
        let intro = "How long it takes until all rates stay near those at rest.";
        Section::of_figures("convergence", "Time of convergence", intro, &[convergence::chart(convergence)])
    });
    let sections = [loci, map, portrait, steps, convergence];
    page(content.title, &lead, &sections.into_iter().flatten().collect::<Vec<_>>())
}
