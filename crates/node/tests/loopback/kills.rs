//! Nodes killed by SIGKILL in the middle of transfers.

use crate::processes::{Chain, digest, pattern, start, timed};
use sha2::{Digest, Sha256};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const NAMES: [&str; 3] = ["enter", "relay", "exit"];
const SIZE: usize = 20_000_000;
/// What applications see at the latest: after the kill, or after the node has started again.
const LONGEST: Duration = Duration::from_secs(5);
const LONGEST_AFTER_RESTART: Duration = Duration::from_millis(500);

/// A kill of one node, some time after the client has connected.
#[derive(Clone, Copy, Debug)]
struct Kill {
    node: usize,
    after: Duration,
    /// How long after the kill the node starts again.
    restart: Option<Duration>,
}

impl Kill {
    /// Kill `number` of a seed: each node in turn, half of them started again after 50 to 450 ms.
    fn numbered(seed: u64, number: usize) -> Self {
        let random = |salt: u64, most: u64| {
            let mixed = (seed << 32 ^ (number as u64) << 8 ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_shr(33) % most
        };
        let restart = (number / 3 % 2 == 1).then(|| Duration::from_millis(50 + random(1, 400)));
        Self { node: number % 3, after: Duration::from_micros(random(2, 2_000_000)), restart }
    }
}

/// What the applications saw.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Both ended in order.
    is_complete: bool,
    /// The target had the whole stream, and its answer was lost.
    is_delivered: bool,
    /// When the later one had its error, after the kill or the restart.
    error_after: Option<Duration>,
}

/// How a stream ended at the target, and when; none if no connection came.
type Received = Option<(std::io::Result<()>, usize, Vec<u8>, Instant)>;

/// Accepts one connection within five seconds and reads it to its end.
fn receive(target: &TcpListener) -> Received {
    target.set_nonblocking(true).unwrap();
    let begin = Instant::now();
    // After a death before the flow reached the exit, none comes, which is right.
    while begin.elapsed() < LONGEST {
        if let Ok((stream, _)) = target.accept() {
            stream.set_nonblocking(false).unwrap();
            let (end, length, hash) = digest(timed(stream));
            return Some((end, length, hash, Instant::now()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

/// Kills a node in a transfer of 20 MB, and checks what both applications see.
fn kill(kill: Kill, data: &[u8], hash: &[u8]) -> Seen {
    let mut chain = Chain::start();
    let mut client = timed(TcpStream::connect(chain.forward).unwrap());
    let reader = timed(client.try_clone().unwrap());
    let target = chain.target.try_clone().unwrap();
    let (config, victim) = (chain.config(NAMES[kill.node]), chain.nodes.remove(kill.node));
    let (restarted, killed, client_end, received) = std::thread::scope(|scope| {
        let received = scope.spawn(move || receive(&target));
        let killed = scope.spawn(move || {
            std::thread::sleep(kill.after);
            drop(victim);
            let killed = Instant::now();
            let restarted = kill.restart.map(|pause| {
                std::thread::sleep(pause);
                start(&config)
            });
            (restarted, if kill.restart.is_some() { Instant::now() } else { killed })
        });
        use std::io::Write;
        let written = client.write_all(data).and_then(|()| client.shutdown(Shutdown::Write));
        let (read, ..) = digest(reader);
        let client_end = (written.and(read), Instant::now());
        let (restarted, killed) = killed.join().unwrap();
        (restarted, killed, client_end, received.join().unwrap())
    });
    let seen = judge(kill, (hash, data.len()), killed, (client_end, received), &chain.logs());
    if let Some(restarted) = restarted {
        chain.nodes.insert(kill.node, restarted);
        chain.wait_until_ready();
        chain.drop_waiting();
        drop(chain.open_flow_after_restart());
    }
    seen
}

/// Judges both ends of a transfer of `whole`: its hash and length.
fn judge(
    kill: Kill,
    whole: (&[u8], usize),
    killed: Instant,
    ends: ((std::io::Result<()>, Instant), Received),
    logs: &str,
) -> Seen {
    let ((client_end, client_at), received) = ends;
    let mut errors = vec![];
    let mut is_whole = false;
    if let Some((end, length, hash, at)) = received {
        is_whole = end.is_ok();
        assert!(!is_whole || (&hash[..], length) == whole, "{kill:?}: {length} bytes look complete\n{logs}");
        errors.extend(end.is_err().then_some(at));
    }
    assert!(client_end.is_err() || is_whole, "{kill:?}: the client saw an orderly end\n{logs}");
    errors.extend(client_end.is_err().then_some(client_at));
    let longest = if kill.restart.is_some() { LONGEST_AFTER_RESTART } else { LONGEST };
    let error_after = errors.iter().map(|at| at.saturating_duration_since(killed)).max();
    assert!(
        error_after.is_none_or(|after| after < longest),
        "{kill:?}: an error after {error_after:?}\n{logs}"
    );
    Seen { is_complete: client_end.is_ok(), is_delivered: is_whole && client_end.is_err(), error_after }
}

/// Runs kills of a seed, two at a time, and prints what was seen.
fn kills(seed: u64, count: usize) {
    let data = pattern(SIZE);
    let hash = Sha256::digest(&data).to_vec();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut all = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return all;
            }
            let planned = Kill::numbered(seed, number);
            all.push((planned, kill(planned, &data, &hash)));
        }
    };
    let seen: Vec<(Kill, Seen)> = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    for (name, has_restart) in [("no restart", false), ("restart", true)] {
        let of_kind = seen.iter().filter(|(kill, _)| kill.restart.is_some() == has_restart);
        let of_kind: Vec<Seen> = of_kind.map(|(_, seen)| *seen).collect();
        let count_of = |is: fn(&Seen) -> bool| of_kind.iter().filter(|seen| is(seen)).count();
        let longest = of_kind.iter().filter_map(|seen| seen.error_after).max();
        eprintln!(
            "seed {seed}, {name}: {} kills, {} complete, {} with an error at the target and the client, {} delivered with an error at the client; the latest error after {longest:?}",
            of_kind.len(),
            count_of(|seen| seen.is_complete),
            count_of(|seen| !seen.is_complete && !seen.is_delivered),
            count_of(|seen| seen.is_delivered),
        );
    }
}

#[test]
fn a_killed_node_is_an_error_at_both_ends_in_time_and_no_truncated_stream_looks_complete() {
    kills(1, 6);
}

/// `make soak` runs it; MILLPOND_SEED and MILLPOND_KILLS choose others.
#[test]
#[ignore = "takes minutes: make soak runs it"]
fn soak_200_kills() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    kills(number("MILLPOND_SEED", 1), number("MILLPOND_KILLS", 200) as usize);
}
