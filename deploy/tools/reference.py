"""The tables of the reference documentation, made from the code that they describe.

`deploy/tools/generate.py` writes them into docs/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import click
import orjson
import yaml

from agents.__main__ import main as agents
from agents.extract import Extract
from agents.fetch import Fetch
from agents.normalize import Normalize
from agents.poll import Poll
from agents.settings.job import PREFIX, Settings
from agents.stage import MakeStage, Stage
from agents.telemetry.health import Health
from deploy.tools.chart import ROOT
from urltree.cli import main as urltree


def topics() -> str:
    """Return a table of the topics in topics.yaml; the first row has the values of all topics."""
    file = yaml.safe_load((ROOT / "topics.yaml").read_text())
    shared = file["defaults"]
    rows = [("*all*", "", "", f"{shared['partitions']} partitions, {_config(shared)}")]
    rows += [(_code(t["name"]), t["role"], t["key"], _config(t)) for t in file["topics"]]
    return _table(("topic", "role", "key", "config"), rows)


def record(schema: bytes) -> str:
    """Return the table of a record's fields, from its JSON Schema."""
    rows = list(_fields(orjson.loads(schema), ""))
    return _table(("field", "", "what"), rows)


def settings() -> str:
    """Return a table of all settings of the job."""
    rows = [
        (_code(name), _code(PREFIX + name.upper()), _default(field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    return _table(("setting", "environment", "default", "what"), rows)


def metrics() -> str:
    """Return a table of a worker's own metrics and the stages that have each of them.

    Metrics that the Prometheus client adds to every process are left out.
    """
    found: dict[str, tuple[str, str, list[str]]] = {}
    for stage in stages():
        Health(stage, "127.0.0.1", 0)
        for metric in stage.metrics.registry.collect():
            if metric.name.startswith("process_"):
                continue
            name = metric.name + ("_total" if metric.type == "counter" else "")
            found.setdefault(name, (metric.type, metric.documentation, []))[2].append(stage.name)
    rows = [
        (_code(name), kind, "" if len(names) == 4 else f"{', '.join(map(_code, names))}. ", text)
        for name, (kind, text, names) in found.items()
    ]
    return _table(("metric", "type", "what"), [(n, k, only + text) for n, k, only, text in rows])


def stages() -> list[Stage]:
    """Return an object of each stage, without starting it."""
    defaults = Settings.model_validate({"contact": "https://example.org/crawler"})
    makes: tuple[MakeStage, ...] = (Poll, Fetch, Normalize, Extract)
    return [make(defaults, _never) for make in makes]


def tables() -> set[str]:
    """Return the names of all tables of the job."""
    return {name for stage in stages() for name in stage.app.tables}


def commands(program: str) -> str:
    """Return a list of all commands of a program with their options.

    Args:
        program: `urltree` or `python -m agents`.
    """
    sections = []
    for path, command in walk(program):
        arguments = " ".join(
            p.make_metavar(click.Context(command))
            for p in command.params
            if isinstance(p, click.Argument)
        )
        usage = f"{path} {arguments}".strip()
        title = f"**`{usage}`** {command.help or ''}"
        options = [_option(p, command) for p in command.params if isinstance(p, click.Option)]
        sections.append("\n".join([" ".join(title.split()), "", *options]).strip())
    return "\n\n".join(sections)


def walk(program: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command of a program with the words that call it."""
    yield from _walk(program, {"urltree": urltree, "python -m agents": agents}[program])


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)  # a group may import its commands only on request
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _walk(f"{path} {name}", child)
    else:
        yield path, command


def _option(option: click.Option, command: click.Command) -> str:
    names, what = option.get_help_record(click.Context(command)) or ("", "")
    return f"- `{names}`: {what}" if what else f"- `{names}`"


def _fields(schema: dict[str, Any], prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in schema["properties"].items():
        required = "" if name in schema.get("required", ()) else "?"
        codes = f" One of {', '.join(map(_code, field['enum']))}." if "enum" in field else ""
        yield _code(prefix + name), required, field["description"] + codes
        inner = field.get("items", field)
        if "properties" in inner:
            yield from _fields(inner, f"{prefix}{name}[]." if "items" in field else f"{name}.")


def _default(field: Any) -> str:
    value = field.default
    if isinstance(value, tuple):
        value = ",".join(value)
    if isinstance(value, Path) and value.is_absolute():
        value = value.relative_to(ROOT)
    choices = [c for c in get_args(field.annotation) if isinstance(c, str)]
    others = [c for c in choices if c != value]
    shown = "" if value in (None, "") else _code(str(value))
    return shown + (f" or {', '.join(map(_code, others))}" if others else "")


def _config(topic: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in topic.get("config", {}).items())


def _code(text: str) -> str:
    return f"`{text}`"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def _never(error: BaseException) -> None:
    raise AssertionError(error)
