//! Suites: the criteria that a document has for protocols or for queues, and the recipes that are the evidence for them.

use super::subject::{Subject, SubjectKind, TESTED};
use include_dir::{Dir, include_dir};
use millpond_papers::{Paper, Recipe, RecipeError, texts_in, texts_of, unknown};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder `suites` of this repository, embedded in the program.
static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../suites");

/// The file that describes the suite of a folder.
const SUITE_FILE: &str = "suite.toml";

/// The criteria of a document, and the recipes that are their evidence.
#[derive(Clone, Debug)]
pub struct Suite {
    /// What the file of the suite states.
    pub description: SuiteDescription,
    /// The folder on the disk that was given in place of a name; none of a shipped suite.
    folder: Option<String>,
    /// Its recipes.
    pub(super) paper: Paper,
    /// The texts of its files by their paths.
    pub(super) files: BTreeMap<String, String>,
}

/// The file of a suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteDescription {
    /// The title of the document.
    pub title: String,
    /// Its number, authors and date.
    pub source: String,
    /// How the criteria are judged, and what the bounds are.
    pub about: String,
    /// Whether it evaluates protocols or queues.
    #[serde(default)]
    pub evaluates: SubjectKind,
    /// The criteria, in the order of the document.
    pub criteria: Vec<Criterion>,
}

/// What a section of the document asks of a protocol or of a queue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// The section: `5.1.1`.
    pub section: String,
    /// Its title.
    pub title: String,
    /// What it asks, in our own words.
    pub asks: String,
    /// The recipes that are its evidence.
    #[serde(default)]
    pub recipes: Vec<String>,
    /// What of it a simulation does not judge, and why; required without recipes.
    #[serde(default)]
    pub not_judged: String,
}

/// Suites by their names.
#[derive(Clone, Debug)]
pub struct Suites {
    /// The suites, ordered by name.
    pub suites: Vec<Suite>,
}

impl Suites {
    /// The suites that Millpond ships. In a clone of the repository those of its folder `suites`, as they are now.
    ///
    /// # Errors
    /// The first mistake in a suite.
    pub fn builtin() -> Result<Self, RecipeError> {
        Self::parse(&texts_of(&SHIPPED, "suites"))
    }

    /// The shipped suites, and those of the folders among `names`: a name with a `/` is the path of a folder on the disk, which
    /// holds `suite.toml` and the recipes.
    ///
    /// # Errors
    /// The first mistake in a suite, a folder without a suite, or a folder whose name another suite has.
    pub fn with_folders(names: &[String]) -> Result<Self, RecipeError> {
        let mut all = Self::builtin()?;
        for folder in names.iter().filter(|name| name.contains('/')) {
            let suite = Suite::read(folder)?;
            if all.suites.iter().any(|other| other.name() == suite.name()) {
                let name = suite.name();
                let message = format!("another suite has the name \"{name}\": rename the folder");
                return Err(RecipeError::new(folder, message));
            }
            all.suites.push(suite);
        }
        Ok(all)
    }

    /// The suites of these texts by their paths, `<suite>/suite.toml` and `<suite>/<recipe>.toml`.
    ///
    /// # Errors
    /// The first mistake in a suite.
    pub fn parse(files: &BTreeMap<String, String>) -> Result<Self, RecipeError> {
        let described = files.iter().filter_map(|(path, text)| {
            let (folder, file) = path.split_once('/')?;
            (file == SUITE_FILE).then_some((folder, text))
        });
        let suites = described.map(|(folder, text)| Suite::parse(folder, text, files, None));
        Ok(Self { suites: suites.collect::<Result<_, _>>()? })
    }

    /// The suites with these names, all of them if there is no name.
    ///
    /// # Errors
    /// No suite has one of the names.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Suite>, RecipeError> {
        if names.is_empty() {
            return Ok(self.suites.iter().collect());
        }
        let all: Vec<String> = self.suites.iter().map(|suite| suite.selector().to_owned()).collect();
        let named = |name: &String| {
            let found = self.suites.iter().find(|suite| suite.selector() == name);
            found.ok_or_else(|| {
                let is_folder = Path::new(name).is_dir();
                let hint = if is_folder { format!("; for the folder write ./{name}") } else { String::new() };
                RecipeError::new("--suite", format!("{}{hint}", unknown(name, "suite", &all)))
            })
        };
        names.iter().map(named).collect()
    }

    /// The suites with these names; if there is no name, all that evaluate the kind of one of the subjects.
    ///
    /// # Errors
    /// No suite has one of the names, or a named one evaluates another kind than that of a subject.
    pub fn for_subjects(&self, names: &[String], subjects: &[Subject]) -> Result<Vec<&Suite>, RecipeError> {
        let mut selected = self.select(names)?;
        if names.is_empty() {
            let kinds = || subjects.iter().map(|subject| subject.kind);
            selected.retain(|suite| kinds().any(|kind| kind == suite.description.evaluates));
        }
        for suite in selected.iter().filter(|_| !names.is_empty()) {
            subjects.iter().try_for_each(|subject| suite.check_subject(subject))?;
        }
        Ok(selected)
    }
}

impl Suite {
    /// The name of its folder: `bcp133`.
    pub fn name(&self) -> &str {
        &self.paper.name
    }

    /// What selects it: the folder that was given in place of a name, or the name of a shipped suite.
    pub fn selector(&self) -> &str {
        self.folder.as_deref().unwrap_or(self.name())
    }

    /// The suite of a folder on the disk.
    fn read(folder: &str) -> Result<Self, RecipeError> {
        let files = texts_in(Path::new(folder))?;
        let described = files.iter().find_map(|(path, text)| {
            let (name, file) = path.split_once('/')?;
            (file == SUITE_FILE).then_some((name, text))
        });
        let Some((name, text)) = described else {
            return Err(RecipeError::new(folder, format!("there is no {SUITE_FILE} in this folder")));
        };
        Self::parse(name, text, &files, Some(folder))
    }

    /// The suite of the texts whose paths begin with `name`. Without a folder on the disk it is a shipped one.
    fn parse(
        name: &str,
        text: &str,
        files: &BTreeMap<String, String>,
        folder: Option<&str>,
    ) -> Result<Self, RecipeError> {
        let place = format!("{name}/{SUITE_FILE}");
        let fail = |message: String| RecipeError::new(&place, message);
        let description: SuiteDescription = toml::from_str(text).map_err(|fault| fail(fault.to_string()))?;
        let is_own = |path: &&String| path.split_once('/').is_some_and(|(other, _)| other == name);
        let absolute = folder.map(std::path::absolute).transpose();
        let absolute = absolute.map_err(|fault| fail(fault.to_string()))?;
        let parent = absolute.as_deref().and_then(Path::parent);
        let suite = Self {
            description,
            folder: folder.map(str::to_owned),
            paper: Paper::of_folder(name, SUITE_FILE, files, parent)?,
            files: files
                .iter()
                .filter(|(path, _)| is_own(path))
                .map(|(path, text)| (path.clone(), text.clone()))
                .collect(),
        };
        suite.check().map_err(fail)?;
        Ok(suite)
    }

    /// Checks that each recipe is the evidence of one criterion, and that a criterion without evidence has a reason.
    fn check(&self) -> Result<(), String> {
        let recipes: Vec<String> = self.paper.recipes.iter().map(|one| self.short_name(one)).collect();
        let mut used: Vec<&String> = Vec::new();
        for criterion in &self.description.criteria {
            let fail = |fault: String| Err(format!("criterion {}: {fault}", criterion.section));
            for name in &criterion.recipes {
                if !recipes.contains(name) {
                    return fail(unknown(name, "recipe", &recipes));
                }
                if used.contains(&name) {
                    return fail(format!("recipe \"{name}\" is the evidence of another criterion"));
                }
                used.push(name);
            }
            if criterion.recipes.is_empty() && criterion.not_judged.is_empty() {
                return fail("it needs recipes, or the reason in not_judged".to_owned());
            }
        }
        match recipes.iter().find(|name| !used.contains(name)) {
            Some(unused) => Err(format!("recipe \"{unused}\" is the evidence of no criterion")),
            None => self.paper.recipes.iter().try_for_each(|recipe| self.check_recipe(recipe)),
        }
    }

    /// Checks that a recipe makes runs, and that a protocol under evaluation can be replaced: the recipe has its entry of
    /// `[protocols]`.
    fn check_recipe(&self, recipe: &Recipe) -> Result<(), String> {
        let Some(scenario) = &recipe.scenario else {
            return Err(format!("{}: a recipe of a suite has a scenario", recipe.name));
        };
        if let Some(case) = recipe.cases.iter().find(|case| case.analysis.is_some()) {
            return Err(format!(
                "{}: case \"{}\" has an analysis, and suites make runs",
                recipe.name, case.name
            ));
        }
        let is_replaced = scenario.get("protocols").is_some_and(|protocols| protocols.get(TESTED).is_some());
        match self.description.evaluates {
            SubjectKind::Protocol if !is_replaced => {
                Err(format!("{}: the scenario has no [protocols.{TESTED}]", recipe.name))
            }
            SubjectKind::Protocol | SubjectKind::Queue => Ok(()),
        }
    }

    /// Checks that it evaluates subjects of this kind.
    fn check_subject(&self, subject: &Subject) -> Result<(), RecipeError> {
        let kind = self.description.evaluates;
        if kind == subject.kind {
            return Ok(());
        }
        let message = format!(
            "suite \"{}\" evaluates {}s, and {} is a {}: name a {}, for example {}, or another suite",
            self.name(),
            kind.name(),
            subject.name,
            subject.kind.name(),
            kind.name(),
            kind.example()
        );
        Err(RecipeError::new("--suite", message))
    }

    /// The name of a recipe without its folder.
    fn short_name(&self, recipe: &Recipe) -> String {
        recipe.name.strip_prefix(&format!("{}/", self.name())).unwrap_or(&recipe.name).to_owned()
    }

    /// The recipes that are the evidence of a criterion.
    pub(super) fn recipes_of<'a>(&'a self, criterion: &'a Criterion) -> impl Iterator<Item = &'a Recipe> {
        let named = |name: &'a String| self.paper.recipes.iter().find(|one| self.short_name(one) == *name);
        criterion.recipes.iter().filter_map(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = "title = 'T'\nsource = 'S'\nabout = 'A'\n";
    const JUDGED: &str = "[[criteria]]\nsection = '1'\ntitle = 't'\nasks = 'a'\nrecipes = ['one']\n";
    const RECIPE: &str = "title = 't'\nplace = 'section 1'\nclaim = 'c'\n[scenario]\nduration = '1s'\n\
                          [scenario.protocols.tested]\nprotocol = 'cubic'\n[[cases]]\nname = 'a'\n[[expect]]\n\
                          what = 'w'\nsummary = 'fairness.jain'\naccept = [0.9, 1]\nbecause = 'b'\n";

    fn suites(suite: &str, recipe: &str) -> Result<Suites, String> {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let files = BTreeMap::from([file("toy/suite.toml", suite), file("toy/one.toml", recipe)]);
        Suites::parse(&files).map_err(|error| error.to_string())
    }

    #[test]
    fn each_recipe_is_the_evidence_of_one_criterion_and_each_criterion_has_evidence_or_a_reason() {
        let judged = format!("{SUITE}{JUDGED}");
        assert_eq!(suites(&judged, RECIPE).unwrap().suites[0].name(), "toy");
        let fault = |suite: &str| suites(suite, RECIPE).unwrap_err();
        let unused = fault(&format!("{SUITE}{}", JUDGED.replace("recipes = ['one']", "not_judged = 'n'")));
        assert_eq!(unused, "toy/suite.toml: recipe \"one\" is the evidence of no criterion");
        let misspelt = fault(&judged.replace("'one'", "'ome'"));
        assert!(
            misspelt.contains("criterion 1: no recipe \"ome\"") && misspelt.contains("\"one\"?"),
            "{misspelt}"
        );
        let twice = fault(&format!("{judged}{}", JUDGED.replace("'1'", "'2'")));
        assert!(twice.contains("criterion 2: recipe \"one\" is the evidence of another"), "{twice}");
        let empty = fault(&format!("{judged}{}", JUDGED.replace("recipes = ['one']", "")));
        assert!(empty.contains("needs recipes, or the reason in not_judged"), "{empty}");
        let without = suites(&judged, &RECIPE.replace(".tested", ".other")).unwrap_err();
        assert!(without.contains("toy/one: the scenario has no [protocols.tested]"), "{without}");
    }

    #[test]
    fn an_unknown_suite_is_refused_with_the_nearest_name() {
        let suites = Suites::builtin().unwrap();
        let error = suites.select(&["bpc133".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("no suite \"bpc133\"") && error.contains("did you mean \"bcp133\"?"),
            "{error}"
        );
        assert_eq!(suites.select(&[]).unwrap().len(), suites.suites.len());
        // The current folder of a test is that of the crate.
        let folder = suites.select(&["src".to_owned()]).unwrap_err().to_string();
        assert!(folder.ends_with("; for the folder write ./src"), "{folder}");
    }

    /// The names of runs and of sections of a matrix are those of suites.
    #[test]
    fn a_folder_on_the_disk_is_a_suite_unless_another_one_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let suite = folder.path().join(name);
            std::fs::create_dir(&suite).unwrap();
            std::fs::write(suite.join("suite.toml"), format!("{SUITE}{JUDGED}")).unwrap();
            std::fs::write(suite.join("one.toml"), RECIPE).unwrap();
            std::fs::write(suite.join("picture.png"), [0xff, 0xfe]).unwrap();
            suite.display().to_string()
        };
        let [own, same] = ["my-link", "aqm"].map(write);
        let names = ["l4s".to_owned(), own.clone()];
        let suites = Suites::with_folders(&names).unwrap();
        let selected = suites.select(&names).unwrap();
        let selected: Vec<_> = selected.iter().map(|suite| (suite.name(), suite.selector())).collect();
        assert_eq!(selected, [("l4s", "l4s"), ("my-link", own.as_str())]);
        let refused = |name: &str| Suites::with_folders(&[name.to_owned()]).unwrap_err().to_string();
        assert!(refused(&same).contains("another suite has the name \"aqm\": rename the folder"));
        let parent = folder.path().display().to_string();
        assert!(refused(&parent).contains("there is no suite.toml in this folder"), "{}", refused(&parent));
        assert!(refused("./none").starts_with(&std::path::absolute("./none").unwrap().display().to_string()));
    }

    /// Sections 5 to 7 of RFC 9743, as its table of contents has them; sections 5.1, 5.2 and 5.3 have no criteria of their
    /// own beside their subsections.
    #[test]
    fn the_suite_of_bcp133_has_every_criterion_of_rfc_9743() {
        let suites = Suites::builtin().unwrap();
        let suite = suites.select(&["bcp133".to_owned()]).unwrap()[0];
        let five = ["5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2.1", "5.2.2", "5.2.3", "5.3.1", "5.3.2"];
        let six = (1..=4).map(|number| format!("6.{number}"));
        let seven = (1..=11).map(|number| format!("7.{number}"));
        let expected: Vec<String> = five.map(str::to_owned).into_iter().chain(six).chain(seven).collect();
        let sections: Vec<String> =
            suite.description.criteria.iter().map(|criterion| criterion.section.clone()).collect();
        assert_eq!(sections, expected);
        for criterion in &suite.description.criteria {
            for recipe in suite.recipes_of(criterion) {
                assert_eq!(recipe.place, format!("section {}", criterion.section), "{}", recipe.name);
            }
        }
    }
}
