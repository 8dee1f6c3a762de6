"""Every package in the image is under a licence that somebody has looked at."""

from __future__ import annotations

import re

from deploy.tools.licences import licence_of, locked

# licences that allow use in an Apache-2.0 project; docs/dependencies.md names those with conditions
KNOWN = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python"),
    *("GPL-2.0-only", "LGPL-2.1-or-later", "MIT", "MPL-1.1", "MPL-2.0", "PSF-2.0", "Zlib"),
    *(
        "Apache Software License",
        "BSD License",
        "MIT License",
        "Python Software Foundation License",
    ),
    *("Mozilla Public License 2.0 (MPL 2.0)", "Repoze Public License"),
    "GNU Library or Lesser General Public License (LGPL)",
}
# packages with a strong copyleft among the licences that a user may choose from
CHOICES = {"tld": "MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later"}


def test_each_package_of_the_image_has_a_known_licence() -> None:
    """A package with an unknown licence fails, and so does a change of a licence to a choice."""
    unknown = {}
    for package in locked():
        licence = licence_of(package)
        if licence is None or licence == CHOICES.get(package):
            continue
        names = re.split(r" AND | OR |, ", licence.replace("(Apache-2.0 OR MIT)", "MIT"))
        if not set(names) <= KNOWN or any(name.startswith("GPL") for name in names):
            unknown[package] = licence
    assert not unknown
