#!/usr/bin/python3
"""Measures what the forebears published, and writes forebears.md. Called by forebears.sh, which builds first."""

import argparse
import datetime
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from all import Failed, commit, machine, missing, succeed
from forebears_page import draw_plots, render
from forebears_tables import runs

HERE = Path(__file__).resolve().parent
KEPT, PAGE, PLOTS = "forebears.json", "forebears.md", "forebears"
# Large, and on no page; bins are kept where a plot needs them.
LEFT_OUT = {"connections", "repetitions", "warm_up", "completion", "shown", "shown_us", "rates_bytes_per_us", "ceilings_bytes_per_us",
            "throughputs_hits_per_us", "slices_of_builder", "build_time_ns", "exchange", "message_time"}
WITH_BINS = {"waiting"}


def pruned(value, without):
    if isinstance(value, dict):
        return {key: pruned(inner, without) for key, inner in value.items() if key not in without}
    return [pruned(inner, without) for inner in value] if isinstance(value, list) else value


def kept_report(name, report):
    """What the page may need: points, load, warnings."""
    without = LEFT_OUT | ({"round_trip"} if name in WITH_BINS else {"bins"})
    return {"points": pruned(report["points"], without), "load": report["load"], "notes": report["notes"]}


def cores_used():
    """By all processes and by the hypervisor, in seconds since the start of the machine; and by commands that have ended here.
    Without interrupts, which serve those commands' own network, too."""
    user, nice, system, _, _, _, _, stolen = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    per_second, ours = os.sysconf("SC_CLK_TCK"), resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system) / per_second, stolen / per_second, ours.ru_utime + ours.ru_stime


def load_between(before, after, seconds):
    """Of a command that reports none: as `bench` does, with its limits."""
    everything, stolen, ours = ((late - early) / seconds for early, late in zip(before, after))
    others = max(0.0, everything - ours)
    return {"loaded": others > 0.1 or stolen > 0.02, "hosts": [{"others_cores": others, "stolen_cores": stolen}]}


def program(command):
    """The program that a test names instead of the built one."""
    return command.replace("build/eventloom", os.environ.get("EVENTLOOM", "build/eventloom"))


def measure_run(run):
    """What is kept of a command; `without` says why there are no figures."""
    kept = {"title": run.title, "command": run.command, "without": missing(run), "failed": False}
    if kept["without"]:
        return kept
    start, before = time.monotonic(), cores_used()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        try:
            text = succeed(program(run.whole_command(report)))
            seconds = time.monotonic() - start
            kept |= ({"report": kept_report(run.name, json.loads(report.read_text()))} if run.report else
                     {"text": text, "report": {"points": [], "load": load_between(before, cores_used(), seconds)}})
        except (Failed, OSError, ValueError) as e:
            kept |= {"without": str(e), "failed": True}
    return kept | {"seconds": round(time.monotonic() - start, 1)}


def measure_all(chosen, quick):
    start = time.monotonic()
    kept = {"date": datetime.date.today().isoformat(), "commit": commit(), "machine": machine(), "quick": quick, "runs": {}}
    for number, run in enumerate(chosen, 1):
        print(f"{run.name} {number}/{len(chosen)}", file=sys.stderr, flush=True)
        kept["runs"][run.name] = measured = measure_run(run)
        if measured["without"]:
            print(f"{run.name}: no figures: {measured['without']}")
    return kept | {"seconds": round(time.monotonic() - start)}


def save(path, kept):
    """A line for each command, so that changes can be read."""
    lines = [f" {json.dumps(name)}: {json.dumps(run)}" for name, run in kept["runs"].items()]
    head = json.dumps({key: value for key, value in kept.items() if key != "runs"})
    path.write_text(f'{head[:-1]}, "runs": {{\n' + ",\n".join(lines) + "\n}}\n")


def write_page(folder):
    """From the kept figures alone, which are returned."""
    kept = json.loads((folder / KEPT).read_text())
    plots = draw_plots(kept, folder / PLOTS)
    (folder / PAGE).write_text(render(kept, PLOTS, plots))
    return kept


def parse(words):
    parser = argparse.ArgumentParser(prog="forebears.sh", description="Measures what the forebears published.")
    parser.add_argument("--quick", action="store_true", help="few sizes, once each: to see that everything works")
    parser.add_argument("--render", action="store_true", help="write the page again, from the kept figures")
    parser.add_argument("--list", action="store_true", help="show the commands, and stop")
    parser.add_argument("--folder", type=Path, default=HERE, help="of page, figures and plots (default: beside this)")
    return parser.parse_args(words)


def main(words):
    options = parse(words)
    chosen = runs(options.quick, os.cpu_count() or 1)
    if options.list:
        print("\n".join(f"{run.name}: {run.command}" for run in chosen))
        return 0
    if not options.render:
        save(options.folder / KEPT, measure_all(chosen, options.quick))
    kept = write_page(options.folder)
    return int(any(run["failed"] for run in kept["runs"].values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
