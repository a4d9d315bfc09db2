"""Reads the contents of a page."""

import json
import re


def document_of(path):
    """The status document inside a page."""
    found = re.search(r'<script type="application/json" id="document">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found.group(1))
