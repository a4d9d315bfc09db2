"""Timepix3 packets as SERVAL saves them, written from its manual 3.2 (raw file format); shares nothing with the C++ code."""

import struct

PIXEL_PERIOD = 1 << 34  # of 1.5625 ns
TDC_PERIOD = (1 << 35) * 12  # of 3.125 ns / 12


def address(x, y):
    """Double column, super pixel, pixel."""
    return (x // 2) << 9 | (y // 4) << 3 | (x % 2) << 2 | y % 4


def pixel(x, y, time, tot):
    """`time`: in units of 1.5625 ns. The ToA is the next multiple of 25 ns; FToA is what must be subtracted from it."""
    coarse = -(-time // 16)
    fine = coarse * 16 - time
    coarse %= 1 << 30
    return 0xB << 60 | address(x, y) << 44 | (coarse & 0x3FFF) << 30 | tot << 20 | fine << 16 | coarse >> 14


def integrated(x, y, spidr, tot):
    return 0xA << 60 | address(x, y) << 44 | tot << 30 | spidr % (1 << 16)


EDGES = {"TDC1 rise": 0xF, "TDC1 fall": 0xA, "TDC2 rise": 0xE, "TDC2 fall": 0xB}


def tdc(edge, count, time):
    """`time`: in units of 3.125 ns / 12."""
    coarse, fine = divmod(time % TDC_PERIOD, 12)
    return 0x6 << 60 | EDGES[edge] << 56 | count << 44 | coarse << 9 | (fine + 1) << 5


def global_time(ticks):
    """Two packets; `ticks`: of 25 ns."""
    spidr = ticks >> 14 & 0xFFFF
    return [0x44 << 56 | (ticks & 0xFFFFFFFF) << 16 | spidr, 0x45 << 56 | ticks >> 32 << 16 | spidr]


HEARTBEAT = 0x5C << 56


def chunk(chip, packets):
    return struct.pack(f"<{len(packets) + 1}Q", len(packets) * 8 << 48 | chip << 32 | 0x33585054, *packets)


def chunks(chip, packets, size=1000):
    """As many chunks as needed."""
    return b"".join(chunk(chip, packets[at:at + size]) for at in range(0, len(packets), size))
