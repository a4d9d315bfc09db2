"""inspect: the kind of a file by its content, its first events in full, damage, and the same figures as text and in
--json."""

import json
import re
import shutil
import struct
from collections import Counter

import h5py
import numpy as np
import pytest

import caen
from epochs_file import BUFFER_HEADER, hits_of_file, read_epochs_file
from hld_reference import read_hld
from lmd_reference import Event, Subevent, flat_file, read_lmd, white_rabbit
from program import DATA, Run, eventloom, generate, only_line
from seals import seal
from spikes_reference import PACKET_HEADER, read_spikes, write_spikes

LMD, HLD = DATA / "lmd", DATA / "hld"
PACKED = "record=16&time=u64le@0&channel=u24be@8&payload=u40le@11&skip=3"
KINDS = {"epochs": "epochs", "flat": "lmd", "classic": "lmd", "big_endian": "lmd", "index": "lmd", "hld": "hld",
         "spikes": "spikes", "run": "eventloom-run", "merged": "eventloom-merged", "part": "eventloom-part"}


class Files:
    """One file of each kind, by name."""

    def __init__(self, folder):
        self.folder = folder
        uris = generate(folder / "streams", sources=2, rate=20_000, timing="poisson", hits=8, width="50ns", noise=100_000,
                        duration="5ms", payload=2, seed=3)
        self.run = Run(folder / "run", uris, "--define", "gap:60,3", "--builders", 2, "--epochs-per-slice", 20)
        choose = np.random.default_rng(2)
        self.times = np.sort(choose.integers(0, 1 << 40, 500)).tolist()
        self.channels = choose.integers(0, 1 << 16, 500).tolist()
        write_spikes(folder / "a.spikes", self.times, self.channels, packet_spikes=100)
        self.words = choose.integers(0, 1 << 40, 500).tolist()
        (folder / "a.bin").write_bytes(b"abc" + b"".join(
            struct.pack("<Q", t) + c.to_bytes(3, "big") + w.to_bytes(5, "little")
            for t, c, w in zip(self.times, self.channels, self.words)))
        self.packed = f"packed:{folder}/a.bin?{PACKED}"
        self.paths = {"epochs": folder / "streams" / "source_001.epochs", "flat": LMD / "var_small.lmd",
                      "classic": LMD / "classic_16k.lmd", "big_endian": LMD / "be_flat.lmd", "index": LMD / "index.lmd",
                      "hld": HLD / "var_small.hld", "spikes": folder / "a.spikes", "run": self.run.output,
                      "merged": self.run.merged, "part": next((folder / "run").glob("run.part-*.h5"))}

    def uri_of(self, name):
        return self.packed if name == "packed" else self.paths[name]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp("files"))


def inspect(*arguments, code=0, **options):
    return json.loads(eventloom("inspect", *arguments, "--json", code=code, **options).stdout)


# Recognised by content


@pytest.mark.parametrize("ending", [".dat", ".lmd", ".epochs", ".h5", ""])
@pytest.mark.parametrize("name", KINDS)
def test_whatever_the_name(tmp_path, files, name, ending):
    """Only the file's name differs in the output."""
    if name == "run":  # its parts lie beside it
        for part in (files.folder / "run").glob("run.part-*.h5"):
            shutil.copy(part, tmp_path)
    copy = shutil.copy(files.paths[name], tmp_path / f"copy{ending}")
    expected, shown = (inspect(path, "--events", 2) for path in (files.paths[name], copy))
    assert shown["kind"] == KINDS[name] and not shown["damaged"] and shown["problems"] == []
    assert shown["file"] == str(copy) and shown["file_bytes"] == files.paths[name].stat().st_size
    assert shown | {"file": None} == expected | {"file": None}


@pytest.mark.parametrize("name, scheme", [("flat", "lmd"), ("hld", "hld"), ("spikes", "spikes"), ("epochs", "file")])
def test_a_uri_shows_the_same(files, name, scheme):
    path = files.paths[name]
    assert inspect(f"{scheme}:{path}", "--events", 3) == inspect(path, "--events", 3)


def test_a_name_with_a_colon(tmp_path, files):
    """An existing file is a file, whatever its name looks like."""
    shutil.copy(files.paths["hld"], tmp_path / "lmd:run.lmd")
    assert inspect("lmd:run.lmd", cwd=tmp_path)["kind"] == "hld"


def test_several_files(files):
    """In the order given; one JSON object."""
    names = ["hld", "epochs", "packed", "merged"]
    shown = inspect(*(files.uri_of(name) for name in names))
    assert set(shown) == {"files"}
    assert shown["files"] == [inspect(files.uri_of(name)) for name in names]


# The first events in full


@pytest.mark.parametrize("name", ["flat", "classic", "big_endian", "index"])
def test_first_events_of_lmd(files, name):
    file = read_lmd(files.paths[name])
    count = min(len(file.events), 300)
    assert inspect(files.paths[name], "--events", count)["first_events"] == [e.description() for e in file.events[:count]]


def test_first_events_of_hld(files):
    file = read_hld(files.paths["hld"])
    assert inspect(files.paths["hld"], "--events", 200)["first_events"] == [e.description() for e in file.events[:200]]


def described(hits):
    """(time, channel, payload) as --json shows them."""
    return [{"time": t, "channel": c} | ({"payload": p} if p else {}) for t, c, p in hits]


def test_first_events_of_spikes(files):
    spikes = read_spikes(files.paths["spikes"])
    rows = zip(spikes.time.tolist(), spikes.channel.tolist(), [None] * 500)
    assert inspect(files.paths["spikes"], "--events", 250)["first_events"] == described(rows)[:250]


def test_first_events_of_packed(files):
    """A field of 40 bits is two words, the low one first."""
    rows = zip(files.times, files.channels, [[w & 0xFFFFFFFF, w >> 32] for w in files.words])
    assert inspect(files.packed, "--events", 120)["first_events"] == described(rows)[:120]


def test_first_events_of_epochs(files):
    """Hits, as in the other streams of hits."""
    hits = hits_of_file(read_epochs_file(files.paths["epochs"]))
    rows = zip(hits.time.tolist(), hits.channel.tolist(), hits.payload.reshape(-1, 2).tolist())
    assert inspect(files.paths["epochs"], "--events", 90)["first_events"] == described(rows)[:90]


@pytest.mark.parametrize("name", ["run", "merged", "part"])
def test_first_events_of_output(files, name):
    path = files.paths["merged" if name == "run" else name]
    with h5py.File(path) as file:
        column = {key: file[key][:].tolist() for key in (
            "events/time", "events/duration", "events/slice", "events/flags", "events/sources_missing", "events/first_hit",
            "hits/time", "hits/channel", "hits/source", "hits/first_payload", "payload")}
    expected = []
    for n in range(40):
        hits = [{"time": column["hits/time"][h], "channel": column["hits/channel"][h], "source": column["hits/source"][h],
                 "payload": column["payload"][column["hits/first_payload"][h]:column["hits/first_payload"][h + 1]]}
                for h in range(column["events/first_hit"][n], column["events/first_hit"][n + 1])]
        keys = ("time", "duration", "slice", "flags", "sources_missing")
        expected.append({key: column[f"events/{key}"][n] for key in keys} | {"hits": hits})
    assert inspect(files.paths[name], "--events", 40)["first_events"] == expected


@pytest.mark.parametrize("name", [*KINDS, "packed"])
def test_as_many_events_as_there_are(files, name):
    """No event unless requested; all of them and no more if more are requested."""
    uri = files.uri_of(name)
    assert "first_events" not in inspect(uri)
    shown = inspect(uri, "--events", 1_000_000)
    assert len(shown["first_events"]) == (shown["events"] if "events" in shown else shown["hits"]) > 0


# Counts, ranges and gaps, by the reference readers


def test_counts_of_epochs(files):
    file = read_epochs_file(files.paths["epochs"])
    hits, shown = hits_of_file(file), inspect(files.paths["epochs"])
    ends, starts = [b.end_epoch for b in file.buffers], [b.first_epoch for b in file.buffers]
    gaps = [start - end for end, start in zip(ends, starts[1:]) if start > end]
    expected = {"source": 1, "tick_ps": 1000, "epoch_ticks": 10_000, "index": "whole", "buffers": len(file.buffers),
                "words": sum(b.n_words for b in file.buffers), "hits": len(hits), "payload_words": 2 * len(hits),
                "first_tick": int(hits.time[0]), "last_tick": int(hits.time[-1]), "first_epoch": starts[0], "end_epoch": ends[-1],
                "gaps": len(gaps), "epochs_in_gaps": sum(gaps), "text": file.text, "damage": []}
    assert {key: shown[key] for key in expected} == expected


def test_counts_of_spikes_and_packed(files):
    expected = {"hits": 500, "channels": len(set(files.channels)), "first_time": files.times[0], "last_time": files.times[-1],
                "first_channel": min(files.channels), "last_channel": max(files.channels)}
    packets = len(read_spikes(files.paths["spikes"]).packets)
    for uri, own in ((files.paths["spikes"], {"packets": packets}), (files.packed, {"records": 500})):
        shown = inspect(uri)
        assert {key: shown[key] for key in (*expected, *own)} == expected | own


@pytest.mark.parametrize("name", ["run", "merged", "part"])
def test_counts_of_output(files, name):
    """Counts of the datasets; run.h5 shows those of its parts."""
    path = files.paths["merged" if name == "run" else name]
    shown = inspect(files.paths[name])
    with h5py.File(path) as file:
        expected = {"events": len(file["events/time"]), "hits": len(file["hits/time"]), "payload_words": len(file["payload"])}
        account = {column: int(file[f"ledger/{column}"][:].sum()) for column in ("hits_in", "hits_in_events", "hits_outside")}
        slices = len(file["ledger/slice"])
    assert {key: shown[key] for key in expected} == expected
    assert {key: shown["ledger"][key] for key in account} == account
    assert shown["ledger"]["slices"] == slices and shown["ledger"]["balances"]


def test_parts_and_sources_of_a_run(files):
    shown = inspect(files.paths["run"])
    assert [s["name"] for s in shown["sources"]] == [str(files.folder / "streams" / f"source_00{n}.epochs") for n in (0, 1)]
    parts = sorted((files.folder / "run").glob("run.part-*.h5"))
    assert [(p["name"], p["bytes"]) for p in shown["parts"]] == [(path.name, path.stat().st_size) for path in parts]
    assert sum(p["events"] for p in shown["parts"]) == shown["events"]


def test_list_mode_files_beside_the_parts(tmp_path, files):
    run = Run(tmp_path, [files.paths["epochs"]], "--define", "gap:60,3", "--segment-size", 1, "--epochs-per-slice", 20,
              "--also", f"lmd:{tmp_path}/out")
    beside = [file for part in inspect(run.output)["parts"] for file in part["event_files"]]
    paths = sorted(tmp_path.glob("out*"))
    assert len(paths) > 3
    assert beside == [{"name": path.name, "events": len(read_lmd(path).events), "bytes": path.stat().st_size} for path in paths]


# Tables


def write_table(path, times, channels, words, header="t_us;energy;detector"):
    rows = [f"{time / 1000};{word};{channel}" for time, channel, word in zip(times, channels, words)]
    path.write_text("\n".join([*([header] if header else []), *rows, ""]))


def test_a_table(tmp_path, files):
    names = [f"det{channel:05d}" for channel in files.channels]
    words = [word & 0xFFFF for word in files.words]
    write_table(tmp_path / "mine.csv", files.times, names, words)
    shown = inspect("mine.csv", "--events", 3, cwd=tmp_path)
    number = {name: n for n, name in enumerate(sorted(set(names)))}
    assert {key: shown[key] for key in ("kind", "damaged", "hits", "channels", "first_time", "last_time", "first_channel",
                                        "last_channel", "file_bytes")} == {
        "kind": "csv", "damaged": False, "hits": 500, "channels": len(number), "first_time": min(files.times),
        "last_time": max(files.times), "first_channel": 0, "last_channel": len(number) - 1,
        "file_bytes": (tmp_path / "mine.csv").stat().st_size}
    assert {key: shown["header"][key] for key in ("tick_ps", "time_column", "channel_column", "payload_columns")} == {
        "tick_ps": 1000, "time_column": 1, "channel_column": 3, "payload_columns": [2]}
    assert names[0] in shown["header"]["contents"]
    assert shown["first_events"] == [{"time": files.times[n], "channel": number[names[n]], "payload": [words[n]]}
                                     for n in range(3)]


def test_a_table_without_a_header(tmp_path):
    """In ps if the unit requires it; its keys are in a URI."""
    write_table(tmp_path / "x.csv", [7000, 9000], [3, 4], [1, 1], header=None)
    only_line(eventloom("inspect", "x.csv", code=2, cwd=tmp_path), "x.csv", "time")
    for uri in ("csv:x.csv?time=1&channel=3&unit=ps", "x.csv?time=1&channel=3&unit=ps"):
        shown = inspect(uri, cwd=tmp_path)
        assert (shown["header"]["tick_ps"], shown["hits"], shown["first_time"], shown["last_time"]) == (1, 2, 7, 9)


def test_keys_without_a_scheme(tmp_path):
    """As in a run; keys that do not fit are reported."""
    write_table(tmp_path / "x.csv", [7000, 9000], [3, 4], [1, 1])
    only_line(eventloom("inspect", "x.csv?tme=1", code=2, cwd=tmp_path), "unknown key 'tme' (did you mean 'time'?)")
    only_line(eventloom("inspect", "none.csv?time=1&channel=3", code=2, cwd=tmp_path), "none.csv", "No such file")
    only_line(eventloom("inspect", "x.dat?time=1", code=2, cwd=tmp_path), "unknown scheme")


def test_hits_of_a_table_before_tick_0(tmp_path):
    (tmp_path / "x.csv").write_text("t_ns,ch\n-5,1\n5,1\n")
    done = eventloom("inspect", "csv:x.csv?origin=0ns", "--json", code=3, cwd=tmp_path)
    assert json.loads(done.stdout)["hits"] == 1 and json.loads(done.stdout)["damaged"]


@pytest.mark.parametrize("text, words", [("", []), ("t_ns,ch\n1,2\n3,blue\n", [":3", "'blue'"]), ("t_ns,ch\n1\n", [":2", "column 2"]),
                                         ("when,where\n1,2\n", ["time"]), ("t_ns,ch\nnoon,2\n", [":2", "noon"])])
def test_damaged_tables(tmp_path, text, words):
    (tmp_path / "x.csv").write_text(text)
    only_line(eventloom("inspect", "x.csv", code=2, cwd=tmp_path), "x.csv", *words)


# Where the time of an LMD event comes from


def stamped(folder):
    """Stamps of systems 0x100 and 0x200, one event without any; the time in ns also in two data words."""
    times, events = [5_000, 1_700_000_000_123_456_789, 7_777, 9_999_999], []
    for number, time in enumerate(times, 1):
        events.append(Event(number, [Subevent(1, [*white_rabbit(time), number]), Subevent(2, [*white_rabbit(time + 3, 0x200)]),
                                     Subevent(3, [0xABCDEF, time & 0xFFFFFFFF, time >> 32])]))
    events.insert(2, Event(99, [Subevent(4, [1])], trigger=2))
    path = folder / "made.lmd"
    path.write_bytes(flat_file(events))
    return path, times


@pytest.mark.parametrize("query, add, untimed", [("time=wr", 0, 1), ("time=wr&wr=0x200", 3, 1), ("time=wr&wr=0x300", None, 5),
                                                 ("time=word:1,2&from=00000003", 0, 1)])
def test_times_of_lmd(tmp_path, query, add, untimed):
    path, times = stamped(tmp_path)
    shown = inspect(f"lmd:{path}?{query}")
    first, last = (None, None) if add is None else (min(times) + add, max(times) + add)
    expected = {"first_time": first, "last_time": last, "untimed_events": untimed, "events": 5}
    assert {key: shown[key] for key in expected} == expected


def test_without_times_there_are_numbers(tmp_path):
    path, _ = stamped(tmp_path)
    for uri in (path, f"lmd:{path}?time=tag"):
        shown = inspect(uri)
        assert "first_time" not in shown and (shown["first_number"], shown["last_number"]) == (1, 4)


def test_gaps_in_numbers_and_triggers(tmp_path):
    """As in the file, and defects of the numbers by kind."""
    numbers, triggers = [1, 2, 2, 5, 6, 3, 7], [14, 1, 1, 2, 1, 12, 15]
    path = tmp_path / "a.lmd"
    path.write_bytes(flat_file([Event(n, [Subevent(n, [n])], t) for n, t in zip(numbers, triggers)]))
    shown = inspect(path)
    assert {key: shown[key] for key in ("missing_numbers", "duplicate_numbers", "out_of_step", "repeated_incomplete")} == {
        "missing_numbers": 2, "duplicate_numbers": 1, "out_of_step": 1, "repeated_incomplete": 0}
    assert shown["triggers"] == {str(t): n for t, n in Counter(triggers).items()}
    assert shown["ids"] == {f"{n:08x}": count for n, count in Counter(numbers).items()}


# Damage


def damaged_copy(folder, files, name):
    """An incomplete copy, its URI, and the offset of the damage if it has one."""
    path = folder / "damaged"
    if name == "packed":
        data = (files.folder / "a.bin").read_bytes()[:-5]
        path.write_bytes(data)
        return f"packed:{path}?{PACKED}", 3 + 499 * 16  # of the last record
    data = bytearray(files.paths[name].read_bytes())
    if name == "epochs":
        place = read_epochs_file(files.paths[name]).buffers[7].offset
        data[place + BUFFER_HEADER.size + 9] ^= 4
    elif name == "spikes":
        place = read_spikes(files.paths[name]).packets[2]
        data[place + PACKET_HEADER + 5] ^= 4
    else:
        place = {"flat": len(data) - 100, "classic": len(data) - 700, "big_endian": 100_000, "hld": len(data) - 77}[name]
        del data[place:]
    path.write_bytes(data)
    return path, place


@pytest.mark.parametrize("name", ["epochs", "flat", "classic", "big_endian", "hld", "spikes", "packed"])
def test_damaged(tmp_path, files, name):
    """Exit code 3, and a problem that names its offset: at the damage, or at the beginning of the damaged item."""
    uri, place = damaged_copy(tmp_path, files, name)
    shown = inspect(uri, code=3)
    assert shown["damaged"]
    reported = [entry["offset"] for entry in shown.get("damage", [])]
    reported += [int(n) for text in shown["problems"] for n in re.findall(r"offset (\d+)", text)]
    assert reported and all(place - 17_000 < offset <= place for offset in reported), reported
    assert eventloom("inspect", uri, code=3).stdout


def test_one_of_several_is_damaged(tmp_path, files):
    """All are shown."""
    uri, _ = damaged_copy(tmp_path, files, "hld")
    shown = inspect(files.paths["flat"], uri, files.paths["spikes"], code=3)["files"]
    assert [file["damaged"] for file in shown] == [False, True, False]


@pytest.mark.parametrize("what", ["gone", "cut", "not_closed", "foreign"])
def test_damaged_run(tmp_path, files, what):
    """A part that is missing, truncated or of another run, or a run that did not end."""
    folder = shutil.copytree(files.folder / "run", tmp_path / "run")
    part = sorted(folder.glob("run.part-*.h5"))[0]
    if what == "gone":
        part.unlink()
    elif what == "cut":
        part.write_bytes(part.read_bytes()[:20_000])
    elif what == "foreign":
        shutil.copy(sorted(folder.glob("run.part-*.h5"))[1], part)
    else:
        with h5py.File(folder / "run.h5", "r+") as file:
            file.attrs.modify("closed", 0)
            seal(file)
    shown = inspect(folder / "run.h5", code=3)
    assert shown["damaged"] and shown["problems"]
    assert what == "not_closed" or any(part.name in text for text in shown["problems"]), shown["problems"]


def test_ledger_that_does_not_balance(tmp_path, files):
    copy = shutil.copy(files.paths["merged"], tmp_path / "a.h5")
    with h5py.File(copy, "r+") as file:
        file["ledger/hits_outside"][3] += 1
        seal(file)
    shown = inspect(copy, code=3)
    assert shown["damaged"] and not shown["ledger"]["balances"]


# Not a file of ours


UNKNOWN = {
    "empty": b"", "byte": b"\x89", "text": b"time,channel\n" * 100, "zeros": bytes(5000), "png": b"\x89PNG\r\n\x1a\n" + bytes(99),
    "half_a_magic": struct.pack("<Q", 0x0A53484350453189)[:7], "epochs_alone": struct.pack("<Q", 0x0A53484350453189),
    "spikes_alone": b"\x891SPIKE\n", "lmd_alone": struct.pack("<IHH", 0, 101, 1), "hld_alone": struct.pack("<II", 32, 0x00030001),
    "hdf5_alone": b"\x89HDF\r\n\x1a\n", "hdf5_cut": b"\x89HDF\r\n\x1a\n" + bytes(40),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_content(tmp_path, name):
    (tmp_path / "thing.lmd").write_bytes(UNKNOWN[name])
    only_line(eventloom("inspect", "thing.lmd", code=2, cwd=tmp_path), "thing.lmd")
    only_line(eventloom("inspect", "thing.lmd", "--json", "--events", 2, code=2, cwd=tmp_path), "thing.lmd")


# HDF5 files of others

TABLE = np.dtype([("t", "<u8"), ("adc", ">i2"), ("xyz", "<f4", (3,)), ("tag", "S4")])


def foreign(path):
    """A file of many types; the expected contents by path: (type, shape, unit, first rows)."""
    rows = np.zeros(4, dtype=TABLE)
    rows["t"], rows["adc"], rows["xyz"], rows["tag"] = [5, 6, 7, 8], [-1, 2, -3, 4], [[0.5, 1, 2]] * 4, [b"a", b"bc", b"", b"def"]
    with h5py.File(path, "w") as file:
        file["dom_2/time"] = np.array([30, 10, 2**63], dtype="u8")
        file["dom_2/time"].attrs["units"] = "ps"
        file["dom_2/channel"] = np.array([1, 2, 3], dtype=">u2")
        file["dom_1/deep/matrix"] = np.arange(24, dtype="f4").reshape(2, 12)
        file["flags"] = np.array([True, False, True, True])
        file["hits"] = rows
        file["kind"] = np.array([1, 0], dtype=h5py.enum_dtype({"A": 0, "B": 1}, basetype="i1"))
        file["one"] = 3.5
        file["text"] = ["x", "yy"]
        file["none"] = np.zeros(0)
        file["again"] = h5py.SoftLink("/dom_1")
    return {
        "/again/deep/matrix": ("f32", [2, 12], None, [[0, 1, 2, 3, 4, 5, 6, 7], [12, 13, 14, 15, 16, 17, 18, 19]]),
        "/dom_2/channel": ("u16be", [3], None, [1, 2, 3]), "/dom_2/time": ("u64", [3], "ps", [30, 10, 2**63]),
        "/flags": ("bool", [4], None, [1, 0, 1]),
        "/hits": ("table (t: u64, adc: i16be, xyz: 3 x f32, tag: text of 4 bytes)", [4], None,
                  [{"t": 5, "adc": -1, "xyz": [0.5, 1, 2], "tag": "a"}, {"t": 6, "adc": 2, "xyz": [0.5, 1, 2], "tag": "bc"},
                   {"t": 7, "adc": -3, "xyz": [0.5, 1, 2], "tag": ""}]),
        "/kind": ("enum of i8", [2], None, [1, 0]), "/none": ("f64", [0], None, None), "/one": ("f64", [], None, None),
        "/text": ("text", [2], None, None)}


def contents_of(shown):
    return {entry["path"]: (entry["type"], entry["shape"], entry.get("unit"), entry.get("first_rows")) for entry in shown["contents"]}


@pytest.mark.parametrize("word", ["{}", "hdf5:{}", "hdf5:{}*"])
def test_hdf5_of_others(tmp_path, word):
    """Groups and datasets, in files of any name; a group that two links lead to counts once."""
    path = tmp_path / "other.dat"
    expected = foreign(path)
    shown = inspect(word.format(path))
    assert contents_of(shown) == expected and shown["datasets"] == len(expected)
    assert (shown["kind"], shown["damaged"], shown["groups"], shown["file_bytes"]) == ("hdf5", False, 3, path.stat().st_size)
    assert "hits" not in shown and "'time'" in shown["hits_need_keys"] or "/time" in shown["hits_need_keys"]
    text = eventloom("inspect", word.format(path)).stdout
    assert all(name in text for name in expected) and "u16be" in text and "xyz [0.5,1.0,2.0]" in text


def test_hdf5_that_a_run_reads(tmp_path):
    """Hits, with the group's datasets, as in other formats; without keys where the names are the usual ones."""
    times = np.array([30_000, 10_000, 70_000], dtype="u8")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for group in ("/", "dom_1", "dom_2", "dom_3"):
            place = file.require_group(group)
            place["time"], place["channel"], place["tot"], place["spare"] = times, [4, 5, 4], [7, 8, 9], [0, 0, 0]
            place["time"].attrs["units"] = "ps"
            times = times + 1000
        file.move("dom_3/time", "dom_3/t")
    for word in ("a.h5", "hdf5:a.h5", "hdf5:a.h5?unit=ps"):
        shown = inspect(word, "--events", 2, cwd=tmp_path)
        assert (shown["hits"], shown["first_time"], shown["last_time"]) == (3, 10_000, 70_000)
        assert shown["first_events"] == [{"time": 30_000, "channel": 4}, {"time": 10_000, "channel": 5}]
        assert shown["header"]["tick_ps"] == 1 and shown["header"]["columns_not_read"] == ["spare", "tot"]
    shown = inspect("hdf5:a.h5?group=/dom_[12]&payload=tot", "--tick", "1ns", cwd=tmp_path)["files"]
    assert [(one["header"]["group"], one["hits"], one["first_time"]) for one in shown] == [("/dom_1", 3, 11), ("/dom_2", 3, 12)]
    assert [entry["path"] for entry in shown[1]["contents"]] == [f"/dom_2/{name}" for name in ("channel", "spare", "time", "tot")]
    only_line(eventloom("inspect", "hdf5:a.h5?group=/dom_3&unit=ps", code=2, cwd=tmp_path), "/dom_3/time")
    only_line(eventloom("inspect", "hdf5:a.h5?group=/none", code=2, cwd=tmp_path), "/none")


def test_hdf5_with_unreadable_rows(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=np.arange(3000), compression="gzip", chunks=(3000,))
        place, size = file["x"].id.get_chunk_info(0).byte_offset, file["x"].id.get_chunk_info(0).size
    with open(tmp_path / "a.h5", "r+b") as file:
        file.seek(place)
        file.write(bytes(size))
    shown = inspect("a.h5", code=3, cwd=tmp_path)
    assert shown["damaged"] and len(shown["problems"]) == 1 and shown["problems"][0].startswith("/x: ")


def test_many_datasets(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for n in range(300):
            file[f"dom_{n:03}/x"] = np.arange(2)
    shown = inspect("a.h5", cwd=tmp_path)
    assert (shown["groups"], shown["datasets"], len(shown["contents"]), shown["datasets_not_shown"]) == (300, 300, 200, 100)


def test_hdf5_of_the_telescope():
    path = DATA / "km3net_orca4" / "orca4_run6633.h5"
    if not path.exists():
        pytest.skip("the recording is not there")
    with h5py.File(path) as file:
        doms = [name for name in file if name.startswith("dom_")]
        expected = {f"/{name}": (len(file[name]["time"]), int(file[name]["time"][:].min())) for name in doms}
    shown = inspect(f"hdf5:{path}?group=/dom_*&payload=tot&unit=ns")["files"]
    assert {one["header"]["group"]: (one["hits"], one["first_time"]) for one in shown} == expected
    assert inspect(path)["groups"] >= len(doms)


# Patterns and sources of several files


def test_patterns(files):
    """In natural order, with or without a scheme, of all kinds; what a pattern without one matches is shown as it is."""
    folder = files.folder / "streams"
    names = sorted(str(path) for path in folder.glob("*.epochs"))
    for word in (f"{folder}/*.epochs", f"file:{folder}/source_*.epochs", f"{folder}/source_00?.epochs"):
        assert inspect(word)["files"] == [inspect(name) for name in names]
    assert len(eventloom("inspect", f"{folder}/*.epochs").stdout.split("\n  kind ")) == 3
    shown = inspect(f"{files.folder}/run/*.h5")["files"]
    assert {one["kind"] for one in shown} == {"eventloom-run", "eventloom-merged", "eventloom-part"}
    for word in (f"{folder}/*.none", f"lmd:{folder}/*.none"):
        only_line(eventloom("inspect", word, code=2), "none")


def test_a_split_run_of_compass(tmp_path):
    """Later files lack the header: they are shown as run reads them, named by a pattern or one by one."""
    rows = [{"board": 0, "channel": n % 4, "time_ps": 1000 * n, "energy": n} for n in range(300)]
    caen.compass_file(tmp_path / "run.BIN", 0xCAE1, rows[:200])
    caen.compass_file(tmp_path / "run_1.BIN", 0xCAE1, rows[200:])
    (tmp_path / "run_1.BIN").write_bytes((tmp_path / "run_1.BIN").read_bytes()[2:])
    (tmp_path / "junk.BIN").write_bytes(bytes(range(256)) * 9)
    for words in (["compass:run*.BIN"], ["run.BIN", "run_1.BIN"], ["run_1.BIN", "run.BIN"], ["compass:run.BIN", "compass:run_1.BIN"]):
        shown = inspect(*words, cwd=tmp_path)["files"]
        assert {one["file"]: (one["hits"], one["last_time"]) for one in shown} == {"run.BIN": (200, 199_000), "run_1.BIN": (100, 299_000)}
        sources = [word for uri in words for word in ("--source", uri)]
        done = eventloom("run", *sources, "--define", "gap:0,1", "--tick", "1ps", "--output", "o.h5", "--force", cwd=tmp_path)
        assert "300 events with 300 hits" in done.stdout
    only_line(eventloom("inspect", "run.BIN", "junk.BIN", code=2, cwd=tmp_path), "junk.BIN")
    only_line(eventloom("inspect", "run_1.BIN", code=2, cwd=tmp_path), "run_1.BIN")


def test_joined_files(tmp_path):
    """One source of several files."""
    events = [Event(100 + n, [Subevent(k, [n]) for k in range(1 + n % 3)]) for n in range(60)]
    files = [tmp_path / f"run_{n}.lmd" for n in range(3)]
    for n, path in enumerate(files):
        path.write_bytes(flat_file(events[20 * n:20 * n + 20]))
    shown = inspect(f"lmd:{tmp_path}/run_*.lmd?concat")
    assert shown["file"] == f"{tmp_path}/run_*.lmd" and shown["header"]["files"] == [str(path) for path in files]
    assert shown["hits"] == sum(len(event.subevents) for event in events) and shown["header"]["times"] == "event numbers"
    assert shown["file_bytes"] == sum(path.stat().st_size for path in files) and not shown["damaged"]
    assert (shown["first_time"], shown["last_time"]) == (100, 159)


@pytest.mark.parametrize("argument, word", [
    ("none.epochs", "none.epochs"), (".", "."), ("pigeon:x.lmd", "pigeon"), ("packed:a.bin", "record"),
    ("packed:none.bin?record=8&time=u32le@0&channel=u16le@4", "none.bin"),
    ("packed:a.bin?record=8&time=u32le@6&channel=u16le@4", "u32le@6"),
    ("lmd:a.bin", "a.bin"), ("hld:a.bin", "a.bin"), ("spikes:a.bin", "a.bin"), ("file:a.bin", "a.bin"),
    ("lmd:a.bin?time=noon", "noon"), ("gen:poisson", "gen")])
def test_unknown_source(files, argument, word):
    only_line(eventloom("inspect", argument, code=2, cwd=files.folder), word)


def test_a_folder_is_called_one(tmp_path):
    """The folder exists: 'no such file' would be misleading."""
    (tmp_path / "run").mkdir()
    done = eventloom("inspect", "run", code=2, cwd=tmp_path)
    only_line(done, "run")
    assert "no such file" not in done.stderr.lower()


def test_no_file():
    only_line(eventloom("inspect", code=2), "--help")
    assert "no file" in eventloom("inspect", code=2).stderr


def test_help_names_the_formats():
    text = eventloom("inspect", "--help").stdout
    assert all(word in text for word in (".epochs", ".lmd", ".hld", ".spikes", "packed:", "--events", "--json"))


# For people


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def lines_of(shown, inside=False):
    """The words required in the text, with single spaces within a line: each figure of the JSON object with its
    name."""
    for name, value in shown.items():
        if isinstance(value, dict):
            yield from lines_of(value, inside=True) if value else [f"{name}: none"]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                yield from _lines_of_item(item)
        elif isinstance(value, list) and not inside:
            yield from map(as_text, value)
        elif isinstance(value, list) and value and isinstance(value[0], str):
            yield f"{name} {value[0]}"
            yield from value[1:]
        elif name != "file":
            first, *others = as_text(value).splitlines() or [""]
            yield f"{name} {first}".strip()
            yield from (line.strip() for line in others)


def _lines_of_item(item):
    """An item's own figures in one line, and those of each of its hits or subevents in another."""
    below = [key for key, value in item.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
    yield " ".join(f"{key} {as_text(value)}" for key, value in item.items() if key not in below and value != [] or key == "data")
    for key in below:
        for inner in item[key]:
            yield from _lines_of_item(inner)


@pytest.mark.parametrize("name", [*KINDS, "packed"])
def test_text_shows_the_same_as_json(files, name):
    """Every name and figure, in the order of the JSON object, separated from its neighbours."""
    uri = files.uri_of(name)
    text = eventloom("inspect", uri, "--events", 3).stdout
    shown = inspect(uri, "--events", 3)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == shown["file"]
    at = 1
    for expected in lines_of(shown):
        expected = " ".join(expected.split())
        found = next((place for place in range(at, len(lines)) if _matches(lines[place], expected)), None)
        assert found is not None, f"'{expected}' is not below '{lines[at - 1]}'; there is:\n" + "\n".join(lines[at:at + 12])
        at = found + 1


def _matches(line, expected):
    """Figures of hits within an event may be in any order of columns."""
    return line == expected or expected.startswith(("time ", "number ")) and sorted(line.split()) == sorted(expected.split())


def test_text_of_several_files(files):
    """One below the other."""
    names = ["flat", "spikes", "hld"]
    text = eventloom("inspect", *(files.uri_of(name) for name in names)).stdout
    assert text == "".join(eventloom("inspect", files.uri_of(name)).stdout for name in names)


def test_long_list_of_problems(tmp_path):
    """Shortened for people, with a note on the rest; complete in --json."""
    write_spikes(tmp_path / "a.spikes", range(0, 100_000, 10), [1] * 10_000, packet_spikes=50)
    data = bytearray((tmp_path / "a.spikes").read_bytes())
    for place in read_spikes(tmp_path / "a.spikes").packets[::2]:
        data[place + PACKET_HEADER] ^= 1
    (tmp_path / "a.spikes").write_bytes(data)
    shown = inspect(tmp_path / "a.spikes", code=3)
    assert len(shown["problems"]) == 100
    text = eventloom("inspect", tmp_path / "a.spikes", code=3).stdout
    assert text.count("offset ") == 20 and re.search(r"\b80 more", text)


# Ticks, and columns that are not read

@pytest.mark.parametrize("tick, ps", [("1ps", 1), ("100ps", 100), ("1ns", 1000), ("8ns", 8000), ("1us", 10**6)])
def test_tick_is_heeded(tmp_path, tick, ps):
    """As in a run, with any reader: times are in ticks of the requested length."""
    times = [8_000_000 * n for n in (1, 3, 4)]  # ps
    (tmp_path / "x.csv").write_text("".join(f"{time},1,3\n" for time in times))
    (tmp_path / "x.bin").write_bytes(b"".join(struct.pack("<QII", time, 7, 0) for time in times))
    write_spikes(tmp_path / "x.spikes", [time // 1000 for time in times], [3, 4, 5], packet_spikes=2)
    caen.compass_file(tmp_path / "DataR_x.BIN", caen.header(), [{"board": 0, "channel": 1, "time_ps": time} for time in times])
    for uri in ("csv:x.csv?time=1&channel=3&unit=ps", "packed:x.bin?record=16&time=u64le@0&channel=u32le@8&unit=ps",
                "x.spikes", "compass:DataR_x.BIN"):
        shown = inspect(uri, "--tick", tick, cwd=tmp_path)
        assert (shown["first_time"], shown["last_time"]) == (times[0] // ps, times[-1] // ps), uri
        assert shown["header"]["tick_ps"] == ps, uri


def test_a_file_with_a_clock_of_its_own_refuses_another(files):
    only_line(eventloom("inspect", files.paths["epochs"], "--tick", "1ps", code=2), "1000 ps", "omit --tick")
    assert inspect(files.paths["epochs"], "--tick", "1ns")["tick_ps"] == 1000


@pytest.mark.parametrize("text, query, unread", [
    ("t_ns,ch,adc,flags,note\n5,1,7,2,x\n", "", ["flags", "note"]),
    ("t_ns,ch,adc,flags\n5,1,7,2\n", "?payload=flags", ["adc"]),
    ("t_ns,ch,adc\n5,1,7\n", "", []),
    ("5,1,7,8\n", "?time=1&channel=2&unit=ns", ["3", "4"]),
    ("# made by hand\n5;1;\"a;b\";8\n", "?time=1&channel=2&unit=ns&payload=4", ["3"]),
    ("5 1\n", "?time=1&channel=2&unit=ns", []),
    ("t_ns,ch," + ",".join(f"spectrum_bin_{n}" for n in range(500)) + "\n5,1" + ",0" * 500 + "\n", "",
     [f"spectrum_bin_{n}" for n in range(500)]),
])
def test_columns_that_are_not_read_are_named(tmp_path, text, query, unread):
    (tmp_path / "x.csv").write_text(text)
    shown = inspect(f"csv:x.csv{query}", cwd=tmp_path)
    listed = unread if len(unread) <= 50 else [*unread[:50], f"and {len(unread) - 50} more"]
    assert shown["header"].get("columns_not_read", []) == listed
    done = eventloom("run", "--source", f"csv:x.csv{query}", "--define", "gap:5,1", cwd=tmp_path)
    said = [line for line in done.stderr.splitlines() if "columns not read" in line]
    assert len(said) == (1 if unread else 0)
    if unread:
        assert "x.csv" in said[0] and unread[0] in said[0] and len(said[0]) < 400
        assert len(unread) < 100 or "more" in said[0]


def test_columns_of_hdf5_that_are_not_read_are_named(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for group in ("dom_1", "dom_2"):
            for name in ("time", "channel", "tot", "quality"):
                file[f"{group}/{name}"] = np.arange(3, dtype="u4")
            file[f"{group}/calibration"] = np.arange(2)
            file[f"{group}/matrix"] = np.zeros((3, 2))
    done = eventloom("run", "--source", "hdf5:x.h5?group=/dom_*&payload=tot&unit=ns", "--define", "gap:5,1", cwd=tmp_path)
    (said,) = [line for line in done.stderr.splitlines() if "columns not read" in line]
    assert "x.h5:/dom_1, x.h5:/dom_2: columns not read: quality;" in said
