//! The page about disturbances: for each protocol tornado charts and a table.

use super::tornado::{TORNADOES, Tornado, TornadoBar};
use maud::{Markup, html};
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Scale, SeriesStyle};
use millpond_report::document::{Section, page};
use millpond_results::{DisturbanceComparison, DisturbedProtocol, DisturbedRow, Estimate};

/// The page of a comparison of disturbances. `meanings`: for each disturbance its name, what it changes, and its origin.
pub fn disturbances(comparison: &DisturbanceComparison, meanings: &[[&str; 3]]) -> String {
    let sections = comparison.protocols.iter().enumerate().map(|(index, protocol)| section(index, protocol));
    let sections: Vec<Section> = sections.chain([about(meanings)]).collect();
    let seeds: Vec<String> = comparison.seeds.iter().map(u64::to_string).collect();
    let lead = html! {
        p.facts {
            "Disturbances, one at a time · seed " (seeds.join(", ")) " · Millpond " (comparison.version) ": "
            code { (comparison.command) }
        }
        p.guide {
            "A bar of a tornado chart spans the changes of a quantity by all levels of one disturbance, from the run without \
             it under the same seeds. The disturbance with the greatest change is at the top. A disturbance that does not \
             apply has no bar; the table says why."
        }
    };
    page(&comparison.scenario, &lead, &sections)
}

/// All charts as one figure, for a file; none if no disturbance applies.
pub fn tornado(comparison: &DisturbanceComparison) -> Option<Figure> {
    let panels =
        comparison.protocols.iter().enumerate().flat_map(|(index, protocol)| panels(index, protocol, true));
    let panels: Vec<Panel> = panels.collect();
    (!panels.is_empty()).then(|| Figure {
        id: "tornado".into(),
        title: html! { "Changes by disturbances" },
        class: "named-rows tornado",
        panels,
        caption: String::new(),
    })
}

fn section(index: usize, protocol: &DisturbedProtocol) -> Section {
    let name = &protocol.protocol;
    let figure = Figure {
        id: format!("tornado-{index}"),
        title: html! { "Changes by disturbances" },
        class: "named-rows tornado",
        panels: panels(index, protocol, false),
        caption: String::new(),
    };
    Section {
        id: format!("protocol-{index}"),
        title: name.clone(),
        intro: String::new(),
        body: html! {
            @if !figure.panels.is_empty() { (figure) }
            (table(protocol))
        },
    }
}

/// A panel for each indicator that changes.
fn panels(index: usize, protocol: &DisturbedProtocol, with_name: bool) -> Vec<Panel> {
    TORNADOES.iter().filter_map(|tornado| panel(index, protocol, tornado, with_name)).collect()
}

/// A plot has room for this many bars at least, so that its title fits beside it.
const LEAST_ROWS: usize = 4;

fn panel(index: usize, protocol: &DisturbedProtocol, tornado: &Tornado, with_name: bool) -> Option<Panel> {
    let bars = tornado.bars(protocol);
    let undisturbed = (tornado.value)(&protocol.undisturbed)?.mean * tornado.scale;
    if bars.is_empty() {
        return None;
    }
    let low = bars.iter().map(|bar| bar.low).fold(0.0, f64::min);
    let high = bars.iter().map(|bar| bar.high).fold(0.0, f64::max);
    let room = 0.04 * (high - low);
    let scale = Scale::linear(low - room, high + room);
    let axis = format!("change of {}, {}", tornado.heading, tornado.unit);
    let names = Axis::named(bars.iter().map(|bar| bar.name.as_str()));
    let height = 22 * bars.len().max(LEAST_ROWS) as u16 + 8;
    let mut plot = Plot::new(axis.clone(), Axis::numbered(scale, axis, 6), names, height);
    let colour = SeriesStyle(index).colour();
    for (row, TornadoBar { low, high, .. }) in bars.iter().enumerate() {
        let row = -(row as f64);
        plot.bar(&format!("box {colour}"), *low..*high, row, 12.0);
        plot.vertical_stroke("median", (0.0, row), 22.0);
    }
    let title = match with_name {
        true => format!("{}: {}", protocol.protocol, tornado.heading),
        false => format!("{} ({} without a disturbance)", tornado.heading, (tornado.show)(undisturbed)),
    };
    Some(Panel { title, unit: tornado.unit.into(), legend: Legend::new(), plot })
}

fn table(protocol: &DisturbedProtocol) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label={ "Disturbances of " (protocol.protocol) } {
            table.evidence {
                thead {
                    tr {
                        th scope="col" { "Disturbance" }
                        @for tornado in &TORNADOES { th scope="col" { (tornado.heading) ", " (tornado.unit) } }
                    }
                }
                tbody {
                    tr {
                        th scope="row" { "none" }
                        @for tornado in &TORNADOES {
                            td data-label=(tornado.label) { (shown(tornado, (tornado.value)(&protocol.undisturbed))) }
                        }
                    }
                    @for row in &protocol.rows { (table_row(row)) }
                }
            }
        }
    }
}

fn table_row(row: &DisturbedRow) -> Markup {
    html! {
        tr {
            th scope="row" { (row.disturbance) " " (row.level) }
            @if let Some(reason) = &row.does_not_apply {
                td colspan=(TORNADOES.len()) data-label="Does not apply" { "does not apply: " (reason) }
            } @else {
                @for tornado in &TORNADOES {
                    td data-label=(tornado.label) {
                        (shown(tornado, row.values.as_ref().and_then(tornado.value)))
                    }
                }
            }
        }
    }
}

fn shown(tornado: &Tornado, value: Option<Estimate>) -> String {
    let Some(value) = value.map(|value| value.scaled(tornado.scale)) else { return "-".to_owned() };
    let half = value.half_width.map_or_else(String::new, |half| format!(" ± {}", (tornado.show)(half)));
    (tornado.show)(value.mean) + &half
}

/// What each disturbance is.
fn about(meanings: &[[&str; 3]]) -> Section {
    Section {
        id: "disturbances".into(),
        title: "Disturbances".into(),
        intro: String::new(),
        body: html! {
            div.scrolls tabindex="0" role="region" aria-label="Disturbances" {
                table.evidence {
                    thead { tr { @for title in ["Name", "What it changes", "Origin"] { th scope="col" { (title) } } } }
                    tbody {
                        @for [name, changes, origin] in meanings {
                            tr {
                                th scope="row" { (name) }
                                td data-label="What it changes" { (changes) }
                                td data-label="Origin" { (origin) }
                            }
                        }
                    }
                }
            }
        },
    }
}
