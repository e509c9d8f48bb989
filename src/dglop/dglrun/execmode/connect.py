# SPDX-License-Identifier: Apache-2.0
"""`connect`: the attempt's host files, for the Launcher and into every Worker."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Dict, List, Mapping

from .. import contract
from ..ending import Ending
from ..env import Env
from ..kube.apiserver import ApiServer
from ..kube.session import Pod
from ..kube.websocket import Broken
from ..launch import write_whole
from ..output import Stdout
from .hostfile import Host, read_hosts
from .pushing import Pusher, Spoilt
from .retrying import Patience
from .together import together

__all__ = ("connect",)

_AT_ONCE = 8
_SCRIPTS = (contract.KUBEXEC_NAME,)


def connect(variables: Mapping[str, str]) -> Ending:
    """Raises Refusal. Nothing of the Launcher's own program runs before this has ended."""
    env = Env(variables)
    source, folder = env.text(contract.ENV_EXEC_CONFIG_DIR), env.text(contract.ENV_RUN_DIR, contract.RUN_DIR)
    hosts = read_hosts(source)
    files = _files(source)
    lead = "%s %d %s\n" % (env.text(contract.ENV_POD_IP), hosts[0].port, env.text(contract.ENV_POD_NAME))
    files[contract.LEADFILE_NAME] = lead.encode()
    for name, content in files.items():
        _write(os.path.join(folder, name), content, runs=name in _SCRIPTS)
    patience = Patience(
        time.monotonic() + env.seconds(contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS, 600.0), Stdout().say
    )
    api = ApiServer.of_pod(variables)
    shared = {name: content for name, content in files.items() if name not in _SCRIPTS}
    container = env.maybe(contract.ENV_EXEC_CONTAINER) or ""
    pushers = [Pusher(api, Pod(host.name, container=container)) for host in hosts]
    together([partial(_tell, pusher, folder, shared, patience) for pusher in pushers], _AT_ONCE)
    patience.say("%d Workers have the host files: %s" % (len(hosts), _names(hosts)))
    return Ending(0)


def _tell(pusher: Pusher, folder: str, files: Dict[str, bytes], patience: Patience) -> None:
    patience.keep(partial(_put, pusher, folder, files), pusher.pod.name)


def _put(pusher: Pusher, folder: str, files: Dict[str, bytes]) -> None:
    try:
        pusher.put(folder, files)
    except Spoilt as error:
        raise Broken(str(error)) from error  # to be brought again


def _files(source: str) -> Dict[str, bytes]:
    """What is mounted; the kubelet's own links begin with two dots."""
    found: Dict[str, bytes] = {}
    for name in sorted(os.listdir(source)):
        if not name.startswith(".."):
            with open(os.path.join(source, name), "rb") as file:
                found[name] = file.read()
    return found


def _write(path: str, content: bytes, *, runs: bool) -> None:
    write_whole(path, content.decode("utf-8"))
    os.chmod(path, 0o755 if runs else 0o644)


def _names(hosts: List[Host]) -> str:
    return ", ".join(each.name for each in hosts)
