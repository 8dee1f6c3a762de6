"""What a single-page extractor vouches for travels in the record of documents."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from models import document as documents
from tests.urltree.builders import of_html
from urltree.page import PageError

DOCUMENT = of_html(1, "<p>one<p>two<p>three")


def test_what_is_vouched_for_comes_back() -> None:
    """As a digit for each block; where nobody was asked the record has no such field."""
    asked = replace(DOCUMENT, vouched="101")
    assert documents.decode(documents.encode(asked)) == asked
    assert "vouched" not in orjson.loads(documents.encode(DOCUMENT))


@pytest.mark.parametrize("vouched", ["10", "1010", "1x1", [1, 0, 1]])
def test_what_does_not_fit_the_blocks_is_malformed(vouched: object) -> None:
    """Too few, too many, no digit, no string."""
    record = orjson.loads(documents.encode(DOCUMENT)) | {"vouched": vouched}
    with pytest.raises(PageError, match="vouched: should have a digit for each block"):
        documents.decode(orjson.dumps(record))
