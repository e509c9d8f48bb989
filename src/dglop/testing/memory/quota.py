# SPDX-License-Identifier: Apache-2.0
"""Resource quotas, as far as they count objects: CPU and memory are not added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.testing.memory.refusal import RefusalError

if TYPE_CHECKING:
    from dglop.testing.memory.resources import ResourceInfo
    from dglop.testing.memory.store import Store

__all__ = ("check_quotas",)

_FINISHED = ("Succeeded", "Failed")


def check_quotas(store: Store, info: ResourceInfo, wire: dict[str, Any]) -> None:
    """Refuse one more object than a quota of its namespace allows. Raises RefusalError (403)."""
    if not info.namespaced:
        return
    metadata = wire["metadata"]
    for quota in store.all("resourcequotas", metadata["namespace"]):
        hard = (quota.wire.get("status") or {}).get("hard") or {}
        for name in (info.plural, f"count/{info.group_resource}"):
            used = _count(store, info.storage, metadata["namespace"])
            if name in hard and used + 1 > int(hard[name]):
                what = f"requested: {name}=1, used: {name}={used}, limited: {name}={hard[name]}"
                raise RefusalError(
                    403,
                    "Forbidden",
                    f'{info.group_resource} "{metadata["name"]}" is forbidden: '
                    f"exceeded quota: {quota.wire['metadata']['name']}, {what}",
                    {"name": metadata["name"], "kind": info.plural},
                )


def _count(store: Store, storage: str, namespace: str) -> int:
    """How many count: finished pods take no room."""
    found = store.all(storage, namespace)
    if storage != "pods":
        return len(found)
    return sum((each.wire.get("status") or {}).get("phase") not in _FINISHED for each in found)
