"""HLD files: DABC's compared with their manifest and a reference reader, a real recording of TRB3 boards, and files
made here."""

import ast
import csv
import dataclasses
import gzip
import json
import os
import random
import re
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from hld_reference import (TDC_COLUMNS, Event, Subevent, encode, encode_subevent, hits_of_tdcs, hld_file, parse_hld, read_hld,
                           tdc_block, tdc_hits, tdc_words)
from lmd_reference import by_time, expected_run, hits_of_events, sort_out
from program import DATA, ROOT, Run, eventloom, only_line
from reference import find_events, merged_file, weave
from results import assert_balanced, assert_same, dropped, read_ledger, read_merged

FILES = sorted((DATA / "hld").glob("*.hld"))
JPET = Path(os.environ.get("EVENTLOOM_SAMPLES", ROOT.parent / "shared" / "data")) / "hld" / "jpet"
RECORDING = JPET / "xx14099113231.hld"
needs_jpet = pytest.mark.skipif(not RECORDING.exists(), reason="SKIPPED: the J-PET recording is not in the repository, and the "
                                "folder that EVENTLOOM_SAMPLES names (or ../shared/data) has no hld/jpet")


def by_name(path):
    return path.stem


def hld(path, query=""):
    return f"hld:{path}" + (f"?{query}" if query else "")


def inspect(uri, *options, code=0):
    return json.loads(eventloom("inspect", uri, "--json", *options, code=code).stdout)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def manifest():
    """{file name: its entry in MANIFEST.md}; ids with the byte order of their subevents"""
    found = {}
    for entry in re.split(r"^- ", (DATA / "hld" / "MANIFEST.md").read_text(), flags=re.M)[1:]:
        number = lambda word: int(re.search(rf"\b{word} (\d+)", entry)[1])  # noqa: E731
        literal = lambda word: ast.literal_eval(re.search(rf"\b{word} ([{{\[].*?[}}\]])", entry)[1])  # noqa: E731
        found[entry.split()[0]] = {
            "file_bytes": number("bytes"), "events": number("events"), "first_number": number("first"),
            "last_number": number("last"), "subevents": number("subevents"), "padded": number("subs"),
            "triggers": {str(trigger): n for trigger, n in literal("types").items()}, "ids": literal("ids"),
            "runs": [int(re.search(r"run 0x(\w+)", text)[1], 16) for text in literal("start/stop")]}
    return found


MANIFEST = manifest()


def summary(file):
    """The output expected of inspect for a reference.HldFile, by key."""
    events, numbered = file.events, sort_out(file.events)
    subevents = [s for event in events for s in event.subevents]
    return {
        "kind": "hld", "format": "hld", "damaged": file.damage is not None, "events": len(events), "subevents": len(subevents),
        "empty_events": sum(not e.subevents for e in events), "first_number": events[0].number,
        "last_number": events[-1].number, "missing_numbers": numbered.missing,
        "duplicate_numbers": numbered.events_dropped["duplicate"], "out_of_step": numbered.events_dropped["out_of_step"],
        "repeated_incomplete": numbered.events_dropped["repeated_incomplete"],
        "triggers": dict(Counter(str(e.trigger) for e in events)), "ids": dict(Counter(f"{s.id:x}" for s in subevents))}


def assert_shows(shown, expected):
    for key, value in expected.items():
        assert shown[key] == value, f"{key}: {shown[key]}, not {value}"


def check_run(folder, uris, sources, *options, np=None):
    """Runs by number and compares with the reference's events of `sources`, lists of events in file order."""
    expected, lost, hits_in = expected_run(sources)
    run = Run(folder, uris, "--define", "tag", *options, np=np, code=3 if lost or expected["events/flags"].any() else 0)
    assert_same(read_merged(run.merged), expected)
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert {cause: hits for cause, hits in dropped(ledger).items() if hits} == lost
    assert ledger["hits_in"].sum() == hits_in
    assert run.report()["exit_code"] == run.done.returncode


def convert(folder, uri, code=0):
    """The hits that `convert` makes of a source; None with exit code 2. Faster than a run."""
    done = eventloom("convert", uri, "--output", folder / "made.epochs", "--force", code=code, timeout=20)
    return done, None if done.returncode == 2 else hits_of_file(read_epochs_file(folder / "made.epochs"))


def assert_same_hits(found, expected):
    assert_same(*({name: getattr(hits, name) for name in ("time", "channel", "payload_words", "payload")}
                  for hits in (found, expected)))


def check_source(folder, uri, events):
    """Likewise for one source, with `convert`."""
    numbered = sort_out(events)
    _, hits = convert(folder, uri, code=3 if numbered.hits_dropped else 0)
    assert_same_hits(hits, hits_of_events(numbered.kept))


# The recorded files


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_reference_reader_finds_what_the_manifest_says(path):
    reported, file = MANIFEST[path.name], read_hld(path)
    subevents = [s for event in file.events for s in event.subevents]
    orders = {"big": "BE", "little": "LE"}
    found = summary(file) | {
        "file_bytes": path.stat().st_size, "padded": sum(s.size % 8 != 0 for s in subevents), "runs": [e.run for e in file.runs],
        "ids": dict(Counter(f"{s.id:x}/{orders[s.byte_order]}" for s in subevents))}
    assert_shows(found, reported)
    assert not found["damaged"] and {e.run for e in file.events} == set(reported["runs"])


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_inspect(path):
    file = read_hld(path)
    shown = inspect(path, "--events", 5)
    assert path.name in shown["file"] and shown["problems"] == []
    assert_shows(shown, summary(file) | {"file_bytes": path.stat().st_size, "byte_order": "little"})
    assert shown["first_events"] == [event.description() for event in file.events[:5]]


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_run(tmp_path, path):
    check_run(tmp_path, [hld(path)], [read_hld(path).events])


@pytest.mark.parametrize("np", [1, 2, 3])
def test_ranks_agree(tmp_path, np):
    path = DATA / "hld" / "var_small.hld"
    check_run(tmp_path, [hld(path)], [read_hld(path).events], "--epochs-per-slice", 1, "--epoch", "50ns", "--overlap", 0, np=np)


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_round_trip(tmp_path, path):
    expected, _, _ = expected_run([read_hld(path).events])
    eventloom("convert", hld(path), "--output", tmp_path / "x.epochs")
    run = Run(tmp_path / "run", [f"file:{tmp_path}/x.epochs"], "--define", "tag")
    assert_same(read_merged(run.merged), expected)


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_data_without_tdcs(tmp_path, path):
    """Data of other boards are not mistaken for times. Those of var_small are not whole TRB blocks either: reported and
    counted."""
    run = Run(tmp_path, [hld(path, "tdc")], "--define", "tag", code=3 if path.stem == "var_small" else 0)
    assert len(read_merged(run.merged)["hits/time"]) == 0


# The J-PET recording


@pytest.fixture(scope="module")
def recording():
    return read_hld(RECORDING)


@needs_jpet
def test_recording_inspect(recording):
    shown = inspect(RECORDING, "--events", 2)
    assert_shows(shown, summary(recording) | {"events": 4115, "file_bytes": 3_776_776})
    assert shown["first_events"] == [event.description() for event in recording.events[:2]]


@needs_jpet
def test_recording_as_events(tmp_path, recording):
    check_run(tmp_path, [hld(RECORDING)], [recording.events])


@needs_jpet
def test_recording_time_words(tmp_path, recording):
    """Every row of the published results, and the reference's hits in order."""
    run = Run(tmp_path, [hld(RECORDING, "tdc")], "--define", "tag", np=2)
    merged = read_merged(run.merged)
    with gzip.open(JPET / "hits.csv.gz", "rt") as file:
        rows = csv.reader(file)
        names = next(rows)
        reported = np.array([list(map(int, row)) for row in rows])
    assert len(reported) == 394_878 + 3 * 4115
    word, epoch, event = merged["payload"].reshape(-1, 3).T.astype(np.int64)
    trigger = {e.number: e.subevents[0].trigger_number for e in recording.events}
    found = {"event_seq": event, "trigger": np.array([trigger[n] for n in event.tolist()]),
             "tdc_id": merged["hits/channel"] >> 8, "channel": merged["hits/channel"] & 0xFF, "epoch": epoch,
             "coarse_5ns": word & 0x7FF, "fine": word >> 12 & 0x3FF, "rising": word >> 11 & 1}
    assert np.array_equal(found["channel"], word >> 22 & 0x7F)
    for number, name in enumerate(names):
        assert np.array_equal(reported[:, number], found[name]), name
    assert np.array_equal(merged["hits/time"], event)
    columns = tdc_hits(recording.events)
    assert np.array_equal(reported, np.stack([columns[name] for name in TDC_COLUMNS], axis=1)), "the reference reader"
    assert_same(merged, merged_file(find_events(weave([hits_of_tdcs(columns)]), "tag", 0)))


# Files made here


def event(number, subevents=2, trigger=1, source=0):
    """An event whose data depend on number, source and position."""
    return Event(number, [Subevent(0x8000 + 0x100 * source + k, [number, source, *range(k)]) for k in range(subevents)],
                 0x2000 | trigger)


def events_of(numbers, source=0):
    """Numbers alone, or (number, subevents[, trigger])."""
    return [event(*(n if isinstance(n, tuple) else (n,)), source=source) for n in numbers]


def mixed(count):
    """Events and subevents of both byte orders, all sizes and all lengths of words."""
    choose = random.Random(count)
    events = []
    for number in range(1, count + 1):
        subevents = []
        for _ in range(choose.randrange(1, 5)):
            length = choose.choice([0, 1, 2, 2, 2, 3])  # log2 of the bytes in a word
            size = (choose.choice([0, 1, 3, 10, 60]) << length)
            words = [choose.getrandbits(32) for _ in range((size + 3) // 4)]
            if size % 4:
                words[-1] &= (1 << 8 * (size % 4)) - 1
            subevents.append(Subevent(choose.choice([0x8000, 0x8123, 0x80008000]), words, choose.getrandbits(32),
                                      length << 16 | choose.choice([0x11, 0xD1]), choose.choice(["big", "little"]), size))
        events.append(Event(number, subevents, 0x2000 | choose.choice([1, 1, 13]), 77, choose.choice(["little", "little", "big"])))
    return events


def assert_reads(folder, data, events=None):
    path = write(folder / "made.hld", data)
    file = parse_hld(data)
    assert events is None or file.events == events, "the tests' own reader and writer disagree"
    shown = inspect(path, "--events", len(file.events))
    assert shown["first_events"] == [e.description() for e in file.events]
    assert_shows(shown, summary(file))
    check_source(folder, hld(path), file.events)


@pytest.mark.parametrize("count", [1, 20, 100])
def test_byte_orders_and_word_lengths(tmp_path, count):
    assert_reads(tmp_path, hld_file(mixed(count), run=77), mixed(count))


def test_without_the_end_of_the_run(tmp_path):
    """A run that was stopped hard, but between events: nothing is lost."""
    assert_reads(tmp_path, hld_file(mixed(5), run=77, end=False), mixed(5))


def test_several_runs_in_a_file(tmp_path):
    events = events_of(range(1, 9))
    assert_reads(tmp_path, hld_file(events[:4], run=0) + hld_file(events[4:], run=0), events)


NUMBERS = {  # one list a source
    "missing": [[1, 2, 5, 6]],
    "duplicate": [[1, 2, 2, 3]],
    "repeated_incomplete": [[1, (2, 1), (2, 3), 3]],
    "back": [[5, 6, 7, 6, 3, 8]],
    "wild": [[1, 2, 900_000, 3, 4]],
    "wraps": [[2**32 - 2, 2**32 - 1, 0, 1]],
    "sources": [[1, (2, 1), (2, 2), 3, 4, 4, 5], [1, 2, 3, 70_000, 4, 2, 5], [1, 3, 4, 5, 6]],
    "triggers": [[(1, 2, 1), (2, 2, 1), 3], [(1, 2, 1), (2, 2, 13), 3], [(1, 1, 1), (2, 1, 13), 3]],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(tmp_path, name):
    sources = [events_of(numbers, source) for source, numbers in enumerate(NUMBERS[name])]
    paths = [write(tmp_path / f"{number}.hld", hld_file(events)) for number, events in enumerate(sources)]
    check_run(tmp_path / "run", [hld(path) for path in paths], sources, np=2)
    for path, events in zip(paths, sources):
        assert_shows(inspect(path), summary(parse_hld(hld_file(events))))


def test_narrow_counters_wrap_around(tmp_path):
    events = events_of([2**24 + k for k in (-3, -2, -1, 0, 1, 4)])
    low = [dataclasses.replace(event, number=event.number % 2**24 | 0x5A000000) for event in events]
    path = write(tmp_path / "made.hld", hld_file(low))
    run = Run(tmp_path / "run", [f"hld:{path}?bits=24"], "--define", "tag")
    assert read_merged(run.merged)["events/time"].tolist() == [event.number for event in events]
    assert inspect(f"hld:{path}?bits=24")["missing_numbers"] == 2
    only_line(eventloom("inspect", f"hld:{path}?tdc&time=tdc&bits=24", code=2), "bits=")


@pytest.mark.parametrize("key, low, bits", [("number=word:1&from=8020", 0, 32), ("number=word:1:8-31", 8, 24)])
def test_numbers_in_the_data(tmp_path, key, low, bits):
    """Numbers wrap; an event without the word is dropped, reported and counted."""
    numbers = [2**bits + k for k in range(-20, 30)]
    choose = random.Random(bits)
    data = lambda n: [7, n % 2**bits << low | choose.getrandbits(low)]  # noqa: E731
    events = [Event(1, [Subevent(0x8010, [5]), Subevent(0x8020, data(n), byte_order=choose.choice(["big", "little"]))]) for n in numbers]
    events[10].subevents.pop()
    path = write(tmp_path / "made.hld", hld_file(events))
    done, hits = convert(tmp_path, f"hld:{path}?{key}", code=3)
    kept = [(n, event) for k, (n, event) in enumerate(zip(numbers, events)) if k != 10]
    assert_same_hits(hits, hits_of_events(kept))
    where = "0x8020 " if "from" in key else ""
    assert done.stderr.count(f"event 1 is dropped: no subevent {where}has data word 1 with its number") == 1, done.stderr
    shown = inspect(f"hld:{path}?{key}")
    assert (shown["first_number"], shown["missing_numbers"], shown["untimed_events"]) == (numbers[0], 1, 1)


# Time words


def tdc_file(byte_order):
    """Two boards with two TDCs and a trigger system each, and data of another device."""
    choose = random.Random(7)
    events = []
    for number in range(1, 40):
        subevents = []
        for board in range(2):
            words = []
            for tdc in range(2):
                epoch = 1000 * number + choose.randrange(3)
                hits = sorted((choose.randrange(65), epoch + choose.randrange(2), choose.randrange(2048), choose.randrange(1024),
                               choose.randrange(2)) for _ in range(choose.randrange(6)))
                words += tdc_block(0xE000 + 0x10 * board + tdc, tdc_words(sorted(hits, key=lambda hit: hit[1])))
            words += tdc_block(0x8000, [0x2006F096, 0, 0xFFFFFFFF, 0, 0xDEADBEEF]) + tdc_block(0x5555, [1])
            subevents.append(Subevent(0x8000 + board, words, number, 0x00020001, byte_order))
        subevents.append(Subevent(0x9000, tdc_block(0x3000, [0, 0x80000001, 0x90000002]), number, 0x00020001, byte_order))
        events.append(Event(number, subevents))
    return events


@pytest.mark.parametrize("query, time", [("tdc", "tag"), ("tdc&time=tdc", "tdc")])
@pytest.mark.parametrize("byte_order", ["big", "little"])
def test_time_words(tmp_path, byte_order, query, time):
    events = tdc_file(byte_order)
    path = write(tmp_path / "made.hld", hld_file(events))
    columns = tdc_hits(events)
    assert len(columns["event"]) > 100 and set(columns["tdc"]) == {0xE000, 0xE001, 0xE010, 0xE011}
    hits = hits_of_tdcs(columns, time)
    assert np.all(hits.channel >> 8 == columns["tdc"])
    options = [] if time == "tag" else ["--epoch", "100us", "--overlap", "100us"]
    run = Run(tmp_path / "run", [hld(path, query)], "--define", "tag", *options)
    assert_same(read_merged(run.merged), merged_file(find_events(weave([hits]), "tag", 0)))


def test_inspect_counts_times_by_tdc_and_channel(tmp_path):
    events = tdc_file("big")
    path = write(tmp_path / "made.hld", hld_file(events))
    columns = tdc_hits(events)
    places = Counter(zip(columns["tdc"].tolist(), columns["channel"].tolist()))
    for shown in (inspect(path, "--tdc"), inspect(hld(path, "tdc"))):
        assert shown["tdc_channels"] == {f"{tdc:x}/{channel}": n for (tdc, channel), n in places.items()}
    assert "tdc_channels" not in inspect(path)


@pytest.mark.parametrize("words", [[0xFFFF_E000, 1], [0xE000], [0x0003_E000, 0x20000000, 0x60000001], [0x0000_E000] * 3],
                         ids=["longer", "empty", "cut", "many_empty"])
def test_subsubevent_that_leaves_its_subevent(tmp_path, words):
    """The previous blocks are read, and those of later events."""
    good = tdc_block(0xE000, tdc_words([(1, 5, 10, 0, 1), (2, 5, 11, 0, 1)]))
    events = [Event(n, [Subevent(0x8000, good + rest, n)]) for n, rest in enumerate([[], words, []], 1)]
    path = write(tmp_path / "made.hld", hld_file(events))
    done, hits = convert(tmp_path, hld(path, "tdc"), code=None)
    assert done.returncode != 2
    assert_same_hits(hits, hits_of_tdcs(tdc_hits(events)))


# Damage


def assert_located(done, offset, end):
    """A message names the file and a place in [offset, end]."""
    lines = [line for line in done.stderr.splitlines() if "made.hld" in line]
    assert lines, f"no message names the file:\n{done.stderr}"
    numbers = {int(text, 0) for line in lines for text in re.findall(r"\b0x[0-9a-f]+\b|\b\d+\b", line)}
    assert any(offset <= number <= end for number in numbers), f"no message names a byte of {offset}..{end}: {lines}"


def assert_damaged(folder, items, events, lost):
    """Exit code 3; the events before number `lost` are present, none is false, and a message names the place."""
    data = hld_file(items)
    path = write(folder / "made.hld", data)
    shown = inspect(path, code=3)
    assert shown["damaged"] and shown["problems"] and shown["events"] >= lost - 1
    done, hits = convert(folder, hld(path), code=3)
    assert_located(done, 32 + sum(len(encode(item)) for item in items[:lost - 1]), len(data))
    found, true = by_time(hits), by_time(hits_of_events([(e.number, e) for e in events]))
    assert all(found[n] == true[n] for n in range(1, lost)), "an event before the damage is missing or changed"
    assert all(true.get(n) == items for n, items in found.items() if n != lost), "an event that was never written"


SIZES = [0, 1, 8, 15, 0x7FFFFFFF, 0xFFFFFFF0, 0xFFFFFFF8, 0xFFFFFFFF]


@pytest.mark.parametrize("size", [*SIZES, 31], ids=hex)
def test_size_of_an_event(tmp_path, size):
    events = events_of(range(1, 7))
    items = [encode(e) for e in events]
    items[3] = encode(events[3], size=size)
    assert_damaged(tmp_path, items, events, 4)


@pytest.mark.parametrize("size", [*SIZES, "one more"], ids=str)
@pytest.mark.parametrize("byte_order", ["big", "little"])
def test_size_of_a_subevent(tmp_path, byte_order, size):
    """The subevent extends beyond its event, or is shorter than its header."""
    events = events_of(range(1, 7))
    for e in events:
        e.subevents[-1].byte_order = byte_order
    broken = events[3].subevents[-1]
    items = [encode(e) for e in events]
    lie = encode_subevent(broken, (broken.size + 7) // 8 * 8 + 1 if size == "one more" else size)
    items[3] = items[3][:-len(lie)] + lie
    assert_damaged(tmp_path, items, events, 4)


def test_cut_anywhere(tmp_path):
    """All events before the cut are read, and the exit code reports whether an event was cut."""
    events = [e for e in mixed(12) if e.byte_order == "little"]
    data = hld_file(events, run=77)
    edges = (32 + np.cumsum([0, *(len(encode(e)) for e in events), 32])).tolist()
    choose = random.Random(1)
    near = [edge + d for edge in edges for d in (-1, 0, 1, 8)]
    for size in sorted({0, 1, 31, 32, *choose.sample(near, 20), *(choose.randrange(len(data)) for _ in range(30))}):
        path = write(tmp_path / "made.hld", data[:size])
        code = 2 if size < 32 else 0 if size in edges or size >= len(data) else 3
        done = eventloom("inspect", path, "--json", code=code)
        converted, hits = convert(tmp_path, hld(path), code)
        if code == 2:
            assert len(done.stderr.splitlines()) == 1 and len(converted.stderr.splitlines()) == 1
            continue
        whole = [e for e, end in zip(events, edges[1:]) if end <= size]
        shown = json.loads(done.stdout)
        assert (shown["events"], shown["damaged"]) == (len(whole), code == 3), size
        assert_same_hits(hits, hits_of_events([(e.number, e) for e in whole]))
        if code == 3:
            assert_located(converted, max(edge for edge in edges if edge <= size), len(data))


@pytest.mark.parametrize("seed", range(16))
def test_anything_anywhere(tmp_path, seed):
    """Seeded damage of every kind: one of the contract's exit codes, in time, and .epochs that can be read."""
    choose = random.Random(seed)
    data = bytearray(hld_file(choose.choice([mixed(10), tdc_file("big")[:10]])))
    for _ in range(choose.choice([1, 1, 3, 20])):
        at, size = choose.randrange(len(data)), choose.choice([1, 2, 4, 64])
        kind = choose.choice(["bit", "bytes", "ones", "insert", "delete"])
        if kind == "bit":
            data[at] ^= 1 << choose.randrange(8)
        elif kind in ("bytes", "ones"):
            size = len(data[at:at + size])
            data[at:at + size] = choose.randbytes(size) if kind == "bytes" else b"\xff" * size
        elif kind == "insert":
            data[at:at] = choose.randbytes(size)
        else:
            del data[at:at + size]
    path = write(tmp_path / "made.hld", bytes(data))
    eventloom("inspect", path, "--json", "--events", 3, code=None, timeout=20)
    for query in ("", "tdc"):
        convert(tmp_path, hld(path, query), code=None)


@pytest.mark.parametrize("decoding", [0x00200011, 0x00FF0011, 0x00040011, 0x001F0011], ids=hex)
def test_word_length_beyond_reason(tmp_path, decoding):
    """2 to the 255 bytes in a word: refused or read, never a crash."""
    item = bytearray(encode(event(2)))
    struct.pack_into(">I", item, 32 + 4, decoding)
    path = write(tmp_path / "made.hld", hld_file([event(1), bytes(item), event(3)]))
    eventloom("inspect", path, "--json", "--events", 3, code=None)
    convert(tmp_path, hld(path), code=None)


def test_no_such_file(tmp_path):
    write(tmp_path / "text.hld", b"not a recording\n" * 40)
    write(tmp_path / "empty.hld", b"")
    for name in ("none.hld", "text.hld", "empty.hld"):
        only_line(eventloom("inspect", name, code=2, cwd=tmp_path), name)
        only_line(eventloom("convert", hld(name), "--output", "x.epochs", code=2, cwd=tmp_path), name)
        only_line(eventloom("run", "--source", hld(name), "--define", "tag", code=2, cwd=tmp_path), name)
    assert sorted(os.listdir(tmp_path)) == ["empty.hld", "text.hld"]


@pytest.mark.parametrize("query, word", [("time=noon", "noon"), ("colour=red", "colour"), ("time=tdc", "tdc"),
                                         ("from=8000", "number="), ("number=word:0&bits=24", "bits="), ("number=word:0:0-7", "16 of the bits"),
                                         ("number=word:0&from=crate", "from=crate")])
def test_query_that_makes_no_sense(tmp_path, query, word):
    """For example, time=tdc without tdc."""
    done = eventloom("convert", hld(DATA / "hld" / "var_small.hld", query), "--output", tmp_path / "x.epochs", code=2)
    only_line(done, word)
    assert list(tmp_path.iterdir()) == []
