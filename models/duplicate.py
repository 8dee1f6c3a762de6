"""duplicates, an output topic: pages that were seen before, and the step that revealed them."""

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
        request: request URL as given; None if only the response URL is known.
        response: URL after redirects.
        canonical: normalised URL with its whole query.
        key: URL key: the normalised URL with a query that the rules have reduced.
    """

    request: str | None
    response: str
    canonical: str
    key: str


@dataclass(frozen=True, slots=True)
class DuplicateRecord:
    """A record of the topic duplicates; its key is `origin`.

    Attributes:
        origin: origin of the duplicate page.
        first_origin: origin of the page that was seen first, or of the later version that
            superseded the duplicate page.
        id: document id of both pages.
        step: first step of normalisation after which both addresses were equal, or `superseded`.
        urls: forms of the duplicate page's address.
    """

    origin: str
    first_origin: str
    id: str
    step: Step
    urls: Urls

    @classmethod
    def superseded(cls, document: Document, by: str) -> DuplicateRecord:
        """Make the record for an earlier version of a page that is replayed after a later version.

        Args:
            document: the earlier version.
            by: origin of the later version.

        Raises:
            PageError: `bad-url`: the document has no valid URL, so `normalize` did not write it.
        """
        response = document.response_url or document.url or ""
        urls = Urls(document.url, response, str(normalise(response)), document.url_key)
        return cls(document.origin, by, document.id, Step.SUPERSEDED, urls)


def encode(duplicate: DuplicateRecord) -> bytes:
    """Write a duplicate as the value of a record."""
    fields = asdict(duplicate)
    urls = {name: url for name, url in fields["urls"].items() if url is not None}
    return write_fields({"schema": SCHEMA, **fields, "urls": urls})


def decode(value: bytes | None) -> DuplicateRecord:
    """Read a duplicate from the value of a record.

    Raises:
        PageError: `malformed`: the value is not a record of this topic.
    """
    record = read_versioned(value)
    if isinstance(urls := record.get("urls"), dict):
        urls.setdefault("request", None)  # a request URL that is None is not written
    return check_fields(record, DuplicateRecord)
