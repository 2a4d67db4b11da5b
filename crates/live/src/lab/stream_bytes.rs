//! The bytes that a flow of a live run carries: a function of the flow and of the offset, so that every receiver can check
//! each byte on its own.

/// The eight bytes at offsets `8 * word` to `8 * word + 7` of a flow: the mixing function of SplitMix64 (Steele, Lea and
/// Flood 2014), so that no two places of a stream look alike.
fn word(flow: u32, word: u64) -> [u8; 8] {
    let counter = word.wrapping_add(u64::from(flow) << 32).wrapping_add(1);
    let mut mixed = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31).to_le_bytes()
}

/// Replaces `into` by the bytes of a flow from `offset` on.
pub(crate) fn fill(flow: u32, offset: u64, length: u32, into: &mut Vec<u8>) {
    let skipped = (offset % 8) as usize;
    let wanted = skipped + length as usize;
    into.clear();
    let words = offset / 8..=offset / 8 + wanted as u64 / 8;
    words.for_each(|number| into.extend_from_slice(&word(flow, number)));
    into.truncate(wanted);
    into.drain(..skipped);
}

/// True if these are the bytes of the flow from `offset` on. `scratch` keeps its memory.
pub(crate) fn are_right(flow: u32, offset: u64, bytes: &[u8], scratch: &mut Vec<u8>) -> bool {
    let Ok(length) = u32::try_from(bytes.len()) else { return false };
    fill(flow, offset, length, scratch);
    scratch == bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(flow: u32, offset: u64, length: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        fill(flow, offset, length, &mut bytes);
        bytes
    }

    #[test]
    fn a_part_of_a_stream_is_the_same_however_it_is_cut() {
        let whole = bytes(3, 0, 100);
        for offset in 0..40 {
            for length in 0..30 {
                let part = &whole[offset..offset + length];
                assert_eq!(bytes(3, offset as u64, length as u32), part);
                assert!(are_right(3, offset as u64, part, &mut Vec::new()));
            }
        }
    }

    #[test]
    fn bytes_of_another_flow_or_place_are_wrong() {
        let part = bytes(3, 80, 16);
        for (flow, offset) in [(4, 80), (3, 81), (3, 88), (3, 79)] {
            assert!(!are_right(flow, offset, &part, &mut Vec::new()));
        }
    }
}
