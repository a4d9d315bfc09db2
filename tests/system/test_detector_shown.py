"""How show, report and monitor present a detector map, for a run whose hits are all known: names, groups, positions."""

import random
import re
import xml.etree.ElementTree
from collections import Counter

import h5py
import numpy as np
import pytest

from browser import Browser, needs_browser
from detector_reference import write_map
from monitored import Monitored
from page import document_of
from program import Run, eventloom
from results import read_merged

EVIL = "<img src=x onerror=\"document.title='acted'\">'\"&\u202eevil"
SVG = "{http://www.w3.org/2000/svg}"
DEFINE = ("--define", "gap:100ns,2")
FACTS = {"groups": ["A", "B"], "masked": {"channels": 2, "open": 0}, "cut": {"channels": 2, "open": 0},
         "with_offset": {"channels": 0, "open": 1}}


class Known:
    """Three sources: a map describes channels 1 to 7 of the first two completely, but not 8, 9 and the third source."""

    def __init__(self, grouped=True):
        self.rows = [{"source": "0", "offset_ns": "2"}]
        self.name, self.groups, self.position = {}, {}, {}
        for source in (0, 1):
            for channel in range(1, 8):
                key = (source, channel)
                self.name[key] = EVIL if channel == 3 else f"PMT-{source}{channel}"
                self.groups[key] = [["A"], ["B"], ["A", "B"]][channel % 3] if grouped else []
                self.position[key] = (10 * channel, 1000 + 200 * source, -7 * channel * channel)
                x, y, z = map(str, self.position[key])
                self.rows.append({"source": str(source), "channel": str(channel), "name": self.name[key],
                                  "group": ";".join(self.groups[key]), "mask": "1" if channel == 7 else "",
                                  "min_payload": "3" if channel == 6 else "", "x_m": x, "y_m": y, "z_m": z})


def write_sources(folder, seed=5):
    draw = random.Random(seed)
    for source in range(3):
        rows = sorted((10_000 * event + draw.randint(0, 60), draw.randint(1, 9), draw.randint(1, 200))
                      for event in range(150) for _ in range(draw.randint(2, 7)))
        lines = "".join(f"{time},{channel},{adc}\n" for time, channel, adc in rows)
        (folder / f"{source}.csv").write_text("time,channel,adc\n" + lines)
    return [f"csv:{folder}/{source}.csv?unit=ns&payload=adc" for source in range(3)]


class Seen:
    """A run with a map, and the hits of its events."""

    def __init__(self, folder, known):
        self.known = known
        self.map = write_map(folder / "map.csv", known.rows)
        self.uris = write_sources(folder)
        self.run = Run(folder / "run", self.uris, *DEFINE, "--detector", self.map)
        merged = read_merged(self.run.merged)
        self.first = merged["events/first_hit"].astype(int)
        self.hits = list(zip(merged["hits/source"].tolist(), merged["hits/channel"].tolist()))

    def of_event(self, number):
        return self.hits[self.first[number]:self.first[number + 1]]

    def by_group(self):
        counts = Counter(group for hit in self.hits for group in self.known.groups.get(hit, []) or [None])
        return [counts["A"], counts["B"]], counts[None]

    def event_of_all_kinds(self):
        """An event with a hit in each group, one in none, and a hostile name."""
        def kinds(number):
            hits = self.of_event(number)
            return {group for hit in hits for group in self.known.groups.get(hit, ["none"])} | {hit[1] for hit in hits}
        return next(n for n in range(len(self.first) - 1) if {"A", "B", "none", 3, 8} <= kinds(n))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    return Seen(tmp_path_factory.mktemp("seen"), Known())


@pytest.fixture(scope="module")
def ungrouped(tmp_path_factory):
    return Seen(tmp_path_factory.mktemp("ungrouped"), Known(grouped=False))


def safe(name):
    return name.replace("\u202e", r"\xe2\x80\xae")


def rows_of_table(text):
    """(source, channel, name, groups) of each hit."""
    return [(int(source), int(channel), name.strip(), set(groups.strip().split(";"))) for source, channel, name, groups in
            re.findall(r"^ +\S+[pn]s  +(\d+)  +(\d+)  (.{28})  (.{6})  0x\w+$", text, re.MULTILINE)]


@pytest.mark.parametrize("file", ["output", "merged"])
def test_hits_on_the_terminal_have_names_and_groups(seen, file):
    number = seen.event_of_all_kinds()
    done = eventloom("show", getattr(seen.run, file), "--event", number)
    names = {key: safe(name) if len(safe(name)) <= 28 else "..." + safe(name)[-25:] for key, name in seen.known.name.items()}
    expected = [(*hit, names.get(hit, "-"), set(seen.known.groups.get(hit, ["-"]))) for hit in seen.of_event(number)]
    assert rows_of_table(done.stdout) == expected
    assert "\u202e" not in done.stdout and "\x1b" not in done.stdout


def test_rows_of_channels_have_names(seen):
    number = seen.event_of_all_kinds()
    text = eventloom("show", seen.run.output, "--event", number, "--by", "channel").stdout
    for source, channel in seen.of_event(number):
        name = seen.known.name.get((source, channel), "")
        assert re.search(f"^  source {source} channel {channel} {re.escape(safe(name)[-25:]) if name != EVIL else '.*evil'} *\\|",
                         text, re.MULTILINE), text


def test_summary_counts_groups_and_names_channels(seen):
    text = eventloom("show", seen.run.output, "--summary").stdout
    (a, b), none = seen.by_group()
    section = text.split("hits in events, by group\n")[1].split("\n\n")[0]
    assert [line.split()[:2] for line in section.splitlines()] == [["A", str(a)], ["B", str(b)], ["(none)", str(none)]]
    counted = Counter(seen.hits)
    rows = re.findall(r"^  source +(\d+) channel +(\d+) +(\d+) +\S+ +#+(.*)$", text, re.MULTILINE)
    assert len(rows) == 20
    for source, channel, hits, name in rows:
        assert counted[int(source), int(channel)] == int(hits)
        full = safe(seen.known.name.get((int(source), int(channel)), ""))
        assert name.strip() == (full if len(full) <= 28 else "..." + full[-25:])


def test_without_a_map_nothing_is_said_of_one(seen, tmp_path):
    run = Run(tmp_path, seen.uris, *DEFINE)
    assert "groups" not in eventloom("show", run.output, "--event", 0).stdout
    assert "by group" not in eventloom("show", run.output, "--summary").stdout
    eventloom("show", run.output, "--event", 0, "--svg", tmp_path / "a.svg")
    eventloom("report", run.output, "--output", tmp_path / "a.html")
    found = document_of(tmp_path / "a.html")
    assert " [m]" not in (tmp_path / "a.svg").read_text()
    assert "groups" not in found and "detector" not in found["setup"] and "name" not in found["channels"][0]
    assert not {"name", "group"} & set(found["events"][0]["hits"])


# The picture of an event


def drawn(run, number, folder):
    eventloom("show", run, "--event", number, "--by", "channel", "--svg", folder / "a.svg")
    text = (folder / "a.svg").read_text()
    assert "<img" not in text and "\u202e" not in text
    return xml.etree.ElementTree.fromstring(text)


def marks_of(part):
    """(x, y, radius, colour, title) of the hits."""
    return [(float(c.get("cx")), float(c.get("cy")), float(c.get("r")), c.get("fill"), c.find(f"{SVG}title").text)
            for c in part.findall(f"{SVG}circle")]


def channel_of(title):
    return tuple(map(int, re.search(r"source (\d+), channel (\d+)", title).groups()))


def legend_of(svg):
    """{name: colour}: each square stands before its text."""
    return {text.text: square.get("fill") for square, text in zip(svg, list(svg)[1:])
            if square.tag == f"{SVG}rect" and square.get("width") == "11"}


def test_hits_are_coloured_by_group(seen, tmp_path):
    number = seen.event_of_all_kinds()
    svg = drawn(seen.run.output, number, tmp_path)
    legend, marks = legend_of(svg), marks_of(svg)
    assert set(legend) == {"A", "B", "no group"} and len(set(legend.values())) == 3
    assert sorted(channel_of(title) for *_, title in marks) == sorted(seen.of_event(number))
    for *_, colour, title in marks:
        groups = seen.known.groups.get(channel_of(title), ["no group"])
        assert colour in {legend[group] for group in groups}
        assert groups == ["no group"] or set(title.rpartition(", group ")[2].split(";")) == set(groups)
    names = {text.text for text in svg.findall(f"{SVG}text")}
    assert {f"source {s}, {seen.known.name[s, c]}" for s, c in seen.of_event(number) if (s, c) in seen.known.name and c != 3} <= names


def assert_linear(pixels, metres):
    """The pixels per metre."""
    slope, start = np.polyfit(metres, pixels, 1)
    assert np.allclose(pixels, slope * np.array(metres) + start, atol=0.05)
    return slope


@pytest.mark.parametrize("view, across, up", [("top", 0, 1), ("side", 1, 2)])
def test_views_of_positions(seen, tmp_path, view, across, up):
    """y spreads more than x in this detector; a metre has the same length in both directions."""
    number = seen.event_of_all_kinds()
    part = next(g for g in drawn(seen.run.output, number, tmp_path).iter(f"{SVG}g") if g.get("class") == view)
    marks = marks_of(part)
    placed = [hit for hit in seen.of_event(number) if hit in seen.known.position]
    assert [channel_of(title) for *_, title in marks] == placed and 0 < len(placed) < len(seen.of_event(number))
    metres = [seen.known.position[hit] for hit in placed]
    assert len({m[across] for m in metres}) > 1 and len({m[up] for m in metres}) > 1
    pixels = assert_linear([mark[0] for mark in marks], [m[across] for m in metres])
    assert assert_linear([mark[1] for mark in marks], [m[up] for m in metres]) == pytest.approx(-pixels, rel=1e-3)
    assert pixels > 0 and all(float(r) > 0 for _, _, r, _, _ in marks)
    texts = [text.text for text in part.findall(f"{SVG}text")]
    assert f"{'xyz'[across]} [m]" in texts and f"{'xyz'[up]} [m]" in texts
    dots = part.find(f"{SVG}path").get("d").count("M")
    assert dots == 14 + len(placed), "all of the detector, and the hits"


def test_ticks_of_the_views_are_at_their_metres(seen, tmp_path):
    svg = drawn(seen.run.output, seen.event_of_all_kinds(), tmp_path)
    part = next(g for g in svg.iter(f"{SVG}g") if g.get("class") == "top")
    marks = marks_of(part)
    ticks = [(float(t.get("x")), float(t.text)) for t in part.findall(f"{SVG}text")
             if t.get("text-anchor") == "middle" and re.fullmatch(r"-?[\d.e+]+", t.text)]
    assert len(ticks) >= 2
    assert_linear([x for x, _ in ticks] + [mark[0] for mark in marks],
                  [at for _, at in ticks] + [seen.known.position[channel_of(mark[4])][0] for mark in marks])


def test_positions_without_groups_are_coloured_by_time(ungrouped, tmp_path):
    number = next(n for n in range(150) if len({hit for hit in ungrouped.of_event(n) if hit in ungrouped.known.position}) > 4)
    svg = drawn(ungrouped.run.output, number, tmp_path)
    assert legend_of(svg) == {}
    over_time = {channel_of(title)[0]: colour for *_, colour, title in marks_of(svg)}
    assert len(set(over_time.values())) == len(over_time) > 1, "a colour for each source"
    part = next(g for g in svg.iter(f"{SVG}g") if g.get("class") == "top")
    lightness = [sum(int(colour[i:i + 2], 16) for i in (1, 3)) for *_, colour, _ in marks_of(part)]
    assert lightness == sorted(lightness) and len(set(lightness)) > 3, "viridis: red and green together rise with time"
    assert any(text.text == "colour: time since the first hit" for text in svg.findall(f"{SVG}text"))


# Report and monitor


def assert_shown(seen, document):
    """Both documents show the same for all hits."""
    (a, b), none = seen.by_group()
    assert document["groups"] == {"name": ["A", "B"], "hits": [a, b], "none": none, "unknown": 0}
    facts = dict(document["setup"]["detector"])
    assert sorted(map(tuple, facts.pop("positions"))) == sorted(set(seen.known.position.values()))
    of_channels = {}
    for (_, channel), name in seen.known.name.items():
        of_channels.setdefault(channel, set()).add(name)
    assert facts.pop("names") == [[c, *names] for c, names in sorted(of_channels.items()) if len(names) == 1]
    assert facts == {"file": str(seen.map)} | FACTS
    for item in document["channels"]:
        names = [seen.known.name.get((item["source"], channel), "") for channel in item["channel"]]
        assert item.get("name") == (names if any(names) else None)
    assert {item["source"] for item in document["channels"]} == {0, 1, 2}
    for event in document["events"]:
        hits = list(zip(event["hits"]["source"], event["hits"]["channel"]))
        assert [set(groups.split(";")) for groups in event["hits"]["group"]] == [set(seen.known.groups.get(h, [""])) for h in hits]
        assert event["hits"].get("name", [""] * len(hits)) == [seen.known.name.get(hit, "") for hit in hits]
        placed = [list(seen.known.position[hit]) if hit in seen.known.position else None for hit in hits]
        assert event["hits"].get("position", [None] * len(hits)) == placed
    assert any("name" in event["hits"] for event in document["events"])


@pytest.mark.parametrize("file", ["output", "merged"])
def test_report(seen, tmp_path, file):
    eventloom("report", getattr(seen.run, file), "--output", tmp_path / "a.html")
    assert_shown(seen, document_of(tmp_path / "a.html"))


def test_groups_count_channels_beyond_those_listed(tmp_path):
    """A report counts every hit, however many channels there are."""
    rows = "".join(f"{100_000 * (i // 2) + i % 2},{i},1\n" for i in range(70_000))
    (tmp_path / "a.csv").write_text("time,channel,adc\n" + rows)
    mapped = write_map(tmp_path / "map.csv", [{"source": "0", "group": "all"}, {"source": "0", "channel": "69000-69999", "group": "end"}])
    run = Run(tmp_path / "run", [f"csv:{tmp_path}/a.csv?unit=ns"], "--define", "gap:10ns,2", "--detector", mapped)
    eventloom("report", run.output, "--output", tmp_path / "a.html")
    found = document_of(tmp_path / "a.html")
    assert found["channels"][0]["others"] > 0
    assert found["groups"] == {"name": ["all", "end"], "hits": [69_000, 1000], "none": 0, "unknown": 0}


def test_damaged_map_is_refused(seen, tmp_path):
    path = tmp_path / "run.h5"
    path.write_bytes(seen.run.merged.read_bytes())
    with h5py.File(path, "r+") as file:
        del file["detector/name"]
    assert "/detector/name" in eventloom("show", path, "--event", 0, code=2).stderr


def test_monitor(seen, tmp_path):
    with Monitored(tmp_path, seen.uris, *DEFINE, "--detector", seen.map, "--speed", 1e-4) as run:  # still runs below
        run.held().proceed()
        status = run.last_status()
        assert status["share_counted"] == 1
        assert_shown(seen, status)
        run.wait(0)


# The page


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page(seen, browser, tmp_path, scheme):
    eventloom("report", seen.run.output, "--output", tmp_path / "a.html")
    (a, b), none = seen.by_group()
    with browser.page((tmp_path / "a.html").as_uri(), scheme=scheme) as page:
        bars = page.ask("[...document.querySelectorAll('#panel-groups rect')].map((bar) => [bar.textContent, bar.style.getPropertyValue('--c')])")
        assert [(words.replace("\u202f", ""), kind) for words, kind in bars] == [
            (f"A: {a}", "var(--c0)"), (f"B: {b}", "var(--c1)"), (f"no group: {none}", "var(--c6)")]
        setup = page.text("#panel-setup")
        for words in (f"detector map\n{seen.map}", "groups\nA, B", "masked\n2 channels", "cut by payload\n2 channels", "with an offset\nall of 1 source"):
            assert words in setup
        assert_names_of_channels(page, seen)
        assert_event(page, seen)
        markup = page.markup()
    assert "<img" not in markup.split("<main")[1] and "<title>acted" not in markup


def assert_names_of_channels(page, seen):
    page.click("#panel-channels summary")
    page.until("document.querySelectorAll('#panel-channels tbody tr').length")
    rows = page.ask("[...document.querySelectorAll('#panel-channels tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    counted = Counter(seen.hits)
    assert [(int(channel), name, int(hits)) for channel, name, hits in rows] == [
        (channel, seen.known.name.get((0, channel), ""), counted[0, channel]) for channel in (1, 2, 3, 4, 5, 6, 8, 9)]
    titles = page.ask("[...document.querySelectorAll('#panel-channels line title')].map((title) => title.textContent)")
    assert f"PMT-02: {counted[0, 2]}" in titles and any(title.startswith(EVIL) for title in titles)


def assert_event(page, seen):
    """Its marks have the colours of the legend."""
    legend = dict(page.ask("[...document.querySelectorAll('#panel-events .legend li')].map((item) => [item.textContent, item.firstChild.className])"))
    assert set(legend) <= {"A", "B", "no group"} and len(legend) > 1
    marks = page.ask("[...document.querySelectorAll('#panel-events circle')].map((mark) => [mark.textContent, mark.getAttribute('class')])")
    assert marks
    for title, kind in marks:
        hit = channel_of(title)
        assert kind.replace("mark", "key") in {legend[group] for group in seen.known.groups.get(hit, ["no group"]) if group in legend}
        assert seen.known.name.get(hit, "") in title


def views_on(page):
    """[{label, marks: (x, y, title, colour), texts}] of the views of positions on the page."""
    return page.ask("""[...document.querySelectorAll('#positions svg')].map((svg) => ({
        label: svg.getAttribute('aria-label'), dots: (svg.querySelector('.dots')?.getAttribute('d') || '').split('M').length - 1,
        texts: [...svg.querySelectorAll('text')].map((text) => text.textContent),
        marks: [...svg.querySelectorAll('circle')].map((mark) => [Number(mark.getAttribute('cx')), Number(mark.getAttribute('cy')),
            mark.textContent, mark.getAttribute('fill') || mark.getAttribute('class')])}))""")


def event_with_positions(page, known):
    """Chooses it on the page and returns its hits with positions; some of its hits have none."""
    events = page.ask("(listed || latest.events).map((event) => event.hits)")
    at, hits = next((i, hits) for i, event in enumerate(events) if (hits := list(zip(event["source"], event["channel"])))
                    and len({known.position.get(hit, (0, 0))[:2] for hit in hits}) > 3 and any(hit not in known.position for hit in hits)
                    and len({known.position[hit][1] for hit in hits if hit in known.position}) > 1)
    page.ask(f"chosen.set('events', {at}); show(latest, true)")
    return [hit for hit in hits if hit in known.position]


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_views_of_positions_on_the_page(seen, browser, tmp_path, width):
    """The views equal those of `show --svg`."""
    eventloom("report", seen.run.output, "--output", tmp_path / "a.html")
    with browser.page((tmp_path / "a.html").as_uri(), (width, 844)) as page:
        placed = event_with_positions(page, seen.known)
        views = views_on(page)
        assert [view["label"].split(":")[0] for view in views] == ["Top view", "Side view"]
        for view, (across, up) in zip(views, ((0, 1), (1, 2))):
            assert [channel_of(title) for _, _, title, _ in view["marks"]] == placed
            metres = [seen.known.position[hit] for hit in placed]
            pixels = assert_linear([mark[0] for mark in view["marks"]], [m[across] for m in metres])
            assert assert_linear([mark[1] for mark in view["marks"]], [m[up] for m in metres]) == pytest.approx(-pixels, rel=1e-2)
            assert f"{'xyz'[across]} [m]" in view["texts"] and f"{'xyz'[up]} [m]" in view["texts"]
            assert view["dots"] == 14 + len(placed) and all(kind == "mark" for *_, kind in view["marks"])
        assert re.search(r"\d+ hits? without a position", page.text("#positions"))
        assert page.ask("document.documentElement.scrollWidth") <= width


@needs_browser
def test_views_without_groups_are_coloured_by_time(ungrouped, browser, tmp_path):
    eventloom("report", ungrouped.run.output, "--output", tmp_path / "a.html")
    with browser.page((tmp_path / "a.html").as_uri()) as page:
        event_with_positions(page, ungrouped.known)
        top, _, scale = views_on(page)
        colours = [tuple(map(int, re.findall(r"\d+", colour))) for *_, colour in top["marks"]]
        assert [red + green for red, green, _ in colours] == sorted(red + green for red, green, _ in colours)
        assert len(set(colours)) > 2 and "time since the first hit" in scale["label"]


@needs_browser
def test_the_page_of_a_run_shows_positions(seen, browser, tmp_path):
    with Monitored(tmp_path, seen.uris, *DEFINE, "--detector", seen.map, "--speed", 1e-4) as run:
        with browser.page(run.held().url) as page:
            page.until("latest && latest.state === 'paused'")
            run.proceed()
            page.until("latest.state === 'ended'")
            placed = event_with_positions(page, seen.known)
            assert [channel_of(title) for _, _, title, _ in views_on(page)[0]["marks"]] == placed
        run.wait(0)
