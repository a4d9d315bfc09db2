"""Signed and floating payload of tables, HDF5 and packed files: kept exactly, named in the output, compared as numbers
by cuts and conditions, and converted to values by a map's gains."""

import json
import struct

import h5py
import numpy as np
import pytest

from epochs_file import read_epochs_file
from program import Run, eventloom
from results import dropped, read_ledger, read_merged

N = 4000
WORD = {"u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}


@pytest.fixture(scope="module")
def columns():
    random = np.random.default_rng(38)
    energy = random.normal(500, 400, N).round(3)
    energy[7], energy[8], energy[9] = np.pi, -1e-300, -0.0
    return {"time": np.sort(random.integers(0, 10**7, N)), "channel": random.integers(0, 8, N), "energy": energy,
            "baseline": random.integers(-2**31, 2**31, N), "flags": random.integers(0, 2**32, N, dtype=np.uint64)}


def table(folder, columns):
    rows = zip(*(columns[name].tolist() for name in ("time", "channel", "energy", "baseline", "flags")))
    text = "t_ns,ch,energy,baseline,flags\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)
    (folder / "a.csv").write_text(text)
    return f"csv:{folder}/a.csv?time=t_ns&channel=ch&payload=energy,baseline,flags"


def hdf5(folder, columns):
    with h5py.File(folder / "a.h5", "w") as file:
        for name, column in columns.items():
            file[name] = column
    return f"hdf5:{folder}/a.h5?unit=ns&payload=energy,baseline,flags"


def packed(folder, columns):
    record = np.dtype([("time", "<u8"), ("channel", "u1"), ("energy", ">f8"), ("baseline", "<i4"), ("flags", ">u4")])
    rows = np.zeros(N, record)
    for name, column in columns.items():
        rows[name] = column
    rows.tofile(folder / "a.bin")
    return (f"packed:{folder}/a.bin?record=25&unit=ns&time=u64le@0&channel=u8@8"
            "&payload=f64be@9,i32le@17,u32be@21")


def expected_words(columns):
    words = np.zeros((N, 4), dtype="<u4")
    words[:, :2] = columns["energy"].astype("<f8").view("<u4").reshape(N, 2)
    words[:, 2] = columns["baseline"].astype("<i4").view("<u4")
    words[:, 3] = columns["flags"]
    return words


@pytest.mark.parametrize("make", [table, hdf5, packed])
def test_numbers_are_kept_exactly(tmp_path, columns, make):
    uri = make(tmp_path, columns)
    run = Run(tmp_path / "run", [uri], "--define", "gap:0,1")
    merged = read_merged(run.merged)
    assert np.array_equal(merged["payload"].reshape(N, 4), expected_words(columns))
    names = ["f64be@9", "i32le@17", "u32be@21"] if make is packed else ["energy", "baseline", "flags"]
    with h5py.File(run.merged) as file, h5py.File(run.output) as whole:
        for place in (file["hits"], file, whole):
            assert place.attrs["payload_names"].tolist() == names
            assert place.attrs["payload_types"].tolist() == ["f64", "i32", "u32"]
        assert whole["sources/payload"].asstr()[0] == ", ".join(
            f"{name} {kind}" for name, kind in zip(names, ("f64", "i32", "u32")))
        assert "value" not in file["hits"]
    with h5py.File(next(run.output.parent.glob("run.*part*"), None) or next(run.output.parent.glob("run_*.h5"))) as part:
        assert part["hits"].attrs["payload_names"].tolist() == names


def test_fields_of_records_have_names(tmp_path, columns):
    """Also fields of bits, whose place has a colon, too."""
    uri = packed(tmp_path, columns).replace("f64be@9,i32le@17,u32be@21", "energy:f64be@9,i32le@17,flags:u32be@21,low:u32be@21:0-7,u32be@21:8-9")
    run = Run(tmp_path / "run", [uri], "--define", "gap:0,1")
    words = read_merged(run.merged)["payload"].reshape(N, 6)
    assert np.array_equal(words[:, :4], expected_words(columns))
    assert np.array_equal(words[:, 4], words[:, 3] & 255) and np.array_equal(words[:, 5], words[:, 3] >> 8 & 3)
    with h5py.File(run.merged) as file:
        assert file.attrs["payload_names"].tolist() == ["energy", "i32le@17", "flags", "low", "u32be@21:8-9"]


@pytest.mark.parametrize("make", [table, hdf5])
def test_recorded_streams_keep_kinds_and_names(tmp_path, columns, make):
    eventloom("convert", make(tmp_path, columns), "--output", tmp_path / "a.epochs")
    recorded = read_epochs_file(tmp_path / "a.epochs")
    assert recorded.payload_names == ["energy", "baseline", "flags"] and recorded.payload_kinds[:4] == ["f64", "i32", "u32", "u32"]
    shown = json.loads(eventloom("inspect", "--json", tmp_path / "a.epochs").stdout)
    assert shown["payload_columns"] == [{"name": "energy", "type": "f64"}, {"name": "baseline", "type": "i32"},
                                        {"name": "flags", "type": "u32"}]
    straight = Run(tmp_path / "1", [make(tmp_path, columns)], "--define", "gap:1us,2", "--filter", "sum(source:0)<900.25")
    saved = Run(tmp_path / "2", [f"file:{tmp_path}/a.epochs"], "--define", "gap:1us,2", "--filter", "sum(source:0)<900.25",
                "--save-sorted", tmp_path / "sorted")
    again = Run(tmp_path / "3", [f"sorted:{tmp_path}/sorted"], "--define", "gap:1us,2", "--filter", "sum(source:0)<900.25")
    for run in (saved, again):
        found, expected = read_merged(run.merged), read_merged(straight.merged)
        assert all(np.array_equal(found[name], expected[name]) for name in expected) and set(found) == set(expected)
        with h5py.File(run.merged) as file:
            assert file["hits"].attrs["payload_types"].tolist() == ["f64", "i32", "u32"]


@pytest.mark.parametrize("make, ranks", [(table, 3), (hdf5, None), (packed, 2)])
def test_cuts_conditions_and_values_compare_numbers(tmp_path, columns, make, ranks):
    energy, channel = columns["energy"], columns["channel"]
    (tmp_path / "map.csv").write_text("channel,gain,zero,unit,min_payload,max_payload,group\n"
                                      ",-2.5,0.125,keV,-300.5,,G\n3,,,,,950.25,G\n")
    low, high = -1000.0, 700.5
    run = Run(tmp_path / "run", [make(tmp_path, columns)], "--detector", tmp_path / "map.csv", "--define", "gap:0,1",
              "--filter", f"G{{{low}..{high}}}>=1", np=ranks)
    good = (energy >= -300.5) & ((channel != 3) | (energy <= 950.25))
    assert dropped(read_ledger(run.output))["cut"] == N - good.sum()
    value = -2.5 * energy + 0.125
    # Hits of equal time form one event, kept if the value of any is in the range.
    fits = good & (low <= value) & (value <= high)
    kept = good & np.isin(columns["time"], columns["time"][fits])
    merged = read_merged(run.merged)
    assert np.array_equal(merged["hits/time"], columns["time"][kept].astype(np.uint64))
    assert merged["hits/value"].dtype == np.float64 and np.array_equal(merged["hits/value"], value[kept])
    with h5py.File(run.merged) as file:
        assert file["hits/value"].attrs["units"] == "keV"
        known = file["detector"]
        assert known["gain"][:].tolist() == [-2.5] * 3 and known["zero"][:].tolist() == [0.125] * 3
        assert known["min_payload"][:].tolist() == [-300.5] * 3
        assert known["max_payload"][:].tolist() == [np.inf, 950.25, np.inf]
    shown = json.loads(eventloom("inspect", run.merged, "--events", 1, "--json").stdout)
    hits = shown["first_events"][0]["hits"]
    assert [hit["value"] for hit in hits] == merged["hits/value"][:len(hits)].tolist()
    assert "value/keV" in eventloom("show", run.output, "--event", 0).stdout
    assert json.loads(eventloom("compare", run.output, run.merged, "--json").stdout)["different"] == 0


def test_values_without_payload_in_the_output(tmp_path, columns):
    (tmp_path / "map.csv").write_text("gain\n3\n")
    uri = hdf5(tmp_path, columns)
    run = Run(tmp_path / "run", [uri], "--detector", tmp_path / "map.csv", "--define", "gap:0,1", "--no-payload", np=2)
    merged = read_merged(run.merged)
    assert "payload" not in merged and np.array_equal(merged["hits/value"], 3 * columns["energy"])
    other = tmp_path / "other.csv"
    other.write_text("gain\n3.5\n")
    with_other = Run(tmp_path / "other", [uri], "--detector", other, "--define", "gap:0,1", "--no-payload")
    done = eventloom("compare", run.merged, with_other.merged, "--json", code=3)
    said = json.loads(done.stdout)
    assert said["different_in"]["value"] == said["different"] > 0 and said["different_in"]["hits"] == 0


def test_nan_is_no_value(tmp_path):
    energy = np.array([1.5, np.nan, np.inf, 2.5])
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["time"], file["channel"], file["energy"] = np.arange(4) * 1000, np.zeros(4, dtype=int), energy
    (tmp_path / "map.csv").write_text("gain\n2\n")
    words = ["--detector", tmp_path / "map.csv", "--define", "gap:0,1"]
    run = Run(tmp_path / "all", [f"hdf5:{tmp_path}/a.h5?unit=ns&payload=energy"], *words)
    assert np.array_equal(read_merged(run.merged)["hits/value"], 2 * energy, equal_nan=True)
    for number, (text, kept) in enumerate((("max(source:0)>=3", [0, 2, 3]), ("max(source:0)<3", []), ("source:0{-1e300..1e300}==1", [0, 3]),
                       ("sum(source:0)==0", [1]), ("sum(source:0)>1e308", [2]))):
        run = Run(tmp_path / str(number), [f"hdf5:{tmp_path}/a.h5?unit=ns&payload=energy"], *words, "--filter", text)
        assert (read_merged(run.merged)["hits/time"] // 1000).tolist() == kept, text


def test_late_surprises_are_refused_with_the_fix(tmp_path):
    rows = "".join(f"{i},1,{i % 50}\n" for i in range(12_000))
    (tmp_path / "a.csv").write_text("t_ns,ch,energy\n" + rows + "12000,1,-2.5\n")
    done = eventloom("run", f"csv:{tmp_path}/a.csv", "--define", "gap:0,1", "--output", tmp_path / "run.h5", code=2)
    assert "a.csv:12002: '-2.5' is not payload" in done.stderr and "payload=energy:f64" in done.stderr
    run = Run(tmp_path / "run", [f"csv:{tmp_path}/a.csv?payload=energy:f64&time=t_ns&channel=ch"], "--define", "gap:0,1")
    assert read_merged(run.merged)["payload"][-2:].tolist() == list(struct.unpack("<II", struct.pack("<d", -2.5)))
