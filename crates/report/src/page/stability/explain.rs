//! A page about why a run swings: spectra of its series beside what chance predicts, and the Nyquist loci there.

use super::super::bundle::legend_entry;
use super::super::document::{Section, page};
use super::nyquist;
use crate::chart::figure::{Figure, Panel};
use crate::chart::markup::{Text, short};
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use crate::chart::theme::Look;
use millpond_theory::explain::{Explanation, Fluctuation, FluctuationKind, PowerSpectrum};

/// The page.
#[must_use]
pub fn explanation(title: &str, sentence: &str, explained: &Explanation) -> String {
    let lead = format!(
        "<p>{}</p><p>{}, {}</p>",
        Text(sentence),
        Text(&explained.run),
        Text(&explained.interval.to_string())
    );
    let own = explained.model.frequency();
    let figures: Vec<Figure> = explained
        .fluctuations
        .iter()
        .take(MOST)
        .enumerate()
        .map(|(index, found)| figure(index, found, own))
        .collect();
    let spectra = Section::of_figures(
        "spectra",
        "What moves, and what chance predicts",
        "Standard deviation per root of Hz over frequency, both logarithmic. A sharp peak is an oscillation; a broad hill where the \
         prediction has one is noise that the loop amplifies. What moves faster than half the rate of samples is folded into the \
         series, and is not in the prediction.",
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
/// At the frequency of the linear loop.
const OWN: &str = "guide";

/// A spectrum, `own` being the frequency of the linear loop.
fn figure(index: usize, found: &Fluctuation, own: Option<f64>) -> Figure {
    const PER_DECADE: f64 = 24.0;
    const DECADES: f64 = 6.0;
    let (unit, factor) = if found.is_queue() { ("packets/√Hz", 1.0) } else { ("Mbps/√Hz", 1e-6) };
    let root = |curve: &PowerSpectrum| -> PowerSpectrum {
        curve.iter().map(|(frequency, density)| (*frequency, density.sqrt() * factor)).collect()
    };
    let measured = root(&smooth(&found.spectrum, PER_DECADE));
    let (low, high) = ends(&measured);
    let inside = |frequency: f64| (low..=high).contains(&frequency);
    let predicted: PowerSpectrum =
        root(&found.noise_floor.spectrum).into_iter().filter(|point| inside(point.0)).collect();
    let scale = Scale::log(measured.iter().chain(&predicted).map(|point| point.1), DECADES);
    let title = title(found);
    let mut plot = Plot::new(
        format!("Spectrum of {title}"),
        Axis::numbered(Scale::log([low, high], 9.0), "frequency, Hz", 6),
        Axis::numbered(scale, "", 5),
        260,
    )
    .coloured(Look(0));
    let mut legend = String::new();
    for (look, name, curve) in [(Look(0), "series", &measured), (Look(1), "predicted", &predicted)] {
        if !curve.is_empty() {
            let class = format!("line {} {}", look.colour(), look.dashes());
            plot.curve(name, &class, curve);
            legend += &format!(r#"<span class="{}">{}</span>"#, look.colour(), legend_entry(&class, name));
        }
    }
    if let Some(own) = own.filter(|own| inside(*own)) {
        plot.curve("", OWN, &[(own, scale.low), (own, scale.high)]);
        legend += &legend_entry(OWN, "linear loop");
    }
    let panel = Panel { title: "standard deviation".into(), unit: unit.into(), legend, plot };
    Figure {
        id: format!("spectrum-{index}"),
        title: Text(&title).to_string(),
        class: "",
        panels: vec![panel],
        caption: caption(found, predicted.is_empty()),
    }
}

fn title(found: &Fluctuation) -> String {
    match found.kind {
        FluctuationKind::TotalRate => format!("Rates of {}", found.name),
        FluctuationKind::FlowRate => format!("Rate of {}", found.name),
        FluctuationKind::Queue => format!("Queue{}", found.name.trim_start_matches("queue")),
    }
}

fn caption(found: &Fluctuation, is_unpredicted: bool) -> String {
    let stands_out = match &found.peak {
        Some(peak) if peak.is_significant() => {
            format!("The series stand out at {} Hz", short(peak.frequency))
        }
        Some(_) => "No frequency stands out".to_owned(),
        None => "Nothing moves".to_owned(),
    };
    format!("{stands_out}{}.", if is_unpredicted { "; no noise is predicted" } else { "" })
}

fn ends(curve: &PowerSpectrum) -> (f64, f64) {
    let at = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.0);
    (at(curve.first()), at(curve.last()))
}

/// Means over steps of equal ratio.
fn smooth(spectrum: &PowerSpectrum, per_decade: f64) -> PowerSpectrum {
    let step = |frequency: f64| (frequency.log10() * per_decade).floor();
    let means = spectrum.chunk_by(|a, b| step(a.0) == step(b.0)).map(|chunk| {
        let (frequencies, densities): (f64, f64) =
            chunk.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (frequencies / chunk.len() as f64, densities / chunk.len() as f64)
    });
    means.collect()
}
