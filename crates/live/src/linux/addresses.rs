//! The addresses of the two ends of a link.
//!
//! IPv4 addresses are from 100.64.0.0/10, the shared address space between customers and carriers (RFC 6598); IPv6 addresses
//! are unique local ones (RFC 4193). A link of nesting depth `d` owns a block of half the size of the block of the link
//! around it: 100.64.0.0/16, 100.64.128.0/17, 100.64.192.0/18 and so on. Its outer end routes the whole block to its inner end,
//! so that nested links reach each other without address translation.

use crate::linux::netlink::Prefix;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Second bytes of the IPv4 blocks of links that are not nested.
pub(crate) const NETWORKS: std::ops::RangeInclusive<u8> = 64..=127;

/// Greatest nesting depth.
pub(crate) const DEEPEST: u8 = 7;

/// The place of a link among nested ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkNumber {
    /// Second byte of the IPv4 block.
    pub(crate) network: u8,
    /// Number of links around this one.
    pub(crate) depth: u8,
}

/// The addresses of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndAddresses {
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
}

impl LinkNumber {
    /// Third byte of the IPv4 addresses: its highest `depth` bits are set.
    fn block(self) -> u8 {
        !(0xff_u16 >> self.depth) as u8
    }

    fn address(self, host: u8) -> EndAddresses {
        let fourth = u16::from(self.block()) << 8;
        EndAddresses {
            v4: Ipv4Addr::new(100, self.network, self.block(), host),
            v6: Ipv6Addr::new(0xfd6d, 0x696c, self.network.into(), fourth, 0, 0, 0, host.into()),
        }
    }

    /// The addresses of the end outside.
    pub(crate) fn outer(self) -> EndAddresses {
        self.address(1)
    }

    /// The addresses of the end at which the command runs.
    pub(crate) fn inner(self) -> EndAddresses {
        self.address(2)
    }

    /// The blocks of this link and all links inside it.
    pub(crate) fn blocks(self) -> [Prefix; 2] {
        let EndAddresses { v4, v6 } = self.address(0);
        [
            Prefix { first: IpAddr::V4(v4), bits: 16 + self.depth },
            Prefix { first: IpAddr::V6(v6), bits: 48 + self.depth },
        ]
    }

    /// All addresses, for the inner end.
    pub(crate) fn everything() -> [Prefix; 2] {
        [
            Prefix { first: IpAddr::V4(Ipv4Addr::UNSPECIFIED), bits: 0 },
            Prefix { first: IpAddr::V6(Ipv6Addr::UNSPECIFIED), bits: 0 },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(prefix: Prefix, address: Ipv4Addr) -> bool {
        let IpAddr::V4(first) = prefix.first else { return false };
        (u32::from(first) ^ u32::from(address)) >> (32 - u32::from(prefix.bits)) == 0
    }

    #[test]
    fn a_block_contains_the_links_inside_and_not_those_around() {
        for depth in 0..=DEEPEST {
            let [block, _] = LinkNumber { network: 64, depth }.blocks();
            for other in 0..=DEEPEST {
                let link = LinkNumber { network: 64, depth: other };
                assert_eq!(contains(block, link.inner().v4), other >= depth, "{depth} {other}");
                assert_eq!(contains(block, link.outer().v4), other >= depth, "{depth} {other}");
            }
            assert!(!contains(block, LinkNumber { network: 65, depth }.inner().v4));
        }
    }

    #[test]
    fn addresses_are_those_of_the_documentation() {
        let link = LinkNumber { network: 64, depth: 2 };
        assert_eq!(link.inner().v4.to_string(), "100.64.192.2");
        assert_eq!(link.outer().v6.to_string(), "fd6d:696c:40:c000::1");
        assert_eq!(LinkNumber { network: 64, depth: 0 }.outer().v4.to_string(), "100.64.0.1");
    }
}
