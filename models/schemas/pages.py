"""Schemas of the topics for pages, from raw-html to clean-text and dead-letters."""

from __future__ import annotations

from models.dead_letter import MAX_MESSAGE, STAGES
from models.document import BlockTable, DocumentRecord, ElementTable
from models.duplicate import DuplicateRecord, Urls
from models.headers import names as headers
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
_CONTENT_FROM = "Whether the HTML is the page itself, or the full text of the page in a feed"
_META = f"The user's own strings, returned unchanged; at most {MAX_META_BYTES // 1024} KB as UTF-8."
_HASH_MAX = 2**64 - 1

_ID = field(
    "Document id: XXH3-128 hash of key version and URL key.", type="string", pattern=ID_PATTERN
)
_DOMAIN = field("Registrable domain of the page.")
_URL_KEY = field("URL key: the normalised URL with a reduced query.")
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
    "ignored. A record may also have another form: its value is the HTML of the page as bytes, and "
    "the other fields are headers with the same names, see models/raw_html.py.",
    property_schemas(
        Page,
        {
            "schema": VERSION | {"default": SCHEMA},
            "url": field("Request URL, as given."),
            "response_url": field(
                "URL after redirects, if it is not the same as url. If it is set, the domain and "
                "the URL key are made from it."
            ),
            "html": field("HTML of the page as decoded text.", type="string"),
            "html_base64": field(
                "HTML of the page as bytes, in base64; the encoding of the bytes is detected.",
                type="string",
                contentEncoding="base64",
                contentMediaType="text/html",
            ),
            "content_type": field(
                "HTTP header Content-Type, unchanged; its charset is used to decode bytes."
            ),
            "status": field("HTTP status of the response."),
            "title": field("Title of the page in the source of its link, such as a feed."),
            "description": field(
                "Description of the page in the source of its link, such as a feed."
            ),
            "published": field(
                "Publication time, RFC 3339; it is the document time if fetched_at is missing.",
                **_TIME,
            ),
            "fetched_at": field("Fetch time, RFC 3339; it is the document time.", **_TIME),
            "redirects": field(
                "URLs of the redirects between url and response_url.",
                type=["array", "null"],
                maxItems=MAX_REDIRECTS,
                items={"type": "string"},
            ),
            "feed": field("Address of the feed that linked to the page."),
            "meta": field(_META, type=["object", "null"], additionalProperties={"type": "string"}),
            "content_from": field(
                f"{_CONTENT_FROM}, which is published with all its blocks. Any other value counts "
                "as page.",
                default="page",
            ),
        },
        nullable=True,
    ),
    (),
    oneOf=[{"required": ["html"]}, {"required": ["html_base64"]}],
    anyOf=[{"required": ["url"]}, {"required": ["response_url"]}],
)

DOCUMENTS = topic(
    "documents",
    "A page with its URL key, split into text blocks. Internal: sent by normalize to extract, "
    "keyed by domain. Commands are records of this topic too, with the header urltree-command.",
    property_schemas(
        DocumentRecord,
        {
            "schema": VERSION,
            "id": _ID,
            "domain": _DOMAIN,
            "url": field("Request URL, as given."),
            "response_url": field("URL after redirects, if it is not the same as url."),
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
            "json_ld": field("Texts of the application/ld+json scripts of the page."),
            "metadata": {
                "description": "Metadata that was found in the HTML; only if a setting is on.",
                "type": "object",
                "properties": property_schemas(FoundMetadata, _PAGE_METADATA),
            },
            "blocks": columns_schema(
                BlockTable,
                "Text blocks in the order of the page: an array of equal length for each field.",
                {
                    "text": field("Visible text of the block."),
                    "element": field("Index of the element that contains the block, in elements."),
                    "heading": field("Level of the heading, 1 to 6; 0 outside headings."),
                    "link_share": field("Share of the block's text inside links, 0 to 1."),
                    "hidden": field("Whether attributes of the HTML hide the block."),
                    "hash": field(
                        "XXH3-64 hash of the normalised text.",
                        type="array",
                        items={"type": "integer", "minimum": 0, "maximum": _HASH_MAX},
                    ),
                },
            ),
            "elements": columns_schema(
                ElementTable,
                "Elements that contain blocks: an array of equal length for each field. Parents "
                "come before their children.",
                {
                    "tag": field("Name of the tag in lower case."),
                    "parent": field("Index of the parent; -1 for the outermost element."),
                    "tokens": field("Class names of the element, and its id after a #."),
                },
            ),
            "blocks_over_cap": field(
                "Number of blocks that were dropped because the page has too many."
            ),
            "vouched": field(
                "One digit for each block: 1 if the text of the single-page extractor contains the "
                "block, else 0; only if a setting is on.",
                pattern="^[01]*$",
            ),
            "content_from": field(
                "feed if the blocks are the full text of the page in a feed; missing otherwise.",
                enum=["feed"],
            ),
        },
    ),
    required_of(DocumentRecord),
)

CLEAN_TEXT = topic(
    "clean-text",
    "The text of a page without the boilerplate of its site. Public output, compacted. The key is "
    "the document id, and a null value is a tombstone. A record has no processing time, so a "
    "replay writes the same bytes.",
    property_schemas(
        Extraction,
        {
            "schema": VERSION,
            "id": _ID,
            "revision": field(
                "0 for the first result of the page, 1 if the page was judged again.", minimum=0
            ),
            "domain": _DOMAIN,
            "url": field("Request URL, as given; missing if none was given."),
            "response_url": field("URL after redirects; without redirects, the same as url."),
            "url_key": _URL_KEY,
            "title": _GIVEN_TITLE,
            "description": _GIVEN_DESCRIPTION,
            "published": _PUBLISHED,
            "fetched_at": _FETCHED_AT,
            "page_kind": field(
                "Whether the page is an article or a listing of links; missing if the heuristic "
                "does not distinguish articles and listings.",
                enum=sorted(kind.label for kind in PageKind),
            ),
            "text": field("Texts of the kept blocks, joined by newlines."),
            "markdown": field("Kept blocks as Markdown; only if a setting is on."),
            "blocks": field(
                "Kept blocks, or all blocks; only if a setting is on.",
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
                                "Level of the heading, 1 to 6; 0 outside headings.",
                                minimum=0,
                                maximum=6,
                            ),
                            "verdict": field("Verdict of the heuristic about the block."),
                            "count": field(
                                "Number of documents at or below `node` that contain the block.",
                                minimum=0,
                            ),
                            "reason": field(
                                "Kind of boilerplate; missing for content, and if the heuristic "
                                "does not distinguish kinds."
                            ),
                        },
                    ),
                },
            ),
            "node": field("Node of the URL tree whose counts were used: domain/segment/…."),
            "support": field(
                "Number of documents at or below `node` at the time of the verdict; 0 if "
                "content_from is feed.",
                minimum=0,
            ),
            "heuristic": field("Name of the heuristic; none if content_from is feed."),
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
            "content_from": field(
                "feed if the text is the full text of the page in a feed, which no heuristic "
                "judges; missing otherwise.",
                enum=["feed"],
            ),
            "meta": field("The user's own strings, unchanged."),
            "metadata": field(
                "Metadata that was found in the page; only if a setting is on.",
                type="object",
                additionalProperties=False,
                properties=property_schemas(
                    FoundMetadata,
                    {
                        **_PAGE_METADATA,
                        "language": field("ISO 639 code of the language of the text."),
                    },
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
    "A page that was seen before on its domain. Public output; the key is the origin.",
    property_schemas(
        DuplicateRecord,
        {
            "schema": VERSION,
            "origin": field(
                "Origin of the duplicate page: topic/partition/offset of its first copy."
            ),
            "first_origin": field(
                "Origin of the page that was seen first, or of the later version that superseded "
                "the duplicate page."
            ),
            "id": field("Document id of both pages.", pattern=ID_PATTERN),
            "step": field(
                "First step of normalisation after which both URLs are equal, or superseded."
            ),
            "urls": field(
                "Forms of the duplicate page's address.",
                type="object",
                required=["response", "canonical", "key"],
                properties=property_schemas(
                    Urls,
                    {
                        "request": field("Request URL, as given; missing if none was given."),
                        "response": field("URL after redirects."),
                        "canonical": field("Normalised URL with its whole query."),
                        "key": field(
                            "URL key: the normalised URL with a query that the rules have reduced."
                        ),
                    },
                ),
            ),
        },
    ),
    required_of(DuplicateRecord),
)

DEAD_LETTERS = topic(
    "dead-letters",
    "The headers, as UTF-8 text, of a record that a stage refused. The key is the origin. The "
    "value is the unchanged value of the original record, or null if it was null. The headers of "
    "the original record follow urltree-message.",
    {
        headers.STAGE: field("Stage that refused the record.", enum=list(STAGES)),
        headers.REASON: field(
            "Reason code, by which metrics count dead letters.",
            enum=[reason.value for reason in Reason],
        ),
        headers.TOPIC: field(
            "Topic from which the stage read the record; a replay sends the record to this topic.",
            type="string",
        ),
        headers.KEY: field(
            "Key of the original record, any bytes; missing if the key was null.", type="string"
        ),
        headers.OFFSETS: field(
            "First and last offset of the range of records for which the dead letter stands; "
            "missing if it stands for one record.",
            type="string",
            pattern="^[0-9]{1,19}-[0-9]{1,19}$",
        ),
        headers.MESSAGE: field(
            "Description of the fault for a person; the last header that urltree adds.",
            type="string",
            maxLength=MAX_MESSAGE,
        ),
    },
    (headers.STAGE, headers.REASON, headers.TOPIC, headers.MESSAGE),
)
