"""Encodes columns of hits into epoch buffers: see formats/markers.hpp and formats/epoch_buffer.hpp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .crc32c import crc32c_of_rows

EPOCHS_PER_BUFFER = 16
_WORDS_PER_BUFFER = 512  # a buffer ends with the epoch in which it reaches this size
_LONG_GROUP = 511  # from this many words on, their number is in a separate word
_MAGIC = 0x46425045
_EPOCH, _TIME, _CHANNEL = 0 << 28, 1 << 28, 2 << 28
_LOW_28 = 0x0FFFFFFF
_HEADER_WORDS = 16

_HEADER = np.dtype([
    ("magic", "<u4"), ("header_crc", "<u4"), ("words_crc", "<u4"), ("source", "<u4"), ("first_epoch", "<u8"),
    ("n_epochs", "<u4"), ("n_words", "<u4"), ("n_hits", "<u4"), ("n_payload_words", "<u4"), ("hits_before", "<u8"),
    ("stream_offset", "<u8"), ("sequence", "<u8")])
_INDEX_ENTRY = np.dtype([
    ("offset", "<u8"), ("first_epoch", "<u8"), ("n_epochs", "<u4"), ("n_hits", "<u4"), ("n_words", "<u4"),
    ("words_crc", "<u4")])

Integers = NDArray[np.int64]


@dataclass
class Hits:
    """Hits in rising time; `payload` has a row of words per hit."""

    time: NDArray[np.uint64]
    channel: NDArray[np.uint32]
    payload: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.time)

    def part(self, begin: int, end: int) -> Hits:
        return Hits(self.time[begin:end], self.channel[begin:end], self.payload[begin:end])

    def followed_by(self, other: Hits) -> Hits:
        return Hits(np.concatenate([self.time, other.time]), np.concatenate([self.channel, other.channel]),
                    np.concatenate([self.payload, other.payload]))


@dataclass
class StreamPlace:
    """The position of the next epoch buffer in a stream."""

    offset: int
    hits: int = 0
    buffers: int = 0


@dataclass
class _Words:
    """The words of some hits, and the number of words of each hit with the markers before it."""

    words: NDArray[np.uint32]
    size: Integers


def encode(hits: Hits, epoch_ticks: int, source: int, place: StreamPlace) -> tuple[bytes, bytes]:
    """Returns epoch buffers with these hits, of which there must be at least one, and their index entries.

    Advances `place`.
    """
    epoch = hits.time // np.uint64(epoch_ticks)
    encoded = _encode_words(hits, epoch, epoch_ticks)
    first_hit = _first_hits(epoch, encoded.size)
    headers = _headers(hits, epoch, encoded, first_hit)
    headers["source"] = source
    stored = _HEADER_WORDS + headers["n_words"].astype(np.int64) + headers["n_words"] % 2
    at = np.cumsum(stored) - stored
    headers["stream_offset"] = place.offset + 4 * at
    headers["hits_before"] = place.hits + first_hit
    headers["sequence"] = place.buffers + np.arange(len(headers))
    _seal(headers, encoded.words)
    buffers = _stored(headers, encoded.words, at, int(stored.sum()))
    place.offset += buffers.nbytes
    place.hits += len(hits)
    place.buffers += len(headers)
    return buffers.tobytes(), _index_entries(headers)


def _changes(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each value differs from its predecessor; true for the first value."""
    changes = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _encode_words(hits: Hits, epoch: NDArray[np.uint64], epoch_ticks: int) -> _Words:
    per_hit = 1 + hits.payload.shape[1]
    opens_epoch, opens_group = _changes(epoch), _changes(hits.time)
    first = np.flatnonzero(opens_group)
    group_words = np.diff(first, append=len(hits)) * per_hit
    is_long = group_words >= _LONG_GROUP
    size = np.full(len(hits), per_hit, dtype=np.int64) + opens_epoch
    size[first] += 1 + is_long
    channel_at = np.cumsum(size) - per_hit

    words = np.empty(int(size.sum()), dtype="<u4")
    words[channel_at] = hits.channel | np.uint32(_CHANNEL)
    for i in range(hits.payload.shape[1]):
        words[channel_at + 1 + i] = hits.payload[:, i]
    words[channel_at[first[is_long]] - 1] = group_words[is_long]
    time_at = channel_at[first] - 1 - is_long
    tick = (hits.time[first] - epoch[first] * np.uint64(epoch_ticks)).astype(np.uint32)
    words[time_at] = _TIME | np.minimum(group_words, _LONG_GROUP).astype(np.uint32) << np.uint32(19) | tick
    words[time_at[opens_epoch[first]] - 1] = _EPOCH | (epoch[opens_epoch] & np.uint64(_LOW_28)).astype(np.uint32)
    return _Words(words, size)


def _first_hits(epoch: NDArray[np.uint64], size: Integers) -> Integers:
    """Number of the first hit of each epoch buffer."""
    first = np.flatnonzero(_changes(epoch))
    words = np.add.reduceat(size, first)
    opens_block = _changes(epoch[first] // np.uint64(EPOCHS_PER_BUFFER))
    block = np.cumsum(opens_block) - 1
    rank = np.arange(len(first)) - np.flatnonzero(opens_block)[block]
    opens = opens_block.copy()
    in_buffer = np.zeros(int(block[-1]) + 1, dtype=np.int64)  # words in the last buffer of each block so far
    for step in range(int(rank.max()) + 1):
        now = np.flatnonzero(rank == step)
        full = in_buffer[block[now]] >= _WORDS_PER_BUFFER
        opens[now] |= full
        in_buffer[block[now]] = np.where(full, 0, in_buffer[block[now]]) + words[now]
    return first[opens]


def _headers(hits: Hits, epoch: NDArray[np.uint64], encoded: _Words, first_hit: Integers) -> NDArray[np.void]:
    headers = np.zeros(len(first_hit), dtype=_HEADER)
    last_hit = np.append(first_hit[1:], len(hits)) - 1
    headers["magic"] = _MAGIC
    headers["first_epoch"] = epoch[first_hit]
    headers["n_epochs"] = epoch[last_hit] - epoch[first_hit] + np.uint64(1)
    headers["n_words"] = np.add.reduceat(encoded.size, first_hit)
    headers["n_hits"] = last_hit - first_hit + 1
    headers["n_payload_words"] = headers["n_hits"] * np.uint32(hits.payload.shape[1])
    return headers


def _seal(headers: NDArray[np.void], words: NDArray[np.uint32]) -> None:
    count = headers["n_words"].astype(np.int64)
    headers["words_crc"] = crc32c_of_rows(words, np.cumsum(count) - count, count)
    sealed = np.arange(len(headers)) * _HEADER_WORDS + 2
    headers["header_crc"] = crc32c_of_rows(headers.view("<u4"), sealed, np.full(len(headers), _HEADER_WORDS - 2))


def _stored(headers: NDArray[np.void], words: NDArray[np.uint32], at: Integers, total: int) -> NDArray[np.uint32]:
    """Headers and words in file order; `at`: positions of the headers, in words."""
    out = np.zeros(total, dtype="<u4")
    out[at[:, np.newaxis] + np.arange(_HEADER_WORDS)] = headers.view("<u4").reshape(-1, _HEADER_WORDS)
    count = headers["n_words"].astype(np.int64)
    before = np.cumsum(count) - count
    out[np.repeat(at + _HEADER_WORDS - before, count) + np.arange(len(words))] = words
    return out


def _index_entries(headers: NDArray[np.void]) -> bytes:
    entries = np.zeros(len(headers), dtype=_INDEX_ENTRY)
    entries["offset"] = headers["stream_offset"]
    for name in ("first_epoch", "n_epochs", "n_hits", "n_words", "words_crc"):
        entries[name] = headers[name]
    return entries.tobytes()
