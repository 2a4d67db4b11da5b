//! The live world: moves the frames of a network as lab datagrams between UDP sockets, at the times of the clock.
//!
//! ```text
//!   clock --> run_due: links at their exact times, hosts now --> datagrams of hosts and links --> sockets
//!     ^                                                                                             |
//!     +---- ppoll until the next event <--- nothing there --- frames enter links, reach hosts <-- read
//! ```

use crate::lab::{ACK_BYTES, Carrier, DATA_HEAD};
use crate::linux::batch::ReceiveBatch;
use crate::linux::clock::{Clock, processor_time, timeout};
use crate::linux::loopback::Sockets;
use crate::linux::summary::{lateness, machine};
use crate::linux::sys;
use crate::live_error::LiveError;
use millpond_results::LiveFacts;
use millpond_sim::PacketNetwork;
use millpond_units::{Bytes, Span, Time};
use std::num::NonZeroU64;

/// How long datagrams are waited for after the end of a run.
const GRACE: Span = Span::from_millis(50);

/// By how much a host may act late without a shift of its pacing schedule: late wake-ups then do not lower its rate.
const HOST_SLACK: Span = Span::from_millis(1);

/// Moves the frames of one network. Its thread has real-time priority, where the system permits it.
pub struct LiveDriver {
    clock: Clock,
    carrier: Carrier,
    sockets: Sockets,
    memory: ReceiveBatch,
    real_time: bool,
    /// Processor time of the thread when the run began, in seconds.
    processor_time: f64,
}

impl LiveDriver {
    /// The time zero of a run is now. `largest`: the largest packet of a flow.
    pub fn start(network: &mut PacketNetwork, largest: Bytes) -> Self {
        network.take_outside(HOST_SLACK);
        let longest = DATA_HEAD + usize::try_from(largest.get()).unwrap_or(0);
        // Without it, a thread of normal priority sleeps up to 50 us longer; lateness shows it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let (real_time, processor_time) = (sys::real_time().is_ok(), processor_time());
        let clock = Clock::start();
        let run = clock.since_1970(Time::ZERO) ^ u64::from(std::process::id()).rotate_left(48);
        let (carrier, sockets) = (Carrier::new(run), Sockets::default());
        Self {
            clock,
            carrier,
            sockets,
            memory: ReceiveBatch::new(longest.max(ACK_BYTES) + 1),
            real_time,
            processor_time,
        }
    }

    /// Runs until the clock shows `until`.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn run_to(&mut self, network: &mut PacketNetwork, until: Time) -> Result<(), LiveError> {
        loop {
            let now = self.clock.now();
            network.run_due(now, until);
            if self.exchange(network)? == 0 {
                if now >= until {
                    return Ok(());
                }
                let next = network.next_event().min(until);
                self.sockets.wait(timeout(next.since(self.clock.now()))).map_err(LiveError::sockets)?;
            }
        }
    }

    /// Sends all frames that hosts and links have handed over, and reads what has come. Returns how many datagrams that were.
    fn exchange(&mut self, network: &mut PacketNetwork) -> Result<u64, LiveError> {
        let Self { carrier, sockets, memory, clock, .. } = self;
        let mut sent = Ok(());
        carrier.send(network, |place, ecn, datagram| {
            if sent.is_ok() {
                sent = sockets.push(place, ecn, datagram);
            }
        });
        sent.and_then(|()| sockets.flush()).map_err(LiveError::sockets)?;
        carrier.record_lateness(clock.now());
        sockets
            .read(memory, |place, ecn, datagram| carrier.receive(network, place, ecn, datagram))
            .map_err(LiveError::sockets)
    }

    /// The facts of a run that has ended: what the machine and the datagrams did. `shortest_rtt`: the shortest RTT that a loop
    /// measured.
    ///
    /// # Errors
    /// Those of [`Self::run_to`].
    pub fn finish(
        mut self,
        network: &mut PacketNetwork,
        shortest_rtt: Option<Span>,
    ) -> Result<LiveFacts, LiveError> {
        let end = self.clock.now();
        while self.sockets.under_way() > 0 && self.clock.now() < end + GRACE {
            if self.exchange(network)? == 0 {
                self.sockets.wait(timeout(GRACE)).map_err(LiveError::sockets)?;
            }
        }
        let counters = self.carrier.counters();
        let seconds = self.clock.now().since(Time::ZERO).secs();
        let used = processor_time() - self.processor_time;
        let mut machine = machine(self.carrier.lateness(), used / seconds.max(1e-9));
        machine.real_time = self.real_time;
        Ok(LiveFacts {
            carrier: "loopback".to_owned(),
            machine,
            wake_ups_us: network.host_lateness().and_then(lateness),
            shortest_rtt_ms: shortest_rtt.map(Span::millis),
            sample_interval_ms: None,
            datagrams: counters.sent,
            overruns: self.sockets.missing(),
            lost_ecn: counters.lost_ecn,
            damaged: counters.damaged,
            foreign: counters.foreign,
            wrong_bytes: counters.wrong_bytes,
        })
    }
}

impl Drop for LiveDriver {
    fn drop(&mut self) {
        if self.real_time {
            sys::normal_priority();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::SocketOwner;
    use crate::lab::tests::planned;
    use millpond_law::Ecn;

    #[test]
    fn datagrams_that_a_full_socket_loses_are_overruns() {
        let text = r#"
            title = "full socket"
            duration = "1s"
            links = [{ name = "L", between = ["S", "D"], rate = "20Mbps", delay = "10ms", buffer = "1bdp" }]
            flows = [{ name = "flow", protocol = "newreno", path = ["S", "D"] }]
        "#;
        let network = &mut planned(text).network;
        let mut driver = LiveDriver::start(network, Bytes::new(1500));
        let router = SocketOwner::Router(network.hosts(0).unwrap().sender);
        // 60 MB for a socket of 8 MB, which nobody reads meanwhile. What is read has no right format.
        (0..1000).for_each(|_| driver.sockets.push(router, Ecn::NotCapable, &[0; 60_000]).unwrap());
        driver.sockets.flush().unwrap();
        let facts = driver.finish(network, None).unwrap();
        assert!(facts.overruns > 0 && facts.damaged > 0, "{facts:?}");
        assert_eq!(facts.overruns + facts.damaged, 1000);
    }
}
