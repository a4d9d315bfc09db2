"""Arrows between folders point down, as the README prints them; C APIs enter by one door."""

import re
from graphlib import CycleError, TopologicalSorter

import pytest

from program import ROOT

# folder: what its files may include from. The longest matching folder counts.
ARROWS = {
    "formats": ["formats"],
    "schedulers": ["schedulers", "formats"],
    "core": ["core", "formats"],
    "core/runtime": ["core/runtime", "formats"],
    "core/definitions": ["core/definitions", "core/runtime", "formats"],
    "core/dataflow": ["core/dataflow", "core/definitions", "core/runtime", "formats"],
    "io": ["io", "core", "formats"],
    "app": ["app", "io", "core", "schedulers", "formats"],
}
DOORS = {"mpi.h": ["core/mpi", "core/transport"], "hdf5.h": ["io/hdf5"], "ucp/api/ucp.h": ["core/mpi", "core/transport"]}


def sources(folder):
    return sorted(path for end in ("hpp", "cpp") for path in (ROOT / folder).rglob(f"*.{end}"))


def includes(path):
    return re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE)


def inside(path, folders):
    return any(str(path).startswith(folder + "/") for folder in folders)


@pytest.mark.parametrize("folder", ["formats", "schedulers", "core", "io", "app"])
def test_arrows(folder):
    assert sources(folder)
    tops = {name.partition("/")[0] for name in ARROWS} | {"tests"}
    for path in sources(folder):
        name = path.relative_to(ROOT)
        rule = max((home for home in ARROWS if inside(name, [home])), key=len)
        for included in includes(path):
            if included.partition("/")[0] in tops:
                assert inside(included, ARROWS[rule]), f"{name} includes {included}; {rule} may include {ARROWS[rule]}"
                assert (ROOT / included).is_file(), f"{name} includes {included}, which is not there"


@pytest.mark.parametrize("folder", ["formats", "core"])
def test_no_file_includes_its_user(folder):
    """A header and what implements it count as one."""
    uses = {}
    for path in sources(folder):
        unit = str(path.relative_to(ROOT).with_suffix(""))
        uses.setdefault(unit, set()).update(name.removesuffix(".hpp") for name in includes(path))
        uses[unit].discard(unit)
    try:
        tuple(TopologicalSorter(uses).static_order())
    except CycleError as error:
        pytest.fail("includes in a circle: " + " <- ".join(error.args[1]))


@pytest.mark.parametrize("header", DOORS)
def test_doors(header):
    for folder in ("formats", "schedulers", "core", "io", "app"):
        for path in sources(folder):
            if header in includes(path):
                assert inside(path.relative_to(ROOT), DOORS[header]), f"{path.relative_to(ROOT)} includes {header}"


@pytest.mark.parametrize("folder", ["formats", "schedulers", "core", "io", "app"])
def test_headers_are_guarded(folder):
    for path in sources(folder):
        assert path.suffix != ".hpp" or path.read_text().startswith("#pragma once"), path
