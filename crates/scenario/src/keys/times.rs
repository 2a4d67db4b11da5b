//! Times and durations that may be sampled at random.

use crate::distribution::Lasting;
use crate::model::{DelayedAcks, FlowStart, Rtt};
use crate::table::{Field, Form, KeyTable, PlainForm, Rule, ScenarioKey, Written, array, put, set};
use crate::tree::Raw;
use millpond_units::{Span, Time};

/// Periods that rise and do not touch, each from the first to the second time of a pair; `noun` names one of them in messages.
pub(super) fn periods(written: &Written<'_>, noun: &str) -> Option<Vec<(Time, Time)>> {
    let mut periods: Vec<(Time, Time)> = Vec::new();
    for item in written.list("[[\"5s\", \"6s\"], [\"8s\", \"12s\"]]")? {
        let item = written.part(item, &Form::Time);
        let (from, until) = item.range::<Time>("[\"5s\", \"6s\"]")?;
        if from == until || periods.last().is_some_and(|(_, end)| *end >= from) {
            return item.expected(&format!("a {noun} that lasts, after the end of the one before"));
        }
        periods.push((from, until));
    }
    if periods.is_empty() { written.expected(&format!("at least one {noun}")) } else { Some(periods) }
}

/// Periods as a scenario writes them.
pub(super) fn write_periods(periods: &[(Time, Time)]) -> String {
    array(periods.iter().map(|(from, until)| array([from.to_toml(), until.to_toml()])))
}

/// The forms of a start, or of a stop.
pub(crate) static START: KeyTable<FlowStart> = KeyTable {
    name: "start",
    blank: || FlowStart::At(Time::ZERO),
    plain: Some(PlainForm {
        form: Form::Time,
        example: "\"5s\"",
        meaning: "all flows at this time",
        read: |written| Time::read(written).map(FlowStart::At),
        write: |start| match start {
            FlowStart::At(time) => put(time),
            _ => None,
        },
    }),
    keys: &[
        ScenarioKey {
            name: "uniform",
            form: Form::Range(&Form::Time),
            rule: Rule::OneOf("[\"0s\", \"10s\"]"),
            meaning: "each flow at its own time, uniformly distributed",
            read: |start, written| {
                let (low, high) = written.range("[\"0s\", \"10s\"]")?;
                set(start, Some(FlowStart::Uniform(low, high)))
            },
            write: |start| match start {
                FlowStart::Uniform(low, high) => Some(array([low.to_toml(), high.to_toml()])),
                _ => None,
            },
        },
        ScenarioKey {
            name: "first",
            form: Form::Time,
            rule: Rule::With(&["every", "poisson"], &Rule::Default("\"0s\"")),
            meaning: "with `every` the time of flow 0, with `poisson` the start of the process",
            read: |start, written| match start {
                FlowStart::Every { first, .. } | FlowStart::Poisson { first, .. } => written.store(first),
                _ => None,
            },
            write: |start| match start {
                FlowStart::Every { first, .. } | FlowStart::Poisson { first, .. } => put(first),
                _ => None,
            },
        },
        ScenarioKey {
            name: "every",
            form: Form::POSITIVE_SPAN,
            rule: Rule::OneOf("\"2s\""),
            meaning: "flow `i` at `first + i * every`",
            read: |start, written| {
                let interval = Span::read(written)?;
                set(start, Some(FlowStart::Every { first: Time::ZERO, interval }))
            },
            write: |start| match start {
                FlowStart::Every { interval, .. } => put(interval),
                _ => None,
            },
        },
        ScenarioKey {
            name: "poisson",
            form: Form::POSITIVE_SPAN,
            rule: Rule::OneOf("\"2s\""),
            meaning: "one flow after the other with exponentially distributed gaps of this mean",
            read: |start, written| {
                let mean = Span::read(written)?;
                set(start, Some(FlowStart::Poisson { first: Time::ZERO, mean }))
            },
            write: |start| match start {
                FlowStart::Poisson { mean, .. } => put(mean),
                _ => None,
            },
        },
    ],
};

/// The forms of a lasting time.
pub(crate) static LASTING: KeyTable<Lasting> = KeyTable {
    name: "lasting time",
    blank: || Lasting::Constant(Span::ZERO),
    plain: Some(PlainForm {
        form: Form::POSITIVE_SPAN,
        example: "\"12s\"",
        meaning: "always this long",
        read: |written| Span::read(written).map(Lasting::Constant),
        write: |lasting| match lasting {
            Lasting::Constant(span) => put(span),
            _ => None,
        },
    }),
    keys: &[
        ScenarioKey {
            name: "uniform",
            form: Form::Range(&Form::ANY_SPAN),
            rule: Rule::OneOf("[\"1s\", \"5s\"]"),
            meaning: "uniformly distributed",
            read: |lasting, written| {
                let (low, high) = written.range("[\"1s\", \"5s\"]")?;
                set(lasting, Some(Lasting::Uniform(low, high)))
            },
            write: |lasting| match lasting {
                Lasting::Uniform(low, high) => Some(array([low.to_toml(), high.to_toml()])),
                _ => None,
            },
        },
        ScenarioKey {
            name: "exponential",
            form: Form::POSITIVE_SPAN,
            rule: Rule::OneOf("\"10s\""),
            meaning: "exponentially distributed with this mean",
            read: |lasting, written| set(lasting, Span::read(written).map(Lasting::Exponential)),
            write: |lasting| match lasting {
                Lasting::Exponential(mean) => put(mean),
                _ => None,
            },
        },
        ScenarioKey {
            name: "pareto",
            form: Form::POSITIVE_SPAN,
            rule: Rule::OneOf("\"10s\""),
            meaning: "Pareto distributed with this mean",
            read: |lasting, written| {
                set(lasting, Some(Lasting::Pareto { mean: Span::read(written)?, shape: f64::INFINITY }))
            },
            write: |lasting| match lasting {
                Lasting::Pareto { mean, .. } => put(mean),
                _ => None,
            },
        },
        ScenarioKey {
            name: "shape",
            form: Form::PARETO_SHAPE,
            rule: Rule::With(&["pareto"], &Rule::Required("1.5")),
            meaning: "shape of the Pareto distribution: the smaller, the heavier the tail",
            read: |lasting, written| match lasting {
                Lasting::Pareto { shape, .. } => written.store(shape),
                _ => None,
            },
            write: |lasting| match lasting {
                Lasting::Pareto { shape, .. } => put(shape),
                _ => None,
            },
        },
    ],
};

/// The forms of a base round-trip time.
pub(crate) static RTT: KeyTable<Rtt> = KeyTable {
    name: "round-trip time",
    blank: || Rtt::Constant(Span::ZERO),
    plain: Some(PlainForm {
        form: Form::POSITIVE_SPAN,
        example: "\"80ms\"",
        meaning: "the same for all flows of the group",
        read: |written| Span::read(written).map(Rtt::Constant),
        write: |rtt| match rtt {
            Rtt::Constant(rtt) => put(rtt),
            Rtt::Uniform(..) => None,
        },
    }),
    keys: &[ScenarioKey {
        name: "uniform",
        form: Form::Range(&Form::ANY_SPAN),
        rule: Rule::Required("[\"20ms\", \"100ms\"]"),
        meaning: "each flow has its own, uniformly distributed",
        read: |rtt, written| {
            let (low, high) = written.range("[\"20ms\", \"100ms\"]")?;
            set(rtt, Some(Rtt::Uniform(low, high)))
        },
        write: |rtt| match rtt {
            Rtt::Constant(_) => None,
            Rtt::Uniform(low, high) => Some(array([low.to_toml(), high.to_toml()])),
        },
    }],
};

/// The forms of delayed acknowledgements.
pub(crate) static DELAYED_ACKS: KeyTable<Option<DelayedAcks>> = KeyTable {
    name: "delayed_acks table",
    blank: || Some(DelayedAcks::default()),
    plain: Some(PlainForm {
        form: Form::Flag,
        example: "true",
        meaning: "`true`: as with the defaults of the keys (RFC 9000 section 13.2); `false`: each packet is \
                  acknowledged at once",
        read: |written| match written.node.value {
            Raw::Flag(true) => Some(DELAYED_ACKS.defaults(written.context)),
            Raw::Flag(false) => Some(None),
            _ => written.expected("true, false or a table such as { packets = 2, after = \"25ms\" }"),
        },
        write: |acks| acks.is_none().then(|| false.to_toml()),
    }),
    keys: &[
        ScenarioKey {
            name: "packets",
            form: Form::Whole { least: 1, most: 1000 },
            rule: Rule::Default("2"),
            meaning: "an acknowledgement is sent when this many packets wait for it",
            read: |acks, written| written.store(&mut acks.as_mut()?.packets),
            write: |acks| acks.and_then(|acks| put(&acks.packets)),
        },
        ScenarioKey {
            name: "after",
            form: Form::POSITIVE_SPAN,
            rule: Rule::Default("\"25ms\""),
            meaning: "... or when the first of them has waited this long",
            read: |acks, written| written.store(&mut acks.as_mut()?.after),
            write: |acks| acks.and_then(|acks| put(&acks.after)),
        },
        ScenarioKey {
            name: "urgent",
            form: Form::Flag,
            rule: Rule::Default("true"),
            meaning: "gaps, duplicates and marks are acknowledged at once (RFC 9000, section 13.2.1); `false`: \
                      acknowledgements are thinned whatever arrives, except at the end of the data and for probes",
            read: |acks, written| written.store(&mut acks.as_mut()?.urgent),
            write: |acks| acks.and_then(|acks| put(&acks.urgent)),
        },
    ],
};

impl Field for FlowStart {
    fn read(written: &Written<'_>) -> Option<Self> {
        START.read(written)
    }
    fn to_toml(&self) -> String {
        START.write(self)
    }
}

impl Field for Lasting {
    fn read(written: &Written<'_>) -> Option<Self> {
        LASTING.read(written)
    }
    fn to_toml(&self) -> String {
        LASTING.write(self)
    }
}

impl Field for Rtt {
    fn read(written: &Written<'_>) -> Option<Self> {
        RTT.read(written)
    }
    fn to_toml(&self) -> String {
        RTT.write(self)
    }
}
