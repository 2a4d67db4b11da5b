//! Where trajectories start.

use super::observable::{Observable, pick};
use crate::equilibrium::Settled;
use millpond_fluid::Entity;
use millpond_fluid::motion::Component;
use millpond_units::{Bytes, Rate, Span};

/// Starts along one quantity, in the units of the equations.
#[derive(Clone, Debug, PartialEq)]
pub struct Along {
    /// Of what.
    pub of: Observable,
    /// Low to high.
    pub values: Vec<f64>,
}

/// All combinations of starts along some quantities; everything else starts at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Starts(pub Vec<Along>);

impl Starts {
    /// `grid`, or `x=0..2Mbps,q=0..100kB`: so many values in each range. Of `plane`, what is not said gets a range around
    /// the point of rest.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn read(
        text: &str,
        points: usize,
        plane: &[&Observable],
        about: (&Settled<'_>, &[Observable], &[usize]),
    ) -> Result<Self, String> {
        let parts = text.split(',').filter(|_| text.trim() != "grid");
        let mut starts = parts.map(|part| along(part, points, about)).collect::<Result<Vec<_>, _>>()?;
        for of in plane {
            if !starts.iter().any(|along| along.of.name == of.name) {
                let (low, high) = around(about.0, of)?;
                starts.push(Along { of: (*of).clone(), values: spread(low, high, points) });
            }
        }
        // What links hold decides what rates windows make.
        starts.sort_by_key(|along| matches!(along.of.place, Component::Channel(_)));
        Ok(Self(starts))
    }

    /// How far from its lowest to its highest start, for those that have a range.
    #[must_use]
    pub fn width(&self, of: &Observable) -> Option<f64> {
        let along = self.0.iter().find(|along| along.of.name == of.name)?;
        let width = along.values.last()? - along.values.first()?;
        (width > 0.0).then_some(width)
    }

    /// The states of every combination.
    ///
    /// # Errors
    /// A quantity that no state of its owner moves.
    pub fn states(&self, settled: &Settled<'_>) -> Result<Vec<Vec<f64>>, String> {
        let set = |along: &Along| match along.of.place {
            Component::State(place) => Some(place),
            Component::Channel(_) => None,
        };
        let taken: Vec<usize> = self.0.iter().filter_map(set).collect();
        let mut found = vec![settled.moment.x.clone()];
        for along in &self.0 {
            let each = |x: &Vec<f64>| -> Result<Vec<Vec<f64>>, String> {
                let one = |value: &f64| put(settled, x.clone(), (&along.of, *value), &taken);
                along.values.iter().map(one).collect()
            };
            found = found.iter().map(each).collect::<Result<Vec<_>, _>>()?.concat();
        }
        Ok(found)
    }
}

/// Whether it says one start, not many.
#[must_use]
pub fn is_single(text: &str) -> bool {
    text.trim() != "grid" && !text.contains("..")
}

/// `x=0..2Mbps`, or `x=1Mbps`.
fn along(
    part: &str,
    points: usize,
    (settled, known, bottlenecks): (&Settled<'_>, &[Observable], &[usize]),
) -> Result<Along, String> {
    let usage = || {
        format!("\"{part}\": write grid, or starts such as x=0..2Mbps,q=0..100kB, a single one as x=1Mbps")
    };
    let (name, range) = part.split_once('=').ok_or_else(usage)?;
    let of = pick(name, known, bottlenecks)?;
    let rest = of.place.of(&settled.moment.x, &settled.moment.channels);
    let (low, high) = range.split_once("..").unwrap_or((range, range));
    let end = |text: &str| value(text, &of, rest).ok_or_else(|| expected(text, &of));
    let (low, high) = (end(low)?, end(high)?);
    if low > high {
        return Err(format!("\"{part}\": write the lower end first"));
    }
    check(settled, &of, low, high)?;
    Ok(Along { values: spread(low, high, points), of })
}

fn spread(low: f64, high: f64, points: usize) -> Vec<f64> {
    if low >= high || points < 2 {
        return vec![low];
    }
    // Some tens of points.
    #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
    let part = |point: usize| point as f64 / (points - 1) as f64;
    (0..points).map(|point| low + (high - low) * part(point)).collect()
}

/// A value with its unit; a share of that at rest in per cent; a plain number in the unit in which the quantity is shown.
fn value(text: &str, of: &Observable, rest: f64) -> Option<f64> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return percent
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|p| p.is_finite())
            .map(|percent| percent / 100.0 * rest);
    }
    let plain = text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value / of.scale);
    plain.or_else(|| match of.unit {
        "bit/s" => text.parse::<Rate>().ok().map(Rate::as_f64),
        "packets" => match text.strip_suffix("packets") {
            Some(count) => count.trim().parse::<f64>().ok().map(|count| count / of.scale),
            None => text.parse::<Bytes>().ok().map(|bytes| bytes.as_f64() * 8.0),
        },
        "ms" => text.parse::<Span>().ok().map(Span::secs),
        _ => None,
    })
}

fn expected(text: &str, of: &Observable) -> String {
    let examples = match of.unit {
        "bit/s" => "a rate such as 2Mbps",
        "packets" => "a size such as 100kB or 100packets",
        "ms" => "a time such as 20ms",
        _ => "a number",
    };
    format!(
        "\"{}\" is no value of {}: expected {examples}, or a share of that at rest such as 50%",
        text.trim(),
        of.name
    )
}

/// A state beyond its bounds is none.
fn check(settled: &Settled<'_>, of: &Observable, low: f64, high: f64) -> Result<(), String> {
    let (least, most) = match of.place {
        Component::State(place) => settled.frozen.bounds()[place],
        Component::Channel(_) => (0.0, f64::INFINITY),
    };
    if low >= least && high <= most {
        return Ok(());
    }
    let most = if most.is_finite() { format!(" and at most {}", of.show(most)) } else { String::new() };
    Err(format!("{} is at least {}{most}", of.name, of.show(least)))
}

/// From a fifth to twice what it is at rest; a queue from empty up to half of what is on its way in a round trip at least.
fn around(settled: &Settled<'_>, of: &Observable) -> Result<(f64, f64), String> {
    const LOW: f64 = 0.2;
    let rest = of.place.of(&settled.moment.x, &settled.moment.channels);
    let (least, most) = match of.place {
        Component::State(place) => settled.frozen.bounds()[place],
        Component::Channel(_) => (0.0, f64::INFINITY),
    };
    let (low, high) = match of.entity {
        Entity::Link(link) if of.quantity == "queue" => {
            let longest = settled.plan.loops.iter().map(|l| l.facts.base_rtt).fold(0.0, f64::max);
            let half = settled.frozen.capacity(link) * longest / 2.0;
            (0.0, half.max(2.0 * rest))
        }
        _ if rest > 0.0 => (LOW * rest, 2.0 * rest),
        _ if rest < 0.0 => (2.0 * rest, LOW * rest),
        _ => {
            return Err(format!(
                "{0} is zero at rest; say between what it is to start: --from {0}=0..1",
                of.name
            ));
        }
    };
    Ok((low.max(least), high.min(most)))
}

/// The states with one quantity changed: a state itself; else the first state of its owner, or of a link, that moves it. What
/// is `taken` starts at a value of its own, and queues hold what they hold.
fn put(
    settled: &Settled<'_>,
    mut x: Vec<f64>,
    (of, value): (&Observable, f64),
    taken: &[usize],
) -> Result<Vec<f64>, String> {
    let channel = match of.place {
        Component::State(place) => {
            x[place] = value;
            return Ok(x);
        }
        Component::Channel(channel) => channel,
    };
    let columns = settled.plan.assembly.state_columns();
    let free = |state: &usize| !taken.contains(state) && columns[*state].quantity != "queue";
    let (own, others): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).filter(free).partition(|state| columns[*state].entity == of.entity);
    let links = others.into_iter().filter(|state| matches!(columns[*state].entity, Entity::Link(_)));
    let mut found =
        own.into_iter().chain(links).filter_map(|state| solve(settled, &x, (state, channel), value));
    found.next().ok_or_else(|| {
        let states = super::observables(settled.plan).into_iter();
        let states = states.filter(|one| matches!(one.place, Component::State(_))).map(|one| one.name);
        format!(
            "{} cannot start at {}: it follows at once from what its owner hears; start from {}",
            of.name,
            of.show(value),
            states.collect::<Vec<_>>().join(", ")
        )
    })
}

/// The value of a state at which a channel says this, by the secant method.
fn solve(settled: &Settled<'_>, x: &[f64], (state, channel): (usize, usize), value: f64) -> Option<Vec<f64>> {
    const ROUNDS: usize = 60;
    let (least, most) = settled.frozen.bounds()[state];
    let size = settled.frozen.sizes()[state].max(x[state].abs());
    let miss = |s: f64| {
        let mut tried = x.to_vec();
        tried[state] = s;
        let said = settled.frozen.at(&tried).ok()?.channels[channel];
        Some((tried, said - value))
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
