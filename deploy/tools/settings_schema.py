"""The JSON Schema of the value `settings` of the chart, made from the settings of the job."""

from __future__ import annotations

import json
from typing import Any

from agents.settings.job import Settings

# Settings that the chart sets itself: Kafka's address, the pod's name, paths and ports.
SET_BY_THE_CHART = {
    *("brokers", "prefix", "security", "topics_file", "topics_replicas", "data_dir"),
    *("instance_id", "web_host", "web_port"),
}
_SECRETS = ("ssl_", "sasl_", "oauth_", "header_key", "former_header_key")
_KEPT = {"type", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum"}


def settings_schema() -> dict[str, Any]:
    """Return the schema of the settings that users of the chart may set, with types and bounds."""
    found = {}
    for name, field in Settings.model_json_schema()["properties"].items():
        if name in SET_BY_THE_CHART or name.startswith(_SECRETS):
            continue
        inner = field.get("anyOf", [field])[0]
        found[name] = {key: inner[key] for key in sorted(_KEPT & set(inner))}
        if inner["type"] == "array":
            found[name]["items"] = {"type": "string"}
    return {"type": "object", "additionalProperties": False, "properties": found}


def as_json(value: Any, indent: int = 0, used: int = 0) -> str:
    """Return JSON in which each value that fits on one line is written on one line.

    Args:
        value: any JSON value.
        indent: spaces before each line of the value.
        used: characters that precede the value on its first line.
    """
    line = json.dumps(value)
    if indent + used + len(line) <= 98 or not isinstance(value, dict | list):
        return line
    inner, close = "\n" + " " * (indent + 2), "\n" + " " * indent
    if isinstance(value, list):
        return f"[{inner}" + f",{inner}".join(as_json(v, indent + 2) for v in value) + f"{close}]"
    parts = [f'"{name}": {as_json(v, indent + 2, len(name) + 4)}' for name, v in value.items()]
    return f"{{{inner}" + f",{inner}".join(parts) + f"{close}}}"
