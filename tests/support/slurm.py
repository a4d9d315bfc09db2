"""A separate Slurm for the tests on this machine, and the shipped job scripts in it. Needs root and Slurm's daemons."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import program

SCRIPTS = program.ROOT / "tests" / "slurm"
JOBS = program.ROOT / "jobs"
TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel", "ss", "mpirun", "timeout")
PATH = f"/usr/sbin:/sbin:/usr/bin:/bin:{os.environ['PATH']}"
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "DEADLINE", "OUT_OF_MEMORY")
# The virtual nodes share the cores of this machine. Each job has its own session folder of Open MPI: one mpirun would
# remove a shared one while another creates it.
SETTINGS = """BIND=${{BIND:-none}}
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_orte_tmpdir_base={folder}/ompi.${{SLURM_JOB_ID-none}}
mkdir -p "$OMPI_MCA_orte_tmpdir_base"
export UCX_LOG_LEVEL=fatal # UCX warns of an "Endpoint timeout" when ranks end; harmless
"""
# Records its rank and node in PLACES. The second attempt of a job is no longer slowed down.
WRAPPER = """#!/bin/bash
[ -z "${{PLACES-}}" ] || echo "${{OMPI_COMM_WORLD_RANK:-${{SLURM_PROCID-}}}} $SLURMD_NODENAME" >>"$PLACES"
[ -z "${{SLURM_RESTART_COUNT-}}" ] || set -- "${{@/#--speed=*/--speed=0}}"
exec {binary} "$@"
"""
# Waits for the end of its input, which comes with the end of the `with`, or of the tests however they end. Detached, in
# the background of a shell that exits at once: killing the tests and their children does not end it.
GUARD = """(
trap '' HUP INT TERM
cat >/dev/null
[ ! -e '{folder}/slurm/slurm.conf' ] || '{scripts}/down.sh' '{folder}/slurm'
rm -rf '{folder}'
) <&0 2>/dev/null &"""


class SlurmError(Exception):
    """Slurm does not start, or one of its commands failed."""


def call(*words, env=None, timeout=30, cwd=None):
    """Runs a short command; returns its output."""
    done = subprocess.run(["timeout", "-k", "5", str(timeout), *map(str, words)], cwd=cwd, text=True,
                          env={**os.environ, "PATH": PATH} | (env or {}), stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise SlurmError(f"exit code {done.returncode} of: {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def available():
    """(whether a Slurm can be started here, the reason if not)"""
    if os.geteuid() != 0:
        return False, "the daemons of a virtual Slurm need root"
    missing = [tool for tool in TOOLS if not shutil.which(tool, path=PATH)]
    if missing:
        return False, f"not installed: {' '.join(missing)}"
    return True, ""


class Cluster:
    """Virtual nodes n1 to nN, and a copy of jobs/ whose cluster.conf fits them; all gone at the end of the `with`."""

    def __init__(self, nodes=4):
        self.nodes = nodes

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="eventloom-slurm."))
        self.conf = self.folder / "slurm" / "slurm.conf"
        self.env = {"SLURM_CONF": str(self.conf), "EVENTLOOM": str(self.folder / "eventloom")}
        guard = GUARD.format(folder=self.folder, scripts=SCRIPTS)
        self.guard = subprocess.Popen(["bash", "-c", guard], env={**os.environ, "PATH": PATH}, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, start_new_session=True)
        try:
            call(SCRIPTS / "up.sh", self.folder / "slurm", self.nodes)
            self._copy_jobs()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.guard.communicate()  # returns when the guard has removed all

    def _copy_jobs(self):
        self.jobs = self.folder / "jobs"
        shutil.copytree(JOBS, self.jobs)
        conf = self.jobs / "cluster.conf"
        conf.write_text(SETTINGS.format(folder=self.folder) + conf.read_text())
        wrapper = self.folder / "eventloom"
        wrapper.write_text(WRAPPER.format(binary=program.BINARY))
        wrapper.chmod(0o755)

    def call(self, *words, env=None, cwd=None):
        return call(*words, env=self.env | (env or {}), cwd=cwd)

    def submit(self, script, *arguments, options=(), env=None, cwd):
        """Submits one of the job scripts from folder `cwd`, where its log goes; returns the job."""
        reported = self.call("sbatch", "--parsable", *options, self.jobs / script, *arguments, env=env, cwd=cwd)
        return Job(self, reported.strip(), cwd)

    def job(self, number, cwd):
        """A job submitted in another way from folder `cwd`."""
        return Job(self, number, cwd)

    def daemon(self, node):
        """The process id of a node's daemon."""
        return int((self.folder / "slurm" / f"slurmd.{node}.pid").read_text())

    def processes(self, *marks):
        """Ids of the processes started by jobs here that have `marks` in their environment."""
        found, marks = [], {f"SLURM_CONF={self.conf}", *marks}
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended in the meantime
                if marks <= set((entry / "environ").read_text(errors="replace").split("\0")):
                    found.append(int(entry.name))
        return found

    def lose(self, node):
        """Kills a node: its daemon and all its processes."""
        for pid in (self.daemon(node), *self.processes(f"SLURMD_NODENAME={node}")):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def restart(self, node):
        """Brings a lost node back."""
        self.call("slurmd", "-N", node, env={"VIRTUAL_SLURM_DAEMON": "yes"})


class Job:
    """A job or, as "12_3", an element of an array."""

    def __init__(self, cluster, number, folder):
        self.cluster, self.number, self.folder = cluster, number, folder

    def fields(self):
        """The fields of `scontrol show job`, by name."""
        return dict(re.findall(r"(\w+)=(\S*)", self.cluster.call("scontrol", "show", "job", "-o", self.number)))

    def state(self):
        return self.fields()["JobState"]

    def log(self):
        file = Path(self.fields()["StdOut"])
        return file.read_text() if file.exists() else "(no log)"

    def wait(self, condition, timeout, what):
        """Waits until condition() holds; fails with the log after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f"{what}: not in {timeout} s; {self.fields()}\n{self.log()}"
            time.sleep(0.1)

    def ended(self, timeout=90):
        """Waits for the end; returns the fields."""
        self.wait(lambda: self.state() in ENDED, timeout, f"end of job {self.number}")
        return self.fields()

    def assert_state(self, state, timeout=90):
        fields = self.ended(timeout)
        assert fields["JobState"] == state, f"{fields}\n{self.log()}"
        return fields

    def element(self, number):
        """The job of this element of an array."""
        return Job(self.cluster, f"{self.number}_{number}", self.folder)

    def ranks(self):
        """Process ids of the program's ranks in this job, on any node."""
        found = []
        for pid in self.cluster.processes(f"SLURM_JOB_ID={self.number}"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(program.BINARY):
                    found.append(pid)
        return found

    def kill_a_rank(self):
        os.kill(self.ranks()[-1], signal.SIGKILL)
