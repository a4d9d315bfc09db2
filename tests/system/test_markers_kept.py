"""Every type of marker from a front end to the output: epochs, times and IDs make the hits; peaks, event tags,
histograms and schedules, which events do not hold, are counted once each, reported at the end, and set the exit code
3."""

import json
import random
import signal

import h5py
import numpy as np
import pytest

from epochs_file import epochs_file
from interrupted import STOPPED, Started
from live import free_port, LiveRun, send, udp
from program import Run, eventloom
from results import assert_same, read_merged

EPOCH, TIME, ID, TAG, HISTOGRAM, PEAK, SCHEDULE = range(7)
TICKS = 10_000
WITH_PAYLOAD = 5  # the system whose IDs have two words
TABLE = bytes(2 if system == WITH_PAYLOAD else 0 for system in range(64))
LEFT_OUT = ("peaks", "tags", "histograms", "schedules")
DEFINE = ("--define", "gap:50,1")


def word(kind, value):
    return kind << 28 | value


class Stream:
    """Random epoch buffers with all types of markers, and their contents."""

    def __init__(self, seed, epochs=400, others=True, bare=False):
        self.draw, self.hits, self.counts = random.Random(seed), [], dict.fromkeys(LEFT_OUT, 0)
        self.others, self.bare = others, bare
        buffers = []
        for first in range(3, epochs, 4):
            before = len(self.hits)
            words = [w for epoch in range(first, first + self.draw.randint(1, 4)) for w in self.epoch(epoch)]
            mine = self.hits[before:]
            buffers.append((first, 4, words, len(mine), sum(len(payload) for *_, payload in mine)))
        self.buffers = buffers
        self.bytes = epochs_file(buffers, payload_table=bytes(64) if bare else TABLE)

    def some(self, chance):
        return self.others and self.draw.random() < chance

    def count(self, what):
        self.counts[what] += 1

    def epoch(self, number):
        words = [word(EPOCH, number)]
        times = sorted(self.draw.sample(range(TICKS), self.draw.randint(0, 3)))
        for time in times:
            words += self.between()
            words += self.group(number * TICKS + time)
        return words + self.between()

    def between(self):
        words = []
        if self.some(0.1):
            self.count("tags")
            words.append(word(TAG, self.draw.getrandbits(28)))
        if self.some(0.1):
            self.count("histograms")
            bins = self.draw.randint(0, 20)
            # Bins that look like markers are bins.
            words += [word(HISTOGRAM, 7 << 13 | bins), *(self.draw.getrandbits(32) for _ in range(bins))]
        if self.some(0.1):
            self.count("schedules")
            entries = self.draw.randint(0, 3)
            words += [word(SCHEDULE, entries), *(self.draw.getrandbits(32) for _ in range(3 * entries))]
        return words

    def group(self, time):
        """One time marker; some use the longer form of their number of words."""
        words = []
        if self.some(0.1):
            self.count("tags")
            words.append(word(TAG, 1))
        for _ in range(self.draw.choice([1, 1, 2, 3, 300])):
            system = 1 if self.bare else self.draw.choice([1, WITH_PAYLOAD])
            channel = system << 22 | self.draw.randrange(50)
            payload = tuple(self.draw.getrandbits(32) for _ in range(2)) if system == WITH_PAYLOAD else ()
            self.hits.append((time, channel, payload))
            words += [word(ID, channel), *payload]
            while self.some(0.3):
                self.count("peaks")
                words.append(word(PEAK, self.draw.getrandbits(28)))
        n = len(words)
        return [word(TIME, min(n, 511) << 19 | time % TICKS), *([n] if n >= 511 else []), *words]

    def write(self, file):
        file.write_bytes(self.bytes)
        return f"file:{file}"


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    made = [Stream(1), Stream(2, others=False), Stream(3)]
    return made, [stream.write(folder / f"{i}.epochs") for i, stream in enumerate(made)]


def left_out(report):
    return [{what: source["counts"].get(f"{what}_left_out", 0) for what in LEFT_OUT} for source in report["per_source"]]


def assert_hits(merged, streams):
    """All hits, in the order of the run, with their own payload and no other words."""
    hits = sorted(((t, s, i, c, p) for s, stream in enumerate(streams) for i, (t, c, p) in enumerate(stream.hits)))
    with h5py.File(merged) as file:
        assert file["hits/time"][:].tolist() == [t for t, *_ in hits]
        assert file["hits/channel"][:].tolist() == [c for *_, c, _ in hits]
        assert file["payload"][:].tolist() == [w for *_, payload in hits for w in payload]
        assert np.diff(file["hits/first_payload"][:]).tolist() == [len(payload) for *_, payload in hits]


def assert_said(done, counts):
    """The end of the output reports it in one line."""
    own = done.stderr.partition("\n----")[0]  # then mpirun comments on the exit code
    said = [line for line in own.splitlines()[-3:] if "not in the output" in line]
    assert len(said) == 1, done.stderr
    for what, marker in zip(LEFT_OUT, ("P", "TG", "H1", "SCH")):
        number = sum(of[what] for of in counts)
        assert number == 0 or f"{number} " in said[0] and f"({marker})" in said[0], said[0]


@pytest.mark.parametrize("ranks, options", [
    (None, ()),
    (None, ("--epochs-per-slice", 1)),
    (3, ("--builders", 2, "--filters", 2, "--epochs-per-slice", 3, "--overlap", "90us")),
    (2, ("--builders", 3, "--epochs-per-slice", 7, "--schedule", "balanced")),
])
def test_each_is_counted_once(tmp_path, streams, ranks, options):
    made, uris = streams
    run = Run(tmp_path, uris, *DEFINE, *options, np=ranks)
    counts = [stream.counts for stream in made]
    assert all(counts[0].values()) and not any(counts[1].values())
    assert left_out(run.report()) == counts
    assert run.report()["exit_code"] == 0 and run.report()["balanced"]
    assert_said(run.done, counts)
    assert_hits(run.merged, made)


@pytest.mark.parametrize("offset", [-123_456, 77_777_777])
def test_where_times_are_corrected(tmp_path, streams, offset):
    made, uris = streams
    (tmp_path / "map.csv").write_text(f"source,channel,offset_ticks\n0,,{offset}\n2,{1 << 22}-{(1 << 22) + 9},{offset}\n")
    run = Run(tmp_path, uris, *DEFINE, "--detector", tmp_path / "map.csv", "--epochs-per-slice", 5, np=2,
              code=3 if offset < 0 else 0)  # hits before tick 0 are dropped
    assert left_out(run.report()) == [stream.counts for stream in made]


def test_where_a_key_changes_the_stream(tmp_path, streams):
    """Its hits are re-encoded into epoch buffers before builders see them."""
    made, uris = streams
    run = Run(tmp_path, [uris[0] + "?offset=1us", uris[2]], *DEFINE)
    assert left_out(run.report()) == [made[0].counts, made[2].counts]
    assert_said(run.done, [made[0].counts, made[2].counts])


def test_without_them_nothing_changes(tmp_path, streams):
    made, uris = streams
    plain = Stream(2, others=False)
    run = Run(tmp_path, [uris[1]], *DEFINE)
    assert plain.bytes == made[1].bytes and "not in the output" not in run.done.stderr
    assert left_out(run.report()) == [dict.fromkeys(LEFT_OUT, 0)]


def test_markers_alone(tmp_path):
    """Slices without hits: there is nothing to build, but something to count."""
    stream = Stream(5)
    stream.hits.clear()
    words = [[word(EPOCH, epoch), word(TAG, 9), word(HISTOGRAM, 2), 1, 2] for epoch in (10, 500)]
    (tmp_path / "a.epochs").write_bytes(epochs_file([(epoch, 1, w, 0, 0) for epoch, w in zip((10, 500), words)]))
    run = Run(tmp_path, [f"file:{tmp_path / 'a.epochs'}"], *DEFINE, "--epochs-per-slice", 10)
    assert left_out(run.report()) == [{"peaks": 0, "tags": 2, "histograms": 2, "schedules": 0}]


def test_a_resumed_run_counts_those_of_before(tmp_path, streams):
    made, uris = streams
    job = ["run", *uris, *DEFINE, "--epochs-per-slice", 4, "--segment-size", "1", "--output", "run.h5", "--report-json",
           "report.json"]
    with Started(tmp_path, *job, "--speed", "0.002") as started:
        started.until_parts(5)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    with Started(tmp_path, *job, "--resume") as started:
        started.wait(0)
    report = json.loads((tmp_path / "report.json").read_text())
    assert left_out(report) == [stream.counts for stream in made] and report["slices_before"] > 0


def test_saved_hits_have_none(tmp_path, streams):
    """They have the program's own tags and histograms."""
    made, uris = streams
    saved = tmp_path / "sorted"
    first = Run(tmp_path / "first", uris, *DEFINE, "--save-sorted", saved)
    again = Run(tmp_path / "again", [f"sorted:{saved}"], *DEFINE)
    assert left_out(first.report()) == [stream.counts for stream in made]
    assert_same(read_merged(again.merged), read_merged(first.merged))


def test_inspect_counts_them(streams):
    made, uris = streams
    for stream, uri in zip(made, uris):
        shown = json.loads(eventloom("inspect", uri.removeprefix("file:"), "--json").stdout)
        found = [shown[name] for name in ("peaks", "event_tags", "histograms", "schedules")]
        assert found == list(stream.counts.values()) and shown["hits"] == len(stream.hits)


def test_convert_keeps_or_names_them(tmp_path, streams):
    made, uris = streams
    eventloom("convert", uris[0], "--output", tmp_path / "same.epochs")
    shown = json.loads(eventloom("inspect", tmp_path / "same.epochs", "--json").stdout)
    assert [shown[name] for name in ("peaks", "event_tags", "histograms", "schedules")] == list(made[0].counts.values())
    done = eventloom("convert", uris[0] + "?offset=1us", "--output", tmp_path / "moved.epochs", code=3)
    assert all(f"{n} " in done.stderr for n in made[0].counts.values())
    bare = Stream(7, bare=True)
    done = eventloom("convert", bare.write(tmp_path / "bare.epochs"), "--format", "spikes", "--channel-base", 1 << 22,
                     "--output", tmp_path / "bare.spikes", code=3)
    assert all(f"{n} " in done.stderr for n in bare.counts.values())


def test_boards(tmp_path, streams):
    made, uris = streams
    port = free_port()
    with LiveRun(tmp_path, [udp(port)], *DEFINE, "--epoch-timeout", "20s").listening() as run:
        with send([uris[0].removeprefix("file:")], port) as sender:
            sender.wait(0)
        run.found(0)
        report = run.report()
    assert left_out(report) == [made[0].counts]
