"""All commands are documented and report wrong settings; all but `worker` have --json."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agents.__main__ import main

ROOT = Path(__file__).parents[2]
DOCUMENTED = (ROOT / "docs/commands.md").read_text()


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command of a group and of its subgroups with its path."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


@pytest.mark.parametrize(("path", "command"), list(commands(main)))
def test_every_command_and_option_is_documented(
    path: tuple[str, ...], command: click.Command
) -> None:
    """For each command, docs/commands.md contains a usage text with all its options."""
    _, found, rest = DOCUMENTED.partition(f"    python -m agents {' '.join(path)}")
    assert found
    usage = rest.partition("\n\n")[0]
    options = [p.opts[-1] for p in command.params if isinstance(p, click.Option)]
    assert [option for option in options if option not in usage and option != "--json"] == []


@pytest.mark.parametrize(("path", "command"), list(commands(main)))
def test_every_command_of_an_operator_speaks_json(
    path: tuple[str, ...], command: click.Command
) -> None:
    """Every command except `worker` has the option --json, so that scripts can read its results."""
    options = {name for parameter in command.params for name in parameter.opts}
    assert "--json" in options or path == ("worker",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"URLTREE_BROKERS": "127.0.0.1:1"}, "agents: Kafka cannot be reached at 127.0.0.1:1"),
        ({"URLTREE_TOPICS_FILE": "none.yaml"}, "agents: none.yaml cannot be read: No such file"),
        ({"URLTREE_HEURISTIC": "luck"}, "agents: "),
    ],
)
def test_wrong_settings_are_one_sentence_and_exit_code_2(
    environment: dict[str, str], words: str
) -> None:
    """A wrong setting ends a command with one sentence and exit code 2, without a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "agents", "topics", "check"],
        env={**os.environ, "URLTREE_BROKERS": "127.0.0.1:1", **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
