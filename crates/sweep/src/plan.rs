//! From options to the runs of a sweep.

use crate::error::Error;
use crate::varied::Varied;
use millpond_lab::{Choice, ComparisonCase, cases, seeds_of};
use millpond_protocols::Registry;
use millpond_results::{RunOrigin, World, shell_word};
use millpond_scenario::{Disk, Faults, Files, Scenario};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is varied.
#[derive(Clone, Debug)]
pub struct SweepSpec {
    /// The scenario file.
    pub file: PathBuf,
    /// Changes of the scenario that all runs share: `links.L1.rate=5Mbps`.
    pub sets: Vec<String>,
    /// The first seed, if it is not that of the scenario.
    pub seed: Option<u64>,
    /// The varied keys. All combinations of their values are run, or samples of them.
    pub varied: Vec<Varied>,
    /// The number of samples of a Sobol sequence with Owen scrambling, instead of all combinations.
    pub samples: Option<u32>,
    /// The protocols; if empty, those of the scenario.
    pub protocols: Vec<String>,
    /// The world.
    pub world: World,
    /// The number of seeds for each combination.
    pub seeds: u64,
}

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepCell {
    /// The key of the run; see [`SweepRecord::run`](crate::SweepRecord::run).
    pub key: String,
    /// The values of the varied keys, in their order.
    pub settings: Arc<[String]>,
    /// The protocol, if the sweep has several.
    pub protocol: Option<Arc<str>>,
    /// The seed.
    pub seed: u64,
}

/// The runs of a sweep.
pub struct SweepPlan<'a> {
    spec: SweepSpec,
    registry: &'a Registry,
    text: String,
    version: String,
    title: String,
    /// Identifies scenario and traces without what is varied.
    base: String,
    cells: Vec<SweepCell>,
}

/// The key of the seed, which each run has besides the values of the varied keys.
const SEED: &str = "seed";
/// The most runs of a sweep.
const MOST_RUNS: usize = 1_000_000;
/// The most samples: the length of the sequence.
const MOST_SAMPLES: u32 = 1 << 16;

impl<'a> SweepPlan<'a> {
    /// Reads the scenario, and checks each value by itself and each protocol. `version` is that of Millpond.
    ///
    /// # Errors
    /// An invalid scenario, value or protocol, or more runs than a sweep may have.
    pub fn new(spec: SweepSpec, registry: &'a Registry, version: &str) -> Result<Self, Error> {
        let text = read(&spec.file)?;
        Self::with_text(spec, text, registry, version)
    }

    /// As [`new`](Self::new), with the text of the scenario file, which is not read.
    ///
    /// # Errors
    /// An invalid scenario, value or protocol, or more runs than a sweep may have.
    pub fn with_text(
        spec: SweepSpec,
        text: String,
        registry: &'a Registry,
        version: &str,
    ) -> Result<Self, Error> {
        let name = spec.file.display().to_string();
        let mut plan = Self {
            spec,
            registry,
            text,
            version: version.to_owned(),
            title: String::new(),
            base: String::new(),
            cells: Vec::new(),
        };
        plan.check_options()?;
        let mut scenario = plan.load(&[])?;
        plan.title = if scenario.title.is_empty() { name } else { scenario.title.clone() };
        cases(&scenario, registry, &plan.choice(plan.spec.protocols.clone()))?;
        plan.base = fingerprint(&scenario);
        let seeds = seeds_of(&mut scenario, plan.spec.seeds).map_err(Faults::from)?;
        plan.cells = plan.all_cells(&seeds)?;
        Ok(plan)
    }

    fn check_options(&self) -> Result<(), Error> {
        let fault = |message: String| Err(Error::Option(message));
        let varied = &self.spec.varied;
        for (index, one) in varied.iter().enumerate() {
            if varied[..index].iter().any(|other| other.key == one.key) {
                return fault(format!("{} is varied twice; write all its values in one list", one.key));
            }
            if one.key == SEED {
                return fault(format!(
                    "{SEED} is not varied: --seeds sets how many seeds each combination has, --seed the first of them"
                ));
            }
            if one.list().is_none() && self.spec.samples.is_none() {
                return fault(format!(
                    "{}: write how many values the range has, such as 1Mbps..1Gbps:log:5, or take samples of all ranges: --samples 100",
                    one.key
                ));
            }
        }
        match self.spec.samples {
            Some(_) if varied.is_empty() => fault("samples of no key: name what is varied".to_owned()),
            Some(samples) if !(1..=MOST_SAMPLES).contains(&samples) => {
                fault(format!("{samples} samples: there can be 1 to {MOST_SAMPLES}"))
            }
            _ => Ok(()),
        }
    }

    /// The scenario with these values of the varied keys.
    fn load(&self, settings: &[String]) -> Result<Scenario, Faults> {
        let assigned = self.spec.varied.iter().zip(settings);
        let assigned = assigned.map(|(varied, value)| format!("{}={value}", varied.key));
        self.load_with(assigned)
    }

    fn load_with(&self, assigned: impl Iterator<Item = String>) -> Result<Scenario, Faults> {
        let varied: Vec<String> = assigned.collect();
        let folder = self.spec.file.parent().unwrap_or(Path::new(""));
        let name = self.spec.file.display().to_string();
        let scenario = Scenario::parse_varied(&self.text, &name, folder, &self.spec.sets, &varied, &Disk)?;
        let seed = self.spec.seed.unwrap_or(scenario.seed);
        Ok(scenario.with_seed(seed))
    }

    /// The runs for every combination of values, or for each sample, in order.
    fn all_cells(&self, seeds: &RangeInclusive<u64>) -> Result<Vec<SweepCell>, Error> {
        let protocols: Vec<Option<Arc<str>>> = match self.spec.protocols.as_slice() {
            [] => vec![None],
            names => names.iter().map(|name| Some(Arc::from(name.as_str()))).collect(),
        };
        let each = protocols.len().saturating_mul(usize::try_from(self.spec.seeds).unwrap_or(usize::MAX));
        let combinations = self.number_of_combinations();
        let runs = combinations.saturating_mul(each);
        if runs > MOST_RUNS {
            return Err(Error::Option(format!("{runs} runs: a sweep has at most {MOST_RUNS}")));
        }
        let fingerprints = self.fingerprints()?;
        let mut cells = Vec::with_capacity(runs);
        for settings in (0..combinations).map(|index| self.combination(index)) {
            for protocol in &protocols {
                for seed in seeds.clone() {
                    let key = self.key(&settings, &fingerprints, protocol.as_deref(), seed);
                    let settings = Arc::clone(&settings);
                    cells.push(SweepCell { key, settings, protocol: protocol.clone(), seed });
                }
            }
        }
        Ok(cells)
    }

    fn number_of_combinations(&self) -> usize {
        match self.spec.samples {
            Some(samples) => samples as usize,
            None => {
                let lengths = self.spec.varied.iter().map(|varied| varied.list().map_or(1, <[String]>::len));
                lengths.fold(1, usize::saturating_mul)
            }
        }
    }

    /// The values of combination `index`: the last key varies fastest.
    fn combination(&self, mut index: usize) -> Arc<[String]> {
        if self.spec.samples.is_some() {
            // Below `MOST_SAMPLES`, and as many dimensions as keys.
            #[allow(clippy::cast_possible_truncation)]
            let share = |dimension: usize| sobol_burley::sample(index as u32, dimension as u32, 0);
            let varied = self.spec.varied.iter().enumerate();
            return varied.map(|(dimension, varied)| varied.at(f64::from(share(dimension)))).collect();
        }
        let mut settings: Vec<String> = Vec::with_capacity(self.spec.varied.len());
        for list in self.spec.varied.iter().rev().filter_map(Varied::list) {
            settings.push(list[index % list.len()].clone());
            index /= list.len();
        }
        settings.reverse();
        settings.into()
    }

    /// For each value that stands in a list the traces of the scenario with it, if it has any: a value may name a file.
    /// Checks each value by itself, and the ends of ranges.
    fn fingerprints(&self) -> Result<BTreeMap<(String, String), String>, Error> {
        let mut found = BTreeMap::new();
        for varied in &self.spec.varied {
            let ends = || vec![varied.at(0.0), varied.at(1.0)];
            for value in varied.list().map_or_else(ends, <[String]>::to_vec) {
                let scenario = self.load_with(std::iter::once(format!("{}={value}", varied.key)))?;
                cases(&scenario, self.registry, &self.choice(self.spec.protocols.clone()))?;
                let traces: Vec<_> = scenario.key().traces.into_iter().map(|trace| trace.sha256).collect();
                if !traces.is_empty() {
                    found.insert((varied.key.clone(), value), traces.join(","));
                }
            }
        }
        Ok(found)
    }

    /// The key of a run. It does not depend on the order of the varied keys.
    fn key(
        &self,
        settings: &[String],
        fingerprints: &BTreeMap<(String, String), String>,
        protocol: Option<&str>,
        seed: u64,
    ) -> String {
        let mut digest = Sha256::new();
        let mut part = |text: &str| {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        };
        part(&self.version);
        part(&self.base);
        part(self.spec.world.name());
        part(protocol.unwrap_or_default());
        part(&seed.to_string());
        let assigned = self.spec.varied.iter().zip(settings);
        let assigned: BTreeMap<&str, &String> =
            assigned.map(|(one, value)| (one.key.as_str(), value)).collect();
        for (key, value) in assigned {
            part(key);
            part(value);
            part(fingerprints.get(&(key.to_owned(), value.clone())).map_or("", String::as_str));
        }
        format!("{:x}", digest.finalize())
    }

    fn choice(&self, protocols: Vec<String>) -> Choice {
        Choice { protocols, ..Choice::of(self.spec.world) }
    }

    /// The scenario of a run.
    pub(crate) fn case(&self, cell: &SweepCell) -> Result<ComparisonCase, Error> {
        let scenario = self.load(&cell.settings)?.with_seed(cell.seed);
        let protocols = cell.protocol.iter().map(|name| name.to_string()).collect();
        let mut found = cases(&scenario, self.registry, &self.choice(protocols))?;
        found.pop().ok_or_else(|| Error::Option("a run without a protocol".to_owned()))
    }

    /// The runs, in order: protocols and seeds vary faster than settings.
    #[must_use]
    pub fn cells(&self) -> &[SweepCell] {
        &self.cells
    }

    /// The varied keys, in the order of the options.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.spec.varied.iter().map(|varied| varied.key.as_str())
    }

    /// The varied keys with their values in a run.
    #[must_use]
    pub fn settings(&self, cell: &SweepCell) -> BTreeMap<String, String> {
        self.keys().map(str::to_owned).zip(cell.settings.iter().cloned()).collect()
    }

    /// The title of the scenario, or the name of its file.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The command that makes these runs, whatever the directory of the dataset, and the version.
    pub fn origin(&self) -> RunOrigin {
        let SweepSpec { file, sets, seed, varied, samples, protocols, world, seeds } = &self.spec;
        let mut words = vec![file.display().to_string()];
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        sets.iter().for_each(|set| option("set", set.clone()));
        seed.iter().for_each(|seed| option("seed", seed.to_string()));
        varied.iter().for_each(|varied| option("vary", varied.text.clone()));
        samples.iter().for_each(|samples| option("samples", samples.to_string()));
        if !protocols.is_empty() {
            option("protocols", protocols.join(","));
        }
        option("seeds", seeds.to_string());
        if *world != World::default() {
            option("world", world.name().to_owned());
        }
        let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        RunOrigin { command: format!("millpond sweep {}", words.join(" ")), version: self.version.clone() }
    }

    /// The version of Millpond.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Identifies scenario and traces without what is varied.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> World {
        self.spec.world
    }

    pub(crate) fn registry(&self) -> &Registry {
        self.registry
    }
}

/// The hashes of a scenario and its traces.
fn fingerprint(scenario: &Scenario) -> String {
    let key = scenario.key();
    let hashes = std::iter::once(key.sha256).chain(key.traces.into_iter().map(|trace| trace.sha256));
    hashes.collect::<Vec<_>>().join(",")
}

fn read(path: &Path) -> Result<String, Error> {
    // Errors of reading are those of a scenario that is loaded directly.
    match Disk.read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => Ok(text),
        None => Err(Scenario::load(path, &[]).err().map_or_else(
            || Error::Option(format!("{}: cannot be read as text", path.display())),
            Error::Scenario,
        )),
    }
}
