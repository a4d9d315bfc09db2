"""Reader and writer of .spikes files in Python, by the layout drawn in formats/spikes.hpp; shares nothing with the C++ code.

The reader is strict: it raises ValueError at the first thing that is not as drawn.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from epochs_file import crc32c

FILE_MAGIC, PACKET_MAGIC = b"\x891SPIKE\n", b"SPKT"
FILE_TAIL = struct.Struct("<QII")  # tick_ps, channel base, 0
PACKET_TAIL = struct.Struct("<IIIIQQ")  # CRC32C of the entries, entries, spikes, 0, sequence, start
FILE_HEADER, PACKET_HEADER = 16 + FILE_TAIL.size, 8 + PACKET_TAIL.size
MAX_DELTA, MAX_OVERFLOW = 0x7FFF, 0x7FFFFFFF
OVERFLOW = 1 << 31


@dataclass
class SpikesFile:
    tick_ps: int
    channel_base: int
    time: np.ndarray
    channel: np.ndarray
    packets: list  # offset of each in the file


def demand(condition, what):
    if not condition:
        raise ValueError(what)


def read_spikes(path):
    data = Path(path).read_bytes()
    tail = data[16:FILE_HEADER]
    demand(data[:8] == FILE_MAGIC and data[8:16] == struct.pack("<II", 1, crc32c(tail)), "header of the file")
    tick_ps, channel_base, _ = FILE_TAIL.unpack(tail)
    times, labels, packets, at = [], [], [], FILE_HEADER
    while at < len(data):
        packets.append(at)
        time, label, at = _read_packet(data, at, len(packets) - 1)
        times.append(time)
        labels.append(label)
    time = np.concatenate([np.zeros(0, dtype=np.uint64), *times])
    channel = channel_base + np.concatenate([np.zeros(0, dtype=np.uint32), *labels])
    return SpikesFile(tick_ps, channel_base, time, channel, packets)


def _read_packet(data, at, number):
    tail = data[at + 8:at + PACKET_HEADER]
    demand(len(tail) == PACKET_TAIL.size, f"the packet at {at} is cut")
    demand(data[at:at + 8] == PACKET_MAGIC + struct.pack("<I", crc32c(tail)), f"header of the packet at {at}")
    entries_crc, n_entries, n_spikes, _, sequence, start = PACKET_TAIL.unpack(tail)
    end = at + PACKET_HEADER + 4 * n_entries
    body = data[at + PACKET_HEADER:end]
    demand(len(body) == 4 * n_entries and crc32c(body) == entries_crc, f"entries of the packet at {at}")
    demand(sequence == number, f"the packet at {at} has number {sequence}, not {number}")
    entries = np.frombuffer(body, dtype="<u4")
    is_spike = entries < OVERFLOW
    demand(is_spike.sum() == n_spikes, f"number of spikes in the packet at {at}")
    steps = np.where(is_spike, entries >> 16, entries & MAX_OVERFLOW).astype(np.uint64)
    time = np.uint64(start) + np.cumsum(steps, dtype=np.uint64)
    return time[is_spike], entries[is_spike] & 0xFFFF, end


def write_spikes(path, time, channel, tick_ps=1000, channel_base=0, packet_spikes=500):
    """Packets have `packet_spikes` spikes each, fewer where times go back or a gap is too long for one entry."""
    time, label = [int(t) for t in time], [int(c) - channel_base for c in channel]
    demand(all(0 <= n <= 0xFFFF for n in label), "a channel beyond 16 bits above the base")
    tail = FILE_TAIL.pack(tick_ps, channel_base, 0)
    packets, first = [], 0
    while first < len(time):
        entries, end = _entries(time, label, first, packet_spikes)
        packets.append(packet(len(packets), time[first], entries, end - first))
        first = end
    Path(path).write_bytes(FILE_MAGIC + struct.pack("<II", 1, crc32c(tail)) + tail + b"".join(packets))


def _entries(time, label, first, packet_spikes):
    entries, last, at = [], time[first], first
    while at < len(time) and at - first < packet_spikes and 0 <= time[at] - last <= MAX_OVERFLOW:
        delta = time[at] - last
        if delta > MAX_DELTA:
            entries.append(OVERFLOW | delta)
            delta = 0
        entries.append(delta << 16 | label[at])
        last, at = time[at], at + 1
    return entries, at


def packet(sequence, start, entries, n_spikes):
    """The bytes of one packet."""
    body = np.array(entries, dtype="<u4").tobytes()
    tail = PACKET_TAIL.pack(crc32c(body), len(entries), n_spikes, 0, sequence, start)
    return PACKET_MAGIC + struct.pack("<I", crc32c(tail)) + tail + body
