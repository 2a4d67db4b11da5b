//! `millpond link`: runs a command behind an emulated link.

use crate::args;
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::messages;
use crate::output::{finish, new_file, print_results, refuse_equal_files};
use millpond_live::{LinkCapture, LinkError, LinkOptions, LinkRun};
use millpond_protocols::Registry;
use millpond_results::EmulatedLink;
use millpond_terminal as terminal;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn link(args: &args::Link, registry: &Registry) -> Outcome {
    let options = LinkOptions {
        rate: args.rate.clone(),
        down: args.down.clone(),
        up: args.up.clone(),
        delay: args.delay.clone(),
        jitter: args.jitter.clone(),
        loss: args.loss.clone(),
        buffer: args.buffer.clone(),
        queue: args.queue.clone(),
        sets: args.sets.clone(),
        seed: args.seed,
    };
    let directions = options.directions(registry)?;
    refuse_equal_files([&args.out, &args.pcap].into_iter().flatten().map(|path| &**path))?;
    let out = args.out.as_deref().map(|path| new_file(path, args.existing)).transpose()?;
    let run = LinkRun {
        directions,
        seed: args.seed,
        command: args.command.clone(),
        server: args.server.as_deref().map(shell),
        capture: args.pcap.as_deref().map(|path| capture(path, args.existing)).transpose()?,
        prints_to_stderr: !args.form.is_terminal(),
        real_time: !args.normal_priority,
    };
    let origin = origin();
    let result = match run.run(&origin.version, &origin.command) {
        Ok(result) => result,
        Err(error) => return Err(failure(args, &error)),
    };
    let json = serde_json::to_string_pretty(&result).map_err(Failure::input)?;
    if let Some(file) = out {
        finish(file, format!("{json}\n").as_bytes())?;
    }
    show(args, &result, &json)?;
    Ok(ExitCode::from(result.exit_code))
}

/// The failure of a link, with the name of the file that cannot be written.
fn failure(args: &args::Link, error: &LinkError) -> Failure {
    match (error, &args.pcap) {
        (LinkError::Capture(reason), Some(path)) => {
            Failure::input(format!("--pcap {}: {reason}", path.display()))
        }
        _ => Failure::input(format!("millpond link: {error}")),
    }
}

/// A text as a shell runs it.
fn shell(text: &str) -> Vec<OsString> {
    ["sh", "-c", text].map(OsString::from).to_vec()
}

/// The file for packets. Packets are written while the link works, so that they are there after any end. A regular file has
/// its name from the start of the command on; a device or a pipe is written as it is.
fn capture(path: &Path, existing: args::Existing) -> Result<LinkCapture, Failure> {
    let named = |error: std::io::Error| Failure::input(format!("--pcap {}: {error}", path.display()));
    if existing.force && path.exists() && !path.is_file() && !path.is_dir() {
        return Ok(LinkCapture { to: File::options().write(true).open(path).map_err(named)?, name: None });
    }
    let file = new_file(path, existing)?;
    Ok(LinkCapture { to: file.open().map_err(Failure::input)?, name: Some(file) })
}

/// The command's own output is on standard output, so that the table is on standard error. Results in another form are on
/// standard output, and the command's own output is not.
fn show(args: &args::Link, result: &EmulatedLink, json: &str) -> Result<(), Failure> {
    let document = || terminal::emulated_link(result);
    if !args.form.is_terminal() {
        return print_results(&args.form, || Ok::<_, std::fmt::Error>(json.to_owned()), document);
    }
    if !messages::is_quiet() {
        messages::raw(document().fitted(messages::terminal_width()));
    }
    Ok(())
}
