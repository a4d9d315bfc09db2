"""Time-sorted streams that a run keeps (--save-sorted) and another takes back (sorted:DIR): the same events and account."""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
from collections import Counter

import h5py
import numpy as np
import pytest

import truth
from epochs_file import BUFFER_HEADER, INDEX_ENTRY, STREAM_HEADER, TRAILER, crc32c, hits_of_file, read_epochs_file
from lmd_reference import Event, Subevent, expected_run, flat_file, white_rabbit
from program import BINARY, Run, environment, eventloom, generate, only_line
from recordings import read_csv, write_csv
from reference import INCOMPLETE, TRUNCATED, Hits, find_events, ledger, merged_file, weave
from results import assert_balanced, assert_same, dropped, event_keys, ledger_rows, read_ledger, read_merged

DEFINITIONS = ["gap:60,3", "multiplicity:100,5,1,2", "tag"]
CSV = "time=1&channel=2&unit=tick"
SORTED_FLAG, LENGTH_IN_FIRST_WORD = 4, 255


# Runs that keep their hits, and runs that read them


def datasets(path):
    """All of a merged file except which builder built what."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[:]}) if isinstance(item, h5py.Dataset) else None)
    assert {"events/time", "hits/time", "ledger/hits_in", "sources/name"} <= set(found)
    del found["ledger/builder"]
    return found


def totals(path):
    """Attributes of a run that are counts."""
    with h5py.File(path) as file:
        return {name: int(value) for name, value in file.attrs.items()
                if name.startswith(("events", "hits_", "slices", "anomalies", "n_sources", "with_payload"))}


def assert_same_run(found, expected):
    assert_same(datasets(found.merged), datasets(expected.merged))
    assert totals(found.output) == totals(expected.output)
    assert found.done.returncode == expected.done.returncode == found.report()["exit_code"]


class Kept:
    """A run that keeps its time-sorted hits in `folder`/sorted; `options` are those that a run which reads them needs,
    too."""

    def __init__(self, folder, uris, definition, *options, importing=(), builders=1, code=0, np=None, reference=None):
        self.folder, self.uris, self.definition, self.code = folder, uris, definition, code
        self.options, self.importing, self.hits = options, importing, reference
        self.path = folder / "sorted"
        self.run = self.direct(folder / "direct", *options, "--builders", builders, "--save-sorted", self.path, np=np)

    def direct(self, folder, *options, definition=None, np=None):
        return Run(folder, self.uris, "--define", definition or self.definition, *self.importing, *options, code=self.code, np=np)

    def taken_back(self, folder, *options, definition=None, np=None, code="as before", path=None):
        return Run(folder, [f"sorted:{path or self.path}"], "--define", definition or self.definition, *options,
                   code=self.code if code == "as before" else code, np=np)

    def manifest(self):
        return json.loads((self.path / "sorted.json").read_text())

    def streams(self):
        return sorted(self.path.glob("*.epochs"))

    def copied(self, folder):
        return shutil.copytree(self.path, folder / "copy")


def assert_taken_back(kept, folder, *options, np=None):
    """With the same definition there is no search, and the result is equal to the last byte."""
    assert_same_run(kept.taken_back(folder, *kept.options, *options, np=np), kept.run)


def assert_reference(run, events, slice_ticks, with_payload=None):
    assert_same(read_merged(run.merged), merged_file(events, with_payload))
    account = read_ledger(run.output)
    assert_balanced(account)
    assert ledger_rows(account) == ledger(events, slice_ticks)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Three streams with two words of payload per hit; kept once by each definition, on two ranks."""
    folder = tmp_path_factory.mktemp("generated")
    uris = generate(folder / "streams", sources=3, rate=20_000, timing="poisson", hits=8, width="50ns", noise=200_000,
                    duration="10ms", payload=2, seed=5)
    hits = weave([hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris])
    return {definition: Kept(folder / str(n), uris, definition, "--epochs-per-slice", 7, builders=1 + n, np=2, reference=hits)
            for n, definition in enumerate(DEFINITIONS)}


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """Two text files whose events often cross the edges of slices; some are longer than the overlap."""
    folder = tmp_path_factory.mktemp("dense")
    choose = np.random.default_rng(3)
    for name in "ab":
        times = np.sort(choose.integers(0, 100_000, 2500))
        write_csv(folder / f"{name}.csv", times.tolist(), choose.integers(0, 1 << 28, 2500).tolist())
    hits = weave([read_csv(folder / f"{name}.csv", time=1, channel=2) for name in "ab"])
    return Kept(folder / "kept", [f"csv:{folder}/*.csv?{CSV}"], "gap:15,3", "--overlap", 60, "--epochs-per-slice", 1,
                importing=["--epoch", 500], builders=3, code=3, reference=hits)


# The same result


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_same_definition(tmp_path, generated, definition):
    kept = generated[definition]
    assert_reference(kept.run, find_events(kept.hits, definition, 10_000), 70_000)
    assert_taken_back(kept, tmp_path)


@pytest.mark.parametrize("np, options", [(1, ["--builders", 2]), (2, ["--filters", 2]), (3, ["--schedule", "chaotic"]),
                                         (3, ["--builders", 1, "--schedule", "balanced"])])
def test_ranks(tmp_path, generated, np, options):
    assert_taken_back(generated["multiplicity:100,5,1,2"], tmp_path, *options, np=np)


@pytest.mark.parametrize("definition, per_slice", [("gap:60,3", 1), ("gap:60,3", 1000), ("multiplicity:100,5,1,2", 3), ("tag", 50)])
def test_other_slices(tmp_path, generated, definition, per_slice):
    kept = generated[definition]
    run = kept.taken_back(tmp_path, "--epochs-per-slice", per_slice, np=2 if per_slice == 1 else None)
    assert_reference(run, find_events(kept.hits, definition, 10_000), per_slice * 10_000)


@pytest.mark.parametrize("saved, asked", [("gap:60,3", "gap:60,4"), ("gap:60,3", "multiplicity:100,5,1,2"),
                                          ("multiplicity:100,5,1,2", "multiplicity:100,5,1,1"), ("tag", "gap:60,3"),
                                          ("multiplicity:100,5,1,2", "tag")])
def test_other_definition(tmp_path, generated, saved, asked):
    """Events are searched again."""
    kept = generated[saved]
    run = kept.taken_back(tmp_path, "--epochs-per-slice", 20, definition=asked)
    assert_reference(run, find_events(kept.hits, asked, 10_000), 200_000)


def test_the_same_definition_in_other_words(tmp_path, generated):
    kept = generated["gap:60,3"]
    assert_same_run(kept.taken_back(tmp_path, *kept.options, "--overlap", "10us", definition="gap:60ns,3"), kept.run)


@pytest.mark.parametrize("definition", ["gap:60,3", "gap:60,5"])
def test_filters(tmp_path, generated, definition):
    """Filters judge when hits are read; the hits kept precede them."""
    kept, filters = generated["gap:60,3"], ["n_hits>=5", "channel:0x0-0x3ff>=2"]
    words = [word for text in filters for word in ("--filter", text)]
    run = kept.taken_back(tmp_path, *words, "--filters", 1, definition=definition)
    events = find_events(kept.hits, definition, 10_000, filters)
    assert 0 < events.rejected.sum() < len(events.rejected)
    assert_reference(run, events, 1_000_000)


def test_filters_of_the_run_that_kept(tmp_path, generated):
    """They refuse events of that run only."""
    uris, hits = generated["tag"].uris, generated["tag"].hits
    kept = Kept(tmp_path, uris, "gap:60,3", "--filter", "n_hits>=9")
    assert 0 < len(read_merged(kept.run.merged)["events/time"]) < len(find_events(hits, "gap:60,3", 10_000).begin)
    assert_reference(kept.taken_back(tmp_path / "all"), find_events(hits, "gap:60,3", 10_000), 1_000_000)
    assert_same_run(kept.taken_back(tmp_path / "some", "--filter", "n_hits>=9"), kept.run)


def test_events_across_edges_and_truncated(tmp_path, dense):
    events = find_events(dense.hits, "gap:15,3", 60)
    first, last = (dense.hits.time[index] // 500 for index in (events.begin, events.end - 1))
    assert 10 < events.truncated.sum() < len(events.begin) and (first != last).sum() > 20
    assert_reference(dense.run, events, 500)
    assert_taken_back(dense, tmp_path)


@pytest.mark.parametrize("options, np", [(["--epochs-per-slice", 13], None), (["--epochs-per-slice", 2, "--builders", 2], 3)])
def test_events_across_other_edges(tmp_path, dense, options, np):
    run = dense.taken_back(tmp_path, "--overlap", 60, *options, np=np)
    assert_reference(run, find_events(dense.hits, "gap:15,3", 60), 500 * options[1])


@pytest.mark.parametrize("overlap, code", [(30, 3), (2000, 0)])
def test_other_overlap(tmp_path, dense, overlap, code):
    """Other events are truncated."""
    run = dense.taken_back(tmp_path, "--overlap", overlap, "--epochs-per-slice", 4, code=code)
    events = find_events(dense.hits, "gap:15,3", overlap)
    assert events.truncated.any() == (code == 3)
    assert_reference(run, events, 2000)


@pytest.mark.parametrize("recording", [truth.RECORDINGS[1], truth.RECORDINGS[3]], ids=lambda recording: recording.name)
def test_recordings(tmp_path, recording):
    """With payload (hdf5) and without (csv, times out of order, many of them equal); also compares with the published
    events."""
    gap, least = recording.rules[0]
    kept = Kept(tmp_path, [recording.uri()], f"gap:{gap}ns,{least}", *recording.options()[2:], importing=recording.options()[:2],
                builders=2)
    truth.assert_events(recording, gap, least, read_merged(kept.run.merged))
    assert_taken_back(kept, tmp_path / "same", np=2)
    assert ("payload" in read_merged(kept.run.merged)) == (recording.path.suffix == ".h5")


@pytest.mark.parametrize("start", [(1 << 28) * 10_000 - 30_000, 3 * (1 << 28) * 10_000 + 9_999], ids=["wraps", "late"])
def test_few_hits_and_builders_without_any(tmp_path, start):
    """Epochs beyond 28 bits; more builders than slices with hits."""
    times = [start + t for t in (0, 0, 1, 9_999, 10_000, 29_990, 29_999, 30_000, 30_001, 1_000_000)]
    write_csv(tmp_path / "a.csv", times, range(10))
    kept = Kept(tmp_path, [f"csv:{tmp_path}/a.csv?{CSV}"], "gap:20,2", "--epochs-per-slice", 2, builders=5)
    events = find_events(weave([read_csv(tmp_path / "a.csv", time=1, channel=2)]), "gap:20,2", 10_000)
    assert len(kept.streams()) == 5 and len(events.begin) >= 3
    assert_reference(kept.run, events, 20_000)
    assert_taken_back(kept, tmp_path / "again")


def test_names_of_the_sources(tmp_path, generated):
    """Hits still name their sources, not the streams they were kept in."""
    kept = generated["gap:60,3"]
    run = kept.taken_back(tmp_path)
    for path in (run.output, run.merged):
        with h5py.File(path) as file:
            names = [name.decode() for name in file["sources/name"][:]]
        assert len(names) == 3 and all(f"source_{n:03}" in name for n, name in enumerate(names))


def test_summary_counts_the_sources_of_the_hits(tmp_path, generated):
    assert "from 3 sources" in generated["gap:60,3"].run.done.stdout
    assert "from 3 sources" in generated["gap:60,3"].taken_back(tmp_path).done.stdout


def test_kept_again(tmp_path, generated):
    """Hits read may be kept in another folder, with the events of another definition."""
    first = generated["gap:60,3"]
    again = Kept(tmp_path, [f"sorted:{first.path}"], "multiplicity:100,5,1,2", "--epochs-per-slice", 9, builders=4)
    direct = first.direct(tmp_path / "expected", "--epochs-per-slice", 9, definition="multiplicity:100,5,1,2")
    assert_same_run(again.run, direct)
    assert_same_run(again.taken_back(tmp_path / "back", "--epochs-per-slice", 9), direct)


def test_folder_used_before(tmp_path, generated):
    """Streams of an earlier run with more builders are removed; other files are kept."""
    kept = generated["tag"]
    folder = kept.copied(tmp_path)
    (folder / "notes.txt").write_text("mine")
    kept.direct(tmp_path / "run", *kept.options, "--builders", 1, "--save-sorted", folder, "--force")
    assert sorted(path.name for path in folder.iterdir()) == ["builder_00000.epochs", "notes.txt", "sorted.json"]
    assert_same_run(kept.taken_back(tmp_path / "again", *kept.options, path=folder), kept.run)


# What was lost before is lost in the same way


class Damaged:
    """Streams, of which that of source 1 is damaged."""

    def __init__(self, folder):
        self.uris = generate(folder, sources=3, rate=20_000, timing="poisson", hits=8, width="50ns", noise=200_000,
                             duration="10ms", seed=6)
        self.file = read_epochs_file(self.uris[1].removeprefix("file:"))

    def write(self, folder, what):
        """URIs; the epoch buffers of source 1 that `what` names are not intact."""
        data, buffers = bytearray(self.file.data), self.file.buffers
        places = {"first": [0], "middle": [20, 21, 30], "last": [-1]}.get(what, [])
        for buffer in (buffers[place] for place in places):
            data[buffer.offset + BUFFER_HEADER.size + 9] ^= 8
        if what == "header":
            data[buffers[20].offset + 17] ^= 1
        if what == "breaks_off":
            del data[buffers[25].offset + 100:]
        path = folder / "damaged.epochs"
        path.write_bytes(data)
        return [self.uris[0], f"file:{path}", self.uris[2]]


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    return Damaged(tmp_path_factory.mktemp("damaged"))


def incomplete(run):
    flags, masks = (read_merged(run.merged)[f"events/{name}"] for name in ("flags", "sources_missing"))
    assert np.array_equal(masks, np.where(flags & INCOMPLETE, 2, 0))
    return int((flags & INCOMPLETE != 0).sum())


@pytest.mark.parametrize("what", ["first", "middle", "last", "header", "breaks_off"])
def test_damaged_streams(tmp_path, damaged, what):
    """Hits dropped, the flag, the masks of events and slices."""
    kept = Kept(tmp_path, damaged.write(tmp_path, what), "gap:60,3", "--epochs-per-slice", 16, builders=2, code=3)
    account = read_ledger(kept.run.output)
    assert dropped(account)["corrupt"] > 0 and set(account["sources_missing"].tolist()) == {0, 2} and kept.manifest()["damage"]
    assert incomplete(kept.run) > 0 or what in ("first", "last")
    assert_taken_back(kept, tmp_path / "again", np=2 if what == "middle" else None)


@pytest.mark.parametrize("what, definition, per_slice", [("middle", "multiplicity:100,5,1,2", 5), ("breaks_off", "gap:60,3", 100)])
def test_damaged_streams_in_other_slices(tmp_path, damaged, what, definition, per_slice):
    """Other events, other slices: equal to those of the direct run, including flags and account."""
    kept = Kept(tmp_path, damaged.write(tmp_path, what), "gap:60,3", "--epochs-per-slice", 16, builders=2, code=3)
    options = ["--epochs-per-slice", per_slice]
    direct = kept.direct(tmp_path / "other", *options, definition=definition)
    assert incomplete(direct) > 0
    assert_same_run(kept.taken_back(tmp_path / "back", *options, definition=definition), direct)


def lmd_event(number, subevents=2, trigger=1, source=0):
    return Event(number, [Subevent(10 * source + k, [number, source, *range(k)], crate=source) for k in range(subevents)], trigger)


def lmd_events(numbers, source):
    """Numbers alone, or (number, subevents[, trigger])."""
    return [lmd_event(*(n if isinstance(n, tuple) else (n,)), source=source) for n in numbers]


NUMBERED = [  # one list a source
    [*range(1, 20), (20, 1), (20, 2), *range(21, 41), 40],
    [*range(1, 9), *range(12, 30), 70_000, *range(30, 35), 33, *range(35, 41)],
    [(1, 0), *range(2, 15), (15, 2, 13), *range(16, 38), 38, 38, 39, 40],
]


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbered")
    sources = [lmd_events(numbers, source) for source, numbers in enumerate(NUMBERED)]
    for number, events in enumerate(sources):
        (folder / f"{number}.lmd").write_bytes(flat_file(events))
    kept = Kept(folder / "kept", [f"lmd:{folder}/*.lmd?time=tag"], "tag", "--overlap", 0, "--epochs-per-slice", 2,
                importing=["--epoch", "4ns"], builders=2, code=3)
    return kept, sources


def test_events_by_number(tmp_path, numbered):
    """Missing, repeated and foreign numbers, and a trigger that the others contradict: all as in the run that kept
    them."""
    kept, sources = numbered
    expected, lost, hits_in = expected_run(sources)
    assert set(lost) == {"duplicate", "repeated_incomplete", "out_of_step"} and expected["events/flags"].any()
    assert_same(read_merged(kept.run.merged), expected)
    run = kept.taken_back(tmp_path, *kept.options)
    account = read_ledger(run.output)
    assert {cause: hits for cause, hits in dropped(account).items() if hits} == lost and account["hits_in"].sum() == hits_in
    assert_same_run(run, kept.run)


def test_events_by_number_in_other_slices(tmp_path, numbered):
    kept, _ = numbered
    options = ["--overlap", 0, "--epochs-per-slice", 3]
    direct = kept.direct(tmp_path / "direct", *options)
    assert_same_run(kept.taken_back(tmp_path / "back", *options, np=3), direct)


@pytest.mark.parametrize("saved, asked", [("tag", "gap:0,1"), ("gap:0,1", "tag")])
def test_numbers_by_another_definition(tmp_path, numbered, saved, asked):
    """Only `tag` requires equal triggers and all sources: hits that it refuses are in the events by gap."""
    kept, _ = numbered
    options = ["--overlap", 0, "--epochs-per-slice", 2]
    if saved != "tag":
        kept = Kept(tmp_path, kept.uris, saved, *options, importing=kept.importing, code=3)
    direct = kept.direct(tmp_path / "expected", *options, definition=asked)
    assert_same_run(kept.taken_back(tmp_path / "back", *options, definition=asked), direct)


def test_events_without_a_time(tmp_path):
    """Cause untimed."""
    stamped = [Event(n, [Subevent(1, [*white_rabbit(100 * n), n])] if n % 5 else [Subevent(1, [n])]) for n in range(1, 60)]
    (tmp_path / "a.lmd").write_bytes(flat_file(stamped))
    kept = Kept(tmp_path, [f"lmd:{tmp_path}/a.lmd?time=wr"], "gap:100,2", code=3)
    assert dropped(read_ledger(kept.run.output))["untimed"] == 11
    assert_taken_back(kept, tmp_path / "again")


# The contents of the streams, by the format's description alone


class StreamContents:
    """One stream, read strictly: hits in order, tags (time, hits, truncated, position of the next hit), bins of
    histograms."""

    def __init__(self, path, bin_ticks):
        self.file, self.bin_ticks = read_epochs_file(path), bin_ticks
        self.rows, self.tags, self.bins = [], [], Counter()
        for buffer in self.file.buffers:
            self._read(buffer)

    def _read(self, buffer):
        words, at, epoch = self.file.words(buffer), 0, None
        while at < len(words):
            kind, value = words[at] >> 28, words[at] & 0x0FFFFFFF
            at += 1
            if kind == 0:
                start = buffer.first_epoch if epoch is None else epoch + 1
                epoch = start + (value - start & 0x0FFFFFFF)
            elif kind == 4:
                first, count = value >> 13, value & 0x1FFF
                start = epoch * self.file.epoch_ticks // self.bin_ticks + first
                bins = {start + k: hits for k, hits in enumerate(words[at:at + count])}
                assert len(bins) == count and all(bins.values()), "a histogram is of bins with hits"
                self.bins.update({(epoch, bin): hits for bin, hits in bins.items()})
                at += count
            else:
                assert kind == 1, f"a marker of type {kind} outside of a time"
                count = value >> 19
                if count == 511:
                    count, at = words[at], at + 1
                self._read_group(epoch * self.file.epoch_ticks + (value & 0x7FFFF), words[at:at + count])
                at += count

    def _read_group(self, time, words):
        at = 0
        while at < len(words):
            kind, value = words[at] >> 28, words[at] & 0x0FFFFFFF
            at += 1
            if kind == 3:
                self.tags.append((time, value & (1 << 27) - 1, value >> 27 == 1, len(self.rows)))
                continue
            assert kind == 2, f"a marker of type {kind} in a time"
            length, source = words[at], words[at + 1]
            self.rows.append((time, value, source, words[at + 2:at + 1 + length]))
            at += 1 + length


class Contents:
    """All streams of a folder together, in the order of the run."""

    def __init__(self, kept):
        self.manifest = kept.manifest()
        self.streams = [StreamContents(path, self.manifest["histogram_bin_ticks"]) for path in kept.streams()]
        rows = [row for stream in self.streams for row in stream.rows]
        order = sorted(range(len(rows)), key=lambda place: rows[place][0])  # keeps the streams' order of equal times
        place_of = np.argsort(order)
        rows = [rows[place] for place in order]
        self.hits = Hits(np.array([r[0] for r in rows], dtype=np.uint64), np.array([r[1] for r in rows], dtype=np.uint32),
                         np.array([r[2] for r in rows], dtype=np.uint16), np.array([len(r[3]) for r in rows], dtype=np.uint32),
                         np.array([word for r in rows for word in r[3]], dtype=np.uint32))
        starts = np.cumsum([0, *(len(stream.rows) for stream in self.streams)])
        self.tags = sorted((time, n, cut, int(place_of[start + place])) for start, stream in zip(starts, self.streams)
                           for time, n, cut, place in stream.tags)
        self.bins = sum((stream.bins for stream in self.streams), start=Counter())


def check_contents(kept, bin_ticks, epoch_ticks, overlap):
    contents, hits, manifest = Contents(kept), kept.hits, kept.manifest()
    assert manifest["histogram_bin_ticks"] == bin_ticks and manifest["definition"] == kept.definition
    for number, stream in enumerate(contents.streams):
        fields = STREAM_HEADER.unpack_from(stream.file.data)
        assert (stream.file.source, stream.file.epoch_ticks, fields[7]) == (number, epoch_ticks, SORTED_FLAG)
        assert set(stream.file.payload_table) == {LENGTH_IN_FIRST_WORD}
        assert np.all(np.diff([row[0] for row in stream.rows]) >= 0), "hits of a stream are in rising time"
    names = ("time", "channel", "source", "payload_words", "payload")
    assert_same(*({name: getattr(side, name) for name in names} for side in (contents.hits, hits)))
    events = find_events(hits, kept.definition, overlap)
    expected = zip(hits.time[events.begin].tolist(), (events.end - events.begin).tolist(), events.truncated.tolist(),
                   events.begin.tolist())
    assert contents.tags == list(expected) and len(contents.tags) > 100
    pairs, counts = np.unique(np.stack([hits.time // np.uint64(epoch_ticks), hits.time // np.uint64(bin_ticks)]), axis=1,
                              return_counts=True)
    assert contents.bins == {tuple(pair): n for pair, n in zip(pairs.T.tolist(), counts.tolist())}
    return contents


@pytest.mark.parametrize("definition, bin_ticks", zip(DEFINITIONS, [60, 100, 1]), ids=DEFINITIONS)
def test_streams_hold_hits_tags_and_histograms(generated, definition, bin_ticks):
    contents = check_contents(generated[definition], bin_ticks, 10_000, 10_000)
    assert len(contents.streams) == 1 + DEFINITIONS.index(definition)
    histogram, _ = np.histogram(contents.hits.time, bins=np.arange(0, 10_000_001 + bin_ticks, bin_ticks))
    whole = np.zeros_like(histogram)
    for (_, bin), hits in contents.bins.items():
        whole[bin] += hits
    assert np.array_equal(whole, histogram)


def test_tags_of_events_across_edges_and_truncated(dense):
    contents = check_contents(dense, 15, 500, 60)
    assert any(cut for _, _, cut, _ in contents.tags)


def test_bins_that_an_epoch_has_too_many_of(tmp_path):
    """An H1 marker can name 32766 bins: of an epoch of 500 us, in ticks of 1 ns, a bin has 16 ticks."""
    choose = np.random.default_rng(5)
    write_csv(tmp_path / "a.csv", np.sort(choose.integers(0, 2_000_000, 900)).tolist(), range(900))
    hits = weave([read_csv(tmp_path / "a.csv", time=1, channel=2)])
    kept = Kept(tmp_path, [f"csv:{tmp_path}/a.csv?{CSV}"], "tag", "--epochs-per-slice", 1, importing=["--epoch", 500_000],
                builders=2, reference=hits)
    check_contents(kept, 16, 500_000, 500_000)


def test_inspect_of_a_stream(generated):
    """It states its kind, and the figures that the reader above finds."""
    kept = generated["gap:60,3"]
    stream = StreamContents(kept.streams()[0], 60)
    shown = json.loads(eventloom("inspect", kept.streams()[0], "--json").stdout)
    assert not shown["damaged"] and any("sorted" in text for text in shown["flags"])
    assert (shown["hits"], shown["event_tags"]) == (len(stream.rows), len(stream.tags)) and shown["histograms"] > 0


# Refused, with one line that states the fix


def refused(folder, sources, *options, np=None):
    uris = [word for uri in sources for word in ("--source", uri)]
    done = eventloom("run", *uris, "--define", "gap:60,3", *options, "--output", folder / "run.h5", code=2, np=np)
    assert not (folder / "run.h5").exists()
    return done


@pytest.mark.parametrize("order, np", [(1, None), (-1, None), (1, 2)])
def test_beside_another_source(tmp_path, generated, order, np):
    kept = generated["gap:60,3"]
    done = refused(tmp_path, [f"sorted:{kept.path}", kept.uris[0]][::order], np=np)
    if np is None:
        only_line(done, "sorted:DIR", "alone")
    assert "sorted:DIR" in done.stderr


@pytest.mark.parametrize("same", [True, False], ids=["same", "other"])
def test_beside_another_folder(tmp_path, generated, same):
    folders = [generated["gap:60,3"].path, generated["gap:60,3" if same else "tag"].path]
    expected = ["given twice"] if same else ["sorted:DIR", "alone"]
    only_line(refused(tmp_path, [f"sorted:{folder}" for folder in folders]), *expected)


def test_stream_without_its_folder(tmp_path, generated):
    only_line(refused(tmp_path, [f"file:{generated['gap:60,3'].streams()[0]}"]), "sorted:DIR")


def test_folder_without_a_list(tmp_path, generated):
    folder = generated["gap:60,3"].copied(tmp_path)
    (folder / "sorted.json").unlink()
    only_line(refused(tmp_path, [f"sorted:{folder}"]), folder, "sorted.json", "--save-sorted")
    only_line(refused(tmp_path, [f"sorted:{tmp_path}/none"]), "none", "--save-sorted")


@pytest.mark.parametrize("what", ["empty", "cut", "no_object", "other_version", "no_files", "negative", "builder_elsewhere"])
def test_list_that_cannot_be_read(tmp_path, generated, what):
    folder = generated["gap:60,3"].copied(tmp_path)
    text = (folder / "sorted.json").read_text()
    manifest = json.loads(text)
    (folder / "sorted.json").write_text({
        "empty": "", "cut": text[:len(text) // 2], "no_object": "[1, 2]", "other_version": json.dumps(manifest | {"version": 99}),
        "no_files": json.dumps({key: value for key, value in manifest.items() if key != "files"}),
        "negative": json.dumps(manifest | {"epoch_ticks": "many"}),
        "builder_elsewhere": json.dumps(manifest | {"files": [manifest["files"][0] | {"name": "none.epochs"}]})}[what])
    only_line(refused(tmp_path, [f"sorted:{folder}"]), folder)


@pytest.mark.parametrize("what", ["cut", "gone", "longer", "empty"])
def test_stream_that_is_not_whole(tmp_path, generated, what):
    """Its name and the fix: --save-sorted recreates the folder."""
    folder = generated["multiplicity:100,5,1,2"].copied(tmp_path)
    stream = sorted(folder.glob("*.epochs"))[1]
    data = stream.read_bytes()
    stream.write_bytes({"cut": data[:-100], "gone": b"", "longer": data + bytes(8), "empty": b""}[what])
    if what == "gone":
        stream.unlink()
    only_line(refused(tmp_path, [f"sorted:{folder}"]), stream.name, "--save-sorted")


def test_stream_of_another_run(tmp_path):
    """Equal sizes and numbers of hits: hits of one run with the account of another must not be accepted as a run."""
    for name, first in (("a", 0), ("b", 7)):
        write_csv(tmp_path / f"{name}.csv", range(first, 1_000_000, 1000), range(1000))
    one, other = (Kept(tmp_path / name, [f"csv:{tmp_path}/{name}.csv?{CSV}"], "gap:60,3") for name in "ab")
    assert one.streams()[0].stat().st_size == other.streams()[0].stat().st_size
    folder = one.copied(tmp_path)
    shutil.copy(other.streams()[0], folder)
    only_line(refused(tmp_path, [f"sorted:{folder}"]), one.streams()[0].name)


def test_streams_of_two_builders_exchanged(tmp_path):
    """Refused, or recognised as what they are."""
    write_csv(tmp_path / "a.csv", range(0, 1_000_000, 1000), range(1000))
    kept = Kept(tmp_path, [f"csv:{tmp_path}/a.csv?{CSV}"], "gap:60,3", "--epochs-per-slice", 50, builders=2)
    first, second = kept.streams()
    assert first.stat().st_size == second.stat().st_size
    first.rename(tmp_path / "x")
    second.rename(first)
    (tmp_path / "x").rename(second)
    again = kept.taken_back(tmp_path / "again", *kept.options, code=None)
    if again.done.returncode == 2:
        only_line(again.done, "builder_")
        return
    assert_same_run(again, kept.run)


def test_folder_that_cannot_be_written(tmp_path, generated):
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        only_line(refused(tmp_path, generated["tag"].uris, "--save-sorted", folder), folder)
    assert (tmp_path / "file").read_text() == "mine" and sorted(os.listdir(tmp_path)) == ["file"]


def test_never_over_what_is_read(tmp_path, generated):
    """Keeping hits in the folder from which they are read would delete the only copy before the new one is complete."""
    folder = generated["gap:60,3"].copied(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    only_line(refused(tmp_path, [f"sorted:{folder}"], "--save-sorted", folder), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_streams_of_a_run_that_did_not_end(tmp_path, generated):
    """Killed on the way: there is no list, and the folder is not accepted."""
    words = [word for uri in generated["tag"].uris for word in ("--source", uri)]
    command = [BINARY, "run", *words, "--define", "tag", "--speed", "0.001", "--epochs-per-slice", "1", "--save-sorted",
               str(tmp_path / "sorted"), "--output", str(tmp_path / "killed.h5")]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        limit = time.monotonic() + 20
        while not list(tmp_path.glob("sorted/*")) and time.monotonic() < limit:
            time.sleep(0.02)
        assert process.poll() is None, "the run has ended before it could be killed"
        process.send_signal(signal.SIGKILL)
    assert list(tmp_path.glob("sorted/*"))
    only_line(refused(tmp_path, [f"sorted:{tmp_path}/sorted"]), "sorted.json")


# Damage inside of a stream


def flipped(folder, offset, stream=0):
    path = sorted(folder.glob("*.epochs"))[stream]
    data = bytearray(path.read_bytes())
    data[offset] ^= 4
    path.write_bytes(data)
    return path


def check_lost_hits(kept, run, lost, hits_in):
    """The losses are counted; every unflagged event is true; every slice of the lost hits lacks something."""
    account = read_ledger(run.output)
    assert_balanced(account)
    assert dropped(account)["corrupt"] == lost and account["hits_in"].sum() == hits_in
    assert account["sources_missing"].any()
    merged = read_merged(run.merged)
    clean = set(event_keys(read_merged(kept.run.merged)))
    found = set(event_keys(merged, INCOMPLETE))
    assert found <= clean, "not flagged, yet not an event of the run that kept the hits"
    assert clean - found, "no event is lost or flagged"
    flags, masks = merged["events/flags"], merged["events/sources_missing"]
    assert np.array_equal(masks != 0, flags & INCOMPLETE != 0)
    assert set(masks.tolist()) <= {0, 0b111}, "any of the sources may lack hits, and no other"


@pytest.mark.parametrize("definition, asked, np", [("gap:60,3", "gap:60,3", None), ("tag", "gap:60,3", None),
                                                   ("multiplicity:100,5,1,2", "multiplicity:100,5,1,2", 2)])
@pytest.mark.parametrize("place", ["words", "header"])
def test_flipped_byte(tmp_path, generated, definition, asked, np, place):
    kept = generated[definition]
    epochs = kept.hits.time[find_events(kept.hits, asked, 10_000).begin] // 10_000
    buffers = read_epochs_file(kept.streams()[-1]).buffers[3:]
    buffer = max(buffers, key=lambda b: ((epochs >= b.first_epoch) & (epochs < b.end_epoch)).sum())
    folder = kept.copied(tmp_path)
    path = flipped(folder, buffer.offset + (BUFFER_HEADER.size + 400 if place == "words" else 17), stream=-1)
    run = kept.taken_back(tmp_path, "--epochs-per-slice", 7, definition=asked, np=np, code=3, path=folder)
    check_lost_hits(generated[asked], run, buffer.n_hits, len(kept.hits))
    lines = [line for line in run.done.stderr.splitlines() if path.name in line]
    assert any(str(buffer.offset) in line for line in lines), run.done.stderr


def test_flipped_byte_beside_damage_before(tmp_path, damaged):
    """Both losses are counted."""
    kept = Kept(tmp_path, damaged.write(tmp_path, "middle"), "gap:60,3", "--epochs-per-slice", 16, builders=2, code=3)
    before = dropped(read_ledger(kept.run.output))["corrupt"]
    buffer = read_epochs_file(kept.streams()[0]).buffers[-1]
    flipped(kept.path, buffer.offset + BUFFER_HEADER.size + 40)
    account = read_ledger(kept.taken_back(tmp_path / "again", "--epochs-per-slice", 16).output)
    assert_balanced(account)
    assert dropped(account)["corrupt"] == before + buffer.n_hits
    assert account["hits_in"].sum() == read_ledger(kept.run.output)["hits_in"].sum()


def test_flipped_byte_in_an_index(tmp_path, generated):
    """Found by scanning: nothing is lost."""
    kept = generated["gap:60,3"]
    folder = kept.copied(tmp_path)
    path = flipped(folder, read_epochs_file(kept.streams()[0]).index_offset + 40)
    run = kept.taken_back(tmp_path, *kept.options, path=folder, code=None)  # as for any file whose index is damaged
    assert_same(datasets(run.merged), datasets(kept.run.merged))
    assert path.name in run.done.stderr


def sealed(words, header):
    """A buffer of these words with the fields of another buffer's header."""
    body = struct.pack(f"<{len(words)}I", *words)
    fields = list(BUFFER_HEADER.unpack(header))
    fields[2] = crc32c(body)
    fields[1] = crc32c(BUFFER_HEADER.pack(*fields)[8:])
    return BUFFER_HEADER.pack(*fields) + body + bytes(-len(body) % 8)


def exchanged(folder, file, number, piece):
    """The folder's first stream with one buffer replaced, and every checksum right."""
    data = bytearray(file.data)
    data[file.buffers[number].offset:file.buffers[number].offset + len(piece)] = piece
    entries = [list(entry) for entry in INDEX_ENTRY.iter_unpack(data[file.index_offset:-TRAILER.size])]
    entries[number][5] = BUFFER_HEADER.unpack_from(piece)[2]
    index = b"".join(INDEX_ENTRY.pack(*entry) for entry in entries)
    trailer = list(TRAILER.unpack(data[-TRAILER.size:]))
    trailer[6] = crc32c(index)
    trailer[7] = crc32c(TRAILER.pack(*trailer)[:52])
    sorted(folder.glob("*.epochs"))[0].write_bytes(bytes(data[:file.index_offset]) + index + TRAILER.pack(*trailer))
    manifest = json.loads((folder / "sorted.json").read_text())
    manifest["files"][0]["crc32c"] = crc32c(bytes(data[:file.buffers[0].offset]) + index)
    (folder / "sorted.json").write_text(json.dumps(manifest))


TAG, ID = 3, 2


@pytest.mark.parametrize("what", ["source_beyond", "tag_of_none", "tag_too_long", "tag_into_the_next", "length_0", "length_cut"])
def test_lies_behind_right_checksums(tmp_path, dense, what):
    """A foreign writer's fault: counted, never a crash, and no event is made of it."""
    folder, file = dense.copied(tmp_path), read_epochs_file(dense.streams()[0])
    buffer = file.buffers[5]
    words = list(file.words(buffer))  # an ID is followed by the number of words, 1, and the source
    tag = next(at for at, word in enumerate(words) if word >> 28 == TAG)
    assert words[tag + 1] >> 28 == ID and words[tag + 2] == 1 and words[tag + 3] < 2
    place, value = {"source_beyond": (tag + 3, 77), "tag_of_none": (tag, TAG << 28), "tag_too_long": (tag, TAG << 28 | 0x7FFFFFF),
                    "tag_into_the_next": (tag, words[tag] + 40),
                    "length_0": (tag + 2, 0), "length_cut": (tag + 2, 1 << 20)}[what]
    words[place] = value
    exchanged(folder, file, 5, sealed(words, file.data[buffer.offset:buffer.offset + BUFFER_HEADER.size]))
    if what.startswith("tag"):  # tags that cannot be right are not used
        run = dense.taken_back(tmp_path, *dense.options, path=folder, np=2)
        return assert_same(datasets(run.merged), datasets(dense.run.merged))
    run = dense.taken_back(tmp_path, *dense.options, path=folder, code=3, np=2)
    account = read_ledger(run.output)
    assert_balanced(account)
    assert account["hits_in"].sum() == len(dense.hits) and dropped(account)["corrupt"] == buffer.n_hits
    unflagged = [set(event_keys(read_merged(r.merged), INCOMPLETE | TRUNCATED)) for r in (run, dense.run)]
    assert unflagged[0] <= unflagged[1]


@pytest.mark.parametrize("seed", range(3))
def test_anything_anywhere(tmp_path, generated, seed):
    """Seeded damage that keeps a stream's size: one of the contract's exit codes, a balanced account, no false
    event."""
    choose, kept = random.Random(seed), generated["gap:60,3"]
    folder = kept.copied(tmp_path)
    path = sorted(folder.glob("*.epochs"))[0]
    data = bytearray(path.read_bytes())
    for _ in range(choose.choice([1, 3, 20])):
        at, size = choose.randrange(128, len(data)), choose.choice([1, 4, 64, 1000])
        size = len(data[at:at + size])
        data[at:at + size] = choose.choice([choose.randbytes(size), bytes(size), bytes(data[:size])])
    path.write_bytes(data)
    run = Run(tmp_path / "run", [f"sorted:{folder}"], "--define", "gap:60,3", code=None, timeout=60)
    if run.done.returncode == 2:
        return only_line(run.done, path.name)
    account = read_ledger(run.output)
    assert_balanced(account)
    assert set(event_keys(read_merged(run.merged), INCOMPLETE)) <= set(event_keys(read_merged(kept.run.merged)))
    if run.done.returncode == 0:
        assert_same(read_merged(run.merged), read_merged(kept.run.merged))
