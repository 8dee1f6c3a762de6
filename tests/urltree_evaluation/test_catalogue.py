"""Tests of the catalogue: available extractors, reasons for missing ones, and plugins."""

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

FAMILIES = {  # names of extractors, by the name of their module
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
    """Both examples of the documentation have at most 20 lines, including their imports."""
    assert max(len(code.splitlines()) for code in (PARAGRAPHS, NEW_LINES)) <= 20


def plugin(folder: Path, code: str, name: str = "my_tool.py") -> Path:
    """Write a plugin with this code to a file, and return the path of the file."""
    file = folder / name
    file.write_text(dedent(code), "utf-8")
    return file


def page(html: str) -> CorpusPage:
    """Return a page of example.org."""
    return CorpusPage("1", "https://example.org/1", "example.org", html)


def without(*modules: str) -> str:
    """Return what a process prints about missing extractors if these modules cannot be imported."""
    code = f"""
        import sys
        sys.modules.update(dict.fromkeys({modules!r}))
        from urltree_evaluation.extractors import catalogue
        found, absent = catalogue.load_extractors()
        print(absent, "urltree-strict" in found)
    """
    command = [sys.executable, "-c", dedent(code)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_there_or_says_why_not(family: str) -> None:
    """The extractors of each module are available, or the catalogue says why they are not."""
    found, absent = catalogue.load_extractors()
    if family in absent:
        assert not found.keys() & set(FAMILIES[family])
        assert absent[family]
    else:
        assert set(FAMILIES[family]) <= found.keys()


def test_a_tool_that_is_not_installed_says_how_to_install_it() -> None:
    """The reason for a missing tool contains its pip command, and our extractors are available."""
    said = without("newspaper", "readability", "trafilatura")
    assert "'newspaper4k': 'not installed: pip install newspaper4k'" in said
    assert "'readability-lxml': 'not installed: pip install readability-lxml'" in said
    assert "'trafilatura': 'not installed: pip install trafilatura'" in said
    assert said.endswith(" True\n")


@pytest.mark.slow
def test_a_tool_that_is_broken_says_so_and_the_others_are_there(tmp_path: Path) -> None:
    """If the import of a tool raises an exception, the catalogue gives the exception as the reason.

    The other extractors are available.
    """
    (tmp_path / "resiliparse.py").write_text("1 / 0")
    code = """
        from urltree_evaluation.extractors import catalogue
        found, absent = catalogue.load_extractors()
        print(absent["resiliparse"], "urltree-strict" in found)
    """
    command = [sys.executable, "-c", dedent(code)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
    assert ran.stdout == "broken: ZeroDivisionError: division by zero True\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="magic-html installs on Python 3.12")
def test_magic_html_says_which_python_it_needs() -> None:
    """The reason names Python 3.12, because magic-html cannot be installed on older versions."""
    assert "'magic-html': 'needs Python 3.12'" in without("magic_html")


@pytest.mark.parametrize("code", [PARAGRAPHS, NEW_LINES], ids=["single page", "stream"])
def test_a_stranger_adds_an_extractor_in_twenty_lines(code: str, tmp_path: Path) -> None:
    """One file of at most 20 lines from the documentation adds a working extractor."""
    builtin, _ = catalogue.load_extractors()
    found, _ = catalogue.load_extractors([plugin(tmp_path, code)])
    (new,) = found.keys() - builtin.keys()
    extract = found[new].make()
    assert extract(page("<p>one</p>\n<p>two</p>")) in {"<p>one</p>\n<p>two</p>", "one\ntwo"}
    assert len(code.strip().splitlines()) <= 20


def test_a_stream_of_a_stranger_remembers(tmp_path: Path) -> None:
    """All pages of a part share one instance of the extractor; each other part has its own."""
    new_lines = catalogue.load_extractors([plugin(tmp_path, NEW_LINES)])[0]["new-lines"]
    assert new_lines.is_stream
    extract, another = new_lines.make(), new_lines.make()
    assert extract(page("menu\nfirst")) == "menu\nfirst"
    assert extract(page("menu\nsecond")) == "second"
    with pytest.raises(DuplicatePage, match="no new line"):
        extract(page("second"))
    assert another(page("second")) == "second"


def test_a_plugin_is_its_callers_alone(tmp_path: Path) -> None:
    """A plugin is available only to the call that loads it; a later call can load it again."""
    files = [plugin(tmp_path, PARAGRAPHS)]
    assert "paragraphs" in catalogue.load_extractors(files)[0]
    assert "paragraphs" not in catalogue.load_extractors()[0]
    assert "paragraphs" in catalogue.load_extractors(files)[0]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="raises"),
        pytest.param("import no_such_tool", "No module named 'no_such_tool'", id="lacks its tool"),
        pytest.param("def", "SyntaxError", id="is no Python"),
        pytest.param("raise SystemExit(0)", "SystemExit: 0", id="ends the interpreter"),
        pytest.param(
            "x = 1",
            "registers no extractor: use urltree_evaluation.single_page",
            id="registers nothing",
        ),
        pytest.param(
            PARAGRAPHS.replace('removed"', 'removed", package="no-such"'),
            "the package no-such is not installed",
            id="wraps what is not installed",
        ),
        pytest.param(
            PARAGRAPHS + PARAGRAPHS, "another extractor already has the name paragraphs", id="twice"
        ),
        pytest.param(
            PARAGRAPHS.replace('"paragraphs"', '"all-text"'),
            "another extractor already has the name all-text",
            id="takes a name of ours",
        ),
        pytest.param(
            PARAGRAPHS.replace('"paragraphs"', '"a/b"'),
            "is not a valid name of an extractor",
            id="names no folder",
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named(code: str, message: str, tmp_path: Path) -> None:
    """The error contains the plugin's file and the cause, and no extractor is registered."""
    file = plugin(tmp_path, code)
    with pytest.raises(catalogue.PluginError) as error:
        catalogue.load_extractors([file])
    assert str(file) in str(error.value)
    assert message in str(error.value)
    assert "paragraphs" not in catalogue.load_extractors()[0]


@pytest.mark.parametrize("code", [PARAGRAPHS, NEW_LINES], ids=["single page", "stream"])
def test_a_plugin_may_import_the_former_name_of_the_package(code: str, tmp_path: Path) -> None:
    """The former name `urltree.evaluation` still works, with a warning that names the plugin."""
    file = plugin(tmp_path, code.replace("urltree_evaluation", "urltree.evaluation"))
    builtin, _ = catalogue.load_extractors()
    message = r"urltree\.evaluation is deprecated: import \w+ from urltree_evaluation instead"
    with pytest.warns(DeprecationWarning, match=message) as warned:
        found, _ = catalogue.load_extractors([file])
    assert len(found.keys() - builtin.keys()) == 1
    assert {warning.filename for warning in warned} == {str(file)}


def test_the_command_shows_the_warning_about_the_former_name(tmp_path: Path) -> None:
    """The command prints the DeprecationWarning, which Python hides by default."""
    former = PARAGRAPHS.replace("urltree_evaluation", "urltree.evaluation")
    file = str(plugin(tmp_path, former))
    code = f"from urltree.cli import main; main(['evaluate', 'extractors', '--plugin', {file!r}])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "paragraphs" in ran.stdout.split()
    assert f"{file}:3: DeprecationWarning: urltree.evaluation is deprecated" in ran.stderr


def test_two_plugins_do_not_share_a_name(tmp_path: Path) -> None:
    """If two plugins register the same name, the error names the second plugin."""
    first = plugin(tmp_path, PARAGRAPHS, "first.py")
    second = plugin(tmp_path, PARAGRAPHS, "second.py")
    with pytest.raises(
        catalogue.PluginError, match=r"second\.py: another extractor already has the name"
    ):
        catalogue.load_extractors([first, second])


def test_a_file_that_is_no_module_is_refused(tmp_path: Path) -> None:
    """The name of a plugin's file must end in .py."""
    with pytest.raises(
        catalogue.PluginError, match=r"not a Python file: its name must end in \.py"
    ):
        catalogue.load_extractors([plugin(tmp_path, PARAGRAPHS, "plugin.txt")])


def test_the_version_is_of_package_and_code(tmp_path: Path) -> None:
    """The version of an extractor changes with its code.

    It begins with the version of the package; without a package, it is only the hash of the code.
    """
    first = catalogue.load_extractors([plugin(tmp_path, PARAGRAPHS)])[0]["paragraphs"]
    before = catalogue.extractor_version(first)
    changed = catalogue.load_extractors([plugin(tmp_path, PARAGRAPHS + "# changed")])[0][
        "paragraphs"
    ]
    assert catalogue.extractor_version(changed) != before
    assert "+" not in before
    lxml = PARAGRAPHS.replace("removed", 'removed", package="lxml')
    wrapped = catalogue.load_extractors([plugin(tmp_path, lxml)])[0]["paragraphs"]
    assert catalogue.extractor_version(wrapped).startswith("6.")


@pytest.mark.parametrize(
    "file", ["document.py", "heuristics/evidence/signals.py", "address/data/query_rules.yaml"]
)
def test_another_algorithm_is_another_version_of_ours_alone(file: str, tmp_path: Path) -> None:
    """A change of any file of `urltree` changes only the versions of our own extractors."""
    shutil.copytree(Path(urltree.__file__).parent, tmp_path / "urltree")
    code = f"""
        from dataclasses import replace
        from pathlib import Path
        from urltree_evaluation.extractors import catalogue, urltree_
        ours = catalogue.registered["urltree-strict"]
        theirs = replace(ours, package="lxml")
        before = [catalogue.extractor_version(each) for each in (ours, theirs)]
        with Path("urltree", "{file}").open("a") as out:
            out.write("# changed")
        catalogue._hash_algorithm.cache_clear()
        after = [catalogue.extractor_version(each) for each in (ours, theirs)]
        print(before[0] == after[0], before[1] == after[1])
    """
    command = [sys.executable, "-c", dedent(code)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert ran.stdout == b"False True\n"


def test_a_function_of_another_module_is_of_the_plugins_version(tmp_path: Path) -> None:
    """Changed code of a plugin changes the version, even if the extractor is a built-in function.

    A built-in function has no source file.
    """
    code = "from urltree_evaluation import single_page\nsingle_page('mine', 'none')(print)\n"
    versions = {
        catalogue.extractor_version(
            catalogue.load_extractors([plugin(tmp_path, code + end)])[0]["mine"]
        )
        for end in ("", "# changed")
    }
    assert len(versions) == 2


def test_the_verb_lists_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    """Each line has an extractor's name, kind, version and options, or why it is not available."""
    code = PARAGRAPHS.replace("all <p>, tags removed", "all [p]")
    said = CliRunner().invoke(command, ["--plugin", str(plugin(tmp_path, code))]).output
    lines = {line.split()[0]: line for line in said.splitlines() if line.strip()}
    assert lines["paragraphs"].split()[1:3] == ["single", "page"]
    assert "all [p]" in lines["paragraphs"]
    assert "stream" in lines["urltree-strict"]
    _, absent = catalogue.load_extractors()
    assert all(f"absent {absent[name]}" in " ".join(lines[name].split()) for name in absent)


def test_the_verb_names_a_plugin_that_cannot_be_used(tmp_path: Path) -> None:
    """The command prints the plugin's error without a traceback, and its exit code is 1."""
    result = CliRunner().invoke(command, ["--plugin", str(plugin(tmp_path, "1 / 0"))])
    assert result.exit_code == 1
    assert "my_tool.py: ZeroDivisionError" in result.output
