"""Times that go back: counters that wrap around, clocks that are reset, a second measurement, tails of zeros, damaged times.

Hits of single ticks (`gap:0,1`) show what was read; the reference is numpy's unwrapped time."""

import struct

import h5py
import numpy as np
import pytest

from program import Run, eventloom
from results import read_ledger, read_merged

SECOND = 1_000_000_000
DISORDER = 10_000_000  # ns: the default of reorder=


def write_table(path, times, channels=None, name="t_ns"):
    channels = np.ones(len(times), int) if channels is None else channels
    path.write_text(f"{name},ch\n" + "".join(f"{t},{c}\n" for t, c in zip(times, channels)))
    return f"csv:{path}"


def write_packed(path, times, channels=None):
    records = np.zeros(len(times), dtype=[("t", "<u8"), ("c", "<u4")])
    records["t"], records["c"] = times, 1 if channels is None else channels
    records.tofile(path)
    return f"packed:{path}?record=12&time=u64le@0&channel=u32le@8"


def write_hdf5(path, times, channels=None):
    with h5py.File(path, "w") as file:
        file["time"] = np.asarray(times, np.uint64)
        file["channel"] = np.ones(len(times), np.uint32) if channels is None else np.asarray(channels, np.uint32)
    return f"hdf5:{path}?unit=ns"


WRITERS = {"csv": write_table, "packed": write_packed, "hdf5": write_hdf5}


def with_keys(uri, *keys):
    for key in keys:
        uri += ("&" if "?" in uri else "?") + key
    return uri


def refused(uri, *words, folder):
    done = eventloom("run", uri, "--define", "gap:25ns,2", "--output", folder / "refused.h5", code=2)
    for word in words:
        assert word in done.stderr, done.stderr
    assert "add reorder" not in done.stderr and "add ?reorder" not in done.stderr
    return done.stderr


def times_of(run):
    return read_merged(run.merged)["hits/time"].astype(np.int64)


def run_all(folder, uri, code=0):
    return Run(folder, [uri], "--define", "gap:0,1", code=code)


def two_measurements():
    random = np.random.default_rng(1)
    return (np.sort(random.choice(2 * SECOND, 2000, replace=False)), np.sort(random.choice(SECOND, 1500, replace=False)))


@pytest.mark.parametrize("kind", WRITERS)
def test_a_clock_that_is_reset(tmp_path, kind):
    """Refused; with `new-era`, each part keeps its distances and follows the previous one; with `drop`, only the first
    part is kept."""
    first, second = two_measurements()
    uri = WRITERS[kind](tmp_path / "a.bin", np.concatenate([first, second]))
    refused(uri, "a.bin", "hit 2001 at", "before hit 2000", "jumps=new-era", "jumps=drop", "bits=N", folder=tmp_path)
    eras = run_all(tmp_path / "eras", with_keys(uri, "jumps=new-era"))
    times = times_of(eras)
    assert (times[:2000] == first).all() and times[2000] == first[-1] + DISORDER + 1
    assert (np.diff(times[2000:]) == np.diff(second)).all()
    counts = eras.report()["per_source"][0]["counts"]
    assert counts["jumps"] == 1 and counts["step_back_ns"] == first[-1] - second[0]
    assert "jumps 1" in eras.done.stdout and "times go back by up to" in eras.done.stdout
    dropped = run_all(tmp_path / "drop", with_keys(uri, "jumps=drop"), code=3)
    assert (times_of(dropped) == first).all()
    assert read_ledger(dropped.output)["hits_dropped_jump"].sum() == 1500
    assert "dropped, jump" in dropped.done.stdout


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("bits", [24, 32, 48])
def test_a_counter_that_wraps_around(tmp_path, kind, bits):
    """Also if slightly out of order near its wraps."""
    random = np.random.default_rng(bits)
    step = min((1 << bits) // 1000, SECOND)
    true = (1 << bits) - 10 * step + np.cumsum(random.integers(1, step, 100))
    true = true + random.integers(0, min(step, DISORDER // 2), 100)
    uri = WRITERS[kind](tmp_path / "a.bin", true % (1 << bits))
    refused(uri, "wrapped around", folder=tmp_path)
    assert f"nearly 2^{bits} ns" in refused(uri, folder=tmp_path)
    for keys in (("bits=%d" % bits,), ("bits=%d" % bits, "jumps=unwrap")):
        run = run_all(tmp_path / keys[-1], with_keys(uri, *keys))
        assert (times_of(run) == np.sort(true)).all()
        assert run.report()["per_source"][0]["counts"]["clock_turns"] == true.max() >> bits


@pytest.mark.parametrize("kind", WRITERS)
def test_two_clocks_of_different_width(tmp_path, kind):
    true = np.arange(1, 400) * 100_000_000
    channels = np.arange(1, 400) % 2 * 20
    raw = np.where(channels == 20, true, true % (1 << 32))
    uri = WRITERS[kind](tmp_path / "a.bin", raw, channels)
    refused(uri, "a.bin", folder=tmp_path)
    run = run_all(tmp_path / "run", with_keys(uri, "bits=0-15:32,16-31:48"))
    assert (times_of(run) == true).all()
    code = 3 if kind == "packed" else 2  # there, damaged records are losses
    done = eventloom("run", with_keys(uri, "bits=32"), "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=None)
    assert done.returncode in (2, code) and done.returncode != 0


def test_fractions_of_a_counter(tmp_path):
    """Its numbers have decimals, and a unit other than the tick."""
    true = 4_294_960 + np.arange(0, 20_000)  # ms
    uri = write_table(tmp_path / "a.csv", [f"{t * 1000 % (1 << 32)}.25" for t in true], name="t_us")
    run = run_all(tmp_path / "run", with_keys(uri, "bits=32"))
    assert (times_of(run) == true * 1_000_000 + 250).all()


def test_a_tail_of_zeros(tmp_path):
    times = np.arange(1, 5000) * 10_000
    uri = write_hdf5(tmp_path / "a.h5", np.concatenate([times, np.zeros(700, int)]))
    refused(uri, "hit 5000 at 0ps", folder=tmp_path)
    run = run_all(tmp_path / "run", with_keys(uri, "jumps=drop"), code=3)
    assert (times_of(run) == times).all() and read_ledger(run.output)["hits_dropped_jump"].sum() == 700


def test_a_damaged_time_far_ahead(tmp_path):
    times = np.arange(1, 1000) * 10_000
    uri = write_packed(tmp_path / "a.bin", np.insert(times, 500, 1 << 60))
    refused(uri, "hit 501 at", "a damaged time?", folder=tmp_path)
    run = run_all(tmp_path / "run", with_keys(uri, "jumps=drop"), code=3)
    assert (times_of(run) == times).all() and read_ledger(run.output)["hits_dropped_jump"].sum() == 1


def test_ordinary_disorder_has_a_bound(tmp_path):
    """10 ms, or the length of time given by `reorder`, for any number of hits."""
    times = np.arange(0, 3000) * 10_000
    times[2000] -= 10_000_000
    uri = write_packed(tmp_path / "a.bin", times)
    run = run_all(tmp_path / "run", uri)
    assert (times_of(run) == np.sort(times)).all()
    assert run.report()["per_source"][0]["counts"]["step_back_ns"] == 10_000_000 - 10_000
    assert f"times go back by up to 9.99ms in source 0 ({tmp_path}/a.bin)" in run.done.stdout
    refused(with_keys(uri, "reorder=9ms"), "hit 2001 at", "Only hits within 9ms", folder=tmp_path)
    assert (times_of(run_all(tmp_path / "exact", with_keys(uri, "reorder=9990us"))) == np.sort(times)).all()
    shuffled = np.random.default_rng(1).permutation(times)
    run = run_all(tmp_path / "all", with_keys(write_packed(tmp_path / "b.bin", shuffled), "reorder=1s"))
    assert (times_of(run) == np.sort(times)).all()


@pytest.mark.parametrize("keys, words", [
    (["jumps=sort"], ["jumps=sort", "unwrap, new-era or drop"]),
    (["jumps=unwrap"], ["bits=32"]),
    (["bits=5"], ["bits=5", "8 to 63"]),
    (["reorder=5,6"], ["reorder=5,6", "20ms,1e6"]),
    (["reorder=5parsecs"], ["reorder=5parsecs"]),
])
def test_keys_that_cannot_be(tmp_path, keys, words):
    uri = write_table(tmp_path / "a.csv", [1, 2, 3])
    refused(with_keys(uri, *keys), *words, folder=tmp_path)


def test_event_numbers_have_no_jumps(tmp_path):
    uri = with_keys(write_packed(tmp_path / "a.bin", range(9)), "numbered=yes", "jumps=drop")
    done = eventloom("run", uri, "--define", "tag", "--output", tmp_path / "x.h5", code=2)
    assert "jumps= is not valid where times are event numbers" in done.stderr


def test_inspect_shows_the_largest_step(tmp_path):
    first, second = two_measurements()
    write_table(tmp_path / "a.csv", np.concatenate([first, second]))
    done = eventloom("inspect", tmp_path / "a.csv")
    assert any(line.split() == ["largest_step_back", str(first[-1] - second[0])] for line in done.stdout.splitlines())


def test_the_report_shows_the_largest_step(tmp_path):
    uri = write_table(tmp_path / "a.csv", [0, 5000, 2000, 9000])
    run = run_all(tmp_path / "run", uri)
    eventloom("report", run.output, "--output", tmp_path / "report.html")
    assert "step_back_ns" in (tmp_path / "report.html").read_text()


def test_stamped_list_mode(tmp_path):
    """A binary format without the key `bits`."""
    def record(time):
        return struct.pack("<HHQHI", 0, 1, 1000 * time, 500, 0x4000)
    times = [*range(SECOND, SECOND + 500_000, 1000), *range(0, 500_000, 1000)]
    (tmp_path / "a.bin").write_bytes(struct.pack("<H", 0xCAE1) + b"".join(map(record, times)))
    text = refused(f"compass:{tmp_path}/a.bin", "hit 501 at", folder=tmp_path)
    assert "bits=" not in text
    assert len(times_of(run_all(tmp_path / "run", f"compass:{tmp_path}/a.bin?jumps=new-era"))) == 1000
