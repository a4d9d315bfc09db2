"""merge --nexus: the NeXus entry equals what h5py finds in /events and /hits, and loads in scippnexus; no other object
has a NeXus class."""

import json
import subprocess

import h5py
import numpy as np
import pytest

from program import DATA, Run, eventloom, generate, only_line
from readers import PYTHON, needs_readers
from recordings import write_csv

ORIGIN = "2026-11-21T10:00:00.000000250Z"
DEFINE = ["--define", "gap:100,4"]

# Loads the entry and prints its contents as plain numbers.
LOADER = """
import json, sys, warnings
import numpy as np, scippnexus as sx
warnings.simplefilter("error")
with sx.File(sys.argv[1], "r") as file:
    (name, entry), = file[sx.NXentry].items()
    (events_name, group), = entry[sx.NXevent_data].items()
    events = group[...]
    some = group["event_time_zero", 1:3] if events.sizes["event_time_zero"] > 3 else None
    found = {"entry": name, "events": events_name, "pulses": events.sizes["event_time_zero"],
             "sizes": events.bins.size().values.tolist(), "id": events.bins.constituents["data"].coords["event_id"].values.tolist(),
             "some": some.bins.size().values.tolist() if some is not None else None, "title": str(entry["title"][()])}
    offset = events.bins.constituents["data"].coords["event_time_offset"]
    found["offset_ps"] = offset.to(unit="ps", dtype="int64").values.tolist()
    found["offset_us"] = offset.to(unit="us", dtype="float64").values.tolist()
    zero = events.coords["event_time_zero"]
    found["datetime"] = str(zero.dtype) == "datetime64"
    found["zero"] = [str(t) for t in zero.values] if found["datetime"] else zero.to(unit="ps", dtype="int64").values.tolist()
print(json.dumps(found))
"""


def loaded(path):
    done = subprocess.run(["timeout", "-k", "5", "120", PYTHON, "-c", LOADER, str(path)], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def classes(path):
    """{name: NX_class} of all objects of a file."""
    found = {}
    with h5py.File(path) as file:
        if "NX_class" in file.attrs:
            found["/"] = file.attrs["NX_class"]
        file.visititems(lambda name, item: found.update({name: item.attrs["NX_class"]} if "NX_class" in item.attrs else {}))
    return found


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("recording"), sources=3, rate=20_000, hits=8, width="50ns", noise=500_000,
                    duration="50ms", payload=1, seed=7)


@pytest.fixture(scope="module")
def run(tmp_path_factory, sources):
    return Run(tmp_path_factory.mktemp("run"), sources, *DEFINE, "--builders", 2, "--epochs-per-slice", 20,
               "--segment-size", "100000", np=2)


@pytest.fixture(scope="module")
def nexus(run):
    return merged(run)


def merged(run, *options):
    path = run.output.parent / f"nexus{len(options)}.h5"
    eventloom("merge", run.output, "--nexus", "--output", path, "--force", *options)
    return path


def own_run(folder, times, *options):
    folder.mkdir()
    write_csv(folder / "hits.csv", times, [*range(len(times))])
    return Run(folder, [f"csv:{folder}/hits.csv?time=1&channel=2&unit=tick"], *options)


def expected_ids(file):
    """Computed with Python's integers: 28 bits of channel, and the source above them."""
    return [source * 268_435_456 + channel for source, channel in zip(file["hits/source"][:].tolist(), file["hits/channel"][:].tolist())]


def assert_loads(path, tick_ps):
    """Compares scippnexus's view with the plain columns."""
    found = loaded(path)
    with h5py.File(path) as file:
        time, n_hits = file["events/time"][:].astype(object), file["events/n_hits"][:]
        offsets = (file["hits/time"][:] - np.repeat(file["events/time"][:], n_hits)).astype(object) * tick_ps
        assert (found["entry"], found["events"], found["pulses"]) == ("entry", "events", len(time))
        assert found["sizes"] == n_hits.tolist() and found["id"] == expected_ids(file)
        assert found["offset_ps"] == offsets.tolist()
        assert np.allclose(found["offset_us"], offsets.astype(float) * 1e-6, rtol=1e-12)
        if found["some"] is not None:
            assert found["some"] == n_hits[1:3].tolist()
        if not found["datetime"]:
            assert found["zero"] == (time * tick_ps).tolist()
    return found


def test_only_the_entry_has_classes(run, nexus):
    for path in run.output.parent.glob("*.h5"):
        if path != nexus:
            assert classes(path) == {}, path
    # /hits/channel and others have two names; visititems visits each object once.
    assert classes(nexus) == {"/": "NXroot", "entry": "NXentry", "entry/events": "NXevent_data"}


def test_the_entry_is_the_events(run, nexus):
    with h5py.File(nexus) as file:
        assert file.attrs["default"] == "entry"
        entry = file["entry/events"]
        for name, column in (("channel", "hits/channel"), ("source", "hits/source"), ("event_time_zero", "events/time")):
            assert entry[name] == file[column], f"{name} is not /{column} itself"
        index, first = entry["event_index"], file["events/first_hit"]
        assert index.dtype == np.dtype("<u8") and np.array_equal(index[:], first[:-1])
        assert index.is_virtual and index.id.get_storage_size() == 0
        offset = entry["event_time_offset"]
        assert offset.dtype == np.dtype("<u4") and offset.fletcher32 and offset.attrs["units"] == "ns"
        assert np.array_equal(offset[:], file["hits/time"][:] - np.repeat(file["events/time"][:], file["events/n_hits"][:]))
        ids = entry["event_id"]
        assert ids.dtype == np.dtype("<i8") and ids.fletcher32 and ids[:].tolist() == expected_ids(file)
        source, channel = np.divmod(ids[:], ids.attrs["channels_per_source"].astype("i8"))
        assert np.array_equal(source, file["hits/source"][:]) and np.array_equal(channel, file["hits/channel"][:])
        more = nexus.stat().st_size - run.merged.stat().st_size
        assert more < offset.nbytes + ids.nbytes + 20_000, "data that are there are stored again"


def test_the_rest_is_as_without_it(run, nexus):
    assert eventloom("compare", run.output, nexus).stdout.count("the ledgers agree") == 1
    assert eventloom("inspect", nexus).returncode == 0
    with h5py.File(nexus) as file, h5py.File(run.merged) as plain:
        assert set(file) - set(plain) == {"entry"}
        assert {name: str(value) for name, value in file.attrs.items() if name not in ("NX_class", "default", "attributes_crc32")} == \
            {name: str(value) for name, value in plain.attrs.items() if name != "attributes_crc32"}


def test_the_file_does_not_depend_on_how_the_run_was_done(tmp_path, sources, run, nexus):
    other = Run(tmp_path / "other", sources, *DEFINE, "--builders", 3, "--epochs-per-slice", 20, np=2)
    with h5py.File(merged(other)) as a, h5py.File(nexus) as b:
        for name in ("event_time_offset", "event_id", "event_index"):
            assert np.array_equal(a[f"entry/events/{name}"][:], b[f"entry/events/{name}"][:])
    again = run.output.parent / "again.h5"
    eventloom("merge", run.output, "--nexus", "--output", again)
    assert again.read_bytes() == nexus.read_bytes()


def test_inspect_checks_it(nexus, tmp_path):
    damaged = tmp_path / "damaged.h5"
    with h5py.File(nexus) as file:
        at = file["entry/events/event_time_offset"].id.get_chunk_info(0).byte_offset
    data = bytearray(nexus.read_bytes())
    data[at + 2] ^= 1
    damaged.write_bytes(data)
    assert "/entry/events/event_time_offset" in eventloom("inspect", damaged, code=3).stdout


@needs_readers
def test_scippnexus_loads_it(nexus):
    found = assert_loads(nexus, 1000)
    assert found["pulses"] > 800 and not found["datetime"] and found["title"] == "events by gap:100,4"


@needs_readers
def test_scippnexus_knows_the_date(tmp_path, sources):
    """The times of the events are dates if the run knows that of tick 0."""
    run = Run(tmp_path, sources, *DEFINE, "--time-origin", ORIGIN)
    path = merged(run, "--compress", 4)
    found = assert_loads(path, 1000)
    with h5py.File(path) as file:
        expected = np.datetime64(ORIGIN.removesuffix("Z")) + file["events/time"][:].astype("timedelta64[ns]")
    assert found["datetime"] and found["zero"] == [str(t) for t in expected]


@needs_readers
@pytest.mark.parametrize("tick, tick_ps, units", [("1ps", 1, "ps"), ("25ns", 25_000, "25 ns"), ("1us", 10**6, "us"), ("1.5ns", 1500, "1.5 ns")])
def test_units_of_other_ticks(tmp_path, tick, tick_ps, units):
    """Dates only if a 64-bit date of that unit can hold them."""
    run = own_run(tmp_path / "run", [7, 9, 20, 1000, 1001, 1002, 5000, 5001, 5020], "--define", "gap:20,3", "--tick", tick,
                  "--time-origin", ORIGIN)
    path = merged(run)
    with h5py.File(path) as file:
        assert {file[name].attrs["units"] for name in ("events/time", "events/duration", "hits/time", "entry/events/event_time_offset")} \
            == {units}
    found = assert_loads(path, tick_ps)
    assert found["sizes"] == [3, 3, 3] and found["datetime"] == (units == "us")
    if units == "us":
        assert [t[:26] for t in found["zero"]] == [f"2026-11-21T10:00:00.{t:06}" for t in (7, 1000, 5000)]


@needs_readers
def test_the_same_channels_of_many_sources(tmp_path):
    """The smallest and the largest channel of 40 sources: as many ids as pairs, in a large event that fills several
    chunks."""
    largest = (1 << 28) - 1
    uris = []
    for source in range(40):
        times = [*range(4999), 5000 + source]
        write_csv(tmp_path / f"hits{source:02}.csv", times, [largest * (time % 2) for time in times])
        uris.append(f"csv:{tmp_path}/hits{source:02}.csv?time=1&channel=2&unit=tick")
    path = merged(Run(tmp_path / "run", uris, "--define", "gap:20,3"))
    found = assert_loads(path, 1000)
    assert sorted(set(found["id"])) == sorted(source * 2**28 + channel for source in range(40) for channel in (0, largest))
    assert found["sizes"] == [200_000]


@needs_readers
def test_a_run_without_events(tmp_path):
    run = own_run(tmp_path / "run", [5, 1000], "--define", "gap:20,3")
    found = assert_loads(merged(run), 1000)
    assert (found["pulses"], found["id"]) == (0, [])


def test_event_numbers_are_refused(tmp_path):
    run = Run(tmp_path, [f"lmd:{DATA}/lmd/classic_16k.lmd"], "--define", "tag")
    target = tmp_path / "nexus.h5"
    only_line(eventloom("merge", run.output, "--nexus", "--output", target, code=2), "--nexus", "event numbers")
    assert not target.exists()
    with h5py.File(run.merged) as file:
        assert file["events/time"].attrs["units"] == "event numbers" and "tick_ps" not in file["events/time"].attrs
