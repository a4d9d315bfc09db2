"""The examples of README.md as they stand: all that run without a cluster and without installing anything."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from program import BINARY, ROOT, environment

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
             "eventloom show")
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


def test_plan(clone):
    for code, said in run(clone, commands(*block_with("eventloom plan"))):
        assert code == 0, said


def test_bench(clone):
    kind, text = block_with("bench patterns")
    (code, said), = run(clone, commands(kind, text))
    table = shown(text)[commands(kind, text)[0]]
    assert code == 0 and [line.split()[:3] for line in said.splitlines() if line.startswith(("one-to-one", "all-to-all"))] \
        == [line.split()[:3] for line in table if line.startswith(("one-to-one", "all-to-all"))], said
