//! The command line that reproduces the results.

/// Options that name output files; they change no result.
const OUTPUTS: &[&str] = &["--out", "--report"];

/// The command as it was typed, without the options that name output files.
pub(crate) fn command_line() -> String {
    let mut typed = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let mut command = "millpond".to_owned();
    while let Some(argument) = typed.next() {
        if OUTPUTS.contains(&argument.as_str()) {
            typed.next();
        } else if !OUTPUTS.iter().any(|option| argument.starts_with(&format!("{option}="))) {
            command = command + " " + &quoted(argument);
        }
    }
    command
}

/// The argument as a shell reads it.
fn quoted(argument: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_a_shell_would_split_is_quoted() {
        let quoted = |text: &str| quoted(text.to_owned());
        assert_eq!(quoted("links.L1.rate=5Mbps"), "links.L1.rate=5Mbps");
        assert_eq!(quoted("title=a b"), "'title=a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
