//! Datagrams in batches with the ECN bits of their IP headers, both ways: `sendmmsg` and `recvmmsg` with control messages.

#![allow(unsafe_code, reason = "system calls without a safe interface")]

use millpond_law::Ecn;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Most datagrams of one call.
const BATCH: usize = 32;

/// Room for control messages of one datagram. The only one requested is the ECN field; `MSG_CTRUNC` would show in the count of
/// lost ECN fields.
const CONTROL: usize = 8;

/// The protocol of a socket, which determines the control message of the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    /// Level and type of the control message, the same for sending and for receiving.
    const fn control(self) -> (libc::c_int, libc::c_int) {
        match self {
            Self::V4 => (libc::IPPROTO_IP, libc::IP_TOS),
            Self::V6 => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
        }
    }
}

/// A control message that sets the ECN field of one datagram.
#[repr(C)]
#[derive(Clone, Copy)]
struct EcnControl {
    head: libc::cmsghdr,
    ecn: libc::c_int,
}

impl EcnControl {
    fn new(family: Family, ecn: Ecn) -> Self {
        // SAFETY: `cmsghdr` consists of plain numbers, for which zero is a valid value.
        let mut head: libc::cmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        head.cmsg_len = (size_of::<libc::cmsghdr>() + size_of::<libc::c_int>()) as _;
        (head.cmsg_level, head.cmsg_type) = family.control();
        Self { head, ecn: ecn as libc::c_int }
    }
}

/// A message without parts.
fn empty_message() -> libc::mmsghdr {
    // SAFETY: `mmsghdr` consists of numbers and pointers, for which zero is a valid value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Datagrams that wait to be sent through one connected socket.
#[derive(Default)]
pub(crate) struct SendBatch {
    bytes: Vec<u8>,
    /// The end of each datagram in `bytes`, and its ECN field.
    ends: Vec<(usize, Ecn)>,
}

impl SendBatch {
    /// Adds a datagram.
    pub(crate) fn push(&mut self, ecn: Ecn, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.ends.push((self.bytes.len(), ecn));
    }

    /// Number of datagrams that wait.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sends all datagrams. Returns how many the system has accepted; it has no room for the others, which are dropped.
    pub(crate) fn flush(&mut self, family: Family, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let (mut start, mut accepted) = (0, 0);
        for ends in self.ends.chunks(BATCH) {
            accepted += self.send(family, socket, start, ends)?;
            start = ends.last().map_or(start, |(end, _)| *end);
        }
        self.bytes.clear();
        self.ends.clear();
        Ok(accepted)
    }

    /// Sends one chunk, whose first datagram begins at `start`.
    fn send(
        &self,
        family: Family,
        socket: BorrowedFd<'_>,
        mut start: usize,
        ends: &[(usize, Ecn)],
    ) -> io::Result<usize> {
        let mut parts: Vec<(libc::iovec, EcnControl)> = ends
            .iter()
            .map(|(end, ecn)| {
                let datagram = &self.bytes[start..*end];
                start = *end;
                let iov_base = datagram.as_ptr().cast_mut().cast();
                (libc::iovec { iov_base, iov_len: datagram.len() }, EcnControl::new(family, *ecn))
            })
            .collect();
        let message = |(part, control): &mut (libc::iovec, EcnControl)| {
            let mut message = empty_message();
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = (&raw mut *control).cast();
            message.msg_hdr.msg_controllen = size_of::<EcnControl>() as _;
            message
        };
        let mut messages: Vec<libc::mmsghdr> = parts.iter_mut().map(message).collect();
        let mut sent = 0;
        while sent < messages.len() {
            let rest = &mut messages[sent..];
            // SAFETY: every message points to one part and one control message in `parts`, which outlives the call; the parts
            // point into `self.bytes`, from which the system only reads.
            let count = unsafe {
                libc::sendmmsg(socket.as_raw_fd(), rest.as_mut_ptr(), rest.len() as libc::c_uint, 0)
            };
            match usize::try_from(count) {
                Ok(count) => sent += count,
                Err(_) => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error if is_full(&error) => break,
                    error => return Err(error),
                },
            }
        }
        Ok(sent)
    }
}

/// The system has no room for a datagram.
fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}

/// Memory for datagrams that are read.
pub(crate) struct ReceiveBatch {
    bytes: Vec<u8>,
    /// Bytes for each datagram; of a longer one the rest is cut off.
    longest: usize,
    controls: [[u64; CONTROL]; BATCH],
}

impl ReceiveBatch {
    /// For datagrams of at most this many bytes.
    pub(crate) fn new(longest: usize) -> Self {
        Self { bytes: vec![0; longest * BATCH], longest, controls: [[0; CONTROL]; BATCH] }
    }

    /// Reads the datagrams that are there, at most a batch, and passes each to `each`, with the ECN field of its IP header.
    /// Returns how many there were.
    pub(crate) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        mut each: impl FnMut(Option<Ecn>, &[u8]),
    ) -> io::Result<usize> {
        let part =
            |bytes: &mut [u8]| libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let mut parts: Vec<libc::iovec> = self.bytes.chunks_exact_mut(self.longest).map(part).collect();
        let message = |(part, control): (&mut libc::iovec, &mut [u64; CONTROL])| {
            let mut message = empty_message();
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = size_of::<[u64; CONTROL]>() as _;
            message
        };
        let mut messages: Vec<libc::mmsghdr> =
            parts.iter_mut().zip(&mut self.controls).map(message).collect();
        // SAFETY: every message points to one part and one control buffer, each used once and valid during the call.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                messages.as_mut_ptr(),
                messages.len() as libc::c_uint,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let Ok(count) = usize::try_from(count) else {
            let error = io::Error::last_os_error();
            let is_empty = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            return if is_empty { Ok(0) } else { Err(error) };
        };
        for (message, bytes) in messages.iter().take(count).zip(self.bytes.chunks_exact(self.longest)) {
            // SAFETY: the system has set the length of the control messages, and their buffer is still borrowed.
            let ecn = unsafe { received_ecn(&message.msg_hdr) };
            each(ecn, &bytes[..(message.msg_len as usize).min(bytes.len())]);
        }
        Ok(count)
    }
}

/// The ECN field among the control messages of a datagram.
///
/// # Safety
/// `message` must be one that `recvmmsg` has filled, and its control buffer must be valid.
unsafe fn received_ecn(message: &libc::msghdr) -> Option<Ecn> {
    // SAFETY: the caller promises that the control buffer is valid, and the macros stay within its length.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while let Some(head) = control.as_ref() {
            // A byte under IPv4 (`IP_TOS`), a whole number under IPv6 (`IPV6_TCLASS`).
            let data = libc::CMSG_DATA(control);
            let kind = (head.cmsg_level, head.cmsg_type);
            let field = match () {
                () if kind == Family::V4.control() => Some(*data),
                () if kind == Family::V6.control() => Some(data.cast::<libc::c_int>().read_unaligned() as u8),
                () => None,
            };
            if let Some(field) = field {
                let fields = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
                return Some(fields[usize::from(field & 0b11)]);
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn datagrams_and_their_ecn_fields_arrive_as_sent_over_both_protocols() {
        for (family, address) in [(Family::V4, "127.0.0.1:0"), (Family::V6, "[::1]:0")] {
            let Ok(from) = UdpSocket::bind(address) else {
                assert_eq!(family, Family::V6, "a machine may have no IPv6");
                continue;
            };
            let to = UdpSocket::bind(address).unwrap();
            from.connect(to.local_addr().unwrap()).unwrap();
            match family {
                Family::V4 => rustix::net::sockopt::set_ip_recvtos(&to, true).unwrap(),
                Family::V6 => rustix::net::sockopt::set_ipv6_recvtclass(&to, true).unwrap(),
            }
            let fields = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
            let datagram = |number: usize| vec![number as u8; number * 7];
            let mut batch = SendBatch::default();
            (0..100).for_each(|number| batch.push(fields[number % 4], &datagram(number)));
            assert_eq!(batch.flush(family, from.as_fd()).unwrap(), 100);
            let (mut memory, mut received) = (ReceiveBatch::new(1000), Vec::new());
            while memory.receive(to.as_fd(), |ecn, bytes| received.push((ecn, bytes.to_vec()))).unwrap() > 0 {
            }
            let sent: Vec<_> = (0..100).map(|number| (Some(fields[number % 4]), datagram(number))).collect();
            assert_eq!(received, sent, "{family:?}");
        }
    }

    #[test]
    fn a_datagram_that_is_too_long_is_cut_off() {
        let [from, to] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        from.connect(to.local_addr().unwrap()).unwrap();
        let mut batch = SendBatch::default();
        batch.push(Ecn::NotCapable, &[7; 300]);
        batch.flush(Family::V4, from.as_fd()).unwrap();
        let mut lengths = Vec::new();
        let count = ReceiveBatch::new(100).receive(to.as_fd(), |ecn, bytes| lengths.push((ecn, bytes.len())));
        assert_eq!((count.unwrap(), lengths), (1, vec![(None, 100)]));
    }
}
