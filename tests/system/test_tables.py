"""Tables as they are: with bad lines, without a column of channels, with times of two columns, and with the ticks of a clock.

The references are whole numbers and fractions of Python, from the rows that the test itself has written."""

import json
import shutil
from decimal import Decimal
from fractions import Fraction

import h5py
import numpy as np
import pytest

from live import counts_of
from program import eventloom
from results import dropped, read_ledger
from test_inputs import refused, rows_of, run_all, table


# ---- bad lines

ROWS = [(1000 * n, n % 7, 3 * n) for n in range(1, 201)]
BAD = {
    3: "garbage", 5: "", 8: "5000", 12: "x12,3,4", 20: "20000,,4", 21: "20000,-1,4", 30: "30000,4,none", 31: "30000",
    40: '"30000,4,5', 41: '"30000"3,4,5', 77: "7\0,1,2", 90: "1e,5,6", 120: "-5,3,4", 150: "150000,268435456,4", 199: "\0" * 40,
}


def lines_of(rows, bad):
    """The rows as lines, with others inserted before some of them."""
    lines = []
    for n, row in enumerate(rows):
        lines += [bad[n]] if n in bad else []
        lines.append(",".join(map(str, row)))
    return lines


@pytest.mark.parametrize("header", [True, False])
def test_bad_lines_are_skipped(tmp_path, header):
    lines = (["t_ns,ch,energy"] if header else []) + lines_of(ROWS, BAD)
    path = table(tmp_path, "\n".join(lines) + "\n")
    keys = "?skip-bad=yes" + ("" if header else "&time=1&channel=2&payload=3&unit=ns")
    run = run_all(tmp_path / "run", f"{path}{keys}", code=3)
    assert rows_of(run) == [(t, 0, ch, (energy,)) for t, ch, energy in ROWS]
    number = sum(line != "" for line in BAD.values())  # an empty line is neither a row nor damage
    lost = dropped(read_ledger(run.output))
    assert lost["corrupt"] == number == sum(lost.values())
    assert counts_of(run.report(), 0)["bad_records"] == number
    places = [n for n, line in enumerate(lines, 1) if line in BAD.values() and line]
    message = [line for line in run.done.stderr.splitlines() if "the line is skipped" in line]
    assert len(message) == 10
    for place, line in zip(places, message):
        assert f"t.csv:{place}: " in line or f"t.csv' line {place} " in line
    assert "further ones are only counted" in message[-1] and f"{number} lines in all are skipped" in run.done.stderr


def test_bad_lines_are_refused_without_the_key(tmp_path):
    for n, bad in enumerate(filter(None, BAD.values())):
        path = table(tmp_path, "t_ns,ch,energy\n1,2,3\n" + bad + "\n4,5,6\n")
        for keys in ("", "?skip-bad=no") if n == 0 else ("",):
            refused(f"{path}{keys}", "3", "with skip-bad=yes, such lines are counted as lost")
    refused(f"{path}?skip-bad=maybe", "skip-bad=maybe is not known", "yes or no")


@pytest.mark.parametrize("first", ["garbage", "1", "a b", '"', "\0"])
def test_a_bad_first_row_decides_nothing(tmp_path, first):
    """Neither the separator, nor whether channels are words, nor the numbers of the words."""
    for channels in ([3, 9], ["muon", "veto"]):
        rows = [(10 * n, channels[n % 2], n) for n in range(1, 50)]
        path = table(tmp_path, "\n".join([first, *(f"{t},{c},{e}" for t, c, e in rows)]) + "\n")
        run = run_all(tmp_path / f"run{channels[0]}", f"{path}?time=1&channel=2&payload=3&unit=ns&skip-bad=yes", code=3)
        number = {"muon": 0, "veto": 1, 3: 3, 9: 9}
        assert rows_of(run) == [(t, 0, number[c], (e,)) for t, c, e in rows]
        assert dropped(read_ledger(run.output))["corrupt"] == 1


def test_words_of_bad_lines_name_no_channels(tmp_path):
    text = "t_ns,ch\n1,veto\nxx,aardvark\n3,muon\n" + "4,veto\n"
    run = run_all(tmp_path / "run", f"{table(tmp_path, text)}?skip-bad=yes", code=3)
    assert rows_of(run) == [(1, 0, 1, ()), (3, 0, 0, ()), (4, 0, 1, ())]


@pytest.mark.parametrize("separator", [",", ";", "\t", "  "])
def test_a_damaged_line_break_merges_no_rows(tmp_path, separator):
    path = table(tmp_path, "t_ns,ch,note\n1,1,a\n2,2,b3,3,c\n4,4,d\n".replace(",", separator))
    refused(path, "3", "the line has 5 columns, the header 3; with skip-bad=yes, such lines are counted as lost")
    run = run_all(tmp_path / "run", f"{path}?skip-bad=yes", code=3)
    assert rows_of(run) == [(1, 0, 1, ()), (4, 0, 4, ())] and dropped(read_ledger(run.output))["corrupt"] == 1


def test_rows_longer_than_the_header(tmp_path):
    """Empty or quoted columns at the end do not count; a table whose rows end with samples may have any number of them."""
    for text in ("t_ns,ch\n1,1,\n2,2, ,\n", 't_ns,ch,note\n1,1,"a,b,c"\n2,2,"d""e,f"\n', "t_ns,ch,samples\n1,1,5,6,7\n2,2,5,6,7,8\n"):
        assert rows_of(run_all(tmp_path / "run", table(tmp_path, text))) == [(1, 0, 1, ()), (2, 0, 2, ())]
        shutil.rmtree(tmp_path / "run")


def test_a_kind_is_that_of_the_numbers(tmp_path):
    """A word among decimal numbers is a bad line, whatever comes first."""
    text = "t_ns,ch,energy\n1,1,none\n2,1,1.5\n3,1,-2\n"
    run = run_all(tmp_path / "run", f"{table(tmp_path, text)}?skip-bad=yes", code=3)
    words = [tuple(np.array([value]).view("<u4").tolist()) for value in (1.5, -2.0)]
    assert rows_of(run) == [(2, 0, 1, words[0]), (3, 0, 1, words[1])]


def test_times_that_need_keys_are_no_bad_lines(tmp_path):
    """Skipping them would lose good hits: they need a unit, an origin, or rounding."""
    for text, words in (("t,ch\n1,2\n", "has no unit"), ("t_ns,ch\n1.5,2\n", "round="), ("t_ns,ch\n1E+3,2\n", "write all digits"),
                        ("t,ch\n2026-11-21T10:00:00Z,2\n", "origin=")):
        refused(f"{table(tmp_path, text)}?skip-bad=yes", "t.csv:2", words)


def test_many_bad_lines_take_no_memory(tmp_path):
    """A table of bad lines only, and one in which they are the majority."""
    path = table(tmp_path, "t_ns,ch\n" + "bad,bad\n" * 100_000)
    run = run_all(tmp_path / "none", f"{path}?skip-bad=yes", code=3)
    assert rows_of(run) == [] and dropped(read_ledger(run.output))["corrupt"] == 100_000
    path = table(tmp_path, "t_ns,ch\n" + "".join(f"{n},1\n" + "x,1\n" * 5 for n in range(20_000)))
    run = run_all(tmp_path / "most", f"{path}?skip-bad=yes", code=3)
    assert rows_of(run) == [(n, 0, 1, ()) for n in range(20_000)] and dropped(read_ledger(run.output))["corrupt"] == 100_000
    seen = json.loads(eventloom("inspect", f"csv:{path}?skip-bad=yes", "--json", code=3).stdout)
    assert seen["hits"] == 20_000 and seen["damaged"]


# ---- no column of channels

def test_a_channel_for_all(tmp_path):
    """The same hits in each form, beside another source."""
    time, energy = np.arange(5, 2005, 10), np.arange(200, dtype="u4")
    table(tmp_path, "t_ns,energy\n" + "".join(f"{t},{e}\n" for t, e in zip(time, energy)))
    table(tmp_path, "".join(f"{t} {e}\n" for t, e in zip(time, energy)), "bare.txt")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["time"], file["energy"] = time, energy
        file["time"].attrs["units"] = "ns"
    records = np.zeros(200, dtype=[("t", "<u8"), ("e", "<u4"), ("s", "u1")])
    records["t"], records["e"], records["s"] = time, energy, np.arange(200) % 3
    records.tofile(tmp_path / "t.bin")
    fields = f"packed:{tmp_path}/t.bin?record=13&time=u64le@0&payload=u32le@8"
    for channel in (0, 7, 2**28 - 1):
        expected = [(t, 0, channel, (e,)) for t, e in zip(time.tolist(), energy.tolist())]
        for n, uri in enumerate((f"{tmp_path}/t.csv?fixed-channel={channel}",
                    f"csv:{tmp_path}/bare.txt?time=1&payload=2&unit=ns&fixed-channel={channel}",
                    f"hdf5:{tmp_path}/t.h5?payload=energy&fixed-channel={channel}", f"{fields}&fixed-channel={channel}")):
            assert rows_of(run_all(tmp_path / f"run{n}-{channel}", uri)) == expected
    run = run_all(tmp_path / "run", f"{fields}&fixed-channel=9&subsystem=u8@12")
    assert [row[2] for row in rows_of(run)] == [s << 16 | 9 for s in records["s"].tolist()]


def test_a_channel_for_all_that_cannot_be(tmp_path):
    path = table(tmp_path, "t_ns,energy\n1,2\n")
    refused(str(path), "channel=", "for a table without channels fixed-channel=N")
    refused(f"{path}?fixed-channel=268435456", "whole number from 0 to 268435455")
    refused(f"{path}?fixed-channel=x", "whole number")
    refused(f"{path}?fixed-channel=1&channel=energy", "omit it, or channel=")
    refused(f"{path}?fixed-channel=1&channels={path}", "omit it, or channels=")
    (tmp_path / "t.bin").write_bytes(bytes(16))
    fields = f"packed:{tmp_path}/t.bin?record=8&time=u32le@0"
    refused(fields, "fixed-channel=N")
    refused(f"{fields}&fixed-channel=65536&subsystem=u8@4", "does not fit the 16 bits")
    refused(f"{fields}&fixed-channel=1&channel=u8@4", "omit it, or channel=")


# ---- times of two numbers

PER_S = {"ps": 10**12, "ns": 10**9, "us": 10**6, "ms": 1000, "s": 1}


def length(text):
    """A unit, or a length such as 25/2ns, in ns."""
    unit = text.lstrip("0123456789./")
    return Fraction(text[:-len(unit)] or 1) * Fraction(10**9, PER_S[unit])


def rounded(time, how):
    """A fraction as a tick; without rounding it must be a whole number."""
    if how == "nearest":
        return (2 * time.numerator + time.denominator) // (2 * time.denominator)
    assert how == "down" or time.denominator == 1
    return time.numerator // time.denominator


def two_numbers(folder, coarse, fine, kind="i8"):
    """The same times as a table and as HDF5; returns what precedes their keys."""
    table(folder, "step,t,ch\n" + "".join(f"{c},{f},{n % 5}\n" for n, (c, f) in enumerate(zip(coarse, fine))))
    with h5py.File(folder / "t.h5", "w") as file:
        file["step"], file["t"], file["ch"] = np.array(coarse), np.array(fine, dtype=kind), np.arange(len(fine)) % 5
    return f"csv:{folder}/t.csv?", f"hdf5:{folder}/t.h5?channel=ch&"


def expected_rows(times):
    """Hits on channels 0 to 4 in turn, in order of time."""
    return sorted([(t, 0, n % 5, ()) for n, t in enumerate(times)], key=lambda row: row[0])


@pytest.mark.parametrize("unit, step, fine, tick, keys", [
    ("ns", "s", 10**9, "1ns", ""),
    ("ps", "25ns", 25_000, "1ps", ""),
    ("25/256ns", "25ns", 256, "1ps", "round=nearest"),
    ("25/256ns", "25ns", 256, "1ns", "round=down"),
    ("1/3ns", "1/7us", 400, "1ns", "round=nearest"),
    ("12.5ns", "100us", 8000, "500ps", ""),
    ("us", "60s", 60_000_000, "1us", ""),
    ("ns", "25ns", 25, "1ns", "drift=-777.5ppb"),
    ("25/7ns", "40us", 11_200, "1ns", "drift=3ppm&round=down"),
    ("ns", "s", 10**9, "1ns", "origin=77s"),
    ("ns", "1/3us", 300, "1ns", "origin=-1ms&round=nearest&drift=10000.001ppb"),
    ("1/6ns", "1/3ns", 200, "1ns", "round=nearest"),
])
@pytest.mark.parametrize("sign, kind", [(1, "i8"), (-1, "u8")], ids=["plus", "minus"])
def test_steps_and_offsets(tmp_path, unit, step, fine, tick, keys, sign, kind):
    """The sum or the difference of two columns with different units, exact like fractions."""
    random = np.random.default_rng(len(unit) + fine)
    coarse = np.sort(random.integers(100, 5_000, 800)).tolist()
    offset = random.integers(0, fine, 800).tolist()
    given = dict(item.split("=") for item in keys.split("&") if item)
    drift = given.get("drift", "0ppb")
    rate = 1 + Fraction(drift[:-3]) / (10**9 if drift.endswith("b") else 10**6)
    origin = length(given["origin"].removeprefix("-")) * (-1 if given["origin"].startswith("-") else 1) if "origin" in given else 0
    exact = [((c * length(step) + sign * f * length(unit)) * rate - origin) / length(tick) for c, f in zip(coarse, offset)]
    how = given.get("round", "nearest" if "drift" in given else "")
    expected = expected_rows([rounded(time, how) for time in exact])
    for n, uri in enumerate(two_numbers(tmp_path, coarse, offset, kind)):
        columns = "time=t&coarse=step" if sign > 0 else "time=step-t"
        uri += f"{columns}&coarse-unit={step}&unit={unit}&reorder=100s&{keys}".rstrip("&")
        assert sorted(rows_of(run_all(tmp_path / f"run{n}", uri, options=("--tick", tick)))) == sorted(expected)


def test_steps_less_offsets(tmp_path):
    """As NEST writes spikes with time_in_steps: the time is the step minus the offset, in different units."""
    random = np.random.default_rng(5)
    steps = np.sort(random.integers(1, 20_000, 500)).tolist()
    offsets = [Decimal(int(n)).scaleb(-9) for n in random.integers(0, 100_000_000, 500)]  # ms
    expected = sorted((rounded(Fraction(step * 100_000) - Fraction(offset) * 10**6, "nearest"), 0, n % 5, ())
                      for n, (step, offset) in enumerate(zip(steps, offsets)))
    rows = "".join(f"{n % 5}\t{step}\t{offset:f}\n" for n, (step, offset) in enumerate(zip(steps, offsets)))
    (tmp_path / "t.csv").write_text("# NEST version: 3.10.0\n# RecordingBackendASCII version: 2\nsender\ttime_step\ttime_offset\n" + rows)
    keys = "coarse-unit=0.1ms&unit=ms&round=nearest"
    for n, time in enumerate(("time=time_step-time_offset&channel=sender", "time=2-3&channel=1&skip=3",
                              "time=-time_offset&coarse=time_step&channel=sender")):
        found = rows_of(run_all(tmp_path / f"run{n}", f"csv:{tmp_path}/t.csv?{time}&{keys}"))
        assert sorted(found) == expected
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["sender"], file["time_step"] = np.arange(500) % 5, np.array(steps, dtype="i4")
        file["time_offset"] = np.array(offsets, dtype="f8")
    for n, time in enumerate(("time=time_step-time_offset", "time=-time_offset&coarse=time_step")):
        run = run_all(tmp_path / f"hdf5_{n}", f"hdf5:{tmp_path}/t.h5?{time}&channel=sender&{keys}")
        assert sorted(rows_of(run)) == expected
        assert "time_step" not in run.done.stderr, "reported as a column that is not read"
    for file in ("csv:t.csv", "hdf5:t.h5"):
        scheme, name = file.split(":")
        refused(f"{scheme}:{tmp_path}/{name}?time=-time_offset&channel=sender&unit=ms", "time=-time_offset", "coarse=")
    refused(f"csv:{tmp_path}/t.csv?time=time_step-offset&channel=sender&{keys}", "offset", "time_offset")


def test_a_minus_in_a_name(tmp_path):
    """The minus belongs to the column's name if no steps are mentioned."""
    table(tmp_path, "time-x,ch\n5,1\n7,1\n")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["time-x"], file["ch"] = [5, 7], [1, 1]
    for uri in ("csv:{}/t.csv", "hdf5:{}/t.h5"):
        run = run_all(tmp_path / uri[:3], uri.format(tmp_path) + "?time=time-x&channel=ch&unit=ns")
        assert [row[0] for row in rows_of(run)] == [5, 7]


def test_offsets_may_be_negative_and_fractions(tmp_path):
    """HDF5 also allows floating-point numbers."""
    steps, offsets = [4, 4, 5, 6], [-3, 2.5, -0.25, 7.75]
    expected = [4 * 100 - 12, 4 * 100 + 10, 5 * 100 - 1, 6 * 100 + 31]
    for n, uri in enumerate(two_numbers(tmp_path, steps, offsets, "f8")):
        uri += "time=t&coarse=step&coarse-unit=25ns&unit=ns"
        found = rows_of(run_all(tmp_path / f"run{n}", uri, options=("--tick", "250ps")))
        assert [row[0] for row in found] == expected
        found = rows_of(run_all(tmp_path / f"minus{n}", f"{uri.replace('time=t&coarse=step', 'time=step-t')}&origin=-1us",
                                options=("--tick", "250ps")))
        assert [row[0] for row in found] == sorted([4_412, 4_390, 4_501, 4_569])
    for n, uri in enumerate(two_numbers(tmp_path, [0, 1], [-3, 2])):
        refused(f"{uri}time=t&coarse=step&coarse-unit=25ns&unit=ns", "negative", "origin=")
    for n, uri in enumerate(two_numbers(tmp_path, [0, 1], [3, 2])):
        refused(f"{uri}time=step-t&coarse-unit=25ns&unit=ns", "0 steps less 3", "negative", "origin=")


def test_the_coarse_counter_wraps_around(tmp_path):
    random = np.random.default_rng(9)
    steps = np.cumsum(random.integers(1, 100, 1000))
    offsets = random.integers(0, 25, 1000)
    for n, uri in enumerate(two_numbers(tmp_path, (steps % 4096).tolist(), offsets.tolist())):
        run = run_all(tmp_path / f"run{n}", f"{uri}time=t&coarse=step&coarse-unit=25ns&unit=ns&bits=12")
        assert [row[0] for row in rows_of(run)] == (25 * steps + offsets).tolist()
        assert counts_of(run.report(), 0)["clock_turns"] == steps[-1] // 4096 - steps[0] // 4096


def test_unix_seconds_and_picoseconds(tmp_path):
    """Their sum exceeds 64 bits in ps."""
    seconds, ps = [1_700_000_000, 1_700_000_001], [999_999_999_999, 1]
    for n, uri in enumerate(two_numbers(tmp_path, seconds, ps)):
        uri += "time=t&coarse=step&coarse-unit=s&unit=ps&origin=1700000000s"
        found = rows_of(run_all(tmp_path / f"run{n}", uri, options=("--tick", "1ps")))
        assert [row[0] for row in found] == [999_999_999_999, 10**12 + 1]


def test_two_numbers_that_cannot_be(tmp_path):
    for uri in two_numbers(tmp_path, [1, 2], [3, 4]):
        refused(f"{uri}time=t&unit=ns&coarse=step", "'coarse-unit=' is missing")
        refused(f"{uri}time=t&unit=ns&coarse-unit=s", "'coarse=' is missing")
        refused(f"{uri}time=t&unit=ns&coarse=step&coarse-unit=day", "'day' is not a unit of time", "25/2ns")
        refused(f"{uri}time=t&unit=ns&coarse=steps&coarse-unit=s", "steps")
        refused(f"{uri}time=t&coarse=step&coarse-unit=s", "unit")
    path = table(tmp_path, "step,t,ch\n1,2,3\nx,2,3\n")
    refused(f"{path}?time=t&unit=ns&coarse=step&coarse-unit=s", "t.csv:3", "'x' is not a coarse time")
    path = table(tmp_path, "step,time,ch\n1,2026-11-21T10:00:00Z,3\n")
    refused(f"{path}?coarse=step&coarse-unit=s&origin=2026-11-21T00:00:00Z", "omit coarse=")


@pytest.mark.parametrize("field, high, low, shift", [
    ("u32le@3<<24|u24le@0", "u4", 24, 24), ("u16be@7<<40|u40le@0", ">u2", 40, 40), ("u32le@3<<30|u24le@0:0-21", "u4", 22, 30),
    ("u8@3<<8|u8@0", "u1", 8, 8), ("u32le@3:4-27<<24|u24le@0", "u4", 24, 24)])
def test_times_of_two_fields(tmp_path, field, high, low, shift):
    """The low field lies at byte 0, the high one after it; the reference composes them as integers."""
    random = np.random.default_rng(shift)
    at = int(field.split("@")[1].split("<<")[0].split(":")[0])
    some = np.dtype(high).itemsize
    records = np.zeros((500, at + some + 2), dtype="u1")
    records[:, :-2] = random.integers(0, 256, (500, at + some))
    records[:, -2] = np.arange(500) % 7
    records.tofile(tmp_path / "t.bin")
    times = []
    for record in records:
        top = int.from_bytes(record[at:at + some].tobytes(), "big" if "be@" in field else "little")
        bottom = int.from_bytes(record[:8 if low > 24 else 3].tobytes(), "little") & (2**low - 1) if low != 8 else int(record[0])
        times.append((top >> 4 & 0xFFFFFF if ":4-27" in field else top) << shift | bottom)
    order = np.argsort(np.array(times, dtype="u8"), kind="stable")
    records[order].tofile(tmp_path / "t.bin")
    uri = f"packed:{tmp_path}/t.bin?record={records.shape[1]}&time={field}&channel=u8@{at + some}"
    assert rows_of(run_all(tmp_path / "run", uri)) == [(times[n], 0, n % 7, ()) for n in order.tolist()]
    if 25 * max(times) >= 2**64:
        return
    uri += "&unit=25/2ns"
    found = rows_of(run_all(tmp_path / "ticks", uri, options=("--tick", "500ps")))
    assert [row[0] for row in found] == [25 * times[n] for n in order.tolist()]


def test_two_fields_that_cannot_be(tmp_path):
    (tmp_path / "t.bin").write_bytes(bytes(32))
    for field, words in (("u32le@4<<24|u32le@0", "32 bits where only 24 are free"), ("u32le@4<<24", "HIGH<<BITS|LOW"),
                         ("u32le@4<<0|u24le@0", "1 to 63 bits"), ("u32le@4<<64|u24le@0", "1 to 63 bits"),
                         ("u64le@4<<24|u24le@0", "more than 64 bits"), ("u32le@4<<32|f32le@0", "not plain"),
                         ("u32le@4<<32|u24le@0*2", "not plain"), ("u32le@4<<32|u24le@15", "does not lie inside a record"),
                         ("u32le@4<<x|u24le@0", "1 to 63 bits"), ("i32le@4<<32|u24le@0", "not plain")):
        refused(f"packed:{tmp_path}/t.bin?record=16&time={field}&fixed-channel=0", "time=", words)


# ---- ticks of a clock, and its drift

@pytest.mark.parametrize("unit, drift", [
    ("12.5ns", ""), ("25/3ns", ""), ("1/1024us", ""), ("ns", "-120ppb"), ("25/2ns", "1.5ppm"), ("1/7us", "+0.004ppb"),
    ("6.25ns", "-9999ppm"), ("97.65625ps", "+0.04ppb"), ("25/3ns", "-777.125ppb")])
def test_ticks_and_drift_are_exact(tmp_path, unit, drift):
    """In each form, with either rounding; the last times are far from 0, where doubles would be wrong."""
    random = np.random.default_rng(len(unit) + len(drift))
    counts = np.sort(np.concatenate([random.integers(0, 10**6, 300), 2**52 + random.integers(0, 10**6, 300)])).tolist()
    rate = 1 + (Fraction(drift[:-3]) / (10**9 if drift.endswith("b") else 10**6) if drift else 0)
    table(tmp_path, "t,ch\n" + "".join(f"{c},{n % 5}\n" for n, c in enumerate(counts)))
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["time"], file["channel"] = np.array(counts), np.arange(600) % 5
        file["time"].attrs["units"] = "ticks"
    records = np.zeros(600, dtype=[("t", "<u8"), ("c", "u1")])
    records["t"], records["c"] = counts, np.arange(600) % 5
    records.tofile(tmp_path / "t.bin")
    for how in ("nearest", "down"):
        expected = [(rounded(c * length(unit) * rate, how), 0, n % 5, ()) for n, c in enumerate(counts)]
        keys = f"unit={unit}" + (f"&drift={drift}" if drift else "") + ("" if drift and how == "nearest" else f"&round={how}")
        for n, uri in enumerate((f"csv:{tmp_path}/t.csv?", f"csv:{tmp_path}/t.csv?origin=0&", f"hdf5:{tmp_path}/t.h5?",
                                 f"packed:{tmp_path}/t.bin?record=9&time=u64le@0&channel=u8@8&")):
            assert rows_of(run_all(tmp_path / f"run{how}{n}", f"{uri}{keys}")) == expected


def test_units_and_drifts_that_cannot_be(tmp_path):
    path = table(tmp_path, "t,ch\n1,2\n")
    for unit in ("12.5", "0ns", "25/0ns", "25/xns", "-5ns", "5 ns", "25/2", "1/2000000ns", "day"):
        refused(f"{path}?unit={unit}", "is not a unit of time", "12.5ns and 25/2ns")
    for drift in ("5", "5ppt", "x", "ppm", "10000ppm", "-1e8ppb", "1e-20ppb"):
        refused(f"{path}?unit=ns&drift={drift}", f"drift={drift} is no change", "drift=-1.5ppm")
    refused(f"{path}?unit=25/3ns", "t.csv:2", "the time 1 x 25/3ns is not a whole number", "round=")
    path = table(tmp_path, "t,ch\n2026-11-21T10:00:00Z,2\n")
    refused(f"{path}?origin=2026-11-21T00:00:00Z&drift=1ppb", "omit drift=")
    (tmp_path / "t.bin").write_bytes(bytes(8))
    refused(f"packed:{tmp_path}/t.bin?record=8&time=u32le@0&channel=u8@4&numbered=yes&drift=1ppb", "omit unit=, drift= and round=")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["time"], file["channel"] = np.array([5, 6]), np.array([1, 2])
        file["time"].attrs["units"] = "ns"
    refused(f"hdf5:{tmp_path}/t.h5?unit=12.5ns", "contradicts its attribute")
