"""tests/benchmarks/all.sh: it reads figures as they are printed, writes them where they belong, and says what has changed.

Nothing is measured here but the printing of made-up figures.
"""

import importlib.util
import json
import re
import statistics
import subprocess
import sys

import pytest

from program import ROOT

BENCHMARKS = ROOT / "tests" / "benchmarks"
PARTS = ("all.sh", "all.py", "lmd_file.py", "measured.py", "measurements.py", "systems.py", "forebears.sh", "forebears.py",
         "forebears_page.py", "forebears_tables.py", "published.py")
sys.path.append(str(BENCHMARKS))  # after support/, which has a module of the same name

from measured import Result, changes, fill, load, shown, table  # noqa: E402
from measurements import MEASUREMENTS, Measurement, Output, Row, cell, google, point, printed  # noqa: E402
from systems import NONE_FOUND, TABLES, UNITS, fill_systems  # noqa: E402

MARKER = re.compile(r"<!-- measured: (begin|end) (\S+) -->")


@pytest.fixture
def program():
    spec = importlib.util.spec_from_file_location("all_benchmarks", BENCHMARKS / "all.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def result(values, **fields):
    return Result(**{"date": "2026-01-02", "commit": "abc", "machine": "here", "repeated": 3, "values": values} | fields)


def made_up(name, command, rows=("speed",), **fields):
    return Measurement(name, f"title of {name}", command,
                       tuple(Row(label, "m/s", printed(rf"^{label} ([\d.,]+)")) for label in rows), 1, **fields)


class TestFigures:
    def test_printed_ones_are_found_by_line(self):
        output = Output("slow 1.5 m/s\nfast 1,234.5 m/s\n")
        assert printed(r"^fast ([\d.,]+)")(output) == 1234.5
        with pytest.raises(ValueError, match="nothing like"):
            printed(r"^none ([\d.]+)")(output)

    def test_cells_are_found_by_the_first_ones_even_where_these_hold_bars(self):
        output = Output("| ranks | events | rate |\n|---|---|---|\n| 1 | a && b || c | 5.5 |\n| 2 | gap | 84 % |\n")
        assert cell(2, "2", "gap")(output) == 84
        assert cell(2, "1", "a && b or c")(output) == 5.5
        with pytest.raises(ValueError, match="no row"):
            cell(2, "3")(output)

    def test_points_are_found_by_all_that_is_said_of_them(self):
        points = [{"idle": "poll", "kind": kind, "one_way": {"p50_ns": time}} for kind, time in (("a", 500), ("b", 700))]
        output = Output("", {"points": points})
        assert point("one_way.p50_ns", kind="b", scale=1e-3)(output) == pytest.approx(0.7)
        with pytest.raises(ValueError, match="2 points"):
            point("one_way.p50_ns", idle="poll")(output)

    def test_of_google_benchmark_by_name(self):
        output = Output("", {"benchmarks": [{"name": "a", "hits/s": 2e6}, {"name": "b", "hits/s": 3e6}]})
        assert google("b", "hits/s", 1e-6)(output) == pytest.approx(3)

    @pytest.mark.parametrize("value, text", [(0, "0"), (0.02371, "0.0237"), (5.0, "5"), (41.26, "41.3"), (412.6, "413"),
                                             (15_678, "15,700"), (250_000, "250,000")])
    def test_are_shown_with_three_digits(self, value, text):
        assert shown(value) == text


class TestPage:
    def test_a_table_has_median_spread_and_what_others_published(self):
        rows = (Row("speed", "m/s", None, "7, others"), Row("new", "m/s", None))
        text = table(Measurement("m", "title", "do it", rows, 1), result({"speed": [5, 1, 3]}), "here")
        assert "`do it`\n\n2026-01-02, commit abc, 3 times:" in text
        assert text.splitlines()[-1] == "| speed | 3 m/s | 1 to 5 | 7, others |"

    def test_where_it_was_is_said_when_it_was_elsewhere(self):
        assert "3 times, on there:" in table(made_up("m", "x"), result({"speed": [1]}, machine="there"), "here")

    def test_only_the_block_of_a_measurement_changes(self):
        page = "a <!-- measured: begin m -->\nold\n<!-- measured: end m --> b <!-- measured: begin n -->\n<!-- measured: end n -->"
        assert fill(page, "m", r"new \1") == page.replace("old", r"new \1")
        with pytest.raises(SystemExit, match="must each be there once"):
            fill(page, "other", "new")

    def test_it_holds_a_place_for_each_measurement_and_the_figures_that_are_kept(self, program):
        page = (BENCHMARKS / "README.md").read_text()
        names = ["machine", *(measurement.name for measurement in MEASUREMENTS)]
        for word in ("begin", "end"):
            assert sorted(name for found, name in MARKER.findall(page) if found == word) == sorted(names)
        assert program.fill_all(page, MEASUREMENTS, load(BENCHMARKS / "measured.json")) == page


class TestOtherPages:
    """The figures that other pages take from this one."""

    KEPT = load(BENCHMARKS / "measured.json")

    def median(self, name, label):
        return statistics.median(self.KEPT[name].values[label])

    def test_the_figures_of_the_readme_are_those_that_were_measured(self):
        rows = dict(re.findall(r"^\| (.*?) \| (.*?) \|", (ROOT / "README.md").read_text(), re.MULTILINE))
        disk, memory = self.median("whole-run", "`10s --define gap:25ns,4`"), self.median("events", "2 ranks, `gap:25ns,4`")
        assert rows["replay to HDF5, 2 ranks"] == f"{disk:.0f} million hits/s to disk, {memory:.0f} in memory"
        share = self.median("exchange", "all-to-all, round-robin, 64 KiB: of bare put")
        assert rows["all to all, 64 KiB, share of the ceiling"] == f"{share:.0f} %"
        built = self.median("latency", "source to built event, 8 hits")
        assert rows["small buffer from source to built event"] == f"{built:.2f} us"

    def test_the_page_of_simulated_networks_shows_what_was_measured_beside_it(self):
        page = (ROOT / "app/tools/simulate/README.md").read_text()
        shown_there = {}
        for schedule, *cells in re.findall(r"^\| `([a-z-]+(?: --slot \w+)?)` \|" + 6 * r" ([\d.]*) ?\|" + "$", page, re.MULTILINE):
            for size, measured, simulated in zip((64, 256, 1024), cells[::2], cells[1::2]):
                name = schedule.replace(" --slot", ", slots of")
                shown_there |= {f"{name}, {size} KiB": (float(measured), float(simulated))} if measured else {}
        points = {label.partition(":")[0] for label in self.KEPT["prediction"].values}
        assert shown_there == {name: tuple(self.median("prediction", f"{name}: {what}") for what in ("measured", "simulated"))
                               for name in points}
        near = [name for name, (measured, simulated) in shown_there.items() if abs(simulated / measured - 1) <= 0.2]
        assert f"{len(near)} of {len(shown_there)} agree within 20 %" in page
        assert all(f"`{name.split(',')[0]}` with {size}" in page for name in points - set(near)
                   for size in ["1 MiB" if "1024" in name else name.split(", ")[-1]])


class TestHowFast:
    """how_fast.md: others' figures are cited, and ours are those of all.sh."""

    PAGE = (BENCHMARKS / "how_fast.md").read_text()
    KEPT = load(BENCHMARKS / "measured.json")
    SYSTEMS = [system for systems in TABLES.values() for system in systems]

    def test_holds_the_figures_that_are_kept(self):
        assert fill_systems(self.PAGE, self.KEPT) == self.PAGE
        share = statistics.median(self.KEPT["exchange"].values["all-to-all, round-robin, 64 KiB: of bare put"])
        assert f"all to all, 64 KiB, of bare put: {shown(share)} %" in self.PAGE

    def test_no_figure_of_ours_is_written_by_hand(self):
        emptied = fill_systems(self.PAGE, {})
        for system in self.SYSTEMS:
            for figure in (*system.ours, *system.beside):
                assert (figure.measurement, figure.row) in UNITS, figure
                assert f"{figure.what}: not measured yet" in emptied
                assert not any(word in figure.what for word in ("GB/s", "hits/s", "%"))

    def test_every_published_figure_has_a_source(self):
        for system in self.SYSTEMS:
            assert system.published.startswith(NONE_FOUND) or re.search(r"\]\(http|quotation", system.source), system.name
            assert f"| {system.name} | {system.published}" in self.PAGE

    def test_names_the_systems_of_today_and_is_linked(self):
        for name in ("flesnet", "ALICE", "LHCb", "CMS", "DUNE", "EJFAT", "strax", "straxen", "rustpix"):
            assert any(system.name.startswith(name) for system in self.SYSTEMS), name
        assert self.PAGE.startswith("# How fast, and beside whom\n")
        assert "(tests/benchmarks/how_fast.md)" in (ROOT / "README.md").read_text()
        assert "(how_fast.md)" in (BENCHMARKS / "README.md").read_text()

    def test_is_renewed_by_a_measurement(self, program, tmp_path):
        for name in ("README.md", "how_fast.md"):
            (tmp_path / name).write_text((BENCHMARKS / name).read_text())
        results = load(BENCHMARKS / "measured.json")
        results["whole-run"].values["`10s --define gap:25ns,4`"] = [123.4]
        program.update(tmp_path, results)
        assert "replay to HDF5 on disk, 2 ranks: 123 million hits/s" in (tmp_path / "how_fast.md").read_text()


class TestChanges:
    @pytest.mark.parametrize("old, new, changed", [
        ([10, 11, 12], [10, 11.5, 12], False),  # within both
        ([10, 11, 12], [13.5, 14, 14.5], True),
        ([10, 11, 19], [13, 14, 15], False),    # within the first one's
        ([13, 14, 15], [10, 11, 19], False),    # within the second one's
        ([11], [13.5, 14, 14.5], True),         # the first has no spread
        ([11], [14], False),                    # no spread is known
    ])
    def test_are_more_than_the_spread_of_both(self, old, new, changed):
        lines = changes(made_up("m", "x"), result({"speed": old}), result({"speed": new}))
        assert len(lines) == changed
        if changed:
            assert lines == ["m: speed: 11 -> 14 m/s, +27.3 %"]

    def test_rows_that_are_new_or_gone_are_none(self):
        assert changes(made_up("m", "x"), result({"gone": [1, 1]}), result({"speed": [2, 2]})) == []


class TestList:
    def test_is_well_formed(self):
        names = [measurement.name for measurement in MEASUREMENTS]
        assert len(set(names)) == len(names)
        for measurement in MEASUREMENTS:
            labels = [row.label for row in measurement.rows]
            assert labels and len(set(labels)) == len(labels), measurement.name
            assert measurement.seconds > 0 and measurement.title, measurement.name
            assert not any("|" in text or "\n" in text for row in measurement.rows
                           for text in (row.label.replace("||", ""), row.unit, row.published)), measurement.name
            assert measurement.report or "--report-json" not in measurement.command, measurement.name

    @pytest.mark.parametrize("measurement", MEASUREMENTS, ids=lambda measurement: measurement.name)
    def test_no_figure_is_read_from_nothing(self, measurement):
        for row in measurement.rows:
            with pytest.raises((ValueError, KeyError)):
                row.read(Output("", {"points": [], "benchmarks": []}))

    def test_reaches_every_script(self):
        scripts = {path.name for path in BENCHMARKS.iterdir() if path.suffix in (".sh", ".py")} - set(PARTS)
        run = {name for measurement in MEASUREMENTS for name in re.findall(r"tests/benchmarks/(\S+)", measurement.command)
               if "build/" + "tests/benchmarks/" + name not in measurement.command}
        assert run == scripts

    def test_is_shown_with_times_and_commands_without_a_build(self):
        shown_list = subprocess.run([BENCHMARKS / "all.sh", "--list"], text=True, capture_output=True, check=True).stdout
        assert [line.split()[0] for line in shown_list.splitlines()] == [*(m.name for m in MEASUREMENTS), "together"]
        commands = subprocess.run([BENCHMARKS / "all.sh", "--dry-run", "latency"], text=True, capture_output=True, check=True)
        assert commands.stdout.startswith("latency: mpirun -np 2 build/eventloom bench latency")
        assert len(commands.stdout.splitlines()) == 1


class TestRun:
    """Made-up measurements and a separate page."""

    @pytest.fixture
    def measure(self, program, monkeypatch, tmp_path):
        def call(measurements, *words):
            page = tmp_path / "README.md"
            if not page.exists():
                page.write_text("".join(f"<!-- measured: begin {name} -->\n<!-- measured: end {name} -->\n"
                                        for name in ("machine", *(m.name for m in measurements))))
            monkeypatch.setattr(program, "MEASUREMENTS", measurements)
            code = program.main([*words, "--folder", str(tmp_path)])
            return code, page.read_text(), json.loads((tmp_path / "measured.json").read_text())
        return call

    def test_a_second_one_of_some_leaves_the_others_and_says_what_changed(self, measure, tmp_path, capsys):
        count = tmp_path / "count"
        counting = made_up("counting", f"echo x >>{count}; echo speed $(wc -l <{count})0")
        first = measure((counting, made_up("other", "echo speed 7")), "--repeat", "3")
        assert first[0] == 0 and "| speed | 20 m/s | 10 to 30 |" in first[1] and "| speed | 7 m/s |" in first[1]
        assert first[2]["counting"]["values"] == {"speed": [10, 20, 30]}
        capsys.readouterr()
        changed = made_up("counting", f"echo x >>{count}; echo speed $(wc -l <{count})000")
        second = measure((changed, made_up("other", "echo speed 8")), "--repeat", "3", "counting")
        assert "changed by more than the spread:\ncounting: speed: 20 -> 5,000 m/s" in capsys.readouterr().out
        assert second[2]["other"] == first[2]["other"] and "| speed | 5,000 m/s | 4,000 to 6,000 |" in second[1]

    def test_what_fails_keeps_its_figures_and_the_others_go_on(self, measure, capsys):
        assert measure((made_up("bad", "echo speed 5"), made_up("good", "echo speed 1")), "--repeat", "1")[0] == 0
        code, page, kept = measure((made_up("bad", "echo no disk; exit 4"), made_up("good", "echo speed 2")), "--repeat", "1")
        assert code == 1 and "bad: failed: exit code 4: no disk" in capsys.readouterr().out
        assert kept["bad"]["values"] == {"speed": [5]} and kept["good"]["values"] == {"speed": [2]}
        code, page, kept = measure((made_up("bad", "echo nothing"), made_up("good", "echo speed 3")), "--repeat", "1")
        assert code == 1 and "bad: failed: its output is not as expected" in capsys.readouterr().out
        assert "| speed | 5 m/s |" in page and "| speed | 3 m/s |" in page

    def test_what_needs_a_missing_tool_is_left_out(self, measure, capsys):
        lacking = made_up("lacking", "echo speed 5", needs=("no-such-tool",))
        code, page, kept = measure((lacking, made_up("good", "echo speed 1")), "--repeat", "1")
        assert code == 0 and list(kept) == ["good"]
        assert "lacking: left out: no-such-tool is not installed" in capsys.readouterr().out

    def test_what_it_makes_is_removed_even_when_it_fails(self, measure, tmp_path):
        made = tmp_path / "made"
        failing = made_up("failing", f"test -e {made} && exit 4", prepare=f"touch {made}", after=f"rm {made}")
        assert measure((made_up("good", "echo speed 1"), failing), "--repeat", "1")[0] == 1
        assert not made.exists()

    def test_unknown_names_are_refused(self, program, capsys):
        with pytest.raises(SystemExit):
            program.main(["no-such-measurement"])
        assert "unknown: no-such-measurement; --list shows the names" in capsys.readouterr().err
