//! The file of the report about a comparison.

use crate::args;
use crate::failure::Failure;
use crate::messages::note;
use crate::output::{finish, new_file};
use millpond_results::files::AtomicFile;
use std::path::PathBuf;

/// The report. One that the user named is replaced only with `--force`; one of the default name is replaced.
pub(super) fn new_report(args: &args::Compare) -> Result<AtomicFile, Failure> {
    let path = report_path(args);
    if args.report.is_some() {
        return new_file(&path, args.existing);
    }
    AtomicFile::create(&path).map_err(Failure::input)
}

/// Writes the report. Its path is printed, and whether it has replaced one of the default name.
pub(super) fn finish_report(args: &args::Compare, page: AtomicFile, html: &str) -> Result<(), Failure> {
    let path = page.path().to_owned();
    let replaces = args.report.is_none() && path.is_file();
    finish(page, html.as_bytes())?;
    let older = if replaces { " (the older one is replaced)" } else { "" };
    note(format_args!("report: {}{older}", path.display()));
    Ok(())
}

/// `report.html` in the output directory, else `SCENARIO-report.html` in the current directory.
fn report_path(args: &args::Compare) -> PathBuf {
    if let Some(path) = &args.report {
        return path.clone();
    }
    if let Some(directory) = &args.out {
        return directory.join("report.html");
    }
    let stem = args.scenario.file.file_stem().unwrap_or("scenario".as_ref());
    PathBuf::from(format!("{}-report.html", stem.to_string_lossy()))
}
