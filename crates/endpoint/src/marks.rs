//! CE marks per acknowledgement, from a receiver's running totals.

use millpond_units::Bytes;

/// CE marks: those that an acknowledgement reports for the first time, or all that a receiver has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Marks {
    /// Marked packets.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: Bytes,
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
    /// True if these are the marks reported so far; the packets are counted modulo 2^32.
    #[inline]
    pub(crate) fn are_reported(&self, packets: u32, bytes: Bytes) -> bool {
        packets == self.reported.packets as u32 && bytes == self.reported.bytes
    }

    /// The number of marked packets of which `modulo` is the rest modulo 2^32: the one next to the number reported so far.
    #[inline]
    pub(crate) fn total_packets(self, modulo: u32) -> u64 {
        let more = modulo.wrapping_sub(self.reported.packets as u32).cast_signed();
        self.reported.packets.saturating_add_signed(more.into())
    }

    /// New marks of an acknowledgement that newly acknowledged `packets` packets of `bytes` bytes; `total`: all marks that
    /// the receiver has counted.
    #[inline]
    pub(crate) fn on_ack(&mut self, total: Marks, packets: u64, bytes: Bytes) -> Marks {
        let new = Marks {
            packets: total.packets.saturating_sub(self.reported.packets).min(packets),
            bytes: total.bytes.saturating_sub(self.reported.bytes).min(bytes),
        };
        self.reported.packets += new.packets;
        self.reported.bytes += new.bytes;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(packets: u64) -> Marks {
        Marks { packets, bytes: Bytes::new(packets * 1000) }
    }

    #[test]
    fn a_count_modulo_2_to_the_32_is_the_number_next_to_the_reported_one() {
        let packets = [0, 5, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 40) + 7];
        for reported in packets {
            let count = MarkCount { reported: total(reported) };
            for total in [reported.saturating_sub(3), reported, reported + 1, reported + (1 << 31) - 1] {
                assert_eq!(count.total_packets(total as u32), total, "{reported}");
            }
        }
        assert_eq!(MarkCount::default().total_packets(u32::MAX), 0, "no receiver counts less than nothing");
    }

    #[test]
    fn each_mark_is_reported_once_although_acknowledgements_are_lost() {
        let mut count = MarkCount::default();
        let mut on_ack = |marks, packets| count.on_ack(total(marks), packets, Bytes::new(packets * 1000));
        assert_eq!(on_ack(1, 1), Marks { packets: 1, bytes: Bytes::new(1000) });
        // The acknowledgement of marks 2 and 3 was lost; the next one acknowledges three packets.
        assert_eq!(on_ack(4, 3), Marks { packets: 3, bytes: Bytes::new(3000) });
        // An old acknowledgement arrives late.
        assert_eq!(on_ack(3, 1), Marks::default());
        assert_eq!(on_ack(7, 1), Marks { packets: 1, bytes: Bytes::new(1000) });
        assert_eq!(on_ack(7, 2), Marks { packets: 2, bytes: Bytes::new(2000) });
    }
}
