"""Conventions of all pictures and texts for people: channels as system/subsystem/channel, names of the detector map, a
separate colour for each source, values with their decimals, distinct ticks, and bins of multiplicity."""

import itertools
import math
import re
import xml.etree.ElementTree

import numpy as np
import pytest

from browser import Browser, needs_browser
from detector_reference import write_map
from monitored import Monitored
from page import document_of
from program import Run, eventloom

SVG = "{http://www.w3.org/2000/svg}"
DEFINE = ["--define", "gap:100ns,1"]
SLOWLY = ["--speed", "1e-5"]  # 100 us of data last beyond a look
CHANNELS = {0: "0", 3: "3", 65535: "65535", 0x10000: "0/1/0", 1 << 22: "1/0/0", 1 << 22 | 2 << 16 | 3: "1/2/3",
            62 << 16 | 255 << 8 | 7: "0/62/65287", 0xFFFFFFF: "63/63/65535"}
SOURCES = 64
LEAST_DISTANCE = 10  # in CIE L*a*b*: several times the smallest difference visible side by side
RANGES = [(1000000.0001, 1000000.0005), (-1e9 - 3, -1e9), (0, 1), (0.9995, 1.0005), (511.0001, 511.0002), (0, 123456789),
          (1e15, 1e15 + 7), (-0.003, 0.004), (2**53 - 4, 2**53), (1e18, 1e18 + 4096), (12_340, 12_390)]


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


def table(path, rows, header="time_ns,channel,energy"):
    path.write_text(header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return f"csv:{path}?payload=energy"


def page_of(run, folder):
    eventloom("report", run.output, "--output", folder / "page.html")
    return (folder / "page.html").as_uri()


def texts(path):
    """All texts of an SVG picture."""
    return ["".join(text.itertext()).strip() for text in xml.etree.ElementTree.parse(path).iter(f"{SVG}text")]


def lab(colour):
    """CIE L*a*b* of "#rrggbb" or "rgb(r, g, b)", for the white D65."""
    numbers = [int(colour[i:i + 2], 16) for i in (1, 3, 5)] if colour[0] == "#" else [int(n) for n in re.findall(r"\d+", colour)[:3]]
    rgb = [n / 3294.6 if n <= 10.31475 else ((n / 255 + 0.055) / 1.055) ** 2.4 for n in numbers]
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    white = (0.95047, 1, 1.08883)
    x, y, z = (np.cbrt(v / w) if v / w > 0.008856 else 7.787 * v / w + 16 / 116 for v, w in zip(np.dot(matrix, rgb), white))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def assert_distinct(colours):
    least = min(math.dist(lab(a), lab(b)) for a, b in itertools.combinations(colours, 2))
    assert least > LEAST_DISTANCE, least


def assert_apart(labels, low, high):
    """Labels of ticks are distinct, in order, and within the range; an axis may state a common offset."""
    units = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    numbers = [float(re.match(r"[-+\d.e]+", label)[0]) * units.get(label[-1], 1) for label in labels]
    assert len(set(labels)) == len(labels) >= 2, labels
    assert numbers == sorted(set(numbers)), labels
    slack = (high - low) * 1e-3
    assert low - slack <= numbers[0] and numbers[-1] <= high + slack, labels


# Channels.

@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """One event with a hit of each channel, in a run with a histogram of some of them."""
    folder = tmp_path_factory.mktemp("numbered")
    uri = table(folder / "a.csv", [(i, channel, i) for i, channel in enumerate(CHANNELS)])
    return Run(folder / "run", [uri], *DEFINE, "--hist", f"c=channel:{0x420000}..{0x420008}/8")


def test_channels_on_the_terminal(numbered, tmp_path):
    text = eventloom("show", numbered.output, "--event", 0, "--by", "channel").stdout
    assert re.findall(r"^  source 0 channel (\S+) +\|", text, re.MULTILINE) == [CHANNELS[c] for c in sorted(CHANNELS)]
    assert re.findall(r"^ +\S+[pn]s? +0 +(\S+)  0x\w+$", text, re.MULTILINE) == list(CHANNELS.values())
    summary = eventloom("show", numbered.output, "--summary").stdout
    assert set(re.findall(r"^  source +0 channel +(\S+) ", summary, re.MULTILINE)) == set(CHANNELS.values())
    assert re.search(r"^  1/2/3 +1  #+$", eventloom("hist", numbered.output, "c").stdout, re.MULTILINE)
    eventloom("show", numbered.output, "--event", 0, "--by", "channel", "--svg", tmp_path / "a.svg")
    assert {f"source 0, channel {text}" for text in CHANNELS.values()} <= set(texts(tmp_path / "a.svg"))
    assert "channel 1/2/3, payload 5" in (tmp_path / "a.svg").read_text()


@needs_browser
def test_channels_on_the_page(numbered, browser, tmp_path):
    with browser.page(page_of(numbered, tmp_path)) as page:
        assert page.ask(f"{list(CHANNELS)}.map(channelText)") == list(CHANNELS.values())
        shown = page.ask("[...document.querySelectorAll('#panel-events text')].map((text) => text.textContent)")
        assert "source 0, channel 1/2/3" in shown
        page.click("#panel-events details summary")
        page.until("document.querySelectorAll('#panel-events tbody tr').length")
        rows = page.ask("[...document.querySelectorAll('#panel-events tbody tr')].map((row) => row.cells[2].textContent)")
        assert rows == list(CHANNELS.values())
        axis = page.ask("[...document.querySelectorAll('#panel-spectra svg text')].map((text) => text.textContent)")
        assert "1/2/3" in axis


# Colours.

@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """One event with a hit of each of many sources."""
    folder = tmp_path_factory.mktemp("many")
    uris = [table(folder / f"{s:02}.csv", [(s, 1, 100)]) for s in range(SOURCES)]
    return Run(folder / "run", uris, *DEFINE)


def colours_of_sources(path):
    found = {}
    for circle in xml.etree.ElementTree.parse(path).iter(f"{SVG}circle"):
        found[int(re.search(r"source (\d+)", circle.find(f"{SVG}title").text)[1])] = circle.get("fill")
    return [found[s] for s in range(SOURCES)]


def test_colours_in_svg(many, tmp_path):
    eventloom("show", many.output, "--event", 0, "--svg", tmp_path / "a.svg")
    colours = colours_of_sources(tmp_path / "a.svg")
    assert_distinct(colours)
    assert colours[:3] == ["#0072B2", "#D55E00", "#009E73"]


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_on_the_page(many, browser, tmp_path, scheme):
    eventloom("show", many.output, "--event", 0, "--svg", tmp_path / "a.svg")
    drawn = colours_of_sources(tmp_path / "a.svg")
    with browser.page(page_of(many, tmp_path), scheme=scheme) as page:
        marks = page.ask("[...document.querySelectorAll('#panel-events circle')].map((mark) => [mark.textContent, getComputedStyle(mark).fill])")
        found = {int(re.search(r"source (\d+)", title)[1]): colour for title, colour in marks}
        assert_distinct([found[s] for s in range(SOURCES)])
        assert page.ask(f"Array.from({{length: {SOURCES - 7}}}, (_, i) => seriesColour(i + 7))") == drawn[7:]
        legend = page.ask("[...document.querySelectorAll('#panel-events .legend li')].map((item) =>"
                          "[item.textContent, getComputedStyle(item.firstChild).backgroundColor])")
        assert len(legend) > 8 and all(found[int(words.split()[0])] == colour for words, colour in legend)


# Values.

GAINS = [{"source": "0", "channel": "1", "gain": "0.25", "zero": "-0.5", "unit": "keV", "name": "HPGe"},
         {"source": "0", "channel": "2", "gain": "0.001", "zero": "0", "unit": "MeV"}]
VALUES = [(0, 1, 2046, "511 keV"), (5, 1, 47, "11.25 keV"), (9, 2, 1332, "1.332 MeV")]


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibrated")
    uri = table(folder / "a.csv", [*(row[:3] for row in VALUES), (100_000, 1, 2)])
    return [uri], ["--detector", write_map(folder / "map.csv", GAINS), *DEFINE], Run(
        folder / "run", [uri], "--detector", folder / "map.csv", *DEFINE)


def test_values_on_the_terminal(calibrated, tmp_path):
    text = eventloom("show", calibrated[2].output, "--event", 0).stdout
    for *_, value in VALUES:
        assert f"  {value}  " in text
    eventloom("show", calibrated[2].output, "--event", 0, "--svg", tmp_path / "a.svg")
    assert all(f"value {value}," in (tmp_path / "a.svg").read_text() for *_, value in VALUES)


@needs_browser
def test_values_on_the_page(calibrated, browser, tmp_path):
    with browser.page(page_of(calibrated[2], tmp_path)) as page:
        titles = page.ask("[...document.querySelectorAll('#panel-events circle title')].map((title) => title.textContent)")
        assert [re.search(r"value ([^,]+)", title)[1].replace("\u202f", " ") for title in titles] == [value for *_, value in VALUES]
        page.click("#panel-events details summary")
        page.until("document.querySelectorAll('#panel-events tbody tr').length")
        head = page.ask("[...document.querySelectorAll('#panel-events th')].map((cell) => cell.textContent)")
        rows = page.ask("[...document.querySelectorAll('#panel-events tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        assert [row[head.index("value")].replace("\u202f", " ") for row in rows] == [value for *_, value in VALUES]


@pytest.mark.parametrize("numbers", [[511.25, -3.5, 1e-3], [-7, 2**31 - 1, 12]], ids=["f64", "i32"])
def test_numbers_of_the_payload_without_a_map(numbers, tmp_path):
    """Numbers with a sign or decimals are shown as such, not as their words."""
    uri = table(tmp_path / "a.csv", [(3 * i, 1, number) for i, number in enumerate(numbers)])
    run = Run(tmp_path / "run", [uri], *DEFINE)
    text = eventloom("show", run.output, "--event", 0, "--svg", tmp_path / "a.svg").stdout + eventloom("show", run.output, "--event", 0).stdout
    assert re.findall(r"  (\S+)$", text, re.MULTILINE)[-3:] == [f"{number}" for number in numbers]
    assert re.findall(r"payload ([^,<]+)", (tmp_path / "a.svg").read_text()) == [f"{number}" for number in numbers]
    eventloom("report", run.output, "--output", tmp_path / "page.html")
    with Monitored(tmp_path, [uri], *DEFINE, *SLOWLY) as monitored:
        monitored.held().proceed()
        status = monitored.last_status()
        monitored.wait(0)
    for found in (document_of(tmp_path / "page.html"), status):
        (event,) = found["events"]
        assert event["hits"]["value"] == numbers and "payload" not in event["hits"]


def test_values_and_bins_of_a_run_in_progress(calibrated, tmp_path):
    """As the report has them."""
    uris, words, run = calibrated
    eventloom("report", run.output, "--output", tmp_path / "page.html")
    report = document_of(tmp_path / "page.html")
    with Monitored(tmp_path, uris, *words, *SLOWLY) as monitored:
        monitored.held().proceed()
        status = monitored.last_status()
        monitored.wait(0)
    for found in (status, report):
        (event,) = (event for event in found["events"] if event["n_hits"] == 3)
        assert event["hits"]["value"] == [511, 11.25, 1.332] and event["hits"]["unit"] == ["keV", "keV", "MeV"]
        assert found["histograms"]["multiplicity"]["edges"] == [0.5, 1.5, 2.5, 3.5]
    for name in ("x", "unit", "log_x", "counts"):
        assert status["histograms"]["multiplicity"][name] == report["histograms"]["multiplicity"][name], name
    assert status["histograms"]["duration"]["x"] == report["histograms"]["duration"]["x"] == "duration"


def test_multiplicities_have_the_same_bins(tmp_path):
    """Sizes of all kinds, beyond those with separate bins."""
    sizes = [1, 2, 2, 3, 40, 127, 128, 150, 161, 300]
    times = np.concatenate([10_000 * i + np.arange(size) for i, size in enumerate(sizes)])
    uri = table(tmp_path / "a.csv", [(time, 1, 1) for time in times])
    run = Run(tmp_path / "run", [uri], *DEFINE)
    eventloom("report", run.output, "--output", tmp_path / "page.html")
    report = document_of(tmp_path / "page.html")["histograms"]["multiplicity"]
    with Monitored(tmp_path, [uri], *DEFINE, *SLOWLY) as monitored:
        monitored.held().proceed()
        status = monitored.last_status()["histograms"]["multiplicity"]
        monitored.wait(0)
    assert status["edges"] == report["edges"] and status["counts"] == report["counts"] and status["log_x"] and report["log_x"]
    assert report["counts"] == np.histogram(sizes, report["edges"])[0].tolist()


# Names.

NAMES = [{"source": "0", "name": "clover"}, {"source": "1", "group": "veto"}, {"source": "2", "channel": "0", "name": "Ge 0"},
         {"source": "2", "channel": "2", "name": "Ge 2"}]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    uris = [table(folder / f"{s}.csv", [(1000 * i + s, i % 4, 7) for i in range(40)]) for s in range(3)]
    return Run(folder / "run", uris, *DEFINE, "--detector", write_map(folder / "map.csv", NAMES), "--hist", "c=channel:0..4/4@hits",
               "--hist", "n=n_hits:0..4/4;channel:0..4/4")


def test_names_on_the_terminal(named, tmp_path):
    assert re.search(r"^  Ge 2 +30  #+$", eventloom("hist", named.output, "c").stdout, re.MULTILINE)
    assert re.search(r"^  0 clover +\|", eventloom("show", named.output, "--event", 0, "--by", "source").stdout, re.MULTILINE)
    summary = eventloom("show", named.output, "--summary").stdout
    assert re.search(r"#+ +clover, ", summary) and re.search(r"#+ +veto, ", summary)
    eventloom("show", named.output, "--event", 0, "--by", "source", "--svg", tmp_path / "a.svg")
    assert {"0 clover", "1 veto"} <= set(texts(tmp_path / "a.svg"))
    eventloom("hist", named.output, "--png", tmp_path / "h.svg")
    found = texts(tmp_path / "h.svg")
    assert found.count("Ge 0") == found.count("Ge 2") == 2, "at the x axis of one, at the y axis of the other"


@needs_browser
def test_names_on_the_page(named, browser, tmp_path):
    with browser.page(page_of(named, tmp_path)) as page:
        def shown(panel):
            return page.ask(f"[...document.querySelectorAll('#panel-{panel} figure svg text')].map((text) => text.textContent)")
        assert {"0 clover", "1 veto", "2"} <= set(shown("sources"))
        assert {"Ge 0", "1", "Ge 2", "3"} <= set(shown("spectra"))
        page.ask("(() => { const list = document.querySelector('#choose-spectrum'); list.value = 1;"
                 "list.dispatchEvent(new Event('change')); })()")
        assert {"Ge 0", "Ge 2"} <= set(shown("spectra"))
        page.ask("(() => { const list = document.querySelector('#choose-channels'); list.value = 2;"
                 "list.dispatchEvent(new Event('change')); })()")
        assert {"Ge 0", "1", "Ge 2", "3"} <= set(shown("channels"))
        page.ask("(() => { const list = document.querySelector('#choose-channels'); list.value = 0;"
                 "list.dispatchEvent(new Event('change')); })()")
        assert {"0", "1", "2", "3"} <= set(shown("channels")), "all channels of the clover have the same name"


# Ticks.

@needs_browser
def test_no_label_is_cut(browser, named, tmp_path):
    """At the right edge of a chart, 0.0025 would read as 0.002."""
    with browser.page(page_of(named, tmp_path)) as page:
        beyond = page.ask("[...document.querySelectorAll('figure svg')].flatMap((picture) => [...picture.querySelectorAll('text')]"
                          ".filter((text) => text.getBoundingClientRect().right > picture.getBoundingClientRect().right + 1)"
                          ".map((text) => text.textContent))")
        assert beyond == []


@needs_browser
@pytest.mark.parametrize("low, high", RANGES)
def test_ticks_on_the_page(browser, many, tmp_path, low, high):
    with browser.page(page_of(many, tmp_path)) as page:
        for count in (3, 5, 10):
            labels = page.ask(f"tickLabels(linearTicks({low}, {high}, {count})).map((label) => label.replace('\\u202f', ''))")
            assert_apart(labels, low, high)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Three events, of one to three hits, on two channels."""
    folder = tmp_path_factory.mktemp("few")
    uri = table(folder / "a.csv", [(1000 * i + k, k % 2, 5) for i in range(1, 4) for k in range(i)])
    return Run(folder / "run", [uri], *DEFINE, "--hist", "n=n_hits:1..4/3", "--hist", "two=n_hits:1..4/3;duration:0..4/4",
               "--hist", "c=channel:0..3/1")


@needs_browser
def test_ticks_of_counts_on_the_page(browser, few, tmp_path):
    """Numbers of hits, channels, and numbers of entries are integers."""
    with browser.page(page_of(few, tmp_path)) as page:
        def ticks(title):
            place = page.ask(f"[...document.querySelectorAll('svg')].findIndex((one) => (one.getAttribute('aria-label') || '').startsWith('{title}'))")
            assert place >= 0
            labels = page.ask(f"[...document.querySelectorAll('svg')[{place}].querySelectorAll('text')].map((text) => text.textContent)")
            return [label for label in labels if re.fullmatch(r"[\d.]+", label)]

        assert {"1", "2", "3"} <= set(ticks("Multiplicity"))
        titles = ["Multiplicity", "n: entries", "Hits by source", "Hits by channel"]
        for title in titles:
            assert len(ticks(title)) >= 2 and not [label for label in ticks(title) if "." in label], (title, ticks(title))
        page.choose("#choose-spectrum", "two")
        page.until("[...document.querySelectorAll('svg')].some((one) => (one.getAttribute('aria-label') || '').startsWith('two'))")
        assert not [label for label in ticks("two")[-3:] if "." in label], ticks("two")


def test_ticks_of_counts_in_files(few, tmp_path):
    for name, bins in (("n", {"1", "2", "3"}), ("c", {"0", "1", "2", "3"})):
        for scale in ([], ["--log"]):
            eventloom("hist", few.output, name, "--png", tmp_path / "a.svg", *scale)
            found = {text for text in texts(tmp_path / "a.svg") if re.fullmatch(r"[\d.]+m?", text)}
            assert bins <= found and found <= bins | {"0", "1", "2", "4", "6", "10", "100m"}, found
            assert not scale or "100m" in found, "one entry is above the axis"


def test_plots_replace_plots(few, tmp_path):
    picture, foreign = tmp_path / "a.svg", tmp_path / "b.svg"
    done = [eventloom("hist", few.output, name, "--png", picture) for name in ("n", "two")]
    assert [result.stderr for result in done] == ["", ""], "gnuplot has nothing to say of empty bins"
    foreign.write_text('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><title>My plot</title></svg>\n')
    refused = eventloom("hist", few.output, "n", "--png", foreign, code=2)
    assert "is not a file that Eventloom may replace" in refused.stderr and "My plot" in foreign.read_text()


def test_ticks_of_a_narrow_histogram(tmp_path):
    """Far from zero, no two ticks are equal on any axis, and the text distinguishes the bins."""
    low, high = 1000000.0001, 1000000.0005
    uri = table(tmp_path / "a.csv", [(1000 * i, 1, 10_000_000_000 + i % 6) for i in range(100)], "time_ns,channel,energy").replace(
        "energy", "energy:f64")
    (tmp_path / "map.csv").write_text("source,channel,gain,group\n0,,0.0001,A\n")
    run = Run(tmp_path / "run", [uri], *DEFINE, "--detector", tmp_path / "map.csv", "--hist", f"e=value(A):{low}..{high}/8@hits",
              "--hist", f"two=value(A):{low}..{high}/8;value(A):{low}..{high}/8")
    bins = re.findall(r"^  (\S+) up to (\S+) +\d+ ", eventloom("hist", run.output, "e").stdout, re.MULTILINE)
    assert len(bins) == 8 and len(set(itertools.chain(*bins))) == 9
    for name, axes in (("e", 1), ("two", 2)):
        eventloom("hist", run.output, name, "--png", tmp_path / f"{name}.svg")
        ticks = [text for text in texts(tmp_path / f"{name}.svg") if re.fullmatch(r"1000000\.\d+", text)]
        assert len(ticks) >= 3 * axes and max(ticks.count(tick) for tick in ticks) <= axes, ticks
