# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a job's spec, in sentences that say what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dglop.common.constants import MAX_NAME
from dglop.common.names import longest_pod_name
from dglop.common.pods import extra_objects, pod_manifest, services
from dglop.common.templates import template_path, template_problems
from dglop.errors import SchemaError

if TYPE_CHECKING:
    from dglop.common.draft import Draft

__all__ = ("other_schedulers", "problems_of", "restart_policy_overrides")

_DNS_1035: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def problems_of(draft: Draft) -> list[str]:
    """All that would keep the job from running; empty where nothing would."""
    # What the kind makes of a spec that is wrong may be wrong too, but is not what to write about.
    shown = (
        _template_problems(draft, is_stated=True)
        or draft.kind.validate(draft.job)
        or _template_problems(draft, is_stated=False)
    )
    return [*_name_problems(draft), *_gang_problems(draft), *shown] or _build_problems(draft)


def restart_policy_overrides(draft: Draft) -> list[str]:
    """Replica types whose template states a restartPolicy, which the replica spec's takes the place of."""
    found = []
    for name, role in draft.roles.items():
        spec: Any = role.spec.template.get("spec")
        stated = spec.get("restartPolicy") if isinstance(spec, dict) else None
        if stated and stated != str(role.policy):
            found.append(name)
    return found


def other_schedulers(draft: Draft) -> list[str]:
    """Replica types whose template names another scheduler than the one that knows the groups."""
    gang = draft.observed.gang
    if gang is None:
        return []
    named = {name: role.spec.template.get("spec") for name, role in draft.roles.items()}
    stated = {name: spec.get("schedulerName") for name, spec in named.items() if isinstance(spec, dict)}
    return [
        name
        for name, scheduler in stated.items()
        if scheduler not in (None, "", gang.scheduler.scheduler_name)
    ]


def _template_problems(draft: Draft, *, is_stated: bool) -> list[str]:
    """Of the templates that are in the job's spec, or of the others, which the kind made."""
    found: list[str] = []
    for name, role in draft.roles.items():
        path = template_path(draft.job.spec, name)
        if (path is not None) is is_stated:
            found += template_problems(role.spec.template, path or f"{name}.template", main=draft.kind.main)
    return found


def _gang_problems(draft: Draft) -> list[str]:
    policy = draft.policy.scheduling_policy
    total = sum(role.wanted for role in draft.roles.values())
    if policy is None or (policy.min_available or 0) <= total:
        return []
    problem = (
        f"runPolicy.schedulingPolicy.minAvailable is {policy.min_available}, but the job has {total} pods: "
        f"give a number from 1 to {total}, or leave it out for all"
    )
    return [problem]


def _name_problems(draft: Draft) -> list[str]:
    name = draft.job.name
    if not _DNS_1035.fullmatch(name):
        problem = (
            f"metadata.name {name!r} must begin with a lower-case letter and consist of lower-case letters, "
            "digits and '-', since the job's Service is named after it"
        )
        return [problem]
    if not draft.roles:
        return ["the spec names no replicas, so there is nothing to run"]
    longest = longest_pod_name(name, {role.name: role.wanted for role in draft.roles.values()})
    if len(longest) > MAX_NAME:
        excess = len(longest) - MAX_NAME
        problem = (
            f"the pod {longest} would have a name of {len(longest)} characters, {MAX_NAME} are allowed: "
            f"make metadata.name at least {excess} shorter"
        )
        return [problem]
    return []


def _build_problems(draft: Draft) -> list[str]:
    """Whether the children can be built at all; each role is tried with its first replica."""
    try:
        services(draft)
        extra_objects(draft)
    except SchemaError as problem:
        return [str(problem)]
    found = []
    for role in draft.roles.values():
        try:
            pod_manifest(draft, role, 0)
        except SchemaError as problem:
            path = template_path(draft.job.spec, role.name) or f"{role.name}.template"
            found.append(f"{path}: {problem}")
    return found
