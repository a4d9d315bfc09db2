"""A UDP relay on this machine that loses, duplicates and delays datagrams at given rates, and knows what it passed on.

What happens to a datagram follows from the seed and from what it is, not from when it comes: the same stream meets
the same fate in each run. Knows of the framing only what it needs to tell epoch buffers apart.
"""

import contextlib
import hashlib
import os
import socket
import struct
import threading
from collections import Counter, defaultdict

from datagrams import DATA, FIELDS, FRAME_BYTES, HEADER, SO_RCVBUFFORCE

IDLE = 0.01  # s without a datagram after which the delayed ones are passed on
ROOM = 32 << 20  # bytes, for datagrams received faster than they are passed on


def roomy_socket():
    """A UDP socket of this machine with room for datagrams that come faster than they are passed on."""
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
    with contextlib.suppress(OSError):  # root may exceed the limit of the system
        one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    one.bind(("127.0.0.1", 0))
    return one


class RelayThread:
    """The thread of a relay during the `with`, and the datagrams that it holds back. A relay defines a `_step`, how to
    `_pass` a datagram on, and its `_sockets`."""

    def __init__(self):
        self._held = []  # [datagrams to go, datagram and destination]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._relay, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join(10)
        for one in self._sockets():
            one.close()

    def _relay(self):
        with contextlib.suppress(OSError):  # receivers wait for late data for a limited time, however busy the machine is
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # of this thread
        while not self._over.is_set():
            self._step()
        self._release(len(self._held))

    def _hold(self, number, *datagram):
        """Holds a datagram back until that many others have passed."""
        self._held.append([number, *datagram])

    def _one_has_passed(self):
        for held in self._held:
            held[0] -= 1
        self._release(sum(held[0] <= 0 for held in self._held))

    def _release(self, number):
        """Passes on the first `number` datagrams in order."""
        self._held.sort(key=lambda held: held[0])
        for _, *held in self._held[:number]:
            self._pass(*held)
        del self._held[:number]


class Relay(RelayThread):
    """Passes datagrams on to `target`, an address, during the `with`.

    Loses a share `loss` of them, sends `duplication` twice, and holds `reordering` back until up to `depth` later ones
    have passed. Stream headers and each stream's first epoch buffer always pass, once and in their place: a run begins
    with what all its sources have.
    """

    def __init__(self, target, seed=0, loss=0.0, duplication=0.0, reordering=0.0, depth=8):
        super().__init__()
        self.seed, self.rates, self.depth = seed, (loss, duplication, reordering), depth
        self.lost, self.doubled, self.delayed = (Counter() for _ in range(3))  # datagrams by kind
        self._seen, self._passed = Counter(), defaultdict(set)
        self._in = roomy_socket()
        self._in.settimeout(IDLE)
        self._out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._target = target
        self._quiet = threading.Event()

    @property
    def port(self):
        return self._in.getsockname()[1]

    def settle(self):
        """Returns when everything sent so far has been passed on or lost."""
        self._quiet.clear()
        assert self._quiet.wait(60), "datagrams come without end"

    def incomplete(self, source, buffers):
        """Numbers of the epoch buffers of a stream (epochs_file.Buffer) of which any byte was not passed on."""
        return {buffer.sequence for buffer in buffers
                if sum(length for _, length in self._passed[source, buffer.sequence]) < buffer.size}

    def _sockets(self):
        return [self._in, self._out]

    def _step(self):
        try:
            self._judge(self._in.recv(1 << 16))
        except TimeoutError:
            self._release(len(self._held))
            self._quiet.set()

    def _judge(self, datagram):
        _, kind, _, source, session, offset, sequence, _, _ = FIELDS.unpack_from(datagram, 8)
        lose, double, delay, depth = self._dice(kind, source, session, offset, sequence)
        spared = kind == HEADER or (kind == DATA and sequence == 0)
        loss, duplication, reordering = (0, 0, 0) if spared else self.rates
        if lose < loss:
            self.lost[kind] += 1
        elif delay < reordering:
            self.delayed[kind] += 1
            self._hold(1 + int(depth * self.depth), datagram)
            return
        else:
            self._pass(datagram)
            if double < duplication:
                self.doubled[kind] += 1
                self._pass(datagram)
        self._one_has_passed()

    def _dice(self, kind, source, session, offset, sequence):
        """Four numbers from 0 to 1 for this datagram, and others for the next one with equal fields."""
        what = (kind, source, session, offset, sequence)
        self._seen[what] += 1
        name = repr((self.seed, kind, source, offset, sequence, self._seen[what]))
        return [n / 2**32 for n in struct.unpack("<4I", hashlib.blake2b(name.encode(), digest_size=16).digest())]

    def _pass(self, datagram):
        _, kind, _, source, _, offset, sequence, _, _ = FIELDS.unpack_from(datagram, 8)
        if kind == DATA:
            self._passed[source, sequence].add((offset, len(datagram) - FRAME_BYTES))
        self._out.sendto(datagram, self._target)
