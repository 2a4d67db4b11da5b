//! The rightmost characteristic roots in the complex plane.

use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Scale, SeriesStyle};
use millpond_theory::stability::Stability;
use millpond_units::format::number;

/// The roots with their conjugates, the axis between decay and growth, and the abscissa to the right of which no other root
/// lies.
#[must_use]
pub fn roots_figure(stability: &Stability) -> Figure {
    let spectrum = &stability.spectrum;
    let shown = || spectrum.roots.iter().filter(|root| root.s.norm().is_finite());
    let certified = Some(spectrum.complete_to).filter(|bound| bound.is_finite());
    let real = Scale::around(shown().map(|root| root.s.re).chain([0.0]).chain(certified));
    let highest = shown().map(|root| root.s.im.abs()).fold(0.0, f64::max);
    let imaginary = Scale::around([-highest, highest]);
    let mut plot = Plot::new(
        "Characteristic roots",
        Axis::numbered(real, "growth, 1/s", 6),
        Axis::numbered(imaginary, "", 5),
        260,
    )
    .coloured(SeriesStyle(0));
    plot.unnamed_curve("line edge", &[(0.0, imaginary.low), (0.0, imaginary.high)]);
    if let Some(bound) = certified {
        plot.unnamed_curve("guide", &[(bound, imaginary.low), (bound, imaginary.high)]);
    }
    for root in shown() {
        let style = SeriesStyle(if root.s.re < 0.0 || spectrum.is_zero(root) { 0 } else { 6 });
        plot.mark(style, (root.s.re, root.s.im));
        if root.s.im > 0.0 {
            plot.mark(style, (root.s.re, -root.s.im));
        }
    }
    Figure {
        id: "roots".into(),
        title: html! { "Characteristic roots" },
        class: "",
        panels: vec![Panel {
            title: "frequency".into(),
            unit: "rad/s".into(),
            legend: Legend::new()
                .line("line edge", "neither growth nor decay")
                .line("guide", "no other root to the right"),
            plot,
        }],
        caption: certified.map_or_else(String::new, |bound| {
            format!(
                "No other root has a growth rate above {} 1/s: certified by the argument principle.",
                number(bound)
            )
        }),
    }
}
