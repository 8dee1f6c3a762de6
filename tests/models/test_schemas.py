"""Tests of the JSON Schemas, which are generated from the record types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from models.schemas import generated
from models.schemas.declaring import field, property_schemas
from urltree.page import Page

FOLDER = Path(__file__).parents[2] / "models/schemas"


def test_the_files_are_generated() -> None:
    """The committed schemas are the generated ones; after a change, run `make generate`."""
    written = {file.name: file.read_bytes() for file in FOLDER.glob("*.json")}
    del written["topics.json"]  # it describes a settings file and is written by hand
    assert written == generated(), "run make generate"


@pytest.mark.parametrize("name", sorted(generated()))
def test_a_schema_is_valid_and_describes_every_field(name: str) -> None:
    """Each schema is valid and describes every field, because it is the record's documentation."""
    schema = orjson.loads(generated()[name])
    Draft202012Validator.check_schema(schema)
    assert [path for path, field in _fields(schema) if not field.get("description")] == []


def test_a_field_that_the_record_type_does_not_have_is_an_error() -> None:
    """A field that the record type lacks is an error, so no old name remains in the schema."""
    with pytest.raises(KeyError, match="urls"):
        property_schemas(Page, {"urls": field("Request URL.")})


def _fields(schema: dict[str, Any], path: str = "") -> list[tuple[str, dict[str, Any]]]:
    found = []
    for name, field_schema in schema.get("properties", {}).items():
        found.append((path + name, field_schema))
        found += _fields(field_schema, f"{path}{name}.")
    return found
