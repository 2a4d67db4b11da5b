//! Standard output.

use crate::args::{Existing, OutputForm};
use crate::failure::Failure;
use millpond_results::files::{AtomicFile, load};
use millpond_results::{Run, Summary};
use millpond_scenario::printable;
use millpond_terminal::Document;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints a text that ends with a line break. A closed pipe (`| head`) is no error.
pub(crate) fn print(text: impl Display) -> Result<(), Failure> {
    match write!(stdout().lock(), "{text}").and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Begins a file that the user named. An existing one is replaced only with `--force`, and nothing else than a file is.
pub(crate) fn new_file(path: &Path, existing: Existing) -> Result<AtomicFile, Failure> {
    if !existing.force && path.symlink_metadata().is_ok_and(|facts| facts.is_file() || facts.is_symlink()) {
        return Err(Failure::input(format!(
            "{}: exists already; give another name, or replace it with --force",
            path.display()
        )));
    }
    AtomicFile::create(path).map_err(Failure::input)
}

/// Refuses outputs of one command that are the same file: each would replace the one before.
pub(crate) fn refuse_equal_files<'a>(outputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let mut files = BTreeSet::new();
    for path in outputs {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        if !files.insert((folder, path.file_name())) {
            let fault = "two outputs are this file; give each a name of its own";
            return Err(Failure::input(format!("{}: {fault}", path.display())));
        }
    }
    Ok(())
}

/// Gives a file its content and its name.
pub(crate) fn finish(file: AtomicFile, content: &[u8]) -> Result<(), Failure> {
    file.write(content).and_then(|()| file.finish()).map_err(Failure::input)
}

/// The runs in these directories, in order.
pub(crate) fn load_runs(directories: &[PathBuf]) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for directory in directories {
        runs.extend(load(directory).map_err(Failure::input)?);
    }
    Ok(runs)
}

/// Prints one line. Characters that a terminal obeys, as the names of files may have them, are replaced.
pub(crate) fn print_line(line: impl Display) -> Result<(), Failure> {
    print(format_args!("{}\n", printable(&line.to_string())))
}

/// Prints results in the form that the user chose; without one, tables are divided to fit into the terminal.
pub(crate) fn print_results<E: Display>(
    form: &OutputForm,
    json: impl FnOnce() -> Result<String, E>,
    document: impl FnOnce() -> Document,
) -> Result<(), Failure> {
    if form.json {
        let text = json().map_err(Failure::input)?;
        return print(format_args!("{}\n", text.trim_end()));
    }
    let document = document();
    if form.csv {
        return print(document.csv());
    }
    // Texts of recipes may have characters that a terminal obeys.
    print(printable(&if form.markdown { document.markdown() } else { document.fitted(width()) }))
}

/// The width of the terminal in characters; none if standard output is not a terminal.
fn width() -> Option<usize> {
    terminal_size::terminal_size_of(stdout()).map(|(terminal_size::Width(width), _)| usize::from(width))
}

/// Exit code 1 if the results of a live run cannot be trusted, because the machine was too slow for it.
pub(crate) fn trust<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> ExitCode {
    let reasons = summaries.into_iter().flat_map(Summary::distrust);
    ExitCode::from(u8::from(reasons.count() > 0))
}
