//! Rates and delays over time: constant, in steps, from a trace.

use super::trace::{TRACE, TraceUse, source};
use crate::model::{Capacity, Delay};
use crate::table::{Field, Form, KeyTable, PlainForm, Rule, ScenarioKey, Written, array, put, set};
use millpond_units::{Rate, Span, Time};

const FASTEST: Rate = Rate::from_bps(100_000_000_000_000);
const RATE_STEPS: &str = "[[\"0s\", \"500Mbps\"], [\"2s\", \"150Mbps\"]]";
const DELAY_STEPS: &str = "[[\"0s\", \"15ms\"], [\"10s\", \"40ms\"]]";
const DELAY_FORM: Form = Form::Span { least: Span::ZERO, most: Span::from_millis(3_600_000) };

/// The forms of a link's rate.
pub(crate) static CAPACITY: KeyTable<Capacity> = KeyTable {
    name: "rate",
    blank: || Capacity::Constant(Rate::ZERO),
    plain: Some(PlainForm {
        form: Form::Rate { least: Rate::from_bps(1), most: FASTEST },
        example: "\"155Mbps\"",
        meaning: "a constant rate",
        read: |written| Rate::read(written).map(Capacity::Constant),
        write: |capacity| match capacity {
            Capacity::Constant(rate) => put(rate),
            _ => None,
        },
    }),
    keys: &[
        ScenarioKey {
            name: "steps",
            form: Form::List {
                item: &Form::Pair(&Form::Time, &Form::Rate { least: Rate::ZERO, most: FASTEST }),
                least: 1,
            },
            rule: Rule::OneOf(RATE_STEPS),
            meaning: "a new rate at each time. The first time is zero, times rise, one rate at least is not zero",
            read: |capacity, written| set(capacity, rate_steps(written).map(Capacity::Steps)),
            write: |capacity| match capacity {
                Capacity::Steps(steps) => Some(pairs(steps)),
                _ => None,
            },
        },
        ScenarioKey {
            name: "trace",
            form: Form::Table(&TRACE),
            rule: Rule::OneOf("\"cell.csv\""),
            meaning: "rates from a file",
            read: |capacity, written| {
                let source = source(written, TRACE.read(written)?)?;
                set(capacity, Some(Capacity::Trace(source)))
            },
            write: |capacity| match capacity {
                Capacity::Trace(source) => Some(TRACE.write(&TraceUse::from(source))),
                _ => None,
            },
        },
    ],
};

/// The forms of a link's propagation delay.
pub(crate) static DELAY: KeyTable<Delay> = KeyTable {
    name: "delay",
    blank: || Delay::Constant(Span::ZERO),
    plain: Some(PlainForm {
        form: DELAY_FORM,
        example: "\"15ms\"",
        meaning: "a constant delay",
        read: |written| Span::read(written).map(Delay::Constant),
        write: |delay| match delay {
            Delay::Constant(delay) => put(delay),
            Delay::Steps(_) => None,
        },
    }),
    keys: &[ScenarioKey {
        name: "steps",
        form: Form::List { item: &Form::Pair(&Form::Time, &DELAY_FORM), least: 1 },
        rule: Rule::Required(DELAY_STEPS),
        meaning: "a new delay at each time. The first time is zero, times rise",
        read: |delay, written| set(delay, steps(written, DELAY_STEPS).map(Delay::Steps)),
        write: |delay| match delay {
            Delay::Constant(_) => None,
            Delay::Steps(steps) => Some(pairs(steps)),
        },
    }],
};

impl Field for Capacity {
    fn read(written: &Written<'_>) -> Option<Self> {
        CAPACITY.read(written)
    }
    fn to_toml(&self) -> String {
        CAPACITY.write(self)
    }
}

impl Field for Delay {
    fn read(written: &Written<'_>) -> Option<Self> {
        DELAY.read(written)
    }
    fn to_toml(&self) -> String {
        DELAY.write(self)
    }
}

fn pairs<T: Field>(steps: &[(Time, T)]) -> String {
    array(steps.iter().map(|(time, value)| array([time.to_toml(), value.to_toml()])))
}

fn rate_steps(written: &Written<'_>) -> Option<Vec<(Time, Rate)>> {
    let steps = steps(written, "[[\"0s\", \"500Mbps\"]]")?;
    if steps.iter().all(|(_, rate): &(Time, Rate)| rate.is_zero()) {
        return written.expected("a rate above zero in at least one step");
    }
    Some(steps)
}

/// Pairs of a time and a value, the first time zero, times increasing.
fn steps<T: Field>(written: &Written<'_>, example: &str) -> Option<Vec<(Time, T)>> {
    let Form::List { item: Form::Pair(time_form, value_form), .. } = written.form else { return None };
    let mut steps: Vec<(Time, T)> = Vec::new();
    for item in written.list(example)? {
        let (time, value) =
            written.part(item, written.form).pair([time_form, value_form], "[\"2s\", ...]")?;
        let start = time.quantity()?;
        match steps.last() {
            None if start != Time::ZERO => return time.expected("the first step at \"0s\""),
            Some(&(last, _)) if start <= last => {
                return time.expected(&format!("a time after the step at \"{last}\""));
            }
            _ => steps.push((start, T::read(&value)?)),
        }
    }
    if steps.is_empty() { written.expected(&format!("steps such as {example}")) } else { Some(steps) }
}
