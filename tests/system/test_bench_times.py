"""The distributions of `eventloom bench` against each of its times, which `--raw` writes: percentiles, bins, shares and
spreads are computed again here. Peers, transports, pauses; and what is said of a machine that does something else."""

import collections
import contextlib
import csv
import json
import math
import multiprocessing
import os
import shutil
import signal
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from interrupted import until
from program import BINARY, environment, eventloom

LIMIT_NS = 3000
PERCENTILES = {"p10_ns": 10, "p50_ns": 50, "p90_ns": 90, "p99_ns": 99, "p999_ns": 99.9, "p9999_ns": 99.99}
BIN = 1.01  # the width of a bin, and so the accuracy of percentiles
ALL_PEERS = ["ring", "put", "mpi", "zmq-ipc", "zmq-tcp", "udp", "shm"]


def measured(folder, *options, np, limit="3us", code=0):
    """What a benchmark reports, and its raw times: {(point, what): {repetition: [ns, ...]}}."""
    report, raw = folder / "bench.json", folder / "raw.csv"
    done = eventloom("bench", *options, "--limit", limit, "--report-json", report, "--raw", raw, np=np, code=code, timeout=300)
    with raw.open() as file:
        assert file.readline() == "# eventloom-bench-times\n"
        times = collections.defaultdict(lambda: collections.defaultdict(list))
        for row in csv.DictReader(file):
            times[int(row["point"]), row["what"]][int(row["repetition"])].append(int(row["ns"]))
    return json.loads(report.read_text()), times, done


def exact(times, percent):
    """The smallest time that so many percent of all do not exceed."""
    rank = max(math.ceil(round(percent * len(times) / 100, 6)), 1)
    return sorted(times)[rank - 1]


def assert_distribution(told, times):
    assert told["count"] == len(times) == sum(count for _, _, count in told["bins"]) > 0
    assert (told["min_ns"], told["max_ns"]) == (min(times), max(times))
    assert told["mean_ns"] == pytest.approx(statistics.fmean(times))
    for name, percent in PERCENTILES.items():
        assert exact(times, percent) * (1 - 1e-9) <= told[name] <= max(exact(times, percent) * BIN, min(times)), name
    bins = told["bins"]
    for (low, high, count), later in zip(bins, [*bins[1:], None]):
        assert low <= high <= low * BIN and (later is None or high <= later[0] * (1 + 1e-9))
        assert count == sum(low <= ns < high or (later is None and ns == high) for ns in times)
    assert told["limit_ns"] == LIMIT_NS
    assert told["above_limit"] == sum(ns > LIMIT_NS for ns in times)
    assert told["share_above_limit"] == told["above_limit"] / len(times)


def assert_distributions(report, raw, names):
    """Of all points; nothing else is in the file."""
    told = {(n, what) for n, point in enumerate(report["points"]) for what in names if what in point}
    assert {key for key, of_repetitions in raw.items() if sum(map(len, of_repetitions.values()))} == told
    for n, what in told:
        assert_distribution(report["points"][n][what], sum(raw[n, what].values(), []))


def of_the_folder(folder):
    """Processes whose arguments name a file in it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            found += [entry] if f"{folder}/eventloom-bench-".encode() in entry.read_bytes() else []
    return found


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def available(peers):
    """ZeroMQ is optional."""
    known = eventloom("bench", "latency", "--peer", "nothing", code=2).stderr
    return [peer for peer in peers if peer == "ring" or peer in known]


class TestLatency:
    @pytest.fixture(scope="class")
    def found(self, tmp_path_factory):
        peers = [peer for peer in available(ALL_PEERS) if peer != "ring"]
        return measured(tmp_path_factory.mktemp("latency"), "latency", "--sizes", "8,64KiB", "--count", 60, "--warm-up", 5,
                        "--repeat", 3, "--wait", "sleep", "--peer", ",".join(peers), np=2)

    def test_distributions(self, found):
        report, raw, _ = found
        assert_distributions(report, raw, ("one_way", "round_trip", "completion", "warm_up"))

    def test_all_peers_stand_in_one_table(self, found):
        report, _, done = found
        for place in ("local-loop", "local-trip"):
            rows = [(p["peer"], p["message_bytes"]) for p in report["points"] if (p["place"], p["kind"]) == (place, "message")]
            assert rows == [(peer, size) for peer in available(ALL_PEERS) for size in (8, 65536)
                            if (peer, size) != ("udp", 65536)]
        skipped = "udp skipped for messages of 65536 bytes: a datagram holds at most 65507"
        assert any(skipped in note for note in report["notes"])
        assert done.stdout.count(skipped) == report["notes"].count(skipped) == 1  # not for each place
        lines = done.stdout.splitlines()
        assert sum(line.startswith("place ") and "> 3us" in line for line in lines) >= 1
        assert sum(line.startswith("local-") for line in lines) == len(report["points"])

    def test_repetitions_and_their_spread(self, found):
        report, raw, _ = found
        for n, point in enumerate(report["points"]):
            medians = [exact(times, 50) for _, times in sorted(raw[n, "one_way"].items())]
            assert point["repetitions"]["one_way_p50_ns"] == pytest.approx(medians, rel=0.0101)
            assert point["shown_us"]["one_way_p50"] == statistics.median(point["repetitions"]["one_way_p50_ns"]) / 1000
            assert point["spread"] == pytest.approx(spread(point["repetitions"]["one_way_p50_ns"]))

    def test_who_knows_of_completion(self, found):
        """Neither ZeroMQ nor UDP tells a sender that a message has arrived."""
        report, _, _ = found
        know = {point["peer"] for point in report["points"] if "completion" in point}
        assert know == {"ring", "put", "mpi", "shm"}

    def test_cpu_time(self, found):
        report, _, _ = found
        assert all(point["cpu_us_per_message"] > 0 for point in report["points"])

    @pytest.mark.parametrize("np", [1, 3])
    def test_other_numbers_of_ranks(self, tmp_path, np):
        peers = [peer for peer in available(ALL_PEERS) if peer != "ring"]
        report, raw, _ = measured(tmp_path, "latency", "--sizes", "8KiB", "--count", 30, "--warm-up", 5, "--repeat", 1, "--wait",
                                  "sleep", "--peer", ",".join(peers), np=np)
        assert_distributions(report, raw, ("one_way", "round_trip", "completion", "warm_up"))
        assert all(point["spread"] is None for point in report["points"])
        assert {point["place"] for point in report["points"]} == ({"local-loop"} if np == 1 else {"local-loop", "local-trip"})

    def test_pauses_and_ways_to_wait(self, tmp_path):
        start = time.monotonic()
        report, raw, _ = measured(tmp_path, "latency", "--sizes", 8, "--place", "local-trip", "--count", 10, "--repeat", 1,
                                  "--wait", "poll,sleep,timer", "--pause", "0s,20ms", "--warm-up", 2, np=2)
        points = report["points"]
        assert [(p["wait"], p["pause_ns"], p["kind"]) for p in points] == [
            (wait, pause, kind) for wait in ("poll", "sleep", "timer") for pause in (0, 20_000_000)
            for kind in ("message", "built event")]
        assert_distributions(report, raw, ("one_way", "round_trip", "completion", "warm_up"))
        rests = 10 * sum(p["pause_ns"] for p in points) * 2 / 1e9  # before round trips, and before completions
        assert time.monotonic() - start > rests
        # A round trip does not contain the pause before it.
        assert all(p["round_trip"]["min_ns"] < 20_000_000 for p in points)


class TestRate:
    def test_distributions_of_all_peers(self, tmp_path):
        peers = available(ALL_PEERS)
        report, raw, _ = measured(tmp_path, "rate", "--hz", "1000,20000", "--values", "1,600", "--seconds", 0.05, "--repeat", 2,
                                  "--wait", "sleep", "--peer", ",".join(peers[1:]), np=2)
        points = report["points"]
        assert [(p["values"], p["peer"], p["hz"]) for p in points] == [
            (values, peer, hz) for values in (1, 600) for peer in peers for hz in (1000, 20000)]
        assert_distributions(report, raw, ("latency",))
        for point in points:
            assert point["steps"] == 2 * point["hz"] // 20
            assert point["latency"]["count"] == point["steps"] - point["missed"] - point["lost"]
            assert point["lost"] == 0 or point["peer"] == "udp"
            assert point["spread"] == pytest.approx(spread(point["repetitions"]["latency_p50_ns"]))

    def test_lost_datagrams_are_counted(self, tmp_path):
        """A receiver that is woken far too seldom: the system drops what its buffer does not hold."""
        report, raw, _ = measured(tmp_path, "rate", "--hz", "1e6", "--values", 4000, "--seconds", 0.2, "--wait", "sleep", "--peer",
                                  "udp", np=2)
        udp = report["points"][1]
        assert udp["peer"] == "udp" and udp["latency"]["count"] + udp["missed"] + udp["lost"] == udp["steps"] == 200_000
        assert_distributions(report, raw, ("latency",))


class TestPatterns:
    def test_each_message_is_timed(self, tmp_path):
        report, raw, _ = measured(tmp_path, "patterns", "--pattern", "all-to-all,one-to-one", "--sizes", "1KiB,100KiB", "--schedule",
                                  "round-robin,balanced", "--slices", 300, "--seconds", 0.02, "--repeat", 2, np=3)
        assert_distributions(report, raw, ("message_time",))
        for point in report["points"]:
            assert point["message_time"]["count"] == point["message_time"]["messages"] == point["messages"]
            assert point["message_time"]["min_ns"] > 0
            assert point["spread"] == pytest.approx(spread(point["rates_bytes_per_us"]))


class TestTransports:
    @pytest.mark.parametrize("what, names, options", [
        ("latency", ("one_way", "round_trip", "completion", "warm_up"),
         ("--sizes", "8", "--place", "local-trip", "--count", 200, "--warm-up", 20, "--wait", "sleep", "--peer", "mpi")),
        ("rate", ("latency",), ("--hz", 1000, "--values", 1, "--seconds", 0.2, "--wait", "sleep")),
        ("patterns", ("message_time",), ("--pattern", "one-to-one", "--sizes", "1KiB", "--slices", 100, "--seconds", 0.02)),
    ])
    def test_side_by_side(self, tmp_path, what, names, options):
        report, raw, done = measured(tmp_path, what, *options, "--repeat", 1, "--transports", "shm,tcp", np=None)
        points = report["points"]
        half = len(points) // 2
        assert [p["transport"] for p in points] == ["shm"] * half + ["tcp"] * half and half > 0
        strip = [{key: p[key] for key in ("kind", "peer", "hz", "pattern", "message_bytes") if key in p} for p in points]
        assert strip[:half] == strip[half:]
        assert_distributions(report, raw, names)
        rows = [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("shm ", "tcp "))]
        assert rows == ["shm"] * half + ["tcp"] * half
        # Through the kernel and back takes longer than through memory, at best.
        assert points[0][names[0]]["min_ns"] < points[half][names[0]]["min_ns"]

    def test_it_starts_the_ranks_itself(self):
        assert "--ranks" in eventloom("bench", "latency", "--transports", "shm", np=2, code=2).stderr

    def test_their_notes_and_setup_are_reported(self, tmp_path):
        file = tmp_path / "x.json"
        done = eventloom("bench", "latency", "--sizes", "64KiB", "--place", "local-trip", "--count", 10, "--warm-up", 2, "--repeat", 1,
                         "--wait", "yield", "--peer", "udp", "--transports", "shm,tcp", "--ranks", 3, "--report-json", file)
        report = json.loads(file.read_text())
        for transport in ("shm", "tcp"):
            [note] = [note for note in report["notes"] if note.startswith(f"over {transport}: udp skipped")]
            assert note in done.stdout.splitlines()
        assert len(report["setup"]["hosts"]) == len(report["setup"]["binding"]) == 3
        assert any(line.startswith("hosts ") and "ranks 0-2" in line for line in done.stdout.splitlines())

    def test_realtime_is_theirs(self, tmp_path):
        """More ranks than cores: a step is refused."""
        file, ranks = tmp_path / "x.json", len(os.sched_getaffinity(0)) + 1
        done = eventloom("bench", "latency", "--sizes", 8, "--place", "local-trip", "--count", 10, "--warm-up", 2, "--repeat", 1,
                         "--wait", "yield", "--transports", "shm", "--ranks", ranks, "--realtime", "--report-json", file, code=None)
        refused = [line for line in done.stderr.splitlines() if "no SCHED_FIFO" in line]
        if done.returncode == 2:  # the system allows no step at all
            assert "--realtime" in done.stderr and not file.exists()
            return
        assert done.returncode == 0 and len(json.loads(file.read_text())["setup"]["realtime"]) == ranks
        assert len(refused) == 1 and f"over shm: --realtime: no SCHED_FIFO (ranks 0-{ranks - 1})" in refused[0]

    @pytest.mark.parametrize("options, told", [
        (("--transports", "shm,warp"), "over warp: transport 'warp' is not available"),
        (("--transports", "shm", "--place", "inter-node"), "inter-node"),
    ])
    def test_what_goes_wrong_in_them_is_said(self, tmp_path, options, told):
        done = eventloom("bench", "latency", "--sizes", 8, "--count", 10, "--repeat", 1, *options, "--report-json",
                         tmp_path / "x.json", code=2, timeout=60)
        assert told in done.stderr.splitlines()[-1] and not list(tmp_path.iterdir())

    @pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
    def test_the_ranks_end_with_it(self, tmp_path, sent):
        """Their files are in a folder that only a kill leaves behind."""
        command = [BINARY, "bench", "patterns", "--transports", "shm", "--seconds", "60", "--repeat", "1"]
        whole = subprocess.Popen(command, env=environment() | {"TMPDIR": str(tmp_path)}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until(lambda: len(of_the_folder(tmp_path)) >= 3, "mpirun and two ranks")
        whole.send_signal(sent)
        told = whole.communicate(timeout=60)[1]
        until(lambda: not of_the_folder(tmp_path), "no process left")
        if sent == signal.SIGKILL:
            return
        assert whole.returncode == 2 and f"stopped by {sent.name}" in told
        assert not list(tmp_path.glob("eventloom-bench-*"))


@pytest.mark.skipif(not shutil.which("gnuplot"), reason="SKIPPED: no gnuplot here, so plots are not tested")
def test_plots_show_distributions(tmp_path):
    for what, options, told in [
        ("latency", ("--sizes", "8,1KiB", "--count", 100, "--peer", "shm"), ("local-trip, sleep, shm", "1024 bytes")),
        ("rate", ("--hz", "1000", "--values", "1,4", "--seconds", 0.05), ("1000 Hz", "32 bytes")),
        ("patterns", ("--pattern", "one-to-one", "--sizes", "1KiB", "--slices", 50), ("one-to-one", "1024 bytes"))]:
        file = tmp_path / f"{what}.svg"
        wait = () if what == "patterns" else ("--wait", "sleep")
        eventloom("bench", what, *options, *wait, "--repeat", 1, "--plot", file, np=2)
        text = file.read_text()
        assert "share of times longer than t" in text and all(word in text for word in told), what


def burn(until):
    while time.monotonic() < until.value:
        pass


@pytest.fixture
def busy_machine():
    until = multiprocessing.Value("d", time.monotonic() + 120)
    hogs = [multiprocessing.Process(target=burn, args=(until,)) for _ in range(os.cpu_count() or 1)]
    for hog in hogs:
        hog.start()
    yield
    until.value = 0
    for hog in hogs:
        hog.join()


@pytest.mark.parametrize("what", [("latency", "--sizes", "8", "--wait", "sleep", "--count", "3000", "--repeat", "1"),
                                  ("rate", "--hz", "1000", "--values", "1", "--seconds", "1", "--wait", "sleep"),
                                  ("patterns", "--pattern", "one-to-one", "--sizes", "1KiB", "--seconds", "0.5", "--repeat", "1"),
                                  ("scan", "--what", "rings", "--depths", "8", "--cells", "64KiB", "--seconds", "0.5", "--repeat", "1"),
                                  ("sources", "--rate", "1e6", "--seconds", "0.5", "--limit", "none"),
                                  ("clocks", "--sync", "500ms", "--duration", "500ms", "--repeat", "1")],
                         ids=lambda words: words[0])
def test_a_loaded_machine_is_said_to_be_loaded(tmp_path, busy_machine, what):
    done = eventloom("bench", *what, "--report-json", tmp_path / "x.json", np=2)
    report = json.loads((tmp_path / "x.json").read_text())
    [host] = report["load"]["hosts"]
    assert report["load"]["loaded"] is host["loaded"] is True and host["others_cores"] > 0.1
    assert 0 < host["cores"] and 0 < host["seconds"] and host["stolen_cores"] >= 0 and host["load_average"] >= 0
    [warning] = [line for line in done.stderr.splitlines() if "cannot be trusted" in line]
    assert any("cannot be trusted" in note for note in report["notes"]) and "warning" in warning
