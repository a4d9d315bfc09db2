"""The examples of pages that take long, and the bytes of a board shown on one of them."""

import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from page_examples import PATIENCE, SLOW, assert_page_runs, clone
from pages import examples, text_of
from program import BINARY, environment

pytestmark = pytest.mark.every_case


@pytest.mark.parametrize("page", SLOW)
def test_examples(clone, page):
    assert_page_runs(clone, page)


def datagrams_shown():
    """Header, data, mark; and the end, which is the mark with another kind and checksum, as the text states."""
    page = text_of("formats/README.md")
    shown = re.search(r"^```\nheader, .*?^```$", page, re.MULTILINE | re.DOTALL)[0]
    parts = re.split(r"^\w+, (\d+) bytes$", shown, flags=re.MULTILINE)[1:]
    found = []
    for length, part in zip(parts[::2], parts[1::2]):
        lines = re.findall(r"^ *\d+  ((?:[0-9a-f]{2} )*[0-9a-f]{2})", part, re.MULTILINE)
        found.append(bytes.fromhex(" ".join(lines)))
        assert len(found[-1]) == int(length)
    checksum = re.search(r"kind 04 and the CRC ((?:[0-9a-f]{2} ?){4})", page)[1]
    mark = found[-1]
    return [*found, mark[:4] + bytes.fromhex(checksum) + mark[8:9] + b"\4" + mark[10:]]


def test_bytes_of_a_board(tmp_path):
    """A run makes of them what the page states."""
    if ":1BBC " in Path("/proc/net/udp").read_text():
        pytest.skip("port 7100 is in use")
    (example,) = examples("formats/README.md")
    run = subprocess.Popen(["timeout", str(PATIENCE), BINARY, *example.command.split()[1:]], cwd=tmp_path, env=environment(),
                           stdout=subprocess.PIPE, text=True)
    while run.poll() is None and ":1BBC " not in Path("/proc/net/udp").read_text():
        time.sleep(0.02)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as board:
        for datagram in datagrams_shown():
            board.sendto(datagram, ("127.0.0.1", 7100))
    said = run.communicate()[0]
    assert run.returncode == 0 and example.shown[0] in said.splitlines(), said
