//! Single figures of the page about runs, for papers.

use super::charts;
use super::run_view::RunView;
use maud::html;
use millpond_chart::{AxisSpacing, Figure, PaperColour, PaperPaint, PaperRule};
use millpond_results::Run;

/// What a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// Goodput, queue and queueing delay of one run over time.
    OverTime,
    /// The goodput of each flow of one run over time.
    Goodput,
    /// The goodputs of one run over time, one above the other.
    Stacked,
    /// The queue of one run over time.
    Queue,
    /// The queueing delay of one run over time.
    Delay,
    /// The distribution of queueing delay.
    Cdf,
    /// The complementary distribution of queueing delay.
    Ccdf,
    /// Percentiles of queueing delay.
    Quantiles,
    /// The distribution of the completion times of transfers.
    Completions,
    /// The slowdown of transfers over their size.
    Slowdown,
    /// Utilization against queueing delay.
    Tradeoff,
    /// Jain's index over time.
    Fairness,
}

impl FigureKind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::OverTime,
        Self::Goodput,
        Self::Stacked,
        Self::Queue,
        Self::Delay,
        Self::Cdf,
        Self::Ccdf,
        Self::Quantiles,
        Self::Completions,
        Self::Slowdown,
        Self::Tradeoff,
        Self::Fairness,
    ];

    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OverTime => "over-time",
            Self::Goodput => "goodput",
            Self::Stacked => "stacked",
            Self::Queue => "queue",
            Self::Delay => "delay",
            Self::Cdf => "cdf",
            Self::Ccdf => "ccdf",
            Self::Quantiles => "quantiles",
            Self::Completions => "completions",
            Self::Slowdown => "slowdown",
            Self::Tradeoff => "tradeoff",
            Self::Fairness => "fairness",
        }
    }

    /// The panel of the page's figure that is shown; none if all are.
    const fn panel(self) -> Option<usize> {
        match self {
            Self::Goodput | Self::Cdf | Self::Completions => Some(0),
            Self::Queue | Self::Ccdf => Some(1),
            Self::Delay | Self::Quantiles => Some(2),
            Self::Stacked => Some(3),
            Self::OverTime | Self::Slowdown | Self::Tradeoff | Self::Fairness => None,
        }
    }

    /// What is missing if there is no such figure.
    const fn requirement(self) -> &'static str {
        match self {
            Self::OverTime | Self::Goodput | Self::Queue | Self::Delay => "a run with time series",
            Self::Stacked => "a run with two to twelve flows or groups",
            Self::Cdf | Self::Ccdf | Self::Quantiles => "a run with distributions of queueing delay",
            Self::Completions => "a run with complete transfers",
            Self::Slowdown => {
                "at least 40 complete transfers of several sizes in each run, over links with constant capacities and delays"
            }
            Self::Tradeoff => "at least two runs with different labels that have a link and deliver packets",
            Self::Fairness => "a run in which two flows are active at the same time",
        }
    }
}

/// A figure of these runs; `run` chooses a label for figures of one run.
///
/// # Errors
///
/// A sentence that says what is missing or which labels can be chosen.
pub fn figure(runs: &[Run], kind: FigureKind, run: Option<&str>) -> Result<Figure, String> {
    let mut views = RunView::all(runs);
    if let Some(label) = run {
        let labels = labels(&views);
        views.retain(|view| view.run.label == label);
        if views.is_empty() {
            return Err(format!("no run has the label \"{label}\"; labels: {labels}"));
        }
    }
    let figure = match kind {
        FigureKind::OverTime
        | FigureKind::Goodput
        | FigureKind::Stacked
        | FigureKind::Queue
        | FigureKind::Delay => {
            if views.len() > 1 {
                return Err(format!(
                    "\"{}\" shows one run; choose it with --run, one of {}",
                    kind.name(),
                    labels(&views)
                ));
            }
            charts::over_time(&views, charts::OverTimeStyle::REPORT).pop()
        }
        FigureKind::Cdf | FigureKind::Ccdf | FigureKind::Quantiles => charts::delays(&views),
        FigureKind::Completions => charts::completions(&views),
        FigureKind::Slowdown => charts::slowdown(&views),
        FigureKind::Tradeoff => charts::tradeoff(&views),
        FigureKind::Fairness => charts::fairness(&views),
    };
    let figure = figure.map(|figure| shown(figure, kind)).filter(|figure| !figure.panels.is_empty());
    figure.ok_or_else(|| format!("\"{}\" needs {}", kind.name(), kind.requirement()))
}

/// The figures of a single run that a page shows beside each other, each with one panel and with identifiers that begin with
/// `prefix`: goodput, queue and queueing delay over time, and the distribution of queueing delay. Curves over time have at
/// most two points for each of `slices` slices: the least and the greatest value. Queues and delays have linear axes, on which
/// oscillations are seen. A figure without data is left out. `link` is the entity of the link whose capacity and queue are
/// drawn; without it, that of the greatest utilization.
#[must_use]
pub fn figures_of_run(
    run: &Run,
    prefix: &str,
    slices: usize,
    link: Option<&str>,
) -> Vec<(FigureKind, Figure)> {
    let mut views = RunView::all(std::slice::from_ref(run));
    if let (Some(view), Some(link)) = (views.first_mut(), link) {
        link.clone_into(&mut view.bottleneck);
    }
    let style = charts::OverTimeStyle { slices, spacing: AxisSpacing::Linear, has_stack: false };
    let over_time = charts::over_time(&views, style).pop();
    let all = over_time.map_or_else(Vec::new, Figure::into_panels);
    let kinds = [FigureKind::Goodput, FigureKind::Queue, FigureKind::Delay];
    let distribution = charts::delays(&views).map(|figure| (FigureKind::Cdf, shown(figure, FigureKind::Cdf)));
    let named = |(kind, figure): (FigureKind, Figure)| {
        let id = format!("{prefix}-{}", kind.name());
        (kind, Figure { id, title: html! {}, class: "", caption: String::new(), ..figure })
    };
    kinds.into_iter().zip(all).chain(distribution).map(named).collect()
}

fn labels(views: &[RunView]) -> String {
    views.iter().map(|view| view.run.label.as_str()).collect::<Vec<_>>().join(", ")
}

/// The figure with the panels that are shown. A panel alone has the axis texts of the last panel of the page's figure.
fn shown(mut figure: Figure, kind: FigureKind) -> Figure {
    if let Some(index) = kind.panel() {
        figure.keep_panel(index);
    }
    figure
}

/// The classes of the page on paper.
pub const PAPER_RULES: &[PaperRule] = &[
    ("hatched", PaperPaint::Fill(PaperColour::INK, 0.12)),
    ("bottleneck", PaperPaint::Dashes(&[1.0, 1.5])),
    ("bottleneck", PaperPaint::Width(0.7)),
    ("of-all", PaperPaint::Stroke(PaperColour::INK, 0.7)),
    ("configured", PaperPaint::Stroke(PaperColour::INK, 0.7)),
    ("configured", PaperPaint::Dashes(&[3.6, 1.8])),
    ("relays", PaperPaint::Fill(PaperColour::Series, 0.3)),
    ("backlog", PaperPaint::Dashes(&[2.0, 1.3])),
    ("backlog", PaperPaint::Width(0.7)),
    ("throughput", PaperPaint::Stroke(PaperColour::INK, 0.7)),
    ("throughput", PaperPaint::StrokeOpacity(0.75)),
    // Analyses.
    ("mirrored", PaperPaint::StrokeOpacity(0.45)),
    ("mirrored", PaperPaint::Dashes(&[3.0, 1.8])),
    ("margin", PaperPaint::Width(1.7)),
    ("target", PaperPaint::StrokeOpacity(0.5)),
    ("target", PaperPaint::Dashes(&[0.6, 2.4])),
    ("trajectory", PaperPaint::Width(0.7)),
    ("trajectory", PaperPaint::StrokeOpacity(0.7)),
    ("end", PaperPaint::Width(1.2)),
    ("empty-queue", PaperPaint::Stroke(EDGE, 1.7)),
    ("start", PaperPaint::Fill(PaperColour::Fixed([0xff; 3]), 1.0)),
    ("start", PaperPaint::Stroke(PaperColour::Series, 0.8)),
    ("stable", PaperPaint::Fill(PaperColour::Fixed([0x00, 0x72, 0xb2]), 0.2)),
    ("oscillates", PaperPaint::Fill(PaperColour::Fixed([0xd5, 0x5e, 0x00]), 0.5)),
];
/// The border of an area.
const EDGE: PaperColour = PaperColour::Fixed([0x9b, 0xa4, 0xa3]);
