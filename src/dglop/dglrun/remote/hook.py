# SPDX-License-Identifier: Apache-2.0
"""Has `dgl.distributed` changed right after the user's program has imported it, and not before."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence

from .. import contract

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ("install", "run_next_site", "site_env")

WATCHED = "dgl.distributed"
_SITE = "sitecustomize"


def site_env(env: Dict[str, str]) -> Dict[str, str]:
    """`env` with the folder of sitecustomize in front of PYTHONPATH."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
    paths = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path]
    return dict(env, PYTHONPATH=os.pathsep.join([folder, *paths]))


def install() -> None:
    """Watch for the import, in a process that is a trainer or a sampler in a pod of its own."""
    if os.environ.get(contract.ENV_HOME_PART):
        sys.meta_path.insert(0, _Finder())


def run_next_site(file: str) -> None:
    """Run the sitecustomize that this one, at `file`, stands before; none is no error."""
    own = os.path.dirname(file)
    paths = [path for path in sys.path if os.path.abspath(path or ".") != os.path.abspath(own)]
    spec = importlib.machinery.PathFinder.find_spec(_SITE, paths)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what the others find, and puts `_Loader` around the loader of the one module."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname != WATCHED:
            return None
        sys.meta_path.remove(self)  # it is imported once, and the others are asked as if this one was not
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        found: Optional[ModuleType] = self._wrapped.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        from .patch import patch  # noqa: PLC0415 - only now there is a DGL to change

        self._wrapped.exec_module(module)
        patch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)  # get_source and the like
