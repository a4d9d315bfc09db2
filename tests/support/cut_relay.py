"""A TCP relay on this machine that resets connections, at both ends, after given numbers of bytes."""

import fcntl
import selectors
import socket
import struct
import termios
import threading
import time
from collections import deque

from datagrams import HOST
from interrupted import until

PIECE = 1 << 14  # bytes passed on at a time
RESET = struct.pack("ii", 1, 0)  # of SO_LINGER: close() sends RST


def unconfirmed(one):
    """Bytes sent that the other end's system does not have yet."""
    return struct.unpack("i", fcntl.ioctl(one, termios.TIOCOUTQ, bytes(4)))[0]


class CutRelay:
    """Passes connections on to a port, one after the other, during the `with`, and cuts them.

    `cut_after(n)`: a connection is reset when `n` more bytes of the server's have arrived at the client. Several wait for one
    another; the bytes are then counted from the cut before. All that the client's system has received it can read."""

    def __init__(self, target, cuts=()):
        self._cuts, self._left, self._cut_at = deque(cuts), None, None
        self.made, self.ended = 0, False  # cuts; whether the server has ended, or is gone
        self.passed = []  # bytes of the server's that have arrived at the client, by connection
        self.downtimes = []  # s, from a cut to the first byte of the next connection that had any
        self._target, self._over = target, threading.Event()
        self._listener = socket.create_server((HOST, 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._relay, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join(60)
        self._listener.close()

    def cut_after(self, n):
        self._cuts.append(n)

    def _relay(self):
        with selectors.DefaultSelector() as ready:
            ready.register(self._listener, selectors.EVENT_READ)
            while not self._over.is_set():
                if ready.select(0.05):
                    with self._listener.accept()[0] as client:
                        self._connect(client)

    def _connect(self, client):
        try:
            server = socket.create_connection((HOST, self._target))
        except ConnectionRefusedError:
            self.ended = True
            return
        with server:
            self.passed.append(b"")
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pass_on(client, server)

    def _pass_on(self, client, server):
        """Until an end closes the connection, or it is cut."""
        ways = {server: lambda: self._to_client(client, server), client: lambda: self._to_server(client, server)}
        with selectors.DefaultSelector() as ready:
            for one in ways:
                ready.register(one, selectors.EVENT_READ)
            try:
                while not self._over.is_set():
                    for key, _ in ready.select(0.05):
                        if not ways[key.fileobj]():
                            return
            except ConnectionError:
                pass  # reset by an end; the other one is closed

    def _to_client(self, client, server):
        data = server.recv(PIECE)
        if self._left is None and self._cuts:
            self._left = self._cuts.popleft()
        data = data[:self._left]
        if not data:
            until(lambda: unconfirmed(client) == 0, "the client's system has received all")
            self.ended = True
            return False
        client.sendall(data)
        self.passed[-1] += data
        self._note_downtime()
        if self._left is not None:
            self._left -= len(data)
            if self._left == 0:
                self._cut(client, server)
                return False
        return True

    @staticmethod
    def _to_server(client, server):
        data = client.recv(PIECE)
        server.sendall(data)
        return bool(data)

    def _note_downtime(self):
        if self._cut_at is not None:
            self.downtimes.append(time.monotonic() - self._cut_at)
            self._cut_at = None

    def _cut(self, client, server):
        until(lambda: unconfirmed(client) == 0, "the client's system has received all")
        for one in (client, server):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            one.close()
        self._left, self._cut_at = None, time.monotonic()
        self.made += 1
