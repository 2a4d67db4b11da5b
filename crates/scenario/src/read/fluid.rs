//! `[fluid]`: how the equations of the fluid world are integrated.

use super::capacity::word;
use crate::fields::{self, Complaints, Fields};
use crate::model::{Measure, Method};
use crate::place::At;
use crate::tree::Node;
use millpond_units::{Span, Time};

/// The spellings of [`Method`]: does it have steps of one length?
const METHODS: &[(&str, bool)] = &[("adaptive", false), ("fixed-step", true)];

/// Shorter steps are nobody's wish.
const SHORTEST_STEP: Span = Span::from_micros(1);

/// `{ method = "fixed-step", step = "5ms" }`. The step has to divide whatever the run is looked at by.
pub(crate) fn read(
    complaints: &Complaints,
    node: &Node,
    duration: Option<Span>,
    measure: &Measure,
) -> Option<Method> {
    let mut fields = Fields::new(complaints, node, "fluid table")?;
    let method = fields.get("method");
    let has_steps = method.map_or(Some(false), |node| word(complaints, node, METHODS));
    let step = match has_steps {
        Some(true) => fields.required("step", "\"5ms\""),
        _ => fields.get("step"),
    };
    fields.finish();
    match (has_steps?, step) {
        (true, step) => {
            let (step, longest) = (step?, duration.unwrap_or(super::LONGEST_RUN));
            let length = fields::within(complaints, step, SHORTEST_STEP, longest.max(SHORTEST_STEP))?;
            let step = At::new(length, step.place);
            divides(complaints, &step, duration, measure).then_some(Method::FixedStep(step))
        }
        // An override of the method makes the file's step idle.
        (false, Some(step)) if method.is_none_or(|method| method.place.text <= step.place.text) => {
            let message = "a step without method = \"fixed-step\"";
            let help = "write method = \"fixed-step\" beside it, or leave it out: the adaptive method chooses its own";
            complaints.wrong(step.place, message, "steps of one length need the other method", help)
        }
        (false, _) => Some(Method::Adaptive),
    }
}

/// Does the step divide the duration and all of `measure`? Complains if not.
fn divides(complaints: &Complaints, step: &At<Span>, duration: Option<Span>, measure: &Measure) -> bool {
    let spans = [
        ("duration", duration.unwrap_or(**step)),
        ("measure.from", measure.from.since(Time::ZERO)),
        ("measure.every", measure.every),
        ("measure.jain_window", measure.jain_window),
    ];
    let Some((key, span)) = spans.iter().find(|(_, span)| !span.picos().is_multiple_of(step.picos())) else {
        return true;
    };
    let message = format!("{key} = \"{span}\" is no whole number of steps of {}", **step);
    let known = spans.iter().map(|(_, span)| span.picos()).fold(0, greatest_divisor);
    let help = match divisor_up_to(known, step.picos()) {
        Some(picos) => format!("write step = \"{}\", or another {key}", Span::from_picos(picos)),
        None => format!("write another {key}"),
    };
    complaints.wrong::<()>(step.place, message, format!("does not divide {span}"), help);
    false
}

/// The greatest number that divides both (Euclid).
const fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// A divisor of `whole` that is at most `most` and not much less.
fn divisor_up_to(whole: u64, most: u64) -> Option<u64> {
    let fewest = whole.div_ceil(most).max(1);
    (fewest..=fewest.saturating_mul(8))
        .take(100_000)
        .find(|parts| whole.is_multiple_of(*parts))
        .map(|parts| whole / parts)
}
