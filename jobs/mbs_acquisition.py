#!/usr/bin/env python3
"""Starts or stops the acquisition of MBS front ends: a run hook, eventloom run --run-hook 'jobs/mbs_acquisition.py HOST...'.

usage: mbs_acquisition.py HOST[:PORT]... NUMBER start|stop

Each front end must have its remote command task (`start cmdrem`, port 6019). A command is a record of 524 bytes: the
number 1, which tells the byte order, a number of the command, a status, and 512 characters. The answer is such a record
with status 0, where the command was carried out; records with number 0xffffffff only keep the connection alive. This is
what DABC's MBS monitor sends (plugins/mbs/mbs/Monitor.h of DABC 2). Exit code 0 if all front ends have answered so. If
one of them does not start, the run does not begin: the others are stopped again.
"""

import socket
import struct
import sys
import time

PORT = 6019
COMMANDS = {"start": "start acquisition", "stop": "stop acquisition"}
RECORD = struct.Struct("=III512s")
BYTE_ORDERS = {1: "<", 1 << 24: ">"}
ALIVE = 0xffffffff
PATIENCE = 20  # s, for an answer


def printable(text):
    """Without what would control a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def receive(connection):
    """(number of the command, status, text) of the next record that is not only to keep the connection alive."""
    deadline = time.monotonic() + PATIENCE
    while True:
        record = b""
        while len(record) < RECORD.size:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            part = connection.recv(RECORD.size - len(record))
            if not part:
                raise OSError("it has closed the connection")
            record += part
        order = BYTE_ORDERS.get(struct.unpack("<I", record[:4])[0])
        if order is None:
            raise OSError("it does not answer as a remote command task")
        _, number, status, text = struct.unpack(f"{order}III512s", record)
        if number != ALIVE:
            return number, status, printable(text.split(b"\0")[0].decode("latin-1"))


def command(place, text):
    """Returns why the front end did not carry out the command; "" if it did."""
    host, _, port = place.partition(":")
    try:
        with socket.create_connection((host, int(port or PORT)), timeout=PATIENCE) as connection:
            connection.sendall(RECORD.pack(1, 1, 0, text.encode()))
            number, status, said = receive(connection)
    except (OSError, ValueError) as error:
        return str(error)
    if number != 1:
        return f"it has answered command {number}, not 1"
    return f"status {status}: {said}" if status else ""


def carry_out(places, number, when):
    """Returns the places whose front ends did not carry out the command; reports them."""
    failed = {place: why for place in places if (why := command(place, COMMANDS[when]))}
    for place, why in failed.items():
        print(f"mbs_acquisition.py: run {number}: '{COMMANDS[when]}' on {place} failed: {why}", file=sys.stderr)
    return failed


def main(words):
    if len(words) < 3 or words[-1] not in COMMANDS or not words[-2].isdigit():
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    *places, number, when = words
    failed = carry_out(places, number, when)
    if failed and when == "start":
        carry_out([place for place in places if place not in failed], number, "stop")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
