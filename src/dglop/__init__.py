# SPDX-License-Identifier: Apache-2.0
"""The runtime's public names, each loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.errors import (
        ApiError,
        ConfigError,
        ConflictError,
        DglopError,
        InvalidError,
        NotFoundError,
        TerminalError,
    )
    from dglop.runtime.api import (
        CEL,
        Column,
        Condition,
        CustomResource,
        ListMap,
        Raw,
        RawPod,
        Resource,
        Spec,
        Status,
    )
    from dglop.runtime.client import Client, ClientConfig
    from dglop.runtime.context import Context
    from dglop.runtime.controller import Controller
    from dglop.runtime.expectations import Expectations
    from dglop.runtime.manager import Manager
    from dglop.runtime.reconcile import Request, Result
    from dglop.runtime.settings import Settings
    from dglop.runtime.source import Channel, Owned, Watch

__all__ = (
    "CEL",
    "ApiError",
    "Channel",
    "Client",
    "ClientConfig",
    "Column",
    "Condition",
    "ConfigError",
    "ConflictError",
    "Context",
    "Controller",
    "CustomResource",
    "DglopError",
    "Expectations",
    "InvalidError",
    "ListMap",
    "Manager",
    "NotFoundError",
    "Owned",
    "Raw",
    "RawPod",
    "Request",
    "Resource",
    "Result",
    "Settings",
    "Spec",
    "Status",
    "TerminalError",
    "Watch",
)

_HOMES = {
    "dglop.errors": (
        *("ApiError", "ConfigError", "ConflictError", "DglopError", "InvalidError", "NotFoundError"),
        "TerminalError",
    ),
    "dglop.runtime.api": (
        *("CEL", "Column", "Condition", "CustomResource", "ListMap", "Raw", "RawPod", "Resource", "Spec"),
        "Status",
    ),
    "dglop.runtime.client": ("Client", "ClientConfig"),
    "dglop.runtime.context": ("Context",),
    "dglop.runtime.controller": ("Controller",),
    "dglop.runtime.expectations": ("Expectations",),
    "dglop.runtime.manager": ("Manager",),
    "dglop.runtime.reconcile": ("Request", "Result"),
    "dglop.runtime.settings": ("Settings",),
    "dglop.runtime.source": ("Channel", "Owned", "Watch"),
}


def __getattr__(name: str) -> Any:
    # `import dglop.dglrun` in a job's pod must not load the whole runtime, nor fail where it cannot.
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'dglop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
