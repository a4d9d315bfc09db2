import collections
import os
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))


def pytest_configure(config):
    config.addinivalue_line("markers", "every_case: EVENTLOOM_CASES leaves none of its cases out")


def pytest_collection_modifyitems(config, items):
    """EVENTLOOM_CASES=N: runs only N cases of a test that has more, always the same ones, drawn by a hash of their
    names."""
    if "EVENTLOOM_CASES" not in os.environ:
        return
    cases = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("every_case") is None:
            cases[item.path, getattr(item, "originalname", item.name)].append(item)
    left_out = set()
    for several in cases.values():
        left_out.update(sorted(several, key=lambda item: zlib.crc32(item.name.encode()))[int(os.environ["EVENTLOOM_CASES"]):])
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
