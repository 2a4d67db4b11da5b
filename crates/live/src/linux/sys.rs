//! The system calls for which no safe interface exists: making a TUN device, leaving namespaces, signals as a file
//! descriptor, real-time priority. All unsafe code of this crate is in this file and in `batch.rs`.

#![allow(unsafe_code, reason = "system calls without a safe interface")]

use rustix::thread::UnshareFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

/// A TUN device: IP packets without a header before them.
pub(crate) struct TunDevice {
    /// Reads and writes do not block. The kernel removes the device when the last copy of this descriptor is closed.
    pub(crate) descriptor: OwnedFd,
    pub(crate) name: String,
}

/// Makes a TUN device in the network namespace of this thread. `template`: its name, in which the kernel replaces `%d` by a
/// free number.
pub(crate) fn make_tun(template: &str) -> io::Result<TunDevice> {
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
    let device = OpenOptions::new().read(true).write(true).custom_flags(flags).open("/dev/net/tun")?;
    // SAFETY: `ifreq` consists of bytes and a union of plain numbers, for which zero is a valid value.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(template.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is open, and TUNSETIFF reads and writes one `ifreq`, which outlives the call.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let name = request.ifr_name.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char);
    Ok(TunDevice { descriptor: device.into(), name: name.collect() })
}

/// Takes over an open descriptor that the process which started this one passed on by its number.
pub(crate) fn adopt(number: RawFd) -> OwnedFd {
    // SAFETY: the caller has checked that the descriptor is open, and calls this once, before anything else opens or closes
    // descriptors, so that it has one owner.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Moves this process, which must have one thread, into new namespaces.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    debug_assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: only `UnshareFlags::FILES` is unsafe, because it separates the descriptors of threads.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

/// A signal that a process received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignalEvent {
    /// True if the kernel sent it, as for Ctrl-C: every process at the terminal then has the same signal.
    pub(crate) from_terminal: bool,
}

/// Signals that are read from a file descriptor instead of ending the process.
pub(crate) struct Signals {
    descriptor: File,
    before: libc::sigset_t,
}

impl Signals {
    /// From now on this thread reads SIGINT, SIGQUIT, SIGTERM and SIGHUP. The process must have one thread: others would
    /// receive the signals. Child processes inherit the mask; [`unblock_signals`] clears it for those of the user.
    pub(crate) fn block() -> io::Result<Self> {
        let (mut set, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: `sigemptyset` initializes the set before `sigaddset` changes it; both pointers are valid.
        let set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            set.assume_init()
        };
        // SAFETY: `set` is initialized, and the call initializes `before` if it succeeds.
        let result = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, before.as_mut_ptr()) };
        if result != 0 {
            return Err(io::Error::from_raw_os_error(result));
        }
        // SAFETY: `set` is initialized; a descriptor that is not negative is new and belongs to nobody else.
        let descriptor =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above; `before` was initialized by the successful call.
        Ok(unsafe { Self { descriptor: File::from_raw_fd(descriptor), before: before.assume_init() } })
    }

    pub(crate) fn descriptor(&self) -> &File {
        &self.descriptor
    }

    /// The next signal, if there is one.
    pub(crate) fn next(&self) -> Option<SignalEvent> {
        let mut buffer = [0; size_of::<libc::signalfd_siginfo>()];
        let bytes = io::Read::read(&mut &self.descriptor, &mut buffer).ok()?;
        // `ssi_code` is the third number of 32 bits (man 2 signalfd).
        let code = i32::from_ne_bytes(*buffer.get(8..)?.first_chunk()?);
        (bytes == buffer.len()).then_some(SignalEvent { from_terminal: code == libc::SI_KERNEL })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask that was read in `block`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}

/// Blocks no signal in this thread, so that programs that it starts receive all.
pub(crate) fn unblock_signals() -> io::Result<()> {
    let mut none = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the set before it is read; both pointers are valid or null.
    let result = unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}

/// Gives this thread a low real-time priority, which child processes do not inherit. An error without the permission.
pub(crate) fn real_time() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the pointer is valid during the call; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives this thread the normal priority again.
pub(crate) fn normal_priority() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // A thread may always give up its priority. SAFETY: the pointer is valid during the call; 0 is the calling thread.
    let _ = unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
}
