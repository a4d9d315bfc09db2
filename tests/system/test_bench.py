"""`eventloom bench`: it moves what it says, counts what it moves, and shows what schedules are about.

Rates are compared only within a run, as the machine may be shared.
"""

import collections
import json
import shutil

import pytest

from program import eventloom, only_line, schedule_table

KIB = 1024
RANKS = [1, 2, 4]
SLICES = 243  # not a multiple of any number of builders
PATTERNS = {
    "one-to-one": lambda a, b, ranks: (a, b) == (0, 1),
    "one-to-all": lambda a, b, ranks: a == 0,
    "all-to-one": lambda a, b, ranks: b == 0,
    "all-to-all": lambda a, b, ranks: True,
    "fixed-target": lambda a, b, ranks: b == (a + 1) % ranks,
}
SCHEDULES = ["round-robin", "chaotic", "balanced", "unshifted", "table"]
SHORT = ("--seconds", "0.02", "--repeat", 1)
MICROSECOND = 1e-6


def connections(pattern, ranks):
    """Pairs of sender and receiver: no rank sends to itself unless it is alone."""
    if ranks == 1:
        return {(0, 0)}
    return {(a, b) for a in range(ranks) for b in range(ranks) if a != b and PATTERNS[pattern](a, b, ranks)}


def order_of_builders(schedule, builders):
    """The builders of slices 0, 1, and so on, repeated from the start."""
    return [*range(builders), 0] if schedule == "table" else [*range(builders)]


def bench(folder, what, *options, np, code=0, timeout=300):
    """Runs a benchmark and returns its JSON."""
    file = folder / "bench.json"
    eventloom("bench", what, *options, "--report-json", file, np=np, code=code, timeout=timeout)
    return json.loads(file.read_text())


def points(folder, what, *options, np, **more):
    return bench(folder, what, *options, np=np, **more)["points"]


def messages_of(point):
    return {(c["from"], c["to"]): c["messages"] for c in point["connections"]}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """By number of ranks: all patterns with all schedules, with every byte checked."""
    folder = tmp_path_factory.mktemp("patterns")
    found = {}
    for ranks in RANKS:
        schedules = ",".join(schedule_table(folder, ranks, ranks) if name == "table" else name for name in SCHEDULES)
        found[ranks] = bench(folder, "patterns", *SHORT, "--sizes", "1KiB", "--slices", SLICES, "--verify",
                             "--schedule", schedules, np=ranks)
    return found


@pytest.fixture(scope="module")
def report(reports):
    return reports[2]


def point_of(report, pattern, schedule):
    found = [point for point in report["points"]
             if point["pattern"] == pattern and point["schedule"].partition(":")[0] == schedule]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("pattern", PATTERNS)
class TestPatterns:
    @pytest.fixture
    def point(self, reports, pattern, schedule, ranks):
        return point_of(reports[ranks], pattern, schedule)

    @pytest.fixture
    def expected(self, point, pattern, schedule, ranks):
        """Messages of each connection: one for each slice of its builder."""
        order = order_of_builders(schedule, ranks)
        slices = collections.Counter(order[n % len(order)] for n in range(SLICES))
        if schedule == "balanced":  # decided by the run
            slices = dict(enumerate(point["slices_of_builder"]))
        return {(a, b): slices[b] for a, b in connections(pattern, ranks)}

    def test_connections_carry_the_slices_of_their_builders(self, point, expected):
        assert messages_of(point) == expected
        assert all(c["bytes"] == c["messages"] * KIB for c in point["connections"])
        assert point["verify_errors"] == 0

    def test_builders_have_every_slice_once(self, point, expected, schedule, ranks):
        receivers = {b for _, b in expected}
        assert point["slices_of_builder"] == [max((n for (_, to), n in expected.items() if to == b), default=0)
                                              for b in range(ranks)]
        if schedule == "balanced" or len(receivers) == ranks:
            assert sum(point["slices_of_builder"]) == SLICES  # only receiving ranks claim slices
        assert point["slices"] == sum(point["slices_of_builder"])

    def test_sums(self, point, expected, pattern, ranks):
        messages = sum(expected.values())
        assert point["messages"] == point["exchange"]["messages"] == messages  # of receivers, of senders
        assert point["bytes"] == point["exchange"]["message_bytes"] == messages * KIB
        a_rank = min(len({a for a, _ in expected}), len({b for _, b in expected}))
        assert point["rate_bytes_per_us"] == pytest.approx(point["bytes"] / point["seconds"] / a_rank * MICROSECOND)

    def test_small_messages_share_cells_and_notifications(self, point, expected):
        """No slice has a hidden message: notifications concern cells, and these are full."""
        exchange = point["exchange"]
        assert exchange["message_bytes"] < exchange["cell_bytes"] <= exchange["cells"] * point["cell_bytes"]
        assert exchange["notifications"] <= exchange["cells"]
        assert exchange["cells"] <= exchange["messages"] / 4 + len(expected)

    def test_only_the_balanced_schedule_sends_assignments(self, point, schedule, ranks):
        assert point["assignment_notes"] <= (SLICES * ranks if schedule == "balanced" else 0)
        assert point["assignment_notes"] > 0 or schedule != "balanced"

    def test_rate_over_time_adds_up(self, point):
        for c in point["connections"]:
            carried = sum(c["rate_over_time_bytes_per_us"]) * c["bin_seconds"] / MICROSECOND
            assert carried == pytest.approx(c["bytes"])


class TestReport:
    def test_setup(self, report):
        setup = report["setup"]
        assert report["bench"] == "patterns"
        assert len(setup["hosts"]) == len(setup["binding"]) == 2
        assert all({"cpus", "one_core"} <= set(binding) for binding in setup["binding"])
        assert setup["exchange"]["pml"] == setup["exchange"]["osc"] == "ucx" and setup["exchange"]["is_ucx"] is True
        assert setup["cores"] > 0 and setup["mpi"] and setup["ucx"] and "slices = 243" in setup["configuration"]

    def test_rate_stands_beside_its_ceiling(self, report):
        assert len(report["points"]) == len(PATTERNS) * len(SCHEDULES)
        for point in report["points"]:
            assert point["message_bytes"] == KIB
            assert point["share"] == pytest.approx(point["rate_bytes_per_us"] / point["ceiling_bytes_per_us"])
            assert min(point["rate_bytes_per_us"], point["memcpy_bytes_per_us"]) > 0

    def test_rings_hold_more_than_a_message(self, tmp_path):
        found = points(tmp_path, "patterns", "--pattern", "one-to-one", "--schedule", "round-robin", "--sizes",
                       "1KiB,256KiB,3MiB", "--seconds", "0.02", "--repeat", 1, np=2)
        for p in found:
            assert p["cell_bytes"] >= max(p["message_bytes"], 64 * KIB) and p["queue"] >= 2
        assert found[0]["queue"] >= 4

    def test_a_point_for_each_size_and_queue_with_its_repeats(self, tmp_path):
        found = points(tmp_path, "patterns", "--pattern", "all-to-all", "--schedule", "round-robin", "--sizes",
                       "1KiB,16KiB", "--queue", "11,20", "--seconds", "0.02", "--repeat", 3, np=2)
        assert sorted((p["message_bytes"], p["queue"]) for p in found) == [
            (KIB, 11), (KIB, 20), (16 * KIB, 11), (16 * KIB, 20)]
        for point in found:
            for kind in ("rate", "ceiling"):
                values = sorted(point[f"{kind}s_bytes_per_us"])
                assert len(values) == 3 and values[1] == point[f"{kind}_bytes_per_us"]

    def test_default_schedules(self, tmp_path):
        found = points(tmp_path, "patterns", *SHORT, "--sizes", "1KiB", np=2)
        schedules = {name: ["round-robin"] for name in PATTERNS} | {"all-to-all": ["round-robin", "chaotic"]}
        assert [(p["pattern"], p["schedule"]) for p in found] == [(name, s) for name, of in schedules.items() for s in of]

    def test_table_of_results_on_standard_output(self):
        text = eventloom("bench", "patterns", *SHORT, "--pattern", "one-to-one", "--sizes", "4KiB", np=2).stdout
        assert all(word in text for word in ("one-to-one", "round-robin", "4096", "[bytes/us]", "bare put", "memcpy"))


class TestOptions:
    def test_spread_of_sizes(self, tmp_path):
        options = ("--pattern", "all-to-all", "--schedule", "round-robin", "--sizes", "4KiB", "--spread", 50, "--verify")
        [many] = points(tmp_path, "patterns", *SHORT, *options, "--slices", 2000, np=2)
        assert many["verify_errors"] == 0
        assert many["bytes"] / many["messages"] == pytest.approx(4 * KIB, rel=0.05)
        [one_each] = points(tmp_path, "patterns", *SHORT, *options, "--slices", 4, np=4)
        lengths = [c["bytes"] for c in one_each["connections"]]
        assert len(lengths) == 12 == one_each["messages"] and len(set(lengths)) > 6
        assert all(2 * KIB <= length <= 6 * KIB for length in lengths)

    def test_control_messages(self, tmp_path):
        options = ("--pattern", "all-to-all", "--schedule", "round-robin", "--sizes", "1KiB", "--slices", 2000)
        [without] = points(tmp_path, "patterns", *SHORT, *options, np=2)
        [point] = points(tmp_path, "patterns", *SHORT, *options, "--control", 10, np=2)
        assert without["control_messages"] == 0
        assert 0.1 * point["messages"] <= point["control_messages"] <= 0.2 * point["messages"]
        assert messages_of(point) == messages_of(without) == {(0, 1): 1000, (1, 0): 1000}

    def test_slots_keep_the_rate(self, tmp_path):
        slot = 20_000 * MICROSECOND  # coarser than clocks of busy ranks
        options = ("--pattern", "all-to-all", "--schedule", "round-robin", "--sizes", "1KiB", "--slot", "20ms")
        [by_time] = points(tmp_path, "patterns", *SHORT, *options, np=2)
        assert 0 < max(messages_of(by_time).values()) <= by_time["seconds"] / slot + 1
        [by_number] = points(tmp_path, "patterns", *SHORT, *options, "--slices", 20, np=2)
        assert messages_of(by_number) == {(0, 1): 10, (1, 0): 10}
        assert by_number["seconds"] > 0.9 * 20 * slot
        master, other = by_number["clocks"]
        assert (master["offset_ns"], master["precision_ns"]) == (0, 0)
        assert other["round_trips"] > 0 and 0 < other["precision_ns"] < slot / MICROSECOND * 1000

    def test_slots_finer_than_the_clocks(self):
        done = eventloom("bench", "patterns", *SHORT, "--pattern", "all-to-all", "--slot", "1ns", np=2, code=2)
        reported = [line for line in done.stderr.splitlines() if "eventloom" in line]
        assert len(reported) == 1 and "1 ns" in reported[0] and "clocks" in reported[0], done.stderr

    @pytest.mark.parametrize("how", ["look", "copy"])
    def test_receivers(self, tmp_path, how):
        [point] = points(tmp_path, "patterns", *SHORT, "--pattern", "one-to-one", "--sizes", "64KiB", "--slices", 20,
                         "--receive", how, np=2)
        assert messages_of(point) == {(0, 1): 10}

    def test_messages_larger_than_cells(self, tmp_path):
        [point] = points(tmp_path, "patterns", *SHORT, "--pattern", "all-to-all", "--schedule", "chaotic", "--sizes",
                         "100000", "--cell-size", "4KiB", "--slices", 30, "--verify", np=3)
        assert point["verify_errors"] == 0 and set(messages_of(point).values()) == {10}
        assert point["bytes"] == 60 * 100_000 and point["exchange"]["cells"] > 60 * 24


def known_peers():
    """ZeroMQ is optional."""
    reported = eventloom("bench", "patterns", "--peer", "tin-can", code=2).stderr
    return [peer for peer in ("mpi", "zmq-ipc", "zmq-tcp", "udp", "shm") if f" {peer}" in reported]


class TestPeers:
    SIZES = [7, 3000, 300 * KIB]  # the last one takes several datagrams

    @pytest.fixture(scope="class", params=RANKS)
    def run(self, request, tmp_path_factory):
        """Points, and the table: all peers one after another, with every byte checked; sizes vary."""
        file = tmp_path_factory.mktemp("peers") / "bench.json"
        done = eventloom("bench", "patterns", *SHORT, "--schedule", "round-robin", "--spread", 30, "--verify", "--sizes",
                         ",".join(map(str, self.SIZES)), "--peer", ",".join(known_peers()), "--report-json", file,
                         np=request.param, timeout=300)
        return json.loads(file.read_text())["points"], done.stdout

    def test_each_moves_every_pattern_and_size(self, run):
        found, _ = run
        assert [(p["pattern"], p["message_bytes"]) for p in found] == [(name, size) for name in PATTERNS for size in self.SIZES]
        for point in found:
            assert sorted(point["peers"]) == sorted(known_peers()) and {"mpi", "udp", "shm"} <= set(point["peers"])
            for peer in point["peers"].values():
                assert peer["rate_bytes_per_us"] > 0 and peer["messages"] > 0

    def test_every_byte_is_the_one_sent(self, run):
        for point in run[0]:
            assert point["verify_errors"] == 0
            assert {peer["verify_errors"] for peer in point["peers"].values()} == {0}

    def test_every_message_has_arrived_or_is_counted_as_lost(self, run):
        for point in run[0]:
            for name, peer in point["peers"].items():
                assert peer["messages"] + peer["messages_lost"] == peer["messages_sent"]
                assert peer["share_lost"] == peer["messages_lost"] / peer["messages_sent"]
                assert name == "udp" or peer["messages_lost"] == 0

    def test_stand_in_the_table(self, run):
        head = next(line for line in run[1].splitlines() if line.startswith("pattern "))
        assert all(f" {name} " in head for name in (*known_peers(), "udp lost"))

    def test_rates_are_those_of_the_repetitions(self, tmp_path):
        [point] = points(tmp_path, "patterns", "--seconds", 0.02, "--repeat", 3, "--pattern", "all-to-all", "--schedule",
                         "round-robin", "--sizes", "4KiB", "--peer", "shm,udp", "--receive", "copy", np=2)
        for peer in point["peers"].values():
            assert len(peer["rates_bytes_per_us"]) == 3
            assert peer["rate_bytes_per_us"] == sorted(peer["rates_bytes_per_us"])[1] > 0


    def test_queues_hold_what_the_ring_holds(self, tmp_path):
        """Several small messages share a cell; a large one takes several."""
        found = points(tmp_path, "patterns", *SHORT, "--pattern", "one-to-one", "--sizes", "100,64KiB,8MiB", "--peer", "shm,udp", np=2)
        held = [p["queue"] * p["cell_bytes"] // p["message_bytes"] for p in found]
        assert held[0] > found[0]["queue"] and held[2] < found[2]["queue"]
        for point, messages in zip(found, held):
            assert {peer["queue"] for peer in point["peers"].values()} == {min(point["queue"], messages)}

    def test_a_peer_named_twice_is_measured_once(self):
        text = eventloom("bench", "patterns", *SHORT, "--pattern", "one-to-one", "--sizes", "1KiB", "--peer", "udp,shm,udp", np=2).stdout
        head = next(line for line in text.splitlines() if line.startswith("pattern "))
        assert head.split().count("udp") == 2 and "udp lost" in head and head.split().count("shm") == 1


@pytest.mark.parametrize("ranks", [2, 4], scope="class")
class TestSlowBuilder:
    """One builder takes twice the build time; a fixed number of slices, so that all schedules do the same work."""

    SLICES = 5000

    @pytest.fixture(scope="class")
    def by_schedule(self, tmp_path_factory, ranks):
        found = points(tmp_path_factory.mktemp("slow"), "patterns", "--pattern", "all-to-all", "--schedule",
                       "round-robin,balanced", "--sizes", "4KiB", "--queue", 4, "--slow-builder", 0, "--build-time",
                       "200us", "--seconds", "0.02", "--slices", self.SLICES, "--repeat", 3, np=ranks)
        return {point["schedule"]: point for point in found}

    def test_build_times(self, by_schedule, ranks):
        for point in by_schedule.values():
            assert point["build_time_ns"] == [400_000] + [200_000] * (ranks - 1)

    def test_every_slice_has_a_builder(self, by_schedule, ranks):
        """tests/benchmarks/ratios.sh measures what a schedule gains."""
        assert sum(by_schedule["balanced"]["slices_of_builder"]) == self.SLICES
        assert by_schedule["round-robin"]["slices_of_builder"] == [self.SLICES // ranks] * ranks


class TestPlot:
    @pytest.mark.skipif(not shutil.which("gnuplot"), reason="SKIPPED: no gnuplot here, so plots are not tested")
    @pytest.mark.parametrize("ending, begins", [("svg", b"<?xml"), ("png", b"\x89PNG")], ids=["svg", "png"])
    def test_file(self, tmp_path, ending, begins):
        file = tmp_path / f"x.{ending}"
        eventloom("bench", "patterns", *SHORT, "--pattern", "all-to-all", "--sizes", "1KiB,4KiB", "--plot", file, np=2)
        data = file.read_bytes()
        assert data.startswith(begins) and len(data) > 5000
        if ending == "svg":
            text = data.decode()
            assert "</svg>" in text and "all-to-all chaotic" in text and "bare put" in text

    @pytest.mark.skipif(not shutil.which("gnuplot"), reason="SKIPPED: no gnuplot here, so plots are not tested")
    def test_scan_draws_all_its_rates(self, tmp_path):
        file = tmp_path / "x.svg"
        eventloom("bench", "scan", *SHORT, "--what", "rings,clients,breakdown,loopback,memory", "--depths", 8, "--cells", "4KiB",
                  "--read", "whole,hits", "--plot", file, np=3)
        text = file.read_text()
        for line in ("ring of 8, whole, pointer", "ring of 8, hits, pointer", "each rank to itself", "put, warm memory",
                     "put, cold memory", "Clients of one server", "together"):
            assert line in text, line

    def test_other_file_is_refused_at_once(self, tmp_path):
        done = eventloom("bench", "patterns", "--seconds", 100, "--plot", tmp_path / "x.txt", code=2, timeout=20)
        only_line(done, "x.txt")
        assert list(tmp_path.iterdir()) == []


class TestScan:
    @pytest.fixture(scope="class")
    def report(self, tmp_path_factory):
        return bench(tmp_path_factory.mktemp("scan"), "scan", *SHORT, "--depths", "1,8", "--cells", "4KiB,64KiB",
                     "--memory", "256KiB", "--message", "8KiB", np=3)

    def part(self, report, name):
        return [point for point in report["points"] if point["part"] == name]

    def test_rings(self, report):
        rings = self.part(report, "rings")
        assert [(p["queue"], p["message_bytes"]) for p in rings] == [(1, 4 * KIB), (1, 64 * KIB), (8, 4 * KIB)]
        assert any("1 rings" in note and "--memory" in note for note in report["notes"])

    def test_what_is_skipped_is_said(self, tmp_path):
        report = bench(tmp_path, "scan", *SHORT, "--what", "clients,loopback", "--cells", "1KiB,64KiB", "--memory", "10KiB", np=None)
        assert [p["message_bytes"] for p in report["points"]] == [KIB]
        assert sum("clients skipped" in note for note in report["notes"]) == 1
        assert sum(f"{8 * 64 * KIB} bytes skipped" in note and "--memory" in note for note in report["notes"]) == 1

    def test_clients(self, report):
        clients = self.part(report, "clients")
        assert [(p["clients"], p["what"]) for p in clients] == [(1, "1 to 1"), (2, "2 to 1")]
        for point in clients:
            assert point["message_bytes"] == 8 * KIB
            assert point["per_client_bytes_per_us"] == pytest.approx(point["rate_bytes_per_us"] / point["clients"])

    def test_rates(self, report):
        for point in self.part(report, "rings") + self.part(report, "clients"):
            assert point["rate_bytes_per_us"] > 0
            assert point["share"] == pytest.approx(point["rate_bytes_per_us"] / point["ceiling_bytes_per_us"])

    def test_breakdown(self, report):
        steps = {point["what"]: point["ns"] for point in self.part(report, "breakdown")}
        assert all(ns > 0 for ns in steps.values())
        for words in ("send: copy", "send: checksum", "send: MPI_Put of the body", "receive: header", "MPI_Win_flush",
                      "all: one message"):
            assert any(words in step for step in steps), words
        whole = self.part(report, "breakdown")[-1]
        assert whole["ns"] == pytest.approx(8 * KIB / whole["rate_bytes_per_us"] * 1000)

    def test_only_what_is_asked_for(self, tmp_path):
        found = points(tmp_path, "scan", *SHORT, "--what", "clients", np=2)
        assert [point["what"] for point in found] == ["1 to 1"]


class TestLatency:
    @pytest.mark.parametrize("np, places", [(1, ["local-loop"]), (2, ["local-loop", "local-trip"]), (3, ["local-loop", "local-trip"])])
    def test_points(self, tmp_path, np, places):
        found = points(tmp_path, "latency", "--sizes", "8,4KiB", "--count", 200, "--warm-up", 20, "--repeat", 2,
                       "--wait", "yield", np=np)
        assert [(p["place"], p["kind"], p["message_bytes"]) for p in found] == [
            (place, kind, size) for place in places
            for kind, size in [("message", 8), ("message", 4 * KIB), ("built event", found[2]["message_bytes"])]]
        for point in found:
            assert point["round_trip"]["count"] == point["one_way"]["count"] == 400  # without the warm-up
            assert point["warm_up"]["count"] == 40
            # A round trip takes longer than one way, at every level.
            for level in ("min_ns", "p50_ns", "p99_ns"):
                assert 0 < point["one_way"][level] <= point["round_trip"][level] * 1.01  # one bin of the histogram
            assert point["one_way"]["p50_ns"] <= point["one_way"]["p99_ns"] <= point["one_way"]["max_ns"]

    def test_a_point_for_each_way_of_waiting(self, tmp_path):
        found = points(tmp_path, "latency", "--sizes", 8, "--count", 200, "--wait", "yield,sleep", "--repeat", 1, np=2)
        trips = [p["wait"] for p in found if (p["place"], p["kind"]) == ("local-trip", "message")]
        assert trips == ["yield", "sleep"]


class TestRate:
    @pytest.mark.parametrize("np", [1, 2, 3])
    def test_every_step_is_accounted_for(self, tmp_path, np):
        found = points(tmp_path, "rate", "--hz", "100,5000", "--values", "1,64", "--seconds", 0.1, "--wait", "yield", np=np)
        assert [(p["values"], p["hz"], p["message_bytes"]) for p in found] == [
            (values, hz, 8 * values) for values in (1, 64) for hz in (100, 5000)]
        for point in found:
            assert point["steps"] == point["hz"] // 10
            assert point["latency"]["count"] == point["steps"] - point["missed"]

    def test_a_rate_beyond_reach_shows_as_missed_steps(self, tmp_path):
        """A step of 30 ns is over before a message can be sent."""
        (point,) = points(tmp_path, "rate", "--hz", "30e6", "--values", 64, "--seconds", 0.02, np=2)
        assert point["missed"] > point["steps"] / 4
        assert point["latency"]["count"] == point["steps"] - point["missed"]


class TestSources:
    RATE, SECONDS = 2_000_000, 0.1
    OPTIONS = ("--rate", RATE, "--seconds", SECONDS)

    @pytest.mark.parametrize("ranks", [1, 2, 3])
    def test_account(self, tmp_path, ranks):
        nothing_late, all_late = points(tmp_path, "sources", *self.OPTIONS, "--limit", "none,1us", "--late", "drop",
                                        np=ranks)
        for point in (nothing_late, all_late):
            assert point["balanced"] is True and point["damaged_packets"] == 0
            assert point["hits_made"] == point["hits_built"] + point["hits_dropped"]
            assert point["hits_made"] == point["hits_sent"] + point["hits_dropped"]
            assert point["hits_planned"] == point["hits_made"] + point["hits_missed"]
            assert point["hits_planned"] == pytest.approx(self.RATE * self.SECONDS, rel=0.01)
            assert point["sources"] + point["builders"] == max(ranks, 2)
        assert nothing_late["share_dropped"] == nothing_late["hits_dropped"] == nothing_late["hits_late"] == 0
        assert all_late["share_dropped"] > 0.9  # a packet is older than that when closed
        assert all_late["hits_dropped"] == all_late["hits_late"] > 0

    def test_late_ones_can_be_kept(self, tmp_path):
        [point] = points(tmp_path, "sources", *self.OPTIONS, "--limit", "1us", "--late", "keep", np=2)
        assert point["balanced"] is True and point["hits_dropped"] == 0
        assert point["hits_late"] == point["hits_made"] == point["hits_built"] > 0

    @pytest.mark.parametrize("schedule", ["chaotic", "balanced"])
    @pytest.mark.parametrize("timing", ["poisson", "burst"])
    def test_schedules_and_timings(self, tmp_path, schedule, timing):
        [point] = points(tmp_path, "sources", *self.OPTIONS, "--limit", "none", "--schedule", schedule, "--timing", timing,
                         "--sources", 2, "--builders", 2, np=3)
        assert point["timing"] == timing and point["balanced"] is True
        assert point["hits_built"] == point["hits_made"] > 0 and point["events"] > 0

    def test_latency_grows_along_the_path(self, tmp_path):
        [point] = points(tmp_path, "sources", *self.OPTIONS, "--limit", "none", np=2)
        latency = point["latency"]
        assert 0 < latency["received"]["mean_ns"] <= latency["built"]["mean_ns"] <= latency["written"]["mean_ns"]
        for times in latency.values():
            assert times["count"] == point["packets"] > 0
            assert times["min_ns"] <= times["p50_ns"] <= times["p99_ns"] <= times["max_ns"] * 1.1

    def test_output_stays_where_it_is_wanted(self, tmp_path):
        points(tmp_path, "sources", *self.OPTIONS, "--limit", "none", "--output", tmp_path / "live.h5", np=2)
        assert any(path.name.startswith("live") for path in tmp_path.iterdir())


class TestReply:
    @pytest.mark.parametrize("ranks", [0, 2])
    def test_each_event_comes_back(self, tmp_path, ranks):
        short, long = points(tmp_path, "reply", "--events", 60, "--rate", 300, "--epochs-per-slice", "1,500", "--ranks", ranks,
                             np=None)
        for point in (short, long):
            assert (point["events"], point["lost"], point["ranks"]) == (60, 0, ranks)
            for times in point["latency"].values():
                assert 0 < times["count"] <= 60 and 0 < times["p50_ns"] <= times["p99_ns"] <= times["max_ns"] * 1.1
            assert point["latency"]["loop"]["count"] == 60
            assert point["latency"]["loop"]["mean_ns"] > point["latency"]["complete"]["mean_ns"]
        # On average an event waits for half of its slice of 5 ms.
        assert long["latency"]["loop"]["mean_ns"] > 1e6

    def test_it_starts_its_own_run(self, tmp_path):
        assert "--ranks" in eventloom("bench", "reply", np=2, code=2).stderr


@pytest.mark.parametrize("words, reported", [
    (["reply", "--epoch", "1ms"], "--epoch"),
    (["reply", "--hits", "0"], "--hits"),
    (["reply", "--mark", "1h"], "1h"),
    ([], "patterns"),
    (["weave"], "weave"),
    (["patterns", "--pattern", "zigzag"], "zigzag"),
    (["patterns", "--sizes", "many"], "many"),
    (["patterns", "--sizes", "0"], "--sizes"),
    (["patterns", "--sizes", ","], "--sizes"),
    (["patterns", "--schedule", "best"], "best"),
    (["patterns", "--schedule", "chaotic", "--slot", "50us"], "--slot"),
    (["patterns", "--slot", "1parsec"], "1parsec"),
    (["patterns", "--repeat", "0"], "--repeat"),
    (["patterns", "--queue", "0"], "--queue"),
    (["patterns", "--cell-size", "10"], "--cell-size"),
    (["patterns", "--spread", "100"], "--spread"),
    (["patterns", "--control", "-1"], "--control"),
    (["patterns", "--seconds", "0"], "--seconds"),
    (["patterns", "--receive", "nothing"], "--receive"),
    (["patterns", "--slow-builder", "x"], "--slow-builder"),
    (["patterns", "--build-time", "x"], "--build-time"),
    (["patterns", "--build-time", "1h"], "--build-time"),
    (["patterns", "--peer", "tin-can"], "tin-can"),
    (["patterns", "--transports", "shm", "--peer", "put"], "--peer"),
    (["patterns", "--frobnicate"], "frobnicate"),
    (["latency", "--wait", "doze"], "doze"),
    (["latency", "--pause", "1parsec"], "1parsec"),
    (["latency", "--pause", "11s"], "--pause"),
    (["latency", "--peer", "tin-can"], "tin-can"),
    (["latency", "--wait", ","], "--wait"),
    (["latency", "--pause", "1ps"], "1ps"),
    (["latency", "--limit", "soon"], "soon"),
    (["latency", "--limit", "5"], "unit"),
    (["latency", "--ranks", "3"], "--ranks"),
    (["latency", "--raw", "nosuch/x.csv"], "nosuch/x.csv"),
    (["latency", "--transports", ","], "--transports"),
    (["rate", "--peer", "tin-can"], "tin-can"),
    (["rate", "--wait", "doze"], "doze"),
    (["rate", "--wait", ","], "--wait"),
    (["rate", "--transports", "/dev/shm"], "/dev/shm"),
    (["scan", "--what", "cakes"], "cakes"),
    (["scan", "--what", ","], "--what"),
    (["scan", "--what", "breakdown,containers", "--plot", "x.svg"], "--plot"),
    (["scan", "--depths", "0"], "--depths"),
    (["scan", "--memory", "1KiB,2KiB"], "1KiB,2KiB"),
    (["scan", "--repeat", "0"], "--repeat"),
    (["sources", "--limit", "5parsec"], "5parsec"),
    (["sources", "--limit", ","], "--limit"),
    (["sources", "--late", "never"], "--late"),
    (["sources", "--timing", "never"], "never"),
    (["sources", "--timing", ","], "--timing"),
    (["sources", "--rate", "0"], "--rate"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_mistakes(words, reported):
    only_line(eventloom("bench", *words, code=2), reported)


def test_a_wrong_definition_is_marked():
    done = eventloom("bench", "sources", "--define", "waterfall", code=2)
    line, *excerpt = done.stderr.splitlines()
    assert "waterfall" in line and excerpt == ["  waterfall", "  ^^^^^^^^^"] and done.stdout == ""


@pytest.mark.parametrize("words", [
    ["patterns", "--seconds", "0"],
    ["patterns", "--slow-builder", "2"],
    ["latency", "--limit", "5"],
    ["latency", "--place", "inter-node"],
    ["latency", "--transports", "shm"],
    ["rate", "--repeat", "0"],
    ["scan", "--hits", "0"],
    ["sources", "--rate", "0"],
    ["clocks", "--sync", "-1s"],
    ["reply", "--events", "0"],
], ids=" ".join)
def test_ranks_refuse_mistakes_together(words):
    """In one line, and without MPI_ABORT."""
    done = eventloom("bench", *words, np=2, code=2)
    assert sum("eventloom bench: " in line for line in done.stderr.splitlines()) == 1, done.stderr
    assert "MPI_ABORT" not in done.stderr and done.stdout == ""


@pytest.mark.parametrize("what, words", [
    ("patterns", ("bytes of a message", "cells in each ring", "50us", "PERCENT", "TIME")),
    ("latency", ("bytes of a message", "1ms", "TIME", "--transports", "--raw")),
    ("rate", ("samples a second", "8 bytes", "TIME", "--transports", "--raw")),
    ("scan", ("cells in a ring", "bytes of a cell", "BYTES", "length of a measurement")),
    ("sources", ("hits per second", "TIME", "100us", "gap:25ns,4")),
])
class TestHelp:
    def test_names_units(self, what, words):
        text = eventloom("bench", what, "--help").stdout
        assert text.startswith(f"usage: eventloom bench {what}")
        for word in (*words, "--repeat", "--report-json", "--plot"):
            assert word in text, word

    def test_configuration_can_be_read_back(self, tmp_path, what, words):
        text = eventloom("bench", what, "--repeat", "7", "--print-config").stdout
        assert "repeat = 7" in text
        file = tmp_path / "bench.ini"
        file.write_text(text)
        assert eventloom("bench", what, "--config", file, "--print-config").stdout == text


def test_overview():
    text = eventloom("bench", "--help").stdout
    assert all(name in text for name in ("patterns", "scan", "sources"))
