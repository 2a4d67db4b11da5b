//! Stability of an equilibrium, and where it ends when a parameter is varied.

mod analysis;
mod axis;
mod critical_value;
mod differences;
mod json;
mod limit_cycle;
mod map;
mod parameter;
mod sentence;
mod two_sided;

pub use analysis::{FlowChainGain, Stability, ZeroRoot, ZeroRootKind, analyze_linear, analyze_stability};
pub(crate) use analysis::{LinearAnalysis, chains};
pub use axis::ParameterAxis;
pub use critical_value::{CriticalValue, CriticalValueSearch, ValueRange, find_critical_values};
pub use differences::Differences;
pub use json::{
    CriticalValueJson, DifferencesJson, MarginJson, RootJson, SearchedRangeJson, StabilityJson,
    StabilityMapJson, margin_json, stability_json,
};
pub(crate) use limit_cycle::{JumpLimitCycle, limit_cycle_of};
pub use map::{StabilityMap, compute_stability_map};
pub use parameter::VariedParameter;
pub use sentence::stability_sentence;
pub use two_sided::{NamedThreshold, SideAnalysis, TwoSided};
