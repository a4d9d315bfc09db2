#!/usr/bin/env python3
"""Counts places in comments, messages and pages that a technical editor would look at twice.

A place is not a mistake: the limit only keeps their number from growing. Lower it when the count has fallen.

usage: tests/style/prose.py [--list] [FOLDER...]     (default: product code and pages)
--list: every place. Otherwise a line per pattern; exit code 1 above the limit.
"""

import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("app", "core", "formats", "io", "jobs", "schedulers", "README.md")
LIMIT = 95
HEADS = "of to in by as for so from what whose who whoever nothing nobody those none with without where".split()
CALQUES = ["mends?", "mended", "anew", "goes on", "go on", "going on", "as far as", "at the begin", "the begin of",
           "from the begin", "by itself alone", "behind each other", "so much", "so many", "has not got", "have not got",
           "comes by", "under way", "on its own account"]
PARTICIPLE = r"\b(?:is|are) (?:\w+ed|made|kept|sent|read|taken|given|found)\b"
PATTERNS = {
    "headless fragment": rf"(?:^\s*///?\s|///<\s*)(?:{'|'.join(HEADS)})\b",
    "told": r"\b(?:is|are|be|was|were|been|not|all|none) told\b|\btells? (?!us\b)|\btell_|\btold_",
    "pronoun puzzle": r"\b(?:nobody|whoever|whatever it|it that|that which|such a one|one that)\b",
    "calque": rf"\b(?:{'|'.join(CALQUES)})\b",
    "heap of passives": rf"{PARTICIPLE}.*{PARTICIPLE}.*\b(?:is|are)\b",
}
PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in PATTERNS.items()}
LONGEST_LINE = 160  # of a page, tables apart
SLASHES = {".cpp", ".hpp", ".h", ".js"}
HASHES = {".py", ".sh", ".sbatch", ".cmake", ".txt"}


def words_in(path, line):
    """Comment and string literals of a line of code; the whole line of a page."""
    if path.suffix == ".md":
        return line
    comment = re.search("//.*" if path.suffix in SLASHES else "#.*", line)
    strings = re.findall(r'"((?:[^"\\]|\\.){20,})"', line)
    return "  ".join(([comment.group()] if comment else []) + strings)


def places(path):
    """(line number, pattern, text)."""
    in_example = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".md":
            in_example ^= line.lstrip().startswith("```")
            is_table = line.lstrip().startswith("|")
            if in_example or (is_table and len(line) > LONGEST_LINE):
                continue
            if len(line) > LONGEST_LINE:
                yield number, "long line", line
        text = words_in(path, line)
        for name, pattern in PATTERNS.items():
            if text and pattern.search(text):
                yield number, name, text.strip()


def pages_and_sources(roots):
    for root in roots:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and path.suffix in SLASHES | HASHES | {".md"}:
                yield path


def main(words):
    roots = [Path(word) for word in words if word != "--list"]
    counts = collections.Counter()
    for path in pages_and_sources(roots or [ROOT / name for name in FOLDERS]):
        for number, name, text in places(path):
            counts[name] += 1
            if "--list" in words:
                print(f"{path}:{number}: {name}: {text[:140]}")
    if "--list" in words:
        return 0
    for name, count in counts.most_common():
        print(f"{count:5} {name}")
    print(f"{counts.total():5} in all, at most {LIMIT}")
    return 0 if roots or counts.total() <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
