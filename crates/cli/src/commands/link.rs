//! `millpond link`: runs a command behind an emulated link.

use crate::args;
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::messages;
use crate::output::{finish, new_file, print_results, refuse_equal_files};
use millpond_live::{LinkError, LinkOptions, LinkRun};
use millpond_protocols::Registry;
use millpond_report::terminal;
use millpond_results::EmulatedLink;
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
        real_time: !args.normal_priority,
    };
    let origin = origin();
    let result = match run.run(&origin.version, &origin.command) {
        Ok(result) => result,
        Err(error) => {
            remove_capture(args.pcap.as_deref());
            return Err(failure(args, &error));
        }
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

/// A new file for packets. It is written while the link works, so that packets are there after any end.
fn capture(path: &Path, existing: args::Existing) -> Result<File, Failure> {
    let named = |error: std::io::Error| Failure::input(format!("--pcap {}: {error}", path.display()));
    let mut options = File::options();
    options.write(true);
    if existing.force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::input(format!(
            "{}: exists already; give another name, or replace it with --force",
            path.display()
        )),
        _ => named(error),
    })
}

/// Removes the file of packets of a link that failed; a device or a pipe stays.
fn remove_capture(path: Option<&Path>) {
    if let Some(path) = path.filter(|path| path.symlink_metadata().is_ok_and(|facts| facts.is_file())) {
        // Its absence is what is wanted.
        let _ = std::fs::remove_file(path);
    }
}

/// The command's own output is on standard output, so that the table is on standard error.
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
