"""How extractors are known: a decorator names each, and says what it is given.

    @single_page("my-tool", "defaults", package="my-tool")
    def extract(html: str, url: str) -> str | None: ...

    @stream("my-stream-tool", "window of 100 pages")
    class MyStream:                                          # a new one for each part of a corpus
        def __call__(self, page: CorpusPage) -> str | None: ...

A module beside this one that cannot be imported is a tool that is not installed; it has its tool's
name and a "_", so that nothing takes one for the other. A file of yours is given by name:
`urltree evaluate extract WORK --plugin my_tool.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from urltree_evaluation.corpus import CorpusPage

ExtractFunction = Callable[[CorpusPage], str | None]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+.-]*")
_F = TypeVar("_F", bound=Callable[[str, str], str | None])
_S = TypeVar("_S", bound=Callable[[], ExtractFunction])


class DuplicatePage(Exception):  # noqa: N818 - no error: its text was said before
    """Raised by a stream extractor for a page that it has seen; its text is the step's name."""


@dataclass(frozen=True, slots=True)
class RegisteredExtractor:
    """One extractor with its options.

    Attributes:
        name: unique; letters, digits, "-", "_", "+" and "." (it names a folder).
        options: what it was told, for the report: "comments off, tables on".
        make: a new extractor for each part of a corpus, called with its pages in order.
        is_stream: it learns from the pages before: it is given all of them, not a sample.
        package: the distribution whose version is reported; None for code of our own.
        module: of the code, whose text is part of its version.
    """

    name: str
    options: str
    make: Callable[[], ExtractFunction]
    is_stream: bool
    package: str | None
    module: str


registered: dict[str, RegisteredExtractor] = {}


def single_page(name: str, options: str, package: str | None = None) -> Callable[[_F], _F]:
    """Register a function from (HTML, URL) to text; URL may be "", None is no text."""

    def register(function: _F) -> _F:
        def make() -> ExtractFunction:
            return lambda page: function(page.html, page.url)

        _add(name, options, make, package, _module_of(function), is_stream=False)
        return function

    return register


def stream(name: str, options: str, package: str | None = None) -> Callable[[_S], _S]:
    """Register a factory, such as a class, of functions from CorpusPage to text."""

    def register(factory: _S) -> _S:
        _add(name, options, factory, package, _module_of(factory), is_stream=True)
        return factory

    return register


def _module_of(code: object) -> str:
    return str(getattr(getattr(code, "func", code), "__module__", ""))


def _add(  # noqa: PLR0913 - one parameter a field
    name: str,
    options: str,
    make: Callable[[], ExtractFunction],
    package: str | None,
    module: str,
    *,
    is_stream: bool,
) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"a name should be letters, digits, -, _, + and . alone, is {name!r}")
    if name in registered:
        raise ValueError(f"two extractors are named {name}: {registered[name].module} has one")
    registered[name] = RegisteredExtractor(name, options, make, is_stream, package, module)
