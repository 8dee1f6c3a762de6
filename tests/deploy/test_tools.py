"""The installer of tools reports failures, and leaves no incomplete tool behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from deploy.tools.install import PINS, pinned

ROOT = Path(__file__).parent.parent.parent


def installing(*names: str, cache: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Run the installer with an empty cache and only the programs of one folder."""
    environment = {**os.environ, "URLTREE_TOOLS": str(cache), "PATH": str(path)}
    return subprocess.run(
        [sys.executable, PINS.with_name("install.py"), *names],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_missing_go_or_apt_is_reported(tmp_path: Path) -> None:
    """If go or apt is missing, the installer reports this and ends with 0, so make continues.

    The tests that need the tool are skipped.
    """
    done = installing("kubeconform", "etcd", cache=tmp_path / "cache", path=tmp_path)
    assert done.returncode == 0, done.stderr
    sentence = (
        "cannot be installed: the program {} is missing on this machine. "
        "Tests that need it are skipped."
    )
    assert f"kubeconform {sentence.format('go')}" in done.stdout
    assert f"etcd {sentence.format('apt-get')}" in done.stdout


def test_a_build_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """A failed build leaves no file, and the message has the last line of the failed command."""
    programs, cache = tmp_path / "programs", tmp_path / "cache"
    programs.mkdir()
    (programs / "go").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    (programs / "go").chmod(0o755)
    done = installing("kubeconform", cache=cache, path=programs)
    assert "kubeconform cannot be installed: go mod failed: broken" in done.stdout
    assert [found for found in cache.rglob("*") if not found.is_dir()] == []
    assert list(cache.glob("making-*")) == []


def test_make_installs_every_tool_that_is_pinned() -> None:
    """The Makefile installs exactly the tools that tools.toml pins."""
    recipes = (ROOT / "Makefile").read_text().replace("\\\n", "").replace("$(CHARTS)", "")
    lines = re.findall(r"^CHARTS := (.*)|deploy/tools/install\.py (.*)", recipes, re.MULTILINE)
    assert {name for line in lines for part in line for name in part.split()} == set(pinned())
