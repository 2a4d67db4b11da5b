//! The measured cases: dumbbells of long flows, as measured with other simulators.

use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_law::{HeaderId, Link, LinkFacts, Protocol, SettingError, Settings, Value};
use millpond_protocols::Registry;
use millpond_sim::{Buffer, Builder, FlowSpec, LinkId, LinkSpec, LoopSpec, Network, NodeId, Workload};
use millpond_units::{Bytes, Rate, Span, Time};
use std::error::Error;

/// A full packet on the wire.
pub(crate) const PACKET: Bytes = Bytes::new(1000);

/// A dumbbell: `flows` flows, each with access links of its own, over one trunk.
///
/// Access links have 10 Gbps and a twentieth of the round-trip time each, the trunk has the rest; flow i of n
/// starts at i/n seconds.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) protocol: &'static str,
    pub(crate) rate: Rate,
    pub(crate) rtt: Span,
    pub(crate) flows: u32,
    /// The trunk's buffer in packets.
    pub(crate) buffer: u64,
    /// Packets above which every packet is marked.
    pub(crate) mark_above: Option<u64>,
    pub(crate) duration: Span,
}

/// The rate of an access link.
const ACCESS: Rate = Rate::from_bps(10_000_000_000);

/// When the warm-up ends.
pub(crate) const WARM_UP: Time = Time::from_picos(10_000_000_000_000);

/// All cases.
pub(crate) fn all() -> [Case; 4] {
    let (mbps, millis) = (|rate: u64| Rate::from_bps(rate * 1_000_000), Span::from_millis);
    [
        Case {
            name: "S1",
            what: "NewReno, drop-tail 250",
            protocol: "newreno",
            rate: mbps(100),
            rtt: millis(20),
            flows: 10,
            buffer: 250,
            mark_above: None,
            duration: millis(100_000),
        },
        Case {
            name: "S2",
            what: "NewReno, drop-tail 1 BDP",
            protocol: "newreno",
            rate: mbps(1000),
            rtt: millis(50),
            flows: 100,
            buffer: 6250,
            mark_above: None,
            duration: millis(30_000),
        },
        Case {
            name: "S3",
            what: "XCP, a router at each link",
            protocol: "xcp",
            rate: mbps(155),
            rtt: millis(80),
            flows: 50,
            buffer: 1550,
            mark_above: None,
            duration: millis(60_000),
        },
        Case {
            name: "S5",
            what: "DCTCP, step mark at 120",
            protocol: "dctcp",
            rate: mbps(500),
            rtt: millis(60),
            flows: 1000,
            buffer: 3750,
            mark_above: Some(120),
            duration: millis(50_000),
        },
    ]
}

impl Case {
    /// One way over an access link.
    pub(crate) fn access_delay(&self) -> Span {
        self.rtt / 20
    }

    /// One way over the trunk.
    pub(crate) fn trunk_delay(&self) -> Span {
        (self.rtt - self.access_delay() * 4) / 2
    }

    /// Packets that keep the trunk busy: what its bandwidth and the round trip hold, and half a buffer.
    pub(crate) fn full_pipe(&self) -> u64 {
        self.rate.bytes_in(self.rtt).get() / PACKET.get() + self.buffer / 2
    }

    /// The case as a network at time zero.
    pub(crate) fn network(&self) -> Result<Network, Box<dyn Error>> {
        let mut builder = Builder::new(1);
        let (left, right) = (builder.node(), builder.node());
        let protocol = Registry::builtin().protocol(self.protocol).map_err(|unknown| unknown.name)?;
        let trunk = LinkSpec {
            buffer: Buffer::Packets(self.buffer),
            queue: self.queue()?,
            routers: routers(protocol, self.rate, Some(self.buffer))?,
            ..LinkSpec::plain("trunk ->", left, right, self.rate, self.trunk_delay())
        };
        let there = builder.link(trunk);
        let back = builder.link(LinkSpec::plain("trunk <-", right, left, self.rate, self.trunk_delay()));
        for flow in 0..self.flows {
            let (source, sink) = (builder.node(), builder.node());
            let up = builder.link(self.access(source, left, routers(protocol, ACCESS, None)?));
            let down = builder.link(self.access(right, sink, routers(protocol, ACCESS, None)?));
            let back_up = builder.link(self.access(sink, right, Vec::new()));
            let back_down = builder.link(self.access(left, source, Vec::new()));
            let (forward, backward) = (vec![up, there, down], vec![back_up, back, back_down]);
            let start = Time::from_picos(1_000_000_000_000 / u64::from(self.flows) * u64::from(flow));
            builder.flow(FlowSpec {
                name: format!("{flow}"),
                weight: 1.0,
                loops: vec![control_loop(protocol, forward, backward)?.into()],
                relays: Vec::new(),
                workload: Workload::Bulk,
                start,
                stop: None,
            });
        }
        Ok(builder.build()?)
    }

    /// One direction of an access link.
    fn access(&self, from: NodeId, to: NodeId, routers: Routers) -> LinkSpec {
        LinkSpec { routers, ..LinkSpec::plain("access", from, to, ACCESS, self.access_delay()) }
    }

    fn queue(&self) -> Result<Option<Box<dyn Link>>, Box<dyn Error>> {
        let Some(packets) = self.mark_above else { return Ok(None) };
        let red = Registry::builtin().queue("red").map_err(|unknown| unknown.name)?;
        let presets = red.card().presets.iter().find(|(name, _)| *name == "dctcp-step");
        let step = presets.map_or(&[][..], |(_, values)| *values);
        let threshold = Value::Text(format!("{}B", packets * PACKET.get()).into());
        let written = step.iter().cloned().chain([("max_th", threshold)]);
        let settings = Settings::check(red.card().parameters, written)?;
        let facts = LinkFacts { capacity: self.rate, buffer: Some(PACKET * self.buffer), packet: PACKET };
        Ok(red.link(&settings, &facts)?)
    }
}

type Routers = Vec<(HeaderId, Box<dyn Link>)>;

/// The protocol's router at a link that data cross, if it has one.
fn routers(protocol: &dyn Protocol, capacity: Rate, buffer: Option<u64>) -> Result<Routers, SettingError> {
    let settings = Settings::check(protocol.card().parameters, [])?;
    let facts = LinkFacts { capacity, buffer: buffer.map(|packets| PACKET * packets), packet: PACKET };
    let router = protocol.link(&settings, &facts)?;
    Ok(router.into_iter().map(|router| (protocol.needs(&settings).header, router)).collect())
}

fn control_loop(
    protocol: &dyn Protocol,
    forward: Vec<LinkId>,
    backward: Vec<LinkId>,
) -> Result<LoopSpec, SettingError> {
    let settings = Settings::check(protocol.card().parameters, [("initial_window", Value::Number(2.0))])?;
    Ok(LoopSpec {
        sender: protocol.sender(&settings)?,
        receiver: protocol.receiver(&settings)?,
        sending: SenderConfig::new(PACKET, protocol.needs(&settings)),
        receiving: ReceiverConfig::default(),
        forward,
        backward,
        extra_delay: Span::ZERO,
    })
}
