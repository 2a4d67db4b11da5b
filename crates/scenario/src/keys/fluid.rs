//! `[fluid]`: how the equations of the fluid world are integrated, and what its base RTTs consist of.

use crate::model::{BaseRtt, FluidOptions, Measure, Method};
use crate::place::At;
use crate::table::{
    Field, Fields, Form, KeyTable, Keyword, LONGEST_RUN, Rule, ScenarioKey, Written, put, spellings,
};
use crate::tree::Raw;
use millpond_units::{Span, Time};

const SHORTEST_STEP: Span = Span::from_micros(1);

/// The method without its step.
#[derive(Clone, Copy, PartialEq)]
enum MethodName {
    Adaptive,
    FixedStep,
}

impl Keyword for MethodName {
    const WORDS: &'static [(&'static str, Self)] =
        &[("adaptive", Self::Adaptive), ("fixed-step", Self::FixedStep)];
}

impl Keyword for BaseRtt {
    const WORDS: &'static [(&'static str, Self)] =
        &[("propagation", Self::Propagation), ("service", Self::Service)];
}

/// The keys of `[fluid]`.
pub(crate) static FLUID: KeyTable<FluidOptions> = KeyTable {
    name: "fluid table",
    blank: FluidOptions::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "method",
            form: Form::Words(spellings::<MethodName>),
            rule: Rule::Default("\"adaptive\""),
            meaning: "`\"adaptive\"`: the step length is controlled for an error of 1e-6, discontinuities and events \
                      are located. `\"fixed-step\"`: second order, for networks with thousands of unlike flows",
            read: |fluid, written| {
                fluid.method = match MethodName::read(written)? {
                    MethodName::Adaptive => Method::Adaptive,
                    MethodName::FixedStep => Method::FixedStep(At::default()),
                };
                Some(())
            },
            write: |fluid| match fluid.method {
                Method::Adaptive => put(&MethodName::Adaptive),
                Method::FixedStep(_) => put(&MethodName::FixedStep),
            },
        },
        ScenarioKey {
            name: "step",
            form: Form::Span { least: SHORTEST_STEP, most: LONGEST_RUN },
            rule: Rule::Absent("required with `\"fixed-step\"`"),
            meaning: "the step length. No longer than the shortest feedback delay from a link to a sender; \
                      `duration`, `measure.from`, `measure.every` and `measure.jain_window` are whole numbers of it",
            read: step,
            write: |fluid| match &fluid.method {
                Method::Adaptive => None,
                Method::FixedStep(step) => put(&step.value),
            },
        },
        ScenarioKey {
            name: "base_rtt",
            form: Form::Words(spellings::<BaseRtt>),
            rule: Rule::Default("\"propagation\""),
            meaning: "what the round-trip time of empty queues consists of. `\"service\"`: also the service time of one \
                      packet at each link, and of one acknowledgement at each link of the return path, at the mean \
                      rate of the link. At microseconds they are a large part of it",
            read: |fluid, written| {
                fluid.base_rtt = BaseRtt::read(written)?;
                Some(())
            },
            write: |fluid| match fluid.base_rtt {
                BaseRtt::Propagation => None,
                served @ BaseRtt::Service => put(&served),
            },
        },
    ],
};

/// Reads `[fluid]`. The step must divide the duration and all times of `measure`.
pub(crate) fn read(written: &Written<'_>, measure: &Measure) -> Option<FluidOptions> {
    let mut fields = Fields::new(written, FLUID.name)?;
    let fluid = fields.read_partly(&FLUID);
    if matches!(fluid.method, Method::FixedStep(_)) && !fields.has("step") {
        fields.require("step", "\"5ms\"");
    }
    fields.finish();
    match &fluid.method {
        Method::FixedStep(step) if !step.is_zero() => divides(written, step, measure).then_some(fluid),
        _ => Some(fluid),
    }
}

fn step(fluid: &mut FluidOptions, written: &Written<'_>) -> Option<()> {
    let name = written.sibling("method");
    if let Method::FixedStep(step) = &mut fluid.method {
        let longest = written.context.duration.unwrap_or(LONGEST_RUN);
        let length = written.within(SHORTEST_STEP, longest.max(SHORTEST_STEP))?;
        *step = At::new(length, written.place());
        return Some(());
    }
    let is_adaptive = |node: &Raw| matches!(node, Raw::Text(text) if text == "adaptive");
    // An override of the method makes the file's step unused. A misspelt method is reported at the method.
    if name.is_some_and(|name| name.place.text > written.place().text || !is_adaptive(&name.value)) {
        return Some(());
    }
    let message = "a step without method = \"fixed-step\"";
    let help =
        "write method = \"fixed-step\" beside it, or leave it out: the adaptive method chooses its own";
    written.report(message, "the adaptive method has no fixed step", help)
}

/// Does the step divide the duration and all times of `measure`? Reports the first that it does not divide.
fn divides(written: &Written<'_>, step: &At<Span>, measure: &Measure) -> bool {
    let spans = [
        ("duration", written.context.duration.unwrap_or(**step)),
        ("measure.from", measure.from.since(Time::ZERO)),
        ("measure.every", measure.every),
        ("measure.jain_window", measure.jain_window),
    ];
    let Some((key, span)) = spans.iter().find(|(_, span)| !span.picos().is_multiple_of(step.picos())) else {
        return true;
    };
    let message = format!("{key} = \"{span}\" is not a whole number of steps of {}", **step);
    let common = spans.iter().map(|(_, span)| span.picos()).fold(0, greatest_common_divisor);
    let help = match divisor_up_to(common, step.picos()) {
        Some(picos) => format!("write step = \"{}\", or another {key}", Span::from_picos(picos)),
        None => format!("write another {key}"),
    };
    let faults = written.context.faults;
    faults.report::<()>(step.place, message, format!("does not divide {span}"), help);
    false
}

/// The greatest number that divides both (Euclid).
const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// A divisor of `whole` that is at most `most` and not much less.
fn divisor_up_to(whole: u64, most: u64) -> Option<u64> {
    let fewest = whole.div_ceil(most).max(1);
    (fewest..=fewest.saturating_mul(8))
        .take(100_000)
        .find(|parts| whole.is_multiple_of(*parts))
        .map(|parts| whole / parts)
}
