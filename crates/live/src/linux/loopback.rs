//! The sockets of a live run: for each host a pair of UDP sockets on the loopback interface, one of the host and one of the
//! router beside it. Each is connected to the other, so that the system discards datagrams of other senders.

use crate::lab::SocketOwner;
use crate::linux::batch::{Family, ReceiveBatch, SendBatch};
use millpond_law::Ecn;
use millpond_sim::NodeId;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsFd;

/// Room of each socket for datagrams that wait to be read, in bytes.
const RECEIVE_BUFFER: usize = 8 << 20;

/// A socket with the datagrams that wait to be sent to it.
struct Port {
    place: SocketOwner,
    family: Family,
    socket: UdpSocket,
    /// Datagrams for this socket. They leave through `sender`.
    waiting: SendBatch,
    /// The number of the socket that sends to this one.
    sender: usize,
    /// Datagrams that were sent to this socket and have not been read.
    under_way: u64,
}

/// All sockets of a run.
#[derive(Default)]
pub(crate) struct Sockets {
    ports: Vec<Port>,
    numbers: BTreeMap<(bool, NodeId), usize>,
    /// Datagrams that the system did not accept.
    refused: u64,
}

/// A socket that only processes of this machine reach.
fn open(family: Family) -> io::Result<UdpSocket> {
    let address: IpAddr = match family {
        Family::V4 => Ipv4Addr::LOCALHOST.into(),
        Family::V6 => Ipv6Addr::LOCALHOST.into(),
    };
    let socket = UdpSocket::bind((address, 0))?;
    socket.set_nonblocking(true)?;
    match family {
        Family::V4 => rustix::net::sockopt::set_ip_recvtos(&socket, true)?,
        Family::V6 => rustix::net::sockopt::set_ipv6_recvtclass(&socket, true)?,
    }
    // With the privilege to exceed the limit of the system, else up to it.
    if rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER).is_err() {
        rustix::net::sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER)?;
    }
    Ok(socket)
}

/// The sockets of a host and of its router. Hosts use IPv4 and IPv6 in turn, on a machine without IPv6 the former.
fn open_pair(number: usize) -> io::Result<(Family, UdpSocket, UdpSocket)> {
    let pair = |family| Ok((family, open(family)?, open(family)?));
    if number % 2 == 1
        && let Ok(pair) = pair(Family::V6) as io::Result<_>
    {
        return Ok(pair);
    }
    pair(Family::V4)
}

impl Sockets {
    /// The number of the port at this place. The first use of a node opens its two sockets.
    fn number(&mut self, place: SocketOwner) -> io::Result<usize> {
        let (is_router, node) = match place {
            SocketOwner::Router(node) => (true, node),
            SocketOwner::Host(node) => (false, node),
        };
        if let Some(number) = self.numbers.get(&(is_router, node)) {
            return Ok(*number);
        }
        let (family, host, router) = open_pair(self.ports.len() / 2)?;
        host.connect(router.local_addr()?)?;
        router.connect(host.local_addr()?)?;
        let first = self.ports.len();
        for (place, socket, sender) in
            [(SocketOwner::Host(node), host, first + 1), (SocketOwner::Router(node), router, first)]
        {
            let waiting = SendBatch::default();
            self.ports.push(Port { place, family, socket, waiting, sender, under_way: 0 });
        }
        self.numbers.insert((false, node), first);
        self.numbers.insert((true, node), first + 1);
        Ok(first + usize::from(is_router))
    }

    /// Adds a datagram for this place.
    pub(crate) fn push(&mut self, place: SocketOwner, ecn: Ecn, datagram: &[u8]) -> io::Result<()> {
        let number = self.number(place)?;
        let port = &mut self.ports[number];
        port.under_way += 1;
        port.waiting.push(ecn, datagram);
        Ok(())
    }

    /// Sends all datagrams that wait.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        for number in 0..self.ports.len() {
            let mut waiting = std::mem::take(&mut self.ports[number].waiting);
            let wanted = waiting.len();
            if wanted > 0 {
                let sender = &self.ports[self.ports[number].sender];
                let accepted = waiting.flush(sender.family, sender.socket.as_fd())?;
                let refused = (wanted - accepted) as u64;
                self.refused += refused;
                self.ports[number].under_way -= refused;
            }
            self.ports[number].waiting = waiting;
        }
        Ok(())
    }

    /// Reads datagrams from every socket to which some are under way. Returns how many there were.
    pub(crate) fn read(
        &mut self,
        memory: &mut ReceiveBatch,
        mut each: impl FnMut(SocketOwner, Option<Ecn>, &[u8]),
    ) -> io::Result<u64> {
        let mut all = 0;
        for port in self.ports.iter_mut().filter(|port| port.under_way > 0) {
            let place = port.place;
            let count = memory.receive(port.socket.as_fd(), |ecn, bytes| each(place, ecn, bytes))? as u64;
            port.under_way = port.under_way.saturating_sub(count);
            all += count;
        }
        Ok(all)
    }

    /// Waits until a datagram that is under way can be read, at most for `timeout`.
    pub(crate) fn wait(&self, timeout: Timespec) -> io::Result<()> {
        let expecting = self.ports.iter().filter(|port| port.under_way > 0);
        let mut waiting: Vec<PollFd<'_>> =
            expecting.map(|port| PollFd::new(&port.socket, PollFlags::IN)).collect();
        match rustix::event::poll(&mut waiting, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Datagrams that the system has dropped or not delivered yet.
    pub(crate) fn missing(&self) -> u64 {
        self.refused + self.under_way()
    }

    /// Datagrams that have been sent and not read.
    pub(crate) fn under_way(&self) -> u64 {
        self.ports.iter().map(|port| port.under_way).sum()
    }
}
