"""Times that go back: counters that wrap around, clocks that are reset, a second measurement, tails of zeros, damaged times.

Hits of single ticks (`gap:0,1`) show what was read; the reference is numpy's unwrapped time."""

import re
import struct

import caen
import h5py
import lmd_reference as lmd
import midas
import numpy as np
import pytest

from program import Run, eventloom
from results import read_ledger, read_merged
from spikes_reference import write_spikes

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


def write_midas(path, times, channels=None):
    """Records in banks of 100."""
    records = np.zeros(len(times), dtype=[("t", "<u8"), ("c", "<u4")])
    records["t"], records["c"] = times, 1 if channels is None else channels
    banks = [midas.Bank("HITS", records[at:at + 100].tobytes()) for at in range(0, len(records), 100)]
    midas.midas_file(path, [midas.Event(n, [bank]) for n, bank in enumerate(banks, 1)])
    return f"midas:{path}?bank=HITS&record=12&time=u64le@0&channel=u32le@8"


def write_lmd(path, times, channels=None):
    """An event for each hit, whose stamp is two words."""
    events = [lmd.Event(n, [lmd.Subevent(1, [int(t) & 0xFFFFFFFF, int(t) >> 32])]) for n, t in enumerate(times, 1)]
    path.write_bytes(lmd.flat_file(events))
    return f"lmd:{path}?time=word:0,2"


def write_midas_words(path, times, channels=None):
    events = [midas.Event(n, [midas.Bank("TIME", int(t).to_bytes(8, "little"))]) for n, t in enumerate(times, 1)]
    midas.midas_file(path, events)
    return f"midas:{path}?time=TIME:0,2"


def write_spike_file(path, times, channels=None):
    write_spikes(path, times, np.ones(len(times), int) if channels is None else channels)
    return f"spikes:{path}"


WRITERS = {"csv": write_table, "packed": write_packed, "hdf5": write_hdf5}
ALL_WRITERS = WRITERS | {"midas": write_midas, "lmd": write_lmd, "midas-words": write_midas_words, "spikes": write_spike_file}
WITH_UNIT = [kind for kind in ALL_WRITERS if kind != "spikes"]  # the files of spikes state theirs


def with_keys(uri, *keys):
    for key in keys:
        uri += ("&" if "?" in uri else "?") + key
    return uri


def refused(uri, *words, folder, define="gap:25ns,2"):
    done = eventloom("run", uri, "--define", define, "--output", folder / "refused.h5", code=2)
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
    assert (times[:2000] == first).all() and times[2000] == first[-1] + DISORDER
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


COUNTERS = [(24, 50), (16, 1), (20, 25)]  # bits, ns


def counter_near_its_turns(bits, unit_ns, turns=3):
    """Times in units, out of order by a little, and their remainders."""
    random = np.random.default_rng(bits)
    true = np.cumsum(random.integers(1, (1 << bits) // 500, 1000 * turns))
    true = true + random.integers(0, (1 << bits) // 100, len(true))
    return true, true % (1 << bits)


@pytest.mark.parametrize("kind", WITH_UNIT)
@pytest.mark.parametrize("bits, unit_ns", COUNTERS)
def test_turns_within_the_tolerance_are_not_sorted_away(tmp_path, kind, bits, unit_ns):
    """A turn of such a counter is shorter than 10 ms, or than the second in which frames may come in any order."""
    true, raw = counter_near_its_turns(bits, unit_ns)
    assert raw.max() < 1 << bits <= true.max()
    uri = with_keys(ALL_WRITERS[kind](tmp_path / "a.bin", raw), f"unit={unit_ns}ns").replace("?unit=ns&", "?")
    refused(uri, f"bits={bits}", folder=tmp_path)
    refused(with_keys(uri, "reorder=1s"), f"bits={bits}", folder=tmp_path)
    run = run_all(tmp_path / "run", with_keys(uri, f"bits={bits}"))
    assert (times_of(run) == np.sort(true) * unit_ns).all()
    run = run_all(tmp_path / "none", with_keys(uri, "bits=none", "reorder=1s"))
    assert (times_of(run) == np.sort(raw) * unit_ns).all()


@pytest.mark.parametrize("dtype", ["u2", "i8"])
@pytest.mark.parametrize("packing", [{"add_offset": 1000}, {"add_offset": 1_000_000}, {"scale_factor": 2, "add_offset": 500}])
def test_turns_of_stored_numbers_that_stand_for_others(tmp_path, dtype, packing):
    """The counter is that of the numbers as stored."""
    true = np.cumsum(np.random.default_rng(17).integers(1, 3000, 400))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["time"], file["channel"] = (true % 65_536).astype(dtype), np.ones(400, "u1")
        file["time"].attrs.update(units="ns", **packing)
    refused(f"hdf5:{tmp_path}/a.h5", "bits=16", folder=tmp_path)
    run = run_all(tmp_path / "run", f"hdf5:{tmp_path}/a.h5?bits=16")
    assert (times_of(run) == true * packing.get("scale_factor", 1) + packing["add_offset"]).all()


def test_turns_of_compass_within_the_tolerance(tmp_path):
    """Of 26 bits of 1 ps."""
    true = np.cumsum(np.random.default_rng(1).integers(1, 3000, 500)) * 1000
    records = [{"board": 0, "channel": 1, "time_ps": int(t) % (1 << 26), "energy": 1, "flags": 0} for t in true]
    caen.compass_file(tmp_path / "a.BIN", 0xCAE1, records)
    refused(f"compass:{tmp_path}/a.BIN", "bits=26", folder=tmp_path)
    run = Run(tmp_path / "run", [f"compass:{tmp_path}/a.BIN?bits=26"], "--define", "gap:0,1", "--tick", "1ps")
    assert (times_of(run) == true).all()


@pytest.mark.parametrize("kind", ALL_WRITERS)
@pytest.mark.parametrize("order", ["shuffled", "newest first"])
def test_hits_in_no_order_are_offered_one(tmp_path, kind, order):
    true = np.arange(0, 30 * SECOND, 10_000_000)
    times = np.random.default_rng(10).permutation(true) if order == "shuffled" else true[::-1]
    uri = ALL_WRITERS[kind](tmp_path / "a.bin", times)
    text = refused(uri, "reorder=", folder=tmp_path)
    assert "jumps=" not in text and "damaged" not in text, text
    offered = re.search(r"reorder=(\d+)s ", text)
    assert (times_of(run_all(tmp_path / "run", with_keys(uri, f"reorder={offered[1]}s"))) == true).all()


SHORT = np.arange(0, 5_000_000, 10_000)  # 5 ms
BOTH_SHORT = np.sort(np.concatenate([SHORT, SHORT + 1]))
TO_WHERE_THEY_BEGAN = "go back to where they began"


def short_stretches(folder, kind, joined, channels):
    parts = [(SHORT + n, np.full(len(SHORT), channel)) for n, channel in enumerate(channels)]  # no copies
    for n, part in enumerate(parts if joined else [np.concatenate(parts, axis=1)]):
        uri = ALL_WRITERS[kind](folder / f"a_{n}.bin", *part)
    return with_keys(uri.replace("a_1", "a_*"), "concat") if joined else uri


@pytest.mark.parametrize("kind", ALL_WRITERS)
@pytest.mark.parametrize("joined", [False, True])
def test_stretches_of_one_device_within_the_tolerance_do_not_lie_on_each_other(tmp_path, kind, joined):
    """What the message offers continues the time, or accepts the order."""
    uri = short_stretches(tmp_path, kind, joined, (1, 1))
    refused(uri, TO_WHERE_THEY_BEGAN, "jumps=new-era", "reorder=10ms", folder=tmp_path)
    assert (times_of(run_all(tmp_path / "stated", with_keys(uri, "reorder=10ms"))) == BOTH_SHORT).all()
    run = run_all(tmp_path / "era", with_keys(uri, "reorder=1ms", "jumps=new-era"))
    assert (times_of(run) == np.concatenate([SHORT, SHORT + SHORT[-1] + 1_000_000])).all()
    late = np.concatenate([SHORT, SHORT[250:], SHORT[-1] + SHORT[1:]])
    assert TO_WHERE_THEY_BEGAN not in run_all(tmp_path / "late", ALL_WRITERS[kind](tmp_path / "late.bin", late)).done.stderr


@pytest.mark.parametrize("kind", ["csv", "packed", "hdf5", "midas", "spikes"])
@pytest.mark.parametrize("joined", [False, True])
def test_stretches_of_several_devices_within_the_tolerance_are_named(tmp_path, kind, joined):
    run = run_all(tmp_path / "run", short_stretches(tmp_path, kind, joined, (1, 2)))
    assert TO_WHERE_THEY_BEGAN in run.done.stderr and (times_of(run) == BOTH_SHORT).all()


@pytest.mark.parametrize("kind", WITH_UNIT)
def test_a_single_turn_of_a_short_recording(tmp_path, kind):
    true = np.arange(1 << 23, (1 << 24) + (1 << 22), 1000)
    uri = with_keys(ALL_WRITERS[kind](tmp_path / "a.bin", true % (1 << 24)), "unit=0.5ns", "round=down").replace("?unit=ns&", "?")
    refused(uri, "bits=24", "bits=none", folder=tmp_path)
    assert (times_of(run_all(tmp_path / "run", with_keys(uri, "bits=24"))) == true // 2).all()


@pytest.mark.parametrize("kind", WITH_UNIT)
@pytest.mark.parametrize("between_files", [False, True])
def test_a_turn_in_joined_files(tmp_path, kind, between_files):
    """Of 24 bits of 50 ns, which last for less than the second in which frames may come in any order."""
    true = np.arange(1 << 23, (1 << 24) + (1 << 22), 1000)
    parts = np.split(true, [np.argmax(true >= 1 << 24) if between_files else 3000])
    for n, part in enumerate(parts):
        uri = ALL_WRITERS[kind](tmp_path / f"a_{n}.bin", part % (1 << 24))
    uri = with_keys(uri.replace("a_1", "a_*"), "concat", "unit=50ns").replace("?unit=ns&", "?")
    refused(uri, "bits=24", folder=tmp_path)
    assert (times_of(run_all(tmp_path / "run", with_keys(uri, "bits=24"))) == true * 50).all()


@pytest.mark.parametrize("kind", ["csv", "hdf5"])
def test_a_signed_counter_that_turns(tmp_path, kind):
    """With an origin, negative times are times."""
    true = np.arange(0, 1 << 18, 37)
    raw = (true + (1 << 15)) % (1 << 16) - (1 << 15)
    if kind == "csv":
        uri = write_table(tmp_path / "a.csv", raw)
    else:
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["time"], file["channel"] = raw.astype("i4"), np.ones(len(raw), "u1")
        uri = f"hdf5:{tmp_path}/a.h5?unit=ns"
    refused(with_keys(uri, "origin=-40us"), "bits=16", "-2^15", folder=tmp_path)
    assert "bits=" in refused(uri, folder=tmp_path)


@pytest.mark.parametrize("kind", ALL_WRITERS)
@pytest.mark.parametrize("most", [65_000, 1 << 16, 40_000_000, (1 << 23) - 9])
def test_hits_in_any_order_are_no_turns(tmp_path, kind, most):
    """Although some step from near a power of two to near 0."""
    times = np.random.default_rng(most).permutation(np.append(np.arange(0, most, most // 3000), most))
    uri = ALL_WRITERS[kind](tmp_path / "a.bin", times)
    run = run_all(tmp_path / "run", uri if most < DISORDER else with_keys(uri, "reorder=1s"))
    assert (times_of(run) == np.sort(times)).all()


@pytest.mark.parametrize("kind", ALL_WRITERS)
def test_a_source_that_goes_beyond_has_not_turned(tmp_path, kind):
    """Two buffers of hits in turn, read out one after the other."""
    times = np.concatenate([np.arange(0, 65_000, 13), np.arange(5, 65_000, 17), np.arange(65_001, 140_000, 13)])
    assert (times_of(run_all(tmp_path / "run", ALL_WRITERS[kind](tmp_path / "a.bin", times))) == np.sort(times)).all()


def frames_in_any_order(late_by, n=400):
    """Frames of 100 ms with 100 hits each, stored up to `late_by` frames late; the first two are in order."""
    random = np.random.default_rng(late_by)
    order = np.argsort(np.arange(n) + np.where(np.arange(n) < 2, 0, random.integers(0, late_by + 1, n)), kind="stable")
    return np.concatenate([f * 100_000_000 + np.sort(random.choice(99_000_000, 100, replace=False)) for f in order])


@pytest.mark.parametrize("kind", ALL_WRITERS)
def test_frames_in_any_order_are_offered_an_order(tmp_path, kind):
    """As in a KM3NeT supernova stream, which goes back by up to 9 s again and again."""
    times = frames_in_any_order(90)
    back = (np.maximum.accumulate(times) - times).max()
    uri = ALL_WRITERS[kind](tmp_path / "a.bin", times)
    text = refused(uri, "reorder=", folder=tmp_path)
    assert "jumps=" not in text and "bits=" not in text, text
    offered = re.search(r"reorder=(\d+)s ", text)
    assert 5 * SECOND < back <= int(offered[1]) * SECOND, text
    run = run_all(tmp_path / "run", with_keys(uri, "reorder=" + offered[1] + "s"))
    assert (times_of(run) == np.sort(times)).all()


@pytest.mark.parametrize("kind", ALL_WRITERS)
@pytest.mark.parametrize("late_by, n", [(9, 400), (9, 20), (3, 20)])
def test_frames_that_are_late_by_up_to_a_second_are_put_in_order(tmp_path, kind, late_by, n):
    times = frames_in_any_order(late_by, n)
    assert (times_of(run_all(tmp_path / "run", ALL_WRITERS[kind](tmp_path / "a.bin", times))) == np.sort(times)).all()


@pytest.mark.parametrize("kind", ALL_WRITERS)
def test_hits_of_a_clock_that_never_begins_again_are_put_in_order(tmp_path, kind):
    """So the user says; otherwise, they are refused."""
    times = RESTARTS["two_spills_that_fit_between_others"]()
    uri = with_keys(ALL_WRITERS[kind](tmp_path / "a.bin", times), "bits=none")
    assert (times_of(run_all(tmp_path / "run", uri)) == np.sort(times)).all()


@pytest.mark.parametrize("kind", ALL_WRITERS)
def test_a_late_stretch_at_the_end(tmp_path, kind):
    hits = np.arange(0, 30 * SECOND, 1_000_003)
    times = np.concatenate([hits[hits < 10 * SECOND], hits[hits >= 20 * SECOND], hits[(hits >= 10 * SECOND) & (hits < 20 * SECOND)]])
    text = refused(ALL_WRITERS[kind](tmp_path / "a.bin", times), "reorder=20s", folder=tmp_path)
    assert "jumps=" not in text


def bursts(spill, length, every, n=30):
    """The hits of a spill, which lie between those of others."""
    random = np.random.default_rng(spill)
    begins = np.arange(0, length - every + 1, every) + random.integers(1, every - 1_000_000, length // every)
    return np.concatenate([begin + np.sort(random.integers(0, 1_000_000, n)) for begin in begins])


def spills(n, length, every):
    return lambda: np.concatenate([bursts(spill, length, every) for spill in range(n)])


RESTARTS = {
    "spills_of_half_a_second": spills(20, SECOND // 2, 20_000_000),
    "spills_of_3_s": spills(9, 3 * SECOND, 50_000_000),
    "spills_that_fit_between_others": spills(5, SECOND * 4 // 5, 100_000_000),
    "two_spills_that_fit_between_others": spills(2, SECOND * 4 // 5, 100_000_000),
    "two_measurements": lambda: np.concatenate(two_measurements()),
    "a_shorter_one": lambda: np.concatenate([np.arange(5_000, 60 * SECOND, 9_000_011), np.arange(7_000, SECOND, 9_000_011)]),
    "every_spill": lambda: np.concatenate([np.arange(n, 3 * SECOND, 1_000_003) for n in range(9)]),
    "counter_from_the_middle_of_its_turn": lambda: np.arange(0xB000_0000, 0x3_0000_0000, 1_000_003) % (1 << 32),
    "a_tail_of_zeros": lambda: np.append(np.arange(1, 5000) * 10_000, np.zeros(700, int)),
}


@pytest.mark.parametrize("kind", ALL_WRITERS)
@pytest.mark.parametrize("made", RESTARTS)
def test_a_clock_that_begins_again_is_no_disorder(tmp_path, kind, made):
    uri = ALL_WRITERS[kind](tmp_path / "a.bin", RESTARTS[made]())
    text = refused(uri, "jumps=new-era", "jumps=drop", "bits=N", "modulus=M", folder=tmp_path)
    assert "reorder=" not in text, text


@pytest.mark.parametrize("kind", ALL_WRITERS)
@pytest.mark.parametrize("n, length, every", [(2, 100_000_000, 50_000_000), (2, 200_000_000, 100_000_000), (6, 200_000_000, 100_000_000)])
def test_short_spills_of_few_bursts_may_be_frames(tmp_path, kind, n, length, every):
    """Two bursts a spill lie between each other as frames in any order do: refused, and both remedies are offered."""
    times = np.concatenate([bursts(spill, length, every, 100) for spill in range(n)])
    uri = ALL_WRITERS[kind](tmp_path / "a.bin", times)
    refused(uri, "jumps=new-era", "reorder=1s", folder=tmp_path)
    assert (times_of(run_all(tmp_path / "run", with_keys(uri, "reorder=1s"))) == np.sort(times)).all()


@pytest.mark.parametrize("kind", ALL_WRITERS)
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 5, 6, 4, 7, 8, 9), (1, 0, 3, 2, 5, 4, 7, 6, 9, 8)])
def test_frames_of_a_short_recording_that_change_places(tmp_path, kind, order):
    times = np.concatenate([f * 50_000_000 + np.arange(1000, 20_000_000, 200_000) for f in order])
    assert (times_of(run_all(tmp_path / "run", ALL_WRITERS[kind](tmp_path / "a.bin", times))) == np.sort(times)).all()


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


@pytest.mark.parametrize("kind", ["csv", "packed", "hdf5", "midas", "spikes"])
def test_the_greatest_time_that_there_is(tmp_path, kind):
    """As a mark for no time."""
    uri = ALL_WRITERS[kind](tmp_path / "a.bin", np.array([5, 2**64 - 1, 9], np.uint64))
    refused(uri, "hit 2", "a damaged time?", folder=tmp_path)
    run = run_all(tmp_path / "drop", with_keys(uri, "jumps=drop"), code=3)
    assert times_of(run).tolist() == [5, 9]


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


def number_uris(folder, kind, keys, numbers):
    """Two sources with the same numbers, on channels 1 and 2."""
    uris = []
    for name, channel in (("a", 1), ("b", 2)):
        uri = WRITERS[kind](folder / f"{name}.bin", numbers, np.full(len(numbers), channel))
        uris.append(with_keys(uri, keys).replace("?unit=ns&", "?"))
    return uris


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("keys", ["unit=tick", "numbered=yes"])
def test_event_numbers_have_no_tolerance(tmp_path, kind, keys):
    """150,000 triggers of 16 bits are not folded into 65,536, nor is any number that goes back sorted."""
    numbers = np.arange(1, 150_001) % 65_536
    uris = number_uris(tmp_path, kind, keys, numbers)
    text = refused(uris[0], "hit 65536 has number 0", "bits=16", folder=tmp_path, define="tag")
    assert "reorder=10 " not in text
    run = Run(tmp_path / "run", [with_keys(uri, "bits=16") for uri in uris], "--define", "tag")
    merged = read_merged(run.merged)
    assert (merged["events/time"] == np.arange(1, 150_001)).all() and (merged["events/n_hits"] == 2).all()
    back = number_uris(tmp_path, kind, keys, [5, 6, 4, 7])
    refused(back[0], "hit 3 has number 4", "bits=N", folder=tmp_path, define="tag")
    run = Run(tmp_path / "late", [with_keys(uri, "reorder=10") for uri in back], "--define", "tag")
    assert (read_merged(run.merged)["events/time"] == [4, 5, 6, 7]).all()


@pytest.mark.parametrize("kind", ["csv", "hdf5"])
def test_numbers_have_no_unit(tmp_path, kind):
    uri = number_uris(tmp_path, kind, "numbered=yes", [1, 2])[0]
    refused(with_keys(uri, "unit=ns"), "omit unit=", folder=tmp_path, define="tag")


def one_clock_reset_once():
    """Two detectors that a second T0 signal resets: the last hit before it and the first behind it are in one only."""
    random = np.random.default_rng(11)
    before = np.sort(random.choice(np.arange(0, 5 * SECOND, 100), 3000, replace=False))
    behind = np.sort(random.choice(np.arange(20_000_000, 5 * SECOND, 100), 3000, replace=False))
    seen = [random.random(3000) < 0.9, random.random(3000) < 0.9]
    seen[0][-1] = seen[1][0] = False
    seen[1][1] = True
    return (before, behind), (before[seen[0]] + 30, behind[seen[1]] + 30)


def written_detectors(folder, kind, keys, detectors):
    folder.mkdir(exist_ok=True)
    return [with_keys(WRITERS[kind](folder / f"det{name}.bin", np.concatenate(times)), "jumps=new-era", *keys)
            for name, times in zip("ab", detectors)]


def joined_eras(detectors):
    """All hits, sources in order: the first of the second era `reorder` after the last of the first, of any source."""
    end = max(before[-1] for before, _ in detectors)
    begin = min(behind[0] for _, behind in detectors)
    hits = [(t, s) for s, (before, behind) in enumerate(detectors)
            for t in [*before, *(behind - begin + end + DISORDER)]]
    return np.array(sorted(hits))


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("np_ranks", [None, 2, 3])
def test_new_eras_keep_the_sources_of_a_clock_in_step(tmp_path, kind, np_ranks):
    detectors = one_clock_reset_once()
    uri = written_detectors(tmp_path / "data", kind, [], detectors)[0].replace("deta", "det*")
    run = Run(tmp_path / "run", [uri], "--define", "gap:0,1", np=np_ranks)
    merged = read_merged(run.merged)
    found = np.stack([merged["hits/time"].astype(np.int64), merged["hits/source"].astype(np.int64)], axis=1)
    assert (found == joined_eras(detectors)).all()
    assert "not aligned" not in run.done.stderr


def test_new_eras_of_clocks_that_are_named(tmp_path):
    """`clock` joins sources of several URIs; without it, a warning says that their eras are not aligned."""
    detectors = one_clock_reset_once()
    uris = written_detectors(tmp_path / "data", "csv", ["clock=T0"], detectors)
    run = Run(tmp_path / "run", uris, "--define", "coincidence:50ns,sources>=2")
    assert len(read_merged(run.merged)["events/time"]) == sum(map(len, detectors[1]))
    apart = [uri.replace("&clock=T0", "").replace("?clock=T0", "") for uri in uris]
    run = Run(tmp_path / "apart", apart, "--define", "coincidence:50ns,sources>=2")
    last = run.done.stderr.splitlines()[-10:]
    assert any("not aligned" in line and "deta.bin" in line and "detb.bin" in line and "clock=NAME" in line for line in last)


def test_new_eras_that_do_not_correspond(tmp_path):
    (before, behind), other = one_clock_reset_once()
    uri = written_detectors(tmp_path, "csv", [], [(before, behind), (other[0], other[1], other[1])])[0]
    text = refused(uri.replace("deta", "det*"), "deta.bin", "1 times", "detb.bin", "2 times", folder=tmp_path)
    assert len([line for line in text.splitlines() if "jumps=new-era" in line]) == 1


@pytest.mark.parametrize("kind", WRITERS)
def test_sources_that_share_no_time(tmp_path, kind):
    """A warning at the end names both; the exit code stays."""
    first, late = np.arange(0, SECOND, 1000), np.arange(1_700 * SECOND, 1_701 * SECOND, 1000)
    uris = [WRITERS[kind](tmp_path / f"{name}.bin", times) for name, times in (("first", first), ("late", late))]
    run = Run(tmp_path / "apart", uris, "--define", "gap:25ns,2")
    last = run.done.stderr.splitlines()[-10:]
    assert any("first.bin" in line and "late.bin" in line and "do not overlap" in line for line in last), run.done.stderr
    shifted = [uris[0], with_keys(uris[1], "offset=-1699.5s")]
    assert "do not overlap" not in Run(tmp_path / "shifted", shifted, "--define", "gap:25ns,2").done.stderr


@pytest.mark.parametrize("kind", WRITERS)
def test_spans_apart_within_an_epoch(tmp_path, kind):
    """Single ticks count, not the epochs of 10 us; hits that an event can hold are near."""
    first, late = np.arange(10), np.arange(10) + 4000
    uris = [WRITERS[kind](tmp_path / f"{name}.bin", times) for name, times in (("first", first), ("late", late))]
    run = Run(tmp_path / "apart", uris, "--define", "gap:25ns,2", np=2)
    last = run.done.stderr.splitlines()[-10:]
    assert any("first.bin" in line and "late.bin" in line and "do not overlap" in line for line in last), run.done.stderr
    touching = [uris[0], with_keys(uris[1], "offset=-3991ns")]
    assert "do not overlap" not in Run(tmp_path / "touching", touching, "--define", "gap:25ns,2").done.stderr
    assert "do not overlap" not in Run(tmp_path / "near", uris, "--define", "gap:5us,2").done.stderr


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
    """A binary format."""
    def record(time):
        return struct.pack("<HHQHI", 0, 1, 1000 * time, 500, 0x4000)
    times = [*range(SECOND, SECOND + 500_000, 1000), *range(0, 500_000, 1000)]
    (tmp_path / "a.bin").write_bytes(struct.pack("<H", 0xCAE1) + b"".join(map(record, times)))
    refused(f"compass:{tmp_path}/a.bin", "hit 501 at", folder=tmp_path)
    assert len(times_of(run_all(tmp_path / "run", f"compass:{tmp_path}/a.bin?jumps=new-era"))) == 1000
