# SPDX-License-Identifier: Apache-2.0
"""A kind and a Manager for tests of controllers against a small API server."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from pydantic import Field

from dglop import CustomResource, Manager, Settings, Spec, Status
from dglop.runtime.log import make_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.clock import Clock

__all__ = ("PATH", "Greeting", "greeting", "make_manager", "settled", "value")

PATH = "/apis/example.dev/v1/namespaces/default/greetings"


class GreetingSpec(Spec):
    text: str = ""
    times: int = 1


class GreetingStatus(Status):
    said: list[str] = Field(default_factory=list)
    mood: str | None = None


class Greeting(CustomResource[GreetingSpec, GreetingStatus], group="example.dev", version="v1"):
    """A kind for tests."""


def greeting(name: str = "hello", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.dev/v1",
        "kind": "Greeting",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"text": "good day"},
        **fields,
    }


def make_manager(api, *, clock: Clock | None = None, **settings: Any) -> Manager:
    options = Settings(metrics_bind="0", health_bind="0", **settings)
    log = make_log(level="error", stream=io.StringIO())
    return Manager(options, name="dglop", config=api.config, log=log, clock=clock)


def value(manager: Manager, name: str, **labels: str) -> float:
    """The sample, which must be there."""
    found = manager.metrics.registry.get_sample_value(name, labels)
    assert found is not None
    return found


async def settled(api, manager: Manager, condition: Callable[[], bool] = lambda: True) -> None:
    await api.until(condition)
    for controller in manager.controllers:
        await controller.queue.wait_idle()
