//! L4S step: marks a packet with ECT(1) at once if its sojourn time exceeds a threshold.

use millpond_law::key::{Key, Keys, span_or_zero};
use millpond_law::{
    Context, Ecn, Hooks, Link, LinkFacts, PacketView, Queue, QueueCard, QueueLaw, QueueView, SettingError,
    Settings, Verdict,
};
use millpond_units::Span;

/// The queue `l4s-step`.
pub struct L4sStep;

const THRESHOLD: Key<Span> = span_or_zero("threshold", Span::from_millis(1))
    .source("RFC 9332, appendix A.1, note c; the step of Linux DualPI2")
    .meaning("sojourn time above which a packet with ECT(1) is marked");

static PARAMETERS: Keys = &[&THRESHOLD];

static CARD: QueueCard = QueueCard {
    name: "l4s-step",
    title: "L4S step marking",
    source: "RFC 9332, appendix A.1, note c; RFC 8290, section 5.2.7",
    parameters: PARAMETERS,
    presets: &[],
};

impl Queue for L4sStep {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, _facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(StepLink { threshold: settings.get(THRESHOLD) }))
    }
}

/// The law at one link.
struct StepLink {
    threshold: Span,
}

impl Link for StepLink {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, ..Hooks::default() }
    }

    fn depart(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let is_l4s = *packet.ecn == Ecn::Ect1;
        if is_l4s && queue.head_sojourn > self.threshold { Verdict::Mark } else { Verdict::Keep }
    }

    fn for_flow(&self) -> Option<Box<dyn Link>> {
        Some(Box::new(Self { threshold: self.threshold }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::PACKET;
    use millpond_law::{Header, PacketKind, Random};
    use millpond_units::{Rate, Time};

    fn verdict(mut ecn: Ecn, sojourn: Span) -> Verdict {
        let mut law = StepLink { threshold: Span::from_millis(1) };
        let (mut header, mut random) = (Header::NONE, Random::stream(1, "link"));
        let mut packet =
            PacketView { bytes: PACKET, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header: &mut header };
        let queue = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: PACKET,
            link_bytes: PACKET,
            packets: 1,
            head_sojourn: sojourn,
        };
        law.depart(&mut Context { now: Time::ZERO, random: &mut random }, &mut packet, &queue)
    }

    #[test]
    fn every_packet_with_ect1_above_the_threshold_is_marked_and_no_other() {
        let (short, long) = (Span::from_micros(1000), Span::from_micros(1001));
        assert_eq!(verdict(Ecn::Ect1, long), Verdict::Mark);
        assert_eq!(verdict(Ecn::Ect1, short), Verdict::Keep);
        for other in [Ecn::NotCapable, Ecn::Ect0, Ecn::Ce] {
            assert_eq!(verdict(other, long), Verdict::Keep);
        }
    }
}
