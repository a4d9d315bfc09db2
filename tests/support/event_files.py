"""Built events as Eventloom writes them in LMD and HLD files, from formats/README.md and io/event_files/README.md alone."""

import struct
from dataclasses import dataclass, field

import hld_reference
import lmd_reference
from lmd_reference import read_lmd
from results import read_merged

HIT_LIST, HLD_EVENT = 0x4C45, 0x1F  # procid of the subevent with other hits; of the one with an HLD event
HLD_ZERO = 1_200_000_000  # Unix time of run number 0


@dataclass
class HitList:
    """The subevent of hits without list-mode data."""

    tick_ps: int
    hits: list = field(default_factory=list)  # (time, source, channel, payload)


def assert_events(found, expected):
    """Names the first difference, since pytest takes minutes to compare long lists."""
    for number, (a, b) in enumerate(zip(found, expected)):
        assert a == b, f"event {number}"
    assert len(found) == len(expected)


def assert_bytes(found, expected):
    if found != expected:
        at = next((n for n, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
        raise AssertionError(f"{len(found)} and {len(expected)} bytes, which differ from byte {at} on")


def hit_list(words):
    version, count, low, high = words[:4]
    assert version == 1
    found, at = HitList(high << 32 | low), 4
    for _ in range(count):
        low, high, source, channel, n = words[at:at + 5]
        found.hits.append((high << 32 | low, source, channel, words[at + 5:at + 5 + n]))
        at += 5 + n
    assert at == len(words), "words after the last hit"
    return found


def hit_lists(events):
    """The hits of events that consist only of a list of them: (time, source, channel, payload)."""
    assert all(len(e.subevents) == 1 for e in events)
    return [hit_list(e.subevents[0].data).hits for e in events]


def hits_of_events(path):
    """Likewise, from a merged file or a part."""
    column = {name: values.tolist() for name, values in read_merged(path).items()}
    ends = column.get("hits/first_payload", [0] * (len(column["hits/time"]) + 1))
    hits = [(t, s, c, column.get("payload", [])[a:b]) for t, s, c, a, b in
            zip(column["hits/time"], column["hits/source"], column["hits/channel"], ends, ends[1:])]
    return [hits[a:b] for a, b in zip(column["events/first_hit"], column["events/first_hit"][1:])]


def hld_event(words):
    """The HLD event in a subevent of an LMD event."""
    begin = hld_reference.encode(hld_reference.Event(0, [], hld_reference.BEGIN_RUN))
    file = hld_reference.parse_hld(begin + struct.pack(f"<{len(words)}I", *words))
    assert file.damage is None and len(file.events) == 1
    return file.events[0]


def lmd_bytes(events):
    """A file of these events."""
    head = struct.pack("<IHH", 0x7FFFFFF4, 101, 1) + bytes(8) + struct.pack("<II", 0xFFFFFFFF, 8) + bytes(8)
    return head + struct.pack("<II", 1, 0) + bytes(4) + b"EVTL" + b"".join(map(lmd_reference.encode, events))


def read_lmd_files(paths):
    """The events of numbered files, none of which may be damaged."""
    events = []
    for path in paths:
        file = read_lmd(path)
        assert file.damage is None and file.format == "101/1" and file.byte_order == "little"
        assert file.skipped_elements == 0
        events += file.events
    return events


def read_hld_files(paths):
    """Likewise; each file is a whole run, with a number after that of the previous file."""
    events, last = [], None
    for path in paths:
        file = hld_reference.read_hld(path)
        run = file.runs[0].run
        assert file.damage is None
        assert [e.id for e in file.runs] == [hld_reference.BEGIN_RUN, hld_reference.END_RUN]
        assert {e.run for e in file.runs + file.events} == {run} and last in (None, run - 1)
        events += file.events
        last = run
    return events
