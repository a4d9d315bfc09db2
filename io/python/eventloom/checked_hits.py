"""Checks the arrays that users pass, and converts them to columns of hits for the encoder."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .encoder import Hits

_MOST_PAYLOAD_WORDS = 254
_CHANNELS = 1 << 28
_WORDS = 1 << 32
_TICKS = 1 << 64
_BEYOND_THE_LAST_SLICE = 4 << 32  # ticks around the last epoch that must also fit 64 bits

_WHOLE_TICKS = "whole ticks: numpy.rint(seconds * 1e9).astype(numpy.uint64) gives ticks of 1 ns"
_WHOLE_CHANNELS = "whole numbers"
_WHOLE_WORDS = "32-bit words: values.astype(numpy.float32).view(numpy.uint32) keeps the bits of floats"

Array = NDArray[Any]


class GivenHits:
    """Arrays of whole numbers with equal length, whose range has not been checked. Does not copy them."""

    def __init__(self, time: ArrayLike, channel: ArrayLike, payload: Optional[ArrayLike]) -> None:
        self.time = _whole(time, "time", _WHOLE_TICKS)
        if self.time.ndim != 1:
            raise ValueError(f"time has {self.time.ndim} dimensions: give one time for each hit")
        self.channel = _whole(channel, "channel", _WHOLE_CHANNELS)
        if self.channel.ndim == 0:
            self.channel = np.broadcast_to(self.channel, self.time.shape)
        if self.channel.shape != self.time.shape:
            raise ValueError(f"{len(self.time)} times, but channel has the shape {self.channel.shape}")
        self.payload = self._rows(payload)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def payload_words(self) -> int:
        """Number of payload words per hit."""
        return int(self.payload.shape[1])

    def reordered(self, order: NDArray[np.int64]) -> GivenHits:
        return GivenHits(self.time[order], self.channel[order], self.payload[order] if self.payload_words else None)

    def expect_fits(self, epoch_ticks: int) -> None:
        """Raises ValueError for numbers that are negative or too large."""
        _expect_below(self.time, (_TICKS - 1 - _BEYOND_THE_LAST_SLICE) // epoch_ticks * epoch_ticks, "time")
        _expect_below(self.channel, _CHANNELS, "channel")
        _expect_below(self.payload, _WORDS, "payload")

    def part(self, begin: int, end: int) -> Hits:
        """Hits from `begin` up to, but excluding, `end`. They must have passed expect_fits()."""
        return Hits(self.time[begin:end].astype(np.uint64), self.channel[begin:end].astype(np.uint32),
                    self.payload[begin:end].astype(np.uint32))

    def _rows(self, payload: Optional[ArrayLike]) -> Array:
        if payload is None:
            return np.empty((len(self), 0), dtype=np.uint32)
        rows = _whole(payload, "payload", _WHOLE_WORDS)
        if rows.ndim == 1:
            rows = rows[:, np.newaxis]
        if rows.ndim != 2 or len(rows) != len(self) or not 1 <= rows.shape[1] <= _MOST_PAYLOAD_WORDS:
            raise ValueError(f"{len(self)} times, but payload has the shape {np.shape(payload)}: give one word a hit, "
                             f"or a row of at most {_MOST_PAYLOAD_WORDS}")
        return rows


def _whole(values: ArrayLike, name: str, advice: str) -> Array:
    array = _as_array(values, name)
    if array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(np.uint64)  # an empty list
    if array.dtype.kind not in "ui":
        raise ValueError(f"{name} must be {advice} (it is {array.dtype})")
    return array


def _as_array(values: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(values)
        # numpy turns lists with small and large numbers into floats, and even larger numbers into objects.
        if array.dtype.kind not in "fO" or isinstance(values, np.ndarray) and array.dtype.kind == "f":
            return array
        objects = np.asarray(values, dtype=object)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{name} is no array of numbers, or its rows differ in length") from None
    return _exact(objects, name, array)


def _exact(objects: Array, name: str, otherwise: Array) -> Array:
    """Converts whole numbers of any size to 64 bits; returns `otherwise` if there are other objects."""
    if not all(isinstance(value, (int, np.integer)) for value in objects.flat):
        return otherwise
    _expect_below(objects, _TICKS, name)
    return objects.astype(np.uint64)


def _expect_below(values: Array, limit: int, name: str) -> None:
    if values.size > 0 and (int(values.min()) < 0 or int(values.max()) >= limit):
        wrong = int(values.min()) if int(values.min()) < 0 else int(values.max())
        raise ValueError(f"{name} {wrong} does not fit: give numbers from 0 to {limit - 1}")
