"""Readers of our files that Debian lacks: jobs/setup.sh --tests puts them into build/readers, from PyPI."""

import subprocess

import pytest

from program import ROOT

PYTHON = str(ROOT / "build" / "readers" / "bin" / "python")


def _installed():
    try:
        return subprocess.run([PYTHON, "-c", "import scippnexus, awkward, uproot, hist, pyarrow"], capture_output=True).returncode == 0
    except OSError:
        return False


needs_readers = pytest.mark.skipif(not _installed(), reason="SKIPPED: scippnexus, awkward, uproot, hist and pyarrow are not in build/readers: "
                                                            "jobs/setup.sh --tests could not install them from PyPI")
