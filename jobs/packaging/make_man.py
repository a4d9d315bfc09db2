#!/usr/bin/env python3
"""Man pages of the program and each of its commands, from what `--help` says.

usage: make_man.py PROGRAM FOLDER      writes FOLDER/eventloom.1, eventloom-run.1, eventloom-bench-scan.1, ...
"""

import re
import subprocess
import sys
from pathlib import Path

WIDTH = 110  # of the lines of --help


def said(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True, timeout=60).stdout


def safe(text):
    """A dot or an apostrophe at the beginning of a line would be a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def commands_in(text):
    """Those that a help text lists, with their summaries."""
    return re.findall(r"^  ([a-z]+) +(\S.*)$", text, flags=re.M)


def joined(lines, column):
    """Lines of a description as one. A full line ends at a space that is left out, or in a long word."""
    text = ""
    for line in lines:
        words = text[text.rfind(" ") + 1:]
        inside = text and not text.endswith(" ") and len(words) >= (WIDTH - column) / 2
        text = (text if inside or not text else text.rstrip() + " ") + line
    return text.rstrip()


def options(lines, column):
    """[(option, what it does)]: descriptions begin in one column, below an option that is too long."""
    found = []
    for line in filter(None, lines):
        if line[2:3] != " ":
            name, words = (line, "") if line[column - 1:column] not in ("", " ") else (line[:column], line[column:])
            found.append((name.strip(), [words] if words else []))
        else:
            found[-1][1].append(line[column:])
    return [(re.sub(r"^(-\w) \[ (--[\w-]+) \]", r"\1, \2", name), joined(words, column)) for name, words in found]


def listed(pairs):
    return [line for name, text in pairs for line in (".TP", f"\\fB{safe(name)}\\fR", safe(text))]


def body(text):
    """The paragraphs, lists of commands and sections of options below the line of usage."""
    about, *sections = re.split(r"^(\S[^\n]*:)\n(?=  -)", text, flags=re.M)
    lines = []
    for paragraph in about.strip("\n").split("\n\n"):
        commands = commands_in(paragraph)
        lines += listed(commands) if commands else [".PP", *map(safe, paragraph.splitlines())]
    column = next((line.index("show this help") for line in text.splitlines() if "show this help" in line), WIDTH)
    for heading, entries in zip(sections[::2], sections[1::2]):
        lines.append(f".SH {safe(heading.rstrip(':').upper())}")
        lines += listed(options(entries.rstrip("\n").splitlines(), column))
    return lines


def page(name, summary, version, text, others=()):
    usage, _, rest = text.strip().partition("\n")
    return "\n".join([f'.TH {name.upper()} 1 "" "{version}"', ".nh", ".ad l", ".SH NAME", f"{safe(name)} \\- {safe(summary)}",
                      ".SH SYNOPSIS", safe(usage.removeprefix("usage: ")), ".SH DESCRIPTION", *body(rest),
                      *([".SH SEE ALSO", ", ".join(f"\\fB{safe(other)}\\fR(1)" for other in others)] if others else []), ""])


def write(program, folder, version, words, summary):
    """The page of a command, and those of the commands that it lists."""
    text = said(program, *words, "--help")
    commands = commands_in(text)
    name = "-".join(["eventloom", *words])
    (folder / f"{name}.1").write_text(page(name, summary, version, text, [f"{name}-{command}" for command, _ in commands]))
    for command, about in commands:
        write(program, folder, version, [*words, command], about)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[2])
    target = Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    write(sys.argv[1], target, said(sys.argv[1], "--version").splitlines()[0], [],
          "builds events of many detectors' data streams, in parallel")
