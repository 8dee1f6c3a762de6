"""Write every file that is made from other files: `make generate`.

    agents/settings ─▶ the settings in the chart's values.schema.json
    topics.yaml ─────▶ the chart's copy
    agents/access/roles.py ─▶ the chart's acls.yaml, the table in docs/access.md
    models/ ─────────▶ JSON Schemas in models/schemas/
    docs/claims/figures.json ─▶ the curves in docs/claims/
    code, topics.yaml, schemas, commands ─▶ tables between `made from the code` marks in docs/
    deploy/helm/ ────▶ tests/deploy/rendered/ and the chart's README.md (only with helm, helm-docs)

`tests/test_generated.py` compares the files of the function `generated` with the checkout. If a
file differs, the test fails and asks for `make generate`. The files in the last line of the drawing
need tools that `make test-deploy` installs, so `make test-deploy` compares these files.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from deploy.tools import acls, reference
from deploy.tools.chart import CHART, COMMITTED, RENDERED, ROOT, golden_text
from deploy.tools.install import NotInstalledError, find
from deploy.tools.settings_schema import as_json, settings_schema

Tables = Mapping[
    str, Callable[[], str]
]  # functions that make a table, by the name in the table's mark

CLAIMS = ROOT / "docs" / "claims"
RECORDS = (
    *("feeds", "rules", "fetches", "raw-html"),
    *("clean-text", "duplicates", "unchanged", "dead-letters"),
)


def generated() -> dict[str, bytes]:
    """Return the content of every generated file that needs no tool, by its path in the project."""
    made = {
        "deploy/helm/topics.yaml": (ROOT / "topics.yaml").read_bytes(),
        "deploy/helm/acls.yaml": acls.chart_file(),
        "deploy/helm/values.schema.json": _values_schema(),
    }
    schemas = {f"models/schemas/{name}": content for name, content in _record_schemas().items()}
    documents = {name: _document(name, made) for name, made in _tables(schemas).items()}
    return {**made, **schemas, **documents, **_curves()}


def differing(made: Mapping[str, bytes]) -> list[str]:
    """Return the paths whose files are missing or have another content."""
    return [name for name, content in made.items() if _content(ROOT / name) != content]


def _values_schema() -> bytes:
    """Return the chart's schema of values, with the current settings of the job."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    schema["$defs"]["settings"] = settings_schema()
    return f"{as_json(schema)}\n".encode()


def _record_schemas() -> dict[str, bytes]:
    """Return the JSON Schema of each record, by file name."""
    module: Any = importlib.import_module("models.schemas")
    made: dict[str, bytes] = module.generated() if hasattr(module, "generated") else {}
    return made


def _curves() -> dict[str, bytes]:
    """Return the curves of docs/claims.md, drawn from the figures that were measured."""
    module: Any = importlib.import_module("bench.claims.curves")
    if not hasattr(module, "draw_stored"):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(CLAIMS / "figures.json", folder)
        module.draw_stored(Path(folder))
        drawn = sorted(Path(folder).glob("*.svg"))
        return {str((CLAIMS / file.name).relative_to(ROOT)): file.read_bytes() for file in drawn}


def _tables(schemas: Mapping[str, bytes]) -> dict[str, Tables]:
    """Return the functions that make the tables of each document."""
    records = {name: partial(reference.record, _schema(name, schemas)) for name in RECORDS}
    return {
        "docs/job.md": {
            "topics": reference.topics,
            **records,
            "settings": reference.settings,
            "metrics": reference.metrics,
        },
        "docs/access.md": {"rights": acls.table},
        "docs/library.md": {"commands": partial(reference.commands, "urltree")},
        "docs/commands.md": {"commands": partial(reference.commands, "python -m agents")},
    }


def _schema(record: str, made: Mapping[str, bytes]) -> bytes:
    """Return the JSON Schema of a record: the one just made, or else the one in the checkout."""
    path = f"models/schemas/{record}.json"
    return made.get(path) or (ROOT / path).read_bytes()


def _document(name: str, tables: Tables) -> bytes:
    """Return a document in which each table is made from the code again."""
    text = (ROOT / name).read_text()
    for table, make in tables.items():
        begin, end = f"<!-- {table}: made from the code -->\n", "<!-- end -->"
        before, begun, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not (begun and ended):
            raise ValueError(f"{name} needs the lines {begin.strip()} and {end} around a table")
        text = f"{before}{begin}{make()}\n{end}{after}"
    return text.encode()


def _from_helm() -> dict[str, bytes]:
    """Return the files that helm and helm-docs make from the chart."""
    helm, docs = find("helm"), find("helm-docs")
    made = {
        str((RENDERED / f"{values}.yaml").relative_to(ROOT)): golden_text(helm, values).encode()
        for values in COMMITTED
    }
    command = [str(docs), "--dry-run", "--sort-values-order", "file", "--log-level", "error"]
    readme = subprocess.run(command, cwd=CHART, capture_output=True, check=True).stdout  # noqa: S603
    return {**made, str((CHART / "README.md").relative_to(ROOT)): readme}


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _write(made: Mapping[str, bytes]) -> None:
    for name in differing(made):
        (ROOT / name).write_bytes(made[name])
        print(f"{name} written")


def main() -> None:
    """Write the generated files that differ, and print their names."""
    _write(generated())
    try:
        _write(_from_helm())
    except NotInstalledError as error:
        print(f"{error}\ntests/deploy/rendered/ and deploy/helm/README.md are not updated.")


if __name__ == "__main__":
    main()
