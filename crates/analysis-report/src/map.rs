//! The stability map over two parameters: each cell is stable, oscillates, or has no equilibrium.

use maud::html;
use millpond_chart::{Axis, Figure, LabelPosition, Legend, Panel, Plot, Scale, SeriesStyle};
use millpond_theory::stability::{StabilityMap, VariedParameter};

/// Style classes of cells.
const STABLE: &str = "stable";
const OSCILLATES: &str = "oscillates";

/// The map.
pub(crate) fn chart(map: &StabilityMap) -> Figure {
    let plot = plot(map);
    let has_blank_cells = map.growth_rates.iter().flatten().any(Option::is_none);
    let legend = Legend::new()
        .area(STABLE, "stable")
        .area(OSCILLATES, "oscillates")
        .and(Legend::new().area("blank", "no equilibrium found").when(has_blank_cells));
    let is_over_rtt = [&map.horizontal.parameter, &map.vertical.parameter].contains(&&VariedParameter::Rtt);
    let longest = "The round-trip time is that of the flow with the longest one.";
    Figure {
        id: "stability-map".into(),
        title: html! { (map.vertical.parameter.name()) " over " (map.horizontal.parameter.name()) },
        class: "",
        panels: vec![Panel { title: axis_title(&map.vertical.parameter), unit: String::new(), legend, plot }],
        caption: if is_over_rtt { longest.to_owned() } else { String::new() },
    }
}

fn plot(map: &StabilityMap) -> Plot {
    let (columns, rows) = (edges(&map.horizontal.values), edges(&map.vertical.values));
    let scale = |edges: &[f64]| {
        let (low, high) = edges.first().copied().zip(edges.last().copied()).unwrap_or((1.0, 10.0));
        Scale::decades(low, high)
    };
    let (x, y) = (scale(&columns), scale(&rows));
    let x_axis = Axis::numbered(x, axis_title(&map.horizontal.parameter), 6);
    let mut plot = Plot::new("Stability map", x_axis, Axis::numbered(y, "", 6), 420).coloured(SeriesStyle(0));
    for (row, cells) in map.growth_rates.iter().enumerate() {
        for CellRun { class, first, end } in runs(cells) {
            plot.cell(class, columns[first]..columns[end], rows[row]..rows[row + 1]);
        }
    }
    let is_within = |scale: Scale, value: f64| (scale.low..=scale.high).contains(&value);
    if is_within(x, map.current.0) && is_within(y, map.current.1) {
        plot.mark(SeriesStyle(6), map.current);
        plot.text("name", map.current, LabelPosition { dx: 9.0, dy: 4.0, is_left: false }, "now");
    }
    plot
}

/// The name of a parameter with its unit.
pub(crate) fn axis_title(parameter: &VariedParameter) -> String {
    match parameter {
        VariedParameter::Rtt => "RTT, s".to_owned(),
        VariedParameter::Parameter { unit, .. } if !unit.is_empty() => {
            format!("{}, {unit}", parameter.name())
        }
        parameter => parameter.name(),
    }
}

/// The edges of cells around these values: the geometric means of neighbours, and the outer edges.
fn edges(values: &[f64]) -> Vec<f64> {
    let middle = |pair: &[f64]| (pair[0] * pair[1]).sqrt();
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
    let between: Vec<f64> = values.windows(2).map(middle).collect();
    let before = between.first().map_or(*first, |edge| first * first / edge);
    let after = between.last().map_or(*last, |edge| last * last / edge);
    std::iter::once(before).chain(between).chain([after]).collect()
}

/// Adjacent cells of one class, from `first` to the one before `end`.
#[derive(Debug, PartialEq)]
struct CellRun {
    class: &'static str,
    first: usize,
    end: usize,
}

/// Runs of cells of one class in a row of growth rates; cells without an equilibrium are left out.
fn runs(row: &[Option<f64>]) -> Vec<CellRun> {
    let class = |growth: &Option<f64>| growth.map(|growth| if growth < 0.0 { STABLE } else { OSCILLATES });
    let mut found = Vec::new();
    let mut first = 0;
    for cells in row.chunk_by(|one, next| class(one) == class(next)) {
        let end = first + cells.len();
        found.extend(class(&cells[0]).map(|class| CellRun { class, first, end }));
        first = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_geometric_means_and_adjacent_cells_of_one_class_are_one_run() {
        let found = edges(&[1.0, 4.0, 16.0]);
        assert!(found.iter().zip([0.5, 2.0, 8.0, 32.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        let cells = [Some(-1.0), Some(-2.0), None, Some(0.5)];
        let stable = CellRun { class: STABLE, first: 0, end: 2 };
        assert_eq!(runs(&cells), [stable, CellRun { class: OSCILLATES, first: 3, end: 4 }]);
    }
}
