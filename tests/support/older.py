"""The hits of which the files in tests/data/older were built, by arithmetic that no library changes.

    python3 tests/support/older.py FOLDER       writes them as CSV: time [ns], channel, payload
"""

import sys
from pathlib import Path

SOURCES = 2
EVENTS = 40
HITS = 3  # of an event, per source


def stream(source):
    """(time, channel, payload word) of each hit: events 3 us apart, and a noise hit after every fourth."""
    hits = []
    for event in range(EVENTS):
        begin = 3000 * event + 137 * (event % 7)
        hits += [(begin + 4 * source + 9 * j, 100 * source + (5 * event + j) % 16, 16 * event + j) for j in range(HITS)]
        if event % 4 == source:
            hits.append((begin + 1500, 99, event))
    return hits


def name_of(source):
    return f"source_{source}.csv"


def write(folder):
    for source in range(SOURCES):
        lines = ["time,channel,payload", *(",".join(map(str, hit)) for hit in stream(source))]
        (folder / name_of(source)).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
