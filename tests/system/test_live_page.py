"""The page of a running run, used like a shift crew does: its figures are true, it steers, and it marks outdated
figures."""

import math
import re
import signal

import pytest

from browser import PHONE, Browser, needs_browser
from interrupted import STOPPED
from monitored import HOST, Monitored
from program import generate

pytestmark = needs_browser
DEFINE = ("--define", "gap:25ns,4")
EVIL = "<img src=x onerror=\"document.title='acted'\">.epochs"

WIDE = 40 * "W" + ".epochs"


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """Half a second of three sources, two with long names: one of wide letters, and a hostile one."""
    folder = tmp_path_factory.mktemp("streams")
    uris = generate(folder, sources=3, rate=2000, noise=4000, duration="500ms")
    (folder / "source_001.epochs").rename(folder / WIDE)
    (folder / "source_002.epochs").rename(folder / EVIL)
    return [uris[0], str(folder / WIDE), str(folder / EVIL)]


def slowly(streams, folder, *options):
    """100 s: the run does not end before the page is loaded."""
    return Monitored(folder, streams, *DEFINE, "--speed", 0.005, *options, np=3)


def hits_in(page):
    return page.ask("latest.ledger.hits_in")


def ledger_of(page):
    """{account: hits} from the table."""
    rows = page.ask("[...document.querySelectorAll('#panel-ledger tbody tr')].map((row) =>"
                    "[...row.cells].slice(0, 2).map((cell) => cell.innerText))")
    return {name.strip(): int(re.sub(r"\D", "", number)) for name, number in rows}


def focused(page):
    return page.ask("document.activeElement.id || document.activeElement.dataset.command || document.activeElement.innerText")


def test_numbers_move_and_commands_are_obeyed(browser, streams, tmp_path):
    with slowly(streams, tmp_path) as run, browser.page(run.listening().url) as page:
        page.until_text("#state", "running")
        before = page.until("document.querySelectorAll('#panel-ledger td').length && latest.ledger.hits_in")
        page.until(f"latest.ledger.hits_in > {before} && document.querySelector('#panel-series path') !== null")
        assert page.ask("[...document.querySelectorAll('#control button')].every((button) => button.disabled)")

        page.click("#token")
        page.type("wrong")
        page.click("[data-command=pause]")
        page.until_text("#answer", "pause: refused (403), wrong token")
        assert len(page.refused) == 1 and run.status()["commands"] == []
        page.ask("document.getElementById('token').value = ''")
        page.click("#token")
        page.type(run.token)
        page.press("Enter")  # is no command

        passed = []
        while len(passed) < 6:
            page.press("Tab")
            passed.append(focused(page))
        assert passed == ["pause", "resume", "stop", "new-file", "speed", "Set speed"]
        page.click("[data-command=pause]")
        page.until_text("#answer", "pause: accepted")
        page.until_text("#state", "paused")
        assert run.status()["state"] == "paused"
        page.click("[data-command=resume]")
        page.until_text("#state", "running")

        assert page.ask("document.getElementById('speed').value") == "0.005"
        for speed, answer in (("1e-9", "speed: refused (400), speed must be"), ("0.01", "speed: accepted")):
            page.ask("document.getElementById('speed').select()")
            page.type(speed)
            page.press("Enter")
            page.until_text("#answer", answer)
        page.until("latest.setup.speed === 0.01")
        page.click("[data-command=new-file]")
        page.until_text("#answer", "new-file: accepted")

        assert page.ask("[...document.querySelectorAll('#panel-commands th')].map((cell) => cell.innerText)") == ["time (UTC)", "from", "command"]
        page.until_text("#panel-commands", f"{HOST} (Mozilla/")
        page.click("[data-command=stop]")
        run.wait(STOPPED)
        assert page.consents == ["Stop the run?"]
        page.until_text("#state", "ended")
        page.until_text("#message", "stopped by a command")
        page.until_text("#progress", "exit code 75")
        assert [command["command"] for command in run.report()["commands"]] == ["pause", "resume", "speed 0.01", "new-file", "stop"]
        page.until_text("#connection", "The last state: ended")
        assert page.text("#token") == "" and page.ask("document.getElementById('control').hidden")


def test_the_end_is_that_of_the_report(browser, streams, tmp_path):
    with slowly(streams, tmp_path, "--filter", "n_hits>=6") as run, browser.page(run.held().url) as page:
        run.proceed(speed=0.2)
        page.until_text("#state", "ended")
        run.wait(0)
        page.until_text("#connection", "The last state: ended")
        assert not page.ask("document.body.classList.contains('past')") # it is final
        assert_labels_fit(page)
        totals = run.report()["totals"]
        shown = ledger_of(page)
        for name, account in (("hits_in", "hits in"), ("hits_in_events", "= in events"), ("hits_outside", "+ outside events"),
                              ("hits_rejected", "+ rejected by a filter"), ("slices", "slices"), ("events", "events")):
            assert shown[account] == totals[name] > 0, name
        assert "The account balances." in page.text("#panel-ledger") and "exit code 0" in page.text("#progress")
        assert page.ask("[...document.querySelectorAll('#figures dt')].map((name) => name.innerText)").count("events") == 1
        assert_rows_are_ranks(page)
        assert "another writer has the next slice" in page.text("#panel-interval")
        assert_names_do_not_act(page)
        assert_pictures_say_what_they_are(page)
        assert_fits(page)


@pytest.mark.parametrize("name", ["multiplicity", "duration", "interval"])
def test_histograms_are_drawn_as_they_are(ended, name):
    page, status = ended
    served = status["histograms"][name]
    counts, edges = served["counts"], served["edges"]
    assert sum(counts) > 100 and len([n for n in counts if n]) >= 5
    path = page.ask(f"document.querySelector('#panel-{name} svg path.area').getAttribute('d')")
    bars = [(float(top), float(right)) for top, right in re.findall(r"V([\d.]+)H([\d.]+)", path)]
    bottom = float(re.search(r"^M[\d.]+ ([\d.]+)", path)[1])
    assert len(bars) == len(counts)
    assert [top == bottom for top, _ in bars] == [n == 0 for n in counts]
    assert_on_axis([(n, top) for n, (top, _) in zip(counts, bars) if n], served["log_y"])
    assert_on_axis([(edge, right) for edge, (_, right) in zip(edges[1:], bars)], served["log_x"])
    page.click(f"#panel-{name} details summary")
    rows = f"[...document.querySelectorAll('#panel-{name} details tbody tr')]"
    page.until(f"{rows}.length")
    cells = page.ask(f"{rows}.map((row) => row.cells[1].innerText)")
    assert [int(re.sub(r"\D", "", cell)) for cell in cells] == counts


def assert_on_axis(points, log):
    """Pairs of value and pixel, accurate to half a pixel."""
    at = [(math.log(value) if log else value, pixel) for value, pixel in points]
    (low, first), (high, last) = min(at), max(at)
    assert high > low and abs(last - first) > 30
    assert all(abs(pixel - first - (last - first) * (value - low) / (high - low)) < 0.5 for value, pixel in at)


@pytest.fixture(scope="module")
def ended(browser, streams, tmp_path_factory):
    """The page of a run that has ended, and the last status."""
    with slowly(streams, tmp_path_factory.mktemp("ended")) as run, browser.page(run.held().url) as page:
        run.proceed(speed=0.5)
        status = run.last_status()
        page.until_text("#state", "ended")
        run.wait(0)
        page.until_text("#connection", "The last state: ended")
        yield page, status


def test_a_slow_rank_is_named(browser, tmp_path):
    """Every other slice, always of the same builder, has many pairs of hits to compare."""
    lines = ["t_ns,ch"]
    for number in range(3000):
        hits = 1 if number % 2 else 250
        lines += [f"{number * 1_000_000 + 500_000 + 2 * hit},{hit % 100}" for hit in range(hits)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "map.csv").write_text("channel,x_m,y_m,z_m\n" + "".join(f"{n},{n},0,0\n" for n in range(100)))
    words = ("--define", "coincidence:1us,causal(0.3m/ns,1ns)>=99", "--detector", tmp_path / "map.csv", "--epochs-per-slice", 100)
    with Monitored(tmp_path / "run", [tmp_path / "t.csv"], *words, "--builders", 2, np=3) as run, \
            browser.page(run.listening().url) as page:
        page.until_text("#panel-ranks .bad", "rank 1: builder 0 is slow: ", timeout=120)
        assert "rank 0:" not in page.text("#panel-ranks") and "rank 2:" not in page.text("#panel-ranks")
        assert run.control("stop")[0] == 202
        run.wait(STOPPED)


def assert_rows_are_ranks(page):
    labels = "[...document.querySelectorAll('#panel-links svg text[text-anchor=end]')]"
    assert page.ask(f"{labels}.map((label) => label.firstChild.data)") == ["rank 0", "rank 1", "rank 2"]
    assert page.ask(f"{labels}[1].querySelector('title').textContent") == "rank 1 (source 1; builder 1)"


def assert_names_do_not_act(page):
    page.click("#panel-sources > .body > details summary")
    page.until_text("#panel-sources", EVIL)
    assert "ended: run.h5" in page.ask("document.title")
    assert page.ask("document.images.length") == 0


def assert_pictures_say_what_they_are(page):
    labels = page.ask("[...document.querySelectorAll('main svg')].map((svg) => [svg.getAttribute('role'), svg.getAttribute('aria-label')])")
    assert len(labels) >= 9 and all(role == "img" and label for role, label in labels), labels
    assert page.ask("[...document.querySelectorAll('input, select')].every((node) => node.labels.length === 1)")
    assert not re.search(r"NaN|undefined|\[object", page.text("main"))


def assert_labels_fit(page):
    wide = "[...document.querySelectorAll('#panel-flow svg text.strong')].map((node) => node.getComputedTextLength())"
    box = page.ask("Math.min(...[...document.querySelectorAll('#panel-flow svg rect.box')].map((node) => node.getBBox().width))")
    assert 0 < max(page.ask(wide)) <= box - 8


def assert_fits(page):
    """On a screen and on a phone, in light and in dark mode."""
    luminance = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0)"
    assert page.ask(luminance) > 600
    page.prefer("dark")
    page.until(f"{luminance} < 150")
    for size in (PHONE, (768, 900), (1200, 900), (1280, 900)):
        page.resize(*size)
        page.until(f"innerWidth === {size[0]} && document.documentElement.scrollWidth <= {size[0]} &&"
                   f"[...document.querySelectorAll('main svg')].every((svg) => svg.closest('.scroll') || svg.getBoundingClientRect().right <= {size[0]})")
        # Every column of a table is visible, except in those that are opened for more.
        cut = "[...document.querySelectorAll('main .scroll')].filter((node) => node.querySelector('table') && !node.closest('details') && node.scrollWidth > node.clientWidth)"
        assert page.ask(f"{cut}.map((node) => `${{node.getAttribute('aria-label')}} ${{node.scrollWidth}}/${{node.clientWidth}}`)") == []
        assert_labels_fit(page)


def test_a_silent_rank_is_named_and_what_has_failed_stays(browser, streams, tmp_path):
    with slowly(streams, tmp_path, "--stall-timeout", "6s") as run, browser.page(run.listening().url) as page:
        page.until("document.querySelectorAll('#panel-ranks tbody tr').length === 3 && latest.ledger.hits_in")
        assert page.text("#silent") == ""
        run.send(signal.SIGSTOP, 1)
        page.until_text("#silent", "Silent: rank 1 (source 1; builder 1) on ")
        failed = run.until_status(lambda s: s["state"] == "failed", "the failure")
        assert "rank 1 (source 1; builder 1)" in failed["message"] and "--stall-timeout" in failed["message"]
        run.wait(STOPPED)
        assert_of_the_past(page, "rank 1 (source 1; builder 1)")


def test_a_first_rank_that_hangs_and_a_rank_that_dies(browser, streams, tmp_path):
    with slowly(streams, tmp_path) as run, browser.page(run.listening().url) as page:
        page.until("latest && latest.ledger.hits_in")
        run.send(signal.SIGSTOP, 0)
        page.until_text("#connection", "The monitor does not answer")
        assert page.text("#state") == "no answer"
        run.send(signal.SIGCONT, 0)
        page.until_text("#state", "running")
        assert page.text("#connection") == "" and not page.ask("document.body.classList.contains('past')")
        run.send(signal.SIGKILL, 2)
        assert_of_the_past(page)
        assert run.process.wait(30) != 0


def assert_of_the_past(page, *named):
    """The last state stays on the page, marked. Whether the page has noticed the failure depends on milliseconds."""
    notice = page.until_text("#connection", "The last state")
    state = page.text("#state")
    assert state in ("failed", "no answer") and page.ask("document.body.classList.contains('past')")
    assert all(name in (page.text("#message") if state == "failed" else notice) for name in named)
    assert hits_in(page) > 0 and str(hits_in(page)) in re.sub(r"\s", "", page.text("#panel-ledger"))
    assert page.ask("document.getElementById('control').hidden")
