"""The contents of the files: names, types and attributes of the contract, read with h5py, h5dump and pandas."""

import subprocess

import h5py
import numpy as np
import pandas
import pytest

import truth
from program import Run, eventloom, generate
from results import EVENT_TYPES, LEDGER_COLUMNS, PAYLOAD_TYPES, assert_balanced, read_ledger, read_merged

OPTIONS = ["--define", "gap:100,4", "--filter", "n_hits<12", "--builders", "2", "--filters", "2", "--epochs-per-slice", "10"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("streams"), sources=4, rate=20_000, timing="poisson", hits=8, width="50ns",
                    noise=1_000_000, duration="50ms", payload=1, seed=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory, sources):
    return Run(tmp_path_factory.mktemp("run"), sources, *OPTIONS, np=3)


def datasets(file):
    found = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def parts(run):
    return sorted(set(run.output.parent.rglob("*.h5")) - {run.output, run.merged})


def test_datasets_of_the_merged_file(run):
    with h5py.File(run.merged) as file:
        for name, kind in (EVENT_TYPES | PAYLOAD_TYPES).items():
            assert file[name].dtype == np.dtype("<" + kind), name
            assert file[name].ndim == 1, name
        for name in ("events/time", "events/duration", "hits/time"):
            assert file[name].attrs["units"], name
        for name in ("events/flags", "events/sources_missing"):
            assert len(file[name].attrs) > 0, f"no attribute explains {name}"


def test_columns_fit_together(run):
    with h5py.File(run.merged) as file:
        events, hits = file["events"], file["hits"]
        time, n_hits, first = events["time"][:], events["n_hits"][:], events["first_hit"][:]
        assert np.all(np.diff(time.astype(np.int64)) > 0), "events are in time order, no two begin together"
        assert first[0] == 0 and first[-1] == len(hits["time"]) and np.array_equal(np.diff(first), n_hits)
        assert np.array_equal(hits["time"][:][first[:-1]], time)
        assert np.array_equal(hits["time"][:][first[1:] - 1] - time, events["duration"][:])
        assert np.array_equal(events["slice"][:], time // 100_000)
        words = hits["first_payload"][:]
        assert words[0] == 0 and words[-1] == len(file["payload"]) and len(words) == len(hits["time"]) + 1


def test_chunks(run):
    for path in (run.merged, *parts(run)):
        with h5py.File(path) as file:
            for name, data in datasets(file).items():
                if data.chunks and len(data) > 0:
                    size = data.chunks[0] * data.dtype.itemsize
                    assert size <= 4 << 20, f"{path.name}/{name} has chunks of {size} bytes"
                    assert size >= 256 << 10 or data.nbytes < 256 << 10 or "ledger" in name, (path.name, name, size)


def test_no_compound_or_variable_length_types_in_columns(run):
    for path in (run.merged, *parts(run)):
        with h5py.File(path) as file:
            for name, data in datasets(file).items():
                if name.startswith(("events", "hits", "payload", "ledger")):
                    assert data.dtype.kind in "ui", name


def test_ledger(run, sources):
    ledger = read_ledger(run.output)
    assert {*LEDGER_COLUMNS, "slice", "builder", "sources_missing"} <= set(ledger)
    assert any(name.startswith("hits_dropped_") for name in ledger)
    assert all(column.dtype == ("u4" if name == "builder" else "u8") for name, column in ledger.items())
    assert_balanced(ledger)
    assert np.all(np.diff(ledger["slice"].astype(np.int64)) > 0)
    merged = read_merged(run.merged)
    assert ledger["hits_in_events"].sum() == len(merged["hits/time"])
    assert ledger["hits_rejected"].sum() > 0, "the filter of this test refuses some"


def test_run_file(run, sources):
    """Attributes of the run; the part files that it lists all exist and hold the events in time order."""
    with h5py.File(run.output) as file:
        text = " ".join(f"{name} {value}" for name, value in file.attrs.items())
        assert file.attrs["closed"]
        for word in ("gap:100,4", "n_hits<12", "round-robin", sources[0].removeprefix("file:").rpartition("/")[2]):
            assert word in text or any(word in str(d[:]) for d in datasets(file).values() if d.dtype.kind == "O"), word
    found = parts(run)
    assert found, "no part files"
    times = []
    for path in found:
        with h5py.File(path) as file:
            times.append(file["events/time"][:])
            assert np.all(np.diff(times[-1].astype(np.int64)) > 0), path
    assert np.array_equal(np.sort(np.concatenate(times)), read_merged(run.merged)["events/time"])


def test_h5dump(run):
    for path in (run.output, run.merged):
        assert subprocess.run(["h5dump", "-H", path], capture_output=True, timeout=60).returncode == 0
    done = subprocess.run(["h5dump", "-d", "/events/time", run.merged], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and str(read_merged(run.merged)["events/time"][0]) in done.stdout


def test_pandas(run):
    with h5py.File(run.merged) as file:
        events = pandas.DataFrame({name: file["events"][name][:] for name in ("time", "duration", "n_hits", "flags")})
        hits = pandas.DataFrame({name: file["hits"][name][:] for name in ("time", "channel", "source")})
    hits["event"] = np.repeat(events.index, events.n_hits)
    assert (hits.groupby("event").time.min().values == events.time.values).all()
    assert (events.n_hits < 60).all() and (events.n_hits >= 4).all()


def test_report(run):
    """The totals of the report are those of the files."""
    merged, text = read_merged(run.merged), run.report_file.read_text()
    assert isinstance(run.report(), dict)
    for number in (len(merged["events/time"]), len(merged["hits/time"]), read_ledger(run.output)["hits_in"].sum()):
        assert str(number) in text, number
        assert str(number) in run.done.stdout.replace(",", ""), number


def test_compressed_output_has_the_same_contents(tmp_path, run, sources):
    again = Run(tmp_path, sources, *OPTIONS, "--compress", "1")
    with h5py.File(run.merged) as plain, h5py.File(again.merged) as packed:
        for name, data in datasets(plain).items():
            if name.startswith(("events", "hits", "payload")):
                assert np.array_equal(data[:], packed[name][:]), name


def test_configuration_goes_round(tmp_path, run, sources):
    """--print-config writes what --config reads, and the run it describes is the same."""
    words = [word for uri in sources for word in ("--source", uri)]
    setup = eventloom("run", *words, *OPTIONS, "--output", tmp_path / "run.h5", "--print-config").stdout
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "run.ini").write_text(setup)
    assert eventloom("run", "--config", tmp_path / "run.ini", "--print-config").stdout == setup
    eventloom("run", "--config", tmp_path / "run.ini")
    eventloom("merge", tmp_path / "run.h5", "--output", tmp_path / "merged.h5")
    expected, found = read_merged(run.merged), read_merged(tmp_path / "merged.h5")
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_any_value_goes_round(tmp_path, package):
    """Names with '#', blanks at the ends, quotes and backslashes; expressions of several lines: written by --print-config
    and kept in the output, where --config, `report` and the Python package read them."""
    table, output = 'run#5 "a\\nb".csv', " out#1.h5"
    (tmp_path / table).write_text("t_ns,ch\n1,1\n2,2\n900,1\n901,1\n")
    filters = ["n_hits>=2\n&& channel:2>=1", "n_hits<9"]
    words = ["--source", f"csv:{table}", "--define", "gap:25ns,1", *(word for text in filters for word in ("--filter", text))]
    setup = eventloom("run", *words, "--output", output, "--print-config", cwd=tmp_path).stdout
    (tmp_path / "run.ini").write_text(f"# by hand\n{setup}")
    assert eventloom("run", "--config", "run.ini", "--print-config", cwd=tmp_path).stdout == setup
    eventloom("run", "--config", "run.ini", cwd=tmp_path)
    eventloom("run", "--config", output, "--output", "again.h5", cwd=tmp_path)
    eventloom("compare", output, "again.h5", cwd=tmp_path)
    with package.open(tmp_path / "again.h5") as opened:
        assert opened.setup["source"] == [f"csv:{table}"] and opened.setup["filter"] == filters and len(opened) == 1
    (tmp_path / "by_hand.ini").write_text("builders=2 # two\r\n filter = \"n_hits>=2\" # pairs\n#filter = n_hits<2\n\n")
    setup = eventloom("run", "--config", "by_hand.ini", "--define", "tag", "--source", "gen:poisson", "--print-config", cwd=tmp_path).stdout
    assert {"builders = 2", "filter = n_hits>=2"} <= set(setup.splitlines()) and setup.count("filter =") == 1


@pytest.mark.parametrize("np", [None, 2])
def test_start_up_names_the_exchange(tmp_path, sources, np):
    """UCX without any user setting, under mpirun and without."""
    done = Run(tmp_path, sources, *OPTIONS, np=np).done
    assert "ucx" in (done.stdout + done.stderr).lower()


def test_inspect(run, sources):
    assert "hits" in eventloom("inspect", sources[0].removeprefix("file:")).stdout
    for path in (sources[0].removeprefix("file:"), run.output, run.merged):
        assert eventloom("inspect", path).stdout
        assert eventloom("inspect", "--json", path).stdout.lstrip().startswith("{")


def test_truth_of_source_names(tmp_path):
    """/sources/name leads from /hits/source back to the recording."""
    recording = truth.RECORDINGS[1]
    run = Run(tmp_path, [recording.uri()], "--define", "gap:25,4")
    with h5py.File(run.output) as file:
        names = [name.decode() for name in file["sources/name"][:]]
    assert len(names) == 69
    assert all(str(number) in name for number, name in zip(recording.source_names(), names))
