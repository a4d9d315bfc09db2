"""The page of forebears.py, and its plots, from the figures that were kept: none is written by hand."""

import shutil
import subprocess
from dataclasses import dataclass

import published as others
from forebears_tables import ALL_SIZES, CELLS, DEPTHS, LINK_SIZES, SECTIONS, WAITS
from measured import shown
from measurements import Output, size_name

HEAD = """# As the forebears measured

Published figures of other transports and event builders, and the same quantities measured here. They used various
networks; ours is the memory of one machine. Compare shapes of tables and shares, not rates.

Written by `tests/benchmarks/forebears.sh`{quick} in {minutes}, on {date} at commit {commit}. Nothing else may run meanwhile.
Each published figure stands once in [published.py](published.py), with its source; ours are in [forebears.json](forebears.json),
from this machine: {machine}.
"""
UNREADABLE = (KeyError, IndexError, ValueError, TypeError, ZeroDivisionError)


# Figures.

def output(run):
    return Output(run.get("text", ""), run.get("report"))


def ours(kept, cell):
    """Nothing where this run did not measure it."""
    run = kept["runs"].get(cell.run)
    if not run or run["without"]:
        return None
    try:
        return cell.read(output(run))
    except UNREADABLE:
        return None


def as_published(figure):
    return f"{figure:,g}" if isinstance(figure, float) else str(figure)


def loaded(run):
    """The cores that others used, and that the hypervisor took, where the run warned of it: of the host with most."""
    load = run.get("report", {}).get("load", {})
    used = [(host["others_cores"], host["stolen_cores"]) for host in load.get("hosts", [])]
    return max(used, key=sum) if load.get("loaded") else None


def spread(run):
    spreads = [p["spread"] for p in run.get("report", {}).get("points", []) if p.get("spread") is not None]
    return max(spreads, default=None)


# Tables.

def headed(head, whose):
    return f"{head}, {whose}" if head else whose


def heads_of(table):
    """Each head, and whether anything of it has been published."""
    heads = dict.fromkeys(head for cells in table.rows.values() for head in cells)
    return {head: any(cells[head].published is not None for cells in table.rows.values()) for head in heads}


def table_lines(kept, table):
    heads = heads_of(table)
    first = [table.first]
    for head, is_published in heads.items():
        first += [headed(head, "published")] * is_published + [headed(head, "ours")]
    lines = [first, ["---"] * len(first)]
    for label, cells in table.rows.items():
        line = [label]
        for head, is_published in heads.items():
            cell, figure = cells[head], ours(kept, cells[head])
            line += ["" if cell.published is None else as_published(cell.published)] * is_published
            line.append("" if figure is None else shown(figure))
        lines.append(line)
    return [f"| {' | '.join(line)} |" for line in lines]


def runs_of(table):
    return list(dict.fromkeys(cell.run for cells in table.rows.values() for cell in cells.values()))


def run_lines(kept, name):
    """The command, and what is to be known about its figures."""
    run = kept["runs"].get(name)
    if not run:
        return [f"- `{name}` is not among the quick ones"]
    remarks = []
    if run["without"]:
        remarks.append(f"**no figures: {run['without']}**")
    if used := loaded(run):
        remarks.append("**not to be trusted: other processes used {:.2f} cores and the hypervisor {:.2f}**".format(*used))
    if (most := spread(run)) is not None:
        remarks.append(f"repetitions differ by up to {100 * most:.0f} %")
    return [f"- `{run['command']}`" + (f" ({'; '.join(remarks)})" if remarks else "")]


def source_line(source, known):
    """Where a source stands, and whether it was read, is said above its first table."""
    line = f"Published: {source.name}. {source.hardware}."
    unread = "" if source.read else " The figures are known from quotations; the original was not at hand."
    return line if known else f"{line} Source: {source.reference}.{unread}"


def table_block(kept, table, told):
    unit = f" [{table.unit}]" if table.unit else ""
    known = table.source in told
    told.add(table.source)
    return "\n\n".join([
        f"### {table.title}{unit}", source_line(table.source, known), *([f"Also published: {table.note}."] if table.note else []),
        "\n".join(["Ours:", "", *(line for name in runs_of(table) for line in run_lines(kept, name))]),
        "\n".join(table_lines(kept, table))])


# The page.

def warning(kept):
    """Where commands warned of load; nothing else may then be said of the figures."""
    warned = [name for name, run in kept["runs"].items() if loaded(run) is not None]
    if not warned:
        return ""
    return (f"\n**The machine was loaded during {len(warned)} of {len(kept['runs'])} commands ({', '.join(warned)}): their figures "
            "cannot be trusted. Measure again on an idle machine.**\n")


def not_compared():
    return "\n".join(["## What is not compared", "", "| published | why not |", "|---|---|",
                      *(f"| {what} | {why} |" for what, why in others.NOT_COMPARED)])


def duration(seconds):
    return f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds} s"


def render(kept, folder, plots):
    head = HEAD.format(quick=" with `--quick`" if kept["quick"] else "", minutes=duration(kept["seconds"]), date=kept["date"],
                       commit=kept["commit"], machine=kept["machine"])
    blocks, told = [(head + warning(kept)).rstrip()], set()
    for section, tables in SECTIONS.items():
        blocks.append(f"## {section}")
        blocks += [f"![{title}]({folder}/{name}.svg)" for name, title in plots.items() if PLOTS[name].section == section]
        blocks += [table_block(kept, table, told) for table in tables]
    return "\n\n".join([*blocks, not_compared()]) + "\n"


# Plots, by gnuplot.

@dataclass(frozen=True)
class Plot:
    section: str
    title: str
    x: str
    y: str
    series: object  # of the kept figures: name to points; names of published ones say so


def pairs(figures):
    return [(x, y) for x, y in figures if y is not None and y > 0]


def of_table(kept, title, head, keys):
    """Both columns of a head of a table, as points."""
    (table,) = [table for tables in SECTIONS.values() for table in tables if table.title.startswith(title)]
    cells = [(key, cells[head]) for key, cells in zip(keys, table.rows.values())]
    return {"published": pairs((key, cell.published) for key, cell in cells),
            "ours": pairs((key, ours(kept, cell)) for key, cell in cells)}


def dabc_series(kept):
    return {f"{head}, {whose}": points for head in ("scheduled", "chaotic")
            for whose, points in of_table(kept, "Table 9.1", head, LINK_SIZES).items()}


def latency_series(kept):
    heads = {"loop": "loop", "trip (FPGA)": "trip", "trip, bare put (InfiniBand send)": "bare put", "round trip": "round trip"}
    series = {f"{name}, ours": of_table(kept, "Loop, trip", head, ALL_SIZES)["ours"] for head, name in heads.items()}
    return series | {"FPGA trip, published": sorted(others.FPGA_ONE_WAY.items()),
                     "InfiniBand send, published": sorted(others.SEND_ONE_WAY.items())}


def tail(bins, count):
    """Share of the times longer than the upper edge of each bin, %."""
    longer, points = count, []
    for _, high, number in bins:
        longer -= number
        points.append((high * 1e-3, 100 * longer / count))
    return pairs(points)


def waiting_series(kept):
    run = kept["runs"].get("waiting", {})
    points = [p for p in run.get("report", {}).get("points", []) if p["kind"] == "message"]
    return {f"{WAITS[p['wait']]}, ours": tail(p["one_way"]["bins"], p["one_way"]["count"]) for p in points}


def ring_series(kept):
    return {f"{size_name(cell)}, ours": of_table(kept, "Rings: positions", f"cells of {size_name(cell)}", DEPTHS)["ours"] for cell in CELLS}


PLOTS = {
    "dabc": Plot("DABC", "All to all, received by a node", "message [bytes]", "rate [bytes/us]", dabc_series),
    "latency": Plot("Latency", "Latency by size", "message [bytes]", "median [us]", latency_series),
    "waiting": Plot("Latency", "Times of a message of 32 B longer than t, by way of waiting", "t [us]", "share [%]", waiting_series),
    "rings": Plot("Rings", "Rings of different cells", "positions", "rate [bytes/us]", ring_series),
}


def script(plot, series, path):
    """Published figures are drawn as points, ours as lines."""
    styles = [f"'-' with {'points pt 7' if name.endswith('published') else 'lines'} lw 2 title '{name}'" for name in series]
    data = ["\n".join(f"{x} {y:.4g}" for x, y in points) + "\ne" for points in series.values()]
    return "\n".join([
        "set terminal svg size 720,420 dynamic font 'sans,12' background 'white'", f"set output '{path}'", f"set title '{plot.title}'",
        f"set xlabel '{plot.x}'", f"set ylabel '{plot.y}'", "set logscale xy", "set grid", "set key outside right",
        "plot " + ", ".join(styles), *data, ""])


def draw_plots(kept, folder):
    """Returns the titles of those drawn, by name: none without gnuplot."""
    if not shutil.which("gnuplot"):
        print("gnuplot is not installed: the page has no plots")
        return {}
    folder.mkdir(exist_ok=True)
    drawn = {}
    for name, plot in PLOTS.items():
        series = {title: points for title, points in plot.series(kept).items() if points}
        if not any(title.endswith("ours") for title in series):
            continue
        subprocess.run(["gnuplot"], input=script(plot, series, folder / f"{name}.svg"), text=True, check=True)
        drawn[name] = plot.title
    return drawn
