//! Initial conditions of trajectories, as typed.

use super::observable::{Observable, Observables};
use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::motion::Component;
use millpond_fluid::{Entity, StateBounds};
use millpond_units::{Bytes, Rate, Span};

/// Initial values of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct InitialValues {
    /// The quantity.
    pub observable: Observable,
    /// Its values from low to high, in the units of the equations.
    pub values: Vec<f64>,
}

/// All combinations of initial values of some quantities. All other quantities start at the equilibrium.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialConditions {
    /// The initial values of each of these quantities.
    pub quantities: Vec<InitialValues>,
}

impl InitialConditions {
    /// Reads `grid`, or `x=0..2Mbps,q=0..100kB` with `points` values in each range. Quantities of `plane` that the text does
    /// not name get a range about the equilibrium.
    ///
    /// # Errors
    /// The text cannot be read, or a value is out of its bounds.
    pub fn parse(
        text: &str,
        points: usize,
        plane: &[&Observable],
        observables: &Observables<'_>,
    ) -> Result<Self, String> {
        let parts = text.split(',').filter(|_| text.trim() != "grid");
        let mut quantities =
            parts.map(|part| parse_part(part, points, observables)).collect::<Result<Vec<_>, _>>()?;
        for axis in plane {
            if !quantities.iter().any(|given| given.observable.name == axis.name) {
                let (low, high) = default_range(observables.equilibrium, axis)?;
                let values = linear_values(low, high, points);
                quantities.push(InitialValues { observable: (*axis).clone(), values });
            }
        }
        // States come first: the queues of links determine the rates of windows.
        quantities.sort_by_key(|given| matches!(given.observable.component, Component::Channel(_)));
        Ok(Self { quantities })
    }

    /// The distance from the lowest to the highest initial value of a quantity; none if it has a single one.
    #[must_use]
    pub fn range(&self, observable: &Observable) -> Option<f64> {
        let found = self.quantities.iter().find(|given| given.observable.name == observable.name)?;
        let range = found.values.last()? - found.values.first()?;
        (range > 0.0).then_some(range)
    }

    /// The states of every combination.
    ///
    /// # Errors
    /// A quantity that no state determines.
    pub fn states(&self, equilibrium: &PlanEquilibrium<'_>) -> Result<Vec<Vec<f64>>, String> {
        let state = |given: &InitialValues| match given.observable.component {
            Component::State(index) => Some(index),
            Component::Channel(_) => None,
        };
        let fixed: Vec<usize> = self.quantities.iter().filter_map(state).collect();
        let mut found = vec![equilibrium.point.x.clone()];
        for given in &self.quantities {
            let each = |x: &Vec<f64>| -> Result<Vec<Vec<f64>>, String> {
                let set = |value: &f64| set_value(equilibrium, x.clone(), &given.observable, *value, &fixed);
                given.values.iter().map(set).collect()
            };
            found = found.iter().map(each).collect::<Result<Vec<_>, _>>()?.concat();
        }
        Ok(found)
    }
}

/// Whether the text means a single initial condition.
#[must_use]
pub fn is_single_condition(text: &str) -> bool {
    text.trim() != "grid" && !text.contains("..")
}

/// Reads `x=0..2Mbps` or `x=1Mbps`.
fn parse_part(part: &str, points: usize, observables: &Observables<'_>) -> Result<InitialValues, String> {
    let usage = || {
        format!(
            "\"{part}\": write grid, or ranges such as x=0..2Mbps,q=0..100kB, or single values such as x=1Mbps"
        )
    };
    let (name, range) = part.split_once('=').ok_or_else(usage)?;
    let observable = observables.find(name)?;
    let center = observable.equilibrium_value(observables.equilibrium);
    let (low, high) = range.split_once("..").unwrap_or((range, range));
    let end =
        |text: &str| parse_value(text, &observable, center).ok_or_else(|| expected_value(text, &observable));
    let (low, high) = (end(low)?, end(high)?);
    if low > high {
        return Err(format!("\"{part}\": write the lower end first"));
    }
    check_bounds(observables.equilibrium, &observable, low, high)?;
    Ok(InitialValues { values: linear_values(low, high, points), observable })
}

/// `points` values at equal distances from low to high; a single one if the ends are equal.
fn linear_values(low: f64, high: f64, points: usize) -> Vec<f64> {
    if low >= high || points < 2 {
        return vec![low];
    }
    // Some tens of points.
    #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
    let part = |point: usize| point as f64 / (points - 1) as f64;
    (0..points).map(|point| low + (high - low) * part(point)).collect()
}

/// Reads a value with its unit, a percentage of the equilibrium value, or a plain number in the shown unit. A rate above zero
/// needs a unit, because rates are shown in Mbit/s and computed in bit/s.
fn parse_value(text: &str, observable: &Observable, center: f64) -> Option<f64> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return percent
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|p| p.is_finite())
            .map(|percent| percent / 100.0 * center);
    }
    let is_clear = |value: &f64| value.is_finite() && (observable.unit != "bit/s" || *value <= 0.0);
    let plain = text.parse::<f64>().ok().filter(is_clear);
    plain.map(|value| value / observable.scale).or_else(|| match observable.unit {
        "bit/s" => text.parse::<Rate>().ok().map(Rate::as_f64),
        "packets" => match text.strip_suffix("packets") {
            Some(count) => count.trim().parse::<f64>().ok().map(|count| count / observable.scale),
            None => text.parse::<Bytes>().ok().map(|bytes| bytes.as_f64() * 8.0),
        },
        "ms" => text.parse::<Span>().ok().map(Span::secs),
        _ => None,
    })
}

fn expected_value(text: &str, observable: &Observable) -> String {
    let examples = match observable.unit {
        "bit/s" => "a rate such as 2Mbps",
        "packets" => "a size such as 100kB or 100packets",
        "ms" => "a time such as 20ms",
        _ => "a number",
    };
    format!(
        "\"{}\" is no value of {}: expected {examples}, or a share of the equilibrium value such as 50%",
        text.trim(),
        observable.name
    )
}

/// The bounds of a quantity, in the units of the equations.
fn bounds(equilibrium: &PlanEquilibrium<'_>, observable: &Observable) -> StateBounds {
    match observable.component {
        Component::State(index) => equilibrium.frozen.bounds()[index],
        Component::Channel(_) => StateBounds { lower: 0.0, upper: f64::INFINITY },
    }
}

fn check_bounds(
    equilibrium: &PlanEquilibrium<'_>,
    observable: &Observable,
    low: f64,
    high: f64,
) -> Result<(), String> {
    let StateBounds { lower: least, upper: most } = bounds(equilibrium, observable);
    if low >= least && high <= most {
        return Ok(());
    }
    let most = if most.is_finite() {
        format!(" and at most {}", observable.format_value(most))
    } else {
        String::new()
    };
    Err(format!("{} is at least {}{most}", observable.name, observable.format_value(least)))
}

/// From a fifth of the equilibrium value to twice this value; of a queue from empty to at least half the bandwidth-delay
/// product.
fn default_range(equilibrium: &PlanEquilibrium<'_>, observable: &Observable) -> Result<(f64, f64), String> {
    const LOW: f64 = 0.2;
    let center = observable.equilibrium_value(equilibrium);
    let StateBounds { lower: least, upper: most } = bounds(equilibrium, observable);
    let (low, high) = match observable.entity {
        Entity::Link(link) if observable.quantity == "queue" => {
            let longest = equilibrium.plan.loops.iter().map(|l| l.facts.base_rtt).fold(0.0, f64::max);
            let half = equilibrium.frozen.capacity(link) * longest / 2.0;
            (0.0, half.max(2.0 * center))
        }
        _ if center > 0.0 => (LOW * center, 2.0 * center),
        _ if center < 0.0 => (2.0 * center, LOW * center),
        _ => {
            return Err(format!(
                "{0} is zero at the equilibrium; give its initial range, such as --from {0}=0..1",
                observable.name
            ));
        }
    };
    Ok((low.max(least), high.min(most)))
}

/// The states with one quantity changed. A state is set itself. For a channel the first free state of its entity, or of a
/// link, that determines it is solved for; states in `fixed` and queues are not free.
fn set_value(
    equilibrium: &PlanEquilibrium<'_>,
    mut x: Vec<f64>,
    observable: &Observable,
    value: f64,
    fixed: &[usize],
) -> Result<Vec<f64>, String> {
    let channel = match observable.component {
        Component::State(index) => {
            x[index] = value;
            return Ok(x);
        }
        Component::Channel(channel) => channel,
    };
    let columns = equilibrium.plan.assembly.state_columns();
    let is_free = |state: &usize| !fixed.contains(state) && columns[*state].quantity != "queue";
    let (own, others): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).filter(is_free).partition(|state| columns[*state].entity == observable.entity);
    let links = others.into_iter().filter(|state| matches!(columns[*state].entity, Entity::Link(_)));
    let mut found = own
        .into_iter()
        .chain(links)
        .filter_map(|state| solve_for_state(equilibrium, &x, (state, channel), value));
    found.next().ok_or_else(|| {
        let states = super::observable::observables(equilibrium.plan).into_iter();
        let states = states.filter(|one| matches!(one.component, Component::State(_))).map(|one| one.name);
        format!(
            "{} cannot start at {}: it is a function of other quantities; start from {}",
            observable.name,
            observable.format_value(value),
            states.collect::<Vec<_>>().join(", ")
        )
    })
}

/// The states with one state changed so that a channel has this value, by the secant method.
fn solve_for_state(
    equilibrium: &PlanEquilibrium<'_>,
    x: &[f64],
    (state, channel): (usize, usize),
    value: f64,
) -> Option<Vec<f64>> {
    const ROUNDS: usize = 60;
    let StateBounds { lower: least, upper: most } = equilibrium.frozen.bounds()[state];
    let size = equilibrium.frozen.sizes()[state].max(x[state].abs());
    let miss = |s: f64| {
        let mut tried = x.to_vec();
        tried[state] = s;
        let found = equilibrium.frozen.at(&tried).ok()?.channels[channel];
        Some((tried, found - value))
    };
    let inside = |s: f64| s.max(least).min(most);
    let (mut before, mut now) = (x[state], inside(x[state] + 0.01 * size));
    let (mut old, mut new) = (miss(before)?, miss(now)?);
    for _ in 0..ROUNDS {
        if new.1.abs() <= 1e-9 * value.abs().max(1e-9) {
            return Some(new.0);
        }
        let slope = (new.1 - old.1) / (now - before);
        let next = inside(now - new.1 / slope);
        if !next.is_finite() || next == now {
            return None;
        }
        (before, old, now) = (now, new, next);
        new = miss(now)?;
    }
    None
}
