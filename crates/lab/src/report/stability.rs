//! A page about the stability of a scenario: Nyquist loci and a map.

use super::figure::{Figure, Panel};
use super::markup::Text;
use super::page::{Section, page};
use super::plot::{Axis, Plot};
use super::scale::Scale;
use super::theme::Look;
use crate::analysis::{Map, Stability};
use millpond_fluid::stability::{Characteristic, loci};

/// The page.
#[must_use]
pub fn stability(title: &str, sentence: &str, stability: &Stability, map: Option<&Map>) -> String {
    let lead = format!("<p>{}</p>", Text(sentence));
    let loci = Section::of_figures(
        "nyquist",
        "Nyquist loci",
        "The eigenvalues of the return ratio over the bottlenecks, along the imaginary axis. The network is stable as long as they \
         pass the point -1 on its right and do not go around it.",
        &[nyquist(stability)],
    );
    let map = map.and_then(|map| {
        let intro = "Where the network settles (filled) and where it oscillates, its equilibrium computed anew at each point.";
        Section::of_figures("map", "Map of stability", intro, &[chart(map)])
    });
    page(title, &lead, &loci.into_iter().chain(map).collect::<Vec<_>>())
}

fn nyquist(stability: &Stability) -> Figure {
    const DECADES_BELOW: f64 = 0.03;
    let crossing = stability.margins.delay.or(stability.margins.phase).or(stability.margins.gain);
    let root = stability.spectrum.roots.first().map_or(1.0, |root| root.s.norm());
    let middle = crossing.map_or(root, |crossing| crossing.frequency);
    let function = Characteristic::new(&stability.linear.system);
    let mut plot = Plot::new(
        "Nyquist loci",
        Axis::numbered(Scale::linear(-2.5, 1.0), "real part", 7),
        Axis::numbered(Scale::linear(-2.0, 1.0), "imaginary part", 6),
        420,
    )
    .coloured(Look(0));
    for locus in loci(&function, middle * DECADES_BELOW, middle * 100.0) {
        let inside = |re: f64, im: f64| (-2.5..=1.0).contains(&re) && (-2.0..=1.0).contains(&im);
        let point = |&(_, value): &(f64, millpond_fluid::stability::Complex<f64>)| {
            (value.re, if inside(value.re, value.im) { value.im } else { f64::NAN })
        };
        plot.curve("L(i w)", "line", &locus.points.iter().map(point).collect::<Vec<_>>());
    }
    plot.stroke("median", (-1.0, 0.0), 14.0);
    plot.words("name", (-1.0, 0.0), (6.0, -6.0), false, "-1");
    let panel = Panel { title: "eigenvalues of L".into(), unit: String::new(), legend: String::new(), plot };
    let caption = "Frequency rises towards the origin.".to_owned();
    Figure {
        id: "nyquist-loci".into(),
        title: "Return ratio".into(),
        class: "",
        panels: vec![panel],
        caption,
    }
}

/// Stable stretches of each row as bars.
fn chart(map: &Map) -> Figure {
    const HEIGHT: u16 = 420;
    let log = |values: &[f64]| Scale::log(values.iter().copied(), 9.0);
    let (across, up) = (&map.across, &map.up);
    let mut plot = Plot::new(
        "Map of stability",
        Axis::numbered(log(&across.values), across.knob.name(), 6),
        Axis::numbered(log(&up.values), up.knob.name(), 6),
        HEIGHT,
    )
    .coloured(Look(0));
    // Plots have at most some hundred rows.
    #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
    let thick = f64::from(HEIGHT) / up.values.len().max(1) as f64;
    for (row, value) in map.growth.iter().zip(&up.values) {
        let mut start = None;
        for (column, x) in across.values.iter().enumerate() {
            let stable = row[column].is_some_and(|growth| growth < 0.0);
            let last = column + 1 == across.values.len();
            if stable && start.is_none() {
                start = Some(*x);
            }
            if let Some(from) = start.filter(|_| !stable || last) {
                plot.bar("fill", (from, *x), *value, thick);
                start = None;
            }
        }
    }
    let title = format!("{} over {}", up.knob.name(), across.knob.name());
    let panel = Panel { title: title.clone(), unit: String::new(), legend: String::new(), plot };
    let caption = "RTT in seconds: that of the flow with the longest one.".to_owned();
    Figure { id: "stability-map".into(), title, class: "", panels: vec![panel], caption }
}
