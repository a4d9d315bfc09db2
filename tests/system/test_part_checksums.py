"""Damaged parts: found by merge, inspect and --resume, named, and built again."""

import os
import random
import shutil

import h5py
import pytest

from interrupted import content, lines_with, parts
from program import eventloom, generate
from test_resume import SLICED, Job, assert_same_result, attributes, beside_its_sources

RECORDING = {"sources": 4, "rate": 20_000, "hits": 8, "width": "50ns", "noise": 500_000, "duration": "100ms", "payload": 1, "seed": 3}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("recording"), **RECORDING)


@pytest.fixture(scope="module")
def complete(tmp_path_factory, recording):
    job = beside_its_sources(tmp_path_factory.mktemp("complete"), recording)
    job.run("--segment-size", "40000", "--builders", "2")
    job.merged()
    return job


@pytest.fixture(scope="module")
def stopped(tmp_path_factory, recording):
    """Two writers, with one part for each slice."""
    job = beside_its_sources(tmp_path_factory.mktemp("stopped"), recording)
    job.words += ["--builders", "2"]
    job.stop(at_parts=10)
    return job


def datasets(path):
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: (item.chunks, item.fletcher32, item.size)})
                        if isinstance(item, h5py.Dataset) else None)
        return found


@pytest.mark.parametrize("compress", ["0", "3"])
def test_all_columns_have_checksums_that_hdf5_checks(tmp_path, recording, compress):
    job = Job(tmp_path, recording, *SLICED, "--compress", compress)
    job.run()
    eventloom("merge", "run.h5", "--compress", compress, cwd=tmp_path)
    for path in (tmp_path / "run.h5", tmp_path / "run.merged.h5", *parts(tmp_path)):
        plain = [name for name, (chunks, fletcher32, size) in datasets(path).items() if size and not (chunks and fletcher32)]
        assert not plain, path
        content(path)  # HDF5 reads and checks all of it


def flip(path, offset, bit):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1 << bit]))


def chunk_offsets(path):
    """Places of the columns' chunks in the file."""
    found = []
    with h5py.File(path) as file:
        def add(_, item):
            if isinstance(item, h5py.Dataset) and item.chunks:
                for n in range(item.id.get_num_chunks()):
                    about = item.id.get_chunk_info(n)
                    found.append((about.byte_offset, about.size))
        file.visititems(add)
    return found


def flips(folder, seed, number):
    """(file, offset, bit): half of them in data, half anywhere."""
    dice = random.Random(seed)
    files = parts(folder)
    for n in range(number):
        path = dice.choice(files)
        start, size = dice.choice(chunk_offsets(path)) if n % 2 else (0, path.stat().st_size)
        yield path.name, start + dice.randrange(size), dice.randrange(8)


def test_merge_finds_flipped_bits(tmp_path, complete):
    shutil.copytree(complete.folder, tmp_path / "run")
    folder = tmp_path / "run"
    expected = content(complete.folder / "merged.h5")
    found = 0
    for name, offset, bit in [*flips(folder, 7, 80), *(("run.h5", o, 1) for o in range(11, 20000, 997))]:
        if offset >= (folder / name).stat().st_size:
            continue
        flip(folder / name, offset, bit)
        done = eventloom("merge", "run.h5", "--output", "again.h5", code=None, cwd=folder)
        if done.returncode == 0:
            assert content(folder / "again.h5") == expected, (name, offset, bit)
            (folder / "again.h5").unlink()
        else:
            found += 1
            assert len(done.stderr.splitlines()) == 1 and "run" in done.stderr, done.stderr
            assert not list(folder.glob("again.h5*"))
        flip(folder / name, offset, bit)
    assert found > 40, "half of the flips are in data"


def test_resume_names_part_and_dataset(tmp_path, stopped):
    job = copy_of(stopped, tmp_path)
    part = parts(tmp_path)[1]
    with h5py.File(part) as file:
        offset = file["hits/channel"].id.get_chunk_info(0).byte_offset
    flip(part, offset + 4, 2)
    assert lines_with(job.resume(), part.name, "/hits/channel", "checksum")


@pytest.mark.parametrize("column", ["events/time", "hits/channel", "payload", "ledger/hits_in"])
def test_merge_and_inspect_name_part_and_dataset(tmp_path, complete, column):
    shutil.copytree(complete.folder, tmp_path / "run")
    part = parts(tmp_path / "run")[1]
    with h5py.File(part) as file:
        offset = file[column].id.get_chunk_info(0).byte_offset
    flip(part, offset + 4, 2)
    done = eventloom("merge", "run.h5", "--output", "again.h5", code=2, cwd=tmp_path / "run")
    assert part.name in done.stderr and f"/{column}" in done.stderr and "checksum" in done.stderr
    for path in (part.name, "run.h5"):
        shown = eventloom("inspect", path, code=None, cwd=tmp_path / "run")
        assert f"/{column}" in shown.stdout + shown.stderr and shown.returncode in (2, 3)


def copy_of(stopped, folder):
    shutil.copytree(stopped.folder, folder, dirs_exist_ok=True)
    job = Job(folder, ["in/*.epochs"], *SLICED, "--builders", "2")
    return job


@pytest.mark.parametrize("seed", range(12))
def test_resume_builds_damaged_parts_again(tmp_path, stopped, complete, seed):
    """Several bits at once, at least two of them in data; flipped bits that are never read are harmless."""
    job = copy_of(stopped, tmp_path)
    flipped = list(flips(tmp_path, seed, 4))
    for name, offset, bit in flipped:
        flip(tmp_path / name, offset, bit)
    reported = job.resume()
    for name in {name for name, _, _ in flipped[1::2]}:
        assert lines_with(reported, name, "built again"), reported
        assert (tmp_path / f"{name}.damaged").exists()
    assert_same_result(job, complete, {"@setup"})


def replace(path, make):
    path.unlink()
    make(path)


@pytest.mark.parametrize("change", [
    lambda path: path.unlink(),
    lambda path: os.truncate(path, path.stat().st_size - 1),
    lambda path: replace(path, lambda p: p.write_text("somebody's thesis")),
    lambda path: replace(path, lambda p: shutil.copy(p.parent / "run.h5", p))],
    ids=["gone", "cut", "text", "run file"])
def test_resume_builds_lost_parts_again(tmp_path, stopped, complete, change):
    """A file with the name of a part that is not one is kept."""
    job = copy_of(stopped, tmp_path)
    part = parts(tmp_path)[2]
    change(part)
    there = os.path.lexists(part)
    job.resume()
    assert (tmp_path / f"{part.name}.damaged").exists() == there
    assert_same_result(job, complete, {"@setup"})


@pytest.mark.parametrize("np", [None, 2])
def test_a_closed_run_of_live_sources_is_looked_through(tmp_path, complete, np):
    """It is not rebuilt. Its sources need not exist: any live one will do."""
    shutil.copytree(complete.folder, tmp_path, dirs_exist_ok=True)
    job = Job(tmp_path, ["udp://127.0.0.1:0"], *SLICED, np=np)
    assert lines_with(job.resume(), "complete")
    name = parts(tmp_path)[1].name
    flip(tmp_path / name, chunk_offsets(tmp_path / name)[0][0], 0)
    reported = job.resume(code=2)
    assert lines_with(reported, name, "--force") and not lines_with(reported, "complete")


@pytest.mark.parametrize("np", [None, 2])
def test_a_closed_run_is_built_again_where_it_is_damaged(tmp_path, complete, np):
    shutil.copytree(complete.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "merged.h5").unlink()
    job = Job(tmp_path, ["in/*.epochs"], *SLICED, "--segment-size", "40000", "--builders", "2", np=np)
    names = [path.name for path in parts(tmp_path)]
    assert len(names) > 4
    offset, _ = chunk_offsets(tmp_path / names[1])[0]
    flip(tmp_path / names[1], offset, 0)
    (tmp_path / names[-1]).unlink()
    before = {name: (tmp_path / name).stat().st_ino for name in names[:-1] if name != names[1]}
    reported = job.resume()
    assert lines_with(reported, names[1], "built again")
    assert {name: (tmp_path / name).stat().st_ino for name in before} == before
    assert (tmp_path / f"{names[1]}.damaged").exists() and not list(tmp_path.glob("*.list"))
    assert_same_result(job, complete, {"@setup"})
    assert attributes(tmp_path / "run.h5") == attributes(complete.folder / "run.h5")
    assert lines_with(job.resume(), "complete")
