"""Long sessions of pytest in ctest, which shows nothing of one before its end, and repeats only the whole."""

import collections
import os
import time


class Progress:
    """Adds lines to a file: each file of tests that has ended, and each failure at once."""

    def __init__(self, path):
        self.path = path
        self.left = collections.Counter()
        self.seconds = collections.Counter()
        self.failed = collections.Counter()

    def say(self, *lines):
        with self.path.open("a") as file:
            file.write("".join(f"{time.strftime('%H:%M:%S')} {line}\n" for line in lines))

    def pytest_xdist_node_collection_finished(self, ids):
        if not self.left:
            self.left.update(name.partition("::")[0] for name in ids)

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.partition("::")[0]
        self.seconds[name] += report.duration
        if report.failed:
            self.failed[name] += 1
            self.say(f"FAILED {report.nodeid}, {report.when}", *report.longreprtext.splitlines())

    def pytest_runtest_logfinish(self, nodeid):
        name = nodeid.partition("::")[0]
        self.left[name] -= 1
        if self.left[name] == 0:
            failed = f", {self.failed[name]} FAILED" if self.failed[name] else ""
            others = sum(left > 0 for left in self.left.values())
            self.say(f"{name}: {self.seconds[name]:.1f} s{failed}; {others} files to go")


class Again:
    """A session that the same ctest starts again (--repeat) runs only the tests that failed in the first one."""

    def __init__(self, path):
        self.path, self.caller, self.failed = path, str(os.getppid()), {}
        before = path.read_text().splitlines() if path.exists() else []
        self.names = before[1:] if before[:1] == [self.caller] else []

    def pytest_configure_node(self, node):
        node.workerinput["again"] = self.names

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed[report.nodeid] = True

    def pytest_sessionfinish(self, exitstatus):
        self.path.unlink(missing_ok=True)
        if exitstatus == 1:  # not after errors and interruptions, where tests were left out
            self.path.write_text("\n".join([self.caller, *self.failed]) + "\n")
