"""Counters that turn: every rule for every format whose times or numbers come from one. The truth is a time that never
turns, made with numpy; the files hold it modulo the counter's period."""

import json
import signal
from dataclasses import dataclass
from typing import Callable

import caen
import h5py
import numpy as np
import pytest

import lmd_reference as lmd
import midas
from hld_reference import Event, Subevent, hld_file, tdc_block, tdc_words
from interrupted import STOPPED
from live import LiveRun, merged
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


def write_lmd(path, raw, channel):
    """An event for each hit, whose stamp is a word."""
    path.write_bytes(lmd.flat_file([lmd.Event(n, [lmd.Subevent(channel, [int(t)])]) for n, t in enumerate(raw, 1)]))


def write_midas_words(path, raw, channel):
    midas.midas_file(path, [midas.Event(n, [midas.Bank("TIM1", int(t).to_bytes(4, "little"))]) for n, t in enumerate(raw)])


def write_spike_file(path, raw, channel):
    write_spikes(path, [int(t) for t in raw], [channel] * len(raw))


def write_compass(path, raw, channel):
    records = [{"board": 0, "channel": channel, "time_ps": int(t) * 1000, "energy": 1, "flags": 0} for t in raw]
    caen.compass_file(path, 0xCAE1, records)


@dataclass
class Format:
    ending: str
    keys: str
    write: Callable
    period: int = 1 << 32  # ns
    step: int = 1  # ns
    bits: str = "bits=32"
    scheme: str = ""

    def uri(self, name, path, *keys):
        return f"{self.scheme or name}:{path}?" + "&".join(key for key in (self.keys, self.bits, *keys) if key)


FIELDS = "record=12&time=u64le@0&channel=u32le@8&unit=ns"
FORMATS = {
    "csv": Format("csv", "", write_csv),
    "hdf5": Format("h5", "group=/det&unit=ns", write_hdf5),
    "packed": Format("bin", FIELDS, write_packed),
    "midas": Format("mid", f"bank=HITS&{FIELDS}", write_midas),
    "hld": Format("hld", "tdc=0xe000-0xe00f&time=tdc", write_hld, 10240 << 28, 5, ""),
    "lmd": Format("lmd", "time=word:0,1&unit=ns", write_lmd),
    "midas-words": Format("mid", "time=TIM1:0,1&unit=ns", write_midas_words, scheme="midas"),
    "compass": Format("BIN", "", write_compass, bits=f"modulus={1000 << 32}"),
    "spikes": Format("spikes", "", write_spike_file),
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
def test_parts_with_a_pause_between_them_are_named(tmp_path, name):
    """They might also be detectors that were switched on one after the other. Detectors that begin together are not named."""
    kind = FORMATS[name]
    true = steady(name, 3)
    for n, (begin, end) in enumerate([(0.2, 1.5), (1.7, 3.2)]):
        put(tmp_path, name, f"run_{n}", true[(true >= begin * kind.period) & (true < end * kind.period)])
        put(tmp_path, name, f"det_{n}", true[true < 2.6 * kind.period][n::2])
    for stem, said in (("run", True), ("det", False)):
        _, run = all_times(tmp_path / stem, [uri_of(tmp_path, name, f"{stem}_*")])
        assert ("join them with concat" in run.done.stderr) == said, run.done.stderr


@each_format
def test_parts_of_whole_turns_are_named(tmp_path, name):
    """They might also be simultaneous recordings of two detectors."""
    kind = FORMATS[name]
    true = np.arange(0, 2 * kind.period, kind.period // 100 // 5 * 5)
    for n in range(2):
        put(tmp_path, name, f"run_{n}", true[true // kind.period == n])
    _, run = all_times(tmp_path / "run", [uri_of(tmp_path, name, "run_*")])
    assert "join them with concat" in run.done.stderr


@pytest.mark.parametrize("name", ["csv", "hdf5", "packed", "midas", "lmd", "midas-words"])
def test_files_of_whole_turns_are_named_though_the_width_is_not_stated(tmp_path, name):
    """They lie on each other. Files that end anywhere are not named."""
    period = 1 << 32
    true = np.sort(np.random.default_rng(6).integers(0, 3 * period, 3000))
    for n in range(3):
        put(tmp_path, name, f"run_{n}", true[true // period == n])
        put(tmp_path, name, f"part_{n}", true[(true // period == n) & (true % period < period * 0.8)])
    for stem, said in (("run", True), ("part", False)):
        _, run = all_times(tmp_path / stem, [uri_of(tmp_path, name, f"{stem}_*").replace("&bits=32", "").replace("bits=32", "unit=ns")])
        assert ("join them with concat and bits=32" in run.done.stderr) == said, run.done.stderr


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


@pytest.mark.parametrize("name", ["csv", "midas", "hld"])
@pytest.mark.parametrize("ranks", [None, 3])
def test_followed_sources_are_aligned(tmp_path, name, ranks):
    true = around_a_turn(name)
    for stem, times in zip("ab", true):
        put(tmp_path, name, stem, times)
        (tmp_path / f"{stem}.end").touch()
    times, run = all_times(tmp_path / "run", [uri_of(tmp_path, name, stem, "follow", "clock=daq") for stem in "ab"], np_=ranks)
    assert times.tolist() == np.sort(np.concatenate(true)).tolist()
    assert "is followed" not in run.done.stderr


def test_followed_sources_without_a_beginning_are_named(tmp_path):
    for stem, times in zip("ab", (around_a_turn("csv")[0], [])):
        put(tmp_path, "csv", stem, times)
        (tmp_path / f"{stem}.end").touch()
    for keys, said in (((), True), (("turns=0",), False)):
        _, run = all_times(tmp_path / str(said), [uri_of(tmp_path, "csv", stem, "follow", *keys) for stem in "ab"])
        assert ("b.csv' is followed" in run.done.stderr and "begin in turn 0" in run.done.stderr) == said


def test_a_resumed_run_keeps_the_turns_of_followed_sources(tmp_path):
    """Of one whose first hits came when the run had begun."""
    first, second = around_a_turn("csv")
    put(tmp_path, "csv", "a", first)
    put(tmp_path, "csv", "b", [])
    (tmp_path / "a.end").touch()
    uris = [uri_of(tmp_path, "csv", stem, "follow", "clock=c") for stem in "ab"]
    options = ["--define", "gap:0,1", "--epochs-per-slice", "20", "--segment-size", "1"]
    rows = [f"{t % (1 << 32)},1\n" for t in second]
    with LiveRun(tmp_path / "run", uris, *options) as run:
        run.until_reported("begin in turn 0")
        with open(tmp_path / "b.csv", "a") as file:
            file.write("".join(rows[:120]))
        run.until_parts(2, 15)
        run.signal(signal.SIGUSR1)
        run.wait(STOPPED)
    with open(tmp_path / "b.csv", "a") as file:
        file.write("".join(rows[120:]))
    (tmp_path / "b.end").touch()
    with LiveRun(tmp_path / "run", uris, *options, "--resume") as run:
        run.wait(0)
    merged(tmp_path / "run")
    times = np.sort(read_merged(tmp_path / "run" / "merged.h5")["hits/time"].astype(np.int64))
    assert times.tolist() == np.sort(np.concatenate([first, second % (1 << 32)])).tolist()


@each_format
def test_inspect_shows_the_turns_that_a_run_reads(tmp_path, name):
    true = around_a_turn(name)
    for stem, times, channel in zip("ab", true, (1, 2)):
        put(tmp_path, name, stem, times, channel)
    done = eventloom("inspect", uri_of(tmp_path, name, "[ab]"), "--tick", "1ns", "--json")
    shown = json.loads(done.stdout)["files"]
    assert [file["first_time"] for file in shown] == [times[0] for times in true]
    assert "turn 1: " in done.stderr


def test_groups_of_one_clock_are_aligned(tmp_path):
    true = around_a_turn("hdf5")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for group, times in zip(("x", "y"), true):
            file[f"{group}/time"], file[f"{group}/channel"] = (times % (1 << 32)).astype("u4"), np.ones(len(times), "u1")
    times, _ = all_times(tmp_path / "run", [f"hdf5:{tmp_path}/a.h5?group=/*&unit=ns&bits=32"])
    assert times.tolist() == np.sort(np.concatenate(true)).tolist()


@pytest.mark.parametrize("form", ["csv", "hdf5"])
def test_counters_of_one_uri_count_one_unit(tmp_path, form):
    """Their files state the units."""
    for name, unit in (("a", "ns"), ("b", "us")):
        write_csv(tmp_path / f"{name}.csv", range(5, 50, 5), 1)
        (tmp_path / f"{name}.csv").write_text((tmp_path / f"{name}.csv").read_text().replace("t_ns", f"t_{unit}"))
        write_hdf5(tmp_path / f"{name}.h5", np.arange(5, 50, 5, dtype="u4"), 1)
        with h5py.File(tmp_path / f"{name}.h5", "a") as file:
            file["det/time"].attrs["units"] = unit
    uri = {"csv": f"csv:{tmp_path}/[ab].csv?bits=32", "hdf5": f"hdf5:{tmp_path}/[ab].h5?group=/det&bits=32"}[form]
    done = eventloom("run", "--source", uri, "--define", "gap:0,1", "--output", tmp_path / "no.h5", code=2)
    assert "differ in" in done.stderr and "the file states" in done.stderr and "turns=0" in done.stderr
    times, _ = all_times(tmp_path / "run", [uri + "&turns=0"])
    assert times.tolist() == sorted([*range(5, 50, 5), *range(5000, 50000, 5000)])


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


@pytest.mark.parametrize("name", ["csv", "hdf5", "packed"])
@pytest.mark.parametrize("numbered", [False, True])
def test_the_advice_on_a_sign_names_the_width(tmp_path, name, numbered):
    """Of a column of 16 bits. What is offered reads the truth, and nothing is offered that is then refused."""
    true = np.arange(1, 100_001) if numbered else 100 + np.cumsum(np.random.default_rng(3).integers(1, 20_000, 3000))
    raw = (true & 0xFFFF).astype("u2").view("i2")
    uri = {"csv": f"csv:{tmp_path}/a.csv?", "hdf5": f"hdf5:{tmp_path}/a.h5?",
           "packed": f"packed:{tmp_path}/a.bin?record=4&time=i16le@0&channel=u16le@2&"}[name]
    uri += "numbered=yes" if numbered else "unit=ns"
    write_csv(tmp_path / "a.csv", raw, 1)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["time"], file["channel"] = raw, np.ones(len(raw), "u1")
    np.array([(t, 1) for t in raw.tolist()], [("t", "<i2"), ("c", "<u2")]).tofile(tmp_path / "a.bin")
    define = "tag" if numbered else "gap:0,1"
    done = eventloom("run", uri, "--define", define, "--output", tmp_path / "x.h5", code=2)
    assert "bits=16" in done.stderr and "bits=32" not in done.stderr
    assert not numbered or "origin=" not in done.stderr
    run = Run(tmp_path / "run", [uri + "&bits=16"], "--define", define)
    assert np.sort(read_merged(run.merged)["hits/time"].astype(np.int64)).tolist() == true.tolist()


@pytest.mark.parametrize("field, dtype", [("i32le@0", "<i4"), ("i64le@0", "<i8")])
def test_a_packed_counter_with_a_sign_may_turn_at_any_number(tmp_path, field, dtype):
    period = 210_698_240
    true = np.cumsum(np.random.default_rng(2).integers(1, period // 3, 500))
    records = np.zeros(500, [("t", dtype), ("c", "<u4")])
    records["t"] = (true + period // 2) % period - period // 2
    records.tofile(tmp_path / "a.bin")
    size = records.itemsize
    times, _ = all_times(tmp_path / "run", [f"packed:{tmp_path}/a.bin?record={size}&time={field}&channel=u32le@{size - 4}&unit=ns&modulus={period}"])
    assert np.diff(times).tolist() == np.diff(true).tolist()


def test_one_unit_may_be_written_in_two_ways(tmp_path):
    period = 1 << 32
    first, second = around_a_turn("csv")
    write_csv(tmp_path / "a.csv", first % period, 1)
    write_csv(tmp_path / "b.csv", second % period, 2)
    uris = [f"csv:{tmp_path}/{stem}.csv?unit={unit}&bits=32&clock=x" for stem, unit in (("a", "10ns"), ("b", "0.01us"))]
    for stem in "ab":
        (tmp_path / f"{stem}.csv").write_text((tmp_path / f"{stem}.csv").read_text().replace("t_ns", "t"))
    times, _ = all_times(tmp_path / "run", uris)
    assert times.tolist() == (10 * np.sort(np.concatenate([first, second]))).tolist()


@pytest.mark.parametrize("name", ["csv", "hdf5", "packed"])
def test_event_numbers_of_a_table_and_of_list_mode_data(tmp_path, name):
    """Of as many bits, though a table has a unit and list-mode data do not."""
    numbers = np.arange(65_500, 66_500)
    write_events(tmp_path / "a.lmd", numbers)
    put(tmp_path, name, "b", numbers, period=1 << 16)
    table = uri_of(tmp_path, name, "b", "numbered=yes", "system=3").replace("bits=32", "bits=16").replace("&unit=ns", "")
    run = Run(tmp_path / "run", [f"lmd:{tmp_path}/a.lmd?bits=16", table], "--define", "tag")
    merged = read_merged(run.merged)
    assert merged["events/time"].astype(np.int64).tolist() == numbers.tolist() and (merged["events/n_hits"] == 2).all()


@pytest.mark.parametrize("name, ending", [("lmd", "lmd"), ("hld", "hld"), ("midas", "mid")])
def test_event_numbers_that_wrap_around_early_are_named(tmp_path, name, ending):
    write_events(tmp_path / f"a.{ending}", np.arange(1, 66_001), above=0)
    run = Run(tmp_path / "run", [f"{name}:{tmp_path}/a.{ending}"], "--define", "tag", code=3)
    assert "bits=16 continues them" in run.done.stderr
    run = Run(tmp_path / "word", [f"{name}:{tmp_path}/a.{ending}?number=word:0:0-23"], "--define", "tag", code=3)
    assert "number=word:0:0-15 continues them" in run.done.stderr
    write_events(tmp_path / f"b.{ending}", [*range(1, 1000), 5, 6, *range(1000, 65_536)], above=0)
    run = Run(tmp_path / "other", [f"{name}:{tmp_path}/b.{ending}"], "--define", "tag", code=3)
    assert "bits=" not in run.done.stderr


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


def write_events(path, numbers, above=0x30000):
    """Events whose header holds other bits above the 16 of the number."""
    numbers = [int(n) % (1 << 16) | above for n in numbers]
    if path.suffix == ".lmd":
        path.write_bytes(lmd.flat_file([lmd.Event(n, [lmd.Subevent(1, [n])]) for n in numbers]))
    elif path.suffix == ".hld":
        path.write_bytes(hld_file([Event(n, [Subevent(0x8000, [n])]) for n in numbers]))
    else:
        midas.midas_file(path, [midas.Event(n, [midas.Bank("TRIG", n.to_bytes(4, "little"))]) for n in numbers])


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


@pytest.mark.parametrize("uri, words", [("hld:a.hld?turns=1", "time=tdc"), ("midas:a.mid?turns=1", "event numbers"),
                                        ("midas:a.mid?modulus=9", "event numbers"), ("midas:a.mid?overflow=u8@0", "time=TYPE@OFFSET")])
def test_turns_need_a_counter(tmp_path, uri, words):
    write_hld(tmp_path / "a.hld", [5], 1)
    write_midas(tmp_path / "a.mid", [5], 1)
    done = eventloom("run", uri.replace(":", f":{tmp_path}/"), "--define", "tag", "--output", tmp_path / "x.h5", code=2)
    assert words in done.stderr


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("hld", "spikes")])
def test_numbers_that_the_counter_cannot_have(tmp_path, name):
    """No time, in any format: refused, or counted as lost. The TDCs of HLD have no room for others, and a packet of
    spikes may run on beyond the turn."""
    kind = FORMATS[name]
    true = np.arange(400) * (kind.period // 1000)
    raw = np.insert(true % 3_000_000_000, 200, 3_000_000_001)
    kind.write(tmp_path / f"a.{kind.ending}", raw, 1)
    factor = 1000 if name == "compass" else 1
    uri = uri_of(tmp_path, name, "a").replace(kind.bits, f"modulus={3_000_000_000 * factor}")
    done = eventloom("run", uri, "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
    assert str(3_000_000_001 * factor) in done.stderr and "skip-bad=yes" in done.stderr, done.stderr
    times, run = all_times(tmp_path / "run", [uri + "&skip-bad=yes"], code=3)
    assert times.tolist() == true.tolist()
    assert run.report()["per_source"][0]["counts"]["hits_dropped_corrupt"] == 1


def test_jumps_may_be_unwrapped_at_any_number(tmp_path):
    (tmp_path / "a.csv").write_text("t_ns,ch\n" + "".join(f"{t % 1000},1\n" for t in range(0, 5000, 300)))
    times, _ = all_times(tmp_path / "run", [f"csv:{tmp_path}/a.csv?modulus=1000&jumps=unwrap"])
    assert times.tolist() == list(range(0, 5000, 300))
