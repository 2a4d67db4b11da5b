//! The page about a frontier: the picture, the protocols as a table, the method with its assumptions.

use maud::{Markup, html};
use millpond_chart::{
    Axis, Figure, LabelPosition, Legend, MarkedName, Panel, PlacedNames, Plot, Point, Scale, SeriesStyle,
    elide, label_positions, name_classes,
};
use millpond_frontier::{Frontier, LimitKind, ProtocolPoint};
use millpond_report::document::{Section, origin, page};
use millpond_results::RunOrigin;
use millpond_units::format::{number, percent};

const HEIGHT: f64 = 380.0;
/// Names have room at each of these widths in pixels.
const WIDTHS: [f64; 3] = [310.0, 480.0, 1050.0];
/// Names are cut to this many characters.
const NAME_LENGTH: usize = 18;
/// The horizontal axis, in milliseconds; values beyond an end are drawn at it.
const DELAYS: (f64, f64) = (1.0, 2000.0);

/// The page of a frontier. Equal frontiers give equal bytes.
pub fn frontier(frontier: &Frontier, made: &RunOrigin) -> String {
    let lead = html! {
        ul.facts {
            li {
                (number(frontier.capacity_bps / 1e6)) " Mbit/s · base RTT " (number(1000.0 * frontier.rtt_s)) " ms · "
                (number(frontier.measured_from_s)) " s to " (number(frontier.measured_to_s)) " s · buffer "
                (frontier.buffer)
            }
            (origin(made))
        }
        p.guide { (reading(frontier)) }
    };
    let sections = [
        Section {
            id: "frontier".into(),
            title: format!("The {}, a reference and protocols", limit_name(frontier)),
            intro: String::new(),
            body: html! { (frontier_figure(frontier)) },
        },
        Section {
            id: "protocols".into(),
            title: "Protocols".into(),
            intro: format!(
                "One flow over one link with this trace, in the packet world. The {} is taken at the delay of the protocol plus the \
                 service time of a packet at the mean rate.",
                limit_name(frontier)
            ),
            body: html! { (table(frontier)) (warnings(frontier)) },
        },
        Section {
            id: "method".into(),
            title: "Method and assumptions".into(),
            intro: String::new(),
            body: method(frontier),
        },
    ];
    page(&format!("Frontier of {}", frontier.trace), &lead, &sections)
}

/// The name of the limit.
fn limit_name(frontier: &Frontier) -> &'static str {
    match frontier.kind {
        LimitKind::Bound => "bound",
        LimitKind::Guide => "guide",
    }
}

fn reading(frontier: &Frontier) -> &'static str {
    match frontier.kind {
        LimitKind::Bound => {
            "The trace is generated, so the conditional law of its next rates is known. No controller that drops nothing \
             exceeds the bound in the mean over traces of this random process; on a single trace chance can add some tenths of \
             a point. The line \"one factor\" can be reached by who knows one number in advance."
        }
        LimitKind::Guide => {
            "The trace is a recording, whose random process is not known. The guide is the same program with the futures of the \
             trace itself. It is no bound: a controller that knows more than two numbers of the past can exceed it."
        }
    }
}

/// The picture: the limit and the reference as curves, protocols as markers.
pub fn frontier_figure(frontier: &Frontier) -> Figure {
    let limit: Vec<Point> =
        frontier.limit.iter().map(|point| (point.delay_ms, 100.0 * point.utilization)).collect();
    let reference: Vec<Point> = frontier
        .one_factor
        .iter()
        .map(|point| (point.queueing_p95_ms.max(DELAYS.0), 100.0 * point.utilization))
        .collect();
    let points: Vec<Point> = frontier
        .protocols
        .iter()
        .map(|point| (point.queueing_p95_ms.clamp(DELAYS.0, DELAYS.1), 100.0 * point.utilization))
        .collect();
    let x = Scale::decades(DELAYS.0, DELAYS.1);
    let y = Scale::linear(0.0, 102.0);
    let x_axis = Axis::numbered(x, "95th percentile of queueing delay, ms", 8);
    let label = "Utilization against the 95th percentile of queueing delay";
    let mut plot = Plot::new(label, x_axis, Axis::numbered(y, "", 6), HEIGHT as u16);
    let [bound, factor] = [0, 1].map(SeriesStyle);
    plot.curve(limit_name(frontier), &bound.line(), &limit);
    plot.curve("one factor", &factor.line(), &reference);
    mark(&mut plot, frontier, &points, |point, width| {
        (width * x.fraction(point.0), HEIGHT * (1.0 - y.fraction(point.1)))
    });
    let legend = Legend::new()
        .line(&bound.line(), limit_name(frontier))
        .line(&factor.line(), "one factor in hindsight");
    Figure {
        id: "frontier-figure".into(),
        title: html! { "Utilization against queueing delay" },
        class: "",
        panels: vec![Panel { title: "Utilization".into(), unit: "%".into(), legend, plot }],
        caption: format!(
            "Higher is more of the capacity used, further left is a shorter delay. Delays below {} ms and above {} ms are drawn \
             at the edge. A narrow window leaves out names without room; the table has the marker of each.",
            number(DELAYS.0),
            number(DELAYS.1)
        ),
    }
}

/// A marker and a name for each protocol. `at` is the place of a point in a plot of a width in pixels.
fn mark(plot: &mut Plot, frontier: &Frontier, points: &[Point], at: impl Fn(&Point, f64) -> Point) {
    let names: Vec<String> =
        frontier.protocols.iter().map(|point| elide(&point.label, NAME_LENGTH)).collect();
    let places = |width: f64| -> Vec<MarkedName<'_>> {
        points.iter().zip(&names).map(|(point, name)| MarkedName { at: at(point, width), name }).collect()
    };
    let plots = WIDTHS.map(|width| PlacedNames { width, names: places(width), lines: Vec::new() });
    let positions = label_positions(&plots);
    let classes = name_classes(&plots, &positions);
    let styles = styles(&frontier.protocols);
    for ((((point, name), position), class), style) in
        points.iter().zip(&names).zip(positions).zip(classes).zip(styles)
    {
        plot.mark(style, *point);
        plot.text(class, *point, LabelPosition { dy: position.dy + 4.0, ..position }, name);
    }
}

/// The style of each point: that of its protocol.
fn styles(points: &[ProtocolPoint]) -> impl Iterator<Item = SeriesStyle> {
    families(points).into_iter().map(|family| SeriesStyle(family + 2))
}

/// For each point the index of its protocol: a protocol with several targets has one.
fn families(points: &[ProtocolPoint]) -> Vec<usize> {
    let mut known: Vec<&str> = Vec::new();
    let family = |point| {
        let point: &ProtocolPoint = point;
        let name = point.label.split('@').next().unwrap_or_default();
        known.iter().position(|one| *one == name).unwrap_or_else(|| {
            known.push(name);
            known.len() - 1
        })
    };
    points.iter().map(family).collect()
}

fn table(frontier: &Frontier) -> Markup {
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent);
    let (bound, below) = match frontier.kind {
        LimitKind::Bound => ("Bound at this delay", "Below the bound"),
        LimitKind::Guide => ("Guide at this delay", "Below the guide"),
    };
    let headings = ["Protocol", "Utilization", "p95 of queueing, ms", "Dropped", bound, below];
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Protocols" {
            table.evidence {
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                tbody {
                    @for (point, style) in frontier.protocols.iter().zip(styles(&frontier.protocols)) {
                        tr {
                            th scope="row" { (style.badge()) (point.label) }
                            td data-label="Utilization" { (percent(point.utilization)) }
                            td data-label="p95 of queueing, ms" { (number(point.queueing_p95_ms)) }
                            td data-label="Dropped" { (percent(point.loss)) }
                            td data-label=(bound) { (share(point.limit)) }
                            td data-label=(below) { (share(point.limit.map(|limit| limit - point.utilization))) }
                        }
                    }
                }
            }
        }
    }
}

/// Why protocols are not in the range for which they are designed; nothing if all are.
fn warnings(frontier: &Frontier) -> Markup {
    let warnings = frontier.warnings();
    html! { @if !warnings.is_empty() { ul.notes { @for warning in warnings { li { (warning) } } } } }
}

fn method(frontier: &Frontier) -> Markup {
    html! {
        p {
            "A decision at time t changes the arrivals at the link from t + T on, where T is the base round-trip time. The bytes \
             that will have arrived by t + T and have not departed by t are therefore determined at t: the bytes in the loop, W. \
             With S_h the service of the link in the next h seconds and d a delay,"
        }
        pre {
            "(1)  departures in (t, t + T]  <=  min(S_T, W)\n"
            "(2)  the bytes served at t + T + d have waited longer than d  if  W > S_{T+d}"
        }
        p {
            "The curve is the greatest mean of (1) for which the mean of (2) is at most 5 % of the departures. W may depend on \
             all that is known at t, and nothing else couples two times, so each state of knowledge is one newsvendor problem: \
             as a function of the window, idle capacity falls and late bytes rise. The linear program over all states spends the \
             permitted late bytes where they save the most idle capacity."
        }
        ul {
            li { "The router drops nothing. A router that drops what would be late can have both a full link and a short queue, at \
                  the price of retransmissions; the table has the share of dropped packets." }
            li { "Packets of infinitesimal size. Queueing delay of a packet leaves out its own service time, so a protocol is \
                  compared at its delay plus that time." }
            li { "W may fall from one time to the next, as if bytes could be recalled. The curve is above what is possible on links \
                  whose rate falls fast." }
            @match frontier.kind {
                LimitKind::Bound => {
                    li { "The controller knows the state of the random process at each sample: both components of the Gaussian \
                          process, the times at which outages began, and the scale of the trace. Protocols know less." }
                    li { "The conditional law is evaluated on 256 equally likely points, and (1) and (2) on five times in each \
                          interval between two discontinuities." }
                }
                LimitKind::Guide => {
                    li { "States are 32 cells of the present rate and its change, and the futures of a cell are those of the trace: \
                          more knowledge could do better, and fitting to the same trace flatters the curve." }
                }
            }
            li { "One factor: the window is a constant times the present rate (of delivery opportunities the mean of 100 ms) times \
                  T. Each point of the line is one constant; its queue is computed in steps of at most a millisecond." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_frontier::{FactorPoint, LimitPoint};

    fn example(kind: LimitKind) -> Frontier {
        let point = |label: &str, utilization| ProtocolPoint {
            label: label.to_owned(),
            utilization,
            queueing_p95_ms: 40.0,
            loss: 0.0,
            limit: Some(0.9),
            warnings: vec![format!("{label}: outside of its range")],
        };
        Frontier {
            trace: "a <trace>".into(),
            rtt_s: 0.05,
            measured_from_s: 2.0,
            measured_to_s: 60.0,
            capacity_bps: 5e6,
            buffer: "1s".into(),
            kind,
            limit: vec![LimitPoint { delay_ms: 20.0, utilization: 0.8 }],
            one_factor: vec![FactorPoint { factor: 1.0, utilization: 0.7, queueing_p95_ms: 30.0 }],
            protocols: vec![point("pledge@20ms", 0.7), point("pledge@50ms", 0.8), point("xcp", 0.75)],
        }
    }

    #[test]
    fn the_page_names_the_trace_the_kind_of_limit_and_every_protocol() {
        let made = RunOrigin { command: "millpond frontier a".into(), version: "1.2".into() };
        let bound = frontier(&example(LimitKind::Bound), &made);
        for text in [
            "Frontier of a &lt;trace&gt;",
            "pledge@50ms",
            "xcp",
            "The bound is taken at",
            "256 equally likely points",
            "Millpond 1.2: <code>millpond frontier a</code>",
            "<li>xcp: outside of its range</li>",
        ] {
            assert!(bound.contains(text), "{text}");
        }
        let guide = frontier(&example(LimitKind::Guide), &made);
        assert!(guide.contains("It is no bound") && !guide.contains("256 equally"));
    }

    #[test]
    fn a_protocol_with_several_targets_has_one_marker() {
        assert_eq!(families(&example(LimitKind::Bound).protocols), [0, 0, 1]);
    }
}
