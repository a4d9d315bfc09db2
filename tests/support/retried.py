#!/usr/bin/env python3
"""Counts what passed only when it was tried again: retries must not hide races for long.

usage: tests/support/retried.py LOG...      LOG: ctest's Testing/Temporary/LastTest.log, or the progress of a session of pytest
Prints how many passed only at a later try, and which: tests that ctest repeated (--repeat until-pass:2). Of a session of
pytest that ctest repeated, it counts the tests that ran again (sessions.py), not the session. Exit code 1 if there are more
than two (EVENTLOOM_MOST_RETRIED=N: than N). A test that failed at every try is not counted: it fails the run by itself.
"""

import os
import re
import sys
from pathlib import Path

MOST = int(os.environ.get("EVENTLOOM_MOST_RETRIED", 2))
# ctest ends each attempt so; nothing else in its log, such as the output of a ctest that a test runs, looks like it.
ATTEMPT = re.compile(r'^Test (Passed|Failed)\.\n"(.+)" end time: ', re.MULTILINE)
# What sessions.py writes.
RERUN = re.compile(r"^[0-9:]{8} RERUN (\S+\.py::.+)$", re.MULTILINE)
SESSIONS = {"system.quick", "system.long"}


def retried_by_ctest(log):
    attempts = {}
    for result, name in ATTEMPT.findall(log):
        attempts.setdefault(name, []).append(result)
    retried = [name for name, results in attempts.items() if results[-1] == "Passed" and "Failed" in results]
    return [name for name in retried if name not in SESSIONS]


def main(paths):
    log = "\n".join(Path(path).read_text(errors="replace") for path in paths)
    names = retried_by_ctest(log) + RERUN.findall(log)
    print(f"passed only when tried again: {len(names)}", *(f"  {name}" for name in names), sep="\n")
    if len(names) > MOST:
        print(f"more than {MOST} of them fail a run")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
