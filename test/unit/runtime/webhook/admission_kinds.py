# SPDX-License-Identifier: Apache-2.0
"""Kinds and requests for the webhooks' tests."""

from typing import Any

from pydantic import Field

from dglop import CustomResource, Spec, Status
from dglop.runtime.webhook.review import AdmissionRequest, GroupVersionKind


class Item(Spec):
    name: str
    size: int = 1


class GreetingSpec(Spec):
    text: str = Field(max_length=20)
    tone: str | None = None
    items: list[Item] = Field(default_factory=list)


class Greeting(CustomResource[GreetingSpec, Status], group="example.dev", version="v1"):
    """A kind for tests."""


def wire(name: str = "hello", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.dev/v1",
        "kind": "Greeting",
        "metadata": {"name": name, "namespace": "default", "managedFields": [{"manager": "kubectl"}]},
        "spec": {"text": "hi", **spec},
    }


def make_request(
    operation: str = "CREATE", obj: dict[str, Any] | None = None, old: dict[str, Any] | None = None
) -> AdmissionRequest:
    return AdmissionRequest(
        uid="uid-1",
        kind=GroupVersionKind("example.dev", "v1", "Greeting"),
        name="hello",
        namespace="default",
        operation=operation,
        object=obj,
        old_object=old,
    )
