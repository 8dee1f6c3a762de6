"""A work folder with a small corpus, and extractors invented for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import orjson

from urltree_evaluation.corpus import Corpus, CorpusKind, CorpusPage
from urltree_evaluation.extractors.registry import ExtractFunction, RegisteredExtractor
from urltree_evaluation.prediction import Prediction
from urltree_evaluation.running.extracting import run_extractors
from urltree_evaluation.workspace import Workspace, write_lines

CORPUS = "made-up"
PART = "pages.example"


def work(
    folder: Path, pages: int = 6, *, kind: CorpusKind = "stream", without_gold: tuple[int, ...] = ()
) -> Workspace:
    """Write a corpus of one part, with pages "0", "1", … whose HTML is their id."""
    workspace = Workspace(folder)
    write_lines(
        workspace.pages_file(CORPUS, PART),
        [
            CorpusPage(str(n), "", PART, str(n), gold=None if n in without_gold else "gold")
            for n in range(pages)
        ],
    )
    corpus = Corpus(CORPUS, kind, {PART: pages}, f"{pages}")
    (folder / "corpora" / CORPUS / "corpus.json").write_bytes(orjson.dumps(corpus))
    return workspace


def single(name: str, function: Callable[[str], object]) -> RegisteredExtractor:
    """Return a single-page extractor that gets a page's HTML, which is its id."""

    def make() -> ExtractFunction:
        return lambda page: function(page.html)  # type: ignore[return-value] # it may return anything

    return RegisteredExtractor(name, "", make, is_stream=False, package=None, module=__name__)


def stream(name: str, make: Callable[[], ExtractFunction]) -> RegisteredExtractor:
    """Return a stream extractor."""
    return RegisteredExtractor(name, "", make, is_stream=True, package=None, module=__name__)


def predicted(
    workspace: Workspace,
    extractor: RegisteredExtractor,
    *,
    sample: int | None = None,
    **limits: float,
) -> list[Prediction]:
    """Run an extractor, and return its predictions; the limits suit slow machines."""
    options: Mapping[str, float] = {"seconds": 30, "megabytes": 200, **limits}
    run_extractors(
        workspace,
        {extractor.name: extractor},
        sample=sample,
        seconds=options["seconds"],
        megabytes=int(options["megabytes"]),
    )
    return list(workspace.predictions(CORPUS, extractor.name, PART))


class Counting:
    """A stream extractor whose text is the ids of the pages so far."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, page: CorpusPage) -> str:
        """Return the ids of all pages so far, including this one."""
        self.seen.append(page.id)
        return " ".join(self.seen)
