"""Power may fail at any moment: tests the order of the system calls that make files and their names durable."""

import re
import shutil
import subprocess

import pytest

from program import BINARY, environment, generate

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="SKIPPED: strace is not installed")
CALLS = "openat,open,creat,fsync,fdatasync,rename,renameat,renameat2,close,pwrite64,write,mkdir"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("recording"), sources=1, rate=10_000, duration="5ms")[0].removeprefix("file:")


def traced(folder, *words):
    """(call, file) in order; for a rename, the new name."""
    log = folder / "trace"
    done = subprocess.run(["strace", "-f", "-y", "-e", f"trace={CALLS}", "-o", log, BINARY, *map(str, words)], cwd=folder,
                          env=environment(), text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = []
    for line in log.read_text().splitlines():
        call = re.match(r"\d+ +(\w+)\((.*)", line)
        if not call or " = -1 " in line:
            continue
        if call[1].startswith("rename"):
            found.append(("rename", re.findall(r'"([^"]*)"', call[2])[-1]))
        elif call[1] == "mkdir":
            found.append(("mkdir", re.findall(r'"([^"]*)"', call[2])[0]))
        elif call[1].startswith("open") and "O_CREAT" in call[2]:
            found.append(("create", re.findall(r'"([^"]*)"', call[2])[0]))
        elif place := re.match(r"\d+<([^>]*)>", call[2]):
            found.append((call[1].replace("fdata", "f").replace("pwrite64", "write"), place[1]))
    return found


def assert_published(calls, folder, name):
    """Created, written, synced, its folder synced, renamed, the folder synced again."""
    def place(call, what, after=-1):
        for n, (made, path) in enumerate(calls):
            if n > after and made == call and (path == what or path == str(folder / what) or path == f"./{what}"):
                return n
        raise AssertionError(f"no {call} of {what} in its place")
    created = max(n for n, call in enumerate(calls) if call[0] == "create" and call[1].endswith(f"{name}.partial"))
    partial = str(folder / f"{name}.partial")
    on_disk = place("fsync", partial, created)
    last_write = max(n for n, call in enumerate(calls) if call == ("write", partial))
    assert last_write < on_disk, "written behind its fsync"
    named = next(n for n, call in enumerate(calls) if n > created and call[0] == "rename" and call[1].endswith(name))
    between = [n for n, call in enumerate(calls) if call == ("fsync", str((folder / name).parent))]
    assert any(on_disk < n < named for n in between), "the folder before the name"
    assert any(n > named for n in between), "the folder behind the name"
    return on_disk, min(n for n in between if n > on_disk), named


def test_parts_of_a_run(tmp_path, recording):
    calls = traced(tmp_path, "run", recording, "--define", "gap:25ns,4", "--save-sorted", "kept", "--report-json", "report.json",
                   "--output", "run.h5")
    _, folder_synced, named = assert_published(calls, tmp_path, "run.part-0000-0000.h5")
    listed = [n for n, call in enumerate(calls) if call == ("write", str(tmp_path / "run.part-0000.list"))][-1]
    list_synced = next(n for n, call in enumerate(calls) if n > listed and call == ("fsync", str(tmp_path / "run.part-0000.list")))
    assert folder_synced < listed < list_synced < named, "on disk under some name, listed, named"
    for name in ("run.h5", "report.json", "kept/builder_00000.epochs", "kept/sorted.json"):
        assert_published(calls, tmp_path, name)


@pytest.mark.parametrize("words, names", [
    (["convert", "{recording}", "--output", "x.epochs"], ["x.epochs"]),
    (["convert", "{recording}", "--output", "x.spikes", "--format", "spikes"], ["x.spikes"]),
    (["generate", "--output", "made", "--sources", "2", "--duration", "1ms"],
     ["made/source_000.epochs", "made/source_001.epochs", "made/truth.csv", "made/truth.json"]),
    (["plan", "--sources", "4", "--rankfile", "ranks"], ["ranks"])], ids=["epochs", "spikes", "generate", "plan"])
def test_other_files(tmp_path, recording, words, names):
    calls = traced(tmp_path, *[word.format(recording=recording) for word in words])
    for name in names:
        assert_published(calls, tmp_path, name)


def test_outputs_are_looked_at_once_and_behind_the_lock(tmp_path, recording):
    calls = traced(tmp_path, "run", recording, "--define", "gap:25ns,4", "--output", "run.h5")
    created = [path for call, path in calls if call == "create" and path.startswith(("run.h5", "run.part"))]
    assert created[0] == "run.h5.lock"
    assert created.count("run.part-9999-9999.h5.partial") == 1


@pytest.mark.parametrize("words", [["run", "{recording}", "--define", "gap:25ns,4", "--save-sorted", "new/below", "--output", "run.h5"],
                                   ["convert", "{recording}", "--output", "new/below/"], ["generate", "--output", "new/below"]],
                         ids=["run", "convert", "generate"])
def test_folders(tmp_path, recording, words):
    calls = traced(tmp_path, *[word.format(recording=recording) for word in words])
    for name in ("new", "new/below"):
        made = calls.index(("mkdir", name))
        assert ("fsync", str((tmp_path / name).parent)) in calls[made:], name


def test_a_part_from_scratch(tmp_path, recording):
    """Whenever it is interrupted, it is recognised as unfinished: HDF5's own first bytes are written after the rest is
    on disk."""
    calls = traced(tmp_path, "run", recording, "--define", "gap:25ns,4", "--scratch", "scratch", "--output", "run.h5")
    partial = str(tmp_path / "run.part-0000-0000.h5.partial")
    of_part = [call for call, path in calls if path in (partial, partial.removesuffix(".partial")) and call in ("write", "fsync", "rename")]
    assert of_part[:5] == ["write", "write", "fsync", "write", "fsync"]


def test_merged_file(tmp_path, recording):
    subprocess.run([BINARY, "run", recording, "--define", "gap:25ns,4", "--output", "run.h5"], cwd=tmp_path, env=environment(),
                   check=True, capture_output=True, timeout=60)
    assert_published(traced(tmp_path, "merge", "run.h5"), tmp_path, "run.merged.h5")
