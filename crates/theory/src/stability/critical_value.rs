//! Critical values: where stability ends when a parameter is varied.

use super::analysis::{LinearAnalysis, check_no_jump};
use super::differences::growth_of_differences;
use super::parameter::VariedParameter;
use super::two_sided::{SideAnalysis, linearizations};
use crate::equilibrium::{find_equilibrium, longest_rtt};
use crate::{AnalysisError, Study};
use millpond_fluid::stability::{
    BoundarySearch, Growth, RootError, Side, StabilityBoundary, System, decays, rightmost, search_boundaries,
};

/// Boundaries of trajectories about a threshold are searched up to this factor beyond those of its sides.
const BESIDE: f64 = 1.5;

/// A value of a parameter at which stability changes.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalValue {
    /// The varied parameter.
    pub parameter: VariedParameter,
    /// Its value in the scenario.
    pub current: f64,
    /// The value at which a root crosses the imaginary axis; of the number of flows the nearest one that is stable.
    pub value: f64,
    /// Whether the network is stable below it.
    pub stable_below: bool,
}

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRange {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// The result of a search for critical values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalValueSearch {
    /// The varied parameter.
    pub parameter: VariedParameter,
    /// Its value in the scenario.
    pub current: f64,
    /// The nearest critical values, above and below.
    pub found: Vec<CriticalValue>,
    /// The values that were searched.
    pub range: ValueRange,
    /// The critical values of the linearization on each side of a threshold, in the order of
    /// [`TwoSided::sides`](super::TwoSided::sides); empty if the equilibrium lies on none.
    pub sides: Vec<Vec<CriticalValue>>,
}

/// Finds the critical values nearest to the current value, above and below. The equilibrium is computed again for each
/// value; values up to a hundred times larger and smaller are searched.
///
/// If the equilibrium lies on a threshold, they are found by simulation, near those of its sides: trajectories that begin to
/// oscillate cross the threshold.
///
/// # Errors
/// The stability of the scenario itself cannot be analyzed.
pub fn find_critical_values(
    study: Study<'_>,
    parameter: &VariedParameter,
) -> Result<CriticalValueSearch, AnalysisError> {
    let plan = study.plan_steady_state()?;
    let equilibrium = find_equilibrium(&plan)?;
    check_no_jump(&equilibrium)?;
    let two_sided = LinearAnalysis::of(&equilibrium)?.two_sided;
    let current = parameter.current_value(study, longest_rtt(&plan));
    let search = ParameterSearch { study, parameter, current };
    let Some(two_sided) = two_sided else {
        return Ok(search.result(search.boundaries(None), Vec::new()));
    };
    let side = |side: &SideAnalysis| search.boundaries(Some(&side.sides));
    let sides: Vec<[BoundarySearch; 2]> = two_sided.sides.iter().map(side).collect();
    let main = search.simulated(&sides);
    let of_sides = sides.iter().map(|found| search.values(*found)).collect();
    Ok(search.result(main, of_sides))
}

/// A search for the critical values of a parameter.
struct ParameterSearch<'a> {
    study: Study<'a>,
    parameter: &'a VariedParameter,
    current: f64,
}

impl ParameterSearch<'_> {
    /// What `analyze` finds at this multiple of the current value.
    fn at<T>(&self, factor: f64, analyze: impl Fn(Study<'_>) -> Result<T, AnalysisError>) -> Option<T> {
        let scenario = self.parameter.scaled(self.study.scenario, self.current, factor);
        analyze(self.study.with_scenario(&scenario)).ok()
    }

    /// Boundaries of the linearization on these sides, or on all.
    fn boundaries(&self, sides: Option<&[Side]>) -> [BoundarySearch; 2] {
        search_boundaries(1.0, GrowthOnSides { search: self, sides })
    }

    /// Boundaries of simulated trajectories about a threshold, by bisection around those of the sides.
    fn simulated(&self, sides: &[[BoundarySearch; 2]]) -> [BoundarySearch; 2] {
        [true, false].map(|is_up| {
            let index = usize::from(!is_up);
            let found = sides.iter().filter_map(|both| both[index].boundary).map(|boundary| boundary.value);
            let searched = sides.iter().map(|both| both[index].to);
            let to = if is_up { searched.fold(1.0, f64::max) } else { searched.fold(1.0, f64::min) };
            let (low, high) =
                found.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
            if low > high {
                return BoundarySearch { boundary: None, to };
            }
            let (near, far) = if is_up {
                ((low / BESIDE).max(1.0), high * BESIDE)
            } else {
                ((high * BESIDE).min(1.0), low / BESIDE)
            };
            self.bisect(near, far).unwrap_or(BoundarySearch { boundary: None, to: far })
        })
    }

    /// The boundary between two multiples of the current value; none if both are stable or both unstable.
    fn bisect(&self, near: f64, far: f64) -> Option<BoundarySearch> {
        const HALVINGS: u32 = 10;
        let grows = |factor: f64| Some(self.at(factor, simulated_growth_rate)? >= 0.0);
        let (mut here, mut there) = (near, far);
        let grows_here = grows(here)?;
        if grows(there)? == grows_here {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = (here * there).sqrt();
            if grows(middle)? == grows_here { here = middle } else { there = middle }
        }
        let value = (here * there).sqrt();
        let stable_below = grows_here != (near < far);
        Some(BoundarySearch { boundary: Some(StabilityBoundary { value, stable_below }), to: value })
    }

    fn values(&self, found: [BoundarySearch; 2]) -> Vec<CriticalValue> {
        let critical = |found: StabilityBoundary| CriticalValue {
            parameter: self.parameter.clone(),
            current: self.current,
            value: self.parameter.at_boundary(self.study.scenario, self.current, found),
            stable_below: found.stable_below,
        };
        found.iter().filter_map(|way| way.boundary).map(critical).collect()
    }

    fn result(&self, found: [BoundarySearch; 2], sides: Vec<Vec<CriticalValue>>) -> CriticalValueSearch {
        let Self { parameter, current, .. } = self;
        let [up, down] = &found;
        let end = |way: &BoundarySearch| match way.boundary {
            Some(found) => parameter.at_boundary(self.study.scenario, *current, found),
            None => parameter.at_least_one(current * way.to),
        };
        let range = ValueRange { low: end(down), high: end(up) };
        let found = self.values(found);
        CriticalValueSearch { parameter: (*parameter).clone(), current: *current, found, range, sides }
    }
}

/// The growth at multiples of the current value, on these sides of thresholds or on all.
struct GrowthOnSides<'a> {
    search: &'a ParameterSearch<'a>,
    sides: Option<&'a [Side]>,
}

impl Growth for GrowthOnSides<'_> {
    fn rate(&mut self, factor: f64) -> Option<f64> {
        self.search.at(factor, |study| growth_of(study, self.sides))
    }

    fn decays(&mut self, factor: f64) -> Option<bool> {
        self.search.at(factor, |study| {
            let Some(found) = linearizations_of(study, self.sides)? else { return Ok(false) };
            let mut decay = found.systems.iter().map(decays);
            let all = decay.try_fold(true, |all, decays| Ok::<_, RootError>(all && decays?))?;
            Ok(all && found.growth_of_differences < 0.0)
        })
    }
}

/// The real part of the rightmost root that is not zero, in 1/s, that of differences between equal flows included; infinite at a
/// jump, where the network has a limit cycle. On a threshold, the greater of both sides.
pub(super) fn rightmost_growth_rate(study: Study<'_>) -> Result<f64, AnalysisError> {
    growth_of(study, None)
}

/// The same on these sides of the thresholds on which the equilibrium lies, or on all.
fn growth_of(study: Study<'_>, sides: Option<&[Side]>) -> Result<f64, AnalysisError> {
    let Some(found) = linearizations_of(study, sides)? else { return Ok(f64::INFINITY) };
    let mut greatest = found.growth_of_differences;
    for system in &found.systems {
        greatest = greatest.max(rightmost(system)?.rightmost_nonzero());
    }
    Ok(greatest)
}

/// The equations whose roots decide on stability.
struct Linearizations {
    /// One for each combination of sides.
    systems: Vec<System>,
    /// The greatest growth rate of differences between equal flows; minus infinity on a threshold, where differences put flows
    /// on both sides of it.
    growth_of_differences: f64,
}

/// The linearizations on these sides of the thresholds on which the equilibrium lies, or on all; none at a jump.
fn linearizations_of(
    study: Study<'_>,
    sides: Option<&[Side]>,
) -> Result<Option<Linearizations>, AnalysisError> {
    let plan = study.plan_steady_state()?;
    let equilibrium = find_equilibrium(&plan)?;
    if !equilibrium.frozen.sliding().is_empty() {
        return Ok(None);
    }
    let found = linearizations(&equilibrium);
    let growth_of_differences = match &found[..] {
        [only] => growth_of_differences(&plan, &only.linear)?,
        _ => f64::NEG_INFINITY,
    };
    let counts = |found: &[Side]| sides.is_none_or(|sides| found.len() != sides.len() || found == sides);
    let counted = found.into_iter().filter(|found| counts(&found.sides));
    let systems = counted.map(|found| found.linear.system).collect();
    Ok(Some(Linearizations { systems, growth_of_differences }))
}

/// The growth rate of small disturbances in a simulation, in 1/s; that of the roots if the equilibrium lies on no threshold.
fn simulated_growth_rate(study: Study<'_>) -> Result<f64, AnalysisError> {
    let plan = study.plan_steady_state()?;
    let equilibrium = find_equilibrium(&plan)?;
    check_no_jump(&equilibrium)?;
    let linear = LinearAnalysis::of(&equilibrium)?;
    match linear.two_sided.map(|two_sided| two_sided.motion) {
        Some(Ok(motion)) => Ok(motion.growth),
        _ => Ok(linear.spectrum.rightmost_nonzero()),
    }
}
