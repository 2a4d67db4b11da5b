//! Difference equations of papers, iterated as printed: without packets, and with steps as time.

mod aimd;
mod chain;
mod competition;
mod marking;
mod phase_plane;
mod tree;
mod tree_over_time;
mod user_estimate;
mod windows;

use millpond_results::{EntityKind, Run, Series, Summary};
use serde::Deserialize;

/// A difference equation with its parameters; `law` names it in recipes.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum Recurrence {
    /// ABC's windows on a full link, section III of the LGCC paper.
    Abc(windows::Windows),
    /// Logistic growth on a full link, Eq. (5) of the LGCC paper.
    Logistic(windows::Windows),
    /// Deflated logistic growth on a full link, Eq. (14) of the LGCC paper.
    LogisticDeflated(windows::Windows),
    /// Flows of LGC that join and leave a link, Eqs. (5) and (6) of the LGCC paper.
    Competition(competition::Competition),
    /// Chained loops, Eqs. (14) to (16) and (18) of the LGCC paper.
    Chain(chain::Chain),
    /// The marking probability in equilibrium over the number of flows, Eqs. (8) and (22) of the LGCC paper.
    EquilibriumMarking(marking::EquilibriumMarking),
    /// The eigenvalues of an aggregation tree, Theorem 8.2 of the LGCC paper.
    AggregationTree(tree::AggregationTree),
    /// An aggregation tree over time, Theorem 8.1 of the LGCC paper.
    AggregationTreeOverTime(tree_over_time::TreeOverTime),
    /// Trajectories of excess and queue, Eqs. (19) and (20) of the ACP paper.
    ExcessAndQueue(phase_plane::PhasePlane),
    /// The estimated number of users, Eq. (8) and Theorem 1 of the ACP paper.
    UserEstimate(user_estimate::UserEstimate),
    /// Additive increase, multiplicative decrease in the model of Chiu and Jain, appendix of the MCP paper.
    Aimd(aimd::Aimd),
    /// The bound of its fairness, Eq. (12) of the MCP paper.
    FairnessBound(aimd::FairnessBound),
}

/// The order in which a price and the rates that depend on it are updated in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UpdateOrder {
    /// The price is updated first, and rates depend on the new price (Gauss-Seidel).
    #[default]
    PriceFirst,
    /// Both depend on the values of the previous step (Jacobi).
    BothOld,
}

impl UpdateOrder {
    /// The price on which rates depend.
    fn price(self, old: f64, new: f64) -> f64 {
        match self {
            Self::PriceFirst => new,
            Self::BothOld => old,
        }
    }
}

/// The largest number of values that a recurrence may compute.
const MAX_VALUES: u64 = 10_000_000;

impl Recurrence {
    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// A parameter is out of range, or there are too many values.
    pub fn check(self) -> Result<Self, String> {
        let values = match &self {
            Self::Abc(law) | Self::Logistic(law) | Self::LogisticDeflated(law) => law.values(),
            Self::Competition(law) => law.check()?,
            Self::Chain(law) => law.values(),
            Self::EquilibriumMarking(law) => u64::from(law.steps),
            Self::AggregationTree(law) => law.check()?,
            Self::AggregationTreeOverTime(law) => law.check()?,
            Self::ExcessAndQueue(law) => law.check()?,
            Self::UserEstimate(law) => law.values(),
            Self::Aimd(law) => law.check()?,
            Self::FairnessBound(law) => u64::from(law.steps),
        };
        if values <= MAX_VALUES { Ok(self) } else { Err(format!("more than {MAX_VALUES} values")) }
    }

    /// What the times of the run count, with the unit.
    pub fn time_axis(&self) -> &'static str {
        match self {
            Self::AggregationTreeOverTime(_) | Self::ExcessAndQueue(_) => "time, s",
            Self::EquilibriumMarking(_) => "number of flows or links",
            Self::AggregationTree(_) => "index of beta",
            Self::Aimd(_) => "peak",
            Self::FairnessBound(_) => "cycle",
            _ => "step",
        }
    }

    /// Iterates the equation: a run whose times are steps, or what [`Self::time_axis`] says.
    pub fn run(&self, label: &str) -> Run {
        let series = match self {
            Self::Abc(law) => law.series(windows::Law::Abc),
            Self::Logistic(law) => law.series(windows::Law::Logistic),
            Self::LogisticDeflated(law) => law.series(windows::Law::LogisticDeflated),
            Self::Competition(law) => law.series(),
            Self::Chain(law) => law.series(),
            Self::EquilibriumMarking(law) => law.series(),
            Self::AggregationTree(law) => law.series(),
            Self::AggregationTreeOverTime(law) => law.series(),
            Self::ExcessAndQueue(law) => law.series(),
            Self::UserEstimate(law) => law.series(),
            Self::Aimd(law) => law.series(),
            Self::FairnessBound(law) => law.series(),
        };
        Run {
            label: label.to_owned(),
            summary: Summary { scenario: label.to_owned(), world: "recurrence".into(), ..Summary::default() },
            series,
            ..Run::default()
        }
    }
}

/// A series of values at steps 0, 1, ...
fn series(kind: EntityKind, entity: impl ToString, quantity: &str, unit: &str, values: Vec<f64>) -> Series {
    let times = (0_u32..).map(f64::from).take(values.len()).collect();
    Series { kind, entity: entity.to_string(), quantity: quantity.into(), unit: unit.into(), times, values }
}

/// The transpose of a table with a row per step: a list of values over time for each column.
fn columns(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|i| rows.iter().filter_map(|row| row.get(i).copied()).collect()).collect()
}
