"""Simulated times beside measured ones, over hosts with slow links: tests/benchmarks/prediction.py has all points.

Ranks that poll on shared cores are what the simulation knows least of; a machine that does something else has no answer.
"""

import os

import pytest

from hosts import Hosts, available
from predicted import BUFFER, HOSTS, Point, measured, simulated
from program import BINARY

MIB = 1 << 20
POINTS = [Point("round-robin", 1 << 16), Point("chaotic", 1 << 16), Point("unshifted", 1 << 16),
          Point("round-robin", MIB), Point("unshifted", MIB), Point("round-robin", MIB, "105ms")]
SLICES, REPEAT = 2, 5

pytestmark = pytest.mark.skipif(
    not os.path.exists(os.path.join(os.path.dirname(BINARY), "eventloom-simulator")), reason="built without SimGrid")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """{point: (measured, simulated)}, in multiples of the bytes' own time."""
    can, reason = available()
    if not can:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("prediction")
    with Hosts(HOSTS, rate="100mbit", buffer=BUFFER, small_first=True) as hosts:
        found = {point: (measured(hosts, folder, point, SLICES, REPEAT), simulated(folder, point, SLICES))
                 for point in POINTS}
        assert hosts.drops() == 0
    return found


def test_times_are_those_simulated(both):
    """Medians scatter by 20 %. Of five measurements the first two are often slow, over new connections."""
    ratios = [real / model for real, model in both.values()]
    assert 0.8 < sum(ratios) / len(ratios) < 1.25, both
    assert all(0.7 < ratio < 1.6 for ratio in ratios), both


def test_links_are_kept_busy(both):
    """Measured 1.1 to 1.2 for messages of 1 MiB in order, and 1.8 to 2.4 when ranks waited in flushes."""
    real, model = both[POINTS[3]]
    assert real < 1.4, both
    assert model < 1.3, both


def test_slots_of_a_quarter_more_than_a_message_take_a_quarter_more(both):
    """There is nothing left for them to order."""
    for measured_or_simulated in (0, 1):
        assert both[POINTS[3]][measured_or_simulated] < both[POINTS[5]][measured_or_simulated], both
        assert both[POINTS[5]][measured_or_simulated] > 1.2, both


@pytest.mark.usefixtures("both")
def test_slots_pay_where_packets_are_dropped(tmp_path):
    """Queues of 256 KiB: seven senders to one receiver lose packets, which is not simulated."""
    with Hosts(HOSTS, rate="100mbit", buffer="256kb", small_first=True) as hosts:
        unshifted = measured(hosts, tmp_path, POINTS[4], SLICES, REPEAT)
        assert hosts.drops() > 0
        assert measured(hosts, tmp_path, POINTS[5], SLICES, REPEAT) < unshifted
