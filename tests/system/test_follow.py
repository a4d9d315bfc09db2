"""Recordings followed while they are written: however a writer's data are split into pieces, the result is that of the
complete files. Data missing at the end, or contradicting that files only grow, are a loss with a cause."""

import contextlib
import gzip
import os
import random
import shutil
import signal
import struct
from itertools import zip_longest
from pathlib import Path

import pytest

from caen import compass_file, header, text_file
from interrupted import STOPPED, until
from live import LiveRun, merged
from midas import Bank, Event, midas_file
from program import DATA, Run, eventloom, generate, only_line
from results import assert_same, read_merged

GAP = ["--define", "gap:25ns,2"]
TAG = ["--define", "tag"]
SOON = ["--flush-after", "1ms", "--segment-size", "1", "--epochs-per-slice", "4"]  # data read are built


def pulses(n=4000, seed=3):
    """Times in ns, in order, most of them in pairs."""
    chance = random.Random(seed)
    times, time = [], 1000
    for _ in range(n):
        time += chance.choice([5, 10, 20, 3000])
        times.append(time)
    return times


def compass_records(times):
    return [{"board": 0, "channel": k % 16, "time_ps": 1000 * time, "energy": k % 4000} for k, time in enumerate(times)]


def table(folder, name, times):
    rows = "".join(f"{time},{k % 32},{k % 500}\n" for k, time in enumerate(times))
    (folder / name).write_text("t_ns,ch,energy\n" + rows)
    return folder / name


def midas_events(folder, name, first, n):
    events = [Event(first + k, [Bank("ADC0", struct.pack("<I", k)), Bank("TDC0", bytes(range(k % 40)))]) for k in range(n)]
    return midas_file(folder / name, events)


def epochs(folder):
    uri, = generate(folder / "streams", sources=1, rate=20_000, hits=6, noise=100_000, duration="20ms", seed=4)
    second = folder / "later.epochs"
    eventloom("convert", f"{uri}?offset=40ms", "--output", second)
    return [Path(uri.removeprefix("file:")), second]


def split(name):
    return lambda folder: [DATA / "lmd" / f"gen_split_{name}{k}.lmd" for k in (4, 5)]


# name: scheme, keys, options, files of one source in order
FORMATS = {
    "epochs": ("file", "", GAP, epochs),
    "flat": ("lmd", "", TAG, split("000")),
    "swapped": ("lmd", "", TAG, lambda folder: [DATA / "lmd" / "be_flat.lmd"]),
    "index": ("lmd", "", TAG, lambda folder: [DATA / "lmd" / "var_2byte.lmd"]),
    "classic": ("lmd", "", TAG, lambda folder: [DATA / "lmd" / "classic_16k.lmd"]),
    "hld": ("hld", "", TAG, lambda folder: [DATA / "hld" / "var_small.hld"]),
    "midas": ("midas", "", TAG, lambda folder: [midas_events(folder, "a.mid", 1, 500), midas_events(folder, "b.mid", 501, 300)]),
    "csv": ("csv", "reorder=1us", GAP, lambda folder: [table(folder, "a.csv", pulses()[:2500]), table(folder, "b.csv", pulses()[2500:])]),
    "compass": ("compass", "", GAP, lambda folder: [compass_file(folder / "a.bin", header(), compass_records(pulses()))]),
    "compass_text": ("compass", "reorder=1us", GAP, lambda folder: [text_file(
        folder / "a.csv", ["BOARD", "CHANNEL", "TIMETAG", "ENERGY", "FLAGS"],
        [record | {"flags": 0} for record in compass_records(pulses())])]),
}


class Written:
    """Files of one source that a test writes while they are followed: `run_<n>` in a folder, and the end mark of the
    last."""

    def __init__(self, folder, name):
        folder.mkdir()
        self.scheme, self.keys, self.options, make = FORMATS[name]
        (folder / "complete").mkdir()
        self.complete = make(folder / "complete")
        self.live = folder / "live"
        self.live.mkdir()
        self.paths = [self.live / f"run_{9 + k}{path.suffix}" for k, path in enumerate(self.complete)]

    @property
    def uri(self):
        keys = "&".join(filter(None, (self.keys, "follow")))
        return f"{self.scheme}:{self.live}/run_*{self.paths[0].suffix}?{keys}"

    def pieces(self, seed, number=0, most=40):
        """The bytes of a file in random pieces, cut anywhere."""
        data = self.complete[number].read_bytes()
        chance = random.Random(seed)
        cuts = sorted({0, len(data), *(chance.randrange(len(data)) for _ in range(most))})
        return [data[a:b] for a, b in zip(cuts, cuts[1:])]

    def append(self, data, number=0):
        with self.paths[number].open("ab") as file:
            file.write(data)

    def end(self, number=-1):
        self.paths[number].with_suffix(".end").touch()

    def write(self, seed, noticed):
        for number in range(len(self.paths)):
            for piece in self.pieces(seed + number, number):
                noticed(lambda: self.append(piece, number))
        self.end()

    def replay(self, folder):
        """The result of a run of the complete files, as one source."""
        whole = folder / "whole"
        whole.mkdir(parents=True)
        if len(self.paths) > 1 and self.scheme in ("file", "csv"):
            path = whole / "joined"  # sources without `concat`: the second begins after the first
            uris = [f"{self.scheme}:{file}" + ("?" + self.keys if self.keys else "") for file in self.complete]
            found = read_merged(Run(path, uris, *self.options).merged)
            found["hits/source"][:] = 0
            return found
        for path, file in zip(self.paths, self.complete):
            shutil.copy(file, whole / path.name)
        keys = "&".join(filter(None, (self.keys, "concat" if self.scheme in ("lmd", "hld", "midas") else "")))
        uri = f"{self.scheme}:{whole}/run_*{self.paths[0].suffix}" + (f"?{keys}" if keys else "")
        run = Run(folder / "replay", [uri], *self.options, code=None)
        assert run.done.returncode == 0 or self.scheme == "lmd", run.done.stderr
        self.code = run.done.returncode
        return read_merged(run.merged)

    code = 0


def watching(run):
    """A function that does something, and returns when the ranks have read something since, as they do when the kernel
    reports a change."""
    pids = list(run.ranks().values())

    def read():
        with contextlib.suppress(OSError):
            return sum(int(Path(f"/proc/{pid}/io").read_text().split()[1]) for pid in pids)
        return 0

    def noticed(change):
        before = read()
        change()
        until(lambda: read() != before or run.process.poll() is not None, "the run reads", 10, run.text)
    return noticed


@pytest.mark.parametrize("name", FORMATS)
def test_pieces_give_what_complete_files_give(tmp_path, name):
    written = Written(tmp_path / "files", name)
    expected = written.replay(tmp_path)
    with LiveRun(tmp_path / "run", [written.uri], *written.options) as run:
        written.write(7, watching(run))
        run.wait(written.code)
        merged(run.folder)
    assert_same(read_merged(run.folder / "merged.h5"), expected)


@pytest.mark.parametrize("name", ["csv", "compass", "compass_text"])
def test_data_are_built_once_others_are_later_by_reorder(tmp_path, name):
    """By default, too, and however few they are."""
    times = [100 * time for time in pulses()]
    path = tmp_path / f"run_1.{'bin' if name == 'compass' else 'csv'}"
    if name == "csv":
        table(tmp_path, path.name, times)
    elif name == "compass":
        compass_file(path, header(), compass_records(times))
    else:
        text_file(path, ["BOARD", "CHANNEL", "TIMETAG", "ENERGY", "FLAGS"], [r | {"flags": 0} for r in compass_records(times)])
    options = ["--define", "gap:2500ns,2", "--segment-size", "1", "--epochs-per-slice", "4"]
    with LiveRun(tmp_path / "run", [f"{name.partition('_')[0]}:{tmp_path}/run_*{path.suffix}?follow"], *options) as run:
        run.until_parts(1, 20)
        path.with_suffix(".end").touch()
        run.wait(0)


@pytest.mark.parametrize("header, keys, lines, times, code", [
    ("t_us,ch\n1,3\n", "", ("# a comment\n", "2,4\n", "\n", "3,5\n", "\n"), [1000, 2000, 3000], 0),
    ("t_us\n1\n", "&fixed-channel=7&skip-bad=yes", ("\n", "3\n", "\n"), [1000, 3000], 3)])
def test_a_line_that_is_no_row_ends_nothing(tmp_path, header, keys, lines, times, code):
    """Although it is the last one for a while."""
    path = tmp_path / "run_1.csv"
    path.write_text(header)
    with LiveRun(tmp_path / "run", [f"csv:{tmp_path}/run_*.csv?follow{keys}"], "--define", "gap:0,1") as run:
        noticed = watching(run)
        for line in lines:
            with path.open("a") as growing:
                noticed(lambda: (growing.write(line), growing.flush()))  # noqa: B023
        path.with_suffix(".end").touch()
        run.wait(code)
        merged(run.folder)
    assert read_merged(run.folder / "merged.h5")["hits/time"].tolist() == times


def test_a_later_file_with_a_header_of_its_own(tmp_path):
    """Its first byte alone does not tell that it has one."""
    (tmp_path / "files").mkdir()
    (tmp_path / "whole").mkdir()
    first, second = (compass_file(tmp_path / "whole" / f"run_{n}.bin", header(), compass_records(part))
                     for n, part in ((1, pulses()[:2000]), (2, pulses()[2000:])))
    expected = Run(tmp_path / "replay", [f"compass:{tmp_path}/whole/run_*.bin?concat"], *GAP)
    shutil.copy(first, tmp_path / "files")
    data = second.read_bytes()
    with LiveRun(tmp_path / "run", [f"compass:{tmp_path}/files/run_*.bin?follow"], *GAP) as run:
        noticed = watching(run)
        with (tmp_path / "files" / second.name).open("wb", buffering=0) as growing:
            for piece in (data[:1], data[1:9], data[9:]):
                noticed(lambda: growing.write(piece))
        (tmp_path / "files" / "run_2.end").touch()
        run.wait(0)
        merged(run.folder)
    assert_same(read_merged(run.folder / "merged.h5"), read_merged(expected.merged))


def test_two_ranks_and_sources(tmp_path):
    """Two growing tables and the existing rows of a third, on two ranks."""
    both = [Written(tmp_path / f"files{k}", "csv") for k in (0, 1)]
    for k, written in enumerate(both):
        written.complete = [table(tmp_path, f"{k}.csv", pulses(seed=k))]
        written.paths = written.paths[:1]
    expected = read_merged(Run(tmp_path / "replay", [f"csv:{written.complete[0]}?reorder=1us" for written in both], *GAP).merged)
    with LiveRun(tmp_path / "run", [written.uri for written in both], *GAP, "--epoch-timeout", "0", np=2) as run:
        noticed = watching(run)
        for first, second in zip_longest(both[0].pieces(1), both[1].pieces(2), fillvalue=b""):
            noticed(lambda: both[0].append(first))
            both[1].append(second)
        for written in both:
            written.end()
        run.wait(0)
        merged(run.folder)
    assert_same(read_merged(run.folder / "merged.h5"), expected)


@pytest.mark.parametrize("name", ["epochs", "flat", "hld", "midas", "csv", "compass"])
def test_a_cut_end_is_a_loss_once_the_writer_has_ended(tmp_path, name):
    written = Written(tmp_path / "files", name)
    data = written.complete[0].read_bytes()
    cut = len(data) // 2 + 3
    while data[cut - 1:cut] == b"\n":
        cut += 1
    with LiveRun(tmp_path / "run", [written.uri], *written.options) as run:
        watching(run)(lambda: written.append(data[:cut]))
        assert run.process.poll() is None
        written.end(0)
        reported = run.wait(3, 12)
    assert "error" in reported
    merged(run.folder)


@pytest.mark.parametrize("what", ["shrinks", "replaced", "removed"])
@pytest.mark.parametrize("name", ["epochs", "flat", "csv"])
def test_a_file_that_does_not_only_grow(tmp_path, name, what):
    written = Written(tmp_path / "files", name)
    data = written.complete[0].read_bytes()
    written.append(data[:len(data) // 2])
    path = written.paths[0]
    with LiveRun(tmp_path / "run", [written.uri], *written.options, *SOON) as run:
        run.until_parts(1, 10)
        if what == "shrinks":
            os.truncate(path, len(data) // 4)
        elif what == "removed":
            path.unlink()
        else:
            other = path.with_name("other")
            other.write_bytes(data)
            other.rename(path)
        reported = run.wait(3, 12)
    assert {"shrinks": "became shorter", "replaced": "replaced by another", "removed": "was removed"}[what] in reported
    merged(run.folder)


@pytest.mark.parametrize("how", ["signal", "duration"])
@pytest.mark.parametrize("name", ["epochs", "classic", "midas", "csv", "compass_text"])
def test_the_run_ends_first(tmp_path, name, how):
    """Data incomplete at that point are not a loss: the writer may continue."""
    written = Written(tmp_path / "files", name)
    data = written.complete[0].read_bytes()
    written.append(data[:len(data) * 2 // 3 + 1])
    more = ["--duration", "300ms"] if how == "duration" else []  # before a silence of 1 s ends a slice
    with LiveRun(tmp_path / "run", [written.uri], *written.options, *SOON, *more) as run:
        if how == "signal":
            run.until_parts(1, 15)
            run.signal(signal.SIGTERM)
        run.wait(0)
        merged(run.folder)


@pytest.mark.parametrize("name", ["epochs", "csv"])
def test_resume_reads_what_was_not_finished(tmp_path, name):
    written = Written(tmp_path / "files", name)
    expected = written.replay(tmp_path)
    data = written.complete[0].read_bytes()
    options = [*written.options, "--epochs-per-slice", "20", "--segment-size", "1"]
    written.append(data[:len(data) * 2 // 3])
    with LiveRun(tmp_path / "run", [written.uri], *options) as run:
        run.until_parts(2, 15)
        run.signal(signal.SIGUSR1)
        run.wait(STOPPED)
    written.append(data[len(data) * 2 // 3:])
    for number in range(1, len(written.paths)):
        written.append(written.complete[number].read_bytes(), number)
    written.end()
    with LiveRun(tmp_path / "run", [written.uri], *options, "--resume") as run:
        run.wait(0)
    merged(tmp_path / "run")
    assert_same(read_merged(tmp_path / "run" / "merged.h5"), expected)


def test_what_cannot_be_followed_is_refused(tmp_path):
    table(tmp_path, "a.csv", pulses(10))
    for uri, words in {f"hdf5:{tmp_path}/a.h5?follow": ["hdf5:", "cannot be followed", "lmd:"],
                       "gen:poisson?rate=1e3&follow": ["gen:", "cannot be followed"],
                       f"sorted:{tmp_path}?follow": ["sorted:", "cannot be followed"],
                       f"csv:{tmp_path}/a.csv?follow=no": ["'follow' takes no value"]}.items():
        only_line(eventloom("run", uri, *GAP, "--output", tmp_path / "run.h5", code=2), *words)
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    only_line(eventloom("run", f"csv:{packed}?follow", *GAP, "--output", tmp_path / "run.h5", code=2), "a.csv.gz", "compressed")


def test_a_table_without_times_is_not_awaited(tmp_path):
    """Its header is complete, since another line follows: appended data cannot help."""
    path = tmp_path / "a.csv"
    path.write_text("# of run 7\nchannel,energy\n3,250\n")
    only_line(eventloom("run", f"csv:{path}?follow", *GAP, "--output", tmp_path / "run.h5", code=2), "no column is called time")
