//! The largest rate at which the path has lately delivered: all that a sender knows of a capacity nobody told it.

use millpond_law::Ack;
use millpond_units::Rate;

/// Round trips after which a sample may be forgotten; it is forgotten after twice as many.
const ROUNDS: u64 = 10;

/// The largest delivery rate of the last 10 to 20 round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxDelivery {
    began: u64,
    before: Rate,
    lately: Rate,
}

impl MaxDelivery {
    /// Takes in an acknowledgement's delivery-rate sample. One taken while the sender was short of data is a lower
    /// bound on what the path can do, and counts as such.
    pub fn on_ack(&mut self, ack: &Ack) {
        if ack.round >= self.began.saturating_add(ROUNDS) && !ack.app_limited {
            *self = Self { began: ack.round, before: self.lately, lately: Rate::ZERO };
        }
        if let Some(rate) = ack.delivery_rate() {
            self.lately = self.lately.max(rate);
        }
    }

    /// The largest delivery rate; zero before the first sample.
    pub fn get(&self) -> Rate {
        self.before.max(self.lately)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::{Bytes, Span};

    fn sample(round: u64, mbps: f64, app_limited: bool) -> Ack {
        let span = Span::from_millis(1);
        let delivered = Rate::from_mbps(mbps).bytes_in(span);
        Ack {
            round,
            delivered,
            delivery_span: span,
            app_limited,
            ..Ack::plain(Bytes::new(1500), span, Bytes::ZERO)
        }
    }

    #[test]
    fn a_peak_is_remembered_for_10_to_20_rounds() {
        let mut max = MaxDelivery::default();
        max.on_ack(&sample(0, 80.0, false));
        for round in 1..20 {
            max.on_ack(&sample(round, 8.0, false));
            assert_eq!(max.get(), Rate::from_mbps(80.0), "round {round}");
        }
        max.on_ack(&sample(20, 8.0, false));
        assert_eq!(max.get(), Rate::from_mbps(8.0));
    }

    #[test]
    fn a_sender_short_of_data_forgets_nothing() {
        let mut max = MaxDelivery::default();
        max.on_ack(&sample(0, 80.0, false));
        for round in 1..100 {
            max.on_ack(&sample(round, 8.0, true));
        }
        assert_eq!(max.get(), Rate::from_mbps(80.0));
    }
}
