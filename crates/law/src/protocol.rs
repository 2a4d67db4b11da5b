//! A protocol names its laws, its needs and its parameters; a queue does so for a link law that needs no header.

use crate::fluid::{FluidModel, FluidQueue};
use crate::key::Keys;
use crate::{HeaderId, Link, LinkFacts, PlainReceiver, Receiver, Sender, SettingError, Settings, Value};
use millpond_units::{Bytes, Rate, Span};

/// Which link capacities a sender is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// None.
    #[default]
    Nothing,
    /// The least nominal capacity of its loop's links when the loop starts, never again. The nominal capacity of a
    /// link that fluctuates is the highest that it ever has.
    AtStart,
    /// The same, but of the link that it feeds itself the present capacity, and every change of it (link-layer
    /// knowledge).
    Live,
}

/// What a protocol asks of the world it runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Its packets carry a header of this protocol ([`HeaderId::NONE`]: none).
    pub header: HeaderId,
    /// Its packets are ECN-capable, sent as ECT(1) rather than ECT(0) if `Some(true)`.
    pub ecn: Option<bool>,
    /// It lives on relays: without any it is still correct, but is not what its paper means.
    pub relays: bool,
    /// Capacity told to its senders.
    pub capacity: Knowledge,
    /// Its senders want [`Sender::on_sent`].
    pub sent: bool,
}

impl Needs {
    /// Nothing: loss and delay are all it listens to.
    pub const NONE: Self =
        Self { header: HeaderId::NONE, ecn: None, relays: false, capacity: Knowledge::Nothing, sent: false };
}

/// The queue that a protocol expects at its links, where the scenario does not say.
#[derive(Clone, Copy, Debug)]
pub struct QueueChoice {
    /// The queue's registered name.
    pub name: &'static str,
    /// Its parameters that differ from that queue's own defaults.
    pub settings: &'static [(&'static str, &'static str)],
}

/// A protocol in words.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// As the scenario file spells it.
    pub name: &'static str,
    /// In full: abbreviations mean other things to most readers.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What it asks of the world.
    pub needs: Needs,
    /// The queue it expects.
    pub queue: QueueChoice,
    /// Its parameters.
    pub parameters: Keys,
}

/// A congestion-control protocol: builds its laws from settings.
pub trait Protocol: Send + Sync {
    /// Who it is.
    fn card(&self) -> &'static Card;

    /// What it asks of the world under these settings (ECN may be an option); by default what its card says.
    fn needs(&self, _settings: &Settings) -> Needs {
        self.card().needs
    }

    /// A sender for one loop.
    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError>;

    /// A receiver for one loop; by default one that echoes the header as it came.
    fn receiver(&self, _settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(PlainReceiver))
    }

    /// Its router at one link; by default it has none.
    fn link(&self, _settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(None)
    }

    /// The same laws as differential equations; by default it has none, and a scenario that asks for them is refused.
    fn fluid(&self, _settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(None)
    }

    /// What is worth saying about these settings (unstable, unusual): shown as warnings, with the reason.
    fn warnings(&self, _settings: &Settings) -> Vec<String> {
        Vec::new()
    }

    /// What is worth saying about these settings on a loop of this base round-trip time, the longest of the run.
    fn path_warnings(&self, _settings: &Settings, _base_rtt: Span) -> Vec<String> {
        Vec::new()
    }

    /// What is worth saying about these settings in this pipe, the one of the run that holds the fewest packets.
    fn pipe_warnings(&self, _settings: &Settings, _pipe: &Pipe) -> Vec<String> {
        Vec::new()
    }
}

/// A loop of a flow and what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pipe {
    /// What the slowest link from here to the flow's end has for it: its mean rate over the flows of this protocol.
    pub rate: Rate,
    /// The loop's base round-trip time, the service of a packet at its links included.
    pub base_rtt: Span,
    /// A full packet on the wire.
    pub packet: Bytes,
}

impl Pipe {
    /// How many packets it holds: rate times round-trip time.
    pub fn packets(&self) -> f64 {
        self.rate.as_f64() * self.base_rtt.secs() / self.packet.bits() as f64
    }
}

/// A queue in words.
#[derive(Clone, Copy, Debug)]
pub struct QueueCard {
    /// As the scenario file spells it.
    pub name: &'static str,
    /// In full.
    pub title: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: Keys,
    /// Named sets of parameters (`preset = "dctcp-step"`).
    pub presets: &'static [(&'static str, &'static [(&'static str, Value)])],
}

/// A link law that needs no header: drop-tail, RED, CoDel.
pub trait Queue: Send + Sync {
    /// Which it is.
    fn card(&self) -> &'static QueueCard;

    /// Its law at one link; none for plain drop-tail, which the element's buffer is by itself.
    fn link(&self, settings: &Settings, facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError>;

    /// The same law as differential equations; by default it has none, and a scenario that asks for it is refused.
    fn fluid(&self, _settings: &Settings, _facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        Ok(FluidQueue::Missing)
    }
}
