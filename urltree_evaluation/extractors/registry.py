"""The decorators that register extractors.

    @single_page("my-tool", "defaults", package="my-tool")
    def extract(html: str, url: str) -> str | None: ...

    @stream("my-stream-tool", "window of 100 pages")
    class MyStream:                               # one instance for each part of a corpus
        def __call__(self, page: CorpusPage) -> str | None: ...

Each tool has a module beside this one. If a module cannot be imported, its tool is not available. A
module that has the name of its tool ends in "_", so that it is not confused with the tool's
package. Your own file is passed on the command line:
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


class DuplicatePage(Exception):  # noqa: N818 - not an error: the text was returned before
    """A stream extractor's signal that a page is a duplicate; the message names the step."""


@dataclass(frozen=True, slots=True)
class RegisteredExtractor:
    """One extractor with its options.

    Attributes:
        name: unique name of letters, digits, "-", "_", "+" and "."; it is also the name of a
            folder.
        options: options of the tool, in words for the report: "comments off, tables on".
        make: creates the function that is called with the pages of one part of a corpus, in order.
        is_stream: whether the extractor learns from earlier pages and therefore gets all pages, not
            a sample.
        package: distribution whose version is reported; None if there is none.
        module: name of the module that contains the code; a hash of its source is part of the
            version.
    """

    name: str
    options: str
    make: Callable[[], ExtractFunction]
    is_stream: bool
    package: str | None
    module: str


registered: dict[str, RegisteredExtractor] = {}


def single_page(name: str, options: str, package: str | None = None) -> Callable[[_F], _F]:
    """Register a function that gets HTML and a URL, and returns a text.

    The URL may be "". The function may return None if it finds no text.
    """

    def register(function: _F) -> _F:
        def make() -> ExtractFunction:
            return lambda page: function(page.html, page.url)

        _add(name, options, make, package, _module_of(function), is_stream=False)
        return function

    return register


def stream(name: str, options: str, package: str | None = None) -> Callable[[_S], _S]:
    """Register a factory, such as a class; it creates functions that get pages and return texts."""

    def register(factory: _S) -> _S:
        _add(name, options, factory, package, _module_of(factory), is_stream=True)
        return factory

    return register


def _module_of(code: object) -> str:
    return str(getattr(getattr(code, "func", code), "__module__", ""))


def _add(  # noqa: PLR0913 - one parameter for each field
    name: str,
    options: str,
    make: Callable[[], ExtractFunction],
    package: str | None,
    module: str,
    *,
    is_stream: bool,
) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a valid name of an extractor: use letters, digits, -, _, + and . only"
        )
    if name in registered:
        raise ValueError(
            f"another extractor already has the name {name}, in {registered[name].module}:"
            " choose another"
        )
    registered[name] = RegisteredExtractor(name, options, make, is_stream, package, module)
