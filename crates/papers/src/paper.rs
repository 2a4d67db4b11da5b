//! Papers with their readings and recipes, shipped or from a folder.

use super::RecipeError;
use super::expect::{Claimant, Expectation};
use super::form::Fault;
use super::reading::Reading;
use super::recipe::{Case, Recipe};
use super::twin::Twin;
use super::unknown_name::unknown;
use include_dir::{Dir, include_dir};
use millpond_scenario::{Disk, Files};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folder `papers` of this repository, embedded in the program.
static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../papers");

/// The synthetic traces that recipes share with the scenarios, embedded in the program.
static TRACES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/traces");

/// The file that describes the paper of a folder.
const PAPER_FILE: &str = "paper.toml";

/// A paper and its recipes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The name of its folder: `lgcc`.
    #[serde(skip)]
    pub name: String,
    /// The title.
    pub title: String,
    /// Authors, venue and year.
    pub source: String,
    /// Whether it is one of the papers that this repository is about.
    pub kind: PaperKind,
    /// Its readings; the first is the default of rows.
    pub readings: Vec<Reading>,
    /// Its recipes, in the order of its figures.
    #[serde(skip)]
    pub recipes: Vec<Recipe>,
    /// Where the files of the folder are read from.
    #[serde(skip)]
    origin: FolderOrigin,
}

/// The kind of a paper, by which its claims are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaperKind {
    /// One of the papers whose results are reproduced.
    Subject,
    /// A paper that they compare with.
    Other,
    /// Our own comparisons, without claims of a paper.
    Comparison,
}

/// The place of a paper's folder.
#[derive(Clone, Debug, Default)]
enum FolderOrigin {
    /// Embedded in the program.
    #[default]
    Shipped,
    /// A folder on the disk.
    Folder(PathBuf),
}

/// Reads embedded files; other files, such as a user's own trace, from the disk.
struct ShippedFiles;

impl Files for ShippedFiles {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let path = without_parent_parts(path);
        let folders = [(shipped("papers"), &SHIPPED), (shipped("scenarios/traces"), &TRACES)];
        let embedded =
            |(root, folder): &(PathBuf, &'static Dir<'_>)| folder.get_file(path.strip_prefix(root).ok()?);
        let found = folders.iter().find_map(embedded);
        found.map_or_else(|| Disk.read(&path), |file| Ok(file.contents().to_vec()))
    }
}

/// The texts of the files in the folders of an embedded folder by their paths. In a clone of the repository those of its
/// folder `name`, as they are now.
pub fn texts_of(embedded: &Dir<'_>, name: &str) -> BTreeMap<String, String> {
    let text = |file: &include_dir::File<'_>| {
        // In a clone of the repository the file may have been edited since the program was built.
        let on_disk = fs::read_to_string(shipped(name).join(file.path())).ok();
        Some((file.path().to_str()?.to_owned(), on_disk.or_else(|| file.contents_utf8().map(str::to_owned))?))
    };
    embedded.dirs().flat_map(|folder| folder.files().filter_map(text)).collect()
}

/// The texts of the TOML files in a folder on the disk by their paths, which begin with the name of the folder: `lgcc/fig12.toml`.
///
/// # Errors
/// The folder, or a file in it, cannot be read.
pub fn texts_in(folder: &Path) -> Result<BTreeMap<String, String>, RecipeError> {
    let folder = &std::path::absolute(folder).map_err(|fault| unreadable(folder, &fault))?;
    let entries = fs::read_dir(folder).map_err(|fault| unreadable(folder, &fault))?;
    let is_recipe = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|end| end == "toml");
    let text = |path: PathBuf| {
        let name = path.strip_prefix(folder.parent()?).ok()?.to_str()?;
        let name = name.replace(std::path::MAIN_SEPARATOR, "/");
        Some(fs::read_to_string(&path).map(|text| (name, text)).map_err(|fault| unreadable(&path, &fault)))
    };
    entries.flatten().map(|entry| entry.path()).filter(is_recipe).filter_map(text).collect()
}

fn unreadable(path: &Path, fault: &std::io::Error) -> RecipeError {
    RecipeError::new(path.display(), fault.to_string())
}

/// The text of a shipped recipe by its name, such as `lgcc/fig12`.
pub fn recipe_text(name: &str) -> Option<&'static str> {
    SHIPPED.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// The absolute path of an embedded folder: where a clone of the repository has it.
fn shipped(folder: &str) -> PathBuf {
    std::path::absolute(folder).unwrap_or_default()
}

/// The path with every `..` resolved.
fn without_parent_parts(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut resolved, part| {
        if part == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(part);
        }
        resolved
    })
}

/// Papers and their recipes.
#[derive(Clone, Debug)]
pub struct Library {
    /// The papers, ordered by name.
    pub papers: Vec<Paper>,
}

/// A recipe with its paper.
#[derive(Clone, Copy, Debug)]
pub struct SelectedRecipe<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// One of its recipes.
    pub recipe: &'a Recipe,
}

impl SelectedRecipe<'_> {
    /// The error about a fault of the recipe, with its line if the file can be read again.
    pub(super) fn error(&self, fault: &Fault) -> RecipeError {
        let file = format!("{}.toml", self.recipe.name);
        let own =
            self.recipe.name.strip_prefix(&format!("{}/", self.paper.name)).unwrap_or(&self.recipe.name);
        let text =
            self.paper.file(&format!("{own}.toml")).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let message = text.map_or_else(|| fault.message.clone(), |text| fault.show(&text));
        RecipeError::new(file, message)
    }
}

impl Library {
    /// The recipes that Millpond ships. In a clone of the repository those of its folder `papers`, as they are now.
    pub fn builtin() -> Result<Self, RecipeError> {
        Self::from_files(&texts_of(&SHIPPED, "papers"), &FolderOrigin::Shipped)
    }

    /// The recipes of a folder on the disk: `<folder>/<paper>/paper.toml` and `<folder>/<paper>/<recipe>.toml`.
    ///
    /// # Errors
    /// A folder without a recipe, or a file that cannot be read or is wrong.
    pub fn read(folder: &Path) -> Result<Self, RecipeError> {
        // Paths in scenarios are relative to their folder, those of overrides to the current one.
        let folder = &std::path::absolute(folder).map_err(|fault| unreadable(folder, &fault))?;
        let mut files = BTreeMap::new();
        for paper in fs::read_dir(folder).map_err(|fault| unreadable(folder, &fault))?.flatten() {
            if paper.path().is_dir() {
                files.extend(texts_in(&paper.path())?);
            }
        }
        let library = Self::parse(&files, folder)?;
        if library.papers.iter().all(|paper| paper.recipes.is_empty()) {
            let message =
                "there is no recipe in this folder: PAPER/RECIPE.toml, and PAPER/paper.toml beside it";
            return Err(RecipeError::new(folder.display(), message));
        }
        Ok(library)
    }

    /// The recipes of these texts by their paths, `<paper>/paper.toml` and `<paper>/<recipe>.toml`. Files that they name are in
    /// `folder`.
    pub fn parse(files: &BTreeMap<String, String>, folder: &Path) -> Result<Self, RecipeError> {
        Self::from_files(files, &FolderOrigin::Folder(folder.to_owned()))
    }

    fn from_files(files: &BTreeMap<String, String>, origin: &FolderOrigin) -> Result<Self, RecipeError> {
        let folders = files.iter().filter_map(|(path, text)| {
            let (folder, file) = path.split_once('/')?;
            (file == PAPER_FILE).then_some((folder, text))
        });
        let papers = folders.map(|(folder, text)| Paper::parse(folder, text, files, origin));
        let library = Self { papers: papers.collect::<Result<_, _>>()? };
        check_twins(&library)?;
        Ok(library)
    }

    /// The recipes with this name: all recipes if it is absent, those of a paper, or one recipe (`lgcc/fig12`).
    ///
    /// # Errors
    /// No paper or recipe has the name.
    pub fn select(&self, name: Option<&str>) -> Result<Vec<SelectedRecipe<'_>>, RecipeError> {
        let all = self
            .papers
            .iter()
            .flat_map(|paper| paper.recipes.iter().map(move |recipe| SelectedRecipe { paper, recipe }));
        let Some(name) = name else { return Ok(all.collect()) };
        let selected: Vec<_> = all.filter(|one| one.paper.name == name || one.recipe.name == name).collect();
        if selected.is_empty() { Err(self.unknown_name(name)) } else { Ok(selected) }
    }

    /// The error for an unknown name, with the nearest name, and the recipes of its paper or all papers.
    fn unknown_name(&self, name: &str) -> RecipeError {
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
        origin: &FolderOrigin,
    ) -> Result<Self, RecipeError> {
        let place = format!("{folder}/{PAPER_FILE}");
        let mut paper: Self =
            toml::from_str(text).map_err(|fault| RecipeError::new(&place, Fault::from(fault).show(text)))?;
        if paper.readings.is_empty() {
            return Err(RecipeError::new(&place, "a paper has at least one [[readings]]"));
        }
        paper.name = folder.to_owned();
        paper.origin = origin.clone();
        paper.read_recipes(PAPER_FILE, files)?;
        paper.check_recurrences().map_err(|fault| RecipeError::new(&place, fault))?;
        Ok(paper)
    }

    /// A paper that has no file of its own: the recipes of `folder` with one reading. `described_by` is the file of the
    /// folder that is no recipe. `parent` is the folder around it on the disk; none if it is embedded in the program.
    ///
    /// # Errors
    /// The first mistake in a recipe.
    pub fn of_folder(
        folder: &str,
        described_by: &str,
        files: &BTreeMap<String, String>,
        parent: Option<&Path>,
    ) -> Result<Self, RecipeError> {
        let mut paper = Self {
            name: folder.to_owned(),
            title: String::new(),
            source: String::new(),
            kind: PaperKind::Comparison,
            readings: vec![Reading { name: "as written".to_owned(), ..Reading::default() }],
            recipes: Vec::new(),
            origin: parent.map_or(FolderOrigin::Shipped, |parent| FolderOrigin::Folder(parent.to_owned())),
        };
        paper.read_recipes(described_by, files)?;
        Ok(paper)
    }

    /// Reads the recipes of the folder: all files but the one that describes it.
    fn read_recipes(
        &mut self,
        described_by: &str,
        files: &BTreeMap<String, String>,
    ) -> Result<(), RecipeError> {
        let folder = self.name.clone();
        let readings: Vec<_> = self.readings.iter().map(|reading| reading.name.clone()).collect();
        let sibling = |name: &str| files.get(&format!("{folder}/{name}.toml")).map(String::as_str);
        for (path, text) in files {
            let file = path.strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/'));
            let Some(name) =
                path.strip_suffix(".toml").filter(|_| file.is_some_and(|file| file != described_by))
            else {
                continue;
            };
            let recipe = Recipe::parse(name, text, &readings, &sibling);
            let recipe = recipe.map_err(|fault| RecipeError::new(path, fault.show(text)))?;
            let claim = recipe.expect.iter().find(|row| row.get_ref().source() == Claimant::Paper);
            if let Some(row) = claim.filter(|_| self.kind == PaperKind::Comparison) {
                let what = row.get_ref().what.get_ref();
                let message =
                    format!("[[expect]] \"{what}\": a comparison of our own has no claims of a paper");
                return Err(RecipeError::new(path, message));
            }
            self.recipes.push(recipe);
        }
        self.recipes.sort_by_key(|recipe| natural_order(&recipe.name));
        Ok(())
    }

    /// Checks that each recurrence of its recipes can be computed under each reading, and that a reading names laws of
    /// recurrences that there are.
    fn check_recurrences(&self) -> Result<(), String> {
        let cases =
            || self.recipes.iter().flat_map(|recipe| recipe.cases.iter().map(move |case| (recipe, case)));
        let laws = cases().filter_map(|(recipe, case)| recipe.recurrence_law(case)).map(str::to_owned);
        let laws: Vec<String> = laws.collect::<BTreeSet<_>>().into_iter().collect();
        self.readings.iter().try_for_each(|reading| {
            let fail = |fault: String| Err(format!("reading \"{}\": {fault}", reading.name));
            if let Some(law) = reading.recurrence.keys().find(|law| !laws.contains(law)) {
                return fail(unknown(law, "law of a recurrence", &laws));
            }
            let fault_of = |(recipe, case): (&Recipe, &Case)| {
                let fault = recipe.recurrence(case, reading)?.err()?;
                Some(format!("{}, {fault}", recipe.name))
            };
            cases().find_map(fault_of).map_or(Ok(()), fail)
        })
    }

    /// The folder that paths in its recipes are relative to, and the reader of files.
    pub(super) fn files(&self) -> (PathBuf, &'static dyn Files) {
        match &self.origin {
            FolderOrigin::Shipped => (shipped("papers").join(&self.name), &ShippedFiles),
            FolderOrigin::Folder(folder) => (folder.join(&self.name), &Disk),
        }
    }

    /// The content of a file in its folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn file(&self, name: &str) -> std::io::Result<Vec<u8>> {
        let (folder, files) = self.files();
        files.read(&folder.join(name))
    }

    /// The paper with other readings, and without recipes.
    pub(super) fn with_readings(&self, readings: Vec<Reading>) -> Self {
        Self {
            name: self.name.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            kind: self.kind,
            readings,
            recipes: Vec::new(),
            origin: self.origin.clone(),
        }
    }

    /// The reading of this name, or the first if the name is absent.
    pub fn reading(&self, name: Option<&str>) -> Option<&Reading> {
        name.map_or_else(|| self.readings.first(), |name| self.readings.iter().find(|r| r.name == name))
    }
}

/// A sort key that orders `fig2` before `fig12`.
fn natural_order(name: &str) -> (String, u64, String) {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (head, rest) = name.split_at(digits);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, tail) = rest.split_at(end);
    (head.to_owned(), number.parse().unwrap_or(0), tail.to_owned())
}

impl Twin {
    /// Whether the library has this twin of `row`: a row that is expected to match.
    fn exists(&self, library: &Library, selected: SelectedRecipe<'_>, row: &Expectation) -> bool {
        let name = self.recipe.as_deref().unwrap_or(&selected.recipe.name);
        let recipes = library.select(Some(name)).unwrap_or_default();
        recipes
            .iter()
            .any(|&other| other.recipe.rows(true).any(|candidate| self.is(selected, row, other, candidate)))
    }

    fn is(
        &self,
        of: SelectedRecipe<'_>,
        row: &Expectation,
        other: SelectedRecipe<'_>,
        candidate: &Expectation,
    ) -> bool {
        let same_recipe = of.recipe.name == other.recipe.name;
        let first_case = other.recipe.cases.first().map(|case| case.name.as_str());
        let default_case = if same_recipe { Some(of.recipe.case_of(row)) } else { first_case };
        let case = self.case.as_deref().or(default_case);
        let same_paper = of.paper.name == other.paper.name;
        let default_reading = row.reading.as_deref().filter(|_| same_paper);
        let reading = self.reading.as_deref().or(default_reading);
        let has_name = |selected: SelectedRecipe<'_>, reading| {
            selected.paper.reading(reading).map(|reading| reading.name.clone())
        };
        candidate.theory.is_none()
            && Some(other.recipe.case_of(candidate)) == case
            && has_name(other, candidate.reading.as_deref()) == has_name(other, reading)
            && self.is_same_quantity(row, candidate)
    }

    fn is_same_quantity(&self, row: &Expectation, candidate: &Expectation) -> bool {
        match &self.what {
            Some(what) => candidate.what.get_ref() == what,
            None => {
                candidate.what.get_ref() == row.what.get_ref()
                    || candidate.claim.iter().any(|claim| row.claim.contains(claim))
            }
        }
    }
}

/// Checks that the library has every twin that its rows name.
///
/// # Errors
/// The first row whose twin does not exist.
fn check_twins(library: &Library) -> Result<(), RecipeError> {
    for selected in library.select(None)? {
        let with_twin = selected.recipe.rows(true).filter_map(|row| Some((row, row.twin.as_ref()?)));
        let mut without = with_twin.filter(|(row, twin)| !twin.exists(library, selected, row));
        if let Some((row, twin)) = without.next() {
            let message = format!("[[expect]] \"{}\": no row is its twin ({twin})", row.what.get_ref());
            return Err(RecipeError::new(&selected.recipe.name, message));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const PAPER: &str =
        "title = 'T'\nsource = 'S'\nkind = 'subject'\n[[readings]]\nname = 'window'\nabout = 'x'";
    pub(crate) const RECIPE: &str = "title = 't'\nplace = 'Fig. 1'\nclaim = 'c'\n[recurrence]\nlaw = 'abc'\nwindows = [3, 1]\n\
                          steps = 2\n[[cases]]\nname = 'abc'\n[[expect]]\nwhat = 'w'\n\
                          series = { flow = '1', quantity = 'window' }\npaper = 3.0\naccept = [3, 3]\nbecause = 'b'\n";

    fn library(recipe: &str) -> Result<Library, RecipeError> {
        library_of(PAPER, recipe)
    }

    fn library_of(paper: &str, recipe: &str) -> Result<Library, RecipeError> {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let files = BTreeMap::from([
            file("toy/paper.toml", paper),
            file("toy/fig12.toml", RECIPE),
            file("toy/fig2.toml", recipe),
            file("toy/README.md", "no recipe"),
        ]);
        Library::from_files(&files, &FolderOrigin::Shipped)
    }

    #[test]
    fn recipes_are_listed_in_the_order_of_figures_and_selected_by_paper_or_name() {
        let library = library(RECIPE).unwrap();
        let names =
            |name| library.select(name).map(|all| all.iter().map(|c| c.recipe.name.clone()).collect());
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
    fn a_reading_sets_parameters_of_recurrences_of_one_law() {
        let library = |more: &str| {
            library_of(
                &format!("{PAPER}\n[[readings]]\nname = 'long'\nabout = 'y'\nrecurrence = {more}"),
                RECIPE,
            )
        };
        let papers = library("{ abc = { steps = 9 } }").unwrap().papers;
        let (recipe, readings) = (&papers[0].recipes[0], &papers[0].readings);
        let samples = |reading| {
            let recurrence = recipe.recurrence(&recipe.cases[0], reading).unwrap().unwrap();
            recurrence.run("").series[0].values.len()
        };
        assert_eq!((samples(&readings[0]), samples(&readings[1])), (3, 10));
        for (wrong, message) in [
            ("{ abd = { steps = 9 } }", "reading \"long\": no law of a recurrence \"abd\"; there are: abc"),
            ("{ abc = { stpes = 9 } }", "reading \"long\": toy/fig2, case \"abc\": no key \"stpes\""),
        ] {
            let fault = library(wrong).unwrap_err().to_string();
            assert!(fault.starts_with("toy/paper.toml: ") && fault.contains(message), "{fault}");
        }
    }

    #[test]
    fn an_error_in_a_recipe_names_the_file_and_the_expected_value() {
        for (right, wrong, message) in [
            ("steps", "stpes", "(did you mean \"steps\"?)"),
            ("'abc'\nwindows", "'abd'\nwindows", "no value \"abd\"; there are: "),
            ("paper = 3.0", "paper = true", "expected a number, a range"),
            ("paper = 3.0", "paper = 'around 3'", "words belong in `claim`"),
            (
                "paper = 3.0\naccept = [3, 3]\nbecause = 'b'",
                "paper = { order = '<', than = 'w' }",
                "no row named \"w\"",
            ),
            ("accept = [3, 3]", "accept = [4, 5]", "does not contain the expected value"),
            ("[[expect]]\n", "[[expect]]\nreading = 'windw'\n", "did you mean \"window\""),
            ("[[expect]]\n", "[[expect]]\ncase = 'abd'\n", "did you mean \"abc\""),
            ("[[expect]]\n", "[[expect]]\nversus = 'lgcc'\n", "no case \"lgcc\""),
            ("name = 'abc'", "name = 'abc'\nanalysis = 'stability'", "analysis needs a [scenario]"),
            ("name = 'abc'", "name = 'abc'\nvary = 'rtt'", "vary needs analysis"),
            (
                "series = { flow = '1', quantity = 'window' }",
                "answer = 'unique'",
                "needs a case with analysis",
            ),
            ("flow = '1', ", "", "has one of flow"),
            ("because", "from = '2 parsecs'\nbecause", "parsecs"),
            ("because", "statistic = { quantile = 3 }\nbecause", "quantile = 3: a quantile is from 0 to 1"),
            ("because", "statistic = { between = [0.75, 0.25] }\nbecause", "the lower one first"),
            ("because", "statistic = { lasts = [3, 2] }\nbecause", "the lower end of the range first"),
            ("name = 'abc'", "name = 'abc'\nset = { seed = 3 }", "the seeds of a recipe are 1, 2, ..."),
            ("[[cases]]", "[[figures]]\nkind = 'pie'\n[[cases]]", "no value \"pie\"; there are: time, "),
            ("[[cases]]", "[[figures]]\nkind = 'time'\ncass = 1\n[[cases]]", "(did you mean \"cases\"?)"),
            (
                "[[cases]]",
                "[quick]\nseeds = 0\n[[cases]]",
                "0 seeds: expected a whole number from 1 to 10000",
            ),
            ("[[cases]]", "[full]\nseeds = 20000\n[[cases]]", "expected a whole number from 1 to 10000"),
            ("[[cases]]", "[[cases]]\nname = 'abc'\n[[cases]]", "another case has the same name"),
            ("[[cases]]", "[[figures]]\nkind = 'time'\ncases = ['abd']\n[[cases]]", "did you mean \"abc\""),
        ] {
            assert!(RECIPE.contains(right), "{right}");
            let fault = library(&RECIPE.replacen(right, wrong, 1)).unwrap_err().to_string();
            assert!(fault.contains("toy/fig2") && fault.contains(message), "{wrong}: {fault}");
        }
    }

    #[test]
    fn errors_about_seeds_cases_and_the_file_of_the_paper_have_their_line() {
        for (wrong, place) in [
            ("[quick]\nseeds = 0\n[[cases]]", "seeds = 0"),
            ("[full]\nseeds = -1\n[[cases]]", "seeds = -1"),
            ("[[cases]]\nname = 'abc'\n[[cases]]", "name = 'abc'"),
        ] {
            let text = RECIPE.replacen("[[cases]]", wrong, 1);
            let line = text.rmatch_indices(place).next().map(|(at, _)| 1 + text[..at].matches('\n').count());
            let fault = library(&text).unwrap_err().to_string();
            let shown = format!("toy/fig2.toml: line {}, ", line.unwrap());
            assert!(fault.starts_with(&shown) && fault.contains(place), "{fault}");
        }
        let fault = library_of(&PAPER.replacen("title", "tilte", 1), RECIPE).unwrap_err().to_string();
        assert!(
            fault.starts_with("toy/paper.toml: line ") && fault.contains("did you mean \"title\"?"),
            "{fault}"
        );
    }

    #[test]
    fn shipped_traces_are_found_in_any_working_directory() {
        let path = shipped("papers").join("lgcc/../../scenarios/traces/lte-att-like.csv");
        assert!(ShippedFiles.read(&path).unwrap().starts_with(b"time_s,mbps"));
        assert!(ShippedFiles.read(Path::new("nowhere/lte-att-like.csv")).is_err());
    }

    #[test]
    fn every_shipped_recipe_parses() {
        let library = Library::builtin().unwrap();
        assert!(library.papers.iter().all(|paper| !paper.recipes.is_empty()));
    }

    /// The rows of shipped recipes that are expected to differ under a reading that we do not reject.
    fn differing(selected: SelectedRecipe<'_>) -> impl Iterator<Item = &Expectation> {
        let rejected = move |row: &&Expectation| {
            selected.paper.reading(row.reading.as_deref()).is_some_and(|reading| reading.rejected)
        };
        selected.recipe.rows(true).filter(|row| row.theory.is_some()).filter(move |row| !rejected(row))
    }

    #[test]
    fn each_difference_of_the_shipped_recipes_has_a_twin_or_a_proof_that_there_is_none() {
        let library = Library::builtin().unwrap();
        let describe = |recipe: &Recipe, row: &Expectation| {
            format!("{}, {}: {}", recipe.name, recipe.case_of(row), row.what.get_ref())
        };
        let without: Vec<_> = library
            .select(None)
            .unwrap()
            .into_iter()
            .flat_map(|selected| differing(selected).map(move |row| (selected, row)))
            .filter(|(_, row)| row.twin.is_none() && row.no_twin.is_none())
            .map(|(selected, row)| describe(selected.recipe, row))
            .collect();
        assert!(without.is_empty(), "{} rows differ without a twin:\n{}", without.len(), without.join("\n"));
    }

    #[test]
    fn a_twin_belongs_to_a_row_with_theory_and_excludes_a_proof() {
        let row = |more: &str| {
            let text =
                format!("what = 'x'\nsummary = 's'\npaper = 1\naccept = [1, 1.1]\nbecause = 'b'\n{more}");
            toml::from_str::<Expectation>(&text).unwrap().check()
        };
        let theory = "theory = [2, 3]\nreason = 'r'\n";
        assert!(row(&format!("{theory}twin = {{ case = 'a' }}")).is_ok());
        assert!(row(&format!("{theory}no_twin = 'p'")).is_ok());
        assert!(row("twin = { case = 'a' }").unwrap_err().contains("theory"));
        assert!(row(&format!("{theory}no_twin = 'p'\ntwin = {{ case = 'a' }}")).is_err());
    }
}
