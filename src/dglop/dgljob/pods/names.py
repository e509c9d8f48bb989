# SPDX-License-Identifier: Apache-2.0
"""Names and paths that the operator claims inside a job's pods."""

from __future__ import annotations

from dglop.dglrun import contract

__all__ = (
    "ASSEMBLE",
    "DELIVER",
    "FETCH",
    "OUTPUT_DIR",
    "OWN_CONTAINERS",
    "OWN_PATHS",
    "PARTITION",
    "RESERVED_PATHS",
    "SECRET_DIR",
    "SERVE",
    "SHM_DIR",
    "ZIPAPP",
    "ZIPAPP_DIR",
    "Volume",
)

DELIVER = "dglop-deliver"
FETCH = "dglop-fetch"
SERVE = "dglrun-serve"
PARTITION = "dglop-partition"
ASSEMBLE = "dglop-assemble"
OWN_CONTAINERS = (DELIVER, FETCH, SERVE, PARTITION, ASSEMBLE)

ZIPAPP_DIR = "/opt/dglrun"
ZIPAPP = f"{ZIPAPP_DIR}/{contract.ZIPAPP_NAME}"
SECRET_DIR = "/etc/dglrun"  # noqa: S105 - a folder, not a secret
OUTPUT_DIR = "/dgl_workspace/output"
SHM_DIR = "/dev/shm"  # noqa: S108 - a mount point inside the pod
RESERVED_PATHS = (contract.RUN_DIR, ZIPAPP_DIR, SECRET_DIR)
OWN_PATHS = (*RESERVED_PATHS, OUTPUT_DIR, SHM_DIR)


class Volume:
    """Names of the volumes that the operator adds."""

    ZIPAPP = "dglop-zipapp"
    RUN = "dglop-run"
    PARTS = "dglop-parts"
    OUTPUT = "dglop-output"
    SHM = "dglop-shm"
    SECRET = "dglop-tokens"  # noqa: S105 - a volume's name
