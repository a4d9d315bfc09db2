"""Expressions of `--filter` and of coincidences, by the design contract alone: terms measured one by one on the hits of
an event or a window, joined by Python's own operators. Shares nothing with the C++ code.
"""

import re

import numpy as np

LENGTHS = {"ps": 1, "ns": 1_000, "us": 1_000_000, "ms": 1_000_000_000, "s": 1_000_000_000_000}
TERM = re.compile(r"(causal\([^()]*\)|[A-Za-z_]\w*(?:\s*:\s*\w+(?:\s*-\s*\w+)?)?)\s*(==|!=|<=|>=|=|<|>)\s*([\w.]+)")


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
        subject, relation, number = match.groups()
        number = in_ticks(number, self.tick_ps) if subject == "duration" else int(float(number))
        self.terms.append((re.sub(r"\s", "", subject), {"=": "=="}.get(relation, relation), number))
        return f"held[{len(self.terms) - 1}]"

    def holds(self, hits):
        """`hits`: with time, channel and source in columns, at least one."""
        return bool(eval(self.code, {"held": [self._holds(hits, *term) for term in self.terms]}))

    def _holds(self, hits, subject, relation, number):
        value = self.value(hits, subject)
        return {"==": value == number, "!=": value != number, "<=": value <= number, ">=": value >= number,
                "<": value < number, ">": value > number}[relation]

    def value(self, hits, subject):
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
        if ":" not in subject:
            return int(self.detector.in_group(subject, hits.source, hits.channel).sum())
        name, _, numbers = subject.partition(":")
        ends = [int(number, 0) for number in numbers.split("-")]
        column = getattr(hits, name)
        return int(((ends[0] <= column) & (column <= ends[-1])).sum())

    def causal(self, hits, speed, slack_ns):
        """Hits that are left when, as long as a pair contradicts, the one with the fewest partners (the last) goes."""
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
