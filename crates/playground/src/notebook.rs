//! A notebook that runs the scenario with the Python package and draws the same figures.

use crate::job::Job;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use serde_json::{Value, json};

/// The notebook, or the faults of the scenario.
pub(crate) fn answer(job: &Job, registry: &Registry) -> Value {
    match job.scenario(registry) {
        Ok(scenario) => notebook(job, &scenario.title, fluid::plan(&scenario, registry).is_ok()),
        Err(faults) => json!({ "faults": faults }),
    }
}

/// The cells: scenario, changes, the run in packets; with equations also the fluid run and the stability.
fn notebook(job: &Job, title: &str, has_equations: bool) -> Value {
    let introduction = format!(
        "# {title}\n\nMade by the playground of Millpond. It needs the package `millpond` with Matplotlib. Paths of traces are \
         relative to the folder of the notebook."
    );
    let parse = format!("scenario = millpond.Scenario.parse({})", python_text(&job.edited.text));
    let mut cells = vec![
        markdown(&introduction),
        code(&format!("import millpond\n\n{parse}")),
        code(&changes(&job.edited.overrides)),
        code("packets = scenario.run()\npackets.plot.rates()"),
        code("packets.plot.queue()"),
        code("packets.plot.ccdf()"),
    ];
    if has_equations {
        cells.push(code("fluid = scenario.run(world=\"fluid\")\nfluid.plot.rates()"));
        cells.push(code("fluid.plot.queue()"));
        cells.push(code(STABILITY));
    }
    json!({
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": { "name": "python3", "display_name": "Python 3", "language": "python" },
            "language_info": { "name": "python" },
        },
        "cells": cells.into_iter().enumerate().map(numbered).collect::<Vec<_>>(),
    })
}

/// The cell with an identifier, which the format demands.
fn numbered((index, mut cell): (usize, Value)) -> Value {
    cell["id"] = json!(format!("cell-{index}"));
    cell
}

/// A network that oscillates has no loci.
const STABILITY: &str = "stability = scenario.stability()
print(stability.verdict)
stability.plot.nyquist() if stability.loci else None";

fn markdown(source: &str) -> Value {
    json!({ "cell_type": "markdown", "metadata": {}, "source": source })
}

fn code(source: &str) -> Value {
    json!({ "cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [], "source": source })
}

/// The changes by sliders as one call, so that they are checked together.
fn changes(overrides: &[String]) -> String {
    let pair = |one: &String| {
        let (key, value) = one.split_once('=')?;
        Some(format!("    {}: {},\n", python_text(key.trim()), python_text(value.trim())))
    };
    let pairs: String = overrides.iter().filter_map(pair).collect();
    if pairs.is_empty() {
        "scenario".to_owned()
    } else {
        format!("scenario = scenario.set({{\n{pairs}}})\nscenario")
    }
}

/// A text as a literal of Python: JSON's escapes are Python's, but those of characters beyond 16 bits, which JSON does not
/// escape here.
fn python_text(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Task;
    use crate::requests::Edited;
    use crate::shipped;

    fn cells(name: &str, overrides: &[&str]) -> Vec<String> {
        let text = shipped::scenarios().into_iter().find(|one| one.name == name).unwrap().text;
        let edited = Edited { text, overrides: overrides.iter().map(|one| (*one).to_owned()).collect() };
        let job = Job { task: Task::Notebook, edited, folder: std::env::temp_dir(), width: 0 };
        let notebook = answer(&job, &Registry::builtin());
        let cells = notebook["cells"].as_array().unwrap().iter();
        cells.map(|cell| cell["source"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_notebook_has_the_text_the_changes_and_the_fluid_world_if_there_are_equations() {
        let changed = cells("dumbbell", &["dumbbell.bottleneck.rate=5Mbps", "duration = 20s"]);
        let set = "scenario = scenario.set({\n    \"dumbbell.bottleneck.rate\": \"5Mbps\",\n    \"duration\": \"20s\",\n})\nscenario";
        assert_eq!(changed[2], set);
        assert!(changed[1].contains("parse(\"#:schema scenario.schema.json\\n"), "{}", changed[1]);
        assert!(changed.concat().contains("world=\"fluid\""));
        let without = cells("lossy-radio", &[]);
        assert!(!without.concat().contains("fluid") && without[2] == "scenario", "{without:?}");
    }

    #[test]
    fn a_text_is_a_literal_of_python() {
        assert_eq!(python_text("a\"b\\\nc\u{1}\u{1d11e}"), "\"a\\\"b\\\\\\nc\\u0001\u{1d11e}\"");
    }
}
