#!/usr/bin/env python3
"""Prints one table of all reports of `eventloom bench patterns` in a folder; rates are medians per rank.

usage: bench_table.py FOLDER
"""

import json
import pathlib
import sys

COLUMNS = ("pattern", "schedule", "message [bytes]", "rate [bytes/us]", "bare put [bytes/us]", "share [%]")


def rows(folder):
    for file in pathlib.Path(folder).glob("*.json"):
        for point in json.loads(file.read_text())["points"]:
            yield (point["pattern"], point["schedule"], point["message_bytes"], round(point["rate_bytes_per_us"]),
                   round(point["ceiling_bytes_per_us"]), round(100 * point["share"]))


def main(folder):
    table = [COLUMNS, *sorted(rows(folder))]
    widths = [max(len(str(row[i])) for row in table) for i in range(len(COLUMNS))]
    for row in table:
        mark = "#" if row is COLUMNS else " "
        print(mark, *(str(value).rjust(width) for value, width in zip(row, widths)))


main(*sys.argv[1:])
