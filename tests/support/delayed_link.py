"""A link between two network namespaces on which every frame takes a given time, as the kernel's netem would make it, which many
kernels lack: a tap device at either end, and this program between them. Needs root.

usage: delayed_link.py NAMESPACE:DEVICE NAMESPACE:DEVICE MICROSECONDS MICROSECONDS      there and back; says "ready"
"""

import collections
import contextlib
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

NEW_NETWORK = 0x40000000
SET_INTERFACE = 0x400454CA
TAP, NO_PACKET_INFORMATION = 0x0002, 0x1000
TIMER_SLACK = 29  # of prctl
FRAME = 65536
LIBC = ctypes.CDLL(None, use_errno=True)


def tap(place):
    """Creates the device, which exists as long as this program."""
    namespace, _, device = place.partition(":")
    with open(f"/run/netns/{namespace}") as file:
        if LIBC.setns(file.fileno(), NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), f"no namespace {namespace}")
    descriptor = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(descriptor, SET_INTERFACE, struct.pack("16sH22x", device.encode(), TAP | NO_PACKET_INFORMATION))
    return descriptor


class Direction:
    """Frames from one device, each due at the other one after the delay."""

    def __init__(self, source, target, seconds):
        self.source, self.target, self.seconds = source, target, seconds
        self.frames = collections.deque()

    def take(self):
        self.frames.append((time.monotonic() + self.seconds, os.read(self.source, FRAME)))

    def deliver(self):
        while self.frames and self.frames[0][0] <= time.monotonic():
            with contextlib.suppress(OSError):  # a device that is down drops frames
                os.write(self.target, self.frames.popleft()[1])

    def due(self):
        return self.frames[0][0] if self.frames else float("inf")


def main(there, back, *microseconds):
    LIBC.prctl(TIMER_SLACK, 1, 0, 0, 0)
    ends = tap(there), tap(back)
    directions = [Direction(*pair, int(us) * 1e-6) for pair, us in zip((ends, ends[::-1]), microseconds)]
    print("ready", flush=True)
    while True:
        wait = min(direction.due() for direction in directions) - time.monotonic()
        ready, _, _ = select.select(ends, [], [], None if wait == float("inf") else max(wait, 0))
        for direction in directions:
            if direction.source in ready:
                direction.take()
            direction.deliver()


if __name__ == "__main__":
    main(*sys.argv[1:])
