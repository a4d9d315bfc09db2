"""Runs with --monitor, and their viewers."""

import contextlib
import http.client
import json
import os
import re
import subprocess
from pathlib import Path

from interrupted import Started, until
from program import BINARY, environment

HOST = "127.0.0.1"


class PlainRun(Started):
    """`eventloom run` in a separate folder."""

    def __init__(self, folder, uris, *options, np=None):
        words = [word for uri in uris for word in ("--source", uri)]
        super().__init__(folder, "run", *words, *options, "--output", "run.h5", "--report-json", "report.json", np=np)

    def threads(self):
        """Threads of rank 0."""
        return len(list(Path(f"/proc/{self.ranks()[0]}/task").iterdir()))

    def listeners(self):
        """Ports on which rank 0 listens at 127.0.0.1."""
        folder = Path(f"/proc/{self.ranks()[0]}")
        mine = {os.readlink(fd) for fd in (folder / "fd").iterdir() if fd.is_symlink()}
        rows = [line.split() for line in (folder / "net" / "tcp").read_text().splitlines()[1:]]
        return [row[1] for row in rows if row[3] == "0A" and row[1].startswith("0100007F") and f"socket:[{row[9]}]" in mine]


class Monitored(PlainRun):
    """A run with --monitor 0."""

    def __init__(self, folder, uris, *options, np=None):
        super().__init__(folder, uris, *options, "--monitor", "0", np=np)
        self.url, self.port, self.token = None, None, None

    def listening(self):
        """Returns itself, once it has printed its address."""
        line = self.until_reported("monitor: http://")
        found = re.search(r"^eventloom: info: monitor: (http://127\.0\.0\.1:(\d+)/)(?:; token to steer the run: ([0-9a-f]{32}))?$", line.strip())
        assert found, line
        self.url, self.port, self.token = found[1], int(found[2]), found[3]
        return self

    def held(self):
        """Returns itself, listening and paused. The run must be slow enough not to end first."""
        assert self.listening().control("pause")[0] == 202
        self.until_status(lambda s: s["state"] == "paused", "a pause")
        return self

    def proceed(self, speed=0):
        """Resumes a held run at this speed; it began slowly so that it could be held before its end."""
        assert self.control("speed", speed=speed)[0] == 202 and self.control("resume")[0] == 202

    @contextlib.contextmanager
    def watched(self):
        """`eventloom top`, once it has shown the run."""
        with subprocess.Popen([BINARY, "top", self.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as top:
            try:
                until(lambda: "source" in top.stdout.readline(), "what top says")
                yield top
            finally:
                top.kill()

    def ask(self, path, method="GET", body=None, headers=()):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=dict(headers))
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def status(self, headers=()):
        code, headers, body = self.ask("/status", headers=headers)
        assert code == 200 and headers["Content-Type"] == "application/json"
        return json.loads(body)

    def until_status(self, condition, what, timeout=60, headers=()):
        """The first status of which the condition holds."""
        last = {}

        def holds():
            last.update(self.status(headers))
            return condition(last)
        until(holds, what, timeout, so_far=lambda: f"{json.dumps(last)[:2000]}\n{self.text()}")
        return last

    def until_all_reported(self):
        """The first status in which each rank has reported on its sources."""
        return self.until_status(lambda s: s["sources"] and all(source["state"] != "waiting" for source in s["sources"]), "all ranks")

    def control(self, command, speed=None, **changes):
        """Status and answer of a command with the right token, except where `changes` replaces headers."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"} | changes
        asked = {"command": command} | ({} if speed is None else {"speed": speed})
        code, _, body = self.ask("/control", "POST", json.dumps(asked),
                                 {name.replace("_", "-"): value for name, value in headers.items() if value is not None})
        return code, json.loads(body)

    def report(self):
        return json.loads((self.folder / "report.json").read_text())

    def wait(self, code, timeout=60):
        """Like Started.wait(), but sees the end of the run, which waits up to five seconds for viewers that have
        not."""
        def over():
            if self.process.poll() is not None or self.port is None:
                return True
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, _, body = self.ask("/status")
                return status == 200 and json.loads(body)["state"] == "ended"
        until(over, "the end of the run", timeout, self.text)
        return super().wait(code, timeout)

    def last_status(self, timeout=60):
        """Looks until the run has ended, and returns its last status."""
        return self.until_status(lambda s: s["state"] == "ended", "the end of the run", timeout)
