# SPDX-License-Identifier: Apache-2.0
"""Names and paths of launchMode Exec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.dgljob.api import DGLJob

__all__ = (
    "CONFIG_DIR",
    "CONFIG_VOLUME",
    "CONNECT",
    "DISPATCH",
    "KUBECTL_KEY",
    "KUBECTL_VOLUME",
    "OWN_PATHS",
    "account_name",
    "config_name",
)

CONNECT: Final = "dglop-connect"
DISPATCH: Final = "dglop-dispatch"
CONFIG_DIR: Final = "/etc/dglop-exec"
CONFIG_VOLUME: Final = "dglop-exec"
KUBECTL_VOLUME: Final = "dglop-kubectl"
KUBECTL_KEY: Final = "kubectl"
OWN_PATHS: Final = (contract.RUN_DIR, contract.KUBE_DIR, "/opt/dglrun")


def config_name(job: DGLJob, attempt: int) -> str:
    """The ConfigMap of an attempt: another attempt has other addresses, and a ConfigMap of its own."""
    return f"{job.name}-config-{attempt}"


def account_name(job: DGLJob, workers: int) -> str:
    """The Launcher's service account, Role and RoleBinding.

    The number of Workers is in it: a job that was resized while suspended has rights to no pod but its own.
    """
    return f"{job.name}-launcher-{workers}"
