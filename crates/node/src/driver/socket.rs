//! A TCP connection of a node: of an application, of a target, or of somebody who reads the status.

use crate::flow::FlowId;
use crate::node::Node;
use crate::proxy::{MOST_REQUEST, Proxy};
use bytes::Bytes;
use millpond_units::Time;
use rustix::event::PollFlags;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// What is read at a time.
const READ: usize = 64 * 1024;

/// What a connection is for at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The application names its target.
    Proxy(Proxy),
    /// The flow is open; the exit has not confirmed it.
    Opening(Proxy),
    /// Data passes.
    Data,
    /// A request for metrics or health.
    Status,
    /// What is in `output` is sent; then the connection ends in order.
    Closing,
}

/// What became of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It goes on.
    Open,
    /// It has ended in order.
    Ended,
    /// It was reset.
    Reset,
}

/// A TCP connection.
pub(super) struct LocalSocket {
    stream: TcpStream,
    pub(super) stage: Stage,
    pub(super) flow: Option<FlowId>,
    /// When it was accepted.
    pub(super) since: Time,
    /// What has come and was not used.
    pub(super) input: Vec<u8>,
    /// What must be sent before the data of the flow.
    pub(super) output: Vec<u8>,
    read_ended: bool,
    has_shut_down: bool,
    /// The kernel reports a hang-up while nothing is to be done: the connection is left out of the next wait.
    hangs_up: bool,
}

impl LocalSocket {
    /// Takes over a connection. If the process ends before the flow has, the kernel resets it: a truncated stream is no
    /// clean end.
    pub(super) fn new(
        stream: TcpStream,
        stage: Stage,
        flow: Option<FlowId>,
        since: Time,
    ) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        if stage != Stage::Status {
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
        }
        Ok(Self {
            stream,
            stage,
            flow,
            since,
            input: Vec::new(),
            output: Vec::new(),
            read_ended: false,
            has_shut_down: false,
            hangs_up: false,
        })
    }

    /// The socket.
    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// What the event loop must wait for; none if not even for errors.
    pub(super) fn interest(&self, node: &Node) -> Option<PollFlags> {
        let mut flags = PollFlags::empty();
        let room = self.flow.map_or(0, |flow| node.room(flow));
        let reads = match self.stage {
            Stage::Proxy(_) | Stage::Status => true,
            Stage::Data => !self.read_ended && room > 0,
            Stage::Opening(_) | Stage::Closing => false,
        };
        let has_data = self.stage == Stage::Data && self.flow.is_some_and(|flow| node.front(flow).is_some());
        flags.set(PollFlags::IN, reads);
        flags.set(PollFlags::OUT, has_data || !self.output.is_empty());
        (!flags.is_empty() || !self.hangs_up).then_some(flags)
    }

    /// True if there is something to do without a report of the kernel.
    pub(super) fn has_work(&self, node: &Node) -> bool {
        self.stage == Stage::Data
            && !self.input.is_empty()
            && self.flow.is_some_and(|flow| node.room(flow) > 0)
    }

    /// Records what the kernel reported.
    pub(super) fn on_reported(&mut self, flags: PollFlags) {
        self.hangs_up = flags.contains(PollFlags::HUP);
    }

    /// Writes what can be written.
    pub(super) fn write(&mut self, node: &mut Node) -> Outcome {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(bytes) => drop(self.output.drain(..bytes)),
                Err(error) => return outcome_of(&error),
            }
        }
        match (self.stage, self.flow) {
            (Stage::Closing, _) => self.end(),
            (Stage::Data, Some(flow)) => self.write_flow(node, flow),
            _ => Outcome::Open,
        }
    }

    fn write_flow(&mut self, node: &mut Node, flow: FlowId) -> Outcome {
        while let Some(data) = node.front(flow) {
            match self.stream.write(&data) {
                Ok(bytes) => node.took(flow, bytes),
                Err(error) => return outcome_of(&error),
            }
        }
        if node.is_ended(flow) && !self.has_shut_down {
            self.has_shut_down = true;
            if self.stream.shutdown(Shutdown::Write).is_err() {
                return Outcome::Reset;
            }
            node.on_shut_down(flow);
        }
        Outcome::Open
    }

    /// Lets the kernel deliver what was written, and ends the connection.
    pub(super) fn end(&mut self) -> Outcome {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, None);
        let _ = self.stream.shutdown(Shutdown::Write);
        Outcome::Ended
    }

    /// Reads what there is room for, and passes it to the flow.
    pub(super) fn read_flow(&mut self, now: Time, node: &mut Node, buffer: &mut [u8]) -> Outcome {
        let Some(flow) = self.flow.filter(|_| self.stage == Stage::Data) else { return Outcome::Open };
        loop {
            let room = node.room(flow).min(READ);
            if room == 0 || self.read_ended {
                return Outcome::Open;
            }
            if !self.input.is_empty() {
                let rest = self.input.split_off(room.min(self.input.len()));
                let data = std::mem::replace(&mut self.input, rest);
                node.offer(now, flow, data.into());
                continue;
            }
            let part = buffer.get_mut(..room).unwrap_or_default();
            match self.stream.read(part) {
                Ok(0) => {
                    self.read_ended = true;
                    node.finish(flow);
                }
                Ok(bytes) => {
                    let is_all = bytes < part.len();
                    node.offer(now, flow, Bytes::copy_from_slice(part.get(..bytes).unwrap_or_default()));
                    if is_all {
                        return Outcome::Open;
                    }
                }
                Err(error) => return outcome_of(&error),
            }
        }
    }

    /// Reads a request into `input`.
    pub(super) fn read_request(&mut self, buffer: &mut [u8]) -> Outcome {
        match self.stream.read(buffer) {
            Ok(0) => Outcome::Reset,
            Ok(bytes) => {
                self.input.extend_from_slice(buffer.get(..bytes).unwrap_or_default());
                if self.input.len() > MOST_REQUEST + READ { Outcome::Reset } else { Outcome::Open }
            }
            Err(error) => outcome_of(&error),
        }
    }
}

fn outcome_of(error: &io::Error) -> Outcome {
    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) {
        Outcome::Open
    } else {
        Outcome::Reset
    }
}
