"""Files made to harm: `inspect` and the Python package need no more memory and time than the size of the file explains.

EVENTLOOM_HOSTILE says how many damaged files of a kind there are, EVENTLOOM_HOSTILE_SEED which ones.
"""

import os
import random
import re
import resource
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

import caen
import midas
import tpx3
from mutations import mutated
from program import BINARY, DATA, environment, eventloom, generate
from spikes_reference import write_spikes

CASES = int(os.environ.get("EVENTLOOM_HOSTILE", 6))
SEED = os.environ.get("EVENTLOOM_HOSTILE_SEED", "0")
SECONDS = 4  # of processor time
MEMORY, PER_BYTE = 96 << 20, 16  # resident: of the program, and per byte of the file
PYTHON_MEMORY = 192 << 20  # with numpy and h5py
MAPPED = 16 << 30  # MPI and UCX map much memory that they do not use


def bounded(command, mapped, folder, env):
    """(exit code, output, resident bytes); the system ends it after too much time."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (mapped, mapped))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with (folder / "told.txt").open("wb") as reported:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=reported, stderr=reported, env=env, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, (folder / "told.txt").read_text(errors="replace")[-3000:], usage.ru_maxrss << 10


def inspect(path):
    code, reported, most = bounded([BINARY, "inspect", path], MAPPED, path.parent, environment() | {"UCX_LOG_LEVEL": "fatal"})
    assert code in (0, 2, 3), f"exit code {code} for {path}: {reported}"
    assert most < MEMORY + PER_BYTE * path.stat().st_size, f"{most >> 20} MiB for {path}"
    return code, reported


READ_ALL = """
import sys, eventloom
try:
    with eventloom.open(sys.argv[1]) as run:
        run.columns(), run.ledger, run.counters, run.sources, run.totals, run.table("builders"), list(run.chunks(1000))
        run[0] if len(run) else None
except (eventloom.EventloomError, FileNotFoundError, ValueError) as error:
    assert str(error) and "\\n" not in str(error), error
    print(error)
    sys.exit(4)
"""


def read_in_python(installed, path):
    env = os.environ | {"PYTHONPATH": str(installed), "OPENBLAS_NUM_THREADS": "1"}
    code, reported, most = bounded([sys.executable, "-B", "-c", READ_ALL, path], MAPPED, path.parent, env)
    assert code in (0, 4), f"exit code {code} for {path}: {reported}"
    assert most < PYTHON_MEMORY + PER_BYTE * path.stat().st_size, f"{most >> 20} MiB for {path}"
    return code, reported


# Files.

@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small file of each kind."""
    place = tmp_path_factory.mktemp("files")
    generate(place / "in", sources=2, rate=20_000, timing="poisson", hits=8, width="50ns", noise=150_000, duration="4ms", payload=1, seed=5)
    shutil.copy(place / "in" / "source_000.epochs", place / "a.epochs")
    eventloom("run", "--source", "in/*.epochs", "--define", "gap:60,3", "--output", "run.h5", "--builders", "2", cwd=place)
    eventloom("merge", "run.h5", "--output", "merged.h5", "--nexus", cwd=place)
    dice = random.Random(3)
    times = sorted(dice.randrange(10**7) for _ in range(2000))
    for kind, name in (("lmd", "var_small"), ("lmd", "classic_16k"), ("hld", "comb")):
        (place / f"{name}.{kind}").write_bytes((DATA / kind / f"{name}.{kind}").read_bytes()[:60_000])
    midas.midas_file(place / "a.mid", [midas.Event(n, [midas.Bank("ADC0", dice.randbytes(4 * dice.randrange(20)))]) for n in range(200)])
    (place / "a.tpx3").write_bytes(tpx3.chunks(0, [tpx3.pixel(dice.randrange(256), dice.randrange(256), t, 5) for t in times], 200))
    caen.compass_file(place / "a.BIN", caen.header(True, waveform=True),
                      [{"board": 1, "channel": n % 16, "time_ps": 4000 * n, "energy": n, "samples": range(30)} for n in range(300)])
    write_spikes(place / "a.spikes", np.array(times), np.arange(2000) % 100, packet_spikes=100)
    return place


KINDS = ["a.epochs", "run.h5", "merged.h5", "run.part-0000-0000.h5", "var_small.lmd", "classic_16k.lmd", "comb.hld", "a.mid", "a.tpx3", "a.BIN",
         "a.spikes"]


@pytest.mark.parametrize("kind", KINDS)
def test_inspect_of_damaged_files(tmp_path, folder, kind):
    for number in range(CASES):
        data, _ = mutated((folder / kind).read_bytes(), random.Random(f"{kind} {SEED} {number}"))
        (tmp_path / kind).write_bytes(data)
        inspect(tmp_path / kind)


@pytest.mark.parametrize("kind", ["run.h5", "merged.h5", "run.part-0000-0000.h5"])
def test_python_and_damaged_files(tmp_path, installed, folder, kind):
    copy = shutil.copytree(folder, tmp_path / "copy")
    for number in range(CASES):
        data, _ = mutated((folder / kind).read_bytes(), random.Random(f"python {kind} {SEED} {number}"))
        (copy / kind).write_bytes(data)
        read_in_python(installed, copy / ("merged.h5" if kind == "merged.h5" else "run.h5"))


@pytest.mark.parametrize("name", ["run.h5", "merged.h5", "run.part-0000-0000.h5"])
def test_damaged_lists_of_links(tmp_path, folder, name):
    """If a group has many links, HDF5 1.10 crashes when it sorts them. Damage in data that are not read is harmless."""
    whole = (folder / name).read_bytes()
    places = [found.start() for found in re.finditer(b"FRHP|FHDB|FHIB|BTHD|BTLF|BTIN", whole)]
    found = 0
    for place in places:
        data = bytearray(whole)
        data[place + 14] ^= 4
        (tmp_path / name).write_bytes(data)
        code, reported = inspect(tmp_path / name)
        assert code == 0 or name in reported, reported
        found += code != 0
    assert found > len(places) // 2


# Rows that are declared but absent; in files with and without checksums of Eventloom.

def declare(path, group, rows):
    """Returns False if the column does not exist."""
    with h5py.File(path, "a") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) and item.maxshape == (None,) else None)
        names = [name for name in names if name.split("/")[0] == group]
        for name in names:
            file[name].resize((rows,))
    return bool(names)


OUTPUTS = ["run.h5", "merged.h5", "run.part-0000-0000.h5"]


@pytest.mark.parametrize("rows", [1 << 31, 1 << 40, 1 << 60])
@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("version", ["58eebba", "64c9316", "today"])
def test_rows_that_are_not_there(tmp_path, installed, folder, version, name, rows):
    origin = folder if version == "today" else DATA / "older" / version
    copy = shutil.copytree(origin, tmp_path / "copy", ignore=shutil.ignore_patterns("in"))
    for group in ("events", "hits", "ledger", "payload", "parts", "sources", "counters"):
        shutil.copy(origin / name, copy / name)
        if not declare(copy / name, group, rows):
            continue
        code, reported = inspect(copy / name)
        assert code != 0 and name in reported, f"{group}: {reported}"
        if group == "sources" and name != "run.h5":
            continue
        code, reported = read_in_python(installed, copy / ("merged.h5" if name == "merged.h5" else "run.h5"))
        assert code == 4 and name in reported, f"{group}: {reported}"


@pytest.mark.parametrize("rows", [1 << 20, 1 << 28])
def test_one_chunk_of_zeros_that_deflate_has_made_small(tmp_path, installed, folder, rows):
    """A chunk may expand to 1032 times its bytes and no more; a filter that compresses better is not one of ours."""
    copy = shutil.copytree(DATA / "older" / "64c9316", tmp_path / "copy")
    with h5py.File(copy / "merged.h5", "a") as file:
        del file["payload"]
        file.create_dataset("payload", shape=(rows,), maxshape=(None,), dtype="<u4", chunks=(rows,), compression="lzf", fillvalue=0)
        if rows <= 1 << 20:
            file["payload"][...] = 0
    assert inspect(copy / "merged.h5")[0] != 0
    assert read_in_python(installed, copy / "merged.h5")[0] == 4


@pytest.mark.parametrize("name", ["run.h5", "merged.h5"])
def test_heaps_of_texts_that_lie(tmp_path, installed, folder, name):
    """HDF5 1.10 trusts their sizes: it crashes, or does not terminate."""
    copy = shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("in"))
    whole = (copy / name).read_bytes()
    heaps = [found.start() for found in re.finditer(b"GCOL", whole)]
    for offset, word in [(8, 1), (8, 1 << 62), (24, 0), (24, 1 << 62)]:
        damaged = bytearray(whole)
        for at in heaps:
            damaged[at + offset:at + offset + 8] = word.to_bytes(8, "little")
        (copy / name).write_bytes(damaged)
        assert inspect(copy / name)[0] != 0
        read_in_python(installed, copy / name)
