"""All extractors that can be had here, why others cannot, and of which version each is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import xxhash

import urltree
from urltree.html import blocks, elements, encoding, parser, tokenizer
from urltree_evaluation.extractors import html_events, html_text
from urltree_evaluation.extractors.registry import RegisteredExtractor, registered

_PACKAGE = __name__.rpartition(".")[0]
# what several wrappers stand on
_SHARED = (html_events, html_text, tokenizer, blocks, elements, parser, encoding)
_DISTRIBUTIONS = {  # where the name to install is not the name to import
    "magic_html": "magic-html",
    "newspaper": "newspaper4k",
    "readability": "readability-lxml",
}


class PluginError(Exception):
    """A plugin cannot be used; the message names its file."""


def load_extractors(
    plugins: Sequence[Path] = (),
) -> tuple[dict[str, RegisteredExtractor], dict[str, str]]:
    """All extractors by name, and the modules that have none, with the reason.

    Args:
        plugins: Python files with extractors of your own; see registry.py.

    Raises:
        PluginError: a plugin raises, registers nothing, or uses a name that is taken.
    """
    known, absent = _built_in()
    found = dict(known)
    for file in plugins:
        new = _from_plugin(file)
        taken = sorted(found.keys() & new.keys())
        if taken:
            raise PluginError(f"{file}: two extractors are named {', '.join(taken)}")
        found |= new
    return found, dict(absent)


def extractor_version(extractor: RegisteredExtractor) -> str:
    """Of its package, and of the code around it, as VERSION+HASH.

    The hash is of the module that wraps it and of what it stands on, ours of the whole algorithm:
    where it is the same, so is the text.
    """
    code = xxhash.xxh3_64(_source(_file(sys.modules[extractor.module])))
    code.update(_algorithm() if extractor.package == "urltree" else _shared())
    digest = code.hexdigest()[:8]
    return f"{metadata.version(extractor.package)}+{digest}" if extractor.package else digest


@cache
def _shared() -> bytes:
    """The tokenizer's code, and the parser's version."""
    return _hash([*map(_file, _SHARED)], "lxml")


@cache
def _algorithm() -> bytes:
    """Hash every file of the package `urltree`, so that no module that decides text is left out."""
    package = _file(urltree).parent
    files = [
        file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    ]
    return _hash(files, "lxml", "publicsuffixlist") + _shared()


def _hash(files: Iterable[Path], *packages: str) -> bytes:
    said = xxhash.xxh3_128(" ".join(map(metadata.version, packages)).encode())
    for file in sorted(files):
        said.update(_source(file))
    return said.digest()


def _file(module: ModuleType) -> Path:
    return Path(str(module.__file__))


def _source(file: Path) -> bytes:
    """Of a module; of a package all that lies in it, constants too."""
    files = sorted(file.parent.glob("*.*")) if file.name == "__init__.py" else [file]
    return b"".join(each.read_bytes() for each in files)


@cache
def _built_in() -> tuple[dict[str, RegisteredExtractor], dict[str, str]]:
    absent = {}
    for module in iter_modules([str(Path(__file__).parent)]):
        try:
            import_module(f"{_PACKAGE}.{module.name}")
        except Exception as error:  # noqa: BLE001 - a tool that is broken is as one that is absent
            absent[module.name.rstrip("_").replace("_", "-")] = _why(error)
    return dict(sorted(registered.items())), absent


def _why(error: Exception) -> str:
    if not isinstance(error, ImportError):
        return f"broken: {type(error).__name__}: {error}"
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return str(error)
    package = error.name.partition(".")[0]
    return f"not installed: pip install {_DISTRIBUTIONS.get(package, package)}"


def _from_plugin(file: Path) -> dict[str, RegisteredExtractor]:
    """Run a plugin; what it registers is its caller's alone."""
    name = f"plugin_{file.stem}_{xxhash.xxh3_64_hexdigest(bytes(file.resolve()))[:8]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file}: is no Python file")
    before = set(registered)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{file}: {type(error).__name__}: {error}") from error
    finally:
        new = {key: registered.pop(key) for key in sorted(registered.keys() - before)}
    if not new:
        raise PluginError(f"{file}: registers no extractor; see urltree_evaluation.single_page")
    for package in sorted({each.package for each in new.values() if each.package}):
        if not any(metadata.distributions(name=package)):
            raise PluginError(f"{file}: no package {package} is installed")
    # its version is of its own file, also where it registers a function of another module
    return {key: replace(each, module=name) for key, each in new.items()}
