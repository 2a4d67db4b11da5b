//! Protocols and queues under the criteria of suites.

use crate::error::Failure;
use crate::work::{Conditions, interruptible};
use crate::{VERSION, registry};
use millpond_evaluation::{EvaluationPlan, EvaluationRequest, Evaluations, Subject, Suites};
use millpond_protocols::Registry;
use millpond_results::RunOrigin;
use millpond_terminal as terminal;
use pyo3::prelude::*;

/// The arguments of an evaluation.
struct Arguments {
    names: Vec<String>,
    suites: Vec<String>,
    sections: Vec<String>,
    full: bool,
    sets: Vec<String>,
    registry: Registry,
}

impl Arguments {
    fn plan<'a>(&self, suites: &'a Suites) -> Result<EvaluationPlan<'a>, Failure> {
        let subjects = Subject::all_named(&self.names, &self.registry)?;
        let request = EvaluationRequest {
            suites: suites.for_subjects(&self.suites, &subjects)?,
            sections: self.sections.clone(),
            subjects,
            registry: self.registry.clone(),
            full: self.full,
            set: self.sets.clone(),
            // Its names would not change with the code of a law in Python.
            keep: None,
            origin: self.origin(),
        };
        request.check_sections()?;
        Ok(EvaluationPlan::new(request)?)
    }

    /// The call of Python with the arguments that are not their defaults.
    fn origin(&self) -> RunOrigin {
        let mut options: Vec<String> = self.names.iter().map(|name| format!("{name:?}")).collect();
        let lists = [("suites", &self.suites), ("sections", &self.sections), ("sets", &self.sets)];
        options.extend(
            lists.iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| format!("{name}={list:?}")),
        );
        if self.full {
            options.push("full=True".to_owned());
        }
        RunOrigin {
            command: format!("millpond.evaluate({})", options.join(", ")),
            version: VERSION.to_owned(),
        }
    }
}

/// Evaluates protocols and queues: the JSON and the tables that `millpond evaluate` prints, and its page.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub fn evaluate(
    py: Python<'_>,
    names: Vec<String>,
    suites: Vec<String>,
    sections: Vec<String>,
    full: bool,
    sets: Vec<String>,
    threads: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String, String)> {
    let arguments = Arguments { names, suites, sections, full, sets, registry: registry() };
    let all = Suites::with_folders(&arguments.suites).map_err(Failure::from)?;
    let runs = arguments.plan(&all)?.run_count();
    interruptible(py, &Conditions { runs, threads, progress }, move |watch| {
        let evaluated = Evaluations { evaluations: arguments.plan(&all)?.run(watch)? };
        let tables = terminal::evaluations(&evaluated.evaluations).fitted(None);
        let page = millpond_analysis_report::evaluation(&evaluated.evaluations, &arguments.origin());
        Ok((serde_json::to_string_pretty(&evaluated)?, tables, page))
    })
}
