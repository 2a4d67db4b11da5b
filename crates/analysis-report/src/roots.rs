//! The rightmost characteristic roots in the complex plane.

use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Scale, SeriesStyle};
use millpond_fluid::stability::Root;
use millpond_theory::stability::Stability;
use millpond_units::format::number;

/// The name of the vertical to the right of which no other root lies.
const BOUND: &str = "bound of all other roots";

/// The frequency of a root; zero if it is an error of rounding of a real root.
fn frequency(root: &Root) -> f64 {
    const ROUNDING: f64 = 1e-9;
    if root.s.im.abs() > ROUNDING * root.s.norm() { root.s.im.abs() } else { 0.0 }
}

/// The roots with their conjugates, the axis between decay and growth, and the abscissa to the right of which no other root
/// lies.
pub(crate) fn chart(stability: &Stability) -> Figure {
    let spectrum = &stability.spectrum;
    let shown = || spectrum.roots.iter().filter(|root| root.s.norm().is_finite());
    let certified = Some(spectrum.complete_to).filter(|bound| bound.is_finite());
    let real = Scale::around(shown().map(|root| root.s.re).chain([0.0]).chain(certified));
    let highest = shown().map(frequency).fold(0.0, f64::max);
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
            legend: Legend::new().line("line edge", "neither growth nor decay").line("guide", BOUND),
            plot,
        }],
        caption: caption(stability, certified),
    }
}

/// The bound of all other roots, and the roots of differences, which are not drawn.
fn caption(stability: &Stability, certified: Option<f64>) -> String {
    let bound = certified.map(|bound| {
        format!(
            "No other root of the network has a growth rate above {} 1/s: certified by the argument principle.",
            number(bound)
        )
    });
    let clauses: Vec<String> = stability.difference_clauses().collect();
    let differences = (!clauses.is_empty())
        .then(|| format!("Roots of differences between equal flows are not drawn: {}.", clauses.join("; ")));
    bound.into_iter().chain(differences).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_fluid::stability::Complex;

    #[test]
    fn the_frequency_of_a_real_root_is_zero_whatever_rounding_leaves() {
        let of = |re, im| frequency(&Root { s: Complex::new(re, im), multiplicity: 1 });
        assert_eq!([of(-7.6, 4e-10), of(-7.6, 0.2), of(0.0, 1e-3)], [0.0, 0.2, 1e-3]);
    }

    #[test]
    fn the_name_of_the_bound_is_not_cut() {
        let legend = Legend::new().line("guide", BOUND);
        assert!(maud::Render::render(&legend).into_string().contains(BOUND));
    }
}
