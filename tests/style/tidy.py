#!/usr/bin/env python3
"""clang-tidy of the sources that differ from a base commit, whose own sources count as clean.

Two sources are the same if they, the headers of this project that they include, directly or through others, the settings
and the version of clang-tidy are; comments do not count. The base is
- EVENTLOOM_TIDY_BASE, any name of a commit; otherwise
- where the branch left origin/main; on main itself, where nothing differs from that,
- 20 commits ago, merges counting as one, or the oldest commit of a shallow clone.
A clone of a single commit has no base: then all sources count as different.

At most 20 of them are looked at: first those that have changed themselves, or in a header that they include directly, then
others, drawn by the name of the commit. So the time is bounded, a run that is repeated looks at the same, and the next
commit draws others; what is left out is counted. --all, by hand and before a release, looks at all, and needs no git.

Sources found clean are listed in BUILD_FOLDER/tidied.txt, and not looked at again until they differ from what they were.

The sources are looked at together, those of a unity build's batch as one text: most time goes into the headers that they
share. (As includes they would escape the analyzer, which follows only the main file.) Each must compile alone, too: a text
before it hides the includes that it lacks.

usage: tests/style/tidy.py BUILD_FOLDER [--all] [--list]
BUILD_FOLDER has the compile_commands.json of a unity build. --list: only prints which sources would be looked at.
"""

import bisect
import concurrent.futures
import functools
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 20  # sources, unless --all
COMMITS = 20  # on main
SKIPPED = 77  # the code by which ctest counts a skipped test
FOLDERS = ("app", "core", "formats", "io", "schedulers")
LITERAL_OR_COMMENT = re.compile(r'''"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|//[^\n]*''')
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


@functools.cache
def headers_of(path, root):
    """The project's headers that a file includes itself."""
    found = []
    for name in INCLUDE.findall(path.read_text()):
        found += [place.resolve() for place in (root / name, path.parent / name) if place.is_file()][:1]
    return found


def closure(path, root):
    seen, ahead = {path}, [path]
    while ahead:
        new = [header for header in headers_of(ahead.pop(), root) if header not in seen]
        seen.update(new)
        ahead += new
    return sorted(seen)


@functools.cache
def code_of(path):
    """The text without comments, but for those that speak to clang-tidy, and with single spaces."""
    def kept(found):
        return "" if found[0].startswith("//") and "NOLINT" not in found[0] else found[0]
    return " ".join(LITERAL_OR_COMMENT.sub(kept, path.read_text()).split())


def digest(parts, root, tool=b""):
    sum_of_all = hashlib.sha256(tool)
    for part in parts:
        sum_of_all.update(f"{part.relative_to(root)}\n{code_of(part)}\n".encode())
    return sum_of_all.hexdigest()[:32]


def sources_of(root):
    return sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.cpp"))


class Tree:
    """The sources under a folder: a digest of each, of all that its findings depend on but for the system's headers, and
    one of itself and the headers that it includes directly."""

    def __init__(self, root, tool):
        root = root.resolve()
        settings = root / ".clang-tidy"
        tool += settings.read_bytes() if settings.exists() else b""
        self.digests, self.near = {}, {}
        for path in sources_of(root):
            name = str(path.relative_to(root))
            self.digests[name] = digest(closure(path, root), root, tool)
            self.near[name] = digest([path, *headers_of(path, root)], root)


# The base commit.

def git(*words, root=ROOT):
    """The output of a git command; None if it fails."""
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True)
    return done.stdout if done.returncode == 0 else None


def text_of(*words, root=ROOT):
    return (git(*words, root=root) or b"").decode().strip()


def is_checkout(root):
    top = text_of("rev-parse", "--show-toplevel", root=root)
    return bool(top) and Path(top).resolve() == root.resolve()


def base_of(root, asked=None):
    """(commit, description); the commit is None if there is no other than HEAD."""
    if asked:
        commit = text_of("rev-parse", "--verify", "--quiet", f"{asked}^{{commit}}", root=root)
        if not commit:
            sys.exit(f"EVENTLOOM_TIDY_BASE: git knows no commit {asked} here")
        return commit, asked
    head = text_of("rev-parse", "HEAD", root=root)
    fork = text_of("merge-base", "HEAD", "origin/main", root=root)
    if fork not in ("", head):
        return fork, "where this branch left origin/main"
    commits = text_of("rev-list", "--first-parent", f"--max-count={COMMITS + 1}", "HEAD", root=root).split()
    if len(commits) < 2:
        return None, "this clone has a single commit"
    return commits[-1], f"{len(commits) - 1} commits ago"


def tree_of(commit, tool, root):
    """The sources of a commit."""
    there = set(text_of("ls-tree", "--name-only", commit, root=root).split("\n"))
    packed = git("archive", commit, *sorted(there & {*FOLDERS, ".clang-tidy"}), root=root)
    with tempfile.TemporaryDirectory() as folder:
        tarfile.open(fileobj=io.BytesIO(packed)).extractall(folder)
        return Tree(Path(folder), tool)


def chosen(root, tool, known, asked=None):
    """(sources to be looked at, others that differ, description). `known`: digests of clean sources."""
    ours = Tree(root, tool)
    commit, description = base_of(root, asked)
    base = tree_of(commit, tool, root) if commit else None
    clean = known | set(base.digests.values() if base else [])
    differ = [name for name, one in ours.digests.items() if one not in clean]
    head = text_of("rev-parse", "HEAD", root=root)

    def rank(name):
        is_near = base is not None and ours.near[name] != base.near.get(name)
        return not is_near, hashlib.sha256(f"{head} {name}".encode()).digest()
    differ.sort(key=rank)
    return sorted(differ[:MOST]), differ[MOST:], description


class Batch:
    """Sources that are compiled together, with the same options."""

    def __init__(self, entry):
        file = Path(entry["file"])
        self.sources = [file]
        if file.parent.name == "Unity":
            self.sources = [Path(name) for name in INCLUDE.findall(file.read_text())]
        words = shlex.split(entry["command"])
        begin = next(i for i, word in enumerate(words) if word.startswith("-"))
        options = words[begin:words.index("-o")]
        # gcc's precompiled header, which clang refuses: a source includes what it needs.
        header = [i for i, word in enumerate(options) if word.endswith("/cmake_pch.hxx")]
        left_out = {j for i in header for j in (i - 1, i)}
        self.options = [word for i, word in enumerate(options) if i not in left_out and word != "-Winvalid-pch"]

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


def main(build, everything, only_list):
    version = subprocess.run(["clang-tidy", "--version"], text=True, capture_output=True, check=True).stdout
    tool = re.search(r"version \S+", version)[0].encode()
    if not tool.startswith(b"version 14."):
        print(f"not judged: the checks are those of clang-tidy 14, not of {version.strip()}")
        return SKIPPED
    if not everything and not is_checkout(ROOT):
        print("not judged: this is no checkout by git, so nothing says what has changed; --all looks at all sources")
        return SKIPPED
    cache = Path(build) / "tidied.txt"
    known = set(cache.read_text().split()) if cache.exists() else set()
    digests = Tree(ROOT, tool).digests
    if everything:
        names, left_out, base = [name for name, one in digests.items() if one not in known], [], "none"
    else:
        names, left_out, base = chosen(ROOT, tool, known, os.environ.get("EVENTLOOM_TIDY_BASE"))
    print(f"{len(digests)} sources, {len(names)} of them to be looked at (base: {base})", flush=True)
    if left_out:
        print(f"left out: {len(left_out)} others; --all looks at all", flush=True)
    if only_list:
        print("".join(f"{name}\n" for name in names), end="")
        return 0
    ahead = {ROOT / name for name in names}
    clean = set()
    entries = json.loads((Path(build) / "compile_commands.json").read_text())
    batches = [batch for batch in (Batch(entry).limit_to(ahead) for entry in entries) if batch.sources]
    batches.sort(key=lambda batch: len(batch.sources), reverse=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as cores:
        for batch, found in zip(batches, cores.map(look_at, batches)):
            for source, findings in found.items():
                print(f"{source.relative_to(ROOT)}:", *findings, sep="\n", flush=True)
            clean.update(set(batch.sources) - set(found))
            known |= {digests[str(source.relative_to(ROOT))] for source in clean}
            cache.write_text("".join(f"{one}\n" for one in sorted(known)))
    for source in sorted(ahead - clean):
        print(f"{source.relative_to(ROOT)}: has findings, or is in no target")
    return 0 if ahead == clean else 1


if __name__ == "__main__":
    options = set(sys.argv[2:])
    if len(sys.argv) < 2 or options - {"--all", "--list"}:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], "--all" in options, "--list" in options))
