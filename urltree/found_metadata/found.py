"""What was found, as it travels: in documents without the language, in clean-text with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


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
