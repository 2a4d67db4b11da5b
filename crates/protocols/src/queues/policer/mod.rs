//! Token-bucket policer: drops packets that exceed a share of the capacity.

use super::token_bucket::{BURST, SHARE, TokenBucket};
use millpond_law::key::Keys;
use millpond_law::{
    Context, Hooks, Link, LinkFacts, PacketView, Queue, QueueCard, QueueLaw, QueueView, SettingError,
    Settings, Verdict,
};

/// The queue `policer`.
pub struct Policer;

static PARAMETERS: Keys = &[&SHARE, &BURST];

static CARD: QueueCard = QueueCard {
    name: "policer",
    title: "Token-bucket policer",
    source: "RFC 2475, section 2.3.3.4; token bucket of RFC 2697",
    parameters: PARAMETERS,
    presets: &[],
};

impl Queue for Policer {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(PolicerLink(TokenBucket::new(settings, facts))))
    }
}

/// The law at one link.
struct PolicerLink(TokenBucket);

impl Link for PolicerLink {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, ..Hooks::default() }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        if self.0.take(cx.now, packet.bytes) { Verdict::Keep } else { Verdict::Drop }
    }
}
