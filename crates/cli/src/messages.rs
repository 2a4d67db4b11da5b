//! Messages on standard error: warnings, progress and errors. A standard error that cannot be written is ignored.

use crate::args::{Color, Common};
use anstream::{AutoStream, ColorChoice};
use millpond_scenario::printable;
use std::fmt::Display;
use std::io::{Write, stderr};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants errors only.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets colours and silence for the whole process.
pub(crate) fn configure(common: &Common) {
    QUIET.store(common.quiet, Ordering::Relaxed);
    let choice = match common.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Whether the user wants errors only.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether standard error shows colours: as the user chose, else on a terminal without `NO_COLOR`.
pub(crate) fn has_colour() -> bool {
    AutoStream::choice(&stderr()) != ColorChoice::Never
}

/// The width of lines on standard error.
pub(crate) fn width() -> usize {
    /// Where there is no terminal.
    const USUAL: usize = 100;
    terminal_width().map_or(USUAL, |width| width.clamp(40, 120))
}

/// The width of the terminal of standard error; none if it is no terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(stderr()).map(|(width, _)| usize::from(width.0))
}

/// Prints one line, unless the user wants errors only.
pub(crate) fn note(line: impl Display) {
    if !is_quiet() {
        error(line);
    }
}

/// Prints one line without the characters that a terminal obeys.
pub(crate) fn error(line: impl Display) {
    raw(format_args!("{}\n", printable(&line.to_string())));
}

/// Prints what is wrong with the arguments, or the help that they ask for; returns the exit code. An argument that the message
/// quotes may have characters that a terminal obeys.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let shown = printable(&text);
    if error.use_stderr() && shown != text {
        raw(shown);
    } else {
        // A standard output that cannot be written is ignored.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints a text that is fit for a terminal.
pub(crate) fn raw(text: impl Display) {
    let _ = write!(stderr().lock(), "{text}").and_then(|()| stderr().flush());
}
