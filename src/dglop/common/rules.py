# SPDX-License-Identifier: Apache-2.0
"""CEL rules that job kinds share: names, who manages a job, and what stays as it is while the job runs."""

from __future__ import annotations

from typing import Final

from dglop.common.constants import MANAGED_BY_MULTIKUEUE, MAX_NAME
from dglop.runtime.api.markers import CEL

__all__ = (
    "IS_SUSPENDED",
    "exactly_one",
    "fixed_fields",
    "fixed_replicas",
    "managed_by",
    "name_rules",
    "only_roles",
)

IS_SUSPENDED: Final = "oldSelf.runPolicy.suspend || self.runPolicy.suspend"
"""In a rule of the spec: the change is made while the job is suspended, or suspends or resumes it."""


def name_rules(suffix: str) -> tuple[CEL, CEL]:
    """What the name must be, where *suffix* is the longest that follows it in a pod's name."""
    most = MAX_NAME - len(suffix)
    return (
        CEL(
            f"size(self.metadata.name) <= {most}",
            f"the name is longer than {most} characters; with {suffix} it must fit into {MAX_NAME}",
        ),
        CEL(
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "the name must start with a letter and have only lower-case letters, digits and -",
        ),
    )


def managed_by(own: str) -> CEL:
    """In a RunPolicy: who may be named in managedBy."""
    return CEL(
        f"!has(self.managedBy) || self.managedBy in ['{own}', '{MANAGED_BY_MULTIKUEUE}']",
        f"managedBy may be {own} or {MANAGED_BY_MULTIKUEUE}",
    )


def only_roles(field: str, *roles: str) -> CEL:
    """In a spec: which replica types there are."""
    listed = ", ".join(f"'{role}'" for role in roles)
    return CEL(f"self.{field}.all(k, k in [{listed}])", f"{field} may have only {', '.join(roles)}")


def exactly_one(field: str, role: str, *, optional: bool = False) -> CEL:
    """In a spec: a replica type that has one replica, and is there unless it is *optional*."""
    one = f"self.{field}['{role}'].replicas == 1"
    if optional:
        return CEL(f"!('{role}' in self.{field}) || {one}", f"{field}.{role} has one replica")
    return CEL(f"'{role}' in self.{field} && {one}", f"{field}.{role} is needed and has one replica")


def fixed_replicas(field: str) -> CEL:
    """In a spec: the size of a job that is not suspended stays as it is."""
    return CEL(
        f"{IS_SUSPENDED} || (self.{field}.all(k, k in oldSelf.{field} && "
        f"self.{field}[k].replicas == oldSelf.{field}[k].replicas) && "
        f"oldSelf.{field}.all(k, k in self.{field}))",
        "replica types and their replicas can be changed only while the job is suspended",
    )


def fixed_fields(*names: str) -> CEL:
    """In a spec: fields, all of them with defaults, that can be changed only under suspension."""
    same = " && ".join(f"self.{each} == oldSelf.{each}" for each in names)
    verb = "can be changed only while the job is suspended"
    return CEL(f"{IS_SUSPENDED} || ({same})", f"{', '.join(names)} {verb}")
