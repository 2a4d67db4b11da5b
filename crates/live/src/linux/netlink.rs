//! Requests to the kernel about devices, addresses and routes of a network namespace (man 7 rtnetlink, RFC 3549).

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;

const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;

const IFF_UP: u32 = 1;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_STATS64: u16 = 23;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// No test for duplicates: an IPv6 address can be used at once.
const IFA_F_NODAD: u8 = 0x02;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_UNIVERSE: u8 = 0;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;

/// A range of addresses: its first address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) first: IpAddr,
    pub(crate) bits: u8,
}

/// A connection to the kernel about the network namespace in which it was opened.
pub(crate) struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        // The protocol with number zero is NETLINK_ROUTE.
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        Ok(Self { socket })
    }

    /// The index of a device.
    pub(crate) fn index(&self, device: &str) -> io::Result<u32> {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
        Ok(rustix::net::netdevice::name_to_index(socket, device)?)
    }

    /// Switches a device on.
    pub(crate) fn switch_on(&self, device: u32) -> io::Result<()> {
        self.change_link(device, &[])
    }

    /// Switches a device on, for packets of up to `mtu` bytes and a queue of up to `queue` packets.
    pub(crate) fn switch_on_with(&self, device: u32, mtu: u32, queue: u32) -> io::Result<()> {
        self.change_link(device, &[(IFLA_MTU, mtu), (IFLA_TXQLEN, queue)])
    }

    fn change_link(&self, device: u32, numbers: &[(u16, u32)]) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, NLM_F_ACK);
        message.link(device, IFF_UP);
        numbers.iter().for_each(|(kind, number)| message.attribute(*kind, &number.to_ne_bytes()));
        self.acknowledged(message)
    }

    /// Gives a device an address, and the address at the other end.
    pub(crate) fn add_address(&self, device: u32, local: IpAddr, peer: IpAddr) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
        message.bytes(&[family(local), width(local), IFA_F_NODAD, RT_SCOPE_UNIVERSE]);
        message.bytes(&device.to_ne_bytes());
        message.address(IFA_LOCAL, local);
        message.address(IFA_ADDRESS, peer);
        self.acknowledged(message)
    }

    /// Adds a route to a prefix through a device; an error of the kind `AlreadyExists` if there is a route to it.
    pub(crate) fn add_route(&self, device: u32, to: Prefix) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
        message.bytes(&[family(to.first), to.bits, 0, 0]);
        message.bytes(&[RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST]);
        message.bytes(&0_u32.to_ne_bytes());
        if to.bits > 0 {
            message.address(RTA_DST, to.first);
        }
        message.attribute(RTA_OIF, &device.to_ne_bytes());
        self.acknowledged(message)
    }

    /// Number of packets that a device has dropped because its queue was full.
    pub(crate) fn dropped(&self, device: u32) -> io::Result<u64> {
        let mut message = Message::new(RTM_GETLINK, 0);
        message.link(device, 0);
        let answer = self.exchange(message)?;
        // Behind the headers of message (16 bytes) and device (16 bytes): attributes. The eighth number of the statistics is
        // `tx_dropped` (struct rtnl_link_stats64).
        let statistics = attribute(answer.get(32..).unwrap_or_default(), IFLA_STATS64);
        let number = statistics.and_then(|bytes| bytes.get(56..64)?.try_into().ok());
        number.map(u64::from_ne_bytes).ok_or_else(|| io::Error::other("no statistics of the device"))
    }

    fn acknowledged(&self, message: Message) -> io::Result<()> {
        self.exchange(message).map(|_| ())
    }

    /// Sends a request and returns the answer; the error that the kernel answers, if it is one.
    fn exchange(&self, message: Message) -> io::Result<Vec<u8>> {
        rustix::net::send(&self.socket, &message.complete(), SendFlags::empty())?;
        let mut answer = vec![0; 32 * 1024];
        let (_, length) = rustix::net::recv(&self.socket, answer.as_mut_slice(), RecvFlags::empty())?;
        answer.truncate(length);
        let short = || io::Error::other("an incomplete answer of the kernel");
        let kind = answer.get(4..6).ok_or_else(short)?;
        if kind != NLMSG_ERROR.to_ne_bytes() {
            return Ok(answer);
        }
        let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).ok_or_else(short)?;
        match i32::from_ne_bytes(code) {
            0 => Ok(answer),
            code => Err(io::Error::from_raw_os_error(-code)),
        }
    }
}

/// The content of the first attribute of a kind.
fn attribute(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let &[a, b, c, d] = bytes.first_chunk::<4>()?;
        let (length, found) = (usize::from(u16::from_ne_bytes([a, b])), u16::from_ne_bytes([c, d]));
        if found == kind {
            return bytes.get(4..length);
        }
        bytes = bytes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    family as u8
}

/// The number of bits of an address.
fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// A request: a header of 16 bytes (length, kind, flags, sequence number, sender), then its content.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: u16) -> Self {
        let mut message = Self(vec![0; 4]);
        message.bytes(&kind.to_ne_bytes());
        message.bytes(&(flags | NLM_F_REQUEST).to_ne_bytes());
        message.bytes(&[0; 8]);
        message
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The header of a device (struct ifinfomsg) with the flags that are set.
    fn link(&mut self, device: u32, flags: u32) {
        self.bytes(&[0; 4]);
        self.bytes(&device.to_ne_bytes());
        self.bytes(&flags.to_ne_bytes());
        self.bytes(&flags.to_ne_bytes());
    }

    /// An attribute: length with these four bytes, kind, content, padding to four bytes.
    fn attribute(&mut self, kind: u16, content: &[u8]) {
        self.bytes(&(content.len() as u16 + 4).to_ne_bytes());
        self.bytes(&kind.to_ne_bytes());
        self.bytes(content);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn address(&mut self, kind: u16, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.attribute(kind, &address.octets()),
            IpAddr::V6(address) => self.attribute(kind, &address.octets()),
        }
    }

    fn complete(mut self) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_request_has_the_layout_of_rtnetlink() {
        let mut message = Message::new(RTM_NEWROUTE, NLM_F_ACK);
        message.bytes(&[2, 24, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST, 0, 0, 0, 0]);
        message.address(RTA_DST, IpAddr::from([100, 64, 0, 0]));
        let bytes = message.complete();
        assert_eq!(bytes.len(), 16 + 12 + 8);
        assert_eq!(bytes[..4], 36_u32.to_ne_bytes());
        assert_eq!(bytes[4..8], [24_u16.to_ne_bytes(), 5_u16.to_ne_bytes()].concat());
        assert_eq!(bytes[28..], [8_u16.to_ne_bytes(), 1_u16.to_ne_bytes(), [100, 64], [0, 0]].concat());
        assert_eq!(attribute(&bytes[28..], RTA_DST), Some(&[100, 64, 0, 0][..]));
        assert_eq!(attribute(&bytes[28..], RTA_OIF), None);
    }

    #[test]
    fn an_attribute_of_length_zero_does_not_stop_the_search() {
        let bytes = [[0, 0, 9, 0], 8_u32.to_ne_bytes(), [1, 2, 3, 4]].concat();
        assert_eq!(attribute(&bytes, 0x55), None);
    }
}
