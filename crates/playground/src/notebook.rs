//! A notebook that runs the scenario with the Python package and draws the same figures.

use crate::job::Job;
use serde_json::{Value, json};

/// The notebook, or the faults of the scenario.
pub(crate) fn answer(job: &Job) -> Value {
    match job.scenario() {
        Ok(scenario) => notebook(job, &scenario.title),
        Err(faults) => json!({ "faults": faults }),
    }
}

fn notebook(job: &Job, title: &str) -> Value {
    let run = "packets = scenario.run()\npackets.plot.rates()";
    let fluid = "fluid = scenario.run(world=\"fluid\")\nfluid.plot.rates()";
    let cells = [
        markdown(&format!(
            "# {title}\n\nMade by the playground of Millpond. It needs the package `millpond` with Matplotlib."
        )),
        code(&format!(
            "import millpond\n\nscenario = millpond.Scenario.parse({})",
            python_text(&job.edited.text)
        )),
        code(&overrides(&job.edited.overrides)),
        code(run),
        code("packets.plot.queue()"),
        code("packets.plot.ccdf()"),
        code(fluid),
        code("fluid.plot.queue()"),
        code("stability = scenario.stability()\nprint(stability.verdict)\nstability.plot.nyquist()"),
    ];
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

fn markdown(source: &str) -> Value {
    json!({ "cell_type": "markdown", "metadata": {}, "source": source })
}

fn code(source: &str) -> Value {
    json!({ "cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [], "source": source })
}

/// The changes by sliders as one call, so that they are checked together.
fn overrides(overrides: &[String]) -> String {
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
