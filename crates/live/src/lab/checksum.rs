//! CRC-32C (Castagnoli), as iSCSI uses it: RFC 3720, section 12.1 and appendix B.4.

/// The generator polynomial 0x1edc6f41 with its bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Number of bytes that one step takes.
const STEP: usize = 8;

/// `TABLES[k][byte]`: the remainder of this byte followed by `k` zero bytes.
static TABLES: [[u32; 256]; STEP] = tables();

const fn tables() -> [[u32; 256]; STEP] {
    let mut tables = [[0; 256]; STEP];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { remainder >> 1 ^ POLYNOMIAL } else { remainder >> 1 };
            bit += 1;
        }
        tables[0][byte] = remainder;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < STEP {
        byte = 0;
        while byte < 256 {
            let before = tables[zeros - 1][byte];
            tables[zeros][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

/// The checksum of these parts, one after the other.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    !parts.iter().fold(!0, |remainder, part| extended(remainder, part))
}

/// The remainder after further bytes, eight at a time: the tables give the contribution of each byte of a step.
fn extended(remainder: u32, bytes: &[u8]) -> u32 {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let whole = steps.iter().fold(remainder, |remainder, step| {
        let word = u64::from_le_bytes(*step) ^ u64::from(remainder);
        let shares = word.to_le_bytes().into_iter().zip(TABLES.iter().rev());
        shares.fold(0, |sum, (byte, table)| sum ^ table[usize::from(byte)])
    });
    rest.iter().fold(whole, |remainder, byte| remainder >> 8 ^ TABLES[0][usize::from(remainder as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksums_are_those_of_rfc_3720() {
        // Appendix B.4 gives the checksum as bytes, least significant first.
        let ascending: Vec<u8> = (0..32).collect();
        let descending: Vec<u8> = (0..32).rev().collect();
        let known: [(&[u8], [u8; 4]); 4] = [
            (&[0; 32], [0xaa, 0x36, 0x91, 0x8a]),
            (&[0xff; 32], [0x43, 0xab, 0xa8, 0x62]),
            (&ascending, [0x4e, 0x79, 0xdd, 0x46]),
            (&descending, [0x5c, 0xdb, 0x3f, 0x11]),
        ];
        for (bytes, checksum) in known {
            assert_eq!(crc32c(&[bytes]).to_le_bytes(), checksum);
        }
    }

    #[test]
    fn parts_have_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..200_u32).map(|n| (n * 37) as u8).collect();
        for cut in 0..=bytes.len() {
            let (before, after) = bytes.split_at(cut);
            assert_eq!(crc32c(&[before, after]), crc32c(&[&bytes]));
        }
    }
}
