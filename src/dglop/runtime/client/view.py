# SPDX-License-Identifier: Apache-2.0
"""How the calls of one view of a client differ from the plain ones; pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from dglop.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dglop.runtime.api.resource import Resource
    from dglop.runtime.client.transport import Call

    Send = Callable[[Call], Awaitable[bytes]]
    Interceptor = Callable[[Call, Send], Awaitable[bytes]]

__all__ = ("FieldValidation", "View")

DEFAULT_MANAGER = "dglop"


class FieldValidation(StrEnum):
    """What the API server does about fields that it does not know or that come twice."""

    STRICT = "Strict"
    """It refuses the request."""
    WARN = "Warn"
    """It drops them and warns; the server's own default."""
    IGNORE = "Ignore"
    """It drops them."""


@dataclass(frozen=True, slots=True)
class View:
    """What a client adds to its calls, and which of them it refuses."""

    namespace: str
    is_bound: bool = False
    """Whether `namespace` is the only one."""
    instead: str = "use the client that it was made from"
    """What the error of a call to another namespace advises."""
    dry_run: bool = False
    field_manager: str | None = None
    validation: FieldValidation | None = None
    caller: str = ""
    """The controller that the calls are counted for."""
    interceptors: tuple[Interceptor, ...] = ()
    on_warning: Callable[[str], object] | None = None
    """Who hears of the warnings in the answers to its calls."""

    def place(self, resource: Resource, namespace: str | None) -> str:
        """The namespace that a call about one object goes to.

        Raises ConfigError where the view is bound to another.
        """
        if self.is_bound and resource.namespaced and namespace not in (None, "", self.namespace):
            raise ConfigError(
                f"this client is bound to namespace {self.namespace!r} and was asked for "
                f"{resource.group_resource} in {namespace!r}; {self.instead}"
            )
        return namespace or self.namespace

    def reach(self, resource: Resource, namespace: str | None) -> str | None:
        """The namespace that a list covers; None is all of them. Raises ConfigError as `place`."""
        if self.is_bound and resource.namespaced:
            return self.place(resource, namespace)
        return namespace

    def writes(
        self, *, manager: str | None = None, is_typed: bool = False, dry_run: bool = False
    ) -> dict[str, str]:
        """The query of a write.

        What is written as a type is checked strictly: a field that the server does not know would be
        dropped without a word. Wire dicts often hold what users wrote, where its own default stands.
        """
        validation = self.validation or (FieldValidation.STRICT if is_typed else None)
        pairs = (
            ("dryRun", "All" if self.dry_run or dry_run else None),
            ("fieldManager", manager or self.field_manager),
            ("fieldValidation", validation),
        )
        return {key: str(value) for key, value in pairs if value}
