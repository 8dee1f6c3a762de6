"""duplicates: a page that its domain has seen before, and the step that revealed it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from models.record import SCHEMA, malformed, read, write
from urltree.address.url import normalise
from urltree.document import Document
from urltree.site.deduplication import Step


@dataclass(frozen=True, slots=True)
class Urls:
    """The forms of a page's address, from the first to the last step of normalisation.

    Attributes:
        request: as given; None where only the response URL is known.
        response: after redirects.
        canonical: normalised, query whole.
        key: its query reduced by the rules.
    """

    request: str | None
    response: str
    canonical: str
    key: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record of the topic duplicates; its key is `origin`.

    Attributes:
        origin: of this page; first_origin: of the page that was seen first, or that superseded it.
        id: the document id that the two share.
        step: the first step after which the two were equal, or `superseded`.
        urls: of this page.
    """

    origin: str
    first_origin: str
    id: str
    step: Step
    urls: Urls

    @classmethod
    def superseded(cls, document: Document, by: str) -> Duplicate:
        """An earlier version of a page, delivered again behind the later one.

        Args:
            document: the earlier version.
            by: origin of the later one.

        Raises:
            PageError: `bad-url`: it was not `normalize` that wrote this document.
        """
        response = document.response_url or document.url or ""
        urls = Urls(document.url, response, str(normalise(response)), document.url_key)
        return cls(document.origin, by, document.id, Step.SUPERSEDED, urls)


def encode(duplicate: Duplicate) -> bytes:
    """The record's value."""
    fields = asdict(duplicate)
    urls = {name: url for name, url in fields["urls"].items() if url is not None}
    return write({"schema": SCHEMA, **fields, "urls": urls})


def decode(value: bytes | None) -> Duplicate:
    """Read a record.

    Raises:
        PageError: `malformed`: it is no record of this topic.
    """
    record = read(value)
    try:
        if record["schema"] != SCHEMA:
            raise malformed(f"schema: should be {SCHEMA}, is {record['schema']!r}")
        return Duplicate(
            origin=_text(record["origin"]),
            first_origin=_text(record["first_origin"]),
            id=_text(record["id"]),
            step=Step(record["step"]),
            urls=_urls(record["urls"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(f"no record of duplicates: {error!r}") from None


def _urls(urls: dict[str, Any]) -> Urls:
    request = urls.get("request")
    return Urls(
        request=None if request is None else _text(request),
        response=_text(urls["response"]),
        canonical=_text(urls["canonical"]),
        key=_text(urls["key"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.50} is no string")
    return value
