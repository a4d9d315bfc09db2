"""The Python package of `io/python`, installed as users do."""

import importlib
import shutil
import subprocess
import sys

import pytest

from program import ROOT

SOURCE = ROOT / "io" / "python"


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The folder of the installed package. It is installed from a copy, since pip builds beside the sources."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(SOURCE, folder / "source", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "--target", folder / "target", folder / "source"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "target"


@pytest.fixture(scope="session")
def package(installed):
    """The imported module."""
    sys.path.insert(0, str(installed))
    return importlib.import_module("eventloom")
