//! Arbitrary bytes for the parsers of a node: its file, rate messages, and what applications send.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use millpond_law::{HeaderId, Random};
use millpond_node::config::{Config, Outside};
use millpond_node::identity::{self, Identity};
use millpond_node::message::{RateMessage, Report};
use millpond_node::proxy::{Proxy, Step};
use std::path::Path;
use std::sync::OnceLock;

/// Every key of the file, for each role.
const FILES: [&str; 3] = [
    r#"role = "enter"
listen = "0.0.0.0:4433"
key = "enter.key"
next = { address = "192.0.2.1:4433", key = "KEY" }
socks5 = "127.0.0.1:1080"
http_connect = "127.0.0.1:3128"
status = "127.0.0.1:9090"
connections = "per-flow"
capacity = "50Mbps"
mtu = 1400
hold = "20ms"
slack = "1ms"
coalesce = "0.5ms"
idle_timeout = "3s"
stream_window = "1MiB"
receive_buffer = "128KiB"
max_flows = 100
log = "json"
[parameters]
control = "paced-window"
[[forward]]
listen = "127.0.0.1:8080"
target = "www.example:80"
weight = 2.5
[[weight]]
target = "10.0.0.0/8:80-90"
weight = 0.5
"#,
    r#"role = "relay"
listen = "[::]:4433"
key = "relay.key"
previous = ["KEY", "KEY"]
next = { address = "exit.example:4433", key = "KEY" }
protocol = "newreno"
capacity_command = ["./link-rate", "wwan0"]
"#,
    r#"role = "exit"
listen = "127.0.0.1:4433"
key = "exit.key"
previous = ["KEY"]
allow = ["www.example:80", "10.0.0.0/8:443", "*:8000-8080", "[2001:db8::/32]:*"]
capacity_file = "rate"
"#,
];

/// Pieces of text that are put into files: words of the format, and what numbers and times may get wrong.
const PIECES: [&str; 24] = [
    "\"",
    "'",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    "\n",
    "#",
    ".",
    "-",
    "0",
    "1e999",
    "nan",
    "18446744073709551616",
    "\\u0000",
    "é",
    "\u{10ffff}",
    "Mbps",
    "-1ms",
    "true",
    "[[forward]]",
    "per-flow",
];

fn key() -> &'static Identity {
    static KEY: OnceLock<Identity> = OnceLock::new();
    KEY.get_or_init(|| Identity::read(&identity::generate().unwrap()).unwrap())
}

/// Neither the resolver nor the file system: names have an address, files contain a key.
const NOWHERE: Outside = Outside {
    resolve: |_| Ok(vec![([192, 0, 2, 1], 4433).into()]),
    read_key: |_| Ok(key().clone()),
    check_capacity: |_| Ok(()),
};

fn below(random: &mut Random, most: usize) -> usize {
    random.bits() as usize % most.max(1)
}

/// A file with one to four changes: bytes, pieces, parts removed, repeated or taken from another file.
fn changed_file(random: &mut Random, files: &[String; 3]) -> Vec<u8> {
    let mut bytes = files[below(random, 3)].clone().into_bytes();
    for _ in 0..=below(random, 4) {
        let (at, end) = (below(random, bytes.len() + 1), below(random, bytes.len() + 1));
        let part = at.min(end)..at.max(end).min(at.min(end) + 40);
        match below(random, 6) {
            0 if at < bytes.len() => bytes[at] = random.bits() as u8,
            1 => drop(bytes.splice(at..at, PIECES[below(random, PIECES.len())].bytes())),
            2 => drop(bytes.drain(part)),
            3 => {
                let copy = bytes[part].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            4 => bytes.truncate(at),
            _ => {
                let lines: Vec<&str> = files[below(random, 3)].lines().collect();
                let line = format!("{}\n", lines[below(random, lines.len())]);
                let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
                drop(bytes.splice(start..start, line.into_bytes()));
            }
        }
    }
    bytes
}

/// Files are read or refused with one message that has a line or concerns the whole file.
fn files(seed: u64, inputs: u64) -> (u64, u64) {
    let (mut random, key) = (Random::numbered(seed, 1), key().public().to_string());
    let files = FILES.map(|file| file.replace("KEY", &key));
    for file in &files {
        Config::parse(Path::new("node.toml"), file, NOWHERE).map(drop).unwrap();
    }
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..inputs {
        let text = String::from_utf8_lossy(&changed_file(&mut random, &files)).into_owned();
        match Config::parse(Path::new("node.toml"), &text, NOWHERE) {
            Ok(_) => accepted += 1,
            Err(error) => {
                let lines = text.matches('\n').count() + 1;
                assert!(!error.message.is_empty(), "{text}");
                assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error}: {text}");
                refused += 1;
            }
        }
    }
    (accepted, refused)
}

/// Rate messages come back as they were read; requests of applications use no more bytes than have come.
fn bytes(seed: u64, inputs: u64) -> u64 {
    let mut random = Random::numbered(seed, 2);
    let whole = RateMessage { sequence: 3, report: Report::default() }.encode(HeaderId(3));
    let requests: [&[u8]; 4] = [
        &[5, 2, 0, 2],
        &[5, 1, 0, 3, 7, b'e', b'x', b'a', b'm', b'p', b'l', b'e', 0, 80],
        &[5, 1, 0, 1, 127, 0, 0, 1, 0, 80],
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\ndata",
    ];
    let mut accepted = 0;
    for input in 0..inputs {
        let source = if input % 2 == 0 { &whole[..] } else { requests[below(&mut random, 4)] };
        let mut bytes = source.to_vec();
        bytes.resize(below(&mut random, 2 * source.len() + 1), random.bits() as u8);
        for _ in 0..below(&mut random, 4) {
            let at = below(&mut random, bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.bits() as u8;
            }
        }
        if let Some(message) = RateMessage::decode(&bytes) {
            accepted += 1;
            let id = HeaderId(bytes[33]);
            assert_eq!(RateMessage::decode(&message.encode(id)), Some(message));
        }
        for proxy in [Proxy::Socks5 { greeted: false }, Proxy::Socks5 { greeted: true }, Proxy::HttpConnect] {
            match proxy.step(&bytes) {
                Step::Reply { consumed, .. } => assert!(consumed <= bytes.len() && consumed > 0),
                Step::Open { consumed, target } => {
                    accepted += 1;
                    assert!(consumed <= bytes.len() && consumed > 0 && target.port > 0);
                }
                Step::More | Step::Refuse(_) => {}
            }
        }
    }
    accepted
}

#[test]
fn random_files_and_bytes_are_refused_or_read() {
    let (accepted, refused) = files(1, 5_000);
    assert!(accepted > 50 && refused > 1000, "{accepted} accepted, {refused} refused are no test");
    assert!(bytes(1, 50_000) > 5_000);
}

/// `make soak` runs it; MILLPOND_SEED chooses another seed.
#[test]
#[ignore = "takes minutes: make soak runs it"]
#[allow(clippy::disallowed_methods, reason = "the seed is chosen by the person who runs it")]
fn soak_ten_million_files_and_as_many_bytes() {
    let seed = std::env::var("MILLPOND_SEED").map_or(1, |text| text.parse().unwrap());
    let (accepted, refused) = files(seed, 10_000_000);
    eprintln!("seed {seed}: {accepted} files accepted, {refused} refused");
    let accepted = bytes(seed, 10_000_000);
    eprintln!("seed {seed}: 10000000 inputs of bytes, {accepted} messages and targets read");
}
