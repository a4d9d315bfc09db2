"""The figures of all.py: what one measurement gave, how they stand in README.md, and which have changed."""

import json
import re
import statistics
from dataclasses import dataclass, field


@dataclass
class Result:
    """A measurement's values, by row, with when and where they were taken."""
    date: str
    commit: str
    machine: str
    repeated: int  # times; 0: figures of before all.sh, kept
    values: dict = field(default_factory=dict)  # label of a row to its values, one a repetition


def load(path):
    if not path.exists():
        return {}
    return {name: Result(**fields) for name, fields in json.loads(path.read_text()).items()}


def save(path, results):
    path.write_text(json.dumps({name: vars(result) for name, result in sorted(results.items())}, indent=1) + "\n")


def spread(values):
    return max(values) - min(values)


def shown(value):
    """Three significant digits, thousands apart."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:.3g}"


def table_row(row, values):
    range_text = f"{shown(min(values))} to {shown(max(values))}" if len(values) > 1 else ""
    return [row.label, f"{shown(statistics.median(values))} {row.unit}".strip(), range_text, row.published]


def origin(measurement, result, machine):
    """When, at which commit, and how; where, if not on the machine that the page names."""
    where = "" if result.machine == machine else f", on {result.machine}"
    times = ("as kept then", "once")[result.repeated] if result.repeated < 2 else f"{result.repeated} times"
    return f"`{measurement.command}`\n\n{result.date}, commit {result.commit}, {times}{where}:"


def table(measurement, result, machine):
    """The block of a measurement. Rows without figures are left out, and a column in which nothing stands."""
    rows = [table_row(row, result.values[row.label]) for row in measurement.rows if result.values.get(row.label)]
    columns = [column for column in zip(("measurement", "median", "least to greatest", "published"), *rows)
               if any(column[1:])]
    lines = [f"| {' | '.join(cells)} |" for cells in zip(*columns)]
    return "\n".join([origin(measurement, result, machine), "", lines[0], "|---" * len(columns) + "|", *lines[1:]])


def fill(page, name, text):
    """`page` with `text` between the markers of `name`."""
    begin, end = (f"<!-- measured: {word} {name} -->" for word in ("begin", "end"))
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"a page of figures: '{begin}' and '{end}' must each be there once")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL)


def fill_all(page, measurements, results):
    machine = max(results.values(), key=lambda result: result.date).machine if results else ""
    page = fill(page, "machine", f"Machine: {machine}.")
    for measurement in measurements:
        if measurement.name in results:
            page = fill(page, measurement.name, table(measurement, results[measurement.name], machine))
    return page


def changes(measurement, before, after):
    """Lines on the rows whose medians differ by more than the spread of both; without any spread nothing is said."""
    lines = []
    for row in measurement.rows:
        old, new = before.values.get(row.label), after.values.get(row.label)
        if not old or not new or max(len(old), len(new)) < 2:
            continue
        was, now = statistics.median(old), statistics.median(new)
        if abs(now - was) > max(spread(old), spread(new)):
            share = f", {100 * (now / was - 1):+.1f} %" if was else ""
            lines.append(f"{measurement.name}: {row.label}: {shown(was)} -> {shown(now)} {row.unit}{share}")
    return lines
