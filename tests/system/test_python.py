"""The Python package reads runs: its results equal what h5py finds in the file that `merge` writes of them."""

import email
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile

import h5py
import numpy as np
import pytest

import truth
from detector_reference import write_map
from epochs_file import epochs_file
from interrupted import STOPPED, Started, lists, parts
from pages import PAGES, blocks, examples
from program import ROOT, Run, eventloom, generate
from python_package import SOURCE
from readers import PYTHON, needs_readers
from results import assert_same, read_ledger, read_merged

OPTIONS = ["--define", "gap:100,4", "--filter", "n_hits<12", "--epochs-per-slice", "10"]
SEA = ["hdf5:tests/data/km3net_orca4/orca4_run6633.h5?group=/dom_*&time=time&channel=channel&payload=tot&unit=ns"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("streams"), sources=4, rate=20_000, timing="poisson", hits=8, width="50ns",
                    noise=1_000_000, duration="50ms", payload=1, seed=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory, sources):
    """A run of three writers, with more parts than the package keeps open."""
    made = Run(tmp_path_factory.mktemp("run"), sources, *OPTIONS, "--builders", "3", "--segment-size", "20000", np=3)
    assert len(parts(made.output.parent)) > 40
    return made


@pytest.fixture(scope="module")
def sea(tmp_path_factory):
    """The folder with the run of the pages' examples."""
    folder = tmp_path_factory.mktemp("sea")
    (folder / "tests").symlink_to(ROOT / "tests")
    eventloom("run", *SEA, "--define", "gap:25ns,4", "--output", "sea.h5", cwd=folder)
    (command,) = [example.command for example in examples("io/python/README.md") if example.command.startswith("eventloom run")]
    eventloom(*shlex.split(command.replace("\\\n", " "))[1:], cwd=folder)
    return folder


def assert_reads(selection, merged, begin=0, end=None):
    """The selection has the events `begin` to `end` of a merged file, and its own offsets."""
    end = len(merged["events/time"]) if end is None else end
    hits = merged["events/first_hit"][[begin, end]]
    ranges = {"events": (begin, end), "hits": hits, "payload": merged["hits/first_payload"][hits] if "payload" in merged else None}
    expected = {}
    for name, values in merged.items():
        first, last = map(int, ranges[name.partition("/")[0]])
        cut = values[first:last + ("/first_" in name)]
        expected[name] = cut - cut[0] if "/first_" in name else cut
    found = selection.columns()
    assert np.array_equal(found.pop("events/slice"), merged["events/time"][begin:end] // 100_000)
    assert_same(found, expected)
    assert len(selection) == end - begin


def one_line(error):
    assert "\n" not in str(error.value), error.value
    return str(error.value)


# The package itself.

def run_python(installed, folder, *arguments):
    done = subprocess.run([sys.executable, "-B", *arguments], cwd=folder, env=os.environ | {"PYTHONPATH": str(installed)},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


EXAMPLES = """
import doctest, importlib, pkgutil, sys, eventloom
names = [found.name for found in pkgutil.iter_modules(eventloom.__path__, "eventloom.")]
results = [doctest.testmod(importlib.import_module(name)) for name in ("eventloom", *names)]
sys.exit(any(result.failed for result in results) or sum(result.attempted for result in results) < 30)
"""


def test_examples_of_the_modules(installed, sea):
    run_python(installed, sea, "-c", EXAMPLES)


WHERE = "import eventloom; print(eventloom.__file__)"


def test_the_command_of_the_page(tmp_path):
    """Unchanged, in a virtual environment; but numpy, h5py and the build tools are this machine's, as there may be no
    network."""
    shutil.copytree(SOURCE, tmp_path / "io" / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    (command,) = [example.command for example in examples("io/python/README.md") if example.command.startswith("pip install")]
    script = f'{sys.executable} -m venv --system-site-packages venv && . venv/bin/activate && {{ {command}\n}} && cd / && python -c "{WHERE}"'
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env=os.environ | {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(tmp_path / "venv") in done.stdout.splitlines()[-1]


SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"


def test_a_wheel_without_a_checkout(tmp_path):
    """A wheel of the source distribution, unpacked in an empty folder: all modules, the licence and the metadata."""
    def done(*words, cwd):
        ended = subprocess.run([sys.executable, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300)
        assert ended.returncode == 0, ended.stdout + ended.stderr

    source = shutil.copytree(SOURCE, tmp_path / "source", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    done("-c", SDIST, tmp_path / "sdist", cwd=source)
    shutil.rmtree(source)
    (archive,) = (tmp_path / "sdist").iterdir()
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    pip = ["-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "wheels"]
    done(*pip, unpacked, cwd=tmp_path / "unpacked")
    (wheel,) = (tmp_path / "wheels").iterdir()
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (licence,) = [name for name in names if name.rpartition("/")[2] == "LICENSE"]
        assert file.read(licence) == (ROOT / "LICENSE").read_bytes()
        assert {name for name in names if name.startswith("eventloom/")} == \
            {f"eventloom/{path.name}" for path in (SOURCE / "eventloom").iterdir() if path.name != "__pycache__"}
        (about,) = [email.message_from_bytes(file.read(name)) for name in names if name.endswith("/METADATA")]
    assert about["Name"] == "eventloom" and about["License"] == "Apache-2.0" and about["Author"] == "The Eventloom developers"
    assert about["Description-Content-Type"] == "text/markdown" and about.get_payload().startswith("# eventloom for Python")
    needed = {re.sub("[ ()]", "", text) for text in about.get_all("Requires-Dist")}  # setuptools of Debian 12 writes brackets
    assert about["Requires-Python"] == ">=3.9" and {"numpy>=1.22", "h5py>=3.6"} <= needed
    assert "License :: OSI Approved :: Apache Software License" in about.get_all("Classifier")
    assert set(about.get_all("Provides-Extra")) == {"awkward", "pandas", "hist", "root", "parquet"}


PAGES_IN_PYTHON = [page for page in PAGES if blocks(page, "pycon")]


@pytest.mark.parametrize("page", PAGES_IN_PYTHON)
def test_examples_of_the_pages(installed, sea, tmp_path, page):
    (tmp_path / "examples.txt").write_text("\n".join(blocks(page, "pycon")))
    run_python(installed, sea, "-m", "doctest", tmp_path / "examples.txt")


@pytest.mark.skipif(shutil.which("mypy") is None, reason="SKIPPED: mypy is not installed")
def test_types(installed, tmp_path):
    shutil.copy(SOURCE / "pyproject.toml", tmp_path)
    done = subprocess.run(["mypy", "--cache-dir", tmp_path / "cache", "--config-file", "pyproject.toml"], cwd=tmp_path,
                          env=os.environ | {"MYPYPATH": str(installed)}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_version():
    program = eventloom("--version").stdout.split()[1].rstrip(",")
    assert f'version = "{program}"' in (SOURCE / "pyproject.toml").read_text()


# Events.

@pytest.mark.parametrize("options, np_", [([], None), (["--builders", "3", "--segment-size", "60000"], 2),
                                          (["--builders", "2", "--filters", "2", "--compress", "2"], 4)])
def test_all_events(package, tmp_path, sources, options, np_):
    made = Run(tmp_path, sources, *OPTIONS, *options, np=np_)
    merged = read_merged(made.merged)
    for path in (made.output, made.merged):
        with package.open(path) as opened:
            assert opened.complete and opened.path == path
            assert_reads(opened, merged)


@pytest.mark.parametrize("seed", range(6))
def test_selections(package, run, seed):
    """Stretches by number and by time, of the run and of a selection, compared with numpy."""
    rng, merged = np.random.default_rng(seed), read_merged(run.merged)
    times = merged["events/time"]
    with package.open(run.output if seed % 2 else run.merged) as opened:
        for _ in range(5):
            begin, end = sorted(rng.integers(0, len(times) + 1, 2).tolist())
            assert_reads(opened[begin:end], merged, begin, end)
            early, late = sorted(rng.choice(times, 2).tolist())
            assert_reads(opened.between(early, late), merged, *np.searchsorted(times, [early, late]).tolist())
            assert_reads(opened.between(early + 1, late + 1), merged, *np.searchsorted(times, [early + 1, late + 1]).tolist())
            inner = opened[begin:].between(early, late)
            first, last = np.searchsorted(times, [early, late]).tolist()
            assert_reads(inner, merged, max(first, begin), max(last, begin))
        assert_reads(opened[-7:-2], merged, len(times) - 7, len(times) - 2)
        assert len(opened[5:2]) == len(opened.between(100, 50)) == len(opened.between(10**12, 10**13)) == 0
        assert {len(column) for column in opened[3:3].columns().values()} == {0, 1}


def test_columns_by_name(package, run):
    """Any columns, in any order: equal to h5py's."""
    with h5py.File(run.merged) as file, package.open(run.output) as opened:
        every = list(opened.columns())
        rng = np.random.default_rng(3)
        for _ in range(10):
            names = rng.permutation(every)[:rng.integers(1, 5)].tolist()
            found = opened.columns(*names)
            assert list(found) == names
            assert_same(found, {name: file[name][:] for name in names})


def test_chunks(package, run):
    merged = read_merged(run.merged)
    with package.open(run.output) as opened:
        begin = 0
        for chunk in opened.chunks(events=97):
            assert_reads(chunk, merged, begin, min(begin + 97, len(opened)))
            begin += len(chunk)
        assert begin == len(opened) == len(merged["events/time"])
        for wrong in (0, 1.5, "9"):
            with pytest.raises(ValueError, match="events is .*: give a whole number, at least 1"):
                next(opened.chunks(events=wrong))
        assert len(next(opened.chunks(events=np.uint8(9)))) == 9
        with pytest.raises(ValueError, match="end is 9.5: give a whole number"):
            opened.between(np.int64(-3), 9.5)


def test_events_that_begin_together(package, tmp_path):
    """Of several sources or clusters, many begin at the same tick: selections may end between them, in runs of many parts."""
    times = np.sort(np.random.default_rng(7).integers(0, 40_000, 4000) // 20 * 20)
    recordings = [tmp_path / f"{k}.epochs" for k in range(3)]
    for source, path in enumerate(recordings):
        package.write_epochs(path, time=times, channel=source, epoch_ticks=100)
    made = Run(tmp_path / "run", recordings, "--define", "fixed:20", "--per-source", "--builders", "2", "--epochs-per-slice", "10",
               "--segment-size", "20000")
    merged = read_merged(made.merged)
    first = merged["events/time"]
    assert (np.diff(first) == 0).sum() > len(first) // 2 and len(parts(made.output.parent)) > 4
    with package.open(made.output) as opened:
        for begin in range(0, len(first), 331):
            assert [event.time for event in opened[begin:begin + 2]] == first[begin:begin + 2].tolist()
        for size in (1, 7, 1000):
            chunks = [chunk.columns("events/time", "hits/source") for chunk in opened.chunks(events=size)]
            assert {len(chunk["events/time"]) for chunk in chunks[:-1]} == {size}
            for name, values in (("events/time", first), ("hits/source", merged["hits/source"])):
                assert np.array_equal(np.concatenate([chunk[name] for chunk in chunks]), values)


def assert_event(event, merged, number):
    first, last = merged["events/first_hit"][number:number + 2].tolist()
    words = merged["hits/first_payload"][first:last + 1].tolist()
    assert (event.number, event.time, event.duration) == (number, *(int(merged[f"events/{n}"][number]) for n in ("time", "duration")))
    assert (event.flags, event.sources_missing) == (merged["events/flags"][number], merged["events/sources_missing"][number])
    for name in ("time", "channel", "source"):
        assert np.array_equal(getattr(event.hits, name), merged[f"hits/{name}"][first:last])
    assert len(event.hits) == last - first
    assert [w.tolist() for w in event.hits.payload] == [merged["payload"][a:b].tolist() for a, b in zip(words, words[1:])]


def test_one_event(package, run):
    merged = read_merged(run.merged)
    n = len(merged["events/time"])
    with package.open(run.output) as opened:
        for number in (0, 1, 63, 64, n // 2, n - 1):
            assert_event(opened[number], merged, number)
        assert_event(opened[-1], merged, n - 1)
        assert_event(opened[100:200][-3], merged, 197)
        for number, event in enumerate(opened):
            assert_event(event, merged, number)
        assert number == n - 1
        for wrong in (n, -n - 1):
            with pytest.raises(IndexError, match=f"event {wrong} of {n}"):
                opened[wrong]


@pytest.mark.parametrize("recording", truth.RECORDINGS, ids=lambda recording: recording.name)
def test_recordings(package, tmp_path, recording):
    """Compares with their published results."""
    gap, least = recording.rules[0]
    options = ["--define", f"gap:{gap}ns,{least}", *recording.options(), "--builders", "2"]
    eventloom("run", "--source", recording.uri(), *options, "--output", tmp_path / "run.h5", np=2)
    with package.open(tmp_path / "run.h5") as opened:
        truth.assert_events(recording, gap, least, opened.columns())


def test_without_payload_and_without_events(package, tmp_path):
    uris = generate(tmp_path / "streams", sources=2, rate=20_000, duration="10ms", seed=2)
    made = Run(tmp_path / "some", uris, *OPTIONS)
    none = Run(tmp_path / "none", uris, "--define", "gap:1,100")
    with package.open(made.output) as opened:
        assert_reads(opened, read_merged(made.merged))
        assert opened[0].hits.payload is None
        with pytest.raises(ValueError, match="no column 'payload'; there are events/time, "):
            opened.columns("payload")
    with package.open(none.output) as opened:
        assert len(opened) == 0 and list(opened) == [] and list(opened.chunks()) == []
        assert_same(opened.columns("events/time", "hits/source"), {"events/time": np.array([], "u8"), "hits/source": np.array([], "u2")})


# Frames.

@pytest.fixture(scope="module")
def ragged(tmp_path_factory):
    """Two events of two hits with 0 to 3 words of payload each, the first of which is their number."""
    words = [0, *[1 << 28 | 4 << 19 | 5, 2 << 28 | 1, 0, 2 << 28 | 2, 0], *[1 << 28 | 6 << 19 | 900, 2 << 28 | 3, 2, 10, 11, 2 << 28 | 4, 0]]
    folder = tmp_path_factory.mktemp("ragged")
    (folder / "ragged.epochs").write_bytes(epochs_file([(0, 1, words, 4, 6)], payload_table=bytes([255] * 64)))
    return Run(folder, [f"file:{folder / 'ragged.epochs'}"], "--define", "tag")


def test_pandas(package, run, ragged):
    merged = read_merged(run.merged)
    events, hits = package.open(run.output).to_pandas()
    assert events.columns.tolist() == ["time", "duration", "n_hits", "slice", "flags", "sources_missing"]
    assert all(np.array_equal(events[name], merged[f"events/{name}"]) for name in events.columns if name != "slice")
    assert all(np.array_equal(hits[name], merged[f"hits/{name}"]) for name in ("time", "channel", "source"))
    assert np.array_equal(hits["payload_0"], merged["payload"]) and hits["payload_0"].dtype == "u4"
    assert np.array_equal(hits.groupby("event").size(), merged["events/n_hits"])
    hits = package.open(ragged.output).to_pandas().hits
    assert hits["payload_0"].tolist() == [0, 0, 2, 0] and hits["event"].tolist() == [0, 0, 1, 1]
    assert hits["payload_1"].isna().tolist() == [True, True, False, True] and hits["payload_2"][2] == 11


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """Hits with two payload words or, for the last source, none; of three writers."""
    folder = tmp_path_factory.mktemp("calibrated")
    uris = generate(folder / "two", sources=2, rate=20_000, hits=6, noise=200_000, duration="20ms", payload=2, seed=4)
    uris += generate(folder / "none", sources=1, rate=20_000, noise=100_000, duration="20ms", payload=0, seed=6)
    gains = write_map(folder / "map.csv", [{"source": "0", "gain": "0.25", "zero": "-3"}, {"source": "1", "gain": "1e-3", "zero": "7"}])
    return Run(folder / "run", uris, *OPTIONS[:2], "--epochs-per-slice", "10", "--detector", gains, "--builders", "3", "--segment-size", "40000", np=2)


def values_of(merged):
    """Computed with numpy, from the raw payload and the map."""
    first, source = merged["hits/first_payload"].astype("i8"), merged["hits/source"]
    value = np.full(len(source), np.nan)
    there = np.diff(first) > 0
    gain, zero = np.array([0.25, 1e-3, 1.0]), np.array([-3.0, 7.0, 0.0])
    value[there] = gain[source[there]] * merged["payload"][first[:-1][there]] + zero[source[there]]
    return value


def test_values(package, calibrated, run):
    """Values in columns, events and frames, of the run with its parts and of the merged file."""
    merged = read_merged(calibrated.merged)
    value = values_of(merged)
    assert np.isnan(value).any() and np.isfinite(value).sum() > 1000
    assert len(parts(calibrated.output.parent)) > 5
    for path in (calibrated.output, calibrated.merged):
        with package.open(path) as opened:
            assert opened.columns("hits/value")["hits/value"].dtype == "f8"
            assert np.array_equal(opened.columns()["hits/value"], value, equal_nan=True)
            first = merged["events/first_hit"].tolist()
            for number in (0, 70, len(opened) - 1):
                assert np.array_equal(opened[number].hits.value, value[first[number]:first[number + 1]], equal_nan=True)
            some = opened[50:150]
            hits = some.to_pandas().hits
            assert np.array_equal(hits["value"], value[first[50]:first[150]], equal_nan=True) and hits["value"].dtype == "f8"
            assert len(opened[:0].columns()["hits/value"]) == 0
    with package.open(run.output) as opened:
        assert opened[0].hits.value is None and "value" not in opened[:9].to_pandas().hits
        with pytest.raises(ValueError, match="no column 'hits/value'"):
            opened.columns("hits/value")


def test_damaged_values(package, calibrated, tmp_path):
    copy = shutil.copy(calibrated.merged, tmp_path / "copy.h5")
    with h5py.File(copy, "r+") as file:
        file["hits/value"][3] = 1e9
    with package.open(copy) as opened, pytest.raises(package.DamagedFile, match="/hits/value"):
        opened.columns("hits/value")


VALUES = """
import json, sys, awkward, eventloom, numpy, uproot
run, folder = eventloom.open(sys.argv[1]), sys.argv[2]
run.to_root(folder + "/t.root")
run.to_root(folder + "/n.root", kind="rntuple")
run.to_parquet(folder + "/p.parquet")
run[:0].to_root(folder + "/none.root")
tree, ntuple = (uproot.open(folder + name)["events"].arrays() for name in ("/t.root", "/n.root"))
found = {"tree": tree.hits_value, "ntuple": ntuple.hits.value, "parquet": awkward.from_parquet(folder + "/p.parquet").hits.value,
         "awkward": run.to_awkward().hits.value}
assert all(str(array.type).endswith("var * float64") for array in found.values()), {name: str(a.type) for name, a in found.items()}
assert "hits_value" in uproot.open(folder + "/none.root")["events"].keys()
print(json.dumps({name: [[None if numpy.isnan(x) else x for x in event] for event in array.tolist()] for name, array in found.items()}))
"""


@needs_readers
def test_values_elsewhere(installed, calibrated, tmp_path):
    """Values in awkward, ROOT and Parquet."""
    done = subprocess.run([PYTHON, "-B", "-c", VALUES, calibrated.output, tmp_path], env=os.environ | {"PYTHONPATH": str(installed)},
                          text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    merged = read_merged(calibrated.merged)
    value, first = [None if np.isnan(x) else x for x in values_of(merged).tolist()], merged["events/first_hit"].tolist()
    expected = [value[a:b] for a, b in zip(first, first[1:])]
    for name, found in json.loads(done.stdout).items():
        assert found == expected, name


PAYLOAD = """
import json, sys, awkward, eventloom, numpy, uproot
run, folder = eventloom.open(sys.argv[1]), sys.argv[2]
run.to_root(folder + "/t.root")
run.to_root(folder + "/n.root", kind="rntuple")
run.to_parquet(folder + "/p.parquet")
tree, ntuple = (uproot.open(folder + name)["events"].arrays() for name in ("/t.root", "/n.root"))
tree = {name: tree["hits_" + name] for name in ("energy", "payload_value", "a_b")}
of = {"awkward": run.to_awkward().hits, "ntuple": ntuple.hits, "parquet": awkward.from_parquet(folder + "/p.parquet").hits}
found = {name: {"energy": hits.energy, "payload_value": hits.payload_value, "a_b": hits["a_b" if name == "ntuple" else "a b"]}
         for name, hits in of.items()} | {"tree": tree}
print(json.dumps({name: {field: [str(array.type).rpartition(" ")[2], [[None if numpy.isnan(x) else x for x in event] for event in array.tolist()]]
                         for field, array in fields.items()} for name, fields in found.items()}))
"""


@pytest.fixture(scope="module")
def with_kinds(tmp_path_factory):
    """A run with named payload of three kinds, one of which has the name of another column, and with a source without."""
    folder, choose = tmp_path_factory.mktemp("kinds"), np.random.default_rng(38)
    time, energy = np.sort(choose.integers(0, 10**6, 3000)), choose.normal(0, 500, 3000)
    value, words = choose.integers(-2**31, 2**31, 3000), choose.integers(0, 2**32, 3000)
    rows = zip(*(column.tolist() for column in (time, energy, value, words)))
    (folder / "a.csv").write_text("t_ns,channel,energy,value,a b\n" + "".join(f"{t},5,{e!r},{v},{w}\n" for t, e, v, w in rows))
    (folder / "bare.csv").write_text("t_ns,channel\n" + "".join(f"{t},6\n" for t in range(0, 10**6, 700)))
    made = Run(folder / "run", [f"csv:{folder}/a.csv?payload=energy,value,a b", f"csv:{folder}/bare.csv"], "--define", "gap:300,2")
    merged, order = read_merged(made.merged), {int(t): i for i, t in reversed(list(enumerate(time)))}
    there = np.diff(merged["hits/first_payload"].astype("i8")) > 0
    assert there.any() and not there.all()
    # Hits of one time are in the order of the file.
    taken, place = {}, np.full(len(there), -1)
    for i in np.flatnonzero(there):
        t = int(merged["hits/time"][i])
        place[i] = order[t] + taken.get(t, 0)
        taken[t] = taken.get(t, 0) + 1
    return made, merged, {"energy": np.where(there, energy[place], np.nan), "payload_value": np.where(there, value[place], 0),
                          "a b": np.where(there, words[place], 0)}, there


def test_payload_by_name(package, with_kinds):
    made, merged, expected, there = with_kinds
    for path in (made.output, made.merged):
        with package.open(path) as opened:
            hits = opened.to_pandas().hits
            assert np.array_equal(hits["energy"], expected["energy"], equal_nan=True) and hits["energy"].dtype == "f8"
            for name, kind in (("payload_value", "i4"), ("a b", "u4")):
                assert hits[name].isna().tolist() == (~there).tolist()
                assert hits[name][there].to_numpy(kind).tolist() == expected[name][there].tolist(), name
            first = merged["events/first_hit"]
            some = opened[20:70].to_pandas().hits
            assert np.array_equal(some["energy"], expected["energy"][first[20]:first[70]], equal_nan=True)
            assert {"energy", "a b"} < set(opened[:0].to_pandas().hits.columns)


def test_names_and_kinds_that_disagree(package):
    for types in (["f64", "i32"], ["f64", "i32", "u16"]):
        with pytest.raises(package.DamagedFile, match="'run.h5' is damaged: its payload_names and payload_types disagree"):
            package.payload_columns.payload_columns({"payload_names": ["a", "b", "c"], "payload_types": types}, "run.h5")


@needs_readers
def test_payload_by_name_elsewhere(installed, with_kinds, tmp_path):
    """In awkward, ROOT and Parquet; ROOT takes no blanks in names."""
    made, merged, expected, _ = with_kinds
    done = subprocess.run([PYTHON, "-B", "-c", PAYLOAD, made.output, tmp_path], env=os.environ | {"PYTHONPATH": str(installed)},
                          text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    first = merged["events/first_hit"].tolist()
    for kind, fields in json.loads(done.stdout).items():
        for name, of in (("energy", "float64"), ("payload_value", "int32"), ("a_b", "uint32")):
            column = [None if x != x else x for x in expected[name.replace("a_b", "a b")].tolist()]
            assert fields[name] == [of, [column[a:b] for a, b in zip(first, first[1:])]], (kind, name)


AWKWARD = """
import json, sys, awkward, eventloom
run = eventloom.open(sys.argv[1])
some = run[3:].to_awkward() if len(run) > 10 else run.to_awkward()
print(json.dumps({"time": some.time.tolist(), "times": some.hits.time.tolist(), "payload": some.hits.payload.tolist(),
                  "sources": some.hits.source.tolist(), "fields": some.fields}))
"""


def as_awkward(installed, path):
    """Runs in the Python that has awkward, which has another numpy and another h5py, too."""
    done = subprocess.run([PYTHON, "-B", "-c", AWKWARD, path], env=os.environ | {"PYTHONPATH": str(installed)}, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_readers
def test_awkward(installed, run, ragged):
    found, merged = as_awkward(installed, run.output), read_merged(run.merged)
    first = merged["events/first_hit"][3:].tolist()
    assert found["fields"] == ["time", "duration", "n_hits", "slice", "flags", "sources_missing", "hits"]
    assert found["time"] == merged["events/time"][3:].tolist()
    for name, short in (("hits/time", "times"), ("hits/source", "sources")):
        assert found[short] == [merged[name][a:b].tolist() for a, b in zip(first, first[1:])]
    assert sum(found["payload"], start=[]) == [[word] for word in merged["payload"][first[0]:].tolist()]
    assert as_awkward(installed, ragged.output)["payload"] == [[[0], [0]], [[2, 10, 11], [0]]]


EXPORTS = """
import json, sys, awkward, eventloom, pyarrow.parquet, uproot
run, folder = eventloom.open(sys.argv[1]), sys.argv[2]
run.to_root(folder + "/t.root")
run.to_root(folder + "/n.root", kind="rntuple")
run.to_parquet(folder + "/p.parquet")
run[:0].to_root(folder + "/none.root")
run[:0].to_parquet(folder + "/none.parquet")
refused = 0
for write, name in ((run.to_root, "/p.parquet"), (run.to_parquet, "/t.root"), (run.to_parquet, "/p.parquet")):
    try:
        write(folder + name, overwrite=name != "/p.parquet")
    except FileExistsError:
        refused += 1
run.to_root(folder + "/t.root", overwrite=True)
tree, ntuple = (uproot.open(folder + name)["events"].arrays() for name in ("/t.root", "/n.root"))
parquet = awkward.from_parquet(folder + "/p.parquet")
found = {"refused": refused, "none": uproot.open(folder + "/none.root")["events"].num_entries,
         "none in parquet": len(awkward.from_parquet(folder + "/none.parquet")),
         "tree": {"time": tree.time.tolist(), "hits": tree.hits_time.tolist(), "dt": tree.hits_dt.tolist()}}
if "hits_payload_words" in tree.fields:
    found["tree"]["words"] = tree.hits_payload_words.tolist()
    found["tree"]["payload"] = [tree[name].tolist() for name in tree.fields if name.startswith("hits_payload_") and name[-1].isdigit()]
for name, array in (("ntuple", ntuple), ("parquet", parquet)):
    found[name] = {"time": array.time.tolist(), "hits": array.hits.time.tolist(), "dt": array.hits.dt.tolist(),
                   "payload": array.hits.payload.tolist()}
print(json.dumps(found))
"""


@needs_readers
def test_root_and_parquet(installed, run, ragged, tmp_path):
    """Runs in the Python that has uproot and pyarrow, which read the files back."""
    for number, path in enumerate((run.output, ragged.output)):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = subprocess.run([PYTHON, "-B", "-c", EXPORTS, path, folder], env=os.environ | {"PYTHONPATH": str(installed)},
                              text=True, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        found, merged = json.loads(done.stdout), read_merged((run, ragged)[number].merged)
        assert (found["refused"], found["none"], found["none in parquet"]) == (3, 0, 0)
        first, words = merged["events/first_hit"].tolist(), merged["hits/first_payload"].tolist()
        times = [merged["hits/time"][a:b].tolist() for a, b in zip(first, first[1:])]
        payload = [[merged["payload"][words[i]:words[i + 1]].tolist() for i in range(a, b)] for a, b in zip(first, first[1:])]
        for name in ("tree", "ntuple", "parquet"):
            assert found[name]["time"] == merged["events/time"].tolist() and found[name]["hits"] == times, name
            assert found[name]["dt"] == [[t - of[0] for t in of] for of in times], name
        assert found["ntuple"]["payload"] == found["parquet"]["payload"] == payload
        assert found["tree"]["words"] == [[len(hit) for hit in event] for event in payload]
        for i, column in enumerate(found["tree"]["payload"]):
            assert column == [[hit[i] if i < len(hit) else 0 for hit in event] for event in payload]
        assert sorted(path.suffix for path in folder.iterdir()) == [".parquet", ".parquet", ".root", ".root", ".root"]


# The file of run --merge.

@pytest.fixture(scope="module")
def alone(tmp_path_factory, sources):
    """The folder of a run with --merge."""
    folder = tmp_path_factory.mktemp("alone")
    words = [word for uri in sources for word in ("--source", uri)]
    eventloom("run", *words, *OPTIONS, "--builders", "3", "--merge", "--output", folder / "run.h5", np=3)
    return folder


def test_a_run_that_has_merged_itself(package, run, alone):
    """Opened by its folder or its file; also states how it ran."""
    merged = read_merged(run.merged)
    for path in (alone, alone / "run.h5"):
        with package.open(path) as opened:
            assert opened.complete and opened.path == alone / "run.h5"
            assert_reads(opened, merged)
            assert opened.counters["hits_in"] == opened.totals["hits_in"] == sum(read_ledger(run.output)["hits_in"])
            assert opened.attributes["began"] <= opened.attributes["ended"]
            assert [len(chunk) for chunk in opened.chunks(events=1000)] and len(opened.table("source_counters")) > 0


# What else the run says.

def test_about_the_run(package, run, sources):
    with h5py.File(run.output) as file, package.open(run.output) as opened:
        attributes = dict(file.attrs)
        assert opened.attributes.keys() == attributes.keys() and opened.attributes["definition"] == "gap:100,4"
        assert all(type(value) in (int, str, list) for value in opened.attributes.values())
        assert opened.totals["hits_in"] == attributes["hits_in"] and opened.totals["events"] == len(opened)
        assert {name for name in attributes if name.startswith("hits_")} < opened.totals.keys()
        assert opened.tick_ps == 1000 and opened.setup["filter"] == ["n_hits<12"] and opened.setup["builders"] == ["3"]
        assert opened.setup["source"] == sources and opened.setup["scratch"] == [""]
        assert [source.uri for source in opened.sources] == sources and opened.sources[2].id == 2
        assert all(source.path.endswith(source.name) or source.name for source in opened.sources)
        counters = dict(zip([n.decode() for n in file["counters/name"][:]], file["counters/value"][:].tolist()))
        assert opened.counters == counters and counters["hits_in"] > 0
        assert opened.table("builders")["busy"].tolist() == file["builders/busy"][:].tolist()
        assert len(opened.table("alarms")) == 0
        with pytest.raises(ValueError, match="no table 'events'; there are alarms, "):
            opened.table("events")


def assert_ledger(opened, path):
    expected = read_ledger(path)
    assert set(opened.ledger.dtype.names) == set(expected)
    assert all(np.array_equal(opened.ledger[name], column) for name, column in expected.items())


def test_ledger(package, run):
    for path in (run.output, run.merged):
        with package.open(path) as opened:
            assert_ledger(opened, path)
            assert opened.ledger["hits_in"].sum() == opened.totals["hits_in"]


# Which files are a run.

@pytest.fixture(scope="module")
def stopped(tmp_path_factory, sources):
    folder = tmp_path_factory.mktemp("stopped")
    words = [word for uri in sources for word in ("--source", uri)]
    with Started(folder, "run", *words, *OPTIONS, "--builders", "2", "--segment-size", "10000", "--speed", "0.003") as started:
        started.until_parts(8)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    eventloom("merge", folder / "run.h5", "--partial", "--output", folder / "partial.h5", code=3)
    return folder


def test_stopped(package, stopped):
    """`merge --partial` finds the same finished part of the run."""
    with package.open(stopped) as opened, package.open(stopped / "partial.h5") as partial:
        assert not opened.complete and not partial.complete and "not complete" in repr(opened)
        assert_reads(opened, read_merged(stopped / "partial.h5"))
        assert opened.totals == partial.totals and opened.totals["hits_in"] > 0 and partial.counters == {}
        assert_ledger(opened, stopped / "partial.h5")


def test_stopped_in_the_middle_of_an_entry(package, stopped, tmp_path):
    """An entry that was being written, and a part without its final name, do not count."""
    folder = shutil.copytree(stopped, tmp_path / "copy", ignore=shutil.ignore_patterns("partial.h5"))
    before = len(package.open(folder).ledger)
    first, second = lists(folder)
    first.write_bytes(first.read_bytes()[:-20])
    parts(folder)[-1].rename(folder / "away.partial")
    eventloom("merge", folder / "run.h5", "--partial", "--output", folder / "partial.h5", code=3)
    with package.open(folder) as opened:
        assert_reads(opened, read_merged(folder / "partial.h5"))
        assert_ledger(opened, folder / "partial.h5")
        assert len(opened.ledger) <= before - 2  # a part may have a single slice
    lines = second.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b'"writer":1', b'"writer":0')
    second.write_bytes(b"\n".join(lines))
    with pytest.raises(package.DamagedFile, match="line 2 does not have the checksum") as error:
        package.open(folder)
    assert second.name in one_line(error)


def test_nothing_finished(package, stopped, tmp_path):
    folder = shutil.copytree(stopped, tmp_path / "copy", ignore=shutil.ignore_patterns("partial.h5", "run.part*"))
    with package.open(folder) as opened:
        assert not opened.complete and list(opened) == [] and len(opened.ledger) == 0
        assert set(opened.totals.values()) == {0}
        assert all(len(values) == ("/first_" in name) for name, values in opened.columns().items())
        assert len(opened.to_pandas().hits) == 0


def test_while_it_runs(package, sources, tmp_path):
    words = [word for uri in sources for word in ("--source", uri)]
    with Started(tmp_path, "run", *words, *OPTIONS, "--segment-size", "1", "--speed", "0.001") as started:
        started.until_parts(3)
        with package.open(tmp_path) as opened:
            assert not opened.complete and len(opened) > 0
            times = opened.columns("events/time")["events/time"]
            assert len(times) == len(opened) and np.all(np.diff(times.astype(np.int64)) > 0)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)


def test_named_definitions(package, sources, tmp_path):
    words = [word for uri in sources for word in ("--source", uri)]
    eventloom("run", *words, "--define", "four=gap:100,4", "--define", "six=gap:60,6", "--output", tmp_path / "run.h5", np=2)
    for name, definition in (("four", "gap:100,4"), ("six", "gap:60,6")):
        path = tmp_path / f"run.{name}.h5"
        eventloom("merge", path, "--output", tmp_path / f"{name}-merged.h5")
        with package.open(path) as opened:
            assert opened.attributes["definition"] == definition and len(opened) > 20
            assert np.array_equal(opened.columns()["hits/time"], read_merged(tmp_path / f"{name}-merged.h5")["hits/time"])
    for place, words in ((tmp_path / "run.h5", "'run.four.h5' or 'run.six.h5'"), (tmp_path, "'run.four.h5', 'run.six.h5'")):
        with pytest.raises(ValueError, match=re.escape(words)) as error:
            package.open(place)
        one_line(error)


def test_what_is_no_run(package, run, tmp_path):
    (tmp_path / "text.h5").write_text("not HDF5\n")
    with h5py.File(tmp_path / "foreign.h5", "w") as file:
        file["x"] = [1]
    for path, kind, words in ((tmp_path / "no.h5", FileNotFoundError, "does not exist"), (tmp_path, FileNotFoundError, "no run file"),
                              (tmp_path / "text.h5", ValueError, "not an HDF5 file"),
                              (tmp_path / "foreign.h5", ValueError, "not one that Eventloom wrote"),
                              (parts(run.output.parent)[0], ValueError, "give 'run.h5' beside it")):
        with pytest.raises(kind, match=words) as error:
            package.open(path)
        assert str(path) in one_line(error)


def test_closed(package, run):
    with package.open(run.output) as opened:
        rest = opened[10:]
    with pytest.raises(ValueError, match="the run is closed"):
        rest.columns()
