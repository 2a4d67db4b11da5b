//! A map over two parameters: each cell settles, oscillates, or has no equilibrium.

use crate::chart::figure::{Figure, Panel};
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::{Scale, Spacing};
use crate::chart::theme::Look;
use millpond_theory::stability::{StabilityMap, VariedParameter};

/// The map.
pub(super) fn chart(map: &StabilityMap) -> Figure {
    let (columns, rows) = (edges(&map.horizontal.values), edges(&map.vertical.values));
    let scale = |edges: &[f64]| {
        let (low, high) = edges.first().copied().zip(edges.last().copied()).unwrap_or((1.0, 10.0));
        Scale { spacing: Spacing::Log, low, high }
    };
    let (x, y) = (scale(&columns), scale(&rows));
    let mut plot = Plot::new(
        "Map of stability",
        Axis::numbered(x, title(&map.horizontal.parameter), 6),
        Axis::numbered(y, "", 6),
        420,
    )
    .coloured(Look(0));
    for (row, cells) in map.growth_rates.iter().enumerate() {
        for (class, from, to) in stretches(cells) {
            plot.cell(class, (columns[from], columns[to]), (rows[row], rows[row + 1]));
        }
    }
    let within = |scale: Scale, value: f64| (scale.low..=scale.high).contains(&value);
    if within(x, map.current.0) && within(y, map.current.1) {
        plot.mark(Look(6), map.current);
        plot.words("name", map.current, (9.0, 4.0), false, "now");
    }
    let key =
        |class: &str, name: &str| format!(r#"<span class="key"><i class="block {class}"></i>{name}</span>"#);
    let mut legend = key(SETTLES, "settles") + &key(OSCILLATES, "oscillates");
    if map.growth_rates.iter().flatten().any(Option::is_none) {
        legend += &key("blank", "no rest found");
    }
    let panel = Panel { title: title(&map.vertical.parameter), unit: String::new(), legend, plot };
    let longest = "The round-trip time is that of the flow with the longest one.";
    let is_time = [&map.horizontal.parameter, &map.vertical.parameter].contains(&&VariedParameter::Rtt);
    Figure {
        id: "stability-map".into(),
        title: format!("{} over {}", map.vertical.parameter.name(), map.horizontal.parameter.name()),
        class: "",
        panels: vec![panel],
        caption: if is_time { longest.to_owned() } else { String::new() },
    }
}

const SETTLES: &str = "settles";
const OSCILLATES: &str = "oscillates";

/// With its unit.
pub(super) fn title(parameter: &VariedParameter) -> String {
    match parameter {
        VariedParameter::Rtt => "RTT, s".to_owned(),
        VariedParameter::Parameter { unit, .. } if !unit.is_empty() => {
            format!("{}, {unit}", parameter.name())
        }
        parameter => parameter.name(),
    }
}

/// Of each cell and the last one: half way between neighbours, in ratios.
fn edges(values: &[f64]) -> Vec<f64> {
    let middle = |pair: &[f64]| (pair[0] * pair[1]).sqrt();
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
    let between: Vec<f64> = values.windows(2).map(middle).collect();
    let before = between.first().map_or(*first, |edge| first * first / edge);
    let after = between.last().map_or(*last, |edge| last * last / edge);
    std::iter::once(before).chain(between).chain([after]).collect()
}

/// Neighbours of one kind: class, first cell, cell after the last.
fn stretches(cells: &[Option<f64>]) -> Vec<(&'static str, usize, usize)> {
    let class = |growth: &Option<f64>| growth.map(|growth| if growth < 0.0 { SETTLES } else { OSCILLATES });
    let mut found = Vec::new();
    let mut at = 0;
    for run in cells.chunk_by(|one, next| class(one) == class(next)) {
        found.extend(class(&run[0]).map(|class| (class, at, at + run.len())));
        at += run.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_meet_half_way_and_like_neighbours_are_one_stretch() {
        let found = edges(&[1.0, 4.0, 16.0]);
        assert!(found.iter().zip([0.5, 2.0, 8.0, 32.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        let cells = [Some(-1.0), Some(-2.0), None, Some(0.5)];
        assert_eq!(stretches(&cells), [(SETTLES, 0, 2), (OSCILLATES, 3, 4)]);
    }
}
