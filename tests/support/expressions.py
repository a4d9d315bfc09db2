"""Expressions of `--filter` and of coincidences, by the design contract alone: terms measured one by one on the hits of
an event or a window, joined by Python's own operators. Shares nothing with the C++ code.
"""

import operator
import re

import numpy as np

LENGTHS = {"ps": 1, "ns": 1_000, "us": 1_000_000, "ms": 1_000_000_000, "s": 1_000_000_000_000}
NAME = r"[A-Za-z_]\w*(?:\s*:\s*\w+(?:\s*-\s*\w+)?)?"
HITS = NAME + r"(?:\s*(?:\{[^}]*\}|\[[^\]]*\]))*"
TERM = re.compile(r"(order\([^()]*\))|((?:causal|sum|max|channels)\([^()]*\)|" + HITS +
                  r")\s*(==|!=|<=|>=|=|<|>)\s*(-?[\w.]+)")
RELATIONS = {"==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


def in_ticks(text, tick_ps):
    number, unit = re.fullmatch(r"([\d.]+)([a-z]*)", text.strip()).groups()
    return float(number) * LENGTHS[unit] / tick_ps if unit else float(number)


class Detector:
    """Groups and positions. `groups`: name -> [(source or None, low channel, high channel)]; `positions`: (source, channel)
    -> (x, y, z) in metres."""

    def __init__(self, groups=None, positions=None):
        self.groups, self.positions = groups or {}, positions or {}

    def in_group(self, name, source, channel):
        rows = [((source == s) if s is not None else np.ones(len(source), dtype=bool)) & (low <= channel) & (channel <= high)
                for s, low, high in self.groups[name]]
        return np.logical_or.reduce(rows) if rows else np.zeros(len(source), dtype=bool)


class Expression:
    """`text` in ticks of `tick_ps`; not for prescale, whose hash is not published, nor for trigger."""

    def __init__(self, text, detector=None, tick_ps=1000):
        self.detector, self.tick_ps, self.terms = detector or Detector(), tick_ps, []
        words = TERM.sub(self._keep, text).replace("&&", " and ").replace("||", " or ")
        self.code = compile(re.sub(r"!", " not ", words).strip(), text, "eval")

    def _keep(self, match):
        order, subject, relation, number = match.groups()
        if order:
            self.terms.append((re.sub(r"\s", "", order), "==", 1))
            return f"held[{len(self.terms) - 1}]"
        number = in_ticks(number, self.tick_ps) if subject == "duration" else float(number)
        self.terms.append((re.sub(r"\s", "", subject), {"=": "=="}.get(relation, relation), number))
        return f"held[{len(self.terms) - 1}]"

    def extent(self, width):
        """The extent, before and after the opening hit, of the windows of all terms and of [0, width]."""
        ends = [self._signed(end) for subject, _, _ in self.terms
                for window in re.findall(r"\[([^\]]*)\]", subject) for end in window.split(",")]
        return -min(ends + [0]), max(ends + [width])

    def holds(self, hits, around=None):
        """`hits`: at least one hit with time, channel and source in columns; the first one opens the windows of terms;
        `around`: all hits that these windows may include."""
        held = [self._holds(hits, around or hits, *term) for term in self.terms]
        return bool(eval(self.code, {"held": held}))

    def _holds(self, hits, around, subject, relation, number):
        value = self.value(hits, subject, around)
        return value is not None and not np.isnan(value) and bool(RELATIONS[relation](value, number))

    def selected(self, hits, around, text):
        """The hits that a text such as A{505..517}[-50ns,120ns] selects; with a window, from those around."""
        window = re.search(r"\[(.*),(.*)\]", text)
        if window:
            low, high = (int(hits.time[0]) + self._signed(end) for end in window.groups())
            time = around.time.astype(np.int64)
            hits = around.part(np.searchsorted(time, low), np.searchsorted(time, high, side="right"))
        name = re.match(r"[^\[{]*", text)[0]
        chosen = self._members(name, hits)
        values = re.search(r"\{(.*)\.\.(.*)\}", text)
        if values:
            low, high = map(float, values.groups())
            chosen = chosen & (hits.value >= low) & (hits.value <= high)
        return hits, np.flatnonzero(chosen)

    def _signed(self, text):
        text = text.strip()
        return -int(in_ticks(text[1:], self.tick_ps)) if text.startswith("-") else int(in_ticks(text, self.tick_ps))

    def _members(self, name, hits):
        if ":" not in name:
            return self.detector.in_group(name, hits.source, hits.channel)
        column, _, numbers = name.partition(":")
        ends = [int(number, 0) for number in numbers.split("-")]
        return (ends[0] <= getattr(hits, column)) & (getattr(hits, column) <= ends[-1])

    def _of_selected(self, function, hits, around, text):
        if function == "order":
            depth = text.index(",", text.index("]")) if "[" in text.split(",")[0] else text.index(",")
            first = [found.time[at[:1]] for found, at in (self.selected(hits, around, part)
                                                          for part in (text[:depth], text[depth + 1:]))]
            return int(len(first[0]) > 0 and len(first[1]) > 0 and first[0][0] <= first[1][0])
        found, at = self.selected(hits, around, text)
        if function == "channels":
            return len({(int(found.source[i]), int(found.channel[i])) for i in at})
        values = [float(found.value[i]) for i in at if not np.isnan(found.value[i])]
        return sum(values, 0.0) if function == "sum" else max(values, default=None)

    def value(self, hits, subject, around=None):
        around = around or hits
        if subject == "n_hits":
            return len(hits.time)
        if subject == "duration":
            return int(hits.time.max() - hits.time.min())
        if subject == "systems":
            return len(np.unique(hits.channel >> 22 & 0x3F))
        if subject == "sources":
            return len(np.unique(hits.source))
        if subject.startswith("causal"):
            speed, slack = subject[len("causal("):-1].split(",")
            light = 0.299792458 if speed.endswith("c") else 1  # m/ns
            return self.causal(hits, float(re.match(r"[\d.]+", speed)[0]) * light, in_ticks(slack, self.tick_ps) * self.tick_ps / 1000)
        function = re.fullmatch(r"(sum|max|channels|order)\((.*)\)", subject)
        if function:
            return self._of_selected(function[1], hits, around, function[2])
        return len(self.selected(hits, around, subject)[1])

    def causal(self, hits, speed, slack_ns):
        """Hits that remain if, while any pair contradicts, the one with the fewest partners (the last of equals) is
        removed."""
        places = [(int(t), self.detector.positions.get((int(s), int(c))))
                  for t, s, c in zip(hits.time, hits.source, hits.channel)]
        time = np.array([t for t, place in places if place is not None], dtype=np.int64) * (self.tick_ps / 1000)
        place = np.array([place for _, place in places if place is not None]).reshape(-1, 3)
        apart = np.sqrt(((place[:, np.newaxis] - place[np.newaxis]) ** 2).sum(axis=2))
        partners = np.abs(time[:, np.newaxis] - time[np.newaxis]) <= apart / speed + slack_ns
        while not partners.all():
            n = partners.sum(axis=1)
            out = np.flatnonzero(n == n.min())[-1]
            partners = np.delete(np.delete(partners, out, axis=0), out, axis=1)
        return len(partners)
