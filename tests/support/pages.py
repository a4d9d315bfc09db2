"""The pages of the repository, as GitHub shows them: their examples, links and headings."""

import re
import subprocess
from dataclasses import dataclass, field

from program import ROOT

LEFT_OUT = ("build", "tests/data")


def _is_page(path):
    name = str(path.relative_to(ROOT))
    return not name.startswith(LEFT_OUT) and not any(part.startswith(".") and part != ".github" for part in path.relative_to(ROOT).parts)


PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md") if _is_page(path))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page):
    return (ROOT / page).read_text()


def blocks(page, kind):
    return [text for found, text in FENCE.findall(text_of(page)) if found == kind]


def prose(page):
    """The text without the code blocks."""
    return FENCE.sub("", text_of(page))


def code_spans(page):
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]


# Examples.

@dataclass
class Example:
    command: str
    shown: list = field(default_factory=list)  # lines, with single blanks
    code: int = 0


def _is_whole(script):
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    return checked.returncode == 0 and not checked.stderr and not script.endswith("\\")


def _of_script(text):
    """A command may be several lines long."""
    lines = []
    for line in text.splitlines():
        lines.append(line)
        if _is_whole("\n".join(lines)):
            if line.strip() and not line.startswith("#"):
                yield Example("\n".join(lines))
            lines = []


def _of_dialogue(text):
    """Commands follow a prompt `$ ` and continue after `> `. A command `echo $?` shows the exit code of the previous
    one."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Example(line[2:]))
        elif found and line.startswith("> ") and not found[-1].shown:
            found[-1].command += "\n" + line[2:]
        elif found:
            found[-1].shown.append(" ".join(line.split()))
    kept = []
    for example in found:
        if example.command == "echo $?":
            kept[-1].code = int(example.shown[0])
        else:
            kept.append(example)
    return kept


def examples(page):
    """The examples in the order of the page."""
    found = []
    for kind, text in FENCE.findall(text_of(page)):
        if kind == "sh":
            found += _of_script(text)
        elif not kind:
            found += _of_dialogue(text)
    return found


# Links.

def _anchor(heading):
    """The anchor of a heading by GitHub's rule."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(page):
    found = re.findall(r'<a id="([^"]+)">', prose(page))
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        anchor = _anchor(heading)
        found.append(anchor if anchor not in found else f"{anchor}-{found.count(anchor)}")
    return found


def links(page):
    """[(file, anchor)] of this repository, relative to its root; the anchor may be empty."""
    text = re.sub(r"`[^`]*`", "", prose(page))
    found = []
    for target in re.findall(r"\[[^][]*\]\(([^)\s]+)\)", text):
        if not target.startswith(("http://", "https://")):
            file, _, anchor = target.partition("#")
            path = ((ROOT / page).parent / file).resolve() if file else ROOT / page
            found.append((str(path.relative_to(ROOT)), anchor))
    return found
