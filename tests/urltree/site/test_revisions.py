"""With `revise` the library returns first pages again, after the page that caused the revision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import urltree
from tests.urltree.cli.test_command import lines, records
from tests.urltree.cli.test_command import urltree as command
from urltree import Extraction, Extractor
from urltree.site.first_pages import ENOUGH

BANNER = "Readers of this site may write to the editors at any time of the day."


def page(number: int, host: str = "example.org") -> dict[str, Any]:
    """Return an article that contains the sentence BANNER, as does each article of its site."""
    own = [f"This is what {word * number} has to say" for word in ("ba", "do", "fi")]
    body = "".join(f"<p>{text} at some length, of its own.</p>" for text in own)
    text = f"<h1>Title {'x' * number}</h1><div class=article><p>{BANNER}</p>{body}</div>"
    return {"url": f"https://{host}/{number}", "html": f"<html><body>{text}</body></html>"}


def pages(last: int) -> list[dict[str, Any]]:
    """Return the first articles of one site, up to number `last`."""
    return [page(number) for number in range(1, last + 1)]


def revised(found: list[Extraction]) -> list[Extraction]:
    """Return those of the Extractions that are revisions."""
    return [each for each in found if each.revision]


def test_by_default_there_is_one_extraction_for_each_page() -> None:
    """By default each page has one Extraction, in the same order, so callers can zip the two."""
    found = list(urltree.extract(pages(ENOUGH + 1)))
    assert [each.url for each in found] == [each["url"] for each in pages(ENOUGH + 1)]
    assert revised(found) == []


def test_revisions_stand_behind_the_page_that_caused_them() -> None:
    """Revisions follow the page that caused them, with the id and origin of the first Extraction.

    Their text leaves out the banner, which was not repeated on the site before.
    """
    found = list(urltree.extract(pages(ENOUGH + 1), revise=True))
    anew, rest = revised(found), [each for each in found if not each.revision]
    assert anew
    assert found == [*rest[:ENOUGH], *anew, *rest[ENOUGH:]]
    for each in anew:
        (first,) = [other for other in rest if other.id == each.id]
        assert (each.origin, each.url) == (first.origin, first.url)
        assert (each.support, each.text) == (ENOUGH, (first.text or "").replace(f"{BANNER}\n", ""))


def test_page_by_page_revisions_are_asked_for() -> None:
    """`Extractor.revisions` returns each revision once, after the page that caused it."""
    with Extractor(revise=True) as extractor:
        for each in pages(ENOUGH - 1):
            extractor.extract(each)
            assert extractor.revisions() == []
        extractor.extract(page(ENOUGH))
        anew = extractor.revisions()
        assert extractor.revisions() == []
    assert anew == revised(list(urltree.extract(pages(ENOUGH), revise=True)))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"two_pass": True}, id="two passes judge all pages at the end"),
        pytest.param({"heuristic": "strict"}, id="the paper's heuristics are not revised"),
    ],
)
def test_there_are_none_where_nothing_is_revised(options: dict[str, Any]) -> None:
    """With two passes or a heuristic of the paper, `revise` adds no Extraction."""
    assert len(list(urltree.extract(pages(ENOUGH + 1), revise=True, **options))) == ENOUGH + 1


@pytest.mark.parametrize("memory", [1 << 20, 1])
def test_first_pages_are_kept_between_runs(tmp_path: Path, memory: int) -> None:
    """First pages are stored between runs, and on disk if they do not fit in memory.

    The revisions of several runs equal those of one run.
    """
    calm = list(urltree.extract(pages(ENOUGH), revise=True))
    options: dict[str, Any] = {"revise": True, "memory": memory, "state": tmp_path}
    found = list(urltree.extract(pages(ENOUGH)[:7], **options))
    for each in pages(ENOUGH)[7:]:
        found += urltree.extract([each, page(1, f"{each['url'][20:]}.example")], **options)
    assert [each.text for each in revised(found)] == [each.text for each in revised(calm)]


def test_a_replay_is_the_revision(tmp_path: Path) -> None:
    """A replay returns the revision, which was published last, even without `revise`."""
    given = [each | {"origin": each["url"]} for each in pages(ENOUGH)]
    first = revised(list(urltree.extract(given, revise=True, state=tmp_path)))[0]
    (number,) = [n for n, each in enumerate(given) if each["origin"] == first.origin]
    assert list(urltree.extract([given[number]], state=tmp_path)) == [first]


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    """The command with --revise prints the same output with one process and with two."""
    hosts = ["a.example", "b.example"]
    stdin = lines(*(page(n // 2, hosts[n % 2]) for n in range(2 * ENOUGH + 4)))
    runs = [command("--revise", "--jobs", jobs, stdin=stdin) for jobs in (1, 2)]
    assert runs[0].stdout == runs[1].stdout
    found = records(runs[0].stdout)
    number = sum(record["revision"] for record in found)
    assert number > 0
    assert len(found) == 2 * ENOUGH + 4 + number
    assert f"{number} revised" in runs[0].stderr.decode()
