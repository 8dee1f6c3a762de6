"""duplicates: a page that its domain has seen before, and the step that revealed it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from models.record import SCHEMA, check_fields, read_versioned, write_fields
from urltree.address.url import normalise
from urltree.document import Document
from urltree.site.deduplication import Step


@dataclass(frozen=True, slots=True)
class Urls:
    """The forms of a page's address, from the first to the last step of normalisation.

    Attributes:
        request: the request URL as given; None where only the response URL is known.
        response: the URL after redirects.
        canonical: the normalised URL with its whole query.
        key: the normalised URL with its query reduced by the rules.
    """

    request: str | None
    response: str
    canonical: str
    key: str


@dataclass(frozen=True, slots=True)
class DuplicateRecord:
    """A record of the topic duplicates; its key is `origin`.

    Attributes:
        origin: origin of this page.
        first_origin: origin of the page that was seen first, or that superseded this one.
        id: document id that the two pages share.
        step: first step of normalisation after which the two were equal, or `superseded`.
        urls: addresses of this page.
    """

    origin: str
    first_origin: str
    id: str
    step: Step
    urls: Urls

    @classmethod
    def superseded(cls, document: Document, by: str) -> DuplicateRecord:
        """Make the record of an earlier version of a page that arrived again after a later one.

        Args:
            document: the earlier version.
            by: origin of the later version.

        Raises:
            PageError: `bad-url`: `normalize` did not write this document.
        """
        response = document.response_url or document.url or ""
        urls = Urls(document.url, response, str(normalise(response)), document.url_key)
        return cls(document.origin, by, document.id, Step.SUPERSEDED, urls)


def encode(duplicate: DuplicateRecord) -> bytes:
    """Write the value of a record."""
    fields = asdict(duplicate)
    urls = {name: url for name, url in fields["urls"].items() if url is not None}
    return write_fields({"schema": SCHEMA, **fields, "urls": urls})


def decode(value: bytes | None) -> DuplicateRecord:
    """Read a record.

    Raises:
        PageError: `malformed`: the value is not a record of this topic.
    """
    record = read_versioned(value)
    if isinstance(urls := record.get("urls"), dict):
        urls.setdefault("request", None)  # not written where it is None
    return check_fields(record, DuplicateRecord)
