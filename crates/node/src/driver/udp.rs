//! The UDP socket of a node.

use bytes::BytesMut;
use noq_proto::{EcnCodepoint, Transmit};
use noq_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// Buffers of 64 KB: each holds one datagram, or several that the kernel has joined.
pub(super) const BUFFERS: usize = 8;
const BUFFER: usize = 65_536;
/// What the kernel may hold before this node reads; the kernel may give less.
const SOCKET_BUFFER: usize = 4 << 20;

/// A received datagram.
pub(super) struct Datagram {
    pub(super) from: SocketAddr,
    pub(super) to: Option<IpAddr>,
    pub(super) ecn: Option<EcnCodepoint>,
    pub(super) bytes: BytesMut,
}

/// The UDP socket, with the ECN field of each datagram.
pub(super) struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    buffers: Vec<Vec<u8>>,
    /// A datagram for which the kernel had no room.
    waiting: Option<(Transmit, Vec<u8>)>,
    has_reported_size: bool,
}

impl Udp {
    /// Binds the socket.
    pub(super) fn bind(address: SocketAddr) -> Result<Self, String> {
        let fault = |error: io::Error| super::bind_error("listen", address, &error);
        let socket = UdpSocket::bind(address).map_err(fault)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket)).map_err(fault)?;
        // A smaller buffer works as well, with more losses after a late wake-up.
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), SOCKET_BUFFER);
        let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), SOCKET_BUFFER);
        Ok(Self {
            socket,
            state,
            buffers: vec![vec![0; BUFFER]; BUFFERS],
            waiting: None,
            has_reported_size: false,
        })
    }

    /// Receives what has come; empty if nothing has.
    pub(super) fn receive(&mut self) -> Vec<Datagram> {
        let mut metas = [RecvMeta::default(); BUFFERS];
        let mut slices: Vec<IoSliceMut<'_>> =
            self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        let received = self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut metas);
        let count = match received {
            Ok(count) => count,
            Err(error) => {
                // Errors of earlier datagrams (ICMP) are reported here: the library's timers deal with them.
                if error.kind() != ErrorKind::WouldBlock {
                    tracing::debug!(%error, "receiving");
                }
                0
            }
        };
        let mut datagrams = Vec::new();
        for (meta, buffer) in metas.iter().zip(&self.buffers).take(count) {
            let ecn = meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
            for bytes in buffer.get(..meta.len).unwrap_or_default().chunks(meta.stride.max(1)) {
                datagrams.push(Datagram {
                    from: meta.addr,
                    to: meta.dst_ip,
                    ecn,
                    bytes: BytesMut::from(bytes),
                });
            }
        }
        datagrams
    }

    /// Sends a datagram, or keeps it until the socket is writable.
    pub(super) fn send(&mut self, transmit: Transmit, bytes: &[u8]) {
        let outgoing = noq_udp::Transmit {
            destination: transmit.destination,
            ecn: transmit.ecn.and_then(|ecn| noq_udp::EcnCodepoint::from_bits(ecn as u8)),
            contents: bytes.get(..transmit.size).unwrap_or(bytes),
            segment_size: None,
            src_ip: transmit.src_ip,
        };
        match self.state.try_send(UdpSockRef::from(&self.socket), &outgoing) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.waiting = Some((transmit, bytes.to_vec()))
            }
            Err(error) if noq_udp::is_msg_size_err(&error) => {
                if !std::mem::replace(&mut self.has_reported_size, true) {
                    let (bytes, destination) = (transmit.size, transmit.destination);
                    tracing::error!(
                        "the path to {destination} does not take datagrams of {bytes} bytes: set `mtu` to its MTU"
                    );
                }
            }
            // As if the network had lost it.
            Err(error) => tracing::debug!(%error, destination = %transmit.destination, "sending"),
        }
    }

    /// True if a datagram waits for the socket.
    pub(super) fn is_blocked(&self) -> bool {
        self.waiting.is_some()
    }

    /// Sends the datagram that waits.
    pub(super) fn flush(&mut self) {
        if let Some((transmit, bytes)) = self.waiting.take() {
            self.send(transmit, &bytes);
        }
    }
}

impl AsFd for Udp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
