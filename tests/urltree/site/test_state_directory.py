"""The state directory: commits are complete, one process writes, and errors name the file."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from urltree.site.state_directory import SiteRecords, StateDirectory, StateError

ID = bytes(16)
STORED = SiteRecords({ID: b"row"}, {ID: b"seen"}, {ID: b"page"})
MAGIC = b"urltree\0\x01"  # the last byte is the version; compressed records follow
NAME = b"\x0b\0example.org"
ROW = b"\0" + ID + b"\x03\0\0\0row"
SEEN = b"\x01" + ID + b"\x04\0\0\0seen"
PAGE = b"\x02" + ID + b"\x04\0\0\0page"


def test_a_domain_comes_back_as_it_was(tmp_path: Path) -> None:
    """A site is loaded unchanged in the run that wrote it and, after a commit, in the next run."""
    state = StateDirectory(tmp_path)
    state.spill("example.org", STORED)
    assert state.load("example.org") == STORED
    state.pages = 7
    state.commit()
    state.close()
    again = StateDirectory(tmp_path)
    assert (again.load("example.org"), again.pages) == (STORED, 7)
    assert again.load("new.example") == SiteRecords({}, {}, {})


def test_a_state_names_its_domains(tmp_path: Path) -> None:
    """`domains` returns the domains that were committed, and none that were only spilled."""
    state = StateDirectory(tmp_path)
    for domain in ("example.org", "other.example"):
        state.spill(domain, STORED)
    assert list(state.domains()) == []
    state.commit()
    assert sorted(state.domains()) == ["example.org", "other.example"]
    assert list(StateDirectory(None).domains()) == []


def test_stored_bytes_are_pinned(tmp_path: Path) -> None:
    """The name, version and content of a file are pinned, because state outlives every release."""
    with_domain(tmp_path)
    (file,) = tmp_path.glob("domains/*/*")
    assert file.parts[-2:] == ("88", "888e39ab83519d48246e82983e3f2626.zst")
    content = file.read_bytes()
    assert content.startswith(MAGIC)
    assert zstandard.decompress(content.removeprefix(MAGIC)) == NAME + ROW + SEEN + PAGE


def test_what_is_not_committed_is_gone(tmp_path: Path) -> None:
    """The run after a killed run finds the last committed state, and deletes temporary files."""
    killed = StateDirectory(tmp_path)
    killed.spill("example.org", STORED)
    killed._lock = None  # a killed process holds no lock
    assert StateDirectory(tmp_path).load("example.org") == SiteRecords({}, {}, {})
    assert list(tmp_path.glob("spill-*")) == []


def test_two_processes_cannot_write_one_state(tmp_path: Path) -> None:
    """A second process that opens the same state directory gets StateError."""
    first = StateDirectory(tmp_path)
    with pytest.raises(StateError, match="another process uses it"):
        StateDirectory(tmp_path)
    first.close()
    StateDirectory(tmp_path).close()


def test_without_a_directory_nothing_stays() -> None:
    """Without a directory sites are written to a temporary folder, which `close` removes."""
    state = StateDirectory(None)
    state.spill("example.org", STORED)
    assert state.load("example.org") == STORED
    folder = state._spill
    state.commit()
    state.close()
    assert folder is not None
    assert not folder.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[:-3],
        lambda content: content[:20] + bytes([content[20] ^ 1]) + content[21:],
        lambda content: content[:8] + b"\x09" + content[9:],
    ],
    ids=["empty", "cut short", "a bit flipped", "another version"],
)
def test_a_damaged_file_is_named(tmp_path: Path, damage: object) -> None:
    """The error for a damaged file contains the file's name, whatever the damage is."""
    with_domain(tmp_path)
    (file,) = tmp_path.glob("domains/*/*")
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    with pytest.raises(StateError, match=file.name):
        StateDirectory(tmp_path).load("example.org")


@pytest.mark.parametrize("content", ["", "[]", '{"version": 1}', '{"version": 9, "pages": 1}'])
def test_a_damaged_count_is_named(tmp_path: Path, content: str) -> None:
    """The error for a damaged page count names `state.json`."""
    (tmp_path / "state.json").write_text(content)
    with pytest.raises(StateError, match=r"state\.json"):
        StateDirectory(tmp_path)


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    """A path that is a file and not a directory is refused, and the error names it."""
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="file"):
        StateDirectory(tmp_path / "file")


def with_domain(directory: Path) -> None:
    """Make a state directory with one site in it."""
    state = StateDirectory(directory)
    state.spill("example.org", STORED)
    state.commit()
    state.close()
