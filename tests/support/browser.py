"""A headless Chromium, driven by the DevTools protocol."""

import base64
import contextlib
import itertools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from interrupted import until

try:
    import websocket
except ImportError:
    websocket = None

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(PROGRAM is None or websocket is None,
                                   reason="SKIPPED: chromium or python3-websocket is not installed")
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--hide-scrollbars", "--disable-component-update", "--remote-debugging-port=0"]
PATIENCE = 30  # s
PHONE = (390, 844)


class Browser:
    """One process for many pages, ended by the `with`."""

    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="eventloom-browser-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen([PROGRAM, *OPTIONS, f"--user-data-dir={self._profile.name}"],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._numbers = itertools.count(1)
        self._answers = {}
        self._pages = {}
        port, path = until(self._address, "a browser that listens", PATIENCE).split()
        self._socket = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=PATIENCE, suppress_origin=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._profile.cleanup()

    def _address(self):
        with contextlib.suppress(OSError):
            words = (Path(self._profile.name) / "DevToolsActivePort").read_text()
            return words if len(words.split()) == 2 else None

    def call(self, method, session=None, **parameters):
        """The result of one method of the protocol; events that arrive earlier go to their pages."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while number not in self._answers:
            self._take(json.loads(self._socket.recv()))
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer.get('error')}"
        return answer["result"]

    def _take(self, message):
        """A page may make its own calls meanwhile."""
        if "id" in message:
            self._answers[message["id"]] = message
        elif message.get("sessionId") in self._pages:
            self._pages[message["sessionId"]].heard(message)

    @contextlib.contextmanager
    def page(self, url, size=(1280, 900), scheme="light"):
        """A separate page that shares no state with others. At its end it must have had no errors and contacted only
        its server."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(lambda method, **words: self.call(method, session, **words))
        try:
            page.open(str(url), size, scheme)
            yield page
            page.assert_clean()
        finally:
            del self._pages[session]
            self.call("Target.disposeBrowserContext", browserContextId=context)


class Page:
    """Actions of a user on a page, and what the user sees."""

    def __init__(self, call):
        self._call = call
        self.errors, self.requests, self.refused = [], [], []
        self.consents = []  # questions asked by the page, each answered with yes

    def open(self, url, size, scheme):
        self.url = url
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.resize(*size)
        self.prefer(scheme)
        self._call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def heard(self, event):
        method, about = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            self.errors.append(about["exceptionDetails"].get("exception", {}).get("description", str(about)))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
            self.errors.append(str(about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            (self.refused if about["entry"]["source"] == "network" else self.errors).append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.consents.append(about["message"])
            self._call("Page.handleJavaScriptDialog", accept=True)

    def assert_clean(self):
        """`refused`: requests refused by a server or the network, which the page reports, are not its errors."""
        assert self.errors == []
        assert all(url.startswith(self.url) for url in self.requests), self.requests

    def ask(self, script):
        """The value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{script}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def until(self, script, timeout=PATIENCE):
        """The value of an expression once it is true."""
        return until(lambda: self.ask(script), script, timeout, self.text)

    def markup(self):
        return self.ask("document.documentElement.outerHTML")

    def text(self, selector="body"):
        """The text as displayed; empty if it is not."""
        return self.ask(f"(document.querySelector({json.dumps(selector)}) || {{}}).innerText || ''").replace("\u202f", "")

    def until_text(self, selector, *words, timeout=PATIENCE):
        """The text of an element once it contains all the words."""
        def reported():
            found = self.text(selector)
            return found if all(word in found for word in words) else None
        return until(reported, f"{words} in {selector}", timeout, self.text)

    def _place(self, selector, share_x=0.5, share_y=0.5):
        """The position in the window of a point of an element, which is scrolled into view."""
        return self.ask(f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
                        "node.scrollIntoView({block: 'center'}); const box = node.getBoundingClientRect();"
                        f"return [box.x + box.width * {share_x}, box.y + box.height * {share_y}]; }})()")

    def _mouse(self, kind, place, **more):
        self._call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", **more)

    def click(self, selector, times=1):
        """Clicks in the middle of an element with the mouse."""
        place = self._place(selector)
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self._mouse(kind, place, clickCount=count)

    @contextlib.contextmanager
    def drag(self, selector, begin, end):
        """Drags over an element, between two points (x, y) in shares of its size. The button is released when the
        `with` ends."""
        self._mouse("mousePressed", self._place(selector, *begin), clickCount=1)
        self._mouse("mouseMoved", self._place(selector, *end), buttons=1)
        yield
        self._mouse("mouseReleased", self._place(selector, *end), clickCount=1)

    def choose(self, selector, words):
        """Chooses one of the options of a list."""
        self.ask(f"(() => {{ const list = document.querySelector({json.dumps(selector)});"
                 f"list.selectedIndex = [...list.options].findIndex((option) => option.text === {json.dumps(words)});"
                 "list.dispatchEvent(new Event('change')); })()")

    def type(self, words):
        self._call("Input.insertText", text=words)

    def press(self, key):
        """Presses Tab, Enter or a letter."""
        code = {"Tab": 9, "Enter": 13}.get(key, ord(key[0].upper()))
        text = {"Tab": "", "Enter": "\r"}.get(key, key)
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def resize(self, width, height):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                   mobile=width <= PHONE[0])

    def prefer(self, scheme):
        """Sets the preferred color scheme, light or dark."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        """Saves the whole page as PNG."""
        found = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def printed(self):
        """The page printed as PDF."""
        return base64.b64decode(self._call("Page.printToPDF", preferCSSPageSize=True)["data"])
