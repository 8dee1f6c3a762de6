"""Runs the commands in the console blocks of docs/operations.md as they are written.

It runs the commands `python -m agents …` and `kubectl exec POD -- python -m agents …`, with the
environment variables before them and the redirections after them (`< FILE`, `> FILE`). It skips all
other commands, because they need a cluster.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from textwrap import dedent

from click.testing import Result

from tests.agents.records import Run

DOCUMENT = Path(__file__).parents[2] / "docs" / "operations.md"
_OURS = re.compile(
    r"(?P<settings>(?:[A-Z_]+=\S+ )*)(?P<pod>kubectl exec (?:-i )?\S+ -- )?"
    r"python -m agents (?P<rest>.+)"
)


def shown(section: str = "") -> list[str]:
    """Return all commands of a section, or by default of the whole document, in order."""
    text = DOCUMENT.read_text()
    if section:
        found = re.search(rf"^#+ {section}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
        assert found, f"docs/operations.md has no section {section}"
        text = found[1]
    blocks = re.findall(r"^ *```console\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [
        line.removeprefix("$ ")
        for block in blocks
        for line in dedent(block).splitlines()
        if line.startswith("$ ")
    ]


def ours(section: str, *, on_kubernetes: bool = False) -> list[str]:
    """Return the commands of a section that a test can run.

    With `on_kubernetes` these are the commands after `kubectl exec`, otherwise those without it.
    """
    found = [(line, _OURS.fullmatch(line)) for line in shown(section)]
    return [line for line, match in found if match and bool(match["pod"]) == on_kubernetes]


class Runbook:
    """Runner of the runbook's commands in a directory of the test.

    Args:
        run: function that runs `python -m agents`.
        directory: directory of the files that the commands read and write.
        names: for values in the document, the values with which this test replaces them.
    """

    def __init__(self, run: Run, directory: Path, names: dict[str, str] | None = None) -> None:
        self._run, self._directory, self._names = run, directory, names or {}

    def type(self, section: str, *, on_kubernetes: bool = False) -> list[Result]:
        """Run the commands of a section; each must succeed."""
        lines = ours(section, on_kubernetes=on_kubernetes)
        assert lines, f"the section {section} of docs/operations.md has no command of this kind"
        results = [self.typed(line) for line in lines]
        ends = dict(zip(lines, results, strict=True))
        assert {line: end.output for line, end in ends.items() if end.exit_code} == {}
        return results

    def typed(self, line: str) -> Result:
        """Run one command, which the document must contain."""
        found = _OURS.fullmatch(line)
        assert found
        assert line in DOCUMENT.read_text(), line
        return self._type(found)

    def _type(self, line: re.Match[str]) -> Result:
        settings = dict(pair.split("=", 1) for pair in line["settings"].split())
        words = shlex.split(line["rest"])
        given: str | bytes = "y\n"  # answer to the command's question for confirmation
        output = None
        if words[-2:-1] in (["<"], [">"]):
            *words, sign, name = words
            given = (self._directory / name).read_bytes() if sign == "<" else given
            output = self._directory / name if sign == ">" else None
        result = self._run(
            *(self._names.get(word, word) for word in words),
            env={name: self._names.get(value, value) for name, value in settings.items()},
            input=given,
        )
        if output is not None:
            output.write_bytes(result.stdout_bytes)
        return result
