# SPDX-License-Identifier: Apache-2.0
"""An operator for projects: namespaces with a quota, members, copies of shared Secrets, and an end."""

import json
from contextlib import suppress
from datetime import datetime, timedelta

from kubernetes.aio.client import (
    V1ClusterRole,
    V1ConfigMap,
    V1Namespace,
    V1NetworkPolicy,
    V1ResourceQuota,
    V1RoleBinding,
    V1Secret,
)
from parts import (
    LEDGER,
    PART,
    PROJECT,
    SHARE,
    SHARED,
    binding_of,
    copy_of,
    exceeded,
    is_as,
    isolation_of,
    namespace_of,
    quota_of,
    use_of,
)
from project_kind import Project

from dglop import (
    AlreadyExistsError,
    Context,
    ForbiddenError,
    InvalidError,
    Manager,
    NotFoundError,
    Owned,
    Request,
    Result,
    Rule,
    Watch,
    finalize,
    needs,
)
from dglop.runtime.api import format_time, is_controlled_by
from dglop.runtime.cache import Cached
from dglop.runtime.handler import mapped

FINALIZER = "example.dev/project"
WARNING = timedelta(days=1)


@needs(
    Rule.of(Project, "patch", "delete"),
    Rule.of(V1Namespace, "create", "patch", "delete"),
    Rule.of(V1ResourceQuota, "create", "patch"),
    Rule.of(V1RoleBinding, "create", "patch"),
    Rule.of(V1ClusterRole, "bind", names=["edit"]),
    Rule.of(V1NetworkPolicy, "create", "patch", "delete"),
    Rule.of(V1Secret, "get", "create", "patch", "delete"),
    Rule.of(V1ConfigMap, "create", namespace=SHARED),
    Rule.of(V1ConfigMap, "patch", names=[LEDGER], namespace=SHARED),
)
async def reconcile(project: Project, ctx: Context) -> Result | None:
    """What the API server refuses is said in the status, and tried again."""
    try:
        return await step(project, ctx)
    except (ForbiddenError, InvalidError, NotFoundError) as error:
        if project.status.phase != "Blocked":
            ctx.event(project, "Refused", str(error), type="Warning")
        say(project, ctx, "Blocked", error.reason or "Refused", str(error))
        ctx.save_anyway()
        raise


async def step(project: Project, ctx: Context) -> Result | None:
    async def close() -> bool:
        if not await is_emptied(project, ctx):
            return False  # the end of the namespace calls again
        await write_ledger(project, ctx)
        return True

    if await finalize(project, ctx, FINALIZER, close):
        return None
    left = await mind_expiry(project, ctx)
    if left == timedelta(0):
        return None
    if await has_namespace(project, ctx):
        await fill(project, ctx)
    return Result(requeue_after=left) if left else None


def say(project: Project, ctx: Context, phase: str, reason: str, message: str = "") -> None:
    project.status.phase = phase
    ready = phase == "Active" and reason == "Active"
    project.status.set("Ready", ready, reason=reason, message=message, now=ctx.now())


async def is_emptied(project: Project, ctx: Context) -> bool:
    """Whether the namespace is gone; the namespace controller empties it, and waits for what is in it."""
    namespace = ctx.cached(V1Namespace, project.name)
    if namespace is None or namespace.controller_uid() != project.uid:
        return True
    if not namespace.is_deleting:
        with suppress(NotFoundError):
            await ctx.delete(V1Namespace, project.name, uid=namespace.uid)
    say(project, ctx, "Closing", "EmptyingNamespace", "waits until the namespace is gone")
    return False


async def write_ledger(project: Project, ctx: Context) -> None:
    """One line for each project; written twice, it is the same line."""
    closed = format_time(project.deletion_timestamp) if project.deletion_timestamp else ""
    line = json.dumps({"project": project.name, "state": "closed", "asked": closed})
    data = {f"{project.name}.{project.uid}": line}
    try:
        await ctx.patch(V1ConfigMap, LEDGER, {"data": data}, namespace=SHARED)
    except NotFoundError:
        metadata = {"name": LEDGER, "namespace": SHARED}
        await ctx.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


async def mind_expiry(project: Project, ctx: Context) -> timedelta | None:
    """How long until something is to be done; nothing is left of one that is being deleted."""
    expiry: datetime | None = project.expiry()
    project.status.expires_at = expiry
    if expiry is None:
        project.status.set("Expiring", False, reason="Never", now=ctx.now())
        return None
    if ctx.now() >= expiry:
        ctx.event(project, "Expired", f"it expired at {format_time(expiry)}, and is deleted")
        await ctx.delete(Project, project.name, uid=project.uid)
        return timedelta(0)
    warn_at: datetime = expiry - min(WARNING, (expiry - project.created()) / 10)
    if ctx.now() < warn_at:
        project.status.set("Expiring", False, reason="NotYet", now=ctx.now())
        return warn_at - ctx.now()
    if not project.status.is_true("Expiring"):
        ctx.event(project, "ExpiresSoon", f"it will be deleted at {format_time(expiry)}", type="Warning")
    project.status.set("Expiring", True, reason="Soon", now=ctx.now())
    return expiry - ctx.now()


async def has_namespace(project: Project, ctx: Context) -> bool:
    """Whether the namespace is there, is the project's and may be filled; nobody else's is touched."""
    namespace = ctx.cached(V1Namespace, project.name)
    if namespace is None:
        try:
            await ctx.create(namespace_of(project), owner=project)
        except AlreadyExistsError:
            say(project, ctx, "Pending", "NamespaceTaken", "somebody made this namespace just now")
            return False
        return True
    if namespace.controller_uid() != project.uid:
        ready = project.status.get("Ready")
        if ready is None or ready.reason != "NamespaceTaken":
            note = f"the namespace {project.name} belongs to somebody else"
            ctx.event(project, "NamespaceTaken", note, type="Warning")
        say(project, ctx, "Blocked", "NamespaceTaken", f"the namespace {project.name} is not this project's")
        return False
    if namespace.is_deleting:
        say(project, ctx, "Pending", "NamespaceTerminating", "made anew when the namespace is gone")
        return False
    if namespace.meta.labels.get(PROJECT) != project.name:
        await ctx.patch(V1Namespace, project.name, {"metadata": {"labels": {PROJECT: project.name}}})
    return True


async def fill(project: Project, ctx: Context) -> None:
    await ctx.apply(quota_of(project), owner=project)
    await ctx.apply(binding_of(project), owner=project)
    if project.spec.isolated:
        await ctx.apply(isolation_of(project), owner=project)
    elif policy := ctx.cached(V1NetworkPolicy, PART, project.name):
        with suppress(NotFoundError):
            await ctx.delete(V1NetworkPolicy, PART, namespace=project.name, uid=policy.uid)
    taken = await copy_secrets(project, ctx)
    use = use_of(ctx.get(V1ResourceQuota, PART, project.name))
    project.status.quota = use
    project.status.members = len(project.spec.members)
    if over := exceeded(use):
        say(project, ctx, "Active", "QuotaExceeded", f"used: {', '.join(over)}")
    elif taken:
        say(project, ctx, "Active", "SecretNameTaken", f"the project has its own: {', '.join(taken)}")
    else:
        if not project.status.is_true("Ready"):
            ctx.event(project, "Active", f"the namespace {project.name} can be used")
        say(project, ctx, "Active", "Active")


async def copy_secrets(project: Project, ctx: Context) -> list[str]:
    """Follow the shared Secrets; the names that somebody else's Secret has in the project."""
    shared = ctx.all_cached(V1Secret, SHARED)
    sources = {each.name: each for each in shared if each.meta.labels.get(SHARE) == "projects"}
    copies = {each.name: each for each in ctx.owned(V1Secret, project)}
    for name in copies.keys() - sources.keys():
        await drop(copies[name], ctx)
    taken = [
        name for name in sorted(sources) if not await follow(project, sources[name], copies.get(name), ctx)
    ]
    project.status.secrets = len(sources) - len(taken)
    return taken


async def follow(project: Project, source: Cached, copy: Cached | None, ctx: Context) -> bool:
    """Have a copy that is like *source*; False where another Secret has the name."""
    wanted = copy_of(source.name, source.to(V1Secret), project)
    if copy is None:
        with suppress(NotFoundError):
            if not is_controlled_by(await ctx.client.get(V1Secret, source.name, project.name), project):
                return False
    else:
        found = copy.to(V1Secret)
        if is_as(found, wanted):
            return True
        if found.type != wanted["type"] or found.immutable:
            await drop(copy, ctx)  # neither can be changed
        elif strange := (found.data or {}).keys() - wanted["data"].keys():
            rest = {"data": dict.fromkeys(strange)}  # apply would leave what somebody else added
            await ctx.patch(V1Secret, copy.name, rest, namespace=copy.namespace)
    await ctx.apply(wanted, owner=project)
    return True


async def drop(copy: Cached, ctx: Context) -> None:
    with suppress(NotFoundError):
        await ctx.delete(V1Secret, copy.name, namespace=copy.namespace, uid=copy.uid)


def register(manager: Manager) -> None:
    """Used by the program below and by its tests."""

    def project_of(namespace: Cached) -> list[Request]:
        return [Request("", namespace.name)]

    def projects_of(secret: Cached) -> list[Request]:
        is_original = secret.namespace == SHARED
        return [Request("", each.name) for each in manager.cache.list(Project)] if is_original else []

    manager.controller(
        Project,
        reconcile,
        owns=[
            Owned(V1ResourceQuota, labels=PROJECT),
            Owned(V1RoleBinding, labels=PROJECT),
            Owned(V1NetworkPolicy, labels=PROJECT),
            Owned(V1Secret, labels=SHARE),
        ],
        watches=[
            Watch(V1Namespace, mapped(project_of), metadata_only=True),
            Watch(V1Secret, mapped(projects_of), labels=SHARE),
        ],
        sees_own_writes=True,
        concurrency=4,
        reconcile_timeout=timedelta(minutes=1),
    )


manager = Manager(name="project")
register(manager)

if __name__ == "__main__":
    manager.main()
