# SPDX-License-Identifier: Apache-2.0
"""How Sphinx builds the pages, and the reference of every public name: `make docs`."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from sphinx.errors import SphinxError
from sphinx.pycode import ModuleAnalyzer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "dglop"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "dglop"
html_copy_source = False

autodoc_default_options = {"members": True, "undoc-members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
default_role = "code"
# A name is public in its package and in dglop, and either will do; links to folders are looked at by a test.
suppress_warnings = ["ref.python", "myst.xref_missing"]
myst_heading_anchors = 3

PACKAGES = {
    "dglop.errors": "Errors",
    "dglop": "What most programs need",
    "dglop.common": "The base job controller",
    "dglop.common.rules": "CEL for job kinds",
    "dglop.common.templates": "Pod templates of job kinds",
    "dglop.common.rbac": "Rights of job kinds",
    "dglop.common.state": "States of jobs",
    "dglop.common.delivery": "What the operator's image brings",
    "dglop.common.key": "Secrets that need not be stored",
    "dglop.common.ssh": "Keys for ssh",
    "dglop.common.hostfile": "Files of hosts",
    "dglop.runtime": "The runtime",
    "dglop.testing": "Means for tests",
    "dglop.testing.memory": "The API server in memory",
}
"""What is public, by the page that shows it; a package without names of its own stands for its modules.

What has several public names is shown once, under the first of them here.
"""


def modules_of(package: str) -> list[str]:
    """The modules whose public names a page shows."""
    found = import_module(package)
    if getattr(found, "__all__", None):
        return [package]
    names = [f"{package}.{each.name}" for each in iter_modules(found.__path__) if each.name[0] != "_"]
    return [name for name in names if getattr(import_module(name), "__all__", None)]


def homes() -> dict[tuple[str, str], tuple[str, str]]:
    """Each public name, as module and name, with the one under which it is shown."""
    first: dict[int, tuple[str, str]] = {}
    found = {}
    for module in [each for package in PACKAGES for each in modules_of(package)]:
        for name in import_module(module).__all__:
            thing = getattr(import_module(module), name)
            is_one = isinstance(thing, type) or callable(thing)  # equal numbers may be the same object
            found[module, name] = first.setdefault(id(thing), (module, name)) if is_one else (module, name)
    return found


def data_text(module: str, name: str) -> str:
    """What stands behind a public value that is no class or function, wherever it is defined."""
    thing = getattr(import_module(module), name)
    for each in [module, *(other for other in sorted(sys.modules) if other.startswith(f"{module}."))]:
        lines = ModuleAnalyzer.for_module(each).find_attr_docs().get(("", name))
        if lines and getattr(import_module(each), name, None) is thing:
            return plain("\n".join(lines))
    raise SphinxError(f"{module}.{name} has no docstring behind it")


def _section(module: str, names: dict[str, bool]) -> str:
    """One module: what it defines for Sphinx to find, and its values; a False one is shown elsewhere."""
    things = {name: getattr(import_module(module), name) for name in names}
    # Sphinx looks for the docstrings of values only in the module that defines them.
    values = [
        name for name, thing in things.items() if not inspect.isclass(thing) and not inspect.isroutine(thing)
    ]
    hidden = [name for name, is_here in names.items() if not is_here or name in values]
    options = f"   :exclude-members: {', '.join(hidden)}\n" if hidden else ""
    parts = [f".. automodule:: {module}\n{options}"]
    for name in values:
        if names[name]:
            text = data_text(module, name).strip().replace("\n", "\n   ")
            parts.append(f".. py:data:: {name}\n\n   {text}\n")
    return "\n".join(parts)


def write_reference(app: Sphinx) -> None:
    """Write the pages of the reference, which only say what to read where."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    shown = homes()
    for package, title in PACKAGES.items():
        parts = [_heading(f"{title}: {package}", "=")]
        modules = modules_of(package)
        for module in modules:
            names = {name: home == (at, name) for (at, name), home in shown.items() if at == module}
            if any(names.values()):
                heading = _heading(module, "-") if modules != [package] else ""
                parts.append(heading + _section(module, names))
        _write(folder / f"{package}.rst", "\n".join(parts))
    listed = "".join(f"   {package}\n" for package in PACKAGES)
    _write(folder / "index.rst", _heading("Reference", "=") + f".. toctree::\n   :maxdepth: 2\n\n{listed}")


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:  # an untouched page is not read again
        path.write_text(text)


def as_restructured_text(*event: Any) -> None:
    """Turn a docstring into what Sphinx reads, in place."""
    lines: list[str] = event[-1]
    lines[:] = plain("\n".join(lines)).splitlines()


def plain(text: str) -> str:
    """Docstrings are plain text with Markdown's code; the tree of errors is a drawing."""
    if "├──" in text:
        before, _, drawing = text.partition("\n\n")
        text = f"{before}\n\n::\n\n" + "\n".join(f"   {line}" for line in drawing.splitlines())
    return re.sub(r"(?<![`:])`([^`\n]+)`(?!`)", r"``\1``", text)


def setup(app: Sphinx) -> None:
    """Hook it all in."""
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", as_restructured_text, priority=100)
