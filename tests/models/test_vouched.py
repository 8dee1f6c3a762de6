"""Tests of the field `vouched`: the blocks that a single-page extractor confirmed."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from models import document as documents
from tests.urltree.builders import of_html
from urltree.page import PageError

DOCUMENT = of_html(1, "<p>one<p>two<p>three")


def test_confirmed_blocks_survive_the_wire() -> None:
    """The field has a digit for each block.

    Without a single-page extractor, the record has no such field.
    """
    asked = replace(DOCUMENT, vouched="101")
    assert documents.decode(documents.encode(asked)) == asked
    assert "vouched" not in orjson.loads(documents.encode(DOCUMENT))


DIGITS = "vouched: should have a digit, 0 or 1, for each of 3 blocks"
STRING = r"vouched: expected `str \| null`, got `array`"


@pytest.mark.parametrize(
    ("vouched", "message"),
    [("10", DIGITS), ("1010", DIGITS), ("1x1", DIGITS), ([1, 0, 1], STRING)],
)
def test_digits_that_do_not_fit_the_blocks_are_malformed(vouched: object, message: str) -> None:
    """Too few or too many digits, other characters and a list are malformed."""
    record = orjson.loads(documents.encode(DOCUMENT)) | {"vouched": vouched}
    with pytest.raises(PageError, match=message):
        documents.decode(orjson.dumps(record))
