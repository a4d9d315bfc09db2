"""Epoch buffers in datagrams, by the layout drawn in formats/datagram.hpp, and a receiver that keeps all it receives.

Strict: raises ValueError at the first thing that is not as drawn. Shares nothing with the C++ code.
"""

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass

from epochs_file import (BUFFER_HEADER, BUFFER_MAGIC, STREAM_HEADER, STREAM_MAGIC, Buffer, EpochsFile, crc32c, demand,
                         hits_of_file)

MAGIC = b"ELVD"
HEADER, DATA, MARK, END = 1, 2, 3, 4
FIELDS = struct.Struct("<BBHIIIQII")  # after magic and checksum
FRAME_BYTES = 8 + FIELDS.size
HOST = "127.0.0.1"
SO_RCVBUFFORCE = 33


@dataclass
class Datagram:
    kind: int
    source: int
    session: int
    offset: int
    sequence: int
    buffer_bytes: int
    contents: bytes

    @property
    def mark(self):
        """(epoch, hits) of a mark or an end."""
        return struct.unpack("<QQ", self.contents)


def sealed(rest):
    """A datagram, given what follows its magic and checksum."""
    return MAGIC + struct.pack("<I", crc32c(rest)) + rest


def encode(datagram):
    d = datagram
    return sealed(FIELDS.pack(1, d.kind, 0, d.source, d.session, d.offset, d.sequence, d.buffer_bytes, 0) + d.contents)


def decode(data):
    demand(len(data) >= FRAME_BYTES and data[:4] == MAGIC, "magic of a datagram")
    demand(struct.unpack_from("<I", data, 4)[0] == crc32c(data[8:]), "checksum of a datagram")
    version, kind, zero, source, session, offset, sequence, whole, zero_too = FIELDS.unpack_from(data, 8)
    demand((version, zero, zero_too) == (1, 0, 0), "version or reserved fields of a datagram")
    contents = data[FRAME_BYTES:]
    if kind == DATA:
        demand(len(contents) > 0 and offset + len(contents) <= whole, "a fragment outside its epoch buffer")
    else:
        demand((offset, whole) == (0, 0), "offset or size of a datagram that has no fragment")
    demand(kind in (HEADER, DATA, MARK, END) and (kind not in (MARK, END) or len(contents) == 16), "kind of a datagram")
    return Datagram(kind, source, session, offset, sequence, whole, contents)


@dataclass
class StreamHeader:
    started_ns: int
    source: int
    tick_ps: int
    epoch_ticks: int
    flags: int
    payload_table: bytes
    text: str


def stream_header(datagram):
    """The stream header in a header datagram."""
    started, = struct.unpack_from("<q", datagram.contents)
    data = datagram.contents[8:]
    magic, version, crc, source, epoch_ticks, tick_ps, n_text, flags, payload = STREAM_HEADER.unpack_from(data)
    demand(magic == STREAM_MAGIC and version == 1, "magic or version of the stream header")
    end = STREAM_HEADER.size + n_text
    demand(end <= len(data) and crc32c(data[16:end]) == crc, "checksum of the stream header")
    return StreamHeader(started, source, tick_ps, epoch_ticks, flags, payload, data[STREAM_HEADER.size:end].decode())


def stored_buffer(data, at=0):
    """The stored epoch buffer at `at` as a Buffer, and whether its words are intact."""
    (magic, header_crc, words_crc, source, first_epoch, n_epochs, n_words, n_hits, _, hits_before, _,
     sequence) = BUFFER_HEADER.unpack_from(data)
    demand(magic == BUFFER_MAGIC and crc32c(data[8:BUFFER_HEADER.size]) == header_crc, "header of an epoch buffer")
    demand(len(data) == BUFFER_HEADER.size + (4 * n_words + 7) // 8 * 8, "size of an epoch buffer")
    words = data[BUFFER_HEADER.size:BUFFER_HEADER.size + 4 * n_words]
    buffer = Buffer(at, len(data), source, first_epoch, n_epochs, n_words, n_hits, hits_before, sequence)
    return buffer, crc32c(words) == words_crc


class Received:
    """The datagrams of one source, in order of arrival, none lost: its headers, epoch buffers, marks, ends."""

    def __init__(self, datagrams):
        self.datagrams = datagrams
        self.headers = [stream_header(d) for d in datagrams if d.kind == HEADER]
        self.marks, self.ends = ([d for d in datagrams if d.kind == kind] for kind in (MARK, END))
        self.buffers, self.intact, self.data = [], [], b""
        self._assemble([d for d in datagrams if d.kind == DATA])

    def _assemble(self, fragments):
        stored = b""
        for d in fragments:
            demand((d.sequence, d.offset) == (len(self.buffers), len(stored)), f"number {d.sequence} or offset {d.offset}")
            stored += d.contents
            if len(stored) == d.buffer_bytes:
                buffer, intact = stored_buffer(stored, len(self.data))
                self.buffers.append(buffer)
                self.intact.append(intact)
                self.data, stored = self.data + stored, b""
        demand(stored == b"", "an epoch buffer that is not whole")

    def hits(self):
        """The hits of the buffers with intact words, as reference.Hits."""
        h = self.headers[0]
        file = EpochsFile(self.data, h.source, h.tick_ps, h.epoch_ticks, h.payload_table, h.text, self.buffers,
                          len(self.data))
        return hits_of_file(file, skip=[number for number, intact in enumerate(self.intact) if not intact])


class Receiver:
    """Keeps the datagrams received on a port chosen by the system, during the `with`."""

    def __init__(self, bytes_kept=64 << 20):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, bytes_kept)
        with contextlib.suppress(OSError):  # root may exceed the limit of the system
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, bytes_kept)
        self._socket.bind((HOST, 0))
        self._socket.settimeout(0.05)
        self._raw, self.peer, self._over = [], None, threading.Event()
        self._thread = threading.Thread(target=self._receive, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join(10)
        self._socket.close()

    @property
    def uri(self):
        return f"udp://{HOST}:{self._socket.getsockname()[1]}"

    def count(self, kind, source=None):
        """Number of datagrams of a kind received so far."""
        return sum(1 for raw in list(self._raw)
                   if raw[9] == kind and source in (None, struct.unpack_from("<I", raw, 12)[0]))

    def streams(self):
        """{source id: Received}"""
        datagrams = [decode(raw) for raw in list(self._raw)]
        return {source: Received([d for d in datagrams if d.source == source])
                for source in sorted({d.source for d in datagrams})}

    def sizes(self):
        return [len(raw) for raw in self.raw()]

    def raw(self):
        return list(self._raw)

    def answer(self, datagram):
        """Sends a datagram back to the sender of the last one received."""
        self._socket.sendto(datagram, self.peer)

    def _receive(self):
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                datagram, self.peer = self._socket.recvfrom(65536)
                self._raw.append(datagram)
