//! A paper: what it is, the readings it leaves open, and its recipes.

use super::RecipeError;
use super::recipe::Recipe;
use include_dir::{Dir, include_dir};
use millpond_scenario::{Disk, Files};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folder `papers` of this repository, inside the program.
static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../papers");

/// The synthetic traces that recipes share with the scenarios, inside the program.
static TRACES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/traces");

/// The file that makes a folder a paper.
const PAPER_FILE: &str = "paper.toml";

/// A paper and its recipes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its folder: `lgcc`.
    #[serde(skip)]
    pub name: String,
    /// Its title.
    pub title: String,
    /// Authors, where and when.
    pub source: String,
    /// Meanings it leaves open. The first is what we take where a row does not say.
    pub readings: Vec<Reading>,
    /// What of it can be run and judged, in the order of its figures.
    #[serde(skip)]
    pub recipes: Vec<Recipe>,
    /// Where its traces are.
    #[serde(skip)]
    origin: Origin,
}

/// Where a paper's folder is.
#[derive(Clone, Debug, Default)]
enum Origin {
    /// In the program.
    #[default]
    Shipped,
    /// In this folder.
    Folder(PathBuf),
}

/// Files that Millpond ships; others, such as a user's own trace, from the disk.
struct Shelf;

impl Files for Shelf {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let path = plain(path);
        let shipped = [(shipped("papers"), &SHIPPED), (shipped("scenarios/traces"), &TRACES)];
        let inside =
            |(root, folder): &(PathBuf, &'static Dir<'_>)| folder.get_file(path.strip_prefix(root).ok()?);
        let found = shipped.iter().find_map(inside);
        found.map_or_else(|| Disk.read(&path), |file| Ok(file.contents().to_vec()))
    }
}

/// What the paths of a shipped folder's files begin with: where a clone of the repository has them.
fn shipped(folder: &str) -> PathBuf {
    std::path::absolute(folder).unwrap_or_default()
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
        plain
    })
}

/// One of several defensible meanings of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// How rows call it.
    pub name: String,
    /// What it takes the paper to mean, and what speaks for it.
    pub about: String,
    /// Values laid over a recipe's scenario, each under its dotted path.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
}

/// Papers and their recipes.
#[derive(Clone, Debug)]
pub struct Library {
    /// By name.
    pub papers: Vec<Paper>,
}

/// A recipe with the paper that it is of.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// One of its recipes.
    pub recipe: &'a Recipe,
}

impl Library {
    /// The recipes that Millpond ships.
    pub fn builtin() -> Result<Self, RecipeError> {
        let text = |file: &include_dir::File<'_>| {
            Some((file.path().to_str()?.to_owned(), file.contents_utf8()?.to_owned()))
        };
        let folders = SHIPPED.dirs();
        let files = folders.flat_map(|folder| folder.files().filter_map(text)).collect();
        Self::from_files(&files, &Origin::Shipped)
    }

    /// The recipes of a folder of your own: `<folder>/<paper>/paper.toml` and `<folder>/<paper>/<recipe>.toml`.
    pub fn read(folder: &Path) -> Result<Self, RecipeError> {
        let fail = |path: &Path, fault: std::io::Error| RecipeError::new(path.display(), fault.to_string());
        let mut files = BTreeMap::new();
        for paper in fs::read_dir(folder).map_err(|fault| fail(folder, fault))?.flatten() {
            let inside = fs::read_dir(paper.path()).into_iter().flatten().flatten();
            for file in inside.map(|entry| entry.path()).filter(|path| path.is_file()) {
                if let Some(name) = file.strip_prefix(folder).ok().and_then(Path::to_str) {
                    let name = name.replace(std::path::MAIN_SEPARATOR, "/");
                    files.insert(name, fs::read_to_string(&file).map_err(|fault| fail(&file, fault))?);
                }
            }
        }
        Self::from_files(&files, &Origin::Folder(folder.to_owned()))
    }

    fn from_files(files: &BTreeMap<String, String>, origin: &Origin) -> Result<Self, RecipeError> {
        let folders = files.iter().filter_map(|(path, text)| {
            let (folder, file) = path.split_once('/')?;
            (file == PAPER_FILE).then_some((folder, text))
        });
        let papers = folders.map(|(folder, text)| Paper::parse(folder, text, files, origin));
        Ok(Self { papers: papers.collect::<Result<_, _>>()? })
    }

    /// What a name asks for: all without one, a paper, or one recipe (`lgcc/fig12`).
    pub fn choose(&self, name: Option<&str>) -> Result<Vec<Chosen<'_>>, RecipeError> {
        let all = self
            .papers
            .iter()
            .flat_map(|paper| paper.recipes.iter().map(move |recipe| Chosen { paper, recipe }));
        let Some(name) = name else { return Ok(all.collect()) };
        let chosen: Vec<_> = all.filter(|one| one.paper.name == name || one.recipe.name == name).collect();
        if chosen.is_empty() { Err(self.unknown(name)) } else { Ok(chosen) }
    }

    /// Nobody has this name: the nearest, and those of its paper, or the papers.
    fn unknown(&self, name: &str) -> RecipeError {
        let recipes = |paper: &Paper| paper.recipes.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let papers: Vec<String> = self.papers.iter().map(|paper| paper.name.clone()).collect();
        let known: Vec<String> = papers.iter().cloned().chain(self.papers.iter().flat_map(recipes)).collect();
        let near = millpond_units::nearest(name, known.iter().map(String::as_str));
        let hint = near.map_or(String::new(), |near| format!("did you mean \"{near}\"? "));
        let of_paper =
            name.split_once('/').and_then(|(paper, _)| self.papers.iter().find(|p| p.name == paper));
        let (which, list) = of_paper.map_or(("papers", papers), |paper| ("of this paper", recipes(paper)));
        RecipeError::new(
            name,
            format!("no paper or recipe has this name; {hint}{which}: {}", list.join(", ")),
        )
    }
}

impl Paper {
    fn parse(
        folder: &str,
        text: &str,
        files: &BTreeMap<String, String>,
        origin: &Origin,
    ) -> Result<Self, RecipeError> {
        let place = format!("{folder}/{PAPER_FILE}");
        let mut paper: Self =
            toml::from_str(text).map_err(|fault| RecipeError::new(&place, fault.to_string()))?;
        if paper.readings.is_empty() {
            return Err(RecipeError::new(&place, "a paper has at least one [[readings]]"));
        }
        paper.name = folder.to_owned();
        paper.origin = origin.clone();
        let readings: Vec<_> = paper.readings.iter().map(|reading| reading.name.clone()).collect();
        let sibling = |name: &str| files.get(&format!("{folder}/{name}.toml")).map(String::as_str);
        for (path, text) in files {
            let file = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            let Some(name) =
                path.strip_suffix(".toml").filter(|_| file.is_some_and(|file| file != PAPER_FILE))
            else {
                continue;
            };
            let recipe = Recipe::parse(name, text, &readings, &sibling);
            paper.recipes.push(recipe.map_err(|fault| RecipeError::new(path, fault.show(text)))?);
        }
        paper.recipes.sort_by_key(|recipe| natural(&recipe.name));
        Ok(paper)
    }

    /// The folder that paths in its recipes start from, and what reads them.
    pub(super) fn files(&self) -> (PathBuf, &'static dyn Files) {
        match &self.origin {
            Origin::Shipped => (shipped("papers").join(&self.name), &Shelf),
            Origin::Folder(folder) => (folder.join(&self.name), &Disk),
        }
    }

    /// The reading of this name; the first without one.
    pub fn reading(&self, name: Option<&str>) -> Option<&Reading> {
        name.map_or_else(|| self.readings.first(), |name| self.readings.iter().find(|r| r.name == name))
    }
}

/// A key that sorts `fig2` before `fig12`.
fn natural(name: &str) -> (String, u64, String) {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (head, rest) = name.split_at(digits);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, tail) = rest.split_at(end);
    (head.to_owned(), number.parse().unwrap_or(0), tail.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: &str = "title = 'T'\nsource = 'S'\n[[readings]]\nname = 'window'\nabout = 'x'";
    const RECIPE: &str = "title = 't'\nplace = 'Fig. 1'\nclaim = 'c'\n[recurrence]\nlaw = 'abc'\nwindows = [3, 1]\n\
                          steps = 2\n[[cases]]\nname = 'abc'\n[[expect]]\nwhat = 'w'\n\
                          series = { flow = '1', quantity = 'window' }\npaper = 3.0\naccept = [3, 3]\nbecause = 'b'\n";

    fn library(recipe: &str) -> Result<Library, RecipeError> {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let files = BTreeMap::from([
            file("toy/paper.toml", PAPER),
            file("toy/fig12.toml", RECIPE),
            file("toy/fig2.toml", recipe),
            file("toy/README.md", "no recipe"),
        ]);
        Library::from_files(&files, &Origin::Shipped)
    }

    #[test]
    fn recipes_are_listed_in_the_order_of_their_figures_and_chosen_by_paper_or_name() {
        let library = library(RECIPE).unwrap();
        let names =
            |name| library.choose(name).map(|all| all.iter().map(|c| c.recipe.name.clone()).collect());
        assert_eq!(names(None), Ok(vec!["toy/fig2".to_owned(), "toy/fig12".to_owned()]));
        assert_eq!(names(Some("toy")), names(None));
        assert_eq!(names(Some("toy/fig12")), Ok(vec!["toy/fig12".to_owned()]));
        let fault = names(Some("toy/fig1")).unwrap_err().to_string();
        assert!(
            fault.contains("did you mean \"toy/fig12\"") || fault.contains("did you mean \"toy/fig2\""),
            "{fault}"
        );
    }

    #[test]
    fn a_mistake_in_a_recipe_names_its_file_and_what_was_expected() {
        for (right, wrong, said) in [
            ("steps", "stpes", "unknown field `stpes`"),
            ("'abc'\nwindows", "'abd'\nwindows", "unknown variant `abd`"),
            ("paper = 3.0", "paper = true", "expected a number or words"),
            ("accept = [3, 3]", "accept = [4, 5]", "does not hold what the paper says"),
            ("[[expect]]\n", "[[expect]]\nreading = 'windw'\n", "did you mean \"window\""),
            ("[[expect]]\n", "[[expect]]\ncase = 'abd'\n", "did you mean \"abc\""),
            ("[[expect]]\n", "[[expect]]\nversus = 'lgcc'\n", "no case \"lgcc\""),
            ("name = 'abc'", "name = 'abc'\nanalysis = 'stability'", "analysis is of a [scenario]"),
            ("name = 'abc'", "name = 'abc'\nvary = 'rtt'", "vary belongs to analysis"),
            (
                "series = { flow = '1', quantity = 'window' }",
                "answer = 'unique'",
                "belongs to a case with analysis",
            ),
            ("flow = '1', ", "", "belongs to one of flow"),
            ("because", "from = '2 parsecs'\nbecause", "parsecs"),
        ] {
            assert!(RECIPE.contains(right), "{right}");
            let fault = library(&RECIPE.replacen(right, wrong, 1)).unwrap_err().to_string();
            assert!(fault.contains("toy/fig2") && fault.contains(said), "{wrong}: {fault}");
        }
    }

    #[test]
    fn shipped_traces_are_found_wherever_the_program_runs() {
        let path = shipped("papers").join("lgcc/../../scenarios/traces/lte-att-like.csv");
        assert!(Shelf.read(&path).unwrap().starts_with(b"time_s,mbps"));
        assert!(Shelf.read(Path::new("nowhere/lte-att-like.csv")).is_err());
    }

    #[test]
    fn every_shipped_recipe_parses() {
        let library = Library::builtin().unwrap();
        assert!(library.papers.iter().all(|paper| !paper.recipes.is_empty()));
    }
}
