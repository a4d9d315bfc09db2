"""`eventloom plan`: its proposals start, bind as stated, and what cannot be planned is refused in one line."""

import json
import os
import re
import shlex
import shutil
import subprocess

import pytest

import hosts
from program import BINARY, bounded, environment, eventloom, generate
from results import read_ledger

# Where a process may run, according to the kernel.
WHERE = 'echo "$OMPI_COMM_WORLD_RANK $(grep Cpus_allowed_list /proc/self/status)"'


def plan(*words, **how):
    return eventloom("plan", *words, **how)


def plan_json(*words):
    return json.loads(plan("--json", *words).stdout)


def cores_here():
    return sorted(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    generate(folder, sources=5, rate=10_000, timing="poisson", hits=8, width="50ns", noise=100_000, duration="20ms", seed=3)
    return folder


BAD = [
    ([], "--sources"),
    (["--sources", "0"], "--sources"),
    (["--sources", "many"], "many"),
    (["--sources", "4", "--nodes", "0"], "--nodes"),
    (["--sources", "4", "--nodes", "2", "--hosts", "aa"], "--hosts"),
    (["--sources", "4", "--hosts", "aa,aa"], "twice"),
    (["--sources", "4", "--hosts", "aa,,bb"], "host name"),
    (["--sources", "4", "--hosts", "a a"], "host name"),
    (["--sources", "4", "--nodes", "1000", "--cores-per-node", "1000"], "1000000"),
    (["--sources", "4", "--cores-per-node", "4", "--filters", "5"], "--filters"),
    (["--sources", "4", "--hits-per-second", "-1"], "--hits-per-second"),
    (["--sources", "4", "--epoch", "10"], "--epoch"),
    (["--sources", "4", "--epochs-per-slice", "0"], "--epochs-per-slice"),
    (["--sources", "4", "--cores-per-node", "4", "--memory-per-node", "100MiB"], "--memory-per-node"),
    (["--sources", "4", "--l2-cache", "large"], "--l2-cache"),
    (["--sources", "4", "--rankfile", "none/rankfile"], "none/rankfile"),
    (["--source", "none*.epochs"], "none*.epochs"),
    (["--source", "none.epochs"], "none.epochs"),
    (["--source", "none.epochs", "--sources", "4"], "--sources"),
    (["--sources", "4", "--colour"], "--colour"),
]


@pytest.mark.parametrize("words, reported", BAD, ids=[" ".join(words) or "nothing" for words, _ in BAD])
def test_bad_usage(words, reported, tmp_path):
    done = plan(*words, code=2, cwd=tmp_path)
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and reported in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_text_says_what_and_why(tmp_path):
    text = plan("--nodes", 4, "--cores-per-node", 64, "--sources", 32, "--rankfile", tmp_path / "plan.rankfile").stdout
    for word in ("mpirun -np 252", "rankfile", "srun --mpi=pmix", "--builders 220", "--ring-depth", "--cell-size", "+n3"):
        assert word in text, word
    why = text[text.index("\nwhy\n"):]
    for choice in ("ranks", "placement", "sources", "builders", "filters", "schedule", "rings", "slices", "memory"):
        assert sum(line.split()[:1] == [choice] for line in why.splitlines()) == 1, choice


def network_line(*words, code=0):
    done = plan("--nodes", 8, "--cores-per-node", 2, "--sources", 8, "--epochs-per-slice", 100, *words, code=code)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("network: ")]
    return line


def test_says_whether_the_network_carries_it():
    """192 Gbit/s exceed 100 Gbit/s; 7/8 of a source's data leave its node."""
    line = network_line("--hits-per-second", "3e9", "--link", "100Gbit,1us", code=3)
    for words in ("needed 21.4 GB/s (171.4 Gbit/s) out", "available 12.5 GB/s (100 Gbit/s)", "margin -71 %", "does not fit"):
        assert words in line
    assert "margin 29 %" in network_line("--hits-per-second", "3e9", "--link", "240Gbit,1us")
    assert "links of at least 21.4 GB/s (171.4 Gbit/s) would do" in network_line("--hits-per-second", "3e9")
    assert "--hits-per-second" in network_line("--link", "100Gbit,1us") and "--simulate" in network_line()
    assert "not needed" in plan("--cores-per-node", 2, "--sources", 8, "--hits-per-second", "3e9", "--link", "1Gbit,1us").stdout
    shown = json.loads(plan("--nodes", 8, "--cores-per-node", 2, "--sources", 8, "--epochs-per-slice", 100, "--json", "--link",
                            "100Gbit,1us", "--hits-per-second", "3e9", code=3).stdout)["network"]
    assert shown["needed_in_bytes_per_us"] == pytest.approx(3000 * 8 * 1.02 * 7 / 8)
    assert shown["available_bytes_per_us"] == 12500 and shown["fits"] is False


def test_json_agrees_with_the_rank_file(tmp_path):
    file = tmp_path / "plan.rankfile"
    shown = plan_json("--hosts", "aa,bb,cc", "--cores-per-node", 16, "--sources", 10, "--rankfile", file)
    hosts = [node["host"] for node in shown["node_list"]]
    assert hosts == ["aa", "bb", "cc"]
    lines = [f"rank {rank['rank']}={hosts[rank['node']]} slot={rank['core']}" for rank in shown["rank_list"]]
    assert file.read_text().splitlines() == ["# eventloom plan", *lines] and len(lines) == shown["ranks"]
    for node in shown["node_list"]:
        assert node["sources"] >= 3 and node["builders"] == shown["builders"] / 3


def test_rank_file_that_exists_is_rewritten(tmp_path):
    """A requeued job plans again."""
    file = tmp_path / "plan.rankfile"
    for cores in (4, 2):
        plan("--cores-per-node", cores, "--sources", 4, "--rankfile", file)
        assert len(file.read_text().splitlines()) == 1 + cores


def allowed_cores(command, environ=None):
    """{rank: core} of ranks started by this line of a plan, redirections included."""
    launch, redirections = command.split(" eventloom ")[0], re.findall(r" (9<\S+)$", command)
    line = " ".join([launch, "sh", "-c", shlex.quote(WHERE), *redirections])
    done = bounded(["bash", "-c", line], env={**environment(), **(environ or {})}, timeout=60)
    return {int(line.split()[0]): int(line.split()[-1]) for line in done.stdout.splitlines()}


@pytest.fixture
def two_cores():
    if cores_here()[:2] != [0, 1] or not shutil.which("mpirun"):
        pytest.skip("SKIPPED: ranks cannot be bound to cores 0 and 1 here, so the rank file is not tried")


def test_mpirun_binds_by_the_rank_file(tmp_path, two_cores):
    file = tmp_path / "plan.rankfile"
    shown = plan_json("--hosts", "localhost", "--cores-per-node", 2, "--sources", 2, "--rankfile", file)
    planned = {rank["rank"]: rank["core"] for rank in shown["rank_list"]}
    assert planned == {0: 0, 1: 1}
    assert allowed_cores(shown["mpirun"]) == planned


def test_without_a_rank_file_mpirun_binds_the_same(two_cores):
    shown = plan_json("--hosts", "localhost", "--cores-per-node", 2, "--sources", 2)
    assert "rankfile" not in shown["mpirun"]
    assert allowed_cores(shown["mpirun"]) == {rank["rank"]: rank["core"] for rank in shown["rank_list"]}


def test_relative_hosts_inside_an_allocation(tmp_path, two_cores):
    """mpirun resolves +n0 from the allocation that Slurm's variables describe."""
    file = tmp_path / "plan.rankfile"
    shown = plan_json("--nodes", 1, "--cores-per-node", 2, "--sources", 2, "--rankfile", file)
    assert "=+n0 " in file.read_text()
    host = subprocess.run(["hostname"], text=True, capture_output=True, check=True).stdout.strip()
    job = {"SLURM_JOBID": "1", "SLURM_JOB_ID": "1", "SLURM_NODELIST": host, "SLURM_JOB_NODELIST": host,
           "SLURM_TASKS_PER_NODE": "2", "SLURM_JOB_CPUS_PER_NODE": "2"}
    assert allowed_cores(shown["mpirun"], job) == {0: 0, 1: 1}


def test_ranks_go_round_the_hosts(tmp_path, two_cores):
    """Two hosts, named, with and without a rank file: each rank is on the host and core of the plan."""
    here, why_not = hosts.available()
    if not here:
        pytest.skip(f"SKIPPED: {why_not}, so a plan for several hosts is not tried")
    addresses = [f"{hosts.NETWORK}.{n}" for n in (1, 2)]
    for extra in ([], ["--rankfile", tmp_path / "plan.rankfile"]):
        shown = plan_json("--hosts", ",".join(addresses), "--cores-per-node", 2, "--sources", 2, *extra)
        words = shown["mpirun"].split()
        with hosts.Hosts(2) as two:
            agent = ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", str(two.folder / "agent.sh"), "--mca",
                     "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include", f"{hosts.NETWORK}.0/24"]
            launch = ["ip", "netns", "exec", two.namespace(hosts.LAUNCHER), "unshare", "--uts", "--ipc", words[0], *agent]
            where = WHERE.replace("echo", "echo $(hostname)")
            done = bounded([*launch, *words[1:words.index("eventloom")], "sh", "-c", where],
                           env={**environment(), "PATH": hosts.PATH}, timeout=60)
        found = sorted((int(rank), name, int(core)) for name, rank, _, core in map(str.split, done.stdout.splitlines()))
        assert found == [(rank["rank"], f"h{rank['node'] + 1}", rank["core"]) for rank in shown["rank_list"]]
        assert [name for _, name, _ in found] == ["h1", "h2", "h1", "h2"]


@pytest.mark.parametrize("cores", [1, 3, 4])
@pytest.mark.parametrize("extra", [[], ["--filters", 1], ["--hits-per-second", "1.4e8"], ["--memory-per-node", "320MiB"]],
                         ids=["plain", "filters", "rate", "memory"])
def test_proposal_runs(streams, tmp_path, cores, extra):
    """Sources separate from builders, beside them, and all on one rank; the ledger is that of a run on one rank."""
    shown = plan_json("--nodes", 1, "--cores-per-node", cores, "--source", f"file:{streams}/*.epochs", *extra)
    assert shown["sources"] == 5 and f"--source 'file:{streams}/*.epochs'" in shown["mpirun"]
    words = ["--source", f"file:{streams}/*.epochs", "--define", "gap:25ns,4"]
    eventloom("run", *words, *shown["run_options"], "--output", tmp_path / "run.h5", np=shown["ranks"])
    eventloom("run", *words, "--epochs-per-slice", shown["epochs_per_slice"], "--output", tmp_path / "one.h5")
    planned, one = read_ledger(tmp_path / "run.h5"), read_ledger(tmp_path / "one.h5")
    assert one["hits_in"].sum() > 0
    for column in ("slice", "hits_in", "hits_in_events"):
        assert (planned[column] == one[column]).all()


def test_the_command_as_printed(streams, tmp_path, two_cores):
    """Word for word, except what only the user knows: where the program is and what an event is."""
    file = tmp_path / "plan.rankfile"
    text = plan("--hosts", "localhost", "--cores-per-node", 2, "--source", f"file:{streams}/*.epochs", "--rankfile", file).stdout
    line = next(line for line in text.splitlines() if line.strip().startswith("mpirun"))
    line = line.replace(" eventloom ", f" {BINARY} ").replace("--define DEF", "--define gap:25ns,4")
    bounded(["sh", "-c", line], env=environment(), timeout=120, cwd=tmp_path)
    assert read_ledger(tmp_path / "run.h5")["hits_in"].sum() > 0
