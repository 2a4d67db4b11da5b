//! The command `millpond-node`, which `millpond node` starts.

use millpond_node::config::{Config, LogFormat, write_key};
use millpond_node::connections::{Connections, least_rtt};
use millpond_node::driver::{Driver, RunError};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: millpond node FILE           run the node that FILE (node.toml) describes
       millpond node FILE --check   check FILE, bind nothing
       millpond node keys FILE      write a new private key to FILE and print its public key
The configuration is documented in docs/node.md.
Exit codes: 0 success; 1 the node cannot run; 2 invalid arguments, file or key.";

/// Why the program ends with an error.
enum Failure {
    /// The arguments, the configuration or a key.
    Input(String),
    /// Something of the system while the node starts or runs.
    Run(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["-h" | "--help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["keys", file] if !file.starts_with('-') => keys(file),
        [file, "--check"] | ["--check", file] if !file.starts_with('-') => check(file),
        [file] if !file.starts_with('-') && file != "keys" => run(file),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(error)) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
        Err(Failure::Run(error)) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn keys(file: &str) -> Result<(), Failure> {
    let public = write_key(Path::new(file)).map_err(Failure::Input)?;
    println!("{public}");
    Ok(())
}

fn read(file: &str) -> Result<Config, Failure> {
    Config::read(Path::new(file)).map_err(|error| Failure::Input(error.to_string()))
}

fn check(file: &str) -> Result<(), Failure> {
    let config = read(file)?;
    if let Some(fault) = config.capacity_fault {
        return Err(Failure::Input(fault.to_string()));
    }
    println!("{file} is valid; the public key of this node is {}", config.node.identity.public());
    let node = &config.node;
    if let (Connections::PerFlow, Some(capacity)) = (node.connections, node.capacity) {
        let least = least_rtt(capacity, node.most_flows, node.packet).millis();
        println!(
            "connections: {} flows at a time need a base RTT of {least:.1} ms to the next node; below it, fewer are accepted",
            node.most_flows
        );
    }
    Ok(())
}

fn run(file: &str) -> Result<(), Failure> {
    let (path, config) = (Path::new(file), read(file)?);
    let subscriber =
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::INFO);
    match config.log {
        LogFormat::Text => subscriber.with_ansi(false).init(),
        LogFormat::Json => subscriber.json().init(),
    }
    let run = || -> Result<(), RunError> { Driver::new(path, config)?.run() };
    run().map_err(|error| Failure::Run(error.to_string()))
}
