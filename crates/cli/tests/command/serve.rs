//! `millpond serve` over HTTP: access, invalid requests, files, limits, closed connections, several users.

use crate::common::{VALID, command, folder, millpond, stdout};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A running server; it ends when it is dropped.
struct Server {
    process: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Status, head and body of an answer.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The lines of the answer to a run.
    fn lines(&self) -> Vec<Value> {
        self.body.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut process =
            command(folder, &["serve"]).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://127.0.0.1:").expect("an address");
        let (port, token) = address.split_once("/?token=").expect("a token");
        Self { port: port.parse().expect("a port"), token: token.to_owned(), process }
    }

    /// Sends a request with these head lines.
    fn send(&self, line: &str, head: &[String], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let mut request =
            format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for one in head {
            write!(request, "{one}\r\n").expect("a string");
        }
        // A server may refuse a long body before all of it is sent.
        let _ = stream.write_all(format!("{request}\r\n{body}").as_bytes());
        stream
    }

    fn ask(&self, line: &str, head: &[String], body: &str) -> Answer {
        let mut stream = self.send(line, head, body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let body = if is_chunked { joined(body) } else { body.to_owned() };
        Answer { status, head: head.to_owned(), body }
    }

    /// The head lines of a request of the page.
    fn allowed(&self) -> [String; 2] {
        [format!("Host: 127.0.0.1:{}", self.port), format!("X-Millpond-Token: {}", self.token)]
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(&format!("POST {path}"), &self.allowed(), &body.to_string())
    }

    /// The connection of a run in packets.
    fn begin(&self, text: &str, overrides: &[&str]) -> TcpStream {
        let body = json!({ "text": text, "overrides": overrides, "worlds": ["packets"], "width": 400 });
        self.send("POST /api/run", &self.allowed(), &body.to_string())
    }

    fn check(&self, text: &str, overrides: &[&str]) -> Value {
        self.post("/api/check", &json!({ "text": text, "overrides": overrides })).json()
    }

    /// The processes that the server has started and that it has not waited for.
    fn jobs(&self) -> Vec<u32> {
        let entries = std::fs::read_dir("/proc").expect("processes").flatten();
        let child = |entry: std::fs::DirEntry| {
            let process: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let (_, fields) = stat.rsplit_once(')')?;
            let parent: u32 = fields.split_whitespace().nth(1)?.parse().ok()?;
            (parent == self.process.id()).then_some(process)
        };
        entries.filter_map(child).collect()
    }
}

/// The chunks of a body.
fn joined(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("the size of a chunk");
        let Some(chunk) = after.get(..size).filter(|_| size > 0) else { break };
        whole.push_str(chunk);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// Waits until `ready`; returns how long that took, at most ten seconds.
#[allow(clippy::disallowed_methods, reason = "processes are timed by the wall clock")]
fn time_until(ready: impl Fn() -> bool) -> Duration {
    let begin = Instant::now();
    while !ready() && begin.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    begin.elapsed()
}

/// A scenario that needs no file and runs for long.
const LONG: &str = r#"title = "Long"
duration = "20000s"
measure = { every = "10s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "5ms"
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B"]
"#;

#[test]
fn only_a_page_with_the_token_under_an_own_name_has_an_answer() {
    let folder = folder(VALID);
    let server = Server::start(folder.path());
    let [host, token] = server.allowed();
    let status = |line: &str, head: &[String]| server.ask(line, head, "").status;
    for line in
        ["GET /api/catalogue", "GET /api/readings", "POST /api/check", "POST /api/run", "GET /api/none"]
    {
        assert_eq!(status(line, std::slice::from_ref(&host)), 403, "{line}");
    }
    let wrong = "X-Millpond-Token: 00000000000000000000000000000000".to_owned();
    assert_eq!(status("GET /api/catalogue", &[host.clone(), wrong]), 403);
    for other in ["evil.example", "127.0.0.1", "127.0.0.1:1"].map(|name| format!("Host: {name}")) {
        assert_eq!(status("GET /api/catalogue", &[other.clone(), token.clone()]), 403, "{other}");
        assert_eq!(status("GET /assets/chart.js", &[other]), 403);
    }
    let local = format!("Host: localhost:{}", server.port);
    assert_eq!(status("GET /api/catalogue", &[local, token.clone()]), 200);
    // The page is public, and the token in its address is for the page alone.
    assert_eq!(status("GET /", std::slice::from_ref(&host)), 200);
    let data = format!("GET /api/catalogue?token={}", server.token);
    assert_eq!(status(&data, std::slice::from_ref(&host)), 403);
    let asset = server.ask("GET /assets/chart.js", &[host], "");
    assert_eq!(asset.status, 200);
    let head = asset.head.to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'self'"), "{head}");
    assert!(!head.contains("access-control-"), "{head}");
    assert_eq!(server.ask("GET /assets/../Cargo.toml", &server.allowed(), "").status, 404);
    let recipe = server.ask("GET /papers/lgcc/fig12.toml", std::slice::from_ref(&server.allowed()[0]), "");
    assert_eq!(recipe.body, include_str!("../../../../papers/lgcc/fig12.toml"));
    for file in
        ["lgcc/fig12", "lgcc/none.toml", "lgcc/..%2Fxcp%2Ftable1.toml", "../Cargo.toml", "lgcc/readings.csv"]
    {
        assert_eq!(status(&format!("GET /papers/{file}"), &server.allowed()), 404, "{file}");
    }
}

#[test]
fn the_catalogue_has_own_scenarios_first_and_every_protocol() {
    let folder = folder(VALID);
    std::fs::write(folder.path().join("other.toml"), "[package]\nname = \"no scenario\"\n").unwrap();
    let server = Server::start(folder.path());
    let catalogue = server.ask("GET /api/catalogue", &server.allowed(), "").json();
    let scenarios = catalogue["scenarios"].as_array().unwrap();
    assert_eq!((&scenarios[0]["name"], &scenarios[0]["title"]), (&json!("scenario"), &json!("Two hops")));
    assert_eq!((&scenarios[0]["own"], &scenarios[1]["own"]), (&json!(true), &json!(false)));
    let listed = serde_json::from_str::<Value>(&stdout(&millpond(folder.path(), &["protocols", "--json"])));
    let names = |value: &Value| -> Vec<Value> {
        value.as_array().unwrap().iter().map(|one| one["name"].clone()).collect()
    };
    let listed = listed.unwrap();
    assert_eq!(names(&catalogue["protocols"]), names(&listed["protocols"]));
    assert_eq!(names(&catalogue["queues"]), names(&listed["queues"]));
    assert_eq!(catalogue["schema"]["title"], "A Millpond scenario");
    // Every shipped scenario is valid in any folder.
    for scenario in scenarios {
        let checked = server.check(scenario["text"].as_str().unwrap(), &[]);
        assert_eq!(checked["faults"], json!([]), "{}", scenario["name"]);
        assert!(checked["drawing"].as_str().unwrap().starts_with("<svg"), "{}", scenario["name"]);
    }
}

#[test]
fn invalid_requests_are_faults_and_the_server_goes_on() {
    let folder = folder(VALID);
    let server = Server::start(folder.path());
    let post = |body: &str| server.ask("POST /api/run", &server.allowed(), body);
    for body in ["", "{", "[]", "{}", "\u{feff}", r#"{"text": 1, "worlds": []}"#] {
        let answer = post(body);
        assert_eq!(answer.status, 400, "{body}");
        assert!(
            answer.json()["faults"][0]["message"].as_str().unwrap().starts_with("the request is not valid")
        );
    }
    let unknown = [r#"{"text": "", "worlds": ["live"]}"#, r#"{"text": "", "worlds": [], "wirdth": 1}"#];
    assert!(unknown.iter().all(|body| post(body).status == 400));
    assert_eq!(post(&"x".repeat((256 << 10) + 1)).status, 413);
    let many = json!({ "text": "", "overrides": vec!["a=1"; 501], "worlds": ["packets"] });
    assert!(post(&many.to_string()).body.contains("the limit is 500"));
    assert_eq!(server.ask("GET /api/run", &server.allowed(), "").status, 405);
    assert_eq!(server.ask("GET /none", &server.allowed(), "").status, 404);
    // Deep nesting, in the request and in the text.
    assert_eq!(post(&"[".repeat(200_000)).status, 400);
    let nested = server.check(&format!("a = {}", "[".repeat(100_000)), &[]);
    assert!(!nested["faults"].as_array().unwrap().is_empty());
    // Places of faults.
    let fault = |text: &str, overrides: &[&str]| server.check(text, overrides)["faults"][0].clone();
    let spelt = fault(&VALID.replace("newreno", "newrno"), &[]);
    assert_eq!(
        (&spelt["source"], &spelt["line"], &spelt["column"]),
        (&json!("scenario"), &json!(15), &json!(12))
    );
    assert!(spelt["help"].as_str().unwrap().contains("newreno"), "{spelt}");
    assert_eq!(fault("title = ", &[])["line"], 1);
    let override_fault = fault(VALID, &["links.L1.rate=5parsec"]);
    assert_eq!((&override_fault["source"], &override_fault["column"]), (&json!("--set"), &json!(15)));
    assert_eq!(server.check(VALID, &[])["faults"], json!([]));
    // A run of an invalid scenario has one fault and an end.
    let run = server.post("/api/run", &json!({ "text": "title = ", "worlds": ["packets", "fluid"] })).lines();
    let kinds: Vec<&Value> = run.iter().map(|line| &line["kind"]).collect();
    assert_eq!(kinds, ["fault", "fault", "done"]);
}

#[test]
fn a_scenario_reads_no_file_outside_of_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let secret = "time_s,mbps\n0,5\n1,8\n";
    std::fs::write(outside.path().join("secret.csv"), secret).unwrap();
    std::fs::write(outside.path().join("secret.graphml"), "<graphml/>").unwrap();
    let folder = outside.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("trace.csv"), secret).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.csv"), folder.join("link.csv")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.csv")).unwrap();
    let server = Server::start(&folder);
    let traced = |file: &str| server.check(&VALID.replace("trace.csv", file), &[]);
    assert_eq!(traced("trace.csv")["faults"], json!([]));
    assert_eq!(traced("./trace.csv")["faults"], json!([]));
    let absolute = outside.path().join("secret.csv").display().to_string();
    let in_name = folder.canonicalize().unwrap().display().to_string();
    for file in
        ["../secret.csv", "../none.csv", &absolute, "link.csv", "zero.csv", "/dev/zero", "/proc/self/environ"]
    {
        let found = traced(file);
        let label = found["faults"][0]["label"].as_str().unwrap_or_else(|| panic!("{file}: {found}"));
        assert!(label.contains("reads only files in its folder") && label.contains(&in_name), "{label}");
        assert!(!found.to_string().contains("time_s"), "{found}");
    }
    let changed = server.check(VALID, &["links.L2.rate.trace.file=../secret.csv"]);
    assert!(changed["faults"][0]["label"].as_str().unwrap().contains("reads only files"), "{changed}");
    let graph = "duration = \"1s\"\n[topology]\ngraphml = \"../secret.graphml\"\nlink = { rate = \"1Mbps\", delay = \"1ms\" }\n[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\nfrom = \"A\"\nto = \"B\"\n";
    let graph = server.check(graph, &[]);
    assert!(graph["faults"][0]["label"].as_str().unwrap().contains("reads only files"), "{graph}");
    // A run and a notebook read no more than a check.
    let body = json!({ "text": VALID.replace("trace.csv", "../secret.csv"), "worlds": ["packets"] });
    let run = server.post("/api/run", &body).lines();
    assert_eq!(run[0]["kind"], "fault", "{run:?}");
}

#[test]
fn a_closed_connection_ends_its_run_within_a_second() {
    let folder = folder(VALID);
    let server = Server::start(folder.path());
    let connections: Vec<TcpStream> = (0..4).map(|_| server.begin(LONG, &[])).collect();
    assert!(time_until(|| !server.jobs().is_empty()) < Duration::from_secs(10));
    // A job limits itself before it reads its request.
    let is_limited = |job: &u32| {
        let limits = std::fs::read_to_string(format!("/proc/{job}/limits")).unwrap_or_default();
        let has = |name: &str, most: u64| {
            let rest = limits.lines().find_map(|line| line.strip_prefix(name));
            rest.and_then(|rest| rest.split_whitespace().next()) == Some(most.to_string().as_str())
        };
        has("Max data size", (1 << 30) + (256 << 20))
            && has("Max file size", 0)
            && has("Max core file size", 0)
    };
    let limited = time_until(|| server.jobs().iter().all(is_limited));
    assert!(limited < Duration::from_secs(10), "a job without limits");
    drop(connections);
    let took = time_until(|| server.jobs().is_empty());
    assert!(took < Duration::from_secs(1), "{took:?}");
    // Its place is free again.
    let run = server.post("/api/run", &json!({ "text": VALID, "worlds": ["packets"] })).lines();
    assert_eq!(run.last().unwrap()["kind"], "done");
}

#[test]
fn more_requests_than_may_wait_are_refused_until_some_have_gone() {
    let folder = folder(VALID);
    let server = Server::start(folder.path());
    let most = 32 + std::thread::available_parallelism().unwrap().get();
    let waiting: Vec<TcpStream> = (0..most).map(|_| server.begin(LONG, &[])).collect();
    let body = json!({ "text": LONG, "worlds": ["packets", "fluid"], "analysis": true });
    assert!(time_until(|| !server.jobs().is_empty()) < Duration::from_secs(10));
    let refused = server.post("/api/run", &body);
    assert_eq!(refused.status, 503);
    assert!(refused.head.to_lowercase().contains("retry-after: 1"), "{}", refused.head);
    assert!(refused.body.contains("32 jobs wait"), "{}", refused.body);
    // Checks do not wait for runs.
    assert_eq!(server.check(VALID, &[])["faults"], json!([]));
    drop(waiting);
    time_until(|| server.jobs().is_empty());
    let run = server.post("/api/run", &json!({ "text": VALID, "worlds": ["packets"] }));
    assert_eq!(run.status, 200);
}

#[test]
fn a_scenario_beyond_a_limit_is_a_fault_that_names_it() {
    let folder = folder(VALID);
    let server = Server::start(folder.path());
    let flows = LONG.replace("[[flows]]", "[[flows]]\ncount = 1_000_000");
    let message = |answer: &Value| answer["faults"][0]["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(message(&server.check(&flows, &[])), "1000000 flows; the limit of the playground is 10000");
    let run = |change: &str, world: &str| {
        let body = json!({ "text": LONG, "overrides": [change], "worlds": [world] });
        let lines = server.post("/api/run", &body).lines();
        assert_eq!((&lines[0]["kind"], &lines[0]["world"]), (&json!("fault"), &json!(world)), "{lines:?}");
        message(&lines[0])
    };
    let most = "packet-hops; the limit of the playground is 200 million";
    assert!(run("links.L.rate=2Gbps", "packets").ends_with(most));
    assert!(
        run("measure.every=10ms", "fluid")
            .ends_with("samples of series; the limit of the playground is 20 million")
    );
}

/// Ten users at once have the same answers, and the numbers are those of `millpond run`.
#[test]
fn ten_users_at_once_have_the_figures_and_the_numbers_of_a_run() {
    let folder = folder(VALID);
    let server = Server::start(folder.path());
    let body = json!({ "text": VALID, "overrides": ["duration=4s", "seed=7"], "worlds": ["packets", "fluid"], "analysis": true });
    let answers: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let users: Vec<_> = (0..10).map(|_| scope.spawn(|| server.post("/api/run", &body).lines())).collect();
        users.into_iter().map(|user| user.join().unwrap()).collect()
    });
    let results = |lines: &[Value]| -> Vec<String> {
        // How often a beginning is drawn depends on the clock.
        let is_result = |line: &&Value| {
            ["figures", "analysis"].contains(&line["kind"].as_str().unwrap()) && line["until"].is_null()
        };
        let mut results: Vec<String> = lines.iter().filter(is_result).map(ToString::to_string).collect();
        results.sort();
        results
    };
    let first = results(&answers[0]);
    assert_eq!(first.len(), 3, "{:?}", answers[0]);
    for answer in &answers {
        assert_eq!(results(answer), first);
        assert_eq!(answer.last().unwrap()["kind"], "done");
    }
    let arguments = ["run", "scenario.toml", "--set", "duration=4s", "--seed", "7", "--json"];
    let run: Value = serde_json::from_str(&stdout(&millpond(folder.path(), &arguments))).unwrap();
    let packets = answers[0]
        .iter()
        .find(|line| line["kind"] == "figures" && line["world"] == "packets" && line["until"].is_null());
    let facts = packets.unwrap()["facts"].as_array().unwrap();
    let fact = |id: &str| {
        let found = facts.iter().find(|fact| fact["id"] == id);
        found.unwrap_or_else(|| panic!("no {id}: {facts:?}"))["value"].as_f64().unwrap()
    };
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(fact("goodput.f"), number(&run["groups"][0]["goodput_bps"]["mean"]) / 1e6);
    assert_eq!(fact("delay.p95"), number(&run["queueing_ms"]["p95"]));
}

#[test]
fn a_text_with_its_overrides_and_a_notebook_are_made() {
    let folder = folder(VALID);
    let server = Server::start(folder.path());
    let edited =
        json!({ "text": VALID, "overrides": ["links.L1.rate=5Mbps", "protocols.lgcc.params.phi1=12"] });
    let text = server.post("/api/apply", &edited).json()["text"].as_str().unwrap().to_owned();
    assert_eq!(text, VALID.replace("\"10Mbps\"", "\"5Mbps\"").replace("phi1 = 10", "phi1 = 12"));
    let notebook = server.post("/api/notebook", &edited).json();
    assert_eq!((&notebook["nbformat"], &notebook["cells"][0]["cell_type"]), (&json!(4), &json!("markdown")));
    let wrong =
        server.post("/api/apply", &json!({ "text": VALID, "overrides": ["links.L9.rate=5Mbps"] })).json();
    assert!(wrong["faults"][0]["message"].as_str().unwrap().contains("L9"), "{wrong}");
}

#[test]
fn a_folder_that_does_not_exist_and_a_port_in_use_are_errors() {
    let folder = folder(VALID);
    let error = |arguments: &[&str]| crate::common::error_of(folder.path(), arguments);
    assert!(error(&["serve", "none"]).starts_with("error: none: "));
    assert!(error(&["serve", "trace.csv"]).contains("is not a folder"));
    let server = Server::start(folder.path());
    assert!(error(&["serve", "--port", &server.port.to_string()]).contains("cannot listen on 127.0.0.1:"));
}

#[test]
fn an_interrupted_server_ends_with_its_runs() {
    let folder = folder(VALID);
    let mut server = Server::start(folder.path());
    let _run = server.begin(LONG, &[]);
    assert!(time_until(|| !server.jobs().is_empty()) < Duration::from_secs(10));
    let pid = server.process.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    assert!(server.process.wait().unwrap().success());
}
