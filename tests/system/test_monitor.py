"""`run --monitor`: what it serves is true, who may steer, and that no client disturbs the run."""

import contextlib
import http.client
import json
import os
import pwd
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import threading
import urllib.parse
import urllib.request
from pathlib import Path

import h5py
import pytest

from http_load import load
from interrupted import STOPPED, Started, until
from live import free_port, sockets
from monitored import HOST, Monitored, PlainRun
from page import document_of
from program import BINARY, ROOT, Run, environment, eventloom, generate, only_line
from results import read_merged

DEFINE = ("--define", "gap:25ns,4")
MONITORING = ROOT / "jobs" / "monitoring"
LEDGER = ("hits_in", "hits_in_events", "hits_outside", "hits_rejected", "slices", "events_truncated")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Half a second, and the result of an undisturbed run."""
    folder = tmp_path_factory.mktemp("recording")
    uris = generate(folder / "streams", sources=2, rate=2000, noise=4000, duration="500ms")
    return uris, read_merged(Run(folder / "reference", uris, *DEFINE).merged)


def slowly(uris, folder, *options, speed=0.02, **how):
    """25 s, so that it does not end before it is steered."""
    return Monitored(folder, uris, *DEFINE, "--speed", speed, *options, **how)


def assert_untouched(run, reference):
    run.last_status()
    assert_same_events(run, reference)


def assert_same_events(run, reference):
    run.wait(0)
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
        paused = run.until_all_reported()
        assert [source["state"] for source in paused["sources"]] == ["recorded", "recorded"]
        assert paused["run"]["share_done"] < 1
        code, headers, page = run.ask("/")
        assert code == 200 and headers["Content-Type"].startswith("text/html") and page.lower().startswith(b"<!doctype html")
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'sha256-" in policy and "unsafe" not in policy
        assert run.ask("/status")[1]["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        metrics = run.ask("/metrics")[2].decode()
        reported = samples(metrics)
        assert reported['eventloom_run_state{state="paused"}'] == 1
        read = sum(value for name, value in reported.items() if "source_read_hits" in name)
        assert reported["eventloom_hits_read_total"] == read
        resident = max(value for name, value in reported.items() if name.startswith("eventloom_rank_resident"))
        assert reported["eventloom_peak_rss_bytes"] > 0.9 * resident > 0
        checked = promtool("check", "metrics", text=metrics)
        assert checked.returncode == 0 and checked.stderr + checked.stdout == "", checked.stderr
        run.proceed(speed=0.2)
        end = run.last_status()
        run.wait(0)
        totals = run.report()["totals"]
    assert end["run"]["exit_code"] == 0 and end["ledger"]["balances"]
    with h5py.File(run.folder / "run.h5") as file:
        assert end["run"]["began"] == file.attrs["began"]
    assert reported["eventloom_hits_read_total"] < totals["hits_in"]
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
    assert end["ledger"]["events"] == totals["events"]
    assert end["histograms"]["interval"]["across_slices"] == (np is None)
    assert_events(end["events"], reference)
    assert int(end["events"][-1]["time"]) == max(reference["events/time"][reference["events/n_hits"] >= 6])


@pytest.mark.parametrize("np", [1, 2])
def test_replays_of_tables_state_how_much_is_left(tmp_path, np):
    """Inputs that do not know their end; one of them has a tenth of the other's length, so that enough is left to pause
    in."""
    hits = {"long": 40_000, "short": 4_000}
    for name, rows in hits.items():
        (tmp_path / f"{name}.csv").write_text("t_us,ch\n" + "".join(f"{100 * i},1\n" for i in range(rows)))
    uris = [tmp_path / f"{name}.csv" for name in sorted(hits, reverse=True)]
    slices = 40_000 * 100 / 1000  # of 1 ms
    with slowly(uris, tmp_path / "run", speed=0.2, np=np) as run:
        run.listening()
        assert re.search(r": info: \d\d\.\d % after \d+ s: .*, \d+ s left", run.until_reported(" left"))
        run.until_status(lambda s: s["run"]["share_done"] > 0.15, "the end of the short one")
        assert run.control("pause")[0] == 202
        paused = run.until_status(lambda s: s["state"] == "paused" and s["rates"]["hits_per_s"] == 0, "a pause")
        built = next(counter["value"] for counter in paused["counters"] if counter["name"] == "slices")
        assert paused["run"]["share_done"] == pytest.approx(built / slices, abs=0.02)
        assert paused["run"]["remaining_s"] > 0
        assert run.control("speed", speed=0)[0] == 202 and run.control("resume")[0] == 202
        assert run.last_status()["run"]["share_done"] == 1
        run.wait(0)


def assert_events(events, reference):
    assert events
    for event in events:
        at = list(reference["events/time"]).index(int(event["time"]))
        first, n = int(reference["events/first_hit"][at]), event["n_hits"]
        assert n == reference["events/n_hits"][at] == len(event["hits"]["dt_ns"])
        assert event["hits"]["channel"] == reference["hits/channel"][first:first + n].tolist()
        times = reference["hits/time"][first:first + n] - reference["events/time"][at]
        assert event["hits"]["dt_ns"] == times.tolist()


def test_live_sources_have_their_own_speed(recording, tmp_path):
    """Refused values are not kept either."""
    uris, reference = recording
    port = free_port()
    with Monitored(tmp_path / "run", [f"udp://{HOST}:{port}"], *DEFINE) as run:
        run.listening()
        until(lambda: sockets("udp", port), "the port")
        path = Path(uris[0].removeprefix("file:"))
        with Started(tmp_path / "send", "send", path, "--to", f"udp://{HOST}:{port}", "--speed", "0.02") as sender:
            run.until_status(lambda s: s["ledger"]["hits_in"] > 0, "hits")
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {run.token}"}
            code, _, body = run.ask("/control", "POST", '{"command": "speed", "speed": 2}', headers)
            assert code == 409 and "all sources are live" in json.loads(body)["error"]
            assert run.control("pause")[0] == 202 and run.control("resume")[0] == 202
            sender.send(signal.SIGINT, 0)
            sender.wait(0)
        assert run.control("end")[0] in (202, 409)
        run.wait(0)
        assert [command["command"] for command in run.report()["commands"]][:2] == ["pause", "resume"]


@pytest.mark.parametrize("np", [None, 2])
def test_what_is_known_before_the_first_data(recording, tmp_path, np):
    """What the command line states is known; what the silent board has yet to state is null."""
    uris = [recording[0][0], f"udp://{HOST}:{free_port()}"]
    options = ("--builders", 2, "--filters", 1, "--filter", "n_hits>=5", "--alarm", "lost>0")
    with Monitored(tmp_path / "run", uris, *DEFINE, *options, np=np) as run:
        status = run.listening().until_status(lambda s: s["message"], "a message")
        assert status["state"] == "starting" and status["message"] == "waiting for the first data of 1 of 1 live sources"
        assert [(s["index"], s["name"], s["state"], s["hits"]) for s in status["sources"]] == [
            (0, uris[0], "waiting", 0), (1, uris[1], "waiting", 0)]
        assert [(b["index"], b["rank"], b["slices"]) for b in status["builders"]] == [(0, 0, 0), (1, 1 if np else 0, 0)]
        assert [(f["index"], f["rank"], f["accepted"]) for f in status["filters"]] == [(0, 0, 0)]
        assert [s["rank"] for s in status["sources"]] == [0, 1 if np else 0]
        assert [rank["roles"] for rank in status["ranks"]] == (
            ["source 0; builder 0; filter 0", "source 1; builder 1"] if np else ["sources 0,1; builders 0,1; filter 0"])
        setup, about = status["setup"], status["run"]
        assert setup["definition"] == "gap:25ns,4" and setup["filters"] == ["n_hits>=5"] and setup["ranks"] == (np or 1)
        assert not setup["all_live"] and "udp://" in setup["configuration"] and all(setup["versions"].values())
        assert about["name"].endswith("run.h5") and "--monitor 0" in about["command_line"]
        assert [about["began"], *(setup[name] for name in ("tick_ps", "epoch_ticks", "epochs_per_slice"))] == [None] * 4
        assert status["alarms"] == [{"condition": "lost>0", "active": False, "raised": None, "value": None}]
        assert run.ask("/metrics")[0] == 200
        assert run.control("end")[0] == 202
        began = run.last_status()
        assert began["run"]["began"] and began["setup"]["epochs_per_slice"] == 100
        assert "waiting" not in [source["state"] for source in began["sources"]]
        assert "nothing received" in run.wait(3)


@pytest.mark.parametrize("np", [None, 2])
@pytest.mark.parametrize("command, code", [("stop", STOPPED), ("end", 3)])
def test_stopped_before_the_first_data(tmp_path, command, code, np):
    """A board is silent, and a crew gives up."""
    with Monitored(tmp_path / "run", [f"udp://{HOST}:{free_port()}"], *DEFINE, np=np) as run:
        run.listening()
        assert run.control("pause")[0] == 202
        assert run.control(command)[0] == 202
        assert f"command {command} from {HOST}" in run.wait(code)


def test_steered_by_the_command(recording, tmp_path):
    uris, reference = recording
    token = tmp_path / "token"
    token.write_text("a secret of the shift crew\n")
    token.chmod(0o600)
    given = ("pause", "resume", "speed 0.006", "new-file", "stop")
    with slowly(uris, tmp_path / "run", "--monitor-token-file", token, speed=0.005, np=2) as run:
        run.listening()
        assert run.token is None and "secret" not in run.text()
        run.until_status(lambda s: s["rates"]["hits_per_s"] > 0, "hits")

        def control(*command):
            return eventloom("control", run.url, *command, "--token-file", token)
        control("pause")
        paused = run.until_status(lambda s: s["state"] == "paused" and s["rates"]["hits_per_s"] == 0, "a pause")
        assert run.control("resume", Authorization="Bearer a secret of the shift crew", X_Eventloom_User="b from c\t\xe9")[0] == 202
        run.until_status(lambda s: s["ledger"]["hits_in"] > paused["ledger"]["hits_in"], "more hits")
        only_line(eventloom("control", run.url, "speed", "--token-file", token, code=2), "speed needs a number")
        only_line(eventloom("control", run.url, "pouse", "--token-file", token, code=2), "did you mean 'pause'")
        only_line(eventloom("control", run.url, "speed", "1e10", "--token-file", token, code=2), "from 1e-6 to 1e9")
        assert control("speed", "0.006").stdout == "speed: accepted\n"
        run.until_status(lambda s: s["setup"]["speed"] == 0.006, "another speed")
        control("new-file")
        until(lambda: list(run.folder.glob("run.part-*-0000.h5")), "a finished part of a run that continues")
        with run.watched() as top:
            assert control("stop").stdout == "stop: accepted\n"
            assert "exit code 75" in top.stdout.read(), "it alone looks"
            assert top.wait(20) == 0
        reported = run.wait(STOPPED)
        me = f"{HOST} ({pwd.getpwuid(os.geteuid()).pw_name}@{socket.gethostname()})"
        who = [f"{HOST} (b from c\\x09\\xe9)" if command == "resume" else me for command in given]
        assert all(f"command {command} from {one}" in reported for command, one in zip(given, who)), reported
        listed = [(command["command"], command["from"]) for command in run.report()["commands"]]
    assert listed == [*zip(given, who)]
    eventloom("run", *uris, *DEFINE, "--output", "run.h5", "--resume", cwd=run.folder)
    with h5py.File(run.folder / "run.h5") as file:
        kept = [text if isinstance(text, str) else text.decode() for text in file.attrs["commands"]]
    assert [line.partition(" ")[2] for line in kept] == [f"{command} from {one}" for command, one in zip(given, who)]
    eventloom("report", "run.h5", "--output", "a.html", cwd=run.folder)
    shown = [(command["command"], command["from"]) for command in document_of(run.folder / "a.html")["commands"]]
    assert shown == listed
    eventloom("merge", "run.h5", "--output", "merged.h5", cwd=run.folder)
    found = read_merged(run.folder / "merged.h5")
    assert all((found[name] == reference[name]).all() for name in reference)


def test_all_who_look_see_the_end(recording, tmp_path):
    """One of them looks far more often than the others."""
    uris, reference = recording
    with slowly(uris, tmp_path / "run") as run, contextlib.ExitStack() as stack:
        run.held()
        tops = [stack.enter_context(run.watched()) for _ in range(2)]
        run.proceed(speed=0.1)
        run.until_status(lambda s: "exit_code" in s["run"], "the end", headers={"User-Agent": "a page"})
        for top in tops:
            assert "exit code 0" in top.stdout.read()
            assert top.wait(20) == 0
        assert_same_events(run, reference)


def test_top_reports_a_run_that_dies(recording, tmp_path):
    uris, _ = recording
    with slowly(uris, tmp_path / "run", np=2) as run:
        run.listening()
        with run.watched() as top:
            run.send(signal.SIGKILL, 0)
            assert "connection lost: the run may have failed" in top.communicate(timeout=60)[1]
            assert top.returncode == 2


@pytest.fixture(scope="module")
def attacked(recording, tmp_path_factory):
    """A run that waits while it receives all sorts of requests, and then must equal one without them."""
    uris, reference = recording
    with slowly(uris, tmp_path_factory.mktemp("attacked") / "run", np=2) as run:
        yield run.held()
        assert [command["command"] for command in run.status()["commands"]] == ["pause"]
        assert run.control("speed", speed=0.5)[0] == 202
        assert run.control("resume", Origin=f"http://{HOST}:{run.port}")[0] == 202
        assert_untouched(run, reference)


def test_who_may_not(attacked):
    run = attacked
    assert run.control("pause", Authorization=None)[0] == 401
    for wrong in ("Bearer ", "Bearer x", f"Bearer {run.token}0", f"Bearer {run.token[:-1]}", f"Basic {run.token}"):
        assert run.control("pause", Authorization=wrong)[0] == 403
    assert run.control("pause", Origin="http://evil.example")[0] == 403
    assert run.control("pause", Origin=f"http://{HOST}:1")[0] == 403
    assert run.control("pause", Sec_Fetch_Site="cross-site")[0] == 403
    assert run.control("pause", Host="evil.example")[0] == 403
    assert run.control("pause", Content_Type="text/plain")[0] == 415
    assert run.control("format the disk", Authorization=f"bearer {run.token}")[0] == 400
    bearer = {"Authorization": f"Bearer {run.token}", "Content-Type": "application/json"}
    for body in ("", "{", "[]", "{}", '{"command": 1}', "\0", "[" * 4000, '{"command": "speed"}',
                 '{"command": "speed", "speed": -1}', '{"command": "speed", "speed": "2"}', '{"command": "speed", "speed": 1e-9}',
                 '{"command": "pause", "command": "stop"}'):
        assert run.ask("/control", "POST", body, bearer)[0] == 400
    for host in ("evil.example", f"evil.example:{run.port}", "127.0.0.1.evil.example"):
        assert run.ask("/status", headers={"Host": host})[0] == 403
    for host in (f"localhost:{run.port}", HOST, socket.gethostname()):
        assert run.ask("/status", headers={"Host": host})[0] == 200
    assert run.ask("/etc/passwd")[0] == run.ask("/../status")[0] == run.ask("/%73tatus")[0] == 404
    reported = run.text()
    for why in ("wrong token", "requests of other sites are refused", "unknown host name"):
        assert f"a command from {HOST} was refused: {why}" in reported, reported
    assert run.token not in reported.partition("token to steer the run")[2].partition("\n")[2]
    code, headers, _ = run.ask("/status", "POST", "x")
    assert code == 405 and headers["Allow"] == "GET, HEAD"
    assert run.ask("/control")[0] == run.ask("/status", "OPTIONS")[0] == run.ask("/status", "TRACE")[0] == 405
    code, headers, body = run.ask("/status", "HEAD")
    assert code == 200 and int(headers["Content-Length"]) > 0 and body == b""


def raw(port, data, then=b""):
    """The answer to these bytes until the server closes; `then` follows its first words."""
    answer = b""
    with socket.create_connection((HOST, port), 20) as client, contextlib.suppress(ConnectionError):
        client.sendall(data)
        while more := client.recv(1 << 16):
            answer += more
            if then:
                client.sendall(then)
                then = b""
    return answer.decode(errors="replace")


def codes(answer):
    return [int(code) for code in re.findall(r"HTTP/1\.1 (\d+) ", answer)]


def test_what_is_not_quite_http(attacked):
    port = attacked.port
    close, body = "Connection: close\r\n", '{"command": "stop"}'
    get = f"GET /status HTTP/1.1\r\nHost: {HOST}\r\n"
    post = (f"POST /control HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {attacked.token}\r\n{close}"
            "Content-Type: application/json\r\n")
    chunked = "Transfer-Encoding: chunked\r\n"
    for request, code in ((f"{get}X: {'a' * 9000}\r\n\r\n", 431),
                          (get + "".join(f"X{n}: a\r\n" for n in range(2000)) + "\r\n", 431),
                          (f"{post}Content-Length: 100000\r\n\r\n" + "x" * 5000, 413),
                          ("\x16\x03\x01 not HTTP at all\r\n\r\n", 400),
                          ("GET /status\r\n\r\n", 400),
                          ("GET /status HTTP/9.9\r\n\r\n", 400),
                          ("GET  /status HTTP/1.1\r\n\r\n", 400),
                          (f"GET /status HTTP/1.1\r\n{close}\r\n", 400),
                          (f"{get}Host: evil.example\r\n{close}\r\n", 400),
                          (f"GET /status HTTP/1.1\r\nHost: {HOST}\r\n .evil.example\r\n{close}\r\n", 403),
                          (f"GET http://localhost:1/status?x HTTP/1.1\r\nHost: evil.example\r\n{close}\r\n", 200),
                          (f"GET http://evil.example/status HTTP/1.1\r\nHost: {HOST}\r\n{close}\r\n", 403),
                          (f"{post}Content-Length: 4\r\nContent-Length: {len(body)}\r\n\r\n{body}", 400),
                          (f"{post}Content-Length: {len(body)}\r\n{chunked}\r\n{body}", 400),
                          (f"{post}{chunked}Content-Length: {len(body)}\r\n\r\n{body}", 400),
                          (f"{post}Content-Length: -1\r\n\r\n{body}", 400),
                          (f"{post}Content-Length: 1e1\r\n\r\n{body}", 400),
                          (f"{post}{chunked}\r\nx\r\n{body}\r\n0\r\n\r\n", 400),
                          (f"{post}{chunked}\r\n2\r\n{{}}\r\n0\r\n\r\n", 400)):
        assert codes(raw(port, request.encode("latin-1"))) == [code], request[:200]
    assert codes(raw(port, f"{post}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n".encode(), b"{}")) == [100, 400]
    assert codes(raw(port, (f"{get}\r\n" * 20 + f"{get}{close}\r\n").encode())) == [200] * 21
    lines = raw(port, f"{get}{close}\r\n".encode()).split("\r\n\r\n")[0].split("\r\n")
    assert not any(line.startswith(("Server", "Access-Control")) for line in lines)


def patiently(ask, what):
    """The answer, although other clients' connections displace ours."""
    def attempt():
        with contextlib.suppress(OSError, http.client.HTTPException):
            return ask()
        return None
    return until(attempt, what)


def test_500_hostile_clients_leave_the_run_alone(recording, tmp_path):
    uris, reference = recording
    with slowly(uris, tmp_path / "run", np=2) as run:
        run.held()
        assert run.control("speed", speed=0.3)[0] == 202
        done = {}
        loading = threading.Thread(target=lambda: done.update(load(run.port, 500, until=lambda: run.process.poll() is not None)))
        loading.start()
        patiently(lambda: run.control("resume")[0] == 202, "a command beside the load")
        assert_same_events(run, reference)
        loading.join(30)
        assert {command["command"] for command in run.report()["commands"]} == {"pause", "speed 0.3", "resume"}
        assert done["connections"] > 500 and all(done[f"{kind}: replies"] for kind in ("pipelined", "garbage", "huge", "wrong token")), done


def test_names_cannot_break_out(recording, tmp_path):
    uris, _ = recording
    name = 'a"b\n<script>alert(1)\x1b]0;title\x07.epochs'
    (tmp_path / name).symlink_to(uris[0].removeprefix("file:"))
    with slowly([str(tmp_path / name)], tmp_path / "run") as run:
        run.held()
        status = run.until_all_reported()
        assert name in status["sources"][0]["name"]
        metrics = run.ask("/metrics")[2].decode()
        assert 'a\\"b\\n<script>' in metrics
        with run.watched() as top:
            run.proceed(speed=0.2)
            shown = top.stdout.read()
            assert top.wait(20) == 0
        assert "\x1b" not in shown and 'a"b\\x0a<script>alert(1)\\x1b]0;title\\x07.epochs' in shown
        assert "\x1b" not in run.wait(0)
        checked = promtool("check", "metrics", text=metrics)
        assert checked.returncode == 0, checked.stderr
    damaged = tmp_path / f"damaged {name}"
    damaged.write_bytes(Path(uris[0].removeprefix("file:")).read_bytes()[:-1000])
    lines = [eventloom("inspect", damaged, code=3).stdout, eventloom("inspect", tmp_path / f"no {name}", code=2).stderr,
             eventloom("run", "--source", damaged, *DEFINE, "--output", "damaged.h5", cwd=tmp_path, code=3).stderr]
    assert all("\\x1b]0;title\\x07.epochs" in text and "\x1b" not in text for text in lines), lines


@contextlib.contextmanager
def prometheus(folder, target):
    """A server that scrapes `target`; yields the function that queries it. Yields None without Debian's package."""
    if shutil.which("prometheus") is None:
        yield None
        return
    port = free_port(socket.SOCK_STREAM)
    config = folder / "prometheus.yml"
    config.write_text(f"scrape_configs:\n- job_name: eventloom\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\n"
                      f"  static_configs:\n  - targets: ['{target}']\n")
    server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}",
                               f"--web.listen-address={HOST}:{port}"], stderr=subprocess.DEVNULL)

    def ask(query):
        with contextlib.suppress(OSError):
            text = urllib.parse.urlencode({"query": query})
            with urllib.request.urlopen(f"http://{HOST}:{port}/api/v1/query?{text}", timeout=5) as answer:
                return json.load(answer)["data"]["result"]
    try:
        yield ask
    finally:
        server.kill()
        server.wait()


def test_a_prometheus_server_scrapes_a_run(recording, tmp_path):
    """At the rate of the events in its data. Also tests its messages in a batch log meanwhile."""
    uris, reference = recording
    in_the_data = len(reference["events/time"]) / 0.5  # s
    with slowly(uris, tmp_path / "run", "--loop", 100, speed=1, np=2) as run:
        run.listening()
        with prometheus(tmp_path, f"{HOST}:{run.port}") as ask:
            def rate_is_right():
                found = ask("rate(eventloom_events_total[6s])")
                return found and abs(float(found[0]["value"][1]) / in_the_data - 1) < 0.1
            if ask:
                run.until_status(lambda s: s["run"]["elapsed_s"] > 10, "seconds of data alone in the window")
                until(rate_is_right, "the rate of the data", 20, run.text)
        line = run.until_reported("hits/s", timeout=30)
        assert re.match(r"eventloom, rank 0 \(.*\): info: [\d.]+ % after \d+ s: .* left$", line), line
        assert run.control("stop")[0] == 202
        run.last_status()
        run.wait(STOPPED)
    if ask is None:
        pytest.skip("no prometheus")


def test_without_it_nothing_listens(recording, tmp_path):
    uris, _ = recording
    found = {}
    for name, options in (("without", []), ("with", ["--monitor", "0"])):
        with PlainRun(tmp_path / name, uris, *DEFINE, "--speed", 0.02, *options) as run:
            # MPI has opened its files.
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
    for words, reported in ((["--monitor", "x"], "[ADDR:]PORT"), (["--monitor", "nowhere:0"], "nowhere"),
                        (["--monitor-token-file", "x"], "--monitor"), (["--progress", "x"], "--progress")):
        only_line(eventloom("run", *uris, *DEFINE, *words, cwd=tmp_path, code=2), reported)
    with socket.create_server((HOST, 0)) as nobody:
        url = f"http://{HOST}:{nobody.getsockname()[1]}/"
    only_line(eventloom("top", url, code=2), "does not answer")
    only_line(eventloom("control", url, "pause", code=2), "token")
    only_line(eventloom("control", "ftp", "pause", code=2), "not the URL")


ESCAPE = "\x1b]0;title\x07\x9b31m"
ENDED = {"run": {"name": ESCAPE, "share_done": None, "remaining_s": None, "exit_code": 0}, "rates": {}, "state": "ended",
         "ledger": {"slices": 1, "hits_in_events": 2, "lost": 0}, "sources": [{"name": ESCAPE}], "builders": [],
         "alarms": [{"condition": ESCAPE, "active": True, "raised": None}]}


def changed(**changes):
    return json.dumps(ENDED | changes).encode()


def http_reply(body, code="200 OK"):
    return f"HTTP/1.1 {code}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@contextlib.contextmanager
def answering():
    """A server that answers each request with the bytes in `answer`, repeatedly while `endless`; yields its URL."""
    class Hostile(socketserver.BaseRequestHandler):
        answer, endless = b"", False

        def handle(self):
            with contextlib.suppress(OSError):
                self.request.recv(1 << 16)
                self.request.sendall(Hostile.answer)
                while Hostile.endless:
                    self.request.sendall(Hostile.endless * 1024)
    with socketserver.ThreadingTCPServer((HOST, 0), Hostile) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield Hostile, f"http://{HOST}:{server.server_address[1]}/"
        server.shutdown()


def test_hostile_servers_get_one_line(tmp_path):
    with answering() as (server, url):
        server.answer = http_reply(changed())
        shown = eventloom("top", url).stdout
        assert "\x1b" not in shown and "\x9b" not in shown and shown.count("\\x1b]0;title\\x07\\xc2\\x9b31m") == 3, shown
        for body in (b"", b"[" * 1_000_000, b"{}", b"[1]", b"1e999", b"\xff", changed(ledger=[]), changed(run=None),
                     changed(ledger={"slices": 1e300, "hits_in_events": 2, "lost": 0}),
                     changed(ledger={"slices": 1, "hits_in_events": 2, "lost": -1}),
                     changed(sources=3, builders=None, rates="x", ledger={}), b'{"a":' * 100_000):
            server.answer = http_reply(body)
            assert "\x1b" not in only_line(eventloom("top", url, code=2), "monitor"), body[:100]
        for head, more in ((b"", b""), (b"garbage\r\n\r\n", b""), (b"HTTP/1.1 100 Continue\r\n\r\n", b""),
                           (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
                           (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
                           (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"400\r\n" + b" " * 1024 + b"\r\n")):
            server.answer, server.endless = head, more
            only_line(eventloom("top", url, code=2, timeout=30), "answer")
        server.endless = False
        token = tmp_path / "token"
        token.write_text("0123456789abcdef")
        token.chmod(0o600)
        for code, body in (("403 Forbidden", json.dumps({"error": ESCAPE + "x" * 100_000}).encode()), ("500 x", b"{"),
                           ("204 x", b"")):
            server.answer = http_reply(body, code)
            line = only_line(eventloom("control", url, "pause", "--token-file", token, code=2), "refused")
            assert "\x1b" not in line and len(line) < 500


def test_tokens_that_are_none(tmp_path):
    def refused(path, *words):
        only_line(eventloom("control", "127.0.0.1:1", "pause", "--token-file", path, code=2, timeout=20), "token", *words)
    (tmp_path / "short").write_text("0123456789")
    (tmp_path / "bytes").write_bytes(b"0123456789abcdef\xff\x1b[31m")
    (tmp_path / "long").write_text("x" * 2000)
    os.mkfifo(tmp_path / "fifo")
    for name, word in (("short", "shorter"), ("bytes", "ASCII"), ("long", "longer"), ("fifo", "cannot read"),
                       ("missing", "cannot read"), ("", "cannot read")):
        refused(tmp_path / name, word)
    refused("/dev/zero", "longer")
    given = "control 127.0.0.1:1 pause --token-file <(echo 0123456789abcdef)"
    done = subprocess.run(["bash", "-c", f"{BINARY} {given}"], capture_output=True, text=True, env=environment(), timeout=30)
    only_line(done, "does not answer")


@pytest.mark.parametrize("np", [None, 2])
def test_progress(recording, tmp_path, np):
    uris, _ = recording
    options = [*DEFINE, "--output", "run.h5", "--force"]
    bar = eventloom("run", *uris, *options, "--speed", 0.2, "--progress", "bar", np=np, cwd=tmp_path).stderr
    assert re.search(r"\[#+\.+\] [\d.]+ %, after \d+ s, .*hits/s, .* [kM]?B/s, \d+ slices, \d+ events, 0 hits lost, rings", bar), bar
    quiet = eventloom("run", *uris, *options, "--quiet", np=np, cwd=tmp_path)
    assert quiet.stderr == "" and "events with" in quiet.stdout
    none = eventloom("run", *uris, *options, "--progress", "none", np=np, cwd=tmp_path).stderr
    assert "hits/s" not in none and "\r" not in none
    assert all(re.match(r"eventloom(, rank \d \(.*?\))?: (info|warning): ", line) for line in none.splitlines()), none


def rules_of(expressions):
    return {"groups": [{"name": "all", "rules": [{"record": f"r:{n}", "expr": e} for n, e in enumerate(expressions)]}]}


def unknown_names(expression, known):
    """The metrics in an expression of PromQL that match nothing."""
    return set(re.findall(r"\beventloom_\w+", re.sub(r'"[^"]*"', "", expression))) - known


def test_masked_hits_raise_no_alert(recording, tmp_path):
    """Neither by the rules nor on the dashboard's panel of losses, unlike lost hits."""
    uris, _ = recording
    (tmp_path / "map.csv").write_text("source,mask\n0,1\n")
    with slowly(uris, tmp_path / "run", "--detector", tmp_path / "map.csv") as run:
        run.listening()
        run.until_status(lambda s: s["ledger"]["dropped"].get("masked"), "masked hits")
        reported = samples(run.ask("/metrics")[2].decode())
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)
    counts = {name: value for name, value in reported.items() if re.fullmatch("eventloom_hits_(lost|dropped_.*)_total", name)}
    assert counts["eventloom_hits_dropped_masked_total"] > 0 and len(counts) > 5
    assert_alerts(tmp_path, counts, False)
    assert_alerts(tmp_path, counts | {"eventloom_hits_lost_total": 5, "eventloom_hits_dropped_late_total": 5}, True)


def assert_alerts(folder, counts, expected):
    """The result of promtool for counters that begin at 0 and grow to these."""
    panels = json.loads((MONITORING / "eventloom.dashboard.json").read_text())["panels"]
    losses, = [panel["targets"] for panel in panels if panel["title"] == "Losses by cause"]
    shown = {target["legendFormat"]: target["expr"].replace("$__rate_interval", "2m").replace("$instance", ".*") for target in losses}
    causes = {name.removeprefix("eventloom_hits_dropped_").removesuffix("_total").replace("_", " ") for name in counts if "dropped" in name}
    assert {*shown} == causes - {"masked", "cut", "flagged", "outside stretch", "dead time", "copy"}
    alert = {"exp_labels": {"severity": "warning", "instance": "n1"}, "exp_annotations": {"summary": "n1 has lost 5 hits"}}
    tests = {
        "interval": "1m",
        "input_series": [{"series": f'{name}{{instance="n1"}}', "values": f"0 {value:.0f}x2"} for name, value in counts.items()],
        "alert_rule_test": [{"eval_time": "2m", "alertname": "EventloomHitsLost", "exp_alerts": [alert] if expected else []}],
        "promql_expr_test": [{"expr": f"count(({expression}) > 0)", "eval_time": "2m",
                              "exp_samples": [{"labels": "{}", "value": 1}] if expected and cause == "late" else []}
                             for cause, expression in shown.items()]}
    assert_promtool_agrees(folder, tests, [str(MONITORING / "eventloom.rules.yml")])


def test_dashboard_and_alert_rules_ask_for_what_there_is(recording, tmp_path):
    uris, _ = recording
    with slowly(uris, tmp_path / "run", "--alarm", "lost>0") as run:
        run.held()
        run.until_all_reported()
        reported = samples(run.ask("/metrics")[2].decode())
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)
    rules = MONITORING / "eventloom.rules.yml"
    panels = json.loads((MONITORING / "eventloom.dashboard.json").read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    alerts = re.findall(r"expr: (.*)", rules.read_text())
    examples = re.findall(r"^\| `([^`]+)` \|", (MONITORING / "README.md").read_text(), re.MULTILINE)
    assert len(asked) > 20 and len(alerts) > 3 and len(examples) > 3
    known = {name.partition("{")[0] for name in reported}
    for expression in asked + alerts + examples:
        assert not unknown_names(expression, known), expression
    checked = promtool("check", "rules", rules)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    all_rules = tmp_path / "all.yml"
    all_rules.write_text(json.dumps(rules_of([e.replace("$__rate_interval", "1m") for e in asked + examples])))
    checked = promtool("check", "rules", all_rules)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert_they_can_be_evaluated(tmp_path, reported, asked + alerts + examples)


def assert_they_can_be_evaluated(folder, reported, expressions):
    """Evaluates them for a run's metrics: rules that parse may still match two series where one is needed."""
    texts = [expression.replace("$__rate_interval", "2m").replace("$instance", ".*") for expression in expressions]
    tests = {"interval": "1m", "input_series": [{"series": name, "values": "1+1x3"} for name in reported],
             "promql_expr_test": [{"expr": f"0 * count({text}) or vector(0)", "eval_time": "3m", "exp_samples": [{"labels": "{}", "value": 0}]}
                                  for text in texts]}
    assert_promtool_agrees(folder, tests, [])


def assert_promtool_agrees(folder, tests, rule_files):
    (folder / "tests.yml").write_text(json.dumps({"rule_files": rule_files, "evaluation_interval": "1m", "tests": [tests]}))
    checked = promtool("test", "rules", folder / "tests.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
