"""Path patterns: many names below one folder become one pattern with a star."""

from __future__ import annotations

import pytest

from urltree.address.path_patterns import MANY, most_specific_first, path_patterns

SLUGS = [f"the-flood-{number}" for number in range(MANY + 1)]


def test_many_names_below_a_folder_are_one_pattern() -> None:
    """If a folder has more than MANY names, a star replaces them in all paths below the folder.

    Paths in other folders do not change.
    """
    paths = [f"/news/{slug}/" for slug in SLUGS] + ["/news/the-flood-1/print", "/about/us"]
    found = path_patterns(paths)
    assert {found[path] for path in paths} == {"/news/*/", "/news/*/print", "/about/us"}


def test_few_names_are_places_of_their_own() -> None:
    """Up to MANY names below a folder stay separate paths."""
    paths = [f"/news/{slug}" for slug in SLUGS[:MANY]]
    assert path_patterns(paths) == {path: path for path in paths}


def test_programs_are_never_generalised() -> None:
    """Names of programs, such as `view.php`, stay separate: each program has its own parameters."""
    paths = [f"/{name}.php" for name in SLUGS] + [f"/{slug}" for slug in SLUGS]
    found = path_patterns(paths)
    assert [found[path] for path in paths] == [*paths[: len(SLUGS)], *["/*"] * len(SLUGS)]


@pytest.mark.parametrize(
    ("first", "second"),
    [("/a/b/c", "/a/*"), ("/*/*/*", "/a/*"), ("/a/*", "/*/*"), ("/view.php/*", "/*/b")],
)
def test_the_more_specific_pattern_comes_first(first: str, second: str) -> None:
    """Deeper patterns come first, because a star also matches slashes.

    Among patterns of one depth, those with names come before those with stars.
    """
    assert sorted([second, first], key=most_specific_first) == [first, second]
