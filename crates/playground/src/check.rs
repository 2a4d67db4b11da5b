//! Faults, drawing, sliders and effort of a scenario.

use crate::drawing::drawing;
use crate::effort::Effort;
use crate::faults::{self, PlacedFault};
use crate::job::Job;
use crate::sliders::{Slider, raise_base_rtts, sliders};
use crate::written;
use millpond_plan::{fluid, packets};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use serde::Serialize;

/// The answer to `POST /api/check`.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    /// What is wrong; empty if nothing is.
    pub(crate) faults: Vec<PlacedFault>,
    /// Warnings, one sentence each.
    pub(crate) warnings: Vec<String>,
    /// Why the fluid world cannot run it; empty if it can.
    pub(crate) fluid: Vec<PlacedFault>,
    /// What the scenario has: flows, links and protocols, in a sentence.
    pub(crate) outline: String,
    /// The network as SVG; empty if the text cannot be read.
    pub(crate) drawing: String,
    pub(crate) sliders: Vec<Slider>,
    pub(crate) effort: Effort,
}

/// Checks the scenario of a job. Sliders are those of any TOML text whose overrides can be applied.
pub(crate) fn check(job: &Job, registry: &Registry) -> Checked {
    let mut checked = Checked {
        faults: Vec::new(),
        warnings: Vec::new(),
        fluid: Vec::new(),
        outline: String::new(),
        drawing: String::new(),
        sliders: written_sliders(job, registry),
        effort: Effort::default(),
    };
    match job.scenario(registry) {
        Ok(scenario) => checked.plan(&scenario, registry),
        Err(faults) => checked.faults = faults,
    }
    checked
}

impl Checked {
    /// Adds what the scenario and its plans tell.
    fn plan(&mut self, scenario: &Scenario, registry: &Registry) {
        self.drawing = drawing(scenario);
        raise_base_rtts(&mut self.sliders, scenario);
        self.effort = Effort::of(scenario);
        match packets::check(scenario, registry) {
            Ok(found) => (self.warnings, self.outline) = (found.warnings, found.outline),
            Err(found) => self.faults = faults::placed(&found),
        }
        let plan = fluid::plan(scenario, registry);
        let checked = plan.and_then(|plan| fluid::check_method(scenario, &plan));
        if let Err(found) = checked {
            self.fluid = faults::placed(&found);
        }
    }
}

fn written_sliders(job: &Job, registry: &Registry) -> Vec<Slider> {
    let Ok(original) = written::document(&job.edited.text) else { return Vec::new() };
    let mut changed = original.clone();
    for one in &job.edited.overrides {
        if written::replace(&mut changed, one).is_err() {
            return Vec::new();
        }
    }
    sliders(&original, &changed, registry)
}
