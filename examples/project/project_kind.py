# SPDX-License-Identifier: Apache-2.0
"""The kind Project: what people say of it, what the operator says of it, and how kubectl shows it."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from dglop import CEL, Column, CustomResource, ListMap, Spec, Status
from dglop.runtime.api import Quantity, Time, parse_time

QUANTITY = r"^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$"
DURATION = r"[0-9]{1,6}[smhd]"
DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](Z|[+-][0-9]{2}:[0-9]{2})"
NAME = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

Amount = Annotated[
    Quantity,
    Field(max_length=20),
    CEL(f"string(self).matches('{QUANTITY}')", "must be an amount such as 4, 500m or 8Gi"),
]
Expires = Annotated[
    str,
    Field(max_length=40),
    CEL(
        f"self.matches('^({DURATION}|{DATE}T{CLOCK})$')",
        "must be a time such as 2030-01-31T12:00:00Z, or a duration since creation such as 90d, 12h or 30m",
    ),
]


class Quota(Spec):
    cpu: Amount = "4"
    """Cores that all pods together may request."""
    memory: Amount = "8Gi"
    """Memory that all pods together may request."""
    pods: int = Field(default=20, ge=0, le=1000)
    """How many pods there may be."""


class Member(Spec):
    kind: Literal["User", "Group"] = "User"
    name: str = Field(min_length=1, max_length=253)
    """The name that the API server knows the user or group by."""


class ProjectSpec(Spec):
    quota: Quota = Field(default_factory=Quota)
    """What the project may use at most."""
    members: Annotated[list[Member], ListMap("kind", "name")] = Field(default_factory=list, max_length=100)
    """Who may edit what is in the project."""
    isolated: bool = False
    """Whether pods hear from nobody and reach nobody, unless a further NetworkPolicy lets them."""
    expires: Expires | None = None
    """When the project is deleted: a time, or a duration since its creation."""


class QuotaUse(Spec):
    used: str
    hard: str


class ProjectStatus(Status):
    phase: str = ""
    """Pending, Active, Blocked or Closing."""
    members: int = 0
    """How many users and groups may edit the project."""
    secrets: int = 0
    """How many shared Secrets the project has copies of."""
    quota: dict[str, QuotaUse] = Field(default_factory=dict)
    """What is used of the quota, as last observed."""
    expires_at: Time | None = None
    """When the project will be deleted."""


class Project(
    CustomResource[ProjectSpec, ProjectStatus],
    group="example.dev",
    version="v1",
    scope="Cluster",
    short_names=("proj",),
    rules=(
        CEL(f"self.metadata.name.matches('{NAME}')", "the name must do for a namespace: no dots, at most 63"),
        CEL(
            "!(self.metadata.name in ['default', 'shared']) && !self.metadata.name.startsWith('kube-')",
            "this name is reserved: default, shared and kube-* are no projects",
        ),
    ),
    columns={
        "Phase": ".status.phase",
        "Ready": ".status.conditions[?(@.type=='Ready')].status",
        "Reason": ".status.conditions[?(@.type=='Ready')].reason",
        "Members": Column(".status.members", type="integer", priority=1),
        "Secrets": Column(".status.secrets", type="integer"),
        "CPU": ".status.quota.cpu.used",
        "Memory": ".status.quota.memory.used",
        "Pods": ".status.quota.pods.used",
        "Expires": Column(".status.expiresAt"),
        "Age": ".metadata.creationTimestamp",
    },
):
    """A namespace with a quota, members, shared Secrets and an end."""

    def expiry(self) -> datetime | None:
        """When it ends. Raises ValueError for a day that no calendar has."""
        text = self.spec.expires
        if text is None:
            return None
        if re.fullmatch(DURATION, text):
            return self.created() + timedelta(**{UNITS[text[-1]]: int(text[:-1])})
        return datetime.fromisoformat(text).astimezone(UTC)

    def created(self) -> datetime:
        created = self.metadata.creation_timestamp
        return created if isinstance(created, datetime) else parse_time(str(created))
