//! `millpond schema`: the JSON Schema of scenario files, and of each JSON that the command prints.

use super::coexistence::Coexistence;
use super::harm::{GroupHarms, Harms};
use super::papers::RecipeEntry;
use super::protocols::Catalogue;
use super::sweep::SweepMeans;
use super::trace::TraceStatistics;
use crate::args::{self, SchemaDocument};
use crate::failure::Outcome;
use crate::output::print;
use millpond_diagnosis::explain::{ExplanationJson, StabilityWithRunJson};
use millpond_evaluation::Evaluations;
use millpond_frontier::Frontier;
use millpond_papers::{CheckedPapers, RecipeReadings};
use millpond_results::{Comparison, DisturbanceComparison, EmulatedLink, Summary, Timing};
use millpond_sweep::SweepRecord;
use millpond_theory::StabilityOutputJson;
use millpond_theory::classification::EquilibriumOutputJson;
use millpond_theory::equilibrium::UtilityAllocationJson;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;
use std::process::ExitCode;

pub(crate) fn schema(args: &args::Schema) -> Outcome {
    print(format_args!("{:#}\n", schema_of(args.document)))?;
    Ok(ExitCode::SUCCESS)
}

fn schema_of(document: SchemaDocument) -> Value {
    match document {
        SchemaDocument::Scenario => millpond_scenario::schema(),
        SchemaDocument::Run => output_schema::<Summary>("millpond run --json"),
        SchemaDocument::Compare => output_schema::<Comparison>("millpond compare --json"),
        SchemaDocument::CompareHarm => output_schema::<GroupHarms>("millpond compare --harm --json"),
        SchemaDocument::Perturb => {
            output_schema::<DisturbanceComparison>("millpond compare --perturb --json")
        }
        SchemaDocument::Sweep => output_schema::<SweepMeans>("millpond sweep --json"),
        SchemaDocument::SweepRun => output_schema::<SweepRecord>("runs.jsonl of millpond sweep"),
        SchemaDocument::Timing => output_schema::<Timing>("timing.json"),
        SchemaDocument::Equilibrium => output_schema::<EquilibriumOutputJson>("millpond equilibrium --json"),
        SchemaDocument::Utility => {
            output_schema::<UtilityAllocationJson>("millpond equilibrium --utility --json")
        }
        SchemaDocument::Stability => output_schema::<StabilityOutputJson>("millpond stability --json"),
        SchemaDocument::StabilityWithRun => {
            output_schema::<StabilityWithRunJson>("millpond stability --with-run --json")
        }
        SchemaDocument::Explain => output_schema::<ExplanationJson>("millpond stability --explain --json"),
        SchemaDocument::Papers => output_schema::<CheckedPapers>("millpond papers check --json"),
        SchemaDocument::Recipes => output_schema::<Vec<RecipeEntry<'_>>>("millpond papers list --json"),
        SchemaDocument::Coexistence => output_schema::<Coexistence>("millpond coexistence --json"),
        SchemaDocument::Harm => output_schema::<Harms>("millpond coexistence --harm --json"),
        SchemaDocument::Frontier => output_schema::<Frontier>("millpond frontier --json"),
        SchemaDocument::Evaluate => output_schema::<Evaluations>("millpond evaluate --json"),
        SchemaDocument::Protocols => output_schema::<Catalogue>("millpond protocols --json"),
        SchemaDocument::Trace => output_schema::<TraceStatistics>("millpond trace stats --json"),
        SchemaDocument::Link => output_schema::<EmulatedLink>("millpond link --json"),
        SchemaDocument::Readings => output_schema::<Vec<RecipeReadings>>("millpond papers readings --json"),
    }
}

/// The JSON Schema (draft 2020-12) of what `T` is written as.
fn output_schema<T: JsonSchema>(title: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings =
        settings.with_transform(RecursiveTransform(close)).with_transform(RecursiveTransform(fill));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// Refuses properties that are not described.
fn close(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Joins the lines of a description, which are broken as in the source.
fn fill(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}
