"""A board that receives replies, written from formats/README.md alone."""

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass

import numpy as np

SO_RCVBUFFORCE = 33
PAYLOAD, VALUES, CUT = 1, 2, 4


@dataclass
class Reply:
    """One datagram."""

    tick_ps: int
    number: int
    writer: int
    session: int
    cut: bool
    n_hits: int  #: of the whole event
    definition: int
    slice: int
    time: int
    duration: int
    flags: int
    times: list
    channels: list
    sources: list
    words: list  #: a list for each hit
    values: list

    def key(self):
        return self.time, tuple(zip(self.times, self.channels, self.sources, map(tuple, self.words)))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, kind, n):
        found = np.frombuffer(self.data, kind, n, self.at)
        self.at += found.nbytes
        return found.tolist()


def decode(data):
    magic, tick_ps, number, flags, writer, session, n_hits = struct.unpack_from("<8sQQIIII", data)
    assert magic == b"ELREPLY1" and flags < 8
    size, n_events, hits, words, definition, of_slice = struct.unpack_from("<QIIIIQ", data, 40)
    assert size == len(data) - 40 and size % 8 == 0 and n_events == 1
    rest = Reader(data[72:])
    (time,), (duration,), times = rest.take("<u8", 1), rest.take("<u8", 1), rest.take("<u8", hits)
    values = rest.take("<f8", hits) if flags & VALUES else []
    (own_hits,), (event_flags,), channels = rest.take("<u4", 1), rest.take("<u4", 1), rest.take("<u4", hits)
    lengths = rest.take("<u4", hits) if flags & PAYLOAD else [0] * hits
    payload = [rest.take("<u4", n) for n in lengths]
    assert sum(lengths) == words and own_hits == hits and (flags & CUT != 0) == (hits < n_hits)
    sources = rest.take("<u2", hits)
    assert 0 <= len(rest.data) - rest.at < 8 and not any(rest.data[rest.at:])
    return Reply(tick_ps, number, writer, session, flags & CUT != 0, n_hits, definition, of_slice, time, duration, event_flags,
                 times, channels, sources, payload, values)


class Board:
    """Receives during the `with`; then `replies` has everything in the order of arrival."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for option in (socket.SO_RCVBUF, SO_RCVBUFFORCE):
            with contextlib.suppress(OSError):
                self.socket.setsockopt(socket.SOL_SOCKET, option, 64 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.uri = f"udp://127.0.0.1:{self.socket.getsockname()[1]}"
        self.datagrams = []
        self.thread = threading.Thread(target=self._receive)
        self.thread.start()
        return self

    def _receive(self):
        while data := self.socket.recv(65536):
            self.datagrams.append(data)

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"", self.socket.getsockname())  # arrives after everything that has been sent to this machine
        self.thread.join()
        self.socket.close()
        self.replies = list(map(decode, self.datagrams))


def assert_numbered(replies):
    """The replies of each writer count from 0, and all belong to one session."""
    assert len({reply.session for reply in replies}) == 1
    for writer in {reply.writer for reply in replies}:
        numbers = [reply.number for reply in replies if reply.writer == writer]
        assert numbers == list(range(len(numbers)))


def events_of(merged):
    """[(time, ((time, channel, source, payload words), ...))] of the events in a file as read_merged() returns it."""
    first_hit, words = merged["events/first_hit"], merged.get("hits/first_payload")
    columns = [merged[f"hits/{name}"].tolist() for name in ("time", "channel", "source")]
    payload = [()] * len(columns[0]) if words is None else [
        tuple(merged["payload"][b:e].tolist()) for b, e in zip(words[:-1], words[1:])]
    hits = list(zip(*columns, payload))
    return [(int(time), tuple(hits[b:e])) for time, b, e in zip(merged["events/time"], first_hit[:-1], first_hit[1:])]
