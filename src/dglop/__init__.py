# SPDX-License-Identifier: Apache-2.0
"""The runtime's public names, each loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.errors import (
        AlreadyExistsError,
        AlreadyOwnedError,
        ApiConnectionError,
        ApiError,
        ApiTimeoutError,
        BadRequestError,
        CacheNotSyncedError,
        ConfigError,
        ConflictError,
        DglopError,
        FieldConflictError,
        ForbiddenError,
        GoneError,
        InvalidError,
        LeaderLostError,
        NoKindMatchError,
        NotFoundError,
        SchemaError,
        ServerError,
        StopTimeoutError,
        TerminalError,
        TooManyRequestsError,
        UnauthorizedError,
    )
    from dglop.runtime.api import (
        CEL,
        Column,
        Condition,
        Conversion,
        CustomResource,
        Embedded,
        ListMap,
        ListSet,
        Raw,
        RawPod,
        Resource,
        Rule,
        Scale,
        Spec,
        Status,
        set_controller_reference,
        set_owner_reference,
    )
    from dglop.runtime.cache import CacheOptions, KindOptions, Selection
    from dglop.runtime.client import Client, ClientConfig, FieldValidation, PatchType, retry_on_conflict
    from dglop.runtime.cluster import Cluster
    from dglop.runtime.context import Context
    from dglop.runtime.controller import Controller
    from dglop.runtime.expectations import Expectations
    from dglop.runtime.finalizer import Finalizers, finalize
    from dglop.runtime.manager import Manager
    from dglop.runtime.reconcile import Request, Result
    from dglop.runtime.rights import needs
    from dglop.runtime.settings import Settings
    from dglop.runtime.source import Channel, Owned, Watch
    from dglop.runtime.upsert import Upsert, create_or_patch, create_or_update

__all__ = (
    "CEL",
    "AlreadyExistsError",
    "AlreadyOwnedError",
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "BadRequestError",
    "CacheNotSyncedError",
    "CacheOptions",
    "Channel",
    "Client",
    "ClientConfig",
    "Cluster",
    "Column",
    "Condition",
    "ConfigError",
    "ConflictError",
    "Context",
    "Controller",
    "Conversion",
    "CustomResource",
    "DglopError",
    "Embedded",
    "Expectations",
    "FieldConflictError",
    "FieldValidation",
    "Finalizers",
    "ForbiddenError",
    "GoneError",
    "InvalidError",
    "KindOptions",
    "LeaderLostError",
    "ListMap",
    "ListSet",
    "Manager",
    "NoKindMatchError",
    "NotFoundError",
    "Owned",
    "PatchType",
    "Raw",
    "RawPod",
    "Request",
    "Resource",
    "Result",
    "Rule",
    "Scale",
    "SchemaError",
    "Selection",
    "ServerError",
    "Settings",
    "Spec",
    "Status",
    "StopTimeoutError",
    "TerminalError",
    "TooManyRequestsError",
    "UnauthorizedError",
    "Upsert",
    "Watch",
    "create_or_patch",
    "create_or_update",
    "finalize",
    "needs",
    "retry_on_conflict",
    "set_controller_reference",
    "set_owner_reference",
)

_HOMES = {
    "dglop.errors": (
        "AlreadyExistsError",
        "AlreadyOwnedError",
        "ApiConnectionError",
        "ApiError",
        "ApiTimeoutError",
        "BadRequestError",
        "CacheNotSyncedError",
        "ConfigError",
        "ConflictError",
        "DglopError",
        "FieldConflictError",
        "ForbiddenError",
        "GoneError",
        "InvalidError",
        "LeaderLostError",
        "NoKindMatchError",
        "NotFoundError",
        "SchemaError",
        "ServerError",
        "StopTimeoutError",
        "TerminalError",
        "TooManyRequestsError",
        "UnauthorizedError",
    ),
    "dglop.runtime.api": (
        "CEL",
        "Column",
        "Condition",
        "Conversion",
        "CustomResource",
        "Embedded",
        "ListMap",
        "ListSet",
        "Raw",
        "RawPod",
        "Resource",
        "Rule",
        "Scale",
        "Spec",
        "Status",
        "set_controller_reference",
        "set_owner_reference",
    ),
    "dglop.runtime.client": ("Client", "ClientConfig", "FieldValidation", "PatchType", "retry_on_conflict"),
    "dglop.runtime.cache": ("CacheOptions", "KindOptions", "Selection"),
    "dglop.runtime.cluster": ("Cluster",),
    "dglop.runtime.context": ("Context",),
    "dglop.runtime.controller": ("Controller",),
    "dglop.runtime.expectations": ("Expectations",),
    "dglop.runtime.finalizer": ("Finalizers", "finalize"),
    "dglop.runtime.manager": ("Manager",),
    "dglop.runtime.reconcile": ("Request", "Result"),
    "dglop.runtime.rights": ("needs",),
    "dglop.runtime.settings": ("Settings",),
    "dglop.runtime.source": ("Channel", "Owned", "Watch"),
    "dglop.runtime.upsert": ("Upsert", "create_or_patch", "create_or_update"),
}


def __getattr__(name: str) -> Any:
    # `import dglop.dglrun` in a job's pod must not load the whole runtime, nor fail where it cannot.
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'dglop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
