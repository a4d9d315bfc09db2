"""Clocks of Timepix3: over files, pauses and resets. Times of pixels restart after 26.8 s, those of the TDC after 107
s."""

import pytest

import numpy as np

import tpx3
from live import counts_of
from program import eventloom
from results import dropped, read_ledger
from test_inputs import pixel_row, refused, rows, rows_of, run_all, tdc_row

SECOND = 640_000_000  # of 1.5625 ns
PERIOD = tpx3.PIXEL_PERIOD


def pixels(times, x=1):
    return [tpx3.pixel(x, n % 256, int(t), 5) for n, t in enumerate(times)]


def pixel_rows(times, x=1):
    return [pixel_row(0, x, n % 256, int(t), 5) for n, t in enumerate(times)]


def some_times(begin, end, n=400, seed=1):
    """Times in seconds from `begin` up to `end`, both with a hit."""
    between = np.random.default_rng(seed).integers(int(begin * SECOND), int(end * SECOND), n)
    return sorted([int(begin * SECOND), int(end * SECOND), *between.tolist()])


def write(path, packets, size=50):
    path.write_bytes(tpx3.chunks(0, packets, size))
    return path


def files_of(folder, stretches):
    """Writes one file per stretch of a run; returns the times of each."""
    times = [some_times(begin, end, seed=n) for n, (begin, end) in enumerate(stretches)]
    for n, those in enumerate(times):
        write(folder / f"run_{n:06d}.tpx3", pixels(those, x=n))
    return times


@pytest.mark.parametrize("stretches", [
    [(1, 20), (20, 49), (49, 90)],            # one after another
    [(1, 20), (30, 49)],                      # a pause beyond the restart of times
    [(0, 26.8), (26.9, 53.6), (53.7, 60)],    # from restart to restart, one file each
    [(12, 14), (14, 14.001), (14.001, 30)],   # a short one
])
def test_files_of_one_run(tmp_path, stretches):
    times = files_of(tmp_path, stretches)
    run = run_all(tmp_path / "run", f"tpx3:{tmp_path}/run_*.tpx3?concat")
    assert rows_of(run) == rows(row for n, those in enumerate(times) for row in pixel_rows(those, x=n))


def test_files_whose_clocks_cannot_be_placed(tmp_path):
    """By a glob or one by one, unless the user states how often the clocks had restarted."""
    times = files_of(tmp_path, [(1, 20), (30, 49)])
    refused(f"{tmp_path}/run_*.tpx3", "run_000001.tpx3", "begins at 1.000 s", "at 3.156 s", "26.8 s", "?concat", "?turns=0")
    one, two = (f"tpx3:{tmp_path}/run_00000{n}.tpx3" for n in range(2))
    done = eventloom("run", one, two, "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
    assert "?concat" in done.stderr
    run = run_all(tmp_path / "run", f"{one}?turns=0", f"{two}?turns=1")
    assert rows_of(run) == rows([*pixel_rows(times[0], x=0), *((t, 1, *rest) for t, _, *rest in pixel_rows(times[1], x=1))])


@pytest.mark.parametrize("order", [1, -1])
def test_files_of_a_stated_clock(tmp_path, order):
    """One begins before the clock restarts, the other behind it; the third has a late packet from before the restart."""
    restart = tpx3.PIXEL_PERIOD
    times = [[restart - 1600, restart + 160], [restart + 320, restart + 480], [restart + 640, restart - 320, restart + 800]]
    for n, those in enumerate(times):
        write(tmp_path / f"{n}.tpx3", pixels(those, x=n))
    uris = [f"tpx3:{tmp_path}/{n}.tpx3?clock=daq" for n in range(3)][::order]
    run = run_all(tmp_path / "run", *uris)
    sources = list(range(3))[::order]
    assert rows_of(run) == rows((t, sources.index(n), *rest) for n, those in enumerate(times) for t, _, *rest in pixel_rows(those, x=n))
    assert "turn 1: " in run.done.stderr
    done = eventloom("run", uris[0], uris[1].replace("daq", "other"), "--define", "gap:0,1", "--output", tmp_path / "x.h5", code=2)
    assert "?concat" in done.stderr


def test_files_that_begin_together(tmp_path):
    """Detectors whose clocks were reset together need no key."""
    for n in range(2):
        write(tmp_path / f"d{n}.tpx3", pixels(some_times(0.1 * n, 5, seed=n)))
    assert len(rows_of(run_all(tmp_path / "run", f"{tmp_path}/d*.tpx3"))) == 804


def test_global_times_place_files(tmp_path):
    """Also if they are rare, and if a file begins with pixels before them."""
    expected = []
    for n, begin in enumerate((3, 100, 3600)):
        times = some_times(begin, begin + 2, n=20_000, seed=n)
        packets = pixels(times, x=n)
        packets[19_000:19_000] = tpx3.global_time(times[19_000] // 16)
        write(tmp_path / f"run_{n}.tpx3", packets)
        expected += [(t, n, *rest) for t, _, *rest in pixel_rows(times, x=n)]
    assert rows_of(run_all(tmp_path / "run", f"{tmp_path}/run_*.tpx3")) == rows(expected)
    refused(f"tpx3:{tmp_path}/run_1.tpx3?turns=0", "global times", "omit turns=")


def test_late_packets_where_times_start_again(tmp_path):
    """By up to a second, at the beginning of a file and later, including TDC edges."""
    random = np.random.default_rng(5)
    times = np.array(some_times(26.5, 120, n=20_000))
    times = times[np.argsort(times + random.integers(0, SECOND * 9 // 10, len(times)), kind="stable")].tolist()
    packets, expected = [], []
    for n, time in enumerate(times):
        packets.append(tpx3.pixel(1, n % 256, time, 5))
        expected.append(pixel_row(0, 1, n % 256, time, 5))
        if n % 50 == 7:
            packets.append(tpx3.tdc("TDC1 rise", n % 4096, time * 6))
            expected.append(tdc_row(0, "TDC1 rise", n % 4096, time * 6))
    run = run_all(tmp_path / "run", write(tmp_path / "a.tpx3", packets))
    assert rows_of(run) == rows(expected)


def test_a_file_that_begins_where_times_start_again(tmp_path):
    """Its first packet lies after the restart, and late ones lie before it."""
    times = [int(PERIOD + s * SECOND) for s in (0.001, -0.002, 0.003, -0.1, 0.2, 1, 2)]
    assert rows_of(run_all(tmp_path / "run", write(tmp_path / "a.tpx3", pixels(times)))) == rows(pixel_rows(times))


def stretches_in_a_file(path, stretches, references=None):
    """Writes pixels of one stretch after another, each beginning with its own references; returns their rows."""
    packets, expected = [], []
    for n, (begin, end) in enumerate(stretches):
        times = some_times(begin, end, seed=n)
        own = pixels(times, x=n)
        if references == "global":
            own[1:1] = [*tpx3.global_time(times[1] // 16), *tpx3.global_time(times[1] // 16 + 1)]
        if references == "tdc":
            own[5:5] = [tpx3.tdc("TDC1 rise", n, times[5] * 6)]
            expected.append(tdc_row(0, "TDC1 rise", n, times[5] * 6))
        packets += own
        expected += pixel_rows(times, x=n)
    write(path, packets)
    return rows(expected)


@pytest.mark.parametrize("pause", [3, 10, 15, 40, 52])
@pytest.mark.parametrize("references", ["global", "tdc"])
def test_pauses_that_references_measure(tmp_path, pause, references):
    """However often the clock of the pixels restarts in them."""
    expected = stretches_in_a_file(tmp_path / "a.tpx3", [(1, 20), (20 + pause, 22 + pause)], references)
    assert rows_of(run_all(tmp_path / "run", tmp_path / "a.tpx3")) == expected


@pytest.mark.parametrize("references", ["global", "tdc"])
def test_a_pause_of_a_period_shows_late(tmp_path, references):
    """Pixels before the first reference after it may be mistaken for earlier ones."""
    expected = stretches_in_a_file(tmp_path / "a.tpx3", [(1, 20), (47, 49)], references)
    run = run_all(tmp_path / "run", tmp_path / "a.tpx3", code=3)
    assert len({*expected} - {*rows_of(run)}) <= 5
    assert counts_of(run.report(), 0)["clock_guesses"] == 1


def test_a_pause_within_a_period(tmp_path):
    expected = stretches_in_a_file(tmp_path / "a.tpx3", [(1, 3), (13, 15)])
    assert rows_of(run_all(tmp_path / "run", tmp_path / "a.tpx3")) == expected


@pytest.mark.parametrize("stretches", [
    [(1, 3), (18, 19)],   # for more than half of a period
    [(1, 20), (30, 31)],  # across a restart of times: perhaps 3.2 s after a reset
])
def test_a_pause_that_is_guessed(tmp_path, stretches):
    expected = stretches_in_a_file(tmp_path / "a.tpx3", stretches)
    run = run_all(tmp_path / "run", tmp_path / "a.tpx3", code=3)
    assert rows_of(run) == expected
    assert counts_of(run.report(), 0)["clock_guesses"] == 1
    assert "if it went on" in run.done.stderr
    assert "other input damage" in run.done.stdout and "clock_guesses 1" in run.done.stdout


@pytest.mark.parametrize("references", [None, "tdc", "global"])
@pytest.mark.parametrize("first, second", [(10, 0.001), (20, 0.001), (40, 0.01), (20, 8)])
def test_a_reset_shows_as_a_step_back(tmp_path, references, first, second):
    """It is not mistaken for a restart of times."""
    stretches_in_a_file(tmp_path / "a.tpx3", [(1, first), (second, second + 5)], references)
    done = eventloom("run", tmp_path / "a.tpx3", "--define", "gap:0,1", "--output", tmp_path / "run.h5", code=None)
    assert f"the clock goes back from {first:.6f} s to" in done.stderr, done.stderr


def test_one_broken_time_is_dropped(tmp_path):
    """It has no further effect."""
    times = list(range(1000, 200_000_000_00, 10_000_000))
    packets = pixels(times)
    packets.insert(500, tpx3.pixel(1, 1, times[500] + (PERIOD * 2) // 5, 1))
    run = run_all(tmp_path / "run", write(tmp_path / "a.tpx3", packets), code=3)
    assert rows_of(run) == rows(pixel_rows(times))
    assert dropped(read_ledger(run.output))["out_of_step"] == 1
    assert "a time that is far from those of the packets around it" in run.done.stderr


def test_damage_in_files_of_one_run(tmp_path):
    """Damage is named with its file; a truncated file does not end the run."""
    times = files_of(tmp_path, [(1, 2), (2, 3)])
    first = tmp_path / "run_000000.tpx3"
    first.write_bytes(first.read_bytes()[:-16])
    run = run_all(tmp_path / "run", f"tpx3:{tmp_path}/run_*.tpx3?concat", code=3)
    assert rows_of(run) == rows([*pixel_rows(times[0], x=0)[:-2], *pixel_rows(times[1], x=1)])
    assert "run_000000.tpx3: offset" in run.done.stderr and "2 packets before the end of a chunk" in run.done.stderr
    assert dropped(read_ledger(run.output))["corrupt"] == 2
