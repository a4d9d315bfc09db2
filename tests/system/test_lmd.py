"""LMD files: those of GSI's own programs compared with their manifest and a reference reader, and files made here for
the rest."""

import ast
import json
import os
import random
import re
import struct

import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from lmd_reference import (HEADER_BYTES, Damage, Event, Subevent, built, by_time, classic_buffers, classic_file, classic_header,
                           element, encode, encode_subevent, expected_run, flat_file, hits_of_events, parse_lmd, read_lmd,
                           sort_out, white_rabbit)
from program import DATA, Run, eventloom, only_line
from recordings import read_csv, write_csv
from reference import find_events, merged_file, weave
from results import assert_balanced, assert_same, dropped, read_ledger, read_merged

FILES = sorted((DATA / "lmd").glob("*.lmd"))
TYPICAL = {"be_flat", "classic_16k", "gen_partial_0000", "var_2byte"}


def by_name(path):
    return path.stem


def lmd(path, query="time=tag"):
    return f"lmd:{path}?{query}"


def inspect(uri, *options, code=0):
    done = eventloom("inspect", uri, "--json", *options, code=code)
    return json.loads(done.stdout)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def manifest():
    """{file name: its entry in MANIFEST.md}"""
    found = {}
    for entry in re.split(r"^- ", (DATA / "lmd" / "MANIFEST.md").read_text(), flags=re.M)[1:]:
        number = lambda pattern: int(re.search(pattern, entry)[1])  # noqa: E731
        form, order = re.search(r"\n  format (\S+) (LE|BE)", entry).groups()
        buffers = re.search(r"buffers (\d+), (\d+) begin", entry)
        table = re.search(r"index table at byte (\d+)", entry)
        found[entry.split()[0]] = {
            "file_bytes": number(r"  (\d+) bytes"), "format": form, "byte_order": {"LE": "little", "BE": "big"}[order],
            "events": number(r"events (\d+) "), "first_number": number(r"first (\d+),"), "last_number": number(r"last (\d+),"),
            "steps": number(r"non-sequential steps (\d+)"), "subevents": number(r"subevents (\d+);"),
            "event_bytes": number(r"event bytes (\d+);"),
            "triggers": {str(k): n for k, n in ast.literal_eval(re.search(r"triggers (\{.*?\})", entry)[1]).items()},
            "ids": re.search(r"ccrrpppp\) ([0-9a-f ]+);", entry)[1].split(),
            "subevent_dlen": dict(zip(("min", "max"), map(int, re.search(r"l_dlen (\d+)\.\.(\d+)", entry).groups()))),
            "buffers": tuple(map(int, buffers.groups())) if buffers else (0, 0),
            "index_offset": int(table[1]) if table else None}
    return found


MANIFEST = manifest()


def counted(values):
    values = list(values)
    return {value: values.count(value) for value in sorted(set(values))}


def summary(file):
    """The output expected of inspect for a reference.LmdFile, by key."""
    events, numbered = file.events, sort_out(file.events)
    subevents = [s for event in events for s in event.subevents]
    lengths = [s.dlen for s in subevents]
    return {
        "kind": "lmd", "damaged": file.damage is not None, "format": file.format, "byte_order": file.byte_order,
        "events": len(events), "subevents": len(subevents), "empty_events": sum(not e.subevents for e in events),
        "first_number": events[0].number, "last_number": events[-1].number, "missing_numbers": numbered.missing,
        "duplicate_numbers": numbered.events_dropped["duplicate"], "out_of_step": numbered.events_dropped["out_of_step"],
        "repeated_incomplete": numbered.events_dropped["repeated_incomplete"],
        "event_bytes": sum(8 + 2 * e.dlen for e in events), "triggers": counted(str(e.trigger) for e in events),
        "ids": counted(f"{s.id:08x}" for s in subevents), "subevent_dlen": {"min": min(lengths), "max": max(lengths)},
        "skipped_elements": file.skipped_elements, "index": file.index}


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
    reported, file = MANIFEST[path.name], read_lmd(path)
    found = summary(file) | {"file_bytes": path.stat().st_size, "buffers": (file.buffers, file.buffers_continued),
                             "index_offset": file.index_offset}
    steps = [b.number - a.number for a, b in zip(file.events, file.events[1:])]
    assert sum(step != 1 for step in steps) == reported["steps"]
    assert sorted(found["ids"]) == reported["ids"]
    assert_shows(found, {key: value for key, value in reported.items() if key not in ("steps", "ids")})
    assert not found["damaged"]


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_inspect(path):
    file, reported = read_lmd(path), MANIFEST[path.name]
    shown = inspect(path, "--events", 5)
    assert path.name in shown["file"]
    assert shown["problems"] == [] and isinstance(shown["header"], dict)
    assert_shows(shown, summary(file) | {"file_bytes": reported["file_bytes"]})
    if file.format == "2000/1":
        assert (shown["buffers"], shown["buffers_continued"]) == reported["buffers"]
    assert shown["first_events"] == [event.description() for event in file.events[:5]]


def test_inspect_takes_a_uri_too():
    path = DATA / "lmd" / "var_small.lmd"
    assert_shows(inspect(lmd(path, "time=wr")), {"kind": "lmd", "events": 300})


def test_inspect_for_people():
    text = eventloom("inspect", DATA / "lmd" / "index.lmd", "--events", 1).stdout
    for word in ("101/1", "1500", "4578", "0302001e"):
        assert word in text, word


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_run(tmp_path, path):
    check_run(tmp_path, [lmd(path)], [read_lmd(path).events])


@pytest.mark.parametrize("np", [1, 2, 3])
@pytest.mark.parametrize("name", ["classic_16k", "gen_partial_0000"])
def test_ranks_agree(tmp_path, name, np):
    path = DATA / "lmd" / f"{name}.lmd"
    check_run(tmp_path, [lmd(path)], [read_lmd(path).events], "--epochs-per-slice", 1, "--epoch", "100ns", "--overlap", 0,
              np=np)


def test_byte_orders_agree(tmp_path):
    runs = [Run(tmp_path / name, [lmd(DATA / "lmd" / f"{name}.lmd")], "--define", "tag") for name in ("be_flat", "var_small")]
    assert_same(*(read_merged(run.merged) for run in runs))


@pytest.mark.parametrize("path", [p for p in FILES if p.stem in TYPICAL], ids=by_name)
def test_round_trip(tmp_path, path):
    expected, _ = built([sort_out(read_lmd(path).events).kept])
    eventloom("convert", lmd(path), "--output", tmp_path / "x.epochs", code=3 if "partial" in path.name else 0)
    run = Run(tmp_path / "run", [f"file:{tmp_path}/x.epochs"], "--define", "tag", code=None)
    assert_same(read_merged(run.merged), expected)


def test_split_run_as_one_source(tmp_path):
    parts = sorted((DATA / "lmd").glob("gen_split_*.lmd"))
    events = [event for path in parts for event in read_lmd(path).events]
    assert len(events) == 4096 + 256
    check_run(tmp_path, [lmd(DATA / "lmd" / "gen_split_*.lmd", "concat&time=tag")], [events])


def test_split_run_without_concat_is_a_source_per_file(tmp_path):
    parts = sorted((DATA / "lmd").glob("gen_split_*.lmd"))
    check_run(tmp_path, [lmd(DATA / "lmd" / "gen_split_*.lmd")], [read_lmd(path).events for path in parts])


# Files made here


def event(number, subevents=2, trigger=1, source=0):
    """An event whose data depend on number, source and position."""
    return Event(number, [Subevent(10 * source + k, [number, source, *range(k)], crate=source) for k in range(subevents)],
                 trigger)


def events_of(numbers, source=0):
    """Numbers alone, or (number, subevents[, trigger])."""
    return [event(*(n if isinstance(n, tuple) else (n,)), source=source) for n in numbers]


def mixed(count, first=1, halfwords=True):
    """Events of all sizes and triggers, with odd numbers of 16-bit words."""
    choose = random.Random(count)
    events = []
    for number in range(first, first + count):
        subevents = []
        for k in range(choose.randrange(5)):
            data = [choose.getrandbits(32) for _ in range(choose.choice([0, 1, 5, 40, 150]))]
            odd = halfwords and len(data) > 0 and choose.random() < 0.3
            data = data[:-1] + [data[-1] & 0xFFFF] if odd else data
            subevents.append(Subevent(choose.getrandbits(16), data, choose.randrange(64), choose.randrange(64),
                                      choose.choice([10, 33, 0xFFFF]), choose.choice([1, 32000]), 2 * len(data) - odd))
        events.append(Event(number, subevents, choose.choice([1, 1, 2, 12, 13, 14, 15]), choose.choice([0, 7, 0xFFFF])))
    return events


def assert_reads(folder, data, events=None, code=0, **keys):
    """The program finds the reference's events, and `events` if given, with inspect and with run."""
    path = write(folder / "made.lmd", data)
    file = parse_lmd(data)
    assert events is None or file.events == events, "the tests' own reader and writer disagree"
    shown = inspect(path, "--events", len(file.events), code=code)
    assert shown["first_events"] == [e.description() for e in file.events]
    expected = summary(file) | keys
    if code is None:  # whether it is damage is left open
        del expected["damaged"]
    assert_shows(shown, expected)
    if code == 0:
        check_source(folder, lmd(path), file.events)
    return shown


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("order", "<>")
def test_flat_file(tmp_path, order, index):
    events = mixed(30, halfwords=not index)  # the offsets of a table count 4 bytes
    assert_reads(tmp_path, flat_file(events, order, index), events, index="whole" if index else "none")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("extra", [6, 64])
def test_longer_header(tmp_path, order, extra):
    assert_reads(tmp_path, flat_file(mixed(5), order, extra_header=bytes(range(1, extra + 1))), mixed(5))


def test_data_that_look_like_elements(tmp_path):
    """Sizes decide, not appearance."""
    inner = np.frombuffer(flat_file(mixed(2, halfwords=False)), "<u4").tolist()
    events = [Event(n, [Subevent(1, inner, type=101, subtype=2), Subevent(2, inner)]) for n in range(1, 4)]
    assert_reads(tmp_path, flat_file(events), events)


def test_other_elements_are_skipped_and_counted(tmp_path):
    events = mixed(6)
    stamp, old, empty = element(11, 1, bytes(8)), element(4, 1, bytes(range(40))), element(6, 2, b"")
    data = flat_file([stamp, *events[:2], old, empty, *events[2:], stamp])
    shown = assert_reads(tmp_path, data, events, skipped_elements=4)
    assert shown["problems"] == []


@pytest.mark.parametrize("counts_itself", [True, False], ids=["gsi_header", "payload_header"])
@pytest.mark.parametrize("size", [512, 1024, 8192, 16384])
@pytest.mark.parametrize("order", "<>")
def test_buffers(tmp_path, order, size, counts_itself):
    """Events that continue over one or many buffers."""
    events = mixed(60)
    data = classic_file(events, size, order, counts_itself=counts_itself)
    shown = assert_reads(tmp_path, data, events)
    file = parse_lmd(data)
    assert (shown["buffers"], shown["buffers_continued"]) == (file.buffers, file.buffers_continued)


@pytest.mark.parametrize("size", [32768, 65536, 131072])
def test_long_buffers(tmp_path, size):
    """Their header is short, and the used words are in the 32-bit field."""
    events = mixed(300)
    assert_reads(tmp_path, classic_file(events, size, kind=10), events)


def test_buffers_of_dabc_and_without_spanning(tmp_path):
    events = mixed(60)
    assert_reads(tmp_path / "kind", classic_file(events, 1024, kind=100), events)
    assert_reads(tmp_path / "slack", classic_file(events, 8192, span=False), events)


def test_other_elements_in_buffers(tmp_path):
    events = mixed(20)
    items = [e if k % 4 else [e, element(11, 1, bytes(8))] for k, e in enumerate(events)]
    flat = [x for item in items for x in (item if isinstance(item, list) else [item])]
    assert_reads(tmp_path, classic_file(flat, 8192, span=False), events, skipped_elements=5)


def test_fragment_at_the_start(tmp_path):
    """A file that begins in the middle of an event: the rest of that event belongs to none."""
    buffers = classic_buffers(mixed(60), 1024)
    first = next(k for k, data in enumerate(buffers) if k > 2 and data[10])
    data = classic_header(1024) + b"".join(buffers[first:])
    shown = assert_reads(tmp_path, data, code=None)
    assert shown["last_number"] == 60 and shown["first_number"] > 1


def test_fragment_at_the_end(tmp_path):
    buffers = classic_buffers(mixed(60), 1024)
    last = next(k for k, data in reversed(list(enumerate(buffers))) if data[11])
    data = classic_header(1024) + b"".join(buffers[:last + 1])
    shown = assert_reads(tmp_path, data, code=3)
    assert shown["problems"]


def test_missing_buffers(tmp_path):
    """Reading continues at the next start of an event; no event is composed of two halves."""
    events, buffers = mixed(60), classic_buffers(mixed(60), 1024)
    place = next(k for k, data in enumerate(buffers) if k > 5 and data[10] and data[11])
    path = write(tmp_path / "made.lmd", classic_header(1024) + b"".join(buffers[:place] + buffers[place + 1:]))
    found = read_lmd(path).events
    assert 0 < len(found) < 60 and all(e in events for e in found)
    shown = inspect(path, "--events", 60, code=None)
    assert shown["first_events"] == [e.description() for e in found]
    assert shown["missing_numbers"] == 60 - len(found)
    assert shown["problems"], "the missing buffers are not reported"


# Numbers

TOP = 2**32
NUMBERS = {  # one list a source
    "plain": [[1, 2, 3, 4, 5]],
    "one_event": [[77]],
    "from_zero_all_triggers": [[(0, 2, 14), (1, 2, 12), (2, 0, 1), (3, 2, 2), (4, 2, 13), (5, 2, 15)]],
    "missing": [[1, 2, 5, 6, 9, 10]],
    "far_ahead_and_on": [[1, 2, 900_000, 900_001, 900_002]],
    "duplicate": [[1, 2, 2, 3]],
    "three_alike": [[1, 2, 2, 2, 3]],
    "second_is_shorter": [[1, (2, 3), (2, 1), 3]],
    "repeated_incomplete": [[1, (2, 1), (2, 3), 3]],
    "repeated_incomplete_empty": [[1, (2, 0), (2, 2), 3]],
    "repeated_twice": [[1, (2, 0), (2, 1), (2, 3), 3]],
    "first_is_incomplete": [[(1, 1), (1, 2), 2]],
    "last_is_incomplete": [[1, (2, 1), (2, 2)]],
    "back_to_one_seen": [[1, 2, 3, 4, 2, 5]],
    "back_to_one_never_seen": [[5, 6, 7, 3, 8]],
    "late": [[1, 2, 5, 6, 3, 7, 8]],
    "wild": [[1, 2, 900_000, 3, 4]],
    "wild_twice": [[1, 2, 70_000, 50, 3, 4]],
    "last_jumps_a_little": [[1, 2, 3, 10]],
    "last_jumps_far": [[1, 2, 3, 5_000]],
    "wraps": [[TOP - 2, TOP - 1, 0, 1, 2]],
    "wraps_with_gap": [[TOP - 3, TOP - 2, 2, 3]],
    "wraps_and_goes_back": [[TOP - 2, TOP - 1, 0, TOP - 1, TOP - 5, 1, 2]],
    "sources_agree": [[1, 2, 3], [1, 2, 3], [1, 2, 3]],
    "one_lacks_some": [[1, 2, 3, 4, 5], [1, 3, 4, 5], [1, 2, 3, 4, 5]],
    "early_end_and_late_start": [[1, 2, 3, 4, 5], [1, 2], [4, 5, 6]],
    "nothing_in_common": [[1, 2, 3], [11, 12, 13]],
    "dropped_is_missing": [[1, 2, 3, 4], [1, 2, 900_000, 4]],
    "all_causes": [[1, (2, 1), (2, 2), 3, 4, 4, 5], [1, 2, 3, 70_000, 4, 2, 5], [1, 3, 4, 5, 6]],
    "sources_wrap": [[TOP - 1, 0, 1, 2], [TOP - 2, TOP - 1, 0, 2, 3]],
    "triggers_majority": [[(1, 2, 1), (2, 2, 1), 3], [(1, 2, 1), (2, 2, 12), 3], [(1, 1, 1), (2, 1, 12), 3]],
    "triggers_tie": [[(1, 2, 2), 2], [(1, 3, 14), 2]],
    "triggers_all_differ": [[1, (2, 1, 1)], [1, (2, 2, 2)], [1, (2, 3, 3)]],
    "triggers_with_one_missing": [[1, (2, 1, 1), 3], [1, 3], [1, (2, 2, 12), 3], [1, (2, 2, 12), 3]],
}


def sources_of(folder, lists):
    sources = [events_of(numbers, source) for source, numbers in enumerate(lists)]
    for number, events in enumerate(sources):
        write(folder / f"{number}.lmd", flat_file(events, "<>"[number % 2]))
    return [lmd(folder / f"{number}.lmd") for number in range(len(sources))], sources


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(tmp_path, name):
    uris, sources = sources_of(tmp_path, NUMBERS[name])
    check_run(tmp_path / "run", uris, sources)
    for uri, events in zip(uris, sources):
        assert_shows(inspect(uri), {key: value for key, value in summary(parse_lmd(flat_file(events))).items()
                                    if key not in ("byte_order",)})


EXPECTED = {  # dropped hits of the cases above, counted by hand to check the reference itself
    "duplicate": {"duplicate": 2}, "second_is_shorter": {"duplicate": 1}, "repeated_incomplete": {"repeated_incomplete": 1},
    "repeated_incomplete_empty": {"repeated_incomplete": 1}, "repeated_twice": {"repeated_incomplete": 2},
    "back_to_one_seen": {"duplicate": 2}, "back_to_one_never_seen": {"out_of_step": 2}, "late": {"out_of_step": 2},
    "wild": {"out_of_step": 2}, "wild_twice": {"out_of_step": 4}, "last_jumps_a_little": {}, "last_jumps_far": {"out_of_step": 2},
    "far_ahead_and_on": {}, "wraps": {}, "wraps_with_gap": {}, "wraps_and_goes_back": {"duplicate": 2, "out_of_step": 2},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_reference_of_numbers(name):
    assert dict(sort_out(events_of(NUMBERS[name][0])).hits_dropped) == EXPECTED[name]


def test_reference_of_times_after_the_wrap():
    assert [time for time, _ in sort_out(events_of([TOP - 1, 0, 1])).kept] == [TOP - 1, TOP, TOP + 1]


@pytest.mark.parametrize("np", [1, 2, 3])
@pytest.mark.parametrize("name", ["all_causes", "triggers_with_one_missing", "sources_wrap"])
def test_numbers_on_ranks(tmp_path, name, np):
    """Slices of one number each."""
    uris, sources = sources_of(tmp_path, NUMBERS[name])
    check_run(tmp_path / "run", uris, sources, "--epoch", "1ns", "--overlap", 0, "--epochs-per-slice", 1, "--builders", 2, np=np)


def counters(numbers, header, word=lambda number: number):
    """Events whose headers, and second words of crate 7's subevents, are functions of their numbers."""
    return [Event(header(n), [Subevent(1, [n % 2**32, 5, 6]), Subevent(2, [99, word(n)], crate=7)]) for n in numbers]


def check_counter(folder, key, numbers, events, lacking=(), first=None):
    """Each event has its number in `numbers`, but those without one (`lacking`) are dropped."""
    path = write(folder / "made.lmd", flat_file(events))
    code = 3 if lacking else 0
    kept = [(n, event) for n, event in zip(numbers, events) if n not in lacking]
    done, hits = convert(folder, f"lmd:{path}?{key}", code=code)
    assert_same_hits(hits, hits_of_events(kept))
    reported = [line for line in done.stderr.splitlines() if "is dropped: no subevent 00070002 (control, crate, procid) has data word 1 with its number" in line]
    assert len(reported) == len(lacking) and all(str(path) in line for line in reported), done.stderr
    bits = len(f"{max(numbers):b}") - 1  # each case wraps once
    shown = inspect(f"lmd:{path}?{key}", code=code and None)
    assert (shown["first_number"], shown["last_number"]) == (numbers[0], numbers[-1] % 2**bits)
    assert shown["missing_numbers"] == numbers[-1] - numbers[0] + 1 - len(kept)


@pytest.mark.parametrize("bits", [16, 24, 31])
def test_narrow_counters_wrap_around(tmp_path, bits):
    """Higher bits of the header are ignored."""
    numbers = [2**bits + k for k in range(-20, 30) if k % 7]
    above = 0 if bits == 31 else random.Random(bits).getrandbits(32 - bits) << bits
    check_counter(tmp_path, f"bits={bits}", numbers, counters(numbers, lambda n: above ^ n % 2**bits))


@pytest.mark.parametrize("key, low, bits", [("number=word:1&from=00070002", 0, 32), ("number=word:1:8-31&from=00070002", 8, 24),
                                            ("number=word:1:3-18&from=00070002", 3, 16)])
def test_numbers_in_the_data(tmp_path, key, low, bits):
    """An event without the word is dropped."""
    numbers = [2**bits + k for k in range(-20, 30)]
    noise = random.Random(bits)
    word = lambda n: (n % 2**bits << low | noise.getrandbits(low) | noise.getrandbits(32) << (low + bits)) & 0xFFFFFFFF  # noqa: E731
    events = counters(numbers, lambda n: 1, word)
    events[10] = Event(1, [events[10].subevents[0]])
    check_counter(tmp_path, key, numbers, events, lacking=[numbers[10]])


def test_event_of_a_different_list_is_a_duplicate(tmp_path):
    """Equal numbers with other subevents: nothing shows that the first is incomplete."""
    other = Event(2, [Subevent(99, [1]), Subevent(98, [2]), Subevent(97, [3])])
    events = [event(1), event(2), other, event(3)]
    path = write(tmp_path / "made.lmd", flat_file(events))
    assert dict(sort_out(events).hits_dropped) == {"duplicate": 3}
    check_source(tmp_path, lmd(path), events)


@pytest.mark.parametrize("name, parts", {
    "numbers_continue": [[1, 2, 3], [4, 5], [6]],
    "repeated_over_the_seam": [[1, 2, (3, 1)], [(3, 3), 4]],
    "duplicate_over_the_seam": [[1, 2, 3], [3, 4]],
    "gap_at_the_seam": [[1, 2, 3], [5_000, 5_001]],
    "wraps_at_the_seam": [[TOP - 2, TOP - 1], [0, 1], [2, 3]],
}.items())
def test_concatenated_files(tmp_path, name, parts):
    for number, numbers in enumerate(parts):
        data = (flat_file if number % 2 else classic_file)(events_of(numbers))
        write(tmp_path / f"run_{number:04}.lmd", data)
    everything = events_of([number for numbers in parts for number in numbers])
    check_source(tmp_path, lmd(tmp_path / "run_*.lmd", "concat&time=tag"), everything)


# Where the time comes from


def check_times(folder, events, query, times, *options):
    """`times`: the time of each event, None for one without."""
    path = write(folder / "made.lmd", flat_file(events))
    timed = [(time, e) for time, e in zip(times, events) if time is not None]
    untimed = sum(len(e.hits()) for time, e in zip(times, events) if time is None)
    run = Run(folder / "run", [lmd(path, query)], "--define", "tag", *options, code=3 if untimed else 0)
    assert_same(read_merged(run.merged), built([timed])[0])
    assert run.done.stderr.count("is dropped: no subevent ") == times.count(None), run.done.stderr
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert {cause: hits for cause, hits in dropped(ledger).items() if hits} == ({"untimed": untimed} if untimed else {})


def stamped(number, *stamps, plain=True):
    """Subevents with stamps (time, subsystem), one of which follows one without."""
    before = [Subevent(1, [number, 0x03E10000, 5])] if plain else []
    return Event(number, before + [Subevent(2 + k, [*white_rabbit(*stamp), number]) for k, stamp in enumerate(stamps)])


@pytest.mark.parametrize("start", [1_000, 0x1_2345_6789_ABCD, 1_700_000_000_123_456_789], ids=["small", "48_bits", "since_1970"])
def test_white_rabbit_stamps(tmp_path, start):
    times = [start, start + 1, start + 70_000, start + 3_000_000]
    events = [stamped(n, (time, 0x100), (time + 5, 0x200)) for n, time in enumerate(times, 1)]
    check_times(tmp_path / "first", events, "time=wr", times)
    check_times(tmp_path / "chosen", events, "time=wr&wr=0x200", [time + 5 for time in times])


def test_events_without_a_stamp(tmp_path):
    cut = Event(4, [Subevent(5, white_rabbit(999)[:4])])
    events = [stamped(1, (1000,)), event(2), stamped(3, (3000,)), cut, Event(5), stamped(6, (6000, 0x300), plain=False)]
    check_times(tmp_path / "any", events, "time=wr", [1000, None, 3000, None, None, 6000])
    check_times(tmp_path / "one", events, "time=wr&wr=0x300", [None] * 5 + [6000])


@pytest.mark.parametrize("query", ["time=wr", "time=wr&wr=0x100"])
def test_stamps_that_their_front_end_marks_as_wrong(tmp_path, query):
    """Bit 16 of the first word, error_bit of TIMESTAMP_WHITERABBIT in ucesb."""
    events = [stamped(n, (10_000 * n - (29_996 if n % 20 == 0 else 0), 0x100 | (n % 20 == 0) << 16)) for n in range(4, 104)]
    path = write(tmp_path / "made.lmd", flat_file(events))
    run = Run(tmp_path / "run", [lmd(path, query)], "--define", "gap:5us,1", code=3)
    assert read_merged(run.merged)["events/time"].tolist() == [10_000 * n for n in range(4, 104) if n % 20]
    assert dropped(read_ledger(run.output))["untimed"] == 10  # five events of two hits
    assert "marked as wrong" in run.done.stderr and "bad-stamps=keep" in run.done.stderr
    kept = Run(tmp_path / "kept", [lmd(path, query + "&bad-stamps=keep")], "--define", "gap:0,1")
    times = [10_000 * n - (29_996 if n % 20 == 0 else 0) for n in range(4, 104)]
    assert read_merged(kept.merged)["events/time"].tolist() == sorted(times)


def test_time_in_data_words(tmp_path):
    events = [Event(n, [Subevent(7, [n]), Subevent(9, [0xABC, 1000 * n, n // 3, 5 * n])]) for n in range(1, 9)]
    low = [1000 * n for n in range(1, 9)]
    check_times(tmp_path / "one", events, "time=word:1,1&unit=ns", low)
    check_times(tmp_path / "two", events, "time=word:1,2&unit=ns", [t | n // 3 << 32 for n, t in enumerate(low, 1)])
    check_times(tmp_path / "from", events, "time=word:0,1&from=00000007&unit=us", [1000 * n for n in range(1, 9)])
    check_times(tmp_path / "none", events[:3] + [event(4, 1)], "time=word:3,1&unit=ns", [5, 10, 15, None])


def test_triggered_beside_free_running(tmp_path):
    """LMD events with stamps and free-running hits in one run, with events by gap."""
    times = range(1_000, 50_000, 1_000)
    events = [stamped(n, (time,)) for n, time in enumerate(times, 1)]
    path = write(tmp_path / "made.lmd", flat_file(events))
    free = sorted([t + d for t in times for d in (-7, 3, 12)] + list(range(500, 50_000, 1_700)))
    write_csv(tmp_path / "free.csv", free, [5] * len(free))
    run = Run(tmp_path / "run", [lmd(path, "time=wr"), f"csv:{tmp_path}/free.csv?time=1&channel=2&unit=ns"],
              "--define", "gap:20ns,4", np=2)
    hits = weave([hits_of_events(list(zip(times, events))), read_csv(tmp_path / "free.csv", time=1, channel=2)])
    expected = find_events(hits, "gap:20,4", 10_000)
    assert len(expected.begin) == len(times)
    assert_same(read_merged(run.merged), merged_file(expected))


# Damage


def assert_located(done, offset, end):
    """A message names the file and a place in [offset, end]."""
    lines = [line for line in done.stderr.splitlines() if "made.lmd" in line]
    assert lines, f"no message names the file:\n{done.stderr}"
    numbers = {int(text, 0) for line in lines for text in re.findall(r"\b0x[0-9a-f]+\b|\b\d+\b", line)}
    assert any(offset <= number <= end for number in numbers), f"no message names a byte of {offset}..{end}: {lines}"


def assert_damaged(folder, data, events, lost, offset):
    """Exit code 3; the events before number `lost` are present, none is false, and a message names `offset` or a place
    after it."""
    path = write(folder / "made.lmd", data)
    shown = inspect(path, code=3)
    assert shown["damaged"] and shown["problems"] and shown["events"] >= lost - 1
    done, hits = convert(folder, lmd(path), code=3)
    assert_located(done, offset, len(data))
    assert_true(hits, events, lost)


def assert_true(hits, events, lost):
    found, true = by_time(hits), by_time(hits_of_events([(e.number, e) for e in events]))
    assert all(found[n] == true[n] for n in range(1, lost)), "an event before the damage is missing or changed"
    assert all(true.get(n) == items for n, items in found.items() if n != lost), "an event that was never written"


LENGTHS = [0, 1, 3, 0x7FFF, 0xFFFF, 0x7FFFFFFA, 0x7FFFFFFC, 0x7FFFFFFE, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF]


@pytest.mark.parametrize("dlen", LENGTHS, ids=hex)
def test_length_of_an_event(tmp_path, dlen):
    events = events_of(range(1, 7))
    items = [encode(e) for e in events]
    items[3] = encode(events[3], dlen=dlen)
    assert_damaged(tmp_path, flat_file(items), events, 4, HEADER_BYTES + sum(map(len, items[:3])))


def test_run_of_a_damaged_file(tmp_path):
    """As the run reports it: everything is accounted for, and no event is built that was not written."""
    events = events_of(range(1, 9))
    path = write(tmp_path / "made.lmd", flat_file(events)[:-5])
    run = Run(tmp_path / "run", [lmd(path)], "--define", "tag", np=2, code=3)
    ledger, merged = read_ledger(run.output), read_merged(run.merged)
    assert_balanced(ledger)
    assert_located(run.done, path.stat().st_size + 5 - len(encode(events[-1])), path.stat().st_size)
    assert [n for n in merged["events/time"].tolist() if n != 8] == list(range(1, 8))
    words = len(built([[(e.number, e) for e in events[:7]]])[0]["payload"])
    assert merged["hits/first_payload"][merged["events/first_hit"][7]] == words


@pytest.mark.parametrize("by", [1, 2, 100], ids="{}_more".format)
def test_last_event_longer_than_the_file(tmp_path, by):
    events = events_of(range(1, 5))
    items = [encode(e) for e in events]
    items[3] = encode(events[3], dlen=events[3].dlen + by)
    assert_damaged(tmp_path, flat_file(items), events, 4, HEADER_BYTES + sum(map(len, items[:3])))


@pytest.mark.parametrize("dlen", [0, 1, "one more", *LENGTHS[3:]], ids=str)
def test_length_of_a_subevent(tmp_path, dlen):
    """The subevent extends beyond its event, or is shorter than its header."""
    events = events_of(range(1, 7))
    broken = events[3].subevents[-1]
    lie = encode_subevent(broken, broken.dlen + 1 if dlen == "one more" else dlen)
    items = [encode(e) for e in events]
    items[3] = items[3][:-len(lie)] + lie
    assert_damaged(tmp_path, flat_file(items), events, 4, HEADER_BYTES + sum(map(len, items[:3])))


def cuts(data, edges, count=36):
    """Lengths to cut a file to: some at and about the edges of events, some anywhere."""
    choose = random.Random(len(data))
    near = [edge + d for edge in edges for d in (-1, 0, 1, 8)]
    anywhere = [choose.randrange(len(data)) for _ in range(count)]
    return sorted({c for c in [0, 1, 7, 47, 48, *choose.sample(near, min(len(near), count // 2)), *anywhere] if c < len(data)})


@pytest.mark.parametrize("order", "<>")
def test_cut_anywhere(tmp_path, order):
    """All events before the cut are read, and the exit code reports whether an event was cut."""
    events = mixed(12, halfwords=False)
    data = flat_file(events, order)
    edges = (HEADER_BYTES + np.cumsum([0, *(len(encode(e)) for e in events)])).tolist()
    for size in cuts(data, edges):
        path = write(tmp_path / "made.lmd", data[:size])
        code = 2 if size < HEADER_BYTES else 0 if size in edges else 3
        done = eventloom("inspect", path, "--json", code=code)
        converted, hits = convert(tmp_path, lmd(path), code)
        if code == 2:
            assert len(done.stderr.splitlines()) == 1 and len(converted.stderr.splitlines()) == 1
            continue
        whole = [e for e, end in zip(events, edges[1:]) if end <= size]
        shown = json.loads(done.stdout)
        assert (shown["events"], shown["damaged"], shown["file_bytes"]) == (len(whole), code == 3, size)
        assert_same_hits(hits, hits_of_events([(e.number, e) for e in whole]))
        if code == 3:
            assert_located(converted, max(edge for edge in edges if edge <= size), len(data))


def test_buffers_cut_anywhere(tmp_path):
    """All events of the complete buffers; those in the last, truncated one may be read or not."""
    events = mixed(25)
    data = classic_file(events, 512)
    for size in cuts(data, range(512, len(data), 512)):
        path = write(tmp_path / "made.lmd", data[:size])
        try:
            least = len(parse_lmd(data[:size]).events)
        except Damage:
            least = 0
        code = None if size < 512 or size % 512 == 0 else 3
        done = eventloom("inspect", path, "--json", "--events", 25, code=code)
        converted, hits = convert(tmp_path, lmd(path), code)
        assert converted.returncode == done.returncode
        if done.returncode != 2:
            found = json.loads(done.stdout)["first_events"]
            assert len(found) >= least and found == [e.description() for e in events[:len(found)]]
            assert_same_hits(hits, hits_of_events([(e.number, e) for e in events[:len(found)]]))


HEADER_LIES = {  # offset, word
    "flat_used": (40, 0xFFFFFFFF), "flat_used_a_little": (40, 4000), "flat_table": (8, 0x7FFFFFFF),
    "flat_table_high": (12, 0xFFFFFFFF), "flat_offset_size": (20, 3), "classic_dlen": (0, 0xFFFFFFFF), "classic_dlen_0": (0, 0),
    "classic_dlen_small": (0, 12), "classic_dlen_wraps": (0, 0x7FFFFFE8), "buffer_dlen": (512, 0xFFFFFFFF),
    "buffer_used": (520, 0x0001FFFF), "buffer_type": (516, 0x00010063), "buffer_flags": (520, 0x01010000),
    "second_used": (1032, 3),
}


@pytest.mark.parametrize("name", HEADER_LIES)
def test_lies_in_headers(tmp_path, name):
    """Never a crash, a hang or an event that was not written."""
    events = mixed(12, halfwords=False)
    data = bytearray(flat_file(events, index=True) if name.startswith("flat") else classic_file(events, 512))
    struct.pack_into("<I", data, *HEADER_LIES[name])
    path = write(tmp_path / "made.lmd", bytes(data))
    done = eventloom("inspect", path, "--json", "--events", 20, code=None)
    converted, _ = convert(tmp_path, lmd(path), code=None)
    if done.returncode != 2:
        written = [e.description() for e in events]
        if not name.startswith("flat_used"):  # where reading starts is then undefined
            assert all(e in written for e in json.loads(done.stdout)["first_events"])
    if name.startswith(("flat_table", "flat_offset")):  # the table is an aid, not the data
        assert done.returncode != 2 and converted.returncode != 2
        shown = json.loads(done.stdout)
        assert shown["index"] == "damaged" and shown["events"] == len(events)


def test_damaged_index(tmp_path):
    events = mixed(12, halfwords=False)
    data = bytearray(flat_file(events, index=True))
    data[-20] ^= 1
    shown = inspect(write(tmp_path / "made.lmd", bytes(data)), code=None)
    assert shown["index"] == "damaged" and shown["events"] == len(events)


def damage(data, choose):
    data = bytearray(data)
    for _ in range(choose.choice([1, 1, 3, 20])):
        at, size = choose.randrange(len(data)), choose.choice([1, 2, 4, 64])
        kind = choose.choice(["bit", "bytes", "zeros", "ones", "insert", "delete", "copy"])
        if kind == "bit":
            data[at] ^= 1 << choose.randrange(8)
        elif kind in ("bytes", "zeros", "ones"):
            size = len(data[at:at + size])
            data[at:at + size] = {"bytes": choose.randbytes(size), "zeros": bytes(size), "ones": b"\xff" * size}[kind]
        elif kind == "insert":
            data[at:at] = choose.randbytes(size)
        elif kind == "delete":
            del data[at:at + size]
        else:
            data[at:at] = data[choose.randrange(len(data)):][:size]
        if not data:
            break
    return bytes(data)


@pytest.mark.parametrize("seed", range(16))
def test_anything_anywhere(tmp_path, seed):
    """Seeded damage of every kind: one of the contract's exit codes, in time, and .epochs that can be read."""
    choose = random.Random(seed)
    events = mixed(10)
    whole = choose.choice([flat_file(events, "<"), flat_file(events, ">"), classic_file(events, 512), classic_file(events, 1024, ">"),
                           flat_file(mixed(10, halfwords=False), index=True)])
    path = write(tmp_path / "made.lmd", damage(whole, choose))
    eventloom("inspect", path, "--json", "--events", 3, code=None, timeout=20)
    convert(tmp_path, lmd(path), code=None)


def test_no_such_file(tmp_path):
    write(tmp_path / "text.lmd", b"not a recording\n" * 40)
    write(tmp_path / "empty.lmd", b"")
    for name in ("none.lmd", "text.lmd", "empty.lmd"):
        only_line(eventloom("inspect", name, code=2, cwd=tmp_path), name)
        only_line(eventloom("convert", lmd(name), "--output", "x.epochs", code=2, cwd=tmp_path), name)
        only_line(eventloom("run", "--source", lmd(name), "--define", "tag", code=2, cwd=tmp_path), name)
    assert sorted(os.listdir(tmp_path)) == ["empty.lmd", "text.lmd"]


@pytest.mark.parametrize("query, word", [("time=noon", "noon"), ("time=word:x,1", "word:x,1"), ("bits=8", "16 to 32"), ("number=word:1:0-9", "0-9"), ("time=wr&bits=24", "bits="), ("time=word:0,3", "word:0,3"),
                                         ("colour=red", "colour"), ("time=wr&wr=blue", "blue")])
def test_query_that_makes_no_sense(tmp_path, query, word):
    done = eventloom("convert", lmd(DATA / "lmd" / "var_small.lmd", query), "--output", tmp_path / "x.epochs", code=2)
    only_line(done, word)
    assert list(tmp_path.iterdir()) == []
