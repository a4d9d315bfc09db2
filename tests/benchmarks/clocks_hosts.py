#!/usr/bin/env python3
"""Synchronised clocks of two hosts in network namespaces, over TCP, with paths of known delays. A time namespace sets the second
host's steady clock ahead by a known time, so that every error is against the truth, not against another synchronisation. Prints
medians of the errors' absolute values as Markdown, in us.

usage: tests/benchmarks/clocks_hosts.py [REPEAT [SECONDS]]      after jobs/setup.sh --tests, as root
"""

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from host_clocks import PATHS, error_of_reference, measured, true_error, two_hosts  # noqa: E402

COLUMNS = {
    "shortest round trip": lambda one: one["round_trip_ns"]["least"],
    "error at once": lambda one: true_error(one["at_sync"]),
    "offset alone": lambda one: true_error(one["after"], "uncorrected_ns"),
    "drift corrected": lambda one: true_error(one["after"]),
    "kept in step": lambda one: true_error(one["after"], "kept_ns"),
    "a second synchronisation": lambda one: error_of_reference(one["after"]),
    "bound at once": lambda one: one["precision_ns"],
}


def main(repeat, seconds):
    print(f"| path | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    for path, delays in PATHS.items():
        with tempfile.TemporaryDirectory() as folder, two_hosts(delays) as hosts:
            [point] = measured(hosts, folder, "--sync", "1s", "--duration", f"{seconds}s", repeat=repeat, timeout=600)
        medians = [statistics.median(abs(read(one)) for one in point["repetitions"]) for read in COLUMNS.values()]
        print(f"| {path} | {' | '.join(f'{ns / 1000:.3f}' for ns in medians)} |", flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["3", "5"][len(sys.argv) - 1:])))
