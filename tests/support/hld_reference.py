"""HADES list-mode data (HLD) and the TDC words of TRB3 boards in Python: a reader and a writer.

Written from the format's description alone and shares nothing with the C++ code.
"""

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lmd_reference import NO_SUBEVENT, Damage
from reference import Hits

BEGIN_RUN, END_RUN = 0x00010002, 0x00010003
EVENT_DECODING = 0x00030001
LARGEST_DECODING = 0xFFFFFF  # in the other byte order it reads as larger
TDC_COLUMNS = ("event", "trigger", "tdc", "channel", "epoch", "coarse", "fine", "rising")


@dataclass
class Subevent:
    """`data`: 32-bit words, with correct values when the words of the payload have 32 bits."""

    id: int
    data: list
    trigger_number: int = 0
    decoding: int = 0x00020011
    byte_order: str = "big"
    payload_bytes: int = None

    def __post_init__(self):
        self.payload_bytes = 4 * len(self.data) if self.payload_bytes is None else self.payload_bytes

    @property
    def size(self):
        return 16 + self.payload_bytes

    def description(self):
        """As `eventloom inspect --json --events N` shows it."""
        return {"id": self.id, "decoding": self.decoding, "trigger_number": self.trigger_number, "size": self.size,
                "data": list(self.data)}


@dataclass
class Event:
    number: int
    subevents: list = field(default_factory=list)
    id: int = 0x2001
    run: int = 0
    byte_order: str = "little"

    @property
    def trigger(self):
        return self.id & 0xF

    @property
    def ids(self):
        return [s.id for s in self.subevents]

    def hits(self):
        """Its hits: (channel, payload)."""
        if not self.subevents:
            return [(NO_SUBEVENT, [3, self.trigger << 16, self.id, self.number])]
        return [(s.id & 0x0FFFFFFF, [7 + len(s.data), self.trigger << 16 | {"big": 1, "little": 2}[s.byte_order], self.id,
                                     self.number, s.size, s.decoding, s.id, s.trigger_number, *s.data]) for s in self.subevents]

    def description(self):
        return {"number": self.number, "trigger": self.trigger, "run": self.run,
                "subevents": [s.description() for s in self.subevents]}


@dataclass
class HldFile:
    events: list = field(default_factory=list)
    runs: list = field(default_factory=list)  # events at the beginning and the end of a run
    damage: Damage = None  # where reading ended before the end of the file


# Reading


def padded(size):
    return (size + 7) // 8 * 8


def swapped(data, length):
    """Words of `length` bytes in the other byte order; an incomplete word at the end stays."""
    whole = len(data) // length * length
    if whole == 0:
        return data
    return np.frombuffer(data[:whole], np.uint8).reshape(-1, length)[:, ::-1].tobytes() + data[whole:]


def read_hld(path):
    return parse_hld(Path(path).read_bytes())


def parse_hld(data):
    """All complete events up to the first damage; raises Damage if it is not an HLD file at all."""
    if len(data) < 32 or data[8:12] not in (struct.pack(order + "I", BEGIN_RUN) for order in "<>"):
        raise Damage(0, "does not begin with a run")
    file, at = HldFile(), 0
    try:
        while at < len(data):
            order, size, decoding = _unit(data, at, len(data), 32)
            _, _, kind, number, _, _, run, _ = struct.unpack_from(order + "8I", data, at)
            event = Event(number, _subevents(data, at + 32, at + size), kind, run, _name(order))
            (file.runs if kind in (BEGIN_RUN, END_RUN) else file.events).append(event)
            at += padded(size)
    except Damage as damage:
        file.damage = damage
    return file


def _name(order):
    return {"<": "little", ">": "big"}[order]


def _unit(data, at, end, least):
    """(byte order, size, decoding) of what begins at `at`."""
    if end - at < least:
        raise Damage(at, "no room for a header")
    order = ">" if struct.unpack_from("<I", data, at + 4)[0] > LARGEST_DECODING else "<"
    size, decoding = struct.unpack_from(order + "II", data, at)
    if not least <= size <= end - at:
        raise Damage(at, f"{size} bytes where {end - at} are left")
    return order, size, decoding


def _subevents(data, at, end):
    found = []
    while at < end:
        order, size, decoding = _unit(data, at, end, 16)
        ident, trigger = struct.unpack_from(order + "II", data, at + 8)
        payload = data[at + 16:at + size]
        if order == ">":
            payload = swapped(payload, 1 << (decoding >> 16 & 0xFF))
        words = np.frombuffer(payload + bytes(-len(payload) % 4), "<u4").tolist()
        found.append(Subevent(ident, words, trigger, decoding, _name(order), size - 16))
        at += padded(size)
    return found


# Writing


def encode_subevent(subevent, size=None):
    order = {"little": "<", "big": ">"}[subevent.byte_order]
    payload = struct.pack(f"<{len(subevent.data)}I", *subevent.data)[:subevent.payload_bytes]
    if order == ">":
        payload = swapped(payload, 1 << (subevent.decoding >> 16 & 0xFF))
    size = subevent.size if size is None else size
    head = struct.pack(order + "4I", size, subevent.decoding, subevent.id, subevent.trigger_number)
    return head + payload + bytes(-len(payload) % 8)


def encode(item, size=None):
    """An event as bytes; `size`: a false size for its header."""
    if isinstance(item, bytes):
        return item
    body = b"".join(map(encode_subevent, item.subevents))
    order = {"little": "<", "big": ">"}[item.byte_order]
    size = 32 + len(body) if size is None else size
    date, time = 121 << 16 | 11 << 8 | 21, 10 << 16 | 59 << 8 | 30
    return struct.pack(order + "8I", size, EVENT_DECODING, item.id, item.number, date, time, item.run, 0) + body


def hld_file(items, run=1, end=True):
    """A file with events, or bytes, between the events that open and close a run."""
    frame = [Event(0, [], BEGIN_RUN, run), *items, *([Event(0, [], END_RUN, run)] if end else [])]
    return b"".join(map(encode, frame))


def tdc_block(ident, words):
    """A subsubevent."""
    return [len(words) << 16 | ident, *words]


def tdc_words(hits):
    """A header and the words of (channel, epoch, coarse, fine, rising), with an epoch word at each change of the
    epoch."""
    words, last = [0x20000000], None
    for channel, epoch, coarse, fine, rising in hits:
        if epoch != last:
            words.append(0x60000000 | epoch)
            last = epoch
        words.append(0x80000000 | channel << 22 | fine << 12 | rising << 11 | coarse)
    return words


# TRB3 TDCs


def subsubevents(words):
    """(id, words) of each subsubevent in a subevent's data; one longer than the remaining data is omitted."""
    at = 0
    while at < len(words):
        length, ident = words[at] >> 16, words[at] & 0xFFFF
        if at + 1 + length <= len(words):
            yield ident, words[at + 1:at + 1 + length]
        at += 1 + length


def is_tdc(words):
    """A header (001) first, and then nothing but epochs (011), times (1..) and debug words (010); at the end a trailer (000).

    A trigger system's data may begin like a header as well, yet holds words of the other kinds.
    """
    kinds = words >> 29
    rest = kinds[1:-1] if len(kinds) > 1 and kinds[-1] == 0 else kinds[1:]
    return len(kinds) > 0 and kinds[0] == 1 and bool(np.all(rest >= 2))


def tdc_hits(events):
    """Columns of all time words: TDC_COLUMNS and `word`, the word itself."""
    parts = []
    for event in events:
        for subevent in event.subevents:
            for ident, words in subsubevents(subevent.data):
                words = np.array(words, dtype=np.uint32)
                if is_tdc(words):
                    parts.append(_times_of_block(event.number, subevent.trigger_number, ident, words))
    columns = np.concatenate(parts, axis=1) if parts else np.zeros((len(TDC_COLUMNS) + 1, 0), dtype=np.int64)
    return dict(zip((*TDC_COLUMNS, "word"), columns))


def _times_of_block(event, trigger, ident, words):
    """Rows of TDC_COLUMNS and the word; the epoch counter holds until the next one."""
    epoch = np.where(words >> 29 == 3, words & 0x0FFFFFFF, 0)
    known = np.maximum.accumulate(np.where(words >> 29 == 3, np.arange(len(words)), 0))
    at = np.flatnonzero(words >> 31)
    word = words[at].astype(np.int64)
    same = np.ones(len(at), dtype=np.int64)
    return np.stack([event * same, trigger * same, ident * same, word >> 22 & 0x7F, epoch[known[at]].astype(np.int64),
                     word & 0x7FF, word >> 12 & 0x3FF, word >> 11 & 1, word])


def hits_of_tdcs(columns, time="tag"):
    """reference.Hits of `hld:PATH?tdc`; `time`: tag, or tdc for (epoch, coarse) in ns."""
    n = len(columns["event"])
    times = columns["event"] if time == "tag" else (columns["epoch"] << 11 | columns["coarse"]) * 5
    payload = np.stack([columns["word"], columns["epoch"], columns["event"]], axis=1).astype(np.uint32)
    return Hits(times.astype(np.uint64), (columns["tdc"] << 8 | columns["channel"]).astype(np.uint32),
                np.zeros(n, dtype=np.uint16), np.full(n, 3, dtype=np.uint32), payload.ravel())
