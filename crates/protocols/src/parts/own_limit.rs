//! Times in which a law sends less than it could, on purpose: their samples do not show the bandwidth.

use millpond_law::Ack;

/// The samples of packets that were sent while the law itself held back (MarkConnectionAppLimited in HandleProbeRTT of BBR).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnLimit {
    /// Bytes delivered when the law began to hold back, and when the last packet sent until now will have been delivered.
    range: Option<(f64, f64)>,
}

impl OwnLimit {
    /// The law holds back, with this much delivered and in flight.
    pub(crate) fn mark(&mut self, delivered: f64, in_flight: f64) {
        let began = self.range.filter(|(_, until)| delivered <= *until).map_or(delivered, |(began, _)| began);
        self.range = Some((began, delivered + in_flight));
    }

    /// True if the newest packet of `ack` was sent in such a time.
    pub(crate) fn applies(&self, ack: &Ack) -> bool {
        let prior = ack.prior_delivered.as_f64();
        self.range.is_some_and(|(began, until)| (began..=until).contains(&prior))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::{Bytes, Span};

    fn sent_after(delivered: u64) -> Ack {
        Ack {
            prior_delivered: Bytes::new(delivered),
            ..Ack::plain(Bytes::new(1), Span::from_millis(1), Bytes::ZERO)
        }
    }

    #[test]
    fn a_limit_lasts_until_what_was_in_flight_is_delivered_and_can_be_extended() {
        let mut limit = OwnLimit::default();
        assert!(!limit.applies(&sent_after(0)));
        limit.mark(100.0, 20.0);
        limit.mark(110.0, 30.0);
        let applies = [99, 100, 140, 141].map(|delivered| limit.applies(&sent_after(delivered)));
        assert_eq!(applies, [false, true, true, false]);
        limit.mark(500.0, 10.0);
        assert!(!limit.applies(&sent_after(100)) && limit.applies(&sent_after(505)));
    }
}
