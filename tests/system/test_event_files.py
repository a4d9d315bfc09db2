"""merge --to: built events as LMD and HLD files, compared with the readers of the tests; byte for byte those of the
sources."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

import hld_reference
import lmd_reference
from event_files import (HIT_LIST, HLD_EVENT, HLD_ZERO, assert_bytes, assert_events, hit_list, hits_of_events, hld_event,
                         lmd_bytes, read_hld_files, read_lmd_files)
from hld_reference import hld_file, read_hld
from interrupted import STOPPED, Started
from lmd_reference import classic_file, flat_file, read_lmd, sort_out, white_rabbit
from program import DATA, Run, eventloom, generate, only_line
from recordings import write_csv

LMD, HLD = (sorted((DATA / kind).glob(f"*.{kind}")) for kind in ("lmd", "hld"))
SHORT = ["--epochs-per-slice", 1, "--overlap", 0]  # many slices


def by_name(path):
    return path.name


def built(folder, sources, *options, np=None, code=0, define="tag"):
    return Run(folder / "built", sources, "--define", define, *options, np=np, code=code)


def merge_to(target, run, *options, code=0):
    """The files that it reports, in order."""
    done = eventloom("merge", run, "--to", target, *options, code=code)
    files = [Path(line.split(maxsplit=1)[1]) for line in done.stdout.splitlines() if line.startswith("file ")]
    assert sum(path.stat().st_size for path in files) == int(re.search(r"bytes +(\d+)", done.stdout)[1])
    return files


def kept(events):
    return [event for _, event in sort_out(events).kept]


def lossy(events):
    return 3 if sort_out(events).events_dropped else 0


def assert_no_event_differs(folder, uri, run, code=0):
    """A run on the files written builds the same events as the first one."""
    again = Run(folder / "again", [uri], "--define", "tag", code=code)
    assert re.search(r"only in B +0\n.*\n", said := eventloom("compare", run.output, again.output, code=None).stdout), said
    assert re.search(r"in both, but different +0\n", said) and re.search(r"only in A +0\n", said), said


# One source


@pytest.mark.parametrize("path", LMD, ids=by_name)
def test_lmd_gives_its_events_back(tmp_path, path):
    events = read_lmd(path).events
    run = built(tmp_path, [f"lmd:{path}"], code=lossy(events))
    files = merge_to(f"lmd:{tmp_path}/out.lmd", run.output)
    assert [file.name for file in files] == ["out_0000.lmd"]
    assert_bytes(files[0].read_bytes(), lmd_bytes(kept(events)))
    assert_events(read_lmd_files(files), kept(events))
    assert_no_event_differs(tmp_path, f"lmd:{files[0]}", run)


@pytest.mark.parametrize("path", HLD, ids=by_name)
def test_hld_gives_its_events_back(tmp_path, path):
    """Except for date and time in the headers of events."""
    file = read_hld(path)
    run = built(tmp_path, [f"hld:{path}"])
    files = merge_to(f"hld:{tmp_path}/out", run.output)
    assert_events(read_hld_files(files), kept(file.events))
    begun = time.gmtime(HLD_ZERO + file.runs[0].run)
    assert files[0].name == time.strftime("out%y%j%H%M%S.hld", begun)
    assert_bytes(without_times(files[0].read_bytes()), without_times(path.read_bytes()))
    assert_no_event_differs(tmp_path, f"hld:{files[0]}", run)


def without_times(data):
    """The bytes of a file without the dates and times of events, and without the mark in its first event."""
    data, at = bytearray(data), 0
    data[28:32] = bytes(4)
    while at < len(data):
        data[at + 16:at + 24] = bytes(8)
        at += hld_reference.padded(int.from_bytes(data[at:at + 4], "little"))
    return bytes(data)


@pytest.mark.parametrize("kind, path", [("lmd", DATA / "lmd/var_2byte.lmd"), ("hld", DATA / "hld/var_small.hld")])
def test_the_way_does_not_matter(tmp_path, kind, path):
    """Through .epochs files, several builders and writers, a merged file, compression or a resume."""
    expected = merge_to(f"{kind}:{tmp_path}/first", built(tmp_path, [f"{kind}:{path}"]).output)[0].read_bytes()
    eventloom("convert", f"{kind}:{path}", "--output", tmp_path / "x.epochs")
    run = built(tmp_path / "other", [f"file:{tmp_path}/x.epochs"], *SHORT, "--builders", 2, "--compress", 1, np=3)
    for number, source in enumerate((run.output, run.merged)):
        assert_bytes(merge_to(f"{kind}:{tmp_path}/way{number}", source)[0].read_bytes(), expected)


def test_subevents_of_all_lengths_orders_and_words(tmp_path):
    """HLD made here: words of 1 to 8 bytes, incomplete ones, errors, and events without subevents."""
    sub = hld_reference.Subevent
    events = [hld_reference.Event(n, [sub(0x8000 + k, [n * k] * k, n << 8 | 7, k % 4 << 16 | 0x11,
                                          "little" if (n + k) % 3 == 1 else "big", max(4 * k - n % 3, 0))
                                      for k in range(n % 6)], 0x2001 | (0x80000000 if n % 5 == 0 else 0), 5)
              for n in range(1, 60)]
    (tmp_path / "made.hld").write_bytes(hld_file(events, run=5))
    run = built(tmp_path, [f"hld:{tmp_path}/made.hld"])
    assert_events(read_hld_files(merge_to(f"hld:{tmp_path}/out", run.output)), read_hld(tmp_path / "made.hld").events)


def test_byte_orders_beyond_the_first_mebibyte(tmp_path):
    """One id in both byte orders, and one that first appears late, in the opposite order."""
    sub = hld_reference.Subevent
    events = [hld_reference.Event(n, [sub(0x8000, [n] * 100, n << 8, byte_order="big" if n % 3 else "little"),
                                      *([sub(0x8020, [n], n << 8, byte_order="little")] if n > 2800 else [])], run=5)
              for n in range(1, 3001)]
    data = hld_file(events, run=5)
    assert len(b"".join(map(hld_reference.encode, events[:2800]))) > 2**20
    (tmp_path / "made.hld").write_bytes(data)
    run = built(tmp_path, [f"hld:{tmp_path}/made.hld"], "--also", f"hld:{tmp_path}/also")
    files = [*merge_to(f"hld:{tmp_path}/out", run.output), *tmp_path.glob("also*.hld")]
    assert len(files) == 2
    for file in files:
        assert_bytes(without_times(file.read_bytes()), without_times(data))


def test_time_stamps(tmp_path):
    """In time order, with the subevents of all events that a gap joins; the header is that of the first."""
    times = [5000, 5010, 9000, 12_000, 12_001]
    events = [lmd_reference.Event(n, [lmd_reference.Subevent(n, white_rabbit(t))], 1 + n) for n, t in enumerate(times, 1)]
    (tmp_path / "stamped.lmd").write_bytes(classic_file([events[k] for k in (2, 0, 1, 4, 3)]))
    run = built(tmp_path, [f"lmd:{tmp_path}/stamped.lmd?time=wr"], define="gap:20ns,1")
    joined = [events[:2], events[2:3], events[3:]]
    assert_events(read_lmd_files(merge_to(f"lmd:{tmp_path}/out", run.output)),
                  [replace(first, subevents=[s for e in (first, *rest) for s in e.subevents]) for first, *rest in joined])


# Several sources


def test_lmd_of_several_sources(tmp_path):
    """Events have the subevents of all sources in order, and the header of the first source with the number."""
    path = DATA / "lmd" / "var_small.lmd"
    events = read_lmd(path).events
    parts = [[replace(e, subevents=e.subevents[k::3], dummy=10 * k) for e in events if e.number % (k + 7)] for k in range(3)]
    for k, items in enumerate(parts):
        (tmp_path / f"{k}.lmd").write_bytes([flat_file, classic_file][k % 2](items, order="<>"[k == 2]))
    run = built(tmp_path, [f"lmd:{tmp_path}/{k}.lmd" for k in range(3)], *SHORT, "--epoch", "7ns", np=2, code=3)
    expected = {}
    for items in parts:
        for event in items:
            first = expected.setdefault(event.number, replace(event, subevents=[]))
            first.subevents.extend(event.subevents)
    assert_events(read_lmd_files(merge_to(f"lmd:{tmp_path}/out", run.output)), [expected[n] for n in sorted(expected)])


@pytest.mark.parametrize("runs", [(7, 7), (7, 8)])
def test_hld_of_several_sources(tmp_path, runs):
    """Like DABC's event builder: numbers count, bit 31 reports differing tags; the sources' run number, or one from the
    current time."""
    sub, event = hld_reference.Subevent, hld_reference.Event
    parts = [[event(n, [sub(0x8000 + k, [n, k], n << 8 | (n % 50 == 0 and k), byte_order=order)], 0x2000 | n % 3, run)
              for n in range(3, 203)] for k, (order, run) in enumerate(zip(("big", "little"), runs))]
    for k, items in enumerate(parts):
        (tmp_path / f"{k}.hld").write_bytes(hld_file(items, run=runs[k]))
    before = int(time.time()) - HLD_ZERO
    run = built(tmp_path, [f"hld:{tmp_path}/{k}.hld" for k in range(2)])
    found = read_hld_files(merge_to(f"hld:{tmp_path}/out", run.output))
    number = found[0].run
    assert number == 7 if runs == (7, 7) else before <= number <= int(time.time()) - HLD_ZERO
    assert_events(found, [event(count, a.subevents + b.subevents, a.id | (0x80000000 if a.number % 50 == 0 else 0), number)
                          for count, (a, b) in enumerate(zip(*parts), 1)])


def test_lmd_and_hld_by_number(tmp_path):
    """In an LMD file, HLD subevents become an HLD event in a subevent; in an HLD file, LMD subevents become hits."""
    triggered = [lmd_reference.Event(n, [lmd_reference.Subevent(3, [n])]) for n in range(1, 100)]
    others = [hld_reference.Event(n, [hld_reference.Subevent(0x8000, [n, 5], n << 8)], 0x2001, 3) for n in range(50, 150)]
    (tmp_path / "a.lmd").write_bytes(flat_file(triggered))
    (tmp_path / "b.hld").write_bytes(hld_file(others, run=3))
    run = built(tmp_path, [f"lmd:{tmp_path}/a.lmd", f"hld:{tmp_path}/b.hld"], code=3)
    lmd = read_lmd_files(merge_to(f"lmd:{tmp_path}/out", run.output))
    assert [e.number for e in lmd] == [*range(1, 150)] and {e.trigger for e in lmd} == {1}
    assert_events([s for e in lmd for s in e.subevents if s.id == 3], [s for e in triggered for s in e.subevents])
    assert_events([hld_event(s.data) for e in lmd for s in e.subevents if s.id == HLD_EVENT], others)
    hld = read_hld_files(merge_to(f"hld:{tmp_path}/out", run.output))
    assert_events([s for e in hld for s in e.subevents if s.id == 0x8000], [s for e in others for s in e.subevents])
    listed = [hit for e in hld for s in e.subevents if s.id == HIT_LIST for hit in hit_list(s.data).hits]
    assert_events(listed, [(e.number, 0, 3, payload) for e in triggered for _, payload in e.hits()])
    assert [e.number for e in hld] == [*range(1, 50), *range(50, 150)]


# Other hits


@pytest.fixture(scope="module")
def free_running(tmp_path_factory):
    """A run on hits that are not list-mode data, with payloads of several lengths."""
    folder = tmp_path_factory.mktemp("free")
    uris = generate(folder / "in", sources=2, rate=20_000, hits=6, width="50ns", noise=50_000, duration="20ms", payload=2, seed=3)
    write_csv(folder / "plain.csv", [*range(0, 20_000_000, 997)], [k % 40 for k in range(20_061)])
    return Run(folder / "run", [*uris, f"csv:{folder}/plain.csv?time=1&channel=2&unit=ns"], "--define", "gap:50ns,3",
               "--epochs-per-slice", 10, np=2)


def test_other_hits_in_lmd(tmp_path, free_running):
    found = read_lmd_files(merge_to(f"lmd:{tmp_path}/out", free_running.output))
    assert_events([(e.number, e.trigger, [s.id for s in e.subevents]) for e in found],
                  [(n, 1, [HIT_LIST]) for n in range(1, len(found) + 1)])
    lists = [hit_list(e.subevents[0].data) for e in found]
    assert_events([one.hits for one in lists], hits_of_events(free_running.merged))
    assert {one.tick_ps for one in lists} == {1000}


def test_other_hits_in_hld(tmp_path, free_running):
    found = read_hld_files(merge_to(f"hld:{tmp_path}/out?run=1000&ebnumber=3", free_running.output))
    assert_events([(e.number, e.id, e.run, [s.id for s in e.subevents]) for e in found],
                  [(n, 0x2001, 1000, [HIT_LIST]) for n in range(1, len(found) + 1)])
    assert_events([hit_list(e.subevents[0].data).hits for e in found], hits_of_events(free_running.merged))
    assert (tmp_path / "out0801021364003.hld").exists()


def test_triggered_among_free_running(tmp_path):
    times = [1000 * n for n in range(1, 40)]
    events = [lmd_reference.Event(n, [lmd_reference.Subevent(9, [*white_rabbit(t), n])], 2) for n, t in enumerate(times, 1)]
    (tmp_path / "triggered.lmd").write_bytes(flat_file(events))
    write_csv(tmp_path / "free.csv", [t + 3 for t in times[5:]] + [60_000], [*range(34), 77])
    run = built(tmp_path, [f"csv:{tmp_path}/free.csv?time=1&channel=2&unit=ns", f"lmd:{tmp_path}/triggered.lmd?time=wr"],
                define="gap:10ns,1")
    found = read_lmd_files(merge_to(f"lmd:{tmp_path}/out", run.output))
    assert [e.subevents[0] for e in found[:-1]] == [e.subevents[0] for e in events]
    assert [(e.number, e.trigger) for e in found] == [*((e.number, 2) for e in events), (40, 1)]
    lists = [hit_list(s.data).hits for e in found for s in e.subevents if s.id == HIT_LIST]
    assert lists == [*([(t + 3, 0, k, [])] for k, t in enumerate(times[5:])), [(60_000, 0, 77, [])]]


def test_no_events_at_all(tmp_path):
    write_csv(tmp_path / "free.csv", [1, 2], [3, 4])
    run = built(tmp_path, [f"csv:{tmp_path}/free.csv?time=1&channel=2&unit=ns"], define="gap:1ns,100")
    assert merge_to(f"lmd:{tmp_path}/out", run.output)[0].read_bytes() == lmd_bytes([])
    assert read_hld_files(merge_to(f"hld:{tmp_path}/out", run.output)) == []


# Several files


@pytest.mark.parametrize("kind, path", [("lmd", DATA / "lmd/comb_0002.lmd"), ("hld", DATA / "hld/comb.hld")])
def test_files_of_a_size(tmp_path, kind, path):
    """No file is longer, none had room for the next event, and together they are one source with the same events."""
    read_one, read_all = (read_lmd, read_lmd_files) if kind == "lmd" else (read_hld, read_hld_files)
    encode = (lmd_reference if kind == "lmd" else hld_reference).encode
    run = built(tmp_path, [f"{kind}:{path}"])
    files = merge_to(f"{kind}:{tmp_path}/out?size=200kB", run.output)
    sizes = [file.stat().st_size for file in files]
    firsts = [len(encode(read_one(file).events[0])) for file in files]
    assert len(files) > 5 and files == sorted(tmp_path.glob("out*"))
    assert all(size <= 200_000 < size + following for size, following in zip(sizes, firsts[1:]))
    found, expected = read_all(files), read_one(path).events
    assert_events([replace(e, run=expected[0].run) for e in found] if kind == "hld" else found, expected)
    assert_no_event_differs(tmp_path, f"{kind}:{tmp_path}/out*?concat", run)


def test_an_output_that_is_replaced(tmp_path):
    run = built(tmp_path, [f"lmd:{DATA}/lmd/comb_0002.lmd"])
    files = merge_to(f"lmd:{tmp_path}/out?size=100kB", run.output)
    only_line(eventloom("merge", run.output, "--to", f"lmd:{tmp_path}/out", code=2), "out_0000.lmd", "--force")
    assert merge_to(f"lmd:{tmp_path}/out?size=1MiB", run.output, "--force") == files[:2]
    assert sorted(tmp_path.glob("out*")) == files[:2], "files of the longer output are left"
    files[0].unlink()
    only_line(eventloom("merge", run.output, "--to", f"lmd:{tmp_path}/out", code=2), "out_0001.lmd", "--force")


# Mistakes, damage, full disks


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A run on a copy of a recording."""
    folder = tmp_path_factory.mktemp("small")
    shutil.copy(DATA / "lmd/var_small.lmd", folder / "source_0000.lmd")
    return built(folder, [f"lmd:{folder}/source_0000.lmd"])


@pytest.mark.parametrize("target, words", [
    ("out.lmd", ["use lmd:PATH, hld:PATH"]), ("csv:out", ["use lmd:PATH, hld:PATH"]), ("lmd:", ["beginning of a file's name"]),
    ("lmd:{}/", ["not a folder"]), ("lmd:{}/x?siz=1GB", ["'siz'", "did you mean 'size'?"]), ("lmd:{}/x?run=1", ["'run'"]),
    ("hld:{}/x?size=many", ["size=", "number of bytes"]), ("lmd:{}/x?size=0", ["64KiB"]), ("hld:{}/x?run=5e9", ["'run'"]),
    ("lmd:{}/x?size=1MB&size=2MB", ["given twice"])])
def test_mistakes(tmp_path, small, target, words):
    only_line(eventloom("merge", small.output, "--to", target.format(tmp_path), code=2, cwd=tmp_path), "--to", *words)
    assert not list(tmp_path.iterdir())


def test_no_such_folder(tmp_path, small):
    only_line(eventloom("merge", small.output, "--to", f"lmd:{tmp_path}/no/such/x", code=2), "no/such/x_0000.lmd")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [["--output", "x.h5"], ["--compress", "3"], ["--nexus"]])
def test_options_of_the_merged_file(tmp_path, small, options):
    only_line(eventloom("merge", small.output, "--to", f"lmd:{tmp_path}/x", *options, code=2), "--to", options[0])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_foreign_files_stay(tmp_path, small, force):
    """Foreign recordings, whatever their names, and the sources of the run."""
    raw = (DATA / "lmd/var_small.lmd").read_bytes()
    for number in (0, 3):
        (tmp_path / f"out_000{number}.lmd").write_bytes(raw)
        only_line(eventloom("merge", small.output, "--to", f"lmd:{tmp_path}/out", *force, code=2), f"out_000{number}.lmd")
        assert [p.read_bytes() for p in tmp_path.iterdir()] == [raw]
        (tmp_path / f"out_000{number}.lmd").unlink()
    for kind, name in (("lmd", "out_0000.lmd.partial"), ("hld", "out08010212001.hld")):
        (tmp_path / name).write_bytes(b"a thesis")
        target = f"{kind}:{tmp_path}/out" + ("?run=1" if kind == "hld" else "")
        only_line(eventloom("merge", small.output, "--to", target, *force, code=2), name)
        assert (tmp_path / name).read_bytes() == b"a thesis"
        (tmp_path / name).unlink()
    assert not list(tmp_path.iterdir())


def test_what_the_run_has_read_is_never_replaced(tmp_path, small):
    """Even if Eventloom has written it itself."""
    files = merge_to(f"lmd:{tmp_path}/first", small.output)
    before = files[0].read_bytes()
    second = built(tmp_path / "second", [f"lmd:{files[0]}"])
    only_line(eventloom("merge", second.output, "--to", f"lmd:{tmp_path}/first", "--force", code=2), "a source of the run")
    assert files[0].read_bytes() == before


def raw_files(folder, small, size=""):
    """Recordings made by Eventloom, as in `small`, and the bytes of each."""
    folder.mkdir()
    return {path: path.read_bytes() for path in merge_to(f"lmd:{folder}/raw{size}", small.output)}


def assert_kept(raw, target, run, cwd):
    only_line(eventloom("merge", run, "--to", target, "--force", code=2, cwd=cwd), "a source of the run")
    assert {path: path.read_bytes() for path in raw} == raw
    assert {path.name for path in next(iter(raw)).parent.glob("*.lmd*")} == {path.name for path in raw}


@pytest.fixture
def data(tmp_path, small):
    """A folder with a recording and its filtered run, made inside it."""
    raw = raw_files(tmp_path / "data", small)
    eventloom("run", "raw_0000.lmd", "--define", "tag", "--filter", "n_hits>=2", "--output", "run.h5", cwd=tmp_path / "data")
    eventloom("merge", "run.h5", cwd=tmp_path / "data")
    return raw


@pytest.mark.parametrize("run", ["run.h5", "run.merged.h5"])
def test_the_recording_of_a_run_made_elsewhere(tmp_path, data, run):
    """Called from its folder, from another one, and after the folder has moved."""
    assert_kept(data, "lmd:raw", run, tmp_path / "data")
    assert_kept(data, "lmd:data/raw", f"data/{run}", tmp_path)
    assert_kept(data, f"lmd:{tmp_path}/data/raw", tmp_path / "data" / run, "/")
    (tmp_path / "data").rename(tmp_path / "moved")
    moved = {tmp_path / "moved" / path.name: content for path, content in data.items()}
    assert_kept(moved, "lmd:moved/raw", f"moved/{run}", tmp_path)


def test_the_recording_of_a_run_called_elsewhere(tmp_path, small):
    """Its place is known, even if another file of that name and size lies where merge is called, and the run's files
    are elsewhere."""
    raw = raw_files(tmp_path / "data", small)
    (tmp_path / "out").mkdir()
    eventloom("run", "raw_0000.lmd", "--define", "tag", "--filter", "n_hits>=2", "--output", "../out/run.h5", cwd=tmp_path / "data")
    (tmp_path / "here").mkdir()
    for path, content in raw.items():
        (tmp_path / "here" / path.name).write_bytes(bytes(len(content)))
    assert_kept(raw, f"lmd:{tmp_path}/data/raw", tmp_path / "out/run.h5", tmp_path / "here")


def test_a_recording_that_was_renamed(tmp_path, data):
    """Its contents identify it."""
    renamed = {path.rename(tmp_path / "data/other_0000.lmd"): content for path, content in data.items()}
    assert_kept(renamed, "lmd:data/other", "data/run.h5", tmp_path)


def test_a_copy_of_the_recording_may_be_replaced(tmp_path, data):
    """It could be the output of an earlier merge."""
    (tmp_path / "out").mkdir()
    shutil.copy(tmp_path / "data/raw_0000.lmd", tmp_path / "out/raw_0000.lmd")
    assert merge_to(f"lmd:{tmp_path}/out/raw", tmp_path / "data/run.h5", "--force") == [tmp_path / "out/raw_0000.lmd"]


@pytest.mark.parametrize("pattern", ["raw_*.lmd", "raw_000[1-9].lmd"], ids=["from the first on", "from the second on"])
@pytest.mark.parametrize("move", [False, True], ids=["in place", "moved"])
def test_recordings_that_were_one_source(tmp_path, small, pattern, move):
    raw = raw_files(tmp_path / "data", small, "?size=64KiB")
    assert len(raw) > 3
    eventloom("run", f"lmd:{pattern}?concat", "--define", "tag", "--filter", "n_hits>=2", "--output", "run.h5", cwd=tmp_path / "data")
    if move:
        (tmp_path / "data").rename(tmp_path / "moved")
        raw = {tmp_path / "moved" / path.name: content for path, content in raw.items()}
    folder = next(iter(raw)).parent
    assert_kept(raw, f"lmd:{folder}/raw", folder / "run.h5", folder)
    assert_kept(raw, f"lmd:{folder.name}/raw", folder / "run.h5", tmp_path)


def test_a_stopped_run(tmp_path):
    uris = generate(tmp_path / "in", sources=2, rate=20_000, hits=6, width="50ns", noise=100_000, duration="100ms", seed=5)
    words = [word for uri in uris for word in ("--source", uri)]
    with Started(tmp_path, "run", *words, "--define", "gap:50ns,4", "--epochs-per-slice", "20", "--segment-size", "1",
                 "--speed", "0.003") as started:
        started.until_parts(5)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    only_line(eventloom("merge", tmp_path / "run.h5", "--to", f"lmd:{tmp_path}/out", code=2), "--resume", "--partial")
    files = merge_to(f"lmd:{tmp_path}/out", tmp_path / "run.h5", "--partial", code=3)
    eventloom("merge", tmp_path / "run.h5", "--partial", "--output", tmp_path / "merged.h5", code=3)
    merged = merge_to(f"lmd:{tmp_path}/merged", tmp_path / "merged.h5", code=3)
    assert_bytes(merged[0].read_bytes(), files[0].read_bytes())
    assert len(read_lmd_files(files)) > 5


def test_a_damaged_part(tmp_path, small):
    folder = tmp_path / "copy"
    shutil.copytree(small.output.parent, folder)
    part = next(folder.glob("run.part*"))
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 8
    part.write_bytes(data)
    only_line(eventloom("merge", folder / "run.h5", "--to", f"lmd:{tmp_path}/out", code=2), part.name)
    assert not list(tmp_path.glob("out*"))


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True, timeout=20)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True, timeout=20)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root mounts a small disk")
def test_a_full_disk(tmp_path):
    """The file is named; complete files remain, and incomplete ones have no final name."""
    run = built(tmp_path, [f"lmd:{DATA}/lmd/comb_0002.lmd"])
    with small_disk(tmp_path / "disk", "1m") as disk:
        done = eventloom("merge", run.output, "--to", f"lmd:{disk}/out?size=300kB", code=2)
        reported = only_line(done, "No space left")
        whole = sorted(disk.iterdir())
        assert f"out_000{len(whole)}.lmd.partial" in reported and {path.suffix for path in whole} == {".lmd"}
        found = read_lmd_files(whole)
        assert_events(found, read_lmd(DATA / "lmd/comb_0002.lmd").events[:len(found)])
