"""The extraction: the result for one page, with the fields of the topic clean-text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from urltree.address.url_key import UrlKey
from urltree.document import Document, FoundMetadata, kept_text
from urltree.enrich.metadata import detect_language
from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.protocol import Verdict
from urltree.output.markdown import markdown as as_markdown
from urltree.page import Page, PageError, Reason

# Content has no reason. A kind that a later release stored has none here either.
_LABELS = {kind.value: kind.label for kind in Kind if kind}

Status = Literal["ok", "duplicate", "error"]
Blocks = Literal["none", "content", "all"]


@dataclass(frozen=True, slots=True)
class ExtractedBlock:
    """One block of an extraction.

    Attributes:
        position: index of the block among all blocks of the page.
        text: text of the block.
        tag: tag of the element that contains the block.
        heading: level of the heading, 1 to 6; 0 outside headings.
        verdict: content or boilerplate.
        count: number of documents at the deciding node that contain the block; None if counts are
            not kept.
        reason: kind of boilerplate; None for content, and for heuristics without kinds.
    """

    position: int
    text: str
    tag: str
    heading: int
    verdict: Literal["content", "boilerplate"]
    count: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The result for one page.

    Attributes:
        status: `ok`, `duplicate` or `error`.
        url: request URL as given.
        origin: topic/partition/offset of the page's first copy, or the library's page number.
        meta: strings of the user, returned unchanged.
        response_url: URL after redirects.
        id: document id, 32 hexadecimal digits.
        revision: 0 for the first extraction of a page, 1 for the second.
        domain: registrable domain.
        url_key: URL after normalisation and query rules.
        title, description, published, fetched_at: fields of the input record.
        page_kind: `article`, `listing` or `unknown`; None for a heuristic without kinds of pages.
        text: text of the kept blocks, joined by newlines; None unless the status is `ok`.
        markdown: the same blocks as Markdown, if the option is on.
        blocks: the kept blocks, or all blocks, if the option is on.
        node: node that decided, as domain/segment/…
        support: support of that node when it decided.
        heuristic: name of the heuristic.
        versions: versions of tokenizer, key and heuristic.
        language, author, canonical: declarations in the page's head.
        metadata: metadata found in the page, if the option is on.
        duplicate_of: origin of the first copy.
        duplicate_step: step that revealed the duplicate.
        error: reason code of an error.
        message: explanation of the error for a person.
    """

    status: Status
    url: str | None
    origin: str
    meta: Mapping[str, str]
    response_url: str | None = None
    id: str | None = None
    revision: int = 0
    domain: str | None = None
    url_key: str | None = None
    title: str | None = None
    description: str | None = None
    published: str | None = None
    fetched_at: str | None = None
    page_kind: str | None = None
    text: str | None = None
    markdown: str | None = None
    blocks: tuple[ExtractedBlock, ...] | None = None
    node: str | None = None
    support: int | None = None
    heuristic: str | None = None
    versions: Mapping[str, int] | None = None
    language: str | None = None
    author: str | None = None
    canonical: str | None = None
    metadata: FoundMetadata | None = None
    duplicate_of: str | None = None
    duplicate_step: str | None = None
    error: Reason | None = None
    message: str | None = None


def clean_text(
    document: Document, verdict: Verdict, blocks: Blocks = "none", *, markdown: bool = False
) -> Extraction:
    """Return the extraction of a judged document. A replay gives the same bytes."""
    text = kept_text(document, verdict.boilerplate)
    return Extraction(
        status="ok",
        url=document.url,
        origin=document.origin,
        meta=document.meta,
        response_url=document.response_url,
        id=document.id,
        revision=verdict.revision,
        domain=document.domain,
        url_key=document.url_key,
        title=document.title,
        description=document.description,
        published=document.published,
        fetched_at=document.fetched_at,
        page_kind=None if verdict.page_kind is None else verdict.page_kind.label,
        text=text,
        markdown=as_markdown(document, verdict.boilerplate) if markdown else None,
        blocks=None if blocks == "none" else _extracted(document, verdict, blocks),
        node="/".join((document.domain, *document.branch[: verdict.depth])),
        support=verdict.support,
        heuristic=verdict.heuristic,
        versions={
            "tokenizer": document.tokenizer,
            "key": document.key_version,
            "heuristic": verdict.version,
        },
        language=document.language,
        author=document.author,
        canonical=document.canonical,
        metadata=_with_language(document.metadata, text),
    )


def failure(page: Page | None, origin: str, error: PageError) -> Extraction:
    """Return the extraction of a page with an error."""
    return Extraction(
        status="error",
        url=page.url if page else None,
        origin=origin,
        meta=page.meta if page else {},
        error=error.reason,
        message=error.message,
    )


def duplicate(page: Page, origin: str, key: UrlKey, of: str, step: str) -> Extraction:
    """Return the extraction of a page that was seen before.

    Args:
        page: the page.
        origin: origin of the page.
        key: URL key that it shares with the first copy.
        of: origin of the first copy.
        step: step that revealed the duplicate.
    """
    return Extraction(
        status="duplicate",
        url=page.url,
        origin=origin,
        meta=page.meta,
        response_url=page.response_url,
        id=key.id,
        domain=key.domain,
        url_key=key.key,
        duplicate_of=of,
        duplicate_step=step,
    )


def superseded(document: Document, by: str) -> Extraction:
    """Return the extraction of an earlier version of a page that a later one has replaced.

    Args:
        document: the earlier version.
        by: origin of the later version.
    """
    return Extraction(
        status="duplicate",
        url=document.url,
        origin=document.origin,
        meta=document.meta,
        response_url=document.response_url,
        id=document.id,
        domain=document.domain,
        url_key=document.url_key,
        duplicate_of=by,
        duplicate_step="superseded",
    )


def _with_language(found: FoundMetadata | None, text: str) -> FoundMetadata | None:
    return None if found is None else replace(found, language=detect_language(text))


def _extracted(document: Document, verdict: Verdict, blocks: Blocks) -> tuple[ExtractedBlock, ...]:
    return tuple(
        ExtractedBlock(
            position,
            block.text,
            document.elements[block.element].tag,
            block.heading,
            "boilerplate" if verdict.boilerplate[position] else "content",
            verdict.counts[position] if verdict.counts else None,
            _reason(verdict, position),
        )
        for position, block in enumerate(document.blocks)
        if blocks == "all" or not verdict.boilerplate[position]
    )


def _reason(verdict: Verdict, position: int) -> str | None:
    """Return the kind of boilerplate of a block, such as `link list`; None for content."""
    kind = verdict.kinds[position] if verdict.kinds else Kind.CONTENT
    return _LABELS.get(kind)
