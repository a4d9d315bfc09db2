"""What the cells of an HDF5 file hold: missing values, scales, kinds and shapes of columns, and where their rows lie.
The references are numpy, h5py, and Python's fractions."""

import json
from fractions import Fraction
from pathlib import Path

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from program import BINARY, DATA, Run, eventloom, only_line
from results import dropped, read_ledger, read_merged

N = 1000
TIME = np.arange(N, dtype="u8") * 100
CHANNEL = (np.arange(N) % 8).astype("u2")


def write(path, attributes=(), **columns):
    """Writes datasets; `attributes`: (dataset, name, value). Returns the URI of the file."""
    with h5py.File(path, "w") as file:
        for name, column in columns.items():
            file[name] = column
        for name, attribute, value in attributes:
            file[name].attrs[attribute] = value
    return f"hdf5:{path}?"


def convert(folder, uri, *options, code=0):
    """Hits of an input, in order, as `convert` makes them, and its messages."""
    (folder / "out.epochs").unlink(missing_ok=True)
    done = eventloom("convert", uri, "--output", folder / "out.epochs", *options, code=code)
    return hits_of_file(read_epochs_file(folder / "out.epochs")), done.stderr


def refused(folder, uri, *words):
    return only_line(eventloom("convert", uri, "--output", folder / "no.epochs", code=2), *words)


def reals(hits):
    return hits.payload.view("<f8")


# ---- rows without a value

def marked(kind, value, **attributes):
    """Times of which some are missing: their column, its attributes, and which."""
    gone = np.zeros(N, bool)
    gone[[20, 21, 22, 700]] = True
    column = TIME.astype(kind)
    column[gone] = value
    return column, [("time", name, number) for name, number in attributes.items()], gone


MISSING = {
    "nan": marked("f8", np.nan),
    "infinity": marked("f4", -np.inf),
    "fill_value": marked("i8", -9999, _FillValue=np.int64(-9999)),
    "fill_value_above_2_53": marked("u8", 2**63 + 1, _FillValue=np.uint64(2**63 + 1)),
    "missing_value": marked("f4", np.float32(-9999.9), missing_value=-9999.9),
    "one_of_two": marked("i4", 77, missing_value=np.array([5, 77], "i4")),
    "fill_value_of_another_type": marked("i4", -1, _FillValue=-1.0),
}


@pytest.mark.parametrize("keys", ["", "&skip-bad=yes"])
@pytest.mark.parametrize("name", MISSING)
def test_a_missing_time_is_a_lost_hit(tmp_path, name, keys):
    column, attributes, gone = MISSING[name]
    uri = write(tmp_path / "x.h5", attributes, time=column, channel=CHANNEL, value=np.arange(N, dtype="u4"))
    run = Run(tmp_path, [f"{uri}unit=ns&payload=value{keys}"], "--define", "gap:0,1", code=3)
    found = read_merged(run.merged)
    assert found["hits/time"].tolist() == TIME[~gone].tolist() and found["hits/channel"].tolist() == CHANNEL[~gone].tolist()
    assert found["payload"].tolist() == np.arange(N)[~gone].tolist()
    assert dropped(read_ledger(run.output))["corrupt"] == gone.sum()
    assert "rows 20 to 22 are lost" in run.done.stderr and "row 700 is lost" in run.done.stderr
    assert "x.h5:/time' has no value" in run.done.stderr


@pytest.mark.parametrize("channel, attribute", [(CHANNEL.astype("f8"), None), (CHANNEL.astype("i2"), np.int16(-1))])
def test_a_missing_channel_is_a_lost_hit(tmp_path, channel, attribute):
    gone = np.arange(N) % 250 == 7
    channel[gone] = np.nan if attribute is None else attribute
    uri = write(tmp_path / "x.h5", [("channel", "_FillValue", attribute)] if attribute is not None else [],
                time=TIME, channel=channel)
    hits, said = convert(tmp_path, f"{uri}unit=ns", code=3)
    assert hits.time.tolist() == TIME[~gone].tolist() and hits.channel.tolist() == CHANNEL[~gone].tolist()
    assert "row 7 is lost: " in said and "x.h5:/channel' has no value" in said


def test_a_pulse_without_a_time(tmp_path):
    """The events of a NeXus pulse."""
    zero = np.array([0, np.nan, 2000.0])
    uri = write(tmp_path / "x.h5", [("event_time_zero", "units", "ns"), ("event_time_offset", "units", "ns")],
                event_time_zero=zero, event_index=np.array([0, 300, 400]), event_time_offset=np.arange(N, dtype="u4"),
                channel=CHANNEL)
    hits, said = convert(tmp_path, f"{uri}time=event_time_offset", code=3)
    right = np.concatenate([np.arange(300), 2000 + np.arange(400, N)])
    assert sorted(hits.time.tolist()) == sorted(right.tolist()) and "rows 300 to 399 are lost" in said


@pytest.mark.parametrize("column, gone, kind", [
    (np.where(np.arange(N) % 9 == 4, np.nan, np.arange(N) / 8), np.arange(N) % 9 == 4, "f8"),
    (np.where(np.arange(N) % 9 == 4, np.nan, np.arange(N) / 8).astype("f4"), np.arange(N) % 9 == 4, "f4"),
    (np.where(np.arange(N) % 9 == 4, -1, np.arange(N)), np.arange(N) % 9 == 4, "f8"),
    (np.where(np.arange(N) % 9 == 4, 65535, np.arange(N)).astype("u2"), np.arange(N) % 9 == 4, "f8")])
def test_a_missing_payload_is_nan(tmp_path, column, gone, kind):
    fill = column[4] if column.dtype.kind != "f" else np.float32(-5)
    uri = write(tmp_path / "x.h5", [("value", "_FillValue", fill)], time=TIME, channel=CHANNEL, value=column)
    hits, _ = convert(tmp_path, f"{uri}unit=ns&payload=value")
    assert len(hits.time) == N
    assert np.array_equal(hits.payload.view("<" + kind), np.where(gone, np.nan, column.astype("f8")), equal_nan=True)
    if column.dtype.kind != "f":
        refused(tmp_path, f"{uri}unit=ns&payload=value:i32", "x.h5:/value' row 4", "no value", "payload=NAME:f64")
        kept, _ = convert(tmp_path, f"{uri}unit=ns&payload=value:i32&skip-bad=yes", code=3)
        assert kept.payload.view("i4").tolist() == column[~gone].tolist()


def test_a_late_missing_payload(tmp_path):
    """The attribute decides the kind, so that the rows need not be read twice; a stated kind keeps whole numbers."""
    n = 150_000
    values = np.arange(n, dtype="i4") % 1000
    values[n - 3] = -9999
    uri = write(tmp_path / "x.h5", [("value", "_FillValue", np.int32(-9999))], time=np.arange(n), channel=np.zeros(n, "u1"), value=values)
    hits, _ = convert(tmp_path, f"{uri}unit=ns&payload=value")
    assert np.array_equal(reals(hits), np.where(values == -9999, np.nan, values), equal_nan=True)
    with h5py.File(tmp_path / "x.h5", "a") as file:
        file["value"][n - 3] = 5
    values[n - 3] = 5
    assert np.array_equal(reals(convert(tmp_path, f"{uri}unit=ns&payload=value")[0]), values)
    assert np.array_equal(convert(tmp_path, f"{uri}unit=ns&payload=value:i32")[0].payload.view("i4"), values)


def test_inspect_shows_no_number_where_none_was_written(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("chunked", (6,), "i4", chunks=(2,))[2:4] = [7, 8]
        file.create_dataset("late", (3,), "i4")
        file["whole"] = [0, 1, 2]
    shown = json.loads(eventloom("inspect", tmp_path / "x.h5", "--json").stdout)["contents"]
    assert {entry["path"]: entry["first_rows"] for entry in shown} == {"/chunked": [None, None, 7], "/late": [None] * 3, "/whole": [0, 1, 2]}


def test_a_group_without_the_columns(tmp_path):
    """The message says what it holds instead."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["dom_1/time"], file["dom_1/channel"] = [1], [2]
        file.create_group("dom_2")
    done = eventloom("run", f"hdf5:{tmp_path}/x.h5?group=/dom_*&unit=ns", "--define", "gap:0,1", "--output", tmp_path / "x_run.h5", code=2)
    only_line(done, "x.h5:/dom_2/time'", "group '/dom_2' is empty", "group=")
    refused(tmp_path, f"hdf5:{tmp_path}/x.h5?group=/dom_1&unit=ns&time=t", "x.h5:/dom_1/t'", "there: 'channel', 'time'", "time=")


def virtual(path, gone):
    """Columns of which a virtual dataset does not map the rows `gone`; the others lie in another file."""
    with h5py.File(path.with_name("src.h5"), "w") as file:
        file["time"], file["channel"], file["value"] = TIME + 100, CHANNEL, np.arange(N, dtype="f4")
    with h5py.File(path, "w") as file:
        for name, kind in (("time", "u8"), ("channel", "u2"), ("value", "f4")):
            layout = h5py.VirtualLayout((N,), kind)
            source = h5py.VirtualSource("src.h5", name, (N,))
            edges = np.flatnonzero(np.diff(np.concatenate([[True], gone, [True]]).astype(int)))
            for begin, end in zip(edges[::2], edges[1::2]):
                layout[begin:end] = source[begin:end]
            file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize("gone", [np.arange(N) < 250, np.arange(N) >= 900, np.arange(N) // 50 % 3 == 1])
def test_rows_that_nothing_maps(tmp_path, gone):
    virtual(tmp_path / "x.h5", gone)
    hits, said = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns&payload=value", code=3)
    assert hits.time.tolist() == (TIME + 100)[~gone].tolist() and hits.channel.tolist() == CHANNEL[~gone].tolist()
    assert hits.payload.view("<f4").tolist() == np.arange(N)[~gone].tolist() and "has no value" in said


def test_payload_that_nothing_maps_is_nan(tmp_path):
    gone = np.arange(N) // 100 == 3
    virtual(tmp_path / "x.h5", gone)
    with h5py.File(tmp_path / "x.h5", "a") as file:
        del file["time"], file["channel"]
        file["time"], file["channel"] = TIME, CHANNEL
    hits, _ = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns&payload=value")
    assert np.array_equal(hits.payload.view("<f4"), np.where(gone, np.nan, np.arange(N)), equal_nan=True)


def test_whole_numbers_that_nothing_maps_are_nan(tmp_path):
    """However late in the dataset."""
    n = 100_000
    with h5py.File(tmp_path / "src.h5", "w") as file:
        file["value"] = np.arange(n, dtype="u4")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["time"], file["channel"] = np.arange(n, dtype="u8"), np.zeros(n, "u1")
        layout = h5py.VirtualLayout((n,), "u4")
        layout[:90_000] = h5py.VirtualSource("src.h5", "value", (n,))[:90_000]
        file.create_virtual_dataset("value", layout)
    hits, _ = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns&payload=value")
    assert np.array_equal(reals(hits), np.where(np.arange(n) < 90_000, np.arange(n), np.nan), equal_nan=True)
    said = eventloom("convert", f"hdf5:{tmp_path}/x.h5?unit=ns&payload=value:u32", "--output", tmp_path / "r.epochs", code=2).stderr
    assert all(word in said.splitlines()[-1] for word in ("row 90000", "no value", "payload=NAME:f64"))


@pytest.mark.parametrize("attributes", [{"valid_range": np.array([20, 900], "i2")}, {"valid_min": np.int16(20), "valid_max": np.int16(900)},
                                        {"valid_range": np.array([2.0, 90.0]), "scale_factor": 0.1}])
def test_numbers_outside_their_valid_range_are_missing(tmp_path, attributes):
    """netCDF: bounds of the kind of packed numbers are packed, others are not."""
    uri = write(tmp_path / "x.h5", [("value", name, number) for name, number in attributes.items()], time=TIME, channel=CHANNEL,
                value=np.arange(N, dtype="i2"))
    valid = (np.arange(N) >= 20) & (np.arange(N) <= 900)
    right = np.arange(N) / (10 if "scale_factor" in attributes else 1)
    assert np.array_equal(reals(convert(tmp_path, f"{uri}unit=ns&payload=value")[0]), np.where(valid, right, np.nan), equal_nan=True)
    hits, said = convert(tmp_path, f"{uri}unit=ns&where=value!=50", code=3)
    assert hits.time.tolist() == TIME[valid & (right != 50)].tolist() and "rows 901 to 999 are lost" in said


def test_bounds_of_more_digits_than_the_numbers_hold_for_themselves(tmp_path):
    """0.8 as a double is above 0.8 as a float; NaN is no bound."""
    value = np.linspace(0.1, 0.8, N).astype("f4")
    uri = write(tmp_path / "x.h5", [("value", "valid_min", 0.1), ("value", "valid_max", 0.8)], time=TIME, channel=CHANNEL, value=value)
    assert np.array_equal(convert(tmp_path, f"{uri}unit=ns&payload=value")[0].payload.view("<f4"), value)
    uri = write(tmp_path / "x.h5", [("value", "valid_range", [0.2, np.nan])], time=TIME, channel=CHANNEL, value=value)
    right = np.where(value >= np.float32(0.2), value, np.nan)
    assert np.array_equal(convert(tmp_path, f"{uri}unit=ns&payload=value")[0].payload.view("<f4"), right, equal_nan=True)


def test_inspect_shows_rows_without_a_source_as_missing(tmp_path):
    virtual(tmp_path / "x.h5", np.arange(N) < 1)
    contents = lambda: {entry["path"]: entry["first_rows"] for entry in shown["contents"]}  # noqa: E731
    shown = json.loads(eventloom("inspect", tmp_path / "x.h5", "--json").stdout)
    assert contents() == {"/channel": [None, 1, 2], "/time": [None, 200, 300], "/value": [None, 1, 2]}
    (tmp_path / "src.h5").rename(tmp_path / "gone.h5")
    shown = json.loads(eventloom("inspect", tmp_path / "x.h5", "--json", code=3).stdout)
    assert contents() == dict.fromkeys(("/channel", "/time", "/value"), [None] * 3)
    assert any("/time" in text and "src.h5:time, which is missing" in text for text in shown["problems"]) and shown["damaged"]


def test_a_source_with_gaps(tmp_path):
    """Rows of a virtual dataset are mapped, but the dataset they lie in does not have them."""
    with h5py.File(tmp_path / "src.h5", "w") as file:
        gaps = file.create_dataset("channel", (N,), "u2", chunks=(100,))
        gaps[:300], gaps[400:] = CHANNEL[:300], CHANNEL[400:]
        absent = file.create_dataset("absent", (N // 4,), "u8")
        assert absent.id.get_storage_size() == 0
    with h5py.File(tmp_path / "x.h5", "w") as file:
        channel, time = h5py.VirtualLayout((N,), "u2"), h5py.VirtualLayout((N,), "u8")
        channel[:] = h5py.VirtualSource("src.h5", "channel", (N,))
        file["data"] = TIME + 100
        time[:N // 4] = h5py.VirtualSource("src.h5", "absent", (N // 4,))
        time[N // 4:] = h5py.VirtualSource(".", "data", (N,))[N // 4:]
        file.create_virtual_dataset("time", time)
        file.create_virtual_dataset("channel", channel)
    kept = (np.arange(N) >= N // 4) & (np.arange(N) // 100 != 3)
    hits, said = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns", code=3)
    assert hits.time.tolist() == (TIME + 100)[kept].tolist() and hits.channel.tolist() == CHANNEL[kept].tolist()
    assert "x.h5:/channel' has no value" in said and "x.h5:/time' has no value" in said


def test_rows_that_were_never_written(tmp_path):
    """Chunks of times and channels are lost hits; payload is NaN; a number chosen to fill a dataset marks such rows."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        time = file.create_dataset("time", (N,), "i8", chunks=(150,), fillvalue=-1)
        time[150:950] = TIME[150:950]
        channel = file.create_dataset("channel", (N,), "u2", chunks=(100,))
        channel[:500], channel[600:] = CHANNEL[:500], CHANNEL[600:]
        value = file.create_dataset("value", (N,), "f8", chunks=(100,), fillvalue=-5.5)
        value[:250], value[700:] = np.arange(250), np.arange(700, N)
        whole = file.create_dataset("whole", (N,), "i2", chunks=(100,))
        whole[:300], whole[400:] = np.arange(300), np.arange(400, N)
    kept = (np.arange(N) >= 150) & (np.arange(N) < 950) & (np.arange(N) // 100 != 5)
    hits, said = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns&payload=value", code=3)
    right = np.where((np.arange(N) >= 250) & (np.arange(N) < 700), np.nan, np.arange(N))
    assert hits.time.tolist() == TIME[kept].tolist() and hits.channel.tolist() == CHANNEL[kept].tolist()
    assert np.array_equal(reals(hits), right[kept], equal_nan=True) and "rows 950 to 999 are lost" in said
    right = np.where(np.arange(N) // 100 == 3, np.nan, np.arange(N))
    hits, _ = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns&payload=whole", code=3)
    assert np.array_equal(reals(hits), right[kept], equal_nan=True)
    hits, said = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns&payload=whole:i32", code=3)
    assert hits.payload.view("i4").tolist() == right[kept & (np.arange(N) // 100 != 3)].tolist() and "rows 300 to 399" in said


def test_channels_that_were_never_written(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["time"] = TIME
        file.create_dataset("channel", (N,), "u2", chunks=(100,))
    refused(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns", "x.h5:/channel'", "never written")


# ---- scale_factor and add_offset

SCALES = [("s", 1e-6, 2.0), ("ms", np.float32(0.001), np.float32(0.5)), ("us", 3, None), ("ns", None, 12345), ("s", 1e-9, 1.7e9 % 1e6),
          ("ns", 0.25, -2.75), ("ns", 0.3, 0.2)]


def exact(number):
    """The decimal number that an attribute stands for."""
    return Fraction(str(number))


@pytest.mark.parametrize("unit, scale, offset", SCALES)
@pytest.mark.parametrize("kind", ["i4", ">u8", "f8"])
def test_times_are_scaled_exactly(tmp_path, unit, scale, offset, kind):
    raw = np.concatenate([np.arange(20, 500), np.arange(2**31 - 400, 2**31)])
    attributes = [("time", "units", unit)] + [("time", name, number) for name, number in
                                              (("scale_factor", scale), ("add_offset", offset)) if number is not None]
    uri = write(tmp_path / "x.h5", attributes, time=raw.astype(kind), channel=raw % 5)
    length = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[unit]
    times = [(v * exact(1 if scale is None else scale) + exact(0 if offset is None else offset)) * length for v in raw.tolist()]
    hits, _ = convert(tmp_path, f"{uri}round=nearest")
    assert hits.time.tolist() == [(2 * t.numerator + t.denominator) // (2 * t.denominator) for t in times]
    if all(t.denominator == 1 for t in times):
        assert convert(tmp_path, uri[:-1])[0].time.tolist() == [int(t) for t in times]


def test_scaled_times_above_2_53(tmp_path):
    raw = 2**53 + np.arange(1, 200, 2, dtype="i8")
    uri = write(tmp_path / "x.h5", [("time", "scale_factor", 2.0), ("time", "add_offset", 1.0)], time=raw, channel=raw % 5)
    assert convert(tmp_path, f"{uri}unit=ns")[0].time.tolist() == [2 * v + 1 for v in raw.tolist()]


def test_a_counter_that_turns_is_unwrapped_before_it_is_scaled(tmp_path):
    raw = (np.arange(N) * 1_000_003 % 2**24).astype("u4")
    uri = write(tmp_path / "x.h5", [("time", "scale_factor", 8), ("time", "add_offset", 16)], time=raw, channel=CHANNEL)
    hits, _ = convert(tmp_path, f"{uri}unit=ns&bits=24")
    assert hits.time.tolist() == [8 * 1_000_003 * i + 16 for i in range(N)]


def test_channels_and_payload_are_scaled(tmp_path):
    raw = np.arange(N).astype("i2")
    raw[5] = -1
    uri = write(tmp_path / "x.h5", [("channel", "scale_factor", 0.5), ("channel", "add_offset", 3), ("value", "scale_factor", 0.1),
                                    ("value", "add_offset", -7), ("value", "_FillValue", np.int16(-1)), ("big", "scale_factor", 0.001)],
                time=TIME, channel=CHANNEL * 2, value=raw, big=2**53 + 1 + np.arange(N))
    hits, _ = convert(tmp_path, f"{uri}unit=ns&payload=value,big")
    assert hits.channel.tolist() == (CHANNEL + 3).tolist()
    numbers = reals(hits).reshape(N, 2)
    right = [float(Fraction(v, 10) - 7) if v != -1 else np.nan for v in raw.tolist()]
    assert np.array_equal(numbers[:, 0], right, equal_nan=True)
    assert numbers[:, 1].tolist() == [float(Fraction(2**53 + 1 + i, 1000)) for i in range(N)]
    refused(tmp_path, f"{uri}unit=ns&payload=value:i32", "x.h5:/value' row 1", "scale_factor")
    uri = write(tmp_path / "y.h5", [("channel", "scale_factor", 0.5)], time=TIME, channel=CHANNEL)
    refused(tmp_path, f"{uri}unit=ns", "y.h5:/channel' row 1", "scale_factor")


@pytest.mark.parametrize("name, value, word", [("scale_factor", 0.0, "is 0"), ("scale_factor", -1.0, "negative"), ("scale_factor", "x", "not one"),
                                               ("add_offset", np.array([1.0, 2.0]), "not one"), ("add_offset", np.nan, "nan")])
def test_attributes_that_scale_nothing_are_refused(tmp_path, name, value, word):
    uri = write(tmp_path / "x.h5", [("time", name, value)], time=TIME, channel=CHANNEL)
    refused(tmp_path, f"{uri}unit=ns", "x.h5:/time'", name, word)


# ---- whole numbers

def test_whole_numbers_that_no_kind_holds(tmp_path):
    value = np.full(N, 2**53 + 1, "u8")
    uri = write(tmp_path / "x.h5", time=TIME, channel=CHANNEL, value=value, even=value - 1, signed=-value.astype("i8"))
    refused(tmp_path, f"{uri}unit=ns&payload=value", "row 0", str(2**53 + 1), "above 4294967295")
    for name in ("value", "signed"):
        refused(tmp_path, f"{uri}unit=ns&payload={name}:f64", "row 0", str(2**53 + 1), "nor of any other kind")
    assert set(reals(convert(tmp_path, f"{uri}unit=ns&payload=even:f64")[0])) == {2.0**53}


def test_bad_rows_are_counted_if_wished(tmp_path):
    channel, value = CHANNEL.astype("i8"), np.arange(N).astype("i8")
    channel[10], channel[11], value[12] = -4, 2**28, 2**32
    uri = write(tmp_path / "x.h5", time=TIME, channel=channel, value=value)
    refused(tmp_path, f"{uri}unit=ns&payload=value", "channel' row 10", "-4", "skip-bad=yes")
    hits, said = convert(tmp_path, f"{uri}unit=ns&payload=value&skip-bad=yes", code=3)
    kept = ~np.isin(np.arange(N), [10, 11, 12])
    assert hits.time.tolist() == TIME[kept].tolist() and hits.payload.tolist() == value[kept].tolist()
    assert all(f"row {n}" in said for n in (10, 11, 12))


def bit_fields(file, name, values):
    """Booleans as PyTables writes them."""
    kind = h5py.h5t.STD_B8LE
    made = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((len(values),)))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(values, "u1"), mtype=kind)


def test_booleans_and_enumerations_are_whole_numbers(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["time"] = TIME
        file["flag"] = np.arange(N) % 3 == 0
        bit_fields(file, "bits", np.arange(N) % 2)
        kind = h5py.enum_dtype({"GE": 2, "BGO": 300, "NONE": -3}, basetype=">i4")
        file.create_dataset("detector", data=np.where(np.arange(N) % 2, 300, 2), dtype=kind)
        file.create_dataset("signed", data=np.where(np.arange(N) % 2, -3, 2), dtype=kind)
        rows = np.zeros(N, [("flag", bool), ("t", "u8")])
        rows["flag"], rows["t"] = np.arange(N) % 5 == 0, TIME
        file["table"] = rows
    uri = f"hdf5:{tmp_path}/x.h5?unit=ns"
    hits, _ = convert(tmp_path, f"{uri}&channel=detector&payload=flag,bits,signed,table/flag")
    words = hits.payload.reshape(N, 4)
    assert hits.channel.tolist() == np.where(np.arange(N) % 2, 300, 2).tolist()
    assert words[:, 0].tolist() == (np.arange(N) % 3 == 0).astype(int).tolist()
    assert words[:, 1].tolist() == (np.arange(N) % 2).tolist()
    assert words[:, 2].astype("i4").tolist() == np.where(np.arange(N) % 2, -3, 2).tolist()
    assert words[:, 3].tolist() == (np.arange(N) % 5 == 0).astype(int).tolist()
    refused(tmp_path, f"{uri}&channel=signed", "signed' row 1", "-3")


def test_parts_of_complex_numbers(tmp_path):
    """h5py stores them as tables of r and i."""
    uri = write(tmp_path / "x.h5", time=TIME, channel=CHANNEL, wave=np.arange(N) + 2j)
    for part, right in (("r", np.arange(N)), ("i", np.full(N, 2))):
        assert np.array_equal(reals(convert(tmp_path, f"{uri}unit=ns&payload=wave/{part}")[0]), right)
    kept, _ = convert(tmp_path, f"{uri}unit=ns&where=wave/r<10")
    assert kept.time.tolist() == TIME[:10].tolist()
    refused(tmp_path, f"{uri}unit=ns&payload=wave", "x.h5:/wave'", "'r', 'i'")


def test_channels_of_matlab_are_doubles(tmp_path):
    uri = write(tmp_path / "x.h5", time=TIME, channel=CHANNEL.astype("f8"), half=CHANNEL + 0.5)
    assert convert(tmp_path, f"{uri}unit=ns")[0].channel.tolist() == CHANNEL.tolist()
    refused(tmp_path, f"{uri}unit=ns&channel=half", "half' row 0", "0.5", "whole number")


def test_ids_above_28_bits_become_channels(tmp_path):
    ids = 0x1A2B3C4D5E6F + 2**40 * np.arange(8, dtype="u8")
    uri = write(tmp_path / "x.h5", time=TIME, channel=ids[CHANNEL], small=np.where(CHANNEL == 0, ids[0], CHANNEL))
    (tmp_path / "ids.csv").write_text("id,channel\n" + "".join(f"{i:#x},{70 + n}\n" for n, i in enumerate(ids.tolist())))
    table = f"&channels={tmp_path}/ids.csv"
    refused(tmp_path, f"{uri}unit=ns", "channel' row 0", str(ids[0]), "channels=FILE")
    assert convert(tmp_path, f"{uri}unit=ns{table}")[0].channel.tolist() == (CHANNEL + 70).tolist()
    assert convert(tmp_path, f"{uri}unit=ns&channel=small{table}")[0].channel.tolist() == np.where(CHANNEL == 0, 70, CHANNEL).tolist()
    (tmp_path / "ids.csv").write_text(f"{ids[0]},1\n")
    refused(tmp_path, f"{uri}unit=ns{table}", "channel' row 1", str(ids[1]), "or an id in the table of channels=")


# ---- rows that are no hits

KIND = np.where(np.arange(N) % 50 == 7, 4, 0)


@pytest.mark.parametrize("where, kept", [
    ("kind==0", KIND == 0), ("kind!=0", KIND != 0), ("kind<3&&energy>=40.25", (KIND < 3) & (np.arange(N) / 8 >= 40.25)),
    ("flag==1", np.arange(N) % 3 == 0), ("table/id==9007199254740993", np.arange(N) == 1), ("packed==-1.5", np.arange(N) == 5)])
def test_rows_are_chosen_by_a_column(tmp_path, where, kept):
    table = np.zeros(N, [("id", "u8")])
    table["id"] = 2**53 + np.arange(N)
    uri = write(tmp_path / "x.h5", [("packed", "scale_factor", 0.1), ("packed", "add_offset", -2.0)], time=TIME, channel=CHANNEL,
                kind=KIND.astype("u1"), energy=np.arange(N) / 8, flag=np.arange(N) % 3 == 0, table=table, packed=np.arange(N))
    run = Run(tmp_path, [f"{uri}unit=ns&payload=energy&where={where}"], "--define", "gap:0,1")
    found = read_merged(run.merged)
    assert found["hits/time"].tolist() == TIME[kept].tolist()
    assert found["payload"].view("<f8").tolist() == (np.arange(N) / 8)[kept].tolist()
    assert dropped(read_ledger(run.output))["cut"] == (~kept).sum()


def test_conditions_that_cannot_be(tmp_path):
    """A row without a number in the column is lost; one that is left out is not lost for another reason."""
    kind = KIND.astype("f8")
    kind[[3, 4]] = np.nan
    time = TIME.astype("f8")
    time[[5, 7]] = np.nan
    uri = write(tmp_path / "x.h5", time=time, channel=CHANNEL, kind=kind)
    run = Run(tmp_path, [f"{uri}unit=ns&where=kind==0"], "--define", "gap:0,1", code=3)
    kept = (KIND == 0) & ~np.isin(np.arange(N), [3, 4, 5])
    assert read_merged(run.merged)["hits/time"].tolist() == TIME[kept].tolist()
    losses = dropped(read_ledger(run.output))
    assert losses["corrupt"] == 3 and losses["cut"] == (KIND != 0).sum()
    assert "rows 3 to 4 are lost" in run.done.stderr and "row 7 " not in run.done.stderr
    refused(tmp_path, f"{uri}unit=ns&where=kind==photon", "x.h5:/kind'", "'photon'")
    refused(tmp_path, f"{uri}unit=ns&where=gone==1", "x.h5:/gone'", "no such dataset")


@pytest.mark.parametrize("where, kept", [
    ("kind==photon", KIND == 0), ('kind!="photon"', KIND != 0), ("kind==4", KIND == 4),
    ("text==photon", KIND == 0), ("text!='photon'", KIND != 0), ("fixed==dark count", KIND == 4), ("padded==photon", KIND == 0),
    ("table/what==dark count", KIND == 4), ("digits>3", KIND == 4), ('digits=="4"', KIND == 4), ("flag==TRUE", KIND == 4)])
def test_rows_are_chosen_by_a_word(tmp_path, where, kept):
    """A name of an enumeration, or a text: of variable length, of fixed length, in a table."""
    words = np.where(KIND == 4, "dark count", "photon")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["time"], file["channel"], file["flag"] = TIME, CHANNEL, KIND == 4
        file.create_dataset("kind", data=KIND, dtype=h5py.enum_dtype({"photon": 0, "dark": 4}, basetype=">i2"))
        file.create_dataset("text", data=words.tolist(), dtype=h5py.string_dtype(), chunks=(64,), compression="gzip")
        file["fixed"], file["digits"] = words.astype("S10"), KIND.astype("S1")
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(12)
        kind.set_strpad(h5py.h5t.STR_SPACEPAD)
        h5py.h5d.create(file.id, b"padded", kind, h5py.h5s.create_simple((N,))).write(
            h5py.h5s.ALL, h5py.h5s.ALL, np.char.ljust(words, 12).astype("S12"), mtype=kind)
        file["table"] = np.array([(1, word) for word in words], [("n", "u4"), ("what", "S10")])
    run = Run(tmp_path, [f"hdf5:{tmp_path}/x.h5?unit=ns&where={where}"], "--define", "gap:0,1")
    assert read_merged(run.merged)["hits/time"].tolist() == TIME[kept].tolist()
    assert dropped(read_ledger(run.output))["cut"] == (~kept).sum()


def test_words_that_cannot_be(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["time"], file["channel"] = TIME, CHANNEL
        file.create_dataset("kind", data=KIND, dtype=h5py.enum_dtype({"photon": 0, "dark": 4}, basetype="u1"))
        file.create_dataset("text", data=np.where(np.arange(N) == 5, b"", np.where(KIND == 4, b"x", b"3")))
    uri = f"hdf5:{tmp_path}/x.h5?unit=ns"
    refused(tmp_path, f"{uri}&where=kind==muon", "x.h5:/kind'", "'muon'", "dark, photon")
    refused(tmp_path, f"{uri}&where=text>2", "x.h5:/text' row 7", "'x'", "no number", "skip-bad=yes")
    hits, said = convert(tmp_path, f"{uri}&where=text>2&skip-bad=yes", code=3)
    assert hits.time.tolist() == TIME[(KIND == 0) & (np.arange(N) != 5)].tolist() and "row 5 is lost" in said
    for key in ("payload", "channel"):
        refused(tmp_path, f"{uri}&{key}=text", "x.h5:/text'", "text of 1 bytes", "where=")


def test_two_sources_read_different_rows_of_one_file(tmp_path):
    uri = write(tmp_path / "x.h5", time=TIME, channel=CHANNEL, kind=KIND)
    run = Run(tmp_path, [f"{uri}unit=ns&where=kind=={kind}" for kind in (0, 4)], "--define", "gap:0,1")
    found = read_merged(run.merged)
    assert found["hits/time"].tolist() == TIME.tolist() and found["hits/source"].tolist() == (KIND // 4).tolist()


# ---- shapes

@pytest.mark.parametrize("shape", [(1, N), (N, 1)])
@pytest.mark.parametrize("layout", [{}, {"chunks": True, "compression": "gzip"}, {"maxshape": (None, None), "chunks": (16, 16)}])
def test_columns_of_two_dimensions(tmp_path, shape, layout):
    """Files of MATLAB begin with 512 bytes of their own."""
    with h5py.File(tmp_path / "x.h5", "w", userblock_size=512) as file:
        for name, column in (("time", TIME), ("channel", CHANNEL), ("value", np.arange(N) / 3)):
            file.create_dataset(name, data=column.reshape(shape), **layout)
    hits, said = convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns&payload=value")
    assert hits.time.tolist() == TIME.tolist() and hits.channel.tolist() == CHANNEL.tolist()
    assert reals(hits).tolist() == (np.arange(N) / 3).tolist()
    assert "columns not read: value" in convert(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns")[1]


@pytest.mark.parametrize("shape", [(N // 2, 2), (2, N // 2), (N, 1, 1), (10, 10, 10)])
def test_other_shapes_are_refused(tmp_path, shape):
    uri = write(tmp_path / "x.h5", time=TIME.reshape(shape), channel=CHANNEL)
    refused(tmp_path, f"{uri}unit=ns", "x.h5:/time'", "one dimension", " x ".join(map(str, shape)))


def test_arrays_are_no_columns(tmp_path):
    table = np.zeros(N, [("time", "u8"), ("block", "f4", (2,))])
    uri = write(tmp_path / "x.h5", table=table, channel=CHANNEL)
    refused(tmp_path, f"{uri}unit=ns&time=table/block", "x.h5:/table/block'", "2 x f32", "data_columns=True")


def test_columns_without_rows(tmp_path):
    """h5py.Empty has no dataspace. The dataset of an empty column of MATLAB holds its shape."""
    uri = write(tmp_path / "none.h5", time=h5py.Empty("f8"), channel=h5py.Empty("u2"))
    assert len(convert(tmp_path, f"{uri}unit=ns")[0].time) == 0
    uri = write(tmp_path / "x.h5", [(name, "MATLAB_empty", np.uint8(1)) for name in ("time", "channel")],
                time=np.array([0, 0], "u8"), channel=np.array([0, 1], "u8"))
    assert len(convert(tmp_path, f"{uri}unit=ns")[0].time) == 0


# ---- units

@pytest.mark.parametrize("units", ["ticks", "counts", "Counts", "tick", "cycles", "samples"])
def test_ticks_of_an_unknown_clock_need_a_unit(tmp_path, units):
    uri = write(tmp_path / "x.h5", [("time", "units", units)], time=TIME, channel=CHANNEL)
    refused(tmp_path, uri[:-1], "x.h5:/time'", f"'{units}'", "unit=12.5ns")
    assert convert(tmp_path, f"{uri}unit=12.5ns", "--tick", "500ps")[0].time.tolist() == (TIME * 25).tolist()
    assert convert(tmp_path, f"{uri}unit=tick")[0].time.tolist() == TIME.tolist()
    uri = write(tmp_path / "y.h5", time_ticks=TIME, channel=CHANNEL)
    refused(tmp_path, f"{uri}time=time_ticks", "y.h5:/time_ticks'", "unit=12.5ns")


# ---- containers

def test_a_master_file_of_links(tmp_path):
    """To contiguous data, and to a virtual dataset whose source lies beside it."""
    (tmp_path / "data").mkdir()
    write(tmp_path / "data/data_1.h5", time=np.tile(TIME, 100) + 1, channel=np.tile(CHANNEL, 100))
    with h5py.File(tmp_path / "data/view.h5", "w") as file:
        layout = h5py.VirtualLayout((N * 100,), "u8")
        layout[:] = h5py.VirtualSource("data_1.h5", "time", (N * 100,))
        file.create_virtual_dataset("time", layout)
    with h5py.File(tmp_path / "master.h5", "w") as file:
        file["time"] = h5py.ExternalLink("data/data_1.h5", "time")
        file["view"] = h5py.ExternalLink("data/view.h5", "time")
        file["channel"] = h5py.ExternalLink("data/data_1.h5", "channel")
    for name in ("time", "view"):
        hits, _ = convert(tmp_path, f"hdf5:{tmp_path}/master.h5?unit=ns&time={name}&reorder=1s")
        assert hits.time.tolist() == np.sort(np.tile(TIME, 100) + 1).tolist()


def test_a_file_of_a_newer_hdf5(tmp_path):
    """Made by h5py 3.16 (HDF5 2.0) with libver='latest': HDF5 1.10 to 1.14 read its plain columns."""
    with h5py.File(DATA / "hdf5_2/latest.h5") as file:
        right = file["plain/time"][:].tolist()
        try:
            readable = file["gzip/time"][:].tolist() == right
        except KeyError:
            readable = False
    uri = f"hdf5:{DATA}/hdf5_2/latest.h5?unit=ns&group="
    assert convert(tmp_path, f"{uri}/plain")[0].time.tolist() == right
    if readable:
        pytest.skip("this HDF5 reads the file")
    for keys, name in (("/gzip", "time"), ("/plain&payload=flag", "flag")):
        refused(tmp_path, uri + keys, f"'{name}'", "bad version number", "HDF5 2", "libver='latest'", "create_dataset(")


def test_a_filter_that_is_missing(tmp_path):
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_chunk((4,))
    layout.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        time = h5py.h5d.create(file.id, b"time", h5py.h5t.STD_U64LE, h5py.h5s.create_simple((4,)), layout)
        time.write_direct_chunk((0,), bytes(20), 0)
        file["channel"] = np.arange(4)
    line = refused(tmp_path, f"hdf5:{tmp_path}/x.h5?unit=ns", "32015", "HDF5_PLUGIN_PATH", "hdf5-filter-plugin", "python3-hdf5plugin")
    assert "h5repack" not in line


PLUGINS = Path(BINARY).resolve().parent / "hdf5-plugins"


@pytest.mark.skipif(not PLUGINS.exists(), reason="the filter is not built")
def test_a_filter_that_is_a_plugin(tmp_path, monkeypatch):
    """The chunk is stored as the filter of tests/support/inverting_filter.cpp stores it."""
    times = np.array([3, 5, 2**40, 2**40 + 1], "<u8")
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_chunk((4,))
    layout.set_filter(300, h5py.h5z.FLAG_OPTIONAL)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        column = h5py.h5d.create(file.id, b"time", h5py.h5t.STD_U64LE, h5py.h5s.create_simple((4,)), layout)
        column.write_direct_chunk((0,), (~times).tobytes(), 0)
        file["channel"] = np.arange(4)
    uri = f"hdf5:{tmp_path}/x.h5?unit=ns"
    refused(tmp_path, uri, "300", "HDF5_PLUGIN_PATH")
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(PLUGINS))
    assert convert(tmp_path, uri)[0].time.tolist() == times.tolist()
