"""Compares what `eventloom simulate --tcp` predicts for hosts with slow links with what `eventloom bench` measures
there."""

import json
import os
import statistics
from dataclasses import dataclass
from pathlib import Path

from program import eventloom

HOSTS, LINK = 8, 100e6 / 8  # bytes a second
PAYLOAD = 1448 / 1514  # of a TCP segment and its frame, which the links count
LATENCY = "60us"  # half a round trip, unshaped
SLICE_MS = 3  # time for which the kernel gives a core to one of the ranks that poll on it
BUFFER = "16mb"  # nothing is dropped


@dataclass(frozen=True)
class Point:
    schedule: str
    size: int
    slot: str = ""

    def words(self):
        return ["--schedule", self.schedule, "--sizes", self.size, *(["--slot", self.slot] if self.slot else [])]

    def __str__(self):
        return f"{self.schedule}{', slots of ' + self.slot if self.slot else ''}, {self.size >> 10} KiB"


SCHEDULES = ["round-robin", "chaotic", "unshifted", "balanced"]
POINTS = [*(Point(schedule, size) for size in (1 << 16, 1 << 18, 1 << 20) for schedule in SCHEDULES),
          Point("round-robin", 1 << 20, "105ms")]


def noise_us(cores=os.cpu_count()):
    """The average time that a rank waits for its core if all of them poll."""
    others = max(HOSTS / cores - 1, 0)
    return round(others * SLICE_MS * 1000 / 2)


def ideal(rate):
    """Time relative to that of the bytes alone, for a rate in bytes/us that each host receives."""
    return LINK / 1e6 / rate


def measured(hosts, folder, point, slices, repeat):
    """Median over `repeat` measurements."""
    file = Path(folder) / "bench.json"
    hosts.eventloom("bench", "patterns", "--pattern", "all-to-all", "--slices", slices * HOSTS, "--seconds", "0.01",
                    "--repeat", repeat, *point.words(), "--report-json", file, np=HOSTS, timeout=300)
    return statistics.median(map(ideal, json.loads(file.read_text())["points"][0]["rates_bytes_per_us"]))


def simulated(folder, point, slices, seeds=5, noise=noise_us()):
    """Median over seeds of the random delays."""
    file = Path(folder) / "simulation.json"
    found = []
    for seed in range(seeds):
        eventloom("simulate", "--tcp", "--nodes", HOSTS, "--link", f"{LINK * PAYLOAD * 8 / 1e6}Mbit,{LATENCY}", "--slices",
                  slices, "--noise", f"{noise}us", "--seed", seed, *point.words(), "--report-json", file)
        found.append(ideal(json.loads(file.read_text())["points"][0]["rate_bytes_per_us"]))
    return statistics.median(found)
