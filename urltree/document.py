"""A document: a page with its key, taken apart into text blocks. What the tree learns from.

In the job it travels from `normalize` to `extract` as the record of the topic documents: the
HTML does not travel on.
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
from urltree.page import Page, microseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMetadata:
    """What was found out about a page; None where nothing was.

    Attributes:
        date: of publication, YYYY-MM-DD, as the page writes it.
        author: names, separated by commas.
        description: what the page gives to search engines.
        language: ISO 639 code of the clean text.
    """

    date: str | None = None
    author: str | None = None
    description: str | None = None
    language: str | None = None

    def to_record(self) -> dict[str, str]:
        """The fields that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> FoundMetadata:
        """Fields of later releases are ignored.

        Raises:
            TypeError: a field is no string.
        """
        known = {f.name: record[f.name] for f in fields(cls) if record.get(f.name) is not None}
        for name, value in known.items():
            if not isinstance(value, str):
                raise TypeError(f"{name}: should be a string")
        return cls(**known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page whose key is known and whose text is split into blocks.

    Attributes:
        id: 32 hex digits, see `UrlKey.id`.
        domain: the registrable domain, key of every table.
        origin: topic/partition/offset of the first copy of the page.
        tokenizer, key_version: versions of what made the blocks and the key.
        title: as the record gives it; page_title: of the page's own `<title>`.
        blocks_over_cap: blocks beyond the tokenizer's cap, not in `blocks`.
        metadata: what was found in its HTML; None where nobody looked.
        vouched: a digit for each block, 1 where a single-page extractor has its text; None where
            none was asked, or had no answer.
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

    @classmethod
    def of(cls, page: Page, key: UrlKey, tokenized: TokenizedPage, origin: str) -> Document:
        """Put together what is known of a page."""
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
        )

    @property
    def key_bytes(self) -> bytes:
        """The id as the 16 bytes under which tables keep it."""
        return bytes.fromhex(self.id)

    @property
    def branch(self) -> tuple[str, ...]:
        """Names of the nodes below the root of the domain's tree."""
        return branch(self.domain, self.url_key)

    @property
    def time(self) -> int | None:
        """Microseconds since 1970 of `fetched_at`, else of `published`, else None."""
        stamp = self.fetched_at or self.published
        return None if stamp is None else microseconds(stamp)

    def distinct_hashes(self) -> array[int]:
        """The distinct block hashes in the order of their first block."""
        return array("Q", dict.fromkeys([block.hash for block in self.blocks]))

    def digest(self) -> int:
        """XXH3-64 over the hash of every block in order: equal digests, equal blocks."""
        return xxhash.xxh3_64_intdigest(array("Q", [block.hash for block in self.blocks]).tobytes())


def kept_text(document: Document, boilerplate: Sequence[bool]) -> str:
    """The blocks of a document that are not boilerplate, a line each; empty ones have no line."""
    return "\n".join(
        [
            block.text
            for block, is_boilerplate in zip(document.blocks, boilerplate, strict=True)
            if not is_boilerplate and block.text
        ]
    )
