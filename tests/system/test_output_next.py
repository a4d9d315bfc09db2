"""run --output-next: when the disk of --output is full, the part files continue in another folder. No event is lost or doubled,
also when the run is killed and resumed, and all readers find the parts."""

import json
import re
import signal
import subprocess

import h5py
import pytest

from interrupted import STOPPED, gone, lines_with, parts, until
from program import eventloom
from test_resume import ALL_HITS, FAILING, SLOW, Job, assert_only_results, disk, needs_root
from test_resume import recording, undisturbed  # noqa: F401 (fixtures)

pytestmark = needs_root
SMALL = [*ALL_HITS, "--segment-size", "300000"]


class Moving(Job):
    """A run whose output folder is a small disk."""

    def __init__(self, folder, sources, *options, np=None, env=None):
        self.next = folder / "next" / ("long" * 25)  # a link to a long path takes a block of the disk
        super().__init__(folder / "disk", sources, *options, "--output-next", self.next, np=np, env=env)

    def moved(self):
        return {path.name: path.resolve() for path in parts(self.folder) if path.is_symlink()}

    def beyond(self):
        return {path for path in self.next.rglob("*") if path.is_file()}

    def assert_whole(self, undisturbed_run):
        """The folders hold the run and nothing else; its events are those of an undisturbed run."""
        assert_only_results(self.folder)
        assert set(self.moved().values()) == self.beyond()
        eventloom("compare", self.folder / "run.h5", undisturbed_run.folder / "run.h5")


def size_of_hits(path):
    with h5py.File(path) as file:
        return file["hits/time"].size


@pytest.mark.parametrize("np, size", [(None, "1GiB"), (None, "100000"), (1, "300000"), (3, "300000")])
def test_a_full_disk(tmp_path, recording, undisturbed, np, size):
    job = Moving(tmp_path, recording, *ALL_HITS, "--segment-size", size, "--report-json", tmp_path / "report.json", np=np)
    with disk(job.folder, "3m") as make_room:
        text = job.run()
        moved = job.moved()
        assert moved and len(lines_with(text, "warning", "the disk of", "is full", str(job.next))) in range(1, (np or 1) + 1), text
        assert lines_with(text, f"{len(moved)} of its {len(parts(job.folder))} part files are in '{job.next}/"), text
        assert sum(json.loads((tmp_path / "report.json").read_text())["moved_parts"].values()) == len(moved)
        job.assert_whole(undisturbed(recording, *ALL_HITS))
        for words in (["inspect"], ["report", "--output", tmp_path / "report.html"], ["merge", "--output", tmp_path / "all.h5"]):
            eventloom(words[0], job.folder / "run.h5", *words[1:])
        assert size_of_hits(tmp_path / "all.h5") == sum(map(size_of_hits, parts(job.folder)))
        # Another run in its place removes the parts, wherever they are.
        make_room()
        job.run("--force")
        assert not job.moved() and not list(job.next.iterdir())
        assert_only_results(job.folder)


@pytest.mark.parametrize("np", [None, 3])
@pytest.mark.parametrize("then", ["resume", "without the option"])
def test_killed_and_resumed(tmp_path, recording, undisturbed, np, then):
    job = Moving(tmp_path, recording, *ALL_HITS, np=np)
    with disk(job.folder, "1m") as make_room:
        with job.start(*SLOW) as started:
            until(lambda: len(job.moved()) >= 3, "three parts in the next folder", so_far=started.text)
            started.send(signal.SIGKILL, 0)
            until(lambda: all(map(gone, started.known.values())), "the end of all ranks")
        finished = job.moved()
        name, place = max(finished.items())
        (job.folder / name).rename(job.folder / f"{name}.partial")  # as after a crash between the entry in the list and the name
        before = {place: place.stat().st_mtime_ns for place in finished.values()}
        if then == "without the option":
            make_room()
            job.words = job.words[:-4] + job.words[-2:]
        text = job.resume()
        assert lines_with(text, "resuming", "parts are finished"), text
        assert before.items() <= {place: place.stat().st_mtime_ns for place in job.beyond()}.items(), "finished parts stay"
        if then == "resume":
            job.assert_whole(undisturbed(recording, *ALL_HITS))
        eventloom("compare", job.folder / "run.h5", undisturbed(recording, *ALL_HITS).folder / "run.h5")


def test_both_disks_are_full(tmp_path, recording, undisturbed):
    job = Moving(tmp_path, recording, *SMALL)
    with disk(job.folder, "3m"), disk(job.next, "2m") as make_room:
        text = job.run(code=STOPPED)
        assert lines_with(text, "No space left on device", str(job.next), "run.part-"), text
        assert lines_with(text, "--resume"), text
        assert job.moved() and set(job.moved().values()) == job.beyond()
        make_room()
        job.resume()
        job.assert_whole(undisturbed(recording, *ALL_HITS))


def test_parts_from_a_scratch_folder(tmp_path, recording, undisturbed):
    job = Moving(tmp_path, recording, *SMALL, "--scratch", tmp_path / "scratch")
    with disk(job.folder, "3m"):
        job.run()
        assert job.moved()
        job.assert_whole(undisturbed(recording, *ALL_HITS))


def test_others_fill_the_disk(tmp_path, recording, undisturbed):
    """Even where the part frees nothing, there is space for lists and run.h5."""
    job = Moving(tmp_path, recording, *ALL_HITS)
    with disk(job.folder, "8m"):
        with job.start(*SLOW) as started:
            started.until_parts(1)
            subprocess.run(["dd", "if=/dev/zero", f"of={job.folder / 'others'}", "bs=4096"], stderr=subprocess.DEVNULL, check=False, timeout=60)
            started.wait(0)
        assert job.moved()
        job.assert_whole(undisturbed(recording, *ALL_HITS))


def test_a_disk_that_lost_data_before(tmp_path, recording, undisturbed):
    """A part whose disk reports that data written earlier are lost is not copied: it is built again."""
    (tmp_path / "failing.c").write_text(FAILING.replace("++calls > 5", "++calls > 0"))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "failing.so", tmp_path / "failing.c", "-ldl"], check=True, timeout=60)
    job = Moving(tmp_path, recording, *ALL_HITS, env={"LD_PRELOAD": str(tmp_path / "failing.so")})
    with disk(job.folder, "3m"):
        text = job.run(code=STOPPED)
        assert lines_with(text, "No space left on device", "run.part-0000-0000.h5"), text
        assert not job.beyond() and not parts(job.folder)
        job.env = None
        job.resume()
        job.assert_whole(undisturbed(recording, *ALL_HITS))


def test_links_of_others_stay(tmp_path, recording):
    """A link to a part of another run is neither followed nor replaced."""
    first = Moving(tmp_path / "a", recording, *SMALL)
    with disk(first.folder, "3m"):
        first.run()
        name, place = min(first.moved().items())
        other = tmp_path / "b"
        other.mkdir()
        (other / name).symlink_to(place)
        done = eventloom(*first.words[:-1], other / "run.h5", "--force", code=2)
        assert lines_with(done.stderr, "a symbolic link", name), done.stderr
        assert place.is_file() and (other / name).is_symlink()


@pytest.mark.parametrize("option", ["--output-next", "--scratch"])
def test_what_is_refused_leaves_nothing(tmp_path, recording, option):
    """A folder that cannot be made, and files of others in it."""
    job = Job(tmp_path / "output", recording, *SMALL)
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_text("")
    done = eventloom(*job.words, option, file, code=2, cwd=job.folder)
    [line] = lines_with(done.stderr, "eventloom run", option, "cannot create the folder", str(file))
    foreign = other / re.search(r"eventloom-[0-9a-f]+", line).group() / "run.part-0000-0000.h5"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("somebody else's")
    done = eventloom(*job.words, option, other, code=2, cwd=job.folder)
    assert lines_with(done.stderr, "eventloom run", foreign.name), done.stderr
    assert not list(job.folder.iterdir()) and foreign.read_text() == "somebody else's"
    eventloom(*job.words, option, tmp_path / "new" / "folder", cwd=job.folder)
