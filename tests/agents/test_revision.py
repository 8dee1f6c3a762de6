"""If one of a site's first pages cannot be revised, all other pages are still processed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import urltree.pipeline
from agents.settings.job import Settings
from models import raw_html
from tests.agents.records import Publish, ReadAll, Sent
from tests.agents.workers import work
from urltree.document import Document
from urltree.page import Page
from urltree.site.first_pages import ENOUGH
from urltree.site.packed_document import unpack

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def page(number: int) -> Sent:
    """Return the record of an article; all articles have one sentence in common."""
    own = "".join(f"<p>This is what {word * number} has to say at length." for word in ("ba", "do"))
    html = f"<h1>Title {'x' * number}</h1><div class=article><p>Whoever reads may write.{own}</div>"
    value = raw_html.encode(Page(url=f"https://example.org/{number}", html=html))
    return Sent("raw-html", b"example.org", value)


def revised(records: list[Any]) -> set[str]:
    """Return the URLs of the pages whose clean text was published again as a revision."""
    found = [orjson.loads(record.value) for record in records]
    return {each["url"] for each in found if each["revision"]}


def test_a_page_that_cannot_be_revised_stops_no_other(
    job: Settings, publish: Publish, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that cannot be revised keeps its first text, and the other pages are revised.

    Its stored copy is deleted; otherwise each later page of the site would cause the same error.
    """

    def fragile(stored: bytes) -> Document:
        document = unpack(stored)
        if document.url == "https://example.org/2":
            raise ArithmeticError
        return document

    monkeypatch.setattr(urltree.pipeline, "unpack", fragile)
    publish(*(page(number) for number in range(1, ENOUGH + 3)))
    work(job)
    texts = read_all("clean-text")
    assert "https://example.org/1" in revised(texts)
    assert "https://example.org/2" not in revised(texts)
    assert len({record.key for record in texts}) == ENOUGH + 2
    assert read_all("dead-letters") == []
    kept = {record.key: record.value for record in read_all("urltree-extract-first-changelog")}
    assert len(kept) == ENOUGH - 1
    assert set(kept.values()) == {None}
