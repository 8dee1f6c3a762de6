"""Install the tools that check the chart, the image and the workflows into a cache.

`tools.toml` pins their versions. `python deploy/tools/install.py helm kubeconform` installs the
tools that are missing and prints how long each took; without names it lists all tools.

A Go tool is built in a separate module that copies the `replace` lines of the tool's `go.mod`,
because `go install` ignores them: helm-unittest needs its fork of a parser, and Kubernetes replaces
modules by folders of its repository (`./staging/src/…`), which are published as modules, too. Go
compares every download with sum.golang.org.

A tool is made in a temporary folder and then renamed, so that an interrupted run leaves no
half-made tool. A tool that cannot be installed is no error: a message says why, and the tests that
need it are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PINS = Path(__file__).with_name("tools.toml")


class NotInstalledError(Exception):
    """A tool is missing. The message says how to install it, or why that failed."""


@dataclass(frozen=True)
class Tool:
    """A tool of `tools.toml`, installed from its `module`, `python` or `debian` package.

    Attributes:
        name: name of its table in `tools.toml` and of its executable.
        version: exact version; "debian" means the version in the package sources of the machine.
        minutes: duration of an installation on two cores with an empty cache.
        module: Go module, whose `package` is built or whose `files` (globs) are copied.
        staging: version that is used for modules that `module` replaces by folders.
        ldflags: further flags of Go's linker.
        python: package of PyPI with a command that has the tool's name.
        debian: package of Debian that contains `file`.
    """

    name: str
    version: str = "debian"
    minutes: float = 0.5
    module: str = ""
    package: str = ""
    files: Sequence[str] = ()
    staging: str = ""
    ldflags: str = ""
    python: str = ""
    debian: str = ""
    file: str = ""

    @property
    def place(self) -> Path:
        """Path of the tool in the cache, an executable or a folder, whether installed or not."""
        folder = "files" if self.files else "bin"
        return cache_directory() / folder / f"{self.name}-{self.version}"


def cache_directory() -> Path:
    """Return the cache: URLTREE_TOOLS, or `urltree/tools` in the user's cache directory."""
    if named := os.environ.get("URLTREE_TOOLS"):
        return Path(named)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "urltree" / "tools"


def pinned() -> Mapping[str, Tool]:
    """Return all tools of `tools.toml`, by name."""
    return {name: Tool(name, **keys) for name, keys in tomllib.loads(PINS.read_text()).items()}


def find(name: str) -> Path:
    """Return the path of a tool in the cache or, for a tool of Debian, on the machine.

    Raises:
        NotInstalledError: the tool is in neither place.
    """
    tool = pinned()[name]
    if tool.place.exists():
        return tool.place
    if tool.debian and (found := shutil.which(name)):
        return Path(found)
    raise NotInstalledError(f"{name} is not installed: run python deploy/tools/install.py {name}")


def install(name: str) -> Path:
    """Return the path of a tool, and install the tool first if it is missing.

    Raises:
        NotInstalledError: the installation failed.
    """
    try:
        return find(name)
    except NotInstalledError:
        tool = pinned()[name]
    print(f"installing {name} {tool.version}, about {tool.minutes:g} minutes …", flush=True)
    started = time.monotonic()
    tool.place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_directory(), prefix="making-") as scratch:
        if tool.python:
            made = _install_python(tool, Path(scratch))
        elif tool.debian:
            made = _unpack_debian(tool, Path(scratch))
        elif tool.files:
            made = _copy_files(tool, Path(scratch))
        else:
            made = _build_go(tool, Path(scratch))
        made.replace(tool.place)
    print(f"installed {name} in {time.monotonic() - started:.0f} s", flush=True)
    return tool.place


def _build_go(tool: Tool, scratch: Path) -> Path:
    """Build an executable in a module that requires only the tool."""
    (scratch / "go.mod").write_text(_own_module(tool))
    ldflags = f"-s -w {tool.ldflags}"
    package = f"{tool.module}/{tool.package}"
    _run(tool, "go", "build", "-mod=mod", "-ldflags", ldflags, "-o", "made", package, cwd=scratch)
    return scratch / "made"


def _own_module(tool: Tool) -> str:
    """Return a go.mod with the tool's `replace` lines, which Go reads only in the main module."""
    upstream = json.loads(_run(tool, "go", "mod", "edit", "-json", _download(tool)["GoMod"]))
    lines = ["module build", f"go {upstream['Go']}", f"require {tool.module} {tool.version}"]
    for replaced in upstream["Replace"] or ():
        old, new = replaced["Old"], replaced["New"]
        if new["Path"].startswith("./"):
            new = {"Path": old["Path"], "Version": tool.staging}
        lines.append(f"replace {_with_version(old)} => {_with_version(new)}")
    return "\n".join(lines)


def _with_version(module: Mapping[str, str]) -> str:
    return f"{module['Path']} {module.get('Version', '')}"


def _copy_files(tool: Tool, scratch: Path) -> Path:
    """Copy the files that the globs match from Go's module cache into one folder."""
    made = scratch / "made"
    made.mkdir()
    module = Path(_download(tool)["Dir"])
    for file in [file for pattern in tool.files for file in module.glob(pattern)]:
        shutil.copyfile(file, made / file.name)
    return made


def _download(tool: Tool) -> dict[str, str]:
    """Download a module and return the paths of its go.mod and its folder."""
    coordinate = f"{tool.module}@{tool.version}"
    answer: dict[str, str] = json.loads(_run(tool, "go", "mod", "download", "-json", coordinate))
    return answer


def _install_python(tool: Tool, scratch: Path) -> Path:
    """Let uv install the package into an environment in the cache, and link to its command.

    The environment is made in its final place, because its scripts contain the path of their
    interpreter. The link is made last.
    """
    home = cache_directory() / "python" / f"{tool.name}-{tool.version}"
    uv = str(Path(sys.executable).with_name("uv"))
    command = uv if Path(uv).exists() else "uv"
    _run(tool, command, "venv", "--quiet", "--clear", "--python", sys.executable, str(home))
    requirement = f"{tool.python}=={tool.version}"
    _run(tool, command, "pip", "install", "--quiet", "--python", str(home), requirement)
    made = scratch / "made"
    made.symlink_to(home / "bin" / tool.name)
    return made


def _unpack_debian(tool: Tool, scratch: Path) -> Path:
    """Extract an executable from a Debian package, without installing the package."""
    _run(tool, "apt-get", "download", "--quiet", tool.debian, cwd=scratch)
    (package,) = scratch.glob("*.deb")
    _run(tool, "dpkg-deb", "--extract", str(package), "unpacked", cwd=scratch)
    return scratch / "unpacked" / tool.file


def _run(tool: Tool, *command: str, cwd: Path | None = None) -> str:
    """Return the standard output of a command.

    Raises:
        NotInstalledError: the command does not exist, or it fails.
    """
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-buildvcs=false",
        "GOWORK": "off",
    }
    try:
        done = subprocess.run(  # noqa: S603 - the commands of this file
            command, cwd=cwd, env=environment, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        raise NotInstalledError(
            f"{tool.name} cannot be installed: the program {command[0]} is missing on this machine."
        ) from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip() or error.stdout.strip() or "no message").splitlines()[-1]
        raise NotInstalledError(
            f"{tool.name} cannot be installed: {command[0]} {command[1]} failed: {said}"
        ) from None
    return done.stdout


def main(names: Sequence[str]) -> None:
    """Install the named tools, or list all tools with their paths."""
    for name in names:
        try:
            install(name)
        except NotInstalledError as error:
            print(f"{error} Tests that need it are skipped.", flush=True)
    for name in () if names else pinned():
        try:
            print(f"{name}: {find(name)}")
        except NotInstalledError as error:
            print(error)


if __name__ == "__main__":
    main(sys.argv[1:])
