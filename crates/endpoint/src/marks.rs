//! CE marks per acknowledgement, from a receiver's running totals.

use crate::Acknowledgement;
use millpond_units::Bytes;

/// How many marks an acknowledgement brought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    pub(crate) packets: u64,
    pub(crate) bytes: Bytes,
}

/// The marks already told to the law.
///
/// The receiver tells totals, so that a lost acknowledgement loses no mark. An acknowledgement never brings more
/// marks than it newly acknowledges; what is over is left for the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkCount {
    told: Marks,
}

impl MarkCount {
    /// Marks of an acknowledgement that newly acknowledged these packets.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgement, packets: u64, bytes: Bytes) -> Marks {
        let new = Marks {
            packets: ack.ce_packets.saturating_sub(self.told.packets).min(packets),
            bytes: Bytes::new(ack.ce_bytes).saturating_sub(self.told.bytes).min(bytes),
        };
        self.told.packets += new.packets;
        self.told.bytes += new.bytes;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ACK_BYTES, AckRanges};
    use millpond_law::Header;
    use millpond_units::Span;

    fn total(packets: u64) -> Acknowledgement {
        Acknowledgement {
            ranges: AckRanges::default(),
            delay: Span::ZERO,
            ce_packets: packets,
            ce_bytes: packets * 1000,
            member: 0,
            credit: u64::MAX,
            bytes: ACK_BYTES,
            echo: Header::NONE,
        }
    }

    #[test]
    fn no_mark_is_lost_with_an_acknowledgement_and_none_is_counted_twice() {
        let mut count = MarkCount::default();
        let mut on_ack = |marks, packets| count.on_ack(&total(marks), packets, Bytes::new(packets * 1000));
        assert_eq!(on_ack(1, 1), Marks { packets: 1, bytes: Bytes::new(1000) });
        // The acknowledgement of marks 2 and 3 got lost; the next one speaks for three packets.
        assert_eq!(on_ack(4, 3), Marks { packets: 3, bytes: Bytes::new(3000) });
        // An old acknowledgement comes late.
        assert_eq!(on_ack(3, 1), Marks::default());
        assert_eq!(on_ack(7, 1), Marks { packets: 1, bytes: Bytes::new(1000) });
        assert_eq!(on_ack(7, 2), Marks { packets: 2, bytes: Bytes::new(2000) });
    }
}
