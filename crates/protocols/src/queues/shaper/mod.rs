//! Token-bucket shaper: holds packets back so that their rate does not exceed a share of the capacity.

use super::token_bucket::{BURST, SHARE, TokenBucket};
use millpond_law::key::Keys;
use millpond_law::{Hooks, Link, LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};
use millpond_units::{Bytes, Time};

/// The queue `shaper`.
pub struct Shaper;

static PARAMETERS: Keys = &[&SHARE, &BURST];

static CARD: QueueCard = QueueCard {
    name: "shaper",
    title: "Token-bucket shaper",
    source: "RFC 2475, section 2.3.3.3; token bucket of RFC 2697",
    parameters: PARAMETERS,
    presets: &[],
};

impl Queue for Shaper {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(ShaperLink(TokenBucket::new(settings, facts))))
    }
}

/// The law at one link.
struct ShaperLink(TokenBucket);

impl Link for ShaperLink {
    fn hooks(&self) -> Hooks {
        Hooks { release: true, ..Hooks::default() }
    }

    fn release(&mut self, now: Time, bytes: Bytes) -> Time {
        self.0.wait_for(now, bytes)
    }
}
