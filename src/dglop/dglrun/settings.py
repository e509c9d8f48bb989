# SPDX-License-Identifier: Apache-2.0
"""What a pod's supervisor is told by its environment."""

from __future__ import annotations

import os
from typing import Mapping, Optional, Tuple

from . import contract
from .duty import Duty, worker_duty
from .env import Env, Identity
from .hub import Patience
from .machine import ipv4
from .remote.duty import apart

__all__ = ("WorkerSettings",)


class WorkerSettings:
    """Read once at the start, so that a mistake is said before anything begins; tokens are read when used."""

    def __init__(self, variables: Mapping[str, str], role: str) -> None:
        """`role` is the command: worker, server, sampler or trainer. Raises Refusal (ConfigInvalid)."""
        env = self._env = Env(variables)
        self.identity: Identity = Identity(env)
        self.duty: Duty = (
            worker_duty(env, self.identity) if role == "worker" else apart(env, self.identity, role)
        )
        self.parts_dir: str = env.text(contract.ENV_PARTS_DIR)
        self.run_dir: str = env.text(contract.ENV_RUN_DIR, contract.RUN_DIR)
        self.ip: str = ipv4(env.text(contract.ENV_POD_IP))
        self.rendezvous: Tuple[str, int] = (
            env.text(contract.ENV_RENDEZVOUS_HOST, "" if self.duty.seat == 0 else None),
            env.integer(contract.ENV_RENDEZVOUS_PORT, contract.RENDEZVOUS_PORT, least=1),
        )
        self.verifies: bool = env.maybe(contract.ENV_VERIFY_PARTS) is not None
        self.latched: Optional[str] = env.maybe(contract.ENV_MANIFEST_HASH)
        self.status_url: Optional[str] = env.maybe(contract.ENV_STATUS_URL)
        self.kill_seconds: float = env.seconds(contract.ENV_KILL_SECONDS, 5.0)
        self.server_exit_seconds: float = env.seconds(contract.ENV_SERVER_EXIT_SECONDS, 30.0)
        heartbeat = env.seconds(contract.ENV_HEARTBEAT_SECONDS, 2.0)
        self.patience: Patience = Patience(
            heartbeat=heartbeat,
            lost=env.seconds(contract.ENV_LOST_SECONDS, 5 * heartbeat),
            verdict=env.seconds(contract.ENV_VERDICT_SECONDS, 5.0),
            rendezvous=env.seconds(contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS, 600.0),
        )
        self.parts_token()  # a wrong path is a mistake to say now

    def path(self, name: str) -> str:
        """A file that the operator and the children know, in the run folder."""
        return os.path.join(self.run_dir, name)

    def parts_token(self) -> Optional[str]:
        return self._env.secret(contract.ENV_PARTS_TOKEN_FILE)

    def status_token(self) -> Optional[str]:
        return self._env.secret(contract.ENV_STATUS_TOKEN_FILE)
