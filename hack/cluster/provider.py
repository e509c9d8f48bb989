# SPDX-License-Identifier: Apache-2.0
"""Where a cluster may come from, and which of these is taken here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hack.cluster.commands import succeeds
from hack.cluster.errors import ClusterError
from hack.cluster.external import External
from hack.cluster.kind import Kind
from hack.cluster.local import Local
from hack.cluster.paths import paths_from
from hack.cluster.settings import settings_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hack.cluster.report import Report
    from hack.cluster.status import Status

__all__ = ("Provider", "choose", "choose_provider")


class Provider(Protocol):
    """A cluster that can be had, used and given back. Each method raises ClusterError with a sentence."""

    @property
    def name(self) -> str:
        """`external`, `kind` or `local`."""

    def up(self, report: Report) -> None:
        """Have the cluster ready; what is there and well is left as it is."""

    def down(self, report: Report) -> None:
        """End what `up` began, and tell what that was; no cluster is no error."""

    def status(self) -> Status:
        """How it stands, found out without changing anything."""

    def kubeconfig(self) -> Path:
        """The file that clients use."""

    def kubectl(self) -> Path:
        """The program kubectl, of a version that fits."""

    def load(self, archive: Path) -> str:
        """Make the image of a docker-archive or OCI archive known to the nodes; the name pods use for it."""

    def logs(self) -> str:
        """The last lines of every part, and where the rest is."""


@dataclass(frozen=True)
class Choice:
    """A provider's name and why it was taken."""

    name: str
    because: str


def choose(environ: Mapping[str, str], *, docker: bool) -> Choice:
    """The provider for these circumstances; DGLOP_PROVIDER overrules them."""
    named = environ.get("DGLOP_PROVIDER")
    if named:
        return Choice(named, "DGLOP_PROVIDER says so")
    if environ.get("DGLOP_KUBECONFIG"):
        return Choice("external", "DGLOP_KUBECONFIG is set")
    if docker:
        return Choice("kind", "a Docker engine answers")
    return Choice("local", "no Docker engine answers")


def choose_provider(environ: Mapping[str, str] | None = None) -> Provider:
    """The provider for this machine and environment."""
    given = os.environ if environ is None else environ
    choice = choose(given, docker=succeeds(["docker", "info"]))
    paths = paths_from(given)
    if choice.name == "external":
        return External(given)
    if choice.name == "kind":
        return Kind(paths, settings_from(given))
    if choice.name == "local":
        return Local(paths, settings_from(given))
    raise ClusterError(f"DGLOP_PROVIDER is {choice.name!r}: use external, kind or local")
