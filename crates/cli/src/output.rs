//! Standard output.

use crate::failure::Failure;
use std::fmt::Display;
use std::io::{ErrorKind, Write, stdout};

/// Prints a text that ends with a line break. A closed pipe (`| head`) is no error.
pub(crate) fn print(text: impl Display) -> Result<(), Failure> {
    match write!(stdout().lock(), "{text}").and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints one line.
pub(crate) fn print_line(line: impl Display) -> Result<(), Failure> {
    print(format_args!("{line}\n"))
}
