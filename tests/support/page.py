"""What is inside a page, and what a headless browser makes of it."""

import json
import re
import shutil
import subprocess
import tempfile

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="SKIPPED: chromium is not installed")


def document_of(path):
    """The status document inside a page."""
    found = re.search(r'<script type="application/json" id="document">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found.group(1))


def browse(*options, timeout=60):
    """What a browser of its own prints."""
    with tempfile.TemporaryDirectory(prefix="eventloom-browser-") as profile:
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                   "--no-first-run", "--disable-background-networking", "--virtual-time-budget=3000", *options]
        return subprocess.run(["timeout", "-k", "5", str(timeout), *command], capture_output=True, encoding="utf-8",
                              check=True).stdout
