//! A TUN device with its addresses and routes.

use crate::linux::addresses::EndAddresses;
use crate::linux::netlink::{Netlink, Prefix};
use crate::linux::sys::{self, TunDevice};
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// Largest IP packet in bytes.
pub(crate) const MTU: u32 = 1500;

/// Packets that wait in the device for the emulator.
const DEVICE_QUEUE: u32 = 10_000;

/// A device that is switched on and has its addresses.
pub(crate) struct Device {
    pub(crate) descriptor: OwnedFd,
    pub(crate) index: u32,
    pub(crate) netlink: Netlink,
}

impl Device {
    /// Makes a device in the network namespace of this thread.
    pub(crate) fn make() -> io::Result<Self> {
        let TunDevice { descriptor, name } = sys::make_tun("millpond%d")?;
        let netlink = Netlink::open()?;
        let index = netlink.index(&name)?;
        netlink.switch_on_with(index, MTU, DEVICE_QUEUE)?;
        Ok(Self { descriptor, index, netlink })
    }

    /// Gives it its addresses and the routes through it. Without IPv6 in the kernel, those of IPv4 alone.
    pub(crate) fn configure(
        &self,
        own: EndAddresses,
        peer: EndAddresses,
        routes: [Prefix; 2],
    ) -> io::Result<()> {
        let [v4, v6] = routes;
        self.configure_family(IpAddr::V4(own.v4), IpAddr::V4(peer.v4), v4)?;
        if std::path::Path::new("/proc/sys/net/ipv6/conf/all").exists() && !ipv6_is_disabled() {
            self.configure_family(IpAddr::V6(own.v6), IpAddr::V6(peer.v6), v6)?;
        }
        Ok(())
    }

    /// The route comes first: if the block is in use, nothing has changed but the device.
    fn configure_family(&self, own: IpAddr, peer: IpAddr, route: Prefix) -> io::Result<()> {
        self.netlink.add_route(self.index, route)?;
        self.netlink.add_address(self.index, own, peer)
    }
}

fn ipv6_is_disabled() -> bool {
    let read = |of: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv6/conf/{of}/disable_ipv6"));
    ["all", "default"].iter().any(|of| read(of).is_ok_and(|text| text.trim() == "1"))
}
