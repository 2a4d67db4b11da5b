//! Headers that a law cannot read are ignored and counted.

use crate::common::{flow, link, scenario};
use millpond_lab::run;
use millpond_law::{
    Context, HEADER_BYTES, HeaderId, Hooks, Link, LinkFacts, PacketKind, PacketView, Queue, QueueCard,
    QueueLaw, QueueView, SettingError, Settings, Verdict,
};
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched};

/// A link that corrupts the header of every second data packet.
#[derive(Clone, Copy)]
struct CorruptingLink {
    card: &'static QueueCard,
    corrupt: fn(&mut Context<'_>, &mut PacketView<'_>),
    packets: u64,
}

const fn card(name: &'static str) -> QueueCard {
    QueueCard { name, title: "Corrupts headers", source: "none", parameters: &[], presets: &[] }
}

/// Writes headers of an unknown protocol.
static FOREIGN: CorruptingLink = CorruptingLink {
    card: &card("foreign"),
    corrupt: |_, packet| packet.header.set(HeaderId(99), &[1, 2, 3]),
    packets: 0,
};

/// Writes empty headers of the packet's protocol.
static SHORT: CorruptingLink = CorruptingLink {
    card: &card("short"),
    corrupt: |_, packet| packet.header.set(packet.header.protocol(), &[]),
    packets: 0,
};

/// Writes headers of the packet's protocol with random bytes.
static RANDOM: CorruptingLink = CorruptingLink {
    card: &card("random"),
    corrupt: |cx, packet| {
        let bytes: [u8; HEADER_BYTES] = std::array::from_fn(|_| cx.random.bits() as u8);
        packet.header.set(packet.header.protocol(), &bytes);
    },
    packets: 0,
};

impl Queue for CorruptingLink {
    fn card(&self) -> &'static QueueCard {
        self.card
    }

    fn law(&self, _: &Settings, _: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(*self))
    }
}

impl Link for CorruptingLink {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, ..Hooks::default() }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, _: &QueueView) -> Verdict {
        if packet.kind == PacketKind::Data {
            self.packets += 1;
            if self.packets.is_multiple_of(2) {
                (self.corrupt)(cx, packet);
            }
        }
        Verdict::Keep
    }
}

/// A run in which data cross a corrupting link, then a link with the protocol's own router.
fn run_with_corruption(protocol: &str, queue: &str) -> Run {
    let text = format!(
        r#"
title = "Corrupted headers"
duration = "3s"
[[links]]
name = "corrupting"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
buffer = "unlimited"
queue = "{queue}"
[[links]]
name = "next"
between = ["B", "C"]
rate = "10Mbps"
delay = "10ms"
buffer = "unlimited"
queue = "droptail"
[[flows]]
name = "flow"
protocol = "{protocol}"
path = ["A", "B", "C"]
workload = {{ rate = "4Mbps" }}
"#
    );
    let registry = Registry::builtin().with_queue(&FOREIGN).with_queue(&SHORT).with_queue(&RANDOM);
    let finished = run(&scenario(&text, &[]), &registry, About::default(), &Unwatched);
    finished.unwrap_or_else(|error| panic!("{protocol}: {error}")).run
}

#[test]
fn every_corrupted_header_is_counted() {
    // XCP's receiver reads the headers of data packets; with the other protocols, the sender reads the echoed headers.
    for protocol in ["xcp", "rcp", "acp", "cltcp", "mcp"] {
        for queue in ["foreign", "short"] {
            let run = run_with_corruption(protocol, queue);
            let (flow, next) = (flow(&run, "flow"), link(&run, "next"));
            // Some echoes are still on their way when the run ends: 40 ms of 4 Mbit/s are 13 packets.
            let half = |count: u64| (count as f64 - flow.delivered as f64 / 2.0).abs() <= 10.0;
            assert!(flow.delivered > 100, "{protocol}, {queue}: {} delivered", flow.delivered);
            assert!(half(flow.unread_headers), "{protocol}, {queue}: {}", flow.unread_headers);
            assert!(half(next.foreign_headers), "{protocol}, {queue}: {}", next.foreign_headers);
        }
    }
}

#[test]
fn valid_headers_are_not_counted() {
    for protocol in Registry::builtin().protocols() {
        let run = run_with_corruption(protocol.card().name, "droptail");
        assert_eq!(flow(&run, "flow").unread_headers, 0, "{}", protocol.card().name);
        assert_eq!(link(&run, "next").foreign_headers, 0, "{}", protocol.card().name);
    }
}

#[test]
fn no_protocol_fails_on_arbitrary_header_bytes() {
    for protocol in Registry::builtin().protocols() {
        for queue in ["foreign", "short", "random"] {
            let run = run_with_corruption(protocol.card().name, queue);
            let goodput = flow(&run, "flow").goodput_bps;
            assert!((0.0..10e6).contains(&goodput), "{}, {queue}: {goodput}", protocol.card().name);
        }
    }
}
