#!/usr/bin/env python3
"""clang-tidy of every source that is not known to be clean: tidied.txt holds what has been looked at.

A source is the same as long as it, the headers of this project that it includes, directly or through others, the settings
and the version of clang-tidy are; comments do not count. The others are looked at together, those of a unity build's
batch as one text: most time goes into the headers that they share. (As includes they would escape the analyzer, which
follows only the main file.) Each must compile alone, too: a text before it hides the includes that it lacks.

usage: tests/style/tidy.py BUILD_FOLDER [--keep]
BUILD_FOLDER has the compile_commands.json of a unity build. --keep adds the clean ones to tidied.txt.
"""

import bisect
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("tidied.txt")
SKIPPED = 77  # the code by which ctest counts a skipped test
FOLDERS = ("app", "core", "formats", "io", "schedulers")
LITERAL_OR_COMMENT = re.compile(r'''"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|//[^\n]*''')
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


@functools.cache
def headers_of(path):
    """The project's headers that a file includes itself."""
    found = []
    for name in INCLUDE.findall(path.read_text()):
        found += [place.resolve() for place in (ROOT / name, path.parent / name) if place.is_file()][:1]
    return found


def closure(path):
    seen, ahead = {path}, [path]
    while ahead:
        new = [header for header in headers_of(ahead.pop()) if header not in seen]
        seen.update(new)
        ahead += new
    return sorted(seen)


@functools.cache
def code_of(path):
    """The text without comments, but for those that speak to clang-tidy, and with single spaces."""
    def kept(found):
        return "" if found[0].startswith("//") and "NOLINT" not in found[0] else found[0]
    return " ".join(LITERAL_OR_COMMENT.sub(kept, path.read_text()).split())


def digest(path, tool):
    """Of all that the findings in a source depend on, but for the system's headers."""
    sum_of_all = hashlib.sha256(tool)
    for part in closure(path):
        sum_of_all.update(f"{part.relative_to(ROOT)}\n{code_of(part)}\n".encode())
    return sum_of_all.hexdigest()[:32]


class Batch:
    """Sources that are compiled together, with the same options."""

    def __init__(self, entry):
        file = Path(entry["file"])
        self.sources = [file]
        if file.parent.name == "Unity":
            self.sources = [Path(name) for name in INCLUDE.findall(file.read_text())]
        words = shlex.split(entry["command"])
        begin = next(i for i, word in enumerate(words) if word.startswith("-"))
        self.options = words[begin:words.index("-o")]

    def limit_to(self, sources):
        self.sources = [source for source in self.sources if source in sources]
        return self

    def text(self):
        """All sources, and the line before the first of each."""
        lines, begins = [], []
        for source in self.sources:
            begins.append(len(lines))
            lines += source.read_text().splitlines()
        return "\n".join(lines) + "\n", begins


def errors_alone(batch):
    """{source: errors} of those that do not compile without the others."""
    found = {}
    for source in batch.sources:
        done = subprocess.run(["clang++", "-fsyntax-only", "-w", *batch.options, str(source)], text=True, capture_output=True)
        if done.returncode != 0:
            found[source] = done.stderr.splitlines()
    return found


def look_at(batch):
    return errors_alone(batch) or tidy(batch)


def tidy(batch):
    """{source: findings}, those that name none of them with the first."""
    text, begins = batch.text()
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(text)
        file.flush()
        # A name in one of them does not shadow another's. Some options are gcc's.
        options = [*batch.options, "-Wno-shadow", "-Wno-unused-command-line-argument",
                   *sorted({f"-I{source.parent}" for source in batch.sources})]
        done = subprocess.run(["clang-tidy", "-quiet", f"--config-file={ROOT}/.clang-tidy", file.name, "--", *options],
                              text=True, capture_output=True)
        if done.returncode == 0:
            return {}
        found, at = {}, batch.sources[0]

        def name_source(match):
            nonlocal at
            line = int(match[1])
            n = bisect.bisect_left(begins, line) - 1
            at = batch.sources[n]
            return f"{at.relative_to(ROOT)}:{line - begins[n]}:"
        for line in (done.stdout or done.stderr).splitlines():
            reported = re.sub(re.escape(file.name) + r":(\d+):", name_source, line)
            found.setdefault(at, []).append(reported)
        return found


def main(build, keep):
    version = subprocess.run(["clang-tidy", "--version"], text=True, capture_output=True, check=True).stdout
    tool = re.search(r"version \S+", version)[0].encode() + (ROOT / ".clang-tidy").read_bytes()
    if not tool.startswith(b"version 14."):
        print(f"not judged: the checks are those of clang-tidy 14, not of {version.strip()}")
        return SKIPPED
    sources = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cpp"))
    digests = {path: digest(path, tool) for path in sources}
    known = set(LIST.read_text().split()) if LIST.exists() else set()
    clean = {path for path in sources if digests[path] in known}
    ahead = set(sources) - clean
    print(f"{len(sources)} sources, {len(ahead)} of them to be looked at", flush=True)
    entries = json.loads((Path(build) / "compile_commands.json").read_text())
    batches = [batch for batch in (Batch(entry).limit_to(ahead) for entry in entries) if batch.sources]
    batches.sort(key=lambda batch: len(batch.sources), reverse=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as cores:
        for batch, found in zip(batches, cores.map(look_at, batches)):
            for source, findings in found.items():
                print(f"{source.relative_to(ROOT)}:", *findings, sep="\n", flush=True)
            clean.update(set(batch.sources) - set(found))
            if keep:
                LIST.write_text("".join(f"{digests[each]}  {each.relative_to(ROOT)}\n" for each in sorted(clean)))
    for source in sorted(set(sources) - clean):
        print(f"{source.relative_to(ROOT)}: has findings, or is in no target")
    return 0 if len(clean) == len(sources) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--keep" in sys.argv[2:]))
