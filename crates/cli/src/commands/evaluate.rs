//! `millpond evaluate`: protocols and queues under the criteria of suites.

use crate::args;
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{finish, new_file, print_results};
use crate::progress::Progress;
use millpond_evaluation::{
    Evaluation, EvaluationPlan, EvaluationRequest, Evaluations, MatrixPage, MatrixSection, RowOrigin,
    Subject, SubjectKind, Suite, Suites,
};
use millpond_protocols::Registry;
use millpond_results::files::AtomicFile;
use millpond_terminal as terminal;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where finished runs of `--all` and of `--full` are kept without `--keep`.
const KEEP: &str = "millpond-evaluation";

pub(crate) fn evaluate(args: &args::Evaluate, registry: &Registry) -> Outcome {
    let suites = Suites::with_folders(&args.suite)?;
    let (selected, subjects) = if args.all {
        let selected = suites.select(&args.suite)?;
        let subjects = all_subjects(&selected, registry);
        (selected, subjects)
    } else {
        let subjects = Subject::all_named(&args.names, registry)?;
        (suites.for_subjects(&args.suite, &subjects)?, subjects)
    };
    let request = EvaluationRequest {
        suites: selected.clone(),
        sections: args.section.clone(),
        subjects,
        registry: registry.clone(),
        full: args.full,
        set: args.sets.clone(),
        keep: kept_runs(args),
        origin: origin(),
    };
    request.check_sections()?;
    let plan = EvaluationPlan::new(request)?;
    let page = args.report.as_deref().map(|path| new_file(path, args.existing)).transpose()?;
    let matrix = args
        .matrix
        .as_deref()
        .map(|path| MatrixFile::open(path, &suites, &selected, args.all))
        .transpose()?;
    let progress = Progress::of_all(plan.run_count(), Interrupt::install()?);
    let evaluations = plan.run(&progress);
    progress.clear();
    let evaluated = Evaluations { evaluations: evaluations? };
    if let Some(page) = page {
        finish(page, millpond_analysis_report::evaluation(&evaluated.evaluations, &origin()).as_bytes())?;
    }
    if let Some(matrix) = matrix {
        matrix.write(&selected, &evaluated.evaluations, registry)?;
    }
    let json = || serde_json::to_string_pretty(&evaluated);
    print_results(&args.form, json, || terminal::evaluations(&evaluated.evaluations))?;
    Ok(ExitCode::SUCCESS)
}

/// All protocols and queues that the suites evaluate.
fn all_subjects(suites: &[&Suite], registry: &Registry) -> Vec<Subject> {
    let is_wanted = |kind: &SubjectKind| suites.iter().any(|suite| suite.description.evaluates == *kind);
    let kinds = [SubjectKind::Protocol, SubjectKind::Queue].into_iter().filter(is_wanted);
    kinds.flat_map(|kind| kind.all(registry)).collect()
}

/// Where finished runs are kept: where the user says, and those of `--all` and `--full` in any case.
fn kept_runs(args: &args::Evaluate) -> Option<PathBuf> {
    args.keep.clone().or_else(|| (args.all || args.full).then(|| PathBuf::from(KEEP)))
}

/// The page with the verdicts of all subjects, whose rows are replaced.
struct MatrixFile {
    page: MatrixPage,
    file: AtomicFile,
}

impl MatrixFile {
    /// Reads the page if there is one, without the sections of suites that do not exist and, if `all` subjects are evaluated,
    /// without those of the selected suites. Otherwise rows of the selected suites are replaced, whose other rows must be of the
    /// same files.
    fn open(path: &Path, suites: &Suites, selected: &[&Suite], all: bool) -> Result<Self, Failure> {
        let fail = |fault: String| Failure::input(format!("{}: {fault}", path.display()));
        let mut page = match fs::read_to_string(path) {
            Ok(text) => MatrixPage::parse(&text).map_err(fail)?,
            Err(_) if !path.exists() => MatrixPage::default(),
            Err(error) => return Err(fail(error.to_string())),
        };
        page.sections.retain(|name, _| suites.suites.iter().any(|suite| suite.name() == name));
        if all {
            page.sections.retain(|name, _| selected.iter().all(|suite| suite.name() != name));
        }
        let section = |suite: &Suite| page.sections.get(suite.name());
        let is_stale =
            |suite: &&&Suite| section(suite).is_some_and(|old| old.fingerprint != suite.fingerprint());
        if let Some(suite) = selected.iter().find(is_stale) {
            let (name, selector) = (suite.name(), suite.selector());
            return Err(fail(format!(
                "all rows of the suite {name} are stale, since its files have changed; to write them: \
                 millpond evaluate --all --suite {selector} --matrix {}",
                path.display()
            )));
        }
        Ok(Self { page, file: AtomicFile::create(path).map_err(Failure::input)? })
    }

    /// Writes the page with the rows of these evaluations.
    fn write(
        mut self,
        suites: &[&Suite],
        evaluations: &[Evaluation],
        registry: &Registry,
    ) -> Result<(), Failure> {
        let fingerprints = fingerprints(evaluations, registry)?;
        for suite in suites {
            let old = self.page.sections.get(suite.name());
            if let Some(section) = section(suite, old, evaluations, &fingerprints, registry) {
                self.page.sections.insert(suite.name().to_owned(), section);
            }
        }
        finish(self.file, self.page.to_string().as_bytes())
    }
}

/// The fingerprint of each protocol or queue that was evaluated, by its name. It needs a run.
fn fingerprints(
    evaluations: &[Evaluation],
    registry: &Registry,
) -> Result<BTreeMap<String, String>, Failure> {
    let names: Vec<String> = evaluations.iter().map(|one| one.name.clone()).collect();
    let subjects = Subject::all_named(&names, registry)?;
    subjects.into_iter().map(|one| Ok((one.name.clone(), one.fingerprint(registry)?))).collect()
}

/// The section of a suite with the rows of these evaluations and, for other subjects, of the old section; none without
/// evaluations. An old row without a verdict on each criterion is left out.
fn section(
    suite: &Suite,
    old: Option<&MatrixSection>,
    evaluations: &[Evaluation],
    fingerprints: &BTreeMap<String, String>,
    registry: &Registry,
) -> Option<MatrixSection> {
    let judged: Vec<_> = evaluations.iter().filter_map(|one| Some((one, one.suite(suite.name())?))).collect();
    let (_, description) = judged.first()?;
    let kind = suite.description.evaluates;
    let (mut origins, mut rows) = (Vec::new(), Vec::new());
    for subject in kind.all(registry) {
        let new = || {
            let (evaluation, judged) = judged.iter().find(|(one, _)| one.name == subject.name)?;
            let (fingerprint, version) =
                (fingerprints.get(&subject.name)?.clone(), evaluation.version.clone());
            Some((RowOrigin { name: subject.name.clone(), fingerprint, version }, judged.cells()))
        };
        let old = || {
            let origin = old?.origins.iter().find(|origin| origin.name == subject.name)?;
            Some((origin.clone(), old?.verdicts(&subject.name)))
        };
        let is_whole =
            |(_, verdicts): &(RowOrigin, Vec<String>)| verdicts.len() == description.criteria.len();
        if let Some((origin, verdicts)) = new().or_else(old).filter(is_whole) {
            origins.push(origin);
            rows.push((subject.name, verdicts));
        }
    }
    let text = terminal::matrix_section(description, kind, &rows);
    Some(MatrixSection { fingerprint: suite.fingerprint(), origins, text })
}
