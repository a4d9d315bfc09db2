"""Runs the examples of the pages unchanged, and compares their output."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages import examples
from program import BINARY, ROOT, environment

# Examples that are run elsewhere, by words of their commands.
ELSEWHERE = {
    "main_job.sh": "installs packages and builds; .ci/run does",
    "run_tests.sh": "runs the tests, this one among them",
    "run_fuzzers.sh|campaign.sh|build-sanitizers|build-fuzzers|sanitize/": "minutes, of tests of their own",
    "-m pytest|core_tests|engine_test|style/tidy": "tests",
    "gdb|pgrep|/proc/PID": "a debugger, a run that hangs, a core dump",
    "cmake |module load|~/eventloom": "builds and installs: test_install",
    "network_study": "minutes to hours of simulations: schedulers/README.md says of which commits its tables are",
    "pip install": "test_python installs the package",
    "tests/benchmarks/": "minutes on an idle machine; tests/benchmarks/README.md says what was measured when",
    "my_jobs|sbatch|chain.sh|squeue|sacct|scontrol|scancel|slurm-|EDITOR|history.txt": "a cluster: test_slurm",
    "pkill|run 'rec/": "a run that is stopped by hand: test_resume",
    "--monitor 8080 --output|eventloom top|eventloom control": "a second terminal: test_monitor",
    "report --runs": "a folder of runs: test_run_control",
}
# Commands that need hardware, or never end: only their options are checked.
UNDERSTOOD = r"\?follow|mbs://lxi009|udp://:7200|udp://:7100 --define|notify-shift"
# Commands whose figures differ each time.
MEASURED = ":7100|eventloom bench"
VARIES = r"(?<=^eventloom )[\dT:-]+Z|\d+(\.\d+)?(?= (s|ms|us|million hits/s|MB peak memory)\b)|(?<= on )\S+(?=: (stopping|ending))"
# Pages that wait for clocks, or measure: see test_readme_long.
SLOW = ["app/tools/bench/README.md", "app/tools/simulate/README.md", "jobs/live.md"]
PATIENCE = 300  # s, beside other tests


def reason_elsewhere(example):
    return next((reason for words, reason in ELSEWHERE.items() if re.search(words, example.command)), None)


def run_here(page):
    return [example for example in examples(page) if not reason_elsewhere(example) and not re.search(UNDERSTOOD, example.command)]


@pytest.fixture
def clone(tmp_path):
    """A clone as a user has it, with the program already built."""
    for name in ("tests", "jobs", "io", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "eventloom").symlink_to(BINARY)
    (tmp_path / "build" / "python3").symlink_to(sys.executable)
    return tmp_path


def is_background(command):
    """The output of a background command is shown with that of the next one."""
    return command.partition(" #")[0].rstrip().endswith("&")


def script_of(folder, number, command):
    """One line of the script: the command's output and exit code go to files; its exports are kept."""
    said, code = folder / f"said.{number}", folder / f"code.{number}"
    if is_background(command):
        listens = "until grep -qs ':1BBC ' /proc/net/udp; do sleep 0.02; done" if ":7100" in command else ":"
        return f"( {command.partition(' #')[0].rstrip()[:-1]}\necho $? >{code} ) >{said} 2>&1 &\n{listens}"
    return f"{{ {command}\n}} >{said} 2>&1; echo $? >{code}"


def run(clone, commands):
    """[(exit code, output)] of each command: all run in one shell, which also waits for those in the background."""
    script = "\n".join([*(script_of(clone, n, command) for n, command in enumerate(commands)), "wait"])
    path = f"{clone / 'build'}:{os.environ['PATH']}"
    done = subprocess.run(["timeout", "-k", "5", str(PATIENCE), "bash", "-c", script], cwd=clone, capture_output=True, text=True,
                          env=environment() | {"PATH": path}, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return [(int((clone / f"code.{n}").read_text()), (clone / f"said.{n}").read_text()) for n in range(len(commands))]


def comparable(line, measured):
    line = re.sub(VARIES, "~", " ".join(line.split()))
    return re.sub(r"\d+(\.\d+)?", "~", line) if measured else line


def matches(shown, lines):
    """In `shown`, a line `...` stands for any lines, and `...` at the end of a line for the rest of it."""
    if not shown or not lines:
        return all(line == "..." for line in shown) and (bool(shown) or not lines)
    if shown[0] == "...":
        return matches(shown[1:], lines) or matches(shown, lines[1:])
    same = lines[0].startswith(shown[0].removesuffix("...")) if shown[0].endswith("...") else shown[0] == lines[0]
    return same and matches(shown[1:], lines[1:])


def assert_says(example, said):
    """Checks that all output shown appears. Messages and progress need not be shown; a script shows nothing."""
    measured = bool(re.search(MEASURED, example.command))
    shown = [comparable(line, measured) for line in example.shown]
    messages = [line for line in shown if line.startswith("eventloom")]
    lines = [comparable(line, measured) for line in said.splitlines()]
    lines = [line for line in lines if not line.startswith("eventloom") or any(matches([message], [line]) for message in messages)]
    assert not shown or matches(shown, lines), "shown:\n{}\nsaid:\n{}".format("\n".join(shown), "\n".join(lines))


def assert_page_runs(clone, page):
    """Runs the page from top to bottom in one folder."""
    found = run_here(page)
    if any(":7100" in example.command for example in found) and ":1BBC " in Path("/proc/net/udp").read_text():
        pytest.skip("port 7100 is in use")
    if any("simulate" in example.command for example in found) and not (Path(BINARY).resolve().parent / "eventloom-simulator").exists():
        pytest.skip("built without SimGrid")
    before = ""
    for example, (code, said) in zip(found, run(clone, [example.command for example in found])):
        assert code == example.code, f"exit code {code} of {example.command}\n{said}"
        if not is_background(example.command):
            assert_says(example, before + said)
        before = said if is_background(example.command) else ""
