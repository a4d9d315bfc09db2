"""What passes only when it is tried again is counted, and more than two such tests fail a run."""

import os
import shutil
import subprocess
import sys

import pytest

from program import ROOT

pytestmark = pytest.mark.every_case

FAILS_ONCE = "[ -e {0} ] || {{ touch {0}; exit 1; }}"
HANGS_ONCE = "[ -e {0} ] || {{ touch {0}; sleep 60; }}"
CRASHES_ONCE = "[ -e {0} ] || {{ touch {0}; kill -SEGV $$; }}"
# What sessions.py writes of a session that ctest repeats.
RERUNS = """12:00:01 FAILED tests/system/test_live.py::test_board[a b], call
12:00:02 tests/system/test_live.py: 1.5 s, 2 FAILED; 0 files to go
12:00:03 RERUN tests/system/test_live.py::test_board[a b]
12:00:03 RERUN tests/system/test_live.py::test_board[a]
12:00:09 tests/system/test_live.py: 1.5 s; 0 files to go
"""


def counted(*logs):
    """(exit code, lines) of the script."""
    environ = {name: value for name, value in os.environ.items() if name != "EVENTLOOM_MOST_RETRIED"}
    done = subprocess.run([sys.executable, ROOT / "tests/support/retried.py", *logs], capture_output=True, text=True, env=environ)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def ctest(folder, commands):
    """Runs commands of the shell as tests, as .ci/run does; returns ctest's exit code and its log."""
    tests = [f'add_test("{name}" sh -c [==[{command}]==])\n' for name, command in commands.items()]
    limits = [f'set_tests_properties("{name}" PROPERTIES TIMEOUT 2)\n' for name in commands]
    (folder / "CTestTestfile.cmake").write_text("".join(tests + limits))
    words = ["ctest", "--test-dir", folder, "--repeat", "until-pass:2", "--parallel", "4"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CTEST_")}
    done = subprocess.run(words, capture_output=True, text=True, env=environ)
    return done.returncode, folder / "Testing/Temporary/LastTest.log"


@pytest.mark.parametrize("most", [0, 2, 3])
def test_tests_that_ctest_repeats(tmp_path, most):
    ways = {"unit.fails": FAILS_ONCE, "system.hangs": HANGS_ONCE, "mpi.crashes": CRASHES_ONCE}
    again = {name: way.format(tmp_path / name) for name, way in list(ways.items())[:most]}
    code, log = ctest(tmp_path, {"unit.good": "true", **again})
    assert code == 0
    code, lines = counted(log)
    assert lines[0] == f"passed only when tried again: {most}"
    assert sorted(line.strip() for line in lines[1:most + 1]) == sorted(again)
    assert code == (1 if most > 2 else 0)


def test_what_fails_at_every_try_is_not_counted(tmp_path):
    code, log = ctest(tmp_path, {"unit.bad": "false", "unit.once": FAILS_ONCE.format(tmp_path / "seen")})
    assert code != 0
    assert counted(log) == (0, ["passed only when tried again: 1", "  unit.once"])


def test_tests_of_a_session_are_counted_in_its_place(tmp_path):
    progress = tmp_path / "progress.txt"
    progress.write_text(RERUNS)
    once = {name: FAILS_ONCE.format(tmp_path / name) for name in ("system.long", "unit.once")}
    code, log = ctest(tmp_path, once)
    assert code == 0
    code, lines = counted(log, progress)
    assert code == 1 and lines[:-1] == ["passed only when tried again: 3", "  unit.once",
                                        "  tests/system/test_live.py::test_board[a b]", "  tests/system/test_live.py::test_board[a]"]


def test_output_that_resembles_the_log_is_not_counted(tmp_path):
    """A test that runs a ctest of its own, as the sanitizers do."""
    said = tmp_path / "said"
    said.write_text("1/2 Test #1: unit.inner ......***Failed\n    Test #1: unit.inner ...   Passed\nTest Failed.\nTest Passed.\n")
    code, log = ctest(tmp_path, {"sanitize.run": f"cat {said}"})
    assert code == 0 and counted(log) == (0, ["passed only when tried again: 0"])


@pytest.mark.parametrize("ends", ["good", "bad", "often"])
def test_test_command(tmp_path, ends):
    """tests/run_tests.sh, with the build left out: ctest's exit code and closing lines are kept, the count comes after."""
    for name in ("tests/run_tests.sh", "tests/support/retried.py", "jobs/paths.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    setup = tmp_path / "jobs/setup.sh"
    setup.write_text("#!/bin/sh\nexit 0\n")
    setup.chmod(0o755)
    build = tmp_path / "build"
    build.mkdir()
    names = ["unit.a", "unit.b", "unit.c"][:3 if ends == "often" else 1]
    commands = {name: FAILS_ONCE.format(build / name) for name in names} | {"unit.d": "false" if ends == "bad" else "true"}
    ctest(build, {})
    (build / "CTestTestfile.cmake").write_text("".join(f'add_test("{n}" sh -c [==[{c}]==])\n' for n, c in commands.items()))
    done = subprocess.run([tmp_path / "tests/run_tests.sh", "--all", "--repeat", "until-pass:2"], capture_output=True, text=True,
                          env=os.environ | {"EVENTLOOM_MOST_RETRIED": "2"})
    assert (done.returncode == 0) == (ends == "good"), done.stdout + done.stderr
    closing, _, after = done.stdout.partition("passed only when tried again: ")
    assert f"tests failed out of {len(commands)}" in closing
    assert after.splitlines()[0] == str(len(names)) and "tests failed" not in after
