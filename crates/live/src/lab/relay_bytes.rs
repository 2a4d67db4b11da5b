//! The stream bytes that a relay has received and must be able to send again: those of one flow, between the lowest byte that
//! the next loop has not acknowledged and the highest one received.

use std::collections::{BTreeMap, VecDeque};

/// The stored bytes of one flow at a relay.
#[derive(Debug, Default)]
pub(crate) struct RelayBytes {
    /// Offset of the first stored byte.
    base: u64,
    bytes: VecDeque<u8>,
    /// Ranges of the stream that have been sent at least once, from `base` on: start and end.
    sent: BTreeMap<u64, u64>,
    /// Offset of the data of each packet that the next loop may still lose, by packet number.
    outstanding: BTreeMap<u64, u64>,
}

impl RelayBytes {
    /// Bytes arrive from the previous loop. Those that the next loop has acknowledged already are repetitions.
    pub(crate) fn store(&mut self, offset: u64, bytes: &[u8]) {
        let repeated = usize::try_from(self.base.saturating_sub(offset)).unwrap_or(usize::MAX);
        let Some(fresh) = bytes.get(repeated..) else { return };
        let Ok(start) = usize::try_from(offset.max(self.base) - self.base) else { return };
        if self.bytes.len() < start + fresh.len() {
            self.bytes.resize(start + fresh.len(), 0);
        }
        self.bytes.range_mut(start..start + fresh.len()).zip(fresh).for_each(|(to, from)| *to = *from);
    }

    /// A packet of the next loop leaves: writes its bytes into `into`. `floor`: the next loop needs no packet below this number
    /// any more. Bytes that were never stored come out as none.
    pub(crate) fn send(&mut self, number: u64, floor: u64, offset: u64, length: u32, into: &mut Vec<u8>) {
        into.clear();
        let start = offset.checked_sub(self.base).and_then(|start| usize::try_from(start).ok());
        let range = start.map(|start| start..start + length as usize);
        let Some(range) = range.filter(|range| range.end <= self.bytes.len()) else { return };
        into.extend(self.bytes.range(range));
        if length > 0 {
            self.outstanding.insert(number, offset);
            self.record_sent(offset, offset + u64::from(length));
        }
        self.outstanding = self.outstanding.split_off(&floor);
        self.release();
    }

    /// Number of stored bytes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a range to those that have been sent.
    fn record_sent(&mut self, mut start: u64, mut end: u64) {
        while let Some((&first, &last)) =
            self.sent.range(..=end).next_back().filter(|(_, last)| **last >= start)
        {
            (start, end) = (start.min(first), end.max(last));
            self.sent.remove(&first);
        }
        self.sent.insert(start, end);
    }

    /// Removes the bytes that have been sent and are in no outstanding packet.
    fn release(&mut self) {
        let sent_up_to = match self.sent.first_key_value() {
            Some((&start, &end)) if start <= self.base => end,
            _ => return,
        };
        let needed = self.outstanding.values().copied().min().unwrap_or(u64::MAX);
        let base = sent_up_to.min(needed).max(self.base);
        let released = usize::try_from(base - self.base).unwrap_or(usize::MAX).min(self.bytes.len());
        self.bytes.drain(..released);
        self.base += released as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(store: &mut RelayBytes, number: u64, floor: u64, offset: u64, length: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        store.send(number, floor, offset, length, &mut bytes);
        bytes
    }

    #[test]
    fn bytes_leave_as_they_came_also_in_another_order() {
        let mut store = RelayBytes::default();
        store.store(3, b"def");
        store.store(0, b"abc");
        assert_eq!(sent(&mut store, 0, 0, 3, 3), b"def");
        assert_eq!(sent(&mut store, 1, 0, 0, 3), b"abc");
        // Packet 0 is lost and sent again in parts.
        assert_eq!(sent(&mut store, 2, 1, 3, 1), b"d");
        assert_eq!(sent(&mut store, 3, 1, 4, 2), b"ef");
    }

    #[test]
    fn what_the_next_loop_has_acknowledged_is_removed_and_repetitions_are_ignored() {
        let mut store = RelayBytes::default();
        for packet in 0..1000_u64 {
            store.store(packet * 10, &[packet as u8; 10]);
            // Ten packets are outstanding.
            assert_eq!(
                sent(&mut store, packet, packet.saturating_sub(9), packet * 10, 10),
                [packet as u8; 10]
            );
            assert!(store.len() <= 100);
        }
        store.store(9890, &[0; 10]);
        assert_eq!(sent(&mut store, 1000, 990, 9900, 10), [(990 % 256) as u8; 10]);
    }

    #[test]
    fn a_hole_is_kept_open_until_its_bytes_have_come_and_gone() {
        let mut store = RelayBytes::default();
        store.store(10, &[1; 10]);
        assert_eq!(sent(&mut store, 0, 0, 10, 10), [1; 10]);
        assert!(sent(&mut store, 1, 1, 10, 0).is_empty());
        assert_eq!(store.len(), 20, "bytes 0 to 9 have not been sent yet");
        store.store(0, &[2; 10]);
        assert_eq!(sent(&mut store, 2, 2, 0, 10), [2; 10]);
        assert!(sent(&mut store, 3, 3, 20, 0).is_empty());
        assert_eq!(store.len(), 0);
    }
}
