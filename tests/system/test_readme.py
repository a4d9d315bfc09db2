"""The examples of README.md as they stand: all that run without a cluster and without installing anything."""

import os
import re
import subprocess
from pathlib import Path

import h5py
import pytest

from program import BINARY, ROOT, environment
from readers import PYTHON, needs_readers

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
# What needs a cluster, root's rights, a user at an editor, a second terminal or programs of others to be signalled.
ELSEWHERE = ("main_job.sh", "run_tests.sh", "sbatch", "EDITOR", "pkill", "--monitor 8080", "eventloom top", "eventloom control", "mpirun -np 3 eventloom run 'rec/")
PATIENCE = 120  # s


def commands(kind, text):
    """Of a shell script its lines; of a dialogue what follows the prompts."""
    lines = text.splitlines()
    found = lines if kind == "sh" else [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in found if line.strip() and not any(word in line for word in ELSEWHERE)]


def shown(text):
    """The output that a dialogue shows, by command: lines with single blanks, up to where it leaves something out."""
    found, lines = {}, None
    for line in text.splitlines():
        if line.startswith("$ "):
            lines = found.setdefault(line.removeprefix("$ "), [])
        elif lines is not None and line.strip() == "...":
            lines = None
        elif lines is not None:
            lines.append(" ".join(line.split()))
    return found


def block_with(words):
    """Kind and text of the one block that has them."""
    found = [block for block in BLOCKS if words in block[1]]
    assert len(found) == 1, f"{len(found)} examples with '{words}'"
    return found[0]


@pytest.fixture
def clone(tmp_path):
    """As a user has it, with a program that was built."""
    for name in ("tests", "jobs", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "eventloom").symlink_to(BINARY)
    return tmp_path


def run(clone, lines):
    """[(exit code, all that was said)] of each line: one shell, what goes on in the background included."""
    script = []
    for number, line in enumerate(lines):
        said = f"said.{number}"
        if line.rstrip().endswith("&"):
            listens = "until grep -qs ':1BBC ' /proc/net/udp; do sleep 0.02; done" if ":7100" in line else ":"
            script += [f"( {line.rstrip()[:-1]}; echo $? >code.{number} ) >{said} 2>&1 &", listens]
        elif line.startswith("export "):
            script.append(line)
        else:
            script.append(f"{{ {line}\n}} >{said} 2>&1; echo $? >code.{number}")
    path = f"{clone / 'build'}:{os.environ['PATH']}"
    subprocess.run(["timeout", "-k", "5", str(PATIENCE), "bash", "-c", "\n".join([*script, "wait"])], cwd=clone,
                   env=environment() | {"PATH": path}, stdin=subprocess.DEVNULL, check=True)
    return [(int((clone / f"code.{n}").read_text()), (clone / f"said.{n}").read_text())
            for n, line in enumerate(lines) if not line.startswith("export ")]


def assert_says(said, expected):
    lines = {" ".join(line.split()) for line in said.splitlines()}
    missing = [line for line in expected if line not in lines]
    assert not missing, f"{missing} not in\n{said}"


def test_every_example_is_looked_at():
    """A new one has to be added below, or to what runs elsewhere."""
    known = ("eventloom generate --output", "eventloom inspect tests", "udp://:7100", "eventloom plan", "bench patterns",
             "eventloom simulate", "eventloom show", "eventloom compare", "--explain", "light=gap", "inspect --schemes",
             "--detector-map", "merge built.h5 --to", "mbs://lxi009")
    for kind, text in BLOCKS:
        assert not commands(kind, text) or any(words in text for words in known), text


def test_the_tour(clone):
    for code, said in run(clone, commands(*block_with("eventloom generate --output"))):
        assert code == 0, said


def test_list_mode(clone):
    kind, text = block_with("eventloom inspect tests")
    lines = commands(kind, text)
    for (code, said), line in zip(run(clone, lines), lines):
        assert code == (0 if " inspect " in line else 3), said
        assert_says(said, shown(text)[line])


def test_what_dabc_would_be_told(clone):
    """Its servers are nowhere: the command is only understood."""
    (line,) = commands(*block_with("0.0.0.0:6002 --monitor"))
    ((code, said),) = run(clone, [line + " --print-config"])
    assert code == 0, said
    for words in ("also = lmd:combiner.lmd?size=128MB", "tap = 0.0.0.0:6002", "source = mbs://lxi011/transport?optional"):
        assert words in said


def test_list_mode_out(clone):
    kind, text = block_with("merge built.h5 --to")
    lines = commands(kind, text)
    for (code, said), line in zip(run(clone, lines), lines):
        assert code == 0, said
        assert_says(said, shown(text)[line])


def test_live(clone):
    """The run ends before the boards do, which is no loss."""
    kind, text = block_with("udp://:7100")
    with Path("/proc/net/udp").open() as table:
        if ":1BBC " in table.read():
            pytest.skip("port 7100 is in use")
    (code, said), (sent, sender) = run(clone, commands(kind, text))
    assert (code, sent) == (0, 0), said + sender
    assert re.search(r"\d+ events with \d+ hits in \d+ slices from 4 sources", said) and "Error" not in said


def test_a_look_at_a_run(clone):
    kind, text = block_with("eventloom show")
    lines = commands(kind, text)
    for (code, said), line in zip(run(clone, lines), lines):
        assert code == 0, said
        assert_says(said, shown(text)[line])


def test_explained_events(clone):
    kind, text = block_with("--explain")
    line, = commands(kind, text)
    (code, said), = run(clone, [line])
    assert code == 0, said
    assert_says(said, shown(text)[line])


def test_several_kinds_of_events(clone):
    kind, text = block_with("light=gap")
    line, = commands(kind, text)
    (code, said), = run(clone, [line])
    assert code == 0, said
    assert_says(said, [" ".join(words.split()) for words in text.splitlines()[1:] if words != "..."])
    with h5py.File(clone / "night.h5") as index:
        assert index.attrs["closed"] == 1 and list(index.attrs["names"]) == ["muon", "light"]
        assert index["muon/ledger/hits_in"][:].sum() == 147463


def test_first_map(clone):
    kind, text = block_with("--detector-map")
    line, = commands(kind, text)
    (code, said), = run(clone, [line])
    assert code == 0 and said.strip() == shown(text)[line][0], said


def test_compare(clone):
    """Of the run that the example before it has made."""
    made = [line for line in commands(*block_with("eventloom show")) if " run " in line]
    kind, text = block_with("eventloom compare")
    lines = commands(kind, text)
    *_, (code, said) = run(clone, [*made, *lines])
    assert code == 0 and shown(text)[lines[0]] == [" ".join(line.split()) for line in said.splitlines()], said


def python_blocks():
    return [text for kind, text in BLOCKS if kind == "python"]


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


def run_python(clone, program, python):
    run(clone, [line for line in commands(*block_with("eventloom generate --output")) if "convert" not in line])
    done = subprocess.run(["timeout", "-k", "5", str(PATIENCE), python, "-c", program], cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_python(clone):
    """With what Debian has: h5py and pandas."""
    h5py_block, pandas_block = python_blocks()[:2]
    assert "h5py" in h5py_block and "pandas" in pandas_block
    run_python(clone, h5py_block + READ_BACK + pandas_block + PANDAS, "/usr/bin/python3")


@needs_readers
def test_python_with_packages_from_pypi(clone):
    h5py_block, _, awkward_block, root_block, scipp_block = python_blocks()
    program = h5py_block + READ_BACK + awkward_block + AWKWARD + root_block + ROOT_FILE + scipp_block + SCIPP
    run_python(clone, program, PYTHON)


def test_plan(clone):
    for code, said in run(clone, commands(*block_with("eventloom plan"))):
        assert code == 0, said


def test_bench(clone):
    kind, text = block_with("bench patterns")
    (code, said), = run(clone, commands(kind, text))
    table = shown(text)[commands(kind, text)[0]]
    assert code == 0 and [line.split()[:3] for line in said.splitlines() if line.startswith(("one-to-one", "all-to-all"))] \
        == [line.split()[:3] for line in table if line.startswith(("one-to-one", "all-to-all"))], said


@pytest.mark.skipif(not (Path(BINARY).resolve().parent / "eventloom-simulator").exists(), reason="built without SimGrid")
def test_simulate(clone):
    """The same settings give the same output."""
    kind, text = block_with("eventloom simulate")
    (line,) = commands(kind, text)
    ((code, said),) = run(clone, [line])
    assert code == 0
    assert_says(said, shown(text)[line])
