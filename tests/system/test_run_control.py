"""Many runs in one program: `run --runs`, `control start|stop-run|next-run`, the log of runs, hooks, and who may steer.

Boards of the test send recorded streams by the clock while runs begin and end. A run must hold the hits of its own stretch
of time, no more and no less: what the serial reference finds in these.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import h5py
import numpy
import pytest

from browser import Browser, needs_browser
from datagrams import END
from epochs_file import epochs_file, hits_of_file
from inject import failures_in, injecting
from interrupted import Started, until
from live import HOST, Board, Recording, counts_of, datasets, free_port, losses, sockets, udp
from mbs import Layout, Server, sends
from monitored import Monitored
from program import ROOT, eventloom, only_line
from reference import find_events, merged_file, weave
from results import event_keys, read_merged
from test_live_ends import quiet_after, until_received
from test_mbs import made

DEFINE = "gap:25ns,4"
SLICE = 20 * 10_000  # ticks
MILLISECOND = 100    # epochs


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("recording"), DEFINE, 20, sources=2, rate=500, noise=1_000, duration="30s")


class Series(Monitored):
    """`eventloom run --runs` of the boards at a port, in a separate folder."""

    def __init__(self, folder, port, *options, np=None, env=None):
        self.runs, self.source = folder / "runs", udp(port, sources="0,1")
        Started.__init__(self, folder, "run", self.source, "--define", DEFINE, "--epochs-per-slice", 20, "--runs", "runs",
                         "--report-json", "report_{run}.json", "--monitor", "0", *options, np=np, env=env)
        self.url, self.port, self.token = None, None, None

    def ask_for(self, command, **more):
        """Requests that must be accepted."""
        code, answer = self.control(command, **more)
        assert code == 202, (code, answer)

    def control(self, command, token=None, **more):
        """(status, answer) of a command."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token or self.token}"}
        code, _, body = self.ask("/control", "POST", json.dumps({"command": command} | more), headers)
        return code, json.loads(body)

    def until_idle(self):
        return self.until_status(lambda s: s["state"] == "idle", "between two runs")

    def until_run(self, number, hits=1):
        return self.until_status(lambda s: s["run"].get("number") == number and s["ledger"]["hits_in"] >= hits, f"run {number}")

    def log(self):
        return json.loads(eventloom("report", "--runs", self.runs, "--json").stdout)

    def found(self, number):
        """Datasets of the merged file of a run."""
        file = self.runs / f"run_{number:04}.h5"
        eventloom("merge", file, "--output", self.folder / f"merged_{number}.h5")
        return datasets(self.folder / f"merged_{number}.h5")

    def report(self, number):
        return json.loads((self.folder / f"report_{number:04}.json").read_text())


class Pace:
    """Boards that send their streams by the clock, with a mark each millisecond, until stopped."""

    def __init__(self, recording, port):
        self.boards = [Board(file, port, source=number) for number, file in enumerate(recording.files)]
        self.port, self.epoch, self.unfinished = port, 0, True
        self.thread = threading.Thread(target=self.send, daemon=True)

    def send(self):
        begin = time.monotonic()
        while self.unfinished:
            if self.epoch % (50 * MILLISECOND) < 5 * MILLISECOND:
                for board in self.boards:
                    self.tell(board.header)
            now = int((time.monotonic() - begin) * 1000) * MILLISECOND
            # After a wait for a core, no board may be far ahead of the others: the run would go on without these.
            while self.epoch < now:
                self.epoch = min(now, self.epoch + 50 * MILLISECOND)
                for board in self.boards:
                    self.tell(lambda board=board: board.to(self.epoch))
            time.sleep(0.001)

    @staticmethod
    def tell(send):
        """The port may be closed between two runs of a program that was killed."""
        with contextlib.suppress(ConnectionRefusedError):
            send()

    def __enter__(self):
        until(lambda: sockets("udp", self.port), "somebody listens")
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.unfinished = False
        self.thread.join()
        for board in self.boards:
            board.__exit__()

    def sent(self):
        """Hits sent so far; call when it has stopped."""
        return sum(b.n_hits for board in self.boards for b in board.file.buffers[:board.next])


def hits_in(found):
    return int(found["ledger/hits_in"].sum())


def slices_of(found):
    """(first, one past the last) slice with data."""
    return int(found["ledger/slice"].min()), int(found["ledger/slice"].max()) + 1


def assert_its_stretch(recording, found, begin, end):
    """The run has exactly the hits from slice `begin` to before slice `end`, and their events."""
    hits = [hits_of_file(file) for file in recording.files]
    mine = [h.take(numpy.flatnonzero((h.time >= begin * SLICE) & (h.time < end * SLICE))) for h in hits]
    assert hits_in(found) == sum(len(h.time) for h in mine)
    assert event_keys(found) == event_keys(merged_file(find_events(weave(mine), DEFINE, 10_000)))


def without_an_end(series):
    return [row["run"] for row in series.log() if row["ended"] is None]


@pytest.mark.parametrize("np", [None, 2])
def test_each_run_has_the_hits_of_its_time(tmp_path, recording, np):
    port = free_port()
    with Series(tmp_path, port, np=np) as series, Pace(recording, port) as pace:
        series.listening().until_run(1, 500)
        series.ask_for("next-run", comment="the second <b>")
        series.until_run(2, 500)
        series.ask_for("stop-run")
        idle = series.until_idle()
        at_idle = pace.epoch
        assert "waiting for the next run, number 3" in idle["message"]
        until(lambda: pace.epoch > at_idle + 200 * MILLISECOND, "data that are in no run")
        series.ask_for("start", number=10)
        series.until_run(10, 500)
        series.ask_for("stop-run")
        series.until_idle()
        pace.unfinished = False
        pace.thread.join()
        series.ask_for("end")
        series.wait(0)
        runs = {number: series.found(number) for number in (1, 2, 10)}
        reports = {number: series.report(number) for number in runs}
        log = series.log()
    assert not any(losses(found) for found in runs.values()), series.text()
    # The second begins where the first ends; the third later, where all boards are.
    assert_its_stretch(recording, runs[1], 0, slices_of(runs[1])[1])
    assert_its_stretch(recording, runs[2], slices_of(runs[1])[1], slices_of(runs[2])[1])
    assert_its_stretch(recording, runs[10], *slices_of(runs[10]))
    assert slices_of(runs[10])[0] > slices_of(runs[2])[1] + 10
    # Data in no run were counted as such.
    before = [sum(counts_of(reports[number], source)["hits_before_the_run"] for source in (0, 1)) for number in runs]
    assert before[:2] == [0, 0] and before[2] > 0
    assert [row["run"] for row in log] == [1, 2, 10]
    assert 0 < log[2]["hits_between"] <= before[2]
    for row, (number, found) in zip(log, runs.items()):
        assert row["hits_in"] == hits_in(found) and row["exit_code"] == 0 and row["hits_lost"] == 0
        assert row["events"] == len(found["events/time"]) and row["file"] == f"run_{number:04}.h5"
        assert row["why"] == ("next-run" if number == 1 else "stop-run") and row["ended_by"].startswith(HOST)
    assert log[1]["comment"] == "the second <b>" and log[0]["by"] == "the start of the program"
    assert log[1]["by"].startswith(HOST) and reports[2]["run_number"] == 2
    assert_numbered(tmp_path, series.runs)


@pytest.mark.parametrize("np", [None, 2])
def test_front_ends_are_seen_before_the_first_run(tmp_path, recording, np):
    """What they send until then is in no run, and no loss of the first."""
    port = free_port()

    def states(status):
        return [row["state"] for row in status["sources"]]

    with Series(tmp_path, port, "--idle", np=np) as series:
        before = series.listening().until_idle()
        assert states(before) == ["waiting"] * 2 and "no source sends" in series.until_status(lambda s: ";" in s["message"], "a look")["message"]
        with Pace(recording, port) as pace:
            seen = series.until_status(lambda s: all(row["hits_per_s"] > 0 for row in s["sources"]), "rates of both boards")
            assert states(seen) == ["live"] * 2 and "2 sources send" in seen["message"]
            assert 0 < sum(row["hits"] for row in seen["sources"]) <= pace.sent() and seen["ledger"]["hits_in"] == 0
            series.ask_for("start")
            series.until_run(1, 500)
            series.ask_for("stop-run")
            series.until_status(lambda s: s["state"] == "idle" and states(s) == ["live"] * 2, "between two runs")
        series.until_status(lambda s: states(s) == ["silent"] * 2, "silence")
        series.ask_for("end")
        series.wait(0)
        found, (row,) = series.found(1), series.log()
    assert_its_stretch(recording, found, *slices_of(found))
    assert not losses(found) and row["hits_between"] > 0 and slices_of(found)[0] > 0


def test_a_start_while_a_run_is_being_ended(tmp_path, recording, slow_stop):
    """It begins the next run when this one has ended; a second one is refused with what to wait for."""
    port = free_port()
    with Series(tmp_path, port, "--run-hook", slow_stop) as series, Pace(recording, port):
        series.listening().until_run(1, 500)
        series.ask_for("stop-run")
        until((tmp_path / "stopping").exists, "the hook", so_far=series.text)
        series.ask_for("start", comment="queued")
        code, answer = series.control("start")
        assert code == 409 and "still being served" in answer["error"] and "idle" in answer["error"]
        (tmp_path / "go").touch()
        series.until_run(2, 500)
        series.ask_for("end")
        series.wait(0)
        runs = [series.found(number) for number in (1, 2)]
    for found in runs:
        assert_its_stretch(recording, found, *slices_of(found))
    first, second = series.log()
    assert first["why"] == "stop-run" and second["comment"] == "queued" and second["hits_between"] > 0


def assert_numbered(folder, runs):
    """The number is in the run's file, its parts and the merged file, and is shown."""
    for path in (runs / "run_0002.h5", runs / "run_0002.part-0000-0000.h5", folder / "merged_2.h5"):
        with h5py.File(path) as file:
            assert file.attrs["run_number"] == 2
    with h5py.File(folder / "merged_2.h5") as file:
        assert file.attrs["run_comment"] == "the second <b>"
    assert "run 2 (the second <b>)" in eventloom("show", runs / "run_0002.h5", "--summary").stdout
    table = eventloom("report", "--runs", runs).stdout.splitlines()
    assert len(table) == 4 and table[2].split()[0] == "2" and table[2].endswith("the second <b>")
    page = folder / "runs.html"
    eventloom("report", "--runs", runs, "-o", page)
    assert page.read_text().count("<tr>") == 4 and "the second &lt;b&gt;" in page.read_text()


def test_a_run_ends_with_its_sources_and_another_begins(tmp_path, recording):
    """Boards end their streams, and begin others for the next run."""
    port = free_port()
    with Series(tmp_path, port, "--idle") as series:
        assert "number 1" in series.listening().until_idle()["message"]
        assert series.control("stop-run")[0] == 409
        for number in (1, 2):
            series.ask_for("start")
            series.until_status(lambda s: s["run"].get("number") == number, "the next run")
            with contextlib.ExitStack() as stack:
                boards = [stack.enter_context(Board(file, port, source=s, session=number)) for s, file in enumerate(recording.files)]

                def heard():
                    with contextlib.suppress(ConnectionRefusedError):
                        for board in boards:
                            board.header()
                    return series.status()["state"] != "idle"
                until(heard, "boards heard")
                for board in boards:
                    board.to(2_000)
                    board.send(*[board.mark(2_000, END)] * 3)
                series.until_idle()
        series.ask_for("stop")
        series.wait(0)
        runs = [series.found(number) for number in (1, 2)]
    assert [row["why"] for row in series.log()] == ["the end of its sources"] * 2
    for found in runs:
        assert_its_stretch(recording, found, 0, 2_000 // 20)


class FollowingSeries(Series):
    """Likewise with growing files."""

    def __init__(self, folder, pattern):
        self.runs = folder / "runs"
        Started.__init__(self, folder, "run", f"file:{pattern}?follow", "--define", DEFINE, "--epochs-per-slice", 333, "--runs", "runs",
                         "--report-json", "report_{run}.json", "--monitor", "0")
        self.url, self.port, self.token = None, None, None


class ServedSeries(Series):
    """Likewise with an MBS server."""

    def __init__(self, folder, port, *options, np=None):
        self.runs = folder / "runs"
        Started.__init__(self, folder, "run", f"mbs://{HOST}:{port}/transport", "--define", "tag", "--runs", "runs",
                         "--monitor", "0", *options, np=np)
        self.url, self.port, self.token = None, None, None


@pytest.mark.parametrize("np", [None, 2])
def test_a_server_that_has_gone_begins_no_run(tmp_path, np):
    """Between two runs, that does not end the program, on any rank."""
    layout = Layout()
    with Server(sends(layout, layout.buffers(made(40)))) as server, ServedSeries(tmp_path, server.port, np=np) as series:
        series.listening().until_idle()
        series.ask_for("start")
        series.until_status(lambda s: s["state"] == "idle" and "run 2 did not begin" in s["message"], "a refusal")
        series.ask_for("end")
        series.wait(0)
    assert [(row["run"], row["exit_code"]) for row in series.log()] == [(1, 0)]


@pytest.mark.parametrize("command", ["next-run", "end"])
def test_a_quiet_server_when_a_run_ends(tmp_path, command):
    """Nothing follows its last events, which belong to the run all the same. The next one has none yet when it ends."""
    layout, sent = Layout(), []
    with Server(quiet_after(layout, made(37, words=2), None, sent)) as server, ServedSeries(tmp_path, server.port) as series:
        series.listening()
        until_received(server, sent)
        series.ask_for(command)
        if command == "next-run":
            series.until_status(lambda s: s["run"].get("number") == 2, "the next run")
            series.ask_for("end")
        series.wait(0)
    assert [row["hits_in"] for row in series.log()] == [37, 0][:2 if command == "next-run" else 1]


class TestWhoMay:
    @pytest.fixture(scope="class")
    def series(self, tmp_path_factory):
        with Series(tmp_path_factory.mktemp("series"), free_port(), "--idle") as series:
            series.listening().until_idle()
            yield series
            series.ask_for("end")
            series.wait(0)
            assert not (series.runs / "runs.jsonl").exists()  # nothing has begun

    @pytest.mark.parametrize("command", ["start", "stop-run", "next-run"])
    def test_only_with_the_token(self, series, command):
        assert series.control(command, token="0" * 32)[0] == 403
        assert series.ask("/control", "POST", json.dumps({"command": command}), {"Content-Type": "application/json"})[0] == 401
        assert series.status()["state"] == "idle"

    @pytest.mark.parametrize("more", [{"number": 0}, {"number": -1}, {"number": 1.5}, {"number": "7"}, {"number": None},
                                      {"comment": 3}, {"comment": "x" * 1001}, {"number": [1]}])
    def test_nonsense_is_not_understood(self, series, more):
        code, answer = series.control("start", **more)
        assert code == 400 and ("number" in answer["error"] or "comment" in answer["error"])

    def test_what_fits_no_run(self, series):
        assert series.control("start", number=10**9)[0] == 409
        for command in ("stop-run", "next-run", "pause", "new-file"):
            assert series.control(command)[0] == 409, command
        assert series.control("stop-run", number=3)[0] == 400

    def test_the_command_line_says_what_it_takes(self, series, tmp_path):
        token = tmp_path / "token"
        token.write_text(series.token)
        token.chmod(0o600)
        with_token = ["--token-file", token]
        only_line(eventloom("control", series.url, "stop-run", *with_token, code=2), "no run is active")
        only_line(eventloom("control", series.url, "stop-run", "--number", 3, *with_token, code=2), "--number", "start")
        only_line(eventloom("control", series.url, "start", "--number", "x", *with_token, code=2), "number")
        only_line(eventloom("control", series.url, "strat", *with_token, code=2), "did you mean 'start'")


def test_one_run_only_without_runs(tmp_path, recording):
    with Monitored(tmp_path, recording.uris, *recording.meaning, "--speed", "0.01") as run:
        run.held()
        for command in ("start", "stop-run", "next-run"):
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {run.token}"}
            code, _, body = run.ask("/control", "POST", json.dumps({"command": command}), headers)
            assert code == 409 and b"--runs" in body
        run.control("end")


@pytest.mark.parametrize("options, word", [
    (["--monitor", "0", "--output", "x.h5"], "omit --output"), ([], "--monitor"), (["--monitor", "0", "--resume"], "--resume"),
    (["--monitor", "0", "--force"], "--force"), (["--monitor", "0", "--record", "rec"], "--record"),
    (["--monitor", "0", "--report-json", "r.json"], "{run}"), (["--monitor", "0", "--also", "lmd:x"], "{run}"),
    (["--monitor", "0", "--source", "gen:poisson?rate=1e6"], "recording"), (["--monitor", "0", "--run-hook", "no-such-program"], "--run-hook")])
def test_what_does_not_go_with_runs(tmp_path, options, word):
    done = eventloom("run", udp(free_port()), "--define", DEFINE, "--runs", "runs", *options, code=2, cwd=tmp_path)
    only_line(done, word)
    assert not (tmp_path / "runs").exists()


def test_idle_and_hooks_need_runs():
    for option in (["--idle"], ["--run-hook", "true"]):
        only_line(eventloom("run", "gen:poisson?rate=1e6", "--define", DEFINE, *option, code=2), "--runs")


HOOK = """#!/bin/sh
echo "$1 $2 $EVENTLOOM_RUN $EVENTLOOM_COMMENT" >>{log}
case "$1 $2" in
"2 start") exit 7;;
"3 start") sleep 60;;
"5 stop") exit 9;;
esac
"""


def test_a_hook_that_fails_begins_no_run(tmp_path, recording):
    """The second start fails, the third takes too long, the fifth stop fails."""
    port, log, hook = free_port(), tmp_path / "log", tmp_path / "hook.sh"
    hook.write_text(HOOK.format(log=log))
    hook.chmod(0o755)
    with Series(tmp_path, port, "--run-hook", hook, "--run-hook-timeout", "500ms") as series, Pace(recording, port):
        series.listening().until_run(1)
        series.ask_for("next-run", number=2)
        series.until_status(lambda s: s["state"] == "idle" and "run 2 did not begin" in s["message"], "a refusal")
        series.ask_for("start", number=3)
        series.until_status(lambda s: s["state"] == "idle" and "run 3 did not begin" in s["message"], "a refusal")
        series.ask_for("start", number=5, comment="good")
        series.until_run(5)
        series.ask_for("stop-run")
        series.until_idle()
        series.ask_for("end")
        series.wait(2)  # exit code of the last stop
        text = series.text()
    assert "exit code 7" in text and "longer than 0.5 s" in text and "exit code 9; the files of run 5 are not affected" in text
    assert [(row["run"], row["exit_code"]) for row in series.log()] == [(1, 0), (5, 0)]
    calls = [line.split(" ", 3) for line in log.read_text().splitlines()]
    assert [(int(number), when) for number, when, *_ in calls] == [
        (1, "start"), (1, "stop"), (2, "start"), (3, "start"), (5, "start"), (5, "stop")]
    assert calls[-1][2:] == ["runs/run_0005.h5", "good"]


@needs_browser
def test_the_page_begins_and_ends_runs(tmp_path, recording):
    """Each moment shows the buttons that are possible; each comment belongs to one run."""
    port = free_port()
    shown = "[...document.querySelectorAll('#runs button')].filter((b) => !b.hidden).map((b) => b.dataset.command).join()"
    with Series(tmp_path, port, "--idle") as series, Browser() as browser, browser.page(series.listening().url) as page:
        page.until_text("#state", "idle")
        assert page.ask(shown) == "start" and page.ask("document.querySelector('#comment').disabled")
        page.click("#token")
        page.type("wrong")
        page.click("#comment")
        page.type("60Co, 5 cm")
        page.press("Enter")  # is not a command
        page.click("[data-command=start]")
        page.until_text("#answer", "start: refused (403), wrong token")
        assert page.ask("document.querySelector('#comment').value") == "60Co, 5 cm"
        page.ask("document.getElementById('token').value = ''")
        page.click("#token")
        page.type(series.token)
        page.click("[data-command=start]")
        page.until_text("#answer", "start: accepted")
        with Pace(recording, port):
            series.until_run(1)
            page.until("latest.run.number === 1")
            page.until(shown + " === 'next-run,stop-run'")
            page.click("[data-command=next-run]")
            page.until_text("#answer", "next-run: accepted")
            series.until_run(2)
            page.until("latest.run.number === 2")
            page.click("[data-command=stop-run]")
            page.until_text("#answer", "stop-run: accepted")
            page.until_text("#state", "idle")
            page.until(shown + " === 'start'")
        assert page.consents == ["End this run?"]
        series.ask_for("end")
        series.wait(0)
    assert [(row["run"], row.get("comment", "")) for row in series.log()] == [(1, "60Co, 5 cm"), (2, "")]


SLOW_HOOK = """#!/bin/sh
echo "$1 $2" >>log
while [ "$1 $2" = "1 start" ] && [ ! -e go ]; do sleep 0.02; done
"""


@pytest.fixture
def slow_hook(tmp_path):
    """The first start waits for a file `go`."""
    hook = tmp_path / "hook.sh"
    hook.write_text(SLOW_HOOK)
    hook.chmod(0o755)
    return hook


@pytest.fixture
def slow_stop(tmp_path):
    """The end of the first run waits for a file `go`."""
    hook = tmp_path / "slow_stop.sh"
    hook.write_text('#!/bin/sh\n[ "$1 $2" = "1 stop" ] && touch stopping && while [ ! -e go ]; do sleep 0.02; done\nexit 0\n')
    hook.chmod(0o755)
    return hook


def test_a_start_while_the_first_run_is_being_begun(tmp_path, recording, slow_hook):
    """The request is refused, rather than beginning another run after the first."""
    port = free_port()
    with Series(tmp_path, port, "--run-hook", slow_hook) as series, Pace(recording, port):
        series.listening()
        until((tmp_path / "log").exists, "the hook", so_far=series.text)
        assert series.control("start", number=5)[0] == 409
        (tmp_path / "go").touch()
        series.until_run(1)
        series.ask_for("stop-run")
        series.until_idle()
        series.ask_for("end")
        series.wait(0)
    assert [row["run"] for row in series.log()] == [1]


def test_a_signal_while_the_hook_starts_front_ends(tmp_path, recording, slow_hook):
    """They are also stopped."""
    port = free_port()
    with Series(tmp_path, port, "--run-hook", slow_hook) as series, Pace(recording, port):
        series.listening()
        until((tmp_path / "log").exists, "the hook", so_far=series.text)
        series.send(signal.SIGTERM, 0)
        time.sleep(0.2)
        (tmp_path / "go").touch()
        series.wait(0)
    assert (tmp_path / "log").read_text() == "1 start\n1 stop\n"


def test_a_signal_while_a_run_is_merged(tmp_path, recording, slow_hook):
    """The run is merged and logged, and the front ends are stopped, before the program ends."""
    port, log = free_port(), tmp_path / "inject.log"
    (tmp_path / "go").touch()
    env = injecting(log, do="wait", call="rename", path="run_0001.h5", at=2)
    with Series(tmp_path, port, "--merge", "--run-hook", slow_hook, env=env) as series, Pace(recording, port):
        series.listening().until_run(1)
        series.ask_for("stop-run")
        until(lambda: failures_in(log), "the moment before the merge", so_far=series.text)
        series.send(signal.SIGTERM, 0)
        time.sleep(0.2)
        (tmp_path / "inject.log.go").touch()
        series.wait(0)
    assert [(row["run"], row["exit_code"]) for row in series.log()] == [(1, 0)]
    assert (tmp_path / "log").read_text() == "1 start\n1 stop\n"


def test_files_of_others_in_the_way(tmp_path, recording, slow_hook):
    """A run whose files exist already does not begin, nor does its hook start anything; the program continues."""
    port = free_port()
    (tmp_path / "go").touch()
    with Series(tmp_path, port, "--run-hook", slow_hook) as series, Pace(recording, port):
        series.listening().until_run(1)
        (tmp_path / "report_0002.json").write_text("mine")
        series.ask_for("next-run")
        message = series.until_status(lambda s: s["state"] == "idle" and "run 2 did not begin" in s["message"], "a refusal")["message"]
        series.ask_for("start", number=3)
        series.until_run(3)
        series.ask_for("end")
        series.wait(0)
    assert "report_0002.json" in message and (tmp_path / "report_0002.json").read_text() == "mine"
    assert [row["run"] for row in series.log()] == [1, 3]
    assert (tmp_path / "log").read_text() == "1 start\n1 stop\n3 start\n3 stop\n"


def test_numbers_continue_after_a_kill(tmp_path, recording):
    """Killed between two runs, and in a run; meanwhile a second program is locked out."""
    port = free_port()
    with contextlib.ExitStack() as stack:
        with Series(tmp_path, port) as series:
            series.listening()
            stack.enter_context(Pace(recording, port))
            series.until_run(1)
            done = eventloom("run", udp(free_port()), "--define", DEFINE, "--runs", "runs", "--monitor", "0", code=2, cwd=tmp_path)
            assert "is in use" in done.stderr or "holds" in done.stderr or "runs.jsonl" in done.stderr, done.stderr
            series.ask_for("stop-run")
            series.until_idle()
            series.send(signal.SIGKILL, 0)
            series.process.wait(30)
        with Series(tmp_path, port) as series:
            series.listening().until_run(2)
            series.send(signal.SIGKILL, 0)
            series.process.wait(30)
        with (tmp_path / "runs" / "runs.jsonl").open("a") as log:
            log.write('{"run":3,"fi')  # a crash in the middle of a line
        (tmp_path / "runs" / "run_0006.h5").write_text("somebody else's")
        with Series(tmp_path, port) as series:
            series.listening().until_run(7)
            assert "run 2 has no end in the log" in series.text()
            assert series.control("next-run", number=7)[0] == 409
            series.send(signal.SIGTERM, 0)
            assert series.wait(3).count("their number is unknown") == 1
        with Series(tmp_path, port) as series:
            series.listening().until_run(8)
            series.send(signal.SIGTERM, 0)
            assert "unknown" not in series.wait(0)
    log = series.log()
    assert [row["run"] for row in log] == [1, 2, 7, 8] and without_an_end(series) == [2]
    assert [row["unknown_between"] for row in log] == [False, True, True, False]
    assert log[2]["why"] == "SIGTERM"
    assert "no end" in eventloom("report", "--runs", series.runs).stdout.splitlines()[2]
    assert (tmp_path / "runs" / "run_0006.h5").read_text() == "somebody else's"


def test_no_run_begins_after_a_kill(tmp_path, recording):
    """The hits are missing nevertheless: each program says so, until a run has it in the log."""
    port = free_port()
    with Series(tmp_path, port) as series:
        series.listening()
        with Pace(recording, port):
            series.until_run(1)
            series.send(signal.SIGKILL, 0)
            series.process.wait(30)
    for begins, code in ((False, 3), (True, 3), (False, 0)):
        with Series(tmp_path, port, "--idle") as series:
            series.listening().until_idle()
            if begins:
                with Pace(recording, port):
                    series.ask_for("start")
                    series.until_run(2)
            series.send(signal.SIGTERM, 0)
            assert series.wait(code).count("their number is unknown") == (code == 3)
    assert [row["unknown_between"] for row in series.log()] == [False, True]


def test_a_log_of_others_stays(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "runs.jsonl").write_text("mine\n")
    done = eventloom("run", udp(free_port()), "--define", DEFINE, "--runs", "runs", "--monitor", "0", code=2, cwd=tmp_path)
    only_line(done, "not a log of runs")
    only_line(eventloom("report", "--runs", tmp_path / "runs", code=2), "not a log of runs")
    only_line(eventloom("report", "--runs", tmp_path, code=2), "no log of runs")
    only_line(eventloom("report", "--json", code=2), "--runs")
    assert (tmp_path / "runs" / "runs.jsonl").read_text() == "mine\n"


@pytest.mark.parametrize("kind", ["link", "FIFO"])
def test_a_log_that_is_no_file(tmp_path, kind):
    runs, other = tmp_path / "runs", tmp_path / "other"
    runs.mkdir()
    other.touch()
    runs.joinpath("runs.jsonl").symlink_to(other) if kind == "link" else os.mkfifo(runs / "runs.jsonl")
    done = eventloom("run", udp(free_port()), "--define", DEFINE, "--runs", "runs", "--monitor", "0", code=2, cwd=tmp_path)
    only_line(done, "runs.jsonl", kind)
    assert not other.read_bytes()


class TestRepeat:
    """run --config run.h5"""

    @pytest.fixture(scope="class")
    def folder(self, tmp_path_factory, recording):
        folder = tmp_path_factory.mktemp("repeat")
        streams = [path.relative_to(recording.folder) for path in recording.paths]
        (folder / "streams").symlink_to(recording.folder / "streams")
        eventloom("run", *streams, *recording.meaning, "--filter", "n_hits>=5", "--output", "first.h5", cwd=folder)
        return folder

    def keys(self, folder, name):
        eventloom("merge", folder / f"{name}.h5", "--output", folder / f"{name}.merged.h5", "--force")
        return event_keys(read_merged(folder / f"{name}.merged.h5"))

    def test_it_runs_again(self, folder):
        eventloom("run", "--config", "first.h5", "--output", "second.h5", cwd=folder)
        assert self.keys(folder, "second") == self.keys(folder, "first")

    def test_a_merged_file_does_as_well(self, folder):
        self.keys(folder, "first")
        eventloom("run", "--config", "first.merged.h5", "--output", "third.h5", cwd=folder)
        assert self.keys(folder, "third") == self.keys(folder, "first")

    def test_the_command_line_wins(self, folder, recording):
        done = eventloom("run", "--config", "first.h5", "--source", "streams/source_000.epochs", "--filter", "n_hits>=6",
                         "--output", "other.h5", cwd=folder)
        assert "not as in 'first.h5': --filter was 'n_hits>=5', is 'n_hits>=6'" in done.stderr
        with h5py.File(folder / "other.h5") as file:
            assert file.attrs["filters"].tolist() == ["n_hits>=6"] and file.attrs["n_sources"] == 1

    def test_it_is_not_replaced(self, folder):
        before = (folder / "first.h5").read_bytes()
        only_line(eventloom("run", "--config", "first.h5", code=2, cwd=folder), "--output", "--force")
        assert (folder / "first.h5").read_bytes() == before

    @pytest.mark.parametrize("old, new", [(b"filter = n_hits>=5", b"filter = n_hits>=4"), (b"source_000.epochs", b"source_001.epochs")])
    def test_a_damaged_setup_is_not_used(self, folder, old, new):
        data = (folder / "first.h5").read_bytes()
        assert old in data
        (folder / "damaged.h5").write_bytes(data.replace(old, new))
        done = eventloom("run", "--config", "damaged.h5", "--output", "of_damaged.h5", code=2, cwd=folder)
        only_line(done, "damaged.h5")
        assert not (folder / "of_damaged.h5").exists()

    def test_only_where_its_paths_hold(self, folder, tmp_path):
        done = eventloom("run", "--config", folder / "first.h5", "--output", "x.h5", code=2, cwd=tmp_path)
        only_line(done, "relative", str(folder))
        eventloom("run", "--config", folder / "first.h5", "--source", folder / "streams" / "source_000.epochs",
                  "--output", "x.h5", cwd=tmp_path)

    def test_a_command_is_looked_for_where_it_was(self, folder, recording, tmp_path):
        (folder / "notify.sh").write_text("exit 0\n")
        sources = [folder / path.relative_to(recording.folder) for path in recording.paths]
        eventloom("run", *sources, *recording.meaning, "--alarm", "lost>0", "--alarm-command", "sh notify.sh",
                  "--output", "told.h5", cwd=folder)
        again = ("run", "--config", folder / "told.h5", "--output", "again.h5")
        only_line(eventloom(*again, code=2, cwd=tmp_path), "alarm-command", "relative", str(folder))
        eventloom(*again, "--alarm-command", "true", cwd=tmp_path)

    def test_what_is_no_run(self, folder):
        part = next(folder.glob("first.part-*.h5"))
        only_line(eventloom("run", "--config", part, "--output", "y.h5", code=2, cwd=folder), "not the output of a run")


class TestRecorder:
    """Information from a recorder to a run that follows it."""

    FILES = 6

    @pytest.fixture
    def recorded(self, tmp_path, recording):
        """A stream in several files, as `eventloom record` names them, as if it were still running."""
        folder = tmp_path / "rec"
        folder.mkdir()
        file = recording.files[0]
        size = len(file.buffers) // 10 // self.FILES
        for number in range(self.FILES):
            some = [(b.first_epoch, b.n_epochs, file.words(b), b.n_hits, b.n_hits * file.payload_table[0])
                    for b in file.buffers[number * size:(number + 1) * size]]
            (folder / f"source_000.{number:06}.epochs").write_bytes(
                epochs_file(some, file.source, payload_table=file.payload_table))
        return folder

    def run(self, folder, *keys, more=()):
        uri = f"file:{folder}/source_000.*.epochs?" + "&".join(("follow", *keys))
        return Started(folder.parent, "run", uri, "--define", DEFINE, "--epochs-per-slice", 20, "--segment-size", "20kB",
                       "--output", "run.h5", "--force", *more)

    def test_it_is_reported_at_the_end(self, recorded):
        (recorded / "source_000.end").touch()
        with self.run(recorded, "acknowledge") as run:
            run.wait(0)
        assert (recorded / "source_000.done").read_text() == f"{self.FILES}\n"

    def test_a_file_of_which_the_rest_cannot_be_read_is_still_needed(self, recorded):
        (recorded / "source_000.end").touch()
        last = recorded / f"source_000.{self.FILES - 1:06}.epochs"
        data = bytearray(last.read_bytes())
        middle = data.index(b"EPBF", len(data) // 2)
        data[middle:] = bytes(len(data) - middle)
        last.write_bytes(data)
        with self.run(recorded, "acknowledge") as run:
            run.wait(3)
        assert (recorded / "source_000.done").read_text() == f"{self.FILES - 1}\n"

    def test_it_receives_nothing_that_was_not_requested(self, recorded):
        (recorded / "source_000.end").touch()
        with self.run(recorded) as run:
            run.wait(0)
        assert not (recorded / "source_000.done").exists()

    def test_it_is_reported_while_the_run_continues(self, recorded):
        """Data not in a finished part are kept: a killed run finds them when it is resumed."""
        with self.run(recorded, "acknowledge") as run:
            until((recorded / "source_000.done").exists, "an acknowledgement", so_far=run.text)
            needed = int((recorded / "source_000.done").read_text())
            run.send(signal.SIGKILL, 0)
            run.process.wait(30)
        assert 0 < needed < self.FILES
        for number in range(needed):
            (recorded / f"source_000.{number:06}.epochs").unlink()
        (recorded / "source_000.end").touch()
        uri = f"file:{recorded}/source_000.*.epochs?follow&acknowledge"
        eventloom("run", uri, "--define", DEFINE, "--epochs-per-slice", 20, "--segment-size", "20kB", "--output", "run.h5",
                  "--resume", cwd=recorded.parent)
        eventloom("merge", recorded.parent / "run.h5", "--output", recorded.parent / "merged.h5")
        found = datasets(recorded.parent / "merged.h5")
        assert hits_in(found) == self.hits and not losses(found)

    @pytest.fixture(autouse=True)
    def count(self, recording):
        file = recording.files[0]
        size = len(file.buffers) // 10 // self.FILES
        self.hits = sum(b.n_hits for b in file.buffers[:self.FILES * size])

    def test_what_arrives_between_two_runs_is_no_loss(self, recorded):
        """Such data count as before the run that begins later."""
        later = [(recorded / f"source_000.{number:06}.epochs") for number in range(2, self.FILES)]
        for path in later:
            path.rename(f"{path}.later")
        with FollowingSeries(recorded.parent, f"{recorded}/source_000.*.epochs") as series:
            series.listening().until_run(1)
            series.ask_for("stop-run")
            series.until_idle()
            for path in later[:2]:
                (path.parent / f"{path.name}.later").rename(path)
            time.sleep(0.5)
            series.ask_for("start")
            series.until_status(lambda s: s["run"].get("number") == 2, "the second run")
            for path in later[2:]:
                (path.parent / f"{path.name}.later").rename(path)
            (recorded / "source_000.end").touch()
            series.until_idle()
            series.ask_for("end")
            series.wait(0)
        first, second = series.log()
        before = counts_of(series.report(2), 0)["hits_before_the_run"]
        assert [row["hits_lost"] for row in (first, second)] == [0, 0] and second["exit_code"] == 0
        assert before >= second["hits_between"] > 0 and first["hits_in"] + before + second["hits_in"] == self.hits

    def test_one_run_at_a_time(self, recorded):
        with self.run(recorded, "acknowledge") as run:
            until(lambda: (recorded / "source_000.done.lock").exists(), "the first run", so_far=run.text)
            done = eventloom("run", f"file:{recorded}/source_000.*.epochs?follow&acknowledge", "--define", DEFINE,
                             "--output", "other.h5", code=2, cwd=recorded.parent)
            assert "source_000.done" in done.stderr
            run.send(signal.SIGTERM, 0)
            run.wait(0)

    def test_what_is_no_recorders(self, recorded, recording):
        uri = f"file:{recording.paths[0]}?follow&acknowledge"
        only_line(eventloom("run", uri, "--define", DEFINE, code=2, cwd=recorded), "eventloom record")
        only_line(eventloom("run", f"file:{recording.paths[0]}?acknowledge", "--define", DEFINE, code=2, cwd=recorded), "follow")

    def test_a_file_of_others_stays(self, recorded):
        (recorded / "source_000.done").write_text("my notes\n")
        done = eventloom("run", f"file:{recorded}/source_000.*.epochs?follow&acknowledge", "--define", DEFINE, code=2, cwd=recorded)
        assert "source_000.done" in done.stderr and (recorded / "source_000.done").read_text() == "my notes\n"


class FrontEnd:
    """A remote command task of MBS, as DABC's client of it describes it. Answers each command with a status, in either
    byte order, after a record that only keeps the connection alive."""

    def __init__(self, status, order):
        self.status, self.order, self.commands = status, order, []
        self.listener = socket.create_server((HOST, 0))
        self.place = f"{HOST}:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection:
                    order, number, _, text = struct.unpack("=III512s", connection.recv(524, socket.MSG_WAITALL))
                    assert order == 1
                    self.commands.append(text.rstrip(b"\0").decode())
                    for answer, status in ((0xffffffff, 0), (number, self.status)):
                        connection.sendall(struct.pack(f"{self.order}III512s", 1, answer, status, b"said\x1b[2J"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class TestFrontEnds:
    def hook(self, *words):
        return subprocess.run([sys.executable, "-B", ROOT / "jobs" / "mbs_acquisition.py", *map(str, words)], capture_output=True,
                              text=True, timeout=60, check=False)

    def test_all_are_started_and_stopped(self):
        with FrontEnd(0, "<") as one, FrontEnd(0, ">") as two:
            assert self.hook(one.place, two.place, 7, "start").returncode == 0
            assert self.hook(one.place, two.place, 7, "stop").returncode == 0
            assert one.commands == two.commands == ["start acquisition", "stop acquisition"]

    def test_one_that_refuses_or_is_not_there_is_named(self):
        with FrontEnd(0, "<") as one, FrontEnd(5, "<") as two:
            done = self.hook(one.place, two.place, f"{HOST}:{free_port(socket.SOCK_STREAM)}", 7, "start")
        assert done.returncode == 1 and "status 5: said" in done.stderr and "refused" in done.stderr
        assert one.place not in done.stderr and "\x1b" not in done.stderr
        # No run begins: the one that has started is stopped again.
        assert one.commands == ["start acquisition", "stop acquisition"] and two.commands == ["start acquisition"]

    @pytest.mark.parametrize("words", [(), ("host",), ("host", "7"), ("host", "7", "pause"), ("host", "x", "start")])
    def test_nonsense_is_refused(self, words):
        assert self.hook(*words).returncode == 2


class TestMessages:
    """Messages of live runs."""

    def test_they_say_when_and_what_is_waited_for(self, tmp_path, recording):
        port = free_port()
        with Started(tmp_path, "run", udp(port, sources="0,1"), "--define", DEFINE, "--stall-warning", "60s") as run:
            line = run.until_reported("waiting for")
            assert re.search(r"eventloom \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: info: waiting for .*board 0, .*board 1 \(0 of 2 heard\)$", line), line
            with Board(recording.files[0], port, source=0) as board:
                def heard():
                    board.header()
                    board.to(5_000)
                    return "(1 of 2 heard)" in run.text()
                until(heard, "one board heard", so_far=run.text)
            assert re.search(r"waiting for [^,]*board 1 \(1 of 2 heard\)", run.text())
            run.send(signal.SIGTERM, 0)
            run.process.wait(30)

    def test_recorded_runs_need_no_times(self, tmp_path, recording):
        done = eventloom("run", *recording.uris, *recording.meaning, "--output", tmp_path / "run.h5")
        assert "eventloom: info:" in done.stderr and "Z: info" not in done.stderr

    def test_the_exit_code_of_losses_is_explained_under_mpirun(self, tmp_path, recording):
        damaged = tmp_path / "damaged.epochs"
        data = bytearray(recording.paths[0].read_bytes())
        data[recording.files[0].buffers[3].offset + 80] ^= 1
        damaged.write_bytes(data)
        done = eventloom("run", damaged, *recording.meaning, "--output", tmp_path / "run.h5", np=2, code=3)
        ours = [line for line in done.stderr.splitlines() if line.startswith("eventloom")]
        assert "exit code 3" in ours[-1] and "Open MPI" in ours[-1]
        alone = eventloom("run", damaged, *recording.meaning, "--output", tmp_path / "alone.h5", code=3)
        assert "Open MPI" not in alone.stderr.splitlines()[-1]

    def test_the_free_disk_is_known(self, tmp_path, recording):
        with Monitored(tmp_path, recording.uris, *recording.meaning, "--speed", "0.01", "--alarm", "disk_free<900000GB",
                       "--alarm", "disk_left<1s") as run:
            run.listening()
            status = run.until_status(lambda s: s["alarms"] and s["alarms"][0]["active"], "an alarm")
            free = shutil.disk_usage(tmp_path).free
            assert abs(status["disk"]["free_bytes"] - free) < 0.2 * free + 1e9 and not status["alarms"][1]["active"]
            run.control("end")

    def test_sources_have_the_names_of_the_map(self, tmp_path, recording):
        """In the summary of losses."""
        (tmp_path / "map.csv").write_text("source,group\n0,left\n1,right\n")
        damaged = tmp_path / "damaged.epochs"
        data = bytearray(recording.paths[0].read_bytes())
        data[recording.files[0].buffers[3].offset + 80] ^= 1
        damaged.write_bytes(data)
        done = eventloom("run", damaged, recording.paths[1], *recording.meaning, "--detector", tmp_path / "map.csv",
                         "--output", tmp_path / "run.h5", code=3)
        assert re.search(r"^source 0 \(left: .*damaged\.epochs\): ", done.stdout, re.M), done.stdout
