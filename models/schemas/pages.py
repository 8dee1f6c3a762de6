"""Schemas of the topics that carry pages, from raw-html to clean-text and dead-letters."""

from __future__ import annotations

from models import headers
from models.dead_letter import MAX_MESSAGE, STAGES
from models.document import BlockColumns, DocumentRecord, ElementColumns
from models.duplicate import DuplicateRecord, Urls
from models.record import ID_PATTERN, SCHEMA
from models.schemas.declaring import (
    VERSION,
    columns_schema,
    field,
    property_schemas,
    required_of,
    topic,
)
from urltree.document import FoundMetadata
from urltree.heuristics.page_kind import PageKind
from urltree.output.extraction import ExtractedBlock, Extraction
from urltree.page import MAX_META_BYTES, MAX_REDIRECTS, Page, Reason

_TIME = {"format": "date-time"}
_META = f"The user's own strings, returned unchanged; at most {MAX_META_BYTES // 1024} KB as UTF-8."
_HASH_MAX = 2**64 - 1

_ID = field("Document id: XXH3-128 of key version and URL key.", type="string", pattern=ID_PATTERN)
_DOMAIN = field("Registrable domain.")
_URL_KEY = field("Normalised URL with its query reduced.")
_ORIGIN = field("Origin of the page: topic/partition/offset of its first copy.")
_GIVEN_TITLE = field("Title that was published with the page.")
_GIVEN_DESCRIPTION = field("Description that was published with the page.")
_PUBLISHED = field("Publication time that was published with the page, RFC 3339.", **_TIME)
_FETCHED_AT = field("Fetch time that was published with the page, RFC 3339.", **_TIME)
_HTML_LANG = field("Language that the page declares (html lang).")
_HTML_AUTHOR = field("Author that the page declares (meta name=author).")
_HTML_CANONICAL = field("Canonical URL that the page declares (link rel=canonical).")

_PAGE_METADATA = {
    "date": field("Publication date, YYYY-MM-DD.", format="date"),
    "author": field("Names of the authors, separated by commas."),
    "description": field("Description that the page gives to search engines."),
}

RAW_HTML = topic(
    "raw-html",
    "One fetched page. Public input; the key should be the page's domain. Unknown fields are "
    "ignored. In the other form the value is the page's bytes and the same fields are headers of "
    "the same names, see models/raw_html.py.",
    property_schemas(
        Page,
        {
            "schema": VERSION | {"default": SCHEMA},
            "url": field("Request URL, as given."),
            "response_url": field(
                "URL after redirects, if it differs; it decides the domain and the URL key."
            ),
            "html": field("The page as text, which is not decoded again.", type="string"),
            "html_base64": field(
                "The page as bytes, in base64; their encoding is detected.",
                type="string",
                contentEncoding="base64",
                contentMediaType="text/html",
            ),
            "content_type": field(
                "HTTP header Content-Type, unchanged; its charset is used for a page of bytes."
            ),
            "status": field("HTTP status of the response."),
            "title": field("Title that the source of the link gives, such as a feed."),
            "description": field("Summary that the feed gives."),
            "published": field(
                "Publication time, RFC 3339; the document's time if fetched_at is missing.", **_TIME
            ),
            "fetched_at": field("Fetch time, RFC 3339; the document's time.", **_TIME),
            "redirects": field(
                "URLs between url and response_url.",
                type=["array", "null"],
                maxItems=MAX_REDIRECTS,
                items={"type": "string"},
            ),
            "feed": field("Address of the feed that linked to the page."),
            "meta": field(_META, type=["object", "null"], additionalProperties={"type": "string"}),
        },
        nullable=True,
    ),
    (),
    oneOf=[{"required": ["html"]}, {"required": ["html_base64"]}],
    anyOf=[{"required": ["url"]}, {"required": ["response_url"]}],
)

DOCUMENTS = topic(
    "documents",
    "A page with its key, split into text blocks. Internal: from normalize to extract, keyed by "
    "domain. Commands are records of this topic too, marked by the header urltree-command.",
    property_schemas(
        DocumentRecord,
        {
            "schema": VERSION,
            "id": _ID,
            "domain": _DOMAIN,
            "url": field("Request URL, as given."),
            "response_url": field("URL after redirects, if it differs."),
            "url_key": _URL_KEY,
            "title": _GIVEN_TITLE,
            "page_title": field("Text of the page's own title element."),
            "description": _GIVEN_DESCRIPTION,
            "published": _PUBLISHED,
            "fetched_at": _FETCHED_AT,
            "origin": _ORIGIN | {"pattern": "^[a-zA-Z0-9._-]{1,249}/[0-9]+/[0-9]+$"},
            "meta": field("The user's own strings."),
            "tokenizer": field("Version of the tokenizer that made the blocks."),
            "key_version": field("Version of the rules that made the URL key."),
            "language": _HTML_LANG,
            "canonical": _HTML_CANONICAL,
            "author": _HTML_AUTHOR,
            "json_ld": field("Bodies of application/ld+json scripts."),
            "metadata": {
                "description": "Metadata that was found in the HTML; only with a setting.",
                "type": "object",
                "properties": property_schemas(FoundMetadata, _PAGE_METADATA),
            },
            "blocks": columns_schema(
                BlockColumns,
                "Text blocks in document order: an array for each field, all of one length.",
                {
                    "text": field("Visible text of the block."),
                    "element": field("Index into elements."),
                    "heading": field("1 to 6 inside h1 to h6, else 0."),
                    "link_share": field("Share of the block's text inside links, 0 to 1."),
                    "hidden": field("Whether the block is hidden."),
                    "hash": field(
                        "XXH3-64 of the normalised text.",
                        type="array",
                        items={"type": "integer", "minimum": 0, "maximum": _HASH_MAX},
                    ),
                },
            ),
            "elements": columns_schema(
                ElementColumns,
                "Elements that contain blocks: an array for each field; parents before children.",
                {
                    "tag": field("Name of the tag in lower case."),
                    "parent": field("Index of the parent, -1 at the top."),
                    "tokens": field("Tokens of the attributes class and id."),
                },
            ),
            "blocks_over_cap": field("Number of blocks that were dropped, beyond the cap."),
            "vouched": field(
                "A digit for each block, 1 if the single-page extractor also has its text; only "
                "with a setting.",
                pattern="^[01]*$",
            ),
        },
    ),
    required_of(DocumentRecord),
)

CLEAN_TEXT = topic(
    "clean-text",
    "The text of a page without the boilerplate of its site. Public output, compacted; the key is "
    "the id, null values are tombstones. It has no processing time, so a replay writes the same "
    "bytes.",
    property_schemas(
        Extraction,
        {
            "schema": VERSION,
            "id": _ID,
            "revision": field(
                "0, or the number of times that the document was judged again.", minimum=0
            ),
            "domain": _DOMAIN,
            "url": field("Request URL, as given; missing if none was given."),
            "response_url": field("URL after redirects; the same as url without redirects."),
            "url_key": _URL_KEY,
            "title": _GIVEN_TITLE,
            "description": _GIVEN_DESCRIPTION,
            "published": _PUBLISHED,
            "fetched_at": _FETCHED_AT,
            "page_kind": field(
                "Whether the page is an article or a listing of links; missing if the heuristic "
                "does not distinguish them.",
                enum=sorted(kind.label for kind in PageKind),
            ),
            "text": field("Kept blocks, joined by newlines."),
            "markdown": field("Kept blocks as Markdown; only with a setting."),
            "blocks": field(
                "Kept blocks, or all blocks; only with a setting.",
                type="array",
                items={
                    "type": "object",
                    "required": ["position", "text", "tag", "heading", "verdict"],
                    "additionalProperties": False,
                    "properties": property_schemas(
                        ExtractedBlock,
                        {
                            "position": field("Index among the page's blocks.", minimum=0),
                            "text": field("Visible text of the block."),
                            "tag": field("Tag of the element that contains the block."),
                            "heading": field(
                                "1 to 6 inside h1 to h6, else 0.", minimum=0, maximum=6
                            ),
                            "verdict": field("Decision of the heuristic."),
                            "count": field(
                                "Number of documents below the judging node that contain the "
                                "block.",
                                minimum=0,
                            ),
                            "reason": field(
                                "Reason of the decision, from heuristics that have several."
                            ),
                        },
                    ),
                },
            ),
            "node": field("Node of the URL tree that judged the page: domain/segment/…."),
            "support": field(
                "Number of documents at or below that node at the time of the decision.", minimum=1
            ),
            "heuristic": field("Name of the heuristic."),
            "versions": field(
                "Versions of tokenizer, URL key and heuristic.",
                type="object",
                required=["tokenizer", "key", "heuristic"],
                additionalProperties={"type": "integer"},
            ),
            "origin": _ORIGIN,
            "language": _HTML_LANG,
            "author": _HTML_AUTHOR,
            "canonical": _HTML_CANONICAL,
            "meta": field("The user's own strings, unchanged."),
            "metadata": field(
                "Metadata that was found in the page; only with a setting.",
                type="object",
                additionalProperties=False,
                properties=property_schemas(
                    FoundMetadata,
                    {**_PAGE_METADATA, "language": field("ISO 639 code of the text's language.")},
                ),
            ),
        },
    ),
    (
        *("schema", "id", "revision", "domain", "response_url", "url_key", "text", "node"),
        *("support", "heuristic", "versions", "origin", "meta"),
    ),
)

DUPLICATES = topic(
    "duplicates",
    "A page that its domain has seen before. Public output; the key is the origin.",
    property_schemas(
        DuplicateRecord,
        {
            "schema": VERSION,
            "origin": field("Origin of this page: topic/partition/offset of its first copy."),
            "first_origin": field(
                "Origin of the page that was seen first, or that superseded this one."
            ),
            "id": field("Document id that the two pages share.", pattern=ID_PATTERN),
            "step": field(
                "First step of normalisation after which the two URLs are equal, or superseded."
            ),
            "urls": field(
                "The forms of this page's address.",
                type="object",
                required=["response", "canonical", "key"],
                properties=property_schemas(
                    Urls,
                    {
                        "request": field("Request URL, as given; missing if none was given."),
                        "response": field("URL after redirects."),
                        "canonical": field("Normalised URL with its whole query."),
                        "key": field("Normalised URL with its query reduced by the rules."),
                    },
                ),
            ),
        },
    ),
    required_of(DuplicateRecord),
)

DEAD_LETTERS = topic(
    "dead-letters",
    "The headers, as UTF-8 text, of a record that a stage refused. The key is the origin, the "
    "value is the original's, byte for byte, and null if it was null. The original's headers "
    "follow after urltree-message.",
    {
        headers.STAGE: field("Stage that refused the record.", enum=list(STAGES)),
        headers.REASON: field(
            "Reason code, which metrics count.", enum=[reason.value for reason in Reason]
        ),
        headers.TOPIC: field(
            "Topic that the stage read the record from; a replay sends it there.", type="string"
        ),
        headers.KEY: field(
            "Key of the original, any bytes; missing if it was null.", type="string"
        ),
        headers.MESSAGE: field(
            "Description of the fault for a person; the last of our headers.",
            type="string",
            maxLength=MAX_MESSAGE,
        ),
    },
    (headers.STAGE, headers.REASON, headers.TOPIC, headers.MESSAGE),
)
