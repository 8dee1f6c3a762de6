"""A document: a page with its URL key, split into text blocks. Heuristics judge documents.

In the job, `normalize` publishes documents to the topic documents, and `extract` reads them there.
A document does not contain the HTML of its page.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import xxhash

from urltree.address.url_key import KEY_VERSION, UrlKey, branch
from urltree.html.blocks import Element, TextBlock, TokenizedPage
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.page import ContentFrom, Page, microseconds

_WITHOUT_URL = ".invalid"  # top-level domain that does not exist on the web (RFC 2606)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMetadata:
    """Metadata that was found in the HTML or the text of a page; None for what was not found.

    Attributes:
        date: date of publication, YYYY-MM-DD.
        author: names of the authors, separated by commas.
        description: description that the page gives to search engines.
        language: ISO 639 code of the clean text.
    """

    date: str | None = None
    author: str | None = None
    description: str | None = None
    language: str | None = None

    def to_record(self) -> dict[str, str]:
        """Return the fields that are not None, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> FoundMetadata:
        """Read the metadata from a record; unknown fields are ignored.

        Raises:
            TypeError: a field is not a string.
        """
        known = {f.name: record[f.name] for f in fields(cls) if record.get(f.name) is not None}
        for name, value in known.items():
            if not isinstance(value, str):
                raise TypeError(f"{name}: should be a string")
        return cls(**known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page whose URL key is known and whose text is split into blocks.

    Attributes:
        id: document id, 32 hexadecimal digits, see `UrlKey.id`.
        domain: registrable domain; the key of every table begins with it.
        url: request URL; None if it is unknown.
        response_url: URL after redirects; None if it equals `url`.
        url_key: URL after normalisation and query rules.
        title: title in the input record.
        description: description in the input record.
        published: time of publication in the input record, RFC 3339.
        fetched_at: time of the request in the input record, RFC 3339.
        origin: topic/partition/offset of the page's first copy.
        meta: the user's own strings, returned unchanged.
        tokenizer: version of the tokenizer that made the blocks.
        key_version: version of the rules that made the URL key.
        language: language that the page declares.
        canonical: canonical link that the page declares.
        author: author that the page declares.
        json_ld: bodies of the JSON-LD scripts of the page.
        blocks: text blocks in the order of the page.
        elements: elements that contain blocks, and their ancestors, in the order of the page.
        blocks_over_cap: number of blocks beyond the tokenizer's limit; they are not in `blocks`.
        metadata: metadata found in the HTML; None if the option is off.
        page_title: text of the page's own `<title>`.
        vouched: one digit for each block: 1 if the single-page extractor's text contains the
            block, else 0. None if no such extractor was used, or it returned no text.
        content_from: `feed` if the blocks are the full text of the page in a feed, which no
            heuristic judges; `page` otherwise.
    """

    id: str
    domain: str
    url: str | None
    response_url: str | None
    url_key: str
    title: str | None
    description: str | None
    published: str | None
    fetched_at: str | None
    origin: str
    meta: Mapping[str, str]
    tokenizer: int
    key_version: int
    language: str | None
    canonical: str | None
    author: str | None
    json_ld: tuple[str, ...]
    blocks: tuple[TextBlock, ...]
    elements: tuple[Element, ...]
    blocks_over_cap: int
    metadata: FoundMetadata | None = None
    page_title: str | None = None
    vouched: str | None = None
    content_from: ContentFrom = "page"

    @classmethod
    def of(cls, page: Page, key: UrlKey, tokenized: TokenizedPage, origin: str) -> Document:
        """Make the document of a page from its URL key and its text blocks."""
        return cls(
            id=key.id,
            domain=key.domain,
            url=page.url,
            response_url=page.response_url,
            url_key=key.key,
            title=page.title,
            page_title=tokenized.title,
            description=page.description,
            published=page.published,
            fetched_at=page.fetched_at,
            origin=origin,
            meta=page.meta,
            tokenizer=TOKENIZER_VERSION,
            key_version=KEY_VERSION,
            language=tokenized.language,
            canonical=tokenized.canonical,
            author=tokenized.author,
            json_ld=tokenized.json_ld,
            blocks=tokenized.blocks,
            elements=tokenized.elements,
            blocks_over_cap=tokenized.blocks_over_cap,
            content_from=page.content_from,
        )

    @classmethod
    def without_url(cls, page: Page, tokenized: TokenizedPage, origin: str) -> Document:
        """Make the document of a page without URL. It is the only document of its site.

        The document id is the XXH3-128 hash of key version and HTML; the domain is `ID.invalid`.
        """
        html = page.html if isinstance(page.html, bytes) else page.html.encode(errors="replace")
        number = xxhash.xxh3_128_hexdigest(b"%d %s" % (KEY_VERSION, html))
        address = f"https://{number}{_WITHOUT_URL}/"
        key = UrlKey(number + _WITHOUT_URL, address, address, number)
        return cls.of(page, key, tokenized, origin)

    @property
    def has_url(self) -> bool:
        """Whether the page of this document had a URL."""
        return self.domain != self.id + _WITHOUT_URL

    @property
    def key_bytes(self) -> bytes:
        """Document id as 16 bytes; tables store it in this form."""
        return bytes.fromhex(self.id)

    @property
    def branch(self) -> tuple[str, ...]:
        """Names of the document's nodes in the URL tree, from the child of the root to the leaf."""
        return branch(self.domain, self.url_key)

    @property
    def time(self) -> int | None:
        """Document time in microseconds since 1970: `fetched_at`, else `published`, else None."""
        stamp = self.fetched_at or self.published
        return None if stamp is None else microseconds(stamp)

    def distinct_hashes(self) -> array[int]:
        """Return the distinct block hashes, in the order in which they first occur on the page."""
        return array("Q", dict.fromkeys([block.hash for block in self.blocks]))

    def digest(self) -> int:
        """Return the XXH3-64 digest of all block hashes; documents with equal blocks share it."""
        return xxhash.xxh3_64_intdigest(array("Q", [block.hash for block in self.blocks]).tobytes())


def kept_text(document: Document, boilerplate: Sequence[bool]) -> str:
    """Return the texts of the blocks that are not boilerplate, joined by newlines.

    Blocks whose text is empty are left out.
    """
    return "\n".join(
        [
            block.text
            for block, is_boilerplate in zip(document.blocks, boilerplate, strict=True)
            if not is_boilerplate and block.text
        ]
    )
