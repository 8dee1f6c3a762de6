"""The option `metadata`: what it adds to an Extraction, in the library and in the job."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import orjson
import pytest

from models import clean_text as clean_texts
from models import document as documents
from urltree import Extraction, Extractor
from urltree.document import FoundMetadata
from urltree.heuristics.protocol import Verdict
from urltree.output.extraction import clean_text
from urltree.page import Page

PAGE: dict[str, Any] = {
    "url": "https://example.org/ferry",
    "html": (
        '<html lang="fr"><head><meta name="author" content="Ash Elm">'
        '<meta name="date" content="2019-04-07"><meta name="description" content="Late again.">'
        "</head><body><p>The ferry to the island leaves twice a day, and nobody knows why."
    ),
    "published": "2019-04-09T08:00:00Z",
    "description": "As the feed has it.",
}
FOUND = FoundMetadata(date="2019-04-07", author="Ash Elm", description="Late again.", language="en")
URLTREE = [sys.executable, "-m", "urltree.cli", "extract"]


def extracted(page: dict[str, Any], *, metadata: bool) -> Extraction:
    """Return the Extraction of a page, with or without metadata."""
    with Extractor(metadata=metadata) as extractor:
        return extractor.extract(page)


def test_what_is_found_stands_apart() -> None:
    """Metadata is a separate field, and does not change fields from the page's record or head."""
    extraction = extracted(PAGE, metadata=True)
    assert extraction.metadata == FOUND
    assert replace(extraction, metadata=None) == extracted(PAGE, metadata=False)
    assert (extraction.published, extraction.language) == (PAGE["published"], "fr")
    assert extraction.description == PAGE["description"]


def test_a_page_without_url_is_looked_at_as_well() -> None:
    """Metadata is also found for a page without URL."""
    assert extracted(PAGE | {"url": None}, metadata=True).metadata == FOUND


def test_the_job_says_what_the_library_says() -> None:
    """The job and the library publish the same metadata.

    A document stores what its HTML states; the language is detected from the clean text.
    """
    with Extractor(metadata=True) as extractor:
        learned = extractor.learn(PAGE)
        assert not isinstance(learned, Extraction)
        document, verdict = learned
        assert document.metadata == replace(FOUND, language=None)
        arrived = documents.decode(documents.encode(document))
        said = clean_texts.encode(clean_text(arrived, verdict))
        assert said == clean_texts.encode(extractor.extraction(learned))
    assert list(orjson.loads(said))[-1] == "metadata"
    assert orjson.loads(said)["metadata"] == FOUND.to_record()


def test_nothing_found_is_not_the_same_as_nobody_looked() -> None:
    """If the option is on and nothing is found, the metadata is an empty record, not missing."""
    extraction = extracted({"url": "https://example.org/", "html": "<p>7"}, metadata=True)
    assert extraction.metadata == FoundMetadata()
    assert orjson.loads(clean_texts.encode(extraction))["metadata"] == {}


def test_the_language_is_that_of_the_clean_text() -> None:
    """The language is that of the clean text, without the boilerplate around it."""
    menu = "<ul><li>Über uns und unsere Geschichte<li>Häufig gestellte Fragen</ul>" * 9
    html = f"<html><body>{menu}<p>The ferry to the island leaves twice a day, number"
    with Extractor(metadata=True, heuristic="strict") as extractor:
        languages = [
            extractor.extract((f"https://example.org/{word}", f"{html} {word}.")).metadata
            for word in ("one", "two")
        ]
    assert [found and found.language for found in languages] == ["de", "en"]


@pytest.mark.slow
def test_the_command_has_the_field() -> None:
    """`urltree extract --metadata` writes the same metadata with one process and with two."""
    pages = orjson.dumps(PAGE) + b"\n" + orjson.dumps(PAGE | {"url": "https://other.example/"})
    outputs = [
        subprocess.run(
            [*URLTREE, "--metadata", "--jobs", jobs], input=pages, capture_output=True, check=True
        ).stdout
        for jobs in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    records = [orjson.loads(line) for line in outputs[0].splitlines()]
    assert [record["metadata"] for record in records] == [FOUND.to_record()] * 2


@pytest.mark.parametrize("missing", ["htmldate", "py3langid"])
def test_without_the_extra_the_option_is_refused_at_the_start(missing: str) -> None:
    """Without the extra, the option raises ValueError, whose message names the extra.

    Without the option everything works.
    """
    script = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import urltree\n"
        "print(next(urltree.extract([('https://example.org/', '<p>text')])).text)\n"
        "urltree.extract([], metadata=True)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert run.stdout == "text\n"
    assert run.stderr.splitlines()[-1].startswith(
        "ValueError: metadata needs the extra `metadata` ("
    )
    assert "urltree[metadata]" in run.stderr


def test_a_verdict_does_not_change_what_was_found() -> None:
    """If all blocks are boilerplate, only the language is missing from the metadata."""
    with Extractor(metadata=True) as extractor:
        learned = extractor.learn(Page(**PAGE))
    assert not isinstance(learned, Extraction)
    document, verdict = learned
    nothing = Verdict("strict", 1, 0, 1, (True,) * len(verdict.boilerplate), None)
    assert clean_text(document, nothing).metadata == replace(FOUND, language=None)
