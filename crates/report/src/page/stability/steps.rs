//! Rates and queues after a step.

use super::super::bundle::legend_entry;
use super::portrait::Drawn;
use crate::chart::decimate::{Point, decimate};
use crate::chart::figure::{Figure, Panel};
use crate::chart::markup::Text;
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use crate::chart::theme::Look;
use millpond_theory::transients::{BAND, ObservedResponse, StepTransient, step_sentence};

/// No more flows and links than these are drawn.
const MOST: usize = 8;
const SLICES: usize = 600;

/// One step.
pub(super) fn chart(at: usize, answer: &StepTransient) -> Figure {
    let rates = &answer.rates[..answer.rates.len().min(MOST)];
    let queues = &answer.queues[..answer.queues.len().min(MOST)];
    let panels = [(rates, "sending rate of one flow", 200, false), (queues, "queue", 130, true)];
    let panels = panels.into_iter().filter(|(all, ..)| !all.is_empty());
    Figure {
        id: format!("step-{at}"),
        title: Text(&answer.description).to_string(),
        class: "",
        panels: panels.map(|(all, title, height, last)| panel(answer, all, (title, height, last))).collect(),
        caption: step_sentence(answer),
    }
}

fn panel(
    answer: &StepTransient,
    all: &[ObservedResponse],
    (title, height, last): (&str, u16, bool),
) -> Panel {
    let peak = all.iter().flat_map(|one| &one.values).copied().fold(0.0, f64::max);
    let drawn = Drawn::new(&all[0].observable, peak);
    let scale = Scale::around(
        all.iter().flat_map(|one| one.values.iter().chain([&one.final_value])).map(|v| v * drawn.factor),
    );
    let end = answer.times.last().copied().unwrap_or(1.0);
    let time = Axis::numbered(Scale::linear(0.0, end), "time since the step, s", 8);
    let time = if last { time } else { time.silent() };
    let mut plot =
        Plot::new(format!("{title} after the step"), time, Axis::numbered(scale, "", 4), height).over_time();
    let mut legend = String::new();
    for (index, one) in all.iter().enumerate() {
        let look = Look(index);
        let shown: Vec<f64> = one.values.iter().map(|value| value * drawn.factor).collect();
        let class = format!("line {} {}", look.colour(), look.dashes());
        let to = one.final_value * drawn.factor;
        plot.curve("", &format!("line target {}", look.colour()), &[(0.0, to), (end, to)]);
        if index == 0 {
            for edge in envelope(answer, one, drawn.factor, scale) {
                plot.curve("", "guide", &edge);
            }
        }
        plot.curve(&one.observable.name, &class, &decimate(&answer.times, &shown, SLICES));
        legend += &format!(
            r#"<span class="{}">{}</span>"#,
            look.colour(),
            legend_entry(&class, &one.observable.name)
        );
    }
    Panel { title: title.into(), unit: drawn.unit, legend, plot }
}

/// Where it is to end, and what is left of the step on both sides as the rightmost root has it; nothing where there is no step.
fn envelope(answer: &StepTransient, one: &ObservedResponse, factor: f64, scale: Scale) -> Vec<Vec<Point>> {
    const POINTS: u32 = 200;
    let way = one.values.first().map_or(0.0, |from| (one.final_value - from).abs());
    let is_step = matches!(one.response, millpond_fluid::motion::StepResponse::Step { .. });
    let settling = answer.predicted.and_then(|predicted| predicted.settling).filter(|_| is_step);
    let (Some(settling), Some(end)) = (settling, answer.times.last()) else { return Vec::new() };
    let edge = |sign: f64| {
        let point = |i: u32| {
            let t = end * f64::from(i) / f64::from(POINTS);
            let value = (one.final_value + sign * way * (BAND.ln() * t / settling).exp()) * factor;
            (t, if (scale.low..=scale.high).contains(&value) { value } else { f64::NAN })
        };
        (0..=POINTS).map(point).collect()
    };
    vec![edge(-1.0), edge(1.0)]
}
