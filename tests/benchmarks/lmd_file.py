#!/usr/bin/python3
"""Writes 1 GB of LMD data: a million events of 1024 bytes, each of one subevent of 249 words.

usage: tests/benchmarks/lmd_file.py PATH PROCID      nothing is done where the file is there
"""

import os
import sys

import numpy

EVENTS, WORDS, BLOCK = 1_000_000, 256, 10_000
FILE_HEADER = (0x7FFFFFF4, 1 << 16 | 101, 0, 0, 0xFFFFFFFF, 8, 0, 0, 1, 0, 0, 0)


def write(path, procid):
    event = numpy.random.default_rng(1).integers(0, 2**32, WORDS, dtype="<u4")
    event[:7] = (2 * WORDS - 4, 1 << 16 | 10, 1 << 16, 0, 2 * WORDS - 12, 1 << 16 | 10, procid)
    with open(path, "wb") as file:
        file.write(numpy.array(FILE_HEADER, "<u4").tobytes())
        for first in range(1, EVENTS, BLOCK):
            block = numpy.tile(event, (BLOCK, 1))
            block[:, 3] = numpy.arange(first, first + BLOCK)
            file.write(block.tobytes())


if __name__ == "__main__":
    target = sys.argv[1]
    if not os.path.exists(target):
        write(f"{target}.partial", int(sys.argv[2]))
        os.rename(f"{target}.partial", target)
