"""The hash of an item depends on its title, description, date and link, and on nothing else."""

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
    """An item's hash is the same in every release, or all items would be new after an upgrade."""
    assert item.hash.hex() == digest


def test_untitled_undated_items_differ_by_their_links() -> None:
    """Items without title and date have different hashes if their links differ.

    With the paper's hash, which ignores links, they would all be one item.
    """
    assert len({FeedItem(f"https://a.org/{number}").hash for number in range(1_000)}) == 1_000


@pytest.mark.parametrize("field", ["link", "title", "description", "published"])
def test_each_field_counts(field: str) -> None:
    """A change of any field changes an item's hash."""
    assert replace(ITEM, **{field: "https://a.org/2"}).hash != ITEM.hash


def test_nothing_is_not_an_empty_text() -> None:
    """An item with a missing field and an item with an empty field have different hashes."""
    assert FeedItem("a", None).hash != FeedItem("a", "").hash


def test_a_text_does_not_move_from_field_to_field() -> None:
    """Moving text from one field to another changes the hash, because each field is terminated."""
    link = "https://a.org/1"
    texts = [("a", "b"), ("ab", None), (None, "ab"), ("a =b", None), ("a\0=b", None), ("a", "=b")]
    assert len({FeedItem(link, *pair).hash for pair in texts}) == len(texts)


@pytest.mark.parametrize("title", [" Title", "Title\n", "\tTitle\u00a0"])
def test_white_space_does_not_matter(title: str) -> None:
    """White space does not change an item's hash, because a feed's indentation may change."""
    assert replace(ITEM, title=title).hash == ITEM.hash
    assert FeedItem("a", "One\n  two").hash == FeedItem("a", "One two").hash


def test_spellings_of_one_text_are_one() -> None:
    """Composed and decomposed characters give the same hash (Unicode NFC)."""
    assert FeedItem("a", "Caf\u00e9").hash == FeedItem("a", "Cafe\u0301").hash


def test_any_text_has_a_hash() -> None:
    """Any text has a hash, even one with surrogates or NUL."""
    assert len(FeedItem("a", "\ud800\0").hash) == 16
