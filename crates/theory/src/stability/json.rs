//! The schema of `millpond stability --json`. Keys carry their units.

use super::{
    CriticalValue, CriticalValueSearch, Differences, FlowChainGain, NamedThreshold, SideAnalysis, Stability,
    StabilityMap, TwoSided,
};
use crate::steady_state::{SteadyStateJson, steady_state_json};
use millpond_fluid::stability::{Crossing, Root};
use schemars::JsonSchema;
use serde::Serialize;

/// The stability of an equilibrium: `millpond stability --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StabilityJson {
    /// The result in a sentence.
    pub verdict: String,
    /// Whether all roots have negative real parts.
    pub stable: bool,
    /// What the laws do in the steady state.
    pub steady_state: SteadyStateJson,
    /// Why a root is at zero, in a sentence; null if none is.
    pub marginal: Option<String>,
    /// The rightmost roots, those with the greatest real part first.
    pub roots: Vec<RootJson>,
    /// No other root has a real part above this, in 1/s.
    pub no_other_root_right_of_per_s: f64,
    /// Gain margin as a factor; null if there is none.
    pub gain_margin: Option<MarginJson>,
    /// Phase margin, in rad; null if there is none.
    pub phase_margin_rad: Option<MarginJson>,
    /// Delay margin, in s; null if there is none.
    pub delay_margin_s: Option<MarginJson>,
    /// The factor by which the gain of all loops must fall for an unstable network to be stable; null if it is stable, or
    /// if no lower gain helps.
    pub gain_must_fall_to: Option<f64>,
    /// The factor by which all delays must fall for an unstable network to be stable; null if it is stable, or if no shorter
    /// delays help.
    pub delays_must_fall_to: Option<f64>,
    /// The amplification along each chain of loops whose relays hold data.
    pub chains: Vec<ChainGainJson>,
    /// The differences between the flows of each class of equal flows, whose roots are not among `roots`.
    pub differences: Vec<DifferencesJson>,
    /// Both linearizations if the equilibrium lies on a threshold of its laws; otherwise null. All other keys are those of the
    /// side that trajectories follow, except `boundaries`, which come from simulations. If trajectories cross the threshold,
    /// `stable` does, too, and roots and margins are those of the side whose disturbances decay most slowly.
    pub two_sided: Option<TwoSidedJson>,
    /// Critical values of the varied parameters.
    pub boundaries: Vec<CriticalValueJson>,
    /// The ranges that were searched for them.
    pub followed: Vec<SearchedRangeJson>,
    /// Stability over two parameters; null unless `--map` is given.
    pub map: Option<StabilityMapJson>,
}

/// An equilibrium on a threshold of its laws, at which the linearization jumps.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TwoSidedJson {
    /// The thresholds: names of switching functions, with the flows or links whose laws have them.
    pub thresholds: Vec<ThresholdJson>,
    /// For each threshold the side that trajectories of small disturbances follow: `below`, `above`, `both` if they cross it
    /// again and again, `either` if their start decides. Null if they could not be integrated.
    pub follows: Option<String>,
    /// Growth rate of these trajectories, in 1/s.
    pub growth_per_s: Option<f64>,
    /// Time from one upward crossing to the next, in s; null without crossings.
    pub period_s: Option<f64>,
    /// The linearization on each side.
    pub sides: Vec<SideJson>,
}

/// A switching function that is zero at the equilibrium.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThresholdJson {
    /// Its name.
    pub name: String,
    /// The flows or links whose laws have it.
    pub owners: Vec<String>,
}

/// The linearization on one side of each threshold.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SideJson {
    /// `below` or `above`, for each threshold.
    pub side: String,
    /// The rightmost roots, those with the greatest real part first.
    pub roots: Vec<RootJson>,
    /// Critical values of the varied parameters on this side.
    pub boundaries: Vec<CriticalValueJson>,
}

/// How a chain of loops amplifies an oscillation from its bottleneck to its source.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChainGainJson {
    /// Name of the flow.
    pub flow: String,
    /// Number of relays that hold data.
    pub relays: usize,
    /// The greatest amplification over one relay: amplitude of the rate before it over that after it.
    pub gain_per_hop: f64,
    /// Its frequency, in Hz.
    pub hop_frequency_hz: f64,
    /// The greatest amplification over all relays.
    pub gain: f64,
    /// Its frequency, in Hz.
    pub frequency_hz: f64,
}

/// How differences between equal flows decay or grow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DifferencesJson {
    /// Name of the flows.
    pub flows: String,
    /// Their number.
    pub count: usize,
    /// Real part of the rightmost root, in 1/s; null if it could not be computed.
    pub growth_per_s: Option<f64>,
    /// Its imaginary part, in rad/s.
    pub frequency_rad_per_s: Option<f64>,
}

/// A characteristic root with a non-negative imaginary part.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RootJson {
    /// Real part, in 1/s.
    pub growth_per_s: f64,
    /// Imaginary part, in rad/s.
    pub frequency_rad_per_s: f64,
    /// Multiplicity.
    pub multiplicity: usize,
}

/// A margin and the frequency at which it holds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MarginJson {
    /// The margin, in the unit of its key.
    pub margin: f64,
    /// Angular frequency, in rad/s.
    pub frequency_rad_per_s: f64,
}

/// A critical value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CriticalValueJson {
    /// Name of the parameter.
    pub of: String,
    /// Its value in the scenario: RTT in s, others in the unit in which they are written.
    pub now: f64,
    /// The critical value, in the same unit.
    pub critical: f64,
    /// Whether the network is stable below it.
    pub stable_below: bool,
}

/// The values of a parameter that were searched for critical values.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SearchedRangeJson {
    /// Name of the parameter.
    pub of: String,
    /// The lowest value, in the unit of `now` of a critical value.
    pub from: f64,
    /// The highest value, in the same unit.
    pub to: f64,
}

/// Stability over two parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StabilityMapJson {
    /// Name of the parameter on the horizontal axis.
    pub across: String,
    /// Its values, in the unit of `now` of a critical value.
    pub across_values: Vec<f64>,
    /// Name of the parameter on the vertical axis.
    pub up: String,
    /// Its values, in the same unit.
    pub up_values: Vec<f64>,
    /// Real part of the rightmost root in 1/s, a row for each vertical value; null where there is no equilibrium or no
    /// loop.
    pub growth_per_s: Vec<Vec<Option<f64>>>,
}

/// The JSON of a stability analysis, `sentence` being its result in a sentence.
#[must_use]
pub fn stability_json(
    sentence: &str,
    stability: &Stability,
    searches: &[CriticalValueSearch],
    map: Option<&StabilityMap>,
) -> StabilityJson {
    StabilityJson {
        verdict: sentence.to_owned(),
        stable: stability.disturbances_decay() && stability.zero_root.is_none(),
        steady_state: steady_state_json(&stability.steady_state()),
        marginal: stability.zero_root.as_ref().map(|zero| zero.reason.clone()),
        roots: stability.spectrum.roots.iter().map(root_json).collect(),
        no_other_root_right_of_per_s: stability.spectrum.complete_to,
        gain_margin: stability.margins.gain.map(margin_json),
        phase_margin_rad: stability.margins.phase.map(margin_json),
        delay_margin_s: stability.margins.delay.map(margin_json),
        gain_must_fall_to: stability.stabilizing_gain,
        delays_must_fall_to: stability.stabilizing_delay,
        chains: stability.chains.iter().filter_map(chain_json).collect(),
        differences: stability.differences.iter().map(differences_json).collect(),
        two_sided: stability.two_sided.as_ref().map(|two_sided| two_sided_json(two_sided, searches)),
        boundaries: searches.iter().flat_map(|search| &search.found).map(critical_value_json).collect(),
        followed: searches.iter().map(range_json).collect(),
        map: map.map(map_json),
    }
}

fn two_sided_json(two_sided: &TwoSided, searches: &[CriticalValueSearch]) -> TwoSidedJson {
    let side = |(index, analysis): (usize, &SideAnalysis)| SideJson {
        side: two_sided.side_name(analysis),
        roots: analysis.spectrum.roots.iter().map(root_json).collect(),
        boundaries: searches
            .iter()
            .filter_map(|search| search.sides.get(index))
            .flatten()
            .map(critical_value_json)
            .collect(),
    };
    let threshold = |threshold: &NamedThreshold| ThresholdJson {
        name: threshold.name.clone(),
        owners: threshold.owners.clone(),
    };
    let motion = two_sided.motion.as_ref().ok();
    TwoSidedJson {
        thresholds: two_sided.thresholds.iter().map(threshold).collect(),
        follows: two_sided.followed_name(),
        growth_per_s: motion.map(|motion| motion.growth),
        period_s: motion.and_then(|motion| motion.period),
        sides: two_sided.sides.iter().enumerate().map(side).collect(),
    }
}

fn chain_json(found: &FlowChainGain) -> Option<ChainGainJson> {
    let hop = found.greatest_hop()?;
    Some(ChainGainJson {
        flow: found.flow.clone(),
        relays: found.chain.hops.len(),
        gain_per_hop: hop.gain,
        hop_frequency_hz: hop.frequency,
        gain: found.chain.gain,
        frequency_hz: found.chain.frequency,
    })
}

fn differences_json(found: &Differences) -> DifferencesJson {
    DifferencesJson {
        flows: found.flows.clone(),
        count: found.count,
        growth_per_s: found.root.map(|root| root.s.re),
        frequency_rad_per_s: found.root.map(|root| root.s.im),
    }
}

fn root_json(root: &Root) -> RootJson {
    RootJson { growth_per_s: root.s.re, frequency_rad_per_s: root.s.im, multiplicity: root.multiplicity }
}

/// The JSON of a margin.
#[must_use]
pub fn margin_json(crossing: Crossing) -> MarginJson {
    MarginJson { margin: crossing.margin, frequency_rad_per_s: crossing.frequency }
}

fn critical_value_json(found: &CriticalValue) -> CriticalValueJson {
    CriticalValueJson {
        of: found.parameter.name(),
        now: found.current,
        critical: found.value,
        stable_below: found.stable_below,
    }
}

fn range_json(search: &CriticalValueSearch) -> SearchedRangeJson {
    SearchedRangeJson { of: search.parameter.name(), from: search.range.low, to: search.range.high }
}

fn map_json(map: &StabilityMap) -> StabilityMapJson {
    StabilityMapJson {
        across: map.horizontal.parameter.name(),
        across_values: map.horizontal.values.clone(),
        up: map.vertical.parameter.name(),
        up_values: map.vertical.values.clone(),
        growth_per_s: map.growth_rates.clone(),
    }
}
