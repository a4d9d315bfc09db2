"""doctor: alone and over ranks, text and JSON, warnings from causes that are made here, nothing left or changed; that `run` names it."""

import json
import os
import re
import secrets
import shlex
import time
from pathlib import Path

import pytest

from hosts import Hosts, available
from program import BINARY, bounded, environment, eventloom, generate

pytestmark = pytest.mark.every_case

SHARED = Path("/dev/shm")
SUBJECTS = {"mpi", "transports", "load", "leftovers", "shared memory", "memory", "locked memory", "huge pages", "udp",
            "disk space", "disk speed", "file locks", "clocks", "cores"}


def on_one_core(np, *words, code=None):
    """np ranks that may all use the first core alone."""
    core = min(os.sched_getaffinity(0))
    command = ["taskset", "-c", str(core), "mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(np), BINARY]
    return bounded([*command, *map(str, words)], env=environment(), timeout=120, code=code)


def doctor(*words, run=eventloom, **options):
    done = run("doctor", "--json", *words, code=None, **options)
    said = json.loads(done.stdout)
    assert "eventloom doctor:" not in done.stderr and said["format"] == "eventloom-doctor"
    warnings = [finding for finding in said["findings"] if finding["level"] == "warning"]
    assert said["warnings"] == len(warnings) and done.returncode == (3 if warnings else 0)
    assert all(finding["meaning"] and finding["mend"] for finding in warnings), warnings
    return said


def about(said, subject):
    finding, = (finding for finding in said["findings"] if finding["subject"] == subject)
    return finding


@pytest.fixture
def left():
    """A file as UCX leaves it when a run is killed."""
    file = SHARED / f"ucx_shm_posix_{secrets.token_hex(6)}"
    file.write_bytes(bytes(1000))
    os.utime(file, (time.time() - 3600,) * 2)
    yield file
    file.unlink(missing_ok=True)


@pytest.mark.parametrize("np", [None, 2])
def test_all_subjects_and_nothing_left(tmp_path, np):
    said = doctor("--output", tmp_path, np=np)
    assert {finding["subject"] for finding in said["findings"]} == SUBJECTS
    assert said["ranks"] == (np or 1) and len(said["hosts"]) == 1
    assert all(finding["hosts"] == said["hosts"] for finding in said["findings"])
    assert not list(tmp_path.iterdir())


def test_text_says_what_json_says(tmp_path):
    """But for what changes from one moment to the next."""
    said = doctor("--output", tmp_path)
    text = eventloom("doctor", "--output", tmp_path, code=None).stdout.splitlines()
    lines = {line[9:23].strip(): line for line in text if line and line[0] != " "}
    assert text[-1].endswith("warnings") or text[-1].endswith("warning")
    for finding in said["findings"]:
        if finding["measured"] is None and finding["subject"] != "leftovers":
            assert lines[finding["subject"]] == f"{finding['level']:<8} {finding['subject']:<14} {finding['what']}"


def test_leftovers_are_named_and_stay(tmp_path, left):
    finding = about(doctor("--output", tmp_path), "leftovers")
    command = shlex.split(finding["mend"])
    assert finding["level"] == "warning" and command[:2] == ["rm", "--"] and str(left) in command[2:]
    assert left.exists()


def test_a_file_in_use_is_no_leftover(tmp_path, left):
    with left.open("rb"):
        assert left.name not in about(doctor("--output", tmp_path), "leftovers")["mend"]


def test_ranks_that_share_a_core(tmp_path):
    finding = about(doctor("--output", tmp_path, run=lambda *words, code: on_one_core(2, *words, code=code)), "cores")
    assert finding["level"] == "warning" and re.fullmatch("2 ranks on .* share 1 core", finding["what"])
    assert "-np 1 --bind-to core" in finding["mend"]


@pytest.mark.parametrize("folder", ["/proc", "missing"])
def test_a_folder_that_cannot_be_written(tmp_path, folder):
    said = doctor("--output", tmp_path / folder)
    assert about(said, "disk")["level"] == "warning" and "cannot write" in about(said, "disk")["what"]
    assert about(said, "disk")["mend"].startswith("mkdir -p ") == (folder == "missing")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("there", [True, False])
def test_the_folder_of_an_output_is_tried(tmp_path, there):
    output = tmp_path / "run.h5"
    if there:
        output.write_text("an earlier run")
    said = doctor("--output", output)
    assert about(said, "disk space")["what"].endswith(f"free in '{tmp_path}'")
    assert [*tmp_path.iterdir()] == [output] * there


@pytest.mark.parametrize("words", [["--outputs", "x"], ["surplus"], ["--output", ""]])
@pytest.mark.parametrize("np", [None, 2])
def test_misuse(words, np):
    done = eventloom("doctor", *words, np=np, code=2)
    assert len(re.findall("^eventloom doctor: ", done.stderr, flags=re.M)) == 1 and done.stdout == "", done.stderr


def test_hosts_agree_in_one_line(tmp_path):
    possible, reason = available()
    if not possible:
        pytest.skip(f"SKIPPED: {reason}")
    with Hosts(2) as hosts:
        said = doctor("--output", tmp_path, run=hosts.eventloom, np=2)
    assert said["hosts"] == ["h1", "h2"]
    assert about(said, "mpi")["hosts"] == ["h1", "h2"] and "agree within" in about(said, "clocks")["what"]
    assert about(said, "transports")["level"] == "note" and "tcp" in about(said, "transports")["what"]


def crowding_lines(done):
    return [line for line in done.stderr.splitlines() if "eventloom doctor" in line]


def test_run_names_doctor_where_ranks_share_cores(tmp_path):
    sources = generate(tmp_path / "recording", sources=2, rate=1000, duration="20ms", seed=3)
    words = ["run", *sources, "--define", "gap:25ns,2", "--output", tmp_path / "run.h5"]
    line, = crowding_lines(on_one_core(2, *words, code=0))
    assert "warning: 2 ranks on" in line and "share 1 core" in line
    assert not crowding_lines(eventloom(*words, "--force"))
    assert not crowding_lines(on_one_core(2, *words, "--force", "--quiet", code=0))
