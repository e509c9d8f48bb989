# SPDX-License-Identifier: Apache-2.0
"""Finds the Manager that a command line names as MODULE:NAME."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dglop.errors import ConfigError
from dglop.runtime.manager import Manager

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ("find_manager",)


def find_manager(place: str) -> Manager:
    """The Manager at MODULE:NAME, looked for in the working directory too.

    NAME may be a function without parameters that makes one. Raises ConfigError, which says what is there
    instead, also for whatever the module raises while it is imported.
    """
    name_of_module, colon, name = place.partition(":")
    _check_words(place, name_of_module, name if colon else "")
    if "" not in sys.path:
        sys.path.insert(0, "")
    module = _imported(name_of_module)
    if not hasattr(module, name):
        raise ConfigError(f"{name_of_module} has no {name}; {_others(module)}")
    found = getattr(module, name)
    made = found if isinstance(found, Manager | type) else _called(place, found)
    if not isinstance(made, Manager):
        what = f"the class {made.__name__}" if isinstance(made, type) else f"a {type(made).__name__}"
        raise ConfigError(f"{place} is no Manager but {what}; {_others(module)}")
    return made


def _check_words(place: str, module: str, name: str) -> None:
    if module.endswith(".py") or "/" in module:
        path = PurePath(module)
        dotted = ".".join(each for each in path.with_suffix("").parts if each not in (".", "..", "/"))
        raise ConfigError(
            f"{module} is a path, and a module is wanted: write {dotted}:{name or 'manager'}, in the folder "
            "from which Python imports it"
        )
    if not all(each.isidentifier() for each in module.split(".")) or not name.isidentifier():
        raise ConfigError(f"{place!r} should be MODULE:NAME, such as website:manager")


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        missing = problem.name or name
        if name == missing or name.startswith(f"{missing}."):
            raise ConfigError(
                f"there is no module {missing} here; run this in the folder that has it, or install it"
            ) from problem
        raise ConfigError(
            f"{name} imports {missing}, which is not installed where this runs ({sys.executable})"
        ) from problem
    except SystemExit as problem:
        raise ConfigError(
            f"{name} ended the program while it was imported; put what runs it behind "
            "if __name__ == '__main__'"
        ) from problem
    except Exception as problem:
        raise ConfigError(f"{name} cannot be imported: {_told(problem)}") from problem


def _called(place: str, found: Any) -> Any:
    """What the function makes; what is none is given back as it is."""
    if not callable(found):
        return found
    try:
        return found()
    except Exception as problem:
        raise ConfigError(f"{place} made no Manager when it was called: {_told(problem)}") from problem


def _told(problem: Exception) -> str:
    """The error in a line, and where in the user's code it came from."""
    said = f"{type(problem).__name__}: {problem}"
    frames = [each for each in traceback.extract_tb(problem.__traceback__) if each.filename != __file__]
    frames = [each for each in frames if "importlib" not in each.filename]
    return f"{said} ({frames[-1].filename}, line {frames[-1].lineno})" if frames else said


def _others(module: ModuleType) -> str:
    """What else there is to name."""
    names = [name for name, each in vars(module).items() if isinstance(each, Manager)]
    if names:
        return f"it has {' and '.join(f'{module.__name__}:{name}' for name in names)}"
    return "it has no Manager at its top: write one there, or name a function that makes one"
