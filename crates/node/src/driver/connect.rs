//! Connections of an exit to targets. Names are resolved and connections made in threads, because the system's resolver
//! blocks; the data path never waits for them.

use crate::flow::{Abort, FlowId};
use crate::target::{Rule, Target, allowed};
use std::io::Write;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long a connection may take.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Connections that are made at a time.
const MOST: usize = 64;

/// The outcome of an attempt.
pub(super) struct Attempt {
    pub(super) flow: FlowId,
    pub(super) result: Result<TcpStream, Abort>,
}

/// Makes connections in threads, and writes a byte to a pipe when one is there.
pub(super) struct Connector {
    sender: Sender<Attempt>,
    receiver: Receiver<Attempt>,
    wake: UnixStream,
    pending: usize,
}

impl Connector {
    /// A connector that wakes the event loop by this pipe.
    pub(super) fn new(wake: UnixStream) -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver, wake, pending: 0 }
    }

    /// Begins to connect a flow to a target, if the rules allow it.
    pub(super) fn connect(&mut self, flow: FlowId, target: &str, rules: &[Rule]) -> Result<(), Abort> {
        let target: Target = target.parse().map_err(|_| Abort::Malformed)?;
        if self.pending >= MOST {
            return Err(Abort::Refused);
        }
        let (sender, rules) = (self.sender.clone(), rules.to_vec());
        let mut wake = self.wake.try_clone().map_err(|_| Abort::Refused)?;
        let work = move || {
            let result = connect(&target, &rules);
            if let Err(reason) = &result {
                tracing::info!(%target, %reason, "target not connected");
            }
            if sender.send(Attempt { flow, result }).is_ok() {
                let _ = wake.write_all(&[0]);
            }
        };
        std::thread::Builder::new().name("connect".into()).spawn(work).map_err(|_| Abort::Refused)?;
        self.pending += 1;
        Ok(())
    }

    /// The next finished attempt.
    pub(super) fn next(&mut self) -> Option<Attempt> {
        let attempt = self.receiver.try_recv().ok()?;
        self.pending -= 1;
        Some(attempt)
    }
}

fn connect(target: &Target, rules: &[Rule]) -> Result<TcpStream, Abort> {
    let resolved = (target.host.as_str(), target.port).to_socket_addrs().map_err(|_| Abort::NotConnected)?;
    let addresses = allowed(rules, target, &resolved.collect::<Vec<SocketAddr>>());
    if addresses.is_empty() {
        return Err(Abort::NotAllowed);
    }
    let connected = addresses.iter().find_map(|address| TcpStream::connect_timeout(address, TIMEOUT).ok());
    connected.ok_or(Abort::NotConnected)
}
