"""Damaged files of every kind, by chance: the right exit code in time, bounded memory, and events that are right or flagged.

EVENTLOOM_MUTATIONS says how many cases there are in all, EVENTLOOM_MUTATIONS_SEED which ones.
"""

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from interrupted import STOPPED, Started, parts
from mutations import Case, Kind, attempt, run
from program import DATA, eventloom
from recordings import write_csv
from reference import INCOMPLETE, find_events, hits_of, merged_file, weave
from results import assert_balanced, event_keys, read_ledger, read_merged
from spikes_reference import FILE_HEADER, read_spikes, write_spikes

DEFINITION, OVERLAP = "gap:60,3", 10_000
OPTIONS = ["--define", DEFINITION, "--overlap", OVERLAP, "--epochs-per-slice", 16]
CSV = "time=1&channel=2&unit=tick"
PACKED = "record=12&time=u64le@0&channel=u32le@8&unit=tick"
RECORD = np.dtype([("time", "<u8"), ("channel", "<u4")])
REORDER = 10_000_000  # ticks: sorted by default
SOURCES = 3
KINDS = ["epochs", "spikes", "hdf5", "hdf5_new", "csv", "packed", "lmd", "lmd_classic", "hld", "sorted", "config", "table",
         "run_file", "part", "merged", "nexus", "index", "stopped_run_file", "stopped_part", "stopped_list"]
CASES = -(-int(os.environ.get("EVENTLOOM_MUTATIONS", 100)) // len(KINDS))
SEED = os.environ.get("EVENTLOOM_MUTATIONS_SEED", "0")


def streams_of(folder):
    """Three streams of 4 ms: (time, channel) of some 700 hits each."""
    eventloom("generate", "--output", folder, "--sources", SOURCES, "--rate", 20_000, "--timing", "poisson", "--hits", 8,
              "--width", "50ns", "--noise", 150_000, "--duration", "4ms", "--seed", 5)
    return [hits_of_file(read_epochs_file(path)) for path in sorted(folder.glob("*.epochs"))]


def keys_of(streams):
    return event_keys(merged_file(find_events(weave(streams), DEFINITION, OVERLAP), with_payload=False))


class Recordings:
    """The same three streams in all formats."""

    def __init__(self, folder):
        self.folder = folder
        self.streams = streams_of(folder / "epochs")
        for path in (folder / "epochs").iterdir():
            if path.suffix != ".epochs":
                path.unlink()
        self.keys = keys_of(self.streams)
        self.clean = set(self.keys)

    def make(self, name):
        folder = self.folder / name
        if name != "epochs":
            folder.mkdir()
        return getattr(self, name, self.other)(folder)

    def epochs(self, folder):
        return Kind("epochs", folder, "source_001.epochs",
                    strict(self, ["file:source_*.epochs"], inspect=lambda path: hits_of_file(read_epochs_file(path))),
                    in_the_first(read_epochs_file(folder / "source_001.epochs").buffers[0].offset))

    def spikes(self, folder):
        for n, stream in enumerate(self.streams):
            write_spikes(folder / f"0000{n}.spikes", stream.time, stream.channel, channel_base=n << 22, packet_spikes=50)
        return Kind("spikes", folder, "00001.spikes", strict(self, ["spikes:*.spikes"], inspect=read_spikes),
                    in_the_first(FILE_HEADER))

    def hdf5(self, folder, libver="earliest"):
        with h5py.File(folder / "hits.h5", "w", libver=libver) as file:
            for n, stream in enumerate(self.streams):
                group = file.create_group(f"dom_{n}")
                for column in ("time", "channel"):
                    group.create_dataset(column, data=getattr(stream, column), chunks=(256,), compression="gzip",
                                         fletcher32=True)
        return Kind(folder.name, folder, "hits.h5", strict(self, ["hdf5:hits.h5?group=/dom_*&unit=tick"], ask_h5py),
                    outside_of(chunks_of(folder / "hits.h5")))

    def hdf5_new(self, folder):
        return self.hdf5(folder, "latest")

    def csv(self, folder):
        for n, stream in enumerate(self.streams):
            write_csv(folder / f"{n}.csv", stream.time, stream.channel)
        return Kind("csv", folder, "1.csv", unproven([f"csv:*.csv?{CSV}"]))

    def packed(self, folder):
        for n, stream in enumerate(self.streams):
            rows = np.zeros(len(stream), RECORD)
            rows["time"], rows["channel"] = stream.time, stream.channel
            rows.tofile(folder / f"{n}.bin")
        return Kind("packed", folder, "1.bin", unproven([f"packed:*.bin?{PACKED}"], inspect=f"packed:{{}}?{PACKED}"),
                    lambda _, after: not after or jumps_back(after))

    def sorted(self, folder):
        uris = source_words([f"file:{self.folder}/epochs/source_*.epochs"])
        eventloom("run", *uris, *OPTIONS, "--save-sorted", folder / "kept", "--output", folder / "run.h5")
        for path in folder.glob("run.*"):
            path.unlink()
        return Kind("sorted", folder, "kept/*", strict(self, ["sorted:kept"], convert=False))

    def config(self, folder):
        self.copy_epochs(folder)
        lines = [f"source = file:source_00{n}.epochs" for n in range(SOURCES)]
        lines += [f"define = {DEFINITION}", f"overlap = {OVERLAP}", "epochs-per-slice = 16", "output = out.h5",
                  "schedule = balanced", "filter = n_hits>=3", "cell-size = 64KiB", "ring-depth = 4"]
        (folder / "run.ini").write_text("\n".join(lines) + "\n")
        return Kind("config", folder, "run.ini", lambda case: case.run("run", "--config", "run.ini").wrong())

    def table(self, folder):
        self.copy_epochs(folder)
        rows = [f"{50 * slot}us,64KiB,{source},{(slot + source) % 2}" for slot in range(2) for source in range(SOURCES)]
        (folder / "table.csv").write_text("# time,size,source,destination\nperiod,100us\n" + "\n".join(rows) + "\n")
        words = ["--schedule", "table:table.csv", "--builders", 2]
        return Kind("table", folder, "table.csv", strict(self, ["file:source_*.epochs"], words=words, convert=False))

    def other(self, folder):
        return OTHERS[folder.name](self, folder)

    def copy_epochs(self, folder):
        for path in (self.folder / "epochs").iterdir():
            shutil.copy(path, folder)

    def run_in(self, folder, *options):
        """A run of at least two parts that has ended, and its merged file."""
        self.copy_epochs(folder)
        eventloom("run", *RUN_OF_PARTS, *options, cwd=folder)
        eventloom("merge", "run.h5", "--output", "merged.h5", cwd=folder)
        return datasets(folder / "merged.h5")


def source_words(uris):
    return [word for uri in uris for word in ("--source", uri)]


RUN_OF_PARTS = ["run", "--source", "file:source_*.epochs", *OPTIONS, "--segment-size", 1, "--builders", 2, "--output",
                "run.h5"][1:]


# ---- where damage excuses a refusal

def in_the_first(n_bytes):
    return lambda before, after: before[:n_bytes] != after[:n_bytes]


def chunks_of(path):
    """[(begin, end)] of the rows in the file, of all datasets."""
    found = []

    def add(_, item):
        if isinstance(item, h5py.Dataset):
            chunks = [item.id.get_chunk_info(n) for n in range(item.id.get_num_chunks())]
            found.extend((chunk.byte_offset, chunk.byte_offset + chunk.size) for chunk in chunks)

    with h5py.File(path) as file:
        file.visititems(add)
    return found


def jumps_back(data):
    """Whether times of these records go back by more than is sorted."""
    time = np.frombuffer(data, RECORD, len(data) // RECORD.itemsize)["time"]
    return bool(np.any(np.maximum.accumulate(time) - time > REORDER))


def outside_of(rows):
    """HDF5 finds everything by addresses: a file of another length has another structure."""
    def damaged(before, after):
        if len(before) != len(after):
            return True
        changed = np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8))
        return any(not any(begin <= at < end for begin, end in rows) for at in changed)
    return damaged


# ---- what must hold

def wrong_events(merged, clean, code):
    """Events that violate the promise of `code`."""
    strange = [key for key in event_keys(merged, INCOMPLETE) if key not in clean]
    if strange:
        return f"not flagged, yet no event of the undamaged streams: {strange[0]}"
    if code == 0 and set(event_keys(merged)) != clean:
        return f"exit code 0, but {len(clean)} events have become {len(event_keys(merged))}"
    return ""


def built(case, uris, words=()):
    """(the run's messages, merged file, defect)"""
    done = case.run("run", *source_words(uris), *OPTIONS, *words, "--output", "out.h5")
    if done.defect() or done.code == 2:
        return done, None, done.wrong()
    merge = run(case.folder, "merge", "out.h5", "--output", "out.merged.h5")
    if merge.code not in (0, 3):
        return done, None, f"the output does not merge: {merge.reported}"
    assert_balanced(read_ledger(case.folder / "out.h5"))
    return done, read_merged(case.folder / "out.merged.h5"), ""


def looked_at(case, uri, is_whole=lambda _: True):
    """`inspect` of the damaged file reports damage, unless a separate reader also finds it intact."""
    done = case.run("inspect", uri, *(["--json"] if case.rng.randrange(2) else []))
    if done.defect() or done.code != 0 or is_whole(case.damaged):
        return done.wrong()
    return f"exit code 0 of a damaged file: {done.reported}"


def reads(reader):
    def is_whole(path):
        try:
            reader(path)
        except (ValueError, KeyError, IndexError, OverflowError, struct.error):
            return False
        return True
    return is_whole


def strict(recordings, uris, reference=None, words=(), inspect=None, convert=True):
    """Damage is reported. `reference(folder)` returns the streams that are now in the file, or None if in doubt: they
    may explain another result. `inspect`: a reader that raises if the damaged file is not intact."""
    kept = {}

    def convert_all(case):
        done = case.run("convert", *uris, "--output", "converted/")
        return done, {path.name: path.read_bytes() for path in sorted((case.folder / "converted").glob("*"))}

    def judge_conversion(case):
        done, files = convert_all(case)
        if done.defect() or done.code != 0 or files == kept["converted"]:
            return done.wrong()
        streams = reference(case.folder) if reference else None
        written = [hits_of_file(read_epochs_file(case.folder / "converted" / name)) for name in files]
        if streams is not None and list(map(rows_of, streams)) == list(map(rows_of, written)):
            return ""
        return f"exit code 0, but another stream is written: {done.reported}"

    def judge_run(case):
        done, merged, wrong = built(case, uris, words)
        wrong = wrong or (merged and wrong_events(merged, recordings.clean, done.code))
        if not wrong or merged is None:
            return wrong
        streams = reference(case.folder) if reference else None
        explained = streams is not None and set(keys_of(streams)) == set(event_keys(merged))
        return "" if explained else f"{wrong} {done.reported}"

    def judge(case):
        way = case.rng.random()
        if inspect and way < 0.15:
            return looked_at(case, case.damaged.name, reads(inspect))
        return judge_conversion(case) if convert and way < 0.4 else judge_run(case)

    def prepare(folder):
        if convert:
            kept["converted"] = convert_all(Case(folder, folder, random.Random(0), False))[1]
            shutil.rmtree(folder / "converted")
            (folder / "told.txt").unlink()

    judge.prepare = prepare
    return judge


def rows_of(stream):
    """Its hits in any order."""
    return sorted(zip(stream.time.tolist(), stream.channel.tolist()))


def unproven(uris, inspect=None):
    """Formats without checksums: a changed number is another number. The account balances in any case."""
    def judge(case):
        way = case.rng.random()
        if inspect and way < 0.15:
            return looked_at(case, inspect.format("1.bin"))
        if way < 0.35:
            return case.run("convert", *uris, "--output", "converted/").wrong()
        done, merged, wrong = built(case, uris)
        if wrong or merged is None or done.code != 0:
            return wrong
        expected = reread(case.folder)
        if expected is None or set(event_keys(merged)) == set(expected):
            return ""
        return f"exit code 0, but {len(expected)} events have become {len(event_keys(merged))}"
    return judge


def reread(folder):
    """The events that a separate reader finds in the files as they are now; None if it cannot interpret them."""
    try:
        if list(folder.glob("*.bin")):
            rows = [np.fromfile(path, RECORD) for path in sorted(folder.glob("*.bin"))]
            return keys_of([hits_of(r["time"], r["channel"]) for r in rows])
        rows = [np.loadtxt(path, delimiter=",", dtype=np.uint64, ndmin=2) for path in sorted(folder.glob("*.csv"))]
        return keys_of([hits_of(r[:, 0], r[:, 1]) for r in rows])
    except (ValueError, OverflowError, IndexError):
        return None


H5PY = """
import sys, h5py, numpy as np
with h5py.File("hits.h5") as file:
    for name in sorted(name for name in file if name.startswith("dom_")):
        rows = np.stack([file[name]["time"][:], file[name]["channel"][:]]).astype(np.uint64)
        np.save(f"h5py_{name}.npy", rows)
"""


def ask_h5py(folder):
    """The streams that h5py, which may crash on it, reads without error from the file; None otherwise."""
    done = subprocess.run([sys.executable, "-c", H5PY], cwd=folder, check=False, capture_output=True, timeout=60)
    if done.returncode != 0:
        return None
    return [hits_of(*np.load(path)) for path in sorted(folder.glob("h5py_*.npy"))]


def datasets(path):
    """All data of a merged file."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    found.pop("ledger/builder", None)
    return found


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


# ---- recordings of other makes, and outputs

def list_mode(file, uri):
    """Triggered data, without checksums."""
    def make(_, folder):
        data = (DATA / file).read_bytes()
        (folder / f"a.{uri}").write_bytes(data[:200_000])

        def judge(case):
            if case.rng.random() < 0.3:
                return looked_at(case, f"a.{uri}")
            if case.rng.random() < 0.3:
                return case.run("convert", f"a.{uri}", "--output", "a.epochs").wrong()
            done = case.run("run", "--source", f"a.{uri}", "--define", "tag", "--output", "out.h5")
            if done.code in (0, 3):
                assert_balanced(read_ledger(case.folder / "out.h5"))
            return done.wrong()
        return Kind(folder.name, folder, f"a.{uri}", judge)
    return make


def unchanged(clean):
    """Whether h5py, in a separate process, still reads exactly this."""
    def is_whole(path):
        done = subprocess.run([sys.executable, "-c", CONTENTS, path], check=False, capture_output=True, text=True, timeout=60)
        return done.returncode == 0 and done.stdout == clean[path.name]
    return is_whole


CONTENTS = """
import sys, zlib, h5py, numpy as np
def told(name, item):
    data = item[()].tobytes() if isinstance(item, h5py.Dataset) else b""
    print(name, zlib.crc32(data), sorted((key, str(np.asarray(value).tolist())) for key, value in item.attrs.items()))
with h5py.File(sys.argv[1]) as file:
    told("/", file)
    file.visititems(told)
"""


def contents(path):
    return subprocess.run([sys.executable, "-c", CONTENTS, path], check=True, capture_output=True, text=True).stdout


def finished(pattern):
    """A run that has ended, with one damaged file: merge and inspect report it, or it is harmless."""
    def make(recordings, folder):
        clean = recordings.run_in(folder)
        is_whole = unchanged({path.name: contents(path) for path in folder.glob(pattern)})

        def judge(case):
            if case.rng.random() < 0.3 or pattern == "merged.h5":
                return looked_at(case, case.damaged.name, is_whole)
            done = case.run("merge", "run.h5", "--output", "again.h5")
            if done.defect() or done.code != 0 or same(datasets(case.folder / "again.h5"), clean):
                return done.wrong()
            return f"exit code 0, but another merged file: {done.reported}"
        return Kind(folder.name, folder, pattern, judge)
    return make


def nexus(recordings, folder):
    """A merged file with an entry, whose own attributes have no checksums."""
    recordings.run_in(folder)
    eventloom("merge", "run.h5", "--nexus", "--output", "nexus.h5", cwd=folder)
    commands = [["inspect"], ["show", "--event", 0], ["show", "--summary"]]
    return Kind("nexus", folder, "nexus.h5", lambda case: case.run(*case.rng.choice(commands), "nexus.h5").wrong())


def index(recordings, folder):
    """The index of a finished run with two definitions."""
    recordings.copy_epochs(folder)
    words = ["--source", "file:source_*.epochs", *OPTIONS, "--define", "all=tag", "--output", "run.h5"]
    words[words.index(DEFINITION)] = f"some={DEFINITION}"
    eventloom("run", *words, cwd=folder)

    def judge(case):
        way = case.rng.choice([["inspect", "run.h5"], ["merge", "run.h5"], ["run", *words, "--resume"]])
        return case.run(*way).wrong()
    return Kind("index", folder, "run.h5", judge)


def stopped(pattern):
    """A stopped run with one damaged file: --resume completes it with the same result, or refuses."""
    def make(recordings, folder):
        clean = recordings.run_in(folder)
        for path in [*folder.glob("run.*"), folder / "merged.h5"]:
            path.unlink()
        with Started(folder, "run", *RUN_OF_PARTS, "--speed", "0.001") as started:
            started.until_parts(2)
            started.send(signal.SIGUSR1, 0)
            started.wait(STOPPED)
        assert parts(folder)

        def judge(case):
            done = case.run("run", *RUN_OF_PARTS, "--resume")
            if done.defect() or done.code != 0:
                return done.wrong()
            merge = run(case.folder, "merge", "run.h5", "--output", "again.h5")
            if merge.code == 0 and same(datasets(case.folder / "again.h5"), clean):
                return ""
            return f"resumed with exit code 0, but the merged file is another: {done.reported} {merge.reported}"
        return Kind(folder.name, folder, pattern, judge)
    return make


OTHERS = {"lmd": list_mode("lmd/var_small.lmd", "lmd"), "lmd_classic": list_mode("lmd/classic_16k.lmd", "lmd"),
          "hld": list_mode("hld/var_small.hld", "hld"), "run_file": finished("run.h5"), "part": finished("run.part-*.h5"),
          "merged": finished("merged.h5"), "nexus": nexus, "index": index, "stopped_run_file": stopped("run.h5"),
          "stopped_part": stopped("run.part-*.h5"), "stopped_list": stopped("run.part-*.list")}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    return Recordings(tmp_path_factory.mktemp("recordings"))


@pytest.mark.parametrize("name", KINDS)
def test_mutations(tmp_path, recordings, name):
    kind = recordings.make(name)
    getattr(kind.judge, "prepare", lambda _: None)(kind.files)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(threads.map(lambda number: attempt(kind, SEED, number, tmp_path), range(CASES)))
    failures = [str(failure) for failure in found if failure]
    assert not failures, f"{len(failures)} of {CASES}:\n" + "\n".join(failures[:5])
