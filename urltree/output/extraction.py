"""What comes out: one Extraction for each page, with the fields of the topic clean-text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from urltree.address.url_key import UrlKey
from urltree.document import Document, FoundMetadata, kept_text
from urltree.enrich.metadata import detect_language
from urltree.heuristics.boilerplate import Kind
from urltree.output.markdown import markdown as as_markdown
from urltree.page import Page, PageError, Reason
from urltree.site.row import Verdict

# content has no reason; nor has a kind that a later release stored
_LABELS = {kind.value: kind.label for kind in Kind if kind}

Status = Literal["ok", "duplicate", "error"]
Blocks = Literal["none", "content", "all"]


@dataclass(frozen=True, slots=True)
class ExtractedBlock:
    """A block of the output.

    Attributes:
        position: its index among the page's blocks.
        tag, heading: of the element it stands in.
        verdict: content or boilerplate.
        count: documents at the judging node that contain it; None where counts are not kept.
        reason: why, for heuristics that have more than one.
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
    """The outcome for one page.

    Attributes:
        status: `ok`, `duplicate` or `error`.
        page_kind: `article`, `listing` or `unknown`; None of a heuristic that knows no kinds.
        text: the kept blocks joined by newlines, nothing prepended; None unless `ok`.
        markdown: with a setting, the same blocks as Markdown.
        blocks: with a setting, the kept blocks, or with another all of them.
        node: the node that judged, as domain/segment/…; support: its support then.
        versions: of tokenizer, key and heuristic.
        metadata: with a setting, what was found out about the page.
        duplicate_of: origin of the first copy; duplicate_step: what revealed it.
        error: a reason code; message: what is wrong, for a person.
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
    """The clean text of a judged document. A replay gives the same, to the byte."""
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
    """The outcome for a page at fault."""
    return Extraction(
        status="error",
        url=page.url if page else None,
        origin=origin,
        meta=page.meta if page else {},
        error=error.reason,
        message=error.message,
    )


def duplicate(page: Page, origin: str, key: UrlKey, of: str, step: str) -> Extraction:
    """The outcome for a page that was seen before.

    Args:
        page: at fault in nothing.
        origin: of it.
        key: that it shares with the page that was seen.
        of: origin of that page.
        step: what revealed it.
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
    """The outcome for a version of a page whose place a later one has taken.

    Args:
        document: the earlier version.
        by: origin of the later one.
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
    """Why a block is boilerplate: `link list`; None for content, and where nobody said."""
    kind = verdict.kinds[position] if verdict.kinds else Kind.CONTENT
    return _LABELS.get(kind)
