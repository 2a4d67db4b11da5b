//! What a carrier of packets offers to laws, and which laws it must refuse.

use millpond_law::{Context, Header, LinkFacts, Protocol, Random, SettingError, Settings, Start};
use millpond_units::{Bytes, Rate, Time};
use std::fmt;

/// The packet with which a law is tried.
const PACKET: Bytes = Bytes::new(1500);

/// What a carrier offers to laws beside acknowledgements, losses and pacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carrier {
    /// Its name in messages.
    pub name: &'static str,
    /// Each data packet can carry the header of a law, which links can change.
    pub packet_headers: bool,
    /// A law can have a timer.
    pub timers: bool,
    /// Packets can be sent as ECT(1).
    pub ect1: bool,
    /// The rate of the sender's own interface, if it is known.
    pub interface: Option<Rate>,
}

impl Carrier {
    /// A QUIC connection of this program: the library sends ECT(0) only, and no header of a law is in a packet. Its
    /// event loop has timers of its own.
    pub const QUIC: Self =
        Self { name: "a QUIC connection", packet_headers: false, timers: true, ect1: false, interface: None };

    /// Checks that the protocol works over this carrier.
    pub fn check(&self, protocol: &dyn Protocol, settings: &Settings) -> Result<(), Refusal> {
        let needs = protocol.needs(settings);
        let refused = |what: &'static str| {
            Err(Refusal::Missing { protocol: protocol.card().name, carrier: self.name, what })
        };
        if needs.ecn == Some(true) && !self.ect1 {
            return refused("packets marked as ECT(1)");
        }
        let traits = Traits::of(protocol, settings).map_err(Refusal::Setting)?;
        if traits.writes_headers && !self.packet_headers {
            return refused("a header in each packet");
        }
        if traits.has_routers {
            return refused("routers that take part in it");
        }
        if traits.sets_timer && !self.timers {
            return refused("a timer");
        }
        if needs.interface && self.interface.is_none() {
            return refused("the rate of its own interface; set `capacity`");
        }
        Ok(())
    }
}

/// What the laws of a protocol do that [`millpond_law::Needs`] does not declare.
struct Traits {
    writes_headers: bool,
    has_routers: bool,
    sets_timer: bool,
}

impl Traits {
    /// Starts a sender of the protocol, and observes what it does.
    fn of(protocol: &dyn Protocol, settings: &Settings) -> Result<Self, SettingError> {
        let mut sender = protocol.sender(settings)?;
        let (mut random, now) = (Random::stream(1, "carrier"), Time::ZERO);
        let cx = &mut Context { now, random: &mut random };
        sender.on_start(cx, &Start::plain(PACKET));
        let mut header = Header::NONE;
        sender.stamp(cx, &mut header);
        let facts = LinkFacts::fifo(Rate::from_mbps(100.0), None, PACKET);
        Ok(Self {
            writes_headers: header != Header::NONE,
            has_routers: protocol.link(settings, &facts)?.is_some(),
            sets_timer: sender.permit().wake.is_some(),
        })
    }
}

/// Why a protocol cannot run over a carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The carrier lacks something.
    Missing {
        /// The protocol.
        protocol: &'static str,
        /// The carrier.
        carrier: &'static str,
        /// What the protocol needs.
        what: &'static str,
    },
    /// Its settings are refused.
    Setting(SettingError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { protocol, carrier, what } => {
                write!(f, "{protocol} cannot run over {carrier}: it needs {what}")
            }
            Self::Setting(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_protocols::Registry;

    fn refusal(carrier: Carrier, name: &str) -> Option<String> {
        let protocol = Registry::builtin().protocol(name).unwrap();
        let settings = Settings::check(protocol.card().parameters, []).unwrap();
        carrier.check(protocol, &settings).err().map(|refusal| refusal.to_string())
    }

    #[test]
    fn all_laws_run_over_quic_but_those_of_headers_routers_and_ect1() {
        let registry = Registry::builtin();
        let names = registry.protocols().map(|protocol| protocol.card().name);
        let carrier = Carrier { interface: Some(Rate::from_mbps(100.0)), ..Carrier::QUIC };
        let refused: Vec<&str> = names.filter(|name| refusal(carrier, name).is_some()).collect();
        assert_eq!(
            refused,
            ["prague", "abc", "xcp", "rcp", "vcp", "hpcc", "sprout", "acp", "mcp", "cltcp", "pledge"]
        );
    }

    #[test]
    fn laws_with_a_header_in_each_packet_are_refused_by_name() {
        for name in ["xcp", "rcp", "acp", "mcp", "cltcp", "pledge", "hpcc", "sprout"] {
            let expected =
                format!("{name} cannot run over a QUIC connection: it needs a header in each packet");
            assert_eq!(refusal(Carrier::QUIC, name), Some(expected));
        }
        let prague = refusal(Carrier::QUIC, "prague").unwrap();
        assert_eq!(prague, "prague cannot run over a QUIC connection: it needs packets marked as ECT(1)");
    }

    #[test]
    fn a_law_that_needs_the_rate_of_its_interface_needs_the_key_capacity() {
        let message = refusal(Carrier::QUIC, "timely").unwrap();
        assert!(message.ends_with("it needs the rate of its own interface; set `capacity`"), "{message}");
    }

    #[test]
    fn a_carrier_without_timers_refuses_laws_with_a_timer() {
        let without = Carrier { packet_headers: true, timers: false, ect1: true, ..Carrier::QUIC };
        let registry = Registry::builtin();
        for protocol in registry.protocols() {
            let settings = Settings::check(protocol.card().parameters, []).unwrap();
            let has_timer = Traits::of(protocol, &settings).unwrap().sets_timer;
            let message = refusal(without, protocol.card().name).unwrap_or_default();
            assert!(!has_timer || message.contains("it needs"), "{}: {message}", protocol.card().name);
        }
    }
}
