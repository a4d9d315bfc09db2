"""Many clients at once, few of which know how to behave: what a monitor may meet.

usage: http_load.py PORT PID [CONNECTIONS]      until the process PID has ended; prints what it did as JSON
"""

import contextlib
import json
import selectors
import socket
import sys
import time
from collections import Counter
from pathlib import Path

HEAD = b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n"
BODY = b'{"command": "stop"}'
WRONG = (b"POST /control HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
         b"Authorization: Bearer 0123456789abcdef0123456789abcdef\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY))

# What a client of each kind sends: (bytes, how many of them at a time, whether it restarts when all have been sent)
KINDS = {
    "idle": (b"", 1, False),
    "slow": (HEAD + b"X-Header: a\r\n" * 100, 1, False),
    "pipelined": ((HEAD + b"\r\n") * 50, 4096, True),
    "garbage": (bytes(range(256)) * 64, 4096, False),
    "huge": (HEAD + b"X: " + b"a" * 100_000, 4096, False),
    "wrong token": (WRONG, 4096, True),
}
BETWEEN_SLOW_BYTES = 0.1
BETWEEN_CONNECTIONS = 1.0


class Client:
    """One connection after another, all of the same kind."""

    def __init__(self, kind, port, selector, counts):
        self.kind, self.port, self.selector, self.counts = kind, port, selector, counts
        self.bytes, self.step, self.again = KINDS[kind]
        self.socket, self.next_socket = None, 0.0

    def connect(self, now):
        if now < self.next_socket:
            return
        self.sent, self.next, self.next_socket = 0, now, now + BETWEEN_CONNECTIONS
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", self.port))
        self.selector.register(self.socket, selectors.EVENT_READ, self)
        self.counts["connections"] += 1

    def close(self):
        if self.socket is None:
            return
        self.selector.unregister(self.socket)
        self.socket.close()
        self.socket = None

    def send(self, now):
        if self.socket is None or now < self.next or self.sent >= len(self.bytes):
            return
        if self.step == 1:
            self.next = now + BETWEEN_SLOW_BYTES
        with contextlib.suppress(BlockingIOError):
            self.sent += self.socket.send(self.bytes[self.sent:self.sent + self.step])
        if self.again and self.sent == len(self.bytes):
            self.sent = 0

    def receive(self):
        """Whether the server still wants this connection."""
        with contextlib.suppress(BlockingIOError):
            data = self.socket.recv(1 << 16)
            self.counts["bytes"] += len(data)
            self.counts[f"{self.kind}: replies"] += data.count(b"HTTP/1.1 ")
            return data != b""
        return True


def turn(clients, selector, now):
    """All clients do what they can at once."""
    for client in clients:
        try:
            if client.socket is None:
                client.connect(now)
            client.send(now)
        except OSError:
            client.close()
    for key, _ in selector.select(0.02):
        try:
            wanted = key.data.receive()
        except OSError:
            wanted = False
        if not wanted:
            key.data.close()


def load(port, connections=500, until=lambda: False):
    """Loads the server until the condition holds. Returns what was sent and what was answered."""
    counts = Counter()
    kinds = list(KINDS)
    with selectors.DefaultSelector() as selector:
        clients = [Client(kinds[n % len(kinds)], port, selector, counts) for n in range(connections)]
        while not until():
            turn(clients, selector, time.monotonic())
        for client in clients:
            client.close()
    return counts


def has_ended(process):
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


if __name__ == "__main__":
    process = Path("/proc", sys.argv[2])
    begin = time.monotonic()
    done = load(int(sys.argv[1]), *map(int, sys.argv[3:]), until=lambda: has_ended(process))
    print(json.dumps(done | {"CPU time [s]": time.process_time(), "time [s]": time.monotonic() - begin}))
