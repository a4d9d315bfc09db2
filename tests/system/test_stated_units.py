"""Times as a file states them: their unit, their precision, and their origin. The references are Python's integers and
fractions."""

import os
import subprocess
import sys
from fractions import Fraction

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from program import Run, eventloom, only_line
from results import dropped, read_ledger, read_merged

PER_NS = {"ps": Fraction(1, 1000), "ns": Fraction(1), "us": Fraction(1000), "ms": Fraction(10**6), "s": Fraction(10**9)}


def nearest(fraction):
    return (2 * fraction.numerator + fraction.denominator) // (2 * fraction.denominator)


def ticks_of(folder, uri, *options, code=0):
    """The times that `convert` makes of an input, in ticks of 1 ns, and its messages."""
    (folder / "out.epochs").unlink(missing_ok=True)
    done = eventloom("convert", uri, "--output", folder / "out.epochs", *options, code=code)
    return sorted(hits_of_file(read_epochs_file(folder / "out.epochs")).time.tolist()), done.stderr


def refused(folder, uri, *words, options=()):
    line = only_line(eventloom("convert", uri, "--output", folder / "no.epochs", *options, code=2), *words)
    assert not (folder / "no.epochs").exists()
    return line


def columns(path, time, group="/", name="time", units=None, channel=None):
    """Writes a file of hits; returns its URI."""
    with h5py.File(path, "w") as file:
        place = file.require_group(group)
        place[name] = time
        place["channel"] = np.arange(len(time)) % 50 if channel is None else channel
        if units is not None:
            place[name].attrs["units"] = units
    return f"hdf5:{path}?time={name}"


def packed(path, time, kind):
    records = np.zeros(len(time), dtype=[("t", kind), ("c", "<u4")])
    records["t"] = time
    records.tofile(path)
    name = {"<f8": "f64le", "<f4": "f32le"}[kind]
    return f"packed:{path}?record={records.itemsize}&time={name}@0&channel=u32le@{records.itemsize - 4}"


# ---- the nearest tick

@pytest.mark.parametrize("kind", ["<f8", "<f4", ">f8", "<f2"])
@pytest.mark.parametrize("unit, most", [("s", 1e-5), ("s", 1.7e9), ("ms", 3e5), ("us", 1e7), ("ns", 1e3), ("ps", 6e4)])
@pytest.mark.parametrize("tick, tick_ns", [("1ns", 1), ("7ps", Fraction(7, 1000)), ("2.5ns", Fraction(5, 2))])
def test_floats_become_the_nearest_tick(tmp_path, kind, unit, most, tick, tick_ns):
    if kind == "<f2" and most > 6e4:
        pytest.skip("above the largest number of 16 bits")
    if kind == "<f2" and unit == "s":
        pytest.skip("below the smallest")
    random = np.random.default_rng(int(most) % 1000 + len(tick))
    time = np.sort(random.random(700) * most + most / 3).clip(0, most).astype(kind)
    uri = columns(tmp_path / "x.h5", time, units=unit)
    exact = [Fraction(float(v)) * PER_NS[unit] / tick_ns for v in time]
    if max(exact) >= 2**64:
        refused(tmp_path, f"{uri}&round=nearest", "below 2^64", options=["--tick", tick])
        return
    found, _ = ticks_of(tmp_path, f"{uri}&round=nearest", "--tick", tick)
    assert found == sorted(nearest(v) for v in exact)
    if kind in ("<f8", "<f4"):
        found, _ = ticks_of(tmp_path, f"{packed(tmp_path / 'x.bin', time, kind)}&unit={unit}&round=nearest", "--tick", tick)
        assert found == sorted(nearest(v) for v in exact)


def test_a_scale_of_packed_floats_is_exact(tmp_path):
    time = np.sort(np.random.default_rng(3).random(500) * 1e9)
    uri = packed(tmp_path / "x.bin", time, "<f8").replace("f64le@0", "f64le@0*6.25e-1")
    found, _ = ticks_of(tmp_path, f"{uri}&unit=us&round=nearest")
    assert found == sorted(nearest(Fraction(float(v)) * Fraction(5, 8) * 1000) for v in time)


def test_whole_ticks_in_seconds_need_no_rounding(tmp_path):
    """Each time is the nearest double, which is not the time itself: 0.1 s has no exact double."""
    ns = np.sort(np.random.default_rng(4).choice(10**13, 2000, replace=False))
    found, _ = ticks_of(tmp_path, columns(tmp_path / "x.h5", ns / 1e9, units="s"))
    assert found == ns.tolist()


# ---- precision

@pytest.mark.parametrize("kind, bits", [("<f8", 53), ("<f4", 24), ("<f2", 11)])
def test_numbers_further_apart_than_ticks_need_round(tmp_path, kind, bits):
    """Integers up to the one whose successor is two away."""
    limit = 2**bits
    fits = np.array([0, 1, limit - 2, limit - 1], dtype=kind)
    assert ticks_of(tmp_path, columns(tmp_path / "x.h5", fits, units="ns"))[0] == [0, 1, limit - 2, limit - 1]
    uri = columns(tmp_path / "x.h5", np.array([5, limit, limit + 2], dtype=kind), units="ns")
    refused(tmp_path, uri, "x.h5:/time' row 1", "lost precision", "2 ns apart", "round=nearest")
    assert ticks_of(tmp_path, f"{uri}&round=nearest")[0] == [5, limit, limit + 2]


def test_unix_seconds_as_doubles(tmp_path):
    time = 1_700_000_000 + np.sort(np.random.default_rng(5).random(300))
    uri = columns(tmp_path / "x.h5", time)
    refused(tmp_path, f"{uri}&unit=s", "row 0", "lost precision", "238.4 ns apart", "round=nearest")
    found, said = ticks_of(tmp_path, f"{uri}&unit=s&round=nearest")
    assert found == [nearest(Fraction(float(v)) * 10**9) for v in time] and "precision" not in said


@pytest.mark.parametrize("kind, first", [("<f8", 2.0**53), ("<f4", 2.0**24)])
def test_packed_floats_without_precision_are_counted(tmp_path, kind, first):
    """They are rounded unless `round` specifies otherwise, but not silently: the last lines of a run report it."""
    time = np.array([1.25, first / 2, first, first * 3], dtype=kind)
    uri = packed(tmp_path / "x.bin", time, kind)
    run = Run(tmp_path, [uri], "--define", "gap:0,1")
    assert read_merged(run.merged)["hits/time"].tolist() == [1, int(first / 2), int(first), int(first * 3)]
    assert "x.bin: offset" in run.done.stderr and "lost precision" in run.done.stderr
    assert "imprecise_times 2" in "\n".join((run.done.stderr + run.done.stdout).splitlines()[-10:])
    quiet = Run(tmp_path / "accepted", [f"{uri}&round=nearest"], "--define", "gap:0,1")
    assert "precis" not in quiet.done.stderr + quiet.done.stdout


@pytest.mark.parametrize("text, unit, keys, words", [
    ("1.64E+15", "ns", "", ("'1.64E+15'", "1e13 ns", "round=nearest")),
    ("1.64e+15", "ns", "&origin=5ns", ("1e13 ns", "round=nearest")),
    ("5", "ns", "", None), ("1.5e3", "us", "&round=nearest", None), ("1.640000000000001e+15", "ns", "", None),
    ("1e-7", "s", "", None), ("12345678901234567890", "ns", "", None), ("18446744073709551616", "ns", "", ("at most 19 digits",)),
    ("0.1234567891", "s", "", ("whole number", "round=")), ("18446744073709551616e0", "ns", "", ("at most 19 digits",)),
    ("1844674407370955162e1", "ns", "&round=nearest", ("below 2^64",)), ("nan", "ns", "", ("not a time",)),
])
def test_numbers_of_a_table_have_all_their_digits(tmp_path, text, unit, keys, words):
    (tmp_path / "t.csv").write_text(f"when,ch\n0,2\n{text},3\n")
    uri = f"csv:{tmp_path}/t.csv?time=when&channel=ch&unit={unit}{keys}"
    if words:
        refused(tmp_path, uri, "t.csv:3", *words)
    else:
        assert ticks_of(tmp_path, uri)[0] == [0, nearest(Fraction(text) * PER_NS[unit])]


# ---- units

@pytest.mark.parametrize("text, unit", [
    ("ns", "ns"), ("nanoseconds", "ns"), ("Second", "s"), (" us ", "us"), ("µs", "us"), ("microsecond", "us"), ("ms", "ms"),
    ("ps", "ps"), ("msec", "ms"), (np.bytes_("ns"), "ns"), (np.array([b"us"]), "us"), (np.array(["ms"], dtype=h5py.string_dtype()), "ms")])
def test_the_attribute_units(tmp_path, text, unit):
    uri = columns(tmp_path / "x.h5", np.arange(9) * 3000, units=text)
    expected = [int(t * PER_NS[unit]) for t in range(0, 27_000, 3000)]
    assert ticks_of(tmp_path, uri)[0] == ticks_of(tmp_path, f"{uri}&unit={unit}")[0] == expected


@pytest.mark.parametrize("text, key, words", [
    ("us", "ns", ("unit=ns", "contradicts", "units='us'")), ("seconds", "ms", ("unit=ms", "contradicts", "units='seconds'")),
    ("days since 1970-01-01", None, ("units='days since 1970-01-01'", "add unit=")), ("25ns", None, ("units='25ns'", "add unit=")),
    ("minutes", None, ("units='minutes'", "add unit=")), (np.array([b"ns", b"us"]), None, ("no unit", "unit=")),
    (7, None, ("no unit", "unit=")), (None, None, ("no unit", "'units'", "unit=")), ("", None, ("no unit", "unit="))])
def test_attributes_that_state_no_unit_or_another(tmp_path, text, key, words):
    uri = columns(tmp_path / "x.h5", np.arange(9), units=text)
    refused(tmp_path, uri + (f"&unit={key}" if key else ""), "x.h5:/time'", *words)
    if key is None:
        origin = "&origin=0" if "since" in str(text) else ""
        assert ticks_of(tmp_path, f"{uri}&unit=us{origin}")[0] == list(range(0, 9000, 1000))


@pytest.mark.parametrize("text, unix_ns", [
    ("us since 2026-11-21", 1_795_219_200 * 10**9), ("microseconds since 2026-11-21 10:00:00", 1_795_255_200 * 10**9),
    ("us since 2026-11-21T10:00:00.25Z", 1_795_255_200_250_000_000), ("us since 2026-11-21 11:00:00 +01:00", 1_795_255_200 * 10**9),
    ("us since 2026-11-21 10:00:00 UTC", 1_795_255_200 * 10**9)])
def test_times_that_count_from_a_date(tmp_path, text, unix_ns):
    """As in netCDF. Without an origin the date would be ignored, and the source would not be in step with others."""
    uri = columns(tmp_path / "x.h5", np.arange(9), units=text)
    for keys in ("", "&unit=us"):
        line = refused(tmp_path, uri + keys, "x.h5:/time'", f"units='{text}'", "tick 0", "origin=2026-11-21T")
    own = line[line.index("origin="):].split()[0]
    assert ticks_of(tmp_path, f"{uri}&{own}")[0] == ticks_of(tmp_path, f"{uri}&origin=0")[0] == list(range(0, 9000, 1000))
    since_1970 = ticks_of(tmp_path, f"{uri}&origin=1970-01-01T00:00:00Z")[0]
    assert since_1970 == [unix_ns + t for t in range(0, 9000, 1000)]
    refused(tmp_path, f"{uri}&unit=ns", "unit=ns", "contradicts")
    late = columns(tmp_path / "y.h5", np.arange(9), units="us since the trigger")
    refused(tmp_path, late, "names no time", "origin=0")
    assert ticks_of(tmp_path, f"{late}&origin=0")[0] == list(range(0, 9000, 1000))


def test_the_attribute_unit(tmp_path):
    uri = columns(tmp_path / "x.h5", np.arange(5))
    with h5py.File(tmp_path / "x.h5", "r+") as file:
        file["time"].attrs["unit"] = "ms"
    assert ticks_of(tmp_path, uri)[0] == [t * 1_000_000 for t in range(5)]
    refused(tmp_path, f"{uri}&unit=s", "unit=s", "contradicts", "unit='ms'")


def test_another_word_for_the_tick_is_no_contradiction(tmp_path):
    uri = columns(tmp_path / "x.h5", np.arange(9), units="us")
    assert ticks_of(tmp_path, f"{uri}&unit=tick", "--tick", "1us")[0] == list(range(9))
    refused(tmp_path, f"{uri}&unit=tick", "unit=tick", "units='us'")


def test_the_name_of_a_dataset(tmp_path):
    for name, factor in (("time_us", 1000), ("t [ms]", 10**6), ("hit_time_ns", 1)):
        assert ticks_of(tmp_path, columns(tmp_path / "x.h5", np.arange(5), name=name))[0] == [n * factor for n in range(5)]
    uri = columns(tmp_path / "x.h5", np.arange(5), name="time_us", units="ns")
    refused(tmp_path, uri, "x.h5:/time_us'", "name", "units='ns'")
    assert ticks_of(tmp_path, f"{uri}&unit=ns")[0] == list(range(5))


@pytest.mark.parametrize("header, keys", [("t,ch", ""), ("time,channel", ""), ("timestamp,ch", ""), ("TIMETAG,CH", ""),
                                          ("time_offset,ch", "&time=1&channel=2"), ("t,ch", "&origin=-5ms"), (None, "&time=1&channel=2")])
def test_a_table_states_its_unit(tmp_path, header, keys):
    rows = "".join(f"{t},{t}\n" for t in range(1, 4))
    (tmp_path / "t.csv").write_text((f"{header}\n" if header else "") + rows)
    skip = "&skip=1" if header and "time=1" in keys else ""
    uri = f"csv:{tmp_path}/t.csv?{keys}{skip}".replace("?&", "?").rstrip("?")
    line = refused(tmp_path, uri, f"t.csv:{2 if header else 1}", "no unit", "unit=")
    assert "round=" not in line
    only_line(eventloom("inspect", uri, code=2), "no unit")
    shift = 5_000_000 if "origin" in keys else 0
    assert ticks_of(tmp_path, f"{uri}{'&' if '?' in uri else '?'}unit=us")[0] == [t * 1000 + shift for t in range(1, 4)]


@pytest.mark.parametrize("name", ["time [ticks]", "t_tick", "time_ticks", "timestamp (Ticks)"])
def test_ticks_of_a_table_need_a_unit(tmp_path, name):
    (tmp_path / "a.csv").write_text(f"{name},ch\n5,1\n7,1\n")
    refused(tmp_path, f"csv:{tmp_path}/a.csv", "how long a tick of the clock is", "unit=12.5ns")
    assert ticks_of(tmp_path, f"csv:{tmp_path}/a.csv?unit=25ns")[0] == [125, 175]


def test_words_for_units_in_a_header(tmp_path):
    for name, factor in (("time (seconds)", 10**9), ("t[µs]", 1000), ("Time_nanoseconds", 1)):
        (tmp_path / "t.csv").write_text(f"{name};ch\n3;1\n")
        assert ticks_of(tmp_path, f"csv:{tmp_path}/t.csv")[0] == [3 * factor]


@pytest.mark.parametrize("tick", ["1ns", "25ns", "2ps"])
def test_an_output_states_its_unit(tmp_path, tick):
    run = Run(tmp_path, ["gen:poisson?rate=1e5&duration=200us&seed=3"], "--tick", tick, "--define", "gap:0,1")
    times = read_merged(run.merged)["hits/time"].tolist()
    assert ticks_of(tmp_path, f"hdf5:{run.merged}?group=/hits", "--tick", tick)[0] == times
    refused(tmp_path, f"hdf5:{run.merged}?group=/hits&unit=us", "unit=us", "tick_ps", options=["--tick", tick])
    eventloom("merge", run.output, "--nexus", "--output", tmp_path / "nexus.h5")
    uri = f"hdf5:{tmp_path}/nexus.h5?group=/entry/events&time=event_time_offset&channel=event_id"
    assert ticks_of(tmp_path, uri, "--tick", tick)[0] == times


# ---- what times count from

NEGATIVE = [-950, -940, -500, 0, 10, 20, 5000]


@pytest.mark.parametrize("kind", ["i8", "f8", "i4"])
@pytest.mark.parametrize("keys, shift", [("offset=1us", 1000), ("origin=-1us", 1000), ("origin=-500", 500), ("origin=-2us&offset=-1us", 1000),
                                         ("origin=5ns&offset=5ns", 0)])
def test_negative_times_with_an_origin(tmp_path, kind, keys, shift):
    uri = columns(tmp_path / "x.h5", np.array(NEGATIVE, dtype=kind), units="ns")
    expected = [t + shift for t in NEGATIVE if t + shift >= 0]
    lost = len(NEGATIVE) - len(expected)
    run = Run(tmp_path, [f"{uri}&{keys}"], "--define", "gap:0,1", code=3 if lost else 0)
    found = read_merged(run.merged)
    assert found["hits/time"].tolist() == expected
    assert dropped(read_ledger(run.output))["untimed"] == lost
    assert (f"{lost} hits have no time from tick 0 on" in run.done.stderr) == (lost > 0)
    refused(tmp_path, uri, "row 0", "-950", "negative", "origin=")


def test_origins_that_cannot_be(tmp_path):
    uri = columns(tmp_path / "x.h5", np.arange(3), units="ns")
    for origin in ("yesterday", "0.3ns", "-", ""):
        refused(tmp_path, f"{uri}&origin={origin}", "origin")
    refused(tmp_path, f"{uri}&offset=soon", "offset", "'soon'")


@pytest.mark.parametrize("origin", ["2023-11-14T22:13:20Z", "1700000000s"])
def test_unix_times_in_picoseconds_fit_with_an_origin(tmp_path, origin):
    time = 1_700_000_000_000_000_000 + np.arange(5, dtype=np.uint64)
    uri = columns(tmp_path / "x.h5", time, units="ns")
    refused(tmp_path, uri, "below 2^64", options=["--tick", "1ps"])
    assert ticks_of(tmp_path, f"{uri}&origin={origin}", "--tick", "1ps")[0] == [0, 1000, 2000, 3000, 4000]


# ---- tables in HDF5

def table(path, unit="ns", extra=()):
    kind = np.dtype([("energy", "<f4"), (f"time_{unit}" if unit else "time", ">u8"), ("channel", "<u2"), ("tot", "u1"),
                     ("more", [("t", "<f8"), ("c", "<i2")]), *extra])
    rows = np.zeros(1000, dtype=kind)
    rows[kind.names[1]] = np.arange(1000) * 7
    rows["channel"], rows["tot"] = np.arange(1000) % 300, np.arange(1000) % 200
    rows["more"]["t"], rows["more"]["c"] = np.arange(1000) * 3.5, np.arange(1000) % 9
    with h5py.File(path, "w") as file:
        file.create_dataset("run/hits", data=rows, chunks=(64,), compression="gzip")
    return rows


def test_fields_of_a_table(tmp_path):
    rows = table(tmp_path / "x.h5")
    uri = f"hdf5:{tmp_path}/x.h5?group=/run"
    eventloom("convert", f"{uri}&time=hits/time_ns&channel=hits/channel&payload=hits/tot", "--output", tmp_path / "a.epochs")
    hits = hits_of_file(read_epochs_file(tmp_path / "a.epochs"))
    assert hits.time.tolist() == rows["time_ns"].tolist() and hits.channel.tolist() == rows["channel"].tolist()
    assert hits.payload.tolist() == rows["tot"].tolist()
    nested = f"{uri}&time=hits/more/t&channel=hits/more/c&unit=us"
    assert ticks_of(tmp_path, nested)[0] == [int(t * 1000) for t in rows["more"]["t"]]


def test_tables_without_a_field(tmp_path):
    table(tmp_path / "x.h5", unit="")
    uri = f"hdf5:{tmp_path}/x.h5?group=/run"
    refused(tmp_path, f"{uri}&time=hits&channel=hits&unit=ns", "/run/hits'", "time=hits/FIELD", "'energy', 'time', 'channel', 'tot'")
    refused(tmp_path, f"hdf5:{tmp_path}/x.h5?group=/run/hits", "'/run/hits' is a dataset", "time=TABLE/FIELD")
    refused(tmp_path, f"{uri}&time=hits/when&channel=hits/channel&unit=ns", "no such field", "'time'")
    refused(tmp_path, f"{uri}&time=hits/more&channel=hits/channel&unit=ns", "no such field", "'t', 'c'")
    refused(tmp_path, f"{uri}&time=hits/time/x&channel=hits/channel&unit=ns", "no such field")
    refused(tmp_path, f"{uri}&time=hits/time&channel=hits/channel", "no unit", "unit=")
    refused(tmp_path, f"{uri}&time=hits/time&channel=hits/more/t&unit=ns", "row 1: 3.5 is not a channel")


# ---- files that their writer left open

WRITER = """
import h5py, numpy, os, sys
f = h5py.File(sys.argv[1], "w", libver="latest")
for k in ("time", "channel"):
    f.create_dataset(k, (0,), maxshape=(None,), chunks=(1000,), dtype="u4")
f.swmr_mode = sys.argv[2] == "swmr"
for k in ("time", "channel"):
    f[k].resize((5000,)); f[k][:] = numpy.arange(5000); f[k].flush()
f.flush()
os._exit(0)
"""


@pytest.mark.parametrize("how", ["swmr", "plain"])
def test_a_file_left_open(tmp_path, how):
    path = tmp_path / "w.h5"
    code = WRITER if how == "swmr" else WRITER.replace('f.swmr_mode = sys.argv[2] == "swmr"\n', "")
    subprocess.run([sys.executable, "-c", code, path, how], check=True)
    refused(tmp_path, f"hdf5:{path}?unit=ns", "w.h5", "open for writing", "h5clear -s")
    subprocess.run(["h5clear", "-s", path], check=True)
    assert ticks_of(tmp_path, f"hdf5:{path}?unit=ns")[0] == list(range(5000))


def test_a_file_that_was_cut(tmp_path):
    columns(tmp_path / "x.h5", np.arange(50_000))
    os.truncate(tmp_path / "x.h5", 40_000)
    refused(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns", "x.h5", "shorter than it says")


# ---- NeXus

def nexus(path, zero, index, offset, zero_attributes=(), offset_attributes=(), name="event_time_offset", leave=()):
    """Writes a group of NXevent_data; returns its URI."""
    with h5py.File(path, "w") as file:
        group = file.create_group("entry/bank_events")
        group.attrs["NX_class"] = "NXevent_data"
        for key, values, attributes in (("event_time_zero", zero, zero_attributes), (name, offset, offset_attributes),
                                        ("event_index", index, ()), ("event_id", np.arange(len(offset)), ())):
            if key not in leave:
                group[key] = values
                group[key].attrs.update(dict(attributes))
    return f"hdf5:{path}?group=/entry/*_events&time={name}&channel=event_id"


def placed(zero, index, offset):
    """The absolute times, from fractions of a tick."""
    pulse = np.searchsorted(index, np.arange(len(offset)), side="right") - 1
    return [zero[p] + offset[i] for i, p in enumerate(pulse)]


def test_events_of_pulses_since_1970(tmp_path):
    """As at the ESS: integer nanoseconds. Pulses without events have the index of the next one."""
    random = np.random.default_rng(34)
    zero = np.arange(300, dtype=np.uint64) * 71_428_571 + 1_700_000_000_000_000_000
    index = np.sort(random.choice(3000, 300)).astype(np.uint64)
    index[0] = 0
    offset = random.integers(0, 71_000_000, 3000).astype(np.uint32)
    uri = nexus(tmp_path / "n.nxs", zero, index, offset, {"units": "ns", "start": "1970-01-01T00:00:00"}, {"units": "ns"})
    assert ticks_of(tmp_path, uri)[0] == sorted(placed([int(z) for z in zero], index, offset.tolist()))


@pytest.mark.parametrize("start, seconds", [("2011-08-12T11:50:17.5-04:00", 1313164217.5), ("2011-08-12T15:50:17.5", 1313164217.5), (None, 0)])
def test_events_of_pulses_in_seconds(tmp_path, start, seconds):
    """As at the SNS and ISIS: doubles in seconds since a start, floats in microseconds."""
    random = np.random.default_rng(35)
    zero = np.cumsum(random.random(200) * 0.02)
    index = np.sort(random.choice(2000, 200)).astype(np.int64)
    index[0] = 0
    offset = (random.random(2000) * 16667).astype(np.float32)
    uri = nexus(tmp_path / "n.nxs", zero, index, offset, {"units": "second", **({"offset": start} if start else {})},
                {"units": "microsecond"})
    refused(tmp_path, uri, "event_time_offset'", "round=")
    exact = placed([Fraction(float(z)) * 10**9 + int(seconds * 10**9) for z in zero], index,
                   [Fraction(float(v)) * 1000 for v in offset])
    assert ticks_of(tmp_path, f"{uri}&round=nearest")[0] == sorted(nearest(t) for t in exact)
    if start:
        found, _ = ticks_of(tmp_path, f"{uri}&round=nearest&origin={start}", "--tick", "100ps")
        assert found == sorted(nearest((t - int(seconds * 10**9)) * 10) for t in exact)


def test_pulses_that_go_back(tmp_path):
    """Events of a pulse are unordered, but pulses are ordered."""
    zero = np.arange(20, dtype=np.uint64) * 71_428_571
    index, offset = np.arange(20) * 3, np.tile(np.array([70_000_000, 5, 30_000_000], dtype=np.uint32), 20)
    uri = nexus(tmp_path / "n.nxs", np.concatenate([zero, zero]), np.concatenate([index, index + 60]),
                np.concatenate([offset, offset]), {"units": "ns"}, {"units": "ns"})
    refused(tmp_path, uri, "hit 61 at 70ms", "before hit 58", "within 70ms", "jumps=new-era")
    found, _ = ticks_of(tmp_path, f"{uri}&jumps=new-era")
    once = sorted(placed(zero.tolist(), index, offset.tolist()))
    assert found[:60] == once and found[60] > once[-1] and [t - found[60] for t in found[60:]] == [t - once[0] for t in once]
    refused(tmp_path, f"{uri}&reorder=1ms", "hit 1 at 70ms", "within 1ms")


def test_one_unit_for_both(tmp_path):
    uri = nexus(tmp_path / "n.nxs", np.array([0, 1000]), np.array([0, 2]), np.array([1, 2, 3], dtype="u4"))
    refused(tmp_path, uri, "no unit")
    assert ticks_of(tmp_path, f"{uri}&unit=us")[0] == [1000, 2000, 1_003_000]


def test_events_before_the_first_pulse_are_lost(tmp_path):
    uri = nexus(tmp_path / "n.nxs", np.array([1000, 2000]), np.array([3, 5]), np.arange(8), {"units": "ns"}, {"units": "ns"})
    run = Run(tmp_path, [uri], "--define", "gap:0,1", code=3)
    assert read_merged(run.merged)["hits/time"].tolist() == [1003, 1004, 2005, 2006, 2007]
    assert dropped(read_ledger(run.output))["untimed"] == 3
    assert "3 hits come before the first pulse" in run.done.stderr


@pytest.mark.parametrize("change, words", [
    (dict(leave=("event_time_zero",)), ("count from pulses", "event_time_zero")), (dict(leave=("event_index",)), ("count from pulses", "event_index")),
    (dict(index=np.array([0, 4, 2])), ("event_index'", "row 2", "2 follows 4")), (dict(index=np.array([0, 4, 9])), ("event_index'", "begins with event 9")),
    (dict(index=np.array([0, 4])), ("2 rows", "3")), (dict(index=np.array([0, -4, 5])), ("event_index'", "negative")),
    (dict(index=np.array([0.0, 4, 5])), ("event_index'",)), (dict(zero=np.array([]), index=np.array([], "u8")), ("no pulses",)),
    (dict(zero=np.array([0, 1e17, 2e17])), ("event_time_zero' row 1", "lost precision")),
    (dict(zero_attributes={"units": "ns", "offset": "a while ago"}), ("offset='a while ago'",)),
    (dict(zero_attributes={"units": "pulses"}), ("units='pulses'", "add unit=")),
    (dict(name="event_time_of_flight", leave=("event_time_zero",)), ("count from pulses",))])
def test_pulses_that_cannot_be(tmp_path, change, words):
    made = dict(zero=np.array([0, 1000, 2000]), index=np.array([0, 4, 5]), offset=np.arange(8), zero_attributes={"units": "ns"},
                offset_attributes={"units": "ns"}) | change
    refused(tmp_path, nexus(tmp_path / "n.nxs", **made), "n.nxs", *words)
