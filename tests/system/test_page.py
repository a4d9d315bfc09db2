"""The page of a report in a browser: its panels exist, their statements are true, no name in it acts, and it prints."""

import json
import re

import pytest

from browser import Browser, needs_browser
from page import document_of
from program import Run, eventloom, generate
from truth import RECORDINGS

pytestmark = needs_browser
EVIL = "<img src=x onerror=\"document.title='acted'\">.epochs"
PANELS = ("series", "ledger", "multiplicity", "duration", "interval", "sources", "channels", "balance", "events", "setup", "counters")


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


def shown(browser, path):
    with browser.page(path.as_uri()) as page:
        return page.markup()


@pytest.fixture(scope="module")
def real(tmp_path_factory, browser):
    """The page of a real recording, as displayed by the browser."""
    folder = tmp_path_factory.mktemp("real")
    run = Run(folder, [RECORDINGS[1].uri()], "--define", "gap:25ns,4")
    eventloom("report", run.output, "--output", folder / "report.html")
    return folder / "report.html", shown(browser, folder / "report.html")


def test_every_panel_is_drawn(real):
    for panel in PANELS:
        section = re.search(f'<section id="panel-{panel}"(.*?)</section>', real[1], re.DOTALL)
        assert section, panel
        assert "<svg" in section.group(1) or "<table" in section.group(1) or "<dl" in section.group(1), panel
        assert f'aria-labelledby="title-{panel}"' in section.group(1), panel
    for panel in ("links", "ranks", "alarms", "log"):
        assert re.search(f'<section id="panel-{panel}"[^>]* hidden=""', real[1]), f"{panel}, of which nothing is known"


def test_pictures_say_what_they_are(real):
    pictures = re.findall(r"<svg[^>]*>", real[1])
    assert len(pictures) >= 9
    assert all('role="img"' in picture and 'aria-label="' in picture for picture in pictures)
    assert "NaN" not in real[1] and "undefined" not in real[1].split("<main")[1].split("</main>")[0]


def test_numbers_are_those_of_the_document(real):
    document = document_of(real[0])
    body = real[1].replace("\u202f", "")
    assert re.search(r'<p id="state"[^>]*>complete</p>', body)
    assert str(document["ledger"]["hits_in"]) in body and str(document["ledger"]["hits_outside"]) in body
    assert f">time {document['events'][0]['time']}: " in body


def test_it_prints(real, browser):
    with browser.page(real[0].as_uri(), scheme="dark") as page:
        printed = page.printed()
    assert printed.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2


def test_names_do_not_act(browser, tmp_path):
    generate(tmp_path / "in", sources=1, rate=100_000, hits=8, duration="1ms")
    (tmp_path / "in" / "source_000.epochs").rename(tmp_path / "in" / EVIL)
    run = Run(tmp_path / "run", [f"file:{tmp_path}/in/*.epochs"], "--define", "gap:25ns,4")
    eventloom("report", run.output, "--output", tmp_path / "report.html")
    body = shown(browser, tmp_path / "report.html")
    assert "<img" not in body and "<title>acted" not in body
    assert "&lt;img src=x onerror=" in body.split("<main")[1]


def test_alarms_stand_above_all_else(real, browser, tmp_path):
    document = document_of(real[0])
    document["alarms"] = [{"condition": f"rate:3<1{EVIL}", "active": True, "raised": "2026-11-22T18:31:48Z", "value": 0.25},
                          {"condition": "lost>0", "active": False, "raised": None, "value": 0}]
    page = real[0].read_text(encoding="utf-8")
    words = json.dumps(document).replace("<", "\\u003c")
    (tmp_path / "alarms.html").write_text(re.sub(r'(id="document">).*?(</script>)', lambda m: m[1] + words + m[2], page, flags=re.DOTALL),
                                          encoding="utf-8")
    body = shown(browser, tmp_path / "alarms.html")
    alert = re.search(r'<div id="alarms" role="alert"[^>]*>(.*?)</div>', body, re.DOTALL).group(1)
    assert alert.startswith("<p>Alarm: rate:3&lt;1&lt;img src=x") and "18:31:48Z</p>" in alert and "lost" not in alert
    panel = re.search('<section id="panel-alarms"(.*?)</section>', body, re.DOTALL).group(1)
    assert "active" in panel and "quiet" in panel and "0.25" in panel and "never" in panel
    assert "<img" not in body and "<title>acted" not in body


def test_scripts_of_others_are_forbidden(real, browser, tmp_path):
    """The page's policy, in case a script was injected nevertheless."""
    page = real[0].read_text().replace("<footer>", "<script>document.title = 'acted'</script><img src=x onerror=\"document.title='acted'\"><footer>")
    (tmp_path / "changed.html").write_text(page)
    with browser.page((tmp_path / "changed.html").as_uri()) as page:
        body = page.markup()
        assert all("Content Security Policy" in error for error in page.errors), page.errors
        assert len(page.errors) == 3, page.errors  # the script, the picture, its handler
        page.errors.clear()
        page.requests.pop()  # of the picture, refused by the policy
    assert "<title>acted" not in body and 'id="panel-ledger"' in body
