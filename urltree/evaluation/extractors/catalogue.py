"""All extractors that can be had here, why others cannot, and of which version each is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules

import xxhash

from urltree.evaluation.extractors import html_events, html_text
from urltree.evaluation.extractors.registry import Extractor, registered
from urltree.heuristics import NAMES, heuristic
from urltree.tokenizer import TOKENIZER_VERSION
from urltree.url_key import KEY_VERSION

_PACKAGE = __name__.rpartition(".")[0]
_SHARED = (html_events, html_text)  # what several wrappers stand on
_DISTRIBUTIONS = {  # where the name to install is not the name to import
    "magic_html": "magic-html",
    "newspaper": "newspaper4k",
    "readability": "readability-lxml",
}


class PluginError(Exception):
    """A plugin cannot be used; the message names its file."""


def load(plugins: Sequence[Path] = ()) -> tuple[dict[str, Extractor], dict[str, str]]:
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


def version(extractor: Extractor) -> str:
    """Of its package, and of the code around it, as VERSION+HASH.

    The hash is of the module that wraps it and of what ours stand on: another hash, other text.
    """
    source = _source(Path(str(sys.modules[extractor.module].__file__)))
    common = (*(_source(Path(str(module.__file__))) for module in _SHARED), TOKENIZER_VERSION)
    own = (KEY_VERSION, *(heuristic(name).version for name in NAMES))
    parts = (source, common, own if extractor.package == "urltree" else ())
    code = xxhash.xxh3_64_hexdigest(repr(parts).encode())[:8]
    return f"{metadata.version(extractor.package)}+{code}" if extractor.package else code


def _source(file: Path) -> list[bytes]:
    """Of a module; of a package all that lies in it, constants too."""
    files = sorted(file.parent.glob("*.*")) if file.name == "__init__.py" else [file]
    return [each.read_bytes() for each in files]


@cache
def _built_in() -> tuple[dict[str, Extractor], dict[str, str]]:
    absent = {}
    for module in iter_modules([str(Path(__file__).parent)]):
        try:
            import_module(f"{_PACKAGE}.{module.name}")
        except ImportError as error:
            absent[module.name.rstrip("_").replace("_", "-")] = _why(error)
    return dict(sorted(registered.items())), absent


def _why(error: ImportError) -> str:
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return str(error)
    package = error.name.partition(".")[0]
    return f"not installed: pip install {_DISTRIBUTIONS.get(package, package)}"


def _from_plugin(file: Path) -> dict[str, Extractor]:
    """Run a plugin; what it registers is its caller's alone."""
    name = f"plugin_{file.stem}_{xxhash.xxh3_64_hexdigest(bytes(file.resolve()))[:8]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file}: is no Python file")
    before = set(registered)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise PluginError(f"{file}: {type(error).__name__}: {error}") from error
    finally:
        new = {key: registered.pop(key) for key in sorted(registered.keys() - before)}
    if not new:
        raise PluginError(f"{file}: registers no extractor; see urltree.evaluation.single_page")
    return new
