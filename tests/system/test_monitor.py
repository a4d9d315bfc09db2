"""`run --monitor`: what it serves is true, who may steer, and that nobody who asks disturbs the run."""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import h5py
import pytest

from interrupted import STOPPED, until
from live import free_port
from monitored import HOST, Monitored, PlainRun
from program import BINARY, Run, environment, eventloom, generate, only_line
from results import read_merged

DEFINE = ("--define", "gap:25ns,4")
LEDGER = ("hits_in", "hits_in_events", "hits_outside", "hits_rejected", "slices", "events_truncated")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Half a second, and what an undisturbed run makes of it."""
    folder = tmp_path_factory.mktemp("recording")
    uris = generate(folder / "streams", sources=2, rate=2000, noise=4000, duration="500ms")
    return uris, read_merged(Run(folder / "reference", uris, *DEFINE).merged)


def slowly(uris, folder, *options, speed=0.2, **how):
    return Monitored(folder, uris, *DEFINE, "--speed", speed, *options, **how)


def assert_untouched(run, reference, code=0):
    run.wait(code)
    eventloom("merge", "run.h5", "--output", "merged.h5", cwd=run.folder)
    found = read_merged(run.folder / "merged.h5")
    assert found.keys() == reference.keys() and all((found[name] == reference[name]).all() for name in found)


def promtool(*arguments, text=None):
    if shutil.which("promtool") is None:
        pytest.skip("no promtool")
    return subprocess.run(["promtool", *map(str, arguments)], input=text, text=True, capture_output=True, timeout=60)


def samples(text):
    """{name and labels: value}"""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


@pytest.mark.parametrize("np", [None, 2])
def test_what_is_served_is_true(recording, tmp_path, np):
    uris, reference = recording
    with slowly(uris, tmp_path / "run", "--filter", "n_hits>=6", np=np) as run:
        run.held()
        paused = run.until_status(lambda s: len(s["sources"]) == 2, "all ranks")
        assert [source["state"] for source in paused["sources"]] == ["recorded", "recorded"]
        assert paused["run"]["share_done"] < 1
        code, headers, page = run.ask("/")
        assert code == 200 and headers["Content-Type"].startswith("text/html") and page.lower().startswith(b"<!doctype html")
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        metrics = run.ask("/metrics")[2].decode()
        told = samples(metrics)
        assert told['eventloom_run_state{state="paused"}'] == 1
        checked = promtool("check", "metrics", text=metrics)
        assert checked.returncode == 0 and checked.stderr + checked.stdout == "", checked.stderr
        assert run.control("resume")[0] == 202
        end = run.last_status()
        run.wait(0)
        totals = run.report()["totals"]
    assert end["run"]["exit_code"] == 0 and end["ledger"]["balances"]
    for name in LEDGER:
        assert end["ledger"][name] == totals[name], name
    assert sum(source["hits"] for source in end["sources"]) == totals["hits_in"]
    assert sum(builder["hits"] for builder in end["builders"]) == totals["hits_in"]
    events = next(counter["value"] for counter in end["counters"] if counter["name"] == "events")
    assert events == totals["events"]
    for name in ("multiplicity", "duration"):
        histogram = end["histograms"][name]
        assert sum(histogram["counts"]) == events and len(histogram["edges"]) == len(histogram["counts"]) + 1
    assert len(end["ranks"]) == (np or 1) and max(end["series"]["hits_per_s"]) > 0
    assert_events(end["events"], reference)


def assert_events(events, reference):
    assert events
    for event in events:
        at = list(reference["events/time"]).index(int(event["time"]))
        first, n = int(reference["events/first_hit"][at]), event["n_hits"]
        assert n == reference["events/n_hits"][at] == len(event["hits"]["dt_ns"])
        assert event["hits"]["channel"] == reference["hits/channel"][first:first + n].tolist()
        times = reference["hits/time"][first:first + n] - reference["events/time"][at]
        assert event["hits"]["dt_ns"] == times.tolist()


def test_steered_by_the_command(recording, tmp_path):
    uris, reference = recording
    token = tmp_path / "token"
    token.write_text("a secret of the shift crew\n")
    given = ("pause", "resume", "speed 0.03", "new-file", "stop")
    with slowly(uris, tmp_path / "run", "--monitor-token-file", token, speed=0.02, np=2) as run:
        run.listening()
        assert run.token is None and "secret" not in run.text()
        run.until_status(lambda s: s["rates"]["hits_per_s"] > 0, "hits")

        def control(*command):
            return eventloom("control", run.url, *command, "--token-file", token)
        control("pause")
        paused = run.until_status(lambda s: s["state"] == "paused" and s["rates"]["hits_per_s"] == 0, "a pause")
        control("resume")
        run.until_status(lambda s: s["ledger"]["hits_in"] > paused["ledger"]["hits_in"], "more hits")
        only_line(eventloom("control", run.url, "speed", "--token-file", token, code=2), "speed needs a number")
        only_line(eventloom("control", run.url, "speed", "1e10", "--token-file", token, code=2), "from 1e-6 to 1e9")
        assert control("speed", "0.03").stdout == "speed: accepted\n"
        run.until_status(lambda s: s["setup"]["speed"] == 0.03, "another speed")
        control("new-file")
        until(lambda: list(run.folder.glob("run.part-*-0000.h5")), "a finished part of a run that goes on")
        with subprocess.Popen([BINARY, "top", run.url], stdout=subprocess.PIPE, text=True, env=environment()) as top:
            until(lambda: "source" in top.stdout.readline(), "what top says")
            assert control("stop").stdout == "stop: accepted\n"
            run.last_status()
            top.stdout.read()
            assert top.wait(20) == 0
        told = run.wait(STOPPED)
        assert all(f"command {command} from 127.0.0.1" in told for command in given), told
        listed = [(command["command"], command["from"]) for command in run.report()["commands"]]
    assert listed == [(command, HOST) for command in given]
    eventloom("run", *uris, *DEFINE, "--output", "run.h5", "--resume", cwd=run.folder)
    with h5py.File(run.folder / "run.h5") as file:
        kept = [text if isinstance(text, str) else text.decode() for text in file.attrs["commands"]]
    assert [line.partition(" ")[2] for line in kept] == [f"{name} from {HOST}" for name in given]
    eventloom("merge", "run.h5", "--output", "merged.h5", cwd=run.folder)
    found = read_merged(run.folder / "merged.h5")
    assert all((found[name] == reference[name]).all() for name in reference)


def test_who_may_not(recording, tmp_path):
    uris, reference = recording
    with slowly(uris, tmp_path / "run") as run:
        run.held()
        assert run.control("pause", Authorization=None)[0] == 401
        for wrong in ("Bearer ", "Bearer x", f"Bearer {run.token}0", f"Bearer {run.token[:-1]}", f"Basic {run.token}"):
            assert run.control("pause", Authorization=wrong)[0] == 403
        assert run.control("pause", Origin="http://evil.example")[0] == 403
        assert run.control("pause", Origin=f"http://{HOST}:1")[0] == 403
        assert run.control("pause", Sec_Fetch_Site="cross-site")[0] == 403
        assert run.control("pause", Host="evil.example")[0] == 403
        assert run.control("pause", Content_Type="text/plain")[0] == 415
        assert run.control("format the disk")[0] == 400
        bearer = {"Authorization": f"Bearer {run.token}", "Content-Type": "application/json"}
        for body in ("", "{", "[]", "{}", '{"command": 1}', "\0", '{"command": "speed"}', '{"command": "speed", "speed": -1}',
                     '{"command": "speed", "speed": "2"}', '{"command": "speed", "speed": 1e-9}'):
            assert run.ask("/control", "POST", body, bearer)[0] == 400
        for host in ("evil.example", f"evil.example:{run.port}", "127.0.0.1.evil.example"):
            assert run.ask("/status", headers={"Host": host})[0] == 403
        for host in (f"localhost:{run.port}", HOST, socket.gethostname()):
            assert run.ask("/status", headers={"Host": host})[0] == 200
        assert run.ask("/etc/passwd")[0] == run.ask("/../status")[0] == 404
        code, headers, _ = run.ask("/status", "POST", "x")
        assert code == 405 and headers["Allow"] == "GET, HEAD"
        assert run.ask("/control")[0] == 405
        code, headers, body = run.ask("/status", "HEAD")
        assert code == 200 and int(headers["Content-Length"]) > 0 and body == b""
        assert [command["command"] for command in run.status()["commands"]] == ["pause"]
        assert run.control("pause", Origin=f"http://{HOST}:{run.port}")[0] == 202
        assert run.control("resume")[0] == 202
        assert_untouched(run, reference)


def raw(port, data):
    """What is answered to these bytes."""
    with socket.create_connection((HOST, port), 20) as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(data)
        with contextlib.suppress(ConnectionError):
            return client.recv(4096).decode(errors="replace")
    return ""


def test_hostile_clients_leave_the_run_alone(recording, tmp_path):
    uris, reference = recording
    with slowly(uris, tmp_path / "run", np=2) as run, contextlib.ExitStack() as open_ones:
        run.held()
        head = f"GET /status HTTP/1.1\r\nHost: {HOST}\r\n".encode()
        assert " 431 " in raw(run.port, head + b"X: " + b"a" * 9000 + b"\r\n\r\n")
        assert " 431 " in raw(run.port, head + b"".join(b"X%d: a\r\n" % n for n in range(2000)) + b"\r\n")
        post = f"POST /control HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 100000\r\n\r\n".encode()
        assert " 413 " in raw(run.port, post + b"x" * 5000)
        assert " 400 " in raw(run.port, b"\x16\x03\x01 not HTTP at all\r\n\r\n")
        assert " 400 " in raw(run.port, b"GET /status HTTP/1.1\r\n\r\n")
        for number in range(500):  # more than it takes, each in the middle of its request
            client = open_ones.enter_context(socket.socket())
            client.connect((HOST, run.port))
            with contextlib.suppress(ConnectionError):
                client.sendall(head if number % 2 else b"")
            if number % 100 == 99:
                assert run.status()["schema"] == 1
        assert run.control("resume")[0] == 202
        assert_untouched(run, reference)


def test_names_cannot_break_out(recording, tmp_path):
    uris, _ = recording
    name = 'a"b\n<script>alert(1)\x1b]0;title\x07.epochs'
    (tmp_path / name).symlink_to(uris[0].removeprefix("file:"))
    with slowly([str(tmp_path / name)], tmp_path / "run") as run:
        run.held()
        status = run.until_status(lambda s: s["sources"], "sources")
        assert name in status["sources"][0]["name"]
        metrics = run.ask("/metrics")[2].decode()
        assert 'a\\"b\\n<script>' in metrics
        assert run.control("resume")[0] == 202
        top = subprocess.run([BINARY, "top", run.url], capture_output=True, env=environment(), timeout=60)
        assert top.returncode == 0 and b"\x1b" not in top.stdout and b'a"b?<script>alert(1)?]0;title?.epochs' in top.stdout
        run.wait(0)
        checked = promtool("check", "metrics", text=metrics)
        assert checked.returncode == 0, checked.stderr


def test_a_prometheus_server_scrapes_a_run(recording, tmp_path):
    if shutil.which("prometheus") is None:
        pytest.skip("no prometheus")
    uris, _ = recording
    port = free_port(socket.SOCK_STREAM)
    with slowly(uris, tmp_path / "run", "--loop", 100, speed=1, np=2) as run:
        run.listening()
        config = tmp_path / "prometheus.yml"
        config.write_text(f"scrape_configs:\n- job_name: eventloom\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\n"
                          f"  static_configs:\n  - targets: ['{HOST}:{run.port}']\n")
        server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'tsdb'}",
                                   f"--web.listen-address={HOST}:{port}"], stderr=subprocess.DEVNULL)
        try:
            def rate_is_right():
                latest = run.status()["series"]["events_per_s"][-6:]
                expected = sum(latest) / max(len(latest), 1)
                with contextlib.suppress(OSError):
                    query = urllib.parse.urlencode({"query": "rate(eventloom_events_total[6s])"})
                    with urllib.request.urlopen(f"http://{HOST}:{port}/api/v1/query?{query}", timeout=5) as answer:
                        found = json.load(answer)["data"]["result"]
                    return found and expected and abs(float(found[0]["value"][1]) / expected - 1) < 0.15
            until(rate_is_right, "the rate that the run tells", 40, run.text)
        finally:
            server.kill()
            server.wait()
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)


def test_without_it_nothing_listens(recording, tmp_path):
    uris, _ = recording
    found = {}
    for name, options in (("without", []), ("with", ["--monitor", "0"])):
        with PlainRun(tmp_path / name, uris, *DEFINE, "--speed", 0.25, *options) as run:
            # MPI has opened what it opens.
            until((tmp_path / name / "run.h5").exists, "the first slice", so_far=run.text)
            found[name] = (len(run.listeners()), run.threads())
            run.send(15, 0)
            run.process.wait(30)
    assert found["with"] == (found["without"][0] + 1, found["without"][1] + 1), found


def test_bad_usage_is_one_line(recording, tmp_path):
    uris, _ = recording
    with socket.create_server((HOST, 0)) as taken:
        place = f"{HOST}:{taken.getsockname()[1]}"
        done = eventloom("run", *uris, *DEFINE, "--monitor", place, "--output", "run.h5", cwd=tmp_path, code=2)
        only_line(done, "--monitor", place, "in use")
    assert not (tmp_path / "run.h5").exists()
    for words, told in ((["--monitor", "x"], "[ADDR:]PORT"), (["--monitor", "nowhere:0"], "nowhere"),
                        (["--monitor-token-file", "x"], "--monitor"), (["--progress", "x"], "--progress")):
        only_line(eventloom("run", *uris, *DEFINE, *words, cwd=tmp_path, code=2), told)
    with socket.create_server((HOST, 0)) as nobody:
        url = f"http://{HOST}:{nobody.getsockname()[1]}/"
    only_line(eventloom("top", url, code=2), "does not answer")
    only_line(eventloom("control", url, "pause", code=2), "token")
    only_line(eventloom("control", "ftp", "pause", code=2), "not the URL")


@pytest.mark.parametrize("np", [None, 2])
def test_progress(recording, tmp_path, np):
    uris, _ = recording
    options = [*DEFINE, "--speed", 0.2, "--output", "run.h5", "--force"]
    bar = eventloom("run", *uris, *options, "--progress", "bar", np=np, cwd=tmp_path).stderr
    assert re.search(r"\[#+\.+\] [\d.]+ %  \d+ s  .*hits/s, .* MB/s, \d+ slices, \d+ events, 0 hits lost, rings", bar), bar
    quiet = eventloom("run", *uris, *options, "--quiet", np=np, cwd=tmp_path)
    assert quiet.stderr == "" and "events with" in quiet.stdout
    none = eventloom("run", *uris, *options, "--progress", "none", np=np, cwd=tmp_path).stderr
    assert "hits/s" not in none and "\r" not in none
    assert all(re.match(r"eventloom(, rank \d \(.*?\))?: (info|warning): ", line) for line in none.splitlines()), none


def test_lines_of_a_batch_log(recording, tmp_path):
    uris, _ = recording
    with PlainRun(tmp_path / "run", uris, *DEFINE, "--speed", 0.05, np=2) as run:
        line = run.until_told("hits/s", timeout=30)
        assert re.match(r"eventloom, rank 0 \(.*\): info: [\d.]+ % after \d+ s: .* left$", line), line
        run.send(15, 0)
        run.wait(STOPPED)


def test_alert_rules_are_valid():
    rules = Path(__file__).resolve().parents[2] / "jobs" / "monitoring" / "eventloom.rules.yml"
    checked = promtool("check", "rules", rules)
    assert checked.returncode == 0, checked.stdout + checked.stderr
