# SPDX-License-Identifier: Apache-2.0
"""Finalizers, owners, claims and the count of requests, as a reconciler uses them."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING, Any

import pytest

from dglop import Context, CustomResource, Finalizers, Manager, Settings, Spec, Status
from dglop.errors import ConfigError, SchemaError
from dglop.runtime.api import Resource
from dglop.runtime.log import make_log

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.scripted

PATH = "/apis/example.dev/v1/namespaces/default/greetings"
MAPS = "/api/v1/namespaces/default/configmaps"
MAP = Resource("", "v1", "ConfigMap", "configmaps")


class Greeting(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """A kind for tests."""


def greeting(**metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.dev/v1",
        "kind": "Greeting",
        "metadata": {"name": "hello", "namespace": "default", **metadata},
        "spec": {},
    }


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    head = {"name": name, "namespace": "default", **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": head}


def make_manager(api: Any) -> Manager:
    options = Settings(metrics_bind="0", health_bind="0")
    return Manager(options, config=api.config, log=make_log(level="error", stream=io.StringIO()))


async def settled(api: Any, manager: Manager, condition: Callable[[], bool] = lambda: True) -> None:
    await api.until(condition)
    for controller in manager.controllers:
        await controller.queue.wait_idle()


async def test_several_finalizers_come_in_one_write_and_go_one_by_one_as_each_is_cleaned_up(api):
    order: list[str] = []
    fails = True

    async def bucket(obj: Greeting, ctx: Context) -> None:
        order.append("bucket")

    async def account(obj: Greeting, ctx: Context) -> None:
        order.append("account")
        if fails:
            raise RuntimeError("not yet")

    finalizers = Finalizers({"example.dev/bucket": bucket, "example.dev/account": account})

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        await finalizers.run(obj, ctx)

    def held() -> list[str]:
        return api.objects[f"{PATH}/hello"]["metadata"].get("finalizers") or []

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: len(held()) == 2)
        assert held() == ["example.dev/bucket", "example.dev/account"]
        assert len(api.writes()) == 1
        await api.put(f"{PATH}/hello", greeting(finalizers=held(), deletionTimestamp="2026-01-01T00:00:00Z"))
        await api.until(lambda: held() == ["example.dev/account"])
        fails = False
        await settled(api, manager, lambda: not held())
    assert order.count("bucket") == 1
    assert order[-1] == "account"


def test_a_finalizer_without_a_domain_is_refused():
    async def cleanup(obj: Greeting, ctx: Context) -> None:
        """Does nothing."""

    with pytest.raises(ConfigError, match=r"needs a domain, such as example\.dev/bucket"):
        Finalizers({"bucket": cleanup})


async def test_a_reconcilers_requests_are_counted_by_verb_and_those_not_made_are_zero(api):
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        await ctx.apply(config_map("page"), owner=obj)
        obj.status.set("Ready", True, reason="Said", now=ctx.now())

    def count(verb: str) -> float | None:
        labels = {"controller": "greeting", "verb": verb}
        return manager.metrics.registry.get_sample_value("dglop_api_requests_total", labels)

    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await api.put(f"{PATH}/hello", greeting())
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
        assert count("apply") in (1, 2)
        assert count("patch") == 1
        assert [count(verb) for verb in ("get", "list", "create", "delete")] == [0] * 4
    reference = api.objects[f"{MAPS}/page"]["metadata"]["ownerReferences"][0]
    assert (reference["kind"], reference["controller"]) == ("Greeting", True)


async def test_children_in_another_namespace_cannot_be_made_owned(api):
    refused: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        page = config_map("page")
        page["metadata"]["namespace"] = "elsewhere"
        try:
            await ctx.create(page, owner=obj)
        except SchemaError as error:
            refused.set_result(str(error))

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        text = await refused
    assert "is in namespace 'elsewhere', so Greeting hello in 'default' cannot own it" in text


async def test_a_reconciler_claims_what_its_labels_select(api):
    claimed: list[list[str]] = []

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        claimed.append([each.name for each in await ctx.claim(MAP, obj, {"for": "hello"})])

    await api.put(f"{MAPS}/orphan", config_map("orphan", labels={"for": "hello"}))
    await api.put(f"{MAPS}/stranger", config_map("stranger"))
    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile, owns=[MAP])
    async with manager:
        await settled(api, manager, lambda: "ownerReferences" in api.objects[f"{MAPS}/orphan"]["metadata"])
    assert claimed[0] == ["orphan"]
    assert "ownerReferences" not in api.objects[f"{MAPS}/stranger"]["metadata"]
