//! A running `millpond serve`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) struct Server {
    process: Child,
    /// The address with the token.
    pub(crate) address: String,
}

impl Server {
    /// Starts the command in a folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_millpond"))
            .arg("serve")
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        Self { process, address: address.trim().to_owned() }
    }

    /// The address without path and token.
    pub(crate) fn origin(&self) -> &str {
        self.address.split("/?").next().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
