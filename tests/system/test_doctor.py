"""doctor: alone and over ranks, as text and JSON, warnings with causes made here, no traces left; and that `run` names
it."""

import json
import os
import re
import secrets
import shlex
import time
from pathlib import Path

import pytest

from hosts import Hosts, available
from program import BINARY, ROOT, bounded, environment, eventloom, generate, run_bounded

pytestmark = pytest.mark.every_case

SHARED = Path("/dev/shm")
SUBJECTS = {"mpi", "transports", "load", "leftovers", "shared memory", "memory", "locked memory", "huge pages", "udp",
            "real time", "disk space", "disk speed", "file locks", "clocks", "cores"}


def on_one_core(np, *words, code=None):
    """np ranks that may all use the first core only."""
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
    """Except for figures that change from moment to moment."""
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


def in_own_mounts(script, *command, code=None):
    """Runs a command, whose mpirun may be given by `script`, with its own mounts."""
    unshare = ["unshare", "-m", "--uts"] if os.geteuid() == 0 else ["unshare", "-rm", "--uts"]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done, reported = run_bounded([*unshare, "bash", "-c", f'set -e; ({script}) || exit 99; exec "$@"', "_", *map(str, command)],
                             env=environment() | root, timeout=120)
    if done.returncode == 99 or "unshare: " in done.stderr:
        pytest.skip(f"SKIPPED: mounts of its own are not allowed here: {done.stderr}")
    assert code is None or done.returncode == code, reported
    return done


def shared_memory(options, np=None, more="true"):
    """Runs the program with a new /dev/shm."""
    launcher = [] if np is None else ["mpirun", "--oversubscribe", "-np", np]
    script = f"mount -t tmpfs -o {options} tmpfs /dev/shm && {more}"
    return lambda *words, code: in_own_mounts(script, *launcher, BINARY, *words, code=code)


LITTLE = {"size=1m": "free in /dev/shm", "size=4m": "free in /dev/shm", "size=8m": "free in /dev/shm",
          "ro": "cannot write in /dev/shm: Read-only file system"}


@pytest.mark.parametrize("options", LITTLE)
@pytest.mark.parametrize("np", [None, 2])
def test_shared_memory_too_small_for_mpi(tmp_path, options, np):
    said = doctor("--output", tmp_path, run=shared_memory(options, np))
    finding = about(said, "shared memory")
    assert finding["level"] == "warning" and LITTLE[options] in finding["what"] and "not start" in finding["meaning"]
    assert {finding["subject"] for finding in said["findings"]} == SUBJECTS and said["ranks"] == (np or 1)
    assert "^" not in about(said, "transports")["what"]


@pytest.mark.parametrize("np", [None, 2])
def test_shared_memory_full_of_leftovers(tmp_path, np):
    dead = SHARED / "ucx_shm_posix_dead"
    fill = f"head -c 63M /dev/zero >{dead} && touch -d '1 hour ago' {dead}"
    said = doctor("--output", tmp_path, run=shared_memory("size=64m", np, more=fill))
    assert about(said, "leftovers")["mend"] == f"rm -- {dead}"
    assert about(said, "shared memory")["level"] == "warning"


def test_without_root_the_fix_of_small_shared_memory_lets_a_run_start(tmp_path, monkeypatch):
    mend = about(doctor("--output", tmp_path, run=shared_memory("size=1m")), "shared memory")["mend"]
    name, value = re.search(r"export (\w+)=(\S+)$", mend).groups()
    sources = generate(tmp_path / "recording", sources=2, rate=1000, duration="20ms", seed=3)
    words = ["run", *sources, "--define", "gap:25ns,2", "--output", tmp_path / "run.h5"]
    monkeypatch.setenv(name, value)
    assert about(doctor("--output", tmp_path, run=shared_memory("size=1m")), "shared memory")["level"] == "ok"
    assert "MPI may not start" not in shared_memory("size=1m", 2)(*words, code=0).stderr


@pytest.mark.parametrize("size, np", [("1m", None), ("1m", 2), ("64m", 8)])
def test_run_spares_small_shared_memory(tmp_path, size, np):
    """64 MiB, of a Docker container, are not enough for what UCX takes for 8 ranks."""
    sources = generate(tmp_path / "recording", sources=2, rate=1000, duration="20ms", seed=3)
    words = ["run", *sources, "--define", "gap:25ns,2", "--output", tmp_path / "run.h5"]
    said = shared_memory(f"size={size}", np)(*words, code=0).stderr
    assert "free in /dev/shm: the ranks of this host exchange through System V memory instead (UCX_TLS=^posix)" in said
    assert "UCX  ERROR" not in said


@pytest.mark.parametrize("np", [None, 2])
def test_run_names_doctor_where_mpi_cannot_start(tmp_path, monkeypatch, np):
    sources = generate(tmp_path / "recording", sources=2, rate=1000, duration="20ms", seed=3)
    words = ["run", *sources, "--define", "gap:25ns,2", "--output", tmp_path / "run.h5"]
    monkeypatch.setenv("UCX_TLS", "posix,tcp,self")
    line, = lines_that_name_doctor(shared_memory("size=1m", np)(*words, code=1))
    assert "free in /dev/shm: MPI may not start; 'eventloom doctor'" in line


@pytest.mark.parametrize("variable", ["OMPI_MCA_pml", "UCX_TLS"])
def test_mpi_that_does_not_start(tmp_path, monkeypatch, variable):
    monkeypatch.setenv(variable, "nonsense")
    said = doctor("--output", tmp_path)
    assert "does not start" in about(said, "mpi")["what"] and variable in about(said, "mpi")["mend"].split()
    assert {finding["subject"] for finding in said["findings"]} == SUBJECTS - {"clocks", "cores"}


def test_the_sample_in_the_readme(tmp_path):
    """The sample is printed on a host with the same name and settings: each line of it appears, except for the disk's
    speed."""
    page = (ROOT / "jobs/README.md").read_text()
    sample = re.search(r"\n```\n(warning  leftovers .*?)```", page, flags=re.S)[1].splitlines()
    files = [word for line in sample if "mend: rm -- " in line for word in line.split("rm -- ")[1].split()]
    udp, = (line.split()[-1] for line in sample if "rmem_max " in line and line.startswith("note"))
    (tmp_path / "rmem_max").write_text(f"{udp}\n")
    script = (f"hostname n1 && mount -t tmpfs -o size=1g tmpfs /dev/shm && mount --bind {tmp_path}/rmem_max /proc/sys/net/core/rmem_max"
              f" && for file in {' '.join(files)}; do head -c 2560K /dev/zero >$file; touch -d '1 hour ago' $file; done")
    core = min(os.sched_getaffinity(0))
    done = in_own_mounts(script, "taskset", "-c", core, "mpirun", "--oversubscribe", "--bind-to", "none", "-np", "2", BINARY,
                         "doctor", "--output", tmp_path, code=3)
    printed = [re.sub("^.*( disk speed .*)", r"\1", re.sub(r"[\d.]+ MB/s", "* MB/s", line)) for line in done.stdout.splitlines()]
    shown = [re.sub("^.*( disk speed .*)", r"\1", re.sub(r"[\d.]+ MB/s", "* MB/s", line)) for line in sample]
    rest = iter(printed)
    assert len(sample) > 9 and all(line in rest for line in shown), f"not in this order: {shown}\nin: {printed}"


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


def lines_that_name_doctor(done):
    return [line for line in done.stderr.splitlines() if "eventloom doctor" in line]


def test_run_names_doctor_where_ranks_share_cores(tmp_path):
    sources = generate(tmp_path / "recording", sources=2, rate=1000, duration="20ms", seed=3)
    words = ["run", *sources, "--define", "gap:25ns,2", "--output", tmp_path / "run.h5"]
    line, = lines_that_name_doctor(on_one_core(2, *words, code=0))
    assert "warning: 2 ranks on" in line and "share 1 core" in line
    assert not lines_that_name_doctor(eventloom(*words, "--force"))
    assert not lines_that_name_doctor(on_one_core(2, *words, "--force", "--quiet", code=0))
