#!/usr/bin/python3
"""Measures what the READMEs claim. Called by all.sh, which builds first."""

import argparse
import collections
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measured import Result, changes, fill_all, load, save
from measurements import MEASUREMENTS, Output
from systems import fill_systems

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIGURES = ("README.md", "how_fast.md", "measured.json", "forebears.md", "forebears.json", "forebears")
PROBES = {  # of what is no program in PATH
    "root": (lambda: os.geteuid() == 0, "only root can make hosts"),
    "ZeroMQ": (lambda: shell("build/eventloom bench patterns --pattern one-to-one --peer zmq-ipc --sizes 1KiB --slices 1 "
                             "--repeat 1").returncode == 0, "this build has no ZeroMQ"),
    "rustpix": (lambda: shell('"${RUSTPIX_PYTHON:-python3}" -c "import rustpix"').returncode == 0,
                "rustpix is not installed: pip install rustpix, and RUSTPIX_PYTHON says of which Python"),
}


class Failed(Exception):
    """A measurement gave no figures, for the reason in its text."""


def shell(command):
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def succeed(command):
    done = shell(command)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise Failed(f"exit code {done.returncode}: {last}")
    return done.stdout


def missing(measurement):
    """Why it cannot be measured here; nothing where it can."""
    for need in measurement.needs:
        if need in PROBES:
            there, why = PROBES[need]
            if not there():
                return why
        elif "/" in need and not (ROOT / need).exists():
            return f"{need} is not built"
        elif "/" not in need and not shutil.which(need):
            return f"{need} is not installed"
    return ""


def measure_once(measurement):
    """The figures of one repetition, by row."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        text = succeed(measurement.whole_command(report))
        output = Output(text, json.loads(report.read_text()) if measurement.report else None)
    try:
        return {row.label: row.read(output) for row in measurement.rows}
    except (KeyError, IndexError, ValueError, TypeError) as e:
        raise Failed(f"its output is not as expected: {e}") from e


def times(measurement, repeat):
    return min(repeat, measurement.at_most)


def measure(measurement, result):
    """Adds the values of all repetitions to the result."""
    values = collections.defaultdict(list)
    if measurement.prepare:
        succeed(measurement.prepare)
    try:
        for i in range(result.repeated):
            print(f"{measurement.name} {i + 1}/{result.repeated}", file=sys.stderr, flush=True)
            for label, value in measure_once(measurement).items():
                values[label].append(value)
    finally:
        if measurement.after:
            shell(measurement.after)
    result.values = dict(values)


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], text=True, capture_output=True)
    return done.stdout.strip()


def commit():
    """The one that the tree was at; + where files differ from it, other than the figures themselves."""
    figures = [f":!tests/benchmarks/{name}" for name in FIGURES]
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *figures)
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def machine():
    def found(pattern, text):
        match = re.search(pattern, text)
        return match[1].strip() if match else "unknown"
    processor = found(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = int(found(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())) / 2**20
    built = shell("build/eventloom --version").stdout
    mpi, ucx = found(r"Open MPI v?([^;\s]+)", built), found(r"UCX ([^;\s]+)", built)
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB; Open MPI {mpi}, UCX {ucx}"


def update(folder, results):
    """Whatever is measured stands in all files at once, so that an interrupted series is not lost."""
    save(folder / "measured.json", results)
    page, beside = folder / "README.md", folder / "how_fast.md"
    page.write_text(fill_all(page.read_text(), MEASUREMENTS, results))
    if beside.exists():
        beside.write_text(fill_systems(beside.read_text(), results))


def measure_all(chosen, repeat, folder):
    """Returns the number of measurements that failed."""
    results, failed, lines = load(folder / "measured.json"), 0, []
    here = machine()
    for measurement in chosen:
        if why := missing(measurement):
            print(f"{measurement.name}: left out: {why}")
            continue
        result = Result(datetime.date.today().isoformat(), commit(), here, times(measurement, repeat))
        try:
            measure(measurement, result)
        except Failed as e:
            print(f"{measurement.name}: failed: {e}")
            failed += 1
            continue
        if measurement.name in results:
            lines += changes(measurement, results[measurement.name], result)
        results[measurement.name] = result
        update(folder, results)
    print("\n".join(["changed by more than the spread:", *lines] if lines else ["nothing changed by more than the spread"]))
    return failed


def show_list(chosen, repeat):
    minutes = {m: m.seconds * times(m, repeat) / 60 for m in chosen}
    for measurement, expected in minutes.items():
        print(f"{measurement.name:15} {expected:5.1f} min, {times(measurement, repeat):2} times: {measurement.title}")
    print(f"{'together':15} {sum(minutes.values()):5.1f} min, about")


def show_commands(chosen):
    for measurement in chosen:
        for command in filter(None, (measurement.prepare, measurement.whole_command("report.json"), measurement.after)):
            print(f"{measurement.name}: {command}")


def parse(words):
    parser = argparse.ArgumentParser(prog="all.sh", description="Measures what the READMEs claim.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these (default: all)")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="repetitions of each (default: 5)")
    parser.add_argument("--list", action="store_true", help="show names and expected times, and stop")
    parser.add_argument("--dry-run", action="store_true", help="show the commands, and stop")
    parser.add_argument("--folder", type=Path, default=HERE, help="of README.md and measured.json (default: beside this)")
    options = parser.parse_args(words)
    known = {measurement.name for measurement in MEASUREMENTS}
    if unknown := sorted(set(options.names) - known):
        parser.error(f"unknown: {', '.join(unknown)}; --list shows the names")
    if options.repeat < 1:
        parser.error("--repeat must be 1 or more")
    return options


def main(words):
    options = parse(words)
    chosen = [m for m in MEASUREMENTS if not options.names or m.name in options.names]
    if options.list:
        show_list(chosen, options.repeat)
    elif options.dry_run:
        show_commands(chosen)
    else:
        return min(measure_all(chosen, options.repeat, options.folder), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
