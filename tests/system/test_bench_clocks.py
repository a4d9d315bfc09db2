"""`eventloom bench clocks`: its figures for synchronised clocks, compared with clocks whose truth is known and with a
least-squares line through its round trips."""

import pytest
from test_bench import bench, points

from host_clocks import PATHS, error_of_reference, measured, true_error, two_hosts
from hosts import clocks_available
from program import eventloom, only_line

SECOND = 1e9
PPM = 1e-6
SIMULATED = ("--clocks", "simulated")


def simulate(folder, *options, repeat=3):
    return points(folder, "clocks", *SIMULATED, *options, "--repeat", repeat, "--trips", np=None)


def line_through(trips):
    """The master's time as a function of the local one, by least squares through the middles of all round trips,
    weighted by the inverse square of their lengths; times relative to the first. Also returns its slope."""
    zero_local, zero_master = trips[0][1], trips[0][0]
    points = [(remote - zero_local, (sent - zero_master + received - zero_master) / 2, 1 / (received - sent) ** 2)
              for sent, remote, received in trips]
    weights = sum(w for _, _, w in points)
    x_mean = sum(w * x for x, _, w in points) / weights
    y_mean = sum(w * y for _, y, w in points) / weights
    slope = sum(w * (x - x_mean) * (y - y_mean) for x, y, w in points) / sum(w * (x - x_mean) ** 2 for x, _, w in points)
    return lambda local: (zero_master, y_mean + slope * (local - zero_local - x_mean), slope)


def error_of_line(line, reading):
    zero, since, _ = line(reading["local_ns"])
    return since - (reading["master_ns"] - zero)


@pytest.mark.parametrize("drift, jitter", [(20, "1us"), (-150, "200ns"), (0, "0ns"), (3.5, "20us")])
class TestSimulated:
    @pytest.fixture(scope="class")
    def cases(self):
        return {}

    @pytest.fixture
    def found(self, cases, tmp_path, drift, jitter):
        key = drift, jitter
        if key not in cases:
            cases[key] = simulate(tmp_path, "--drift", drift, "--jitter", jitter, "--duration", "1s,100s", "--sync",
                                  "10s")
        return cases[key]

    def test_the_drift_is_found(self, found, drift):
        for one in found[-1]["repetitions"]:
            assert abs(one["drift_found_ppm"] - drift) <= one["drift_error_ppm"]
        assert found[-1]["drift_found_ppm"] == pytest.approx(drift, abs=1)

    def test_errors_are_those_of_the_truth(self, found, drift):
        """Without correction the clocks diverge by the drift; with it, by no more than stated."""
        for point in found:
            seconds = point["after_s"]
            for one in point["repetitions"]:
                after, at_sync = one["after"], one["at_sync"]
                parted = -drift * PPM * (after["reading"]["local_ns"] - at_sync["reading"]["local_ns"]) / (
                    1 + drift * PPM)
                # The offset alone is wrong at once by as much as the model, later by the drift.
                assert -after["uncorrected_ns"] + at_sync["corrected_ns"] == pytest.approx(parted, abs=2)
                assert abs(at_sync["corrected_ns"]) <= one["precision_ns"]
                assert abs(after["corrected_ns"]) <= after["bound_ns"]
                assert abs(after["kept_ns"]) <= 2 * one["precision_ns"]
                assert after["reading"]["error_ns"] == 0 and after["after_ns"] == pytest.approx(seconds * SECOND)

    def test_an_independent_line_says_the_same(self, found):
        for one in found[-1]["repetitions"]:
            line = line_through(one["trips"])
            assert one["round_trips"] == len(one["trips"])
            _, _, slope = line(one["trips"][0][1])
            assert (1 / slope - 1) / PPM == pytest.approx(one["drift_found_ppm"], abs=2 * one["drift_error_ppm"])
            off = error_of_line(line, one["at_sync"]["reading"])
            assert abs(off - one["at_sync"]["corrected_ns"]) <= 2 * one["precision_ns"]

    def test_round_trips_are_summed_up(self, found):
        for one in found[0]["repetitions"]:
            lengths = sorted(received - sent for sent, _, received in one["trips"])
            reported = one["round_trip_ns"]
            assert (reported["least"], reported["most"]) == (lengths[0], lengths[-1])
            assert reported["p50"] == lengths[(len(lengths) - 1) // 2]


class TestSimulation:
    def test_the_same_seed_gives_the_same(self, tmp_path):
        first, again, other = (simulate(tmp_path, "--seed", seed, repeat=1) for seed in (5, 5, 6))
        assert first == again != other

    def test_a_point_for_each_drift_jitter_and_time(self, tmp_path):
        found = simulate(tmp_path, "--drift", "1,-2", "--jitter", "1us,0ns", "--duration", "1s,10ms", repeat=1)
        assert [(p["drift_ppm"], p["jitter_ns"], p["after_s"]) for p in found] == [
            (drift, jitter, pytest.approx(time)) for drift in (1, -2) for jitter in (1000, 0) for time in (0.01, 1)]

    def test_hours_in_seconds(self, tmp_path):
        """An hour later the offset alone is off by the drift, and clocks kept in step by less than a message takes."""
        [point] = simulate(tmp_path, "--drift", 10, "--duration", "1h", repeat=1)
        assert point["uncorrected_ns"] == pytest.approx(10 * PPM * 3600 * SECOND, rel=1e-3)
        assert point["kept_ns"] < 4000 and point["corrected_ns"] <= point["bound_ns"]

    def test_an_asymmetric_path_shifts_the_time_by_half(self, tmp_path):
        [point] = simulate(tmp_path, "--drift", 0, "--jitter", "0ns", "--asymmetry", "3us", repeat=1)
        assert point["at_sync_ns"] == pytest.approx(1500, abs=2)


class TestReal:
    def test_ranks_of_one_host(self, tmp_path):
        """The ranks share a clock, so that the truth is known. It advances between two readings on a busy machine."""
        report = bench(tmp_path, "clocks", "--duration", "50ms,100ms", "--sync", "100ms", "--repeat", 2, np=3)
        assert [(p["rank"], p["after_s"]) for p in report["points"]] == [(rank, pytest.approx(time)) for rank in (1, 2)
                                                                        for time in (0.05, 0.1)]
        for point in report["points"]:
            assert point["clocks"] == "real" and len(point["repetitions"]) == 2
            for one in point["repetitions"]:
                slack = one["after"]["reading"]["error_ns"] + 2
                assert abs(one["drift_found_ppm"]) <= one["drift_error_ppm"]
                assert abs(one["at_sync"]["corrected_ns"]) <= one["precision_ns"] + slack
                assert abs(one["after"]["corrected_ns"]) <= one["after"]["bound_ns"] + slack
                assert 0 < one["round_trip_ns"]["least"] <= one["round_trip_ns"]["p50"] and "trips" not in one

    def test_a_clock_that_the_host_does_not_steer(self, tmp_path):
        [point] = points(tmp_path, "clocks", "--clocks", "raw", "--duration", "100ms", "--sync", "100ms", "--repeat", 1,
                         np=2)
        [one] = point["repetitions"]
        assert abs(one["after"]["corrected_ns"]) <= one["after"]["bound_ns"] + one["after"]["reading"]["error_ns"] + 2


class TestHosts:
    """Two hosts whose true offset is known; the benchmark knows only its messages."""

    @pytest.fixture(scope="class", params=PATHS)
    def found(self, request, tmp_path_factory):
        """Microseconds from rank 0 to rank 1 and back, and the repetitions for each duration."""
        can, reason = clocks_available()
        if not can:
            pytest.skip(reason)
        delays = PATHS[request.param]
        with two_hosts(delays) as hosts:
            report = measured(hosts, tmp_path_factory.mktemp("hosts"), "--sync", "300ms", "--duration", "300ms,600ms", repeat=2)
        assert len(report["load"]["hosts"]) == 1  # the load of this host leaves out the ranks named by the other
        return delays or (0, 0), [one for point in report["points"] for one in point["repetitions"]]

    def test_the_known_offset_is_found(self, found):
        _, repetitions = found
        assert len(repetitions) == 4
        for one in repetitions:
            assert abs(true_error(one["at_sync"])) <= one["precision_ns"]
            assert abs(true_error(one["after"])) <= one["after"]["bound_ns"]
            assert abs(true_error(one["after"], "kept_ns")) <= 2 * one["precision_ns"]

    def test_the_reference_is_as_precise_as_it_says(self, found):
        for one in found[1]:
            for errors in (one["at_sync"], one["after"]):
                assert abs(error_of_reference(errors)) <= errors["reading"]["error_ns"]

    def test_messages_take_as_long_as_the_path(self, found):
        delays, repetitions = found
        assert all(one["round_trip_ns"]["least"] >= 1000 * sum(delays) for one in repetitions)

    def test_half_of_an_asymmetry_remains(self, found):
        """Other processes may delay any message, but not the fastest of hundreds."""
        (there, back), repetitions = found
        best = min(repetitions, key=lambda one: abs(true_error(one["at_sync"]) - 500 * (back - there)))
        assert true_error(best["at_sync"]) == pytest.approx(500 * (back - there), abs=250_000)


@pytest.mark.parametrize("words, reported", [
    ([], "mpirun"),
    (["--clocks", "sundial"], "sundial"),
    ([*SIMULATED, "--drift", "fast"], "fast"),
    ([*SIMULATED, "--drift", "501"], "--drift"),
    ([*SIMULATED, "--drift", "nan"], "--drift"),
    ([*SIMULATED, "--drift", ""], "--drift"),
    ([*SIMULATED, "--duration", "0s"], "--duration"),
    ([*SIMULATED, "--duration", "9999h"], "--duration"),
    ([*SIMULATED, "--round-trips", "0"], "--round-trips"),
    ([*SIMULATED, "--interval", "1ns"], "--interval"),
    ([*SIMULATED, "--jitter", "1parsec"], "1parsec"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_mistakes(words, reported):
    only_line(eventloom("bench", "clocks", *words, code=2), reported)
