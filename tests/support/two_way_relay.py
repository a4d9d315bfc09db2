"""A UDP relay on this machine that loses, duplicates and delays datagrams in both directions, and counts them."""

import contextlib
import random
import selectors
from collections import Counter

from relay import RelayThread, roomy_socket

IDLE = 0.003  # s without a datagram after which the delayed ones are passed on
THERE, BACK = "there", "back"


class TwoWayRelay(RelayThread):
    """Passes datagrams on to `target`, an address, and the answers back to their senders, during the `with`.

    Loses a share `loss` of them, sends `duplication` twice, and holds `reordering` back until up to `depth` later ones
    have passed; `spare(datagram)`: whether it always passes. `tap(way, datagram)` sees each datagram received.
    """

    def __init__(self, target, seed=0, loss=0.0, duplication=0.0, reordering=0.0, depth=8, spare=None, tap=None):
        super().__init__()
        self.rates, self.depth = (loss, duplication, reordering), depth
        self.lost, self.bytes, self.datagrams = Counter(), Counter(), Counter()  # of received data, by way
        self._random = {way: random.Random(f"{seed} {way}") for way in (THERE, BACK)}
        self._spare, self._tap = spare or (lambda _: False), tap or (lambda *_: None)
        self._target = target
        self._front = self._bound()
        self._outs, self._peers = {}, {}  # socket by peer, peer by socket
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._front, selectors.EVENT_READ)

    @property
    def port(self):
        return self._front.getsockname()[1]

    def _sockets(self):
        return [self._front, *self._outs.values()]

    @staticmethod
    def _bound():
        one = roomy_socket()
        one.setblocking(False)
        return one

    def _step(self):
        ready = self._selector.select(IDLE)
        for key, _ in ready:
            self._read(key.fileobj)
        if not ready:
            self._release(len(self._held))

    def _read(self, one):
        with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
            for _ in range(64):
                datagram, peer = one.recvfrom(1 << 16)
                if one is self._front:
                    self._judge(THERE, datagram, self._out_for(peer), self._target)
                else:
                    self._judge(BACK, datagram, self._front, self._peers[one])

    def _out_for(self, peer):
        if peer not in self._outs:
            self._outs[peer] = out = self._bound()
            self._peers[out] = peer
            self._selector.register(out, selectors.EVENT_READ)
        return self._outs[peer]

    def _judge(self, way, datagram, *where):
        self.bytes[way] += len(datagram)
        self.datagrams[way] += 1
        self._tap(way, datagram)
        lose, double, delay, depth = (self._random[way].random() for _ in range(4))
        loss, duplication, reordering = (0, 0, 0) if self._spare(datagram) else self.rates
        if lose < loss:
            self.lost[way] += 1
        elif delay < reordering:
            self._hold(1 + int(depth * self.depth), datagram, *where)
            return
        else:
            for _ in range(2 if double < duplication else 1):
                self._pass(datagram, *where)
        self._one_has_passed()

    @staticmethod
    def _pass(datagram, out, to):
        with contextlib.suppress(ConnectionRefusedError, BlockingIOError):
            out.sendto(datagram, to)
