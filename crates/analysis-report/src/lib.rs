//! The pages of analyses, sweeps, frontiers, disturbances and evaluations. The page about the stability of a scenario: Nyquist loci, a Bode plot, a run in packets, a map, trajectories, step responses and convergence times.

mod bode;
mod convergence;
mod disturbances;
mod evaluation;
mod explain;
mod frontier;
mod map;
mod margin_marks;
mod nyquist;
mod portrait;
mod roots;
mod steps;
mod sweep;
mod unit;
mod with_run;

pub use disturbances::{disturbance_page, disturbance_table, tornado_figure};
pub use evaluation::evaluation;
pub use explain::explanation;
pub use frontier::{frontier, frontier_figure};
pub use steps::step_figure;
pub use sweep::{SweepFigureKind, SweepPage, sweep, sweep_figure};
pub use with_run::RunBeside;

use maud::html;
use millpond_chart::Figure;
use millpond_report::document::{Section, origin, page, paragraphs};
use millpond_results::RunOrigin;
use millpond_theory::stability::{Stability, StabilityMap};
use millpond_theory::transients::{ConvergenceTimes, PhasePortrait, StepTransient};

/// What the page shows.
pub struct StabilityPage<'a> {
    /// The title of the scenario.
    pub title: &'a str,
    /// One sentence for each result, the verdict first.
    pub sentences: &'a [String],
    /// The command that repeats the analysis, and the version; none for figures without a page.
    pub origin: Option<&'a RunOrigin>,
    /// Roots and margins.
    pub stability: &'a Stability,
    /// A run of the scenario in packets.
    pub run: Option<RunBeside<'a>>,
    /// The map over two parameters.
    pub map: Option<&'a StabilityMap>,
    /// Trajectories in the plane of two quantities.
    pub portrait: Option<&'a PhasePortrait>,
    /// Step responses.
    pub steps: &'a [StepTransient],
    /// Convergence times over one parameter.
    pub convergence: Option<&'a ConvergenceTimes>,
}

/// The page.
#[must_use]
pub fn stability(content: &StabilityPage<'_>) -> String {
    let lead = html! {
        (paragraphs(content.sentences.iter().map(String::as_str)))
        @if let Some(made) = content.origin { ul.facts { (origin(made)) } }
    };
    let sections = [
        Some(Section {
            id: "nyquist".into(),
            title: "Nyquist loci and Bode plot".into(),
            intro: LOCI.into(),
            body: html! {
                div.pictures { (nyquist::chart(content.stability)) (bode::chart(content.stability)) }
            },
        }),
        Section::of_figures(
            "characteristic-roots",
            "Roots of the characteristic equation",
            ROOTS,
            &[roots::chart(content.stability)],
        ),
        content.run.as_ref().and_then(with_run::section),
        content.map.and_then(|map| Section::of_figures("map", "Stability map", MAP, &[map::chart(map)])),
        content.portrait.and_then(|portrait| {
            Section::of_figures("portrait", "Phase portrait", PORTRAIT, &[portrait::chart(portrait)])
        }),
        steps_section(content.steps),
        content.convergence.and_then(|convergence| {
            let figures = [convergence::chart(convergence)];
            Section::of_figures("convergence", "Convergence time", CONVERGENCE, &figures)
        }),
    ];
    page(content.title, &lead, &sections.into_iter().flatten().collect::<Vec<_>>())
}

/// The figures of the page, in its order, each with a name for its file.
#[must_use]
pub fn stability_figures(content: &StabilityPage<'_>) -> Vec<Figure> {
    let stability = content.stability;
    let mut figures = vec![nyquist::chart(stability), bode::chart(stability), roots::chart(stability)];
    figures.extend(content.run.iter().flat_map(with_run::figures));
    figures.extend(content.map.map(map::chart));
    figures.extend(content.portrait.map(portrait::chart));
    figures.extend(content.steps.iter().enumerate().map(|(index, step)| steps::chart(index, step)));
    figures.extend(content.convergence.map(convergence::chart));
    figures
}

const LOCI: &str = "The eigenvalues of the return ratio over the bottlenecks, along the imaginary axis. The network is stable if \
     the loci do not encircle the point -1. Their distance from -1 shows the stability margins.";

const ROOTS: &str = "The rightmost roots of the characteristic equation. A disturbance decays if its root is to the left of zero, and \
     oscillates at the frequency of its root.";

const MAP: &str =
    "Where the network is stable and where it oscillates. The equilibrium is computed again at each point.";

const PORTRAIT: &str = "Solutions of the delay equations from many starts. Quantities that are not in the plane start at their \
     equilibrium. Before its start each trajectory has been constant.";

const CONVERGENCE: &str = "The time until all rates stay near their equilibrium.";

fn steps_section(steps: &[StepTransient]) -> Option<Section> {
    let figures: Vec<_> = steps.iter().enumerate().map(|(index, step)| steps::chart(index, step)).collect();
    let intro = "The network is in equilibrium until time zero. Dotted: the envelope of a disturbance of the step's size that \
                 decays with the rightmost root alone.";
    Section::of_figures("steps", "Step responses", intro, &figures)
}
