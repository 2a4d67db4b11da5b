//! Messages between the emulator and the processes at the ends of the link, over a pair of sockets that keeps messages apart.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What an end of the link sends to the emulator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EndMessage {
    /// The device is ready; its descriptor comes with this message.
    Ready,
    /// The end cannot be set up, or its command cannot be run.
    Failed(EndError),
    /// The command runs.
    Running,
    /// The command has ended.
    Ended {
        /// Its exit code; 128 and the number of the signal that ended it.
        code: u8,
        /// Packets that the device dropped because the emulator did not read them in time.
        overrun: u64,
    },
}

/// Why something cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EndError {
    /// A command that cannot be run, with the reason.
    Command(String, String),
    /// Something of the system, in a sentence.
    System(String),
}

/// What the emulator sends to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EmulatorMessage {
    /// Run the command.
    Start,
}

/// One end of a pair of sockets.
#[derive(Debug)]
pub(crate) struct Channel(OwnedFd);

impl Channel {
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let (one, other) = rustix::net::socketpair(family, kind, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), Self(other)))
    }

    pub(crate) fn of(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// Sends a message, with a descriptor if there is one.
    pub(crate) fn send(
        &self,
        message: &impl Serialize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut extra = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<_> = descriptor.into_iter().collect();
        if !descriptors.is_empty() {
            extra.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        rustix::net::sendmsg(&self.0, &[IoSlice::new(&text)], &mut extra, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Waits for a message and the descriptor that comes with it; none if the other side has closed the channel.
    pub(crate) fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut text = vec![0; 64 * 1024];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut extra = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.0, &mut [IoSliceMut::new(&mut text)], &mut extra, flags)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let rights = extra.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        Ok(Some((serde_json::from_slice(&text[..received.bytes])?, rights)))
    }

    /// Tells the other side that no message follows.
    pub(crate) fn finish(&self) {
        // An error means that the other side has gone.
        let _ = rustix::net::shutdown(&self.0, Shutdown::Write);
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_apart_and_carry_descriptors() {
        let (one, other) = Channel::pair().unwrap();
        let ended = EndMessage::Ended { code: 3, overrun: 17 };
        one.send(&EndMessage::Ready, Some(one.as_fd())).unwrap();
        one.send(&ended, None).unwrap();
        one.finish();
        let (report, descriptor) = other.receive::<EndMessage>().unwrap().unwrap();
        assert!(report == EndMessage::Ready && descriptor.is_some());
        let (report, descriptor) = other.receive::<EndMessage>().unwrap().unwrap();
        assert!(report == ended && descriptor.is_none());
        assert!(other.receive::<EndMessage>().unwrap().is_none());
    }
}
