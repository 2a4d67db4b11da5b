//! The pictures of a recipe, and the bottleneck of each of its runs.

use super::super::charts;
use super::super::nyquist::several;
use super::charted::{BusiestLink, bottleneck_of};
use super::picture::{self, Picture};
use super::{over_time, scatter, values};
use maud::{Markup, html};
use millpond_chart::{Figure, SeriesStyle};
use millpond_papers::{ChartedRun, CheckedRecipe};
use millpond_units::format::fixed;

/// All pictures; their ids begin with the recipe's name.
pub(super) fn pictures(checked: &CheckedRecipe) -> Markup {
    let figures = figures(checked);
    html! {
        @if !figures.is_empty() { div.pictures { @for figure in &figures { (figure) } } }
    }
}

fn figures(checked: &CheckedRecipe) -> Vec<Figure> {
    let pictures = picture::pictures(checked);
    let drawn = pictures.iter().filter_map(|picture| match picture {
        Picture::OverTime(picture) => over_time::figure(picture, checked),
        Picture::Values(picture) => values::figure(picture),
        Picture::Scatter(picture) => scatter::figure(picture, checked),
    });
    let loci = (!checked.loci.is_empty()).then(|| several(&checked.loci));
    let portraits = checked.runs.iter().enumerate();
    let portraits =
        portraits.filter_map(|(index, charted)| charts::phase_portrait(&charted.run, SeriesStyle(index)));
    let mut figures: Vec<Figure> = loci.into_iter().chain(portraits).chain(drawn).collect();
    for (index, figure) in figures.iter_mut().enumerate() {
        figure.id = format!("{}-picture-{}", checked.recipe, index + 1);
    }
    figures
}

/// A bottleneck and the runs that have it.
struct Bottleneck<'a> {
    link: String,
    runs: Vec<&'a ChartedRun>,
    /// The least and the greatest utilization.
    utilization: (f64, f64),
}

/// A sentence that names the bottleneck of each run.
pub(super) fn bottlenecks(checked: &CheckedRecipe) -> Markup {
    let mut found: Vec<Bottleneck<'_>> = Vec::new();
    for charted in &checked.runs {
        let Some(BusiestLink { link, utilization: share }) = bottleneck_of(charted) else { continue };
        match found.iter_mut().find(|one| one.link == link) {
            Some(known) => {
                known.utilization = (known.utilization.0.min(share), known.utilization.1.max(share));
                known.runs.push(charted);
            }
            None => found.push(Bottleneck { link, runs: vec![charted], utilization: (share, share) }),
        }
    }
    html! {
        @if !found.is_empty() {
            p.facts {
                "Bottleneck, the link with the greatest utilization: "
                @for (index, one) in found.iter().enumerate() {
                    @if index > 0 { "; " }
                    strong { (one.link) } " (" (percentages(one.utilization)) " %) "
                    @if found.len() == 1 && one.runs.len() > 1 {
                        "in each of the " (one.runs.len()) " runs"
                    } @else {
                        "in " (one.runs.iter().map(|run| run.case.as_str()).collect::<Vec<_>>().join(" / "))
                    }
                }
                "."
            }
        }
    }
}

fn percentages((least, greatest): (f64, f64)) -> String {
    let [least, greatest] = [least, greatest].map(|share| fixed(100.0 * share, 1));
    if least == greatest { least } else { format!("{least} to {greatest}") }
}
