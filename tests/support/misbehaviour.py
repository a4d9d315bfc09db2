"""Boards and servers that misbehave at random: a seed determines what each does, the elapsed time when."""

import contextlib
import random
import select
import socket
import struct
import time
from dataclasses import dataclass, field

import numpy

from datagrams import DATA, HEADER, HOST, MARK, Datagram, encode
from epochs_file import BUFFER_HEADER, BUFFER_MAGIC, crc32c
from lmd_reference import Event, Subevent, white_rabbit
from mbs import Layout

FRAGMENT = 1400  # bytes of an epoch buffer in a datagram
WRAP = 2**28  # epochs, as the marker words count them
# In epochs of 10 us: more than a minute ahead, more than an hour, close to the largest number, and back.
JUMPS = (60_000_000, WRAP, 5 * WRAP + 3, 10**12, 1_800_000_000_000_000 - 10**6, -60_000_000, -10**12)
JUMPS_OF_STAMPS = tuple(jump for jump in JUMPS if abs(jump) > 500_000_000)
KINDS = ("jump", "stall", "silence", "loss", "flood", "restart", "garbage")


def rewritten(file, buffer, shift, sequence, hits_before):
    """A stored epoch buffer moved to another epoch; None if that epoch does not exist."""
    first = buffer.first_epoch + shift
    if first < 0:
        return None
    words = [(word + shift) % WRAP if word >> 28 == 0 else word for word in file.words(buffer)]
    data = struct.pack(f"<{len(words)}I", *words)
    rest = BUFFER_HEADER.pack(0, 0, crc32c(data), buffer.source, first, buffer.n_epochs, len(words), buffer.n_hits, 0,
                              hits_before, 0, sequence)[8:]
    return struct.pack("<II", BUFFER_MAGIC, crc32c(rest)) + rest + data + bytes(-len(data) % 8)


@dataclass
class Sent:
    """The record of what a peer has sent."""

    right: set = field(default_factory=set)  # numbers of the epoch buffers of the recording that were sent unchanged
    hits: int = 0  # that it claims to have sent, in all sessions
    done: list = field(default_factory=list)  # kinds of misbehaviour
    bad: list = field(default_factory=list)  # [first epoch, last epoch] of each misbehaviour, by the peer's own clock

    def calm(self, begin, end):
        """Whether it sent everything in order from epoch `begin` to `end`."""
        return not any(first < end and begin < last for first, last in self.bad)


class Peer:
    """Plays a recording by the clock. Call `tick` repeatedly with the current epoch."""

    jumps = JUMPS

    def __init__(self, file, seed, calm):
        self.file, self.random, self.sent = file, random.Random(seed), Sent()
        self.calm = calm  # s between two misbehaviours, on average
        self.next, self.shift = 0, 0
        self.kind, self.until = None, time.monotonic() + self.random.uniform(0.5, 1) * calm

    def tick(self, epoch):
        now = time.monotonic()
        if now >= self.until:
            self.end(epoch) if self.kind else self.begin(epoch)
            self.until = now + (self.random.uniform(0.2, 1.5) if self.kind else self.random.uniform(0.3, 1) * self.calm)
        if self.kind != "stall":
            self.proceed(epoch)

    def begin(self, epoch):
        self.kind = self.random.choice(KINDS)
        self.sent.done.append(self.kind)
        self.sent.bad.append([epoch, float("inf")])
        if self.kind == "jump":
            self.shift = self.random.choice(self.jumps)
        getattr(self, self.kind, lambda _: None)(epoch)

    def end(self, epoch):
        self.kind, self.shift = None, 0
        self.sent.bad[-1][1] = epoch

    def recover(self, epoch):
        """Behaves well from here on."""
        if self.kind:
            self.end(epoch)
        self.until = float("inf")
        self.proceed(epoch)

    def due(self, epoch):
        """The epoch buffers, by number, that are complete by now."""
        buffers = self.file.buffers
        while self.next < len(buffers) and buffers[self.next].end_epoch <= epoch:
            yield self.next
            self.next += 1


class BadBoard(Peer):
    """Sends to a port of this machine."""

    def __init__(self, file, port, seed, calm):
        super().__init__(file, seed, calm)
        self.session, self.sequence, self.hits = 0, 0, 0
        self.kept, self.said = [], 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((HOST, port))
        self.restart(0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def framed(self, kind, contents, sequence=0, offset=0, size=0):
        return encode(Datagram(kind, self.file.source, self.session, offset, sequence, size, contents))

    def put(self, *datagrams):
        for datagram in datagrams:
            with contextlib.suppress(ConnectionRefusedError):
                self.socket.send(datagram)

    def restart(self, _):
        self.session += 1
        self.sequence, self.hits = 0, 0
        self.put(self.framed(HEADER, bytes(8) + self.file.data[:self.file.buffers[0].offset]))

    def proceed(self, epoch):
        for number in self.due(epoch):
            if self.kind != "silence":
                self.put_buffer(number)
        if self.kind != "silence" and epoch > self.said:
            self.said = epoch
            place = max(0, self.file.buffers[self.next - 1].end_epoch + self.shift if self.next else 0)
            self.put(self.framed(MARK, struct.pack("<QQ", place, self.hits), self.sequence))

    def put_buffer(self, number):
        buffer = self.file.buffers[number]
        stored = rewritten(self.file, buffer, self.shift, self.sequence, self.hits)
        if stored is None:
            return
        datagrams = [self.framed(DATA, stored[at:at + FRAGMENT], self.sequence, at, len(stored))
                     for at in range(0, len(stored), FRAGMENT)]
        self.sequence += 1
        self.hits += buffer.n_hits
        self.sent.hits += buffer.n_hits
        if self.kind == "loss":
            return
        if self.shift == 0:
            self.sent.right.add(number)
        self.put(*datagrams)
        self.kept = datagrams

    def flood(self, _):
        """Earlier data, and those of another board, at full speed."""
        for _ in range(500):
            self.put(*self.kept, *(datagram[:16] + b"\x7f\0\0\0" + datagram[20:] for datagram in self.kept))

    def garbage(self, _):
        for _ in range(50):
            self.put(self.random.randbytes(self.random.randint(1, 1500)))
            for datagram in self.kept:
                at = self.random.randrange(len(datagram))
                self.put(datagram[:at], datagram[:at] + bytes([datagram[at] ^ 0x55]) + datagram[at + 1:])
            # A valid frame of an unknown kind.
            self.put(self.framed(self.random.randint(5, 255), self.random.randbytes(16), self.random.getrandbits(62)))


class BadServer(Peer):
    """An MBS server, transport: the recording's hits as events with White Rabbit stamps."""

    jumps = JUMPS_OF_STAMPS

    def __init__(self, file, hits, seed, calm):
        super().__init__(file, seed, calm)
        self.number, self.layout, self.client, self.waiting = 0, Layout(), None, b""
        first = numpy.cumsum([0] + [buffer.n_hits for buffer in file.buffers])
        rows = list(zip(hits.time.tolist(), hits.channel.tolist()))
        self.events = [rows[a:b] for a, b in zip(first, first[1:])]  # by epoch buffer
        self.listener = socket.create_server((HOST, 0))
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.restart(0)
        self.listener.close()

    def restart(self, _):
        if self.client:
            self.client.close()
        self.client, self.waiting = None, b""

    def proceed(self, epoch):
        if self.client is None and select.select([self.listener], [], [], 0)[0]:
            self.client, _ = self.listener.accept()
            self.client.setblocking(False)
            # In a flood the handshake never comes.
            self.waiting = b"" if self.kind == "flood" else self.layout.handshake()
        for number in self.due(epoch):
            if self.kind not in ("silence", "loss", "flood") and self.client:
                self.put_buffer(number)
        self.flush()

    def put_buffer(self, number):
        made = []
        for tick, channel in self.events[number]:
            stamp = tick + self.shift * 10_000
            if not 0 <= stamp < 2**64:
                return
            self.number += 1
            made.append(Event(self.number, [Subevent(channel & 0xFFFF, white_rabbit(stamp))]))
        self.sent.hits += len(made)
        if self.shift == 0:
            self.sent.right.add(number)
        if made:
            self.waiting += b"".join(b"".join(group) for group in self.layout.buffers(made))

    def flush(self):
        if not self.client:
            return
        try:
            while self.waiting:
                self.waiting = self.waiting[self.client.send(self.waiting):]
        except BlockingIOError:
            pass
        except OSError:
            self.restart(0)

    def flood(self, _):
        """Many connections that send nothing useful."""
        self.restart(0)

    def end(self, epoch):
        if self.kind == "flood":
            self.restart(0)
        super().end(epoch)

    def garbage(self, _):
        self.waiting += self.random.randbytes(self.random.randint(1, 5000))
