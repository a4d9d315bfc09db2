"""Arrows between folders point down, as app/README.md prints them; C APIs enter by one door."""

import json
import re
import shlex
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from program import BINARY, ROOT

pytestmark = pytest.mark.every_case

FOLDERS = ["formats", "schedulers", "core", "io", "app"]
# The folders from which all folders of core and of io may include.
CORE = ["core/runtime", "formats"]
IO = ["core/dataflow", "core/definitions", "core/runtime", "formats", "io/files", "io/uri"]
LOWER = ["io", "core", "schedulers", "formats"]
# folder: what its files may include from, besides their own folder.
ARROWS = {
    "formats": [],
    "schedulers": ["formats"],
    "core/runtime": ["formats"],
    "core/mpi": [*CORE, "core/control"],
    "core/transport": [*CORE, "core/control", "core/mpi"],
    "core/ring": [*CORE, "core/transport"],
    "core/exchange": [*CORE, "core/ring"],
    "core/control": CORE,
    "core/detector": CORE,
    "core/definitions": [*CORE, "core/detector"],
    "core/dataflow": [*CORE, "core/definitions", "core/detector"],
    "core/monitor": [*CORE, "core/control", "core/dataflow", "core/transport"],
    "core/engine": [
        *CORE,
        "core/control",
        "core/dataflow",
        "core/definitions",
        "core/exchange",
        "core/monitor",
        "core/ring",
        "core/transport",
        "schedulers",
    ],
    "core/fabric": CORE,
    "core/simulation": [
        *CORE,
        "core/control",
        "core/dataflow",
        "core/definitions",
        "core/engine",
        "core/fabric",
        "core/transport",
    ],
    "io/uri": CORE,
    "io/files": ["core/dataflow", *CORE],
    "io/epochs": IO,
    "io/recorded": [*IO, "io/epochs"],
    "io/compass": [*IO, "io/recorded"],
    "io/csv": [*IO, "io/recorded"],
    "io/generator": [*IO, "io/recorded"],
    "io/hdf5": IO,
    "io/hdf5_input": [*IO, "io/hdf5", "io/recorded"],
    "io/hld": [*IO, "io/recorded"],
    "io/event_files": [*IO, "io/hld", "io/lmd"],
    "io/lmd": [*IO, "io/recorded"],
    "io/packed": [*IO, "io/recorded"],
    "io/spikes": [*IO, "io/recorded"],
    "io/sorted": [*IO, "io/epochs"],
    "io/tpx3": [*IO, "io/recorded"],
    "io/midas": [*IO, "io/packed", "io/recorded"],
    "io/live": [*IO, "io/epochs", "io/recorded"],
    "io/trb": [*IO, "io/hld", "io/live", "io/recorded", "io/udp"],
    "io/udp": [*IO, "io/live"],
    "io/mbs": [*IO, "io/live", "io/lmd", "io/recorded"],
    "io/run_format": [*IO, "core/detector", "io/event_files", "io/hdf5"],
    "io/run_input": [*IO, "io/event_files", "io/hdf5", "io/run_format"],
    "io/run_output": [*IO, "core/detector", "io/event_files", "io/hdf5", "io/run_format", "io/run_input"],
    "io/serve": [*IO, "io/event_files", "io/hdf5", "io/lmd", "io/recorded", "io/run_format", "io/run_input"],
    "io/registry": [*IO, "io"],
    "app/command": LOWER,
    "app/document": [*LOWER, "app/command"],
    "app/observe/page": ["formats", "core/runtime"],
    "app/observe": [*LOWER, "app/command", "app/document"],
    "app/run": [*LOWER, "app/command", "app/document", "app/observe"],
    "app/view/report": [*LOWER, "app/command", "app/document", "app/view/hist"],
    "app/view/show": [*LOWER, "app/command", "app/document", "app/view/report"],
    "app/view/compare": [*LOWER, "app/command", "app/view/show"],
    "app/view/hist": [*LOWER, "app/command", "app/document"],
    "app/view/inspect": [*LOWER, "app/command"],
    "app/view/merge": [*LOWER, "app/command"],
    "app/view/convert": LOWER,
    "app/tools/send": [*LOWER, "app/command"],
    "app/tools/record": [*LOWER, "app/command"],
    "app/tools/doctor": [*LOWER, "app/command", "app/document"],
    "app/tools/bench": [*LOWER, "app/command", "app/document"],
    "app/tools/simulate": [*LOWER, "app/command", "app/document", "app/run", "app/tools/bench", "app/tools/send"],
    "app/tools/align": [*LOWER, "app/command", "app/document"],
    "app/tools/plan": [*LOWER, "app/command", "app/tools/simulate"],
    "app/cli": [*LOWER, "app"],
}
DOORS = {
    "mpi.h": ["core/mpi", "core/transport", "app/tools/bench"],
    "hdf5.h": ["io/hdf5"],
    "simgrid/s4u.hpp": ["core/simulation"],
}


def sources(folder):
    return sorted(path for end in ("hpp", "cpp") for path in (ROOT / folder).rglob(f"*.{end}"))


def includes(path):
    return re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE)


def inside(path, folders):
    return any(str(path).startswith(folder + "/") for folder in folders)


def rule_of(name):
    return max((home for home in ARROWS if inside(name, [home])), key=len, default=None)


@pytest.mark.parametrize("folder", FOLDERS)
def test_arrows(folder):
    assert sources(folder)
    tops = {name.partition("/")[0] for name in ARROWS} | {"tests"}
    for path in sources(folder):
        name = path.relative_to(ROOT)
        rule = rule_of(name)
        assert rule, f"{name} is in a folder that ARROWS does not know"
        allowed = [rule, *ARROWS[rule]]
        for included in includes(path):
            if included.partition("/")[0] in tops:
                assert inside(included, allowed), f"{name} includes {included}; {rule} may include {allowed}"
                assert (ROOT / included).is_file(), f"{name} includes {included}, which is not there"


def test_every_system_test_is_run_and_described():
    listed = (ROOT / "tests/system/CMakeLists.txt").read_text()
    described = (ROOT / "tests/README.md").read_text()
    for path in (ROOT / "tests/system").glob("test_*.py"):
        name = path.stem.removeprefix("test_")
        assert re.search(rf"^eventloom_system_test\({name}[ )]", listed, re.MULTILINE), f"ctest does not run {path.name}"
        assert f"`{name}`" in described, f"tests/README.md does not say what {path.name} holds"


@pytest.mark.parametrize("folder", ["core", "io", "app"])
def test_folders_do_not_include_each_other(folder):
    """By the files themselves, whatever ARROWS allows: includes never lead back to the folder."""
    onward = {}
    for path in sources(folder):
        home = str(path.parent.relative_to(ROOT))
        onward.setdefault(home, set()).update(i.rpartition("/")[0] for i in includes(path) if inside(i, [folder]))
    for home in onward:
        seen, ahead = set(), onward[home] - {home}
        while ahead:
            seen |= ahead
            ahead = set().union(*(onward.get(other, set()) - {other} for other in ahead)) - seen
        assert home not in seen, f"{home} includes {sorted(onward[home])}, and something leads back"


def test_nothing_includes_the_tools_but_commands():
    """The simulation may not either, except the tool for it."""
    for path in (path for folder in FOLDERS for path in sources(folder)):
        name = path.relative_to(ROOT)
        of_tools = [i for i in includes(path) if inside(i, ["app/tools", "core/simulation"])]
        assert not of_tools or inside(name, ["app/cli", "app/tools", "core/simulation"]), f"{name} includes {of_tools}"


def test_no_file_includes_its_user():
    """A header and its implementation count as one."""
    uses = {}
    for path in (path for folder in FOLDERS for path in sources(folder)):
        unit = str(path.relative_to(ROOT).with_suffix(""))
        uses.setdefault(unit, set()).update(name.removesuffix(".hpp") for name in includes(path))
        uses[unit].discard(unit)
    try:
        tuple(TopologicalSorter(uses).static_order())
    except CycleError as error:
        pytest.fail("includes in a circle: " + " <- ".join(error.args[1]))


@pytest.mark.parametrize("header", DOORS)
def test_doors(header):
    for folder in FOLDERS:
        for path in sources(folder):
            if header in includes(path):
                assert inside(path.relative_to(ROOT), DOORS[header]), f"{path.relative_to(ROOT)} includes {header}"


def all_included(path):
    """All headers that the file includes, directly or indirectly."""
    found, ahead = set(), set(includes(path))
    while ahead:
        found |= ahead
        ours = [ROOT / name for name in ahead if (ROOT / name).is_file()]
        ahead = {name for file in ours for name in includes(file)} - found
    return found


def test_the_engine_knows_neither_mpi_nor_files():
    for path in sources("core/engine"):
        for included in all_included(path):
            allowed = included not in DOORS and not inside(included, ["app", "core/mpi", "io"])
            assert allowed, f"{path.relative_to(ROOT)} comes to include {included}"


def folders_of_headers(command):
    """The folders in a compiler's command."""
    words = iter(shlex.split(command))
    return [next(words) if word in ("-I", "-isystem") else word[2:] for word in words if word.startswith(("-I", "-isystem"))]


def test_only_what_links_mpi_finds_it():
    """By CMake's compile commands: only libraries that link MPI have the folder of mpi.h."""
    commands = json.loads((Path(BINARY).resolve().parent / "compile_commands.json").read_text())
    finds = {}
    for of in commands:
        found = re.search(r" -o (\S+/)CMakeFiles/eventloom_(\w+)\.dir/", of["command"])
        if found and inside(found[1], FOLDERS):
            has_mpi = any((Path(of["directory"]) / folder / "mpi.h").is_file() for folder in folders_of_headers(of["command"]))
            finds.setdefault(has_mpi, set()).add(found[2])
    assert {"mpi", "mpi_transport", "command"} <= finds[True]
    without = {"formats", "schedulers", "io"} | {path.name for path in (ROOT / "core").iterdir() if path.is_dir()} - {"mpi", "simulation"}
    assert without <= finds[False]


@pytest.mark.parametrize("folder", FOLDERS)
def test_headers_are_guarded(folder):
    for path in sources(folder):
        assert path.suffix != ".hpp" or path.read_text().startswith("#pragma once"), path


def test_scripts_of_the_page_share_no_name():
    """They form one script on the page: functions of equal names would replace each other."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "app/observe/page").glob("*.js")))
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", text, re.MULTILINE)
    assert len(names) > 100 and sorted(names) == sorted(set(names))


def test_texts_keep_to_the_editorconfig():
    """Its section [*]: UTF-8, no tabs, no blanks at the ends of lines, and a line end after the last."""
    suffixes = "cpp hpp py sh bash sbatch js css cmake md txt yml json ini cff toml def rst supp".split()
    folders = [*FOLDERS, "jobs", "tests", ".github", ".ci"]
    texts = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix[1:] in suffixes]
    texts += [path for path in ROOT.glob("*") if path.is_file() and path.suffix[1:] in suffixes]
    texts = [path for path in texts if not inside(path.relative_to(ROOT), ["tests/data", "tests/fuzz/corpus", "io/python/build"])]
    assert len(texts) > 1000
    for path in texts:
        text = path.read_bytes().decode("utf-8")
        assert not re.search(r"[\t\r]", text), f"{path} has tabs or carriage returns"
        assert not re.search(r" +$", text, re.MULTILINE), f"{path} has blanks at the end of a line"
        assert text.endswith("\n") or not text, f"{path} has no line end after its last line"
