"""`eventloom simulate`: its figures against arithmetic, the same output for the same seed, refusals in one line."""

import json
import os
import shutil
import subprocess

import pytest

from program import BINARY, environment, eventloom, only_line

STAR = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="lab" prefix="pc" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="5us"/>
</platform>
"""

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


BAD = [
    (["--topology", "cube"], "cube"),
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
    (["--slow-builder", "16:2", "--build-rate", "1GB"], "no node 16"),
    (["--slow-link", "99"], "no node 99"),
    (["--report-json", "none/x.json"], "none/x.json"),
]


@needs_simgrid
@pytest.mark.parametrize("words, told", BAD, ids=[" ".join(words) for words, _ in BAD])
def test_refuses_in_one_line(tmp_path, words, told):
    (tmp_path / "bad.xml").write_text("<platform")
    (tmp_path / "empty.xml").write_text("")
    (tmp_path / "lab.xml").write_text(STAR)
    only_line(eventloom("simulate", *words, code=2, cwd=tmp_path), told)


def test_names_the_package_without_simgrid(tmp_path):
    program = shutil.copy(BINARY, tmp_path / "eventloom")
    done = subprocess.run([program, "simulate", "--nodes", "2"], env=environment(), text=True, capture_output=True, timeout=60)
    assert done.returncode == 2
    only_line(done, "libsimgrid-dev", "jobs/setup.sh")
