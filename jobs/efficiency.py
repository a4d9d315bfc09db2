#!/usr/bin/env python3
"""Prints how well a run has used its time, all attempts together.

usage: efficiency.py REPORT_JSON HISTORY JOB_SECONDS     (of the last attempt; seconds since its script began)
"""

import json
import pathlib
import re
import sys


def main(report_file, history_file, job_seconds):
    report = json.loads(pathlib.Path(report_file).read_text())
    # All the time of an interrupted attempt counts; the last one also starts, ends and merges.
    interrupted = re.findall(r": (?:run stopped|failed: run) .* after (\d+) s", pathlib.Path(history_file).read_text())
    before = sum(map(int, interrupted))
    seconds, ranks = before + report["seconds"], report["ranks"]
    rates = {"hits": (report["totals"]["hits_in"] / 1e6, "million/s"),
             "written": (sum(part["bytes"] for part in report["parts"]) / 1e6, "MB/s")}
    print(f"efficiency     {'all':>12}{'per rank':>12}   {ranks} ranks on {len(set(report['hosts']))} hosts")
    for name, (amount, unit) in rates.items():
        rate = amount / max(seconds, 1e-9)
        print(f"  {name:12} {rate:12.3f}{rate / ranks:12.3f}   {unit}")
    share = 100 * seconds / (before + max(float(job_seconds), report["seconds"]))
    print(f"  running      {seconds:12.3f} s in {len(interrupted) + 1} attempts, {share:.0f} % of the time of the job")


main(*sys.argv[1:])
