"""Serial reference of event building: all hits of a run in memory, plain numpy, no slices.

Written from the design contract alone and shares nothing with the C++ code. Times are ticks.
"""

import re
from dataclasses import dataclass

import numpy as np

from expressions import Expression

TRUNCATED = 1
INCOMPLETE = 2
PICOSECONDS = {"ps": 1, "ns": 1_000, "us": 1_000_000, "ms": 1_000_000_000, "s": 1_000_000_000_000}


@dataclass
class Hits:
    """Hits in columns; `payload` holds the `payload_words[i]` words of hit i after those of the previous hits."""

    time: np.ndarray
    channel: np.ndarray
    source: np.ndarray
    payload_words: np.ndarray
    payload: np.ndarray
    value: np.ndarray = None  # by the gain and zero of the channel, for expressions

    def __len__(self):
        return len(self.time)

    def part(self, begin, end):
        """Hits begin to end - 1, for expressions: without payload."""
        return Hits(self.time[begin:end], self.channel[begin:end], self.source[begin:end], self.payload_words[:0],
                    self.payload[:0], None if self.value is None else self.value[begin:end])

    def around(self, first, last):
        """Hits from the tick `first` to the tick `last`, for expressions."""
        return self.part(np.searchsorted(self.time, np.uint64(max(first, 0))),
                         np.searchsorted(self.time, np.uint64(max(last, 0)), side="right"))

    def take(self, index):
        index = np.asarray(index, dtype=np.int64)
        first = np.cumsum(self.payload_words, dtype=np.int64) - self.payload_words
        n = self.payload_words[index].astype(np.int64)
        word = np.repeat(first[index] - (np.cumsum(n) - n), n) + np.arange(n.sum())
        return Hits(self.time[index], self.channel[index], self.source[index], self.payload_words[index],
                    self.payload[word], None if self.value is None else self.value[index])


def hits_of(time, channel, source=0, payload=None):
    """Hits of one source; `payload`: None, one word a hit, or one row of words a hit."""
    time = np.asarray(time, dtype=np.uint64)
    words = np.zeros((len(time), 0)) if payload is None else np.asarray(payload)
    words = words[:, np.newaxis] if words.ndim == 1 else words
    return Hits(time, np.asarray(channel, dtype=np.uint32), np.full(len(time), source, dtype=np.uint16),
                np.full(len(time), words.shape[1], dtype=np.uint32), words.astype(np.uint32).ravel())


def weave(streams):
    """All streams as one, ordered by (time, source, position); sources are numbered in the order given."""
    for number, stream in enumerate(streams):
        stream.source = np.full(len(stream), number, dtype=np.uint16)
    whole = Hits(*(np.concatenate([getattr(s, name) for s in streams])
                   for name in ("time", "channel", "source", "payload_words", "payload")))
    if all(s.value is not None for s in streams):
        whole.value = np.concatenate([s.value for s in streams])
    return whole.take(np.argsort(whole.time, kind="stable"))


def ticks(text, tick_ps=1000):
    """'25' or '25ns' in ticks."""
    value, unit = re.fullmatch(r"(\d+)([a-z]*)", text).groups()
    return int(value) if not unit else int(value) * PICOSECONDS[unit] // tick_ps


def gap_runs(time, gap):
    """First and one past the last index of each maximal run of hits at most `gap` apart."""
    breaks = np.flatnonzero(np.diff(time) > np.uint64(gap)) + 1
    edges = np.concatenate([[0], breaks, [len(time)]]).astype(np.int64)
    return (edges[:-1], edges[1:]) if len(time) else (edges[:0], edges[:0])


def multiplicity_runs(time, width, threshold, pre=0, post=0):
    """Likewise for runs of bins with at least `threshold` hits, widened and merged where they touch."""
    bins, counts = np.unique(time // np.uint64(width), return_counts=True)
    full = bins[counts >= threshold].astype(np.int64)
    if len(full) == 0:
        return full, full
    first, end = np.maximum(full - pre, 0), full + post + 1
    joined = np.flatnonzero(first[1:] > end[:-1])
    first = first[np.concatenate([[0], joined + 1])]
    end = end[np.concatenate([joined, [len(end) - 1]])]
    return (np.searchsorted(time, (first * width).astype(np.uint64)),
            np.searchsorted(time, (end * width).astype(np.uint64)))


def hits_in(time, intervals, pre, post):
    """Likewise for all hits in closed intervals of ticks, given in ascending order, widened, and joined where they
    share a tick."""
    joined = []
    for first, last in intervals:
        first, last = max(int(first) - pre, 0), int(last) + post
        if joined and first <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], last)
        else:
            joined.append([first, last])
    edges = np.array(joined, dtype=np.uint64).reshape(-1, 2)
    return np.searchsorted(time, edges[:, 0]), np.searchsorted(time, edges[:, 1], side="right")


def coincidence_windows(hits, width, condition):
    """[t, t + width] of each hit in whose window the condition holds, extended by the windows of its terms."""
    before, after = condition.extent(width)
    end = np.searchsorted(hits.time, hits.time + np.uint64(width), side="right")
    begin = np.searchsorted(hits.time, hits.time)
    return [(int(time) - before, int(time) + after) for time, b, e in zip(hits.time, begin, end)
            if condition.holds(hits.part(b, e), hits.around(int(time) - before, int(time) + after))]


def outside_brackets(text):
    """The parts between commas outside brackets of any kind."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def runs_of(hits, definition, tick_ps, detector):
    """(begin, end) of each run of hits for the text of `--define`."""
    name, _, rest = definition.partition(":")
    values = outside_brackets(rest) if rest else []
    if name == "gap" and len(values) == 2:
        begin, end = gap_runs(hits.time, ticks(values[0], tick_ps))
        kept = end - begin >= int(values[1])
        return begin[kept], end[kept]
    if name == "gap":
        runs = [(hits.time[b], hits.time[e - 1]) for b, e in zip(*gap_runs(hits.time, ticks(values[0], tick_ps)))
                if e - b >= int(values[1])]
        return hits_in(hits.time, runs, *(ticks(value, tick_ps) for value in values[2:]))
    if name == "multiplicity":
        return multiplicity_runs(hits.time, ticks(values[0], tick_ps), *map(int, values[1:]))
    if name == "coincidence":
        windows = coincidence_windows(hits, ticks(values[0], tick_ps), Expression(values[1], detector, tick_ps))
        return hits_in(hits.time, windows, *(ticks(value, tick_ps) for value in values[2:] or ["0", "0"]))
    if name == "tag":
        return gap_runs(hits.time, 0)
    raise ValueError(definition)


def passes(hits, begin, end, expression, tick_ps=1000, detector=None):
    """Whether the event hits[begin:end] passes one `--filter`; not for prescale, whose hash is not published."""
    return Expression(expression, detector, tick_ps).holds(hits.part(begin, end))


@dataclass
class Events:
    """Events as ranges [begin, end) of the ordered hits; `rejected` are those that a filter refused."""

    hits: Hits
    begin: np.ndarray
    end: np.ndarray
    truncated: np.ndarray
    rejected: np.ndarray


def find_events(hits, definition, overlap, filters=(), tick_ps=1000, detector=None):
    """Events of ordered hits, cut where they are longer than `overlap`, and judged by `filters`.

    Hits of a run later than its first hit + overlap belong to no event, nor do they start one.
    """
    begin, end = runs_of(hits, definition, tick_ps, detector)
    whole = begin < end
    begin, end = begin[whole], end[whole]
    limit = np.searchsorted(hits.time, hits.time[begin] + np.uint64(overlap), side="right")
    truncated = limit < end
    end = np.minimum(limit, end)
    conditions = [Expression(text, detector, tick_ps) for text in filters]
    rejected = np.array([not all(c.holds(hits.part(b, e)) for c in conditions) for b, e in zip(begin, end)], dtype=bool)
    return Events(hits, begin, end, truncated, rejected)


def indices(begin, end):
    """begin[0]..end[0]-1, begin[1]..end[1]-1, ..."""
    n = end - begin
    return np.repeat(begin - (np.cumsum(n) - n), n) + np.arange(n.sum())


def merged_file(events, with_payload=None):
    """The datasets of the merged file, less /events/slice, by name."""
    begin, end = events.begin[~events.rejected], events.end[~events.rejected]
    hits = events.hits.take(indices(begin, end))
    n_hits = (end - begin).astype(np.uint32)
    time = events.hits.time[begin]
    found = {
        "events/time": time,
        "events/duration": events.hits.time[end - 1] - time,
        "events/n_hits": n_hits,
        "events/flags": np.where(events.truncated[~events.rejected], TRUNCATED, 0).astype(np.uint32),
        "events/sources_missing": np.zeros(len(time), dtype=np.uint64),
        "events/first_hit": offsets(n_hits),
        "hits/time": hits.time,
        "hits/channel": hits.channel,
        "hits/source": hits.source,
    }
    if with_payload is None:
        with_payload = len(events.hits.payload) > 0
    if with_payload:
        found["hits/first_payload"] = offsets(hits.payload_words)
        found["payload"] = hits.payload
    return found


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.uint64)]).astype(np.uint64)


def ledger(events, slice_ticks):
    """{slice: (hits_in, in events, outside, rejected)} of the slices that have hits."""
    hits = events.hits
    fate = np.full(len(hits), 2)
    fate[indices(events.begin, events.end)] = np.where(np.repeat(events.rejected, events.end - events.begin), 3, 1)
    slices = hits.time // np.uint64(slice_ticks)
    account = {}
    for number, rows in zip(*np.unique(slices, return_counts=True)):
        account[int(number)] = [int(rows), 0, 0, 0]
    pairs, counts = np.unique(np.stack([slices.astype(np.int64), fate]), axis=1, return_counts=True)
    for (number, kind), count in zip(pairs.T, counts):
        account[int(number)][kind] = int(count)
    return {number: tuple(row) for number, row in account.items()}
