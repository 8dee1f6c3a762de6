"""Other extractors on the same pages; their texts are kept, for they cost more than ours.

WORK/peers/EXTRACTOR-VERSION/CORPUS.jsonl.zst    {"id": …, "text": …} a line
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.quality.passes import PageF1, is_scored, score, site_of
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.catalogue import extractor_version, load_extractors
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.workspace import SUFFIX, read_lines, write_lines


@dataclass(frozen=True, slots=True)
class Texts:
    """What a process does: have an extractor read the scored pages of a stream.

    Attributes:
        pages: of the stream, so many at most; None is all.
        folder: where its texts are kept.
    """

    file: Path
    peer: str
    pages: int | None
    folder: Path


def peer_texts(peer: str, pages: Iterable[CorpusPage], kept: Path) -> dict[str, str]:
    """What an extractor says of pages, by id; only those are read that are not kept already.

    Args:
        peer: by the name that the evaluation gives it; what it fails on has no text.
        pages: with unique ids.
        kept: a folder for files of this extractor's version; the pages' corpus names the file.

    Raises:
        ValueError: it is not installed; the message says how to.
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
    """F1 of the scored pages of all streams by another extractor."""
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
    return [score(page, number, site, said[page.id]) for number, page in wanted.items()]
