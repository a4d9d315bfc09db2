"""Writes `.epochs` files: see formats/stream_file.hpp."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Iterator, Optional, Sequence, Type, Union

import numpy as np
from numpy.typing import ArrayLike

from .arguments import whole_number
from .checked_hits import GivenHits
from .crc32c import crc32c
from .encoder import EPOCHS_PER_BUFFER, Hits, StreamPlace, encode
from .partial_file import PartialFile

PathLike = Union[str, "os.PathLike[str]"]

_MAGIC, _TRAILER_MAGIC, _VERSION = 0x0A53484350453189, 0x0A58444E49504589, 1
_NUMBERED = 1  # flag of the stream: times are event numbers
_NAMED_PAYLOAD = 0x10  # flag of the stream: a line of names precedes the text
_SYSTEMS = 64
_ALIGNMENT = 64
_PIECE = 1 << 18  # hits that are encoded together
_MOST_EPOCH_TICKS = 1 << 19
_TEN_MICROSECONDS = 10_000_000  # ps


def write_epochs(path: PathLike, time: ArrayLike, channel: ArrayLike, payload: Optional[ArrayLike] = None, *,
                 tick_ps: int = 1000, epoch_ticks: Optional[int] = None, source: int = 0, numbered: bool = False,
                 sort: bool = False, text: str = "", payload_names: Sequence[str] = (), overwrite: bool = False) -> None:
    """Writes the hits of one source to an `.epochs` file, from which `eventloom run` builds events.

    >>> write_epochs("hits.epochs", time=[100, 105, 105, 9000], channel=[1, 2, 3, 1], payload=[17, 4, 0, 8])

    `time`: whole ticks, rising unless `sort` is given; equal times keep their order. `channel`: one per hit, or one for
    all; 28 bits (system 6, subsystem 6, channel 16). `payload`: one 32-bit word per hit, or a row of words.
    See EpochsWriter for the other options; it also writes data that do not fit into memory, in pieces.
    """
    hits = GivenHits(time, channel, payload)
    if sort:
        hits = hits.reordered(np.argsort(hits.time, kind="stable"))
    with EpochsWriter(path, tick_ps=tick_ps, epoch_ticks=epoch_ticks, source=source, numbered=numbered, text=text,
                      payload_names=payload_names, overwrite=overwrite) as file:
        file.write(hits.time, hits.channel, hits.payload if hits.payload_words else None)


class EpochsWriter:
    """Writes an `.epochs` file in pieces: the hits of one source in time order.

    >>> with EpochsWriter("pieces.epochs", text="from two arrays") as file:
    ...     file.write([100, 105, 105], [1, 2, 3])
    ...     file.write([260, 9000], [1, 2])
    >>> file.hits
    5

    `tick_ps`: unit of times in picoseconds. `epoch_ticks`: length of an epoch, by default 10 us, or, for fine ticks,
    the longest shorter one that an epoch can hold; it must be the same for all sources of a run. `source`: an id chosen
    by the user. `numbered`: times are event numbers. `text`: the origin of the data.
    `payload_names`: a name for each payload word of a hit, which later outputs keep.

    The file is `PATH.partial` until the end of the `with` block, or close(); after an exception, it is removed. If
    write() raises ValueError, it has written nothing, and further calls may follow. An existing file is replaced only
    with `overwrite`, and only if it is an `.epochs` file.
    """

    def __init__(self, path: PathLike, *, tick_ps: int = 1000, epoch_ticks: Optional[int] = None, source: int = 0,
                 numbered: bool = False, text: str = "", payload_names: Sequence[str] = (),
                 overwrite: bool = False) -> None:
        self._tick_ps = whole_number("tick_ps", tick_ps, 1, (1 << 64) - 1)
        self._epoch_ticks = whole_number(
            "epoch_ticks", _default_epoch_ticks(self._tick_ps) if epoch_ticks is None else epoch_ticks, 1, _MOST_EPOCH_TICKS)
        self._source = whole_number("source", source, 0, (1 << 32) - 1)
        if not isinstance(text, str):
            raise ValueError(f"text is {text!r}: give a str")
        self._payload_names = _checked_names(payload_names)
        names = [",".join(self._payload_names)] if self._payload_names else []
        self._text = "\n".join([*names, text]).encode()
        self._flags = (_NUMBERED if numbered else 0) | (_NAMED_PAYLOAD if names else 0)
        self._place: Optional[StreamPlace] = None
        self._payload_words = 0
        self._waiting: Optional[Hits] = None  # hits whose epoch buffer is not complete
        self._index: list[bytes] = []
        self._hits, self._first_tick, self._last_tick = 0, 0, 0
        self._file = PartialFile(Path(path), struct.pack("<Q", _MAGIC), overwrite)

    @property
    def hits(self) -> int:
        """Number of hits written so far."""
        return self._hits

    def write(self, time: ArrayLike, channel: ArrayLike, payload: Optional[ArrayLike] = None) -> None:
        """Appends hits, none earlier than the previous ones. The number of payload words per hit must not change."""
        self._file.expect_open()
        given = GivenHits(time, channel, payload)
        if len(given) == 0:
            return
        self._expect_to_follow(given)
        with self._given_up_after_errors():
            if self._place is None:
                self._begin(given.payload_words)
            for begin in range(0, len(given), _PIECE):
                self._append(given.part(begin, begin + _PIECE))

    def close(self) -> None:
        """Completes the file. Further calls have no effect."""
        if self._file.is_published:
            return
        self._file.expect_open()
        with self._given_up_after_errors():
            if self._place is None:
                self._begin(len(self._payload_names))
            if self._waiting is not None:
                self._put(self._waiting)
            self._end()
            self._file.publish()

    def __enter__(self) -> EpochsWriter:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self._file.discard()

    @contextlib.contextmanager
    def _given_up_after_errors(self) -> Iterator[None]:
        """Removes the file after any error, so that a file cut short by a full disk is never published."""
        try:
            yield
        except BaseException:
            self._file.discard()
            raise

    def _expect_to_follow(self, given: GivenHits) -> None:
        """Checks all hits of a call before the first one is written."""
        if self._place is not None and given.payload_words != self._payload_words:
            raise ValueError(f"{given.payload_words} words of payload a hit: the hits before had {self._payload_words}")
        if self._payload_names and given.payload_words != len(self._payload_names):
            raise ValueError(f"{given.payload_words} words of payload a hit, but {len(self._payload_names)} payload_names")
        given.expect_fits(self._epoch_ticks)
        before = self._last_tick
        for begin in range(0, len(given), _PIECE):
            time = given.time[begin:begin + _PIECE].astype(np.uint64)
            late = np.flatnonzero(time < np.concatenate([np.array([before], dtype=np.uint64), time[:-1]]))
            if len(late) > 0:
                at = int(late[0])
                raise ValueError(f"hit {self._hits + begin + at}, at {time[at]}, is earlier than the one before it, "
                                 f"at {time[at - 1] if at > 0 else before}: sort the hits by time first")
            before = int(time[-1])

    def _begin(self, payload_words: int) -> None:
        """Writes the header, which contains the length of payloads."""
        table = bytes([payload_words]) * _SYSTEMS
        fields = struct.pack("<IIQII", self._source, self._epoch_ticks, self._tick_ps, len(self._text), self._flags)
        checked = fields + table + self._text
        header = struct.pack("<QII", _MAGIC, _VERSION, crc32c(checked)) + checked
        header += bytes(-len(header) % _ALIGNMENT)
        self._file.write(header)
        self._payload_words, self._place = payload_words, StreamPlace(len(header))

    def _append(self, hits: Hits) -> None:
        if self._hits == 0:
            self._first_tick = int(hits.time[0])
        self._hits += len(hits)
        self._last_tick = int(hits.time[-1])
        if self._waiting is not None:
            hits = self._waiting.followed_by(hits)
        block = EPOCHS_PER_BUFFER * self._epoch_ticks
        complete = int(np.searchsorted(hits.time, np.uint64(self._last_tick // block * block)))
        self._waiting = hits.part(complete, len(hits))
        if complete > 0:
            self._put(hits.part(0, complete))

    def _put(self, hits: Hits) -> None:
        assert self._place is not None
        buffers, entries = encode(hits, self._epoch_ticks, self._source, self._place)
        self._file.write(buffers)
        self._index.append(entries)

    def _end(self) -> None:
        """Writes the index and the trailer."""
        assert self._place is not None
        index = b"".join(self._index)
        trailer = struct.pack("<QQQQQQI", _TRAILER_MAGIC, self._place.offset, self._place.buffers, self._hits,
                              self._first_tick, self._last_tick, crc32c(index))
        self._file.write(index + trailer + struct.pack("<IQ", crc32c(trailer), 0))


def _default_epoch_ticks(tick_ps: int) -> int:
    """The ticks in 10 us, or in the longest of 5 us, 2 us, 1 us, 500 ns, ... that fits an epoch; at least one."""
    shorter = [factor * _TEN_MICROSECONDS // 10**power for power in range(1, 8) for factor in (5, 2, 1)]
    lengths: list[int] = [_TEN_MICROSECONDS, *shorter]
    return max(next(ps // tick_ps for ps in lengths if ps // tick_ps <= _MOST_EPOCH_TICKS), 1)


def _checked_names(names: Sequence[str]) -> list[str]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"payload_names is {names!r}: give a list of str")
    for name in names:
        if name == "" or "," in name or "\n" in name:
            raise ValueError(f"payload_names has {name!r}: a name needs characters, none of them a comma or the end of a line")
    return list(names)
