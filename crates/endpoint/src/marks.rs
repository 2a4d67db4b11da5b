//! CE marks per acknowledgement, from a receiver's running totals.

use crate::Acknowledgement;
use millpond_units::Bytes;

/// Number of CE marks that an acknowledgement reports for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    pub(crate) packets: u64,
    pub(crate) bytes: Bytes,
}

/// The CE marks that were already reported to the law.
///
/// The receiver reports totals, so that no mark is lost with an acknowledgement. An acknowledgement never yields more
/// marks than newly acknowledged packets or bytes; the excess is reported with the next one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkCount {
    reported: Marks,
}

impl MarkCount {
    /// New marks of an acknowledgement that newly acknowledged `packets` packets of `bytes` bytes.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgement, packets: u64, bytes: Bytes) -> Marks {
        let new = Marks {
            packets: ack.ce_packets.saturating_sub(self.reported.packets).min(packets),
            bytes: Bytes::new(ack.ce_bytes).saturating_sub(self.reported.bytes).min(bytes),
        };
        self.reported.packets += new.packets;
        self.reported.bytes += new.bytes;
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
            stream_id: 0,
            credit: u64::MAX,
            bytes: ACK_BYTES,
            echo: Header::NONE,
        }
    }

    #[test]
    fn each_mark_is_reported_once_although_acknowledgements_are_lost() {
        let mut count = MarkCount::default();
        let mut on_ack = |marks, packets| count.on_ack(&total(marks), packets, Bytes::new(packets * 1000));
        assert_eq!(on_ack(1, 1), Marks { packets: 1, bytes: Bytes::new(1000) });
        // The acknowledgement of marks 2 and 3 was lost; the next one acknowledges three packets.
        assert_eq!(on_ack(4, 3), Marks { packets: 3, bytes: Bytes::new(3000) });
        // An old acknowledgement arrives late.
        assert_eq!(on_ack(3, 1), Marks::default());
        assert_eq!(on_ack(7, 1), Marks { packets: 1, bytes: Bytes::new(1000) });
        assert_eq!(on_ack(7, 2), Marks { packets: 2, bytes: Bytes::new(2000) });
    }
}
