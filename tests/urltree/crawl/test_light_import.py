"""Imports of `urltree` and of `urltree.crawl` load only the libraries that they need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CRAWL = ROOT / "urltree" / "crawl"
OF_CRAWL = ("aiohttp", "feedparser", "protego")
OF_THE_JOB = ("agents", "aiokafka", "faust", "models", "pebble", "pydantic", "pydantic_settings")


def loaded_by(module: str, *blocked: str) -> set[str]:
    """Import a module in a process of its own; return the names of all modules that it loads.

    Args:
        module: name of the imported module.
        blocked: names of modules whose import fails in this process.
    """
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({blocked!r})); import {module}; "
        "print(*(name for name, loaded in sys.modules.items() if loaded is not None))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return set(ran.stdout.split())


@pytest.mark.parametrize("module", ["urltree", "urltree.cli", "urltree.extractor"])
def test_the_library_loads_nothing_for_crawling(module: str) -> None:
    """The library loads no module for crawling, so it needs no extra `crawl` and starts fast."""
    loaded = loaded_by(module)
    assert loaded.isdisjoint({*OF_CRAWL, "urltree.crawl"})


def test_decisions_load_no_http_client() -> None:
    """The modules in `decisions` do not load aiohttp, not even indirectly: they need no network."""
    rooms = (CRAWL / "decisions").rglob("*.py")
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in rooms]
    assert len(modules) > 20
    assert "aiohttp" not in loaded_by(", ".join(sorted(modules)))


def test_the_client_needs_the_extra_alone() -> None:
    """The web client needs only the extra `crawl`, not the libraries or settings of the job."""
    modules = (CRAWL / "web").glob("*.py")
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in modules]
    assert len(names) > 5
    loaded = loaded_by(", ".join(sorted(names)), *OF_THE_JOB)
    assert "aiohttp" in loaded
    assert loaded.isdisjoint(OF_THE_JOB)


def test_the_extra_has_every_library_that_crawling_imports() -> None:
    """The dependencies and the extra `crawl` declare all libraries of `urltree.crawl`, except yarl.

    aiohttp depends on yarl, whose URLs are part of aiohttp's interface.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["crawl"]]
    declared = {re.split(r"[^\w-]", line)[0].lower().replace("_", "-") for line in lines}
    distributions = packages_distributions()
    imported = {
        distributions[name][0].lower().replace("_", "-")
        for path in CRAWL.rglob("*.py")
        for name in top_level_imports(path)
        if name in distributions and name != "urltree"
    }
    assert imported >= {"aiohttp", "feedparser", "protego"}
    assert imported - declared == {"yarl"}  # aiohttp depends on yarl


def top_level_imports(path: Path) -> set[str]:
    """Return the top-level packages that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found
