# SPDX-License-Identifier: Apache-2.0
"""Host files of MPI, in the form that each implementation reads, and what tells which hosts are up."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("MPIImplementation", "discover_script", "hostfile")


class MPIImplementation(StrEnum):
    """An implementation of MPI."""

    OPEN_MPI = "OpenMPI"
    INTEL = "Intel"
    MPICH = "MPICH"


def hostfile(hosts: Sequence[str], slots: int, implementation: MPIImplementation) -> str:
    """One line a host, in their order: `host slots=2` for Open MPI, `host:2` for the others."""
    form = "{} slots={}" if implementation is MPIImplementation.OPEN_MPI else "{}:{}"
    return "".join(f"{form.format(host, slots)}\n" for host in hosts)


def discover_script(path: str) -> str:
    """A shell script that prints those hosts of the file at *path* that are up: that have an address now.

    It asks when it is called, so that nothing need be written to the API server when a pod comes or goes,
    and nobody waits until the kubelet refreshes a mounted ConfigMap.
    """
    return (
        "#!/bin/sh\n"
        f"sed 's/[ :].*//' {path} | while read -r host; do\n"
        '  if getent hosts "$host" >/dev/null; then echo "$host"; fi\n'
        "done\n"
    )
