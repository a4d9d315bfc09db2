"""Decoder of .epochs files in pure Python, by the layout drawn in formats/stream_file.hpp, epoch_buffer.hpp and markers.hpp.

Slow and strict: for small files in tests. Raises ValueError at the first thing that is not as drawn.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reference import Hits

STREAM_MAGIC, TRAILER_MAGIC, BUFFER_MAGIC = 0x0A53484350453189, 0x0A58444E49504589, 0x46425045
STREAM_HEADER = struct.Struct("<QIIIIQII64s")
TRAILER = struct.Struct("<QQQQQQIIQ")
BUFFER_HEADER = struct.Struct("<IIIIQIIIIQQQ")
INDEX_ENTRY = struct.Struct("<QQIIII")
LENGTH_IN_FIRST_WORD = 255


def _table():
    rows = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        rows.append(value)
    return rows


_TABLE = _table()


def crc32c(data):
    """CRC-32C of RFC 3720; of b"123456789" it is 0xe3069283."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def demand(condition, what):
    if not condition:
        raise ValueError(what)


@dataclass
class Buffer:
    """One epoch buffer of the file: `offset` of its header, its `size` with padding."""

    offset: int
    size: int
    source: int
    first_epoch: int
    n_epochs: int
    n_words: int
    n_hits: int
    hits_before: int
    sequence: int

    @property
    def end_epoch(self):
        return self.first_epoch + self.n_epochs


@dataclass
class EpochsFile:
    data: bytes
    source: int
    tick_ps: int
    epoch_ticks: int
    payload_table: bytes
    text: str
    buffers: list
    index_offset: int
    payload_names: tuple = ()
    payload_kinds: tuple = ()

    def words(self, buffer):
        start = buffer.offset + BUFFER_HEADER.size
        return struct.unpack(f"<{buffer.n_words}I", self.data[start:start + 4 * buffer.n_words])


def read_epochs_file(path):
    data = Path(path).read_bytes()
    (magic, version, header_crc, source, epoch_ticks, tick_ps, text_bytes, flags, payload) = STREAM_HEADER.unpack_from(data)
    demand(magic == STREAM_MAGIC and version == 1, "magic or version of the stream header")
    text_end = STREAM_HEADER.size + text_bytes
    demand(crc32c(data[16:text_end]) == header_crc, "checksum of the stream header")
    index_offset, entries = _read_index(data)
    buffers, at = [], (text_end + 63) // 64 * 64
    while at < index_offset:
        buffers.append(_read_buffer(data, at))
        at += buffers[-1].size
    demand(at == index_offset, "the last epoch buffer does not end at the index")
    found = [(b.offset, b.first_epoch, b.n_epochs, b.n_hits, b.n_words) for b in buffers]
    demand(found == [e[:5] for e in entries], "the index does not describe the epoch buffers")
    text = data[STREAM_HEADER.size:text_end].decode()
    names = []
    if flags & 0x10:
        line, _, text = text.partition("\n")
        names = line.split(",")
    kinds = [("u32", "i32", "f32", "f64")[flags >> 12 + 2 * column & 3] for column in range(8)]
    return EpochsFile(data, source, tick_ps, epoch_ticks, payload, text, buffers, index_offset, names, kinds)


def _read_index(data):
    trailer = data[-TRAILER.size:]
    magic, offset, n_buffers, n_hits, _, _, index_crc, trailer_crc, _ = TRAILER.unpack(trailer)
    demand(magic == TRAILER_MAGIC, "magic of the trailer")
    demand(crc32c(trailer[:52]) == trailer_crc, "checksum of the trailer")
    index = data[offset:-TRAILER.size]
    demand(len(index) == n_buffers * INDEX_ENTRY.size and crc32c(index) == index_crc, "index")
    entries = list(INDEX_ENTRY.iter_unpack(index))
    demand(sum(e[3] for e in entries) == n_hits, "number of hits in the trailer")
    return offset, entries


def _read_buffer(data, at):
    header = data[at:at + BUFFER_HEADER.size]
    (magic, header_crc, words_crc, source, first_epoch, n_epochs, n_words, n_hits, _, hits_before, offset,
     sequence) = BUFFER_HEADER.unpack(header)
    demand(magic == BUFFER_MAGIC and crc32c(header[8:]) == header_crc, f"header of the epoch buffer at {at}")
    demand(offset == at, f"the epoch buffer at {at} states offset {offset}")
    words = data[at + BUFFER_HEADER.size:at + BUFFER_HEADER.size + 4 * n_words]
    demand(crc32c(words) == words_crc, f"words of the epoch buffer at {at}")
    size = BUFFER_HEADER.size + (4 * n_words + 7) // 8 * 8
    return Buffer(at, size, source, first_epoch, n_epochs, n_words, n_hits, hits_before, sequence)


def hits_of_file(file, skip=()):
    """All hits of a file as reference.Hits, without those of the buffers whose numbers are in `skip`."""
    items = [hit for number, buffer in enumerate(file.buffers) if number not in skip
             for hit in _hits_of_buffer(file, buffer)]
    lengths = [len(payload) for _, _, payload in items]
    return Hits(np.array([t for t, _, _ in items], dtype=np.uint64), np.array([c for _, c, _ in items], dtype=np.uint32),
                np.zeros(len(items), dtype=np.uint16), np.array(lengths, dtype=np.uint32),
                np.array([w for _, _, payload in items for w in payload], dtype=np.uint32))


def _hits_of_buffer(file, buffer):
    words, at, epoch, hits = file.words(buffer), 0, None, []
    while at < len(words):
        kind, value = words[at] >> 28, words[at] & 0x0FFFFFFF
        at += 1
        if kind == 0:
            start = buffer.first_epoch if epoch is None else epoch + 1
            epoch = start + (value - start & 0x0FFFFFFF)
            demand(epoch < buffer.end_epoch, "an epoch outside its buffer")
        elif kind == 1 and epoch is not None:
            count, tick = value >> 19, value & 0x7FFFF
            if count == 511:
                count, at = words[at], at + 1
            demand(tick < file.epoch_ticks and at + count <= len(words), "a time marker")
            hits += _hits_of_group(file, words[at:at + count], epoch * file.epoch_ticks + tick)
            at += count
        else:
            at += {3: 0, 4: value & 0x1FFF, 6: 3 * value}[kind]
    demand(len(hits) == buffer.n_hits, "number of hits in a buffer")
    return hits


def _hits_of_group(file, words, time):
    at, hits = 0, []
    while at < len(words):
        kind, value = words[at] >> 28, words[at] & 0x0FFFFFFF
        at += 1
        if kind == 2:
            n = file.payload_table[value >> 22 & 0x3F]
            n = words[at] + 1 if n == LENGTH_IN_FIRST_WORD else n
            hits.append((time, value, words[at:at + n]))
            demand(len(hits[-1][2]) == n, "payload of an ID")
            at += n
        else:
            demand(kind in (3, 5), "an item of a time marker")
    return hits


def epochs_file(buffers, source=0, tick_ps=1000, epoch_ticks=10_000, payload_table=bytes(64), text="", index=True):
    """The bytes of a file with these epoch buffers, each (first epoch, number of epochs, words, hits, payload words)."""
    rest = struct.pack("<IIQII64s", source, epoch_ticks, tick_ps, len(text), 0, payload_table) + text.encode()
    data = struct.pack("<QII", STREAM_MAGIC, 1, crc32c(rest)) + rest
    data += bytes(-len(data) % 64)
    entries, before = b"", 0
    for number, (first_epoch, n_epochs, words, n_hits, n_payload) in enumerate(buffers):
        body = struct.pack(f"<{len(words)}I", *words)
        fields = struct.pack("<IIQIIIIQQQ", crc32c(body), source, first_epoch, n_epochs, len(words), n_hits, n_payload,
                             before, len(data), number)
        entries += INDEX_ENTRY.pack(len(data), first_epoch, n_epochs, n_hits, len(words), crc32c(body))
        data += struct.pack("<II", BUFFER_MAGIC, crc32c(fields)) + fields + body + bytes(-len(body) % 8)
        before += n_hits
    return data + (entries + _trailer(data, entries, before) if index else b"")


def _trailer(data, entries, n_hits):
    """`first_tick` and `last_tick` stay 0: they are informational."""
    trailer = struct.pack("<QQQQQQI", TRAILER_MAGIC, len(data), len(entries) // INDEX_ENTRY.size, n_hits, 0, 0, crc32c(entries))
    return trailer + struct.pack("<IQ", crc32c(trailer), 0)
