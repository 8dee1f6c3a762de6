"""Block hashes: rows store them, so their values are pinned."""

from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.html.blocks import block_hash, block_hashes, normalise_text


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Breaking News: 24 dead!", "breakingnewsdead"),
        ("1 | 2 — 3", ""),
        ("Ünï-côdé", "ünïcôdé"),
        ("İstanbul", "i̇stanbul"),
        ("ΟΔΟΣ ΟΔΟΣ", "οδοσοδοσ"),
        ("新闻。新聞、ニュース", "新闻新聞ニュース"),
        ("أَخْبَار 2013", "أَخْبَار"),
        ("חֲדָשׁוֹת!", "חֲדָשׁוֹת"),
        ("हिन्दी", "हिन्दी"),
        ("e\N{COMBINING ACUTE ACCENT}", "é"),
        ("\N{KELVIN SIGN}", "k"),
        ("\ud800x\u200b\U0001f600", "x"),
    ],
)
def test_letters_and_marks_in_lower_case_are_what_counts(text: str, letters: str) -> None:
    """A block's hash depends only on its letters and combining marks, in lower case."""
    assert normalise_text(text) == normalize("NFC", letters)


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("", 0x2D06800538D394C2),
        ("1 | 2", 0x2D06800538D394C2),
        ("Breaking News: 24 dead!", 0x46CB54B524CB8916),
        ("Ünï-côdé", 0x2E9A8EB1E82B6AC8),
        ("İstanbul", 0xF1C909F6E5C82711),
        ("新闻。新聞", 0x4D8C08942E5FFE7E),
        ("أَخْبَار", 0xD20DEFFDB56C4144),
        ("חֲדָשׁוֹת", 0x9260D2E477E8EFF5),
    ],
)
def test_digests_are_those_of_every_release(text: str, digest: int) -> None:
    """Hashes are the same in every release; a change makes stored rows useless.

    Whoever changes a hash must raise TOKENIZER_VERSION.
    """
    assert block_hash(text) == digest


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    """A normalised text is in NFC, has only letters and marks, and does not change again."""
    once = normalise_text(text)
    assert normalise_text(once) == once == normalize("NFC", once)
    assert all(category(character)[0] in "LM" for character in once)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_composed_and_decomposed_text_have_one_hash(text: str) -> None:
    """Composed and decomposed text have one hash, because Unicode defines them as equivalent."""
    assert block_hash(normalize("NFD", text)) == block_hash(normalize("NFC", text))


@given(st.text(st.characters(codec="ascii")))
def test_the_short_way_for_ascii_is_the_long_way(text: str) -> None:
    """The faster code for ASCII text gives the same result as the code for any text."""
    assert normalise_text(text) == "".join(c for c in text.lower() if c.isalpha())
    assert block_hash(text) == block_hash(normalise_text(text) + "—")


@given(st.lists(st.text()))
def test_the_blocks_of_a_page_have_the_hashes_that_each_has_alone(texts: list[str]) -> None:
    """The blocks of a page have the same hashes together as alone.

    All texts are normalised as one text; NULs and final letters must not affect the neighbours.
    """
    assert block_hashes(texts) == [block_hash(text) for text in texts]
