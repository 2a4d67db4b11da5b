//! Checks that the runs of a recipe have what its figures draw: a name that no run has would draw nothing.

use super::figure::FigurePanel;
use super::form::Fault;
use super::measure::{find, find_distribution, summary_value};
use super::recipe::Recipe;
use millpond_results::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;

/// A name of a figure that a run was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DrawnName {
    /// Index of the figure in the recipe.
    figure: usize,
    /// Index of its panel.
    panel: usize,
    key: &'static str,
}

/// Which names of figures one run has, each with the reason if it lacks it.
#[derive(Clone, Debug, Default)]
pub(super) struct DrawnNames {
    case: String,
    names: BTreeMap<DrawnName, Option<String>>,
}

impl DrawnNames {
    /// The names that the figures of the recipe draw of a run of this case.
    pub(super) fn of(recipe: &Recipe, case: &str, run: &Run) -> Self {
        let mut names = BTreeMap::new();
        for (index, figure) in recipe.figures.iter().map(Spanned::get_ref).enumerate() {
            for (panel, drawn) in figure.panels.iter().enumerate().filter(|_| figure.shows(case)) {
                let mut add = |key, found: Result<(), String>| {
                    names.insert(DrawnName { figure: index, panel, key }, found.err());
                };
                if let Some(entity) = &drawn.series {
                    add("series", find(entity.get_ref(), run).map(drop));
                }
                if let Some(entity) = &drawn.distribution {
                    add("distribution", find_distribution(entity.get_ref(), run));
                }
                if let Some(path) = &drawn.summary {
                    add("summary", summary_value(path, run).map(drop));
                }
            }
            if let Some(path) = figure.x.summary.as_ref().filter(|_| figure.shows(case)) {
                let name = DrawnName { figure: index, panel: 0, key: "x.summary" };
                names.insert(name, summary_value(path, run).map(drop).err());
            }
        }
        Self { case: case.to_owned(), names }
    }
}

/// Checks that each name is that of some run. A figure some of whose cases were not run is not checked.
///
/// # Errors
/// The first name that no run has, with its place in the recipe.
pub(super) fn check_drawn(recipe: &Recipe, runs: &[&DrawnNames]) -> Result<(), Fault> {
    let cases: BTreeSet<&str> = runs.iter().map(|run| run.case.as_str()).collect();
    let names: BTreeSet<DrawnName> = runs.iter().flat_map(|run| run.names.keys().copied()).collect();
    for name in names {
        let Some(figure) = recipe.figures.get(name.figure) else { continue };
        let shown = recipe.cases.iter().filter(|case| figure.get_ref().shows(&case.name));
        if shown.into_iter().any(|case| !cases.contains(case.name.as_str())) {
            continue;
        }
        let reasons: Option<Vec<&String>> =
            runs.iter().filter_map(|run| run.names.get(&name)).map(Option::as_ref).collect();
        if let Some(reason) = reasons.as_ref().and_then(|reasons| reasons.first()) {
            let panel = figure.get_ref().panels.get(name.panel);
            let place = panel.and_then(|panel| place(panel, name.key)).unwrap_or_else(|| figure.span());
            return Err(Fault::at(place, format!("[[figures]] {}: {reason}", name.key)));
        }
    }
    Ok(())
}

/// The place of a name in the text, if the recipe has kept it.
fn place(panel: &FigurePanel, key: &str) -> Option<Range<usize>> {
    match key {
        "series" => panel.series.as_ref().map(Spanned::span),
        "distribution" => panel.distribution.as_ref().map(Spanned::span),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::paper::tests::{PAPER, RECIPE};
    use crate::{CheckOptions, Library, check};
    use millpond_results::Unwatched;
    use std::fs;

    /// The text of a recipe with this figure, and the error of its check. No row is about the case "unused".
    fn checked(figure: &str) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let more = format!("[[cases]]\nname = 'unused'\n[[figures]]\n{figure}\n");
        let text = format!("{RECIPE}{more}");
        fs::create_dir(folder.path().join("toy")).unwrap();
        fs::write(folder.path().join("toy/paper.toml"), PAPER).unwrap();
        fs::write(folder.path().join("toy/fig1.toml"), &text).unwrap();
        let library = Library::read(folder.path()).unwrap();
        let checked = check(&library.select(None).unwrap(), &CheckOptions::quick(), &Unwatched);
        (text, checked.map_or_else(|error| error.to_string(), |_| String::new()))
    }

    fn over_time(cases: &str, entity: &str) -> String {
        format!("kind = 'time'\ncases = {cases}\n[[figures.panels]]\nseries = {{ {entity} }}")
    }

    #[test]
    fn a_figure_that_draws_what_no_run_has_is_an_error_with_file_line_and_key() {
        for (entity, known) in [
            ("flow = 'x', quantity = 'window'", "there are: 1, 2"),
            ("flow = '1', quantity = 'windw'", "there are: window"),
            ("flow = 'x', quantity = 'windw'", "there are: 1, 2"),
            ("link = 'L', quantity = 'queue'", "no queue of a link named L"),
        ] {
            let (text, error) = checked(&over_time("['abc']", entity));
            let line = text.lines().position(|line| line.contains(entity)).unwrap() + 1;
            assert!(error.starts_with(&format!("toy/fig1.toml: line {line}, column ")), "{error}");
            assert!(error.contains(entity) && error.contains("[[figures]] series: "), "{error}");
            assert!(error.contains(known), "{error}");
        }
        let boxes =
            "kind = 'boxes'\ncases = ['abc']\npanels = [{ distribution = { flow = '1', quantity = 'x' } }]";
        let (_, error) = checked(boxes);
        assert!(error.contains("[[figures]] distribution: the run has no x of a flow"), "{error}");
        let scatter =
            "kind = 'scatter'\ncases = ['abc']\nx = { summary = 'nowhere' }\npanels = [{ summary = 'seed' }]";
        let (_, error) = checked(scatter);
        assert!(error.contains("[[figures]] x.summary: the summary has no number at nowhere"), "{error}");
    }

    #[test]
    fn figures_of_what_runs_have_and_figures_with_a_case_that_is_not_run_are_no_error() {
        for figure in [
            over_time("['abc']", "flow = '1', quantity = 'window'"),
            over_time("['abc']", "flow = '*', quantity = 'window'"),
            over_time("['abc', 'unused']", "flow = 'x', quantity = 'window'"),
        ] {
            assert_eq!(checked(&figure).1, "", "{figure}");
        }
    }
}
