//! The directory of a sweep.
//!
//! | file | holds |
//! |---|---|
//! | `sweep.json` | scenario, version and varied keys |
//! | `runs.jsonl` | one [`SweepRecord`] per line, in the order in which runs ended |
//! | `runs.parquet`, `groups.parquet` | one row per run, and per group of each run, in the order of their settings |
//! | `report.html` | the page about the sweep |

use crate::error::{Error, Refusal, Remedy};
use crate::plan::SweepPlan;
use crate::record::{CommonValues, SweepRecord};
use crate::table;
use millpond_results::files::{Column, OutputError, SWEEP_FILE, parquet_bytes, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const JOURNAL: &str = "runs.jsonl";
const RUNS: &str = "runs.parquet";
const GROUPS: &str = "groups.parquet";
const REPORT: &str = "report.html";

/// The file `sweep.json`: what all runs of a dataset share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DatasetDescription {
    /// Title of the scenario.
    scenario: String,
    /// The hashes of the scenario without what is varied, and of its traces.
    base: String,
    /// World of the runs.
    world: String,
    /// Version of Millpond.
    version: String,
    /// The varied keys, in alphabetical order.
    keys: BTreeSet<String>,
}

impl DatasetDescription {
    fn of(plan: &SweepPlan<'_>) -> Self {
        Self {
            scenario: plan.title().to_owned(),
            base: plan.base().to_owned(),
            world: plan.world().name().to_owned(),
            version: plan.version().to_owned(),
            keys: plan.keys().map(str::to_owned).collect(),
        }
    }

    /// In what it differs from the description of another sweep; none if their runs can be in one dataset.
    fn difference(&self, other: &Self) -> Option<String> {
        let keys = |one: &Self| one.keys.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        if self.version != other.version {
            return Some(format!("version {} of Millpond, this is {}", other.version, self.version));
        }
        if self.keys != other.keys {
            return Some(format!("other varied keys: {}", keys(other)));
        }
        if self.world != other.world {
            return Some(format!("the {} world", other.world));
        }
        (self.base != other.base).then(|| format!("another scenario or trace: \"{}\"", other.scenario))
    }
}

/// A directory that one sweep at a time adds runs to.
#[derive(Debug)]
pub struct Dataset {
    path: PathBuf,
    /// None after the dataset has been closed.
    journal: Mutex<Option<File>>,
    /// The numbers of the runs that the journal did not have when it was opened.
    missing: Vec<usize>,
}

impl Dataset {
    /// Creates the directory of a sweep, or opens that of an interrupted or smaller one.
    ///
    /// # Errors
    /// A directory with other files, with runs of another scenario, version or other keys, one to which another process
    /// adds runs, or one that cannot be written.
    pub fn open(path: &Path, plan: &SweepPlan<'_>) -> Result<Self, Error> {
        let description = DatasetDescription::of(plan);
        if fs::symlink_metadata(path).is_ok() {
            check_files(path)?;
            if let Some(difference) = read_description(path)?.and_then(|old| description.difference(&old)) {
                let fault = format!("has runs of {difference}");
                return Err(Refusal::new(path, fault, Remedy::Replace).into());
            }
        }
        fs::create_dir_all(path).map_err(|error| OutputError::io(path, "create this directory", &error))?;
        let journal = lock(path)?;
        let text = serde_json::to_string_pretty(&description).map_err(|error| other(path, &error))? + "\n";
        write_atomically(&path.join(SWEEP_FILE), text.as_bytes()).map_err(with_remedy)?;
        let mut dataset =
            Self { path: path.to_owned(), journal: Mutex::new(Some(journal)), missing: Vec::new() };
        let known = dataset.read_keys()?;
        let numbered = plan.cells().iter().enumerate();
        let missing = numbered.filter(|(_, cell)| !known.contains(&cell.key)).map(|(number, _)| number);
        dataset.missing = missing.collect();
        Ok(dataset)
    }

    /// The records of a finished or interrupted sweep, in the order of their settings, protocols and seeds. The directory is
    /// not changed.
    ///
    /// # Errors
    /// A directory without a dataset, or a journal that cannot be read.
    pub fn read(path: &Path) -> Result<Vec<SweepRecord>, Error> {
        if read_description(path)?.is_none() {
            let fault = format!("is not the dataset of a sweep: it has no {SWEEP_FILE}");
            return Err(OutputError { path: path.to_owned(), fault }.into());
        }
        let journal = path.join(JOURNAL);
        let file =
            File::open(&journal).map_err(|error| OutputError::io(&journal, "read this file", &error))?;
        let dataset = Self { path: path.to_owned(), journal: Mutex::new(Some(file)), missing: Vec::new() };
        dataset.records()
    }

    /// Whether the directory has the dataset of a sweep.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        path.join(SWEEP_FILE).is_file()
    }

    /// Removes the dataset at `path`, if there is one.
    ///
    /// # Errors
    /// A directory with other files, or one that another process adds runs to.
    pub fn remove(path: &Path) -> Result<(), Error> {
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        check_files(path)?;
        if path.join(JOURNAL).exists() {
            lock(path)?;
        }
        fs::remove_dir_all(path)
            .map_err(|error| OutputError::io(path, "replace this directory", &error).into())
    }

    /// The keys of the complete lines of the journal. An incomplete last line, which a killed process has left, is removed.
    fn read_keys(&self) -> Result<BTreeSet<String>, Error> {
        #[derive(Deserialize)]
        struct JournalKey {
            run: String,
        }
        let mut known = BTreeSet::new();
        let mut complete = 0;
        self.each_line(|line| {
            let key: JournalKey = serde_json::from_str(line)?;
            known.insert(key.run);
            complete += line.len() as u64 + 1;
            Ok(())
        })?;
        self.with_journal(|journal| journal.set_len(complete).map_err(|error| self.unwritable(&error)))?;
        Ok(known)
    }

    /// Calls `read` with each complete line of the journal.
    fn each_line(&self, mut read: impl FnMut(&str) -> serde_json::Result<()>) -> Result<(), Error> {
        let path = self.path.join(JOURNAL);
        self.with_journal(|journal| {
            journal.seek(SeekFrom::Start(0)).map_err(|error| self.unwritable(&error))?;
            let mut lines = BufReader::new(journal);
            let (mut line, mut number) = (String::new(), 0);
            loop {
                line.clear();
                number += 1;
                let read_bytes = lines.by_ref().read_line(&mut line);
                read_bytes.map_err(|error| OutputError::io(&path, "read this file", &error))?;
                let Some(complete) = line.strip_suffix('\n') else { return Ok(()) };
                if let Err(error) = read(complete) {
                    let fault = format!("line {number} is no run of a sweep: {error}");
                    return Err(OutputError { path, fault }.into());
                }
            }
        })
    }

    /// Calls `work` with the journal, which one thread at a time uses.
    fn with_journal<T>(&self, work: impl FnOnce(&mut File) -> Result<T, Error>) -> Result<T, Error> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        match journal.as_mut() {
            Some(journal) => work(journal),
            None => Err(Error::Option(format!("{}: this dataset has been closed", self.path.display()))),
        }
    }

    /// Lets another sweep use the directory. This one adds no further run to it.
    pub fn close(&self) {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The descriptor of the journal while it is open. A process that is forked from this one has a copy of it, which keeps
    /// the directory locked.
    #[cfg(unix)]
    #[must_use]
    pub fn descriptor(&self) -> Option<std::os::fd::RawFd> {
        use std::os::fd::AsRawFd;
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(AsRawFd::as_raw_fd)
    }

    /// The numbers of the runs of the plan that the journal did not have when it was opened.
    #[must_use]
    pub fn missing(&self) -> &[usize] {
        &self.missing
    }

    /// Adds a run, in one line that is complete or, after a crash, ignored.
    ///
    /// # Errors
    /// A journal that cannot be written. It then ends with the run before.
    pub fn append(&self, record: &SweepRecord) -> Result<(), Error> {
        let line = serde_json::to_string(record).map_err(|error| other(&self.path, &error))? + "\n";
        self.with_journal(|journal| {
            let end = journal.seek(SeekFrom::End(0)).map_err(|error| self.unwritable(&error))?;
            journal.write_all(line.as_bytes()).map_err(|error| {
                // An incomplete line that cannot be removed is ignored by the next sweep.
                let _ = journal.set_len(end);
                self.unwritable(&error)
            })
        })
    }

    /// The records of all runs, in the order of their settings, protocols and seeds.
    ///
    /// # Errors
    /// A journal that cannot be read.
    pub fn records(&self) -> Result<Vec<SweepRecord>, Error> {
        let (mut records, mut common) = (Vec::<SweepRecord>::new(), CommonValues::default());
        self.each_line(|line| {
            let mut record = serde_json::from_str(line)?;
            common.share(&mut record);
            records.push(record);
            Ok(())
        })?;
        table::sort(&mut records);
        Ok(records)
    }

    /// Writes the tables. Equal sets of runs give equal bytes.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_tables(&self, records: &[SweepRecord]) -> Result<(), Error> {
        self.write_table(RUNS, table::runs(records))?;
        self.write_table(GROUPS, table::groups(records))
    }

    fn write_table(&self, name: &str, columns: Vec<Column<'_>>) -> Result<(), Error> {
        let path = self.path.join(name);
        let bytes = parquet_bytes(columns).map_err(|error| other(&path, &error))?;
        write_atomically(&path, &bytes).map_err(with_remedy)
    }

    /// Writes the page about the sweep, and returns its path.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_report(&self, page: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(REPORT);
        write_atomically(&path, page.as_bytes()).map_err(with_remedy)?;
        Ok(path)
    }

    fn unwritable(&self, error: &std::io::Error) -> Error {
        with_remedy(OutputError::io(&self.path.join(JOURNAL), "write this file", error))
    }
}

/// A file of a dataset that cannot be written: the runs in the journal are kept.
fn with_remedy(error: OutputError) -> Error {
    let fault = format!(
        "{}; the dataset keeps the runs that had ended, and the same sweep runs the others when the file can be written",
        error.fault
    );
    OutputError { fault, ..error }.into()
}

/// Opens the journal of the dataset at `path` for one process at a time.
fn lock(path: &Path) -> Result<File, Error> {
    let journal = path.join(JOURNAL);
    let failed = |error: &std::io::Error| OutputError::io(&journal, "write this file", error);
    let file =
        OpenOptions::new().read(true).append(true).create(true).open(&journal).map_err(|e| failed(&e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            Err(Refusal::new(path, "another sweep adds runs to this dataset", Remedy::Wait).into())
        }
        Err(fs::TryLockError::Error(error)) => Err(failed(&error).into()),
    }
}

/// Refuses a directory that has other files than those of a sweep.
fn check_files(path: &Path) -> Result<(), Error> {
    let entries = fs::read_dir(path).map_err(|error| OutputError::io(path, "read this directory", &error))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_temporary = name.starts_with('.') && name.ends_with(".partial");
        if !is_temporary && ![SWEEP_FILE, JOURNAL, RUNS, GROUPS, REPORT].contains(&name.as_str()) {
            let fault = format!("is not the dataset of a sweep: it has {name}");
            return Err(Refusal::new(path, fault, Remedy::None).into());
        }
    }
    Ok(())
}

/// The description of a dataset; none in an empty directory.
fn read_description(path: &Path) -> Result<Option<DatasetDescription>, Error> {
    let path = path.join(SWEEP_FILE);
    if !path.exists() {
        return Ok(None);
    }
    let mut text = String::new();
    let read = File::open(&path).and_then(|mut file| file.read_to_string(&mut text));
    read.map_err(|error| OutputError::io(&path, "read this file", &error))?;
    serde_json::from_str(&text).map(Some).map_err(|error| other(&path, &error))
}

fn other(path: &Path, error: &dyn std::fmt::Display) -> Error {
    OutputError { path: path.to_owned(), fault: error.to_string() }.into()
}
