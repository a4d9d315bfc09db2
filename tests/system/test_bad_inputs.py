"""Inputs that are damaged, of the wrong kind, or given twice: one line, the right exit code, and no silent omission."""

import json
import os
import resource
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from program import DATA, Run, eventloom, only_line
from recordings import write_csv
from reference import INCOMPLETE, find_events, hits_of, merged_file, weave
from results import assert_balanced, dropped, event_keys, read_ledger, read_merged
from spikes_reference import write_spikes

DEFINITION, OVERLAP, ROWS, CHUNK = "gap:60,3", 10_000, 2048, 256
GROUPS = "hdf5:{}?group=/dom_*&unit=tick"
OLD, NEW = "earliest", "latest"


def streams(n=3):
    rng = np.random.default_rng(3)
    return [hits_of(np.cumsum(rng.choice([2, 5, 30, 400], ROWS)) + 70_000, rng.integers(0, 1000, ROWS)) for _ in range(n)]


def write_hdf5(path, recorded, libver=OLD, **layout):
    with h5py.File(path, "w", libver=libver) as file:
        for n, stream in enumerate(recorded):
            for column in ("time", "channel"):
                file.create_dataset(f"dom_{n}/{column}", data=getattr(stream, column), **layout)
    return path


def run_of(folder, uris, code, *options):
    return Run(folder, uris, "--define", DEFINITION, "--overlap", OVERLAP, *options, code=code, timeout=60)


def keys_of(recorded):
    return set(event_keys(merged_file(find_events(weave(recorded), DEFINITION, OVERLAP), with_payload=False)))


def overwrite(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def break_object(path, name):
    """Makes the header of a group or dataset one that no version of HDF5 has written."""
    with h5py.File(path) as file:
        at = h5py.h5o.get_info(file[name].id).addr
    overwrite(path, at, b"\xee" * 12)


# ---- HDF5

RUN_OF_TWO = ["run", "--source", "gen:poisson?rate=1e5&channels=8&seed=1&duration=10ms", "--define", "a=gap:1us,2", "--define",
              "b=tag", "--output", "run.h5"]
RESUMED = [*RUN_OF_TWO, "--resume"]
READERS = {"index": ("run.h5", ["inspect run.h5", "merge run.h5", RESUMED]),
           "run file": ("run.a.h5", ["inspect run.a.h5", "merge run.a.h5 --output again.h5", "report run.a.h5 -o report.html",
                                     "show run.a.h5 --event 0", "compare run.a.h5 run.b.h5", RESUMED]),
           "part": ("run.a.part-0000-0000.h5", ["inspect run.a.part-0000-0000.h5", "inspect run.a.h5", RESUMED]),
           "merged": ("merged.h5", ["inspect merged.h5", "show merged.h5 --event 0", "report merged.h5 -o report.html"]),
           "nexus": ("nexus.h5", ["inspect nexus.h5", "show nexus.h5 --event 0", "compare nexus.h5 run.a.h5"])}


@pytest.fixture(scope="module")
def run_of_two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    eventloom(*RUN_OF_TWO, cwd=folder)
    for name, options in (("merged.h5", []), ("nexus.h5", ["--nexus"])):
        eventloom("merge", "run.a.h5", "--output", name, *options, cwd=folder)
    return folder


@pytest.mark.parametrize("at, byte", [(0, 0x46), (9, 0), (16, 0x55), (24, 0xff), (27, 1), (24, 0)],
                         ids=["signature", "size of heap", "number of text", "size", "huge size", "no size"])
@pytest.mark.parametrize("kind", READERS)
def test_damaged_texts_of_outputs(tmp_path, run_of_two, kind, at, byte):
    """HDF5 1.10 crashes, or does not terminate, when it reads such texts. A damaged part is built again."""
    name, commands = READERS[kind]
    shutil.copytree(run_of_two, tmp_path, dirs_exist_ok=True)
    overwrite(tmp_path / name, (tmp_path / name).read_bytes().index(b"GCOL") + at, bytes([byte]))
    damaged = (tmp_path / name).read_bytes()
    for command in commands:
        (tmp_path / name).write_bytes(damaged)
        words = command.split() if isinstance(command, str) else command
        done = eventloom(*words, code=None, cwd=tmp_path, timeout=20)
        assert name in done.stdout + done.stderr, f"{words}: {done.stdout}{done.stderr}"
        assert done.returncode != 0 or words == RESUMED, f"{words}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("libver", [OLD, NEW])
@pytest.mark.parametrize("broken", ["dom_1", "dom_1/time", "dom_1/channel"])
def test_a_group_that_does_not_open_is_a_loss(tmp_path, broken, libver):
    recorded = streams()
    file = write_hdf5(tmp_path / "hits.h5", recorded, libver)
    break_object(file, broken)
    run = run_of(tmp_path / "run", [GROUPS.format(file)], 3)
    assert any("hits.h5:/dom_1" in line for line in run.done.stderr.splitlines())
    merged = read_merged(run.merged)
    recorded[1] = recorded[1].take([])
    assert set(event_keys(merged)) == keys_of(recorded)
    assert set(merged["events/flags"]) == {INCOMPLETE} and set(merged["events/sources_missing"]) == {2}
    assert run.report()["sources"] == 3
    assert_balanced(read_ledger(run.output))


@pytest.mark.parametrize("broken", ["dom_1", "dom_1/time"])
def test_converting_leaves_out_the_damaged_group_alone(tmp_path, broken):
    file = write_hdf5(tmp_path / "hits.h5", streams())
    break_object(file, broken)
    done = eventloom("convert", GROUPS.format(file), "--output", tmp_path / "out/", code=3)
    assert any("hits.h5:/dom_1" in line for line in done.stderr.splitlines())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["00000_dom_0.epochs", "00002_dom_2.epochs"]


@pytest.mark.parametrize("broken, group", [("/", "/dom_*"), ("dom_1", "/dom_1"), ("dom_1/time", "/dom_1")])
@pytest.mark.parametrize("command", ["run", "convert"])
def test_a_file_of_which_nothing_opens_is_refused(tmp_path, broken, group, command):
    file = write_hdf5(tmp_path / "hits.h5", streams())
    break_object(file, broken)
    words = ["--define", DEFINITION] if command == "run" else []
    done = eventloom(command, "--source", f"hdf5:{file}?group={group}", "--output", tmp_path / "out", *words, code=2)
    only_line(done, "hits.h5")
    assert not (tmp_path / "out").exists()


def test_rows_that_do_not_read_are_lost_with_their_place(tmp_path):
    recorded = streams()
    clean = keys_of(recorded)
    file = write_hdf5(tmp_path / "hits.h5", recorded, chunks=(CHUNK,), compression="gzip", fletcher32=True)
    with h5py.File(file) as opened:
        chunk = opened["dom_1/channel"].id.get_chunk_info(3)
    overwrite(file, chunk.byte_offset + chunk.size - 2, b"\x5a")
    run = run_of(tmp_path / "run", [GROUPS.format(file)], 3)
    assert any(all(word in line for word in ("hits.h5", "/dom_1/channel", str(3 * CHUNK), str(4 * CHUNK - 1)))
               for line in run.done.stderr.splitlines()), run.done.stderr
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert ledger["hits_in"].sum() == 3 * ROWS and dropped(ledger)["corrupt"] == CHUNK
    assert run.report()["per_source"][1]["counts"]["hits_dropped_corrupt"] == CHUNK
    merged = read_merged(run.merged)
    assert set(event_keys(merged, INCOMPLETE)) < clean
    left = np.r_[0:3 * CHUNK, 4 * CHUNK:ROWS]
    recorded[1] = recorded[1].take(left)
    assert set(event_keys(merged)) == keys_of(recorded)


@pytest.mark.parametrize("chunk", [0, ROWS // CHUNK - 1])
def test_the_first_and_the_last_rows_are_lost(tmp_path, chunk):
    """No hit of the source precedes or follows the loss to bound it."""
    recorded = streams()
    clean = keys_of(recorded)
    file = write_hdf5(tmp_path / "hits.h5", recorded, chunks=(CHUNK,), fletcher32=True)
    with h5py.File(file) as opened:
        overwrite(file, opened["dom_1/time"].id.get_chunk_info(chunk).byte_offset + 9, b"\x5a\x5a")
    run = run_of(tmp_path / "run", [GROUPS.format(file)], 3)
    merged = read_merged(run.merged)
    assert not set(event_keys(merged, INCOMPLETE)) - clean
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert ledger["hits_in"].sum() == 3 * ROWS and dropped(ledger)["corrupt"] == CHUNK


def test_a_chunk_that_is_not_where_the_index_says(tmp_path):
    """Its rows would be read as zeros."""
    file = write_hdf5(tmp_path / "hits.h5", streams())
    with h5py.File(file, "r+") as opened:
        del opened["dom_1/channel"]
        channel = opened.create_dataset("dom_1/channel", (ROWS,), "u4", chunks=(CHUNK,))
        channel[:5 * CHUNK] = 1
        channel[6 * CHUNK:] = 1
    run = run_of(tmp_path / "run", [GROUPS.format(file)], 3)
    assert dropped(read_ledger(run.output))["corrupt"] == CHUNK


def seconds(*arguments):
    """Processor time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    eventloom(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_large_chunk_is_decompressed_once(tmp_path):
    rows = 2_000_000
    stream = hits_of(np.arange(rows) * 10, np.arange(rows) % 1000)
    taken = {}
    for chunk in (50_000, rows):
        file = write_hdf5(tmp_path / f"{chunk}.h5", [stream], chunks=(chunk,), compression="gzip", compression_opts=1)
        taken[chunk] = seconds("convert", GROUPS.format(file), "--output", tmp_path / f"{chunk}.epochs")
    assert taken[rows] < 4 * taken[50_000], taken


def make_sparse(group):
    group.create_dataset("time", (1 << 60,), "u8", chunks=(1 << 20,))[:5] = range(5)
    group.create_dataset("channel", (1 << 60,), "u4", chunks=(1 << 20,))


def make_unwritten(group):
    group.create_dataset("time", (1 << 60,), "u8")
    group.create_dataset("channel", (1 << 60,), "u4")


def make_foreign_filter(group):
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_chunk((4,))
    layout.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
    space = h5py.h5s.create_simple((4,))
    time = h5py.h5d.create(group.id, b"time", h5py.h5t.STD_U64LE, space, layout)
    time.write_direct_chunk((0,), bytes(20), 0)
    group["channel"] = np.arange(4, dtype="u4")


def make_virtual(group):
    """A virtual dataset of two files, one of which is missing."""
    layout = h5py.VirtualLayout((8,), "u8")
    for n, name in enumerate(["here.h5", "gone.h5"]):
        layout[4 * n:4 * n + 4] = h5py.VirtualSource(name, "time", (4,))
    with h5py.File(Path(group.file.filename).with_name("here.h5"), "w") as here:
        here["time"] = np.arange(4, dtype="u8")
    group.create_virtual_dataset("time", layout)
    group["channel"] = np.arange(8, dtype="u4")


def columns(time, channel=np.arange(4, dtype="u4")):
    def make(group):
        group["time"], group["channel"] = time, channel
    return make


NOT_COLUMNS = {
    "sparse": (make_sparse, "never written"),
    "unwritten": (make_unwritten, "not in the file"),
    "virtual": (make_virtual, "gone.h5:time"),
    "foreign_filter": (make_foreign_filter, "32015"),
    "two_dimensions": (columns(np.zeros((4, 2), "u8")), "one dimension"),
    "scalar": (columns(np.uint64(7)), "one dimension"),
    "strings": (columns([b"1", b"2", b"3", b"4"]), "integers or floating-point"),
    "compound": (columns(np.zeros(4, [("a", "u8"), ("b", "u8")])), "is a table: say which of its fields"),
    "negative": (columns(np.array([1, -2, 3, 4])), "row 1: the time -2 is negative: say which time becomes tick 0, such as origin=-1ms"),
    "negative_float": (columns(np.array([1.0, -2, 3, 4])), "row 1: the time -2 is negative: say which time becomes tick 0"),
    "negative_channel": (columns(np.arange(4), np.array([1, -2, 3, 4])), "row 1: -2 is not a channel: a whole number from 0 to 0xfffffff"),
    "too_large": (columns(np.array([1, 2, 3, 1e30])), "row 3: the time 1e+30 is not below 2^64 ticks"),
    "channel_too_large": (columns(np.arange(4), np.array([1, 2, 3, 1 << 28])), "row 3"),
    "float_channel": (columns(np.arange(4), np.arange(4) / 2), "row 1: 0.5 is not a channel"),
    "fewer_channels": (columns(np.arange(4), np.arange(3)), "3 rows"),
}


@pytest.mark.parametrize("name", NOT_COLUMNS)
def test_what_is_no_column_of_hits_is_refused(tmp_path, name):
    make, word = NOT_COLUMNS[name]
    with h5py.File(tmp_path / "hits.h5", "w") as file:
        make(file)
    done = eventloom("convert", f"hdf5:{tmp_path}/hits.h5?unit=tick", "--output", tmp_path / "out.epochs", code=2, timeout=20)
    only_line(done, "hits.h5", word)
    assert not (tmp_path / "out.epochs").exists()
    run = ["run", f"hdf5:{tmp_path}/hits.h5?unit=tick", "--define", "tag", "--output", tmp_path / "run.h5"]
    only_line(eventloom(*run, code=2, timeout=20), "hits.h5", word)
    assert not (tmp_path / "run.h5").exists()


@pytest.mark.parametrize("kind", ["run", "merged"])
def test_an_output_is_no_recording(tmp_path, kind):
    run = Run(tmp_path, ["gen:poisson?rate=1e5&duration=1ms"], "--define", "gap:1us,1")
    path = run.output if kind == "run" else run.merged
    words = (path.name, "an output of Eventloom", "give the recordings that it was built from")
    only_line(eventloom("run", path, "--define", "gap:1us,1", "--output", tmp_path / "again.h5", code=2), *words)
    only_line(eventloom("inspect", path, "--detector-map", tmp_path / "map.csv", code=2), *words)


def test_a_file_of_several_that_does_not_open(tmp_path):
    """The file is neither skipped nor treated as the only one."""
    for n in range(3):
        write_hdf5(tmp_path / f"{n}.h5", streams(1))
    overwrite(tmp_path / "1.h5", 0, b"not HDF5")
    for words in (["run", f"hdf5:{tmp_path}/*.h5?unit=tick", "--define", "tag", "--output", tmp_path / "run.h5"],
                  ["convert", f"hdf5:{tmp_path}/*.h5?unit=tick", "--output", f"{tmp_path}/made/"]):
        only_line(eventloom(*words, code=2, timeout=20), "1.h5")
    assert not list(tmp_path.glob("run.*")) and not list(tmp_path.glob("made/*"))


def test_rows_of_a_virtual_dataset_are_read_where_they_lie(tmp_path):
    with h5py.File(tmp_path / "hits.h5", "w") as file:
        make_virtual(file)
    with h5py.File(tmp_path / "gone.h5", "w") as file:
        file["time"] = np.arange(4, 8, dtype="u8")
    eventloom("convert", f"hdf5:{tmp_path}/hits.h5?unit=tick", "--output", tmp_path / "out.epochs")
    assert hits_of_file(read_epochs_file(tmp_path / "out.epochs")).time.tolist() == list(range(8))


# ---- a cut recording

@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording")
    eventloom("generate", "--output", folder, "--sources", 2, "--rate", 20_000, "--timing", "poisson", "--noise", 100_000,
              "--duration", "2ms", "--seed", 4)
    return folder


def test_hits_of_a_cut_recording_are_counted_and_shown(tmp_path, recording):
    shutil.copy(recording / "source_000.epochs", tmp_path)
    file = read_epochs_file(recording / "source_001.epochs")
    last = file.buffers[len(file.buffers) // 2]
    (tmp_path / "source_001.epochs").write_bytes(file.data[:last.offset + last.size - 4])
    run = run_of(tmp_path / "run", [f"file:{tmp_path}/source_*.epochs"], 3)
    assert run.report()["per_source"][1]["counts"]["hits_dropped_corrupt"] == last.n_hits
    assert dropped(read_ledger(run.output))["corrupt"] == last.n_hits
    done = eventloom("inspect", tmp_path / "source_001.epochs", code=3)
    assert "18446744073709" not in done.stdout and "problems: none" not in done.stdout
    assert "the file ends in the middle of an epoch buffer" in done.stdout
    shown = json.loads(eventloom("inspect", "--json", tmp_path / "source_001.epochs", code=3).stdout)
    assert [(item["hits"], item["until"]) for item in shown["damage"]] == [(last.n_hits, "the end")]


def test_hits_of_a_damaged_buffer_are_counted_once(tmp_path, recording):
    shutil.copy(recording / "source_000.epochs", tmp_path)
    file = read_epochs_file(recording / "source_001.epochs")
    buffer = file.buffers[5]
    data = bytearray(file.data)
    data[buffer.offset + 9] ^= 4  # its header, although the index is intact
    (tmp_path / "source_001.epochs").write_bytes(data)
    run = run_of(tmp_path / "run", [f"file:{tmp_path}/source_*.epochs"], 3, "--builders", 3, "--epochs-per-slice", 1)
    assert run.report()["per_source"][1]["counts"]["hits_dropped_corrupt"] == buffer.n_hits


# ---- the same twice

@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twice")
    (folder / "b").mkdir()
    for name in ("a", "c"):
        write_csv(folder / f"{name}.csv", [1, 2, 3], [1, 2, 3])
        eventloom("convert", f"csv:{folder}/{name}.csv?time=1&channel=2&unit=tick", "--output", folder / f"{name}.epochs")
    os.symlink("a.epochs", folder / "soft.epochs")
    os.link(folder / "a.epochs", folder / "hard.epochs")
    write_hdf5(folder / "hits.h5", streams(2))
    with h5py.File(folder / "hits.h5", "r+") as file:
        file["other"] = file["dom_0"]
    return folder


TWICE = [
    ["a.epochs", "a.epochs"], ["a.epochs", "c.epochs", "./b/../a.epochs"], ["a.epochs", "soft.epochs"],
    ["hard.epochs", "a.epochs"], ["[ac].epochs", "c.epochs"], ["csv:a.csv?time=1&channel=2", "csv:*.csv?time=1&channel=2"],
    ["hdf5:hits.h5?group=/dom_1", "hdf5:hits.h5?group=/dom_*"], ["hdf5:hits.h5?group=/dom_0", "hdf5:hits.h5?group=/other"],
    ["mbs://127.0.0.1:1/stream", "mbs://127.0.0.1:1/stream"],
]


@pytest.mark.parametrize("sources", TWICE)
def test_the_same_data_twice_is_refused(tmp_path, twice, sources):
    words = [word for uri in sources for word in ("--source", uri)]
    done = eventloom("run", *words, "--define", "tag", "--output", tmp_path / "run.h5", code=2, cwd=twice)
    assert "remove one" in only_line(done)
    assert not (tmp_path / "run.h5").exists()


def test_the_same_port_twice_is_refused(tmp_path):
    """The port may have several boards, each of one source."""
    port = "udp://127.0.0.1:7001"
    done = eventloom("run", "--source", port, "--source", port, "--define", "tag", "--output", tmp_path / "run.h5", code=2)
    assert "another source uses this port" in only_line(done, port)
    assert not (tmp_path / "run.h5").exists()


@pytest.mark.parametrize("sources", [["csv:a.csv?time=1&channel=2&unit=tick", "csv:a.csv?time=2&channel=1&unit=tick"], ["a.epochs", "c.epochs"],
                                     ["gen:static?rate=1e6&duration=1ms", "gen:static?rate=1e6&duration=1ms"]])
def test_other_columns_of_a_file_are_other_data(tmp_path, twice, sources):
    words = [word for uri in sources for word in ("--source", uri)]
    eventloom("run", *words, "--define", "tag", "--output", tmp_path / "run.h5", cwd=twice)


# ---- no files

@pytest.fixture(scope="module")
def no_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("no_files")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "kept").mkdir()
    os.mkfifo(folder / "kept" / "sorted.json")
    for ending in ("epochs", "lmd", "hld", "spikes"):
        os.mkfifo(folder / f"fifo.{ending}")
    write_csv(folder / "a.csv", [1, 2], [1, 2])
    return folder


PLACES = ["/dev/zero", "fifo", "folder"]
RUN = ["run", "--define", "tag", "--output", "run.h5"]
GOOD = ["--source", "csv:a.csv?time=1&channel=2&unit=tick"]
OPENERS = {
    "file": [*RUN, "--source", "file:{}"], "csv": [*RUN, "--source", "csv:{}?time=1&channel=2"],
    "hdf5": [*RUN, "--source", "hdf5:{}"], "lmd": [*RUN, "--source", "lmd:{}"], "hld": [*RUN, "--source", "hld:{}"],
    "spikes": [*RUN, "--source", "spikes:{}"], "packed": [*RUN, "--source", "packed:{}?record=8&time=u64le@0&channel=u8@0"],
    "table": [*RUN, *GOOD, "--schedule", "table:{}"], "config": [*RUN, *GOOD, "--config", "{}"],
    "convert": ["convert", "file:{}", "--output", "out.epochs"], "merge": ["merge", "{}"], "inspect": ["inspect", "{}"],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opener", OPENERS)
def test_what_is_no_regular_file_is_refused_at_once(no_files, opener, place):
    done = eventloom(*(word.format(place) for word in OPENERS[opener]), code=2, cwd=no_files, timeout=20)
    only_line(done, place)
    assert not (no_files / "run.h5").exists()


@pytest.mark.parametrize("words", [["inspect", "fifo.epochs"], ["inspect", "fifo.lmd"], ["convert", "sorted:kept", "--output", "x"],
                                   ["send", "fifo.epochs", "--to", "udp://127.0.0.1:9"], ["serve", "fifo.lmd"]])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(no_files, words):
    only_line(eventloom(*words, code=2, cwd=no_files, timeout=20))


# ---- every format says that it is damaged

def make_damaged(folder, name):
    """A damaged file of the format, and its URI for `convert`."""
    times, channels = np.arange(2000) * 50, np.arange(2000) % 100
    path = folder / f"a.{name}"
    if name in ("lmd", "hld"):
        data = bytearray((DATA / name / f"var_small.{name}").read_bytes()[:100_000])
        data[50_000:50_200] = b"\xff" * 200
        path.write_bytes(data)
        return path, str(path)
    if name == "packed":
        path.write_bytes(np.rec.fromarrays([times, channels], dtype=[("t", "<u8"), ("c", "<u4")]).tobytes()[:-5])
        return f"packed:{path}?record=12&time=u64le@0&channel=u32le@8", f"packed:{path}?record=12&time=u64le@0&channel=u32le@8"
    if name == "spikes":
        write_spikes(path, times.astype(np.uint64), channels.astype(np.uint32))
    else:
        write_csv(folder / "a.csv", times, channels)
        eventloom("convert", f"csv:{folder}/a.csv?time=1&channel=2&unit=tick", "--output", path)
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 16
    path.write_bytes(data)
    return path, str(path)


@pytest.mark.parametrize("name", ["epochs", "lmd", "hld", "spikes", "packed"])
def test_inspect_and_convert_say_that_a_file_is_damaged(tmp_path, name):
    file, uri = make_damaged(tmp_path, name)
    eventloom("inspect", file, code=3)
    assert json.loads(eventloom("inspect", "--json", file, code=3).stdout)["damaged"]
    done = eventloom("convert", uri, "--output", tmp_path / "out.epochs", code=3)
    assert f"a.{name}" in done.stderr
    assert len(hits_of_file(read_epochs_file(tmp_path / "out.epochs"))) > 0
