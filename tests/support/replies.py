"""Datagrams sent back to boards, and boards that answer, by formats/README.md. Shares nothing with the C++ code."""

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass, field

from datagrams import FIELDS, FRAME_BYTES, HOST, MAGIC, demand
from fast_crc import fast_crc32c
from live import Board

REQUEST, OFFER, PIECE, STATUS = 5, 6, 7, 8
RESENDS = b"ELXT" + struct.pack("<I", 3)  # after a stream's header: accepts requests, and has just begun
PIECE_FIELDS = struct.Struct("<QII")  # sequence, begin, end
OFFER_FIELDS = struct.Struct("<QII")  # bytes, checksum, number
STATUS_FIELDS = struct.Struct("<IIQII")  # state, room, bytes, checksum, number of the offer
RECEIVING, COMPLETE, WRONG, REFUSED = 1, 2, 3, 4
BLOCK = 1 << 20
MOST_PIECES = 128


@dataclass
class Reply:
    kind: int
    source: int
    session: int
    offset: int
    sequence: int
    bytes: int
    contents: bytes

    def pieces(self, at=0):
        return list(PIECE_FIELDS.iter_unpack(self.contents[at:]))


def sealed_fast(kind, contents, source=0, session=0, offset=0, sequence=0, whole=0):
    rest = FIELDS.pack(1, kind, 0, source, session, offset, sequence, whole, 0) + contents
    return MAGIC + struct.pack("<I", fast_crc32c(rest)) + rest


def decode_reply(data):
    demand(len(data) >= FRAME_BYTES and data[:4] == MAGIC, "magic of a datagram")
    demand(struct.unpack_from("<I", data, 4)[0] == fast_crc32c(data[8:]), "checksum of a datagram")
    version, kind, zero, source, session, offset, sequence, whole, zero_too = FIELDS.unpack_from(data, 8)
    demand((version, zero, zero_too) == (1, 0, 0) and kind in (REQUEST, OFFER, PIECE, STATUS), "header of a reply")
    contents = data[FRAME_BYTES:]
    if kind == REQUEST:
        demand((offset, sequence, whole) == (0, 0, 0), "place in a request")
        demand(len(contents) % PIECE_FIELDS.size == 0, "length of a request")
        demand(1 <= len(contents) // PIECE_FIELDS.size <= MOST_PIECES, "number of pieces in a request")
    return Reply(kind, source, session, offset, sequence, whole, contents)


class ResendingBoard(Board):
    """A live.Board that announces that it accepts requests, keeps everything it has sent, and resends on request.

    `answers`: whether it does what it has announced. Call serve() to handle requests received.
    """

    def __init__(self, *args, answers=True, **options):
        super().__init__(*args, **options)
        self.answers, self.requests, self.again = answers, [], 0
        self._kept = {}  # [(offset, end, datagram)] by epoch buffer
        self._socket.setblocking(False)

    def opening(self):
        stream = self.file.data[:self.file.buffers[0].offset]
        assert len(stream) % 64 == 0
        return self.framed(1, bytes(8) + stream + RESENDS)

    def data(self, number):
        datagrams = super().data(number)
        places = [struct.unpack_from("<I", one, 20)[0] for one in datagrams]
        self._kept[number] = [(at, at + len(one) - FRAME_BYTES, one) for at, one in zip(places, datagrams)]
        return datagrams

    def serve(self):
        """Returns the number of requests received."""
        number = 0
        with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
            while True:
                request = decode_reply(self._socket.recv(1 << 16))
                assert (request.kind, request.source, request.session) == (REQUEST, self.source, self.session)
                self.requests.append(request)
                number += 1
                if self.answers:
                    self._send_again(request.pieces())
        return number

    def _send_again(self, pieces):
        for sequence, begin, end in pieces:
            for at, to, datagram in self._kept.get(sequence, []):
                if (begin, end) == (0, 0) or (at < end and to > begin):
                    self.send(datagram)
                    self.again += 1


class Ranges:
    """Disjoint ranges of numbers, ascending."""

    def __init__(self):
        self.found = []  # [begin, end]

    def add(self, begin, end):
        """Returns how many numbers are new."""
        if self.found and self.found[-1][1] == begin:  # the usual case
            self.found[-1][1] = end
            return end - begin
        before = self.total()
        merged = []
        for one in sorted([*self.found, [begin, end]]):
            if merged and one[0] <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], one[1])
            else:
                merged.append(list(one))
        self.found = merged
        return self.total() - before

    def total(self):
        return sum(end - begin for begin, end in self.found)

    def holes(self):
        """The ranges between those added, and from 0 to the first."""
        ends = [0, *(end for _, end in self.found)]
        return [(end, begin) for end, (begin, _) in zip(ends, self.found) if begin > end]


@dataclass
class BulkBoard:
    """A board that accepts a file, in a thread during the `with`. What it has received survives a new session of the
    host.

    `deaf_after`: bytes of pieces after which it no longer answers. `refusal`: the reason why it refuses the file.
    `spoils`: it damages what it has received. `nonsense(board, peer)`: called for each datagram, to send anything.
    """

    number: int = 7
    room: int = 128 << 10
    deaf_after: float = float("inf")
    refusal: bytes = b""
    spoils: bool = False
    nonsense: object = None
    data: bytearray = field(default_factory=bytearray)
    bytes_in: int = 0
    bytes_out: int = 0
    piece_bytes: int = 0
    statuses: int = 0
    offers: int = 0

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * self.room)
        self.socket.bind((HOST, 0))
        self.address = self.socket.getsockname()
        self.socket.settimeout(0.02)
        self._offer, self._ranges, self._since = None, Ranges(), 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join(10)
        self.socket.close()

    def send(self, datagram, peer):
        self.bytes_out += len(datagram)
        self.socket.sendto(datagram, peer)

    def _serve(self):
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError, ValueError):
                datagram, peer = self.socket.recvfrom(1 << 16)
                self.bytes_in += len(datagram)
                if self.nonsense:
                    self.nonsense(self, peer)
                self._take(decode_reply(datagram), peer)

    def _take(self, one, peer):
        if self.piece_bytes >= self.deaf_after:
            return
        if one.kind == OFFER:
            self._open(one)
            self.offers += 1
            self._report_state(peer)
        elif one.kind == PIECE and self._offer and one.session == self.session:
            self.piece_bytes += len(one.contents)
            at = one.sequence * BLOCK + one.offset
            behind = self._ranges.found and at > self._ranges.found[-1][1]  # a hole shows
            self.data[at:at + len(one.contents)] = one.contents
            self._ranges.add(at, at + len(one.contents))
            self._since += len(one.contents) + FRAME_BYTES
            done = self._ranges.total() == self.size
            if self._since >= self.room // 4 or behind or done:
                self._report_state(peer)

    def _open(self, one):
        offer = OFFER_FIELDS.unpack_from(one.contents)
        if not self._offer or self._offer[:2] != offer[:2]:
            self.data, self._ranges = bytearray(offer[0]), Ranges()
        self._offer, self.size, self.session = offer, offer[0], one.session

    def _state(self):
        if self.refusal:
            return REFUSED
        if self._ranges.total() < self.size:
            return RECEIVING
        if self.spoils:
            self.data[0] ^= 1
        return COMPLETE if fast_crc32c(self.data) == self._offer[1] else WRONG

    def _report_state(self, peer):
        """Reports what it has; never sends more bytes than it has received since the last time."""
        state, (_, checksum, number) = self._state(), self._offer
        known, pieces = (self._ranges.found[-1][1] if self._ranges.found else 0), []
        for begin, end in self._ranges.holes():
            while begin < end:  # a piece lies within one block
                to = min(end, (begin // BLOCK + 1) * BLOCK)
                pieces.append((begin // BLOCK, begin % BLOCK, to - begin // BLOCK * BLOCK))
                begin = to
        most = min(MOST_PIECES, max(self.bytes_in - self.bytes_out - FRAME_BYTES - STATUS_FIELDS.size, 0) // PIECE_FIELDS.size)
        if len(pieces) > most:
            known = pieces[most][0] * BLOCK + pieces[most][1]
            del pieces[most:]
        contents = STATUS_FIELDS.pack(state, self.room, self._ranges.total(), checksum, number)
        contents += self.refusal or b"".join(PIECE_FIELDS.pack(*piece) for piece in pieces)
        self._since = 0
        self.statuses += 1
        self.send(sealed_fast(STATUS, contents, self.number, self.session, known % BLOCK, known // BLOCK), peer)
