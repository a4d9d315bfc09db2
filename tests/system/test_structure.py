"""Arrows between folders point down, as the README prints them; C APIs enter by one door."""

import re

import pytest

from program import ROOT

# folder: what its files may include from. The longest matching folder counts.
ARROWS = {
    "formats": ["formats"],
    "schedulers": ["schedulers", "formats"],
    "core": ["core", "formats"],
    "core/runtime": ["core/runtime", "formats"],
    "core/dataflow": ["core/dataflow", "core/runtime", "formats"],
    "io": ["io", "core", "formats"],
    "app": ["app", "io", "core", "schedulers", "formats"],
}
DOORS = {
    "mpi.h": ["core/mpi", "core/transport", "app/bench"],
    "hdf5.h": ["io/hdf5"],
    "ucp/api/ucp.h": ["core/mpi", "core/transport"],
}


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


def test_nothing_of_a_run_includes_the_benchmarks():
    users = {path.relative_to(ROOT) for path in sources("app") if any(inside(i, ["app/bench"]) for i in includes(path))}
    outside = {str(path) for path in users if not inside(path, ["app/bench"])}
    assert outside == {"app/main.cpp"}


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
