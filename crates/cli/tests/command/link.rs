//! `millpond link`: kernel TCP and UDP between two network namespaces that the command makes itself.
//!
//! The programs inside are Python scripts with the standard library alone. Nothing touches the network of the machine. Where
//! no namespace or TUN device can be made, the tests print the reason and end.

use crate::common::{command, error_of, folder, millpond, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// True if this machine permits what the command needs; otherwise prints why it does not.
pub(crate) fn is_possible() -> bool {
    let folder = folder("");
    let output = millpond(folder.path(), &["link", "--quiet", "--server", "true", "--", "true"]);
    let error = stderr(&output);
    if output.status.success() {
        return true;
    }
    let refused = ["cannot create a network namespace", "cannot create a TUN device", "cannot map the user"];
    assert!(refused.iter().any(|reason| error.contains(reason)), "{error}");
    println!("skipped, this machine cannot emulate links: {error}");
    false
}

/// A folder with these scripts.
fn scripts(scripts: &[(&str, &str)]) -> TempDir {
    let folder = folder("");
    scripts.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

/// Runs `client.py` behind a link, and `server.py` at its other end. Returns the output and the results.
fn between(folder: &Path, link: &[&str]) -> (Output, Value) {
    between_with("exec python3 server.py", folder, link)
}

/// Like [`between`], with a server of one's own.
fn between_with(server: &str, folder: &Path, link: &[&str]) -> (Output, Value) {
    let server = ["--server", server, "--out", "link.json", "--", "python3", "client.py"];
    let output = millpond(folder, &[&["link"], link, &server].concat());
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let text = fs::read_to_string(folder.join("link.json")).unwrap();
    (output, serde_json::from_str(&text).unwrap())
}

/// The number that a script printed after this name.
fn printed(output: &Output, name: &str) -> f64 {
    let text = stdout(output);
    let line =
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    line.trim().parse().unwrap()
}

#[test]
fn a_short_link_uses_at_most_a_processor() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    for _ in 0..5 {
        let output = millpond(folder.path(), &["link", "--json", "--", "true"]);
        let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let share = result["machine"]["processor_share"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share), "{share} of a processor");
    }
}

/// Receives for one second after a second of warm-up and prints the rate in bit/s.
const TCP_SERVER: &str = r#"
import os, socket, time
listener = socket.create_server((os.environ["MILLPOND_ADDRESS"], 5000))
connection, _ = listener.accept()
begin, received = time.monotonic(), 0
while time.monotonic() < begin + 1: connection.recv(1 << 16)
start = time.monotonic()
while time.monotonic() < start + 2: received += len(connection.recv(1 << 16))
print("goodput", received * 8 / (time.monotonic() - start), flush=True)
connection.close()
"#;

/// Sends until the server closes; prints RTTs in seconds (struct tcp_info of Linux: tcpi_rtt, tcpi_min_rtt).
const TCP_CLIENT: &str = r#"
import os, socket, struct, time
for attempt in range(500):
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    try:
        connection.connect((os.environ["MILLPOND_PEER"], 5000))
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
worst = best = 0
try:
    while True:
        connection.send(b"x" * 65536)
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        worst, best = max(worst, struct.unpack_from("I", info, 68)[0]), struct.unpack_from("I", info, 148)[0]
except OSError:
    print("worst_rtt", worst / 1e6)
    print("best_rtt", best / 1e6)
"#;

#[test]
fn kernel_cubic_fills_the_link_within_its_delay_and_buffer() {
    if !is_possible() {
        return;
    }
    let folder = scripts(&[("server.py", TCP_SERVER), ("client.py", TCP_CLIENT)]);
    let link = ["--rate", "20Mbps", "--delay", "10ms", "--buffer", "40ms"];
    let (output, result) = between(folder.path(), &link);
    // Packets of 1500 bytes with headers of 20 bytes (IP) and 32 bytes (TCP with time stamps) carry 1448 bytes.
    let goodput = printed(&output, "goodput") / (20e6 * 1448.0 / 1500.0);
    assert!((0.95..1.02).contains(&goodput), "{goodput} of the goodput of a full link");
    // Nothing arrives early: two propagation delays and the service of a small packet. At most, two delays, the buffer, a
    // packet each way, and what the machine adds.
    let late = result["machine"]["lateness_us"]["max"].as_f64().unwrap() / 1e6;
    let (best, worst) = (printed(&output, "best_rtt"), printed(&output, "worst_rtt"));
    assert!(best >= 0.02, "{best}");
    assert!(worst <= 0.02 + 0.04 + 0.002 + 2.0 * late, "{worst}, with {late} late");
    let up = &result["directions"][1];
    assert_eq!(up["name"], "up");
    assert!(up["buffer_drops"].as_u64().unwrap() > 0, "CUBIC fills the buffer: {up}");
    let wait = up["queueing_ms"]["max"].as_f64().unwrap();
    assert!((35.0..=40.0).contains(&wait), "{wait} ms in a buffer of 40 ms");
    assert_eq!(result["machine"]["processors"].as_u64().map(|number| number > 0), Some(true));
}

/// Counts codepoints of received packets until one with the text "end" has come over IPv4, then prints them.
const ECN_SERVER: &str = r#"
import os, select, socket
sockets = []
for family, address, level, option in [
    (socket.AF_INET, "MILLPOND_ADDRESS", socket.IPPROTO_IP, socket.IP_RECVTOS),
    (socket.AF_INET6, "MILLPOND_ADDRESS6", socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS)]:
    receiver = socket.socket(family, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    receiver.setsockopt(level, option, 1)
    receiver.bind((os.environ[address], 5000))
    sockets.append(receiver)
open("ready", "w").close()
counts, over = {}, False
while not over:
    for number, receiver in enumerate(sockets):
        if receiver not in select.select(sockets, [], [])[0]: continue
        data, extra, _, _ = receiver.recvmsg(2000, 256)
        if data[:3] == b"end": over = True
        else:
            key = (4, 6)[number], extra[0][2][0] & 3
            counts[key] = counts.get(key, 0) + 1
for (family, codepoint), number in counts.items(): print(f"v{family}-{codepoint}", number)
print("end", flush=True)
open("done", "w").close()
"#;

/// Sends 400 packets with ECT(0) over each of IPv4 and IPv6, twice as fast as the link, then "end" until the server is done.
const ECN_CLIENT: &str = r#"
import os, socket, time
while not os.path.exists("ready"): time.sleep(0.01)
four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
four.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 2)
begin = time.monotonic()
for n in range(400):
    four.sendto(b"x" * 1172, (os.environ["MILLPOND_PEER"], 5000))
    six.sendto(b"x" * 1152, (os.environ["MILLPOND_PEER6"], 5000))
    time.sleep(max(0, begin + n * 0.00096 - time.monotonic()))
four.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0)
while not os.path.exists("done"):
    time.sleep(0.5)
    four.sendto(b"end", (os.environ["MILLPOND_PEER"], 5000))
"#;

#[test]
fn every_ce_mark_that_a_law_sets_arrives_over_ipv4_and_ipv6() {
    if !is_possible() {
        return;
    }
    let folder = scripts(&[("server.py", ECN_SERVER), ("client.py", ECN_CLIENT)]);
    let (pcap, link) =
        (folder.path().join("link.pcapng"), ["--rate", "10Mbps", "--delay", "5ms", "--buffer", "unlimited"]);
    let marking = [
        "--queue",
        "red",
        "--set",
        "queue.red.min_th=3KB",
        "--set",
        "queue.red.max_th=900KB",
        "--set",
        "queue.red.weight=1",
    ];
    let capture = ["--pcap", pcap.to_str().unwrap()];
    let (output, result) = between(folder.path(), &[&link[..], &marking, &capture].concat());
    let up = &result["directions"][1];
    let seen = |name: &str| if stdout(&output).contains(name) { printed(&output, name) as u64 } else { 0 };
    let (four, six) = (seen("v4-3"), seen("v6-3"));
    assert!(four > 0 && six > 0, "{}", stdout(&output));
    assert_eq!([&up["law_drops"], &up["buffer_drops"]], [0, 0]);
    // The overrun of a device is a loss of a busy machine, not of the link.
    let overrun = up["overrun"].as_u64().unwrap();
    let (marks, arrived) = (up["marks"].as_u64().unwrap(), four + six);
    assert!((arrived..=arrived + overrun).contains(&marks), "{up}");
    let all = arrived + seen("v4-2") + seen("v6-2");
    assert!((800 - overrun..=800).contains(&all), "{}", stdout(&output));
    // The capture has each packet before and behind the link, and one more block for each of its four interfaces.
    let bytes = fs::read(&pcap).unwrap();
    let blocks = blocks(&bytes);
    assert_eq!(blocks.iter().filter(|(kind, _)| *kind == 1).count(), 4);
    let packets: Vec<_> = blocks.iter().filter(|(kind, _)| *kind == 6).collect();
    let behind = packets.iter().filter(|(_, content)| content[..4] == 3_u32.to_ne_bytes());
    assert_eq!(Some(behind.count() as u64), up["delivered"].as_u64());
    let is_marked = |content: &[u8]| content[20] >> 4 == 4 && content[21] & 3 == 3;
    let marked =
        packets.iter().filter(|(_, content)| content[..4] == 3_u32.to_ne_bytes() && is_marked(content));
    assert!((four..=four + overrun).contains(&(marked.count() as u64)));
}

/// Type and content of each block of a pcapng file (draft-ietf-opsawg-pcapng, section 3.1).
pub(crate) fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
    let number = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().unwrap());
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = number(&file[4..8]) as usize;
        assert_eq!(number(&file[length - 4..length]) as usize, length);
        blocks.push((number(&file[..4]), &file[8..length - 4]));
        file = &file[length..];
    }
    blocks
}

#[test]
fn the_exit_code_of_the_command_is_that_of_the_link() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let run = |script: &str| {
        let output = millpond(folder.path(), &["link", "--server", "sleep 100", "--", "sh", "-c", script]);
        (output.status.code(), stdout(&output))
    };
    assert_eq!(run("echo out; exit 7"), (Some(7), "out\n".to_owned()));
    assert_eq!(run("kill -9 $$"), (Some(137), String::new()));
    // What the command leaves in the background does not keep the link.
    assert_eq!(run("sleep 100 > /dev/null & exit 0"), (Some(0), String::new()));
}

/// Prints how a connection fails to a server that has ended, and leaves the link no later than after two seconds.
const REFUSED_CLIENT: &str = r#"
import os, socket, time
time.sleep(1)
try: socket.create_connection((os.environ["MILLPOND_PEER"], 5000), timeout=2)
except OSError as error: print(type(error).__name__)
"#;

#[test]
fn the_network_of_a_command_that_has_ended_still_answers() {
    if !is_possible() {
        return;
    }
    let folder = scripts(&[("client.py", REFUSED_CLIENT)]);
    // A shell ends within the second that the client waits, also on a busy machine.
    let (output, result) = between_with("exit 3", folder.path(), &["--rate", "1Mbps"]);
    assert_eq!(stdout(&output), "ConnectionRefusedError\n");
    assert_eq!(result["server_exit_code"], 3);
    assert!(stderr(&output).contains("the command at the other end ended first, with exit code 3"));
    assert_eq!(
        (result["directions"][0]["delivered"].as_u64(), result["directions"][1]["refused"].as_u64()),
        (Some(1), Some(0))
    );
}

/// Starts a link in a new terminal with a command that catches Ctrl-C, types Ctrl-C, and prints what the terminal showed and
/// the exit code.
const TERMINAL: &str = r#"
import os, pty, signal, sys, time
# A shell may have started the tests with interrupts ignored; a trap has no effect on a signal that was ignored at the start.
signal.signal(signal.SIGINT, signal.SIG_DFL)
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], ["millpond", "link", "--server", "exec sleep 60", "--", "sh", "-c",
    "trap 'echo caught; exit 5' INT; echo started; for step in $(seq 600); do sleep 0.05; done"])
shown = b""
while b"started" not in shown: shown += os.read(terminal, 1000)
os.write(terminal, b"\x03")
try:
    while True: shown += os.read(terminal, 1000)
except OSError: pass
print(shown.count(b"caught"), shown.count(b"exit code 5"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn ctrl_c_reaches_the_command_and_the_table_is_printed() {
    if !is_possible() {
        return;
    }
    let mut python = std::process::Command::new("python3");
    let output = python.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_millpond")]).output().unwrap();
    assert_eq!(stdout(&output), "1 1 5\n", "{}", stderr(&output));
}

/// Sends what it receives back to the sender.
const ECHO_SERVER: &str = r#"
import os, socket
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind((os.environ["MILLPOND_ADDRESS"], 5000))
while True:
    data, sender = echo.recvfrom(2000)
    echo.sendto(data, sender)
"#;

/// Prints the least of twenty round-trip times to the outermost end, in seconds.
const ECHO_CLIENT: &str = r#"
import socket, time
ping = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ping.settimeout(0.2)
least, answers = 1, 0
while answers < 20:
    begin = time.monotonic()
    ping.sendto(b"ping", ("100.64.0.1", 5000))
    try: ping.recv(2000)
    except OSError: continue
    least, answers = min(least, time.monotonic() - begin), answers + 1
print("least", least)
"#;

#[test]
fn links_can_be_nested_and_their_delays_add_up() {
    if !is_possible() {
        return;
    }
    let folder = scripts(&[("server.py", ECHO_SERVER), ("client.py", ECHO_CLIENT)]);
    let inner = [env!("CARGO_BIN_EXE_millpond"), "link", "--delay", "7ms", "--", "python3", "client.py"];
    let outer = ["link", "--delay", "5ms", "--server", "exec python3 server.py", "--"];
    let output = millpond(folder.path(), &[&outer[..], &inner].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let least = printed(&output, "least");
    assert!((0.024..0.05).contains(&least), "{least} s over 5 + 7 ms each way");
}

/// Starts a link whose outer end is in this network namespace, waits for its device, kills the link, and waits until device and
/// routes have vanished. Prints what it saw.
const KILL_CALLER: &str = r#"
import os, subprocess, sys, time
def wait(wanted):
    for attempt in range(250):
        devices, routes = open("/proc/net/dev").read(), open("/proc/net/route").read()
        found = ("millpond1" in devices, "millpond1" in routes)
        if found == (wanted, wanted): return print(*found)
        time.sleep(0.02)
    print("not", wanted, devices, routes)
link = subprocess.Popen([sys.argv[1], "link", "--", "sleep", "100"])
wait(True)
link.kill()
link.wait()
wait(False)
"#;

#[test]
fn a_device_in_the_network_of_the_caller_vanishes_with_sigkill() {
    if !is_possible() {
        return;
    }
    let folder = scripts(&[("kill.py", KILL_CALLER)]);
    // The caller is in a network namespace itself, that of a link around it with the device millpond0.
    let outer = ["link", "--quiet", "--server", "exec sleep 100", "--"];
    let caller = ["python3", "kill.py", env!("CARGO_BIN_EXE_millpond")];
    let output = millpond(folder.path(), &[&outer[..], &caller].concat());
    assert_eq!(stdout(&output), "True True\nFalse False\n", "{}", stderr(&output));
}

/// A user without privileges (65534) where /dev/net/tun is open to everybody, as on desktop systems: in a mount namespace with
/// a device file of its own.
const UNPRIVILEGED: &str = r#"
mount -t tmpfs none devices && mknod devices/tun c 10 200 && chmod 666 devices/tun && mount --bind devices/tun /dev/net/tun || exit 77
exec setpriv --reuid 65534 --regid 65534 --clear-groups ./millpond link --quiet --server true -- sh -c 'id -u; exit 9'
"#;

#[test]
fn a_user_without_privileges_has_a_link_in_user_namespaces() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    fs::copy(env!("CARGO_BIN_EXE_millpond"), folder.path().join("millpond")).unwrap();
    fs::create_dir(folder.path().join("devices")).unwrap();
    let everybody = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(folder.path(), everybody).unwrap();
    let mut unprivileged = std::process::Command::new("unshare");
    unprivileged.args(["--mount", "sh", "-c", UNPRIVILEGED]).current_dir(folder.path());
    let output = unprivileged.output().unwrap();
    let refused = ["user namespaces", "cannot map the user", "cannot create a TUN device", "unshare:"];
    if output.status.code() == Some(77) || refused.iter().any(|reason| stderr(&output).contains(reason)) {
        println!(
            "skipped: only root can set this up, where user namespaces are permitted: {}",
            stderr(&output)
        );
        return;
    }
    assert_eq!((output.status.code(), stdout(&output)), (Some(9), "0\n".to_owned()), "{}", stderr(&output));
}

/// Process numbers of all descendants of a process.
fn descendants(process: u32) -> BTreeSet<u32> {
    let numbers = || {
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    };
    let parent = |number: u32| -> Option<u32> {
        let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let mut found = BTreeSet::from([process]);
    loop {
        let more: Vec<u32> = numbers()
            .filter(|n| !found.contains(n) && parent(*n).is_some_and(|p| found.contains(&p)))
            .collect();
        if more.is_empty() {
            found.remove(&process);
            return found;
        }
        found.extend(more);
    }
}

/// Network namespaces of these processes.
fn namespaces(processes: &BTreeSet<u32>) -> BTreeSet<String> {
    let name = |number: &u32| fs::read_link(format!("/proc/{number}/ns/net")).ok();
    processes.iter().filter_map(name).map(|path| path.display().to_string()).collect()
}

/// Waits until something is true, about five seconds at most.
fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    for _ in 0..250 {
        if is_true() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{what}");
}

/// A link with commands that run for long at both ends, and a process in the background; the processes and their namespaces.
fn long_link(folder: &Path) -> (Child, BTreeSet<u32>, BTreeSet<String>) {
    let script = "sleep 300 & touch started; exec sleep 300";
    let mut link =
        command(folder, &["link", "--rate", "1Mbps", "--server", "exec sleep 300", "--", "sh", "-c", script]);
    let child = link.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the command starts", || folder.join("started").exists());
    // At each end a keeper, a first process and the command, and one in the background.
    wait_until("all processes run", || descendants(child.id()).len() == 7);
    let processes = descendants(child.id());
    let mut namespaces = namespaces(&processes);
    let own = fs::read_link("/proc/self/ns/net").unwrap().display().to_string();
    assert!(!namespaces.remove(&own), "no process at the ends is in the network of the caller");
    assert_eq!(namespaces.len(), 2);
    (child, processes, namespaces)
}

fn nothing_is_left(processes: &BTreeSet<u32>, expected: &BTreeSet<String>) {
    let runs = |number: &u32| {
        let state = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        state.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    };
    wait_until("all processes have ended", || !processes.iter().any(runs));
    let all =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    assert!(namespaces(&all.collect()).is_disjoint(expected), "a namespace is left");
}

#[test]
fn nothing_is_left_after_sigkill() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let (mut link, processes, namespaces) = long_link(folder.path());
    link.kill().unwrap();
    link.wait().unwrap();
    nothing_is_left(&processes, &namespaces);
}

#[test]
fn sigterm_ends_the_command_and_the_link() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let (mut link, processes, namespaces) = long_link(folder.path());
    let sent = std::process::Command::new("kill").arg(link.id().to_string()).status().unwrap();
    assert!(sent.success());
    // The command ends by the same signal, number 15.
    assert_eq!(link.wait().unwrap().code(), Some(128 + 15));
    nothing_is_left(&processes, &namespaces);
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_after_a_second() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let program = "trap '' TERM; touch ready; for n in $(seq 100); do sleep 0.1; done";
    let mut link =
        command(folder.path(), &["link", "--quiet", "--server", "sleep 60", "--", "sh", "-c", program]);
    let mut link = link.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the command runs", || folder.path().join("ready").exists());
    let sent = std::process::Command::new("kill").arg(link.id().to_string()).status().unwrap();
    assert!(sent.success());
    let mut ended = None;
    wait_until("the link has ended", || {
        ended = link.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().code(), Some(128 + 15));
}

#[test]
fn the_programs_at_both_ends_start_with_no_signal_blocked() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    // No shell in between, which would clear the mask of what it starts.
    let program =
        ["link", "--rate", "20Mbps", "--server", "true", "--", "grep", "SigBlk", "/proc/self/status"];
    assert_eq!(stdout(&millpond(folder.path(), &program)), "SigBlk:\t0000000000000000\n");
    let server = "exec grep SigBlk /proc/self/status > server";
    let waits = ["sh", "-c", "until test -s server; do sleep 0.02; done"];
    let options = [&["link", "--rate", "20Mbps", "--server", server, "--"][..], &waits].concat();
    assert!(millpond(folder.path(), &options).status.success());
    let written = fs::read_to_string(folder.path().join("server")).unwrap();
    assert_eq!(written, "SigBlk:\t0000000000000000\n");
}

#[test]
fn each_wrong_option_is_named_with_what_was_expected() {
    let folder = folder("");
    let error = |options: &[&str]| {
        error_of(folder.path(), &[&["link"], options, &["--server", "true", "--", "true"]].concat())
    };
    for (options, expected) in [
        (&["--rate", "fast"][..], &["--rate", "fast", "155Mbps"][..]),
        (&["--rate", "0bps"], &["--rate", "above zero"]),
        (&["--rate", "1000Tbps"], &["--rate", "up to \"100Tbps\""]),
        (&["--delay", "-5ms"], &["--delay", "-5ms"]),
        (&["--delay", "2h"], &["--delay", "to \"1h\""]),
        (&["--loss", "130%"], &["--loss", "from 0 to 1"]),
        (&["--buffer", "0B"], &["--buffer", "above zero"]),
        (&["--queue", "kodel"], &["--queue", "kodel", "did you mean \"codel\"?"]),
        (&["--down", "missing.down"], &["--down", "missing.down"]),
        (&["--down", "20"], &["--down", "no unit", "20Mbps"]),
        (&["--up", "20Mbit/s"], &["--up", "unknown unit \"Mbit/s\"", "did you mean \"20Mbps\"?"]),
        (&["--down", "trase.csv"], &["--down", "did you mean \"trace.csv\"?"]),
        (&["--set", "bufer=5ms"], &["--set", "bufer", "did you mean \"buffer\"?"]),
        (
            &["--queue", "codel", "--set", "queue.codel.traget=5ms"],
            &["--set", "traget", "did you mean \"target\"?"],
        ),
        (&["--set", "reorder"], &["--set", "reorder"]),
        (
            &["--queue", "pie", "--set", "queue.codel.target=10ms"],
            &["--set queue.codel.target replaces what --queue pie has set", "leave out one of them"],
        ),
        (
            &["--set", "queue=pie", "--set", "queue.codel.target=10ms"],
            &["--set queue.codel.target replaces what --set queue pie has set"],
        ),
        (&["--delay", "5ms", "--set", "delay=7ms"], &["--set delay replaces what --delay 5ms has set"]),
        (&["--down", "3Mbps", "--set", "rate=5Mbps"], &["--set rate replaces what --down 3Mbps has set"]),
    ] {
        let text = error(options);
        assert!(expected.iter().all(|part| text.contains(part)), "{options:?}: {text}");
    }
}

/// Runs a link as the user of the test without these capabilities.
fn without(capabilities: &str, link: &[&str]) -> String {
    let mut limited = std::process::Command::new("setpriv");
    limited.args(["--bounding-set", capabilities, env!("CARGO_BIN_EXE_millpond"), "link"]).args(link);
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn missing_privileges_are_named() {
    if !is_possible()
        || !fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
    {
        println!("skipped: only root has capabilities to give up");
        return;
    }
    let both_ends = ["--server", "true", "--", "true"];
    let namespace = without("-sys_admin", &both_ends);
    assert!(
        namespace.contains("cannot create a network namespace") && namespace.contains("CAP_SYS_ADMIN"),
        "{namespace}"
    );
    let device = without("-net_admin", &both_ends);
    assert!(
        device.contains("cannot set up the network namespace") && device.contains("CAP_NET_ADMIN"),
        "{device}"
    );
    let outside = without("-net_admin", &["--", "true"]);
    assert!(outside.contains("cannot create a TUN device") && outside.contains("--server"), "{outside}");
}

#[test]
fn a_command_that_cannot_run_is_named_and_leaves_no_file() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let error = |arguments: &[&str]| error_of(folder.path(), arguments);
    let outputs = ["link", "--server", "true", "--out", "link.json", "--pcap", "link.pcapng", "--"];
    let missing = error(&[&outputs[..], &["no-such-command"]].concat());
    assert!(missing.contains("cannot run \"no-such-command\": no such command"), "{missing}");
    let directory = error(&[&outputs[..], &["/etc"]].concat());
    assert!(directory.contains("cannot run \"/etc\": it is not executable"), "{directory}");
}

#[test]
fn an_older_capture_stays_if_the_command_cannot_run_and_is_replaced_when_it_runs() {
    if !is_possible() {
        return;
    }
    let folder = scripts(&[("link.pcapng", "older")]);
    let capture = folder.path().join("link.pcapng");
    let link = ["link", "--quiet", "--force", "--pcap", "link.pcapng", "--server", "true", "--"];
    let error = error_of(folder.path(), &[&link[..], &["no-such-command"]].concat());
    assert!(error.contains("cannot run \"no-such-command\""), "{error}");
    assert_eq!(fs::read_to_string(&capture).unwrap(), "older");
    // The capture has its name while the command runs, also if the emulator is killed then.
    let waits = "for _ in $(seq 1000); do grep -q older link.pcapng || exit 0; sleep 0.01; done; exit 1";
    let named = millpond(folder.path(), &[&link[..], &["sh", "-c", waits]].concat());
    assert!(named.status.success(), "{}", stderr(&named));
    assert_eq!(blocks(&fs::read(&capture).unwrap()).len(), 5, "a section and four interfaces");
}

#[test]
fn a_capture_that_cannot_be_written_is_named_and_only_a_regular_file_is_removed() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let full = folder.path().join("full.pcapng");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let link = ["link", "--force", "--pcap", "full.pcapng", "--server", "true", "--", "true"];
    let error = error_of(folder.path(), &link);
    assert!(error.contains("--pcap full.pcapng: No space left on device"), "{error}");
    assert!(full.is_symlink(), "the name of the device stays");
}

#[test]
fn a_direction_without_packets_and_limit_has_neither_delay_nor_used_share() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let link = ["link", "--down", "20Mbps", "--json", "--server", "true", "--", "true"];
    let output = millpond(folder.path(), &link);
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for direction in result["directions"].as_array().unwrap() {
        assert!(direction["queueing_ms"].is_null() && direction["lateness_us"].is_null(), "{direction}");
    }
    assert!(result["machine"]["lateness_us"].is_null(), "{result}");
    let [down, up] = [0, 1].map(|number| &result["directions"][number]);
    assert!(down["capacity_bps"].is_number() && down["utilization"] == 0.0, "{down}");
    assert!(up["capacity_bps"].is_null() && up["utilization"].is_null(), "{up}");
}

#[test]
fn the_capacity_of_a_slow_link_is_its_rate_however_short_the_command_is() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    let link = ["link", "--rate", "1bps", "--server", "true"];
    let json = millpond(folder.path(), &[&link[..], &["--json", "--", "true"]].concat());
    let result: Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(result["directions"][0]["capacity_bps"], 1.0, "{result}");
    let table = millpond(folder.path(), &[&link[..], &["--", "true"]].concat());
    assert!(stderr(&table).contains("0.0000010"), "{}", stderr(&table));
}

#[test]
fn packets_that_the_kernel_drops_while_devices_are_switched_on_are_not_lost_by_the_emulator() {
    if !is_possible() {
        return;
    }
    let folder = folder("");
    // Many links at once, because a device drops such packets on a busy machine: half of the links have some. They count only if the
    // kernel is so late that the command runs already.
    let link = ["link", "--json", "--server", "true", "--", "true"];
    let start = || command(folder.path(), &link).stdout(Stdio::piped()).spawn().unwrap();
    let links: Vec<Child> = (0..20).map(|_| start()).collect();
    let overruns = links.into_iter().map(|link| {
        let result: Value = serde_json::from_str(&stdout(&link.wait_with_output().unwrap())).unwrap();
        (0..2).filter_map(|number| result["directions"][number]["overrun"].as_u64()).sum::<u64>()
    });
    let with_overruns = overruns.filter(|packets| *packets > 0).count();
    assert!(with_overruns <= 2, "{with_overruns} of 20 links");
}

#[test]
fn results_in_another_form_are_alone_on_standard_output() {
    if !is_possible() {
        return;
    }
    let run = |form: &str, client: &str| {
        let folder = folder("");
        let server = "echo far; : > ready";
        let client = format!("until [ -e ready ]; do sleep 0.01; done; {client}");
        let link = ["link", "--rate", "20Mbps", form, "--server", server, "--", "sh", "-c", &client];
        let output = millpond(folder.path(), &link);
        assert!(output.status.success(), "{}", stderr(&output));
        output
    };
    for (form, begin) in
        [("--csv", "direction,capacity Mbit/s,"), ("--markdown", "| direction | capacity Mbit/s |")]
    {
        let output = run(form, "true");
        assert!(stdout(&output).starts_with(begin), "{}", stdout(&output));
        assert_eq!(stderr(&output), "far\n", "no second table");
    }
    // What both commands print is on standard error.
    let output = run("--json", "echo near; echo fault >&2");
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(result["exit_code"], 0);
    let mut lines: Vec<String> = stderr(&output).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["far", "fault", "near"]);
}
