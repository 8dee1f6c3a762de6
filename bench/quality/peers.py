"""The scores of other extractors. Their texts are stored, because they take much CPU time.

WORK/peers/EXTRACTOR-VERSION/CORPUS.jsonl.zst    {"id": …, "text": …} a line
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.quality.passes import PageF1, is_scored, score_text, site_of
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.catalogue import extractor_version, load_extractors
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.workspace import SUFFIX, read_lines, write_lines


@dataclass(frozen=True, slots=True)
class Texts:
    """The task of one process: run an extractor on the scored pages of a stream.

    Attributes:
        file: the stream.
        peer: name of the extractor.
        pages: highest number of pages to read; None means all pages.
        folder: folder in which the texts are stored.
    """

    file: Path
    peer: str
    pages: int | None
    folder: Path


def peer_texts(peer: str, pages: Iterable[CorpusPage], kept: Path) -> dict[str, str]:
    """Return the text that an extractor finds in each page, by the page's id.

    The extractor runs only on pages for which no text is stored.

    Args:
        peer: name of the extractor in the evaluation. If it fails on a page, the text is "".
        pages: pages with unique ids.
        kept: folder of the stored texts. Each version of an extractor has its own subfolder, with a
            file for each corpus.

    Raises:
        ValueError: the extractor is not installed; the message explains how to install it.
    """
    known, absent = load_extractors()
    if peer not in known:
        raise ValueError(f"{peer}: {absent.get(peer, 'there is no extractor of this name')}")
    wanted = list(pages)
    corpus = wanted[0].id.rpartition("/")[0] if wanted else ""
    file = kept / "peers" / f"{peer}-{extractor_version(known[peer])}" / (corpus + SUFFIX)
    said = {each["id"]: each["text"] for each in read_lines(file)} if file.exists() else {}
    missing = [page for page in wanted if page.id not in said]
    if missing:
        extract = known[peer].make()
        for page in missing:
            try:
                said[page.id] = extract(page) or ""
            except Exception:  # noqa: BLE001 - if third-party code fails, F1 is 0
                said[page.id] = ""
        write_lines(file, [{"id": name, "text": text} for name, text in said.items()])
    return said


def peer_scores(
    files: Iterable[Path], peer: str, folder: Path, pages: int | None, processes: int
) -> list[PageF1]:
    """Return the scores of another extractor on the scored pages of all streams."""
    work = [Texts(file, peer, pages, folder) for file in files]
    return [page for found in map_unordered(_score, work, processes) for page in found]


def _score(work: Texts) -> list[PageF1]:
    wanted = {
        number: page
        for number, page in enumerate(islice(read(work.file), work.pages), start=1)
        if is_scored(number) and page.gold is not None
    }
    said = peer_texts(work.peer, wanted.values(), work.folder)
    site = site_of(work.file)
    return [score_text(page, number, site, said[page.id]) for number, page in wanted.items()]
