//! Traces: the rate of a link over time.

use crate::error::Failure;
use millpond_results::files::AtomicFile;
use millpond_scenario::trace::{Format, PRESETS, Trace as Rates, TraceRecipe, preset};
use millpond_units::{Rate, Span, Time};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::str::FromStr;

/// The rate of a link over time, as recorded or generated.
#[pyclass(frozen, module = "millpond._core")]
pub struct Trace {
    rates: Rates,
}

#[pymethods]
impl Trace {
    /// Reads a file of Mahimahi delivery opportunities or of lines `time_s,mbps`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let rates = py.detach(|| Rates::load(&path, None)).map_err(Failure::from)?;
        Ok(Self { rates })
    }

    /// Generates a trace like those of a kind of link.
    #[staticmethod]
    fn generate(
        preset: &str,
        duration: &str,
        seed: u64,
        mean: Option<&str>,
        peak: Option<&str>,
        step: Option<&str>,
    ) -> PyResult<Self> {
        Ok(generate(preset, duration, seed, [mean, peak], step)?)
    }

    /// What a pickle holds: times in ps and rates in bit/s of the steps, length and sampling in ps, and whether the trace
    /// was written as delivery opportunities.
    fn parts(&self) -> (Vec<(u64, u64)>, u64, u64, bool) {
        let Rates { format, steps, length, sampling } = &self.rates;
        let steps = steps.iter().map(|(time, rate)| (time.picos(), rate.bps())).collect();
        (steps, length.picos(), sampling.picos(), *format == Format::Mahimahi)
    }

    /// The trace of these `parts`.
    #[staticmethod]
    fn restore(steps: Vec<(u64, u64)>, length: u64, sampling: u64, is_mahimahi: bool) -> Self {
        let step = |(time, rate)| (Time::ZERO + Span::from_picos(time), Rate::from_bps(rate));
        let rates = Rates {
            format: if is_mahimahi { Format::Mahimahi } else { Format::Csv },
            steps: steps.into_iter().map(step).collect(),
            length: Span::from_picos(length),
            sampling: Span::from_picos(sampling),
        };
        Self { rates }
    }

    /// When each rate begins, in seconds, as bytes of numbers of 64 bits.
    fn times_s(&self) -> Vec<u8> {
        self.column(|(time, _)| time.secs())
    }

    /// The rates, in bit/s, as bytes of numbers of 64 bits.
    fn rates_bps(&self) -> Vec<u8> {
        self.column(|(_, rate)| rate.as_f64())
    }

    /// How long the trace lasts, in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.rates.length.secs()
    }

    /// Mean rate, in bit/s.
    #[getter]
    fn mean_bps(&self) -> f64 {
        self.rates.stats().mean.as_f64()
    }

    /// Writes lines `time_s,mbps`, which scenarios read. An existing file is replaced.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || -> Result<(), Failure> {
            let file = AtomicFile::create(&path)?;
            file.write(self.rates.to_csv().as_bytes())?;
            Ok(file.finish()?)
        };
        Ok(py.detach(write)?)
    }
}

impl Trace {
    fn column(&self, value: fn(&(Time, Rate)) -> f64) -> Vec<u8> {
        let values: Vec<f64> = self.rates.steps.iter().map(value).collect();
        bytemuck::cast_slice(&values).to_vec()
    }
}

fn generate(
    name: &str,
    duration: &str,
    seed: u64,
    [mean, peak]: [Option<&str>; 2],
    step: Option<&str>,
) -> Result<Trace, Failure> {
    let near = millpond_units::nearest(name, PRESETS.iter().map(|preset| preset.name));
    let unknown = || {
        let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        Failure::input(format!("no preset \"{name}\"; {near}there are: {}", names.join(", ")))
    };
    let chosen = preset(name).ok_or_else(unknown)?;
    let recipe = TraceRecipe {
        mean: mean.map(|text| read::<Rate>("mean", text)).transpose()?,
        peak: peak.map(|text| read::<Rate>("peak", text)).transpose()?,
        step: step.map(|text| read::<Span>("step", text)).transpose()?,
        ..TraceRecipe::new(chosen, read("duration", duration)?, seed)
    };
    Ok(Trace { rates: recipe.generate().map_err(Failure::input)? })
}

/// A number with its unit.
fn read<T: FromStr<Err: std::fmt::Display>>(argument: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| Failure::input(format!("{argument} {text}: {error}")))
}

/// Name and title of each preset of `Trace.generate`.
#[pyfunction]
pub fn presets() -> Vec<(&'static str, &'static str)> {
    PRESETS.iter().map(|preset| (preset.name, preset.title)).collect()
}
