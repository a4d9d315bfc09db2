"""Memory is bounded by what is in flight, not by the length of the run."""

import os
import subprocess

from program import BINARY, environment, generate


def peak_megabytes(folder, uris):
    """Largest resident set of a run in one process."""
    words = [word for uri in uris for word in ("--source", uri)]
    child = subprocess.Popen(["timeout", "-k", "5", "100", BINARY, "run", *words, "--define", "gap:20ns,12", "--output",
                              folder / "run.h5"], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return usage.ru_maxrss / 1024  # of timeout(1) and its child, whichever is larger


def test_ten_times_the_input_takes_no_more_memory(tmp_path):
    peak = {}
    for times in (1, 10):
        uris = generate(tmp_path / str(times), sources=2, rate=1e5, timing="poisson", hits=10, width="50ns", noise=4_000_000,
                        duration=f"{200 * times}ms", seed=1)
        peak[times] = peak_megabytes(tmp_path / str(times), uris)
        size = sum(os.path.getsize(uri.removeprefix("file:")) for uri in uris) / 2**20
        print(f"{size:.0f} MB of input: {peak[times]:.0f} MB resident at most")
    assert peak[10] < 1.25 * peak[1] + 16, peak
    assert size > 2 * peak[10] or peak[10] < 1.1 * peak[1], "the larger input is too small to show anything"
