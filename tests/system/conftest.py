import collections
import os
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from python_package import installed, package  # noqa: E402, F401
from sessions import Again, Progress  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--progress", type=Path, help="a file to which lines are added: what has ended, what has failed")
    parser.addoption("--again", type=Path, help="a file for the tests that failed, which alone are run if ctest repeats this")


def pytest_configure(config):
    config.addinivalue_line("markers", "every_case: EVENTLOOM_CASES leaves none of its cases out")
    if hasattr(config, "workerinput"):
        return
    if path := config.getoption("again"):
        config.pluginmanager.register(Again(path), "again")
    if path := config.getoption("progress"):
        config.pluginmanager.register(Progress(path), "progress")
        if again := config.pluginmanager.get_plugin("again"):
            config.pluginmanager.get_plugin("progress").say(*(f"RERUN {name}" for name in again.names))


def pytest_collection_modifyitems(config, items):
    """EVENTLOOM_CASES=N: runs only N cases of a test that has more, always the same ones, drawn by a hash of their
    names."""
    left_out = set()
    if "EVENTLOOM_CASES" in os.environ:
        cases = collections.defaultdict(list)
        for item in items:
            if item.get_closest_marker("every_case") is None:
                cases[item.path, getattr(item, "originalname", item.name)].append(item)
        for several in cases.values():
            left_out.update(sorted(several, key=lambda item: zlib.crc32(item.name.encode()))[int(os.environ["EVENTLOOM_CASES"]):])
    if again := getattr(config, "workerinput", {}).get("again"):
        left_out.update(item for item in items if item.nodeid not in again)
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
