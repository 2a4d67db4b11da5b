//! The files of a run with its single packets: qlog and pcapng.

use crate::args;
use crate::failure::Failure;
use millpond_endpoint::SenderObserver;
use millpond_lab::{Error, ObservedLoop};
use millpond_live::SenderCaptures;
use millpond_qlog::{QlogWriter, WriteFailure};
use millpond_results::files::OutputError;
use std::fs::{File, create_dir};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The directory of the qlog files in that of the run.
const QLOG: &str = "qlog";

/// The capture in the directory of the run.
const PACKETS: &str = "packets.pcapng";

/// The files that the user asked for.
pub(crate) struct EventFiles {
    title: String,
    qlog: Option<QlogFiles>,
    capture: Option<CaptureFile>,
}

/// One file for each sender.
struct QlogFiles {
    directory: PathBuf,
    failure: WriteFailure,
}

/// One file for all senders.
struct CaptureFile {
    path: PathBuf,
    senders: SenderCaptures<BufWriter<File>>,
}

impl EventFiles {
    /// Begins the files of a run in its directory; none if the user asked for none.
    pub(crate) fn begin(args: &args::Run, directory: &Path, title: &str) -> Result<Option<Self>, Failure> {
        if !args.qlog && !args.pcap {
            return Ok(None);
        }
        let qlog = args.qlog.then(|| QlogFiles::begin(directory)).transpose()?;
        let capture = args.pcap.then(|| CaptureFile::begin(directory)).transpose()?;
        Ok(Some(Self { title: title.to_owned(), qlog, capture }))
    }

    /// The observer of a loop: `download.0`, or `download.0-loop2` if its flow has several.
    pub(crate) fn observer(&self, observed: &ObservedLoop<'_>) -> Result<Box<dyn SenderObserver>, Error> {
        let name = match observed {
            ObservedLoop { flow, of: 1, .. } => (*flow).to_owned(),
            ObservedLoop { flow, number, .. } => format!("{flow}-loop{number}"),
        };
        let mut observers: Vec<Box<dyn SenderObserver>> = Vec::new();
        if let Some(QlogFiles { directory, failure }) = &self.qlog {
            let path = directory.join(format!("{name}.sqlog"));
            let to = create(&path)?;
            observers.push(Box::new(QlogWriter::new(to, &self.title, &name, failure.clone())));
        }
        if let Some(CaptureFile { path, senders }) = &self.capture {
            let sender = senders.sender(&name);
            observers.push(Box::new(sender.map_err(|error| OutputError::io(path, WRITE, &error))?));
        }
        Ok(Box::new(observers))
    }

    /// Whether all were written, once the run has ended.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let failed = |path: &Path, error| Failure::input(OutputError::io(path, WRITE, &error));
        if let Some(QlogFiles { directory, failure }) = self.qlog {
            failure.take().map_or(Ok(()), |error| Err(failed(&directory, error)))?;
        }
        let Some(CaptureFile { path, senders }) = self.capture else { return Ok(()) };
        senders.finish().map_err(|error| failed(&path, error))
    }
}

/// What failed, in messages.
const WRITE: &str = "write this file";

impl QlogFiles {
    fn begin(run: &Path) -> Result<Self, Failure> {
        let directory = run.join(QLOG);
        create_dir(&directory)
            .map_err(|error| Failure::input(OutputError::io(&directory, "create this directory", &error)))?;
        Ok(Self { directory, failure: WriteFailure::default() })
    }
}

impl CaptureFile {
    fn begin(run: &Path) -> Result<Self, Failure> {
        let path = run.join(PACKETS);
        let file = create(&path).map_err(Failure::input)?;
        let senders = SenderCaptures::begin(file)
            .map_err(|error| Failure::input(OutputError::io(&path, WRITE, &error)))?;
        Ok(Self { path, senders })
    }
}

fn create(path: &Path) -> Result<BufWriter<File>, OutputError> {
    let file = File::create(path).map_err(|error| OutputError::io(path, "create this file", &error))?;
    Ok(BufWriter::new(file))
}
