//! Systems without network namespaces, TUN devices and datagrams in batches.

use crate::live_error::LiveError;
use crate::request::{LinkError, LinkRun};
use millpond_results::{EmulatedLink, LiveFacts};
use millpond_sim::PacketNetwork;
use millpond_units::{Bytes, Span, Time};
use std::process::ExitCode;

/// No process of an end runs here.
pub fn run_inside() -> Option<ExitCode> {
    None
}

impl LinkRun {
    /// Always an error on this system.
    ///
    /// # Errors
    /// The system is not Linux.
    pub fn run(self, _version: &str, _typed: &str) -> Result<EmulatedLink, LinkError> {
        Err(LinkError::System(
            "an emulated link needs the network namespaces and TUN devices of Linux".to_owned(),
        ))
    }
}

/// Moves the frames of a network on Linux.
pub struct LiveDriver;

impl LiveDriver {
    /// Nothing starts on this system.
    pub fn start(_network: &mut PacketNetwork, _largest: Bytes) -> Self {
        Self
    }

    /// Always an error on this system.
    ///
    /// # Errors
    /// The system is not Linux.
    pub fn run_to(&mut self, _network: &mut PacketNetwork, _until: Time) -> Result<(), LiveError> {
        Err(LiveError::new("the live world needs Linux: sendmmsg, recvmmsg and ppoll with nanoseconds"))
    }

    /// Never called, because no run has an end on this system.
    ///
    /// # Errors
    /// Those of [`Self::run_to`].
    pub fn finish(
        mut self,
        network: &mut PacketNetwork,
        _shortest_rtt: Option<Span>,
    ) -> Result<LiveFacts, LiveError> {
        self.run_to(network, Time::ZERO).map(|()| LiveFacts::default())
    }
}
