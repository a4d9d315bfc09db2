"""Recordings with known answers, end to end: real ones of a neutrino telescope and spikes of a simulated network."""

import numpy as np
import pytest

import truth
from program import Run, eventloom
from results import assert_balanced, dropped, read_ledger, read_merged

pytestmark = pytest.mark.every_case

RULES = [(recording, rule) for recording in truth.RECORDINGS for rule in recording.rules]


@pytest.mark.parametrize("recording, rule", RULES, ids=[f"{r.name}-G{g}-M{m}" for r, (g, m) in RULES])
def test_events(tmp_path, recording, rule):
    gap, least = rule
    ranks = 3 if rule == recording.rules[0] else None
    run = Run(tmp_path, [recording.uri()], "--define", f"gap:{gap}ns,{least}", *recording.options(), np=ranks)
    truth.assert_events(recording, gap, least, read_merged(run.merged))
    ledger = read_ledger(run.output)
    assert_balanced(ledger)
    assert not any(dropped(ledger).values())


@pytest.mark.parametrize("recording", truth.RECORDINGS, ids=lambda r: r.name)
def test_every_hit_arrives_once(tmp_path, recording):
    run = Run(tmp_path, [recording.uri()], "--define", "tag", *recording.options(), np=2)
    merged = read_merged(run.merged)
    values = recording.values(merged.get("payload", ()), len(merged["hits/time"]))
    truth.assert_all_hits(recording, merged["hits/time"], merged["hits/source"], merged["hits/channel"], values)
    assert np.array_equal(merged["events/time"], np.unique(merged["hits/time"]))
    assert read_ledger(run.output)["hits_in"].sum() == len(merged["hits/time"])


def test_converted_recording_gives_the_same(tmp_path):
    recording = truth.RECORDINGS[1]
    gap, least = recording.rules[1]
    eventloom("convert", recording.uri(), "--output", tmp_path / "streams")
    run = Run(tmp_path / "run", [f"file:{tmp_path}/streams/*.epochs"], "--define", f"gap:{gap}ns,{least}", np=2)
    truth.assert_events(recording, gap, least, read_merged(run.merged))
