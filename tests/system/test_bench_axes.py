"""`eventloom bench`: axes that have been studied elsewhere: ways of reading a ring, loopback, cold memory, containers,
sizes of bursts, a second hop."""

import pytest
from test_bench import SHORT, bench, points

from program import eventloom, only_line

KIB = 1024


class TestReading:
    def test_all_ways_in_one_command(self, tmp_path):
        found = points(tmp_path, "scan", *SHORT, "--what", "rings", "--depths", "2,8", "--cells", "4KiB,64KiB", "--read",
                       "whole,hits", "--access", "pointer,copy", np=2)
        assert [(p["read"], p["access"], p["queue"], p["message_bytes"]) for p in found] == [
            (read, access, depth, cell) for read in ("whole", "hits") for access in ("pointer", "copy")
            for depth in (2, 8) for cell in (4 * KIB, 64 * KIB)]
        assert all(p["rate_bytes_per_us"] > 0 for p in found)

    def test_who_touches_more_is_slower(self, tmp_path):
        """A pointer to a message costs nothing more; copying costs several instructions per hit. Other load may hide it once."""
        def ratio():
            found = points(tmp_path, "scan", "--seconds", 0.1, "--repeat", 3, "--what", "rings", "--depths", 8, "--cells",
                           "64KiB", "--read", "whole,hits", "--access", "pointer,copy", np=2)
            rate = {(p["read"], p["access"]): p["rate_bytes_per_us"] for p in found}
            return rate["whole", "pointer"] / rate["hits", "copy"]

        assert any(ratio() > 1.2 for _ in range(5))


class TestLoopback:
    @pytest.mark.parametrize("np", [1, 2])
    def test_each_rank_sends_to_itself(self, tmp_path, np):
        found = points(tmp_path, "scan", *SHORT, "--what", "loopback", "--cells", "4KiB,64KiB", np=np)
        assert [p["message_bytes"] for p in found] == [4 * KIB, 64 * KIB]
        for point in found:
            assert point["part"] == "loopback" and point["memcpy_bytes_per_us"] > 0
            assert point["share"] == pytest.approx(point["rate_bytes_per_us"] / point["ceiling_bytes_per_us"])


class TestMemory:
    @pytest.mark.parametrize("np", [1, 2])
    def test_cold_memory_costs_time(self, tmp_path, np):
        found = points(tmp_path, "scan", "--seconds", 0.05, "--repeat", 1, "--what", "memory", "--cells", "64KiB", np=np)
        warm, cold = found
        assert [p["what"] for p in found] == ["warm", "cold"] and 0 < warm["ns"] < cold["ns"]
        for point in found:
            assert point["rate_bytes_per_us"] == pytest.approx(64 * KIB / point["ns"] * 1000)


class TestContainers:
    HITS = 50_000

    @pytest.fixture(scope="class")
    def cost(self, tmp_path_factory):
        found = points(tmp_path_factory.mktemp("containers"), "scan", "--what", "containers", "--hits", self.HITS,
                       "--distance", "100ns", "--repeat", 3, np=None)
        return {point["what"]: point for point in found}

    def test_sizes_follow_from_the_formats(self, cost):
        """formats/spikes.hpp: a packet's header takes 40 bytes, a spike 4, or 8 if it is more than 32,767 ns after the
        previous one; formats/epoch_buffer.hpp: 64 bytes per buffer, 8 per hit, 4 per epoch."""
        assert list(cost) == ["a spike each", "packed spikes", ".epochs"]
        assert cost["a spike each"]["bytes"] == 44 * self.HITS
        packets = -(-self.HITS // 4096)
        assert cost["packed spikes"]["bytes"] == 4 * self.HITS + 40 * packets
        per_hit = cost[".epochs"]["bytes_per_hit"]
        # 100 hits in an epoch of 10 us; a buffer is closed with the epoch in which it reaches 512 words, here the
        # third.
        assert 8 + 4 / 100 + 64 / 300 == pytest.approx(per_hit, rel=0.02)

    def test_times_and_sizes_per_hit(self, cost):
        for point in cost.values():
            assert point["bytes_per_hit"] == pytest.approx(point["bytes"] / self.HITS)
            assert min(point["encode_ns"], point["decode_ns"]) > 0
        assert cost["a spike each"]["encode_ns"] > cost["packed spikes"]["encode_ns"]


class TestBursts:
    OPTIONS = ("--rate", 1_000_000, "--seconds", 0.1, "--limit", "none")

    def test_sizes_of_bursts(self, tmp_path):
        """A burst of several hits is an event, but a single hit is not."""
        found = points(tmp_path, "sources", *self.OPTIONS, "--bunch", "1,10,100", "--sources", 1, "--define", "gap:0ns,2",
                       "--timing", "poisson", np=2)
        assert [p["bunch"] for p in found] == [1, 10, 100]
        one, ten, hundred = found
        for point in (ten, hundred):
            assert point["balanced"] and point["hits_made"] % point["bunch"] == 0
            assert 0 < point["events"] <= point["hits_built"] / point["bunch"]
        assert one["events"] < one["hits_built"] / 100

    @pytest.mark.parametrize("np, filters", [(1, 1), (2, 2), (3, 1)])
    def test_a_second_hop(self, tmp_path, np, filters):
        [point] = points(tmp_path, "sources", *self.OPTIONS, "--filters", filters, np=np)
        assert point["filters"] == filters and point["balanced"] and point["damaged_packets"] == 0
        assert point["hits_built"] == point["hits_made"] > 0 and point["events"] > 0
        latency = point["latency"]
        assert {times["count"] for times in latency.values()} == {point["packets"]}
        means = [latency[stage]["mean_ns"] for stage in ("received", "built", "filtered", "written")]
        assert 0 < means[0] and means == sorted(means)

    def test_filters_write(self, tmp_path):
        points(tmp_path, "sources", *self.OPTIONS, "--filters", 1, "--output", tmp_path / "live.h5", np=2)
        assert sum(path.name.startswith("live") for path in tmp_path.iterdir()) == 1


@pytest.mark.parametrize("words, reported", [
    (["scan", "--read", "upside-down"], "--read"),
    (["scan", "--access", "telepathy"], "--access"),
    (["scan", "--access", ","], "--access"),
    (["scan", "--hits", "0"], "--hits"),
    (["scan", "--distance", "0ns"], "--distance"),
    (["sources", "--bunch", "0"], "--bunch"),
    (["sources", "--filters", "-1"], "--filters"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_mistakes(words, reported):
    only_line(eventloom("bench", *words, code=2), reported)


def test_setup_says_that_nothing_was_asked_of_the_system(tmp_path):
    assert bench(tmp_path, "scan", "--what", "containers", "--hits", 10, np=None)["setup"]["realtime"] is None
