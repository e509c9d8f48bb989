# SPDX-License-Identifier: Apache-2.0
"""The DGL operator: a Manager with the DGLJob controller and the progress server."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from dglop.common.reconciler import JobReconciler
from dglop.dgljob.api import DGLJob
from dglop.dgljob.features import ServerFeatures
from dglop.dgljob.key import OperatorTokens
from dglop.dgljob.kind import DGLJobKind
from dglop.dgljob.options import KindOptions
from dglop.dgljob.progress import ProgressServer
from dglop.dgljob.progress_store import CachedJobs
from dglop.runtime.manager import Manager
from dglop.runtime.serving import HTTPServer

if TYPE_CHECKING:
    from dglop.dgljob.settings import OperatorSettings

__all__ = ("add_dgljobs", "make_manager", "make_operator")

NAME = "dglop"
_KEY_BYTES = 32


def make_manager(settings: OperatorSettings) -> Manager:
    """A Manager under the operator's name that runs nothing yet."""
    return Manager(settings, name=NAME)


def make_operator(settings: OperatorSettings) -> Manager:
    """A Manager that runs DGLJobs; it does no I/O before it is started."""
    manager = make_manager(settings)
    add_dgljobs(manager, settings)
    return manager


def add_dgljobs(manager: Manager, settings: OperatorSettings) -> None:
    """Have the Manager run DGLJobs and take their progress."""
    tokens = OperatorTokens(settings.leader_election_namespace, lambda: secrets.token_bytes(_KEY_BYTES))
    manager.on_start(tokens.load)
    features = ServerFeatures()
    manager.on_start(features.load)
    options = KindOptions(
        tokens,
        settings.delivery_image,
        settings.progress_url,
        allow_host_path=settings.allow_host_path,
        features=features,
    )
    manager.controller(DGLJob, JobReconciler(DGLJobKind(options)))
    if settings.progress_url:
        server = ProgressServer(CachedJobs(manager), tokens, clock=manager.clock, log=manager.log)
        manager.add(server, needs_leader=False)
        manager.add(
            HTTPServer(settings.progress_bind, server.routes(), name="progress", log=manager.log),
            needs_leader=False,
        )
