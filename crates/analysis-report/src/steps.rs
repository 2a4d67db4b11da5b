//! Rates and queues after a step.

use crate::unit::AxisUnit;
use maud::html;
use millpond_chart::{Axis, CurveStyle, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle, decimate};
use millpond_fluid::motion::StepResponse;
use millpond_theory::transients::{BAND, ObservedResponse, StepTransient, step_sentence};

/// Only the first flows and links are drawn.
const MOST: usize = 8;
const SLICES: usize = 600;

/// A panel of the figure: its series and its size.
struct StepQuantity<'a> {
    title: &'static str,
    series: &'a [ObservedResponse],
    /// Of each of the series.
    styles: Vec<CurveStyle>,
    height: u16,
    /// Whether the time axis has text.
    is_last: bool,
}

/// The figure of one step of a page; each curve has a colour of its own.
pub(crate) fn chart(index: usize, step: &StepTransient) -> Figure {
    let colours = |curves: &[ObservedResponse]| (0..curves.len()).map(|i| SeriesStyle(i).into()).collect();
    styled(index, step, [colours(&step.rates), colours(&step.queues)])
}

/// The figure of one step beside figures of a run, in the tones of their first series: `tones` has the index of the tone of
/// each rate, and queues have the first tones.
#[must_use]
pub fn step_figure(step: &StepTransient, tones: &[usize]) -> Figure {
    let tone = |index: usize| CurveStyle { series: SeriesStyle(0), tone: format!(" f{index}") };
    let rates = tones.iter().map(|index| tone(*index)).collect();
    styled(0, step, [rates, (0..step.queues.len()).map(tone).collect()])
}

/// The figure with the styles of the rates and of the queues.
fn styled(index: usize, step: &StepTransient, [rates, queues]: [Vec<CurveStyle>; 2]) -> Figure {
    let first = |series: &'_ [ObservedResponse]| series.len().min(MOST);
    let rates = StepQuantity {
        title: "sending rate of one flow",
        series: &step.rates[..first(&step.rates)],
        styles: rates,
        height: 200,
        is_last: false,
    };
    let queues = StepQuantity {
        title: "queue",
        series: &step.queues[..first(&step.queues)],
        styles: queues,
        height: 130,
        is_last: true,
    };
    let panels = [rates, queues].into_iter().filter(|quantity| !quantity.series.is_empty());
    Figure {
        id: format!("step-{index}"),
        title: html! { (step.description) },
        class: "",
        panels: panels.map(|quantity| panel(step, &quantity)).collect(),
        caption: step_sentence(step),
    }
}

fn panel(step: &StepTransient, quantity: &StepQuantity<'_>) -> Panel {
    let StepQuantity { title, series, styles, height, is_last } = quantity;
    let peak = series.iter().flat_map(|one| &one.values).copied().fold(0.0, f64::max);
    let unit = AxisUnit::new(&series[0].observable, peak);
    let values =
        series.iter().flat_map(|one| one.values.iter().chain([&one.final_value])).map(|v| v * unit.factor);
    let scale = Scale::around(values);
    let end = step.times.last().copied().unwrap_or(1.0);
    let time = Axis::numbered(Scale::linear(0.0, end), "time since the step, s", 8);
    let time = if *is_last { time } else { time.without_text() };
    let label = format!("{title} after the step");
    let mut plot = Plot::new(label, time, Axis::numbered(scale, "", 4), *height).over_time();
    for (index, (one, style)) in series.iter().zip(styles).enumerate() {
        let shown: Vec<f64> = one.values.iter().map(|value| value * unit.factor).collect();
        let to = one.final_value * unit.factor;
        plot.unnamed_curve(&format!("line target {}", style.colour()), &[(0.0, to), (end, to)]);
        if index == 0 {
            for edge in envelope(step, one, unit.factor, scale) {
                plot.unnamed_curve("guide", &edge);
            }
        }
        plot.curve(&one.observable.name, &style.line(), &decimate(&step.times, &shown, SLICES));
    }
    let add = |legend: Legend, (one, style): (&ObservedResponse, &CurveStyle)| {
        legend.line(&style.line(), &one.observable.name)
    };
    let legend = series.iter().zip(styles).fold(Legend::new(), add);
    Panel { title: (*title).into(), unit: unit.name, legend, plot }
}

/// The final value plus and minus what the rightmost root alone leaves of the step; none if the value does not change.
fn envelope(step: &StepTransient, one: &ObservedResponse, factor: f64, scale: Scale) -> Vec<Vec<Point>> {
    const POINTS: u32 = 200;
    let size = one.values.first().map_or(0.0, |from| (one.final_value - from).abs());
    let is_step = matches!(one.response, StepResponse::Step { .. });
    let settling = step.predicted.and_then(|predicted| predicted.settling).filter(|_| is_step);
    let (Some(settling), Some(end)) = (settling, step.times.last()) else { return Vec::new() };
    let edge = |sign: f64| {
        let point = |i: u32| {
            let t = end * f64::from(i) / f64::from(POINTS);
            let value = (one.final_value + sign * size * (BAND.ln() * t / settling).exp()) * factor;
            (t, if (scale.low..=scale.high).contains(&value) { value } else { f64::NAN })
        };
        (0..=POINTS).map(point).collect()
    };
    vec![edge(-1.0), edge(1.0)]
}
