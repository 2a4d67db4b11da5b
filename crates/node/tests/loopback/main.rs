//! Whole nodes as processes on the loopback interface: transfers, signals, sudden deaths, bad input.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test of processes fails by panicking and has a clock"
)]

mod kills;
mod processes;

use processes::{
    Chain, PROGRAM, Process, digest, free_tcp, free_udp, keys, pattern, processor_time, signal, start, timed,
    waits,
};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn twenty_megabytes_pass_enter_relay_and_exit_unchanged_in_both_directions() {
    let chain = Chain::start();
    let data = pattern(20_000_000);
    let sent = Sha256::digest(&data).to_vec();
    let mut client = timed(TcpStream::connect(chain.forward).unwrap());
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let target = scope.spawn(|| {
            let stream = timed(chain.target.accept().unwrap().0);
            let received = digest(stream.try_clone().unwrap());
            // The client has ended its direction; this one is still open.
            (&stream).write_all(&data[..5_000_000]).unwrap();
            received
        });
        let reader = timed(client.try_clone().unwrap());
        let answer = scope.spawn(move || digest(reader));
        client.write_all(&data).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (end, length, hash) = target.join().unwrap();
        assert!(end.is_ok(), "{end:?}\n{}", chain.logs());
        assert_eq!((length, hash), (data.len(), sent));
        let (end, length, hash) = answer.join().unwrap();
        assert!(end.is_ok(), "{end:?}\n{}", chain.logs());
        assert_eq!((length, hash), (5_000_000, Sha256::digest(&data[..5_000_000]).to_vec()));
    });
    eprintln!("25 MB in {:.2} s", begin.elapsed().as_secs_f64());
    let metrics = chain.get(0, "/metrics");
    assert!(
        metrics.contains("\nmillpond_flows_total 1\n") && metrics.contains("millpond_loop_rtt_seconds{"),
        "{metrics}"
    );
}

#[test]
fn a_chain_over_ipv6_carries_data_to_a_target_over_ipv6() {
    let chain = Chain::start_with(Ipv6Addr::LOCALHOST.into(), "capacity = \"300Mbps\"\n");
    let (mut client, target) = chain.open_flow();
    let data = pattern(1_000_000);
    std::thread::scope(|scope| {
        let received = scope.spawn(|| digest(target));
        client.write_all(&data).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (end, length, hash) = received.join().unwrap();
        assert!(end.is_ok() && length == data.len(), "{end:?}, {length} bytes\n{}", chain.logs());
        assert_eq!(hash, Sha256::digest(&data).to_vec());
    });
    let metrics = chain.get(1, "/metrics");
    let ecn: Vec<&str> = metrics.lines().filter(|line| line.starts_with("millpond_loop_ecn{")).collect();
    assert!(ecn.len() == 2 && ecn.iter().all(|line| line.ends_with(" 1")), "{ecn:?}");
}

#[test]
fn socks_and_http_connect_reach_allowed_targets_and_say_why_others_are_refused() {
    let chain = Chain::start();
    let port = chain.target.local_addr().unwrap().port();
    let mut socks = timed(TcpStream::connect(chain.socks).unwrap());
    socks.write_all(&[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1]).unwrap();
    socks.write_all(&port.to_be_bytes()).unwrap();
    let mut target = timed(chain.target.accept().unwrap().0);
    let mut reply = [0; 12];
    socks.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..4], [5, 0, 5, 0]);
    socks.write_all(b"hello").unwrap();
    let mut word = [0; 5];
    target.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"hello");

    let mut http = timed(TcpStream::connect(chain.connect).unwrap());
    http.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nhello").as_bytes()).unwrap();
    let mut target = timed(chain.target.accept().unwrap().0);
    target.read_exact(&mut word).unwrap();
    target.write_all(b"world").unwrap();
    drop(target);
    let mut answer = String::new();
    http.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nworld");

    let mut other = timed(TcpStream::connect(chain.connect).unwrap());
    other.write_all(b"CONNECT 127.0.0.1:9 HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    other.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden"), "{answer}\n{}", chain.logs());
}

#[test]
fn a_reset_reaches_the_other_end_as_a_reset() {
    let chain = Chain::start();
    let (client, mut target) = chain.open_flow();
    let mut word = [0; 5];
    rustix::net::sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
    drop(client);
    let end = target.read(&mut word);
    assert!(end.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset), "{}", chain.logs());
}

#[test]
fn sigterm_ends_all_flows_at_once_and_the_exit_code_is_zero() {
    let mut chain = Chain::start();
    let (mut client, mut target) = chain.open_flow();
    let mut word = [0; 5];
    let begin = Instant::now();
    signal(&chain.nodes[1], "TERM");
    assert!(client.read(&mut word).is_err() && target.read(&mut word).is_err(), "{}", chain.logs());
    assert!(begin.elapsed() < Duration::from_secs(2), "after {:?}", begin.elapsed());
    assert!(chain.nodes[1].0.wait().unwrap().success());
}

#[test]
fn a_draining_node_ends_after_its_last_flow_and_a_reload_keeps_flows() {
    let mut chain = Chain::start();
    let (mut client, mut target) = chain.open_flow();
    let mut word = [0; 5];
    signal(&chain.nodes[0], "HUP");
    signal(&chain.nodes[0], "USR1");
    let begin = Instant::now();
    while TcpStream::connect(chain.forward).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(10), "the port stays open\n{}", chain.logs());
        std::thread::sleep(Duration::from_millis(10));
    }
    client.write_all(b"world").unwrap();
    target.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"world");
    assert!(chain.logs().contains("reloaded"), "{}", chain.logs());
    drop((client, target));
    // A connection that was made before the node drained is a flow as well, which nobody accepts.
    let begin = Instant::now();
    let ended = loop {
        chain.drop_waiting();
        if let Some(ended) = chain.nodes[0].0.try_wait().unwrap() {
            break ended;
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "the node does not end\n{}", chain.logs());
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(ended.success());
}

#[test]
fn a_node_takes_the_capacity_that_a_command_prints_and_a_reload_ends_the_command() {
    let chain = Chain::start();
    let relay = chain.config("relay");
    let text = std::fs::read_to_string(&relay).unwrap();
    let pid = chain.folder.path().join("pid");
    let script = format!("echo $$ > {}; echo 40Mbps; sleep 0.1; echo 60Mbps; exec sleep 60", pid.display());
    let rates = format!("capacity_command = [\"sh\", \"-c\", \"{script}\"]\n");
    std::fs::write(&relay, rates + &text).unwrap();
    signal(&chain.nodes[1], "HUP");
    chain.wait_for_logs(|logs| logs.contains("bits_per_second=40000000"));
    chain.wait_for_logs(|logs| logs.contains("bits_per_second=60000000"));
    let pid = std::fs::read_to_string(pid).unwrap();
    let command = Path::new("/proc").join(pid.trim());
    assert!(command.exists());
    std::fs::write(&relay, text).unwrap();
    signal(&chain.nodes[1], "HUP");
    chain.wait_for_logs(|logs| !command.exists() && logs.matches("reloaded").count() == 2);
}

/// A node sleeps and then waits for its sockets: two waits in each interval of coalescing. At 20 Mbit/s a relay receives and
/// sends 1700 packets a second, and receives 850 acknowledgements.
#[test]
fn a_busy_relay_wakes_up_at_most_once_in_each_interval_of_coalescing() {
    const INTERVAL: Duration = Duration::from_millis(5);
    let chain = Chain::start_with(Ipv4Addr::LOCALHOST.into(), "capacity = \"20Mbps\"\ncoalesce = \"5ms\"\n");
    let (mut client, target) = chain.open_flow();
    let (begin, before) = (Instant::now(), waits(&chain.nodes[1]));
    std::thread::scope(|scope| {
        let received = scope.spawn(|| digest(target));
        client.write_all(&pattern(1_000_000)).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(received.join().unwrap().1, 1_000_000, "{}", chain.logs());
    });
    let (waited, intervals) = (waits(&chain.nodes[1]) - before, begin.elapsed().div_duration_f64(INTERVAL));
    assert!((waited as f64) < 2.0 * intervals + 20.0, "{waited} waits in {intervals:.0} intervals");
}

#[test]
fn clients_that_never_name_their_target_keep_nobody_out_and_are_ended() {
    let chain = Chain::start();
    let mut silent: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = timed(TcpStream::connect(chain.socks).unwrap());
            stream.write_all(&[5]).unwrap();
            stream
        })
        .collect();
    let begin = Instant::now();
    let mut http = timed(TcpStream::connect(chain.connect).unwrap());
    http.write_all(b"CONNECT 127.0.0.1:9 HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    http.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden"), "{answer}\n{}", chain.logs());
    assert_eq!(chain.logs().matches("make room").count(), 1, "{}", chain.logs());
    // The first has made room; the last one waits for ten seconds. What ends them is a reset.
    let mut byte = [0; 1];
    assert!(!matches!(silent[0].read(&mut byte), Ok(1)));
    assert!(begin.elapsed() < Duration::from_secs(5), "{}", chain.logs());
    assert!(!matches!(silent.pop().map(|mut last| last.read(&mut byte)), Some(Ok(1))));
    let waited = begin.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(15)).contains(&waited), "{waited:?}");
}

#[test]
fn a_node_without_file_descriptors_writes_one_line_and_serves_again_when_it_has_some() {
    let mut chain = Chain::start();
    let enter = chain.config("enter");
    signal(&chain.nodes[0], "TERM");
    assert!(chain.nodes[0].0.wait().unwrap().success());
    let log = std::fs::File::create(enter.with_extension("log")).unwrap();
    let limited = Command::new("sh")
        .args(["-c", "ulimit -n 48; exec \"$0\" \"$1\"", PROGRAM])
        .arg(&enter)
        .stderr(log)
        .spawn()
        .unwrap();
    chain.nodes[0] = Process(limited);
    chain.wait_until_ready();
    let clients: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(chain.socks).unwrap()).collect();
    chain.wait_for_logs(|logs| logs.contains("cannot accept connections"));
    let before = processor_time(&chain.nodes[0]);
    std::thread::sleep(Duration::from_millis(500));
    let used = processor_time(&chain.nodes[0]) - before;
    assert!(used < Duration::from_millis(200), "the node does not wait: {used:?}");
    assert_eq!(chain.logs().matches("cannot accept connections").count(), 1, "{}", chain.logs());
    drop(clients);
    drop(chain.open_flow());
}

#[test]
fn a_thousand_connections_are_served_at_once_and_one_more_is_refused() {
    let chain = Chain::start();
    let open = || timed(TcpStream::connect(chain.forward).unwrap());
    let mut pairs: Vec<(TcpStream, TcpStream)> = Vec::new();
    for _ in 0..1000 {
        let mut client = open();
        client.write_all(b"hello").unwrap();
        pairs.push((client, timed(chain.target.accept().unwrap().0)));
    }
    let mut refused = open();
    assert!(!matches!(refused.read(&mut [0; 1]), Ok(1)), "{}", chain.logs());
    // Targets and clients are paired by what they say: flows may arrive in another order.
    for (place, (client, _)) in pairs.iter_mut().enumerate() {
        client.write_all(&(place as u32).to_be_bytes()).unwrap();
    }
    let mut seen = vec![false; pairs.len()];
    for (_, target) in &mut pairs {
        let mut bytes = [0; 9];
        target.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes[..5], b"hello");
        target.write_all(&bytes[5..]).unwrap();
        seen[u32::from_be_bytes(bytes[5..].try_into().unwrap()) as usize] = true;
    }
    assert!(seen.iter().all(|one| *one));
    for (place, (client, _)) in pairs.iter_mut().enumerate() {
        let mut bytes = [0; 4];
        client.read_exact(&mut bytes).unwrap();
        assert_eq!(u32::from_be_bytes(bytes) as usize, place);
    }
}

/// The message of a configuration that is refused, without the path of the folder.
fn refused(folder: &Path, text: &str) -> String {
    refused_with(folder, &[], text, 2)
}

/// The error of a node with this configuration and these options, which ends with this exit code.
fn refused_with(folder: &Path, options: &[&str], text: &str, code: i32) -> String {
    let path = folder.join("node.toml");
    std::fs::write(&path, text).unwrap();
    let output = Command::new(PROGRAM).args(options).arg(&path).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap().replace(&format!("{}/", folder.display()), "")
}

#[test]
fn bad_input_is_one_readable_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let key = keys(&folder.join("node.key"));
    let exit = |changes: &str| {
        format!(
            "role = \"exit\"\nkey = \"node.key\"\nprevious = [\"{key}\"]\nallow = [\"127.0.0.1:80\"]\n{changes}\n"
        )
    };
    let listen = "listen = \"127.0.0.1:0\"\n";
    let check = |changes: &str, expected: &str| assert_eq!(refused(folder, &exit(changes)), expected);
    let with = |line: &str| format!("{listen}{line}");
    check(
        &with("mtu = 1000"),
        "error: mtu: expected the size of an IP packet from 1280 to 65000 bytes, found 1000\n  node.toml:6\n",
    );
    check(
        &with("stream_window = \"1B\""),
        "error: stream_window: expected a size from a packet of `mtu` = 1.5KB to 1GB\n  node.toml:6\n",
    );
    check(
        &with("protocol = \"xcp\""),
        "error: protocol: xcp cannot run over a QUIC connection: it needs a header in each packet\n  node.toml:6\n",
    );
    check(
        "listen = \"localhost\"",
        "error: listen: expected an address such as \"127.0.0.1:8080\", found \"localhost\"\n  node.toml:5\n",
    );
    check(
        &with("hold = \"fast\""),
        "error: hold: no number in \"fast\": expected a time such as \"50ms\" (ps, ns, us, ms, s, min, h)\n  node.toml:6\n",
    );
    let stopped = |changes: &str| refused_with(folder, &[], &exit(changes), 1);
    assert_eq!(
        stopped("listen = \"192.0.2.1:4433\""),
        "error: listen: 192.0.2.1:4433 is not an address of this host\n"
    );
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    assert_eq!(
        stopped(&format!("listen = \"{address}\"")),
        format!("error: listen: {address} is in use by another program\n")
    );
    check(
        &with("capacity_command = []"),
        "error: capacity_command: expected a program and its arguments, such as [\"link-rate\", \"wwan0\"]\n  node.toml:6\n",
    );
    check(
        &with("capacity_command = [\"link-rate\"]\ncapacity_file = \"rate\""),
        "error: capacity_command: expected without `capacity_file`: one of them says the capacity\n  node.toml:6\n",
    );
    check(
        &with("connections = \"per-flow\""),
        "error: connections: an exit has none: it does not connect to a next node\n  node.toml:6\n",
    );
    check(
        &with("[[weight]]\ntarget = \"*:443\"\nweight = 2"),
        "error: weight: only an enter has it: the weight of a flow travels with the flow\n  node.toml:7\n",
    );
    let unknown = refused(folder, &exit(&with("mtv = 1500")));
    assert!(
        unknown.starts_with("error: unknown field `mtv`; did you mean `mtu`? Expected one of `role`, ")
            && unknown.ends_with("node.toml:6\n"),
        "{unknown}"
    );
    let far = refused(folder, &exit(&with("nothing_near = 1")));
    assert!(far.starts_with("error: unknown field `nothing_near`, expected one of `role`, "), "{far}");
    check(&with("mtu = 1500\nmtu = 1400"), "error: `mtu` is there twice\n  node.toml:7\n");
    let relay = format!("role = \"relay\"\nkey = \"node.key\"\n{listen}previous = [\"{key}\"]\n");
    assert_eq!(refused(folder, &relay), "error: role: a relay needs `next`\n  node.toml:1\n");
    let enter = |changes: &str| {
        format!(
            "role = \"enter\"\nkey = \"node.key\"\n{listen}next = {{ address = \"127.0.0.1:1\", key = \"{key}\" }}\n{changes}\n"
        )
    };
    let proxy = "socks5 = \"127.0.0.1:0\"\n";
    assert_eq!(
        refused(folder, &enter(&format!("{proxy}connections = \"per-flow\""))),
        "error: connections: \"per-flow\" needs `capacity`, `capacity_file` or `capacity_command`: each connection sends at least a packet per round-trip time, so that the bandwidth-delay product limits their number\n  node.toml:6\n"
    );
    assert_eq!(
        refused(folder, &enter(&format!("{proxy}[[weight]]\ntarget = \"*:443\"\nweight = 1000"))),
        "error: weight.weight: expected a number from 0.01 to 100, found 1000\n  node.toml:8\n"
    );
    let per_flow =
        enter(&format!("{proxy}connections = \"per-flow\"\ncapacity = \"60Mbps\"\nmax_flows = 25"));
    std::fs::write(folder.join("node.toml"), per_flow).unwrap();
    let checked = Command::new(PROGRAM).arg("--check").arg(folder.join("node.toml")).output().unwrap();
    let printed = String::from_utf8(checked.stdout).unwrap();
    assert!(
        checked.status.success() && printed.contains("25 flows at a time need a base RTT of 20.0 ms"),
        "{printed}"
    );
    std::fs::set_permissions(folder.join("node.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    check(listen, "error: key: node.key can be read by others; run `chmod 600 node.key`\n  node.toml:2\n");
    std::fs::create_dir(folder.join("keys")).unwrap();
    let folder_as_key = exit(listen).replace("node.key", "keys");
    assert_eq!(refused(folder, &folder_as_key), "error: key: keys is not a file\n  node.toml:2\n");
    let again = Command::new(PROGRAM).arg("keys").arg(folder.join("node.key")).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "a key is never overwritten");
    let reason = String::from_utf8(again.stderr).unwrap();
    assert!(reason.ends_with("exists already, and no key is replaced: give another name\n"), "{reason}");
    let missing = Command::new(PROGRAM).arg(folder.join("none.toml")).output().unwrap();
    assert_eq!(missing.status.code(), Some(2), "{missing:?}");
}

/// An enter in this folder with these lines at its end.
fn enter_file(folder: &Path, lines: &str) -> String {
    let key = keys(&folder.join("node.key"));
    std::fs::rename(folder.join("node.key"), folder.join("enter.key")).unwrap();
    format!(
        "role = \"enter\"\nkey = \"enter.key\"\nlisten = \"127.0.0.1:0\"\nnext = {{ address = \"127.0.0.1:1\", key = \"{key}\" }}\nsocks5 = \"127.0.0.1:1080\"\n{lines}\n"
    )
}

#[test]
fn values_with_which_no_node_works_are_refused_with_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let taken = |key: &str, address: &str| {
        format!("{key}: {address} is taken by `socks5`: each service needs an address of its own")
    };
    for (lines, expected) in [
        ("http_connect = \"127.0.0.1:1080\"", taken("http_connect", "127.0.0.1:1080")),
        ("status = \"0.0.0.0:1080\"", taken("status", "0.0.0.0:1080")),
        (
            "forward = [{ listen = \"127.0.0.1:1080\", target = \"a:80\" }]",
            taken("forward.listen", "127.0.0.1:1080"),
        ),
        ("hold = \"1h\"", "hold: expected a value from 1ps to 10s".to_owned()),
        ("slack = \"1h\"", "slack: expected a value from 0s to 1s".to_owned()),
        ("receive_buffer = \"1B\"", "receive_buffer: expected a value from 4KB to 1GB".to_owned()),
        ("capacity = \"0bps\"", "capacity: expected a rate above zero".to_owned()),
        (
            "max_flows = -1",
            "max_flows: invalid value: integer `-1`, expected a whole number, at least zero".to_owned(),
        ),
        ("weight = 3", "weight: invalid type: integer `3`, expected a list".to_owned()),
        (
            "parameters = { control = \"x\" }",
            "parameters: control: expected \"window\" or \"paced-window\" or \"rate\", found \"x\""
                .to_owned(),
        ),
    ] {
        let refused = refused(folder, &enter_file(folder, lines));
        assert_eq!(refused, format!("error: {expected}\n  node.toml:6\n"));
    }
    // Addresses of two families, and ports that the system chooses, are not the same.
    let apart = "http_connect = \"[::1]:1080\"\nstatus = \"127.0.0.1:0\"\nforward = [{ listen = \"127.0.0.1:0\", target = \"a:80\" }]";
    std::fs::write(folder.join("node.toml"), enter_file(folder, apart)).unwrap();
    let checked = Command::new(PROGRAM).arg("--check").arg(folder.join("node.toml")).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn a_check_refuses_a_source_of_the_capacity_that_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let check = |lines: &str| refused_with(folder, &["--check"], &enter_file(folder, lines), 2);
    assert_eq!(
        check("capacity_file = \"rate\""),
        "error: capacity_file: cannot read rate: No such file or directory (os error 2)\n  node.toml:6\n"
    );
    std::fs::write(folder.join("rate"), "fast").unwrap();
    let no_rate = check("capacity_file = \"rate\"");
    assert!(no_rate.starts_with("error: capacity_file: rate: no number in \"fast\""), "{no_rate}");
    for program in ["no-such-program", "./no-such-program", "./rate"] {
        let message = check(&format!("capacity_command = [\"{program}\"]"));
        assert!(message.starts_with("error: capacity_command: there is no program "), "{message}");
    }
    for lines in ["capacity_command = [\"sh\", \"-c\", \"echo 5Mbps\"]", "capacity = \"5Mbps\""] {
        std::fs::write(folder.join("node.toml"), enter_file(folder, lines)).unwrap();
        let checked = Command::new(PROGRAM).arg("--check").arg(folder.join("node.toml")).output().unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }
}

#[test]
fn no_key_is_written_to_a_file_with_the_name_of_an_option() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(PROGRAM).args(["keys", "--help"]).current_dir(&folder).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.starts_with("usage: "), "{output:?}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_peer_whose_key_is_not_listed_is_refused() {
    let chain = Chain::start();
    let other = chain.folder.path().join("other.key");
    keys(&other);
    let text = std::fs::read_to_string(chain.config("enter")).unwrap();
    let listen = text.lines().find(|line| line.starts_with("listen")).unwrap().to_owned();
    let (udp, tcp) = (free_udp(), free_tcp());
    let next = text.lines().find(|line| line.starts_with("next")).unwrap();
    let stranger = format!(
        "role = \"enter\"\nlisten = \"{udp}\"\nkey = \"other.key\"\n{next}\n[[forward]]\nlisten = \"{tcp}\"\ntarget = \"127.0.0.1:80\"\n"
    );
    assert!(!listen.is_empty());
    std::fs::write(chain.config("stranger"), stranger).unwrap();
    let _stranger = start(&chain.config("stranger"));
    let begin = Instant::now();
    while !chain.logs().contains("refused a peer whose key is not listed") {
        assert!(begin.elapsed() < Duration::from_secs(10), "{}", chain.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    // Its applications see a reset, not a connection that leads nowhere.
    let mut client = timed(TcpStream::connect(tcp).unwrap());
    assert!(client.read(&mut [0]).is_err());
    // It dials again after a second or less. The node that refuses it logs that once in ten seconds.
    let refusals = |logs: &str| {
        let lines = logs.lines().filter(|line| line.contains("refused a peer whose key is not listed"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    std::thread::sleep(Duration::from_millis(4_000));
    let lines = refusals(&chain.logs());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("key=ed25519:"), "{lines:?}");
}
