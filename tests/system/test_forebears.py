"""tests/benchmarks/forebears.sh: its page holds each published figure, our stored ones, and those that cannot be
trusted."""

import copy
import json
import re
import subprocess
import sys

import pytest

from program import BINARY, ROOT, environment

BENCHMARKS = ROOT / "tests" / "benchmarks"
sys.path.append(str(BENCHMARKS))  # after support/, which has a module of the same name

import published as others  # noqa: E402
from forebears import PLOTS as FOLDER, load_between, measure_run  # noqa: E402
from forebears_page import PLOTS, as_published, ours, render, runs_of, tail  # noqa: E402
from forebears_tables import SECTIONS, Cell, runs  # noqa: E402
from measured import shown  # noqa: E402
from measurements import Measurement  # noqa: E402

TABLES = [table for tables in SECTIONS.values() for table in tables]
KEPT = json.loads((BENCHMARKS / "forebears.json").read_text())
PAGE = (BENCHMARKS / "forebears.md").read_text()
DRAWN = {name: plot.title for name, plot in PLOTS.items()}


def text_of(page, title):
    (text,) = re.findall(rf"^### {re.escape(title)}(?: \[[^\n]*\])?\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
    return text


def section(page, title):
    """The lines of a table of the page, each a list of cells."""
    return [line[2:-2].split(" | ") for line in text_of(page, title).splitlines() if line.startswith("|")]


def figures(value):
    """All numbers in a constant of published.py; for a table, those beside its keys."""
    if isinstance(value, dict):
        return [figure for inner in value.values() for figure in figures(inner)]
    return [value] if isinstance(value, (int, float)) else []


class TestPage:
    def test_is_what_the_kept_figures_give(self):
        assert render(KEPT, FOLDER, DRAWN) == PAGE

    def test_lists_every_published_table_and_figure(self):
        assert [title for title in re.findall(r"^### (.*?)(?: \[.*\])?$", PAGE, re.MULTILINE)] == [table.title for table in TABLES]
        for table in TABLES:
            cells = {cell for line in section(PAGE, table.title) for cell in line}
            for row in table.rows.values():
                assert all(as_published(cell.published) in cells for cell in row.values() if cell.published is not None), table.title

    def test_leaves_out_no_figure_of_the_source(self):
        in_tables = {cell.published for table in TABLES for row in table.rows.values() for cell in row.values()}
        constants = {name: value for name, value in vars(others).items() if name.isupper() and name != "KIB"}
        for name, value in constants.items():
            assert all(figure in in_tables for figure in figures(value)), name
        for text in (others.VILLAS, others.RAPIDIO_BEST, *(cell for row in others.NOT_COMPARED for cell in row)):
            assert text in PAGE

    def test_says_where_each_published_figure_stands_and_on_which_hardware(self):
        for table in TABLES:
            source = table.source
            assert f"Published: {source.name}. {source.hardware}." in text_of(PAGE, table.title)
            assert f"Published: {source.name}. {source.hardware}. Source: {source.reference}." in PAGE
        assert PAGE.count("the original was not at hand") == len({table.source for table in TABLES if not table.source.read})

    def test_has_a_figure_of_ours_in_every_cell(self):
        for table in TABLES:
            for label, row in table.rows.items():
                for head, cell in row.items():
                    measured = KEPT["runs"][cell.run]
                    assert measured["without"] or ours(KEPT, cell) is not None, f"{table.title}: {label}: {head}"

    def test_shows_figures_of_the_report_beside_the_published_ones(self):
        points = {p["message_bytes"]: p for p in KEPT["runs"]["all-to-all"]["report"]["points"] if p["schedule"] == "chaotic"}
        lines = {line[0]: line for line in section(PAGE, "Table 9.1: all to all, IBGold")}
        for size, published in others.IBGOLD_CHAOTIC.items():
            assert lines[f"{size // 1024} KiB"][3:5] == [f"{published:g}", shown(points[size]["rate_bytes_per_us"])]

    def test_shows_the_commands_that_were_run(self):
        assert all(f"`{run['command']}`" in PAGE for run in KEPT["runs"].values())
        assert {name for table in TABLES for name in runs_of(table)} == set(KEPT["runs"])
        assert not KEPT["quick"] and KEPT["seconds"] < 20 * 60
        assert f"in {KEPT['seconds'] / 60:.1f} minutes, on {KEPT['date']} at commit {KEPT['commit']}" in PAGE

    def test_its_plots_are_there(self):
        for name, title in DRAWN.items():
            assert f"![{title}]({FOLDER}/{name}.svg)" in PAGE
            assert title in (BENCHMARKS / FOLDER / f"{name}.svg").read_text()

    def test_bins_of_the_plotted_times_sum_to_their_count(self):
        points = KEPT["runs"]["waiting"]["report"]["points"]
        assert points
        for p in points:
            bins, count = p["one_way"]["bins"], p["one_way"]["count"]
            assert sum(number for _, _, number in bins) == count > 0
            shares = [share for _, share in tail(bins, count)]
            assert shares == sorted(shares, reverse=True) and all(0 < share < 100 for share in shares)


class TestWarning:
    """A warning of load, printed by the page itself."""

    @pytest.fixture
    def idle(self):
        kept = copy.deepcopy(KEPT)
        for run in kept["runs"].values():
            run.get("report", {})["load"] = {"loaded": False, "hosts": [{"others_cores": 0.1, "stolen_cores": 0}]}
        return kept

    def test_stands_where_a_report_warns(self, idle):
        idle["runs"]["link"]["report"]["load"] = {"loaded": True, "hosts": [
            {"others_cores": 0.5, "stolen_cores": 0.03}, {"others_cores": 1.25, "stolen_cores": 0.1}]}
        page = render(idle, FOLDER, {})
        assert f"**The machine was loaded during 1 of {len(idle['runs'])} commands (link): their figures cannot be trusted." in page
        assert page.count("not to be trusted: other processes used 1.25 cores and the hypervisor 0.10") == sum(
            "link" in runs_of(table) for table in TABLES)

    @pytest.mark.parametrize("everything, stolen, ours, loaded", [(20, 0, 19.5, False), (20, 0, 18, True), (19, 1, 19, True)])
    def test_load_of_a_command_without_a_report_is_what_others_used(self, everything, stolen, ours, loaded):
        load = load_between((100, 5, 7), (100 + everything, 5 + stolen, 7 + ours), 10)
        (host,) = load["hosts"]
        assert load["loaded"] == loaded
        assert host == pytest.approx({"others_cores": (everything - ours) / 10, "stolen_cores": stolen / 10})

    def test_stands_nowhere_else(self, idle):
        page = render(idle, FOLDER, {})
        assert "loaded" not in page and "trusted" not in page

    def test_a_command_without_figures_says_why(self, idle):
        idle["runs"]["zeromq"] |= {"without": "this build has no ZeroMQ"}
        page = render(idle, FOLDER, {})
        assert "**no figures: this build has no ZeroMQ**" in page
        assert section(page, "ZeroMQ, and the best ring")[2] == ["ZeroMQ [Gbit/s]", as_published(others.RAPIDIO_RATE), ""]


class TestMeasured:
    def test_what_a_command_prints_is_kept_where_it_writes_no_report(self):
        kept = measure_run(Measurement("m", "title", "echo figure 7", (), 1))
        assert kept["text"] == "figure 7\n" and not kept["failed"] and kept["report"]["load"]["hosts"]

    def test_a_failure_is_kept_with_its_reason_and_a_missing_tool_is_none(self):
        failed = measure_run(Measurement("m", "title", "echo no disk; exit 4", (), 1))
        assert failed["failed"] and failed["without"] == "exit code 4: no disk"
        missing = measure_run(Measurement("m", "title", "echo figure 7", (), 1, needs=("no-such-tool",)))
        assert not missing["failed"] and missing["without"] == "no-such-tool is not installed"


class TestCommands:
    def test_each_is_used_by_a_table_and_each_table_has_one(self):
        names = [run.name for run in runs(False, 2)]
        assert len(set(names)) == len(names)
        assert {name for table in TABLES for name in runs_of(table)} == set(names)
        assert {run.name for run in runs(True, 2)} == set(names) - {"whole"}

    def test_use_as_many_ranks_as_there_are_cores_up_to_the_four_of_the_report(self):
        for cores, ranks in ((1, 2), (2, 2), (3, 3), (4, 4), (64, 4)):
            (scheduled,) = [run for run in runs(False, cores) if run.name == "scheduled"]
            assert f" -np {ranks} " in scheduled.command

    def test_no_figure_is_read_from_nothing(self):
        nothing = {"runs": {"link": {"without": "", "failed": False, "report": {"points": []}}}}
        assert all(ours(nothing, Cell("link", cell.read)) is None for table in TABLES for row in table.rows.values()
                   for cell in row.values())


def forebears(*words, code=0):
    done = subprocess.run([sys.executable, "-B", BENCHMARKS / "forebears.py", *map(str, words)], text=True, capture_output=True,
                          env=environment() | {"EVENTLOOM": BINARY}, timeout=250)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


class TestRun:
    def test_a_quick_one_writes_a_whole_page(self, tmp_path):
        forebears("--quick", "--folder", tmp_path)
        page, kept = (tmp_path / "forebears.md").read_text(), json.loads((tmp_path / "forebears.json").read_text())
        assert kept["quick"] and "`tests/benchmarks/forebears.sh` with `--quick` in " in page
        for table in TABLES:
            lines = section(page, table.title)
            assert len(lines) == 2 + len(table.rows)
            measured = [name for name in runs_of(table) if not kept["runs"].get(name, {"without": "quick"})["without"]]
            assert not measured or any(ours(kept, cell) is not None for row in table.rows.values() for cell in row.values()), table.title
        assert render(kept, FOLDER, {name: DRAWN[name] for name in DRAWN if (tmp_path / FOLDER / f"{name}.svg").exists()}) == page
        page_before = page
        (tmp_path / "forebears.md").unlink()
        forebears("--render", "--folder", tmp_path)
        assert (tmp_path / "forebears.md").read_text() == page_before

    def test_the_list_needs_no_build(self):
        done = subprocess.run([BENCHMARKS / "forebears.sh", "--list"], text=True, capture_output=True, check=True)
        assert [line.split(": ")[0] for line in done.stdout.splitlines()] == [run.name for run in runs(False, 2)]
