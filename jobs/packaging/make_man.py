#!/usr/bin/env python3
"""Man pages of the program and each of its commands, from what `--help` says.

usage: make_man.py PROGRAM FOLDER      writes FOLDER/eventloom.1, eventloom-run.1, ...
"""

import re
import subprocess
import sys
from pathlib import Path


def said(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True, timeout=60).stdout


def verbatim(lines):
    """As they are; a dot or an apostrophe at the beginning of a line would be a request."""
    escaped = [line.rstrip().replace("\\", "\\e").replace("-", "\\-") for line in lines]
    return [".nf", *(f"\\&{line}" if line[:1] in ".'" else line for line in escaped), ".fi"]


def page(name, summary, version, text, others=()):
    usage, *rest = text.strip().splitlines()
    return "\n".join([f'.TH {name.upper()} 1 "" "{version}"', ".SH NAME", f"{name} \\- {summary}", ".SH SYNOPSIS",
                      *verbatim([usage.removeprefix("usage: ")]), ".SH DESCRIPTION", *verbatim(rest),
                      *([".SH SEE ALSO", ", ".join(f"\\fB{other}\\fR(1)" for other in others)] if others else []), ""])


def main(program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    version = said(program, "--version").splitlines()[0]
    text = said(program, "--help")
    commands = dict(re.findall(r"^  ([a-z]+) +(\S.*)$", text, flags=re.M))
    for command, summary in commands.items():
        name = f"eventloom-{command}"
        (folder / f"{name}.1").write_text(page(name, summary, version, said(program, command, "--help")))
    (folder / "eventloom.1").write_text(page("eventloom", "builds events of many detectors' data streams, in parallel", version,
                                             text, [f"eventloom-{command}" for command in commands]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[2])
    main(sys.argv[1], Path(sys.argv[2]))
