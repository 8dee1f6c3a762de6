"""Benchmark of the CPU time of each part of the algorithm, a bare parse, and trafilatura.

Each page is given to the algorithm, the bare parse and trafilatura before the next page begins, so
that a slow moment of the machine affects all three. Each gets the form of the page that is fastest
for it: trafilatura gets text, and `lxml.html` and the product get UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import lxml.html
import trafilatura
from trafilatura.meta import reset_caches

from bench.figure import Bar, Benchmark, Measurement, format_spread
from bench.pages import Pages, html, mean_kilobytes
from bench.processor_time import Laps, Round, rounds, sums
from models import clean_text as clean_texts
from models import document as documents
from models import raw_html
from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.html.encoding import decode_html
from urltree.html.tokenizer import tokenize
from urltree.output.extraction import clean_text
from urltree.page import Page
from urltree.site.row import Row
from urltree.site.site import Site
from urltree.tree.window import Eviction

PAGES = 440
FLOOR = 7.0  # required speed, as a multiple of trafilatura's
PARSE, TRAFILATURA = "lxml.html parse", "trafilatura.extract"
PARTS = ("decode", "key", "tokenize", "tree: insert, judge, row", "clean text")
RECORDS = ("raw-html: read JSON", "documents: write JSON", "documents: read JSON")
ROW, WRITE_CLEAN_TEXT = "including the row", "clean-text: write JSON"
WIRE = (*RECORDS, WRITE_CLEAN_TEXT)


def measure(pages: Pages, number: int) -> Benchmark:
    """Measure all parts of the algorithm page by page, in several rounds."""
    sample = pages.sample(PAGES)
    measured = rounds(number, lambda laps: _round(sample, laps))
    return Benchmark(
        "Algorithm alone: CPU per page",
        f"{len(sample)} pages of {len(pages.sites)} sites ({pages.name}), mean HTML "
        f"{mean_kilobytes(sample):.1f} kB; best of {number} rounds, interleaved page by page",
        [*ratios(measured, PARTS, "algorithm", FLOOR), *_parts(measured, len(sample))],
    )


def beside(pages: Sequence[Page], laps: Laps) -> None:
    """Measure the CPU time of the bare parse and of trafilatura on these pages."""
    reset_caches()
    for page in pages:
        _others(page, laps)


def _round(pages: Sequence[Page], laps: Laps) -> None:
    reset_caches()
    scheme, domains = KeyScheme(), dict[str, Site]()
    for page in pages:
        _others(page, laps)
        document = _document(page, scheme, laps)
        learned = domains.get(document.domain)
        if learned is None:
            learned = domains[document.domain] = Site(heuristic(DEFAULT), Eviction())
        laps.start()
        lesson = learned.learn(document, None)
        laps.lap(PARTS[3])
        extraction = clean_text(document, lesson.verdict)
        laps.lap(PARTS[4])
        clean_texts.encode(extraction)
        laps.lap(WRITE_CLEAN_TEXT)
        row = Row.decode(lesson.row)
        laps.start()
        row.encode()
        laps.lap(ROW)


def _document(page: Page, scheme: KeyScheme, laps: Laps) -> Document:
    response, record = html(page), raw_html.encode(page)
    laps.start()
    text = decode_html(response)
    laps.lap(PARTS[0])
    key = scheme.key(page.final_url or "", lambda: page.title)
    laps.lap(PARTS[1])
    document = Document.of(page, key, tokenize(text), "raw-html/0/0")
    laps.lap(PARTS[2])
    raw_html.decode(record)
    laps.lap(RECORDS[0])
    value = documents.encode(document)
    laps.lap(RECORDS[1])
    document = documents.decode(value)
    laps.lap(RECORDS[2])
    return document


def _others(page: Page, laps: Laps) -> None:
    response, text = html(page), page.html
    parser = lxml.html.HTMLParser(encoding="utf-8")
    laps.start()
    lxml.html.document_fromstring(response, parser=parser)
    laps.lap(PARSE)
    trafilatura.extract(text)
    laps.lap(TRAFILATURA)


def ratios(
    measured: Sequence[Round], parts: Sequence[str], name: str, floor: float
) -> list[Measurement]:
    """Return the CPU time of each other extractor, divided by the total of our parts."""
    ours = sums(measured, parts)
    figures = []
    for other, bar in ((TRAFILATURA, Bar(floor, is_floor=True)), (PARSE, None)):
        theirs = sums(measured, (other,))
        each = [their / our for their, our in zip(theirs, ours, strict=True)]
        figures.append(
            Measurement(
                f"{other} ÷ {name}", min(theirs) / min(ours), "times", format_spread(each), bar=bar
            )
        )
    return figures


def _parts(measured: Sequence[Round], pages: int) -> list[Measurement]:
    """Return the CPU time of each part in its best round, in microseconds for each page."""
    best = min(sums(measured, (PARSE,)))
    figures = []
    for name, parts in (
        *((part, (part,)) for part in (PARSE, TRAFILATURA)),
        ("algorithm", PARTS),
        *((f"  {part}", (part,)) for part in PARTS),
        (f"    {ROW}", (ROW,)),
        ("records of the job, not included", WIRE),
        *((f"  {part}", (part,)) for part in WIRE),
    ):
        each = [seconds / pages * 1e6 for seconds in sums(measured, parts)]
        note = f"{min(each) * pages / 1e6 / best:.2f} of a parse"
        figures.append(Measurement(name, min(each), "µs", format_spread(each), note))
    return figures
