# SPDX-License-Identifier: Apache-2.0
"""The launcher itself and our client against a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import AlreadyExistsError, ConflictError, NotFoundError
from dglop.runtime.api import Resource

if TYPE_CHECKING:
    from dglop.runtime.client import Client

_CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")


def _page(namespace: str, **data: str) -> dict[str, Any]:
    metadata = {"name": "page", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def test_objects_are_made_read_changed_and_deleted(client: Client, namespace: str) -> None:
    made = await client.create(_page(namespace, text="one"))
    with pytest.raises(AlreadyExistsError):
        await client.create(_page(namespace, text="one"))
    await client.patch(_CONFIG_MAP, "page", namespace, {"data": {"text": None, "more": "two"}})
    seen = await client.get(_CONFIG_MAP, "page", namespace)
    assert seen["data"] == {"more": "two"}
    with pytest.raises(ConflictError):
        await client.delete(_CONFIG_MAP, "page", namespace, uid="00000000-0000-0000-0000-000000000000")
    await client.delete(_CONFIG_MAP, "page", namespace, uid=made["metadata"]["uid"])
    with pytest.raises(NotFoundError):
        await client.get(_CONFIG_MAP, "page", namespace)


async def test_apply_owns_its_fields_and_leaves_those_of_others(client: Client, namespace: str) -> None:
    await client.apply(_page(namespace, ours="1"), field_manager="one")
    await client.apply(_page(namespace, theirs="2"), field_manager="two")
    await client.apply(_page(namespace), field_manager="one")
    seen = await client.get(_CONFIG_MAP, "page", namespace)
    assert seen["data"] == {"theirs": "2"}
