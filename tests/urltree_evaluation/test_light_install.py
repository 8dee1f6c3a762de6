"""Tests without the extra `evaluation`: an error names what is missing, and `extract` works."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

EXTRA = ("cydifflib", "jinja2", "matplotlib", "numpy", "psutil", "rapidfuzz", "rich")


def urltree(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process without the extra; stderr ends with the imported modules."""
    code = f"""
        import sys
        sys.modules.update(dict.fromkeys({EXTRA!r}))
        from urltree.cli import main
        try:
            main({list(arguments)!r})
        finally:
            print([name for name in sys.modules if "evaluation" in name], file=sys.stderr)
    """
    command = [sys.executable, "-c", dedent(code)]
    given = "<p>Text</p>"
    return subprocess.run(command, input=given, capture_output=True, check=False, text=True)


@pytest.mark.parametrize("arguments", [["--help"], ["extract", "--help"], ["all", "w", "i"]])
def test_the_missing_extra_is_named(arguments: list[str]) -> None:
    """Without the extra, the command ends with a usage error that says how to install it."""
    ran = urltree("evaluate", *arguments)
    assert ran.returncode == 2
    assert "Error: rich is not installed. Run: pip install 'urltree[evaluation]'\n" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_plain_extraction_needs_nothing_of_it() -> None:
    """Plain extraction works without the extra, and imports no module of the evaluation."""
    ran = urltree("extract", "--url", "https://site.example/1")
    assert ran.returncode == 0
    assert '"text":"Text"' in ran.stdout
    assert ran.stderr.endswith("\n[]\n")
