# SPDX-License-Identifier: Apache-2.0
"""The host file of an attempt: `ip port servers name gpus`, a line a Worker, in the order of the parts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import List

from .. import contract
from ..ending import config_refusal

__all__ = ("Host", "read_hosts")


@dataclass(frozen=True)
class Host:
    """One Worker."""

    ip: str
    port: int
    servers: int
    name: str
    gpus: int


def read_hosts(folder: str) -> List[Host]:
    """Raises Refusal (ConfigInvalid) where there is no host file, or a line of it is none."""
    path = os.path.join(folder, contract.HOSTFILE_NAME)
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip()]
        hosts = [
            Host(ip, int(port), int(servers), name, int(gpus)) for ip, port, servers, name, gpus in lines
        ]
    except (OSError, ValueError) as error:
        raise config_refusal(
            "%s cannot be read as `ip port servers name gpus`: %s" % (path, error)
        ) from error
    if not hosts:
        raise config_refusal("%s names no Worker" % path)
    return hosts
