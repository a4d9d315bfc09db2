#!/usr/bin/env python3
"""All to all over 8 hosts in network namespaces with links of 100 Mbit/s that drop what waits too long: which schedule
takes how long, beside the time that the bytes take. Prints medians as Markdown.

usage: tests/benchmarks/shaped_links.py [RUNS]      after jobs/setup.sh --tests, as root
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from hosts import Hosts  # noqa: E402

HOSTS, RATE, SIZE, SLICES = 8, 100e6 / 8, 1 << 20, 8
SCHEDULES = ["round-robin", "chaotic", "unshifted"]


def measure(hosts, schedule, folder):
    """Seconds that it took, and packets dropped meanwhile."""
    report = Path(folder) / "bench.json"
    before = hosts.drops()
    hosts.eventloom("bench", "patterns", "--pattern", "all-to-all", "--sizes", SIZE, "--slices", SLICES, "--seconds", "0.01",
                    "--repeat", 1, "--schedule", schedule, "--report-json", report, np=HOSTS, timeout=300)
    return json.loads(report.read_text())["points"][0]["seconds"], hosts.drops() - before


def main(runs):
    found = {schedule: [] for schedule in SCHEDULES}
    with tempfile.TemporaryDirectory() as folder, Hosts(HOSTS, rate="100mbit", buffer="1mb") as hosts:
        for _ in range(runs):
            for schedule in SCHEDULES:
                found[schedule].append(measure(hosts, schedule, folder))
    ideal = SLICES / HOSTS * (HOSTS - 1) * SIZE / RATE
    print("| schedule | seconds | of the bytes' own time | packets dropped |\n|---|---|---|---|")
    for schedule, results in found.items():
        seconds, drops = map(statistics.median, zip(*results))
        print(f"| {schedule} | {seconds:.2f} | {seconds / ideal:.2f} | {drops:.0f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
