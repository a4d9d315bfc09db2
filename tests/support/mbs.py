"""MBS servers and clients in Python: both protocols and byte orders, buffers of variable length (DABC) and native ones (MBS).

Written from the description of the protocols alone and shares nothing with the C++ code. Events are bytes in the
little-endian view of lmd_reference.
"""

import contextlib
import itertools
import re
import select
import socket
import struct
import threading
from dataclasses import dataclass, field
from pathlib import Path

from interrupted import Started, until
from lmd_reference import EVENT, HEADER_BYTES, LARGEST_SHORT_LENGTH, classic_buffers, encode, swapped

LOOPBACK = "127.0.0.1"
HANDSHAKE_BYTES, REQUEST_BYTES = 16, 12
VARIABLE = (100, 1)
PATIENCE = 60  # s, for operations that should take a moment


class Broken(Exception):
    """The data received violate the protocol."""


def request(word, garbage=b""):
    """12 bytes: a word, NUL, and the garbage that other clients leave after it."""
    return (word.encode() + b"\0" + garbage).ljust(REQUEST_BYTES, b"\0")[:REQUEST_BYTES]


@dataclass
class Layout:
    """The contents of a server's handshake."""

    native: bool = False
    order: str = "<"
    buffer_bytes: int = 1 << 16
    per_stream: int = 1
    legacy: bool = False  # DABC for clients of MBS: native handshake and size, headers as those of variable buffers

    def handshake(self):
        return struct.pack(self.order + "4I", 1, self.buffer_bytes, self.per_stream, int(self.native or self.legacy))

    def seen(self, data):
        """Converts bytes of a buffer to or from the little-endian view."""
        return swapped(data) if self.order == ">" else data

    def empty_buffer(self, number):
        if not self.native:
            return self._variable_buffer(b"")
        room = self.buffer_bytes - HEADER_BYTES
        head = struct.pack("<IHHHBBIIIIIIIII", room // 2, *EVENT, 0, 0, 0, number, 0, 0, 0, 0, 1, 0, 0, 0)
        return self.seen(head + bytes(room))

    def buffers(self, events, first_number=1):
        """Lists of `per_stream` buffers, each the answer to one request. Native events span buffers."""
        if not self.native and not self.legacy:
            return [[buffer] for buffer in self._variable_buffers(events)]
        flat = list(self._variable_buffers(events)) if self.legacy else \
            classic_buffers(events, self.buffer_bytes, self.order, first_number=first_number)
        while len(flat) % self.per_stream:
            flat.append(self.empty_buffer(first_number + len(flat)))
        return [flat[i:i + self.per_stream] for i in range(0, len(flat), self.per_stream)]

    def _variable_buffers(self, events):
        payload = b""
        for event in map(encode, events):
            if payload and HEADER_BYTES + len(payload) + len(event) > self.buffer_bytes:
                yield self._variable_buffer(payload)
                payload = b""
            payload += event
        if payload:
            yield self._variable_buffer(payload)

    def _variable_buffer(self, payload):
        used = len(payload) // 2
        data = struct.pack("<IHH10I", used, *VARIABLE, *[0] * 8, used, 0) + payload
        return self.seen(data.ljust(self.buffer_bytes, b"\xa5") if self.legacy else data)


# Client


@dataclass
class Buffer:
    number: int
    used: int  # bytes
    continues: bool
    unfinished: bool
    elements: int
    last_length: int  # l_dlen of the whole event that continues
    payload: bytes
    header: bytes


class Client:
    """Connected to a server; yields its buffers and events."""

    def __init__(self, port, protocol="transport", host=LOOPBACK, receive_bytes=None, shake=True):
        self.by_request, self.open_event, self.last_number, self.asked = protocol == "stream", None, None, 0
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(PATIENCE)
        self.socket.connect((host, port))
        if shake:
            self.shake_hands()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def shake_hands(self):
        data = self._exactly(HANDSHAKE_BYTES)
        order = {1: "<", 1 << 24: ">"}[struct.unpack("<I", data[:4])[0]]
        _, size, per_stream, streams = struct.unpack(order + "4I", data)
        self.layout = Layout(streams > 0, order, size, per_stream)

    def say(self, data):
        self.socket.sendall(data)

    def ask(self):
        self.say(request("GETEVT", b"\xde\xad\xbe\xef!"))

    def ask_ahead(self):
        """Requests in advance: from now on a server counts it as a client."""
        if self.by_request:
            self.ask()
            self.asked += 1

    def _exactly(self, size, may_end=False):
        parts, left = [], size
        while left:
            part = self.socket.recv(min(left, 1 << 20))
            if not part:
                if may_end and left == size:
                    return None
                raise Broken(f"the connection ends {left} bytes before it may")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def buffer(self):
        """The next buffer; None at the end."""
        layout = self.layout
        if self.socket.fileno() < 0:
            return None
        first = self._exactly(layout.buffer_bytes if layout.native else HEADER_BYTES, may_end=True)
        if first is None:
            return None
        raw = layout.seen(first)
        (dlen, kind, subkind, short_used, continues, unfinished, number, elements, _, _, _, mark, last_length,
         long_used, _) = struct.unpack_from("<IHHHBBIIIIIIIII", raw)
        if (kind, subkind) != (EVENT if layout.native else VARIABLE):
            raise Broken(f"a buffer of type {kind}/{subkind}")
        used = 2 * (long_used if dlen > LARGEST_SHORT_LENGTH or not layout.native else short_used)
        if not layout.native:
            if 2 * dlen != used or HEADER_BYTES + used > layout.buffer_bytes:
                raise Broken(f"{used} bytes in a buffer of length {dlen}, more than {layout.buffer_bytes}")
            raw = raw[:HEADER_BYTES] + layout.seen(self._exactly(used))
        elif 2 * dlen + HEADER_BYTES != layout.buffer_bytes or used > 2 * dlen or mark != 1:
            raise Broken("the header of a native buffer")
        return Buffer(number, used, bool(continues), bool(unfinished), elements, last_length,
                      raw[HEADER_BYTES:HEADER_BYTES + used], raw[:HEADER_BYTES])

    def group(self):
        """The answer to a request: a list of buffers, [] at the end; with transport each buffer alone."""
        if self.by_request and self.asked:
            self.asked -= 1
        elif self.by_request:
            with contextlib.suppress(ConnectionError):  # the server has ended: its data are still unread
                self.ask()
        found = [self.buffer() for _ in range(self.layout.per_stream if self.by_request else 1)]
        if found[0] is None:
            self.socket.close()
            return []
        if None in found:
            raise Broken("the end within a stream")
        return found

    def groups(self):
        return iter(self.group, [])

    def events_of(self, buffers):
        """The events that end in these buffers, which follow those of the previous call."""
        return [event for buffer in buffers for event in self._events_of(buffer)]

    def _events_of(self, buffer):
        if self.last_number is not None and buffer.number != self.last_number + 1:
            self.open_event = None
        self.last_number = buffer.number
        at, elements = 0, 0
        while at < buffer.used:
            dlen, kind, subkind = struct.unpack_from("<IHH", buffer.payload, at)
            after = at + 8 + 2 * dlen
            if after > buffer.used or (kind, subkind) != EVENT:
                raise Broken(f"an element of type {kind}/{subkind} that ends at {after} of {buffer.used}")
            piece = buffer.payload[at:after]
            if at == 0 and buffer.continues:
                piece = self.open_event + piece[8:] if self.open_event else None
            if after == buffer.used and buffer.unfinished:
                self.open_event, self.open_length = piece, buffer.last_length
            elif piece is not None:
                if at == 0 and buffer.continues:
                    if 8 + 2 * self.open_length != len(piece):
                        raise Broken("the fragments of an event do not have the length that its buffers state")
                    piece = struct.pack("<I", len(piece) // 2 - 4) + piece[4:]
                yield piece
            at, elements = after, elements + 1
        if elements != buffer.elements and self.layout.native:
            raise Broken(f"{elements} elements where the buffer states {buffer.elements}")

    def events(self, at_most=None):
        """The events of all buffers to the end, or of enough buffers for at least `at_most` events."""
        found = []
        for buffers in self.groups():
            found += self.events_of(buffers)
            if at_most is not None and len(found) >= at_most:
                break
        return found

    def closed_by_server(self):
        """Waits until the connection ends in any way; returns True once it does."""
        with contextlib.suppress(ConnectionError):
            while self.socket.recv(1 << 16):
                pass
        return True


# Server


@dataclass
class Connection:
    """The server's end of the connection of one client, passed to a behaviour."""

    socket: socket.socket
    ending: threading.Event
    sent: int = 0
    requests: list = field(default_factory=list)

    def send(self, data, piece=None):
        """`piece`: bytes sent at a time, each piece in a separate segment."""
        for at in range(0, len(data), piece or len(data) or 1):
            part = data[at:at + (piece or len(data))]
            self.socket.sendall(part)
            self.sent += len(part)

    def request(self):
        """The next request's word; "" when the client has closed its end."""
        data = b""
        while len(data) < REQUEST_BYTES:
            part = self.socket.recv(REQUEST_BYTES - len(data))
            if not part:
                return ""
            data += part
        self.requests.append(data)
        return data.partition(b"\0")[0].decode("latin1")

    def wait_for_client(self):
        """Waits until the client closes the connection, or the server ends."""
        while not self.ending.is_set():
            if select.select([self.socket], [], [], 0.05)[0] and not self.socket.recv(1 << 16):
                return

    def finish(self):
        self.socket.shutdown(socket.SHUT_WR)
        self.wait_for_client()

    def reset(self):
        """Resets the connection (RST), as if the server's machine had restarted."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def sends(layout, groups, protocol="transport", piece=None, handshake=None):
    """A behaviour: sends all of `groups` (see Layout.buffers), on request or at once, then ends."""
    def behave(connection):
        connection.send(handshake or layout.handshake(), piece)
        for group in groups:
            if protocol == "stream" and connection.request() != "GETEVT":
                return
            for buffer in group:
                connection.send(buffer, piece)
        connection.finish()
    return behave


def sends_on_request(layout, groups):
    """A behaviour: sends each of `groups` when it comes out of the queue, and ends with None."""
    def behave(connection):
        connection.send(layout.handshake())
        for group in iter(groups.get, None):
            for buffer in group:
                connection.send(buffer)
        connection.finish()
    return behave


class Holds:
    """A behaviour of a stream server, the same for all its clients: sends the next of `groups` with each request, once it is
    `released`. The next request confirms it: a client that comes back gets what it had not confirmed again. `forgetful`: it does
    not. Ends behind the last group."""

    def __init__(self, layout, groups, released=None, forgetful=False):
        self.layout, self.groups, self.forgetful = layout, [b"".join(group) for group in groups], forgetful
        self.released, self.next = len(groups) if released is None else released, 0
        self._one_client = threading.Lock()

    def __call__(self, connection):
        with self._one_client:  # the connection before may not have ended yet
            connection.send(self.layout.handshake())
            sent = False
            while connection.request() == "GETEVT":
                self.next += sent and not self.forgetful
                if self.next == len(self.groups):
                    return connection.finish()
                if not self._may_send(connection):
                    return
                self.next += self.forgetful
                connection.send(self.groups[self.next - self.forgetful])
                sent = True

    def _may_send(self, connection):
        """Once the next group is released; False if the client, which awaits it, has gone."""
        while self.next >= self.released:
            if connection.ending.is_set() or select.select([connection.socket], [], [], 0.005)[0]:
                return False
        return True


def breaks_off(layout, groups, after, protocol="transport", reset=False):
    """A behaviour: the connection ends after `after` bytes of the last of `groups`."""
    def behave(connection):
        connection.send(layout.handshake())
        for number, group in enumerate(groups):
            if protocol == "stream" and connection.request() != "GETEVT":
                return
            data = b"".join(group)
            connection.send(data[:after] if number == len(groups) - 1 else data)
        connection.reset() if reset else connection.finish()
    return behave


def says(data, then_ends=False):
    """A behaviour: sends these bytes, then nothing more."""
    def behave(connection):
        connection.send(data)
        connection.finish() if then_ends else connection.wait_for_client()
    return behave


def silent(connection):
    """A behaviour: sends nothing, not even a handshake."""
    connection.wait_for_client()


def with_keep_alives(layout, groups, first_number=1):
    """The same groups with one of empty buffers before and after each; all renumbered."""
    numbers = itertools.count(first_number)
    made = []
    for group in [*groups, None]:
        made.append([layout.empty_buffer(next(numbers)) for _ in range(layout.per_stream)])
        if group is not None:
            made.append([renumbered(layout, buffer, next(numbers)) for buffer in group])
    return made


def renumbered(layout, buffer, number):
    raw = bytearray(layout.seen(buffer))
    struct.pack_into("<I", raw, 12, number)
    return layout.seen(bytes(raw))


class Server:
    """Listens on a free port; treats its first client by the first behaviour, and so on, each in a separate thread.
    Then it stops listening."""

    def __init__(self, *behaviours):
        self.behaviours, self.connections, self.ending = behaviours, [], threading.Event()
        self.threads, self.failures = [], []
        self.listener = socket.create_server((LOOPBACK, 0))
        self.port = self.listener.getsockname()[1]
        self._start(self._accept)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.set()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(PATIENCE)
        for connection in self.connections:
            connection.socket.close()

    def _start(self, *call):
        self.threads.append(threading.Thread(target=call[0], args=call[1:], daemon=True))
        self.threads[-1].start()

    def _accept(self):
        with self.listener:
            for behaviour in self.behaviours:
                while not select.select([self.listener], [], [], 0.05)[0]:
                    if self.ending.is_set():
                        return
                taken, _ = self.listener.accept()
                taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections.append(Connection(taken, self.ending))
                self._start(self._behave, behaviour, self.connections[-1])

    def _behave(self, behaviour, connection):
        with contextlib.suppress(OSError):  # the client has gone
            behaviour(connection)
            connection.socket.close()


# `eventloom serve`


@dataclass
class Summary:
    """The summary that `eventloom serve` prints at its end."""

    events: int
    bytes: int
    buffers: int
    sent_events: int
    sent_buffers: int
    sent_bytes: int
    clients: int
    dropped_events: int
    dropped_buffers: int
    timed_out: int
    refused: int
    damaged: int
    too_large: int


class Serving(Started):
    """`eventloom serve` with files, on a free port."""

    def __init__(self, folder, *words, protocol="transport"):
        super().__init__(Path(folder), "serve", *words, "--protocol", protocol, "--port", "0")
        self.protocol = protocol

    @property
    def port(self):
        line = until(self._line, "the line that says where it serves", so_far=self.text)
        assert line[1] == self.protocol
        return int(line[3])

    def _line(self):
        assert self.process.poll() is None, self.text()
        return re.match(r"serving (\w+) on (.+):(\d+)\n", self.output.read_text())

    def text(self):
        return self.output.read_text() + self.errors.read_text()

    def client(self, **options):
        return Client(self.port, self.protocol, **options)

    def memory(self):
        """Peak memory so far, bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])

    def ended(self, code=0):
        """Waits for its end; returns its Summary. `code` None: with or without losses."""
        left = self.process.wait(PATIENCE)
        assert left in ((0, 3) if code is None else (code,)), self.text()
        numbers = [int(word) for word in re.findall(r"\b\d+\b", self.output.read_text().partition("\n")[2])]
        return Summary(*numbers[:13])
