"""GSI list-mode data (LMD) in Python: a reader, a writer, and the expected result of building events by number.

Written from the format's description alone and shares nothing with the C++ code. Bytes are handled in the
"little-endian view": of a file of the other byte order each 32-bit word is swapped first.
"""

import struct
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from reference import INCOMPLETE, Hits, find_events, merged_file, weave

FLAT, CLASSIC, EVENT, INDEX = (101, 1), (2000, 1), (10, 1), (101, 2)
BUFFER_TYPES = (EVENT, (100, 1))
HEADER_BYTES = 48
LARGEST_SHORT_LENGTH = 16360  # l_dlen of a buffer up to which its 16-bit field of used words is valid
NO_SUBEVENT = 0x0FFFFFFF  # channel of an event without subevents
LARGEST_LAST_JUMP = 1000  # in numbers, at the end of a file, where no next event can confirm it


class Damage(ValueError):
    def __init__(self, offset, reason):
        super().__init__(f"byte {offset}: {reason}")
        self.offset = offset


@dataclass
class Subevent:
    """`data`: 32-bit words; `halfwords`: number of 16-bit words, odd when the last of `data` is a single one."""

    procid: int
    data: list
    crate: int = 0
    control: int = 0
    type: int = 10
    subtype: int = 1
    halfwords: int = None

    def __post_init__(self):
        self.halfwords = 2 * len(self.data) if self.halfwords is None else self.halfwords

    @property
    def dlen(self):
        return 2 + self.halfwords

    @property
    def id(self):
        return self.control << 24 | self.crate << 16 | self.procid

    @property
    def channel(self):
        return (self.control & 0x3F) << 22 | (self.crate & 0x3F) << 16 | self.procid

    def description(self):
        """As `eventloom inspect --json --events N` shows it."""
        return {"control": self.control, "crate": self.crate, "procid": self.procid, "type": self.type,
                "subtype": self.subtype, "dlen": self.dlen, "data": list(self.data)}


@dataclass
class Event:
    number: int
    subevents: list = field(default_factory=list)
    trigger: int = 1
    dummy: int = 0

    @property
    def dlen(self):
        return 4 + sum(4 + s.dlen for s in self.subevents)

    @property
    def ids(self):
        return [s.id for s in self.subevents]

    def hits(self):
        """Its items: (channel, payload)."""
        head = [self.trigger << 16 | self.dummy, self.number]
        if not self.subevents:
            return [(NO_SUBEVENT, [2, *head])]
        return [(s.channel, [5 + len(s.data), *head, s.dlen, s.subtype << 16 | s.type, s.id, *s.data])
                for s in self.subevents]

    def description(self):
        return {"number": self.number, "trigger": self.trigger, "subevents": [s.description() for s in self.subevents]}


@dataclass
class LmdFile:
    format: str
    byte_order: str
    events: list = field(default_factory=list)
    skipped_elements: int = 0
    buffers: int = 0
    buffers_continued: int = 0
    index: str = "none"
    index_offset: int = None
    damage: Damage = None  # where reading ended before the end of the file


# Reading


def swapped(data):
    """Each whole 32-bit word in the other byte order."""
    whole = len(data) // 4 * 4
    return np.frombuffer(data[:whole], ">u4").astype("<u4").tobytes() + data[whole:]


def read_lmd(path):
    return parse_lmd(Path(path).read_bytes())


def parse_lmd(data):
    """All complete events up to the first damage; raises Damage if it is not an LMD file at all."""
    if len(data) < HEADER_BYTES:
        raise Damage(0, "too short for a header")
    kinds = {order: struct.unpack_from(order + "I", data, 4)[0] for order in "<>"}
    for order, name in (("<", "little"), (">", "big")):
        kind = (kinds[order] & 0xFFFF, kinds[order] >> 16)
        if kind in (FLAT, CLASSIC):
            file = LmdFile(f"{kind[0]}/{kind[1]}", name)
            try:
                (_read_flat if kind == FLAT else _read_classic)(file, data, order)
            except Damage as damage:
                file.damage = damage
            return file
    raise Damage(4, "neither 101/1 nor 2000/1")


def _view(data, order):
    return data if order == "<" else swapped(data)


def _element(view, at, end, base):
    """(l_dlen, (type, subtype), end of the element)"""
    if end - at < 8:
        raise Damage(base + at, "no room for the header of an element")
    dlen, kind, subkind = struct.unpack_from("<IHH", view, at)
    if 8 + 2 * dlen > end - at:
        raise Damage(base + at, f"an element of {8 + 2 * dlen} bytes where {end - at} are left")
    return dlen, (kind, subkind), at + 8 + 2 * dlen


def parse_event(body, offset=0):
    """An event from what follows its 8-byte header."""
    if len(body) < 8:
        raise Damage(offset, "an event shorter than its header")
    dummy, trigger, number = struct.unpack_from("<HHI", body)
    event, at = Event(number, [], trigger, dummy), 8
    while at < len(body):
        dlen, (kind, subkind), end = _element(body, at, len(body), offset + 8)
        if dlen < 2:
            raise Damage(offset + 8 + at, "a subevent shorter than its header")
        procid, crate, control = struct.unpack_from("<HBB", body, at + 8)
        content = body[at + 12:end]
        words = np.frombuffer(content + bytes(-len(content) % 4), "<u4").tolist()
        event.subevents.append(Subevent(procid, words, crate, control, kind, subkind, len(content) // 2))
        at = end
    return event


def _read_flat(file, data, order):
    head = _view(data[:HEADER_BYTES], order)
    used, = struct.unpack_from("<I", head, 40)
    base = HEADER_BYTES + 2 * used
    if base > len(data):
        raise Damage(40, "a header longer than the file")
    table, = struct.unpack_from(order + "Q", data, 8)
    size = head[20]
    view, at = _view(data[base:], order), 0
    while at < len(view):
        dlen, kind, end = _element(view, at, len(view), base)
        if kind == EVENT:
            file.events.append(parse_event(view[at + 8:end], base + at))
        elif kind == INDEX:
            file.index_offset = base + at
            file.index = _index_state(file, data[base + at:base + end], order, size)
            if table and 4 * table != base + at:
                file.index = "damaged"
        else:
            file.skipped_elements += 1
        at = end
    if table and file.index == "none":
        file.index = "damaged"


def _index_state(file, element, order, size):
    """Whether the offsets are those of the events: 12, each event's end, in 4-byte units."""
    first, count = HEADER_BYTES, len(file.events) + 1
    expected = np.cumsum([first, *(8 + 2 * event.dlen for event in file.events)]) // 4
    if size not in (4, 8) or len(element) != 16 + size * count:
        return "damaged"
    offsets = np.frombuffer(element[16:], f"{order}u{size}")
    return "whole" if np.array_equal(offsets.astype(np.int64), expected) else "damaged"


def _read_classic(file, data, order):
    head = _view(data[:HEADER_BYTES], order)
    dlen, = struct.unpack_from("<I", head)
    used, = struct.unpack_from("<I", head, 40)
    size = 2 * dlen if 2 * dlen % 512 == 0 else 2 * dlen + HEADER_BYTES
    start = HEADER_BYTES + 2 * used if dlen > LARGEST_SHORT_LENGTH else size
    if size < 512 or start > len(data):
        raise Damage(0, "a file header longer than the file")
    open_event, expected = None, None  # bytes of an event so far and their offset; number of the buffer to come
    for at in range(start, len(data), size):
        if len(data) - at < size:
            raise Damage(at, f"a buffer of {size} bytes where {len(data) - at} are left")
        view = _view(data[at:at + size], order)
        number, = struct.unpack_from("<I", view, 12)
        if open_event and number != expected:
            open_event = None  # the buffers between are missing, and with them its rest
        expected = number + 1
        open_event = _read_buffer(file, view, at, open_event)
    if open_event:
        raise Damage(open_event[1], "an event that continues beyond the end of the file")


def _read_buffer(file, view, base, open_event):
    """Adds the events that end in this buffer; returns the one that continues in the next."""
    dlen, kind, subkind, short_used, continues, unfinished = struct.unpack_from("<IHHHBB", view)
    long_used, = struct.unpack_from("<I", view, 40)
    used = long_used if dlen > LARGEST_SHORT_LENGTH or kind == 100 else short_used
    end, at = HEADER_BYTES + 2 * used, HEADER_BYTES
    if (kind, subkind) not in BUFFER_TYPES or end > len(view) or 2 * dlen + HEADER_BYTES != len(view):
        raise Damage(base, "not the header of a buffer")
    file.buffers += 1
    file.buffers_continued += continues != 0
    while at < end:
        _, kind, after = _element(view, at, end, base)
        body, offset = view[at + 8:after], base + at
        if at == HEADER_BYTES and continues:
            kind = EVENT
            body, offset = (open_event[0] + body, open_event[1]) if open_event else (None, None)
        if after == end and unfinished:
            return (body, offset) if body is not None else None
        if kind != EVENT:
            file.skipped_elements += 1
        elif body is not None:
            file.events.append(parse_event(body, offset))
        at = after
    return None


# Writing. Items of a file are events or whole elements in bytes.


def element(kind, subkind, body):
    return struct.pack("<IHH", len(body) // 2, kind, subkind) + body


def encode_subevent(subevent, dlen=None):
    content = struct.pack(f"<{len(subevent.data)}I", *subevent.data)[:2 * subevent.halfwords]
    dlen = subevent.dlen if dlen is None else dlen
    return struct.pack("<IHHHBB", dlen, subevent.type, subevent.subtype, subevent.procid, subevent.crate,
                       subevent.control) + content


def encode(item, dlen=None):
    """An event as bytes; `dlen`: a false length for its header."""
    if isinstance(item, bytes):
        return item
    body = struct.pack("<HHI", item.dummy, item.trigger, item.number) + b"".join(map(encode_subevent, item.subevents))
    return struct.pack("<IHH", len(body) // 2 if dlen is None else dlen, *EVENT) + body


def flat_file(items, order="<", index=False, extra_header=b""):
    """A 101/1 file. DABC's: unknown length, no table; with `index`: GSI's, with a table of 8-byte offsets at the end."""
    encoded = [encode(item) for item in items]
    body, table = b"".join(encoded), 0
    start = HEADER_BYTES + len(extra_header)
    offsets = np.cumsum([start, *map(len, encoded)]) // 4
    if index:
        table = int(offsets[-1])
    longest = max(map(len, encoded), default=0) // 2 if index else 0x7FFFFFF4
    count = len(items) if index else 0xFFFFFFFF
    head = struct.pack("<IHH", longest, *FLAT) + bytes(8) + struct.pack(
        "<IIIIIIII", count, 8, 0, 0, 1, {"<": 1, ">": 2}[order], len(extra_header) // 2, 0)
    data = bytearray(_view(head, order) + extra_header + _view(body, order))
    struct.pack_into(order + "Q", data, 8, table)
    if index:
        data += _view(element(*INDEX, bytes(8 + 8 * len(offsets)))[:16], order) + offsets.astype(order + "u8").tobytes()
    return bytes(data)


def classic_header(buffer_size, order="<", counts_itself=True):
    """The 2000/1 header: a whole buffer, or as long as it needs to be when l_dlen is large.

    `counts_itself`: l_dlen is half a buffer, as GSI's writer has it, else that less the header's 48 bytes.
    """
    dlen = buffer_size // 2 - (0 if counts_itself else HEADER_BYTES // 2)
    text = struct.pack("<H30sH86s", 4, b"tape", 8, b"run1.lmd") + bytes(180)
    short = dlen > LARGEST_SHORT_LENGTH
    head = struct.pack("<IHHHBBIIIIIIIII", dlen, *CLASSIC, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, len(text) // 2 if short else 0, 0)
    if order == ">":  # of the characters only the lengths are in the writer's order
        text = struct.pack(">H30sH86s", 4, b"tape", 8, b"run1.lmd") + bytes(180)
    whole = _view(head, order) + text
    return whole if short else whole + bytes(buffer_size - len(whole))


def classic_buffers(items, buffer_size, order="<", span=True, kind=10, first_number=1):
    """Buffers of fixed size; with `span` an event that does not fit continues in the next buffer."""
    room, buffers = buffer_size - HEADER_BYTES, []
    payload, count, continues, last_length = b"", 0, 0, 0

    def close(unfinished):
        nonlocal payload, count, continues
        dlen, used = room // 2, len(payload) // 2
        long = dlen > LARGEST_SHORT_LENGTH or kind == 100
        head = struct.pack("<IHHHBBIIIIIIIII", dlen, kind, 1, 0 if long else used, continues, int(unfinished),
                           first_number + len(buffers), count, 0, 0, 0, 1, last_length if unfinished else 0,
                           used if long else 0, 0)
        buffers.append(_view(head + payload + bytes(room - len(payload)), order))
        payload, count, continues = b"", 0, int(unfinished)

    for data in map(encode, items):
        last_length = len(data) // 2 - 4
        left = room - len(payload)
        if len(data) > left and (not span or left < 24):
            close(False)
            left = room
        while len(data) > left:  # the head keeps the element's type, the rest gets the buffer's
            assert span, "an event that is larger than a buffer"
            cut = left // 4 * 4
            payload += struct.pack("<I", cut // 2 - 4) + data[4:cut]
            data = element(kind, 1, data[cut:])
            count += 1
            close(True)
            left = room
        payload += data
        count += 1
    if payload:
        close(False)
    return buffers


def classic_file(items, buffer_size=4096, order="<", span=True, kind=10, counts_itself=True):
    buffers = classic_buffers(items, buffer_size, order, span, kind)
    return classic_header(buffer_size, order, counts_itself) + b"".join(buffers)


def white_rabbit(time, subsystem=0x100):
    """The words of a stamp at the start of a subevent's data."""
    return [subsystem, *((tag << 16 | time >> shift & 0xFFFF) for tag, shift in
                         ((0x03E1, 0), (0x04E1, 16), (0x05E1, 32), (0x06E1, 48)))]


# Building by number


@dataclass
class Numbered:
    """The events of one source that are kept, as (64-bit number, event), and the fate of the others."""

    kept: list
    events_dropped: Counter  # by cause
    hits_dropped: Counter
    missing: int  # numbers between the first and the last without an event


def signed_step(a, b):
    """From number a to b, modulo 2^32."""
    return (b - a + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def sort_out(events):
    """Keeps events with ascending numbers; `events`: of any format with number, ids and hits()."""
    kept, seen, dropped, hits = [], set(), Counter(), Counter()

    def drop(event, cause):
        dropped[cause] += 1
        hits[cause] += len(event.hits())

    for place, event in enumerate(events):
        if not kept:
            kept, seen = [(event.number, event)], {event.number}
            continue
        last, previous = kept[-1]
        step = signed_step(previous.number, event.number)
        if step == 0 and len(previous.ids) < len(event.ids) and event.ids[:len(previous.ids)] == previous.ids:
            drop(previous, "repeated_incomplete")
            kept[-1] = (last, event)
        elif step == 0:
            drop(event, "duplicate")
        elif step < 0:
            drop(event, "duplicate" if last + step in seen else "out_of_step")
        elif step > 1 and not _confirmed(step, event, events[place + 1:place + 2]):
            drop(event, "out_of_step")
        else:
            kept.append((last + step, event))
            seen.add(last + step)
    missing = kept[-1][0] - kept[0][0] + 1 - len(kept) if kept else 0
    return Numbered(kept, dropped, hits, missing)


def _confirmed(step, event, following):
    return signed_step(event.number, following[0].number) > 0 if following else step <= LARGEST_LAST_JUMP


def hits_of_events(timed):
    """reference.Hits of (time, event)."""
    rows = [(time, channel, payload) for time, event in timed for channel, payload in event.hits()]
    lengths = [len(payload) for _, _, payload in rows]
    return Hits(np.array([t for t, _, _ in rows], dtype=np.uint64), np.array([c for _, c, _ in rows], dtype=np.uint32),
                np.zeros(len(rows), dtype=np.uint16), np.array(lengths, dtype=np.uint32),
                np.fromiter((w for _, _, payload in rows for w in payload), dtype=np.uint32, count=sum(lengths)))


def built(sources):
    """`run --define tag` of lists of (time, event), one per source: the merged file's datasets, hits out of step.

    Where triggers disagree the majority's stays (of equals: the lowest source's), and the others are missing there.
    """
    at_time, out_of_step = defaultdict(dict), 0
    for number, timed in enumerate(sources):
        for time, event in timed:
            at_time[time].setdefault(number, event)
    for events in at_time.values():
        votes = Counter(event.trigger for event in events.values())  # keeps the order of sources among equals
        winner = votes.most_common(1)[0][0]
        for number in [n for n, event in events.items() if event.trigger != winner]:
            out_of_step += len(events.pop(number).hits())
    streams = [hits_of_events([(t, at_time[t][number]) for t, _ in timed if number in at_time[t]])
               for number, timed in enumerate(sources)]
    datasets = merged_file(find_events(weave(streams), "tag", 0))
    missing = [sum(1 << n for n in range(len(sources)) if n not in at_time[time])
               for time in datasets["events/time"].tolist()]
    datasets["events/sources_missing"] = np.array(missing, dtype=np.uint64)
    datasets["events/flags"] = np.where(datasets["events/sources_missing"] > 0, INCOMPLETE, 0).astype(np.uint32)
    return datasets, out_of_step


def expected_run(sources):
    """For sources, lists of events in file order: datasets of the merged file, {cause: hits dropped}, hits in."""
    numbered = [sort_out(events) for events in sources]
    datasets, out_of_step = built([source.kept for source in numbered])
    lost = sum((source.hits_dropped for source in numbered), start=Counter(out_of_step=out_of_step))
    return datasets, {c: n for c, n in lost.items() if n}, sum(len(event.hits()) for events in sources for event in events)


def by_time(hits):
    """{time: [(channel, payload)]} of reference.Hits"""
    end = np.cumsum(hits.payload_words, dtype=np.int64)
    found = defaultdict(list)
    for time, channel, a, b in zip(hits.time.tolist(), hits.channel.tolist(), (end - hits.payload_words).tolist(), end.tolist()):
        found[time].append((channel, hits.payload[a:b].tolist()))
    return dict(found)
