"""The command `forget` deletes a page or a domain, but no pages that arrive later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from agents.commands.audit.command import account
from agents.commands.forget import forget, resolve
from agents.forgetting import fetch_keys_to_delete
from agents.kafka.tables.table import row_key
from agents.settings.job import Settings
from models import clean_text, raw_html
from models.command import Forget, is_command
from tests.agents.records import Publish, ReadAll, Run, Sent
from tests.agents.workers import BOTH, PATIENCE, started, work
from urltree.page import Page

pytestmark = pytest.mark.kafka

TABLES = [
    f"urltree-{name}-changelog" for name in ("normalize-seen", "extract-rows", "extract-first")
]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def page(path: str, host: str = "example.org") -> Sent:
    """Return the record of a page with its host as the key."""
    url = f"https://www.{host}/{path}"
    value = raw_html.encode(Page(url=url, html=f"<p>Text of {path}</p><p>Imprint</p>"))
    return Sent("raw-html", host.encode(), value)


def kept(records: list[Any]) -> dict[bytes, bytes]:
    """Return the last value of each key, as compaction would keep it."""
    last = {record.key: record.value for record in records}
    return {key: value for key, value in last.items() if value is not None}


def urls(records: list[Any]) -> set[str]:
    """Return the URLs (without https://www.) of the pages that have clean text."""
    texts = map(clean_text.decode, kept(records).values())
    return {text["url"].removeprefix("https://www.") for text in texts}


def forget_while_running(job: Settings, target: str) -> Any:
    """Run `forget` for a page or domain while workers run."""

    async def scenario() -> Any:
        async with started(job, *BOTH):
            return await forget(job, await resolve(job, target), wait=PATIENCE)

    return asyncio.run(scenario())


def test_a_domain_is_forgotten_and_learned_anew(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """`forget` deletes the rows and the clean text of a domain, and nothing of other domains.

    Pages of the domain that are published later are processed.
    """
    publish(page("a"), page("b"), page("a", "other.net"))
    work(job)
    first = next(r for r in read_all("clean-text") if b'"domain":"example.org"' in r.value)
    # clean text of a document whose row was evicted long ago
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
    """`forget` deletes a page for any spelling of its URL, and no other page of its domain."""
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
    """Without workers, `forget` exits with 1 after its time limit.

    The next worker that is started deletes the domain.
    """
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
    """If a page's id depends on its title, `forget` finds all ids of the page in clean-text.

    Only the clean text shows which ids the page has had.
    """
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
    """`forget` deletes nothing without confirmation."""
    assert run("forget", "example.org", input="n\n").exit_code == 1
    assert read_all("raw-html") == []


@pytest.mark.parametrize(
    ("target", "words"),
    [("www.example.org", "belong to example.org"), ("http:///", "not an absolute URL"), ("..", "")],
)
def test_what_is_neither_url_nor_domain_is_refused(
    run: Run, read_all: ReadAll, target: str, words: str
) -> None:
    """`forget` refuses an argument that is neither a URL nor a registrable domain.

    So a subdomain does not cause the deletion of its whole domain.
    """
    result = run("forget", target, "--yes")
    assert result.exit_code == 2
    assert words in result.stderr
    assert read_all("raw-html") == []


def test_a_command_that_is_none_is_a_dead_letter(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """An invalid command, or one under a wrong key, becomes a dead letter and deletes nothing."""
    command = [("urltree-command", b"forget")]
    publish(
        page("a"),
        Sent("raw-html", b"example.org", b"nonsense", command),
        Sent("raw-html", b"other.net", Forget("example.org").encode(), command),
    )
    work(job)
    assert urls(read_all("clean-text")) == {"example.org/a"}
    assert len(read_all("dead-letters")) == 2


@pytest.mark.parametrize("target", ["example.org", "https://www.example.org/a#top"])
def test_fetch_hears_of_the_command(
    job: Settings, publish: Publish, read_all: ReadAll, target: str
) -> None:
    """The command is in `requests`, too, with the addresses at which the page was fetched.

    `fetch` finds the rows of the page or the domain with it, and no other rows.
    """
    publish(page("a"), page("b"))
    work(job)
    done = forget_while_running(job, target)
    (record,) = read_all("requests")
    assert record.key == b"example.org"
    assert is_command(record.headers)
    command = Forget.decode(record.value)
    assert command.ids == done.ids
    table = Rows([row_key("example.org", of(path)) for path in ("a", "b")])
    keys = fetch_keys_to_delete(table, 0, command, lambda url: of(url.rpartition("/")[2]))
    if command.ids is None:
        assert (command.urls, keys) == (None, table.keys)
    else:
        assert command.urls == (target, "https://www.example.org/a")
        assert table.keys[0] in keys
        assert table.keys[1] not in keys


def of(name: str) -> bytes:
    """Return 16 bytes for a name."""
    return name.encode().ljust(16, b".")


class Rows:
    """A table of one domain."""

    def __init__(self, keys: list[bytes]) -> None:
        self.keys = keys

    def scan(self, partition: int, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Return the rows whose keys begin with a prefix."""
        assert partition == 0
        return ((key, b"") for key in self.keys if key.startswith(prefix))
