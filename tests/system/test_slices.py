"""Slices, overlaps and data in flight: all combinations work, and the result is that of the serial reference."""

import signal

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from interrupted import STOPPED, Started, content
from program import Run, eventloom, generate, schedule_table
from reference import find_events, hits_of, merged_file, weave
from results import assert_same, read_ledger, read_merged

DEFINITION = "gap:60,4"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    uris = generate(tmp_path_factory.mktemp("recording"), sources=3, rate=20_000, timing="poisson", hits=6,
                    width="200ns", noise=100_000, duration="4ms", payload=1, seed=3)
    return uris, weave([hits_of_file(read_epochs_file(uri.removeprefix("file:"))) for uri in uris])


@pytest.mark.parametrize("ranks, builders, filters, in_flight, epochs_per_slice, overlap_us, cell, depth", [
    (3, 1, 3, 1, 3, 200, "4KiB", 2),
    (4, 5, 2, 1, 2, 200, "1KiB", 8),
    (2, 2, 0, 2, 1, 100, "256", 1),
    (1, 1, 0, 1, 1, 50, "64KiB", 8),
    (2, 2, 0, 4, 1, 50, "64KiB", 8),  # 4: the default
    (3, 3, 1, 4, 1, 100, "64KiB", 8),
])
@pytest.mark.parametrize("schedule", ["balanced", "chaotic"])
def test_an_overlap_of_more_slices_than_are_in_flight(recording, tmp_path, schedule, ranks, builders, filters, in_flight,
                                                      epochs_per_slice, overlap_us, cell, depth):
    uris, hits = recording
    run = Run(tmp_path, uris, "--schedule", schedule, "--builders", builders, "--filters", filters,
              "--slices-in-flight", in_flight, "--epochs-per-slice", epochs_per_slice, "--overlap", f"{overlap_us}us",
              "--cell-size", cell, "--ring-depth", depth, "--define", DEFINITION, np=ranks, timeout=60)
    assert_same(read_merged(run.merged), merged_file(find_events(hits, DEFINITION, overlap=overlap_us * 1000)))


FAR = 10**16  # ns: 10^12 epochs, 116 days


def clusters(at, n, apart, size=4):
    """Times of `n` clusters of hits, 20 ns between hits."""
    return (np.arange(n, dtype=np.uint64)[:, np.newaxis] * np.uint64(apart) + np.uint64(at)
            + np.arange(size, dtype=np.uint64) * np.uint64(20)).ravel()


def csv_source(file, times):
    """A text file with the hits, its URI and the hits."""
    hits = hits_of(times, np.arange(len(times)) % 50)
    file.write_text("".join(f"{time},{channel}\n" for time, channel in zip(hits.time, hits.channel)))
    return f"csv:{file}?time=1&channel=2&unit=ns", hits


@pytest.fixture(scope="module")
def with_gaps(tmp_path_factory):
    """Three sources with gaps of 10^12 epochs, common and individual ones, and their hits."""
    folder = tmp_path_factory.mktemp("gaps")
    dense = clusters(5_000, 60, 70_000)
    times = [np.concatenate([dense, clusters(FAR, 30, 300_000), clusters(3 * FAR + 11, 5, 10_000_000)]),
             np.concatenate([dense + np.uint64(30), clusters(2 * FAR + 999_900, 3, 999_950)]),
             clusters(FAR + 40, 50, 150_000)]
    sources = [csv_source(folder / f"{number}.csv", each) for number, each in enumerate(times)]
    return [uri for uri, _ in sources], weave([hits for _, hits in sources])


def assert_short(run, hits):
    """Only slices with hits have rows, and the files are hardly larger than their contents."""
    rows = read_ledger(run.merged)
    assert len(rows["slice"]) == len(np.unique(hits.time // np.uint64(run.slice_ticks)))
    assert (rows["hits_in"] > 0).all()
    assert run.report()["totals"]["slices"] == len(rows["slice"])
    assert run.merged.stat().st_size < 1_000_000


@pytest.mark.parametrize("schedule, ranks, builders, filters, in_flight, epochs_per_slice", [
    ("round-robin", 2, 1, 0, 4, 1), ("round-robin", 3, 3, 2, 1, 10), ("round-robin", 1, 4, 1, 4, 100),
    ("chaotic", 3, 2, 0, 1, 1), ("chaotic", 2, 4, 3, 4, 10),
    ("unshifted", 2, 3, 2, 2, 7), ("slots", 3, 3, 2, 2, 10),
    ("table", 2, 3, 0, 4, 10), ("table", 3, 2, 2, 1, 1),
    ("balanced", 2, 1, 0, 1, 1), ("balanced", 3, 3, 2, 4, 10), ("balanced", 1, 4, 0, 4, 100),
    ("balanced", 4, 2, 3, 1, 3),
])
def test_gaps_cost_nothing(with_gaps, tmp_path, schedule, ranks, builders, filters, in_flight, epochs_per_slice):
    uris, hits = with_gaps
    if schedule == "table":
        schedule = schedule_table(tmp_path, 3, builders)
    words = ["round-robin", "--slot", "5ms"] if schedule == "slots" else [schedule]
    run = Run(tmp_path, uris, "--schedule", *words, "--builders", builders, "--filters", filters,
              "--slices-in-flight", in_flight, "--epochs-per-slice", epochs_per_slice, "--overlap", "10us",
              "--define", DEFINITION, np=ranks, timeout=30)
    assert_same(read_merged(run.merged), merged_file(find_events(hits, DEFINITION, overlap=10_000)))
    run.slice_ticks = epochs_per_slice * 10_000
    assert_short(run, hits)


def test_few_hits_in_ten_minutes(tmp_path):
    times = np.sort(np.random.default_rng(5).integers(0, 600 * 10**9, 600))
    uri, hits = csv_source(tmp_path / "rare.csv", times)
    run = Run(tmp_path, [uri], "--define", "gap:1us,1", "--filters", 1, np=2, timeout=30)
    assert_same(read_merged(run.merged), merged_file(find_events(hits, "gap:1000,1", overlap=20_000)))
    run.slice_ticks = 1_000_000
    assert_short(run, hits)
    assert sum(part.stat().st_size for part in tmp_path.glob("run*.h5")) < 1_000_000


@pytest.mark.parametrize("schedule", ["round-robin", "balanced"])
def test_runs_are_resumed_across_gaps(with_gaps, tmp_path, schedule):
    uris, hits = with_gaps
    options = ["--schedule", schedule, "--builders", 2, "--define", DEFINITION, "--epochs-per-slice", 10,
               "--segment-size", "1"]
    whole = Run(tmp_path / "whole", uris, *options, np=2, timeout=30)
    folder = tmp_path / "stopped"
    job = ["run", *uris, *options, "--output", "run.h5"]
    with Started(folder, *job, "--speed", "0.003", np=2) as started:
        started.until_parts(6)
        started.send(signal.SIGUSR1, 0)
        started.wait(STOPPED)
    with Started(folder, *job, "--resume", np=2) as started:
        assert "resuming" in started.wait(0)
    eventloom("merge", folder / "run.h5", "--output", folder / "merged.h5")
    ignore = ("output", "report-json", "speed", "segment", "resume")
    found, expected = content(folder / "merged.h5", ignore), content(whole.merged, ignore)
    assert found.keys() == expected.keys()
    # Which builder builds what is not determined beforehand if builders claim.
    assert {name for name in found if found[name] != expected[name]} <= {"ledger/builder"}
    assert_same(read_merged(whole.merged), merged_file(find_events(hits, DEFINITION, overlap=10_000)))


def sparse_table(file, n=2000, seconds=1):
    """A text file with hits in pairs, 0.2 us apart, at random picoseconds."""
    rng = np.random.default_rng(18)
    first = np.sort(rng.integers(0, seconds * 10**12, n, dtype=np.uint64))
    times = np.sort(np.concatenate([first, first + np.uint64(200_000)]))
    file.write_text("".join(f"{time},{i % 7}\n" for i, time in enumerate(times)))
    return f"csv:{file}?time=1&channel=2&unit=ps"


def attributes_of(run):
    with h5py.File(run.output) as file:
        return dict(file.attrs)


@pytest.mark.parametrize("tick, more, epoch, slices", [
    ("1ns", ("--tick", "1ns"), 10_000, 100),
    ("10ns", ("--tick", "10ns"), 1_000, 100),
    ("1ps", ("--tick", "1ps"), 500_000, 2000),
    ("10ps", ("--tick", "10ps"), 500_000, 200),
    ("1ps", ("--tick", "1ps", "--epoch", "100ns"), 100_000, 10_000),
    ("1ns", ("--tick", "1ns", "--epoch", "100us"), 100_000, 100),  # not fewer epochs: each sends its neighbours, too
    ("1ps", ("--tick", "1ps", "--epochs-per-slice", "60"), 500_000, 60),
    ("1ps", ("--tick", "1ps", "--overlap", "1ms"), 500_000, 2000),
])
def test_the_default_slice_is_a_time(tmp_path, tick, more, epoch, slices):
    uri = sparse_table(tmp_path / "a.csv", n=100) + "&round=nearest" * (tick != "1ps")
    run = Run(tmp_path, [uri], "--define", "gap:1us,2", *more)
    found = attributes_of(run)
    assert (found["epoch_ticks"], found["epochs_per_slice"]) == (epoch, slices)


@pytest.mark.parametrize("offset_ms", [58, -58])
def test_the_default_slice_shrinks_until_it_fits(tmp_path, offset_ms):
    """2^36 ps are 68.7 ms: a slice of 1 ms, 5 ms on both sides of it and 58 ms between channels exceed that."""
    uri = sparse_table(tmp_path / "a.csv", n=100)
    (tmp_path / "map.csv").write_text(f"channel,offset_ns\n3,{int(offset_ms * 1e6)}\n")
    run = Run(tmp_path, [uri], "--define", "gap:1us,2", "--tick", "1ps", "--overlap", "5ms", "--detector",
              tmp_path / "map.csv", code=None)
    assert attributes_of(run)["epochs_per_slice"] == 1000
    plain = Run(tmp_path / "short", [uri], "--define", "gap:1us,2", "--tick", "1ps", "--overlap", "5ms", "--detector",
                tmp_path / "map.csv", "--epochs-per-slice", "40", code=None)
    assert_same(read_merged(run.merged), read_merged(plain.merged))


def test_a_fine_tick_costs_no_more_than_a_coarse_one(tmp_path):
    """Hits 0.5 ms apart: with slices of 50 us, each would have a row of 140 bytes in two ledgers, 400 bytes per hit."""
    uri = sparse_table(tmp_path / "a.csv", n=20_000, seconds=10)
    sizes = {}
    for tick, more in (("1ns", "&round=nearest"), ("1ps", "")):
        run = Run(tmp_path / tick, [uri + more], "--define", "gap:1us,2", "--tick", tick)
        sizes[tick] = sum(path.stat().st_size for path in run.output.parent.glob("run*.h5"))
        with h5py.File(next(run.output.parent.glob("*.part-*"))) as part:
            assert all(column.compression == "gzip" and column.fletcher32 for column in part["ledger"].values())
    assert sizes["1ps"] < 1.1 * sizes["1ns"]
    assert sizes["1ps"] < 100 * 20_000, "an event of two hits has 76 bytes in the file"
