//! The link of HPCC: appends its report to each packet that it begins to send (section 4.1, SIGCOMM 2019).

use super::header::{ID, LinkReport, Telemetry};
use millpond_law::{Context, Gauge, Hooks, Link, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Bytes, Rate, Span};

/// The state of one link.
#[derive(Default)]
pub(super) struct HpccRouter {
    /// Time spent on sending the packets so far.
    busy: Span,
    unread: Unread,
}

/// The time in which a link sends these bytes; zero without capacity.
fn service_time(bytes: Bytes, capacity: Rate) -> Span {
    if capacity == Rate::ZERO {
        return Span::ZERO;
    }
    Span::from_secs(bytes.as_f64() * 8.0 / capacity.as_f64())
}

impl Link for HpccRouter {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, ..Hooks::default() }
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let waiting = service_time(queue.bytes.saturating_sub(packet.bytes), queue.configured_capacity);
        let report = LinkReport::new(cx.now, self.busy, waiting);
        let appended = Telemetry::append(packet.header, &report);
        self.unread.note_own(ID, packet.header.protocol(), appended);
        self.busy += service_time(packet.bytes, queue.configured_capacity);
        Verdict::Keep
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("busy time", "s", self.busy.secs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::{Ecn, Header, PacketKind, Random};
    use millpond_units::Time;

    /// The report of a packet of 1000 bytes that a link of 1 Gbit/s begins to send at this time in microseconds.
    fn report(router: &mut HpccRouter, micros: u64, waiting: u64) -> LinkReport {
        let mut random = Random::stream(1, "link");
        let mut cx = Context { now: Time::ZERO + Span::from_micros(micros), random: &mut random };
        let (mut ecn, mut header) = (Ecn::NotCapable, Header::NONE);
        Telemetry::begin(&mut header);
        let bytes = Bytes::new(1000);
        let mut packet =
            PacketView { bytes, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header: &mut header };
        let queue = QueueView {
            configured_capacity: Rate::from_mbps(1000.0),
            bytes: Bytes::new(1000 + waiting),
            link_bytes: Bytes::new(1000 + waiting),
            packets: 1,
            head_sojourn: Span::ZERO,
        };
        assert_eq!(router.depart(&mut cx, &mut packet, &queue), Verdict::Keep);
        Telemetry::parse(&header).unwrap().reports()[0]
    }

    #[test]
    fn the_growth_of_the_busy_time_is_the_utilization_between_two_reports() {
        let mut router = HpccRouter::default();
        // Two packets of 8 us each within 32 us: half of the capacity.
        let first = report(&mut router, 0, 0);
        report(&mut router, 20, 0);
        let third = report(&mut router, 32, 2500);
        assert_eq!(third.since(&first), Span::from_micros(32));
        assert_eq!(third.busy_since(&first), Span::from_micros(16));
        assert_eq!((first.queue(), third.queue()), (Span::ZERO, Span::from_micros(20)));
    }
}
