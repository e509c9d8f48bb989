# SPDX-License-Identifier: Apache-2.0
"""What becomes of a status where its reconciler changed the object too, failed or is not done cleaning up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import (
    ApiError,
    ConflictError,
    Context,
    CustomResource,
    FieldConflictError,
    Finalizers,
    NotFoundError,
    Result,
    Spec,
    Status,
    TerminalError,
    finalize,
    retry_on_conflict,
)

if TYPE_CHECKING:
    from dglop import Manager
    from dglop.testing import TestCluster

FINALIZER = "example.dev/lease"


class LeaseSpec(Spec):
    text: str = ""


class Tenant(CustomResource[LeaseSpec, Status], group="example.dev", version="v1"):
    """A kind that ends by itself."""


async def seen(cluster: TestCluster, name: str = "a") -> Tenant:
    found: Tenant = await cluster.client.get(Tenant, name)
    return found


async def make(cluster: TestCluster, **metadata: Any) -> None:
    about = {"name": "a", "finalizers": ["example.dev/keep"], **metadata}
    await cluster.client.create(Tenant(metadata=about, spec=LeaseSpec(text="x")))
    await cluster.settle()


async def test_who_deletes_its_own_object_keeps_status_and_events(cluster: TestCluster, manager: Manager):
    async def reconcile(obj: Tenant, ctx: Context) -> None:
        if obj.is_deleting:
            return
        obj.status.set("Expired", True, reason="Over")
        ctx.event(obj, "Expired", "it is deleted")
        await ctx.delete(Tenant, obj.name, uid=obj.uid)

    manager.controller(Tenant, reconcile)
    await make(cluster)
    found = await seen(cluster)
    assert found.is_deleting
    assert found.status.is_true("Expired")
    assert cluster.events == ["Normal Expired Tenant/a: it is deleted"]


@pytest.mark.parametrize("change", ["patch", "apply"])
async def test_who_changes_its_own_object_keeps_status_and_events(
    cluster: TestCluster, manager: Manager, change: str
):
    calls = []

    async def reconcile(obj: Tenant, ctx: Context) -> None:
        calls.append(obj.generation)
        if obj.spec.text == "y":
            return
        if change == "patch":
            body = {"metadata": {"labels": {"seen": "yes", "old": None}}, "spec": {"text": "y"}}
            await ctx.patch(Tenant, obj.name, body)
        else:
            await ctx.apply(
                Tenant(metadata={"name": "a", "labels": {"seen": "yes"}}, spec=LeaseSpec(text="y"))
            )
        obj.status.set("Changed", True)
        ctx.event(obj, "Changed", "its spec was mended")

    manager.controller(Tenant, reconcile)
    await make(cluster, labels={"old": "yes"} if change == "patch" else None)
    found = await seen(cluster)
    assert (found.labels, found.spec.text) == ({"seen": "yes"}, "y")
    assert found.status.is_true("Changed")
    assert cluster.events == ["Normal Changed Tenant/a: its spec was mended"]


async def test_what_others_changed_meanwhile_is_decided_anew_also_after_a_change_of_ones_own(
    cluster: TestCluster, manager: Manager
):
    decided = []

    async def reconcile(obj: Tenant, ctx: Context) -> None:
        if obj.labels.get("mine") is None:
            await cluster.client.patch(Tenant, obj.name, None, {"metadata": {"labels": {"theirs": "b"}}})
            await ctx.patch(Tenant, obj.name, {"metadata": {"labels": {"mine": "a"}}})
        decided.append(dict(obj.labels))
        obj.status.set("Labelled", True, message=",".join(sorted(obj.labels)))

    manager.controller(Tenant, reconcile)
    await make(cluster)
    await cluster.advance(1)
    assert decided[0] == {}
    condition = (await seen(cluster)).status.get("Labelled")
    assert condition is not None
    assert condition.message == "mine,theirs"


@pytest.mark.parametrize(
    "error", [TerminalError("no"), RuntimeError("no"), ConflictError(409, "Conflict", "")]
)
async def test_a_status_that_is_saved_anyway_is_written_before_the_error_counts(
    cluster: TestCluster, manager: Manager, error: Exception
):
    async def reconcile(obj: Tenant, ctx: Context) -> None:
        obj.status.set("Ready", False, reason="Refused", message="a right is missing")
        ctx.event(obj, "Refused", "a right is missing", type="Warning")
        if obj.spec.text == "x":
            ctx.save_anyway()
        raise error

    manager.controller(Tenant, reconcile)
    await make(cluster)
    found = (await seen(cluster)).status.get("Ready")
    assert found is not None
    assert found.message == "a right is missing"
    assert cluster.events[0].startswith("Warning Refused Tenant/a: a right is missing")
    counted = manager.metrics.registry.get_sample_value
    errors = counted("controller_runtime_reconcile_errors_total", {"controller": "tenant"}) or 0
    assert (errors > 0) is not isinstance(error, ConflictError)


async def test_a_status_is_lost_with_an_error_unless_it_is_to_be_saved(
    cluster: TestCluster, manager: Manager
):
    async def reconcile(obj: Tenant, ctx: Context) -> None:
        obj.status.set("Ready", False)
        ctx.event(obj, "Refused", "never told")
        raise TerminalError("no")

    manager.controller(Tenant, reconcile)
    await make(cluster)
    assert (await seen(cluster)).status.conditions == []
    assert cluster.events == []


async def test_a_clean_up_may_say_not_yet_and_its_status_is_kept(cluster: TestCluster, manager: Manager):
    asked = []

    async def reconcile(obj: Tenant, ctx: Context) -> Result | None:
        async def close() -> Result | None:
            asked.append(ctx.now())
            obj.status.set("Closing", True, message="waits for the service")
            return Result(requeue_after=timedelta(minutes=1)) if len(asked) < 4 else None

        await finalize(obj, ctx, FINALIZER, close)
        return None

    manager.controller(Tenant, reconcile)
    await make(cluster, finalizers=[])
    await cluster.client.delete(Tenant, "a")
    await cluster.settle()
    assert len(asked) in (1, 2)  # its own status calls it once more
    assert (await seen(cluster)).status.is_true("Closing")
    await cluster.advance(timedelta(minutes=5))
    with pytest.raises(NotFoundError):
        await seen(cluster)


async def test_a_clean_up_that_waits_for_an_event_holds_up_those_after_it(
    cluster: TestCluster, manager: Manager
):
    done: list[str] = []

    async def first(obj: Tenant, ctx: Context) -> bool:
        done.append("first")
        return ctx.get(V1ConfigMap, "part") is None

    async def second(obj: Tenant, ctx: Context) -> None:
        done.append("second")

    cleanups = Finalizers({"example.dev/first": first, "example.dev/second": second})

    async def reconcile(obj: Tenant, ctx: Context) -> None:
        if not await cleanups.run(obj, ctx):
            await ctx.apply(V1ConfigMap(metadata=V1ObjectMeta(name="part")), owner=obj)

    manager.controller(Tenant, reconcile, owns=[V1ConfigMap])
    await make(cluster, finalizers=[])
    await cluster.client.delete(Tenant, "a")
    await cluster.settle()
    assert set(done) == {"first"}
    await cluster.client.delete(V1ConfigMap, "part")
    await cluster.settle()
    assert done[-1] == "second"
    with pytest.raises(NotFoundError):
        await seen(cluster)


async def test_an_apply_without_force_is_refused_where_others_own_a_field_and_counts_as_an_error(
    cluster: TestCluster, manager: Manager
):
    errors: list[ApiError] = []

    async def reconcile(obj: Tenant, ctx: Context) -> None:
        page = V1ConfigMap(metadata=V1ObjectMeta(name="page"), data={"text": "ours"})
        try:
            await ctx.apply(page, force=False)
        except FieldConflictError as error:
            errors.append(error)
            raise TerminalError(str(error)) from error

    manager.controller(Tenant, reconcile)
    theirs = V1ConfigMap(metadata=V1ObjectMeta(name="page"), data={"text": "theirs"})
    await cluster.client.with_field_manager("kubectl").create(theirs)
    await make(cluster)
    assert (await cluster.client.get(V1ConfigMap, "page")).data == {"text": "theirs"}
    assert ".data.text" in str(errors[0])
    assert "kubectl" in str(errors[0])


async def test_a_field_of_another_manager_is_not_asked_for_again():
    tries = []

    async def work() -> None:
        tries.append(1)
        raise FieldConflictError(409, "Conflict", "taken")

    with pytest.raises(FieldConflictError):
        await retry_on_conflict(work)
    assert tries == [1]
