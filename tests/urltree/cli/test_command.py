"""The command `urltree extract`: its outputs and its exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import IO, Any

import orjson
import pytest

URLTREE = [sys.executable, "-m", "urltree.cli"]
MENU = "<ul><li>Home<li>News</ul>"


def page(number: int, host: str = "example.org") -> dict[str, Any]:
    """Return a page of a site, with the menu of the site and a paragraph of its own."""
    word = chr(ord("a") + number % 26) * (number + 1)
    return {"url": f"https://{host}/{number}", "html": f"{MENU}<p>{word}"}


def lines(*pages: dict[str, Any]) -> bytes:
    """Return pages as JSON Lines."""
    return b"".join(orjson.dumps(each) + b"\n" for each in pages)


SITE = lines(page(0), page(1), page(1), page(2), {"url": "https://example.org/x"})


def urltree(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `urltree extract` to its end."""
    command = [*URLTREE, "extract", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def records(output: bytes) -> list[dict[str, Any]]:
    """Parse JSON Lines."""
    return [orjson.loads(line) for line in output.splitlines()]


def test_each_page_has_a_line_in_its_place() -> None:
    """Each page gives one line, in the order of the pages; the summary is written to stderr."""
    run = urltree("--heuristic", "strict", stdin=SITE)
    assert run.returncode == 0
    assert [(r["status"], r["url"][-1], r.get("text")) for r in records(run.stdout)] == [
        ("ok", "0", "Home\nNews\na"),
        ("ok", "1", "bb"),
        ("duplicate", "1", None),
        ("ok", "2", "ccc"),
        ("error", "x", None),
    ]
    summary = run.stderr.decode()
    assert summary.startswith("5 pages of 1 domain, ")
    assert summary.endswith(": 3 ok, 1 duplicate (request-url 1), 1 error (malformed 1)\n")


def test_text_is_text() -> None:
    """With `--format text` the texts of the pages are separated by empty lines."""
    run = urltree("--format", "text", "--heuristic", "strict", stdin=SITE)
    assert run.stdout == b"Home\nNews\na\n\nbb\n\nccc\n\n"


def test_markdown_stands_beside_the_text_or_instead() -> None:
    """`--markdown` adds Markdown to each record; `--format markdown` prints only Markdown."""
    stdin = lines({"url": "https://example.org/1", "html": f"{MENU}<h1>Title</h1>"})
    (record,) = records(urltree("--markdown", stdin=stdin).stdout)
    assert (record["text"], record["markdown"]) == (
        "Home\nNews\nTitle",
        "- Home\n- News\n\n# Title",
    )
    assert urltree("--format", "markdown", stdin=stdin).stdout == b"- Home\n- News\n\n# Title\n\n"
    assert "markdown" not in records(urltree(stdin=stdin).stdout)[0]


def test_a_file_is_written(tmp_path: Path) -> None:
    """With `-o FILE` the output is written to the file, and nothing to stdout."""
    run = urltree("-o", tmp_path / "out", stdin=SITE)
    assert run.stdout == b""
    assert (tmp_path / "out").read_bytes() == urltree(stdin=SITE).stdout


def test_a_folder_gets_a_file_a_domain_or_a_file_a_page(tmp_path: Path) -> None:
    """`-o FOLDER` writes one JSON Lines file per domain, or one text or Markdown file per page."""
    stdin = lines(page(0), page(0, "other.example"), {"url": "x"})
    urltree("-o", f"{tmp_path}/", stdin=stdin)
    urltree("-o", tmp_path, "--format", "text", stdin=stdin)
    urltree("-o", tmp_path, "--format", "markdown", stdin=stdin)
    names = sorted(path.name for path in tmp_path.iterdir())
    texts = [name for name in names if name.endswith((".txt", ".md"))]
    assert [name for name in names if name not in texts] == [
        "example.org.jsonl",
        "no-domain.jsonl",
        "other.example.jsonl",
    ]
    assert [name.split("-")[0] for name in texts] == ["example.org"] * 2 + ["other.example"] * 2
    assert len({name.removesuffix(".txt").removesuffix(".md") for name in texts}) == 2


@pytest.mark.parametrize(
    ("heuristic", "kept"),
    [
        ("evidence", ["About the ferry", "The ferry runs twice a day until the ice comes."]),
        (
            "strict",
            [
                "Home",
                "About the ferry",
                "The ferry runs twice a day until the ice comes.",
                "All rights reserved",
            ],
        ),
    ],
)
def test_one_page_of_a_domain_teaches_nothing(heuristic: str, kept: list[str]) -> None:
    """The only page of a site is judged by its markup; the paper's heuristics keep all blocks.

    In both cases a note on stderr says that repeated text cannot be recognised.
    """
    html = (
        b"<nav>Home</nav><div><h1>About the ferry</h1>"
        b"<p>The ferry runs twice a day until the ice comes.</p></div>"
        b"<footer>All rights reserved</footer>"
    )
    run = urltree("--url", "https://example.org/a", "--heuristic", heuristic, stdin=html)
    assert records(run.stdout)[0]["text"].split("\n") == kept
    note = b"note: 1 domain with only one page so far: text that repeats on a site cannot be recogn"
    assert note in run.stderr
    assert b"note:" not in urltree(stdin=lines(page(0), page(1))).stderr


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("options", "statuses"),
    [
        (["--revisits", "replace"], ["ok", "ok", "duplicate"]),
        (["--revisits", "replace", "--two-pass"], ["duplicate", "ok", "duplicate"]),
        ([], ["ok", "duplicate", "duplicate"]),
    ],
)
def test_a_page_that_has_changed_comes_out_again(
    options: list[str], statuses: list[str], jobs: int
) -> None:
    """With `--revisits replace` a changed page is extracted again; an unchanged one is not.

    With two passes only the last version is extracted.
    """
    changed = {**page(0), "html": "<p>Corrected"}
    run = urltree(*options, "--jobs", jobs, stdin=lines(page(0), changed, changed))
    assert [record["status"] for record in records(run.stdout)] == statuses


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--two-pass"], ["--boilerplate", "--markdown"]])
def test_processes_change_nothing(tmp_path: Path, options: list[str]) -> None:
    """One process and three processes write the same bytes in two runs with one state directory."""
    hosts = ["a.example", "b.example", "c.example", "d.example"]
    pages = [page(n % 9, hosts[n * n % 4]) for n in range(40)]
    stdin = lines(*pages[:20]) + b"no JSON\n" + lines(*pages[20:], {"html": "<p>no URL"})
    more = lines(*(page(n, hosts[n % 4]) for n in range(30)))
    outputs = []
    for jobs in (1, 3):
        state = tmp_path / str(jobs)
        common = [*options, "--jobs", jobs, "--state", state]
        outputs.append([urltree(*common, stdin=given).stdout for given in (stdin, more)])
    assert [len(records(output)) for output in outputs[0]] == [42, 30]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.html"], 1, "none.html: no such file or folder"),
        (["-", "-o", "/none/out"], 1, "/none/out: No such file"),
        (
            ["-", "--heuristic", "lenient"],
            2,
            "heuristic: 'lenient' does not exist; use one of evidence, strict",
        ),
        (["-", "--rules", "none.yaml"], 2, "rules: cannot read none.yaml"),
        (["-", "--jobs", "0"], 2, "--jobs"),
        (["a", "b", "--url", "https://example.org"], 2, "--url needs exactly one page"),
        (["--nonsense"], 2, "No such option"),
        (["-", "--fail-on-error"], 1, "1 error (malformed 1)"),
    ],
)
def test_the_exit_code_says_whose_fault_it_was(
    arguments: list[str], code: int, message: str
) -> None:
    """The exit code is 1 for a wrong input or output, and 2 for wrong usage.

    The message is one sentence without a traceback.
    """
    run = urltree(*arguments, stdin=SITE)
    assert run.returncode == code
    assert message in run.stderr.decode()
    assert b"Traceback" not in run.stderr


def test_a_damaged_input_ends_the_run(tmp_path: Path) -> None:
    """A damaged file ends the run with exit code 1; the pages before it are written and saved."""
    (tmp_path / "a.jsonl").write_bytes(SITE)
    (tmp_path / "b.jsonl").write_bytes(b"\x28\xb5\x2f\xfd" + b"x" * 50)
    run = urltree(tmp_path, "--state", tmp_path / "state")
    assert (run.returncode, len(records(run.stdout))) == (1, 5)
    assert b"b.jsonl: " in run.stderr
    assert (tmp_path / "state" / "state.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_closed_pipe_is_silent(tmp_path: Path, jobs: int) -> None:
    """If the reader closes the pipe (`urltree extract … | head -1`), no error is printed."""
    (tmp_path / "a.jsonl").write_bytes(lines(*(page(n) for n in range(3000))))
    command = [*URLTREE, "extract", str(tmp_path), "--jobs", str(jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert process.returncode == 0
    assert "Error" not in errors
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_saves_the_state(tmp_path: Path, jobs: int) -> None:
    """Ctrl-C ends the command with exit code 130.

    The pages that were written are duplicates in the next run.
    """
    command = [*URLTREE, "extract", "-", "--state", str(tmp_path / "state"), "--jobs", str(jobs)]
    with subprocess.Popen(
        [*command, "-o", f"{tmp_path}/"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        given = give_until_heard(process.stdin, tmp_path / "example.org.jsonl", jobs)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.stderr.read()
        assert process.wait() == 130
    assert b"Traceback" not in errors
    said = records((tmp_path / "example.org.jsonl").read_bytes())
    again = records(urltree(*command[len(URLTREE) + 1 :], stdin=given).stdout)
    left = len(given.splitlines()) - len(said)
    assert [r["status"] for r in again] == ["duplicate"] * len(said) + ["ok"] * left


def give_until_heard(stdin: IO[bytes], out: Path, jobs: int) -> bytes:
    """Pass pages to the command until it has written some results; return the passed pages.

    One process writes a page's result before it reads the next page. Several processes write
    finished results whenever another page is read, and never wait for results.
    """
    given = b""
    for number in count():
        if jobs > 1 or number < 2:
            given += lines(page(number))
            stdin.write(lines(page(number)))
            stdin.flush()
        time.sleep(0.05)
        if out.exists() and out.read_bytes().count(b"\n") >= (2 if jobs == 1 else 1):
            break
    return given
