#!/usr/bin/python3
"""`--define cluster:` on generated Timepix3 pixels, one core, files in memory, beside rustpix (PyPI) on the same file: hits by
CPU time of the whole run, from the file to HDF5, and of reading and clustering alone by each. Every repetition checks that both
find the same clusters.

rustpix counts in steps of 25 ns, and takes its window as the whole steps that contain it: the times of the pixels are such
steps, and its 50 ns are Eventloom's 60 ns, between two steps.

usage: tests/benchmarks/clusters.py [RUNS]     after jobs/setup.sh; RUSTPIX_PYTHON is a Python that has rustpix (python3)
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("RUSTPIX_PYTHON", "python3")
CLUSTERS = 1_500_000
STEP_NS = 25
PIXELS = 256
RADIUS = 1.5
DEFINITION = f"cluster:60ns,{RADIUS},1"
EXACT = "grid"  # the algorithm of rustpix that finds all neighbours
ALGORITHMS = ("abs", EXACT)


def pixels():
    """Times in steps, x, y and time over threshold of the hits, in order: clusters of 1 to 8 hits within 3 by 3 pixels and 3 steps."""
    choose = np.random.default_rng(7)
    of = np.repeat(np.arange(CLUSTERS), choose.integers(1, 9, CLUSTERS))
    begin = np.cumsum(choose.integers(1, 40, CLUSTERS))
    x, y = (choose.integers(2, PIXELS - 2, CLUSTERS)[of] + choose.integers(-1, 2, len(of)) for _ in "xy")
    step = begin[of] + choose.integers(0, 4, len(of))
    _, first = np.unique(step << 16 | y << 8 | x, return_index=True)  # a pixel has one hit at a time
    return step[first], x[first], y[first], choose.integers(5, 200, len(first))


def write_tpx3(path, step, x, y, tot):
    """A clock edge at 0, which rustpix waits for, and the pixels, in chunks of 1,000 packets."""
    address = (x // 2) << 9 | (y // 4) << 3 | (x % 2) << 2 | y % 4
    words = 0xB << 60 - 32 | address << 44 - 32
    packets = words.astype(np.uint64) << np.uint64(32) | (tot << 20 | step >> 14).astype(np.uint64)
    packets |= (step & 0x3FFF).astype(np.uint64) << np.uint64(30)
    packets = np.concatenate([np.array([0x6 << 60 | 0xF << 56 | 1 << 44 | 1 << 5], np.uint64), packets])
    with open(path, "wb") as file:
        for begin in range(0, len(packets), 1000):
            chunk = packets[begin:begin + 1000]
            np.array([len(chunk) * 8 << 48 | 0x33585054], np.uint64).tofile(file)
            chunk.tofile(file)


def labels(keys, clusters):
    """The cluster of each hit, in the order of `keys`, named by its first hit."""
    order = np.argsort(keys, kind="stable")
    _, first, which = np.unique(clusters[order], return_index=True, return_inverse=True)
    return keys[order], first[which]


def eventloom(folder, file):
    """Million hits per second of CPU time of a run, and its clusters."""
    import h5py
    run = folder / "run.h5"
    command = [ROOT / "build/eventloom", "run", f"tpx3:{file}", "--define", DEFINITION, "--merge", "--force", "--quiet",
               "--output", run]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with h5py.File(run) as opened:
        times, channels, first = (opened[name][:].astype(np.int64) for name in ("hits/time", "hits/channel", "events/first_hit"))
    events = np.repeat(np.arange(len(first) - 1), np.diff(first))
    hits = channels >> 16 == 0  # the clock's edge is no pixel
    keys = (times // STEP_NS << 16 | channels & 0xFFFF)[hits]
    return len(keys) / 1e6 / spent, labels(keys, events[hits])


def stages(file):
    """Million hits per second of reading, and of clustering alone, by Eventloom."""
    done = subprocess.run([ROOT / "build/tests/benchmarks/clusters_benchmark", f"tpx3:{file}", DEFINITION], check=True,
                          capture_output=True, text=True)
    return dict(re.findall(r"^(eventloom, \w+) ([\d.]+)", done.stdout, re.MULTILINE))


def rustpix(folder, file, algorithm):
    """In the Python that has it: million hits/s of reading, of clustering, and the clusters."""
    found = folder / "rustpix.npz"
    subprocess.run([PYTHON, __file__, "--rustpix", file, algorithm, found], check=True)
    with np.load(found) as loaded:
        return loaded["rates"], labels(loaded["keys"], loaded["clusters"])


def cluster_by_rustpix(file, algorithm, found):
    import rustpix as package
    detector = package.DetectorConfig(tdc_frequency_hz=0.02, enable_missing_tdc_correction=False, chip_size_x=PIXELS,
                                      chip_size_y=PIXELS, chip_transforms=[(1, 0, 0, 1, 0, 0)])
    config = package.ClusteringConfig(radius=RADIUS, temporal_window_ns=2.0 * STEP_NS, min_cluster_size=1)
    begun = time.process_time()
    batch = package.read_tpx3_hits(file, detector)
    read = time.process_time()
    package.cluster_hits(batch, config, algorithm=algorithm)
    clustered = time.process_time()
    hits = {name: column.astype(np.int64) for name, column in batch.to_numpy().items()}
    keys = hits["timestamp"] << 16 | hits["y"] << 8 | hits["x"]
    rates = len(keys) / 1e6 / np.array([read - begun, clustered - read])
    np.savez(found, rates=rates, keys=keys, clusters=hits["cluster_id"])


def has_rustpix():
    return subprocess.run([PYTHON, "-c", "import rustpix"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    there = has_rustpix()
    rates = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        file = folder / "pixels.tpx3"
        write_tpx3(file, *pixels())
        for _ in range(runs):
            rate, mine = eventloom(folder, file)
            rates.setdefault("eventloom, the whole run", []).append(rate)
            for stage, alone in stages(file).items():
                rates.setdefault(stage, []).append(float(alone))
            for algorithm in ALGORITHMS if there else ():
                (read, clustered), theirs = rustpix(folder, file, algorithm)
                rates.setdefault("rustpix, reading", []).append(read)
                rates.setdefault(f"rustpix, {algorithm}", []).append(clustered)
                if algorithm == EXACT and not all(np.array_equal(a, b) for a, b in zip(mine, theirs)):
                    sys.exit("rustpix and Eventloom find different clusters")
    for what, values in rates.items():
        print(f"{what} {statistics.median(values):.1f} million hits/s")
    print(f"the same {len(np.unique(mine[1])):,} clusters of {len(mine[0]):,} hits" if there else "rustpix is not installed")


if __name__ == "__main__":
    cluster_by_rustpix(*sys.argv[2:]) if sys.argv[1:2] == ["--rustpix"] else main()
