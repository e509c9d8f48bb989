# SPDX-License-Identifier: Apache-2.0
"""A request to the in-memory API server and what it asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dglop.testing.memory.refusal import Problem, forbidden_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.testing.memory.resources import ResourceInfo
    from dglop.testing.memory.watching import Watcher

__all__ = ("Answer", "Options", "Request", "Target")


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_watch(self) -> bool:
        return self.method == "GET" and self.query.get("watch") in ("true", "1")

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "application/json").partition(";")[0].strip()

    @property
    def accept(self) -> str:
        return self.headers.get("accept", "")


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer: a body, or a watch whose lines come as things happen."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    watch: Watcher | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What a path means."""

    info: ResourceInfo
    namespace: str | None
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return (self.namespace or "" if self.info.namespaced else "", self.name)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a write."""

    manager: str
    dry_run: bool = False
    validation: str = "Warn"
    force: bool = False

    @classmethod
    def of(cls, request: Request, kind: str) -> Options:
        """Raises RefusalError (422) for an option that is none; *kind* is CreateOptions and so on."""
        query = request.query
        dry_run = query.get("dryRun", "")
        if dry_run not in ("", "All"):
            raise forbidden_option(kind, Problem.unsupported("dryRun", [dry_run], ("All",)))
        agent = request.headers.get("user-agent", "unknown").partition("/")[0]
        return cls(
            manager=query.get("fieldManager") or agent,
            dry_run=bool(dry_run),
            validation=query.get("fieldValidation") or "Warn",
            force=query.get("force") == "true",
        )
