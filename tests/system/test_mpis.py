"""What surrounds MPI elsewhere: ranks in namespaces of their own, as in rootless containers; an MPI that brings its own UCX; the
environment that UCX finds."""

import json
import os
import re
import subprocess

import pytest

from interrupted import content
from program import BINARY, ROOT, Run, bounded, environment, generate

OPTIONS = ["--define", "gap:25ns,2", "--epochs-per-slice", "10"]
# As Apptainer does without setuid: a root of its own, which shares the host's folders; with --containall it has processes
# and shared memory of its own.
IMAGE = """set -e
mount -t tmpfs tmpfs /mnt
for folder in /*; do
  if [ -L "$folder" ]; then cp -P "$folder" /mnt; continue; fi
  [ -d "$folder" ] && [ "$folder" != /mnt ] || continue
  mkdir "/mnt$folder" && mount --rbind "$folder" "/mnt$folder"
done
if [ $$ = 1 ]; then
  mount -t proc proc /mnt/proc
  mount -t tmpfs tmpfs /mnt/dev/shm
fi
exec chroot /mnt sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
"""
USER = ["--user", "--map-root-user"]
PROCESS = [*USER, "--pid", "--fork"]
IN_IMAGE = ["--mount", "bash", "-c", IMAGE, "bash"]
NAMESPACES = {"user": USER, "process": PROCESS, "image": [*USER, *IN_IMAGE], "image_all_its_own": [*PROCESS, *IN_IMAGE]}


def apart(namespaces, *words, np=None, code=0, timeout=120, **variables):
    """Runs the program as np ranks, each in namespaces of its own."""
    unshare = ["unshare", *NAMESPACES[namespaces]]
    tried = subprocess.run([*unshare, "true"], text=True, capture_output=True)
    if tried.returncode:
        assert re.search("permi|allowed", tried.stderr), tried.stderr
        pytest.skip(f"SKIPPED: no such namespaces here: {tried.stderr.strip()}")
    command = ["mpirun", "--oversubscribe", "-np", str(np), *unshare, BINARY, *map(str, words)]
    return bounded(command, env=environment() | variables, timeout=timeout, code=code)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("recording"), sources=2, rate=20_000, duration="20ms", seed=5)


@pytest.mark.every_case
@pytest.mark.parametrize("namespaces", NAMESPACES)
def test_ranks_in_namespaces_of_their_own(tmp_path, recording, namespaces):
    """Same events as of one rank, and no complaints of UCX."""
    alone = Run(tmp_path / "alone", recording, *OPTIONS)
    run = Run(tmp_path / "apart", recording, *OPTIONS, np=2,
              launch=lambda *words, omp=None, **options: apart(namespaces, *words, **options))
    hits = {name: values for name, values in content(run.merged).items() if name.startswith(("events/", "hits/"))}
    assert hits and hits == {name: values for name, values in content(alone.merged).items() if name in hits}
    assert "UCX" not in re.sub(".*exchange: osc.*", "", run.done.stderr), run.done.stderr


@pytest.mark.parametrize("value, level", [(None, "ok"), ("y", "warning")])
def test_doctor_in_namespaces_of_its_own(tmp_path, value, level):
    """A single rank: with y, two would crash."""
    variables = {} if value is None else {"UCX_POSIX_USE_PROC_LINK": value}
    said = json.loads(apart("user", "doctor", "--json", "--output", tmp_path, np=1, code=None, **variables).stdout)
    finding, = (finding for finding in said["findings"] if finding["subject"] == "containers")
    assert finding["level"] == level
    assert level == "ok" or finding["mend"] == "unset UCX_POSIX_USE_PROC_LINK"


def test_no_copy_of_ucx_is_linked():
    """The loader would mix it with that of an MPI that brings its own."""
    needed = subprocess.run(["readelf", "--dynamic", BINARY], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"NEEDED.*\[(.*)\]", needed)
    assert any(name.startswith("libmpi") for name in libraries) and not any(name.startswith("libuc") for name in libraries)


class TestJobScripts:
    """The options of the launcher that is there, as jobs/job_functions.sh calls it in a job of 4 tasks."""

    OPEN_MPI = "mpirun (Open MPI) 4.1.4"
    HYDRA = "HYDRA build details:\n    Version:  5.0.2"

    def launch(self, folder, says, code=0, **variables):
        for tool in (folder / "mpirun", folder / "srun"):
            tool.write_text(f'#!/bin/sh\n[ "$1" != --version ] || exec echo "{says}"\necho "${{SLURM_MPI_TYPE-}} ${{0##*/}} $*"\n')
            tool.chmod(0o755)
        script = f'source {ROOT}/jobs/job_functions.sh; RANK_NODES=${{nodes-}} RANKFILE=${{file-}}; launch run'
        job = {"PATH": f"{folder}:{os.environ['PATH']}", "EVENTLOOM": "eventloom", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "1"}
        return bounded(["bash", "-euc", script], env=environment() | job | variables, timeout=20, code=code)

    def test_open_mpi(self, tmp_path):
        assert self.launch(tmp_path, self.OPEN_MPI, BIND="none").stdout.endswith(" --map-by node --bind-to none eventloom run\n")

    @pytest.mark.parametrize("bind, words", [("core", "-bind-to core:1 "), ("none", "")])
    def test_hydra(self, tmp_path, bind, words):
        assert self.launch(tmp_path, self.HYDRA, BIND=bind).stdout == f"none mpirun -n 4 -ppn 1 {words}eventloom run\n"

    def test_ranks_on_nodes_of_their_own(self, tmp_path):
        said = self.launch(tmp_path, self.HYDRA, nodes="nodes.txt", code=2).stderr
        assert "LAUNCHER=srun" in said and "SRUN_MPI=pmi2" in said
        srun = self.launch(tmp_path, self.HYDRA, nodes="nodes.txt", LAUNCHER="srun", SRUN_MPI="pmi2").stdout
        assert srun.startswith(" srun --mpi=pmi2 ") and " --distribution=arbitrary " in srun
