"""Histograms of --hist on the pages of reports and of runs in progress: scale, zoom, and the fit of a peak."""

import json
import math
import re

import h5py
import numpy as np
import pytest

import peaks
from browser import PHONE, Browser, needs_browser
from interrupted import STOPPED
from monitored import Monitored
from page import document_of
from program import Run, eventloom

pytestmark = needs_browser
EVIL = "<img src=x onerror=document.title='acted'>"
CENTRE, SIGMA = 511.0, 7.0  # keV
GAIN = 0.25
CHART = "#panel-spectra figure svg"
MARGINS = {"left": 56, "right": 14, "top": 10, "bottom": 40}  # of a chart, in its pixels
HISTS = ["energy=value(A):0..1024/512@hits", "plane=value(A):0..1024/200;channel:0..8/8@hits", "few=value(A):0..1024/512 if n_hits>=2"]


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """12000 hits far apart, half of them in a peak: (words of `run`, energies, channels)."""
    folder = tmp_path_factory.mktemp("hits")
    choose = np.random.default_rng(11)
    raw = np.where(choose.random(12_000) < 0.5, choose.normal(CENTRE, SIGMA, 12_000), choose.uniform(0, 1024, 12_000)) / GAIN
    raw, channels = np.clip(np.round(raw), 0, 4095).astype(int), choose.integers(0, 8, 12_000)
    rows = "".join(f"{1000 * i},{c},{e}\n" for i, (c, e) in enumerate(zip(channels, raw)))
    (folder / "s.csv").write_text("time_ns,channel,energy\n" + rows)
    (folder / "map.csv").write_text(f'source,channel,gain,zero,unit\n,,{GAIN},0,"{EVIL}"\n')
    words = ["--define", "gap:100ns,1", "--detector", folder / "map.csv", "--group", "A=channel:0-7"]
    words += [word for hist in HISTS for word in ("--hist", hist)]
    return f"csv:{folder}/s.csv?payload=energy", words, GAIN * raw, channels


@pytest.fixture(scope="module")
def report(recording, tmp_path_factory):
    uri, words, *_ = recording
    folder = tmp_path_factory.mktemp("report")
    run = Run(folder, [uri], *words)
    eventloom("report", run.output, "--output", folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def page(report, browser):
    with browser.page(report.as_uri()) as opened:
        yield opened


def energies_of(recording, low=0, high=1024):
    """Counts between two edges of bins, which are 2 keV wide."""
    return np.histogram(recording[2], np.arange(0, 1025, 2))[0][low // 2:high // 2]


def bars_of(page):
    """[(top, right)] in pixels, and the bottom."""
    path = page.ask(f"document.querySelector('{CHART} path.area').getAttribute('d')")
    bars = [(float(top), float(right)) for top, right in re.findall(r"V([\d.]+)H([\d.]+)", path)]
    return bars, float(re.search(r"^M[\d.]+ ([\d.]+)", path)[1])


def assert_bars(page, counts, log=False):
    """There is a bar for each count, with a height proportional to it, or to its logarithm."""
    bars, bottom = bars_of(page)
    assert len(bars) == len(counts)
    assert [top == bottom for top, _ in bars] == [n == 0 for n in counts]
    at = sorted((math.log(n) if log else n, top) for n, (top, _) in zip(counts, bars) if n)
    (low, first), (high, last) = at[0], at[-1]
    assert first - last > 30
    assert all(abs(top - first - (last - first) * (n - low) / (high - low)) < 0.5 for n, top in at)


def share_of(page, value, low, high):
    """The position of a value as a share of the chart's width, on an axis from `low` to `high`."""
    width = page.ask(f"document.querySelector('{CHART}').viewBox.baseVal.width")
    return (MARGINS["left"] + (value - low) / (high - low) * (width - MARGINS["left"] - MARGINS["right"])) / width


def drag(page, begin, end, low=0, high=1024):
    with page.drag(CHART, (share_of(page, begin, low, high), 0.5), (share_of(page, end, low, high), 0.5)):
        assert page.ask(f"document.querySelectorAll('{CHART} .band').length") >= 1


def fields(page):
    return page.ask("['from', 'to'].map((word) => document.getElementById(`spectrum-${word}-0`).valueAsNumber)")


def set_fields(page, *ranges):
    """Fills in the ranges with the keyboard."""
    for i, ends in enumerate(ranges):
        for word, value in zip(("from", "to"), ends):
            page.ask(f"document.getElementById('spectrum-{word}-{i}').select()")
            page.type(str(value))


def facts(page):
    """{name: words} of the fit."""
    pairs = page.ask("[...document.querySelectorAll('#spectrum-fit dt')].map((name) => [name.innerText, name.nextSibling.innerText])")
    return {name: words.replace("\u202f", " ") for name, words in pairs}


def pair(words):
    value, error = re.match(r"(-?[\d.]+) \u00b1 ([\d.]+)", words).groups()
    return float(value), float(error)


def test_scale(page, recording):
    counts = energies_of(recording)
    assert_bars(page, counts)
    page.choose("#choose-spectrum-scale", "logarithmic")
    assert_bars(page, counts, log=True)


def test_zoom_by_mouse(page, recording):
    drag(page, 480.3, 541.2)
    low, high = fields(page)
    assert abs(low - 480.3) < 1.5 and abs(high - 541.2) < 1.5
    begin, end = 2 * math.floor(low / 2), 2 * math.ceil(high / 2)
    counts = energies_of(recording, begin, end)
    assert_bars(page, counts)
    drag(page, 500.9, 519.1, begin, end)  # and closer
    closer = fields(page)
    assert abs(closer[0] - 500.9) < 0.2 and abs(closer[1] - 519.1) < 0.2
    assert_bars(page, energies_of(recording, 2 * math.floor(closer[0] / 2), 2 * math.ceil(closer[1] / 2)))
    labels = page.ask(f"[...document.querySelectorAll('{CHART} text[text-anchor=middle]')].map((text) => text.textContent)")
    assert len(labels) > 4 and len(set(labels)) == len(labels)
    page.click(CHART, times=2)
    assert_bars(page, energies_of(recording))
    with page.drag(CHART, (0.5, 0.5), (0.501, 0.5)):
        pass
    assert_bars(page, energies_of(recording))  # a click is not a drag


def test_by_keyboard(page, recording):
    set_fields(page, (400, 600))
    page.press("Enter")
    assert_bars(page, energies_of(recording, 400, 600))
    passed = []
    for _ in range(4):
        page.press("Tab")
        passed.append(page.ask("document.activeElement.innerText"))
    assert passed == ["Zoom", "Whole range", "Fit a peak", "No fit"]
    page.ask("document.getElementById('spectrum-do-fit').focus()")
    page.press("Enter")
    assert abs(pair(facts(page)["centre"])[0] - CENTRE) < 1
    page.ask("document.getElementById('spectrum-no-fit').focus()")
    page.press("Enter")
    assert page.text("#spectrum-fit") == ""
    page.ask("document.getElementById('spectrum-whole').focus()")
    page.press("Enter")
    assert_bars(page, energies_of(recording))
    set_fields(page, (600, 400))
    page.press("Enter")
    assert_bars(page, energies_of(recording))
    assert page.ask("document.getElementById('spectrum-to-0').validationMessage") == "the range must rise"
    set_fields(page, (400, 600))
    page.press("Enter")
    assert_bars(page, energies_of(recording, 400, 600))


def test_zoom_of_two_axes(page, recording):
    page.choose("#choose-spectrum", "plane")
    _, _, energies, channels = recording
    cells = f"[...document.querySelectorAll('{CHART} rect.cell title')].map((title) => parseInt(title.textContent.replace(/\\D/g, '')))"
    assert sum(page.ask(cells)) == len(energies)
    box = page.ask(f"(({{width, height}}) => [width, height])(document.querySelector('{CHART}').viewBox.baseVal)")
    high = (box[1] - MARGINS["bottom"] - (box[1] - MARGINS["top"] - MARGINS["bottom"]) * np.array([2.1, 4.9]) / 8) / box[1]
    with page.drag(CHART, (share_of(page, 450.1, 0, 1024), high[0]), (share_of(page, 601.3, 0, 1024), high[1])):
        pass
    low, high = (round(value / 5.12 + way) * 5.12 for value, way in zip(fields(page), (-0.5, 0.5)))
    inside = np.count_nonzero((energies >= low) & (energies < high) & (channels >= 2) & (channels < 5))
    assert 1000 < inside < 5000 and sum(page.ask(cells)) == inside
    set_fields(page, (0, 1024), (7, 8))
    page.press("Enter")
    assert sum(page.ask(cells)) == np.count_nonzero(channels == 7)
    page.click("#spectrum-whole")
    assert sum(page.ask(cells)) == len(energies)
    assert page.text("#panel-spectra").count("Fit") == 0


def test_fit_by_mouse(page, recording):
    """The figures shown are those of the reference, and the curve lies where they say."""
    page.choose("#choose-spectrum-drag", "fits a peak")
    drag(page, 470, 555)
    low, high = fields(page)
    edges = np.arange(2 * math.ceil((low - 1) / 2), 2 * math.floor((high + 1) / 2) + 1, 2.0)
    counts = energies_of(recording, int(edges[0]), int(edges[-1]))
    values, errors = peaks.fit(edges, counts, [sum(counts) / 2, 511, 6, 5, 5])
    reported = facts(page)
    for name, value, error in (("area", values[0], errors[0]), ("centre", values[1], errors[1]), ("sigma", values[2], errors[2]),
                               ("FWHM", 2.35482 * values[2], 2.35482 * errors[2])):
        shown = pair(reported[name])
        assert abs(shown[0] - value) < 0.06 * error and abs(shown[1] - error) < 0.06 * error, name
        assert reported[name].endswith("entries" if name == "area" else EVIL)
    assert abs(values[1] - CENTRE) < 2 * errors[1]
    assert_bars(page, energies_of(recording))  # no zoom
    assert_curve(page, edges, values)
    page.choose("#choose-spectrum-background", "constant")
    values, errors = peaks.fit(edges, counts, [sum(counts) / 2, 511, 6, 5])
    assert abs(pair(facts(page)["centre"])[0] - values[1]) < 0.06 * errors[1] and "background" in facts(page)


def assert_curve(page, edges, values):
    """Its top is at the centre, as high as the expected content of the bin there, on the scale of the bars."""
    path = page.ask(f"document.querySelector('{CHART} path.curve').getAttribute('d')")
    points = np.array(re.findall(r"([\d.]+) ([\d.]+)", path), float)
    bars, bottom = bars_of(page)
    counts = page.ask("latest.spectra[0].counts")
    most = int(np.argmax(counts))
    scale = (bottom - bars[most][0]) / counts[most]
    x, y = points[np.argmin(points[:, 1])]
    at = bars[0][1] + (values[1] - 2) / 1022 * (bars[-1][1] - bars[0][1])
    assert abs(x - at) < 1.5
    expected = peaks.expected(np.array([values[1] - 1, values[1] + 1, edges[-1]]), values)[0]
    assert abs((bottom - y) / scale - expected) < 0.02 * expected


@pytest.mark.parametrize("ends, words", [
    ((100, 110), "too few bins in the range: 5, at least 7 are needed"),
    ((0, 1000), "too few entries in the range: 0, at least 20 are needed"),
    ((700, 1000), "there is no peak"),
])
def test_says_why_a_fit_fails(page, ends, words):
    if ends[0] == 0:
        page.choose("#choose-spectrum", "few")
    set_fields(page, ends)
    page.click("#spectrum-do-fit")
    said = page.text("#spectrum-fit")
    assert said.startswith("No fit: ") and (words in said or ends[0] == 700)
    assert page.ask(f"document.querySelectorAll('{CHART} path.curve').length") == 0


CASES = {
    "linear": (np.linspace(0, 200, 101), [5000, 90, 6, 30, 10]),
    "constant": (np.linspace(-10, 10, 81), [800, -2, 1.1, 60]),
    "wide bins": (np.linspace(0, 64, 33), [20000, 30, 2.2, 400, 200]),
    "far from zero": (1e6 + np.linspace(0, 10, 201), [3000, 1e6 + 4, 0.4, 200, 400]),
    "few": (np.linspace(0, 100, 51), [150, 40, 5, 2, 2]),
}


def fitted(page, edges, counts, constant):
    script = f"(({{at, ...rest}}) => rest)(fitPeak({edges.tolist()}, {counts.tolist()}, {edges[0]!r}, {edges[-1]!r}, {json.dumps(constant)}))"
    return page.ask(script)


@pytest.mark.parametrize("name", CASES)
def test_fit_is_that_of_least_squares(page, name):
    """Values and uncertainties, within 1e-3 of the uncertainty and of the value."""
    edges, truth = CASES[name]
    constant = len(truth) == 4
    for seed in range(5):
        counts = peaks.generated(seed, edges, truth)
        found = fitted(page, edges, counts, constant)
        values, errors = peaks.fit(edges, counts, truth)
        assert "failure" not in found, found
        of = [found["area"], found["centre"], found["sigma"], *found["background"]]
        for (value, error), wanted, uncertainty in zip(of, values, errors):
            assert abs(value - wanted) < 1e-3 * uncertainty, (name, seed, of, values)
            assert abs(error - uncertainty) < 1e-3 * uncertainty
        means = peaks.expected(edges, values)
        logs = np.where(counts > 0, counts * np.log(np.maximum(counts, 1) / means), 0)
        assert math.isclose(found["deviance"], 2 * np.sum(means - counts + logs), rel_tol=1e-3)
        assert found["ndf"] == len(counts) - len(truth)


def test_uncertainties_are_those_of_the_results(page):
    """The distances of 200 fits from the truth, in uncertainties, spread by about one."""
    edges, truth = CASES["linear"]
    found = [fitted(page, edges, peaks.generated(seed, edges, truth), False) for seed in range(200)]
    for name, true in (("area", truth[0]), ("centre", truth[1]), ("sigma", truth[2])):
        pulls = np.array([(value - true) / error for value, error in (fit[name] for fit in found)])
        assert abs(pulls.mean()) < 0.25 and 0.85 < pulls.std() < 1.15, (name, pulls.mean(), pulls.std())


def test_names_do_not_act(page, report):
    assert EVIL in json.dumps(document_of(report), ensure_ascii=False)
    page.choose("#choose-spectrum-drag", "fits a peak")
    drag(page, 470, 555)
    assert EVIL in facts(page)["centre"] and EVIL in page.text("#panel-spectra")
    assert page.ask("document.images.length") == 0 and page.ask("document.title") != "acted"
    assert page.ask("[...document.querySelectorAll('input, select')].every((node) => node.labels.length === 1)")


def test_fits_on_a_phone(page, recording):
    set_fields(page, (400, 600))
    page.click("#spectrum-do-fit")
    for name in ("energy", "plane"):
        page.choose("#choose-spectrum", name)
        for width in (PHONE[0], 1280):
            page.resize(width, 844)
            page.until(f"innerWidth === {width} && document.documentElement.scrollWidth <= {width} &&"
                       f"document.querySelector('{CHART}').getBoundingClientRect().right <= {width}")


def test_live(browser, recording, tmp_path):
    """The counts of all ranks grow; the user's choices stay; at the end the counts are those of run.h5."""
    uri, words, *_ = recording
    run = Monitored(tmp_path, [uri], *words, "--filters", 2, "--speed", 0.0005, np=3)
    with run, browser.page(run.held().url) as page:
        entries = "document.querySelector('#panel-spectra') && fetchedSpectrum && fetchedSpectrum.entries"
        run.proceed(speed=0.0005)
        before = page.until(f"({entries}) > 100 && {entries}")
        set_fields(page, (400, 600))
        page.press("Enter")
        page.click("#spectrum-do-fit")
        page.ask("document.getElementById('spectrum-from-0').select()")
        page.type("42")
        before = page.until(f"{entries} > {before} && {entries}")
        assert page.ask("document.activeElement.id") == "spectrum-from-0" and fields(page) == [42, 600]
        with page.drag(CHART, (0.4, 0.5), (0.6, 0.5)):
            page.until(f"{entries} > {before}")
        assert 420 < page.ask("views.get('energy').zoom[0][0]") < 500 < page.ask("views.get('energy').zoom[0][1]") < 580
        page.choose("#choose-spectrum", "plane")
        page.until("fetchedSpectrum.name === 'plane' && fetchedSpectrum.entries > 0")
        page.choose("#choose-spectrum", "energy")
        page.until("fetchedSpectrum.name === 'energy' && fetchedSpectrum.entries > 0")
        run.proceed(speed=0)
        page.until_text("#state", "ended")
        page.until("fetchedSpectrum.final")
        page.until_text("#panel-spectra", "at the end of the run")
        reported = page.ask("fetchedSpectrum")
        run.wait(0)
        assert EVIL in page.text("#spectrum-fit") and page.ask("document.images.length") == 0
    with h5py.File(run.folder / "run.h5") as file:
        group = file["histograms/energy"]
        assert reported["counts"] == group["counts"][()].tolist() == energies_of(recording).tolist()
        assert reported["entries"] == group.attrs["entries"]


def test_reset(browser, recording, tmp_path):
    """The button is there if there are histograms, which then begin again from zero."""
    uri, words, *_ = recording
    shown = "!document.querySelector('[data-command=reset]').hidden"
    run = Monitored(tmp_path, [uri], *words, "--speed", 0.0005)
    with run, browser.page(run.held().url) as page:
        run.proceed(speed=0.0005)
        page.until("fetchedSpectrum && fetchedSpectrum.entries > 100")
        run.control("pause")
        page.until_text("#state", "paused")
        assert page.ask(shown)
        page.click("#token")
        page.type(run.token)
        page.click("[data-command=reset]")
        page.until_text("#answer", "reset: accepted")
        page.until("fetchedSpectrum.since !== null && fetchedSpectrum.entries === 0")
        page.until_text("#panel-spectra", "0 entries")
        assert page.consents == ["Begin the histograms again from zero?"]
        run.control("stop")
        run.wait(STOPPED)
