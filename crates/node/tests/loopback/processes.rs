//! Chains of nodes as processes on the loopback interface.

use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_millpond-node");

/// Ports below the range from which the kernel takes those of outgoing connections (32768 to 60999), so that no connection
/// takes one between its choice here and its use by a node.
const PORTS: std::ops::Range<u32> = 10_000..32_000;

/// The next port of this process at which `is_free` holds; tests of one process never choose the same.
fn free_port(is_free: impl Fn(SocketAddr) -> bool) -> SocketAddr {
    static CHOSEN: AtomicU32 = AtomicU32::new(0);
    loop {
        let place = std::process::id().wrapping_mul(97).wrapping_add(CHOSEN.fetch_add(1, Ordering::Relaxed));
        let port = PORTS.start + place % (PORTS.end - PORTS.start);
        let address = SocketAddr::from(([127, 0, 0, 1], port as u16));
        if is_free(address) {
            return address;
        }
    }
}

pub(crate) fn free_tcp() -> SocketAddr {
    free_port(|address| TcpListener::bind(address).is_ok())
}

pub(crate) fn free_udp() -> SocketAddr {
    free_port(|address| UdpSocket::bind(address).is_ok())
}

/// A process that ends with its owner.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn start(config: &Path) -> Process {
    let log = std::fs::File::create(config.with_extension("log")).unwrap();
    let child = Command::new(PROGRAM).arg(config).stdin(Stdio::null()).stderr(log).spawn().unwrap();
    Process(child)
}

pub(crate) fn signal(process: &Process, name: &str) {
    let status =
        Command::new("kill").args([&format!("-{name}"), &process.0.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// What a process has used of the processor, in steps of 10 ms.
pub(crate) fn processor_time(process: &Process) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.0.id())).unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|one| one.parse::<u64>().unwrap());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// How often a process has waited for something.
pub(crate) fn waits(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.0.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

/// The public key of a new private key.
pub(crate) fn keys(path: &Path) -> String {
    let output = Command::new(PROGRAM).arg("keys").arg(path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// An enter, a relay and an exit, with a port forwarded to a target on this host.
pub(crate) struct Chain {
    pub(crate) folder: TempDir,
    pub(crate) target: TcpListener,
    pub(crate) forward: SocketAddr,
    pub(crate) socks: SocketAddr,
    pub(crate) connect: SocketAddr,
    /// Of each node.
    pub(crate) status: [SocketAddr; 3],
    pub(crate) nodes: Vec<Process>,
}

impl Chain {
    /// A flow through the chain whose first bytes have arrived: the ends of client and target.
    pub(crate) fn open_flow(&self) -> (TcpStream, TcpStream) {
        let mut client = timed(TcpStream::connect(self.forward).unwrap());
        client.write_all(b"hello").unwrap();
        let mut target = timed(self.target.accept().unwrap().0);
        let mut word = [0; 5];
        target.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"hello");
        (client, target)
    }

    /// As [`Self::open_flow`], after a node has started again: a neighbour that notices only now that the node had died ends
    /// the flows of the connection before, which is right. The next flow must pass.
    pub(crate) fn open_flow_after_restart(&self) -> (TcpStream, TcpStream) {
        self.target.set_nonblocking(true).unwrap();
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < Duration::from_secs(5), "no flow passes:\n{}", self.logs());
            let mut client = timed(TcpStream::connect(self.forward).unwrap());
            let written = client.write_all(b"hello");
            let sent = Instant::now();
            while written.is_ok() && sent.elapsed() < Duration::from_millis(500) {
                let Ok((target, _)) = self.target.accept() else {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                };
                target.set_nonblocking(false).unwrap();
                let (mut target, mut word) = (timed(target), [0; 5]);
                if target.read_exact(&mut word).is_ok() {
                    assert_eq!(&word, b"hello");
                    return (client, target);
                }
            }
        }
    }

    pub(crate) fn start() -> Self {
        // The loopback interface has no rate of its own.
        Self::start_with(Ipv4Addr::LOCALHOST.into(), "capacity = \"300Mbps\"\n")
    }

    /// A chain at one address of this host, whose nodes have these keys in addition.
    pub(crate) fn start_with(host: IpAddr, keys_of_all: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let target = TcpListener::bind((host, 0)).unwrap();
        let destination = target.local_addr().unwrap();
        let at_host = |address: SocketAddr| SocketAddr::new(host, address.port());
        let [forward, socks, connect] = [(); 3].map(|()| at_host(free_tcp()));
        let status = [(); 3].map(|()| at_host(free_tcp()));
        let udp = [(); 3].map(|()| at_host(free_udp()));
        let names = ["enter", "relay", "exit"];
        let keys = names.map(|name| keys(&folder.path().join(format!("{name}.key"))));
        let next =
            |place: usize| format!("next = {{ address = \"{}\", key = \"{}\" }}\n", udp[place], keys[place]);
        let previous = |place: usize| format!("previous = [\"{}\"]\n", keys[place]);
        let parts = [
            next(1)
                + &format!(
                    "socks5 = \"{socks}\"\nhttp_connect = \"{connect}\"\n\
                     [[forward]]\nlisten = \"{forward}\"\ntarget = \"{destination}\"\n"
                ),
            previous(0) + &next(2),
            previous(1) + &format!("allow = [\"{destination}\"]\n"),
        ];
        for (place, name) in names.iter().enumerate() {
            let head = format!("role = \"{name}\"\nlisten = \"{}\"\nkey = \"{name}.key\"\n", udp[place]);
            let text = head + keys_of_all + &format!("status = \"{}\"\n", status[place]) + &parts[place];
            std::fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
        }
        let mut chain = Self { folder, target, forward, socks, connect, status, nodes: Vec::new() };
        chain.nodes = names.iter().map(|name| start(&chain.config(name))).collect();
        chain.wait_until_ready();
        chain
    }

    pub(crate) fn config(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.toml"))
    }

    pub(crate) fn logs(&self) -> String {
        let read =
            |name| std::fs::read_to_string(self.config(name).with_extension("log")).unwrap_or_default();
        ["enter", "relay", "exit"].map(read).concat()
    }

    /// Waits until the nodes have logged something.
    pub(crate) fn wait_for_logs(&self, is_done: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        while !is_done(&self.logs()) {
            assert!(begin.elapsed() < Duration::from_secs(10), "{}", self.logs());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The answer of a node's status address.
    pub(crate) fn get(&self, node: usize, path: &str) -> String {
        let mut answer = String::new();
        if let Ok(mut stream) = TcpStream::connect(self.status[node]) {
            let _ = stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: node\r\n\r\n").as_bytes());
            let _ = stream.read_to_string(&mut answer);
        }
        answer
    }

    /// Closes what waits to be accepted at the target.
    pub(crate) fn drop_waiting(&self) {
        self.target.set_nonblocking(true).unwrap();
        while self.target.accept().is_ok() {}
        self.target.set_nonblocking(false).unwrap();
    }

    pub(crate) fn wait_until_ready(&self) {
        let begin = Instant::now();
        while !(0..3).all(|node| self.get(node, "/health").starts_with("HTTP/1.1 200")) {
            assert!(begin.elapsed() < Duration::from_secs(20), "not ready:\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub(crate) fn timed(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|offset| (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Reads until the end or an error, with the number of bytes and their hash.
pub(crate) fn digest(mut stream: TcpStream) -> (std::io::Result<()>, usize, Vec<u8>) {
    let (mut hash, mut length, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (Ok(()), length, hash.finalize().to_vec()),
            Ok(bytes) => {
                hash.update(&buffer[..bytes]);
                length += bytes;
            }
            Err(error) => return (Err(error), length, hash.finalize().to_vec()),
        }
    }
}
