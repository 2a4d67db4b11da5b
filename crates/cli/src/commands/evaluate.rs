//! `millpond evaluate`: protocols and queues under the criteria of suites.

use crate::args;
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{finish, new_file, print_results};
use crate::progress::Progress;
use millpond_evaluation::{
    Evaluation, EvaluationPlan, EvaluationRequest, Evaluations, MatrixPage, MatrixSection, Subject,
    SubjectKind, Suite, Suites, fingerprint,
};
use millpond_protocols::Registry;
use millpond_report::terminal;
use millpond_results::files::AtomicFile;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where finished runs of `--all` and of `--full` are kept without `--keep`.
const KEEP: &str = "millpond-evaluation";

pub(crate) fn evaluate(args: &args::Evaluate, registry: &Registry) -> Outcome {
    let suites = Suites::builtin()?;
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
    let matrix = args.matrix.as_deref().map(|path| MatrixFile::open(path, &suites)).transpose()?;
    let progress = Progress::of_all(plan.run_count(), Interrupt::install()?);
    let evaluations = plan.run(&progress);
    progress.clear();
    let evaluated = Evaluations { evaluations: evaluations? };
    if let Some(page) = page {
        finish(
            page,
            millpond_analysis_report::evaluation(&evaluated.evaluations, &origin().command).as_bytes(),
        )?;
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

/// The page with the verdicts of all subjects, whose sections are replaced.
struct MatrixFile {
    page: MatrixPage,
    file: AtomicFile,
}

impl MatrixFile {
    /// Reads the page if there is one, without the sections of suites that do not exist.
    fn open(path: &Path, suites: &Suites) -> Result<Self, Failure> {
        let mut page = match fs::read_to_string(path) {
            Ok(text) => MatrixPage::parse(&text)
                .map_err(|fault| Failure::input(format!("{}: {fault}", path.display())))?,
            Err(_) if !path.exists() => MatrixPage::default(),
            Err(error) => return Err(Failure::input(format!("{}: {error}", path.display()))),
        };
        page.sections.retain(|name, _| suites.suites.iter().any(|suite| suite.name() == name));
        Ok(Self { page, file: AtomicFile::create(path).map_err(Failure::input)? })
    }

    /// Writes the page with the sections of these suites.
    fn write(
        mut self,
        suites: &[&Suite],
        evaluations: &[Evaluation],
        registry: &Registry,
    ) -> Result<(), Failure> {
        for suite in suites {
            let judged =
                evaluations.iter().flat_map(|one| &one.suites).find(|judged| judged.suite == suite.name());
            let Some(judged) = judged else { continue };
            let text = terminal::matrix_section(evaluations, judged, &origin().command);
            let section = MatrixSection { fingerprint: fingerprint(suite, registry)?, text };
            self.page.sections.insert(suite.name().to_owned(), section);
        }
        finish(self.file, self.page.to_string().as_bytes())
    }
}
