# SPDX-License-Identifier: Apache-2.0
"""A job that does not fit its kind's type, as one stored under an older schema: Failed, InvalidSpec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.constants import MAX_MESSAGE
from dglop.common.reasons import ConditionType, Reason
from dglop.errors import InvalidError, NotFoundError, SchemaError
from dglop.runtime.api.times import format_time

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.runtime.cache import Cached
    from dglop.runtime.context import Context

__all__ = ("fail_unreadable", "failed_status")


def failed_status(
    wire: dict[str, Any], message: str, now: datetime, *, managed_by: str
) -> dict[str, Any] | None:
    """The status that ends the job, as a merge patch; None where it has ended already or is another's.

    A job is another's where its runPolicy.managedBy is set and not *managed_by*.
    """
    if _manager(wire) not in (None, "", managed_by):
        return None
    status = wire.get("status")
    listed = status.get("conditions") if isinstance(status, dict) else None
    before = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    over = (ConditionType.SUCCEEDED, ConditionType.FAILED)
    if any(each.get("type") in over and each.get("status") == "True" for each in before):
        return None
    moment = format_time(now)
    failed = {
        "type": str(ConditionType.FAILED),
        "status": "True",
        "reason": str(Reason.INVALID_SPEC),
        "message": message[:MAX_MESSAGE],
        "lastTransitionTime": moment,
    }
    kept = [each for each in before if each.get("type") != ConditionType.FAILED]
    return {"conditions": [*kept, failed], "completionTime": moment, "reason": failed["reason"]}


def _manager(wire: dict[str, Any]) -> Any:
    spec = wire.get("spec")
    policy = spec.get("runPolicy") if isinstance(spec, dict) else None
    return policy.get("managedBy") if isinstance(policy, dict) else None


async def fail_unreadable(cached: Cached, error: SchemaError, ctx: Context, *, managed_by: str) -> None:
    """Write the end of the job by a patch, since it has no typed form; its pods are left as they are.

    A job of which the server takes no status either is told in an event alone, and left until it changes.
    """
    patch = failed_status(cached.to_dict(), str(error), ctx.now(), managed_by=managed_by)
    if patch is None:
        return
    body = {"metadata": {"resourceVersion": cached.resource_version}, "status": patch}
    try:
        await ctx.client.patch(cached.resource, cached.name, cached.namespace, body, subresource="status")
    except NotFoundError:
        return
    except SchemaError:
        pass  # it was written; the answer is the job again, which nobody can read
    except InvalidError as refused:
        if ctx.log:
            ctx.log.warning("The end of a job that cannot be read was refused", error=str(refused))
    ctx.event(cached, Reason.INVALID_SPEC, str(error), type="Warning", now=True)
