"""Inputs as users have them, each with an independent writer and the hits expected from it."""

import json
import re
import struct
import tempfile

import h5py
import numpy as np
import pytest

import caen
import midas
import tpx3
from epochs_file import read_epochs_file
from live import LiveRun, counts_of, free_port, send, udp
from mbs import Serving
from program import DATA, ROOT, Run, eventloom, generate, only_line
from results import assert_balanced, assert_same, dropped, read_ledger, read_merged

ALL = ("--define", "gap:0,1")  # every hit belongs to an event


def rows_of(run):
    """(time, source, channel, payload words) of all hits, in order."""
    merged = read_merged(run.merged)
    first = merged.get("hits/first_payload", np.zeros(len(merged["hits/time"]) + 1, dtype=np.uint64)).tolist()
    words = merged.get("payload", np.zeros(0, dtype=np.uint32)).tolist()
    return [(time, source, channel, tuple(words[first[i]:first[i + 1]])) for i, (time, source, channel) in
            enumerate(zip(merged["hits/time"].tolist(), merged["hits/source"].tolist(), merged["hits/channel"].tolist()))]


def rows(hits, lost=lambda row: False):
    """Likewise for (time, source, channel, payload) in stream order; sources in order."""
    return sorted((row for row in hits if not lost(row)), key=lambda row: row[:2])


def run_all(folder, *uris, code=0, options=()):
    run = Run(folder, uris, *ALL, *options, code=code)
    assert_balanced(read_ledger(run.output))
    return run


def refused(uri, *words):
    with tempfile.TemporaryDirectory() as folder:
        return only_line(eventloom("run", "--source", uri, *ALL, "--output", f"{folder}/run.h5", code=2), *words)


# ---- system= and offset=

RECORD = np.dtype([("time", "<u8"), ("channel", "<u4"), ("payload", "<u4")])
PACKED = "record=16&time=u64le@0&channel=u32le@8&payload=u32le@12"


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """The same 30,000 hits in each form of input; some times are equal, and hits lie in several systems."""
    folder = tmp_path_factory.mktemp("forms")
    random = np.random.default_rng(6)
    records = np.zeros(30_000, dtype=RECORD)
    records["time"] = np.sort(random.integers(0, 40_000_000, len(records)))
    records["channel"] = random.integers(0, 1 << 28, len(records))
    records["payload"] = random.integers(0, 1 << 32, len(records))
    records.tofile(folder / "a.bin")
    table = ["t_ns,ch,adc\n", *(f"{t},{c},{p}\n" for t, c, p in records.tolist())]
    (folder / "a.csv").write_text("".join(table))
    with h5py.File(folder / "a.h5", "w") as file:
        for name in RECORD.names:
            file[name] = records[name]
    eventloom("convert", f"packed:{folder}/a.bin?{PACKED}", "--output", folder / "a.epochs")
    return records.tolist(), {"packed": f"packed:{folder}/a.bin?{PACKED}", "csv": f"{folder}/a.csv?payload=adc",
                              "hdf5": f"{folder}/a.h5?payload=payload&unit=ns", "file": f"{folder}/a.epochs?"}


@pytest.mark.parametrize("form", ["packed", "csv", "hdf5", "file"])
@pytest.mark.parametrize("offset, shift", [("12.3456us", 12_346), ("-7ms", -7_000_000), ("2h", 7_200_000_000_000),
                                           ("-20001", -20_001), ("-40ms", -40_000_000)])
def test_offset(tmp_path, forms, form, offset, shift):
    hits, uris = forms
    expected = [(t + shift, 0, c, (p,)) for t, c, p in hits]
    early = sum(row[0] < 0 for row in expected)
    run = run_all(tmp_path, f"{uris[form]}&offset={offset}".replace("?&", "?"), code=3 if early else 0)
    assert rows_of(run) == rows(expected, lambda row: row[0] < 0)
    assert dropped(read_ledger(run.output))["untimed"] == early
    assert (f"{early} hits have no time from tick 0 on" in run.done.stderr) == (early > 0)


@pytest.mark.parametrize("form", ["packed", "csv", "hdf5", "file"])
def test_system(tmp_path, forms, form):
    hits, uris = forms
    run = run_all(tmp_path, f"{uris[form]}&system=37&offset=3ns".replace("?&", "?"))
    assert rows_of(run) == [(t + 3, 0, c & 0x3FFFFF | 37 << 22, (p,)) for t, c, p in hits]


def test_two_shifted_sources_are_woven(tmp_path, forms):
    hits, uris = forms
    run = run_all(tmp_path, f"{uris['packed']}&offset=1us", f"{uris['csv']}&offset=5us&system=1")
    first = [(t + 1000, 0, c, (p,)) for t, c, p in hits]
    second = [(t + 5000, 1, c & 0x3FFFFF | 1 << 22, (p,)) for t, c, p in hits]
    assert rows_of(run) == rows(first + second)


def test_offset_of_event_numbers(tmp_path):
    lmd = DATA / "lmd" / "classic_16k.lmd"
    plain = rows_of(Run(tmp_path / "plain", [f"lmd:{lmd}"], "--define", "tag"))
    moved = rows_of(Run(tmp_path / "moved", [f"lmd:{lmd}?offset=1000&system=5"], "--define", "tag"))
    assert moved == [(t + 1000, s, c & 0x3FFFFF | 5 << 22, p) for t, s, c, p in plain]
    refused(f"lmd:{lmd}?offset=5us", "event numbers have no unit")


def test_shifted_recordings_keep_their_losses(tmp_path):
    (path,) = generate(tmp_path / "rec", sources=1, rate="1e6", duration="20ms", seed=3)
    path = path.removeprefix("file:")
    whole = read_epochs_file(path)
    buffer = whole.buffers[len(whole.buffers) // 2]
    data = bytearray(open(path, "rb").read())
    data[buffer.offset + 64 + 8] ^= 1
    open(path, "wb").write(data)
    plain = run_all(tmp_path / "plain", path, code=3)
    moved = run_all(tmp_path / "moved", f"{path}?offset=3333", code=3)
    assert rows_of(moved) == [(t + 3333, s, c, p) for t, s, c, p in rows_of(plain)]
    assert dropped(read_ledger(moved.output)) == dropped(read_ledger(plain.output))
    assert "the checksum of an epoch buffer is wrong" in moved.done.stderr


@pytest.mark.parametrize("offset", [-12_345, 0, 10_000, 3_600_000_000_123])
def test_live_boards(tmp_path, offset):
    """Boards of one port: the run equals that of their files with the same keys."""
    words = ["--define", "gap:25ns,4", "--epochs-per-slice", 100]
    uris = generate(tmp_path / "rec", sources=2, rate=20_000, hits=8, noise=200_000, payload=1, duration="50ms", seed=4)
    keys = f"offset={offset}&system=11"
    expected = Run(tmp_path / "files", [f"{uri}?{keys}" for uri in uris], *words, code=3 if offset < 0 else 0)
    port = free_port()
    with LiveRun(tmp_path, [f"{udp(port, sources='0,1')}&{keys}"], *words).listening() as run, \
            send([uri.removeprefix("file:") for uri in uris], port, "--speed", "0.2") as sender:
        sender.wait(0)
        found = run.found(3 if offset < 0 else 0)
    assert_same({name: found[name] for name in read_merged(expected.merged)}, read_merged(expected.merged))
    systems = found["hits/channel"] >> 22
    assert len(systems) > 1000 and np.all(systems == 11)


def test_an_mbs_server(tmp_path):
    lmd = DATA / "lmd" / "classic_16k.lmd"
    expected = rows_of(Run(tmp_path / "file", [f"lmd:{lmd}?offset=-5&system=3"], "--define", "tag", code=None))
    with Serving(tmp_path, lmd, "--once") as serving:
        live = Run(tmp_path / "live", [f"mbs://127.0.0.1:{serving.port}/transport?offset=-5&system=3"], "--define", "tag",
                   code=None)
        serving.ended()
    assert rows_of(live) == expected and len(expected) > 900


def test_keys_that_cannot_be(tmp_path, forms):
    _, uris = forms
    refused(uris["packed"] + "&system=64", "'system' must be a whole number from 0 to 63")
    refused(uris["packed"] + "&offset=soon", "offset", "'soon'")
    refused(uris["packed"] + "&offsett=5ns", "unknown key 'offsett'")
    eventloom("run", "--source", uris["packed"], *ALL, "--save-sorted", tmp_path / "sorted", "--output", tmp_path / "run.h5")
    refused(f"sorted:{tmp_path}/sorted?offset=5ns", "offset", "the run that saves the sorted hits")


# ---- csv

def table(folder, text, name="t.csv"):
    (folder / name).write_text(text)
    return folder / name


HEADERS = {
    "usual names": ("time_us,channel,energy\n1.5,3,70\n2,4,80\n", "", [(1500, 0, 3, (70,)), (2000, 0, 4, (80,))]),
    "other case, unit in brackets": ("Timestamp [us];CH\n1.5;3\n2;4\n", "", [(1500, 0, 3, ()), (2000, 0, 4, ())]),
    "any order": ("adc,id,n,t_ns\n70,3,x,1500\n80,4,y,2000\n", "", [(1500, 0, 3, (70,)), (2000, 0, 4, (80,))]),
    "names of its own": ("when,where,tot\n1.5,3,70\n2,4,80\n", "?time=when&channel=where&unit=us",
                         [(1500, 0, 3, ()), (2000, 0, 4, ())]),
    "a comment as header": ("# by me\n# t_us ch\n1.5 3\n2 4\n", "", [(1500, 0, 3, ()), (2000, 0, 4, ())]),
    "quoted": ('"t","ch"\n"1500","3"\n2000,4\n', "?unit=ns", [(1500, 0, 3, ()), (2000, 0, 4, ())]),
    "by the order of usual names": ("id,channel,time_ns\n1,7,1500\n2,8,2000\n", "", [(1500, 0, 7, ()), (2000, 0, 8, ())]),
    "separators in quotes": ('time,note,channel\n1500,"a,b",5\n2000,"""",6\n', "?unit=ns", [(1500, 0, 5, ()), (2000, 0, 6, ())]),
    "byte order mark": ("\ufefft_ns,ch\r\n1500,3\r\n2000,4\r\n", "", [(1500, 0, 3, ()), (2000, 0, 4, ())]),
    "lines before it": ("run 7\n\nt_ns,ch\n1500,3\n2000,4\n", "?skip=1", [(1500, 0, 3, ()), (2000, 0, 4, ())]),
    "name and number": ("t,a,b\n1500,3,9\n2000,4,8\n", "?channel=3&payload=a&unit=ns", [(1500, 0, 9, (3,)), (2000, 0, 8, (4,))]),
    "negative, with an origin": ("t_ms,ch\n-5,1\n-4.5,2\n3,3\n", "?origin=-5ms",
                                 [(0, 0, 1, ()), (500_000, 0, 2, ()), (8_000_000, 0, 3, ())]),
    "UTC": ("time,ch\n2026-11-21T10:00:00.123456789Z,1\n2026-11-21 11:00:00.123456790+01:00,2\n",
            "?origin=2026-11-21T10:00:00Z", [(123_456_789, 0, 1, ()), (123_456_790, 0, 2, ())]),
    "UTC over midnight and leap day": ("time,ch\n2028-03-01T00:00:00.5Z,1\n", "?origin=2028-02-28T23:59:59Z",
                                       [(86_401_500_000_000, 0, 1, ())]),
    "no payload": ("t_ns,ch,energy,adc\n1500,3,3.7,1\n2000,4,,2\n", "?payload=", [(1500, 0, 3, ()), (2000, 0, 4, ())]),
    "some of the payload": ("t_ns,ch,energy,adc\n1500,3,3.7,1\n2000,4,,2\n", "?payload=adc", [(1500, 0, 3, (1,)), (2000, 0, 4, (2,))]),
    "words": ("t_ns,ch\n1,veto\n2,A\n3,muon\n4,A\n", "", [(1, 0, 2, ()), (2, 0, 0, ()), (3, 0, 1, ()), (4, 0, 0, ())]),
}


@pytest.mark.parametrize("text, keys, expected", HEADERS.values(), ids=HEADERS)
def test_table(tmp_path, text, keys, expected):
    run = run_all(tmp_path / "run", f"{table(tmp_path, text)}{keys}")
    assert rows_of(run) == expected


def test_tabs(tmp_path):
    path = table(tmp_path, "time of day\tt_ns\tch\n10, or so\t1500\t3\n", "t.tsv")
    assert rows_of(run_all(tmp_path / "run", str(path))) == [(1500, 0, 3, ())]


def test_hdf5_is_known_by_its_ending(tmp_path):
    for name in ("a.h5", "a.hdf5"):
        with h5py.File(tmp_path / name, "w") as file:
            file["time"], file["channel"] = np.array([5, 6]), np.array([1, 2])
            file["time"].attrs["units"] = "ns"
        assert rows_of(run_all(tmp_path / f"run-{name}", f"{tmp_path}/{name}")) == [(5, 0, 1, ()), (6, 0, 2, ())]


def test_hits_before_the_origin_are_counted(tmp_path):
    path = table(tmp_path, "t_ns,ch\n" + "".join(f"{t},7\n" for t in range(100)))
    run = run_all(tmp_path / "run", f"{path}?origin=30", code=3)
    assert rows_of(run) == [(t - 30, 0, 7, ()) for t in range(30, 100)]
    assert dropped(read_ledger(run.output))["untimed"] == 30
    assert "30 hits come before tick 0" in run.done.stderr


def test_numbers_of_words_are_kept(tmp_path):
    path = table(tmp_path, "t_ns,ch\n1,veto\n2,muon\n")
    run = run_all(tmp_path / "own", str(path))
    with h5py.File(run.output) as file:
        assert "muon = 0, veto = 1" in file["sources/description"].asstr()[0]
    names = table(tmp_path, "name,channel\nveto,0x10\nmuon,7\n", "names.csv")
    run = run_all(tmp_path / "table", f"{path}?channels={names}")
    assert rows_of(run) == [(1, 0, 16, ()), (2, 0, 7, ())]
    refused(f"{table(tmp_path, 't_ns,ch' + chr(10) + '1,dog' + chr(10))}?channels={names}", "t.csv:2: 'dog' is not a channel")


@pytest.mark.parametrize("text, keys, words", [
    ("t,where\n1,2\n", "", ("t.csv:1", "channel", "'where'")),
    ("1,2\n3,4\n", "", ("t.csv:1", "time", "timestamp")),
    ("t_ns,ch\n1,5,1\n2,75,2\n", "", ("t.csv:2", "3 columns, the header 2", "decimal commas")),
    ("t_ns,ch,adc\n1,5,1,0,5\n", "", ("t.csv:2", "5 columns, the header 3", "decimal commas")),
    ("t_ns,ch\n1,2\n", "?reorder=", ("'reorder=' is given an empty value",)),
    ("t_ns,ch\n1,2\n", "?round=", ("'round=' is given an empty value",)),
    ("t_ns,ch\n1,2\n", "?unique=", ("'unique=' is given an empty value",)),
    ("t,ch\n1,2\n", "?time=when", ("t.csv:1", "'when'", "'t', 'ch'")),
    ("t,ch\n2026-11-21T10:00:00Z,2\n", "", ("t.csv:2", "origin=2026-11-21T00:00:00Z")),
    ("t,ch\n2026-11-21T10:00:00.0000000005Z,2\n", "?origin=2026-11-21T10:00:00Z", ("t.csv:2", "whole number", "round=")),
    ("t,ch\n5,2\n", "?origin=2026-11-21T10:00:00Z", ("t.csv:2", "'5'", "UTC")),
    ("t,ch\n-5,2\n", "", ("t.csv:2", "'-5'", "origin=")),
    ("t,ch\n1,2\n", "?origin=yesterday", ("origin=yesterday",)),
    ("t,ch\n2026-02-30T10:00:00Z,2\n", "?origin=2026-02-01T00:00:00Z", ("t.csv:2", "2026-02-30")),
    ("", "", ("t.csv", "no line names its columns")),
    ("t_us,time_ns,ch\n1,1000,2\n", "", ("t.csv:1", "time=t_us or time=time_ns")),
    ("time,note,channel\n1,\"a,5\n", "", ("t.csv:2", "a quote is not closed")),
    ("t,ch\n1,2\0,6\n", "", ("line 2 holds a NUL byte", "UTF-16? save it as UTF-8")),
    ("time,chanel\n1,2\n", "", ("t.csv:1", "'chanel' (did you mean 'channel'?)")),
    ("t_ns,ch,energy\n1,2,3.7V\n", "", ("t.csv:2: '3.7V' is not payload", "or payload= for none")),
    ("t_ns,ch\n1,veto\n2,5\n", "", ("t.csv:3", "'5' is not a word", "channels=FILE")),
    ("t_ns,ch\n1,5\n2,veto\n", "", ("t.csv:3", "'veto'", "channels=FILE")),
    ("1,2\n", "?time=1&time=2", ("'time' is given twice",)),
])
def test_tables_that_cannot_be(tmp_path, text, keys, words):
    refused(f"{table(tmp_path, text)}{keys}", *words)


def test_disorder_names_the_key_that_helps(tmp_path):
    path = table(tmp_path, "t_ns,ch\n" + "".join(f"{t},7\n" for t in [*range(1000, 50_000), 30_000]))
    refused(f"{path}?reorder=10", "add ?reorder=19.999us", "t.csv")
    assert len(rows_of(run_all(tmp_path / "hits", f"{path}?reorder=10000"))) == 49_001
    assert len(rows_of(run_all(tmp_path / "time", f"{path}?reorder=20us"))) == 49_001


# ---- packed

def test_floating_point_records(tmp_path):
    random = np.random.default_rng(2)
    records = np.zeros(5000, dtype=[("time", ">f8"), ("channel", "u1"), ("energy", "<f4"), ("clock", "<u4")])
    records["time"] = np.sort(random.uniform(0, 1e3, len(records)))  # us
    records["channel"] = random.integers(0, 256, len(records))
    records["energy"] = random.uniform(-2, 2e3, len(records))
    records["clock"] = random.integers(0, 1 << 20, len(records))
    records.tofile(tmp_path / "a.bin")
    keys = "record=17&channel=u8@8&unit=us&time=f64be@0&payload=f32le@9*1e3,u32le@13*0.25"
    energy = np.floor(np.float64(records["energy"]) * 1000 + 0.5).astype(np.int64)
    expected = [(int(t * 1000 + 0.5), 0, int(c), (int(e) & 0xFFFFFFFF, (int(n) + 2) // 4))
                for t, c, e, n in zip(records["time"], records["channel"], energy, records["clock"])]
    run = run_all(tmp_path / "run", f"packed:{tmp_path}/a.bin?{keys}")
    assert rows_of(run) == rows(expected)


def test_scaled_times_are_exact(tmp_path):
    ticks = [0, 1, 2, 3, 1 << 40]
    (tmp_path / "a.bin").write_bytes(b"".join(struct.pack("<QB", t, 1) for t in ticks))
    uri = f"packed:{tmp_path}/a.bin?record=9&time=u64le@0*1.5625&channel=u8@8"
    run = run_all(tmp_path / "run", uri + "&round=nearest")
    assert [row[0] for row in rows_of(run)] == [(t * 15625 * 2 + 10000) // 20000 for t in ticks]
    refused(uri, "1", "round=nearest")


def test_impossible_numbers_are_damage(tmp_path):
    times = [1.0, float("nan"), 2.0, float("inf"), -1.0, 3.0, 1e30]
    (tmp_path / "a.bin").write_bytes(b"".join(struct.pack("<dBf", t, 1, 5) for t in times)
                                     + struct.pack("<dBf", 4, 1, float("nan")))
    run = run_all(tmp_path / "run", f"packed:{tmp_path}/a.bin?record=13&time=f64le@0&channel=u8@8&payload=f32le@9", code=3)
    word = struct.unpack("<I", struct.pack("<f", 5))
    assert rows_of(run) == [*((t, 0, 1, word) for t in (1, 2, 3)), (4, 0, 1, struct.unpack("<I", struct.pack("<f", float("nan"))))]
    assert dropped(read_ledger(run.output))["corrupt"] == 4
    assert "offset 13: the time" in run.done.stderr
    scaled = run_all(tmp_path / "scaled", f"packed:{tmp_path}/a.bin?record=13&time=f64le@0&channel=u8@8&payload=f32le@9*2", code=3)
    assert rows_of(scaled) == [(t, 0, 1, (10,)) for t in (1, 2, 3)]
    assert "offset 91: the payload" in scaled.done.stderr


def test_floats_where_they_cannot_be(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(8))
    refused(f"packed:{tmp_path}/a.bin?record=8&time=u32le@0&channel=u8@4&system=f32le@4", "system=f32le@4", "only times, channels")
    refused(f"packed:{tmp_path}/a.bin?record=8&time=f16le@0&channel=u8@4", "f16le@0")
    refused(f"packed:{tmp_path}/a.bin?record=8&time=u32le@0*0&channel=u8@4", "u32le@0*0")


# ---- compass

def compass_events(bits, n=3000):
    random = np.random.default_rng(bits)
    time = np.sort(random.integers(0, 10**10, n)).tolist()
    events = [dict(board=int(random.integers(0, 4)), channel=int(random.integers(0, 16)), time_ps=t,
                   energy=int(random.integers(0, 1 << 16)), calibrated=float(random.uniform(0, 5000)),
                   short=int(random.integers(0, 1 << 16)), flags=int(random.choice([0, 0x4000, 0x8080, 0x8])))
              for t in time]
    if bits & 8:
        for event in events:
            event["samples"] = random.integers(0, 1 << 14, int(random.integers(0, 30))).tolist()
    return events


def compass_rows(bits, events):
    """Fake events are omitted."""
    found = []
    for e in events:
        if e["flags"] & caen.FAKE:
            continue
        calibrated = int(e["calibrated"] + 0.5)
        words = [e["energy"] if bits & 1 else calibrated, e["flags"]]
        words += [e["short"]] if bits & 4 else []
        words += [calibrated] if bits & 3 == 3 else []
        found.append(((e["time_ps"] + 500) // 1000, 0, e["board"] << 16 | e["channel"], tuple(words)))
    return rows(found)


@pytest.mark.parametrize("bits", [0xCAE1, 0xCAE2, 0xCAE3, 0xCAE5, 0xCAE7, 0xCAED, 0xCAEF])
def test_compass(tmp_path, bits):
    events = compass_events(bits)
    path = caen.compass_file(tmp_path / "a.bin", bits, events)
    run = run_all(tmp_path / "run", f"compass:{path}")
    assert rows_of(run) == compass_rows(bits, events)
    counts = counts_of(run.report(), 0)
    flags = [event["flags"] for event in events]
    assert counts["fake_events"] == sum(f & 8 != 0 for f in flags)
    assert counts["saturated_events"] == sum(f & 0x480 != 0 for f in flags)
    assert counts["pile_up_events"] == sum(f & 0x8000 != 0 for f in flags)
    seen = json.loads(eventloom("inspect", path, "--json").stdout)
    assert (seen["kind"], seen["hits"], seen["damaged"]) == ("compass", len(compass_rows(bits, events)), False)


def test_compass_files_without_a_header(tmp_path):
    events = compass_events(0xCAED)
    (tmp_path / "later.bin").write_bytes(b"".join(caen.record(0xCAED, **e) for e in events))
    assert rows_of(run_all(tmp_path / "later", f"compass:{tmp_path}/later.bin?header=0xCAED")) == compass_rows(0xCAED, events)
    (tmp_path / "old.bin").write_bytes(b"".join(caen.record(0xCAED, **e, old=True) for e in events))
    assert rows_of(run_all(tmp_path / "old", f"compass:{tmp_path}/old.bin?header=old")) == compass_rows(0xCAED, events)
    refused(f"compass:{tmp_path}/old.bin", "0xCAEx", "header=old")
    refused(f"compass:{tmp_path}/old.bin?header=0xBEEF", "header=0xBEEF")


def test_a_header_that_the_file_has(tmp_path):
    """The header is not a record, and must equal the given one."""
    events = compass_events(0xCAED)
    path = caen.compass_file(tmp_path / "a.bin", 0xCAED, events)
    assert rows_of(run_all(tmp_path / "run", f"compass:{path}?header=0xCAED")) == compass_rows(0xCAED, events)
    for other in ("0xCAE1", "old"):
        refused(f"compass:{path}?header={other}", f"header={other}", "0xCAED", "omit header=")


def test_damaged_compass_files(tmp_path):
    bits, events = 0xCAE5, compass_events(0xCAE5, 100)
    events[40].update(board=4711, flags=0)
    path = caen.compass_file(tmp_path / "a.bin", bits, events)
    path.write_bytes(path.read_bytes()[:-3])
    run = run_all(tmp_path / "run", f"compass:{path}", code=3)
    assert rows_of(run) == compass_rows(bits, events[:40] + events[41:99])
    assert dropped(read_ledger(run.output))["corrupt"] == 2
    assert f"offset {2 + 40 * 20}: board 4711" in run.done.stderr
    assert f"offset {2 + 99 * 20}: the file ends 17 bytes into a record" in run.done.stderr


# ---- tpx3

def nearest(steps):
    """Steps of 25 ns / 96 in ns."""
    return (2 * steps * 25 + 96) // (2 * 96)


def pixel_row(chip, x, y, time, tot):
    return (nearest(time * 6), 0, chip << 16 | y << 8 | x, (tot,))


def tdc_row(chip, edge, count, time):
    return (nearest(time), 0, 63 << 16 | chip << 2 | list(tpx3.EDGES).index(edge), (count,))


def test_tpx3_over_several_periods(tmp_path):
    """100 s of data of two chips, slightly out of order, with TDC edges: times restart three times."""
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, 64_000_000_000, 20_000))
    times = times[np.argsort(times + random.integers(0, 640_000, len(times)), kind="stable")].tolist()
    data, expected = b"", []
    for at in range(0, len(times), 50):
        chip = at // 50 % 2
        packets = []
        for n, time in enumerate(times[at:at + 50]):
            if n % 10 == 0:
                edge, count = list(tpx3.EDGES)[n // 10 % 4], n
                packets.append(tpx3.tdc(edge, count, time * 6 + 5))
                expected.append(tdc_row(chip, edge, count, time * 6 + 5))
            x, y, tot = (int(random.integers(0, high)) for high in (256, 256, 1024))
            packets.append(tpx3.pixel(x, y, time, tot))
            expected.append(pixel_row(chip, x, y, time, tot))
        data += tpx3.chunk(chip, [*packets, tpx3.HEARTBEAT])
    (tmp_path / "a.tpx3").write_bytes(data)
    run = run_all(tmp_path / "run", f"{tmp_path}/a.tpx3")
    assert rows_of(run) == rows(expected)
    counts = counts_of(run.report(), 0)
    assert counts["tdc_hits"] == len(expected) - len(times) and counts["skipped_elements"] == len(times) // 50
    seen = json.loads(eventloom("inspect", tmp_path / "a.tpx3", "--json").stdout)
    assert (seen["kind"], seen["hits"], seen["damaged"]) == ("tpx3", len(expected), False)


def test_tpx3_begins_where_its_global_time_says(tmp_path):
    """A stretch an hour after the clock was reset, and a pause of 60 s with global times only."""
    hour = 3600 * 40_000_000  # of 25 ns
    packets, expected = [], []
    for second in [0, 1, *range(61, 64)]:
        packets += tpx3.global_time(hour + second * 40_000_000)
        packets.append(tpx3.pixel(1, 2, (hour + second * 40_000_000) * 16 + 3, 4))
        expected.append(pixel_row(0, 1, 2, (hour + second * 40_000_000) * 16 + 3, 4))
        if second == 1:
            for pause in range(2, 61):
                packets += tpx3.global_time(hour + pause * 40_000_000)
    (tmp_path / "a.tpx3").write_bytes(tpx3.chunks(0, packets, 20))
    assert rows_of(run_all(tmp_path / "run", f"{tmp_path}/a.tpx3")) == expected


def test_damaged_tpx3_files(tmp_path):
    chunks = [tpx3.chunk(0, [tpx3.pixel(1, n % 256, 1000 * i + n, 1) for n in range(100)]) for i in range(10)]
    good = [[pixel_row(0, 1, n % 256, 1000 * i + n, 1) for n in range(100)] for i in range(10)]
    (tmp_path / "a.tpx3").write_bytes(b"".join([*chunks[:3], b"\x01" + chunks[3][1:], *chunks[4:6], chunks[6][:400],
                                               *chunks[7:9], chunks[9][:-40]]))
    run = run_all(tmp_path / "run", f"{tmp_path}/a.tpx3", code=3)
    whole = [row for i in (0, 1, 2, 4, 5, 7, 8) for row in good[i]] + good[6][:49] + good[9][:95]
    assert rows_of(run) == rows(whole)
    assert dropped(read_ledger(run.output))["corrupt"] == 100 + 5
    assert f"offset {3 * 808}: expected a chunk; 808 bytes are skipped, with about 100 hits" in run.done.stderr


# ---- midas

def midas_events(n=200, first=1, front_end=1):
    """Events with banks of all lengths; some have none."""
    random = np.random.default_rng(n)
    banks = lambda k: [midas.Bank(name, random.bytes(int(random.integers(0, 90))), kind)  # noqa: E731
                       for name, kind in (("ADC0", 4), ("TDC9", 6), ("ab_c", 1))[:k % 4]]
    return [midas.Event(first + k, banks(k), front_end, mask=k % 5, seconds=1_700_000_000 + k // 10) for k in range(n)]


def midas_rows(events, time=lambda event: event.serial):
    return [(time(event), 0, channel, payload) for event in events for channel, payload in event.hits()]


@pytest.mark.parametrize("form", ["16", "32", "32a"])
def test_midas(tmp_path, form):
    events = midas_events()
    path = midas.midas_file(tmp_path / "a.mid", events, form)
    run = run_all(tmp_path / "run", path)
    assert rows_of(run) == midas_rows(events)
    seen = json.loads(eventloom("inspect", path, "--json").stdout)
    assert (seen["kind"], seen["events"], seen["damaged"], seen["event_ids"]) == ("midas", 200, False, {"1": 200})
    assert (seen["folded_ids"], seen["empty_events"], seen["run_events"]) == (50, 50, 2)


def test_midas_events_of_two_front_ends(tmp_path):
    """Each front end numbers its own events, over the files of a split run."""
    events = [event for pair in zip(midas_events(60), midas_events(60, 31, front_end=2)) for event in pair]
    for n, part in enumerate((events[:50], events[50:])):
        midas.midas_file(tmp_path / f"run7_{n}.mid", part)
    uris = [f"midas:{tmp_path}/run7_*.mid?concat&event={front_end}" for front_end in (1, 2)]
    run = Run(tmp_path / "run", uris, "--define", "tag", code=3)  # 31 to 60 are in both
    merged = read_merged(run.merged)
    hits = {n: sum(len(event.hits()) for event in events if event.serial == n) for n in range(1, 91)}
    assert dict(zip(merged["events/time"].tolist(), merged["events/n_hits"].tolist())) == hits
    assert [int(flags) != 0 for flags in merged["events/flags"]] == [not 31 <= n <= 60 for n in range(1, 91)]
    # The first one's alone:
    assert rows_of(run_all(tmp_path / "one", f"midas:{tmp_path}/run7_*.mid?concat")) == midas_rows(events[::2])
    seen = json.loads(eventloom("inspect", tmp_path / "run7_0.mid", "--json").stdout)
    assert (seen["event_ids"], seen["skipped_elements"]) == ({"1": 25, "2": 25}, 25)


def test_midas_times_in_a_bank(tmp_path):
    events = [midas.Event(1, [midas.Bank("ADC0", b"x"), midas.Bank("TIME", struct.pack("<IQ", 9, (1 << 32) + 10 * k))])
              for k in range(100)]
    events.insert(50, midas.Event(1, [midas.Bank("ADC0", b"x")]))
    path = midas.midas_file(tmp_path / "a.mid", events)
    run = run_all(tmp_path / "run", f"midas:{path}?time=TIME:1,2", code=3)
    assert rows_of(run) == midas_rows(events[:50] + events[51:], lambda event: struct.unpack("<IQ", event.banks[1].data)[1])
    assert dropped(read_ledger(run.output))["untimed"] == 1
    for query in ("time=TIM:1", "time=TIME:x", "time=TIME:1,3", "event=40000", "unit=us"):
        refused(f"midas:{path}?{query}", query.split("=")[1].split(":")[0])


@pytest.mark.parametrize("query, low, bits", [("number=word:1&from=TRIG", 0, 32), ("number=word:1:8-31&from=TRIG", 8, 24), ("bits=16", 0, 16)])
def test_midas_numbers_that_wrap_around(tmp_path, query, low, bits):
    """Numbers of the front end's hardware, in a bank or in the header, beside other bits; an event without the bank is
    dropped."""
    first, in_bank = (1 << bits) - 40, query.startswith("number")
    word = lambda k: ((first + k) << low | (1 << low) - 1) & 0xFFFFFFFF  # noqa: E731
    serial = lambda k: k if in_bank else word(k) % (1 << bits) | (k % 7 + 1) << bits  # noqa: E731
    events = [midas.Event(serial(k), [midas.Bank("ADC0", b"12345678"), midas.Bank("TRIG", struct.pack("<III", 7, word(k), 9))])
              for k in range(100)]
    if in_bank:
        events[50].banks.pop()
    path = midas.midas_file(tmp_path / "a.mid", events)
    run = run_all(tmp_path / "run", f"midas:{path}?{query}", code=3 if in_bank else 0)
    kept = [(k, event) for k, event in enumerate(events) if len(event.banks) == 2]
    assert rows_of(run) == [(first + k, *row[1:]) for k, event in kept for row in midas_rows([event])]
    if in_bank:
        assert dropped(read_ledger(run.output))["untimed"] == 1
        assert "event 50 is dropped: no bank TRIG has data word 1 with its number" in run.done.stderr


@pytest.mark.parametrize("query, reported", [
    ("bits=8", "16 to 32"), ("number=word:x", "word:x"), ("number=word:1:0-9", "0-9"), ("number=word:1&bits=24", "bits="),
    ("from=TRIG", "number="), ("number=word:1&from=TRIGGER", "four characters"), ("time=TIME:1&bits=24", "bits="),
    ("time=TIME:1&number=word:1", "number=")])
def test_midas_numbers_that_cannot_be(tmp_path, query, reported):
    refused(f"midas:{midas.midas_file(tmp_path / 'a.mid', midas_events(5))}?{query}", reported)


def test_damaged_midas_files(tmp_path):
    """A repeated number, a bank that is too long, an event without banks, bytes that are not an event, and a cut."""
    events = midas_events(100)
    parts = [midas.encode(event) for event in events]
    parts[20] = parts[19]
    parts[31] = parts[31][:32] + b"\xff\xff" + parts[31][34:]  # length of its first bank
    parts[40] = struct.pack("<HHIII", 1, 0, 41, 0, 20) + bytes(20)
    parts[51] = b"\x55" + parts[51][1:12] + b"\xff\xff\xff\x7f" + parts[51][16:]
    path = tmp_path / "a.mid"
    path.write_bytes(b"".join(parts)[:-3])
    run = run_all(tmp_path / "run", path, code=3)
    assert rows_of(run) == midas_rows([event for k, event in enumerate(events) if k not in (20, 31, 40, 51, 99)])
    lost = dropped(read_ledger(run.output))
    assert (lost["duplicate"], lost["corrupt"]) == (len(events[19].hits()), 1 + 1 + 1)
    begin = sum(map(len, parts[:51]))
    for words in (f"offset {begin}: expected an event; {len(parts[51])} bytes are skipped", "an event without banks is dropped",
                  "a bank of", "ends inside an event"):
        assert words in run.done.stderr, run.done.stderr
    (tmp_path / "big.mid").write_bytes(struct.pack(">HHIII", 0x8000, 0x494D, 7, 1_700_000_000, 6) + b"<odb/>")
    refused(tmp_path / "big.mid", "does not begin", "little-endian")


@pytest.mark.parametrize("form", ["tpx3", "compass", "midas"])
def test_hostile_files_end_in_counts_or_one_line(tmp_path, form):
    """Flipped bits, truncation and noise."""
    random = np.random.default_rng(8)
    if form == "tpx3":
        good = tpx3.chunks(1, [tpx3.pixel(3, 4, 1000 * n, 5) for n in range(300)], 40)
    elif form == "midas":
        good = midas.midas_file(tmp_path / "good.mid", midas_events(60)).read_bytes()
    else:
        good = caen.compass_file(tmp_path / "good.bin", 0xCAED, compass_events(0xCAED, 100)).read_bytes()
    for n in range(12):
        data = bytearray(good)
        for at in random.integers(0, len(data), n):
            data[at] ^= 1 << int(random.integers(0, 8))
        data = bytes(data[:len(data) - int(random.integers(0, 100))]) if n % 3 == 0 else bytes(data)
        (tmp_path / "a.bin").write_bytes(data if n else random.bytes(5000))
        done = eventloom("run", "--source", f"{form}:{tmp_path}/a.bin", *ALL, "--output", tmp_path / f"{n}.h5", code=None)
        if done.returncode == 2:
            assert len([line for line in done.stderr.splitlines() if "info:" not in line]) >= 1
        else:
            assert_balanced(read_ledger(tmp_path / f"{n}.h5"))


# ---- the table of keys

def test_page_has_all_keys():
    listing = eventloom("inspect", "--schemes").stdout
    assert f"$ eventloom inspect --schemes\n{listing}```" in (ROOT / "io/inputs.md").read_text()


def test_each_key_is_accepted():
    """Tested by its scheme alone: the keys listed are those checked."""
    scheme = None
    for line in eventloom("inspect", "--schemes").stdout.splitlines():
        if not line.startswith(" "):
            scheme = line.split(":")[0]
            continue
        key = re.match(r"[\w-]+", line.strip())[0]
        if scheme.startswith("every source"):
            continue
        place = {"mbs": "mbs://localhost:1/stream", "udp": "udp://127.0.0.1:1"}.get(scheme, f"{scheme}:/nonexistent")
        done = eventloom("run", "--source", f"{place}?{key}", "--define", "nothing", "--output", "/nonexistent/o.h5", code=2)
        assert "unknown key" not in done.stderr
