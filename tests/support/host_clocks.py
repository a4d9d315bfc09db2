"""`eventloom bench clocks` between hosts of one machine whose clocks are known: a time namespace shifts the steady clock of one of
them by whole seconds, so that the true offset is exact, and nothing drifts."""

import json
from pathlib import Path

from hosts import Hosts

AHEAD_S = 1000
NS = 1_000_000_000
# Microseconds from rank 0 to rank 1, and back; None: as fast as the kernel passes packets on.
PATHS = {"at once": None, "1 ms each way": (1000, 1000), "1 ms there, 3 ms back": (1000, 3000)}


def two_hosts(delays=None):
    """Hosts h1 of rank 0, and h2 whose clock is ahead. `delays`: microseconds from rank 0 to rank 1, and back."""
    return Hosts(2, delays={2: delays[::-1]} if delays else None, clocks={2: AHEAD_S})


def measured(hosts, folder, *words, repeat=1, timeout=120):
    """The benchmark's report, whose points are of rank 1, one for each duration."""
    file = Path(folder) / "clocks.json"
    hosts.eventloom("bench", "clocks", *words, "--repeat", repeat, "--report-json", file, np=2, timeout=timeout)
    return json.loads(file.read_text())


def error_of_reference(errors):
    """Of the benchmark's own reference between hosts, which is a second synchronisation, in ns."""
    reading = errors["reading"]
    return reading["master_ns"] - (reading["local_ns"] - AHEAD_S * NS)


def true_error(errors, member="corrected_ns"):
    """Of rank 0's time as rank 1 computed it, in ns."""
    return error_of_reference(errors) + errors[member]
