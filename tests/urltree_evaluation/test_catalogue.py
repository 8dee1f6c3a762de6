"""The catalogue: what can be had, why the rest cannot, and plugins from files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

import urltree
from urltree_evaluation import CorpusPage, DuplicatePage
from urltree_evaluation.cli.extractors import command
from urltree_evaluation.extractors import catalogue

FAMILIES = {  # by module, what it has
    "all-text": ["all-text"],
    "drop-seen": ["drop-seen"],
    "justext": ["justext"],
    "magic-html": ["magic-html"],
    "newspaper4k": ["newspaper4k"],
    "readability-lxml": ["readability-lxml"],
    "resiliparse": ["resiliparse"],
    "trafilatura": [
        "trafilatura",
        "trafilatura-deduplicate",
        "trafilatura-fast",
        "trafilatura-precision",
    ],
    "boilerpy3": [
        "boilerpy3-article",
        "boilerpy3-article-sentences",
        "boilerpy3-canola",
        "boilerpy3-default",
        "boilerpy3-keep-everything",
        "boilerpy3-largest-content",
        "boilerpy3-num-words-rules",
    ],
    "urltree": [
        "urltree-relaxed-at-domain-500",
        "urltree-strict",
        "urltree-strict-at-domain",
        "urltree-strict-support-100",
    ],
}

DOCS = Path(__file__).parents[2] / "docs" / "evaluation.md"
PARAGRAPHS, NEW_LINES = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)


def test_an_extractor_takes_at_most_twenty_lines() -> None:
    """The two of the documents, imports included (issue 5, row 8)."""
    assert max(len(code.splitlines()) for code in (PARAGRAPHS, NEW_LINES)) <= 20


def plugin(folder: Path, code: str, name: str = "my_tool.py") -> Path:
    """A file with that code."""
    file = folder / name
    file.write_text(dedent(code), "utf-8")
    return file


def page(html: str) -> CorpusPage:
    """A page of example.org."""
    return CorpusPage("1", "https://example.org/1", "example.org", html)


def without(*modules: str) -> str:
    """What a process says of what is absent, and prints besides, that lacks these modules."""
    code = f"""
        import sys
        sys.modules.update(dict.fromkeys({modules!r}))
        from urltree_evaluation.extractors import catalogue
        found, absent = catalogue.load()
        print(absent, "urltree-strict" in found)
    """
    command = [sys.executable, "-c", dedent(code)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_there_or_says_why_not(family: str) -> None:
    """A module's extractors are found under their names, or the module has a reason."""
    found, absent = catalogue.load()
    if family in absent:
        assert not found.keys() & set(FAMILIES[family])
        assert absent[family]
    else:
        assert set(FAMILIES[family]) <= found.keys()


def test_a_tool_that_is_not_installed_says_how_to_install_it() -> None:
    """By the name that pip knows, and the others are still there."""
    said = without("newspaper", "readability", "trafilatura")
    assert "'newspaper4k': 'not installed: pip install newspaper4k'" in said
    assert "'readability-lxml': 'not installed: pip install readability-lxml'" in said
    assert "'trafilatura': 'not installed: pip install trafilatura'" in said
    assert said.endswith(" True\n")


@pytest.mark.slow
def test_a_tool_that_is_broken_says_so_and_the_others_are_there(tmp_path: Path) -> None:
    """Whatever it raises when it is imported."""
    (tmp_path / "resiliparse.py").write_text("1 / 0")
    code = """
        from urltree_evaluation.extractors import catalogue
        found, absent = catalogue.load()
        print(absent["resiliparse"], "urltree-strict" in found)
    """
    command = [sys.executable, "-c", dedent(code)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
    assert ran.stdout == "broken: ZeroDivisionError: division by zero True\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="magic-html installs on Python 3.12")
def test_magic_html_says_which_python_it_needs() -> None:
    """It cannot be installed here by pip."""
    assert "'magic-html': 'needs Python 3.12'" in without("magic_html")


@pytest.mark.parametrize("code", [PARAGRAPHS, NEW_LINES], ids=["single page", "stream"])
def test_a_stranger_adds_an_extractor_in_twenty_lines(code: str, tmp_path: Path) -> None:
    """Row 8: one file of at most 20 lines."""
    builtin, _ = catalogue.load()
    found, _ = catalogue.load([plugin(tmp_path, code)])
    (new,) = found.keys() - builtin.keys()
    extract = found[new].make()
    assert extract(page("<p>one</p>\n<p>two</p>")) in {"<p>one</p>\n<p>two</p>", "one\ntwo"}
    assert len(code.strip().splitlines()) <= 20


def test_a_stream_of_a_stranger_remembers(tmp_path: Path) -> None:
    """What is made is one stream: a part's pages go to it in order, and the next part's do not."""
    new_lines = catalogue.load([plugin(tmp_path, NEW_LINES)])[0]["new-lines"]
    assert new_lines.is_stream
    extract, another = new_lines.make(), new_lines.make()
    assert extract(page("menu\nfirst")) == "menu\nfirst"
    assert extract(page("menu\nsecond")) == "second"
    with pytest.raises(DuplicatePage, match="no new line"):
        extract(page("second"))
    assert another(page("second")) == "second"


def test_a_plugin_is_its_callers_alone(tmp_path: Path) -> None:
    """Who loads none has none, and it can be loaded again."""
    files = [plugin(tmp_path, PARAGRAPHS)]
    assert "paragraphs" in catalogue.load(files)[0]
    assert "paragraphs" not in catalogue.load()[0]
    assert "paragraphs" in catalogue.load(files)[0]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="raises"),
        pytest.param("import no_such_tool", "No module named 'no_such_tool'", id="lacks its tool"),
        pytest.param("def", "SyntaxError", id="is no Python"),
        pytest.param("raise SystemExit(0)", "SystemExit: 0", id="ends the interpreter"),
        pytest.param("x = 1", "registers no extractor", id="registers nothing"),
        pytest.param(
            PARAGRAPHS.replace('removed"', 'removed", package="no-such"'),
            "no package no-such is installed",
            id="wraps what is not installed",
        ),
        pytest.param(PARAGRAPHS + PARAGRAPHS, "two extractors are named paragraphs", id="twice"),
        pytest.param(
            PARAGRAPHS.replace('"paragraphs"', '"all-text"'),
            "two extractors are named all-text",
            id="takes a name of ours",
        ),
        pytest.param(
            PARAGRAPHS.replace('"paragraphs"', '"a/b"'), "should be letters", id="names no folder"
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named(code: str, message: str, tmp_path: Path) -> None:
    """The message has the file and what is wrong, and nothing of it stays."""
    file = plugin(tmp_path, code)
    with pytest.raises(catalogue.PluginError) as error:
        catalogue.load([file])
    assert str(file) in str(error.value)
    assert message in str(error.value)
    assert "paragraphs" not in catalogue.load()[0]


def test_two_plugins_do_not_share_a_name(tmp_path: Path) -> None:
    """The second one is named."""
    first = plugin(tmp_path, PARAGRAPHS, "first.py")
    second = plugin(tmp_path, PARAGRAPHS, "second.py")
    with pytest.raises(catalogue.PluginError, match=r"second\.py: two extractors are named"):
        catalogue.load([first, second])


def test_a_file_that_is_no_module_is_refused(tmp_path: Path) -> None:
    """A plugin's name ends in .py."""
    with pytest.raises(catalogue.PluginError, match="is no Python file"):
        catalogue.load([plugin(tmp_path, PARAGRAPHS, "plugin.txt")])


def test_the_version_is_of_package_and_code(tmp_path: Path) -> None:
    """Code that changes makes another version of the same package; ours has no package."""
    first = catalogue.load([plugin(tmp_path, PARAGRAPHS)])[0]["paragraphs"]
    before = catalogue.version(first)
    changed = catalogue.load([plugin(tmp_path, PARAGRAPHS + "# changed")])[0]["paragraphs"]
    assert catalogue.version(changed) != before
    assert "+" not in before
    lxml = PARAGRAPHS.replace("removed", 'removed", package="lxml')
    wrapped = catalogue.load([plugin(tmp_path, lxml)])[0]["paragraphs"]
    assert catalogue.version(wrapped).startswith("6.")


@pytest.mark.parametrize(
    "file", ["document.py", "heuristics/evidence/pieces.py", "address/data/query_rules.yaml"]
)
def test_another_algorithm_is_another_version_of_ours_alone(file: str, tmp_path: Path) -> None:
    """Whatever may decide text does: no number has to be raised by hand."""
    shutil.copytree(Path(urltree.__file__).parent, tmp_path / "urltree")
    code = f"""
        from dataclasses import replace
        from pathlib import Path
        from urltree_evaluation.extractors import catalogue, urltree_
        ours = catalogue.registered["urltree-strict"]
        theirs = replace(ours, package="lxml")
        before = [catalogue.version(each) for each in (ours, theirs)]
        with Path("urltree", "{file}").open("a") as out:
            out.write("# changed")
        catalogue._algorithm.cache_clear()
        after = [catalogue.version(each) for each in (ours, theirs)]
        print(before[0] == after[0], before[1] == after[1])
    """
    command = [sys.executable, "-c", dedent(code)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert ran.stdout == b"False True\n"


def test_a_function_of_another_module_is_of_the_plugins_version(tmp_path: Path) -> None:
    """One that is built into the interpreter has no file of its own."""
    code = "from urltree_evaluation import single_page\nsingle_page('mine', 'none')(print)\n"
    versions = {
        catalogue.version(catalogue.load([plugin(tmp_path, code + end)])[0]["mine"])
        for end in ("", "# changed")
    }
    assert len(versions) == 2


def test_the_verb_lists_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    """A line each: name, kind, version, options, or the reason."""
    code = PARAGRAPHS.replace("all <p>, tags removed", "all [p]")
    said = CliRunner().invoke(command, ["--plugin", str(plugin(tmp_path, code))]).output
    lines = {line.split()[0]: line for line in said.splitlines() if line.strip()}
    assert lines["paragraphs"].split()[1:3] == ["single", "page"]
    assert "all [p]" in lines["paragraphs"]
    assert "stream" in lines["urltree-strict"]
    _, absent = catalogue.load()
    assert all(f"absent {absent[name]}" in " ".join(lines[name].split()) for name in absent)


def test_the_verb_names_a_plugin_that_cannot_be_used(tmp_path: Path) -> None:
    """As an error of the command, without a traceback."""
    result = CliRunner().invoke(command, ["--plugin", str(plugin(tmp_path, "1 / 0"))])
    assert result.exit_code == 1
    assert "my_tool.py: ZeroDivisionError" in result.output
