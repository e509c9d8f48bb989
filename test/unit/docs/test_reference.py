# SPDX-License-Identifier: Apache-2.0
"""The reference that `make docs` builds has every public name, and something to say about each."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

import pytest

from test.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

_DOCS = ROOT / "docs"
_BUILD = """
import sys
from sphinx.application import Sphinx
docs, out = sys.argv[1:]
app = Sphinx(docs, docs, out, out, "dummy", status=None, warningiserror=True)
app.build()
print(*app.env.domaindata["py"]["objects"], sep="\\n")
sys.exit(app.statuscode)
"""


def _settings() -> Any:
    spec = spec_from_file_location("docs_conf", _DOCS / "conf.py")
    assert spec is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SETTINGS = _settings()
MODULES = [module for package in SETTINGS.PACKAGES for module in SETTINGS.modules_of(package)]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_class_and_function_has_a_docstring(module: str) -> None:
    found = import_module(module)
    things = {name: getattr(found, name) for name in found.__all__}
    silent = [
        name
        for name, thing in things.items()
        if (inspect.isclass(thing) or inspect.isroutine(thing))
        and not vars(thing).get("__doc__", thing.__doc__)
    ]
    assert silent == []


def test_the_reference_has_every_module_that_the_kinds_page_names_for_kinds_of_ones_own() -> None:
    table = (_DOCS / "kinds.md").read_text().partition("| module | gives |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if "`" in line]
    named = [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]
    assert {"rules", "rbac", "settings"} <= set(named)
    public = set(import_module("dglop.common").__all__)
    missing = [each for each in named if f"dglop.common.{each}" not in SETTINGS.PACKAGES]
    assert [each for each in missing if not public.issuperset(_public(f"dglop.common.{each}"))] == []


def _public(module: str) -> list[str]:
    return list(import_module(module).__all__)


@pytest.mark.timeout(600)
def test_the_reference_has_every_public_name_and_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _BUILD, str(_DOCS), str(tmp_path)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    shown = set(built.stdout.split())
    names = [*SETTINGS.homes().values()]
    assert {"dglop", "dglop.common", "dglop.errors"} <= {module for module, _ in names}
    assert [f"{module}.{name}" for module, name in names if f"{module}.{name}" not in shown] == []
