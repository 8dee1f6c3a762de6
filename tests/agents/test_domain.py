"""The command `domain` shows the state of a domain, which it reads only from the changelog."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import raw_html
from tests.agents.records import PARTITIONS, Publish, Run, Sent
from tests.agents.workers import work
from urltree.page import Page

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def page(path: str) -> Sent:
    """Return a page of example.org with the same imprint as all other pages."""
    html = f"<p>Text of {path}</p><p>Imprint [and] contact</p>"
    value = raw_html.encode(Page(url=f"https://www.example.org/{path}", html=html))
    return Sent("raw-html", b"example.org", value)


def test_the_tree_and_the_most_repeated_blocks_are_shown(
    job: Settings, publish: Publish, run: Run
) -> None:
    """The command shows the tree with the support of each node, and the most repeated blocks."""
    publish(page("news/a"), page("news/b"), page("about"))
    work(job)
    view = orjson.loads(run("domain", "example.org", "--json").stdout)
    assert (view["documents"], view["waiting"]) == (3, 3)
    assert view["tree"] == {
        "name": "example.org",
        "support": 3,
        "children": 2,
        "nodes": [
            {
                "name": "news",
                "support": 2,
                "children": 2,
                "nodes": [{"name": "a", "support": 1}, {"name": "b", "support": 1}],
            },
            {"name": "about", "support": 1},
        ],
    }
    (block,) = view["blocks"]
    assert (block["count"], block["text"]) == (3, "Imprint [and] contact")
    shown = run("domain", "example.org", "--depth", "1").stdout
    assert "news (2) … 2 children" in shown
    assert "3 first pages will be classified a second time" in shown
    assert "100%  'Imprint [and] contact'" in shown
    assert " a (1)" not in shown


def test_a_domain_that_nobody_knows_has_no_documents(publish: Publish, run: Run) -> None:
    """For a domain without rows the exit code is 1, even if its partition contains other rows."""
    assert run("domain", "example.org").exit_code == 1
    place = partition_of(b"example.org", PARTITIONS)
    row = b"example.org.uk\0" + bytes(16)
    publish(Sent("urltree-extract-rows-changelog", row, b"\xff", partition=place))
    assert run("domain", "example.org").exit_code == 1
