"""The UTC of tick 0: as given, and as boards and White Rabbit stamps state it; in every file and command;
contradictions; resumed runs."""

import json
import re
import signal
from datetime import datetime, timedelta, timezone

import h5py
import numpy as np
import pytest

from datagrams import HOST
from interrupted import STOPPED, Started, lines_with
from live import LiveRun, free_port, udp
from lmd_reference import Event, Subevent, classic_file, white_rabbit
from page import document_of
from program import DATA, Run, eventloom, generate, only_line
from recordings import write_csv

GIVEN = "2026-11-21T10:00:00Z"
DEFINE = ["--define", "gap:25ns,3"]
LEAP_SECONDS = 37  # TAI is ahead of UTC since 2017


def tick_0(path):
    with h5py.File(path) as file:
        return file.attrs.get("time_of_tick_0")


def ns(text):
    """Unix time in nanoseconds of a text in UTC."""
    return int(np.datetime64(text.removesuffix("Z"), "ns").astype(np.int64))


def csv(folder, times=(1_000, 1_010, 1_020, 5_000_000_000, 5_000_000_001, 5_000_000_002), unit="ns"):
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "hits.csv", times, [*range(len(times))])
    return f"csv:{folder}/hits.csv?time=1&channel=2&unit={unit}"


def stamped(folder, utc, keys=""):
    """List mode of three events with White Rabbit stamps, 10 ns apart, beginning at this time in UTC."""
    first = ns(utc) + LEAP_SECONDS * 10**9
    events = [Event(number, [Subevent(1, white_rabbit(first + 10 * number))]) for number in range(3)]
    (folder / "wr.lmd").write_bytes(classic_file(events))
    return f"lmd:{folder}/wr.lmd?time=wr{keys}"


@pytest.mark.parametrize("given, reported", [
    (GIVEN, GIVEN), ("2026-11-21T10:00:00.000Z", GIVEN), ("2026-11-21T11:30:00+01:30", GIVEN), ("2026-11-20T23:00:00-11:00", GIVEN),
    ("2026-11-21T10:00:00.000000001Z", "2026-11-21T10:00:00.000000001Z"), ("2026-11-21T10:00:00.25Z", "2026-11-21T10:00:00.250000000Z"),
    ("1969-12-31T23:59:23Z", "1969-12-31T23:59:23Z")])
def test_as_given(tmp_path, given, reported):
    run = Run(tmp_path, [csv(tmp_path)], *DEFINE, "--time-origin", given, np=2)
    assert tick_0(run.output) == tick_0(run.merged) == reported
    assert "time-origin = " + given in eventloom("inspect", run.output).stdout


def test_in_every_command(tmp_path):
    run = Run(tmp_path, [csv(tmp_path)], *DEFINE, "--time-origin", "2026-11-21T10:00:00.5Z")
    for path in (run.output, run.merged):
        assert "\n  utc       2026-11-21T10:00:05.500000000Z\n" in eventloom("show", path, "--event", 1).stdout
        assert "\nfrom 2026-11-21T10:00:00.500000000Z to 2026-11-21T10:00:05.501000000Z\n" in eventloom("show", path, "--summary").stdout
        assert json.loads(eventloom("inspect", path, "--json").stdout)["attributes"]["time_of_tick_0"] == "2026-11-21T10:00:00.500000000Z"
        eventloom("report", path, "--output", tmp_path / "page.html")
        page = document_of(tmp_path / "page.html")
        assert page["run"]["time_of_tick_0"] == "2026-11-21T10:00:00.500000000Z"
        assert [event["utc"] for event in page["events"]] == ["2026-11-21T10:00:00.500001000Z", "2026-11-21T10:00:05.500000000Z"]


def test_picoseconds(tmp_path):
    run = Run(tmp_path, [csv(tmp_path, (7, 8, 9), "ps")], "--define", "gap:25,3", "--tick", "1ps", "--time-origin", GIVEN)
    assert "  utc       2026-11-21T10:00:00.000000000007Z" in eventloom("show", run.output, "--event", 0).stdout


def test_unknown_unless_stated(tmp_path):
    run = Run(tmp_path, [csv(tmp_path)], *DEFINE)
    assert tick_0(run.output) is None and tick_0(run.merged) is None
    assert "utc" not in eventloom("show", run.output, "--event", 0).stdout


@pytest.mark.parametrize("utc, leap_seconds", [("2026-11-21T10:00:00", 37), ("2017-01-01T00:00:00", 37), ("2016-12-31T23:59:50", 36),
                                               ("2012-07-02T00:00:00", 35)])
def test_white_rabbit_stamps_count_tai(tmp_path, utc, leap_seconds):
    """Tick 0 is such that the first event is at its time in UTC."""
    first = ns(utc) + leap_seconds * 10**9
    events = [Event(number, [Subevent(1, white_rabbit(first + 10 * number))]) for number in range(3)]
    (tmp_path / "wr.lmd").write_bytes(classic_file(events))
    run = Run(tmp_path, [f"lmd:{tmp_path}/wr.lmd?time=wr"], *DEFINE)
    with h5py.File(run.merged) as file:
        assert file["events/time"][:].tolist() == [first]
        assert ns(file.attrs["time_of_tick_0"]) == -leap_seconds * 10**9
    assert f"  utc       {utc}Z\n" in eventloom("show", run.merged, "--event", 0).stdout


def test_stamps_in_another_unit_or_as_words_say_nothing(tmp_path):
    run = Run(tmp_path / "us", [stamped(tmp_path, "1970-01-01T00:00:00", "&unit=us")], "--define", "gap:1ms,1")
    assert tick_0(run.output) is None
    run = Run(tmp_path / "tags", [f"lmd:{tmp_path}/wr.lmd"], "--define", "tag")
    assert tick_0(run.output) is None


def table(folder, name, origin, keys=""):
    """Three hits 10 ns apart, beginning at 10:00:00.000001 UTC."""
    rows = [f"2026-11-21T10:00:00.0000010{n}0Z,{n}" for n in range(3)]
    (folder / name).write_text("\n".join(["time,ch", *rows, ""]))
    return f"{folder}/{name}?origin={origin}{keys}"


@pytest.mark.parametrize("origin, keys, tick, reported", [
    (GIVEN, "", 1000, GIVEN), ("2026-11-21T09:59:59.5Z", "", 500_001_000, "2026-11-21T09:59:59.500000000Z"),
    (GIVEN, "&offset=-500ns", 500, "2026-11-21T10:00:00.000000500Z")])
def test_the_origin_of_a_table(tmp_path, origin, keys, tick, reported):
    run = Run(tmp_path, [table(tmp_path, "u1.csv", origin, keys)], *DEFINE, np=2)
    assert tick_0(run.output) == tick_0(run.merged) == reported
    with h5py.File(run.merged) as file:
        assert file["events/time"][:].tolist() == [tick]
    assert "  utc       2026-11-21T10:00:00.000001000Z\n" in eventloom("show", run.merged, "--event", 0).stdout


def test_origins_of_tables_contradict(tmp_path):
    one, other = table(tmp_path, "u1.csv", GIVEN), table(tmp_path, "u2.csv", "2026-11-21T09:59:00Z")
    run = Run(tmp_path / "two", [one, other], *DEFINE)
    line, = lines_with(run.done.stderr, "warning", "tick 0")
    assert all(words in line for words in (f"at {GIVEN} by the origin= of", "u1.csv", "2026-11-21T09:59:00Z by", "u2.csv", "-60 s")), line
    assert tick_0(run.output) == GIVEN
    run = Run(tmp_path / "given", [one], *DEFINE, "--time-origin", "2026-11-21T10:01:00Z")
    line, = lines_with(run.done.stderr, "warning", "tick 0")
    assert "by --time-origin" in line and "-60 s" in line and tick_0(run.output) == "2026-11-21T10:01:00Z"
    run = Run(tmp_path / "same", [one, table(tmp_path, "u3.csv", "2026-11-21T11:00:00+01:00")], *DEFINE)
    assert "tick 0" not in run.done.stderr


@pytest.mark.parametrize("np", [1, 3])
def test_a_contradiction_is_reported(tmp_path, np):
    """Reported by one rank, with both times; the given one counts."""
    uri = stamped(tmp_path, "2026-11-21T10:00:00")
    run = Run(tmp_path, [uri], *DEFINE, "--time-origin", "1970-01-01T00:00:00Z", np=np)
    line, = lines_with(run.done.stderr, "warning", "tick 0")
    assert all(words in line for words in ("1970-01-01T00:00:00Z by --time-origin", "1969-12-31T23:59:23Z by the White Rabbit stamps", "wr.lmd", "-37 s")), line
    assert tick_0(run.output) == "1970-01-01T00:00:00Z"


def test_agreement_is_not_reported(tmp_path):
    run = Run(tmp_path, [stamped(tmp_path, "2026-11-21T10:00:00")], *DEFINE, "--time-origin", "1969-12-31T23:59:23Z")
    assert "tick 0" not in run.done.stderr and tick_0(run.output) == "1969-12-31T23:59:23Z"


def test_boards_contradict(tmp_path):
    port = free_port()
    stream = ["--sources", 2, "--rate", 20_000, "--hits", 8, "--duration", "500ms", "--seed", 3]
    with LiveRun(tmp_path / "run", [udp(port, sources="0,1")], *DEFINE, "--epoch-timeout", "20s", "--time-origin", GIVEN).listening() as run, \
            Started(tmp_path, "generate", *stream, "--live", "--to", f"udp://{HOST}:{port}", "--output", tmp_path / "made") as maker:
        maker.wait(0)
        reported = run.wait(0)
    one, more = lines_with(reported, "warning", "tick 0")[0], lines_with(reported, "1 more sources contradict")
    stated = re.search(r"but at (\S+) by", one).group(1)
    assert abs(datetime.fromisoformat(stated[:19]).replace(tzinfo=timezone.utc) - datetime.now(timezone.utc)) < timedelta(minutes=2)
    assert len(more) == 1 and tick_0(tmp_path / "run" / "run.h5") == GIVEN


def test_resume_needs_the_same(tmp_path):
    sources = generate(tmp_path / "in", sources=2, rate=20_000, hits=8, noise=200_000, duration="60ms", seed=3)
    words = ["run", *(word for uri in sources for word in ("--source", uri)), *DEFINE, "--segment-size", "1", "--epochs-per-slice", "20"]
    folder = tmp_path / "run"
    with Started(folder, *words, "--time-origin", GIVEN, "--speed", "0.003") as started:
        started.until_parts(3)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    assert tick_0(folder / "run.h5") == GIVEN
    for other in ([], ["--time-origin", "2026-11-21T10:00:01Z"]):
        only_line(eventloom(*words, *other, "--resume", cwd=folder, code=2), "--time-origin was '2026-11-21T10:00:00Z'")
    eventloom(*words, "--time-origin", "2026-11-21T11:00:00+01:00", "--resume", cwd=folder)
    assert tick_0(folder / "run.h5") == GIVEN
    whole = Run(tmp_path / "whole", sources, *words[-4:], *DEFINE, "--time-origin", GIVEN)
    assert eventloom("compare", folder / "run.h5", whole.output).stdout.count("note") == 0


@pytest.mark.parametrize("text", ["2026-11-21T10:00:00", "2026-11-21_10:00:00Z", "yesterday", "2026-02-30T00:00:00Z",
                                  "2026-11-21T10:00:00.1234567891Z", "2026-11-21T25:00:00Z", "1795255200"])
def test_mistakes(tmp_path, text):
    uri = csv(tmp_path)
    reported = only_line(eventloom("run", uri, *DEFINE, "--time-origin", text, "--output", tmp_path / "run.h5", code=2), "--time-origin", text)
    assert "2026-11-21T10:00:00Z" in reported and not (tmp_path / "run.h5").exists()


def test_event_numbers_have_no_time(tmp_path):
    only_line(eventloom("run", f"lmd:{DATA}/lmd/classic_16k.lmd", "--define", "tag", "--time-origin", GIVEN, "--output",
                        tmp_path / "run.h5", code=2), "--time-origin", "event numbers")
