//! The command line that reproduces the results.

use millpond_results::{RunOrigin, shell_word};

/// Options with a value that change no result: outputs, colours, threads.
const WITH_VALUE: &[&str] = &["--out", "--report", "--figure", "--figures", "--keep", "--color", "--jobs"];
/// Options without a value that change no result.
const FLAGS: &[&str] = &["--force", "--resume", "--quiet", "-q"];

/// The command line and the version of this program.
pub(crate) fn origin() -> RunOrigin {
    RunOrigin { command: command_line(), version: VERSION.to_owned() }
}

/// The version of Millpond, with the commit that it was built from if that is known.
pub(crate) const VERSION: &str = env!("MILLPOND_VERSION");

/// The command as it was typed, without the options that change no result.
fn command_line() -> String {
    let mut typed = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let mut command = "millpond".to_owned();
    while let Some(argument) = typed.next() {
        if WITH_VALUE.contains(&argument.as_str()) {
            typed.next();
            continue;
        }
        let has_value = |option: &&str| argument.starts_with(&format!("{option}="));
        if !WITH_VALUE.iter().any(has_value) && !FLAGS.contains(&argument.as_str()) {
            command = command + " " + &shell_word(&argument);
        }
    }
    command
}
