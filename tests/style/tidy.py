#!/usr/bin/env python3
"""clang-tidy of every source that is not known to be clean: tidied.txt holds what has been looked at.

A source is the same as long as it, the headers of this project that it includes, directly or through others, the settings
and the version of clang-tidy are. Others are looked at, as many at a time as there are cores.

usage: tests/style/tidy.py BUILD_FOLDER [--keep]
BUILD_FOLDER has a compile_commands.json in which each source stands for itself. --keep adds the clean ones to tidied.txt.
"""

import concurrent.futures
import functools
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("tidied.txt")
FOLDERS = ("app", "core", "formats", "io", "schedulers")
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


def digest(path, tool):
    """Of all that the findings in a source depend on, but for the system's headers."""
    sum_of_all = hashlib.sha256(tool)
    for part in closure(path):
        sum_of_all.update(f"{part.relative_to(ROOT)}\n".encode() + part.read_bytes())
    return sum_of_all.hexdigest()[:32]


def tidy(build, path):
    """The findings in a source; empty when there are none."""
    done = subprocess.run(["clang-tidy", "-quiet", "-p", build, path], cwd=ROOT, text=True, capture_output=True)
    return done.stdout if done.returncode == 0 else done.stdout or done.stderr


def main(build, keep):
    version = subprocess.run(["clang-tidy", "--version"], text=True, capture_output=True, check=True).stdout
    tool = re.search(r"version \S+", version)[0].encode() + (ROOT / ".clang-tidy").read_bytes()
    sources = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cpp"))
    digests = {path: digest(path, tool) for path in sources}
    known = set(LIST.read_text().split()) if LIST.exists() else set()
    ahead = [path for path in sources if digests[path] not in known]
    print(f"{len(sources)} sources, {len(ahead)} of them to be looked at", flush=True)
    clean = [path for path in sources if digests[path] in known]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as cores:
        for path, findings in zip(ahead, cores.map(functools.partial(tidy, build), ahead)):
            if findings:
                print(f"{path.relative_to(ROOT)}:\n{findings}", flush=True)
            else:
                clean.append(path)
                if keep:
                    LIST.write_text("".join(f"{digests[each]}  {each.relative_to(ROOT)}\n" for each in sorted(clean)))
    return 0 if len(clean) == len(sources) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--keep" in sys.argv[2:]))
