"""Path patterns for query rules: one pattern matches many paths with the same structure.

/news/the-flood     ┐
/news/the-drought   ├ more than MANY names below /news: the pattern is /news/*
/news/…             ┘
/view.php, /list.php  programs are never merged, because each has its own parameters
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

MANY = 10  # names below one folder; if there are more, `*` replaces them

_PROGRAM = re.compile(r"\.(?:php\d?|aspx?|cfm|cgi|dll|do|jspx?|pl)$", re.IGNORECASE)


def path_patterns(paths: Iterable[str]) -> dict[str, str]:
    """Return the pattern of each path.

    Segments are processed from the first to the last. If more than MANY names follow one pattern,
    `*` replaces these names; names of programs stay.

    Args:
        paths: paths of one host; each begins with `/`.
    """
    found: dict[str, str] = {}
    waiting: list[tuple[str, list[list[str]]]] = [("", [path.split("/") for path in set(paths)])]
    depth = 0
    while waiting:
        depth += 1
        deeper: list[tuple[str, list[list[str]]]] = []
        for pattern, below in waiting:
            for name, same in _by_name(below, depth).items():
                extended = f"{pattern}/{name}"
                ended = ["/".join(each) for each in same if len(each) == depth + 1]
                found.update(dict.fromkeys(ended, extended))
                if len(ended) < len(same):
                    deeper.append((extended, [each for each in same if len(each) > depth + 1]))
        waiting = deeper
    return found


def most_specific_first(pattern: str) -> tuple[int, list[bool], str]:
    """Return a sort key that puts the most specific pattern before others that match the same path.

    A star also matches slashes, so patterns with more segments come first. Among patterns with the
    same number of segments, a pattern whose first segments have no star comes first.
    """
    segments = pattern.split("/")
    return -len(segments), ["*" in segment for segment in segments], pattern


def _by_name(paths: list[list[str]], depth: int) -> dict[str, list[list[str]]]:
    names = {path[depth] for path in paths}
    are_many = len({name for name in names if name and not _PROGRAM.search(name)}) > MANY
    grouped: dict[str, list[list[str]]] = defaultdict(list)
    for path in paths:
        name = path[depth]
        stays = not are_many or not name or _PROGRAM.search(name)
        grouped[name if stays else "*"].append(path)
    return grouped
