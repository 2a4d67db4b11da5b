//! From a file and overrides to a scenario.

use crate::collector::FaultCollector;
use crate::files::{Disk, Files};
use crate::keys::FurtherCheck;
use crate::model::Scenario;
use crate::overrides::OptionValue;
use crate::source::{Fault, Faults, Sources};
use crate::tree::TomlNode;
use crate::{keys, overrides, tree};
use std::path::Path;

const NO_FURTHER_CHECK: FurtherCheck<'_> = &|_| Vec::new();

impl Scenario {
    /// Reads the scenario file at `path` with overrides such as `links.L1.rate=5Mbps`.
    ///
    /// # Errors
    /// Everything that is wrong with the file, the overrides or the traces that they name.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, Faults> {
        Self::load_with(path, overrides, NO_FURTHER_CHECK)
    }

    /// As [`Scenario::load`]. If the scenario has faults, `further` looks for those that reading does not find, such as unknown
    /// protocols, so that all are reported together. It receives the links, flows and protocols that could be read; they are
    /// checked no further, because a fault may have others as its consequences.
    ///
    /// # Errors
    /// Those of [`Scenario::load`], and those that `further` finds beside them.
    pub fn load_with(path: &Path, overrides: &[String], further: FurtherCheck<'_>) -> Result<Self, Faults> {
        let name = path.display().to_string();
        let bytes = Disk.read(path).map_err(|error| unreadable(&name, &error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable(&name, "it is not a text in UTF-8"))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse_with(&text, &name, folder, overrides, &Disk, further)
    }

    /// Reads a scenario from `text`. Errors call it `name`; its traces come from `files`, with paths relative to
    /// `folder`.
    ///
    /// # Errors
    /// Everything that is wrong with the text, the overrides or the traces that they name.
    pub fn parse(
        text: &str,
        name: &str,
        folder: &Path,
        overrides: &[String],
        files: &dyn Files,
    ) -> Result<Self, Faults> {
        Self::parse_with(text, name, folder, overrides, files, NO_FURTHER_CHECK)
    }

    /// As [`Scenario::parse`], with the further check of [`Scenario::load_with`].
    ///
    /// # Errors
    /// Those of [`Scenario::parse`], and those that `further` finds beside them.
    pub fn parse_with(
        text: &str,
        name: &str,
        folder: &Path,
        overrides: &[String],
        files: &dyn Files,
        further: FurtherCheck<'_>,
    ) -> Result<Self, Faults> {
        let (sources, document) = overridden(text, name, options(overrides, &[]))?;
        keys::read(FaultCollector::new(sources), files, folder, &document, further)
    }

    /// As [`Scenario::parse`], with the values of keys that a command varies, such as `links.L1.rate=5Mbps`, after the overrides.
    ///
    /// # Errors
    /// Those of [`Scenario::parse`]; those of a varied value name the option `--vary`.
    pub fn parse_varied(
        text: &str,
        name: &str,
        folder: &Path,
        overrides: &[String],
        varied: &[String],
        files: &dyn Files,
    ) -> Result<Self, Faults> {
        let (sources, document) = overridden(text, name, options(overrides, varied))?;
        keys::read(FaultCollector::new(sources), files, folder, &document, NO_FURTHER_CHECK)
    }

    /// Reads a scenario from the `text` of a command, in which the options of the command replace values. Errors name the
    /// option; paths of traces are relative to the current folder.
    ///
    /// # Errors
    /// Everything that is wrong with the options or the traces that they name.
    pub fn from_options(text: &str, options: &[OptionValue]) -> Result<Self, Faults> {
        let mut sources = Sources::new("the command", text);
        let mut document = tree::document(&sources, 0)?;
        for option in options {
            overrides::apply_option(&mut document, &mut sources, option)?;
        }
        keys::read(FaultCollector::new(sources), &Disk, Path::new(""), &document, NO_FURTHER_CHECK)
    }
}

/// Overrides, then values of varied keys, each with its option.
fn options<'a>(
    overrides: &'a [String],
    varied: &'a [String],
) -> impl Iterator<Item = (&'static str, &'a str)> {
    let of = |option| move |expression: &'a String| (option, expression.as_str());
    overrides.iter().map(of(overrides::SET)).chain(varied.iter().map(of(overrides::VARY)))
}

/// The document of a text with these options of a command.
fn overridden<'a>(
    text: &str,
    name: &str,
    options: impl Iterator<Item = (&'static str, &'a str)>,
) -> Result<(Sources, TomlNode), Faults> {
    let mut sources = Sources::new(name, text);
    let mut document = tree::document(&sources, 0)?;
    let refused: Vec<Fault> =
        options.filter_map(|option| overrides::apply(&mut document, &mut sources, option).err()).collect();
    if refused.is_empty() { Ok((sources, document)) } else { Err(Faults(refused)) }
}

fn unreadable(name: &str, why: &str) -> Faults {
    Faults::from(Sources::new(name, "").plain(format!("cannot read {name}: {why}")))
}
