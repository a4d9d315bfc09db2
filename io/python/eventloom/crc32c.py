"""CRC-32C (Castagnoli, RFC 3720) of many rows of words at once, using only numpy.

As the checksum is a linear map, all rows advance in parallel, one word at a time. Long rows are cut into pieces whose
checksums are joined afterwards.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
Places = NDArray[np.int64]

_POLYNOMIAL = 0x82F63B78
_ALL_ONES = 0xFFFFFFFF
_PIECE = 256  # words
_SQUARINGS = 8  # 2^8 words


def crc32c(data: bytes) -> int:
    """The checksum of `data`.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    whole = len(data) // 4
    words = np.frombuffer(data, dtype="<u4", count=whole)
    register = int(crc32c_of_rows(words, np.zeros(1, np.int64), np.array([whole]))[0]) ^ _ALL_ONES
    for byte in data[4 * whole:]:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (_POLYNOMIAL if register & 1 else 0)
    return register ^ _ALL_ONES


def crc32c_of_rows(words: Words, first: Places, count: Places) -> Words:
    """The checksum of each row: row i consists of the `count[i]` words from `words[first[i]]` on."""
    pieces = np.maximum(-(-count // _PIECE), 1)
    begin = np.cumsum(pieces) - pieces  # number of each row's first piece, which is the short one
    number = np.arange(pieces.sum()) - np.repeat(begin, pieces)
    short = np.repeat(count - (pieces - 1) * _PIECE, pieces)
    is_first = number == 0
    place = np.repeat(first, pieces) + np.where(is_first, 0, short + (number - 1) * _PIECE)
    registers = np.where(is_first, np.uint32(_ALL_ONES), np.uint32(0))
    _advance(registers, words, place, np.where(is_first, short, _PIECE))
    return ~_join(registers, begin, pieces)


def _advance(registers: Words, words: Words, first: Places, count: Places) -> None:
    """Feeds the words of each row into its register."""
    order = np.argsort(-count, kind="stable")
    left, place = registers[order], first[order]
    longest_first = -count[order]
    for step in range(int(count.max(initial=0))):
        active = int(np.searchsorted(longest_first, -step))  # rows with more than `step` words
        left[:active] = _mapped(_word_map(), left[:active] ^ words[place[:active] + step])
    registers[order] = left


def _join(registers: Words, begin: Places, pieces: Places) -> Words:
    """The registers of whole rows, joined from those of their pieces."""
    order = np.argsort(-pieces, kind="stable")
    place, longest_first = begin[order], -pieces[order]
    joined = registers[place]
    for step in range(1, int(pieces.max(initial=1))):
        active = int(np.searchsorted(longest_first, -step))
        joined[:active] = _mapped(_piece_map(), joined[:active]) ^ registers[place[:active] + step]
    rows: Words = np.empty_like(joined)
    rows[order] = joined
    return rows


def _mapped(table: tuple[Words, Words], values: Words) -> Words:
    """Applies a linear map, given by its values for the low and the high halves."""
    low, high = table
    result: Words = low[values & np.uint32(0xFFFF)] ^ high[values >> np.uint32(16)]
    return result


@functools.lru_cache(maxsize=None)
def _word_map() -> tuple[Words, Words]:
    """The map that a word of zeros applies to a register."""
    tables = []
    for shift in (0, 16):
        register = np.arange(1 << 16, dtype=np.uint32) << np.uint32(shift)
        for _ in range(32):
            register = register >> np.uint32(1) ^ (register & np.uint32(1)) * np.uint32(_POLYNOMIAL)
        tables.append(register)
    return tables[0], tables[1]


@functools.lru_cache(maxsize=None)
def _piece_map() -> tuple[Words, Words]:
    """The map that a whole piece of zeros applies to a register."""
    table = _word_map()
    for _ in range(_SQUARINGS):
        table = _mapped(table, table[0]), _mapped(table, table[1])
    return table
