//! A protocol: its laws, needs and parameters; and a queue: a link law that needs no header.

#[cfg(feature = "fluid")]
use crate::fluid::{FluidModel, FluidQueue};
use crate::key::Keys;
use crate::{
    HeaderId, Link, LinkFacts, PlainReceiver, QueueLaw, RateField, Receiver, Sender, SettingError, Settings,
    Value,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use millpond_units::{Bytes, Rate, Span};

/// Which link capacities are signalled to a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// None.
    #[default]
    Nothing,
    /// Once, at the start of the loop, the least nominal capacity of its links. The nominal capacity of a varying link
    /// is its highest.
    AtStart,
    /// The same, but for the sender's own outgoing link its current capacity and every change of it, as a link layer
    /// can signal it.
    Live,
}

/// The bytes that a header occupies in each data packet, and its echo in each acknowledgement, beside what the scenario
/// declares as `overhead`. A sender reserves them at the start, because links that append to a header must not exceed the largest
/// packet of the path. Fixed headers of a few bytes have none: scenarios count them in `overhead`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderSize {
    /// Bytes without links.
    pub fixed: u16,
    /// Bytes that each link of the loop appends.
    pub per_link: u16,
    /// Links after which none appends any more.
    pub most_links: u16,
}

impl HeaderSize {
    /// No bytes beside the overhead.
    pub const NONE: Self = Self { fixed: 0, per_link: 0, most_links: 0 };

    /// The size on a path of this many links.
    pub fn over(self, links: usize) -> Bytes {
        let links = u64::try_from(links).unwrap_or(u64::MAX).min(self.most_links.into());
        Bytes::new(u64::from(self.fixed) + u64::from(self.per_link) * links)
    }
}

/// What a protocol needs from the network and the endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Its packets carry a header of this protocol ([`HeaderId::NONE`]: none).
    pub header: HeaderId,
    /// The size of that header, if it depends on the path.
    pub header_size: HeaderSize,
    /// Its packets are ECN-capable, sent as ECT(1) rather than ECT(0) if `Some(true)`.
    pub ecn: Option<bool>,
    /// It is designed for relays. Without any it works, but not as its paper intends.
    pub relays: bool,
    /// Capacities that are signalled to its senders.
    pub capacity: Knowledge,
    /// Its senders need the rate of their own interface ([`Start::interface`](crate::Start::interface)).
    pub interface: bool,
    /// Its senders need [`Sender::on_sent`].
    pub sent: bool,
    /// Its senders need samples of each packet: delivery rates, and the bytes in flight and lost when it was sent, also of
    /// lost packets ([`Sender::on_lost_packet`]).
    pub samples: bool,
}

impl Needs {
    /// Nothing: the protocol uses loss and delay only.
    pub const NONE: Self = Self {
        header: HeaderId::NONE,
        header_size: HeaderSize::NONE,
        ecn: None,
        relays: false,
        capacity: Knowledge::Nothing,
        interface: false,
        sent: false,
        samples: false,
    };
}

/// The queue of a protocol at links for which the scenario sets none.
#[derive(Clone, Copy, Debug)]
pub struct QueueChoice {
    /// The queue's registered name.
    pub name: &'static str,
    /// The parameters that differ from the defaults of the queue.
    pub settings: &'static [(&'static str, &'static str)],
}

/// The description of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// As the scenario file spells it.
    pub name: &'static str,
    /// The name in full.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// Its default queue.
    pub queue: QueueChoice,
    /// Its parameters.
    pub parameters: Keys,
}

/// A congestion-control protocol: builds its laws from settings.
pub trait Protocol: Send + Sync {
    /// Its description.
    fn card(&self) -> &'static Card;

    /// What it needs under these settings (ECN may be an option); by default the needs of its card.
    fn needs(&self, _settings: &Settings) -> Needs {
        self.card().needs
    }

    /// A sender for one loop.
    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError>;

    /// The parameters that only its senders use. Entries of this protocol whose flows cross the same link may differ in them,
    /// and in no others.
    fn sender_parameters(&self) -> &'static [&'static str] {
        &[]
    }

    /// A receiver for one loop; by default one that echoes the header unchanged.
    fn receiver(&self, _settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(PlainReceiver))
    }

    /// The rate that its acknowledgements return, so that a scenario can code it with fewer bits; by default there is none.
    fn rate_field(&self) -> Option<RateField> {
        None
    }

    /// Its router at one link; by default it has none.
    fn link(&self, _settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(None)
    }

    /// The same laws as differential equations. By default there are none, and fluid scenarios are refused.
    #[cfg(feature = "fluid")]
    fn fluid(&self, _settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(None)
    }

    /// Whether its senders share by the weights of their flows ([`Start::weight`](crate::Start::weight)).
    fn reads_weight(&self) -> bool {
        false
    }

    /// Warnings about unstable or unusual settings, with the reason.
    fn warnings(&self, _settings: &Settings) -> Vec<String> {
        Vec::new()
    }

    /// Warnings about these settings on a loop with this base round-trip time, the longest of the run.
    fn path_warnings(&self, _settings: &Settings, _base_rtt: Span) -> Vec<String> {
        Vec::new()
    }

    /// Warnings about these settings in a chain of this many loops, the longest of the run.
    fn chain_warnings(&self, _settings: &Settings, _loops: usize) -> Vec<String> {
        Vec::new()
    }

    /// The rate below which the sender of a loop does not go, for this packet size and base RTT; none if there is no such
    /// rate. The command warns if it exceeds the share of the flow.
    fn least_rate(&self, _settings: &Settings, _packet: Bytes, _base_rtt: Span) -> Option<Rate> {
        None
    }
}

/// The description of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueCard {
    /// As the scenario file spells it.
    pub name: &'static str,
    /// The name in full.
    pub title: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: Keys,
    /// Named sets of parameters (`preset = "dctcp-step"`).
    pub presets: &'static [(&'static str, &'static [(&'static str, Value)])],
}

/// A queue law that needs no header: drop-tail, RED, CoDel, FQ-CoDel.
pub trait Queue: Send + Sync {
    /// Its description.
    fn card(&self) -> &'static QueueCard;

    /// Its law at one link.
    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError>;

    /// Warnings about these settings at a link, with the reason.
    fn warnings(&self, _settings: &Settings, _facts: &LinkFacts) -> Vec<String> {
        Vec::new()
    }

    /// The same law as differential equations. By default there is none, and fluid scenarios are refused.
    #[cfg(feature = "fluid")]
    fn fluid(&self, _settings: &Settings, _facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        Ok(FluidQueue::Missing)
    }
}
