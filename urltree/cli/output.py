"""Output of `urltree extract`: JSON Lines, plain text or Markdown, to a stream or a folder."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any, Literal, Protocol

import orjson

from urltree.output.extraction import ExtractedBlock, Extraction

OutputFormat = Literal["jsonl", "text", "markdown"]

_FIELDS = tuple(f.name for f in fields(Extraction))


class Output(Protocol):
    """A destination to which Extractions are written."""

    def write(self, extraction: Extraction) -> None:
        """Write one Extraction."""

    def close(self) -> None:
        """Write everything that is buffered."""


class StreamOutput:
    """A stream to which all pages are written in their order."""

    def __init__(self, stream: IO[bytes], format_: OutputFormat) -> None:
        self._stream = stream
        self._format = format_

    def write(self, extraction: Extraction) -> None:
        """Write a line of JSON; in other formats, the page's text, if any, and an empty line."""
        if self._format == "jsonl":
            self._stream.write(json_line(extraction))
        elif (text := _text(extraction, self._format)) is not None:
            self._stream.write(text.encode() + b"\n\n")

    def close(self) -> None:
        """Flush the stream."""
        self._stream.flush()


class FolderOutput:
    """A folder with a file for each domain (`DOMAIN.jsonl`) or each page (`DOMAIN-ID.txt`, `.md`).

    Pages without a domain are written to `no-domain.jsonl`.
    """

    def __init__(self, folder: Path, format_: OutputFormat) -> None:
        self._folder = folder
        self._format = format_
        self._begun: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, extraction: Extraction) -> None:
        """Append a line of JSON to the file of the domain, or write the page's own file."""
        domain = extraction.domain or "no-domain"
        if self._format == "jsonl":
            name = f"{domain}.jsonl"
            with (self._folder / name).open("ab" if name in self._begun else "wb") as file:
                file.write(json_line(extraction))
            self._begun.add(name)
        elif (text := _text(extraction, self._format)) is not None:
            suffix = "txt" if self._format == "text" else "md"
            path = self._folder / f"{domain}-{extraction.id}.{suffix}"
            path.write_bytes(text.encode() + b"\n")

    def close(self) -> None:
        """Do nothing: every file is closed already."""


def json_line(extraction: Extraction) -> bytes:
    """Return an Extraction as a line of JSON, without fields that are None."""
    record: dict[str, Any] = {
        name: value for name in _FIELDS if (value := getattr(extraction, name)) is not None
    }
    record["meta"] = dict(extraction.meta)
    if extraction.metadata is not None:
        record["metadata"] = extraction.metadata.to_record()
    if extraction.blocks is not None:
        record["blocks"] = [_block(block) for block in extraction.blocks]
    if not extraction.meta:
        del record["meta"]
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _text(extraction: Extraction, format_: OutputFormat) -> str | None:
    return extraction.text if format_ == "text" else extraction.markdown


def _block(block: ExtractedBlock) -> dict[str, Any]:
    return {name: value for name, value in asdict(block).items() if value is not None}
