"""Scores of other extractors. Their texts are kept, because they take more CPU than ours.

WORK/peers/EXTRACTOR-VERSION/CORPUS.jsonl.zst    {"id": …, "text": …} a line
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.quality.passes import PageF1, is_scored, score_page, site_of
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.catalogue import extractor_version, load_extractors
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.workspace import SUFFIX, read_lines, write_lines


@dataclass(frozen=True, slots=True)
class Texts:
    """The task of one process: let an extractor read the scored pages of a stream.

    Attributes:
        file: the stream.
        peer: name of the extractor.
        pages: largest number of pages; None for all.
        folder: folder for its texts.
    """

    file: Path
    peer: str
    pages: int | None
    folder: Path


def peer_texts(peer: str, pages: Iterable[CorpusPage], kept: Path) -> dict[str, str]:
    """Return an extractor's texts of pages by id; only pages without a kept text are read.

    Args:
        peer: name of the extractor in the evaluation. A page on which it fails has an empty text.
        pages: pages with unique ids.
        kept: folder for files by version of the extractor; the pages' corpus names the file.

    Raises:
        ValueError: it is not installed; the message tells how to install it.
    """
    known, absent = load_extractors()
    if peer not in known:
        raise ValueError(f"{peer}: {absent.get(peer, 'is no extractor')}")
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
            except Exception:  # noqa: BLE001 - a stranger's code: what it cannot read is 0
                said[page.id] = ""
        write_lines(file, [{"id": name, "text": text} for name, text in said.items()])
    return said


def peer_scores(
    files: Iterable[Path], peer: str, folder: Path, pages: int | None, processes: int
) -> list[PageF1]:
    """Return another extractor's F1 of the scored pages of all streams."""
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
    return [score_page(page, number, site, said[page.id]) for number, page in wanted.items()]
