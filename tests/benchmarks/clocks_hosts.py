#!/usr/bin/env python3
"""Synchronised clocks of two hosts in network namespaces, over TCP, with paths of known delays. A time namespace sets the second
host's steady clock ahead by a known time, so that every error is against the truth, not against another synchronisation. Prints
medians of the errors' absolute values as Markdown, in us; writes them as `bench` does.

usage: tests/benchmarks/clocks_hosts.py [--repeat N] [--seconds N] [--report-json FILE]      after jobs/setup.sh --tests, as root
"""

import argparse
import json
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


def measure(path, delays, options):
    """Medians of the path by column, in us, and the load meanwhile."""
    with tempfile.TemporaryDirectory() as folder, two_hosts(delays) as hosts:
        report = measured(hosts, folder, "--sync", "1s", "--duration", f"{options.seconds}s", repeat=options.repeat, timeout=600)
    [point] = report["points"]
    medians = {name: statistics.median(abs(read(one)) for one in point["repetitions"]) / 1000 for name, read in COLUMNS.items()}
    return {"way": path, **medians}, report["load"]


def main(options):
    print(f"| path | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    points, hosts = [], []
    for path, delays in PATHS.items():
        point, load = measure(path, delays, options)
        print(f"| {path} | {' | '.join(f'{point[name]:.3f}' for name in COLUMNS)} |", flush=True)
        points.append(point)
        hosts += load["hosts"]
    if options.report_json:
        load = {"loaded": any(host["loaded"] for host in hosts), "hosts": hosts}
        options.report_json.write_text(json.dumps({"points": points, "load": load, "notes": []}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="clocks_hosts.py", description="Synchronised clocks of two hosts, against the known offset.")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="after which the errors are measured again")
    parser.add_argument("--report-json", type=Path)
    main(parser.parse_args())
