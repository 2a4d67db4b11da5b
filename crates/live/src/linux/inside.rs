//! The processes inside an end of the link.
//!
//! ```text
//!   millpond link            the emulator: reads and writes both devices
//!      |  starts itself as
//!      v
//!   keeper                   in new network, mount and process namespaces; makes the device, sends it to the emulator
//!      |  starts itself as
//!      v
//!   first process            number 1 of the process namespace: when it ends, the kernel ends all others in there
//!      |
//!      v
//!   the command
//! ```
//!
//! Each of them receives SIGKILL when the one above it ends. The network namespace and its device belong to these processes
//! and to the emulator, so that nothing is left whichever of them is killed.

use crate::linux::addresses::{EndAddresses, LinkNumber};
use crate::linux::channel::{Channel, EmulatorMessage, EndError, EndMessage};
use crate::linux::clock::{self, Clock};
use crate::linux::device::Device;
use crate::linux::netlink::{Netlink, Prefix};
use crate::linux::sys::{self, Signals};
use millpond_units::{Span, Time};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// First arguments (names) of the processes.
const KEEPER: &str = "millpond-link-keeper";
const FIRST: &str = "millpond-link-first";

/// How long a command may go on after SIGTERM.
const GRACE: Span = Span::from_millis(1000);

/// What the processes of an end need to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndConfig {
    /// Their end of the channel.
    channel: RawFd,
    pub(crate) link: LinkNumber,
    /// The command is at the inner end of the link, else at the outer one.
    pub(crate) is_inner: bool,
    /// Without the rights of an administrator: a user namespace as well.
    pub(crate) user_namespace: bool,
    /// What the command prints goes to standard error.
    pub(crate) prints_to_stderr: bool,
}

impl EndConfig {
    pub(crate) fn new(link: LinkNumber, is_inner: bool, prints_to_stderr: bool) -> Self {
        let user_namespace = !rustix::process::geteuid().is_root();
        Self { channel: -1, link, is_inner, user_namespace, prints_to_stderr }
    }

    /// Own addresses, those of the other end, and what is routed through the device.
    fn addresses(&self) -> (EndAddresses, EndAddresses, [Prefix; 2]) {
        let (outer, inner) = (self.link.outer(), self.link.inner());
        if self.is_inner {
            (inner, outer, LinkNumber::everything())
        } else {
            (outer, inner, self.link.blocks())
        }
    }

    /// Starts the keeper of an end that will run `command`.
    pub(crate) fn spawn(mut self, command: &[OsString]) -> io::Result<(std::process::Child, Channel)> {
        let (outside, inside) = Channel::pair()?;
        self.channel = inside.as_fd().as_raw_fd();
        let child = self.itself(KEEPER, &inside, command)?;
        Ok((child, outside))
    }

    /// Starts this program again as another process, with the channel open.
    fn itself(&self, name: &str, channel: &Channel, command: &[OsString]) -> io::Result<std::process::Child> {
        let config = serde_json::to_string(self)?;
        rustix::io::fcntl_setfd(channel, rustix::io::FdFlags::empty())?;
        let mut process = Command::new("/proc/self/exe");
        process.arg0(name).arg(config).args(command);
        if !self.is_inner {
            process.stdin(Stdio::null());
        }
        let started = process.spawn();
        rustix::io::fcntl_setfd(channel, rustix::io::FdFlags::CLOEXEC)?;
        started
    }
}

/// Runs a process of an end, if this program was started as one. A program with a `millpond link` command calls it before
/// anything else.
pub fn run_inside() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let role: fn(&EndConfig, &Channel, &[OsString]) -> Result<u8, EndError> =
        match arguments.next()?.to_str()? {
            KEEPER => keep,
            FIRST => run_first,
            _ => return None,
        };
    let config: EndConfig = serde_json::from_str(arguments.next()?.to_str()?).ok()?;
    let channel = inherited(config.channel)?;
    let command: Vec<OsString> = arguments.collect();
    let code = role(&config, &channel, &command).unwrap_or_else(|refusal| {
        // Without the emulator there is nobody to read it.
        let _ = channel.send(&EndMessage::Failed(refusal), None);
        1
    });
    Some(ExitCode::from(code))
}

/// The descriptor with this number, which the process that started this one left open.
fn inherited(number: RawFd) -> Option<Channel> {
    let path = format!("/proc/self/fd/{number}");
    std::fs::read_link(&path).ok().filter(|target| target.to_string_lossy().starts_with("socket:"))?;
    let descriptor = sys::adopt(number);
    rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC).ok()?;
    Some(Channel::of(descriptor))
}

/// A failed step of the set-up.
fn system(step: &'static str) -> impl Fn(io::Error) -> EndError {
    move |error| EndError::System(format!("cannot {step}: {error}"))
}

/// The keeper: makes namespaces and device, starts the first process, and reports its end.
fn keep(config: &EndConfig, channel: &Channel, command: &[OsString]) -> Result<u8, EndError> {
    let _signals = Signals::block().map_err(system("block signals"))?;
    enter_namespaces(config)?;
    die_with_parent()?;
    let device = make_device(config)?;
    channel.send(&EndMessage::Ready, Some(device.descriptor.as_fd())).map_err(system("send the device"))?;
    let Device { index, netlink, descriptor } = device;
    drop(descriptor);
    if !matches!(channel.receive(), Ok(Some((EmulatorMessage::Start, _)))) {
        return Ok(0);
    }
    // The kernel sends packets of its own while the device is switched on, and drops some of them.
    let before = netlink.dropped(index).unwrap_or(0);
    let mut first =
        config.itself(FIRST, channel, command).map_err(system("start a process in a new namespace"))?;
    let status = first.wait().map_err(system("wait for a process"))?;
    let code = status.code().map_or(137, |code| code as u8);
    let overrun = netlink.dropped(index).unwrap_or(0).saturating_sub(before);
    // The network stays until the emulator closes the channel, so that the kernel answers packets for the command that has
    // ended, as on any host.
    if channel.send(&EndMessage::Ended { code, overrun }, None).is_ok() {
        let _ = channel.receive::<EmulatorMessage>();
    }
    Ok(code)
}

fn enter_namespaces(config: &EndConfig) -> Result<(), EndError> {
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut flags = UnshareFlags::NEWNET | UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    if config.user_namespace {
        flags |= UnshareFlags::NEWUSER;
    }
    sys::unshare(flags).map_err(|error| no_namespace(config, &error))?;
    if config.user_namespace {
        // man 7 user_namespaces: groups can be mapped without privileges after setgroups has been denied.
        let write = |file: &str, text: &str| std::fs::write(format!("/proc/self/{file}"), text);
        write("setgroups", "deny")
            .and_then(|()| write("uid_map", &format!("0 {user} 1")))
            .and_then(|()| write("gid_map", &format!("0 {group} 1")))
            .map_err(system("map the user into a user namespace"))?;
    }
    use rustix::mount::MountPropagationFlags as Propagation;
    rustix::mount::mount_change("/", Propagation::PRIVATE | Propagation::REC)
        .map_err(|error| system("separate the mounts of the namespace")(error.into()))
}

fn no_namespace(config: &EndConfig, error: &io::Error) -> EndError {
    let rights = if config.user_namespace {
        "this user may not create user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone \
         or kernel.apparmor_restrict_unprivileged_userns); run the command as root"
    } else {
        "it needs the capability CAP_SYS_ADMIN; in a container: --privileged"
    };
    EndError::System(format!("cannot create a network namespace: {error}; {rights}"))
}

/// This process receives SIGKILL when the thread that started it ends. Called after the namespaces were entered, because a
/// change of credentials cancels it.
fn die_with_parent() -> Result<(), EndError> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| system("tie a process to its parent")(error.into()))
}

fn make_device(config: &EndConfig) -> Result<Device, EndError> {
    let failed = |error: io::Error| {
        let rights = match error.kind() {
            io::ErrorKind::PermissionDenied => "; it needs the capability CAP_NET_ADMIN",
            _ => "",
        };
        EndError::System(format!("cannot set up the network namespace: {error}{rights}"))
    };
    let netlink = Netlink::open().map_err(failed)?;
    let loopback = netlink.index("lo").map_err(failed)?;
    netlink.switch_on(loopback).map_err(failed)?;
    // The namespace forwards packets of links inside it. Without IPv6 the second file does not exist.
    for file in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
        let path = Path::new("/proc/sys/net").join(file);
        if path.exists() {
            std::fs::write(path, "1").map_err(failed)?;
        }
    }
    let device = Device::make().map_err(|error| no_device(&error))?;
    let (own, peer, routes) = config.addresses();
    device.configure(own, peer, routes).map_err(failed)?;
    Ok(device)
}

/// Why there is no TUN device.
pub(crate) fn no_device(error: &io::Error) -> EndError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => {
            "the kernel has no TUN devices: load the module tun, or in a container pass --device /dev/net/tun"
        }
        io::ErrorKind::PermissionDenied => {
            "this user may not open /dev/net/tun or has no CAP_NET_ADMIN: run the command as root"
        }
        _ => "a TUN device is needed at each end of the link",
    };
    EndError::System(format!("cannot create a TUN device: {error}; {reason}"))
}

/// The first process of a process namespace: runs the command, and ends with it.
fn run_first(config: &EndConfig, channel: &Channel, command: &[OsString]) -> Result<u8, EndError> {
    die_with_parent()?;
    // Programs find themselves in /proc; where it cannot be mounted they find the processes of the host.
    let _ = rustix::mount::mount("proc", "/proc", "proc", rustix::mount::MountFlags::empty(), None);
    let (program, arguments) =
        command.split_first().ok_or_else(|| EndError::System("there is no command to run".to_owned()))?;
    let mut process = Command::new(program);
    process.args(arguments).envs(environment(config));
    if config.prints_to_stderr {
        process.stdout(io::stderr());
    }
    // The keeper and the emulator block signals, which a process inherits. The first process of a namespace needs no
    // protection: it ignores signals for which it has no handler.
    sys::unblock_signals().map_err(system("unblock signals"))?;
    let started = process.spawn();
    let child = started.map_err(|error| {
        EndError::Command(program.to_string_lossy().into_owned(), command_error(&error).to_string())
    })?;
    channel.send(&EndMessage::Running, None).map_err(system("report the start of the command"))?;
    wait_for(child.id(), channel).map_err(system("wait for the command"))
}

/// The error without the number of the system.
fn command_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such command".to_owned(),
        io::ErrorKind::PermissionDenied => "it is not executable".to_owned(),
        _ => error.to_string(),
    }
}

/// The variables that a command finds in its environment.
fn environment(config: &EndConfig) -> [(&'static str, String); 7] {
    let (own, peer, _) = config.addresses();
    [
        ("MILLPOND_ADDRESS", own.v4.to_string()),
        ("MILLPOND_ADDRESS6", own.v6.to_string()),
        ("MILLPOND_PEER", peer.v4.to_string()),
        ("MILLPOND_PEER6", peer.v6.to_string()),
        // Scripts for Mahimahi find the outer end here.
        ("MAHIMAHI_BASE", config.link.outer().v4.to_string()),
        ("MILLPOND_LINK_NETWORK", config.link.network.to_string()),
        ("MILLPOND_LINK_DEPTH", (config.link.depth + 1).to_string()),
    ]
}

/// Waits until the process ends and returns its exit code; meanwhile collects orphans, which become children of the first
/// process. If the emulator closes the channel, the process receives SIGTERM and may go on for [`GRACE`].
fn wait_for(id: u32, channel: &Channel) -> io::Result<u8> {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    let process = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    let (clock, mut terminated) = (Clock::start(), None::<Time>);
    loop {
        while let Ok(Some((ended, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if ended == pid {
                return Ok(exit_code(status));
            }
        }
        if terminated.is_some_and(|since| clock.now() >= since + GRACE) {
            return Ok(128 + Signal::TERM.as_raw() as u8);
        }
        let mut watched = vec![PollFd::new(&process, PollFlags::IN)];
        if terminated.is_none() {
            watched.push(PollFd::new(channel, PollFlags::IN));
        }
        wait_at_most(&mut watched, Span::from_millis(200))?;
        let is_closed = watched.get(1).is_some_and(|channel| !channel.revents().is_empty());
        if is_closed {
            terminated = Some(clock.now());
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
    }
}

fn wait_at_most(watched: &mut [PollFd<'_>], time: Span) -> io::Result<()> {
    match rustix::event::poll(watched, Some(&clock::timeout(time))) {
        Err(error) if error != rustix::io::Errno::INTR => Err(error.into()),
        _ => Ok(()),
    }
}

/// The exit code of a process, or 128 and the number of the signal that ended it, as in a shell.
fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.unwrap_or(1) as u8
}
