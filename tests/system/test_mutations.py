"""Damaged files of every kind, by chance: the right exit code in time, bounded memory, and events that are right or flagged.

EVENTLOOM_MUTATIONS says how many cases there are in all, EVENTLOOM_MUTATIONS_SEED which ones.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
import pytest

from epochs_file import hits_of_file, read_epochs_file
from interrupted import Started, parts
from mutations import Kind, attempt, run
from program import DATA, eventloom
from recordings import write_csv
from reference import INCOMPLETE, find_events, hits_of, merged_file, weave
from results import assert_balanced, event_keys, read_ledger, read_merged
from spikes_reference import write_spikes

DEFINITION, OVERLAP = "gap:60,3", 10_000
OPTIONS = ["--define", DEFINITION, "--overlap", OVERLAP, "--epochs-per-slice", 16]
CSV = "time=1&channel=2&unit=tick"
PACKED = "record=12&time=u64le@0&channel=u32le@8&unit=tick"
RECORD = np.dtype([("time", "<u8"), ("channel", "<u4")])
SOURCES = 3
KINDS = ["epochs", "spikes", "hdf5", "hdf5_new", "csv", "packed", "lmd", "lmd_classic", "hld", "sorted", "config", "table",
         "run_file", "part", "merged", "stopped_run_file", "stopped_part", "stopped_list"]
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
    """The same three streams in all forms."""

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
        return Kind("epochs", folder, "source_001.epochs", strict(self, ["file:source_*.epochs"], inspect="{}"))

    def spikes(self, folder):
        for n, stream in enumerate(self.streams):
            write_spikes(folder / f"0000{n}.spikes", stream.time, stream.channel, channel_base=n << 22, packet_spikes=50)
        return Kind("spikes", folder, "00001.spikes", strict(self, ["spikes:*.spikes"], inspect="{}"))

    def hdf5(self, folder, libver="earliest"):
        with h5py.File(folder / "hits.h5", "w", libver=libver) as file:
            for n, stream in enumerate(self.streams):
                group = file.create_group(f"dom_{n}")
                for column in ("time", "channel"):
                    group.create_dataset(column, data=getattr(stream, column), chunks=(256,), compression="gzip",
                                         fletcher32=True)
        return Kind(folder.name, folder, "hits.h5", strict(self, ["hdf5:hits.h5?group=/dom_*&unit=tick"], ask_h5py))

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
        return Kind("packed", folder, "1.bin", unproven([f"packed:*.bin?{PACKED}"], inspect=f"packed:{{}}?{PACKED}"))

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
        return Kind("config", folder, "run.ini", lambda place, rng: run(place, "run", "--config", "run.ini").defect())

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
        """A run of two parts or more that has ended, and its merged file."""
        self.copy_epochs(folder)
        eventloom("run", *RUN_OF_PARTS, *options, cwd=folder)
        eventloom("merge", "run.h5", "--output", "merged.h5", cwd=folder)
        return datasets(folder / "merged.h5")


def source_words(uris):
    return [word for uri in uris for word in ("--source", uri)]


RUN_OF_PARTS = ["run", "--source", "file:source_*.epochs", *OPTIONS, "--segment-size", 1, "--builders", 2, "--output",
                "run.h5"][1:]


# ---- what must hold

def wrong_events(merged, clean, code):
    """What `code` promises of the events."""
    strange = [key for key in event_keys(merged, INCOMPLETE) if key not in clean]
    if strange:
        return f"not flagged, yet no event of the undamaged streams: {strange[0]}"
    if code == 0 and set(event_keys(merged)) != clean:
        return f"exit code 0, but {len(clean)} events have become {len(event_keys(merged))}"
    return ""


def built(folder, uris, words=()):
    """(exit code, merged file, what is wrong) of a run."""
    done = run(folder, "run", *source_words(uris), *OPTIONS, *words, "--output", "out.h5")
    wrong = done.defect()
    if wrong or done.code == 2:
        return done.code, None, wrong and f"{wrong}: {done.told}"
    merge = run(folder, "merge", "out.h5", "--output", "out.merged.h5")
    if merge.code not in (0, 3):
        return done.code, None, f"the output does not merge: {merge.told}"
    assert_balanced(read_ledger(folder / "out.h5"))
    return done.code, read_merged(folder / "out.merged.h5"), ""


def looked_at(folder, kind, text):
    done = run(folder, "inspect", text, *(["--json"] if kind else []))
    wrong = done.defect()
    return wrong and f"{wrong}: {done.told}"


def strict(recordings, uris, reference=None, words=(), inspect=None, convert=True):
    """Damage shows. `reference(folder)` may explain another result as what now is in the file."""
    kept = {}

    def convert_all(folder):
        done = run(folder, "convert", *uris, "--output", "converted/")
        wrong = done.defect()
        files = {path.name: path.read_bytes() for path in (folder / "converted").glob("*")}
        return done, files, wrong and f"{wrong}: {done.told}"

    def judge(folder, rng):
        way = rng.random()
        if inspect and way < 0.15:
            target = next(path for path in sorted(folder.iterdir()) if "1.e" in path.name or "00001" in path.name)
            return looked_at(folder, rng.randrange(2), inspect.format(target.name))
        if convert and way < 0.4:
            done, files, wrong = convert_all(folder)
            same = files == kept["converted"]
            if wrong or done.code != 0 or same or (reference and reference(folder)):
                return wrong
            return f"exit code 0, but another stream is written: {done.told}"
        code, merged, wrong = built(folder, uris, words)
        if wrong or merged is None:
            return wrong
        wrong = wrong_events(merged, recordings.clean, code)
        told = (folder / "told.txt").read_text(errors="replace")
        return wrong and not (reference and reference(folder, merged)) and f"{wrong} {told}"

    def prepare(folder):
        if convert:
            kept["converted"] = convert_all(folder)[1]
            shutil.rmtree(folder / "converted")
            (folder / "told.txt").unlink()

    judge.prepare = prepare
    return judge


def unproven(uris, inspect=None):
    """Formats without checksums: another number is another number. The account balances, whatever comes."""
    def judge(folder, rng):
        way = rng.random()
        if inspect and way < 0.15:
            return looked_at(folder, rng.randrange(2), inspect.format("1.bin"))
        if way < 0.35:
            done = run(folder, "convert", *uris, "--output", "converted/")
            wrong = done.defect()
            return wrong and f"{wrong}: {done.told}"
        code, merged, wrong = built(folder, uris)
        if wrong or merged is None or code != 0:
            return wrong
        expected = reread(folder)
        if expected is None or set(event_keys(merged)) == set(expected):
            return ""
        return f"exit code 0, but {len(expected)} events have become {len(event_keys(merged))}"
    return judge


def reread(folder):
    """Events of the files as they are now, by a reader of our own; None when it cannot make sense of them."""
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
        if isinstance(file.get(name), h5py.Group):
            rows = np.stack([file[name]["time"][:], file[name]["channel"][:]]).astype(np.uint64)
            np.save(sys.argv[1] + name + ".npy", rows)
"""


def ask_h5py(folder, merged=None):
    """Whether h5py, which may crash on it, finds in the file without complaint what has been built from it."""
    subprocess.run([sys.executable, "-c", H5PY, "h5py_"], cwd=folder, check=False, capture_output=True, timeout=60)
    rows = [np.load(path) for path in sorted(folder.glob("h5py_*.npy"))]
    return bool(rows) and (merged is None or set(keys_of([hits_of(*r) for r in rows])) == set(event_keys(merged)))


def datasets(path):
    """All of a merged file that is data."""
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

        def judge(place, rng):
            if rng.random() < 0.3:
                return looked_at(place, rng.randrange(2), f"a.{uri}")
            if rng.random() < 0.3:
                done = run(place, "convert", f"a.{uri}", "--output", "a.epochs")
            else:
                done = run(place, "run", "--source", f"a.{uri}", "--define", "tag", "--output", "out.h5")
                if done.code in (0, 3):
                    assert_balanced(read_ledger(place / "out.h5"))
            return done.defect() and f"{done.defect()}: {done.told}"
        return Kind(folder.name, folder, f"a.{uri}", judge)
    return make


def finished(pattern):
    """A run that has ended, a file of it damaged: found by merge, or harmless."""
    def make(recordings, folder):
        clean = recordings.run_in(folder)

        def judge(place, rng):
            if rng.random() < 0.3 or pattern == "merged.h5":
                target = rng.choice(sorted(place.glob(pattern)))
                return looked_at(place, rng.randrange(2), target.name)
            done = run(place, "merge", "run.h5", "--output", "again.h5")
            if done.defect() or done.code != 0 or same(datasets(place / "again.h5"), clean):
                return done.defect() and f"{done.defect()}: {done.told}"
            return f"exit code 0, but another merged file: {done.told}"
        return Kind(folder.name, folder, pattern, judge)
    return make


def stopped(pattern):
    """A run that was stopped, a file of it damaged: --resume ends it with the same result, or refuses."""
    def make(recordings, folder):
        clean = recordings.run_in(folder)
        for path in [*folder.glob("run.*"), folder / "merged.h5"]:
            path.unlink()
        with Started(folder, "run", *RUN_OF_PARTS, "--speed", "0.004") as started:
            started.until_parts(2)
            started.send(10, 0)
            started.wait(75)
        assert parts(folder)

        def judge(place, _):
            done = run(place, "run", *RUN_OF_PARTS, "--resume")
            if done.defect() or done.code != 0:
                return done.defect() and f"{done.defect()}: {done.told}"
            merge = run(place, "merge", "run.h5", "--output", "again.h5")
            if merge.code == 0 and same(datasets(place / "again.h5"), clean):
                return ""
            return f"resumed with exit code 0, but the merged file is another: {done.told} {merge.told}"
        return Kind(folder.name, folder, pattern, judge)
    return make


OTHERS = {"lmd": list_mode("lmd/var_small.lmd", "lmd"), "lmd_classic": list_mode("lmd/classic_16k.lmd", "lmd"),
          "hld": list_mode("hld/var_small.hld", "hld"), "run_file": finished("run.h5"), "part": finished("run.part-*.h5"),
          "merged": finished("merged.h5"), "stopped_run_file": stopped("run.h5"), "stopped_part": stopped("run.part-*.h5"),
          "stopped_list": stopped("run.part-*.list")}


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
