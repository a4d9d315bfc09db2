"""Data of several kinds in one run: triggered and free-running by time, LMD and HLD by number; compared with numpy
alone."""

import random
from collections import Counter, defaultdict

import h5py
import numpy as np
import pytest

import hld_reference
from epochs_file import hits_of_file, read_epochs_file
from lmd_reference import (Event, Subevent, built, classic_file, expected_run, flat_file, hits_of_events, sort_out,
                           white_rabbit)
from program import Run, eventloom, generate
from recordings import read_csv, write_csv
from reference import INCOMPLETE, find_events, ledger, merged_file, weave
from results import assert_balanced, assert_same, dropped, ledger_rows, read_ledger, read_merged

CSV = "time=1&channel=2&unit=ns"
TRIGGERED = "channel:0x90000-0x9ffff"  # subevents of crate 9


# Triggered events with White Rabbit stamps among free-running hits


def triggered_events(times):
    """Events of one to three subevents, one of which has the stamp, with data of all lengths and odd numbers of 16-bit
    words."""
    choose, events = random.Random(11), []
    for number, time in enumerate(times, 1):
        data = [choose.getrandbits(32) for _ in range(choose.choice([0, 1, 7, 90]))]
        odd = len(data) > 0 and choose.random() < 0.3
        data = data[:-1] + [data[-1] & 0xFFFF] if odd else data
        stamped = Subevent(7, [*white_rabbit(time), *data], 9, 0, 33, 5, 2 * (5 + len(data)) - odd)
        others = [Subevent(20 + k, [number, choose.getrandbits(31)], 9) for k in range(choose.randrange(3))]
        events.append(Event(number, [stamped, *others][::choose.choice([1, -1])], choose.choice([1, 1, 2, 12])))
    return events


class Hybrid:
    """One triggered source and two free-running ones, some of whose hits lie near the triggers."""

    DEFINITION, EPOCH, OVERLAP = "gap:40ns,4", 2_000, 1_000

    def __init__(self, folder):
        self.folder = folder
        choose = np.random.default_rng(4)
        times = np.unique(choose.integers(1_000, 2_000_000, 1500))
        self.events = triggered_events(times.tolist())
        (folder / "triggered.lmd").write_bytes(classic_file(self.events, 4096))
        near = lambda share: times[choose.random(len(times)) < share] + choose.integers(-25, 60)  # noqa: E731
        bunches = np.concatenate([start + choose.integers(0, 90, 6) for start in choose.integers(0, 2_000_000, 300)])
        for name, parts in (("a", [near(0.7), near(0.5)]), ("b", [near(0.6), bunches])):
            hits = np.sort(np.concatenate([*parts, choose.integers(0, 2_000_000, 1500)]))
            write_csv(folder / f"{name}.csv", hits.tolist(), choose.integers(0, 1000, len(hits)).tolist())
            eventloom("convert", f"csv:{folder}/{name}.csv?{CSV}", "--epoch", self.EPOCH, "--output", folder / f"{name}.epochs")
        self.lmd = f"lmd:{folder}/triggered.lmd?time=wr"
        self.free = {ending: [f"csv:{folder}/{n}.csv?{CSV}" if ending == "csv" else f"file:{folder}/{n}.epochs" for n in "ab"]
                     for ending in ("csv", "epochs")}

    def streams(self, *names):
        """reference.Hits of the named sources: lmd, a, b."""
        timed = [(stamp_of(event), event) for event in self.events]
        return [hits_of_events(timed) if name == "lmd" else read_csv(self.folder / f"{name}.csv", time=1, channel=2)
                for name in names]

    def check(self, folder, uris, names, *options, filters=(), np=None):
        words = [word for text in filters for word in ("--filter", text)]
        if "--epochs-per-slice" not in options:
            options = (*options, "--epochs-per-slice", 100)
        run = Run(folder, uris, "--define", self.DEFINITION, "--epoch", self.EPOCH, "--overlap", self.OVERLAP, *words,
                  *options, np=np)
        events = find_events(weave(self.streams(*names)), self.DEFINITION, self.OVERLAP, filters)
        assert len(events.begin) > 50 and not events.truncated.any()
        assert_same(read_merged(run.merged), merged_file(events, with_payload="lmd" in names))
        account = read_ledger(run.output)
        assert_balanced(account)
        assert not any(dropped(account).values())
        slice_epochs = dict(zip(options, options[1:]))["--epochs-per-slice"]
        assert ledger_rows(account) == ledger(events, slice_epochs * self.EPOCH)
        return run, events


def stamp_of(event):
    """The White Rabbit stamp of an event, composed of its four words."""
    words = next(s.data for s in event.subevents if s.procid == 7)
    assert [word >> 16 for word in words[1:5]] == [0x03E1, 0x04E1, 0x05E1, 0x06E1]
    return sum((word & 0xFFFF) << 16 * place for place, word in enumerate(words[1:5]))


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory):
    return Hybrid(tmp_path_factory.mktemp("hybrid"))


@pytest.mark.parametrize("ending", ["csv", "epochs"])
@pytest.mark.parametrize("np, options", [(1, ["--epochs-per-slice", 1]), (2, ["--epochs-per-slice", 20, "--filters", 1]),
                                         (3, ["--epochs-per-slice", 3, "--schedule", "chaotic"])])
def test_trigger_and_free_running(tmp_path, hybrid, ending, np, options):
    _, events = hybrid.check(tmp_path, [hybrid.lmd, *hybrid.free[ending]], ["lmd", "a", "b"], *options, np=np)
    source = [set(events.hits.source[a:b].tolist()) for a, b in zip(events.begin, events.end)]
    kinds = Counter((0 in s, bool(s & {1, 2})) for s in source)
    assert min(kinds[True, True], kinds[False, True]) > 50, "events with a trigger and events without"


def test_order_of_the_sources(tmp_path, hybrid):
    """Hits with equal times come in the order of the sources given."""
    hybrid.check(tmp_path, [hybrid.free["csv"][0], hybrid.lmd, hybrid.free["epochs"][1]], ["a", "lmd", "b"], np=2)


def test_trigger_alone(tmp_path, hybrid):
    """Events are formed by gap, not by trigger: close triggers form one event."""
    run = Run(tmp_path, [hybrid.lmd], "--define", "gap:40ns,2", "--epoch", hybrid.EPOCH, np=2)
    events = find_events(weave(hybrid.streams("lmd")), "gap:40,2", hybrid.EPOCH)
    numbers = [{words[1] for words in _heads(events, n)} for n in range(len(events.begin))]
    assert max(map(len, numbers)) > 1
    assert_same(read_merged(run.merged), merged_file(events))


def _heads(events, number):
    """The first payload words of the hits of an event."""
    last = np.cumsum(events.hits.payload_words, dtype=np.int64)
    first = last - events.hits.payload_words
    return [events.hits.payload[first[n] + 1:first[n] + 3].tolist() for n in range(events.begin[number], events.end[number])]


def test_free_running_alone(tmp_path, hybrid):
    hybrid.check(tmp_path, hybrid.free["csv"], ["a", "b"], np=2)


@pytest.mark.parametrize("filters", [[f"{TRIGGERED}>=1"], [f"{TRIGGERED}==0"], [f"{TRIGGERED}>=1", "channel:0x0-0xffff>=2"]],
                         ids=["with_trigger", "without_trigger", "both"])
def test_chosen_by_trigger(tmp_path, hybrid, filters):
    """Free-running hits around a trigger, and events without any trigger."""
    _, events = hybrid.check(tmp_path, [hybrid.lmd, *hybrid.free["epochs"]], ["lmd", "a", "b"], filters=filters, np=2)
    assert 20 < events.rejected.sum() < len(events.rejected) - 20
    with_trigger = [bool((events.hits.source[a:b] == 0).any()) for a, b in zip(events.begin, events.end)]
    kept = ~events.rejected
    assert all(with_trigger[n] == ("==0" not in filters[0]) for n in np.flatnonzero(kept))


def test_payload_of_triggered_hits(tmp_path, hybrid):
    """Headers and data are word by word as written."""
    run = Run(tmp_path, [hybrid.lmd, *hybrid.free["csv"]], "--define", "gap:40ns,1", "--epoch", hybrid.EPOCH, np=3)
    merged = read_merged(run.merged)
    found = defaultdict(list)
    first = merged["hits/first_payload"].tolist()
    for place in np.flatnonzero(merged["hits/source"] == 0).tolist():
        found[int(merged["hits/time"][place])].append((int(merged["hits/channel"][place]),
                                                       merged["payload"][first[place]:first[place + 1]].tolist()))
    assert len(found) == len(hybrid.events)
    for event in hybrid.events:
        items = found[stamp_of(event)]
        assert len(items) == len(event.subevents)
        for (channel, words), subevent in zip(items, event.subevents):
            assert channel == subevent.channel and words[0] == len(words) - 1
            kind = subevent.subtype << 16 | subevent.type
            assert words[1:6] == [event.trigger << 16, event.number, subevent.dlen, kind, subevent.id]
            assert words[6:] == subevent.data
    free = np.flatnonzero(merged["hits/source"] > 0)
    assert np.all(np.diff(merged["hits/first_payload"].astype(np.int64))[free] == 0), "free-running hits got payload"


def test_through_epochs_files(tmp_path, hybrid):
    """Each source is converted separately: the events are the same."""
    eventloom("convert", hybrid.lmd, "--epoch", hybrid.EPOCH, "--output", tmp_path / "triggered.epochs")
    hybrid.check(tmp_path / "run", [f"file:{tmp_path}/triggered.epochs", *hybrid.free["epochs"]], ["lmd", "a", "b"], np=2)


def test_free_running_with_payload(tmp_path, hybrid):
    """Sources with payload of fixed length beside those that state its length."""
    uris = generate(tmp_path / "free", sources=2, rate=50_000, timing="poisson", hits=6, width="50ns", noise=1_000_000,
                    duration="2ms", payload=2, seed=9, epoch="2us")
    run = Run(tmp_path / "run", [hybrid.lmd, *uris], "--define", "gap:40ns,3", "--epoch", "2us", np=2)
    free = [hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris]
    assert set(free[0].payload_words.tolist()) == {2}
    events = find_events(weave([*hybrid.streams("lmd"), *free]), "gap:40,3", 2_000)
    assert_same(read_merged(run.merged), merged_file(events))


# Refused


@pytest.mark.parametrize("numbered", ["lmd", "epochs", "hld"])
@pytest.mark.parametrize("free", ["csv", "epochs", "wr"])
def test_numbers_among_times(tmp_path, hybrid, numbered, free):
    """Event numbers are not times: one line names both and the fix."""
    fewer = tmp_path / "triggered.lmd"  # the same events given twice are always refused
    fewer.write_bytes(classic_file(hybrid.events[:-1], 4096))
    number = f"lmd:{fewer}?time=tag"
    if numbered == "epochs":
        eventloom("convert", number, "--output", tmp_path / "numbered.epochs", "--epoch", hybrid.EPOCH)
        number = f"file:{tmp_path}/numbered.epochs"
    elif numbered == "hld":
        (tmp_path / "a.hld").write_bytes(hld_reference.hld_file(hld_events([1, 2, 3], 0)))
        number = f"hld:{tmp_path}/a.hld"
    other = hybrid.lmd if free == "wr" else hybrid.free[free][0]
    sources = [number, other] if free == "wr" else [other, number]
    words = [word for uri in sources for word in ("--source", uri)]
    done = eventloom("run", *words, "--define", "tag", "--epoch", hybrid.EPOCH, "--output", tmp_path / "run.h5", code=2)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and done.stdout == "" and "event numbers" in lines[0] and "time=" in lines[0], done.stderr
    assert not (tmp_path / "run.h5").exists()


# LMD and HLD by number


def lmd_events(numbers, source):
    """Numbers alone, or (number, subevents[, trigger])."""
    rows = [n if isinstance(n, tuple) else (n, 2) for n in numbers]
    return [Event(row[0], [Subevent(10 * source + k, [row[0], source, *range(k)], crate=source % 60) for k in range(row[1])],
                  row[2] if len(row) > 2 else 1) for row in rows]


def hld_events(numbers, source):
    rows = [n if isinstance(n, tuple) else (n, 2) for n in numbers]
    return [hld_reference.Event(row[0], [hld_reference.Subevent(0x8000 + 0x100 * source + k, [row[0], source, *range(k)])
                                         for k in range(row[1])], 0x2000 | (row[2] if len(row) > 2 else 1)) for row in rows]


def write_numbered(folder, sources):
    """Writes the files of sources, lists of events of either format; returns their URIs."""
    folder.mkdir(parents=True, exist_ok=True)
    uris = []
    for number, events in enumerate(sources):
        is_lmd = isinstance(events[0], Event)
        path = folder / f"{number:03}.{'lmd' if is_lmd else 'hld'}"
        data = (classic_file(events, 1024) if number % 2 else flat_file(events)) if is_lmd else hld_reference.hld_file(events)
        path.write_bytes(data)
        uris.append(f"lmd:{path}?time=tag" if is_lmd else f"hld:{path}")
    return uris


MIXED = [
    lmd_events([*range(1, 40), (40, 1), (40, 3), *range(41, 61)], 0),
    hld_events([*range(1, 9), *range(12, 20), (20, 2, 13), *range(21, 61)], 1),
    lmd_events([*range(3, 20), (20, 1, 13), 21, 21, *range(22, 31), 900_000, *range(31, 61)], 2),
    hld_events([(1, 0), *range(2, 33), (33, 2, 5), *range(34, 50), 48, *range(50, 61)], 3),
]


@pytest.mark.parametrize("np, per_slice", [(1, 100), (2, 1), (3, 3)])
def test_lmd_and_hld_by_number(tmp_path, np, per_slice):
    """Missing, repeated and foreign numbers, and contradicted triggers, by cause."""
    run = Run(tmp_path / "run", write_numbered(tmp_path, MIXED), "--define", "tag", "--epoch", "5ns", "--overlap", 0,
              "--epochs-per-slice", per_slice, np=np, code=3)
    expected, lost, hits_in = expected_run(MIXED)
    assert set(lost) == {"duplicate", "repeated_incomplete", "out_of_step"}
    assert len(set(expected["events/sources_missing"].tolist())) >= 5
    assert_same(read_merged(run.merged), expected)
    account = read_ledger(run.output)
    assert_balanced(account)
    assert {cause: hits for cause, hits in dropped(account).items() if hits} == lost and account["hits_in"].sum() == hits_in
    check_slices(account, expected, 5 * per_slice)


def check_slices(account, expected, slice_ticks):
    """A slice lacks the sources that its events lack, and those of dropped hits."""
    masks = defaultdict(int)
    for time, mask in zip(expected["events/time"].tolist(), expected["events/sources_missing"].tolist()):
        masks[time // slice_ticks] |= mask
    lost = sum(column for name, column in account.items() if name.startswith("hits_dropped_"))
    for number, mask, hits in zip(account["slice"].tolist(), account["sources_missing"].tolist(), lost.tolist()):
        assert mask & masks[number] == masks[number]
        assert hits or mask == masks[number], f"slice {number}: {mask:b}, not {masks[number]:b}"


def test_by_number_through_epochs_files(tmp_path):
    """`convert` judges the events; they equal those of the direct run, including triggers and missing parts."""
    uris = write_numbered(tmp_path, MIXED)
    for number, uri in enumerate(uris):
        eventloom("convert", uri, "--output", tmp_path / f"{number}.epochs", "--epoch", "5ns", code=3 if number != 1 else 0)
    run = Run(tmp_path / "run", [f"file:{tmp_path}/{number}.epochs" for number in range(4)], "--define", "tag", "--overlap", 0,
              "--epochs-per-slice", 2, np=2, code=3)
    expected, lost, _ = expected_run(MIXED)
    assert_same(read_merged(run.merged), expected)
    account = read_ledger(run.output)
    assert_balanced(account)
    denied = built([sort_out(events).kept for events in MIXED])[1]
    assert {cause: hits for cause, hits in dropped(account).items() if hits} == {"out_of_step": denied} and denied > 0


# More sources than a mask has bits


N_SOURCES = 70
ABSENT = {3: {5, 9}, 62: {2}, 63: {5}, 64: {7}, 69: {9, 10, 11}}  # numbers that a source lacks
NUMBERS = range(1, 14)


def many_sources():
    return [lmd_events([n for n in NUMBERS if n not in ABSENT.get(source, ())], source) for source in range(N_SOURCES)]


@pytest.mark.parametrize("ranks, builders", [(1, 1), (3, 2)])
def test_more_sources_than_bits(tmp_path, ranks, builders):
    """Bit 63 represents source 63 and all above; the list names each."""
    sources = many_sources()
    write_numbered(tmp_path, sources)
    run = Run(tmp_path / "run", [f"lmd:{tmp_path}/*.lmd?time=tag"], "--define", "tag", "--epoch", "4ns", "--overlap", 0,
              "--epochs-per-slice", 1, "--builders", builders, np=ranks, code=3)
    lacking = {n: sorted(s for s, numbers in ABSENT.items() if n in numbers) for n in NUMBERS}
    expected = merged_file(find_events(weave([hits_of_events([(e.number, e) for e in events]) for events in sources]), "tag", 0))
    mask = lambda lacking: sum({1 << min(s, 63) for s in lacking})  # noqa: E731
    expected["events/sources_missing"] = np.array([mask(lacking[n]) for n in NUMBERS], dtype=np.uint64)
    expected["events/flags"] = np.array([INCOMPLETE if lacking[n] else 0 for n in NUMBERS], dtype=np.uint32)
    assert_same(read_merged(run.merged), expected)
    by_slice = {s: sorted({source for n in NUMBERS if n // 4 == s for source in lacking[n]}) for s in range(4)}
    for path in (run.output, run.merged):
        with h5py.File(path) as file:
            offsets, listed = (file[f"ledger/sources_missing_{name}"][:].tolist() for name in ("offsets", "list"))
            slices, masks = file["ledger/slice"][:].tolist(), file["ledger/sources_missing"][:].tolist()
        assert {s: listed[a:b] for s, a, b in zip(slices, offsets, offsets[1:])} == by_slice
        assert dict(zip(slices, masks)) == {s: mask(sources) for s, sources in by_slice.items()}
        assert offsets[0] == 0 and len(offsets) == len(slices) + 1


def test_more_sources_than_bits_kept_and_taken_back(tmp_path):
    """The list survives --save-sorted."""
    write_numbered(tmp_path, many_sources())
    options = ["--define", "tag", "--overlap", 0, "--epochs-per-slice", 1]
    direct = Run(tmp_path / "direct", [f"lmd:{tmp_path}/*.lmd?time=tag"], *options, "--epoch", "4ns", "--save-sorted",
                 tmp_path / "sorted", code=3)
    again = Run(tmp_path / "again", [f"sorted:{tmp_path}/sorted"], *options, code=3)
    assert_same(read_merged(again.merged), read_merged(direct.merged))
    assert_same(*({k: v for k, v in read_ledger(run.merged).items() if k != "builder"} for run in (again, direct)))
    assert "sources_missing_list" in read_ledger(again.merged)
