//! Headless Chromium, controlled through its debugging pipe: JSON messages, each ended by a zero byte.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// The message if there is no Chromium.
const HOW_TO_INSTALL: &str = "These tests need Chromium, and none was found. \
    Install it with `apt-get install chromium` (or `sh tests/install-chromium.sh`), \
    or set CHROMIUM to the path of a Chromium or Chrome.";

/// The longest time for one answer.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Browser {
    process: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// Events of the page, in the order of arrival.
    pub(crate) events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium with an empty profile.
    pub(crate) fn start() -> Self {
        let program = chromium().unwrap_or_else(|| panic!("{HOW_TO_INSTALL}"));
        let profile = tempfile::tempdir().unwrap();
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<&0 4>&1 >/dev/null 2>&1 </dev/null"#, "sh"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = process.stdin.take().unwrap();
        let answers = read_messages(process.stdout.take().unwrap());
        let mut browser =
            Self { process, requests, answers, session: None, last_id: 0, events: vec![], _profile: profile };
        browser.open_tab();
        browser
    }

    fn open_tab(&mut self) {
        let target = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.ask("Target.attachToTarget", attach);
        self.session = Some(attached["sessionId"].as_str().unwrap().into());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.ask(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Sets the width in pixels, the colour scheme (`light` or `dark`) and the medium (`screen` or `print`).
    pub(crate) fn set_view(&mut self, width: u32, scheme: &str, media: &str) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "media": media, "features": features }));
    }

    /// Opens a file and waits until it is loaded and painted. Earlier events are dropped.
    pub(crate) fn open(&mut self, page: &Path) {
        self.open_address(&format!("file://{}", page.display()));
    }

    /// Opens an address and waits until it is loaded and painted. Earlier events are dropped.
    pub(crate) fn open_address(&mut self, address: &str) {
        self.events.clear();
        self.ask("Page.navigate", json!({ "url": address }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))",
        );
    }

    /// The value of an expression on the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let question = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", question);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key with this name.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let code = if key == "ArrowRight" { 39 } else { 0 };
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// Errors on the console, uncaught exceptions, and errors that the browser itself reports.
    pub(crate) fn errors(&self) -> Vec<String> {
        let error = |event: &Value| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" => Some(params["args"].to_string()),
                "Log.entryAdded" if params["entry"]["level"] == "error" => Some(params["entry"].to_string()),
                _ => None,
            }
        };
        self.events.iter().filter_map(error).collect()
    }

    /// Addresses that the page requested, blocked or not; without the page itself.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let addresses = requests.filter_map(|event| event["params"]["request"]["url"].as_str());
        addresses.filter(|address| !address.starts_with("data:")).skip(1).map(String::from).collect()
    }

    /// The whole page as PNG, in base64.
    pub(crate) fn screenshot(&mut self) -> String {
        let picture = self.ask("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
        picture["data"].as_str().unwrap().into()
    }

    /// Calls a method of the DevTools protocol and returns its result.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == self.last_id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn next(&mut self) -> Value {
        self.answers.recv_timeout(TIMEOUT).expect("Chromium does not answer")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// `$CHROMIUM`, or the first of the usual names on the path.
fn chromium() -> Option<OsString> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named);
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    paths.into_iter().find(|path| path.is_file()).map(OsString::from)
}

fn read_messages(answers: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(answers).split(0).map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice(&message) else { break };
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    receiver
}
