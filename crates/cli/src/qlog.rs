//! The qlog files of a run.

use crate::failure::Failure;
use millpond_lab::{Error, ObservedLoop};
use millpond_qlog::{QlogWriter, WriteFailure};
use millpond_results::files::OutputError;
use std::fs::{File, create_dir};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The directory of the qlog files in that of the run.
const DIRECTORY: &str = "qlog";

/// The qlog files of a run: one for each sender.
pub(crate) struct QlogFiles {
    directory: PathBuf,
    title: String,
    failure: WriteFailure,
}

impl QlogFiles {
    /// Creates their directory in that of the run.
    pub(crate) fn create(run: &Path, title: &str) -> Result<Self, Failure> {
        let directory = run.join(DIRECTORY);
        create_dir(&directory)
            .map_err(|error| Failure::input(OutputError::io(&directory, "create this directory", &error)))?;
        Ok(Self { directory, title: title.to_owned(), failure: WriteFailure::default() })
    }

    /// Begins the file of a loop: `download.0.sqlog`, or `download.0-loop2.sqlog` if its flow has several.
    pub(crate) fn begin(&self, observed: &ObservedLoop<'_>) -> Result<QlogWriter<BufWriter<File>>, Error> {
        let name = match observed {
            ObservedLoop { flow, of: 1, .. } => (*flow).to_owned(),
            ObservedLoop { flow, number, .. } => format!("{flow}-loop{number}"),
        };
        let path = self.directory.join(format!("{name}.sqlog"));
        let file = File::create(&path).map_err(|error| OutputError::io(&path, "create this file", &error))?;
        Ok(QlogWriter::new(BufWriter::new(file), &self.title, &name, self.failure.clone()))
    }

    /// Whether all were written, once the run has ended.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let failed = |error| Failure::input(OutputError::io(&self.directory, "write the qlog files", &error));
        self.failure.take().map_or(Ok(()), |error| Err(failed(error)))
    }
}
