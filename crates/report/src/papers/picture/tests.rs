//! Pictures of a small recipe: what is derived from its rows, and what it declares.

use super::*;
use millpond_papers::{Expectation, Library, SelectedRecipe};
use millpond_results::{EntityKind, Run, Series, quantity};
use std::collections::BTreeMap;
use std::path::Path;

const RECIPE: &str = "
title = 't'
place = 'Fig. 1'
claim = 'c'
[stages]
late = ['10s', '20s']
[scenario]
duration = '20s'
[[cases]]
columns = ['name']
rows = [['10 Mbit/s'], ['1 Gbit/s, whole run'], ['1 Gbit/s']]
[[expect]]
what = 'rate of flow {flow}'
series = { flow = '{flow}', quantity = 'rate' }
during = 'late'
scale = 1e-6
unit = 'Mbit/s'
because = 'b'
columns = ['{flow}', 'paper', 'accept']
rows = [['a', 5, [4, 6]], ['b', [6, 7], [6, 7]]]
[[expect]]
what = '4 Mbit/s are reached'
series = { flow = 'a', quantity = 'goodput' }
statistic = { reaches = 4e6 }
scale = 1000
unit = 'ms'
paper = 3000
accept = [2900, 3100]
because = 'b'
[[expect]]
what = 'utilization'
summary = 'links.L.utilization'
paper = 0.9
accept = [0.8, 1]
because = 'b'
cases = ['10 Mbit/s', '1 Gbit/s, whole run', '1 Gbit/s']
[[expect]]
what = 'utilization, more than at 10'
summary = 'links.L.utilization'
case = '1 Gbit/s'
versus = '10 Mbit/s'
paper = { order = '>', by = 1.5 }
";

const PAPER: &str = "
title = 'p'
source = 'q'
kind = 'subject'
[[readings]]
name = 'r'
about = 'b'
";

/// The pictures of the recipe with these figures, whose rows all have two seeds, with the values 1 and 3.
fn pictures(figures: &str) -> Vec<Picture> {
    let text = RECIPE.replace("[stages]", &format!("{figures}\n[stages]"));
    let texts = [("toy/paper.toml", PAPER.to_owned()), ("toy/fig1.toml", text)];
    let texts = BTreeMap::from(texts.map(|(name, text)| (name.to_owned(), text)));
    let library = Library::parse(&texts, Path::new("")).unwrap_or_else(|error| panic!("{error}"));
    let SelectedRecipe { recipe, .. } = library.select(None).unwrap()[0];
    let row = |row: &Expectation| MeasuredRow {
        row: row.clone(),
        case: recipe.case_of(row).to_owned(),
        shown_case: recipe.case_of(row).to_owned(),
        reading: String::new(),
        values: Ok(vec![1.0, 3.0]),
        verdict: RowVerdict::Matches,
    };
    let rows: Vec<_> = recipe.rows(false).map(row).collect();
    let series = |entity: &str, quantity: &str| Series {
        kind: EntityKind::Flow,
        entity: entity.into(),
        quantity: quantity.into(),
        unit: "bit/s".into(),
        times: vec![10.0, 20.0].into(),
        values: vec![5e6, 7e6],
    };
    let series = vec![series("a", "rate"), series("b", "rate"), series("a", quantity::GOODPUT)];
    let run = Run { series, ..Run::default() };
    let runs = [ChartedRun { case: "10 Mbit/s".into(), reading: "r".into(), time_axis: "time, s", run }];
    let figures: Vec<_> = recipe.figures.iter().map(|figure| figure.get_ref().clone()).collect();
    MeasuredRecipe { rows: &rows, runs: &runs }.pictures(&figures)
}

fn values(picture: &Picture) -> &ValuePicture {
    match picture {
        Picture::Values(values) => values,
        other => panic!("no picture of values: {other:?}"),
    }
}

#[test]
fn without_a_figure_the_series_of_the_rows_are_drawn_with_the_papers_values() {
    let pictures = pictures("");
    let Picture::OverTime(picture) = &pictures[0] else { panic!("{pictures:?}") };
    let [rate, goodput] = picture.panels.as_slice() else { panic!("{picture:?}") };
    assert_eq!((rate.series.as_slice(), goodput.series.as_slice()), (&[0, 1][..], &[2][..]));
    assert_eq!((rate.factor, rate.axis.unit.as_str()), (1.0, "bit/s"));
    let areas = |panel: &TimePanel| -> Vec<_> {
        panel.paper.iter().map(|area| (area.from, area.to, area.low.round(), area.high.round())).collect()
    };
    let levels = [(10.0, 20.0, 5e6, 5e6), (10.0, 20.0, 6e6, 7e6)];
    assert_eq!(areas(rate)[..2], levels);
    assert_eq!(areas(goodput).last(), Some(&(3.0, 3.0, 4e6, 4e6)));
    let boxes = values(&pictures[1]);
    assert_eq!(boxes.panels.len(), 1, "two rows of one quantity are in the table alone");
    let categories: Vec<_> = boxes.panels[0].curves[0].points.iter().map(|point| &point.category).collect();
    assert_eq!(categories, ["10 Mbit/s", "1 Gbit/s, whole run", "1 Gbit/s"]);
}

#[test]
fn a_parameter_is_read_from_the_names_of_cases_and_the_rest_of_the_name_is_a_curve() {
    let figure = "[[figures]]\nkind = 'parameter'\nx = { label = 'capacity', unit = 'Mbit/s' }\n\
                  panels = [{ what = 'utilization' }]";
    let pictures = pictures(figure);
    let curves = &values(&pictures[0]).panels[0].curves;
    let points = |curve: &ValueCurve| curve.points.iter().map(|point| point.x).collect::<Vec<_>>();
    assert_eq!((curves[0].name.as_str(), points(&curves[0])), ("", vec![10.0, 1000.0]));
    assert_eq!((curves[1].name.as_str(), points(&curves[1])), ("whole run", vec![1000.0]));
    let point = &curves[0].points[0];
    assert_eq!((point.measured, point.paper), (Some([1.0, 1.5, 2.0, 2.5, 3.0]), Some((0.9, 0.9))));
}

#[test]
fn the_order_of_a_quotient_is_a_range_and_boxes_of_a_series_are_over_its_samples() {
    let figure = "[[figures]]\nkind = 'boxes'\npanels = [{ what = '*more*' }, \
                  { series = { flow = 'a', quantity = 'rate' }, scale = 1e-6, unit = 'Mbit/s' }]";
    let pictures = pictures(figure);
    let panels = &values(&pictures[0]).panels;
    assert_eq!(panels[0].curves[0].points[0].paper, Some((1.5, f64::INFINITY)));
    let middle = panels[1].curves[0].points[0].measured.map(|numbers| numbers[2]);
    assert_eq!((middle, panels[1].axis.unit.as_str()), (Some(6.0), "Mbit/s"));
}
