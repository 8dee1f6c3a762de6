"""The licences of the packages in the image: `make audit-dependencies` prints them as a table.

Known vulnerabilities are looked up by pip-audit, in the same command.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata

from deploy.tools.chart import ROOT

LOCK = ROOT / "deploy" / "image" / "requirements.txt"
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def locked() -> dict[str, str]:
    """Return the version of each package in the image by its name."""
    return dict(_PINNED.findall(LOCK.read_text()))


def licence_of(package: str) -> str | None:
    """Return the licence that an installed package declares, or None if it is not installed.

    The SPDX expression counts first, then the classifiers, then the first line of the free text.
    """
    try:
        found = metadata(package)
    except PackageNotFoundError:
        return None
    classifiers = sorted(
        name.rpartition(" :: ")[2]
        for name in found.get_all("Classifier") or ()
        if name.startswith("License ::")
    )
    (expression, *_) = found.get_all("License-Expression") or [", ".join(classifiers)]
    (text, *_) = found.get_all("License") or [""]
    return expression or text.partition("\n")[0] or "none declared"


def table() -> str:
    """Return a Markdown table of the packages in the image and their licences."""
    rows = [f"| {name} | {licence_of(name) or 'not installed'} |" for name in sorted(locked())]
    return "\n".join(["| package | licence |", "| --- | --- |", *rows])


if __name__ == "__main__":
    print(table())
