"""JSON-LD: the author and description of an article, found among other objects."""

from __future__ import annotations

import pytest

from urltree.enrich.metadata.json_ld import MAX_BYTES, ArticleMetadata, read_article

ARTICLE = '{"@type": "BlogPosting", "author": "Ash Elm", "description": "Trees."}'


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param([ARTICLE], id="alone"),
        pytest.param([f"[{ARTICLE}]"], id="in a list"),
        pytest.param([f'{{"@graph": [{{"@type": "WebSite"}}, {ARTICLE}]}}'], id="in a graph"),
        pytest.param(["no JSON", "[" * 100_000, ARTICLE], id="after bodies that are no JSON"),
        pytest.param([ARTICLE.replace("Ash Elm", "Ash\nElm")], id="with a newline in a string"),
        pytest.param(
            [ARTICLE.replace('"BlogPosting"', '["Thing", "Article"]')], id="of several types"
        ),
    ],
)
def test_an_article_is_found(bodies: list[str]) -> None:
    """An article is found in any JSON-LD body of a page, and at any depth."""
    assert read_article(bodies) == ArticleMetadata("Ash Elm", "Trees.")


def test_a_comment_s_author_is_not_the_page_s() -> None:
    """The author of a comment is not the author of the page: only articles count."""
    assert read_article(['{"@type": "Comment", "author": "Fir"}']) == ArticleMetadata(None, None)


def test_an_author_may_be_a_reference() -> None:
    """An author may be a reference to a person, because a graph contains each person once."""
    graph = (
        '[{"@type": "Article", "author": {"@id": "#ash"}},'
        '{"@type": "Person", "@id": "#ash", "name": "Ash Elm"}]'
    )
    assert read_article([graph]).author == "Ash Elm"


@pytest.mark.parametrize("author", ["null", "7", "{}", '{"@id": "#none"}', "[[]]", '[" "]'])
def test_what_is_no_name_is_no_author(author: str) -> None:
    """An author whose value contains no name is ignored."""
    assert read_article([f'{{"@type": "Article", "author": {author}}}']).author is None


def test_bodies_are_read_up_to_a_size() -> None:
    """Only MAX_BYTES of JSON-LD are read, which is the limit of the tokenizer."""
    assert read_article([" " * MAX_BYTES, ARTICLE]) == ArticleMetadata(None, None)
