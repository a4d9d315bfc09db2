"""`--realtime` of run and bench: the report equals what the system states about the working ranks; one line states what
it refuses."""

import json
import os
import shutil
import subprocess
import time

import pytest

from program import BINARY, bounded, environment, eventloom

CORES = len(os.sched_getaffinity(0))
SCHED_FIFO = 1
UNPRIVILEGED = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all")


def may_drop_rights():
    return os.geteuid() == 0 and shutil.which("setpriv")


def without_rights(command, limits=("--memlock=65536:65536", "--rtprio=0:0")):
    """Runs a command as root without capabilities and with small limits."""
    return ["prlimit", *limits, *UNPRIVILEGED, *command]


def mpirun(np, *words):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(np), BINARY, *map(str, words)]


def long_bench(*more):
    return ("bench", "clocks", "--sync", "0s", "--duration", "1h", "--repeat", "1", "--realtime", *more)


def ranks_below(pid):
    """The processes of the program that this process has started."""
    listed = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return sorted(int(line.split()[0]) for line in listed.splitlines() if "eventloom" in line)


def state_of(pid):
    """State of the main thread, from /proc: locked memory in KiB, policy, allowed CPUs."""
    status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status").read().splitlines() if ":\t" in line)
    policy = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[38])
    return int(status["VmLck"].split()[0]), policy, status["Cpus_allowed_list"].strip()


def watch(np, until):
    """Starts ranks that work until they are stopped; returns the first states for which `until` holds, or the last."""
    with subprocess.Popen(mpirun(np, *long_bench()), env=environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as started:
        states = []
        deadline = time.monotonic() + 30
        try:
            while time.monotonic() < deadline:
                ranks = ranks_below(started.pid)
                try:
                    states = [state_of(rank) for rank in ranks]
                except (FileNotFoundError, ProcessLookupError):
                    continue
                if len(states) == np and until(states):
                    break
                time.sleep(0.05)
        finally:
            started.terminate()
        return states, started.communicate(timeout=30)[1]


def report_of(folder, np, *words):
    file = folder / "bench.json"
    command = mpirun(np, "bench", "scan", "--what", "containers", "--hits", 100, "--realtime", "--report-json", file)
    done = bounded([*words, *command], env=environment(), timeout=60)
    return json.loads(file.read_text())["setup"], done


@pytest.mark.skipif(CORES < 2, reason="SKIPPED: one core: two ranks share it")
def test_the_system_agrees(tmp_path):
    setup, _ = report_of(tmp_path, 2)
    said = setup["realtime"]
    states, _ = watch(2, lambda states: all(
        (locked > 0) == one["memory_locked"] and (policy == SCHED_FIFO) == one["fifo"] and cpus == one["cpus"]
        for (locked, policy, cpus), one in zip(sorted(states, key=lambda s: s[2]), sorted(said, key=lambda o: o["cpus"]))))
    found = sorted((locked > 0, policy == SCHED_FIFO, cpus) for locked, policy, cpus in states)
    assert found == sorted((one["memory_locked"], one["fifo"], one["cpus"]) for one in said)
    assert len({cpus for _, _, cpus in found}) == 2, "each rank has a core of its own"
    assert all(binding["one_core"] for binding in setup["binding"])


def test_more_ranks_than_cores_are_never_fifo(tmp_path):
    setup, done = report_of(tmp_path, CORES + 1)
    assert not any(one["fifo"] or one["cpus"] for one in setup["realtime"])
    line, = (line for line in done.stderr.splitlines() if "no SCHED_FIFO" in line)
    assert f"{CORES + 1} ranks poll on {CORES} core" in line and f"ranks 0-{CORES}" in line


@pytest.mark.skipif(not may_drop_rights(), reason="SKIPPED: only root can try what others may not")
class TestRefused:
    def test_each_refusal_is_a_line(self, tmp_path):
        setup, done = report_of(tmp_path, 2, *without_rights([]))
        assert not any(one["memory_locked"] or one["fifo"] for one in setup["realtime"])
        lines = [line for line in done.stderr.splitlines() if "--realtime" in line]
        memory, fifo = lines[:2]
        assert "memory is not locked (ranks 0-1)" in memory and "64 KiB" in memory and "ulimit -l" in memory
        assert "no SCHED_FIFO (ranks 0-1)" in fifo and ("rtprio" in fifo or "poll on" in fifo)

    def test_nothing_at_all_is_a_mistake(self):
        """Several ranks on a core, without binding or any other setting."""
        core = str(min(os.sched_getaffinity(0)))
        words = mpirun(CORES + 1, "bench", "scan", "--what", "containers", "--hits", 100, "--realtime")
        done = bounded(without_rights(words), env=environment(), timeout=60, code=2)
        assert sum("allows none of its steps" in line for line in done.stderr.splitlines()) == 1, (core, done.stderr)

    def test_doctor_says_how_to_allow_it(self, tmp_path):
        done = bounded(without_rights([BINARY, "doctor", "--json", "--output", str(tmp_path)]), env=environment(),
                       timeout=60, code=None)
        finding, = (f for f in json.loads(done.stdout)["findings"] if f["subject"] == "real time")
        assert finding["level"] == "note" and "memlock unlimited" in finding["mend"] and "rtprio 1" in finding["mend"]


class TestRun:
    def run(self, folder, *words):
        eventloom("run", "--source", "gen:poisson?rate=1e6&duration=50ms&seed=3", "--define", "gap:100ns,2", "--output",
                  folder / "run.h5", "--report-json", folder / "run.json", *words, np=2)
        return json.loads((folder / "run.json").read_text())

    def test_report_and_result(self, tmp_path):
        plain, timely = tmp_path / "plain", tmp_path / "timely"
        for folder in (plain, timely):
            folder.mkdir()
        assert "realtime" not in self.run(plain)
        report = self.run(timely, "--realtime")
        assert [sorted(one) for one in report["realtime"]] == [["cpus", "fifo", "memory_locked"]] * 2
        eventloom("compare", plain / "run.h5", timely / "run.h5")
