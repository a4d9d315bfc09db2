"""Counters that turn: every rule for every format whose times or numbers come from one. The truth is a time that never
turns, made with numpy; the files hold it modulo the counter's period."""

from dataclasses import dataclass
from typing import Callable

import caen
import h5py
import numpy as np
import pytest

import lmd_reference as lmd
import midas
from hld_reference import Event, Subevent, hld_file, tdc_block, tdc_words
from program import Run, eventloom
from results import read_merged
from spikes_reference import write_spikes

SECOND = 1_000_000_000


def write_csv(path, raw, channel):
    path.write_text("t_ns,ch\n" + "".join(f"{t},{channel}\n" for t in raw))


def write_hdf5(path, raw, channel):
    with h5py.File(path, "w") as file:
        file["det/time"], file["det/channel"] = np.asarray(raw), np.full(len(raw), channel, "u1")


def write_packed(path, raw, channel):
    records = np.zeros(len(raw), dtype=[("t", "<u8"), ("c", "<u4")])
    records["t"], records["c"] = raw, channel
    records.tofile(path)


def write_midas(path, raw, channel):
    """Five hits in a bank."""
    records = np.zeros(len(raw), dtype=[("t", "<u8"), ("c", "<u4")])
    records["t"], records["c"] = raw, channel
    pieces = [records[k:k + 5].tobytes() for k in range(0, len(records), 5)]
    midas.midas_file(path, [midas.Event(n, [midas.Bank("HITS", data)]) for n, data in enumerate(pieces)])


def write_hld(path, raw, channel):
    """An event for each hit."""
    words = lambda t: tdc_words([(1, int(t) // 10240, int(t) % 10240 // 5, 0, 1)])  # noqa: E731
    path.write_bytes(hld_file([Event(n, [Subevent(0x8000, tdc_block(0xE000 + channel, words(t)))]) for n, t in enumerate(raw)]))


@dataclass
class Format:
    ending: str
    keys: str
    write: Callable
    period: int = 1 << 32  # ns
    step: int = 1  # ns
    bits: str = "bits=32"

    def uri(self, scheme, path, *keys):
        return f"{scheme}:{path}?" + "&".join(key for key in (self.keys, self.bits, *keys) if key)


FIELDS = "record=12&time=u64le@0&channel=u32le@8&unit=ns"
FORMATS = {
    "csv": Format("csv", "", write_csv),
    "hdf5": Format("h5", "group=/det&unit=ns", write_hdf5),
    "packed": Format("bin", FIELDS, write_packed),
    "midas": Format("mid", f"bank=HITS&{FIELDS}", write_midas),
    "hld": Format("hld", "tdc=0xe000-0xe00f&time=tdc", write_hld, 10240 << 28, 5, ""),
}
each_format = pytest.mark.parametrize("name", FORMATS)


def put(folder, name, stem, true, channel=1, period=None):
    kind = FORMATS[name]
    kind.write(folder / f"{stem}.{kind.ending}", np.asarray(true) % (period or kind.period), channel)


def uri_of(folder, name, stem, *keys):
    return FORMATS[name].uri(name, folder / f"{stem}.{FORMATS[name].ending}", *keys)


def steady(name, turns, n=400, seed=1):
    """Times over so many turns, from a fifth of the first on, whose pauses are shorter than half a turn."""
    kind = FORMATS[name]
    times = np.sort(np.random.default_rng(seed).integers(0, int(turns * kind.period) // kind.step, n)) * kind.step
    assert np.diff(times).max() < kind.period / 4
    return times + kind.period // 5 // kind.step * kind.step


def all_times(folder, uris, code=0, options=(), np_=None):
    run = Run(folder, uris, "--define", "gap:0,1", *options, code=code, np=np_)
    return np.sort(read_merged(run.merged)["hits/time"].astype(np.int64)), run


def around_a_turn(name, n=241):
    """The hits of two detectors: the first one has two before the turn."""
    kind = FORMATS[name]
    common = kind.period + 5000 + np.arange(n) * 1_000_000 + np.random.default_rng(3).integers(0, 1000, n) * 5
    return np.concatenate([[kind.period - 400_000, kind.period - 1000], common]), common + 20


# Files of one source


@pytest.mark.parametrize("name, key", [*((name, "concat") for name in FORMATS), *((name, "follow") for name in ("csv", "midas", "hld"))])
def test_turns_go_on_from_file_to_file(tmp_path, name, key):
    true = steady(name, 3.4)
    for n, part in enumerate(np.split(true, [100, 101, 333])):
        put(tmp_path, name, f"run_{n + 8}", part)  # not in byte order
    (tmp_path / "run_11.end").touch()
    times, run = all_times(tmp_path / "run", [uri_of(tmp_path, name, "run_*", key)])
    assert times.tolist() == true.tolist()
    assert run.report()["per_source"][0]["counts"]["clock_turns"] == true[-1] // FORMATS[name].period


@each_format
def test_parts_of_a_recording_are_not_sources(tmp_path, name):
    """Each part begins in another place of a turn and lasts for more than half of one."""
    for n, part in enumerate(np.array_split(steady(name, 3.4), 3)):
        put(tmp_path, name, f"run_{n}", part)
    done = eventloom("run", uri_of(tmp_path, name, "run_*"), "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
    assert "join them with concat" in done.stderr
    _, run = all_times(tmp_path / "stated", [uri_of(tmp_path, name, "run_*", "turns=0")])
    assert "concat" not in run.done.stderr


@each_format
def test_parts_of_whole_turns_are_named(tmp_path, name):
    """They might also be simultaneous recordings of two detectors."""
    kind = FORMATS[name]
    true = np.arange(0, 2 * kind.period, kind.period // 100 // 5 * 5)
    for n in range(2):
        put(tmp_path, name, f"run_{n}", true[true // kind.period == n])
    _, run = all_times(tmp_path / "run", [uri_of(tmp_path, name, "run_*")])
    assert "join them with concat" in run.done.stderr


def test_files_of_formats_without_counters_are_joined(tmp_path):
    random = np.random.default_rng(5)
    times = np.sort(random.integers(0, SECOND, 600))
    parts = np.split(times, [200, 201])
    for n, part in enumerate(parts):
        write_spikes(tmp_path / f"run_{n + 9}.spikes", part, np.full(len(part), 3))
        records = [{"board": 0, "channel": 2, "time_ps": int(t) * 1000, "energy": n, "flags": 0} for t in part]
        caen.compass_file(tmp_path / f"run_{n + 9}.bin", 0xCAE1, records)
    for n, uri in enumerate((f"spikes:{tmp_path}/run_*.spikes?concat", f"compass:{tmp_path}/run_*.bin?concat")):
        found, run = all_times(tmp_path / f"run{n}", [uri])
        assert found.tolist() == times.tolist() and len(run.report()["per_source"]) == 1


def test_joined_files_must_be_alike(tmp_path):
    (tmp_path / "a_1.csv").write_text("t_ns,ch,energy\n1,1,5\n")
    (tmp_path / "a_2.csv").write_text("t_ns,ch\n2,1\n")
    for n in (1, 2):
        with h5py.File(tmp_path / f"a_{n}.h5", "w") as file:
            for k in range(n):
                file[f"det_{k}/time"], file[f"det_{k}/channel"] = [5], [1]
        (tmp_path / f"b_{n}.csv").write_text("t_ns,ch\n1,left\n2,right\n")
    for uri, words in ((f"csv:{tmp_path}/a_*.csv?concat", "other columns"), (f"csv:{tmp_path}/b_*.csv?concat", "channels="),
                       (f"hdf5:{tmp_path}/a_*.h5?concat&group=/det_*&unit=ns", "other groups")):
        done = eventloom("run", uri, "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
        assert words in done.stderr


def test_groups_are_joined_by_name(tmp_path):
    true = {f"det_{k}": steady("hdf5", 2.2, seed=k) + k for k in range(3)}
    for n in range(2):
        with h5py.File(tmp_path / f"run_{n}.h5", "w") as file:
            for k, (group, times) in enumerate(true.items()):
                part = np.array_split(times % (1 << 32), 2)[n]
                file[f"{group}/time"], file[f"{group}/channel"] = part.astype("u4"), np.full(len(part), k)
    run = Run(tmp_path / "run", [f"hdf5:{tmp_path}/run_*.h5?concat&group=/det_*&unit=ns&bits=32"], "--define", "gap:0,1")
    merged = read_merged(run.merged)
    for k, times in enumerate(true.values()):
        assert np.sort(merged["hits/time"][merged["hits/source"] == k]).tolist() == times.tolist()


def test_a_joined_file_that_was_cut_leaves_a_hole(tmp_path):
    for n in range(2):
        write_packed(tmp_path / f"a_{n}.bin", np.arange(10) + 10 * n, 1)
    (tmp_path / "a_0.bin").write_bytes((tmp_path / "a_0.bin").read_bytes()[:-5])
    times, run = all_times(tmp_path / "run", [f"packed:{tmp_path}/a_*.bin?{FIELDS}&concat"], code=3)
    assert times.tolist() == [*range(9), *range(10, 20)]


# Sources of one clock


@each_format
@pytest.mark.parametrize("ranks", [None, 3])
def test_sources_of_one_clock_are_aligned(tmp_path, name, ranks):
    true = around_a_turn(name)
    for stem, times, channel in zip("ab", true, (1, 2)):
        put(tmp_path, name, f"board_{stem}", times, channel)
    uri = uri_of(tmp_path, name, "board_*")
    times, run = all_times(tmp_path / "all", [uri], np_=ranks)
    assert times.tolist() == np.sort(np.concatenate(true)).tolist()
    pairs = Run(tmp_path / "pairs", [uri], "--define", "coincidence:50ns,sources>=2", np=ranks)
    assert read_merged(pairs.merged)["events/time"].astype(np.int64).tolist() == true[0][2:].tolist()
    assert "begin on both sides of a turn (turn 0: " in pairs.done.stderr and "; turn 1: " in pairs.done.stderr


@each_format
def test_the_key_clock_joins_sources(tmp_path, name):
    true = around_a_turn(name)
    for stem, times, channel in zip("ab", true, (1, 2)):
        put(tmp_path, name, stem, times, channel)
    both = np.sort(np.concatenate(true)).tolist()
    times, _ = all_times(tmp_path / "joined", [uri_of(tmp_path, name, stem, "clock=daq") for stem in "ab"])
    assert times.tolist() == both
    times, run = all_times(tmp_path / "separate", [uri_of(tmp_path, name, stem) for stem in "ab"])
    if name == "hld":  # the TDCs of a system count one clock
        assert times.tolist() == both
    else:
        assert "add clock=NAME to both" in run.done.stderr
    times, _ = all_times(tmp_path / "stated", [uri_of(tmp_path, name, "a", "turns=0"), uri_of(tmp_path, name, "b", "turns=1")])
    assert times.tolist() == both


@pytest.mark.parametrize("ranks", [None, 3])
def test_eras_of_counters_on_both_sides_of_a_turn(tmp_path, ranks):
    """The counters turn and are reset once."""
    random, period = np.random.default_rng(1), 1 << 32
    before = np.append(period + np.cumsum(random.integers(1, 800_000_000, 12)), int(2.4 * period))
    behind = np.append(80_000_000, 80_000_000 + np.cumsum(random.integers(1, 700_000_000, 6)))
    before = before[before <= 2.4 * period]
    put(tmp_path, "csv", "a", np.concatenate([[period - 500_000], before, behind]))
    put(tmp_path, "csv", "b", np.concatenate([before, behind]) + 20)
    uri = uri_of(tmp_path, "csv", "[ab]", "jumps=new-era")
    run = Run(tmp_path / "run", [uri], "--define", "coincidence:50ns,sources>=2", np=ranks)
    assert len(read_merged(run.merged)["events/time"]) == len(before) + len(behind)


def test_the_first_records_may_make_no_hits(tmp_path):
    """Those of another kind fill the first block."""
    true = (1 << 32) - 5000 + np.arange(1000) * 10
    for stem, times in (("a", true), ("b", true + 6000)):
        records = np.zeros(21_000, dtype=[("t", "<u8"), ("c", "<u4")])
        records["t"][20_000:], records["c"][20_000:] = times % (1 << 32), 1
        records.tofile(tmp_path / f"{stem}.bin")
    times, _ = all_times(tmp_path / "run", [uri_of(tmp_path, "packed", "[ab]", "where=u32le@8==1")])
    assert times.tolist() == np.sort(np.concatenate([true, true + 6000])).tolist()


def test_followed_sources_are_named(tmp_path):
    for stem, times in zip("ab", around_a_turn("csv")):
        put(tmp_path, "csv", stem, times)
        (tmp_path / f"{stem}.end").touch()
    for keys, said in (((), True), (("turns=0",), False)):
        _, run = all_times(tmp_path / str(said), [uri_of(tmp_path, "csv", stem, "follow", *keys) for stem in "ab"])
        assert ("is followed: it is taken to begin in turn 0" in run.done.stderr) == said


def test_groups_of_one_clock_are_aligned(tmp_path):
    true = around_a_turn("hdf5")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for group, times in zip(("x", "y"), true):
            file[f"{group}/time"], file[f"{group}/channel"] = (times % (1 << 32)).astype("u4"), np.ones(len(times), "u1")
    times, _ = all_times(tmp_path / "run", [f"hdf5:{tmp_path}/a.h5?group=/*&unit=ns&bits=32"])
    assert times.tolist() == np.sort(np.concatenate(true)).tolist()


def test_sources_that_begin_all_over_a_turn(tmp_path):
    for n, first in enumerate((0.05, 0.4, 0.75)):
        put(tmp_path, "csv", f"a_{n}", int(first * (1 << 32)) + np.arange(5))
    done = eventloom("run", uri_of(tmp_path, "csv", "a_*"), "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
    assert "ambiguous" in done.stderr and "concat" in done.stderr and "turns=0" in done.stderr
    all_times(tmp_path / "run", [uri_of(tmp_path, "csv", "a_*", "turns=0")])


# One source


@each_format
def test_the_first_hits_may_be_out_of_order_across_a_turn(tmp_path, name):
    kind = FORMATS[name]
    true = np.concatenate([kind.period + np.array([10, -20, 30, -40, 50]), kind.period + 1000 + np.arange(200) * 1_000_000])
    put(tmp_path, name, "a", true)
    times, _ = all_times(tmp_path / "run", [uri_of(tmp_path, name, "a")])
    assert times.tolist() == np.sort(true).tolist()


@pytest.mark.parametrize("name", ["csv", "hdf5"])
def test_counters_with_a_sign(tmp_path, name):
    true = steady(name, 2.3)
    raw = true.astype("u4").astype("i4")
    assert raw.min() < 0
    FORMATS[name].write(tmp_path / f"a.{FORMATS[name].ending}", raw, 1)
    times, _ = all_times(tmp_path / "run", [uri_of(tmp_path, name, "a")])
    assert times.tolist() == true.tolist()
    uri = uri_of(tmp_path, name, "a").replace("bits=32", "round=nearest")
    done = eventloom("run", uri, "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
    assert "bits=32" in done.stderr


@pytest.mark.parametrize("name", ["csv", "hdf5", "packed", "midas"])
def test_a_counter_may_turn_at_any_number(tmp_path, name):
    period = 210_698_240
    true = np.cumsum(np.random.default_rng(4).integers(1, 90_000_000, 2000))
    for n, part in enumerate(np.array_split(true, 2)):
        put(tmp_path, name, f"a_{n}", part, period=period)
    uri = uri_of(tmp_path, name, "a_*", "concat").replace("bits=32", f"modulus={period}").replace("unit=ns", "unit=4ns")
    if name == "csv":
        uri += "&unit=4ns"
    times, _ = all_times(tmp_path / "run", [uri])
    assert times.tolist() == (4 * (true - true[0] // period * period)).tolist()


@pytest.mark.parametrize("name", ["csv", "hdf5", "packed"])
def test_event_numbers_of_16_bits(tmp_path, name):
    true = np.arange(1, 150_001)
    numbers = {"csv": "unit=tick", "hdf5": "unit=tick", "packed": "numbered=yes"}[name]
    for stem, channel in zip("ab", (1, 2)):
        put(tmp_path, name, stem, true[channel - 1:], channel, period=1 << 16)  # the second one misses a trigger
    uri = uri_of(tmp_path, name, "[ab]").replace("bits=32", "bits=16").replace("unit=ns", numbers)
    run = Run(tmp_path / "run", [uri + ("&unit=tick" if name == "csv" else "")], "--define", "tag",
              code=3 if name == "packed" else 0)
    merged = read_merged(run.merged)
    assert merged["events/time"].astype(np.int64).tolist() == true.tolist() and len(merged["hits/time"]) == 2 * len(true) - 1


def write_events(path, numbers):
    """Events whose header holds other bits above the 16 of the number."""
    numbers = [n % (1 << 16) | 0x30000 for n in numbers]
    if path.suffix == ".lmd":
        path.write_bytes(lmd.flat_file([lmd.Event(n, [lmd.Subevent(1, [n])]) for n in numbers]))
    elif path.suffix == ".hld":
        path.write_bytes(hld_file([Event(n, [Subevent(0x8000, [1])]) for n in numbers]))
    else:
        midas.midas_file(path, [midas.Event(n, [midas.Bank("TRIG", bytes(4))]) for n in numbers])


@pytest.mark.parametrize("name, ending", [("lmd", "lmd"), ("hld", "hld"), ("midas", "mid")])
def test_event_numbers_on_both_sides_of_a_turn(tmp_path, name, ending):
    """Two systems whose first events differ, one before the turn of the counter, one behind it."""
    true = np.arange((1 << 16) - 30, 3 << 16)
    write_events(tmp_path / f"a.{ending}", true)
    write_events(tmp_path / f"b.{ending}", true[50:])
    uris = [f"{name}:{tmp_path}/{stem}.{ending}?bits=16" for stem in "ab"]
    run = Run(tmp_path / "run", uris, "--define", "tag", code=3)
    merged = read_merged(run.merged)
    assert merged["events/time"].astype(np.int64).tolist() == true.tolist() and len(merged["hits/time"]) == 2 * len(true) - 50
    assert "turn 0: " in run.done.stderr
    run = Run(tmp_path / "stated", [f"{uri}&offset={offset}" for uri, offset in zip(uris, (0, 1 << 16))], "--define", "tag", code=3)
    assert read_merged(run.merged)["events/time"].astype(np.int64).tolist() == true.tolist()
    assert "turn 0: " not in run.done.stderr


def test_counters_as_floating_point_numbers_and_decimals(tmp_path):
    true = steady("hdf5", 2.3)
    put(tmp_path, "hdf5", "whole", (true % (1 << 32)).astype(float))
    times, _ = all_times(tmp_path / "whole", [uri_of(tmp_path, "hdf5", "whole")])
    assert times.tolist() == true.tolist()
    put(tmp_path, "hdf5", "parts", true % (1 << 32) + 0.25)
    (tmp_path / "parts.csv").write_text("t_ns,ch\n" + "".join(f"{t % (1 << 32)}.25,1\n" for t in true))
    for name in ("hdf5", "csv"):
        times, _ = all_times(tmp_path / name, [uri_of(tmp_path, name, "parts")], options=("--tick", "250ps"))
        assert times.tolist() == (4 * true + 1).tolist()


# Keys


@pytest.mark.parametrize("keys, words", [
    ("bits=32&modulus=100", "omit one"), ("modulus=1", "modulus=1"), ("modulus=x", "modulus=x"), ("turns=1", "bits= or modulus="),
    ("bits=none&turns=1", "bits= or modulus="), ("bits=none&jumps=unwrap", "contradicts bits=none"), ("bits=32&turns=-1", "turns=-1"),
    ("jumps=unwrap", "bits=32"), ("modulus=1000", "starts again at 1000"), ("bits=32&clock=", "clock="),
])
def test_keys_that_cannot_be(tmp_path, keys, words):
    (tmp_path / "a.csv").write_text("t_ns,ch\n1,1\n1000,1\n")
    done = eventloom("run", f"csv:{tmp_path}/a.csv?{keys}", "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
    lines = [line for line in done.stderr.splitlines() if "info:" not in line]
    assert len(lines) == 1 and words in lines[0], done.stderr


@pytest.mark.parametrize("uri, words", [("hld:a.hld?turns=1", "time=tdc"), ("midas:a.mid?turns=1", "time=TYPE@OFFSET"),
                                        ("midas:a.mid?modulus=9", "time=TYPE@OFFSET")])
def test_turns_need_a_counter(tmp_path, uri, words):
    write_hld(tmp_path / "a.hld", [5], 1)
    write_midas(tmp_path / "a.mid", [5], 1)
    done = eventloom("run", uri.replace(":", f":{tmp_path}/"), "--define", "tag", "--output", tmp_path / "x.h5", code=2)
    assert words in done.stderr


def test_jumps_may_be_unwrapped_at_any_number(tmp_path):
    (tmp_path / "a.csv").write_text("t_ns,ch\n" + "".join(f"{t % 1000},1\n" for t in range(0, 5000, 300)))
    times, _ = all_times(tmp_path / "run", [f"csv:{tmp_path}/a.csv?modulus=1000&jumps=unwrap"])
    assert times.tolist() == list(range(0, 5000, 300))
