"""TRB3 boards over UDP in Python: datagrams made and read by the format's description alone, boards controlled by a test,
and what a run must make of them. Shares nothing with the C++ code."""

import random
import socket
import struct
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from hld_reference import Event, Subevent, encode_subevent, padded, parse_hld, hld_file
from lmd_reference import hits_of_events
from reference import INCOMPLETE, find_events, merged_file, weave

HOST = "127.0.0.1"
TRAILER = 32
TAG_ERROR = 4
SO_RCVBUFFORCE = 33


def datagram(*subevents):
    """A transport unit with these subevents (hld_reference.Subevent or bytes), and its trailer."""
    body = b"".join(s if isinstance(s, bytes) else encode_subevent(s) for s in subevents)
    unit = struct.pack(">II", 8 + len(body), 0x00020011) + body
    unit += bytes(-len(unit) % 8)
    whole = bytearray(unit)
    for place in range(TRAILER):  # a short unit is repeated with the beginning of its trailer
        whole.append(whole[place])
    return bytes(whole)


def read_datagram(data):
    """Its subevents, read strictly."""
    size, _ = struct.unpack_from(">II", data)
    assert len(data) == padded(size) + TRAILER, f"{len(data)} bytes for a unit of {size}"
    assert data[padded(size):] == data[:TRAILER], "the trailer is not the unit's beginning"
    # The reader of files requires a run around them.
    body = data[8:size] + bytes(-(size - 8) % 8)
    event = struct.pack("<8I", 32 + len(body), 0x00030001, 0x2001, 1, 0, 0, 0, 0) + body
    found = parse_hld(hld_file([event]))
    assert found.damage is None, found.damage
    return found.events[0].subevents


@dataclass
class Trigger:
    """What a board sends for one trigger."""

    number: int  # counted since the beginning, not as sent
    data: list = field(default_factory=list)  # words; empty: the board had no data
    tag: int = None  # drawn by the trigger system: equal for all boards unless given
    type: int = 1
    as_sent: int = None  # the number, if the board sends another one


def tag_of(number):
    return (number * 2654435761 >> 7) & 0xFF


class Board:
    """A hub that sends to its own port, and the subevents that it makes of triggers."""

    def __init__(self, port, ident, bits=24):
        self.port, self.id, self.bits = port, ident, bits
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((HOST, port))

    def subevent(self, trigger):
        number = (trigger.number if trigger.as_sent is None else trigger.as_sent) % 2**self.bits
        tag = tag_of(trigger.number) if trigger.tag is None else trigger.tag
        return Subevent(self.id, list(trigger.data), number << 8 | tag, 0x00020001 | trigger.type << 4)

    def datagram(self, trigger):
        return datagram(self.subevent(trigger))

    def send(self, *triggers):
        """Sends triggers, or raw bytes."""
        for one in triggers:
            self._socket.send(one if isinstance(one, bytes) else self.datagram(one))

    def event(self, trigger):
        """The event built from it, as from an HLD file."""
        subevent = self.subevent(trigger)
        return trigger.number, Event(subevent.trigger_number >> 8, [subevent], 0x2001 | trigger.type)

    def close(self):
        self._socket.close()


def triggers(numbers, ident=0, words=4):
    """Triggers whose data depend on board and number."""
    return [Trigger(n, [ident << 20 | n & 0xFFFFF, *range(n % words)]) for n in numbers]


def network(sent, seed, loss=0.0, duplication=0.0, reordering=0.0, depth=6):
    """(data arriving in order, lost ones, number of duplicates); the first two and the last always arrive."""
    dice, arrives, lost, twice, held = random.Random(seed), [], [], 0, []
    for place, one in enumerate(sent):
        spared = place < 2 or place == len(sent) - 1
        if not spared and dice.random() < loss:
            lost.append(one)
        elif not spared and dice.random() < reordering:
            held.append([dice.randrange(1, depth), one])
        else:
            arrives.append(one)
            if not spared and dice.random() < duplication:
                twice += 1
                arrives.append(one)
        for item in held:
            item[0] -= 1
        arrives += [one for left, one in held if left <= 0]
        held = [item for item in held if item[0] > 0]
    return arrives + [one for _, one in held], lost, twice


def built(sources, optional=()):
    """`run --define tag` of lists of (time, event), one per source: the merged file's datasets, {source: hits out of step},
    events with a tag error. Where triggers, and then tags, disagree, the majority's stays (of equals: the first source's).
    """
    at_time, out_of_step, tag_errors = defaultdict(dict), Counter(), set()
    for number, timed in enumerate(sources):
        for time, event in timed:
            at_time[time].setdefault(number, event)
    for time, events in at_time.items():
        for name, mark in (("trigger", lambda e: e.trigger), ("tag", lambda e: e.subevents[0].trigger_number & 0xFF)):
            winner = Counter(map(mark, events.values())).most_common(1)[0][0]  # of equals, the first one
            for number in [n for n, event in events.items() if mark(event) != winner]:
                tag_errors |= {time} if name == "tag" else set()
                out_of_step[number] += len(events.pop(number).hits())
    streams = [hits_of_events([(t, at_time[t][number]) for t, _ in timed if number in at_time[t]])
               for number, timed in enumerate(sources)]
    datasets = merged_file(find_events(weave(streams), "tag", 0))
    times = datasets["events/time"].tolist()
    required = [n for n in range(len(sources)) if n not in optional]
    missing = [sum(1 << n for n in required if n not in at_time[time]) for time in times]
    datasets["events/sources_missing"] = np.array(missing, dtype=np.uint64)
    flags = [(INCOMPLETE if mask else 0) | (TAG_ERROR if time in tag_errors else 0) for time, mask in zip(times, missing)]
    datasets["events/flags"] = np.array(flags, dtype=np.uint32)
    return datasets, out_of_step, tag_errors


class Receiver:
    """Keeps the datagrams received on ports chosen by the system, one port per board."""

    def __init__(self, boards, bytes_kept=64 << 20):
        self._sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(boards)]
        for one in self._sockets:
            one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, bytes_kept)
            one.bind((HOST, 0))
            one.setblocking(False)

    @property
    def uri(self):
        return f"trb://{HOST}:" + ",".join(str(one.getsockname()[1]) for one in self._sockets)

    def taken(self):
        """The subevents of each datagram received so far, by board."""
        return [list(self._read(one)) for one in self._sockets]

    @staticmethod
    def _read(one):
        while True:
            try:
                yield read_datagram(one.recv(65536))
            except BlockingIOError:
                return

    def close(self):
        for one in self._sockets:
            one.close()
