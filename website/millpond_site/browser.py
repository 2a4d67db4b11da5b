"""Headless Chromium, controlled by the DevTools protocol over pipes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)

#: Messages of these methods are errors of a page.
ERRORS = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")


def chromium() -> str:
    """The path of Chromium: `$CHROMIUM`, or the first of the usual names."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome")
    for name in names:
        if name and (path := shutil.which(name)):
            return path
    raise FileNotFoundError("Chromium is not installed: run tests/install-chromium.sh")


class Browser:
    """A browser with one page. Use it in a `with` statement."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Chromium reads its commands from descriptor 3 and answers on descriptor 4.
        shell = ["sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1', chromium()]
        self.process = subprocess.Popen(
            [*shell, *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.number = 0
        self.session: str | None = None
        #: Messages that are no answers, in the order of their arrival.
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method and returns its result."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def open(self, page: Path, width: int, scheme: str = "light", query: str = "") -> list[str]:
        """Opens a page at this width and colour scheme, waits until it is loaded, and returns its errors."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=page.resolve().as_uri() + query)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())
        self.call("Runtime.evaluate", expression="0")
        return [json.dumps(event["params"])[:300] for event in self.events if is_error(event)]

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        parts = bytearray()
        while (byte := self.process.stdout.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("Chromium has ended")
            parts += byte
        message: dict[str, Any] = json.loads(parts)
        return message


def is_error(event: dict[str, Any]) -> bool:
    """Whether an event reports an error of the page."""
    if event.get("method") not in ERRORS:
        return False
    parameters = event["params"]
    return "exceptionDetails" in parameters or "error" in (
        parameters.get("entry", {}).get("level"),
        parameters.get("type"),
    )
