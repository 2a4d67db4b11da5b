//! A page about why a run swings: spectra of its series beside what chance predicts, and the Nyquist loci there.

use super::super::figure::{Figure, Panel};
use super::super::markup::Text;
use super::super::page::{Section, page};
use super::super::plot::{Axis, Plot};
use super::super::scale::Scale;
use super::super::theme::Look;
use super::nyquist;
use crate::analysis::{Density, Explanation, Of, Swing};

/// The page.
#[must_use]
pub fn explanation(title: &str, sentence: &str, explained: &Explanation) -> String {
    let stretch = &explained.stretch;
    let lead = format!(
        "<p>{}</p><p>{}, {:.3} s to {:.3} s ({} to: {})</p>",
        Text(sentence),
        Text(&explained.run),
        stretch.from,
        stretch.to,
        Text(&stretch.begins),
        Text(&stretch.ends)
    );
    let figures: Vec<Figure> = explained.swings.iter().take(MOST).enumerate().map(figure).collect();
    let spectra = Section::of_figures(
        "spectra",
        "What moves, and what chance predicts",
        "Standard deviation per root of Hz over frequency, both logarithmic. A sharp peak is an oscillation; a broad hill where the \
         prediction has one is noise that the loop amplifies.",
        &figures,
    );
    let loci = Section::of_figures(
        "nyquist",
        "Nyquist loci at the run's operating point",
        "The eigenvalues of the return ratio over the bottlenecks, along the imaginary axis. The network is stable as long as they \
         pass the point -1 on its right and do not go around it.",
        &[nyquist::chart(&explained.model.stability)],
    );
    page(title, &lead, &spectra.into_iter().chain(loci).collect::<Vec<_>>())
}

/// More quantities than this are not drawn.
const MOST: usize = 6;

fn figure((place, swing): (usize, &Swing)) -> Figure {
    const PER_DECADE: f64 = 24.0;
    const DECADES: f64 = 6.0;
    let unit = if swing.of == Of::Queue { "packets/√Hz" } else { "Mbps/√Hz" };
    let factor = if swing.of == Of::Queue { 1.0 } else { 1e-6 };
    let root = |curve: &Density| -> Density {
        curve.iter().map(|(frequency, density)| (*frequency, density.sqrt() * factor)).collect()
    };
    let measured = root(&smooth(&swing.spectrum, PER_DECADE));
    let (low, high) = ends(&measured);
    let inside = |point: &(f64, f64)| (low..=high).contains(&point.0);
    let predicted: Density = root(&swing.floor.spectrum).into_iter().filter(inside).collect();
    let values = || measured.iter().chain(&predicted).map(|point| point.1);
    let mut plot = Plot::new(
        format!("Spectrum of {}", swing.name),
        Axis::numbered(Scale::log([low, high], 9.0), "Hz", 6),
        Axis::numbered(Scale::log(values(), DECADES), "", 5),
        260,
    );
    let looks = [Look(0), Look(1)];
    let mut legend = String::new();
    for (look, (name, curve)) in looks.into_iter().zip([("series", &measured), ("predicted", &predicted)]) {
        if !curve.is_empty() {
            plot.curve(name, &format!("line {} {}", look.colour(), look.dashes()), curve);
            legend += &look.legend_entry(name);
        }
    }
    let panel = Panel { title: swing.name.clone(), unit: unit.into(), legend, plot };
    let caption = match (&swing.peak, predicted.is_empty()) {
        (Some(peak), true) => {
            format!("The series stand out at {:.4} Hz; no noise is predicted.", peak.frequency)
        }
        (Some(peak), false) => format!("The series stand out at {:.4} Hz.", peak.frequency),
        (None, _) => "Nothing moves.".to_owned(),
    };
    Figure {
        id: format!("spectrum-{place}"),
        title: format!("{}", Text(&swing.name)),
        class: "",
        panels: vec![panel],
        caption,
    }
}

fn ends(curve: &Density) -> (f64, f64) {
    let at = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.0);
    (at(curve.first()), at(curve.last()))
}

/// Means over steps of equal ratio.
fn smooth(spectrum: &Density, per_decade: f64) -> Density {
    let step = |frequency: f64| (frequency.log10() * per_decade).floor();
    let means = spectrum.chunk_by(|a, b| step(a.0) == step(b.0)).map(|chunk| {
        let (frequencies, densities): (f64, f64) =
            chunk.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (frequencies / chunk.len() as f64, densities / chunk.len() as f64)
    });
    means.collect()
}
