"""run --also: the events of each part in LMD and HLD files beside it, compared with the readers of the tests and
h5py."""

import os
import random
import re
import shutil
import signal
import struct
import time
from pathlib import Path

import h5py
import pytest

from event_files import HLD_ZERO, assert_bytes, assert_events, hit_lists, hits_of_events, lmd_bytes, read_hld_files, read_lmd_files
from hld_reference import padded, read_hld
from interrupted import STOPPED, lines_with, parts, until
from live import LiveRun
from lmd_reference import read_lmd
from mbs import Layout, Server
from monitored import Monitored
from program import DATA, Run, eventloom, generate, only_line
from results import read_merged
from test_event_files import SHORT, built, kept, lossy, merge_to
from test_live_ends import numbered, quiet_after, until_received
from test_resume import SLICED, SLOW, USR1, Job, disk, needs_root

READ = {"lmd": read_lmd_files, "hld": read_hld_files}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Three streams of 100 ms in 40 slices; payload of two words."""
    return generate(tmp_path_factory.mktemp("recording"), sources=3, rate=20_000, hits=8, width="50ns", noise=100_000,
                    duration="100ms", payload=2, seed=7)


@pytest.fixture(scope="module")
def expected(tmp_path_factory, recording):
    """The hits of each event, from a run without --also."""
    return hits_of_events(Run(tmp_path_factory.mktemp("expected"), recording, *SLICED).merged)


def names(folder, kind="*"):
    return sorted(path.name for path in Path(folder).glob(f"out*.{kind}"))


def beside_parts(run_file):
    """{part: names of its files}, as run.h5 has it."""
    with h5py.File(run_file) as file:
        assert file.attrs["closed"] == 1
        of_parts = {name.decode(): [] for name in file["parts/name"][:]}
        table = {name: file[f"event_files/{name}"][:].tolist() for name in ("name", "part", "number", "events", "bytes")}
    order = list(of_parts)
    for name, part, n_events, size in zip(table["name"], table["part"], table["events"], table["bytes"]):
        path = run_file.parent / name.decode()
        assert path.stat().st_size == size
        assert len(READ[path.suffix[1:]]([path])) == n_events
        of_parts[order[part]].append(path.name)
    return of_parts


def assert_same_events(folder, expected, kinds=("lmd",), run="run.h5", stem="out"):
    """Each part has files with its own events in order; together they have all events, and there are no other files."""
    of_parts = beside_parts(folder / run)
    assert sorted(name for group in of_parts.values() for name in group) == \
        sorted(path.name for path in folder.glob(f"{stem}[_0-9]*"))
    for kind in kinds:
        found = []
        for part, group in of_parts.items():
            files = [folder / name for name in group if name.endswith(kind)]
            assert files
            events = hit_lists(READ[kind](files))
            assert_events(events, hits_of_events(folder / part))
            found += events
        assert_events(sorted(found), expected)


# Whole runs


@pytest.mark.parametrize("path", [DATA / "lmd/comb_0002.lmd", DATA / "lmd/classic_16k.lmd", DATA / "hld/comb.hld"],
                         ids=lambda path: path.name)
def test_the_files_that_merge_writes(tmp_path, path):
    """Compares names and bytes, and for a recording of the same format its events, too."""
    kind = path.suffix[1:]
    source = read_lmd(path).events if kind == "lmd" else read_hld(path).events
    run = built(tmp_path, [f"{kind}:{path}"], "--also", f"lmd:{tmp_path}/out", "--also", f"hld:{tmp_path}/out.hld",
                code=lossy(source) if kind == "lmd" else 0)
    (tmp_path / "merged").mkdir()
    for target in ("lmd", "hld"):
        reference, = merge_to(f"{target}:{tmp_path}/merged/out", run.output)
        assert_bytes((tmp_path / reference.name).read_bytes(), reference.read_bytes())
    assert len(names(tmp_path)) == 2
    assert_events(READ[kind](sorted(tmp_path.glob(f"out*.{kind}"))), kept(source) if kind == "lmd" else source)


@pytest.mark.parametrize("np, options", [(None, []), (2, ["--builders", 2, "--filters", 1, "--segment-size", 20_000])])
def test_payload_beside_the_parts_alone(tmp_path, np, options):
    """The parts have everything except the payload, and the files of --also are unchanged."""
    path = DATA / "lmd/comb_0002.lmd"
    files = []
    columns = []
    for more in ([], ["--no-payload"]):
        folder = tmp_path / f"no{len(more)}"
        run = built(folder, [f"lmd:{path}"], *options, "--also", f"lmd:{folder}/out", *more, np=np, code=lossy(read_lmd(path).events))
        files.append({name: (folder / name).read_bytes() for name in names(folder)} if np is None else
                     sorted(read_lmd_files(sorted(folder.glob("out*"))), key=lambda event: event.number))
        columns.append(read_merged(run.merged))
    assert files[0] == files[1]
    payload = {"payload", "hits/first_payload"}
    assert payload <= columns[0].keys() and not payload & columns[1].keys()
    for name in columns[0].keys() - payload:
        assert columns[0][name].tolist() == columns[1][name].tolist(), name
    for target in (run.output, run.merged):
        only_line(eventloom("merge", target, "--to", f"lmd:{tmp_path}/merged", code=2), target, "--no-payload", "--also")


def test_payload_is_left_out_of_resumed_runs_as_well(tmp_path, recording, expected):
    job = Job(tmp_path, recording, *SLICED, "--no-payload", "--also", "lmd:out")
    job.stop()
    words = [word for word in job.words if word != "--no-payload"]
    reported = eventloom(*words, "--resume", code=2, cwd=tmp_path).stderr
    assert lines_with(reported, "payload in the output was 'false', is 'true'"), reported
    job.resume()
    assert_events(sorted(hit_lists(read_lmd_files(sorted(tmp_path.glob("out*.lmd"))))), expected)
    assert "payload" not in read_merged(job.merged())


def test_the_run_says_what_it_has_written(tmp_path, recording):
    run = Run(tmp_path, recording, *SLICED, "--also", f"lmd:{tmp_path}/out?size=200kB")
    files = sorted(tmp_path.glob("out*"))
    size = sum(path.stat().st_size for path in files)
    n_events = run.report()["totals"]["events"]
    assert f"also: {files[0]} to {files[-1]} ({n_events} events, {size / 1e6:.1f} MB, {len(files)} files)\n" in run.done.stdout
    assert run.report()["also"] == [{"target": f"lmd:{tmp_path}/out?size=200kB", "files": [str(path) for path in files],
                                     "events": n_events, "bytes": size}]


def test_no_events_at_all(tmp_path, recording):
    Run(tmp_path, recording, "--define", "gap:1ns,1000", "--also", f"lmd:{tmp_path}/out", "--also", f"hld:{tmp_path}/out?run=1")
    assert names(tmp_path) == ["out08010212001.hld", "out_0000.lmd"]
    assert (tmp_path / "out_0000.lmd").read_bytes() == lmd_bytes([])
    assert read_hld_files([tmp_path / "out08010212001.hld"]) == []


@pytest.mark.parametrize("np, options", [(2, ["--builders", 2]), (3, ["--builders", 2, "--filters", 3, "--schedule", "chaotic"]),
                                         (2, ["--builders", 3, "--schedule", "balanced", "--segment-size", 1]),
                                         (None, ["--segment-size", 50_000, "--filters", 1])])
def test_of_several_writers(tmp_path, recording, expected, np, options):
    Run(tmp_path, recording, *SLICED, *options, "--also", f"lmd:{tmp_path}/out", "--also", f"hld:{tmp_path}/out?size=100kB", np=np)
    assert_same_events(tmp_path, expected, ("lmd", "hld"))
    pattern = r"out_w0[012]_\d{4}\.lmd" if np else r"out_\d{4}\.lmd"
    assert all(re.fullmatch(pattern, name) for name in names(tmp_path, "lmd"))
    with h5py.File(tmp_path / "run.h5") as file:
        began = int(time.mktime(time.strptime(file.attrs["began"] + " UTC", "%Y-%m-%dT%H:%M:%SZ %Z"))) - time.timezone
    for path in tmp_path.glob("out*.hld"):
        number = read_hld(path).runs[0].run
        assert 0 <= number - (began - HLD_ZERO) < 1000, "the first file is that of the second when the run began"
        of_run = time.strftime("out%y%j%H%M%S", time.gmtime(HLD_ZERO + number))
        assert re.fullmatch(of_run + (r"0[123]\.hld" if np else r"\.hld"), path.name)


def test_keys_of_hld(tmp_path, recording):
    """The number of the first event builder, the run number, and dates of events by the time of tick 0."""
    Run(tmp_path, recording, *SLICED, "--builders", 2, "--time-origin", "2026-11-21T10:20:30Z",
        "--also", f"hld:{tmp_path}/out?run=1&ebnumber=7", np=2)
    assert names(tmp_path) == ["out0801021200107.hld", "out0801021200108.hld"]
    for path in tmp_path.glob("out*"):
        data, at, dates = path.read_bytes(), 32, set()
        while at < len(data) - 32:
            dates.add(struct.unpack_from("<II", data, at + 16))
            at += padded(int.from_bytes(data[at:at + 4], "little"))
        assert dates == {(126 << 16 | 10 << 8 | 21, 10 << 16 | 20 << 8 | 30)}


@pytest.mark.parametrize("kind, path", [("lmd", DATA / "lmd/comb_0002.lmd"), ("hld", DATA / "hld/comb.hld")])
@pytest.mark.parametrize("options", [[], SHORT], ids=["long slices", "short slices"])
def test_files_of_a_size(tmp_path, kind, path, options):
    """Also if a slice is too long for one file; event numbers continue."""
    built(tmp_path, [f"{kind}:{path}"], *options, "--epoch", 5, "--also", f"{kind}:{tmp_path}/out?size=64KiB")
    files = sorted(tmp_path.glob("out*"))
    assert len(files) > 10 and max(file.stat().st_size for file in files) <= 65536
    found, source = READ[kind](files), (read_lmd if kind == "lmd" else read_hld)(path).events
    if kind == "hld":
        for event in found:
            event.run = source[0].run
    assert_events(found, source)


def test_numbers_of_events_continue(tmp_path, recording, expected):
    Run(tmp_path, recording, *SLICED, "--segment-size", 50_000, "--also", f"lmd:{tmp_path}/out")
    found = [e.number for e in read_lmd_files(sorted(tmp_path.glob("out*")))]
    assert len(names(tmp_path)) > 3 and found == [*range(1, len(expected) + 1)]


def test_named_definitions(tmp_path, recording, expected):
    all_hits = hits_of_events(Run(tmp_path / "all", recording, "--define", "gap:1ns,1", "--epochs-per-slice", 250).merged)
    Job(tmp_path, recording, "--define", "many=gap:25ns,4", "--define", "all=gap:1ns,1", "--epochs-per-slice", 250,
        "--builders", 2, "--also", "lmd:out", np=2).run()
    assert_same_events(tmp_path, expected, run="run.many.h5", stem="out.many")
    assert_same_events(tmp_path, all_hits, run="run.all.h5", stem="out.all")


def test_a_new_file_while_data_flow(tmp_path, recording, expected):
    with Monitored(tmp_path, recording, *SLICED, "--speed", "0.005", "--also", "lmd:out") as run:
        run.listening()
        run.until_status(lambda s: s["ledger"]["hits_in_events"] > 0, "events")
        assert run.control("new-file")[0] == 202
        until(lambda: (tmp_path / "out_0000.lmd").exists(), "a finished file of a run that continues", 60, run.text)
        begun = read_lmd_files([tmp_path / "out_0000.lmd"])
        run.control("speed", speed=100)
        run.wait(0)
    assert 0 < len(begun) < len(expected) and names(tmp_path) == ["out_0000.lmd", "out_0001.lmd"]
    assert_same_events(tmp_path, expected)


def test_a_live_source(tmp_path):
    """The events of an MBS server are those of the file, in the order of sending."""
    events, sent = numbered(1, 500), []
    with Server(quiet_after(Layout(buffer_bytes=16384), events, sent=sent)) as server, LiveRun(
            tmp_path, [f"mbs://127.0.0.1:{server.port}/transport"], "--define", "tag", "--epoch", 5, "--epochs-per-slice", 5,
            "--segment-size", 5000, "--flush-after", "100ms", "--also", "lmd:out") as run:
        until_received(server, sent)
        run.ranks()
        run.send(signal.SIGTERM, 0)
        run.wait(0)
    assert len(names(tmp_path)) > 1
    assert_events(read_lmd_files(sorted(tmp_path.glob("out*"))), events)


# Interrupted runs


def unchanged(folder):
    return {path.name: (path.stat().st_ino, path.read_bytes()) for path in folder.glob("out*") if path.suffix != ".partial"}


def assert_still_there(before, folder):
    now = unchanged(folder)
    assert before and all(now.get(name) == what for name, what in before.items())


@pytest.mark.parametrize("np", [None, 2])
@pytest.mark.parametrize("number", [signal.SIGKILL, USR1])
def test_resumed(tmp_path, recording, expected, np, number):
    """Files with a final name are unchanged; no event is lost or duplicated."""
    job = Job(tmp_path, recording, *SLICED, "--also", "lmd:out?size=100kB", "--also", "hld:out", np=np)
    with job.start(*SLOW) as started:
        started.until_parts(6)
        started.send(number, 0)
        started.process.wait(60)
    before = unchanged(tmp_path)
    for kind, read in READ.items():
        for name in names(tmp_path, kind):
            read([tmp_path / name])
    job.resume()
    assert_still_there(before, tmp_path)
    assert_same_events(tmp_path, expected, ("lmd", "hld"))
    if np is None:
        found = [e.number for e in read_lmd_files(sorted(tmp_path.glob("out*.lmd")))]
        assert found == [*range(1, len(expected) + 1)], "the numbers of events continue"
    by_builder = {}
    for path in tmp_path.glob("out*.hld"):
        by_builder.setdefault(path.stem[14:], []).append(read_hld(path).runs[0].run)
    first = min(number for numbers in by_builder.values() for number in numbers)
    assert all(sorted(numbers) == [*range(first, first + len(numbers))] for numbers in by_builder.values()), by_builder


@pytest.mark.parametrize("seed", range(3))
def test_killed_again_and_again(tmp_path, recording, expected, seed):
    """Each time right after one of the steps that finish a part."""
    dice = random.Random(seed)
    job = Job(tmp_path, recording, *SLICED, "--also", "lmd:out?size=100kB", "--also", "hld:out", np=dice.choice([None, 2]))

    def state():
        sizes = sum(path.stat().st_size for path in tmp_path.glob("run.*.list"))
        return {"list": sizes, "part": len(parts(tmp_path))} | {kind: len(names(tmp_path, kind)) for kind in READ}
    before = {}
    for _ in range(5):
        step, begun = dice.choice(["list", "part", "lmd", "hld"]), None
        with job.start(*SLOW, "--resume") as started:
            started.ranks()
            begun = state()
            until(lambda: started.process.poll() is not None or state()[step] > begun[step], step, so_far=started.text)
            if started.process.poll() is None:
                started.send(signal.SIGKILL, 0)
            started.process.wait(60)
        if before:
            assert_still_there(before, tmp_path)
        before = unchanged(tmp_path)
    job.resume()
    assert_still_there(before, tmp_path)
    assert_same_events(tmp_path, expected, ("lmd", "hld"))


@pytest.mark.parametrize("builders", [("1", "3"), ("3", "1")])
def test_resumed_by_other_writers(tmp_path, recording, expected, builders):
    job = Job(tmp_path, recording, *SLICED, "--also", "lmd:out")
    with job.start(*SLOW, "--builders", builders[0]) as started:
        started.until_parts(5)
        started.send(signal.SIGKILL, 0)
        started.process.wait(60)
    before = unchanged(tmp_path)
    job.resume("--builders", builders[1])
    assert_still_there(before, tmp_path)
    assert_same_events(tmp_path, expected)
    assert {name.startswith("out_w") for name in names(tmp_path)} == {True, False}


@pytest.fixture
def stopped(tmp_path, recording):
    job = Job(tmp_path, recording, *SLICED, "--also", "lmd:out", "--also", "hld:out?run=1")
    job.stop(at_parts=6)
    return job


def test_killed_before_the_last_names(stopped, expected):
    """The part is in its list; its files still have partial names."""
    for name in (names(stopped.folder, "lmd")[-1], names(stopped.folder, "hld")[2]):
        (stopped.folder / name).rename(stopped.folder / f"{name}.partial")
    (stopped.folder / "out_0099.lmd.partial").write_bytes(lmd_bytes([]))
    before = unchanged(stopped.folder)
    stopped.resume()
    assert_still_there(before, stopped.folder)
    assert_same_events(stopped.folder, expected, ("lmd", "hld"))


def test_a_foreign_file_in_the_place_of_a_finished_one(stopped):
    (stopped.folder / "out_0002.lmd").rename(stopped.folder / "out_0002.lmd.partial")
    (stopped.folder / "out_0002.lmd").write_text("a thesis")
    reported = stopped.resume(code=2)
    assert lines_with(reported, "out_0002.lmd", "move it away"), reported
    assert (stopped.folder / "out_0002.lmd").read_text() == "a thesis" and (stopped.folder / "out_0002.lmd.partial").exists()


def test_a_finished_file_that_was_taken_away(stopped):
    """The file may have been moved to tape, for example: it is not written again."""
    (stopped.folder / "out_0001.lmd").unlink()
    assert lines_with(stopped.resume(), "out_0001.lmd", "no longer there; not written again")
    assert not (stopped.folder / "out_0001.lmd").exists()


def test_a_damaged_part(stopped, expected):
    part = parts(stopped.folder)[2]
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 8
    part.write_bytes(data)
    assert lines_with(stopped.resume(), "out_0002.lmd", "built again")
    assert_same_events(stopped.folder, expected, ("lmd", "hld"))


def test_a_damaged_part_of_a_finished_run(tmp_path, recording, expected):
    job = Job(tmp_path, recording, *SLICED, "--segment-size", 50_000, "--also", "lmd:out")
    job.run()
    parts(tmp_path)[1].unlink()
    job.resume()
    assert_same_events(tmp_path, expected)


@pytest.mark.parametrize("also", [[], ["--also", "lmd:other"], ["--also", "lmd:out", "--also", "hld:out?run=2"]])
def test_resumed_with_another_option(stopped, also):
    words = stopped.words[:stopped.words.index("--also")] + also + ["--output", "run.h5", "--resume"]
    before = unchanged(stopped.folder)
    reported = eventloom(*words, code=2, cwd=stopped.folder).stderr
    assert lines_with(reported, "--also was 'lmd:out and hld:out?run=1'"), reported
    assert_still_there(before, stopped.folder)


def test_an_interrupted_run_that_starts_over(stopped, expected):
    """Its own files are replaced, and no others."""
    (stopped.folder / "out_0099.lmd.partial").write_bytes(lmd_bytes([]))
    (stopped.folder / "out_0000.txt").write_text("a thesis")
    stopped.run()
    (stopped.folder / "out_0000.txt").unlink()
    assert names(stopped.folder) == ["out08010212001.hld", "out_0000.lmd"]
    assert_same_events(stopped.folder, expected, ("lmd", "hld"))


def test_a_run_of_another_time_that_starts_over(tmp_path, recording, expected):
    """HLD files are named after the time when the run began."""
    job = Job(tmp_path, recording, *SLICED, "--also", "hld:out")
    with job.start(*SLOW) as started:
        started.until_parts(3)
        started.send(signal.SIGKILL, 0)
        started.process.wait(60)
    job.run()
    assert_same_events(tmp_path, expected, ("hld",))


@needs_root
@pytest.mark.parametrize("np", [None, 2])
def test_a_full_disk(tmp_path, recording, expected, np):
    """Only the files' disk is full; files with a final name are complete."""
    job = Job(tmp_path / "run", recording, *SLICED, "--segment-size", "100000", "--also", f"lmd:{tmp_path}/disk/out", np=np)
    with disk(tmp_path / "disk", "256k") as make_room:
        reported = job.run(code=STOPPED)
        assert lines_with(reported, "No space left on device", "out_"), reported
        assert not list((tmp_path / "disk").glob("*.partial"))
        before = unchanged(tmp_path / "disk")
        job.resume(code=STOPPED)
        make_room()
        job.resume()
        assert_still_there(before, tmp_path / "disk")
        for path in (tmp_path / "disk").iterdir():
            shutil.copy(path, job.folder)
    assert_same_events(job.folder, expected)


# What is there already


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A recording with one event per slice."""
    return generate(tmp_path_factory.mktemp("small"), sources=1, rate=1000, hits=8, duration="10ms", seed=1)


def refused(folder, sources, *options, words=()):
    uris = [word for uri in sources for word in ("--source", uri)]
    before = sorted(folder.rglob("*"))
    done = eventloom("run", *uris, "--define", "gap:25ns,4", "--output", folder / "new.h5", *options, code=2, cwd=folder)
    reported = [line for line in done.stderr.splitlines() if "info:" not in line]
    assert len(reported) == 1 and all(word in reported[0] for word in words), reported
    assert sorted(folder.rglob("*")) == before
    return reported[0]


def test_files_of_another_run(tmp_path, small):
    """The files are replaced with --force only, and then all of them."""
    job = Job(tmp_path, small, "--define", "gap:25ns,4", "--epochs-per-slice", 100, "--segment-size", 1, "--also", "lmd:out")
    job.run()
    before = unchanged(tmp_path)
    assert len(before) > 3
    refused(tmp_path, small, "--also", "lmd:out", words=["out_0000.lmd", "--force"])
    (tmp_path / "out_0000.lmd").rename(tmp_path / "x.lmd")
    refused(tmp_path, small, "--also", "lmd:out", words=["out_0001.lmd", "--force"])
    (tmp_path / "x.lmd").rename(tmp_path / "out_0000.lmd")
    refused(tmp_path, small, "--also", "lmd:out", "--resume", words=["out_0000.lmd", "--force"])
    assert unchanged(tmp_path) == before
    eventloom("run", *small, "--define", "gap:25ns,4", "--also", "lmd:out", "--output", "new.h5", "--force", cwd=tmp_path)
    assert names(tmp_path) == ["out_0000.lmd"]


def test_a_finished_run_gives_way_to_force(tmp_path, small):
    options = ["--define", "gap:25ns,4", "--also", "lmd:out", "--also", "hld:out"]
    job = Job(tmp_path, small, *options, "--epochs-per-slice", 100, "--segment-size", 1)
    job.run()
    before = unchanged(tmp_path)
    job.run(code=2)
    assert "nothing to resume" in job.resume() and unchanged(tmp_path) == before
    Job(tmp_path, small, *options, "--force").run()
    assert len(names(tmp_path)) == 2 and set(names(tmp_path)) != set(before)


def test_a_file_that_was_only_created(tmp_path, small):
    """The file was left by a run that was killed before it wrote its beginning."""
    (tmp_path / "out_0000.lmd.partial").touch()
    Job(tmp_path, small, "--define", "gap:25ns,4", "--also", "lmd:out").run()
    assert names(tmp_path) == ["out_0000.lmd"]


@pytest.mark.parametrize("targets, words", [
    (["csv:out"], ["--also", "use lmd:PATH or hld:PATH"]), (["out.lmd"], ["--also", "use lmd:PATH or hld:PATH"]),
    (["lmd:"], ["--also", "beginning of a file's name"]), (["lmd:out", "hld:"], ["--also", "beginning of a file's name"]),
    (["lmd:out?siz=1GB"], ["--also", "'siz'", "did you mean 'size'?"]), (["lmd:out?size=1kB"], ["--also", "64KiB"]),
    (["lmd:out", "lmd:other"], ["--also 'lmd:other'", "'lmd:out'", "omit one"]), (["lmd:no/such/out"], ["no/such/out"]),
    (["lmd:" + "x" * 260], ["File name too long"]), (["hld:text/out"], ["text/out"])])
def test_mistakes(tmp_path, small, targets, words):
    (tmp_path / "text").write_text("a thesis")
    refused(tmp_path, small, *(word for target in targets for word in ("--also", target)), words=words)


def test_names_that_are_not_text(tmp_path, small):
    words = ["run", *small, "--define", "gap:25ns,4", "--also", os.fsdecode(b"lmd:o\xfft")]
    only_line(eventloom(*words, code=2, cwd=tmp_path), "--also", "UTF-8")
