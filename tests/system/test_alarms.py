"""`run --alarm`: raised when the condition is true and never otherwise, and reported in the log, the status and by a
program."""

import json
import re
import signal
import stat

import h5py
import pytest

from epochs_file import BUFFER_HEADER, read_epochs_file
from interrupted import STOPPED, lines_with
from monitored import Monitored, PlainRun
from page import document_of
from program import Run, eventloom, generate, only_line

DEFINE = ("--define", "gap:25ns,4")
TELLS = """#!/bin/sh
line=$(printf "%s|" "$EVENTLOOM_STATE" "$EVENTLOOM_ALARM" "$EVENTLOOM_VALUE" "$EVENTLOOM_RUN" "$EVENTLOOM_SOURCE" "$@")
printf "%s\\n" "$line" >>told
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Half a second of data."""
    return generate(tmp_path_factory.mktemp("recording"), sources=2, rate=2000, noise=4000, duration="500ms")


@pytest.fixture
def program(tmp_path):
    """A program that appends a line on what it receives to the file `told` of its folder."""
    path = tmp_path / "tells"
    path.write_text(TELLS)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def damaged(uri, path):
    """A copy with a damaged epoch buffer."""
    data = bytearray(open(uri.removeprefix("file:"), "rb").read())
    buffer = read_epochs_file(uri.removeprefix("file:")).buffers[7]
    data[buffer.offset + BUFFER_HEADER.size] ^= 1
    path.write_bytes(data)
    return f"file:{path}"


def told(folder):
    return [line.split("|")[:-1] for line in (folder / "told").read_text(errors="replace").splitlines()]


@pytest.mark.parametrize("np", [None, 2])
def test_lost_hits(recording, program, tmp_path, np):
    """Also in a run that is over before anyone could look, and that reports nothing else."""
    name = "$(touch x);`touch x`'|& \"touch x.epochs"
    uris = [damaged(recording[0], tmp_path / name), recording[1]]

    def launch(*arguments, **how):
        return eventloom(*arguments, **how, cwd=tmp_path)
    run = Run(tmp_path / "run", uris, *DEFINE, "--alarm", "lost:0 > 0", "--alarm", "lost>0", "--alarm", "lost:1>0", "--quiet",
              "--alarm-command", f"{program} 'a b' $(touch x) ; `touch x` > x & # ${{HOME}}", np=np, code=3, launch=launch)
    lost = run.report()["totals"]["hits_dropped"]["corrupt"]
    assert lost > 0
    for condition in ("lost>0", "lost:0>0"):
        assert len(lines_with(run.done.stderr, "error: alarm:", f"alarm: {condition} ({lost} hits)")) == 1, run.done.stderr
    assert "lost:1" not in run.done.stderr
    assert sorted((alarm["condition"], alarm["value"]) for alarm in kept(run.output)) == [("lost:0>0", lost), ("lost>0", lost)]
    words = ["a b", "$(touch", "x)", ";", "`touch", "x`", ">", "x", "&", "#", "${HOME}"]
    both = sorted(told(tmp_path))
    assert [line[:2] for line in both] == [["raised", "lost:0>0"], ["raised", "lost>0"]]
    assert both[0][2] == f"{lost} hits" and both[0][3] == str(run.output)
    all_words = "|".join(both[0][4:])
    assert name in all_words and all_words.endswith("|" + "|".join(words))
    assert both[1][4:] == ["", *words]
    assert not (tmp_path / "x").exists()


def kept(path):
    """The alarms in a run file."""
    def values(column):
        return [x.decode() if isinstance(x, bytes) else float(x) for x in column]
    with h5py.File(path) as file:
        columns = {name: values(column) for name, column in file["alarms"].items()} if "alarms" in file else {"none": []}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def test_alarms_are_kept_in_the_output(recording, tmp_path):
    """The output also keeps alarms raised at the very end, and those of each invocation of a resumed run. Report and
    inspect show them."""
    uris = [damaged(recording[0], tmp_path / "a.epochs"), recording[1]]
    alarms = ("--alarm", "lost>0", "--alarm", "rate:1>1", "--alarm", "lost:1>0", "--alarm", "stalled>5min")
    with Monitored(tmp_path / "run", uris, *DEFINE, "--speed", 0.02, *alarms, np=2) as run:
        run.listening()
        run.until_reported("alarm: rate:1>1 (")
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)
        first = kept(run.folder / "run.h5")
    assert "rate:1>1" in [alarm["condition"] for alarm in first]
    eventloom("run", *uris, *DEFINE, *alarms, "--output", "run.h5", "--resume", "--report-json", "b.json", cwd=tmp_path / "run", code=3)
    found = kept(tmp_path / "run" / "run.h5")
    assert found[:len(first)] == first
    lost = json.loads((tmp_path / "run" / "b.json").read_text())
    about = next(alarm for alarm in found if alarm["condition"] == "lost>0")
    assert (about["quantity"], about["unit"], about["limit"], about["over"]) == ("lost", "hits", 0, "")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", about["raised"])
    assert [alarm for alarm in found if alarm["condition"].startswith(("lost:1", "stalled"))] == []
    assert lost["alarms"] == [{**alarm, "over": alarm["over"] or None} for alarm in found]
    assert lost["alarms"][-1]["value"] == lost["totals"]["hits_dropped"]["corrupt"]

    eventloom("report", "run.h5", "--output", "a.html", cwd=tmp_path / "run")
    document = document_of(tmp_path / "run" / "a.html")
    assert document["alarms"] == [{**alarm, "active": alarm["over"] is None} for alarm in lost["alarms"]]
    inspected = json.loads(eventloom("inspect", "--json", "run.h5", cwd=tmp_path / "run").stdout)
    assert inspected["alarms"] == lost["alarms"] and not inspected["damaged"]
    assert "alarms" in eventloom("inspect", "run.h5", cwd=tmp_path / "run").stdout


def test_an_alarm_that_is_over(recording, tmp_path):
    with Monitored(tmp_path / "run", recording, *DEFINE, "--speed", 0.02, "--alarm", "slices<50") as run, run.held().watched() as top:
        run.proceed(speed=0.1)
        raised = run.last_status()["alarms"][0]["raised"]
        run.wait(0)
        assert f"\nalarm over: slices<50, last raised {raised}\n" in top.stdout.read()
        (alarm,) = kept(run.folder / "run.h5")
        assert alarm["raised"] == raised < alarm["over"] and alarm["limit"] == 50 and alarm["value"] < 50
        eventloom("report", "run.h5", "--output", "a.html", cwd=run.folder)
        assert [a["active"] for a in document_of(run.folder / "a.html")["alarms"]] == [False]


def test_nothing_is_raised_where_all_is_well(recording, tmp_path):
    """No alarm is raised before the first reports or after the end of the data."""
    conditions = ("lost>0", "stalled>5s", "rate<1", "rate:0<1", "rate:1<1", "event_rate<0.1", "byte_rate<1", "incomplete_slices>=1",
                  "memory>100GiB", "missing_packets>0")
    words = [word for condition in conditions for word in ("--alarm", condition)]
    run = Run(tmp_path / "run", recording, *DEFINE, "--speed", 0.15, *words, np=2)
    assert "alarm" not in run.done.stderr and kept(run.output) == []


def test_a_rank_that_is_stopped(recording, program, tmp_path):
    options = ("--alarm", "stalled>2s", "--alarm", "rate:1<1", "--alarm", "rate:1>1", "--alarm-command", program, "--progress", "none")
    with PlainRun(tmp_path / "run", recording, *DEFINE, "--speed", 0.005, *options, np=2) as run:
        run.until_reported("alarm: rate:1>1 (")
        run.send(signal.SIGSTOP, 1)
        run.until_reported("rank 0", "error: alarm: stalled>2s (")
        run.until_reported("rank 0", "error: alarm: rate:1<1 (0 hits/s)")
        run.send(signal.SIGCONT, 1)
        run.until_reported("rank 0", "warning: alarm over: stalled>2s (")
        run.until_reported("rank 0", "warning: alarm over: rate:1<1 (")
        run.send(signal.SIGTERM, 0)
        run.wait(STOPPED)
        for condition in ("stalled>2s", "rate:1<1"):
            assert [state for state, about, *_ in told(run.folder) if about == condition] == ["raised", "cleared"]


def test_page_and_metrics_show_alarms(recording, tmp_path):
    options = ("--alarm", "events>200", "--alarm", "lost>0", "--alarm", "rate:1>=1e9")
    with Monitored(tmp_path / "run", recording, *DEFINE, "--speed", 0.02, *options, np=2) as run, run.held().watched() as top:
        quiet = run.until_status(lambda s: len(s["alarms"]) == 3, "alarms")["alarms"]
        assert [alarm["condition"] for alarm in quiet] == ["events>200", "lost>0", "rate:1>=1e9"]
        assert not any(alarm["active"] or alarm["raised"] for alarm in quiet)
        run.proceed(speed=0.1)
        alarms = run.until_status(lambda s: s["alarms"][0]["active"], "an alarm")["alarms"]
        assert alarms[0]["value"] > 200 and alarms[0]["raised"] and not alarms[1]["active"] and alarms[1]["value"] == 0
        metrics = run.ask("/metrics")[2].decode()
        assert 'eventloom_alarm_active{condition="events>200"} 1\n' in metrics
        assert 'eventloom_alarm_active{condition="lost>0"} 0\n' in metrics
        assert run.last_status()["alarms"][0]["value"] == run.report()["totals"]["events"]
        run.wait(0)
        assert f"\nalarm: events>200, since {alarms[0]['raised']}\n" in top.stdout.read()


def test_a_program_that_fails(recording, tmp_path):
    for command, what in (("false", "ended with exit code 1"), ("sh -c 'kill -9 $$'", "ended by signal 9")):
        run = Run(tmp_path / command[:2], recording, *DEFINE, "--alarm", "events>0", "--alarm-command", command)
        assert lines_with(run.done.stderr, "error: --alarm-command:", what), run.done.stderr
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    run = Run(tmp_path / "run", recording, *DEFINE, "--alarm", "events>0", "--alarm-command", broken)
    assert lines_with(run.done.stderr, "error: --alarm-command: cannot start", str(broken)), run.done.stderr


@pytest.mark.parametrize("words, parts", [
    (["--alarm", "lost"], ["NAME[:SOURCE] OP NUMBER[UNIT]"]),
    (["--alarm", "lots>0"], ["'lots'", "lost, rate, stalled"]),
    (["--alarm", "rate:2<1"], ["no source 2", "0 to 1"]),
    (["--alarm", "stalled>1s"], ["2s or more"]),
    (["--alarm", "lost>0", "--alarm", "lost > 0"], ["given twice"]),
    (["--alarm-command", "true"], ["needs --alarm"]),
    (["--alarm", "lost>0", "--alarm-command", "/no/such/program x"], ["/no/such/program"]),
    (["--alarm", "lost>0", "--alarm-command", "echo 'a"], ["a quote is not closed"]),
])
def test_bad_usage_is_one_line(recording, tmp_path, words, parts):
    only_line(eventloom("run", *recording, *DEFINE, *words, "--output", "run.h5", cwd=tmp_path, code=2), "--alarm", *parts)
    messages_of_ranks = eventloom("run", *recording, *DEFINE, *words, "--output", "run.h5", cwd=tmp_path, code=2, np=2).stderr
    assert len(lines_with(messages_of_ranks, "eventloom run: ", *parts)) == 1, messages_of_ranks
    assert not (tmp_path / "run.h5").exists()
