"""The shipped job scripts, unchanged, by sbatch on virtual nodes: COMPLETED, with the undisturbed run's events."""

import contextlib
import functools
import json
import os
import re
import subprocess

import pytest

import live
from epochs_file import hits_of_file
from interrupted import Started
from lmd_reference import Event, Subevent, classic_file, white_rabbit
from mbs import Serving
from program import DATA, Run, eventloom, generate
from results import assert_balanced, assert_same, read_merged
from slurm import Cluster, available, call

DEFINITION = "gap:60,4"
SOURCES = 4
DURATION = 0.1
EXPECTED = r"run\.h5|run\.part-\d{4}-\d{4}\.h5|merged\.h5|report\.json|history\.txt|rankfile\.txt"
TWO_NODES = ("--nodes=2", "--ntasks-per-node=2")


@pytest.fixture(scope="module")
def cluster():
    can, reason = available()
    if not can:
        pytest.skip(reason)
    with Cluster(6) as made:
        yield made


class Recording:
    """Recorded streams, and the merged events of an undisturbed run."""

    def __init__(self, folder):
        self.folder, self.rest = folder / "recording", folder / "undisturbed"
        self.uris = generate(self.folder, sources=SOURCES, rate=20_000, hits=8, width="50ns", noise=20_000,
                             duration=f"{DURATION}s", payload=1, seed=1)

    @functools.cached_property
    def events(self):
        return read_merged(Run(self.rest, self.uris, "--define", DEFINITION).merged)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording(tmp_path_factory.mktemp("slurm"))


def submit_replay(cluster, recording, folder, *run_options, options=(), env=None):
    return cluster.submit("replay.sbatch", recording.folder, "out", *run_options, options=options, cwd=folder,
                          env={"DEFINE": DEFINITION} | (env or {}))


def lasting(seconds):
    """Options that make a run last this long, so that there is time to interrupt it. Data older than 500 ms are
    safe."""
    return (f"--speed={DURATION / seconds}", "--segment-time", "500ms")


def submit_both(cluster, recording, folder, *run_options, options=()):
    """The same job by mpirun and by srun, each on two nodes and in a separate folder."""
    for launcher in ("mpirun", "srun"):
        (folder / launcher).mkdir()
    return [submit_replay(cluster, recording, folder / launcher, *run_options, options=(*TWO_NODES, *options),
                          env={"LAUNCHER": launcher}) for launcher in ("mpirun", "srun")]


def restarts(job):
    return int(job.fields()["Restarts"])


def assert_complete(job, recording):
    job.assert_state("COMPLETED")
    output = job.folder / "out"
    assert_same(read_merged(output / "merged.h5"), recording.events)
    strays = {path.name for path in output.iterdir() if not re.fullmatch(EXPECTED, path.name)}
    assert not strays, "files that a complete run does not have"


def history(job):
    return (job.folder / "out" / "history.txt").read_text().splitlines()


def parts(job):
    """Finished part files, by name with the time of their last change."""
    return {path.name: path.stat().st_mtime_ns for path in (job.folder / "out").glob("run.part-*.h5")}


def wait_for_parts(job):
    """Waits until the run has begun and some of its data are safe on disk; returns it."""
    job.wait(lambda: len(parts(job)) >= 2, 60, "two finished part files")
    return parts(job)


def assert_kept(before, job):
    assert before.items() <= parts(job).items(), "a finished part was written again"


STREAMS = {"rate": 20_000, "timing": "poisson", "hits": 8, "width": "50ns", "noise": 200_000, "duration": "40ms",
           "epochs-per-buffer": 10}


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """The data of two boards: 400 slices."""
    return live.Recording(tmp_path_factory.mktemp("live"), "gap:25ns,4", 10, sources=2, seed=5, **STREAMS)


def submit_live(cluster, recording, folder, front_ends, *run_options, nodes, tasks=1, env=None):
    """The run has no timeout for boards."""
    settings = {"FRONT_ENDS": "\n".join(front_ends), "DEFINE": recording.define, "EPOCH_TIMEOUT": "20s"}
    options = (f"--nodelist={nodes}", f"--nodes={2 if '-' in nodes else 1}", f"--ntasks-per-node={tasks}",
               "--cpus-per-task=1", "--signal=B:USR1@50")
    return cluster.submit("live.sbatch", "out", "--epochs-per-slice", recording.slice_epochs, *run_options,
                          options=options, cwd=folder, env=settings | (env or {}))


def listening(job, *ports):
    def all_bound():
        assert job.state() in ("PENDING", "RUNNING"), job.log()
        return all(live.sockets("udp", port) for port in ports)
    job.wait(all_bound, 60, "ports bound")


@contextlib.contextmanager
def slowly_taken(cluster, boards, folder, nodes, **env):
    """A job that receives the data of two boards, 4 slices per second for 100 s, each into a separate part."""
    port = live.free_port()
    job = submit_live(cluster, boards, folder, [live.udp(port, sources="0,1")], "--segment-size", 1, nodes=nodes, env=env)
    listening(job, port)
    with live.send(boards.paths, port, "--speed", "0.0004") as sender:
        yield job, sender


def found_by(job):
    job.assert_state("COMPLETED")
    found = live.datasets(job.folder / "out" / "merged.h5")
    assert_balanced(live.ledger_of(found))
    return found


class TestReplay:
    @pytest.mark.parametrize("launcher", ["mpirun", "srun"])
    def test_over_four_nodes(self, cluster, recording, tmp_path, launcher):
        places = tmp_path / "places"
        job = submit_replay(cluster, recording, tmp_path, env={"LAUNCHER": launcher, "PLACES": str(places)})
        assert_complete(job, recording)
        assert "merge finished" in history(job)[-1]
        ranks = dict(line.split() for line in places.read_text().splitlines() if line[0].isdigit())
        # Sources 0 to 3 are on ranks 0 to 3; builder b is on rank (4 + b) mod 8.
        assert {int(rank): node for rank, node in ranks.items()} == {rank: f"n{rank % 4 + 1}" for rank in range(8)}

    def test_prints_the_efficiency(self, cluster, recording, tmp_path):
        job = submit_replay(cluster, recording, tmp_path, "--builders", 2, options=TWO_NODES)
        job.assert_state("COMPLETED")
        report = json.loads((tmp_path / "out" / "report.json").read_text())
        assert report["ranks"] == 4 and report["builders"] == 2
        line = next(line.split() for line in job.log().splitlines() if line.startswith("  hits   "))
        assert float(line[1]) == pytest.approx(report["hits_per_second"] / 1e6, abs=0.001)
        assert float(line[2]) == pytest.approx(report["hits_per_second"] / 4e6, abs=0.001)

    def test_planned(self, cluster, recording, tmp_path):
        job = submit_replay(cluster, recording, tmp_path, "--ring-depth", 5, options=TWO_NODES,
                            env={"PLAN": "yes", "BIND": "core"})
        assert_complete(job, recording)
        plan = json.loads(eventloom("plan", "--nodes", 2, "--cores-per-node", 2, "--sources", SOURCES, "--json").stdout)
        report = json.loads((tmp_path / "out" / "report.json").read_text())
        assert report["ranks"] == plan["ranks"] and report["builders"] == plan["builders"]
        assert "ring-depth = 5" in report["setup"]
        header, *places = [line.split() for line in (tmp_path / "out" / "rankfile.txt").read_text().splitlines()]
        assert header[0] == "#" and places == [["rank", f"{rank}=+n{rank % 2}", f"slot={rank // 2}"] for rank in range(4)]

    def test_scratch(self, cluster, recording, tmp_path):
        scratch = cluster.folder / "scratch"
        job = submit_replay(cluster, recording, tmp_path, options=TWO_NODES, env={"SCRATCH": str(scratch)})
        assert_complete(job, recording)
        assert scratch.exists() and not [path for path in scratch.rglob("*") if path.is_file()]

    @pytest.mark.parametrize("accept, state, code", [("yes", "COMPLETED", "0:0"), ("no", "FAILED", "3:0")])
    def test_losses(self, cluster, recording, tmp_path, accept, state, code):
        damaged = tmp_path / "damaged"
        call("cp", "-r", recording.folder, damaged)
        with open(damaged / "source_000.epochs", "r+b") as file:
            file.seek(20_000)
            file.write(b"\xff" * 64)
        job = cluster.submit("replay.sbatch", damaged, "out", options=TWO_NODES, cwd=tmp_path,
                             env={"DEFINE": DEFINITION, "ACCEPT_LOSSES": accept})
        assert job.assert_state(state)["ExitCode"] == code
        assert "finished with losses" in job.log()
        assert read_merged(tmp_path / "out" / "merged.h5").keys() == recording.events.keys()

    def test_bad_usage_is_not_tried_again(self, cluster, recording, tmp_path):
        job = submit_replay(cluster, recording, tmp_path, options=TWO_NODES, env={"DEFINE": "nonsense"})
        fields = job.assert_state("FAILED")
        assert (fields["ExitCode"], fields["Restarts"]) == ("2:0", "0")
        assert "not requeued" in job.log()


class TestInterrupted:
    def test_signal_that_comes_before_the_ranks_is_heard_later(self, cluster, recording, tmp_path):
        job = submit_replay(cluster, recording, tmp_path, *lasting(40), options=TWO_NODES)
        job.wait(lambda: "4 ranks on 2 nodes" in job.log(), 30, "start")
        cluster.call("scancel", "--batch", "--signal=USR1", job.number)
        assert_complete(job, recording)
        assert restarts(job) == 1
        assert "run stopped by SIGUSR1" in history(job)[0]

    def test_killed_rank(self, cluster, recording, tmp_path):
        jobs = submit_both(cluster, recording, tmp_path, *lasting(6))
        kept = []
        for job in jobs:
            kept.append(wait_for_parts(job))
            job.kill_a_rank()
        for job, before in zip(jobs, kept):
            assert_complete(job, recording)
            assert_kept(before, job)
            assert restarts(job) == 1
            assert ": failed: run ended with exit code" in history(job)[0]

    def test_scancel_and_another_job(self, cluster, recording, tmp_path):
        job = submit_replay(cluster, recording, tmp_path, *lasting(8), options=TWO_NODES)
        wait_for_parts(job)
        cluster.call("scancel", job.number)
        job.assert_state("CANCELLED")
        job.wait(lambda: not job.ranks(), 30, "no ranks")
        before = parts(job)
        again = submit_replay(cluster, recording, tmp_path, options=TWO_NODES)
        assert_complete(again, recording)
        assert_kept(before, again)

    def test_ends_on_demand(self, cluster, recording, tmp_path):
        job = submit_replay(cluster, recording, tmp_path, *lasting(8), options=TWO_NODES)
        wait_for_parts(job)
        cluster.call("scancel", "--batch", "--signal=TERM", job.number)
        fields = job.assert_state("FAILED")
        assert (fields["ExitCode"], fields["Restarts"]) == ("75:0", "0")
        assert "submit it again to continue" in job.log()

    def test_lost_node(self, cluster, recording, tmp_path):
        job = submit_replay(cluster, recording, tmp_path, *lasting(8), options=("--nodes=3", "--ntasks-per-node=1"))
        before = wait_for_parts(job)
        lost = next(node for node in ("n2", "n3") if node != job.fields()["BatchHost"])
        cluster.lose(lost)
        try:
            job.wait(lambda: restarts(job) >= 1, 60, "requeued")
        finally:
            cluster.restart(lost)
        assert_complete(job, recording)
        assert_kept(before, job)

    def test_failures_come_to_an_end(self, cluster, recording, tmp_path):
        broken = tmp_path / "broken"
        broken.write_text("#!/bin/sh\nexit 9\n")
        broken.chmod(0o755)
        job = submit_replay(cluster, recording, tmp_path, options=TWO_NODES,
                            env={"EVENTLOOM": str(broken), "MAX_FAILURES": "2"})
        fields = job.assert_state("FAILED")
        assert (fields["ExitCode"], fields["Restarts"]) == ("75:0", "1")
        assert "failed 2 times in a row" in job.log()


class TestTimeLimit:
    @pytest.fixture(scope="class")
    def interrupted(self, cluster, recording, boards, tmp_path_factory):
        """Jobs after their first attempt, all at once, as Slurm looks only every 30 s whom to warn: {name: (job, its
        parts by then)}, and the sender of the live one."""
        folder = tmp_path_factory.mktemp("limited")
        with slowly_taken(cluster, boards, folder, "n[5-6]") as (live_job, sender):
            wait_for_parts(live_job)
            # Slurm counts limits in minutes: all of these are warned the next time, by chance before the ranks of the
            # replays heed signals.
            cluster.call("scontrol", "update", f"JobId={live_job.number}", "TimeLimit=1")
            both = submit_both(cluster, recording, folder, *lasting(40), options=("--time=1", "--signal=B:USR1@50"))
            jobs = {}
            for name, job in zip(("mpirun", "srun", "live"), (*both, live_job)):
                job.wait(lambda: restarts(job) >= 1, 60, "another attempt")
                jobs[name] = job, parts(job)
            cluster.call("scontrol", "update", f"JobId={live_job.number}", "TimeLimit=60")
            yield jobs, sender

    def test_live(self, interrupted, boards):
        """The boards send all the time: data of both attempts are in one output."""
        jobs, sender = interrupted
        job, before = jobs["live"]
        job.wait(lambda: len(parts(job)) > len(before) + 5, 60, "parts of the other attempt")
        sender.process.terminate()
        found = found_by(job)
        assert_kept(before, job)
        assert "run stopped by SIGUSR1 with exit code 75" in history(job)[0]
        live.assert_slices_as_replayed(boards, found, ended_early=True)
        complete = sorted(live.rows(found).keys() - live.masked(found))
        gaps = [(a, b) for a, b in zip(complete, complete[1:]) if b > a + 1]
        assert complete[0] == 0 and len(gaps) == restarts(job), "more is missing than what came between the attempts"
        assert len(before) <= gaps[0][0] + 1 and gaps[-1][1] < complete[-1]
        raw = {path.name for path in (job.folder / "out" / "raw").iterdir()}
        assert raw >= {f"source-000{number}{attempt}.epochs" for number in (0, 1) for attempt in ("", "-01")}

    @pytest.mark.parametrize("launcher", ["mpirun", "srun"])
    def test_replay(self, interrupted, recording, launcher):
        job, before = interrupted[0][launcher]
        assert_complete(job, recording)
        assert_kept(before, job)
        stopped = re.search(r"run stopped by SIGUSR1 with exit code (\d+)", history(job)[0])
        # 138: mpirun had not passed the signal on yet; 244: it lost its daemons before they had reported how the ranks ended.
        assert stopped and stopped[1] in ("75", "138", "244")
        assert not before or "resuming" in job.log()


class TestLive:
    def test_servers_and_boards_at_their_nodes(self, cluster, tmp_path):
        """An MBS server, two boards at a port of n3, one at a port of n4: the events of the recorded files."""
        four = live.Recording(tmp_path, "gap:25ns,4", 100, sources=4, seed=6, **STREAMS)
        hits = hits_of_file(four.files[0])
        events = [Event(number, [Subevent(channel & 0xFFFF, white_rabbit(time))])
                  for number, (time, channel) in enumerate(zip(hits.time.tolist(), hits.channel.tolist()), 1)]
        (tmp_path / "server.lmd").write_bytes(classic_file(events, 8192))
        served = f"lmd:{tmp_path}/server.lmd?time=wr"
        expected = live.datasets(Run(tmp_path / "files", [served, *four.uris[1:]], *four.meaning).merged)
        two, one, places = live.free_port(), live.free_port(), tmp_path / "places"
        targets = [word for port in (two, two, one) for word in ("--to", f"udp://{live.HOST}:{port}")]
        with Serving(tmp_path, served, "--once", "--speed", "0.1") as server:
            front_ends = [f"mbs://{live.HOST}:{server.port}/transport?time=wr", f"n3 {live.udp(two, sources='1,2')}",
                          f"n4   {live.udp(one)}"]
            job = submit_live(cluster, four, tmp_path, front_ends, nodes="n[3-4]", tasks=2,
                              env={"PLACES": str(places), "RECONNECT": "0s"})
            listening(job, two, one)
            with Started(tmp_path, "send", *four.paths[1:], *targets, "--ids", "1,2,3", "--speed", "0.1") as sender:
                sender.wait(0)
                assert_same(found_by(job), expected)
        ranks = dict(line.split() for line in places.read_text().splitlines() if line[0].isdigit())
        assert {int(rank): node for rank, node in ranks.items()} == {0: "n3", 1: "n3", 2: "n4", 3: "n4"}
        raw = sorted((tmp_path / "out" / "raw").iterdir())
        assert [path.name for path in raw] == [f"source-{number:04}.epochs" for number in range(4)]
        again = Run(tmp_path / "again", [f"file:{path}" for path in raw], *four.meaning)
        assert_same(live.datasets(again.merged), expected)

    def test_ends_on_request(self, cluster, boards, tmp_path):
        """By a signal, through mpirun or srun, or after DURATION: complete, while the boards continue."""
        with contextlib.ExitStack() as senders:
            jobs = {}
            for name, nodes, env in (("mpirun", "n[1-2]", {}), ("srun", "n[3-4]", {"LAUNCHER": "srun"}),
                                     ("duration", "n5", {"DURATION": "5"})):
                (tmp_path / name).mkdir()
                jobs[name], _ = senders.enter_context(slowly_taken(cluster, boards, tmp_path / name, nodes, **env))
            for name in ("mpirun", "srun"):
                wait_for_parts(jobs[name])
                cluster.call("scancel", "--batch", "--signal=TERM", jobs[name].number)
            for job in jobs.values():
                found = found_by(job)
                assert restarts(job) == 0
                assert not live.masked(found) and not live.losses(found)
                live.assert_slices_as_replayed(boards, found)
                assert 0 < len(live.rows(found)) < boards.n_slices
        again = submit_live(cluster, boards, tmp_path / "mpirun", ["udp://127.0.0.1:1"], nodes="n1")
        assert again.assert_state("FAILED")["ExitCode"] == "2:0"
        assert "out holds a finished run; choose another folder" in again.log()

    def test_killed_rank(self, cluster, boards, tmp_path):
        """The same job continues the run within seconds; data of before and after are in one output."""
        with slowly_taken(cluster, boards, tmp_path, "n[1-2]") as (job, sender):
            before = wait_for_parts(job)
            job.kill_a_rank()
            job.wait(lambda: len(parts(job)) > len(before) + 5, 60, "parts of the other run")
            sender.process.terminate()
            found = found_by(job)
        assert_kept(before, job)
        assert restarts(job) == 0 and "run died with exit code" in history(job)[0]
        assert "run finished" in history(job)[1]
        live.assert_slices_as_replayed(boards, found, ended_early=True)

    def test_front_ends_that_cannot_be(self, cluster, boards, tmp_path):
        udp, mistakes = f"udp://{live.HOST}:{live.free_port()}", []
        for front_ends, reported in [
            ([f"n1 {udp}"], "n1 is not a node of this job"),
            ([f"n3 {udp}?sources=0,1", f"n4 {udp}1"], "rank 0 cannot be on n4, as n3 needs it for another front end"),
            ([f"n3 {udp}", f"n3 {udp}1"], "n3 has no task left"),
            (["n4 udp://192.0.2.1:5001"], "192.0.2.1"),  # not an address of it
            ([" ", ""], "no front ends"),
        ]:
            folder = tmp_path / str(len(mistakes))
            folder.mkdir()
            mistakes.append((submit_live(cluster, boards, folder, front_ends, nodes="n[3-4]"), reported))
        for job, reported in mistakes:
            fields = job.assert_state("FAILED")
            assert (fields["ExitCode"], fields["Restarts"]) == ("2:0", "0")
            assert reported in job.log()


def test_sweep_as_an_array(cluster, tmp_path):
    schedules, sizes = ("round-robin", "chaotic"), (1024, 4096)
    array = cluster.submit("bench_sweep.sbatch", "bench", "--seconds", "0.005", "--repeat", 1, cwd=tmp_path,
                           options=(*TWO_NODES, "--array=0-3"),
                           env={"SCHEDULES": " ".join(schedules), "SIZES": " ".join(map(str, sizes))})
    for element in range(4):
        array.element(element).assert_state("COMPLETED")
    rows = [line.split() for line in (tmp_path / "bench" / "table.txt").read_text().splitlines()[1:]]
    assert [(row[1], int(row[2])) for row in rows] == [(name, size) for name in sorted(schedules) for size in sizes]


class TestChain:
    LMD = f"lmd:{DATA}/lmd/classic_*.lmd"

    def submit(self, cluster, folder, source):
        reported = cluster.call(cluster.jobs / "chain.sh", source, "out", cwd=folder,
                            env={"DEFINE": "tag", "SBATCH_OPTIONS": "--ntasks-per-node=1"})
        return [cluster.job(number, folder) for number in re.findall(r"(?:convert|run|merge) (\d+)", reported)]

    def test_convert_run_merge(self, cluster, tmp_path):
        jobs = self.submit(cluster, tmp_path, self.LMD)
        for job in jobs:
            job.assert_state("COMPLETED")
        names = [job.fields()["JobName"] for job in jobs]
        assert names == ["convert", "replay", "merge"]
        direct = Run(tmp_path / "direct", [self.LMD], "--define", "tag", code=None)
        assert_same(read_merged(tmp_path / "out" / "merged.h5"), read_merged(direct.merged))

    def test_what_cannot_follow_is_cancelled(self, cluster, tmp_path):
        jobs = self.submit(cluster, tmp_path, tmp_path / "nothing.lmd")
        jobs[0].assert_state("FAILED")
        for job in jobs[1:]:
            job.assert_state("CANCELLED")


def test_submits_itself_where_the_configuration_says(cluster, recording, tmp_path):
    """./replay.sbatch takes the SBATCH_* of cluster.conf."""
    conf = cluster.jobs / "cluster.conf"
    text = conf.read_text()
    conf.write_text(text + "export SBATCH_JOB_NAME=from_the_configuration\n")
    try:
        reported = cluster.call(cluster.jobs / "replay.sbatch", recording.folder, "out", cwd=tmp_path,
                            env={"DEFINE": DEFINITION, "SBATCH_OPTIONS": " ".join(TWO_NODES)})
    finally:
        conf.write_text(text)
    job = cluster.job(reported.split()[-1], tmp_path)
    assert job.fields()["JobName"] == "from_the_configuration"
    job.assert_state("COMPLETED")


def test_nothing_is_left_behind(tmp_path):
    can, reason = available()
    if not can:
        pytest.skip(reason)
    with Cluster(2) as made:
        (tmp_path / "job").write_text("#!/bin/sh\nsleep 1000 & sleep 1000\n")
        number = made.call("sbatch", "--parsable", tmp_path / "job", cwd=tmp_path).strip()
        job = made.job(number, tmp_path)
        job.wait(lambda: job.state() == "RUNNING", 30, "start")
        daemons = [made.daemon(node) for node in ("n1", "n2")]
        folder = made.folder
        assert all(os.path.exists(f"/proc/{pid}") for pid in daemons)
    assert not folder.exists()
    marked = subprocess.run(f"grep -lsz 'SLURM_CONF={folder}' /proc/[0-9]*/environ", shell=True, text=True,
                            capture_output=True)
    assert marked.stdout == "", "processes are left"
