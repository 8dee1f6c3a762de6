"""The settings of the keys that sign the job's own headers, see `models.headers.signature`."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from agents.settings.kafka import read_secret
from models.headers.signature import MIN_KEY, HeaderKeys
from urltree.page import microseconds


class HeaderSettings(BaseModel):
    """The part of `agents.settings.job.Settings` for the signatures of headers."""

    header_key: SecretStr | None = Field(
        None,
        description="Key that signs the headers `urltree-…`, at least 32 characters. All workers "
        "and commands of a job need the same key. With a key, these headers are ignored on records "
        "of other programs. It is never logged.",
    )
    header_key_file: Path | None = Field(
        None, description="File that contains the key, used instead of header_key."
    )
    former_header_key: SecretStr | None = Field(
        None,
        description="Second key, which is accepted but does not sign. During a rotation it is "
        "first the next key, and then the former one.",
    )
    former_header_key_file: Path | None = Field(
        None, description="File that contains the second key, used instead of former_header_key."
    )
    unsigned_until: str | None = Field(
        None,
        description="RFC 3339 time. The headers `urltree-…` of records that were written before it "
        "count without a signature. Set it when a job gets its first key. In a topic without "
        "message.timestamp.type=LogAppendTime, the time at which a record is read counts instead.",
    )

    @property
    def header_keys(self) -> HeaderKeys:
        """Keys of the job, read from their files if these are set.

        Raises:
            ValueError: a key is too short, or a second key is set without a first one.
            OSError: a file cannot be read.
        """
        first = _key("header_key", self.header_key, self.header_key_file)
        second = _key("former_header_key", self.former_header_key, self.former_header_key_file)
        if first is None and second is not None:
            raise ValueError("former_header_key is set, but header_key is not: set header_key")
        until = None if self.unsigned_until is None else microseconds(self.unsigned_until) / 1e6
        return HeaderKeys(tuple(key for key in (first, second) if key is not None), until)

    @model_validator(mode="after")
    def _check_header_keys(self) -> Self:
        _ = self.header_keys
        return self


def _key(name: str, value: SecretStr | None, file: Path | None) -> bytes | None:
    key = read_secret(value, file)
    if key is not None and len(key) < MIN_KEY:
        raise ValueError(
            f"{name} has {len(key)} characters, but should have at least {MIN_KEY}: make one with "
            "`openssl rand -hex 32`"
        )
    return None if key is None else key.encode()
