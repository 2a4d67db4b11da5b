//! Times in which a sender that has data sends nothing.

use alloc::vec::Vec;
use millpond_units::{Span, Time};

/// Shorter times without a packet are not recorded.
pub const LEAST_SILENCE: Span = Span::from_millis(1_000);

/// A time in which a sender had data, or waited for a probe timeout, and sent nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// When the last packet before it left, or when data became available after that.
    pub from: Time,
    /// When the next packet left.
    pub to: Time,
}

/// Records the silences of a sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Silences {
    /// When the sender last had nothing to send.
    idle_until: Time,
    recorded: Vec<Silence>,
}

impl Silences {
    /// The silences so far.
    pub(crate) fn recorded(&self) -> &[Silence] {
        &self.recorded
    }

    /// The sender has data again after it had nothing to send.
    pub(crate) fn on_data(&mut self, now: Time) {
        self.idle_until = now;
    }

    /// The silence at `now` of a sender that sent its last packet at `last_sent_at`; none if it is too short to record.
    pub(crate) fn current(&self, now: Time, last_sent_at: Time) -> Option<Silence> {
        let from = last_sent_at.max(self.idle_until);
        (now.since(from) > LEAST_SILENCE).then_some(Silence { from, to: now })
    }

    /// A packet leaves more than [`LEAST_SILENCE`] after the one before.
    #[cold]
    pub(crate) fn on_late_packet(&mut self, now: Time, last_sent_at: Time) {
        let silence = self.current(now, last_sent_at);
        self.recorded.extend(silence);
    }
}
