//! Values of options. Errors say what was expected.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use millpond_analysis_report::SweepFigureKind;
use millpond_report::{FigureKind, PaperWidth};
use millpond_scenario::trace::PRESETS;
use millpond_units::Span;
use std::path::PathBuf;

/// The kinds of links of which traces are generated, one per line, with what each is.
pub(crate) fn kinds_of_links() -> String {
    let kinds = PRESETS.iter().map(|preset| format!("  {:<20}  {}", preset.name, preset.title));
    kinds.collect::<Vec<_>>().join("\n")
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}, such as 1", u64::MAX))
}

/// A number of seeds.
pub(crate) fn seeds(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| "expected a whole number from 1 to 10000, such as 5".to_owned())
}

/// A number of samples.
pub(crate) fn samples(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=1 << 16).contains(number));
    number.ok_or_else(|| "expected a whole number from 1 to 65536, such as 256".to_owned())
}

/// A number of threads.
pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| "expected a whole number from 1 to 10000, such as 2".to_owned())
}

/// A name in a list.
pub(crate) fn name(text: &str) -> Result<String, String> {
    listed(text, "lgcc,cubic")
}

/// The name of a queue in a list.
pub(crate) fn queue(text: &str) -> Result<String, String> {
    listed(text, "droptail,codel")
}

/// The name of a link in a list.
pub(crate) fn link(text: &str) -> Result<String, String> {
    named(text, "expected names of links with commas between them")
}

/// The name of a disturbance in a list.
pub(crate) fn disturbance(text: &str) -> Result<String, String> {
    named(text, "expected all, or names with commas between them, such as capacity-low,reordering")
}

/// A percentage from 0 to 100.
pub(crate) fn percentage(text: &str) -> Result<f64, String> {
    let percent = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "expected per cent from 0 to 100, such as 25%".to_owned())
}

fn listed(text: &str, example: &str) -> Result<String, String> {
    let expected = format!(
        "expected names with commas between them, such as {example}; `millpond protocols` lists them"
    );
    named(text, &expected)
}

fn named(text: &str, expected: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() { Err(expected.to_owned()) } else { Ok(name.to_owned()) }
}

/// A number of values in a range.
pub(crate) fn points(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (2..=500).contains(number));
    number.ok_or_else(|| "expected a whole number from 2 to 500, such as 40".to_owned())
}

/// A number of starts in a range.
pub(crate) fn starts(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=50).contains(number));
    number.ok_or_else(|| "expected a whole number from 1 to 50, such as 5".to_owned())
}

/// A percentage between 0 and 100, as a share.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let percent = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let share = percent.map(|percent| percent / 100.0).filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "expected per cent between 0 and 100, such as 5%".to_owned())
}

/// A time above zero.
pub(crate) fn span(text: &str) -> Result<Span, String> {
    let span = text.parse::<Span>().map_err(|error| error.to_string())?;
    if span > Span::ZERO { Ok(span) } else { Err("expected a time above zero, such as 30s".to_owned()) }
}

/// A figure of runs or of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChosenFigure {
    Runs(FigureKind),
    Sweep(SweepFigureKind),
}

/// The kinds of figures, by the names that users write.
pub(crate) fn figure_kinds() -> impl TypedValueParser<Value = ChosenFigure> {
    let runs = FigureKind::ALL.map(|kind| (kind.name(), ChosenFigure::Runs(kind)));
    let sweeps = SweepFigureKind::ALL.map(|(name, kind)| (name, ChosenFigure::Sweep(kind)));
    let kinds: Vec<_> = runs.into_iter().chain(sweeps).collect();
    PossibleValuesParser::new(kinds.iter().map(|(name, _)| *name).collect::<Vec<_>>()).try_map(move |name| {
        let known = kinds.iter().find(|(known, _)| *known == name);
        known.map(|(_, kind)| *kind).ok_or("expected the kind of a figure")
    })
}

/// One column of a paper or two.
pub(crate) fn columns(text: &str) -> Result<PaperWidth, &'static str> {
    match text {
        "1" => Ok(PaperWidth::OneColumn),
        "2" => Ok(PaperWidth::TwoColumns),
        _ => Err("expected 1 or 2"),
    }
}

/// Where a figure is written, and in which format.
#[derive(Clone, Debug)]
pub(crate) struct FigureFile {
    pub(crate) path: PathBuf,
    pub(crate) format: FigureFormat,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum FigureFormat {
    Pdf,
    Svg,
}

/// A file whose name ends in the format of the figure.
pub(crate) fn figure_file(text: &str) -> Result<FigureFile, &'static str> {
    let path = PathBuf::from(text);
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    let format = match extension.as_deref() {
        Some("pdf") => FigureFormat::Pdf,
        Some("svg") => FigureFormat::Svg,
        _ => return Err("expected a name that ends in .pdf or .svg, such as delay.pdf"),
    };
    Ok(FigureFile { path, format })
}
