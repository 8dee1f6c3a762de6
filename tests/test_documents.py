"""The documents agree with the code: names, paths, commands, examples.

`tests/test_generated.py` compares the tables that are made from the code.
"""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from agents.commands import topics
from agents.settings.job import FILE, PREFIX, Settings
from deploy.tools import reference
from tests.agents.workers import work
from urltree import Extractor
from urltree.address.url_key import KEY_VERSION
from urltree.crawl.decisions.host.host_state import HOST_STATE_VERSION
from urltree.crawl.decisions.poll.feed_state import FEED_STATE_VERSION
from urltree.heuristics.boilerplate import Kind as Boilerplate
from urltree.heuristics.registry import NAMES
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.page import Reason
from urltree.site.deduplication import Step
from urltree.site.row import ROW_VERSION

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
]
ALL_DOCUMENTS = [*DOCUMENTS, "DESIGN.md", "CHANGELOG.md"]
TEXTS = {name: (ROOT / name).read_text() for name in DOCUMENTS}
JOB, LIBRARY = "docs/job.md", "docs/library.md"


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
    """Each table that is written by hand has exactly one row for each name in the code."""
    found = re.findall(r"^\| `([^`]+)` \|", _section(document, section), re.MULTILINE)
    assert sorted(found) == sorted(names)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_metrics_and_settings_that_are_named_exist(document: str) -> None:
    """A document names no metric and no setting that was removed or misspelt."""
    metrics = set(re.findall(r"`(urltree_\w+)`", reference.metrics())) | {"urltree_evaluation"}
    settings = {PREFIX + name.upper() for name in Settings.model_fields}
    assert set(re.findall(r"`(urltree_\w+)[`{]", TEXTS[document])) <= metrics
    assert set(re.findall(r"\bURLTREE_[A-Z_]+", TEXTS[document])) <= settings | {FILE}


def test_log_events_that_the_runbook_quotes_exist() -> None:
    """An operator who searches the log for a quoted event finds it."""
    text = " ".join((ROOT / "docs" / "operations.md").read_text().split())
    quoted = re.findall(r"log (?:has|line) `([^`=]+)`", text)
    assert len(quoted) > 3
    code = "".join(path.read_text() for path in (ROOT / "agents").rglob("*.py"))
    assert [event for event in quoted if event not in code and event != "KafkaError"] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_topics_that_are_named_exist(document: str) -> None:
    """Each changelog topic in a document is declared in topics.yaml under the same full name."""
    declared = {
        topic["name"] for topic in yaml.safe_load((ROOT / "topics.yaml").read_text())["topics"]
    }
    assert set(re.findall(r"\burltree-\w+-\w+-changelog", TEXTS[document])) <= declared


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("program", ["python -m agents", "urltree"])
def test_commands_that_are_shown_exist_with_their_options(program: str, document: str) -> None:
    """Every command in a code block or in backquotes exists, and so do its options."""
    known = {path: _options(command) for path, command in reference.walk(program)}
    groups: dict[str, set[str]] = {path.rpartition(" ")[0]: set() for path in known}
    known |= {group: options for group, options in groups.items() if group != program}
    shown = re.findall(rf"(?:\$ |`){program} ([a-z][^`\n]*)", TEXTS[document])
    for line in shown:
        path = next((path for path in known if f"{program} {line} ".startswith(f"{path} ")), None)
        assert path is not None, f"{program} {line}"
        assert set(re.findall(r"(?<=\s)--[a-z-]+", line.partition("#")[0])) <= known[path], line


def test_every_extra_is_documented() -> None:
    """The table of extras in docs/library.md has each extra, except `dev` for developers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    introduction = TEXTS[LIBRARY].partition("## API")[0]
    found = re.findall(r"^\| `([^`]+)` \|", introduction, re.MULTILINE)
    assert set(found) == set(project["optional-dependencies"]) - {"dev"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_targets_that_are_shown_exist(document: str) -> None:
    """Each command `make TARGET` in a document names a target of the Makefile."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:\$ |`)make ([\w-]+)", TEXTS[document])) <= targets


@pytest.mark.parametrize("document", ALL_DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    """Each link inside the project names an existing file and, if given, a section of that file."""
    here = ROOT / document
    missing = []
    for link in re.findall(r"\]\(([^):]+)\)", here.read_text()):
        name, _, section = link.partition("#")
        target = here.parent / name if name else here
        if not target.exists() or (section and section not in _sections(target)):
            missing.append(link)
    assert missing == []


@pytest.mark.parametrize("document", [name for name in ALL_DOCUMENTS if name != "CHANGELOG.md"])
def test_paths_that_are_named_exist(document: str) -> None:
    """Each path in backquotes exists. A bare file name belongs to the folder named before it.

    The changelog is not checked, because it names modules of former releases.
    """
    assert list(_missing_paths((ROOT / document).read_text())) == []


def test_every_decision_is_listed_and_has_its_three_parts() -> None:
    """The index lists all records by number; each has a context, a decision and evidence."""
    folder = ROOT / "docs" / "decisions"
    records = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    listed = re.findall(
        r"^- \[[^]]+\]\(([^)]+)\)$", (folder / "README.md").read_text(), re.MULTILINE
    )
    assert listed == [path.name for path in records]
    assert [int(path.name[:4]) for path in records] == [*range(1, len(records) + 1)]
    for path in records:
        headings = re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)
        assert headings == ["Context", "Decision", "Evidence"], path.name


def test_a_path_that_does_not_exist_is_found() -> None:
    """The search checks full paths, folders, patterns, and bare file names after a path."""
    text = "`urltree/page.py`, `extractor.py`, `absent.py`; `urltree/attic/`, `urltree/*.py`"
    assert list(_missing_paths(text)) == ["absent.py", "urltree/attic/"]


def test_the_changelog_names_the_versions_of_what_is_stored() -> None:
    """The newest entry of CHANGELOG.md names the version of each stored format."""
    newest = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1]
    versions = {"tokenizer": TOKENIZER_VERSION, "key": KEY_VERSION, "row": ROW_VERSION}
    versions |= {"feed": FEED_STATE_VERSION, "host": HOST_STATE_VERSION}
    for name, number in versions.items():
        assert f"{name} version {number}" in " ".join(newest.split())


def test_the_readme_shows_code_that_runs() -> None:
    """The first example of the README prints the lines of the comments below it."""
    code = _python("README.md")[0]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    assert ran.stdout.splitlines() == expected


def test_the_readme_shows_the_summary_that_make_run_prints() -> None:
    """The summary in the README has the heading that the demo prints."""
    summary = re.findall(r"^```\n(.+)\n +[0-9]", TEXTS["README.md"], re.MULTILINE)
    assert summary
    assert f'"{summary[0]}"' in (ROOT / "demo" / "__main__.py").read_text()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_python_example_compiles(document: str) -> None:
    """Each example in a document is valid Python, also the examples that need Kafka."""
    for code in _python(document):
        compile(code, document, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.kafka
def test_what_the_readme_publishes_comes_out_where_it_consumes(
    kafka: str, prefix: str, tmp_path: Path
) -> None:
    """The consumer of the README prints the page that its producer has published.

    The examples run unchanged, except for the broker and the names of the topics.
    """
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
    """Return an example with the broker and the topics of a test's own job."""
    names = r'"(raw-html|clean-text)"'
    return re.sub(names, rf'"{job.prefix}\1"', code.replace("127.0.0.1:9092", job.brokers[0]))


def _missing_paths(text: str) -> Iterator[str]:
    """Yield the paths in backquotes that do not exist, in order. NAME matches any name."""
    tops = {path.name for path in ROOT.iterdir() if path.is_dir()}
    for line in text.splitlines():
        folder = ROOT
        for name in re.findall(r"`([\w.*/-]+)`", line):
            if "/" in name and name.partition("/")[0] in tops:
                if not any(ROOT.glob(name.rstrip("/").replace("NAME", "*"))):
                    yield name
                folder = ROOT / (name if name.endswith("/") else name.rpartition("/")[0])
            elif name.endswith(".py") and not (folder / name).exists():
                yield name


def _section(document: str, title: str) -> str:
    found = re.search(rf"^#+ {title}\n(.*?)(?=^#+ |\Z)", TEXTS[document], re.MULTILINE | re.DOTALL)
    assert found, f"{document} has no section {title}"
    return found[1]


def _sections(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def _python(document: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", TEXTS[document], re.DOTALL)


def _options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}
