"""The contents of `cmake --install` and the Debian package, tried as their users would; the messages of CMake when
something is missing."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import h5py
import pytest

from live import free_port
from pages import examples
from program import BINARY, DATA, ROOT, environment, eventloom, only_line
from readers import PYTHON, needs_readers

BUILD = Path(BINARY).parent
VERSION = r"eventloom \d+\.\d+\.\d+(, commit [0-9a-f]{12}\+?)?(, tag \S+)?\n(GCC|Clang) \d+\..*; Open MPI v\d.*; UCX \d.*; HDF5 \d.*\n"


def done(*words, **options):
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120, **options)
    assert ended.returncode == 0, f"{words}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    done("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The contents of the Debian package, and its metadata."""
    folder = tmp_path_factory.mktemp("deb")
    done("cpack", "-B", folder, "--config", BUILD / "CPackConfig.cmake", cwd=folder)
    (deb,) = folder.glob("*.deb")
    done("dpkg-deb", "-x", deb, folder / "root")
    return folder / "root/usr", done("dpkg-deb", "-f", deb)


@pytest.fixture(params=["install", "package"])
def prefix(request):
    return request.getfixturevalue("installed") if request.param == "install" else request.getfixturevalue("package")[0]


def test_the_program_runs(prefix, tmp_path):
    program = prefix / "bin/eventloom"
    assert re.fullmatch(VERSION, done(program, "--version"))
    done(program, "run", "--source", DATA / "lmd/var_small.lmd", "--define", "tag", "--output", tmp_path / "run.h5", env=environment())
    assert "events" in done(program, "show", tmp_path / "run.h5", "--summary", env=environment())
    if (BUILD / "eventloom-simulator").exists():
        assert "round-robin" in done(program, "simulate", "--nodes", "2", env=environment())


def commands_of(program, *words):
    return re.findall(r"^  ([a-z]+) +\S", done(program, *words, "--help"), flags=re.M)


def all_commands(program):
    """Each command as words, including those of `bench`."""
    return [words for command in commands_of(program) for words in ([command], *([command, part] for part in commands_of(program, command)))]


def bare(text):
    return re.sub(r"\s", "", text)


def test_each_command_has_a_man_page(prefix):
    """The page has all of its options, in the same words as --help."""
    program, pages = prefix / "bin/eventloom", prefix / "share/man/man1"
    assert {page.name.split(".")[0] for page in pages.iterdir()} == {"-".join(["eventloom", *words]) for words in [[], *all_commands(program)]}
    assert ["bench", "patterns"] in all_commands(program)
    for words in [[], *all_commands(program)]:
        (page,) = pages.glob("-".join(["eventloom", *words]) + ".1*")
        source = re.sub(r"^\.(TP|PP|nh|ad l)$|\\f[BR]|\\&", "", done("zcat", "-f", page), flags=re.M)
        text = bare(source.replace("\\-", "-").replace("\\e", "\\"))
        for line in done(program, *words, "--help").splitlines():
            assert bare(re.sub(r"^(usage: |  (?=-. \[))", "", line).replace(" [ --help ]", ", --help").replace(" [ --output ]", ", --output")) in text \
                or re.fullmatch(r"\S.*:", line), line


@pytest.mark.skipif(not shutil.which("man"), reason="SKIPPED: no man")
def test_man_pages_fit_a_terminal(installed):
    for page in (installed / "share/man/man1").iterdir():
        shown = done("man", "-l", page, env=os.environ | {"MANWIDTH": "80", "MAN_KEEP_FORMATTING": ""})
        assert "OPTIONS" in shown or "SEE ALSO" in shown
        assert [line for line in shown.splitlines() if len(line) > 80] == [], page


def completed(prefix, *words):
    """The completions that bash offers for the last word."""
    script = prefix / "share/bash-completion/completions/eventloom"
    return done("bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _eventloom; echo "${COMPREPLY[@]-}"',
                script, prefix / "bin/eventloom", *words).split()


def test_completion(prefix):
    program = prefix / "bin/eventloom"
    assert completed(prefix, "r") == ["run", "report", "record"]
    assert completed(prefix, "") == commands_of(program)
    assert completed(prefix, "run", "--schedu") == ["--schedule"]
    assert completed(prefix, "bench", "") == commands_of(program, "bench") and "latency" in completed(prefix, "bench", "")
    assert completed(prefix, "bench", "patterns", "--pat") == ["--pattern"]
    for words in (["merge", "file"], ["merge", ""], ["bench", "patterns", ""]):
        assert completed(prefix, *words) == []
    assert (prefix / "share/zsh/site-functions/_eventloom").read_text().startswith("#compdef eventloom")


def test_each_option_that_is_offered_exists(installed):
    """Every option offered exists."""
    program = installed / "bin/eventloom"
    for words in all_commands(program):
        listed = re.findall(r"^  (?:-\w \[ )?(--[\w-]+)", done(program, *words, "--help"), flags=re.M)
        assert completed(installed, *words, "--") == listed, words
    for words in (["run"], ["inspect"], ["show"], ["plan"], ["bench", "patterns"]):
        for option in completed(installed, *words, "--"):
            # The first one is the value of an option that takes one.
            reported = subprocess.run([program, *words, option, *["--no-such-option"] * 2], capture_output=True, text=True, timeout=60)
            assert reported.returncode == 2 and "unrecognised option '--no-such-option'" in reported.stderr


def test_job_scripts_find_the_installed_program(prefix, tmp_path):
    jobs = prefix / "share/eventloom/jobs"
    clean = {name: value for name, value in os.environ.items() if name != "EVENTLOOM"}
    reported = done("bash", "-c", 'JOBS=$0; source "$0/cluster.conf"; command -v "$EVENTLOOM"', jobs, env=clean | {"PATH": f"{prefix}/bin:{clean['PATH']}"})
    assert Path(reported.strip()) == prefix / "bin/eventloom"
    for script in jobs.glob("*.s*"):
        done("bash", "-n", script)
        assert os.access(script, os.X_OK) or script.name == "job_functions.sh"
    assert {"replay.sbatch", "live.sbatch", "chain.sh", "cluster.conf", "README.md", "live.md", "coming_from.md"} <= {file.name for file in jobs.iterdir()}
    assert (jobs / "monitoring/eventloom.rules.yml").exists() and not (jobs.parent / "monitoring").exists()
    assert "Apache" in (prefix / "share/doc/eventloom/copyright").read_text()


def here(found):
    """Replaces an address by one of this machine, and a server by nothing."""
    return f"127.0.0.1:{free_port()}" if found[0][0] == "0" else ""


# The replacements of their sources, and the exit code; the boards send nothing.
EXAMPLES = {"recorded.ini": (r"/data/run7/\*", "recording/*", 0),
            "triggered.ini": (r"lmd:/data/.*|hld:/data/.*", f"lmd:{DATA}/lmd/var_small.lmd", 0),
            "live.ini": (r"0[.]0[.]0[.]0:\d+|\nsource = mbs:.*", here, 3)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_configurations(prefix, tmp_path, name):
    program, examples = prefix / "bin/eventloom", prefix / "share/eventloom/jobs/examples"
    assert {file.name for file in examples.iterdir()} == set(EXAMPLES)
    pattern, replacement, code = EXAMPLES[name]
    text = re.sub(pattern, replacement, (examples / name).read_text())
    if name == "triggered.ini":
        text = text.replace("\nsource = lmd:", "\n#", 1)
    (tmp_path / name).write_text(text)
    (tmp_path / "built").mkdir()
    eventloom("generate", "--output", tmp_path / "recording", "--rate", "1000", "--duration", "50ms")
    words = [program, "run", "--config", name, "--output", "run.h5", *(["--duration", "100ms"] if name == "live.ini" else [])]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment())
    assert ended.returncode == code and " events with " in ended.stdout, ended.stderr


def test_the_installed_package_for_python(prefix):
    script = "import eventloom; print(eventloom.__file__)"
    folder = prefix / "share/eventloom/io/python"
    reported = done("/usr/bin/python3", "-B", "-c", script, env=os.environ | {"PYTHONPATH": str(folder)})
    assert Path(reported.strip()) == folder / "eventloom/__init__.py" and (folder / "pyproject.toml").exists()


@needs_readers
def test_the_installed_program_finds_its_package(prefix, tmp_path):
    environ = environment() | {"PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}"}
    program = prefix / "bin/eventloom"
    done(program, "run", "--source", DATA / "lmd/var_small.lmd", "--define", "tag", "--output", "run.h5", env=environ, cwd=tmp_path)
    done(program, "merge", "run.h5", "--to", "parquet:run.parquet", env=environ, cwd=tmp_path)
    assert (tmp_path / "run.parquet").read_bytes()[:4] == b"PAR1"
    assert (prefix / "share/eventloom/io/python/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_links_between_pages_hold(prefix):
    """Except those to tests and to headers, which are not installed."""
    shared = prefix / "share/eventloom"
    pages = sorted(shared.rglob("*.md"))
    assert {"README.md", "io/inputs.md", "jobs/live.md"} <= {str(page.relative_to(shared)) for page in pages}
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())]
    away = [f"{page}: {link}" for page, link in links if not (page.parent / link).exists() and not re.search("tests/|[.]hpp$", link)]
    assert len(links) > 50 and away == []


def test_the_commands_of_the_page(tmp_path):
    """The commands configure and build a bare copy: only its smallest part, since `jobs/setup.sh` builds everything
    before any test."""
    clone = shutil.copytree(ROOT, tmp_path / "clone", ignore=shutil.ignore_patterns("build", "build-*", ".git", "data"))
    (command,) = [example.command for example in examples("jobs/README.md") if "cmake --preset" in example.command]
    assert command.endswith("cmake --build --preset release")
    done("bash", "-c", f"{command} --target eventloom_formats", cwd=clone)
    assert list((clone / "build").rglob("libeventloom_formats.a"))


def test_the_package_names_what_it_needs(package):
    _, fields = package
    (depends,) = re.findall(r"^Depends: (.*)$", fields, flags=re.M)
    needed = {word.split()[0] for word in depends.split(", ")}
    for name in ("openmpi-bin", "libopenmpi", "libhdf5", "libboost-program-options", "libspdlog"):
        assert any(package.startswith(name) for package in needed), fields
    assert re.search(r"^Package: eventloom$", fields, flags=re.M) and re.search(r"^Recommends: .*gnuplot", fields, flags=re.M)


def without(names, folder):
    """A PATH of /usr/bin without some programs."""
    folder.mkdir()
    for file in Path("/usr/bin").iterdir():
        if file.name not in names:
            (folder / file.name).symlink_to(file)
    return os.environ | {"PATH": str(folder)}


def test_missing_tools_are_named_in_one_line(tmp_path):
    """CMake itself does not report their packages."""
    names = ["ninja", "ninja-build", "samu", "c++", "g++", "clang++", "CC", "icpx"]
    hidden = without(names, tmp_path / "bin") | {"CXX": ""}
    words = ["cmake", "--preset", "release", "-S", ROOT, "-B", tmp_path / "build"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120, env=hidden, cwd=ROOT)
    (line,) = [line for line in ended.stderr.splitlines() if "missing" in line]
    assert ended.returncode != 0 and "Debian ninja-build" in line and "Debian g++" in line, ended.stderr


@pytest.fixture
def lone_program(tmp_path):
    return shutil.copy(BINARY, tmp_path / "eventloom")


@pytest.mark.parametrize("command, program", [("show", "eventloom-view"), ("align", "eventloom-tools")])
def test_program_of_a_command_is_built_first(lone_program, command, program):
    """Where `eventloom` was built; elsewhere the message names it."""
    def run():
        return subprocess.run([lone_program, command, "--version"], capture_output=True, text=True, timeout=120,
                              env=environment())
    ended = run()
    assert ended.returncode == 2
    only_line(ended, program, "install both")

    folder = lone_program.parent
    (folder / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(build NONE)
add_custom_target({program} COMMAND cp {shutil.which("echo")} {program})""")
    done("cmake", "-S", folder, "-B", folder)
    ended = run()
    assert (ended.returncode, ended.stdout) == (0, f"{command} --version\n"), ended.stderr
    assert f"building {program} first" in ended.stderr


def test_make_does_in_place_of_ninja(tmp_path):
    """As the message states."""
    words = ["cmake", "--preset", "release", "-G", "Unix Makefiles", "-S", ROOT, "-B", tmp_path / "build"]
    done(*words, env=without(["ninja", "ninja-build", "samu"], tmp_path / "bin"), cwd=ROOT)
    assert (tmp_path / "build/Makefile").exists()


def git(folder, *words):
    return done("git", "-c", "user.name=n", "-c", "user.email=n@localhost", "-C", folder, *words).strip()


def reported_commit(folder):
    """The commit and tag that a build of the sources in `folder` reports."""
    output = folder.parent / f"{folder.name}.cpp"
    done("cmake", f"-DFOLDER={folder}", f"-DOUTPUT={output}", "-P", folder / "app/command/commit.cmake")
    return tuple(re.findall('"(.*)";', output.read_text()))


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "clone"
    (folder / "app/command").mkdir(parents=True)
    for name in ("app/command/commit.cmake", ".gitattributes"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def test_commit_and_tag_are_those_of_the_sources(repository, tmp_path):
    commit = git(repository, "rev-parse", "--short=12", "HEAD")
    assert reported_commit(repository) == (commit, "")
    git(repository, "tag", "v1.2")
    assert reported_commit(repository) == (commit, "v1.2")
    copy = tmp_path / "copy"
    shutil.copytree(repository, copy)
    (copy / "app/command/commit.cmake").touch()
    if os.geteuid() == 0:
        done("chown", "-R", "12345", copy)
    assert reported_commit(copy) == (commit, "v1.2"), "other times and owners are no changes"
    (copy / ".gitattributes").write_text("")
    assert reported_commit(copy) == (commit + "+", "")


def test_an_archive_states_its_commit(repository, tmp_path):
    """Also when an image of Apptainer is built, and within another repository."""
    git(repository, "tag", "v1.2")
    for folder in (tmp_path / "archive", repository / "archive"):
        folder.mkdir()
        done("bash", "-c", 'git -C "$0" archive HEAD | tar x -C "$1"', repository, folder)
        assert reported_commit(folder) == (git(repository, "rev-parse", "--short=12", "HEAD"), "v1.2")
    (tmp_path / "no-repository/app/command").mkdir(parents=True)
    shutil.copy(ROOT / "app/command/commit.cmake", tmp_path / "no-repository/app/command")
    assert reported_commit(tmp_path / "no-repository") == ("", "")


@pytest.fixture
def user(tmp_path):
    """A user whose own programs come first in PATH, including a python3 without h5py, and who has the scripts in a
    clone."""
    scripts = {"cmake": f'echo "$0 $*" >>{tmp_path}/called', "dpkg-query": 'for name; do echo "$name installed"; done',
               "python3": f'case "$*" in *h5py*) exit 1;; esac; echo "$0" >>{tmp_path}/called; exec /usr/bin/python3 "$@"',
               "mpirun": ":"}
    (tmp_path / "bin").mkdir()
    for name, script in scripts.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    shutil.copytree(ROOT / "jobs", tmp_path / "clone/jobs")
    path = {name: value for name, value in os.environ.items() if name != "LOADEDMODULES"}
    return tmp_path, path | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}


def test_scripts_use_what_is_first_in_the_path_of_the_user(user):
    folder, environ = user
    done(folder / "clone/jobs/setup.sh", env=environ)
    assert (folder / "called").read_text().startswith(f"{folder}/bin/cmake --preset release")
    reported = done("bash", "-c", 'source jobs/paths.sh; python_with json; python_with h5py; python_with no_such_module', env=environ, cwd=ROOT)
    own, other, last = reported.split()
    assert own == f"{folder}/bin/python3" and other != own and last == "/usr/bin/python3"
    done(other, "-c", "import h5py")
    assert "source jobs/paths.sh" in (ROOT / "tests/run_tests.sh").read_text()


def test_programs_that_the_path_lacks_are_found(tmp_path):
    reported = done("/bin/bash", "-c", "source jobs/paths.sh; command -v cat; command -v ldconfig", env={"PATH": str(tmp_path)}, cwd=ROOT)
    assert len(reported.split()) == 2


def test_the_main_job_reads_its_result_where_the_first_python_has_no_h5py(user):
    folder, environ = user
    with h5py.File(folder / "made.h5", "w") as file:
        file["events/time"], file["events/first_hit"], file["hits/time"] = [5], [0, 2], [5, 7]
    (folder / "clone/build").mkdir()
    program = folder / "clone/build/eventloom"
    program.write_text(f'#!/bin/sh\ncp {folder}/made.h5 "$4"\n')
    program.chmod(0o755)
    assert "1 events; hits of the first: [5 7]" in done(folder / "clone/jobs/main_job.sh", env=environ)


@pytest.mark.skipif(not shutil.which("cmake"), reason="needs CMake")
def test_what_is_missing_is_named_in_one_line(tmp_path):
    """Each missing item is named with its package, all in one line; items needed only by tests are not."""
    words = ["cmake", "-S", ROOT, "-G", "Ninja", "-DEVENTLOOM_TESTS=ON"]
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("HDF5", "spdlog", "GTest")]
    ended = subprocess.run([*words, *hidden, "-B", tmp_path / "bare"], capture_output=True, text=True, timeout=120)
    (line,) = [line for line in ended.stderr.splitlines() if "missing" in line]
    assert ended.returncode != 0
    for name in ("libhdf5-dev", "libspdlog-dev", "libgtest-dev", "Spack or module"):
        assert name in line
    words += ["-DEVENTLOOM_TESTS=OFF", "-DEVENTLOOM_ISAL=OFF", "-DEVENTLOOM_HIGHWAY=OFF", hidden[2], "-B", tmp_path / "user"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert "without ISA-L (Debian libisal-dev)" in ended.stdout and "without Highway (Debian libhwy-dev)" in ended.stdout
    rules = (tmp_path / "user/build.ninja").read_text()
    assert "-Werror" not in rules and "gtest" not in rules
