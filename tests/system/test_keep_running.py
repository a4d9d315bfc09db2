"""jobs/keep_running.sh restarts a run that has died, and only such a run."""

import os
import shutil
import signal
import subprocess

import pytest

from interrupted import until
from program import ROOT

SCRIPT = ROOT / "jobs/keep_running.sh"
#: A command that writes a line each time it starts, and ends with the exit codes in `codes`, one after another.
COMMAND = """
echo start >>starts
code=$(sed -n "$(wc -l <starts)p" codes)
[ "$code" != KILL ] || kill -KILL $$
exit ${code:-0}
"""


def kept_running(folder, codes, *words, restarts=10):
    """Exit code, number of starts, and messages."""
    (folder / "codes").write_text("".join(f"{code}\n" for code in codes))
    env = os.environ | {"MOST_RESTARTS": str(restarts), "LONGEST_PAUSE": "0"}
    done = subprocess.run([SCRIPT, "bash", "-c", COMMAND, "run", *words], cwd=folder, env=env, capture_output=True, text=True,
                          timeout=60)
    starts = folder / "starts"
    return done.returncode, len(starts.read_text().split()) if starts.exists() else 0, done.stderr


@pytest.mark.parametrize("codes, code, starts", [
    ([0], 0, 1),  # ended
    ([3], 3, 1),  # with losses
    ([1, "KILL", 75, 134, 0], 0, 5),  # died in several ways
    ([1, 3], 3, 2),
    ([2, 0], 2, 1),  # misused
    ([126, 0], 126, 1),
    ([1, 2, 2, 0], 0, 4),  # an input is not back yet
])
def test_what_is_started_again(tmp_path, codes, code, starts):
    assert kept_running(tmp_path, codes, "--resume")[:2] == (code, starts)


@pytest.mark.parametrize("words", [("--runs", "data"), ("--runs=data",)])
def test_a_series_begins_its_next_run(tmp_path, words):
    assert kept_running(tmp_path, ["KILL", 0], *words)[:2] == (0, 2)


def test_it_gives_up_in_the_end(tmp_path):
    code, starts, reported = kept_running(tmp_path, [9] * 20, "--resume", restarts=4)
    assert (code, starts) == (9, 5)
    assert "died 5 times in a row" in reported and "the same command continues it" in reported


@pytest.mark.parametrize("words", [(), ("--output", "run.h5"), ("--runs-of", "x")])
def test_a_run_that_would_not_continue_is_refused(tmp_path, words):
    code, starts, reported = kept_running(tmp_path, [0], *words)
    assert (code, starts) == (2, 0)
    assert "--resume" in reported


#: The first time it hangs after the end of its rank, as Open MPI's does now and then.
HANGS_ONCE = """#!/bin/bash
echo start >>starts
sleep 1.5
[ "$(wc -l <starts)" = 1 ] || exit 0
exec HANGING -f /dev/null
"""


def test_an_mpirun_that_hangs_without_ranks_has_died(tmp_path):
    launcher = tmp_path / "bin" / "mpirun"
    launcher.parent.mkdir()
    launcher.write_text(HANGS_ONCE.replace("HANGING", str(launcher.parent / "mpirun.real")))
    launcher.chmod(0o755)
    (launcher.parent / "mpirun.real").symlink_to(shutil.which("tail"))
    env = os.environ | {"LONGEST_PAUSE": "0", "HUNG_AFTER": "1"}
    done = subprocess.run([SCRIPT, launcher, "run", "--resume"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, (tmp_path / "starts").read_text()) == (0, "start\nstart\n")
    assert "mpirun has hung" in done.stderr and "died with exit code 137" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_the_run_once_and_ends_both(tmp_path, number):
    name = number.name.removeprefix("SIG")
    command = f"n=0; trap 'n=$((n + 1))' {name}; echo start >>starts; while [ $n = 0 ]; do sleep 0.01; done; echo $n >got; exit 75"
    with subprocess.Popen([SCRIPT, "bash", "-c", command, "run", "--resume"], cwd=tmp_path, stderr=subprocess.PIPE,
                          text=True, start_new_session=True) as process:
        until((tmp_path / "starts").exists, "a start")
        os.killpg(process.pid, number)  # like a terminal
        assert process.wait(30) == 75
        assert f"SIG{name}" in process.stderr.read()
    assert (tmp_path / "got").read_text() == "1\n"
    assert (tmp_path / "starts").read_text() == "start\n"
