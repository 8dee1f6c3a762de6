"""A work folder with a small corpus, and extractors that only the tests use."""

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
    """Write a corpus of one part, with pages "0", "1", and so on; the HTML of a page is its id."""
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
    """Return a single-page extractor; `function` gets a page's HTML, which is the page's id."""

    def make() -> ExtractFunction:
        return lambda page: function(page.html)  # type: ignore[return-value] # it may return anything

    return RegisteredExtractor(name, "", make, is_stream=False, package=None, module=__name__)


def stream(name: str, make: Callable[[], ExtractFunction]) -> RegisteredExtractor:
    """Return a stream extractor; `make` returns a new instance for each part."""
    return RegisteredExtractor(name, "", make, is_stream=True, package=None, module=__name__)


def predicted(
    workspace: Workspace,
    extractor: RegisteredExtractor,
    *,
    sample: int | None = None,
    **limits: float,
) -> list[Prediction]:
    """Run an extractor, and return its predictions; the default limits also suit slow machines."""
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
    """A stream extractor that returns the ids of all pages that it has received so far."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, page: CorpusPage) -> str:
        """Return the ids of all pages received so far, including this page."""
        self.seen.append(page.id)
        return " ".join(self.seen)
