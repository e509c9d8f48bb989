# SPDX-License-Identifier: Apache-2.0
"""What one reflector sees, and how patient it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dglop.runtime.api.resource import Resource
    from dglop.runtime.cache.transform import Transform

__all__ = ("Limits", "Scope")

_META = "g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True)
class Scope:
    """What one reflector sees."""

    resource: Resource
    namespace: str | None = None
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    transform: Transform | None = None
    except_namespaces: tuple[str, ...] = ()
    """Those that other reflectors see, if `namespace` is None."""

    @property
    def path(self) -> str:
        return self.resource.path(self.namespace)

    def covers(self, namespace: str) -> bool:
        """Whether objects of *namespace* are seen here."""
        return self.namespace == namespace or (
            self.namespace is None and namespace not in self.except_namespaces
        )

    def metadata(self) -> Scope:
        """The same objects, without more than their metadata."""
        return replace(self, metadata_only=True)

    def query(self, **more: str) -> dict[str, str]:
        others = [f"metadata.namespace!={each}" for each in self.except_namespaces]
        fields = ",".join(filter(None, (self.fields, *others)))
        pairs = {"labelSelector": self.labels, "fieldSelector": fields, **more}
        return {key: value for key, value in pairs.items() if value}

    def accept(self, kind: str) -> str:
        return f"application/json;as={kind};{_META}" if self.metadata_only else "application/json"


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a watch may last and be silent, in seconds.

    The server ends a watch after a random time of at least `watch`, so that no connection lives for
    ever; the client gives up `grace` seconds after that, should the server not. `initial` is how long
    a server may send nothing before its initial events have ended.
    """

    watch: float = 300.0
    grace: float = 30.0
    initial: float = 60.0
