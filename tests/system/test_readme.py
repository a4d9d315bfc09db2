"""Every page: its examples run unchanged, their output is compared, its links hold."""

import functools
import os
import re
import shlex
import subprocess

import h5py
import pytest

from page_examples import ELSEWHERE, MEASURED, PATIENCE, SLOW, UNDERSTOOD, assert_page_runs, clone, run, run_here
from pages import PAGES, anchors, blocks, code_spans, examples, links, text_of
from program import ROOT, eventloom
from readers import PYTHON, needs_readers

pytestmark = pytest.mark.every_case


@pytest.mark.parametrize("page", [page for page in PAGES if run_here(page) and page not in SLOW])
def test_examples(clone, page):
    assert_page_runs(clone, page)


def options_of(command):
    """{option: value} as given."""
    words = shlex.split(command)
    return [(word, value) for word, value in zip(words, words[1:]) if word.startswith("--")]


@pytest.mark.parametrize("page", [page for page in PAGES if any(re.search(UNDERSTOOD, e.command) for e in examples(page))])
def test_commands_for_hardware_are_understood(clone, page):
    for example in examples(page):
        if re.search(UNDERSTOOD, example.command):
            ((code, said),) = run(clone, [example.command + " --print-config"])
            assert code == 0, said
            for option, value in options_of(example.command):
                assert f"{option.removeprefix('--')} = {value}" in said


def test_the_list_of_what_runs_elsewhere_is_true():
    commands = [example.command for page in PAGES for example in examples(page)]
    for words in [word for several in [*ELSEWHERE, UNDERSTOOD, MEASURED] for word in several.split("|")]:
        assert any(re.search(words, command) for command in commands), f"no example has '{words}' any more"


def test_there_are_no_other_examples():
    """A command without a prompt would be an example that is never run."""
    for page in PAGES:
        for text in blocks(page, ""):
            assert not re.search(r"^(eventloom \w+ |mpirun|jobs/|tests/)[^:]*$", text.split("\n")[0]), f"{page}: {text}"
        assert set(re.findall(r"^```(\w+)$", text_of(page), re.MULTILINE)) <= {"sh", "python", "pycon", "xml", "yaml"}, page


@functools.cache
def help_of(command):
    parts = re.findall(r"^  (\w+)  ", eventloom("bench", "--help").stdout, re.MULTILINE) if command == "bench" else [None]
    return "".join(eventloom(*[word for word in (command, part) if word], "--help").stdout for part in parts)


def test_commands_in_the_text_are_known():
    """Commands within a line, such as `eventloom merge --to`: the command, and its options."""
    names = re.findall(r"^  (\w+)  ", eventloom("--help").stdout, re.MULTILINE)
    assert "run" in names and len(names) > 10
    checked = 0
    for page in PAGES:
        for span in code_spans(page):
            words = span.removeprefix("eventloom ").split()
            if span.startswith("eventloom ") and re.fullmatch(r"\w+", words[0]):
                assert words[0] in names, f"{page}: {span}"
            if words[0] in names and len(words) > 1:
                for option in re.findall(r"(?<= )--[a-z][\w-]*", span):
                    checked += 1
                    assert option in help_of(words[0]) or option == "--help", f"{page}: {span}: {option}"
    assert checked > 50


# Links and pages.

@pytest.mark.parametrize("page", PAGES)
def test_links_hold(page):
    for file, anchor in links(page):
        assert (ROOT / file).exists(), f"{page} links to {file}"
        assert not anchor or anchor in anchors(file), f"{page} links to {file}#{anchor}; it has {anchors(file)}"


def test_readme_is_short():
    lines = text_of("README.md").splitlines()
    assert len(lines) <= 150 and max(map(len, lines)) <= 120


def test_pages_are_found():
    """Pages for users are one click away; pages for readers of the code, which say so, any number of clicks."""
    direct = {file for file, _ in links("README.md")} | {"README.md"}
    seen, ahead = set(), {"README.md"}
    while ahead:
        seen |= ahead
        ahead = {file for page in ahead for file, _ in links(page) if file.endswith(".md")} - seen
    for page in PAGES:
        assert page in seen, f"no link leads to {page}"
        assert page in direct or page.startswith("tests/") or "For readers of the code" in text_of(page)[:400], page


# Examples in other languages. Those of `pycon` are run by test_python.

def test_what_an_example_makes(clone):
    """Several definitions in one pass, and their index."""
    page = "core/definitions/README.md"
    run(clone, [example.command for example in run_here(page) if "night.h5" in example.command])
    with h5py.File(clone / "night.h5") as index:
        assert index.attrs["closed"] == 1 and list(index.attrs["names"]) == ["muon", "light"]
        assert index["muon/ledger/hits_in"][:].sum() == 147463


READ_BACK = """
import numpy as np
n = f["events/n_hits"][:]
times = f["hits/time"][:]
assert len(n) > 1000 and times_of_event_7.tolist() == times[n[:7].sum():n[:8].sum()].tolist()
"""
PANDAS = """
assert len(events) == len(n) and len(hits) == n.sum() and hits.groupby("event").size().tolist() == n.tolist()
assert len(largest) == n.max() and (hits.groupby("event")["time"].min().values == events["time"].values).all()
"""
AWKWARD = """
assert awkward.num(hits_of).tolist() == n.tolist() and awkward.flatten(hits_of.time).tolist() == times.tolist()
assert awkward.min(since_first, axis=1).tolist() == [0] * len(n)
assert awkward.max(since_first, axis=1).tolist() == f["events/duration"][:].tolist()
"""
ROOT_FILE = """
tree = uproot.open("run.root")["events"]
assert tree["hit_time"].array().tolist() == hits_of.time.tolist() and tree["time"].array().tolist() == f["events/time"][:].tolist()
"""
SCIPP = """
assert pulses.bins.size().values.tolist() == n.tolist()
last = pulses.bins.coords["event_time_offset"].bins.max().to(unit="us", dtype="float64").values
assert np.allclose(last, f["events/duration"][:] / 1000, rtol=1e-12)
"""
TREE = """
import numpy, uproot
rng = numpy.random.default_rng(1)
with uproot.recreate("hits.root") as file:
    file.mktree("hits", {"time": rng.integers(0, 1_000_000, 5000), "channel": rng.integers(0, 100, 5000)})
"""


def run_python(clone, program, python):
    environ = os.environ | {"PYTHONPATH": str(ROOT / "io/python")}
    done = subprocess.run(["timeout", "-k", "5", str(PATIENCE), python, "-B", "-c", program], cwd=clone, capture_output=True,
                          text=True, env=environ)
    assert done.returncode == 0, done.stderr


OUTPUT = "io/run_format/README.md"


def test_python(clone):
    """Runs with Debian's h5py and pandas."""
    h5py_block, pandas_block = blocks(OUTPUT, "python")[:2]
    assert "h5py" in h5py_block and "pandas" in pandas_block
    run(clone, [example.command for example in run_here(OUTPUT)])
    run_python(clone, h5py_block + READ_BACK + pandas_block + PANDAS, "/usr/bin/python3")


@needs_readers
def test_python_with_packages_from_pypi(clone):
    h5py_block, _, awkward_block, root_block, scipp_block = blocks(OUTPUT, "python")
    run(clone, [example.command for example in run_here(OUTPUT)])
    run_python(clone, h5py_block + READ_BACK + awkward_block + AWKWARD + root_block + ROOT_FILE + scipp_block + SCIPP, PYTHON)


@needs_readers
def test_hits_from_root(clone):
    (tree_block,) = blocks("jobs/coming_from.md", "python")
    run_python(clone, TREE + tree_block, PYTHON)
    assert "5000" in eventloom("inspect", "hits.epochs", cwd=clone).stdout
