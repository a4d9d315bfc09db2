#!/usr/bin/python3
"""How fast the Python package writes hits to `.epochs` files, and reads the events that are built of them, on one core."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "io" / "python"))

import eventloom  # noqa: E402

HITS = 8_000_000
GROUP = 4  # hits, 5 ns apart, every 100 ns


def seconds(work):
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main():
    number = np.arange(HITS)
    times, channels = number // GROUP * 100 + number % GROUP * 5, number % 1024
    with tempfile.TemporaryDirectory() as folder:
        path, run = Path(folder) / "hits.epochs", Path(folder) / "run.h5"
        plain = seconds(lambda: eventloom.write_epochs(path, times, channels))
        words = seconds(lambda: eventloom.write_epochs(path, times, channels, payload=channels, overwrite=True))
        subprocess.run([ROOT / "build/eventloom", "run", path, "--define", "gap:5,4", "--output", run], check=True,
                       stdout=subprocess.DEVNULL, env=os.environ)
        with eventloom.open(run) as opened:
            reading = seconds(lambda: [chunk.columns() for chunk in opened.chunks()])
            few = opened[:20_000]
            events = seconds(lambda: sum(len(event.hits) for event in few))
            assert opened.totals["hits_in_events"] == HITS
    for name, spent in (("written", plain), ("written with a word each", words), ("read", reading)):
        print(f"{name}: {HITS / spent / 1e6:.2f} million hits/s")
    print(f"events one by one: {events / len(few) * 1e6:.1f} us an event")


if __name__ == "__main__":
    main()
