#!/usr/bin/env python3
"""Simulated beside measured: all to all over 8 hosts in network namespaces with links of 100 Mbit/s, by schedule and size of
the messages, as multiples of the time that the bytes take. Prints medians as Markdown.

usage: tests/benchmarks/prediction.py [REPEAT [SLICES]]      after jobs/setup.sh --tests, as root, nothing else running
"""

import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from hosts import Hosts  # noqa: E402
from predicted import BUFFER, HOSTS, POINTS, measured, noise_us, simulated  # noqa: E402


def main(repeat, slices):
    print(f"--noise {noise_us()}us\n")
    print("| schedule, message | measured | simulated | measured / simulated | dropped |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, \
            Hosts(HOSTS, rate="100mbit", buffer=BUFFER, small_first=True) as hosts:
        for point in POINTS:
            before = hosts.drops()
            real, model = measured(hosts, folder, point, slices, repeat), simulated(folder, point, slices)
            print(f"| {point} | {real:.2f} | {model:.2f} | {real / model:.2f} | {hosts.drops() - before} |", flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["5", "4"][len(sys.argv) - 1:])))
