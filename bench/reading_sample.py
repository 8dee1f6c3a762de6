"""Draw a random sample of the project's texts for a reader who is new to the project.

    python -m bench.reading_sample --seed 1 > sample.md

The sample has 60 docstrings and comments, 40 help texts, errors and log events, and 10 paragraphs
of documents. The reader marks each text that is not clear at the first reading. At most three texts
may be marked. After these are corrected, another seed draws the next sample.
"""

from __future__ import annotations

import ast
import random
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

DOCSTRINGS, MESSAGES, PARAGRAPHS = 60, 40, 10

_LEAST_WORDS = 4  # a comment with fewer words is a name or a mark for a tool
_LEAST_CHARACTERS = 120  # a paragraph with fewer characters is a heading or a caption
_TOOL_COMMENT = re.compile(r"#\s*(noqa|type:|fmt:|mypy:|pragma)")
_LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}
_HELP_NAMES = {"help", "help_", "description"}


class Text(NamedTuple):
    """A text of the project with its place: FILE:LINE, or FILE for a paragraph."""

    place: str
    text: str


def tracked_files(*patterns: str) -> list[Path]:
    """Return the files that git tracks and that match one of the patterns, sorted."""
    command = ["git", "ls-files", *patterns]
    listed = subprocess.run(command, capture_output=True, check=True, text=True)
    return [Path(name) for name in sorted(listed.stdout.splitlines())]


def docstrings_and_comments(file: Path) -> Iterator[Text]:
    """Yield the docstrings of a Python file, and its comments of at least four words."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield Text(f"{file}:{getattr(node, 'lineno', 1)}", text)
    lines: list[str] = []
    with tokenize.open(file) as source:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT and not _TOOL_COMMENT.match(token.string):
                lines.append(token.string.lstrip("# "))
                end = token.end[0]
            elif token.type not in {tokenize.NL, tokenize.COMMENT} and lines:
                text = " ".join(lines)
                if len(text.split()) >= _LEAST_WORDS:
                    yield Text(f"{file}:{end}", text)
                lines = []


def messages(file: Path) -> Iterator[Text]:
    """Yield the help texts, errors and log events of a Python file."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            texts = [_literal(argument) for argument in node.exc.args]
        elif isinstance(node, ast.Call):
            texts = [_literal(k.value) for k in node.keywords if k.arg in _HELP_NAMES]
            if isinstance(node.func, ast.Attribute) and node.func.attr in _LOG_METHODS:
                texts += [_literal(argument) for argument in node.args[:1]]
        else:
            continue
        for text in texts:
            if len(text.split()) > 1:
                yield Text(f"{file}:{node.lineno}", text)


def paragraphs(file: Path) -> Iterator[Text]:
    """Yield the paragraphs of a Markdown file, without tables, code and headings."""
    text = re.sub(r"```.*?```", "", file.read_text("utf-8"), flags=re.DOTALL)
    for part in re.split(r"\n\s*\n", text):
        if len(part) >= _LEAST_CHARACTERS and not part.lstrip().startswith(("|", "#", "<", "    ")):
            yield Text(str(file), part.strip())


def _literal(node: ast.expr) -> str:
    """Return a string literal; a replacement field of an f-string becomes its source in braces."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            f"{{{ast.unparse(part.value)}}}"
            if isinstance(part, ast.FormattedValue)
            else str(part.value)  # type: ignore[attr-defined]
            for part in node.values
        )
    return ""


def draw(seed: int) -> Iterator[tuple[str, list[Text]]]:
    """Yield the three parts of a sample with their titles."""
    chance = random.Random(seed)
    code = tracked_files("*.py")
    product = [file for file in code if file.parts[0] != "tests"]
    documents = tracked_files("*.md")
    parts = (
        ("Docstrings and comments", DOCSTRINGS, docstrings_and_comments, code),
        ("Help texts, errors and log events", MESSAGES, messages, product),
        ("Paragraphs of documents", PARAGRAPHS, paragraphs, documents),
    )
    for title, number, find, files in parts:
        yield title, chance.sample([text for file in files for text in find(file)], number)


@click.command()
@click.option(
    "--seed", type=int, required=True, help="Seed of the sample; another seed draws other texts."
)
def main(seed: int) -> None:
    """Print a sample of the project's prose as Markdown."""
    for title, texts in draw(seed):
        click.echo(f"# {title}\n")
        for number, (place, text) in enumerate(texts, start=1):
            click.echo(f"## {number}. {place}\n\n{text}\n")


if __name__ == "__main__":
    main()
