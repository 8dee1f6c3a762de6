"""The hash of an item: title, description, date and link, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from urltree.crawl.decisions.feed.item import FeedItem

DAY = "2024-01-01T10:00:00+00:00"
ITEM = FeedItem("https://a.org/1", "Title", "<p>Text</p>", DAY)


@pytest.mark.parametrize(
    ("item", "digest"),
    [
        (FeedItem("https://a.org/1"), "825fcc9d6c0068788e186294fbed0e19"),
        (FeedItem("https://a.org/1", "T"), "fee8df9e67c193f2351550ee20eb1f5f"),
        (FeedItem("https://a.org/1", "T", "D", DAY), "0ad0a0010e39685369fba34223e58afd"),
        (
            FeedItem("https://a.org/1", "Ü  x\n", "<p>D</p>", DAY),
            "e97027fc19f6b62ce253b47321aea44f",
        ),
    ],
)
def test_the_hash_is_the_same_in_every_release(item: FeedItem, digest: str) -> None:
    """Rows of `seen_items` outlive releases; with other hashes all items would be new."""
    assert item.hash.hex() == digest


def test_untitled_undated_items_differ_by_their_links() -> None:
    """The paper's hash would treat all items of such a feed as one."""
    assert len({FeedItem(f"https://a.org/{number}").hash for number in range(1_000)}) == 1_000


@pytest.mark.parametrize("field", ["link", "title", "description", "published"])
def test_each_field_counts(field: str) -> None:
    """An item with a changed field is another item."""
    assert replace(ITEM, **{field: "https://a.org/2"}).hash != ITEM.hash


def test_nothing_is_not_an_empty_text() -> None:
    """A missing field and an empty one differ."""
    assert FeedItem("a", None).hash != FeedItem("a", "").hash


def test_a_text_does_not_move_from_field_to_field() -> None:
    """Each field has a terminator."""
    link = "https://a.org/1"
    texts = [("a", "b"), ("ab", None), (None, "ab"), ("a =b", None), ("a\0=b", None), ("a", "=b")]
    assert len({FeedItem(link, *pair).hash for pair in texts}) == len(texts)


@pytest.mark.parametrize("title", [" Title", "Title\n", "\tTitle\u00a0"])
def test_white_space_does_not_matter(title: str) -> None:
    """The indentation of a feed may change without news."""
    assert replace(ITEM, title=title).hash == ITEM.hash
    assert FeedItem("a", "One\n  two").hash == FeedItem("a", "One two").hash


def test_spellings_of_one_text_are_one() -> None:
    """Composed and decomposed characters are equal (Unicode NFC)."""
    assert FeedItem("a", "Caf\u00e9").hash == FeedItem("a", "Cafe\u0301").hash


def test_any_text_has_a_hash() -> None:
    """Surrogates and NUL are allowed."""
    assert len(FeedItem("a", "\ud800\0").hash) == 16
