//! A scenario with the registry of its protocols.

use crate::AnalysisError;
use millpond_plan::fluid::{self, FluidPlan};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;

/// A scenario with the registry of its protocols: together they determine the fluid equations.
#[derive(Clone, Copy)]
pub struct Study<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The registry in which the protocols of the scenario are looked up.
    pub registry: &'a Registry,
}

impl<'a> Study<'a> {
    /// The study of `scenario` under the protocols of `registry`.
    #[must_use]
    pub fn new(scenario: &'a Scenario, registry: &'a Registry) -> Self {
        Self { scenario, registry }
    }

    /// The fluid equations of the scenario.
    ///
    /// # Errors
    /// The scenario is wrong, or its equations cannot represent it.
    pub fn plan(&self) -> Result<FluidPlan, AnalysisError> {
        Ok(fluid::plan(self.scenario, self.registry)?)
    }

    /// The fluid equations after the last start, in which flows that differ only in their start are one class.
    ///
    /// # Errors
    /// Those of [`Self::plan`].
    pub fn plan_steady_state(&self) -> Result<FluidPlan, AnalysisError> {
        Ok(fluid::plan_steady_state(self.scenario, self.registry)?)
    }

    /// The study of a changed scenario under the same registry.
    #[must_use]
    pub fn with_scenario<'b>(&self, scenario: &'b Scenario) -> Study<'b>
    where
        'a: 'b,
    {
        Study { scenario, registry: self.registry }
    }
}
