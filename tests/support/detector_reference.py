"""Serial reference of detector maps: rows applied to whole streams in plain numpy, from the design contract alone.

A row is a dict of cells as text, by column; columns that a row does not have are empty.
"""

import csv
import fnmatch
import re
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from reference import Hits, weave

UNITS = {"offset_ps": 1, "offset_ns": 1_000, "offset_us": 1_000_000}


def write_map(path, rows, columns=None):
    """The table as a file; returns its path."""
    columns = columns or list(dict.fromkeys(name for row in rows for name in row))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def sources_of(text, names):
    """Numbers of the sources that a cell selects."""
    if text == "":
        return list(range(len(names)))
    if text.isdigit():
        return [int(text)]
    if re.fullmatch(r"\d+-\d+", text):
        low, high = map(int, text.split("-"))
        return list(range(low, high + 1))
    exact = [number for number, name in enumerate(names) if name == text]
    return exact or [number for number, name in enumerate(names) if fnmatch.fnmatchcase(name, text)]


def channels_of(text):
    """First and last channel that a cell selects."""
    if text == "":
        return 0, 0xFFFFFFF
    low, _, high = text.partition("-")
    return int(low, 0), int(high or low, 0)


def offset_of(row, tick_ps):
    """In ticks, rounded to the nearest, halves away from zero; None if the row has no offset."""
    for column, text in row.items():
        if column.startswith("offset_") and text != "":
            ticks = Fraction(text) if column == "offset_ticks" else Fraction(text) * UNITS[column] / tick_ps
            size = int(abs(ticks) + Fraction(1, 2))
            return size if ticks >= 0 else -size
    return None


def set_values(streams, names, rows, number_of=None):
    """Sets the value of each hit, gain x number + zero; NaN without payload. `number_of(words)`: the numbers of the first
    payload words of a stream, which are unsigned by default."""
    for number, stream in enumerate(streams):
        gain, zero = np.ones(len(stream)), np.zeros(len(stream))
        for row in rows:
            if number not in sources_of(row.get("source", ""), names):
                continue
            first, last = channels_of(row.get("channel", ""))
            chosen = (stream.channel >= first) & (stream.channel <= last)
            for column, cell in (("gain", gain), ("zero", zero)):
                if row.get(column, "") != "":
                    cell[chosen] = float(row[column])
        begin = np.cumsum(stream.payload_words, dtype=np.int64) - stream.payload_words
        stream.value = np.full(len(stream), np.nan)
        has_word = stream.payload_words > 0
        words = stream.payload[begin[has_word]]
        stream.value[has_word] = gain[has_word] * (words if number_of is None else number_of(words)) + zero[has_word]


@dataclass
class Corrected:
    """All hits of the run in order, and the hits that were dropped: (cause, corrected time, source) of each."""

    hits: Hits
    dropped: list = field(default_factory=list)

    def lost(self, cause):
        return sum(1 for what, _, _ in self.dropped if what == cause)

    def lost_by_slice(self, cause, slice_ticks):
        counts = {}
        for what, time, _ in self.dropped:
            if what == cause:
                counts[max(time, 0) // slice_ticks] = counts.get(max(time, 0) // slice_ticks, 0) + 1
        return counts

    def lost_by_source(self, cause):
        counts = {}
        for what, _, source in self.dropped:
            if what == cause:
                counts[source] = counts.get(source, 0) + 1
        return counts


def correct(streams, names, rows, tick_ps=1000):
    """Later rows overrule earlier ones, column by column."""
    kept, dropped = [], []
    for number, stream in enumerate(streams):
        n = len(stream)
        offset, mask = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
        low, high, cut = np.zeros(n, dtype=np.int64), np.full(n, 2**32 - 1), np.zeros(n, dtype=bool)
        for row in rows:
            if number not in sources_of(row.get("source", ""), names):
                continue
            first, last = channels_of(row.get("channel", ""))
            chosen = (stream.channel >= first) & (stream.channel <= last)
            if (ticks := offset_of(row, tick_ps)) is not None:
                offset[chosen] = ticks
            if row.get("mask", "") != "":
                mask[chosen] = row["mask"] == "1"
            for column, bound in (("min_payload", low), ("max_payload", high)):
                if row.get(column, "") != "":
                    bound[chosen], cut[chosen] = int(row[column], 0), True
        begin = np.cumsum(stream.payload_words, dtype=np.int64) - stream.payload_words
        has_word = stream.payload_words > 0
        word = np.zeros(n, dtype=np.int64)
        word[has_word] = stream.payload[begin[has_word]]
        is_cut = cut & ~mask & ~(has_word & (low <= word) & (word <= high))
        time = stream.time.astype(np.int64) + offset
        untimed = (time < 0) & ~mask & ~is_cut
        for cause, chosen in (("masked", mask), ("cut", is_cut), ("untimed", untimed)):
            dropped += [(cause, int(t), number) for t in time[chosen]]
        good = np.flatnonzero(~mask & ~is_cut & ~untimed)
        moved = stream.take(good)
        moved.time = time[good].astype(np.uint64)
        kept.append(moved)
    return Corrected(weave(kept), dropped)
