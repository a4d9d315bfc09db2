"""The memory of the Python package does not grow with the file that it writes, nor with the run that it reads."""

import os
import subprocess
import sys

from program import eventloom

HITS = int(os.environ.get("EVENTLOOM_PYTHON_HITS", 10_000_000))
PIECE = 500_000  # hits passed to the writer together
# Hits of two sources in groups of 10 ns every 100 ns, 3 of each source: events of 6 hits.
COMMON = f"""
import resource, sys
import numpy, eventloom
HITS, PIECE = {HITS // 2}, {PIECE}
begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def hits(first):
    number = numpy.arange(first, min(first + PIECE, HITS), dtype=numpy.uint64)
    return number // 3 * 100 + number % 3 * 5, (number % 1000).astype(numpy.uint32)
"""
WRITE = COMMON + """
for source in (0, 1):
    with eventloom.EpochsWriter(f"{source}.epochs", source=source) as file:
        for first in range(0, HITS, PIECE):
            time, channel = hits(first)
            file.write(time, channel, channel + source)
"""
READ = COMMON + """
run = eventloom.open("run.h5")
events, channels, payload = 0, 0, 0
for chunk in run.chunks(events=50_000):
    found = chunk.columns("events/time", "hits/channel", "payload")
    assert numpy.array_equal(found["events/time"], 100 * numpy.arange(events, events + len(chunk), dtype=numpy.uint64))
    events += len(chunk)
    channels += int(found["hits/channel"].sum())
    payload += int(found["payload"].sum())
assert events == len(run) == -(-HITS // 3)
expected = sum(int(hits(first)[1].sum()) for first in range(0, HITS, PIECE))
assert (channels, payload) == (2 * expected, 2 * expected + HITS)
for number in range(0, len(run), len(run) // 50):
    assert (run[number].time, len(run[number].hits)) == (100 * number, min(6, 2 * (HITS - 3 * number)))
assert len(run.between(1000, 100_001_000)) == 1_000_000
"""
PEAK = "\nprint((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun) / 1024)\n"


def megabytes_more(installed, folder, program):
    """The largest increase of memory of a Python program."""
    done = subprocess.run([sys.executable, "-B", "-c", program + PEAK], cwd=folder, capture_output=True, text=True, timeout=600,
                          env=os.environ | {"PYTHONPATH": str(installed)})
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_memory(installed, tmp_path):
    writing = megabytes_more(installed, tmp_path, WRITE)
    eventloom("run", "0.epochs", "1.epochs", "--define", "gap:20,1", "--builders", 3, "--segment-size", "16MiB",
              "--output", "run.h5", np=2, cwd=tmp_path, timeout=600)
    reading = megabytes_more(installed, tmp_path, READ)
    size = sum(path.stat().st_size for path in tmp_path.glob("run.part-*.h5")) / 2**20
    print(f"{size:.0f} MiB of parts: {writing:.0f} MiB to write the hits, {reading:.0f} to read the events")
    assert writing < 100 and reading < 150 and size > 300
