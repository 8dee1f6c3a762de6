"""The command `forget`: a page or domain is deleted, and later pages are kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from agents.commands.audit.command import account
from agents.commands.forget import forget, resolve
from agents.settings.job import Settings
from models import clean_text, raw_html
from models.command import Forget
from tests.agents.records import Publish, ReadAll, Run, Sent
from tests.agents.workers import BOTH, PATIENCE, started, work
from urltree.page import Page

pytestmark = pytest.mark.kafka

TABLES = [
    f"urltree-{name}-changelog" for name in ("normalize-seen", "extract-rows", "extract-first")
]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with a disk of their own."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def page(path: str, host: str = "example.org") -> Sent:
    """Return a page in its partition."""
    url = f"https://www.{host}/{path}"
    value = raw_html.encode(Page(url=url, html=f"<p>Text of {path}</p><p>Imprint</p>"))
    return Sent("raw-html", host.encode(), value)


def kept(records: list[Any]) -> dict[bytes, bytes]:
    """Return the last value of each key, as compaction would keep it."""
    last = {record.key: record.value for record in records}
    return {key: value for key, value in last.items() if value is not None}


def urls(records: list[Any]) -> set[str]:
    """Return the URLs of the pages that have clean text."""
    texts = map(clean_text.decode, kept(records).values())
    return {text["url"].removeprefix("https://www.") for text in texts}


def forget_while_running(job: Settings, target: str) -> Any:
    """Run the command while workers run."""

    async def scenario() -> Any:
        async with started(job, *BOTH):
            return await forget(job, await resolve(job, target), wait=PATIENCE)

    return asyncio.run(scenario())


def test_a_domain_is_forgotten_and_learned_anew(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Its rows and clean text are deleted; other domains and later pages are kept."""
    publish(page("a"), page("b"), page("a", "other.net"))
    work(job)
    first = next(r for r in read_all("clean-text") if b'"domain":"example.org"' in r.value)
    # clean text of a document that was evicted long ago
    publish(Sent("clean-text", b"f" * 32, first.value, partition=first.partition))
    done = forget_while_running(job, "example.org")
    assert done.answered
    assert done.tombstones == 1
    assert urls(read_all("clean-text")) == {"other.net/a"}
    for table in TABLES:
        assert {key.split(b"\0")[0] for key in kept(read_all(table))} == {b"other.net"}
    publish(page("a"))
    work(job)
    assert urls(read_all("clean-text")) == {"other.net/a", "example.org/a"}
    accounts = asyncio.run(account(job))
    assert (accounts.clean_text, accounts.missing) == (4, 0)


def test_a_page_is_forgotten_alone(job: Settings, publish: Publish, read_all: ReadAll) -> None:
    """Any spelling of its URL works; the rest of its domain is kept."""
    publish(page("a"), page("b"))
    work(job)
    done = forget_while_running(job, "http://WWW.example.org:80/a?utm_source=x")
    assert done.answered
    assert len(done.ids) == 1
    assert urls(read_all("clean-text")) == {"example.org/b"}
    for table in TABLES:
        assert len(kept(read_all(table))) == 1


def test_without_workers_the_command_waits_for_them(
    job: Settings, publish: Publish, read_all: ReadAll, run: Run
) -> None:
    """The exit code is 1 because nobody answered; the next worker obeys."""
    publish(page("a"), page("b"))
    result = run("forget", "example.org", "--yes", "--wait", "0.5", "--json")
    assert result.exit_code == 1
    assert orjson.loads(result.stdout) == {
        "domain": "example.org",
        "ids": None,
        "answered": False,
        "tombstones": 0,
    }
    publish(page("c"))
    work(job)
    assert urls(read_all("clean-text")) == {"example.org/c"}


def test_a_page_that_changes_under_one_url_is_found_by_its_clean_text(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Its ids depend on its titles, which are stored nowhere else."""
    front = [
        Page(url="http://www.aljazeera.com/", html=f"<title>News {day}</title><p>Text")
        for day in (1, 2)
    ]
    publish(*[Sent("raw-html", b"aljazeera.com", raw_html.encode(one)) for one in front])
    work(job)
    ids = set(kept(read_all("clean-text")))
    assert len(ids) == 2
    found = asyncio.run(resolve(job, "https://www.aljazeera.com/#top"))
    assert {name.encode() for name in found.ids or ()} >= ids


def test_nothing_is_forgotten_without_a_yes(run: Run, read_all: ReadAll) -> None:
    """The command asks for confirmation."""
    assert run("forget", "example.org", input="n\n").exit_code == 1
    assert read_all("raw-html") == []


@pytest.mark.parametrize(
    ("target", "words"),
    [("www.example.org", "belong to example.org"), ("http:///", "not an absolute URL"), ("..", "")],
)
def test_what_is_neither_url_nor_domain_is_refused(
    run: Run, read_all: ReadAll, target: str, words: str
) -> None:
    """A subdomain never causes the deletion of the whole domain."""
    result = run("forget", target, "--yes")
    assert result.exit_code == 2
    assert words in result.stderr
    assert read_all("raw-html") == []


def test_a_command_that_is_none_is_a_dead_letter(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A record that only looks like a command deletes nothing."""
    command = [("urltree-command", b"forget")]
    publish(
        page("a"),
        Sent("raw-html", b"example.org", b"nonsense", command),
        Sent("raw-html", b"other.net", Forget("example.org").encode(), command),
    )
    work(job)
    assert urls(read_all("clean-text")) == {"example.org/a"}
    assert len(read_all("dead-letters")) == 2
