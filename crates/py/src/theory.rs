//! Equilibrium, stability and explained runs, as the JSON that the command prints.

use crate::error::Failure;
use crate::registry;
use crate::run::Run;
use crate::scenario::Scenario;
use crate::work::{Conditions, interruptible};
use millpond_diagnosis::explain::{ExplainError, explain_at, explanation_json, explanation_sentence};
use millpond_fluid::stability::{Locus, Nyquist};
use millpond_plan::fluid;
use millpond_results::files::scenario_of;
use millpond_scenario::{Disk, Scenario as Resolved};
use millpond_terminal::{self as terminal, Document};
use millpond_theory::classification::{analyze_steady_state, equilibrium_output_json};
use millpond_theory::equilibrium::{AlphaFair, GroupWeight, allocate_by_utility, utility_allocation_json};
use millpond_theory::stability::{
    CriticalValueSearch, Stability, VariedParameter, find_critical_values, stability_json, stability_sentence,
};
use millpond_theory::steady_state::{SteadyState, steady_state_json, steady_state_sentence};
use millpond_theory::transients::TransientsJson;
use millpond_theory::{
    AnalyzedCapacity, ConstantCapacities, StabilityOutputJson, Study, json_value, with_constant_capacities,
};
use millpond_units::Span;
use pyo3::prelude::*;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// What an analysis prints: its JSON and its tables.
type Printed = (String, String);

/// The JSON text of an analysis.
fn json(report: &impl Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(&json_value(report))?)
}

/// The scenario with constant capacities: those at a time of the run, or the means over the run.
fn held(scenario: &Resolved, at: Option<&str>) -> Result<ConstantCapacities, Failure> {
    let Some(at) = at.map(span).transpose()? else {
        return Ok(with_constant_capacities(scenario, AnalyzedCapacity::mean_of_run(scenario)));
    };
    let duration = scenario.duration;
    if at >= duration {
        return Err(Failure::input(format!("at {at}: the run ends at {duration}; name an earlier time")));
    }
    Ok(with_constant_capacities(scenario, AnalyzedCapacity::At(at.secs())))
}

/// A time with its unit.
fn span(text: &str) -> Result<Span, Failure> {
    text.parse().map_err(|error| Failure::input(format!("{text}: {error}")))
}

/// The equilibrium, or the allocation of a utility function: JSON and tables.
#[pyfunction]
pub fn equilibrium(
    py: Python<'_>,
    scenario: &Scenario,
    at: Option<String>,
    utility: Option<String>,
    weights: Vec<String>,
) -> PyResult<Printed> {
    let written = Arc::clone(&scenario.resolved);
    interruptible(py, &Conditions::PLAIN, move |_| {
        let ConstantCapacities { scenario, named } = held(&written, at.as_deref())?;
        let plan = fluid::plan_steady_state(&scenario, &registry())?;
        if let Some(utility) = utility {
            let utility: AlphaFair = utility.parse().map_err(Failure::input)?;
            let weights: Result<Vec<GroupWeight>, _> = weights.iter().map(|weight| weight.parse()).collect();
            let found = allocate_by_utility(&plan, utility, &weights.map_err(Failure::input)?)?;
            let tables = terminal::utility_allocation(&found).fitted(None);
            return Ok((json(&utility_allocation_json(&found))?, tables));
        }
        let found = analyze_steady_state(&plan)?;
        if let SteadyState::None { reason } = &found.state {
            return Err(Failure::input(reason));
        }
        let tables = terminal::steady_state(&found, &named).fitted(None);
        Ok((json(&equilibrium_output_json(&found, &named))?, tables))
    })
}

/// Points of a Nyquist locus: angular frequencies in rad/s, real and imaginary parts, as bytes of numbers of 64 bits.
type LocusBytes = (Vec<u8>, Vec<u8>, Vec<u8>);

fn locus_bytes(locus: &Locus) -> LocusBytes {
    let column = |value: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (0..locus.points.len()).map(value).collect();
        bytemuck::cast_slice(&values).to_vec()
    };
    (column(&|i| locus.points[i].0), column(&|i| locus.points[i].1.re), column(&|i| locus.points[i].1.im))
}

/// The stability of the equilibrium: JSON, tables and Nyquist loci. A network that oscillates has no loci.
#[pyfunction]
pub fn stability(
    py: Python<'_>,
    scenario: &Scenario,
    critical: Vec<String>,
    at: Option<String>,
) -> PyResult<(String, String, Vec<LocusBytes>)> {
    let written = Arc::clone(&scenario.resolved);
    interruptible(py, &Conditions::PLAIN, move |_| {
        let ConstantCapacities { scenario, named } = &held(&written, at.as_deref())?;
        let registry = registry();
        let study = Study::new(scenario, &registry);
        let parse = |name: &String| VariedParameter::parse(name, study).map_err(Failure::input);
        let parameters = critical.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let plan = fluid::plan_steady_state(scenario, &registry)?;
        let mut found = analyze_steady_state(&plan)?;
        let Some(stability) = found.stability()? else {
            let verdict = format!("has {}", steady_state_sentence(&found.state));
            let steady_state = steady_state_json(&found.state);
            let tables = format!("{verdict}\n");
            let varying_capacities = named.clone();
            let report =
                StabilityOutputJson::Oscillation { verdict, stable: false, steady_state, varying_capacities };
            return Ok((json(&report)?, tables, Vec::new()));
        };
        let search = |parameter: &VariedParameter| find_critical_values(study, parameter);
        let searches = parameters.iter().map(search).collect::<Result<Vec<_>, _>>()?;
        let verdict = stability_sentence(&stability, &searches);
        let report = StabilityOutputJson::Linear {
            stability: Box::new(stability_json(&verdict, &stability, &searches, None)),
            transients: Box::new(TransientsJson::default()),
            varying_capacities: named.clone(),
        };
        Ok((json(&report)?, tables(&verdict, &stability, &searches), loci(&stability)?))
    })
}

/// The tables that `millpond stability` prints.
fn tables(verdict: &str, stability: &Stability, searches: &[CriticalValueSearch]) -> String {
    let document = Document::default()
        .text(format!("{verdict}\n{}", terminal::search_ranges(searches)))
        .then(terminal::stability(stability))
        .then(terminal::two_sided(stability, searches));
    document.fitted(None)
}

fn loci(stability: &Stability) -> Result<Vec<LocusBytes>, Failure> {
    let plot = Nyquist::new(&stability.linear.system).map_err(Failure::input)?;
    Ok(plot.loci.iter().map(locus_bytes).collect())
}

/// Whether and why a run oscillates: JSON and tables.
#[pyfunction]
pub fn explain(py: Python<'_>, run: &Run, at: Option<String>) -> PyResult<Printed> {
    let (results, scenario) = (Arc::clone(&run.results), run.scenario.clone());
    let directory = run.directory.clone();
    interruptible(py, &Conditions::PLAIN, move |_| {
        let scenario = match (scenario, &directory) {
            (Some(scenario), _) => scenario,
            (None, Some(directory)) => Arc::new(Resolved::load(&scenario_of(directory), &[])?),
            (None, None) => {
                let (text, folder) = (&results.scenario_toml, Path::new(""));
                Arc::new(Resolved::parse(text, "the scenario of the run", folder, &[], &Disk)?)
            }
        };
        let at = at.as_deref().map(span).transpose()?.map(Span::secs);
        let about = |reason: ExplainError| match (&directory, Failure::from(reason)) {
            (Some(directory), Failure::Input(text)) => {
                Failure::Input(format!("{}: {text}", directory.display()))
            }
            (_, failure) => failure,
        };
        let registry = registry();
        let explained = explain_at(&results, Study::new(&scenario, &registry), at).map_err(about)?;
        let sentence = explanation_sentence(&explained);
        let tables =
            Document::default().text(format!("{sentence}\n")).then(terminal::explanation(&explained));
        Ok((json(&explanation_json(&sentence, &explained))?, tables.fitted(None)))
    })
}
