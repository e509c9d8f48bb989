# SPDX-License-Identifier: Apache-2.0
"""The signatures that the pages give are those of the code, and none that a reconciler needs is missing."""

from __future__ import annotations

import ast
import enum
import inspect
import re
from typing import TYPE_CHECKING, Any

import pytest

from dglop import Context, Controller, Manager, Owned, Status, Watch
from dglop.common import JobKind
from dglop.runtime import handler, predicate
from test.pages import ROOT, inline_code

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATOR = inline_code(ROOT / "docs" / "operator.md")
KIND = inline_code(ROOT / "docs" / "job-kind.md")
SHOWN: dict[str, Callable[..., Any]] = {
    "manager.controller": Manager.controller,
    "Owned": Owned,
    "Watch": Watch,
    "all_of": predicate.all_of,
    "any_of": predicate.any_of,
    "has_labels": predicate.has_labels,
    "negate": predicate.negate,
    "for_owner": handler.for_owner,
    "mapped": handler.mapped,
    **{f"status.{name}": getattr(Status, name) for name in ("set", "get", "is_true")},
}


def _public(owner: type) -> list[str]:
    return [name for name in vars(owner) if not name.startswith("_")]


def _words(function: Callable[..., Any]) -> list[str]:
    """Parameters as a page writes them: names, with the default where there is one."""
    words = []
    for each in inspect.signature(function).parameters.values():
        default = each.default
        shown = (
            f"{type(default).__name__}.{default.name}" if isinstance(default, enum.Enum) else repr(default)
        )
        star = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        words.append(f"{star}{each.name}" + ("" if default is each.empty else f"={shown}"))
    return [word for word in words if word != "self"]


def _shown(code: str) -> list[str]:
    """The same of a signature on a page."""
    inside = code.partition("(")[2].rpartition(")")[0]
    tree = ast.parse(f"def shown({inside}): ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    given = tree.args
    names = [each.arg for each in [*given.args, *given.kwonlyargs]]
    defaults = [None] * (len(given.args) - len(given.defaults)) + [*given.defaults, *given.kw_defaults]
    words = [
        name if value is None else f"{name}={ast.unparse(value)}"
        for name, value in zip(names, defaults, strict=True)
    ]
    rest = [f"{star}{each.arg}" for star, each in (("*", given.vararg), ("**", given.kwarg)) if each]
    return [*words, *rest]


def _signature(page: list[str], name: str) -> str:
    # What leaves its arguments out is only a mention of it.
    found = [each for each in page if re.match(rf"(await )?{re.escape(name)}\(", each) and "..." not in each]
    assert found, f"{name} is missing"
    return found[0]


@pytest.mark.parametrize("name", SHOWN)
def test_a_signature_on_the_operators_page_is_that_of_the_code(name: str) -> None:
    assert _shown(_signature(OPERATOR, name)) == _words(SHOWN[name])


@pytest.mark.parametrize("name", [name for name in _public(Context) if name != "finish"])
def test_the_operators_page_has_every_method_of_the_context(name: str) -> None:
    method = getattr(Context, name)
    code = _signature(OPERATOR, f"ctx.{name}")
    assert _shown(code) == _words(method)
    assert code.startswith("await ") == inspect.iscoroutinefunction(method)


def test_the_operators_page_explains_every_option_of_a_controller() -> None:
    named = [word.partition("=")[0] for word in _words(Manager.controller) if not word.startswith("**")]
    assert [each for each in [*named[2:], *Controller.option_names] if each not in OPERATOR] == []


@pytest.mark.parametrize("module", [predicate, handler])
def test_the_operators_page_names_every_predicate_and_handler(module: Any) -> None:
    functions = [name for name in module.__all__ if inspect.isfunction(getattr(module, name))]
    missing = [name for name in functions if not any(re.match(rf"{name}\b", each) for each in OPERATOR)]
    assert missing == [name for name in ("priority_of",) if module is handler]


def test_the_kinds_page_has_every_attribute_of_a_kind() -> None:
    attributes = [name for name in _public(JobKind) if not inspect.isfunction(getattr(JobKind, name))]
    assert len(attributes) > 5
    assert [name for name in attributes if name not in KIND] == []


HOOKS = [name for name in _public(JobKind) if inspect.isfunction(getattr(JobKind, name))]


@pytest.mark.parametrize("name", [each for each in HOOKS if each not in ("replicas", "configure")])
def test_the_kinds_page_has_every_hook_with_its_arguments(name: str) -> None:
    assert _shown(_signature(KIND, name)) == _words(getattr(JobKind, name))
