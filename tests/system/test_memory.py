"""Memory is bounded by the data in flight, not by the length of the run."""

import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from program import BINARY, environment, generate


# A process that is forked inherits the peak of its parent, here of a whole session of tests: a small one starts the program.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


def peak_megabytes(folder, uris, definition="gap:20ns,12"):
    """Largest resident set of a run in one process."""
    words = [word for uri in uris for word in ("--source", uri)]
    command = [BINARY, "run", *words, "--define", definition, "--filter", "prescale=1000", "--output", folder / "run.h5", "--force"]
    done = subprocess.run([sys.executable, "-c", MEASURE, *map(str, command)], env=environment(), capture_output=True, text=True,
                          timeout=100, check=True)
    code, peak = done.stdout.split()
    assert code == "0"
    return float(peak)


def test_ten_times_the_input_takes_no_more_memory(tmp_path):
    peak = {}
    for times in (1, 10):
        uris = generate(tmp_path / str(times), sources=2, rate=1e5, timing="poisson", hits=10, width="50ns", noise=4_000_000,
                        duration=f"{200 * times}ms", seed=1)
        peak[times] = peak_megabytes(tmp_path / str(times), uris)
        size = sum(os.path.getsize(uri.removeprefix("file:")) for uri in uris) / 2**20
        print(f"{size:.0f} MB of input: {peak[times]:.0f} MB resident at most")
    assert peak[10] < 1.25 * peak[1] + 16, peak
    assert size > 2 * peak[10] or peak[10] < 1.1 * peak[1], "the larger input is too small to show anything"


def list_mode_file(path, kind, events):
    """Events of 1 KB and ascending numbers: LMD with one subevent, or HLD likewise."""
    words = {"lmd": (struct.pack("<IhhhhIIhhI", 508, 10, 1, 0, 1, 0, 500, 10, 1, 7), 3),
             "hld": (struct.pack("<8I4I", 1024, 0x30001, 0x2001, 0, 0, 0, 1, 0, 992, 0x20011, 0x8000, 0), 3)}
    start, number = words[kind]
    first = {"lmd": struct.pack("<12I", 0x7FFFFFF4, 0x00010065, 0, 0, 0xFFFFFFFF, 8, 0, 0, 1, 1, 0, 0),
             "hld": struct.pack("<8I", 32, 0x30001, 0x10002, 0, 0, 0, 1, 0)}[kind]
    chunk = 1000  # little at a time: the memory of a process that starts the program counts for the program, too
    table = np.zeros((chunk, 256), dtype="<u4")
    table[:, :len(start) // 4] = np.frombuffer(start, "<u4")
    with path.open("wb") as out:
        out.write(first)
        for begin in range(1, events + 1, chunk):
            table[:, number] = np.arange(begin, begin + chunk)
            out.write(table.tobytes())


@pytest.mark.parametrize("kind", ["lmd", "hld"])
def test_memory_does_not_grow_with_a_list_mode_file(tmp_path, kind):
    peak = {}
    for events in (20_000, 200_000):
        path = tmp_path / f"{events}.{kind}"
        list_mode_file(path, kind, events)
        peak[events] = peak_megabytes(tmp_path, [f"{kind}:{path}"], "tag")
    assert peak[200_000] < 1.25 * peak[20_000] + 16, peak
    assert 200 > 1.5 * peak[200_000], "the larger input is too small to show anything"
