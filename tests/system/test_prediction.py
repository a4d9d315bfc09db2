"""What `simulate --tcp` predicts for hosts with slow links, and what `bench` finds there, as far as it can be counted.

Times depend on what else the machine does: tests/benchmarks/prediction.py --judge measures and compares them. Here the
simulation must still give what was compared then, and packets are counted.
"""

import os
import re

import pytest

from hosts import Hosts, available
from predicted import BUFFER, HOSTS, SCHEDULES, Point, measured, noise_us, simulated
from program import BINARY, ROOT

MIB = 1 << 20
SLOTS = Point("round-robin", MIB, "105ms")
SIZES = {"64 KiB": 1 << 16, "256 KiB": 1 << 18, "1 MiB": MIB}
CORES, SLICES = 2, 4  # of the stored measurements

pytestmark = pytest.mark.skipif(
    not os.path.exists(os.path.join(os.path.dirname(BINARY), "eventloom-simulator")), reason="built without SimGrid")


def compared():
    """{point: (measured, simulated)}, in multiples of the bytes' own time, as the page shows them."""
    page = (ROOT / "app/tools/simulate/README.md").read_text()
    head, rows = re.search(r"^\| schedule \| (64 KiB measured .*) \|\n\|[-|]+\n((?:\| .*\n)+)", page, re.MULTILINE).groups()
    sizes = [SIZES[cell.removesuffix(" measured")] for cell in head.split(" | ")[::2]]
    found = {}
    for row in rows.splitlines():
        name, *values = [cell.strip() for cell in row.strip("|").split("|")]
        schedule, _, slot = name.strip("`").partition(" --slot ")
        for size, real, model in zip(sizes, values[::2], values[1::2]):
            if real:
                found[Point(schedule, size, slot)] = float(real), float(model)
    return found


COMPARED = compared()


@pytest.fixture(scope="module")
def hosts_can_be_made():
    can, reason = available()
    if not can:
        pytest.skip(reason)


def test_all_points_were_compared():
    assert COMPARED.keys() == {*(Point(schedule, size) for size in SIZES.values() for schedule in SCHEDULES), SLOTS}
    assert all(1 / 1.2 < real / model < 1.2 for real, model in COMPARED.values()), COMPARED


@pytest.mark.every_case
@pytest.mark.parametrize("point", COMPARED, ids=str)
def test_the_simulation_still_gives_what_was_compared(tmp_path, point):
    """5 %: other versions of SimGrid."""
    assert simulated(tmp_path, point, SLICES, noise=noise_us(CORES)) == pytest.approx(COMPARED[point][1], rel=0.05)


def test_large_queues_drop_nothing_and_links_are_not_exceeded(tmp_path, hosts_can_be_made):
    with Hosts(HOSTS, rate="100mbit", buffer=BUFFER, small_first=True) as hosts:
        assert measured(hosts, tmp_path, Point("unshifted", MIB), slices=2, repeat=1) > 1.04  # headers alone take 1.05
        assert hosts.drops() == 0


def test_slots_keep_packets_from_being_dropped(tmp_path, hosts_can_be_made):
    """Queues of 256 KiB: seven senders to one receiver lose packets, which is not simulated. Of those lost with slots most are of
    the warm-up, which has none. They were a fifth."""
    drops = {}
    for point in (Point("unshifted", MIB), SLOTS):
        with Hosts(HOSTS, rate="100mbit", buffer="256kb", small_first=True) as hosts:
            measured(hosts, tmp_path, point, slices=2, repeat=3)
            drops[point] = hosts.drops()
    assert 0 < drops[SLOTS] * 2 < drops[Point("unshifted", MIB)], drops
