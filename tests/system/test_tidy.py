"""Which sources clang-tidy looks at: those that differ from a base commit, bounded, and the same in each run."""

import os
import shutil
import subprocess
import sys

import pytest

from program import ROOT

pytestmark = [pytest.mark.every_case, pytest.mark.skipif(not shutil.which("clang-tidy"), reason="no clang-tidy")]

SKIPPED = 77


def git(folder, *words):
    identity = ["-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", folder, *identity, *words], capture_output=True, text=True, check=True).stdout


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def commit(folder, files):
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "A change")


@pytest.fixture
def project(tmp_path):
    """A project of three sources, two of which include a header through another one; its commits but the first are empty."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    copied = {name: (ROOT / name).read_text() for name in ("tests/style/tidy.py", ".clang-tidy")}
    commit(folder, copied | {
        "core/a.hpp": "#pragma once\nint a();\n",
        "core/b.hpp": '#pragma once\n#include "core/a.hpp"\nint b();\n',
        "core/a.cpp": '#include "core/a.hpp"\nint a() { return 1; }  // one\n',
        "core/b.cpp": '#include "core/b.hpp"\nint b() { return 2; }\n',
        "core/c.cpp": "int c() { return 3; }\n",
    })
    for _ in range(25):
        commit(folder, {})
    return folder


def looked_at(folder, *options, code=0, base=None):
    """(names of the sources, the line before them)."""
    environ = {name: value for name, value in os.environ.items() if name != "EVENTLOOM_TIDY_BASE"}
    environ |= {"EVENTLOOM_TIDY_BASE": base} if base else {}
    build = folder / "build"
    build.mkdir(exist_ok=True)
    done = subprocess.run([sys.executable, "-B", folder / "tests/style/tidy.py", build, "--list", *options],
                          capture_output=True, text=True, env=environ)
    if done.returncode == SKIPPED and "clang-tidy 14" in done.stdout:
        pytest.skip(done.stdout)
    assert done.returncode == code, done.stdout + done.stderr
    if code != 0:
        return [], done.stdout + done.stderr
    first, *names = done.stdout.splitlines()
    return names, first


def test_nothing_has_changed(project):
    names, said = looked_at(project)
    assert names == [] and said == "3 sources, 0 of them to be looked at (base: 20 commits ago)"


def test_comments_do_not_count(project):
    write(project, {"core/a.cpp": '#include "core/a.hpp"\n\nint a() { return 1; }  // another\n'})
    assert looked_at(project)[0] == []


def test_a_header_counts_for_all_who_include_it(project):
    write(project, {"core/a.hpp": "#pragma once\nlong a();\n"})
    assert looked_at(project)[0] == ["core/a.cpp", "core/b.cpp"]
    commit(project, {})
    assert looked_at(project)[0] == ["core/a.cpp", "core/b.cpp"]


def test_main_looks_back_a_number_of_commits(project):
    commit(project, {"core/c.cpp": "int c() { return 4; }\n"})
    assert looked_at(project)[0] == ["core/c.cpp"]
    for _ in range(19):
        commit(project, {})
    assert looked_at(project)[0] == ["core/c.cpp"]
    commit(project, {})
    assert looked_at(project)[0] == []


def test_a_branch_is_compared_with_where_it_began(project, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", project, clone)
    git(clone, "checkout", "-q", "-b", "topic")
    for n in range(30):
        commit(clone, {"core/c.cpp": f"int c() {{ return {n + 5}; }}\n"})
    commit(project, {"core/a.cpp": "int a() { return 6; }\n"})
    git(clone, "fetch", "-q")
    names, said = looked_at(clone)
    assert names == ["core/c.cpp"] and "origin/main" in said
    assert looked_at(clone, base="origin/main")[0] == ["core/a.cpp", "core/c.cpp"]
    assert "no commit nonsense" in looked_at(clone, base="nonsense", code=1)[1]


def test_settings_count_for_all(project):
    write(project, {".clang-tidy": "Checks: 'bugprone-*'\n"})
    assert looked_at(project)[0] == ["core/a.cpp", "core/b.cpp", "core/c.cpp"]


def test_a_clone_of_one_commit(project, tmp_path):
    """The sources are as many as fit, the same in each run, others after the next commit; --all looks at all."""
    commit(project, {f"core/many_{n}.cpp": f"int many_{n}() {{ return 1; }}\n" for n in range(300)})
    drawn = []
    for name in ("one", "two"):
        clone = tmp_path / name
        git(tmp_path, "clone", "-q", "--depth", "1", project.as_uri(), clone)
        names, said = looked_at(clone)
        assert "this clone has a single commit" in said and "303 sources, 20 of them" in said
        assert looked_at(clone)[0] == names
        assert names.pop(0).startswith("left out: 283 others")
        drawn.append(names)
        assert len(looked_at(clone, "--all")[0]) == 303
        commit(project, {})
    assert len(drawn[0]) == len(drawn[1]) == 20 and drawn[0] != drawn[1]


def test_what_has_changed_itself_comes_first(project):
    """A change of what all include, and one of two sources: these are among the bounded number."""
    commit(project, {"core/all.hpp": "#pragma once\n", "core/between.hpp": '#pragma once\n#include "core/all.hpp"\n'} | {
        f"core/many_{n}.cpp": f'#include "core/between.hpp"\nint many_{n}() {{ return 1; }}\n' for n in range(300)})
    base = git(project, "rev-parse", "HEAD").strip()
    changed = ["core/many_17.cpp", "core/many_4.cpp"]
    commit(project, {"core/all.hpp": "#pragma once\nint all();\n"} | {name: "int changed();\n" for name in changed})
    left_out, *names = looked_at(project, base=base)[0]
    assert left_out.startswith("left out: 280 others") and len(names) == 20 and set(changed) < set(names)


def test_without_git(project):
    shutil.rmtree(project / ".git")
    assert "this is no checkout by git" in looked_at(project, code=SKIPPED)[1]
    assert looked_at(project, "--all")[0] == ["core/a.cpp", "core/b.cpp", "core/c.cpp"]


def test_findings_are_reported_and_clean_sources_remembered(project):
    """Runs clang-tidy itself."""
    write(project, {"core/c.cpp": "int c(int n) {\n  if (n == 1)\n    return 3;\n  else\n    return 4;\n}\n",
                    "core/a.cpp": '#include "core/a.hpp"\nint a() { return 7; }\n'})
    looked_at(project)
    entries = [f'{{"directory": "{project}", "file": "{project}/core/{name}.cpp", '
               f'"command": "c++ -I{project} -std=c++20 -o {name}.o -c {project}/core/{name}.cpp"}}' for name in "abc"]
    (project / "build/compile_commands.json").write_text(f"[{', '.join(entries)}]")
    run = [sys.executable, "-B", project / "tests/style/tidy.py", project / "build"]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 1 and "core/c.cpp:4:" in done.stdout and "readability-else-after-return" in done.stdout
    assert looked_at(project)[0] == ["core/c.cpp"]
    write(project, {"core/c.cpp": "int c() { return 4; }\n"})
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert looked_at(project)[0] == []
