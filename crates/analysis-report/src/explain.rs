//! The page about why a run oscillates: spectra of its series, the predicted spectra, and Nyquist loci.

use crate::nyquist;
use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Scale, SeriesStyle};
use millpond_diagnosis::explain::{Explanation, Fluctuation, FluctuationKind, LinearModel, PowerSpectrum};
use millpond_report::document::{Section, page, paragraphs};
use millpond_units::format::number;

/// The page.
#[must_use]
pub fn explanation(title: &str, sentence: &str, explained: &Explanation) -> String {
    let interval = format!("{}, {}", explained.run, explained.interval);
    let capacities: Vec<String> = explained.capacities.iter().map(ToString::to_string).collect();
    let lead = paragraphs([sentence, &interval].into_iter().chain(capacities.iter().map(String::as_str)));
    let frequency = explained.model.as_ref().and_then(LinearModel::frequency);
    let fluctuations = explained.fluctuations.iter().take(MOST).enumerate();
    let figures: Vec<Figure> = fluctuations
        .map(|(index, fluctuation)| spectrum(index, fluctuation, frequency, "linear loop"))
        .collect();
    let spectra = Section::of_figures(
        "spectra",
        "Measured and predicted spectra",
        "Standard deviation per root of Hz over frequency, both logarithmic. A narrow peak is an oscillation. A wide peak that \
         the prediction has as well is noise that the loop amplifies. Components above half the sampling rate are aliased \
         into the measured series; the prediction does not contain them.",
        &figures,
    );
    let loci = explained.model.as_ref().and_then(|model| {
        Section::of_figures(
            "nyquist",
            "Nyquist loci at the run's operating point",
            "The eigenvalues of the return ratio over the bottlenecks, along the imaginary axis. The network is stable if the \
             loci do not encircle the point -1.",
            &[nyquist::chart(&model.stability)],
        )
    });
    page(title, &lead, &spectra.into_iter().chain(loci).collect::<Vec<_>>())
}

/// Only the first quantities are drawn.
const MOST: usize = 6;

/// The measured and the predicted spectrum in the unit of the plot, over the measured frequencies.
struct Spectra {
    measured: PowerSpectrum,
    predicted: PowerSpectrum,
    unit: &'static str,
    /// The lowest and the highest measured frequency, in Hz.
    lowest: f64,
    highest: f64,
}

impl Spectra {
    fn of(fluctuation: &Fluctuation) -> Self {
        const PER_DECADE: f64 = 24.0;
        let (unit, factor) =
            if fluctuation.is_queue() { ("packets/√Hz", 1.0) } else { ("Mbit/s/√Hz", 1e-6) };
        let root = |curve: &PowerSpectrum| -> PowerSpectrum {
            curve.iter().map(|(frequency, density)| (*frequency, density.sqrt() * factor)).collect()
        };
        let measured = root(&smooth(&fluctuation.spectrum, PER_DECADE));
        let frequency = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.0);
        let (lowest, highest) = (frequency(measured.first()), frequency(measured.last()));
        let mut predicted = root(&fluctuation.noise_floor.spectrum);
        predicted.retain(|point| (lowest..=highest).contains(&point.0));
        Self { measured, predicted, unit, lowest, highest }
    }
}

/// The spectra of one quantity; `frequency` is that of the linear loop, which the legend calls `source`.
pub(crate) fn spectrum(
    index: usize,
    fluctuation: &Fluctuation,
    frequency: Option<f64>,
    source: &str,
) -> Figure {
    const DECADES: f64 = 6.0;
    const LOOP: &str = "guide";
    let spectra = Spectra::of(fluctuation);
    let Spectra { measured, predicted, lowest, highest, .. } = &spectra;
    let scale = Scale::log(measured.iter().chain(predicted).map(|point| point.1), DECADES);
    let title = title(fluctuation);
    let x = Axis::numbered(Scale::log([*lowest, *highest], 9.0), "frequency, Hz", 6);
    let mut plot = Plot::new(format!("Spectrum of {title}"), x, Axis::numbered(scale, "", 5), 260)
        .coloured(SeriesStyle(0));
    let curves = [(SeriesStyle(0), "series", measured), (SeriesStyle(1), "predicted", predicted)];
    let curves = || curves.iter().filter(|(_, _, curve)| !curve.is_empty());
    for (style, name, curve) in curves() {
        plot.curve(name, &style.line(), curve);
    }
    let frequency = frequency.filter(|frequency| (*lowest..=*highest).contains(frequency));
    if let Some(frequency) = frequency {
        plot.unnamed_curve(LOOP, &[(frequency, scale.low), (frequency, scale.high)]);
    }
    let legend = curves()
        .fold(Legend::new(), |legend, (style, name, _)| legend.line(&style.line(), name))
        .and(Legend::new().line(LOOP, source).when(frequency.is_some()));
    Figure {
        id: format!("spectrum-{index}"),
        title: html! { (title) },
        class: "",
        panels: vec![Panel { title: "standard deviation".into(), unit: spectra.unit.into(), legend, plot }],
        caption: caption(fluctuation, predicted.is_empty()),
    }
}

fn title(fluctuation: &Fluctuation) -> String {
    match fluctuation.kind {
        FluctuationKind::TotalRate => format!("Rates of {}", fluctuation.name),
        FluctuationKind::FlowRate => format!("Rate of {}", fluctuation.name),
        FluctuationKind::Queue => format!("Queue{}", fluctuation.name.trim_start_matches("queue")),
    }
}

fn caption(fluctuation: &Fluctuation, has_no_prediction: bool) -> String {
    let peak = match &fluctuation.peak {
        Some(peak) if peak.is_significant() => {
            format!("The series has a significant peak at {} Hz", number(peak.frequency))
        }
        Some(_) => "The series has no significant peak".to_owned(),
        None => "The series is constant".to_owned(),
    };
    format!("{peak}{}.", if has_no_prediction { "; no noise is predicted" } else { "" })
}

/// Means over frequency intervals of equal ratio.
fn smooth(spectrum: &PowerSpectrum, per_decade: f64) -> PowerSpectrum {
    let interval = |frequency: f64| (frequency.log10() * per_decade).floor();
    let means = spectrum.chunk_by(|a, b| interval(a.0) == interval(b.0)).map(|chunk| {
        let (frequencies, densities): (f64, f64) =
            chunk.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (frequencies / chunk.len() as f64, densities / chunk.len() as f64)
    });
    means.collect()
}
