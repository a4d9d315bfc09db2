"""compare: which events and hits of two runs differ, as numpy finds them in their merged files; damage; mistakes."""

import json
import re
import shutil
import signal

import h5py
import numpy as np
import pytest

from interrupted import STOPPED, Started
from program import Run, eventloom, generate, only_line
from recordings import write_csv
from results import read_ledger, read_merged
from seals import seal

DEFINE = ["--define", "gap:100,4"]
RECORDING = {"sources": 3, "rate": 20_000, "hits": 8, "width": "50ns", "noise": 500_000, "duration": "60ms", "payload": 2, "seed": 5}
ASPECTS = ("hits", "payload", "duration", "flags", "sources_missing")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("recording"), **RECORDING)


@pytest.fixture(scope="module")
def run(tmp_path_factory, sources):
    """Two writers, several parts each."""
    return Run(tmp_path_factory.mktemp("run"), sources, *DEFINE, "--builders", 2, "--epochs-per-slice", 20,
               "--segment-size", "100000", np=2)


def compare(*arguments, code):
    return json.loads(eventloom("compare", *arguments, "--json", code=code).stdout)


def events_of(merged):
    """{time: (hits, payload, duration, flags, sources missing)}"""
    first, words = merged["events/first_hit"].tolist(), merged.get("hits/first_payload")
    columns = [merged[f"hits/{name}"].tolist() for name in ("time", "channel", "source")]
    hits = list(zip(*columns))
    payload = [()] * len(hits)
    if words is not None:
        word = merged["payload"].tolist()
        payload = [tuple(word[a:b]) for a, b in zip(words.tolist(), words.tolist()[1:])]
    about = zip(*(merged[f"events/{name}"].tolist() for name in ("time", "duration", "flags", "sources_missing")))
    return {time: (hits[a:b], payload[a:b], *rest) for (time, *rest), a, b in zip(about, first, first[1:])}


def expected(a, b):
    """The expected output of compare for two merged files."""
    a, b = (events_of(read_merged(path)) for path in (a, b))
    both = sorted(a.keys() & b.keys())
    differing = {}
    for time in both:
        of = [name for name, x, y in zip(ASPECTS, a[time], b[time]) if x != y]
        if "hits" in of and "payload" in of:
            of.remove("payload")
        if of:
            differing[time] = of
    found = {"only_in_a": len(a.keys() - b.keys()), "only_in_b": len(b.keys() - a.keys()), "different": len(differing),
             "same": len(both) - len(differing),
             "different_in": {name: sum(name in of for of in differing.values()) for name in ASPECTS}}
    firsts = [(time, differing.get(time, [])) for time in sorted((a.keys() ^ b.keys()) | differing.keys())]
    return found, firsts, a, b


def assert_as_expected(one, other, merged_one, merged_other, most=10):
    found, firsts, a, b = expected(merged_one, merged_other)
    said = compare(one, other, "--differences", most, code=3 if firsts else 0)
    assert {name: said[name] for name in found} == found
    assert said["differs"] == bool(firsts)
    assert [(d["time"], d["differs_in"]) for d in said["first_differences"]] == firsts[:most]
    for side, events, path in (("a", a, merged_one), ("b", b, merged_other)):
        assert (said[side]["events"], said[side]["hits"]) == (len(events), sum(len(e[0]) for e in events.values()))
        ledger = read_ledger(path)
        assert said[side]["ledger"] == {name: ledger[name].sum() for name in said[side]["ledger"]}
        numbers = {time: number for number, time in enumerate(sorted(events))}
        for d in said["first_differences"]:
            assert (side in d) == (d["time"] in events)
            if side in d:
                hits, payload, duration, flags, missing = events[d["time"]]
                assert [(h["time"], h["channel"], h["source"]) for h in d[side]["hits"]] == hits
                assert [tuple(h.get("payload", ())) for h in d[side]["hits"]] == payload
                assert (d[side]["duration"], d[side]["flags"], d[side]["sources_missing"]) == (duration, flags, missing)
                assert (d[side]["number"], d[side]["n_hits"]) == (numbers[d["time"]], len(hits))
    return said


def change(path, target, column, row, value):
    """A copy of a merged file in which one number is changed, with matching checksums."""
    shutil.copy(path, target)
    with h5py.File(target, "r+") as file:
        assert file[column][row] != value
        file[column][row] = value
        seal(file)
    return target


def test_a_run_is_the_same_as_its_merged_file_and_as_itself(run):
    for pair in ((run.output, run.merged), (run.merged, run.output), (run.merged, run.merged), (run.output, run.output)):
        said = assert_as_expected(*pair, run.merged, run.merged)
        assert said["same"] > 1000 and said["notes"] == []
    done = eventloom("compare", run.output, run.merged)
    assert "the ledgers agree" in done.stdout and "A" not in done.stdout.split("the ledgers agree")[1]


def test_slices_and_writers_do_not_matter(tmp_path, sources, run):
    other = Run(tmp_path, sources, *DEFINE, "--epochs-per-slice", 7, "--overlap", "40us", "--compress", 3)
    said = assert_as_expected(run.output, other.output, run.merged, other.merged)
    assert said["a"]["ledger"] == said["b"]["ledger"]


@pytest.mark.parametrize("options", [["--define", "gap:100,5"], ["--define", "gap:60,4"], ["--define", "multiplicity:100,4"],
                                     [*DEFINE, "--filter", "n_hits>=8"], ["--define", "gap:25,4", "--overlap", "30"]])
def test_other_definitions(tmp_path, sources, run, options):
    other = Run(tmp_path, sources, *options, code=None)
    assert_as_expected(run.output, other.merged, run.merged, other.merged, most=40)
    said = assert_as_expected(other.output, run.output, other.merged, run.merged, most=0)
    assert said["different"] + said["only_in_a"] + said["only_in_b"] > 100


def test_events_that_begin_together(tmp_path):
    """With --per-source the first hit identifies an event: of those that begin at a tick, one run has fewer."""
    times = np.sort(np.random.default_rng(2).integers(0, 2000, 3000) * 10)
    for k in range(3):
        write_csv(tmp_path / f"{k}.csv", times, np.full(len(times), k))
    files = [f"csv:{tmp_path}/{k}.csv?time=1&channel=2&unit=tick" for k in range(3)]
    options = ["--define", "fixed:10", "--per-source", "--builders", 2, "--segment-size", "20000"]
    whole = Run(tmp_path / "whole", files, *options)
    fewer = Run(tmp_path / "fewer", files, *options, "--filter", "n_hits>=2 || source:1==0")
    starts = [list(zip(merged["events/time"].tolist(), merged["hits/source"][merged["events/first_hit"][:-1]].tolist()))
              for merged in (read_merged(run.merged) for run in (whole, fewer))]
    assert len(set(starts[0])) == len(starts[0]) and 0 < len(starts[1]) < len(starts[0]) and set(starts[1]) < set(starts[0])
    for a, b, only in ((whole, fewer, "only_in_a"), (fewer, whole, "only_in_b")):
        found = compare(a.output, b.output, code=3)
        assert found["same"] == len(starts[1]) and found[only] == len(starts[0]) - len(starts[1]) and found["different"] == 0


def test_another_input(tmp_path, sources, run):
    """One source less: its hits are missing in the events, and the others keep their numbers."""
    other = Run(tmp_path, sources[:2], *DEFINE)
    said = assert_as_expected(run.output, other.output, run.merged, other.merged)
    assert "A has 3 sources, B has 2" in said["notes"]


def test_no_payload_on_one_side(tmp_path, run):
    """The events are equal except for their payload."""
    bare = tmp_path / "bare.h5"
    shutil.copy(run.merged, bare)
    with h5py.File(bare, "r+") as file:
        del file["payload"], file["hits/first_payload"]
        file.attrs["with_payload"] = np.uint64(0)
        seal(file)
    said = assert_as_expected(run.merged, bare, run.merged, bare)
    assert said["same"] == 0 and said["different_in"]["payload"] == said["different"]


@pytest.mark.parametrize("column, value", [("hits/time", 1), ("hits/channel", 77), ("hits/source", 9), ("payload", 0xABCD),
                                           ("events/flags", 2), ("events/sources_missing", 5)])
@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_one_number(tmp_path, run, column, value, where):
    with h5py.File(run.merged) as file:
        inner = int(column == "hits/time")  # an event's time and duration are those of its first and its last hit
        row = {"first": inner, "middle": len(file[column]) // 2, "last": len(file[column]) - 1 - inner}[where]
    other = change(run.merged, tmp_path / "other.h5", column, row, value)
    said = assert_as_expected(run.merged, other, run.merged, other)
    assert (said["different"], said["only_in_a"], said["only_in_b"]) == (1, 0, 0)
    aspect = column.split("/")[-1] if column.startswith("events") else "payload" if column == "payload" else "hits"
    assert said["different_in"] == {name: int(name == aspect) for name in ASPECTS}


def test_a_longer_event(tmp_path, run):
    with h5py.File(run.merged) as file:
        hit, duration = int(file["events/first_hit"][8]) - 1, file["events/duration"][7]
        time = file["hits/time"][hit]
    other = change(run.merged, tmp_path / "later.h5", "hits/time", hit, time + 1)
    other = change(other, tmp_path / "longer.h5", "events/duration", 7, duration + 1)
    said = assert_as_expected(run.merged, other, run.merged, other)
    assert (said["different"], said["different_in"]["hits"], said["different_in"]["duration"]) == (1, 1, 1)


@pytest.mark.parametrize("column, row, word", [("events/duration", 7, "/events/duration"), ("hits/time", 0, "/events/time"),
                                               ("hits/time", -1, "/events/duration")])
def test_a_file_that_contradicts_itself_is_damaged(tmp_path, run, column, row, word):
    """The file is damaged, whatever its checksums."""
    other = change(run.merged, tmp_path / "other.h5", column, row, 3)
    only_line(eventloom("compare", run.merged, other, code=2), other, word, "damaged")


def test_the_text_marks_the_hits_that_differ(tmp_path, run):
    with h5py.File(run.merged) as file:
        first = file["events/first_hit"][20:22].tolist()
        time, source = file["hits/time"][first[0] + 1] - file["hits/time"][first[0]], file["hits/source"][first[0] + 1]
        channel = file["hits/channel"][first[0] + 1]
    other = change(run.merged, tmp_path / "other.h5", "hits/channel", first[0] + 1, 4321)
    said = eventloom("compare", run.merged, other, code=3).stdout
    assert "in both, event 20 of A and 20 of B, with other hits" in said
    marked = [line.split() for line in said.splitlines() if line.startswith(("  A    ", "  B    "))]
    shown = f"{channel >> 22}/{channel >> 16 & 63}/{channel & 0xffff}" if channel >> 16 else str(channel)
    assert [row[:4] for row in marked] == [["A", f"{time}ns", str(source), shown], ["B", f"{time}ns", str(source), "4321"]]
    assert len(re.findall(r"^  [AB ] +\d+[pn]s +\d+ +[\d/]+  0x", said, re.MULTILINE)) == first[1] - first[0] + 1


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Two events of 70,000 hits with one word each: more than are read at a time."""
    folder = tmp_path_factory.mktemp("large")
    with h5py.File(folder / "hits.h5", "w") as file:
        time = np.concatenate([np.arange(70_000) // 20, 1_000_000 + np.arange(70_000) // 20])
        for name, column in (("time", time), ("channel", np.arange(len(time)) % 1000), ("tot", np.arange(len(time)))):
            file[f"all/{name}"] = column.astype("u4")
    return Run(folder / "run", [f"hdf5:{folder}/hits.h5?group=/all&time=time&channel=channel&payload=tot&unit=ns"], "--define", "gap:2,9")


@pytest.mark.parametrize("column, row", [("hits/channel", 4095), ("hits/channel", 4096), ("hits/source", 69_999), ("hits/channel", 70_000),
                                         ("payload", 4096), ("payload", 65_535), ("payload", 65_536), ("payload", 139_999)])
def test_large_events(tmp_path, large, column, row):
    other = change(large.merged, tmp_path / "other.h5", column, row, 9)
    said = assert_as_expected(large.output, other, large.merged, other, most=0)
    assert (said["same"], said["different"], said["different_in"]["payload" if column == "payload" else "hits"]) == (1, 1, 1)
    reported = eventloom("compare", large.output, other, code=3).stdout
    marked = [line.split()[0] for line in reported.splitlines() if line.startswith(("  A    ", "  B    "))]
    assert "shown are its first 10000 hits" in reported and marked == (["A", "B"] if row % 70_000 < 10_000 else [])


def test_ledgers_differ_where_events_do_not(tmp_path):
    """One more hit outside events: reported, although no event differs."""
    times = [1000, 1010, 1020, 50_000, 90_000, 90_001, 90_002]
    write_csv(tmp_path / "a.csv", times, [1] * 7)
    write_csv(tmp_path / "b.csv", [*times, 200_000], [1] * 8)
    a, b = (Run(tmp_path / name, [f"csv:{tmp_path}/{name}.csv?time=1&channel=2&unit=tick"], "--define", "gap:25,3") for name in "ab")
    said = assert_as_expected(a.output, b.output, a.merged, b.merged)
    assert (said["same"], said["a"]["ledger"]["hits_outside"], said["b"]["ledger"]["hits_outside"]) == (2, 1, 2)
    lines = [line.split() for line in eventloom("compare", a.output, b.output).stdout.splitlines()]
    assert ["hits_in", "7", "8"] in lines and ["hits_outside", "1", "2"] in lines and not any("hits_rejected" in line for line in lines)


def test_runs_without_events(tmp_path, run):
    write_csv(tmp_path / "few.csv", [10, 100_000], [1, 2])
    empty = Run(tmp_path / "empty", [f"csv:{tmp_path}/few.csv?time=1&channel=2&unit=tick"], "--define", "gap:25,3")
    for pair in ((empty.output, empty.merged), (empty.merged, empty.output)):
        assert_as_expected(*pair, empty.merged, empty.merged)
    assert_as_expected(empty.output, run.output, empty.merged, run.merged)
    assert_as_expected(run.merged, empty.merged, run.merged, empty.merged)


def test_a_stopped_run(tmp_path, sources, run):
    """Compares what the stopped run has finished, which the whole run has, too."""
    words = [word for uri in sources for word in ("--source", uri)]
    options = ["--epochs-per-slice", "20", "--segment-size", "20000", "--speed", "0.01", "--output", "run.h5"]
    with Started(tmp_path, "run", *words, *DEFINE, *options) as started:
        started.until_parts(4)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    said = compare(run.output, tmp_path / "run.h5", code=3)
    assert said["only_in_b"] == said["different"] == 0 and said["b"]["events"] == said["same"] > 0
    assert said["b"]["closed"] is False and any("B has not ended" in note for note in said["notes"])


@pytest.mark.parametrize("column", ["events/time", "events/slice", "events/first_hit", "hits/channel", "hits/first_payload",
                                    "payload", "ledger/hits_in"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_flipped_bit_is_no_difference(tmp_path, run, column, side):
    damaged = tmp_path / "damaged.h5"
    shutil.copy(run.merged, damaged)
    with h5py.File(damaged) as file:
        chunk = file[column].id.get_chunk_info(file[column].id.get_num_chunks() - 1)
    with open(damaged, "r+b") as file:
        file.seek(chunk.byte_offset + 5)
        byte = file.read(1)[0]
        file.seek(chunk.byte_offset + 5)
        file.write(bytes([byte ^ 4]))
    pair = [run.output, run.output]
    pair[side] = damaged
    only_line(eventloom("compare", *pair, code=2), damaged, "/" + column)


def test_truncated_and_missing_files(tmp_path, run):
    for size in (0, 100, 4096, run.merged.stat().st_size - 1):
        cut = tmp_path / "cut.h5"
        cut.write_bytes(run.merged.read_bytes()[:size])
        only_line(eventloom("compare", run.merged, cut, code=2), cut)
    lonely = shutil.copy(run.output, tmp_path / "run.h5")
    only_line(eventloom("compare", lonely, run.output, code=2), tmp_path, "is missing: keep the parts")
    part = next(run.output.parent.glob("run.part*.h5"))
    only_line(eventloom("compare", part, run.output, code=2), part.name, "one part of a run")


def test_times_that_cannot_be_compared(tmp_path):
    write_csv(tmp_path / "hits.csv", [10, 20, 30], [1, 2, 3])
    uri = f"csv:{tmp_path}/hits.csv?time=1&channel=2&unit=tick"
    ns = Run(tmp_path / "ns", [uri], "--define", "gap:25,3")
    ps = Run(tmp_path / "ps", [uri], "--define", "gap:25,3", "--tick", "1ps")
    only_line(eventloom("compare", ns.output, ps.output, code=2), "A has ticks of 1000 ps, B of 1 ps")


def test_mistakes(run):
    for words, reported in (([], "two files, not 0"), ([run.output], "two files, not 1"), ([run.output] * 3, "two files, not 3"),
                        ([run.output, "none.h5"], "none.h5"), ([run.output, run.output, "--differences", "-1"], "--differences"),
                        ([run.output, run.output, "--differences", "1e9"], "--differences"),
                        ([run.output, run.report_file], "report.json"), ([run.output, run.output.parent], "no regular file")):
        only_line(eventloom("compare", *words, code=2), reported)
