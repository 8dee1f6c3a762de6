"""The output of `feeds list` for people: widths of a terminal, words, and counts."""

from __future__ import annotations

from typing import Any

import pytest

from agents.commands.feeds import list as listing
from agents.commands.feeds.list import FollowedFeed
from agents.commands.feeds.words import in_words
from models.crawl.feed import Feed
from urltree.crawl.decisions.poll.feed_state import FeedState, FeedStatus
from urltree.crawl.decisions.poll.source_options import Content, SourceKind, SourceOptions
from urltree.crawl.decisions.response import Trouble

NOW = 1_800_000_000.0
LONG = "https://www.example.org/blog/category/technology/feeds/all.atom.xml?format=full&n=50"
FAILED: dict[str, Any] = {"errors": 3, "trouble": "status", "message": "HTTP\nstatus 500"}


def followed(url: str, children: int = 0, **changes: Any) -> FollowedFeed:
    """Return a feed that was polled a minute ago; `options` are those of its source."""
    options = changes.pop("options", SourceOptions())
    fields = {"site": "example.org", "feed": url, "url": url, "last_poll": NOW - 60, **changes}
    feed = Feed(site="example.org", url=url, options=options)
    return FollowedFeed(feed, FeedState(**fields), children)


def shown(capsys: pytest.CaptureFixture[str], *rows: FollowedFeed) -> list[str]:
    """Return the lines that `feeds list` prints, without the heading."""
    listing._print(list(rows), NOW)
    return capsys.readouterr().out.splitlines()[1:]


@pytest.mark.parametrize("width", [70, 80, 120])
def test_no_line_is_wider_than_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal, a long address is continued below itself, and errors have the whole width."""
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the output for a terminal
    monkeypatch.setenv("COLUMNS", str(width))
    lines = shown(capsys, followed(LONG, last_success=NOW - 7_200, **FAILED))
    assert max(map(len, lines)) <= width
    error = next(at for at, line in enumerate(lines) if line.startswith("    3 polls"))
    assert error > 1
    assert "".join(line[48:] for line in lines[:error]) == LONG
    assert " ".join(line.strip() for line in lines[error:]) == (
        "3 polls failed: the server answered with an error: HTTP status 500"
    )


def test_a_pipe_has_every_address_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal no address is cut or continued, and no line ends with spaces."""
    url = "https://example.org/" + "a" * 5_000
    first, second = shown(capsys, followed(url), followed("https://example.org/b"))
    assert first.endswith(url)
    assert second == second.rstrip()
    assert first.index("https") == second.index("https") == 48


@pytest.mark.parametrize("state", [None, {"last_poll": None}])
def test_a_feed_is_new_until_its_first_poll_is_answered(
    state: dict[str, Any] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A feed that a worker has taken, but whose server has not answered yet, is new."""
    row = followed("https://example.org/a", next_due=NOW - 5, **(state or {}))
    row = row if state else row._replace(state=None)
    assert row.status == "new"
    assert shown(capsys, row)[0].split() == ["new", "https://example.org/a"]
    assert followed("https://example.org/a", status=FeedStatus.GONE).status == "gone"


def test_what_a_feed_loses_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Below a feed stand the items that were not read, those without link, and its walls."""
    lost: dict[str, Any] = {"unread": 12, "unlinked": 1, "is_cut": True, "walls": 5}
    row = followed("https://example.org/a", **lost)
    _, *lines = shown(capsys, row)
    assert [line.strip() for line in lines] == [
        "too large: only the beginning of the last answer was read",
        "12 items of the last answer not read: more than the limit",
        "1 item of the last answer without link",
        "5 pages refused as walls",
    ]


@pytest.mark.parametrize(
    ("content", "words"), [(Content.FEED, "has the full text"), (Content.PAGE, "are fetched")]
)
def test_the_decision_about_content_is_told(
    content: Content, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A feed with `content: auto` tells what the last comparison with its pages has decided."""
    auto = SourceOptions(content=Content.AUTO)
    decided: dict[str, Any] = {"content_decided": content, "content_decided_at": NOW - 5}
    _, line = shown(capsys, followed("https://example.org/a", options=auto, **decided))
    assert line.startswith("    content auto: ")
    assert words in line
    assert len(shown(capsys, followed("https://example.org/a", **decided))) == 1


def test_kinds_and_children_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A source that is not a feed tells its kind, and an index the number of its sitemaps."""
    sitemap = SourceOptions(kind=SourceKind.SITEMAP)
    section = SourceOptions(kind=SourceKind.SECTION, is_paused=True)
    lines = shown(
        capsys,
        followed("https://example.org/s.xml", children=1_200, options=sitemap),
        followed("https://example.org/t.xml", options=sitemap),
        followed("https://example.org/news", options=section, next_due=NOW + 500),
    )
    assert lines[1].strip() == "sitemap index of 1,200 sitemaps"
    assert lines[3].strip() == "sitemap"
    assert lines[5].strip() == "section page"
    assert lines[4].split()[0] == "paused"
    assert "8 min" not in lines[4]  # it is not due


def test_every_trouble_has_words() -> None:
    """Each failure of a request is told in words; a value of a later release is told as it is."""
    words = {in_words(trouble) for trouble in Trouble}
    assert len(words) == len(Trouble)
    assert not words & set(Trouble)
    assert in_words("dns", "no such name") == "the name of the host does not resolve: no such name"
    assert in_words("later-release") == "later-release"
    assert in_words(None, None) == ""
