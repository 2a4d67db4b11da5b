//! Real input in the browser: moves and buttons of the mouse, and keys.

use super::browser::Browser;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The longest time until the page shows what a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

impl Browser {
    /// Waits until an expression holds on the page.
    pub(crate) fn wait_until(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.holds(expression) {
            assert!(Instant::now() < end, "never true: {expression}\n{}", self.state_of_page());
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    /// Whether an expression of JavaScript is true on the page.
    pub(crate) fn holds(&mut self, expression: &str) -> bool {
        self.evaluate(&format!("Boolean({expression})")).as_bool().unwrap()
    }

    /// What the page says, for messages of tests that fail.
    fn state_of_page(&mut self) -> String {
        let script = "document.getElementById('step-title')?.textContent + ' | ' + document.getElementById('sentence').textContent + ' | ' \
                      + document.getElementById('run-faults').textContent + ' | ' + document.getElementById('faults').textContent + ' | ' + document.getElementById('source').value";
        format!("{} {:?}", self.evaluate(script).as_str().unwrap_or_default(), self.errors())
    }

    /// The middle of an element, scrolled into view.
    pub(crate) fn middle_of(&mut self, selector: &str) -> (f64, f64) {
        let script = format!(
            "(() => {{ const found = document.querySelector({selector:?}); found.scrollIntoView({{ block: 'center' }}); \
             const box = found.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
        );
        let place = self.evaluate(&script);
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    /// Presses and releases the left button in the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.middle_of(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, place);
        }
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let buttons = i32::from(kind != "mouseReleased");
        let event =
            json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        self.ask("Input.dispatchMouseEvent", event);
    }

    /// Drags a slider with the mouse until its value is the closest to `value`, as a reader does: by halves.
    pub(crate) fn drag_slider(&mut self, selector: &str, value: f64) {
        let (_, y) = self.middle_of(selector);
        let script = format!(
            "(() => {{ const box = document.querySelector({selector:?}).getBoundingClientRect(); return [box.left, box.right]; }})()"
        );
        let ends = self.evaluate(&script);
        let (mut low, mut high) = (ends[0].as_f64().unwrap() + 8.0, ends[1].as_f64().unwrap() - 8.0);
        let thumb = format!(
            "(() => {{ const slider = document.querySelector({selector:?}); return Number(slider.value) / Number(slider.max); }})()"
        );
        let share = self.evaluate(&thumb).as_f64().unwrap();
        self.mouse("mousePressed", (low + share * (high - low), y));
        for _ in 0..9 {
            let middle = f64::midpoint(low, high);
            self.mouse("mouseMoved", (middle, y));
            if self.value_of_slider(selector) < value { low = middle } else { high = middle }
        }
        self.mouse("mouseMoved", (high, y));
        self.mouse("mouseReleased", (high, y));
    }

    /// The number that a slider shows.
    pub(crate) fn value_of_slider(&mut self, selector: &str) -> f64 {
        let script =
            format!("parseFloat(document.querySelector({selector:?}).getAttribute('aria-valuetext'))");
        self.evaluate(&script).as_f64().unwrap()
    }

    /// Presses and releases a key. `code` is its number in the DevTools protocol; `modifiers`: 2 is Ctrl.
    pub(crate) fn key(&mut self, key: &str, code: u32, modifiers: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// Types a text into the element that has the focus.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// Selects an option of a list by its value, with the events of a reader's choice.
    pub(crate) fn choose(&mut self, selector: &str, value: &str) {
        let script = format!(
            "(() => {{ const list = document.querySelector({selector:?}); list.focus(); list.value = {value:?}; \
             list.dispatchEvent(new Event('input', {{ bubbles: true }})); list.dispatchEvent(new Event('change', {{ bubbles: true }})); return list.value; }})()"
        );
        assert_eq!(self.evaluate(&script), value, "{selector}");
    }

    /// Requests that failed or got an error status, and those to other hosts. Requests that the page itself aborted do not count.
    pub(crate) fn failed_requests(&self, origin: &str) -> Vec<String> {
        let failed = self.events.iter().filter_map(|event| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Network.loadingFailed" if params["canceled"] != true => Some(params.to_string()),
                "Network.responseReceived" => {
                    let response = &params["response"];
                    let status = response["status"].as_f64().unwrap_or_default();
                    (status >= 400.0).then(|| format!("{status} {}", response["url"]))
                }
                _ => None,
            }
        });
        let foreign = self.requests().into_iter().filter(|address| !address.starts_with(origin));
        failed.chain(foreign.map(|address| format!("foreign request {address}"))).collect()
    }

    /// Faults that a script finds, as texts.
    pub(crate) fn list(&mut self, script: &str) -> Vec<String> {
        let found: Value = self.evaluate(script);
        found.as_array().unwrap().iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
    }
}
