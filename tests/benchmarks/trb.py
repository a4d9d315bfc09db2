#!/usr/bin/python3
"""TRB boards on one machine: 8 of them at 50 kHz of triggers of 500 bytes each, from `eventloom send` to built events.

    tests/benchmarks/trb.py [RUNS [BOARDS [KHZ [BYTES [SECONDS [RANKS]]]]]]

Prints one line a run: triggers sent, events built, hits lost by cause, the rate that was sent, CPU time (of mpirun alone
where there are several ranks). Sender, receivers and builder share the machine.
"""

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EVENTLOOM = Path(__file__).resolve().parents[2] / "build" / "eventloom"
FIRST_PORT = 47200
EVENTS = 2048  # in the file, which is sent again and again


def hld(boards, size):
    """Events of a subevent of each board; all but the headers is zero."""
    def event(number):
        words = (size - 16) // 4
        body = b"".join(struct.pack(">4I", 16 + 4 * words, 0x00020011, 0x8000 + board, number << 8 | number % 251)
                        + bytes(4 * words + -4 * words % 8) for board in range(boards))
        return struct.pack("<8I", 32 + len(body), 0x00030001, 0x2001, number, 0, 0, 1, 0) + body
    frame = [struct.pack("<8I", 32, 0x00030001, kind, 0, 0, 0, 1, 0) for kind in (0x00010002, 0x00010003)]
    return b"".join([frame[0], *map(event, range(EVENTS)), frame[1]])


def bound(ports):
    listed = {line.split()[1].split(":")[1] for line in Path("/proc/net/udp").read_text().splitlines()[1:]}
    return all(f"{port:04X}" in listed for port in ports)


def waiting(ports):
    """Whether datagrams wait in a socket of these ports."""
    rows = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return any(int(row[4].split(":")[1], 16) for row in rows if int(row[1].split(":")[1], 16) in ports)


def cpu_seconds():
    """Of the programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(folder, boards, khz, seconds, ranks):
    ports = list(range(FIRST_PORT, FIRST_PORT + boards))
    listed = ",".join(map(str, ports))
    launcher = ["mpirun", "--oversubscribe", "-np", str(ranks)] if ranks > 1 else []
    run = subprocess.Popen([*launcher, EVENTLOOM, "run", "--source", f"trb://:{listed}",
                            "--define", "tag", "--epochs-per-slice", "64", "--output", "run.h5", "--report-json", "run.json",
                            "--force", "--progress", "none"], cwd=folder, stdout=subprocess.DEVNULL,
                           stderr=(folder / "run.err").open("w"))
    while not bound(ports):
        assert run.poll() is None, (folder / "run.err").read_text()
        time.sleep(0.01)
    passes = max(1, round(1000 * khz * seconds / EVENTS))
    began, cpu = time.monotonic(), cpu_seconds()
    subprocess.run([EVENTLOOM, "send", "sent.hld", "--to", f"trb://127.0.0.1:{listed}", "--rate", str(1000 * khz), "--loop",
                    str(passes)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    took, sending = time.monotonic() - began, cpu_seconds() - cpu
    while waiting(ports):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    run.wait()
    report = json.loads((folder / "run.json").read_text())
    totals = report["totals"]
    lost = {cause: n for cause, n in totals["hits_dropped"].items() if n}
    drops = sum(row["counts"].get("kernel_drops", 0) for row in report["per_source"])
    print(f"{passes * EVENTS} triggers, {totals['events']} events, incomplete {totals['events_incomplete']}, "
          f"lost {lost or 'none'}, kernel drops {drops}, {passes * EVENTS / took / 1000:.1f} kHz sent in {took:.1f} s; "
          f"CPU: send {sending:.1f} s, run {cpu_seconds() - cpu - sending:.1f} s", flush=True)


def main():
    runs, boards, khz, size, seconds, ranks = [int(word) for word in sys.argv[1:]] + [3, 8, 50, 500, 5, 1][len(sys.argv) - 1:]
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", memory)) as name:
        folder = Path(name)
        (folder / "sent.hld").write_bytes(hld(boards, size))
        for _ in range(runs):
            measure(folder, boards, khz, seconds, ranks)


if __name__ == "__main__":
    main()
