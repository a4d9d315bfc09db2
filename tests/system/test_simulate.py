"""`eventloom simulate`: its figures compared with arithmetic, equal output for equal seeds, refusals in one line."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from program import BINARY, environment, eventloom, only_line

STAR = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="lab" prefix="pc" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="5us"/>
</platform>
"""

TREE = "fat-tree:2;4,4;1,4;1,1"

needs_simgrid = pytest.mark.skipif(not os.path.exists(os.path.join(os.path.dirname(BINARY), "eventloom-simulator")),
                                   reason="built without SimGrid")


def simulate(folder, *words):
    """The points, and the table."""
    file = folder / "simulation.json"
    done = eventloom("simulate", *words, "--report-json", file)
    return json.loads(file.read_text())["points"], done.stdout


@needs_simgrid
@pytest.mark.parametrize("size", [4096, 65536, 1 << 20, 1 << 22])
@pytest.mark.parametrize("link, rate, latency", [("10Gbit,1us", 1250, 1), ("100Gbit,2us", 12500, 2), ("940Mbit,50us", 117.5, 50)])
def test_a_transfer_takes_bytes_over_rate_and_latency(tmp_path, link, rate, latency, size):
    (point,), _ = simulate(tmp_path, "--nodes", 2, "--link", link, "--sizes", size, "--slices", 1)
    assert point["transfers"]["mean_us"] == pytest.approx(size / rate + latency, rel=0.02)
    assert point["ideal_bytes_per_us"] == pytest.approx(rate)


@needs_simgrid
def test_streams_delay_a_disturbed_shift(tmp_path):
    """Over TCP, the end of a transfer is reported after data of the other direction; alone, in step, or with many
    transfers in flight, that costs nothing."""
    def share(*words):
        (point,), _ = simulate(tmp_path, "--link", "100Mbit,60us", "--sizes", "1MiB", "--slices", 4, *words)
        assert point["bytes_sent"] == point["bytes_delivered"]
        return point["share"]

    assert share("--nodes", 3, "--tcp") == share("--nodes", 3) > 0.99
    noisy, one = ["--nodes", 3, "--noise", "1ms"], ["--transfers-in-flight", 1]
    assert share(*noisy, *one) > 0.9 and share(*noisy, *one, "--tcp") < 0.6 and share(*noisy, "--tcp") > 0.95
    late = ["--nodes", 8, "--noise", "5ms", "--tcp"]
    assert share(*late, *one) < 0.55 and share(*late) > 0.9
    assert share(*late, "--slot", "105ms") == pytest.approx(7 / 8 * 84 / 105, abs=0.02)


@needs_simgrid
def test_points_hold_what_the_contract_names(tmp_path):
    points, table = simulate(tmp_path, "--nodes", "4,8", "--schedule", "round-robin", "--schedule", "chaotic", "--sizes",
                             "64KiB,256KiB", "--slot", "0,auto", "--spread", 20)
    assert [(p["nodes"], p["schedule"], "slot_us" in p, p["message_bytes"]) for p in points] == [
        (nodes, schedule, slots, size) for nodes in (4, 8)
        for schedule, slots in (("round-robin", False), ("round-robin", True), ("chaotic", False))
        for size in (65536, 262144)]
    for point in points:
        assert 0 < point["rate_bytes_per_us"] <= point["ideal_bytes_per_us"] == pytest.approx(12500)
        assert point["share"] == pytest.approx(point["rate_bytes_per_us"] / point["ideal_bytes_per_us"])
        assert point["bytes_sent"] == point["bytes_delivered"]
        nodes, network = point["nodes"], point["bytes_over_network"]
        assert network == pytest.approx(point["bytes_sent"] * (nodes - 1) / nodes, rel=0.1)
        assert point["rate_bytes_per_us"] == pytest.approx(network / nodes / point["seconds"] / 1e6)
        assert sum(point["spent"].values()) == pytest.approx(1)
        assert point["links"][0]["name"] in table
    assert len(table.splitlines()) >= 2 + len(points)


@needs_simgrid
def test_schedules_with_commas_between_and_repeated(tmp_path):
    points, _ = simulate(tmp_path, "--nodes", 4, "--schedule", "round-robin,chaotic", "--schedule", "balanced", "--slices", 2)
    assert [p["schedule"] for p in points] == ["round-robin", "chaotic", "balanced"]


@needs_simgrid
def test_rings_hold_more_than_a_message(tmp_path):
    """Each message is one transfer. A source whose message exceeds the ring waits to learn of room, and long links make
    that slow."""
    words = ["--nodes", 16, "--topology", "leaf-spine:4,4,4", "--link", "100Gbit,20us", "--sizes", 528000, "--slices", 1]
    (by_rule,), _ = simulate(tmp_path, *words)
    assert by_rule["transfers"]["n"] == 16 * 15
    (small,), _ = simulate(tmp_path, *words, "--ring-depth", 4, "--cell-size", "64KiB")
    assert small["share"] < 0.85 * by_rule["share"]


@needs_simgrid
def test_spines_that_oversubscribe(tmp_path):
    """8 nodes per leaf, 2 uplinks: 4 : 1. A leaf's links carry what its nodes receive from 8 of the 15 others."""
    file = tmp_path / "x.json"
    done = eventloom("simulate", "--topology", "leaf-spine:2,8,2", "--nodes", 16, "--report-json", file)
    assert "oversubscribed 4 : 1" in done.stderr
    (point,) = json.loads(file.read_text())["points"]
    assert point["ideal_bytes_per_us"] == pytest.approx(12500 * 2 / 8 * 15 / 8)


@needs_simgrid
def test_the_seed_determines_the_output(tmp_path):
    def outputs(name, seed):
        words = ["simulate", "--nodes", 6, "--jitter", 20, "--spread", 30, "--slot", "auto", "--clock-drift", 20,
                 "--clock-noise", "1us", "--seed", seed, "--report-json", tmp_path / name]
        return eventloom(*words).stdout, (tmp_path / name).read_bytes()

    first = outputs("a", 7)
    assert outputs("b", 7) == first
    assert outputs("c", 8) != first


@needs_simgrid
def test_a_platform_file(tmp_path):
    (tmp_path / "lab.xml").write_text(STAR)
    (point,), _ = simulate(tmp_path, "--topology", tmp_path / "lab.xml", "--nodes", 4, "--slices", 2)
    assert point["ideal_bytes_per_us"] == pytest.approx(125)


@needs_simgrid
def test_links_are_named_as_the_report_names_them(tmp_path):
    """Half of an uplink's rate, then none of it: equal as up:LEAF:SPINE and by its name."""
    def ideal(*words):
        (point,), _ = simulate(tmp_path, "--topology", TREE, "--nodes", 16, "--slices", 2, *words)
        return point["ideal_bytes_per_us"], point["links"][0]["name"]

    _, link = ideal("--slow-link", "up:2:1:0.25")
    for word, rest, expected in (("--slow-link", ":0.25", 12500 * 15 / 48), ("--dead-link", "", 12500 * 15 / 16)):
        by_place, by_name = ideal(word, "up:2:1" + rest), ideal(word, link + rest)
        assert by_place == by_name and by_place[0] == pytest.approx(expected)
    assert ideal("--slow-link", "3:0.5")[0] == pytest.approx(6250)


@needs_simgrid
def test_reports_how_times_differ(tmp_path):
    """A shift in step has no late transfers, and delivers the pieces of a slice one per slot; without slots it
    drifts."""
    (alone, slots), shown = simulate(tmp_path, "--topology", TREE, "--nodes", 16, "--sizes", "1MiB", "--slot", "0,100us")
    for point in (alone, slots):
        times, arrivals, pairs = point["transfers"], point["arrivals"], point["random_pairs"]
        assert times["min_us"] <= times["mean_us"] <= times["p99_us"] <= times["max_us"] and 16 * 15 < times["n"] <= 16 * 15 * 8
        assert arrivals["span"]["n"] == 16 * 8
        assert 0.4 < pairs["slowest_share"] < pairs["share"] < 1
        assert pairs["rate_bytes_per_us"] == pytest.approx(12500 * pairs["share"])
    assert slots["transfers"]["n"] == 16 * 15 * 8
    assert slots["transfers"]["sd_us"] < alone["transfers"]["sd_us"] / 5
    # 15 pieces in the slots of a cycle of 16.
    assert slots["arrivals"]["sd_us"] == pytest.approx(100 * ((15**2 - 1) / 12) ** 0.5, rel=0.1)
    assert slots["arrivals"]["span"]["mean_us"] == pytest.approx(100 * 14, rel=0.1)
    share = slots["random_pairs"]["share"]
    assert f"random pairs of 16 nodes: {100 * share:.0f} % of what one alone gets" in shown.splitlines()[-1]


@needs_simgrid
@pytest.mark.parametrize("link", [["--slow-link", "up:0:3"], ["--dead-link", "cable:1:2"]], ids=" ".join)
def test_an_optimised_schedule_beats_the_others(tmp_path, link):
    """A link is slow or dead, and a source has one message in flight at a time: with and without slots, and from the
    file written."""
    words = ["--topology", TREE, "--nodes", 16, "--sizes", "1MiB", "--transfers-in-flight", 1, *link]
    others = [word for name in ("round-robin", "chaotic", "balanced", "unshifted") for word in ("--schedule", name)]
    file = tmp_path / "fabric.csv"
    points, shown = simulate(tmp_path, *words, *others, "--slot", "0,auto", "--optimise", file)
    built_in, own = points[:5], points[5:]
    assert [p["schedule"] for p in own] == [f"table:{file}"] * 4
    best = max(own, key=lambda p: p["share"])
    assert best["share"] > 1.1 * max(p["share"] for p in built_in)
    lines = file.read_text().splitlines()
    assert " ".join(link) in lines[1] and f"{best['share'] * 100:.1f} %" in lines[2]
    entries = [line.split(",") for line in lines if line[0].isdigit()]
    assert sorted((int(s), int(d)) for _, _, s, d in entries) == [(s, d) for s in range(16) for d in range(16)]
    (again,), _ = simulate(tmp_path, *words, "--schedule", f"table:{file}")
    assert again["share"] == best["share"]
    assert str(file) in shown.splitlines()[-1]
    eventloom("simulate", *words, *others, "--slot", "0,auto", "--optimise", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text().splitlines()[3:] == lines[3:]


@needs_simgrid
def test_a_run_plays_an_optimised_schedule(tmp_path):
    """Rank r of the simulation is source r and builder r of the run."""
    file = tmp_path / "fabric.csv"
    eventloom("simulate", "--topology", "fat-tree:2;2,2;1,2;1,1", "--nodes", 4, "--slow-link", "up:0:1", "--slot", "0",
              "--schedule", "round-robin", "--optimise", file)
    run = ["run", "--source", "gen:poisson?rate=1e6&channels=16&seed=1&duration=50ms"]
    for seed in (2, 3, 4):
        run += ["--source", f"gen:poisson?rate=1e6&channels=16&seed={seed}&duration=50ms"]
    run += ["--builders", 4, "--define", "gap:100ns,2"]
    for name, schedule in (("a", f"table:{file}"), ("b", "round-robin")):
        eventloom(*run, "--schedule", schedule, "--output", tmp_path / f"{name}.h5")
    eventloom("compare", tmp_path / "a.h5", tmp_path / "b.h5")


@needs_simgrid
def test_plan_optimises(tmp_path):
    file = tmp_path / "fabric.csv"
    words = ["--simulate", "--sizes", "1MiB", "--topology", "fat-tree:2;4,2;1,4;1,1", "--slow-link", "up:0:1"]
    shown = json.loads(eventloom(*PLAN, *words, "--optimise", file, "--json").stdout)
    assert [p["schedule"] for p in shown["simulated"]][-4:] == [f"table:{file}"] * 4
    best = max(shown["simulated"], key=lambda point: point["share"])["schedule"]
    assert shown["schedule"] == best and best in shown["run_options"]
    assert file.read_text().startswith("# Schedule made by eventloom simulate --optimise")


@needs_simgrid
def test_a_schedule_from_a_file(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("".join(f"{100 * k}us,0,{source},{(source + k) % 4}\n" for k in range(4) for source in range(4)) +
                    "period,400us\n")
    (point,), _ = simulate(tmp_path, "--nodes", 4, "--schedule", f"table:{file}", "--slices", 5, "--link", "10Gbit,1us")
    assert point["seconds"] == pytest.approx(5 * 400e-6, rel=0.1)


@needs_simgrid
def test_draws_rates_and_transfers(tmp_path):
    eventloom("simulate", "--nodes", "4,8", "--schedule", "round-robin", "--schedule", "chaotic", "--plot", tmp_path / "x.svg")
    picture = (tmp_path / "x.svg").read_text()
    for words in ("Rate of a node over the number of nodes", "Transfers of 4 nodes, round-robin", "Transfers of 4 nodes, chaotic"):
        assert words in picture
    assert "Transfers of 8 nodes" not in picture


@needs_simgrid
def test_a_picture_of_many_transfers_stays_small(tmp_path):
    """24,192 transfers of 64 nodes; those of every second sender are drawn."""
    eventloom("simulate", "--nodes", "64", "--slices", 6, "--plot", tmp_path / "x.svg")
    picture = (tmp_path / "x.svg").read_text()
    assert "Transfers of 64 nodes, round-robin (one sender in 2)" in picture
    assert picture.count("<use ") + picture.count("<circle ") < 13_000


PLAN = ["plan", "--nodes", 8, "--cores-per-node", 4, "--sources", 8, "--slices", 2]


@needs_simgrid
@pytest.mark.parametrize("sizes", ["64KiB", "1MiB", "64KiB,1MiB"])
@pytest.mark.parametrize("transfers", [[], ["--transfers-in-flight", "1"]])
def test_plan_proposes_what_it_finds_best(sizes, transfers):
    """Slots are not best: each node idles while it would send to itself. But when a source waits for the credit of each
    message, which comes up to 5 us after the data, they are for messages that take as long. Of the orders without
    slots, `unshifted` is then worst."""
    shown = json.loads(eventloom(*PLAN, "--simulate", "--sizes", sizes, *transfers, "--json").stdout)
    points, options = shown["simulated"], shown["run_options"]
    orders = [("round-robin", False), ("round-robin", True), ("chaotic", False), ("balanced", False), ("unshifted", False)]
    lengths = [{"64KiB": 65536, "1MiB": 1 << 20}[size] for size in sizes.split(",")]
    assert [(p["schedule"], "slot_us" in p, p["message_bytes"]) for p in points] == [
        (*order, length) for order in orders for length in lengths]
    assert {p["nodes"] for p in points} == {8}
    best = max(points, key=lambda point: point["share"])
    assert shown["schedule"] == best["schedule"] == options[options.index("--schedule") + 1]
    assert ("slot_us" in best) == ("--slot" in options) == (bool(transfers) and sizes == "64KiB")
    assert options[-2:] == (transfers or ["--slices-in-flight", "4"])
    worst = min((point for point in points if "slot_us" not in point), key=lambda point: point["share"])
    assert (worst["schedule"] == "unshifted" and worst["share"] < 0.5) == bool(transfers)
    assert f"{100 * best['share']:.1f} %" in shown["why"]["schedule"]


@needs_simgrid
def test_plan_shows_what_it_compared():
    shown = eventloom(*PLAN, "--simulate", "--link", "10Gbit,1us").stdout
    table, _, plan = shown.partition("\n\n")
    assert [line.split()[1] for line in table.splitlines()[2:]] == ["round-robin"] * 2 + ["chaotic", "balanced", "unshifted"]
    assert plan.startswith("8 nodes of 4 cores") and "simulated on 8 nodes" in plan
    assert eventloom(*PLAN, "--simulate", "--link", "10Gbit,1us").stdout == shown


@needs_simgrid
def test_plan_takes_rings_and_buffers_as_planned():
    words = ["--hits-per-second", "1e7", "--simulate", "--json"]
    shown = json.loads(eventloom(*PLAN, *words).stdout)
    seconds = (shown["epochs_per_slice"] + 2) * 10e-6
    assert {p["message_bytes"] for p in shown["simulated"]} == {round(1e7 * 8 * seconds)}
    assert shown["ring_depth"] * shown["cell_size"] >= 4 * round(1e7 * 8 * seconds)
    given = json.loads(eventloom(*PLAN, *words, "--sizes", "64KiB,1MiB").stdout)
    assert given["ring_depth"] * given["cell_size"] >= 2 << 20
    for point in given["simulated"]:
        assert point["transfers"]["n"] <= point["messages"] * 7 / 8  # of one message or more each


@needs_simgrid
def test_plan_leaves_out_slots_that_clocks_cannot_keep():
    done = eventloom(*PLAN, "--simulate", "--clock-noise", "50us", "--json")
    shown = json.loads(done.stdout)
    assert [p["schedule"] for p in shown["simulated"]] == ["round-robin", "chaotic", "balanced", "unshifted"]
    assert not any("slot_us" in point for point in shown["simulated"])
    assert "left out: round-robin with slots" in done.stderr and "precision" in done.stderr
    assert "left out: round-robin with slots" in shown["why"]["schedule"]
    only_line(eventloom("simulate", "--slot", "auto", "--clock-noise", "50us", code=2), "precision")


@needs_simgrid
def test_plan_compares_the_need_with_what_was_simulated():
    """Each of 8 nodes sends 7/8 of its source's data to others; the link of 10 Gbit/s carries 1.25 GB/s."""
    words = [*PLAN, "--simulate", "--link", "10Gbit,1us", "--epochs-per-slice", 100, "--json"]
    shown = json.loads(eventloom(*words, "--hits-per-second", "1e8").stdout)
    network, best = shown["network"], max(point["share"] for point in shown["simulated"])
    assert network["needed_out_bytes_per_us"] == pytest.approx(100 * 8 * 1.02 * 7 / 8)
    assert network["ideal_bytes_per_us"] == pytest.approx(1250)
    assert network["available_bytes_per_us"] == pytest.approx(1250 * best)
    assert network["fits"] and network["margin"] == pytest.approx(1 - network["needed_out_bytes_per_us"] / (1250 * best))
    most = json.loads(eventloom(*words, "--hits-per-second", "2e8", code=3).stdout)["network"]
    assert not most["fits"] and most["margin"] < 0


@needs_simgrid
def test_calibration_gives_the_rates(tmp_path):
    def report(*words):
        simulate(tmp_path, "--nodes", 3, "--schedule", "round-robin", "--slices", 3, *words)
        return json.loads((tmp_path / "simulation.json").read_text())

    measured = report("--calibrate=gap:50ns,4")
    rates = measured["setup"]["calibration"]
    build, source = rates["build_rate_bytes_per_us"], rates["source_rate_bytes_per_us"]
    assert 0 < build < source
    given = report("--build-rate", f"{build:.9f}MB", "--source-rate", f"{source:.9f}MB")
    assert "calibration" not in given["setup"]
    assert measured["points"][0]["seconds"] == pytest.approx(given["points"][0]["seconds"], rel=1e-6)
    assert measured["points"][0]["spent"]["builders"] > 0.1 and measured["points"][0]["spent"]["sources"] > 0


BAD = [
    (["--topology", "cube"], "cube"),
    (["--topology", "leaf-spine:4,4"], "leaf-spine:LEAVES,NODES_PER_LEAF,SPINES"),
    (["--topology", "leaf-spine:2,4,4"], "8 nodes"),
    (["--schedule", ","], "--schedule"),
    (["--schedule", "round-robin,shuffled"], "shuffled"),
    (["--topology", "fat-tree:2;4,4"], "fat-tree:LEVELS;DOWN;UP;PARALLEL"),
    (["--topology", "fat-tree:2;4,4;1;1,1"], "each level"),
    (["--topology", "fat-tree:2;2,4;1,4;1,1", "--nodes", "16"], "8 nodes"),
    (["--topology", "dragonfly:2,1;2,1;2,1", "--nodes", "4"], "dragonfly:"),
    (["--topology", "torus:3,3", "--nodes", "4,16"], "9 nodes"),
    (["--topology", "bad.xml"], "bad.xml"),
    (["--topology", "empty.xml"], "empty.xml"),
    (["--topology", "lab.xml", "--nodes", "5"], "4 nodes"),
    (["--nodes", "1"], "--nodes"),
    (["--nodes", ""], "--nodes"),
    (["--link", "10Gbit"], "--link"),
    (["--link", "10,1us"], "--link"),
    (["--link", "10Gbit,1"], "--link"),
    (["--schedule", "shuffled"], "shuffled"),
    (["--schedule", "table:none.csv"], "none.csv"),
    (["--schedule", "chaotic", "--slot", "5us"], "--slot"),
    (["--slot", "soon"], "--slot"),
    (["--sizes", "10"], "--sizes"),
    (["--ring-depth", "0"], "--ring-depth"),
    (["--jitter", "much"], "--jitter"),
    (["--spread", "150"], "--spread"),
    (["--build-rate", "fast"], "--build-rate"),
    (["--slow-builder", "3"], "--build-rate"),
    (["--calibrate=often"], "--calibrate"),
    (["--calibrate", "--build-rate", "1GB"], "--build-rate"),
    (["--slow-builder", "16:2", "--build-rate", "1GB"], "no node 16"),
    (["--slow-link", "99"], "no node 99"),
    (["--slow-link", "5:no"], "'no' is not a factor"),
    (["--slow-link", "up:0:0:2"], "0 links up"),
    (["--dead-link", "net_link_5UP"], "net_link_5_UP"),
    (["--dead-link", "3"], "no way is left"),
    (["--topology", TREE, "--dead-link", "up:9:0"], "no leaf switch 9"),
    (["--report-json", "none/x.json"], "none/x.json"),
    (["--optimise", "none/x.csv"], "none/x.csv"),
    (["--optimise", "lab.xml"], "lab.xml"),
    (["--optimise", "x.csv", "--schedule", "table:x.csv"], "x.csv"),
    (["--optimise", "x.csv", "--nodes", "4,8"], "--nodes"),
    (["--optimise", "x.csv", "--sizes", "4KiB,8KiB"], "--sizes"),
]


@needs_simgrid
@pytest.mark.parametrize("words, reported", BAD, ids=[" ".join(words) for words, _ in BAD])
def test_refuses_in_one_line(tmp_path, words, reported):
    (tmp_path / "bad.xml").write_text("<platform")
    (tmp_path / "empty.xml").write_text("")
    (tmp_path / "lab.xml").write_text(STAR)
    only_line(eventloom("simulate", *words, code=2, cwd=tmp_path), reported)


@needs_simgrid
@pytest.mark.parametrize("words, reported", [
    (["--link", "10Gbit"], "--link"),
    (["--tcp"], "--tcp needs --simulate"),
    (["--calibrate"], "--calibrate needs --simulate"),
    (["--optimise", "x.csv"], "--optimise needs --simulate"),
    (["--simulate", "--nodes", "1"], "--nodes 2"),
    (["--simulate", "--nodes", "5", "--topology", "torus:2,2"], "4 nodes"),
    (["--simulate", "--nodes", "2", "--topology", "cube"], "cube"),
    (["--simulate", "--nodes", "2", "--slow-link", "7"], "no node 7"),
], ids=lambda words: " ".join(words) if isinstance(words, list) else None)
def test_plan_refuses_in_one_line(words, reported):
    only_line(eventloom("plan", "--cores-per-node", 2, "--sources", 2, *words, code=2), reported)


@pytest.mark.parametrize("words", [["simulate"], ["plan", "--sources", "2", "--simulate"]], ids=" ".join)
def test_names_the_package_without_simgrid(tmp_path, words):
    program = shutil.copy(BINARY, tmp_path / "eventloom")
    shutil.copy(Path(BINARY).with_name("eventloom-tools"), tmp_path)
    done = subprocess.run([program, *words, "--nodes", "2"], env=environment(), text=True, capture_output=True, timeout=60)
    assert done.returncode == 2
    only_line(done, "libsimgrid-dev", "jobs/setup.sh")
