"""What the documents say is what the code has: tables, names, commands, examples.

`URLTREE_REWRITE_DOCS=1 pytest tests/test_documents.py` writes the tables between their marks anew.
"""

from __future__ import annotations

import ast
import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import yaml

from agents.commands import topics
from agents.settings.job import FILE, PREFIX, Settings
from tests import reference
from tests.agents.workers import work
from urltree import Extractor
from urltree.address.url_key import KEY_VERSION
from urltree.crawl.decisions.host.host_state import HOST_STATE_VERSION
from urltree.crawl.decisions.poll.feed_state import FEED_STATE_VERSION
from urltree.heuristics.boilerplate import Kind as Boilerplate
from urltree.heuristics.registry import NAMES
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.page import Reason
from urltree.site.row import ROW_VERSION
from urltree.site.seen import Step

ROOT = Path(__file__).parent.parent
DOCUMENTS = ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
TEXTS = {name: (ROOT / name).read_text() for name in DOCUMENTS}
JOB, LIBRARY = "docs/job.md", "docs/library.md"

TABLES: dict[tuple[str, str], Callable[[], str]] = {
    (JOB, "topics"): reference.topics,
    (JOB, "feeds"): lambda: reference.record("feeds"),
    (JOB, "fetches"): lambda: reference.record("fetches"),
    (JOB, "raw-html"): lambda: reference.record("raw-html"),
    (JOB, "clean-text"): lambda: reference.record("clean-text"),
    (JOB, "duplicates"): lambda: reference.record("duplicates"),
    (JOB, "dead-letters"): lambda: reference.record("dead-letters"),
    (JOB, "settings"): reference.settings,
    (JOB, "metrics"): reference.metrics,
    (LIBRARY, "commands"): lambda: reference.commands("urltree"),
}


@pytest.mark.parametrize(("document", "name"), TABLES)
def test_a_table_of_the_reference_is_what_the_code_says(document: str, name: str) -> None:
    """Whoever changes a topic, record, setting or metric writes its table anew."""
    text = (ROOT / document).read_text()
    begin, end = f"<!-- {name}: made from the code -->\n", "<!-- end -->"
    before, begun, rest = text.partition(begin)
    found, ended, after = rest.partition(end)
    assert begun
    assert ended
    expected = TABLES[document, name]() + "\n"
    if os.environ.get("URLTREE_REWRITE_DOCS"):
        (ROOT / document).write_text(before + begin + expected + end + after)
    else:
        assert found == expected, f"{document}: URLTREE_REWRITE_DOCS=1 writes {name} anew"


@pytest.mark.parametrize(
    ("document", "section", "names"),
    [
        (JOB, "Reasons", {reason.value for reason in Reason}),
        (JOB, "Steps", {step.value for step in Step}),
        (JOB, "Tables", reference.tables()),
        (JOB, "Probes", {"/livez", "/readyz", "/metrics"}),
        (LIBRARY, "Heuristics", {re.sub(r"\d+", "N", name) for name in NAMES}),
        (LIBRARY, "Kinds of boilerplate", {kind.label for kind in Boilerplate if kind}),
        (LIBRARY, "Options", set(Extractor.__init__.__kwdefaults__ or {})),
    ],
)
def test_a_list_names_what_there_is_and_nothing_else(
    document: str, section: str, names: set[str]
) -> None:
    """A table that is written by hand has one row for each name."""
    found = re.findall(r"^\| `([^`]+)` \|", _section(document, section), re.MULTILINE)
    assert sorted(found) == sorted(names)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_metrics_and_settings_that_are_named_exist(document: str) -> None:
    """A runbook that names what is gone helps nobody."""
    metrics = set(re.findall(r"`(urltree_\w+)`", reference.metrics()))
    settings = {PREFIX + name.upper() for name in Settings.model_fields}
    assert set(re.findall(r"`(urltree_\w+)[`{]", TEXTS[document])) <= metrics
    assert set(re.findall(r"\bURLTREE_[A-Z_]+", TEXTS[document])) <= settings | {FILE}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_topics_that_are_named_exist(document: str) -> None:
    """Changelogs are named in full, each as topics.yaml has it."""
    declared = {
        topic["name"] for topic in yaml.safe_load((ROOT / "topics.yaml").read_text())["topics"]
    }
    assert set(re.findall(r"\burltree-\w+-\w+-changelog", TEXTS[document])) <= declared


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("program", ["python -m agents", "urltree"])
def test_commands_that_are_shown_exist_with_their_options(program: str, document: str) -> None:
    """Every command in a code block or in backquotes is one that runs."""
    known = {path: _options(command) for path, command in reference.walk(program)}
    shown = re.findall(rf"(?:\$ |`){program} ([a-z][^`\n]*)", TEXTS[document])
    for line in shown:
        path = next((path for path in known if f"{program} {line} ".startswith(f"{path} ")), None)
        assert path is not None, f"{program} {line}"
        assert set(re.findall(r"(?<=\s)--[a-z-]+", line.partition("#")[0])) <= known[path], line


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_targets_that_are_shown_exist(document: str) -> None:
    """`make run` and the others are targets of the Makefile."""
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:\$ |`)make (\w+)", TEXTS[document])) <= targets


@pytest.mark.parametrize("document", [*DOCUMENTS, "DESIGN.md", "CHANGELOG.md"])
def test_links_lead_somewhere(document: str) -> None:
    """Inside the project each link names a file, and where it names a section, one of that file."""
    here = ROOT / document
    missing = []
    for link in re.findall(r"\]\(([^):]+)\)", here.read_text()):
        name, _, section = link.partition("#")
        target = here.parent / name if name else here
        if not target.exists() or (section and section not in _sections(target)):
            missing.append(link)
    assert missing == []


def test_the_changelog_names_the_versions_of_what_is_stored() -> None:
    """Whoever raises a version says so: what was learned before may count no longer."""
    newest = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1]
    versions = {"tokenizer": TOKENIZER_VERSION, "key": KEY_VERSION, "row": ROW_VERSION}
    versions |= {"feed": FEED_STATE_VERSION, "host": HOST_STATE_VERSION}
    for name, number in versions.items():
        assert f"{name} version {number}" in " ".join(newest.split())


def test_the_readme_shows_code_that_runs() -> None:
    """The first example prints what the comment below it says."""
    code = _python("README.md")[0]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    assert ran.stdout.splitlines() == said


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_python_example_compiles(document: str) -> None:
    """Examples that need a Kafka are at least Python."""
    for code in _python(document):
        compile(code, document, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.kafka
def test_what_the_readme_publishes_comes_out_where_it_consumes(
    kafka: str, prefix: str, tmp_path: Path
) -> None:
    """The examples run as they stand, but for the broker and the names of the topics."""
    job = Settings.model_validate({"brokers": kafka, "prefix": prefix, "data_dir": tmp_path})
    asyncio.run(topics.apply(job))
    publish, consume = (_on(job, code) for code in _python("README.md")[1:])
    subprocess.run([sys.executable, "-c", publish], check=True)
    work(job)
    reader = [sys.executable, "-c", consume]
    with subprocess.Popen(reader, stdout=subprocess.PIPE, text=True) as reading:
        assert reading.stdout
        first = reading.stdout.readline()
        reading.terminate()
    assert first == "https://example.org/1 1 Menu\n"


def _on(job: Settings, code: str) -> str:
    """An example that finds the topics of a test's own job."""
    names = r'"(raw-html|clean-text)"'
    return re.sub(names, rf'"{job.prefix}\1"', code.replace("127.0.0.1:9092", job.brokers[0]))


def _section(document: str, title: str) -> str:
    found = re.search(rf"^#+ {title}\n(.*?)(?=^#+ |\Z)", TEXTS[document], re.MULTILINE | re.DOTALL)
    assert found, f"{document} has no section {title}"
    return found[1]


def _sections(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def _python(document: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", TEXTS[document], re.DOTALL)


def _options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}
