"""merge --to root: and parquet: compared with h5py's reading of the merged HDF5 file; which files it replaces, and its
messages without the Python packages."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from detector_reference import write_map
from interrupted import STOPPED, Started
from program import BINARY, Run, environment, eventloom, generate, only_line
from readers import PYTHON, needs_readers
from recordings import write_csv

DEFINE = ["--define", "gap:50ns,4", "--epochs-per-slice", "20"]
ROWS = [{"source": "0", "name": "first", "group": "A;B"}, {"source": "1", "channel": f"{(1 << 22) + 100}-{(1 << 22) + 700}", "name": "middle"}]
TARGETS = {"ttree": "root:{}.root", "rntuple": "root:{}.root?kind=rntuple", "parquet": "parquet:{}.parquet"}

# Prints {column: values} of a file, hits as a list per event, and its metadata.
READER = """
import json, sys
import awkward, uproot
path, kind = sys.argv[1:]
if kind == "parquet":
    array = awkward.from_parquet(path)
else:
    file = uproot.open(path)
    array = file["events"].arrays()
found = {name: array[name].tolist() for name in array.fields if not name.startswith("hits") and name not in ("nhits", "n_hits")}
hits = {name: array["hits_" + name] for name in (n[5:] for n in array.fields if n.startswith("hits_"))} if kind == "ttree" else array.hits
names = list(hits) if kind == "ttree" else hits.fields
found |= {"hits " + name: hits[name].tolist() for name in names}
if kind != "parquet":
    found["class"] = type(file["events"]).__name__
    found["texts"] = {name: file[name + "s"].arrays()[name].tolist() for name in ("name", "group") if name + "s" in file}
print(json.dumps(found))
"""


@pytest.fixture
def readers_first(monkeypatch):
    """The Python with uproot and pyarrow comes first in PATH, as in an activated virtual environment."""
    monkeypatch.setenv("PATH", f"{Path(PYTHON).parent}:{os.environ['PATH']}")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("in"), sources=3, rate=20_000, hits=6, width="50ns", noise=100_000, duration="30ms",
                    payload=2, seed=5)


@pytest.fixture(scope="module")
def run(tmp_path_factory, sources):
    folder = tmp_path_factory.mktemp("run")
    return Run(folder, sources, *DEFINE, "--detector", write_map(folder / "map.csv", ROWS), "--builders", "2", "--segment-size", "50000", np=2)


def merge_to(target, run_file, *options, code=0, cwd=None):
    return eventloom("merge", run_file, "--to", target, *options, code=code, cwd=cwd)


def read_back(path, kind):
    done = subprocess.run(["timeout", "120", PYTHON, "-c", READER, path, kind], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def assert_is_merged(path, kind, merged):
    """The file has the contents that h5py finds in the merged one."""
    found = read_back(path, kind)
    with h5py.File(merged) as file:
        first, words = file["events/first_hit"][:].tolist(), file["hits/first_payload"][:].tolist()
        for name in ("time", "duration", "slice", "flags", "sources_missing"):
            assert found[name] == file[f"events/{name}"][:].tolist(), name
        for name in ("time", "channel", "source"):
            values = file[f"hits/{name}"][:].tolist()
            assert found[f"hits {name}"] == [values[a:b] for a, b in zip(first, first[1:])], name
        payload = file["payload"][:].tolist()
    lists = [[payload[words[i]:words[i + 1]] for i in range(a, b)] for a, b in zip(first, first[1:])]
    if kind == "ttree":
        assert found["hits payload_1"] == [[hit[1] for hit in event] for event in lists]
    else:
        assert found["hits payload"] == lists
    return found


@needs_readers
@pytest.mark.parametrize("which", ["output", "merged"])
@pytest.mark.parametrize("kind", TARGETS)
def test_the_file_is_the_merged_one(readers_first, run, tmp_path, kind, which):
    done = merge_to(TARGETS[kind].format(tmp_path / "out"), getattr(run, which))
    (path,) = tmp_path.iterdir()
    found = assert_is_merged(path, kind, run.merged)
    assert len(found["time"]) > 500 and "hits name" not in found and found.get("class", "") == {
        "ttree": "Model_TTree_v20", "rntuple": "Model_ROOT_3a3a_RNTuple", "parquet": ""}[kind]
    assert done.stdout.splitlines() == [f"events  {len(found['time'])}", f"bytes   {path.stat().st_size}", f"file    {path}"]


@needs_readers
@pytest.mark.parametrize("kind", TARGETS)
def test_names(readers_first, run, tmp_path, kind):
    target = TARGETS[kind].format(tmp_path / "out")
    merge_to(f"{target}{'&' if '?' in target else '?'}names", run.output)
    found = read_back(next(tmp_path.iterdir()), kind)
    if kind == "ttree":
        for name in ("name", "group"):
            found[f"hits {name}"] = [[found["texts"][name][i] for i in event] for event in found[f"hits {name}"]]
    with h5py.File(run.merged) as file:
        hits = list(zip(file["hits/source"][:].tolist(), file["hits/channel"][:].tolist()))
    names = ["first" if s == 0 else "middle" if s == 1 and 100 <= c - (1 << 22) <= 700 else "" for s, c in hits]
    assert sum(found["hits name"], []) == names and len(set(names)) == 3
    assert sum(found["hits group"], []) == ["A;B" if source == 0 else "" for source, _ in hits]


@needs_readers
def test_a_stopped_run(readers_first, tmp_path, sources):
    words = [word for uri in sources for word in ("--source", uri)]
    with Started(tmp_path, "run", *words, *DEFINE, "--segment-size", "1", "--speed", "0.003") as started:
        started.until_parts(5)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    only_line(merge_to("root:out.root", "run.h5", code=2, cwd=tmp_path), "--resume", "--partial")
    assert "missing " in merge_to("root:out.root", "run.h5", "--partial", code=3, cwd=tmp_path).stdout
    eventloom("merge", tmp_path / "run.h5", "--partial", "--output", tmp_path / "merged.h5", code=3)
    assert_is_merged(tmp_path / "out.root", "ttree", tmp_path / "merged.h5")


# Files that are there.

FOREIGN = """
import pyarrow, pyarrow.parquet, uproot
with uproot.recreate("foreign.root") as file:
    file.mktree("eventloom", {"time": "f8"}).extend({"time": [1.0, 2.0]})
pyarrow.parquet.write_table(pyarrow.table({"eventloom": [1, 2]}), "foreign.parquet")
"""


@pytest.fixture
def folder(tmp_path, run):
    shutil.copytree(run.output.parent, tmp_path / "run")
    subprocess.run([PYTHON, "-c", FOREIGN], cwd=tmp_path, check=True)
    (tmp_path / "thesis.txt").write_text("the only copy\n" * 100)
    return tmp_path


def state(folder):
    return {path: (path.lstat().st_ino, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()}


def assert_refused(folder, target, *words, run_file="run/run.h5", options=()):
    before = state(folder)
    only_line(merge_to(target, run_file, *options, code=2, cwd=folder), *words)
    assert state(folder) == before


@needs_readers
@pytest.mark.parametrize("scheme", ["root", "parquet"])
def test_which_files_are_replaced(readers_first, folder, scheme):
    ours = folder / f"ours.{scheme}"
    merge_to(f"{scheme}:{ours}", folder / "run/run.h5")
    first = ours.read_bytes()
    assert_refused(folder, f"{scheme}:{ours.name}", "exists", "--force")
    for name in (f"foreign.{scheme}", "thesis.txt", "run/map.csv"):
        assert_refused(folder, f"{scheme}:{name}", name, "not a file that Eventloom may replace", options=["--force"])
    for name in ("run/run.h5", next((folder / "run").glob("run.part*.h5")).relative_to(folder)):
        assert_refused(folder, f"{scheme}:{name}", "is read as the run", options=["--force"])
    merge_to(f"{scheme}:{ours}", folder / "run/run.h5", "--force")
    assert len(ours.read_bytes()) == len(first)
    other = "parquet" if scheme == "root" else "root"
    assert_refused(folder, f"{other}:{ours.name}", "not a file that Eventloom may replace", options=["--force"])


@needs_readers
def test_files_that_the_package_wrote(readers_first, folder):
    """They are Eventloom's own, too."""
    script = "import eventloom; run = eventloom.open('run'); run.to_root('own.root', kind='rntuple'); run.to_parquet('own.parquet')"
    (folder / "run/merged.h5").unlink()
    subprocess.run([PYTHON, "-B", "-c", script], cwd=folder, check=True,
                   env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "io/python")})
    for scheme in ("root", "parquet"):
        merge_to(f"{scheme}:own.{scheme}", "run/run.h5", "--force", cwd=folder)


@needs_readers
def test_a_source_is_not_replaced(readers_first, tmp_path):
    """Not even if its name is that of an output."""
    write_csv(tmp_path / "hits.root", range(100), [1] * 100)
    run = Run(tmp_path / "run", [f"csv:{tmp_path}/hits.root?time=1&channel=2&unit=tick"], "--define", "gap:20,3")
    assert_refused(tmp_path, "root:hits.root", "a source of the run", run_file=run.output, options=["--force"])


@needs_readers
@pytest.mark.parametrize("scheme", ["root", "parquet"])
def test_unfinished_files(readers_first, folder, scheme):
    """Those of a killed merge are removed; others with such a name are kept."""
    whole, partial = folder / f"out.{scheme}", folder / f"out.{scheme}.partial"
    merge_to(f"{scheme}:{whole}", folder / "run/run.h5")
    whole.rename(partial)
    os.truncate(partial, partial.stat().st_size - 3000)
    merge_to(f"{scheme}:{whole}", folder / "run/run.h5")
    assert not partial.exists()
    whole.unlink()
    for name in (f"foreign.{scheme}", "thesis.txt"):
        shutil.copy(folder / name, partial)
        assert_refused(folder, f"{scheme}:{whole.name}", partial.name, "not a file that Eventloom may replace", options=["--force"])


@needs_readers
def test_a_damaged_part(readers_first, folder):
    part = next((folder / "run").glob("run.part*.h5"))
    data = bytearray(part.read_bytes())
    with h5py.File(part) as file:
        data[file["hits/channel"].id.get_chunk_info(0).byte_offset + 9] ^= 8
    part.write_bytes(data)
    for target in ("root:out.root", "parquet:out.parquet"):
        assert_refused(folder, target, part.name, "damaged")


@needs_readers
@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root mounts a small disk")
@pytest.mark.parametrize("scheme", ["root", "parquet"])
def test_a_full_disk(readers_first, run, tmp_path, scheme):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", tmp_path], check=True, timeout=20)
    try:
        only_line(merge_to(f"{scheme}:{tmp_path}/out", run.output, code=2), "No space left")
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", tmp_path], check=True, timeout=20)


# Python.

@pytest.fixture
def bare(tmp_path_factory):
    """A folder for PATH without Python, but with the programs that start the tests' commands."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "timeout").symlink_to(shutil.which("timeout"))
    return str(folder)


def fake_python(folder, missing):
    """A python3 that lacks these modules."""
    folder.mkdir()
    script = folder / "python3"
    script.write_text(f"#!/bin/sh\ncase \"$*\" in *find_spec*) echo {missing};; *) exit 9;; esac\n")
    script.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("target, missing", [("root:out.root", "awkward uproot"), ("parquet:out.parquet", "pyarrow")])
def test_without_the_packages(monkeypatch, bare, run, tmp_path, target, missing):
    monkeypatch.setenv("PATH", f"{fake_python(tmp_path / 'bin', missing)}:{bare}")
    line = only_line(merge_to(target, run.output, code=2, cwd=tmp_path), target, f"{tmp_path}/bin/python3")
    assert line.endswith(f"pip install {missing}")
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_without_python(monkeypatch, bare, run, tmp_path):
    monkeypatch.setenv("PATH", bare)
    line = only_line(merge_to("parquet:out.parquet", run.output, code=2, cwd=tmp_path), "no python3")
    assert line.endswith("pip install numpy h5py awkward pyarrow") and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["eventloom", "uproot eventloom"])
def test_without_the_package(monkeypatch, bare, run, tmp_path, missing):
    """The program is neither installed nor in a build folder of a checkout."""
    program = shutil.copy(BINARY, tmp_path)
    monkeypatch.setenv("PATH", f"{fake_python(tmp_path / 'bin', missing)}:{bare}")
    done = subprocess.run([program, "merge", run.output, "--to", "root:out.root"], cwd=tmp_path, env=environment(), text=True,
                          capture_output=True)
    assert done.returncode == 2
    line = only_line(done, f"{tmp_path}/bin/python3")
    assert f"pip install {missing.replace('eventloom', 'EVENTLOOM/io/python')}" in line and "source folder" in line
    assert not (tmp_path / "out.root").exists()


def test_a_python_without_the_package(monkeypatch, bare, run, tmp_path):
    """A real one with numpy and h5py."""
    program = shutil.copy(BINARY, tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{bare}")
    done = subprocess.run([program, "merge", run.output, "--to", "parquet:x.parquet"], cwd=tmp_path, env=environment(), text=True,
                          capture_output=True)
    assert done.returncode == 2
    line = only_line(done, "EVENTLOOM/io/python")
    assert "numpy" not in line and "h5py" not in line


@needs_readers
def test_the_first_python_that_has_them(monkeypatch, bare, run, tmp_path):
    """One that lacks them, one that does not run, and one that has them. Modules in the current folder are not used."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/python3").symlink_to("/bin/false")
    (tmp_path / "h5py.py").write_text("raise SystemExit('wrong module')\n")
    monkeypatch.setenv("PATH", f"{fake_python(tmp_path / 'bin', 'uproot')}:{tmp_path}/broken:{Path(PYTHON).parent}:{bare}")
    merge_to("root:out.root", run.output, cwd=tmp_path)
    assert_is_merged(tmp_path / "out.root", "ttree", run.merged)


@pytest.mark.parametrize("target, words", [
    ("root:out.root?kind=tree", ["kind= is ttree or rntuple"]), ("root:out.root?size=1MB", ["size"]), ("parquet:out?kind=rntuple", ["kind"]),
    ("root:folder/", ["the name of a file"]), ("parquet:out?names=1", ["names has no value"]),
    ("csv:out.csv", ["use lmd:PATH, hld:PATH, root:PATH or parquet:PATH"])])
def test_mistakes(run, tmp_path, target, words):
    only_line(merge_to(target, run.output, code=2, cwd=tmp_path), "--to", target, *words)
    assert list(tmp_path.iterdir()) == []


def test_options_of_hdf5_files(run, tmp_path):
    for options in (["--nexus"], ["--compress", "3"], ["--output", "x.h5"]):
        only_line(merge_to("root:out.root", run.output, *options, code=2, cwd=tmp_path), "--to writes no HDF5 file", options[0])
