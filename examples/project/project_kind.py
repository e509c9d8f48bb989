# SPDX-License-Identifier: Apache-2.0
"""The kind Project: what people say of it, what the operator says of it, and how kubectl shows it."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from dglop import CEL, Column, CustomResource, ListMap, Spec, Status
from dglop.runtime.api import Quantity, Time

NAME = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"


class Quota(Spec):
    cpu: Quantity = "4"
    """Cores that all pods together may request."""
    memory: Quantity = "8Gi"
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
    lifetime: timedelta | None = None
    """How long after its creation the project is deleted, such as 720h."""
    expires: Time | None = None
    """When the project is deleted, if its lifetime is not over before."""


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
        """When it ends."""
        lifetime = self.spec.lifetime
        ends = [self.spec.expires, None if lifetime is None else self.created() + lifetime]
        return min((each for each in ends if each is not None), default=None)

    def created(self) -> datetime:
        created = self.metadata.creation_timestamp
        assert created is not None  # the API server sets it
        return created
