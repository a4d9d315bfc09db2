"""Judges events for `eventloom run --filter-command`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Iterator, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import EventloomError

_MAGIC = b"ELFILT01"
_HAS_PAYLOAD, _HAS_VALUES = 1, 2
_ASKED_ELSEWHERE = 1 << 31


@dataclass(frozen=True)
class EventBatch:
    """Some events of one slice, in columns. The hits of event i are those from `first_hit[i]` up to `first_hit[i + 1]`.

    Times are in ticks of `tick_ps` picoseconds, or event numbers if that is 0. `payload` holds the words of hit h from
    `first_payload[h]` up to `first_payload[h + 1]`. `value` has the calibrated values if the detector map has gains, NaN
    for hits without payload. The arrays are read-only, and valid only during the call that receives them.
    """

    tick_ps: int
    n_sources: int
    definition: int  #: index of the `--define` whose events these are
    slice: int
    time: NDArray[np.uint64]
    duration: NDArray[np.uint64]
    n_hits: NDArray[np.uint32]
    flags: NDArray[np.uint32]  #: as `/events/flags`
    asked_elsewhere: NDArray[np.bool_]  #: another slice owns the event, and its writer asks about it, too
    first_hit: NDArray[np.int64]
    hit_time: NDArray[np.uint64]
    hit_channel: NDArray[np.uint32]
    hit_source: NDArray[np.uint16]
    value: Optional[NDArray[np.float64]] = None
    first_payload: Optional[NDArray[np.int64]] = None
    payload: Optional[NDArray[np.uint32]] = None

    def __len__(self) -> int:
        return len(self.time)

    @property
    def event_of_hit(self) -> NDArray[np.int64]:
        """The index of the event of each hit, to sum over the hits of events: np.bincount(batch.event_of_hit, ...)."""
        return np.repeat(np.arange(len(self)), self.n_hits)

    def part(self, begin: int, end: int) -> "EventBatch":
        """Events `begin` up to `end`."""
        first, last = int(self.first_hit[begin]), int(self.first_hit[end])
        events, hits = slice(begin, end), slice(first, last)
        words = first_payload = None
        if self.payload is not None and self.first_payload is not None:
            offsets = self.first_payload[first:last + 1]
            words, first_payload = self.payload[int(offsets[0]):int(offsets[-1])], offsets - offsets[0]
        return EventBatch(
            self.tick_ps, self.n_sources, self.definition, self.slice, self.time[events], self.duration[events],
            self.n_hits[events], self.flags[events], self.asked_elsewhere[events], self.first_hit[begin:end + 1] - first,
            self.hit_time[hits], self.hit_channel[hits], self.hit_source[hits],
            None if self.value is None else self.value[hits], first_payload, words)


def filter(function: Callable[[EventBatch], ArrayLike], *, at_a_time: int = 256) -> None:
    """Judges the events of a run, as the program of `eventloom run --filter-command 'python3 my_filter.py'`.

    `function` gets batches of at most `at_a_time` events and returns a truth value for each: whether to keep it. It must
    depend on the event alone, since several ranks ask, each a process of its own, and an event that reaches into another
    slice is asked about twice. What `function` prints goes to standard error. Returns when the run has no more events;
    an exception ends the program, and with it the run, which can be resumed.

    A program that keeps events with at least three hits of different channels:

        import eventloom, numpy

        def several_channels(batch):
            seen = numpy.unique(numpy.stack([batch.event_of_hit, batch.hit_channel]), axis=1)
            return numpy.bincount(seen[0], minlength=len(batch)) >= 3

        eventloom.filter(several_channels)
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with answers:
        for batch in _batches(sys.stdin.buffer):
            for begin in range(0, len(batch), at_a_time):
                part = batch.part(begin, min(begin + at_a_time, len(batch)))
                answers.write(_verdicts(function(part), len(part)))
                answers.flush()


def _verdicts(kept: ArrayLike, n_events: int) -> bytes:
    verdicts = np.asarray(kept)
    if verdicts.shape != (n_events,):
        raise ValueError(f"the filter returned an array of shape {verdicts.shape} for {n_events} events: one truth value each")
    return verdicts.astype(bool).astype(np.uint8).tobytes()


def _batches(stream: BinaryIO) -> Iterator[EventBatch]:
    header = stream.read(32)
    if not header:
        return
    if len(header) != 32 or header[:8] != _MAGIC:
        raise EventloomError("standard input is not the stream of events of `eventloom run --filter-command`")
    tick_ps = int(np.frombuffer(header, "<u8", 1, 8)[0])
    flags, n_sources = (int(word) for word in np.frombuffer(header, "<u4", 2, 16))
    while beginning := stream.read(32):
        size = int(np.frombuffer(beginning, "<u8", 1)[0])
        rest = stream.read(size - 32) if len(beginning) == 32 else b""
        if len(rest) != size - 32:
            raise EventloomError("the stream of events ends within a batch: the run has been killed")
        yield _batch(beginning, rest, tick_ps, n_sources, flags)


def _batch(beginning: bytes, data: bytes, tick_ps: int, n_sources: int, flags: int) -> EventBatch:
    n_events, n_hits, n_words, definition = (int(word) for word in np.frombuffer(beginning, "<u4", 4, 8))
    number = int(np.frombuffer(beginning, "<u8", 1, 24)[0])
    at = 0

    def column(kind: str, n: int) -> NDArray[Any]:
        nonlocal at
        array: NDArray[Any] = np.frombuffer(data, kind, n, at)
        at += array.nbytes
        return array

    time, duration, hit_time = column("<u8", n_events), column("<u8", n_events), column("<u8", n_hits)
    value = column("<f8", n_hits) if flags & _HAS_VALUES else None
    n_of_event, marks, channel = column("<u4", n_events), column("<u4", n_events), column("<u4", n_hits)
    first_payload = payload = None
    if flags & _HAS_PAYLOAD:
        first_payload, payload = _offsets(column("<u4", n_hits)), column("<u4", n_words)
    return EventBatch(tick_ps, n_sources, definition, number, time, duration, n_of_event,
                      marks & np.uint32(_ASKED_ELSEWHERE - 1), (marks & np.uint32(_ASKED_ELSEWHERE)) != 0,
                      _offsets(n_of_event), hit_time, channel, column("<u2", n_hits), value, first_payload, payload)


def _offsets(lengths: NDArray[np.uint32]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
