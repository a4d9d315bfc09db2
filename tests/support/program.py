"""Runs the program with a time limit, with or without mpirun."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
BINARY = os.environ.get("EVENTLOOM", str(ROOT / "build" / "eventloom"))
GENERATOR = os.environ.get("EVENTLOOM_GENERATOR", BINARY)  # another build's: see tests/sanitize/run.sh


def environment(omp=None):
    env = dict(os.environ)
    if os.geteuid() == 0:
        env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env["OMP_NUM_THREADS"] = str(omp or env.get("OMP_NUM_THREADS", 1))
    return env


def run_bounded(command, *, env, timeout, cwd=None):
    """Runs a command that must end within `timeout` seconds. Returns the result, and a text for messages."""
    done = subprocess.run(["timeout", "-k", "5", str(timeout), *command], env=env, cwd=cwd, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    reported = f"exit code {done.returncode} of: {' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert done.returncode not in (124, 137, -9), f"no end after {timeout} s; {reported}"
    return done, reported


def bounded(command, *, env, timeout, code=0, cwd=None):
    """Likewise. Asserts the exit code; None accepts any of the contract's."""
    done, reported = run_bounded(command, env=env, timeout=timeout, cwd=cwd)
    if code != 2 and done.returncode == 2 and "--slot" in command and "the precision of the ranks' clocks" in done.stderr:
        # The cores are too busy for slots, which the engine's tests cover with simulated clocks.
        at = command.index("--slot")
        done, reported = run_bounded([*command[:at], *command[at + 2:]], env=env, timeout=timeout, cwd=cwd)
    assert done.returncode in ((0, 2, 3) if code is None else (code,)), reported
    return done


def eventloom(*arguments, np=None, omp=None, timeout=300, code=0, cwd=None, program=BINARY):
    """Runs one command; `np`: under mpirun with that many ranks."""
    command = [program, *map(str, arguments)]
    if np is not None:
        command = ["mpirun", "--oversubscribe", "-np", str(np), *command]
    return bounded(command, env=environment(omp), timeout=timeout, code=code, cwd=cwd)


def only_line(done, *words):
    """The single line of a refused command, apart from start-up messages; it must contain all the words."""
    lines = [line for line in done.stderr.splitlines() if "info:" not in line]
    assert len(lines) == 1 and done.stdout == "", done.stdout + done.stderr
    assert all(str(word) in lines[0] for word in words), f"not all of {words} are in: {lines[0]}"
    return lines[0]


def schedule_table(folder, sources, builders):
    """Makes a schedule of slots: builder 0 twice a cycle, odd sources in opposite order. Returns its URI."""
    order = [*range(builders), 0]
    file = folder / f"schedule-{sources}-{builders}.csv"
    file.write_text("".join(f"0,0,{source},{builder}\n" for source in range(sources)
                            for builder in (order[::-1] if source % 2 else order)))
    return f"table:{file}"


class Run:
    """A run and its merged file in a separate folder. `launch` runs the program, like `eventloom` here."""

    def __init__(self, folder, sources, *options, np=None, omp=None, code=0, timeout=300, launch=eventloom):
        folder.mkdir(parents=True, exist_ok=True)
        self.output, self.merged, self.report_file = folder / "run.h5", folder / "merged.h5", folder / "report.json"
        uris = [word for uri in sources for word in ("--source", uri)]
        self.done = launch("run", *uris, *options, "--output", self.output, "--report-json", self.report_file,
                           np=np, omp=omp, code=code, timeout=timeout)
        if self.done.returncode in (0, 3):
            eventloom("merge", self.output, "--output", self.merged, code=None)

    def report(self):
        return json.loads(self.report_file.read_text())


def generate(folder, **options):
    """Writes recorded streams with `eventloom generate`; returns the URIs."""
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    eventloom("generate", "--output", folder, *words, program=GENERATOR)
    return [f"file:{path}" for path in sorted(Path(folder).glob("*.epochs"))]
