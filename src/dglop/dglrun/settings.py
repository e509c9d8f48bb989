# SPDX-License-Identifier: Apache-2.0
"""What a Worker's supervisor is told by its environment."""

from __future__ import annotations

import os
from typing import Mapping, Optional, Tuple

from . import contract
from .env import Env, Identity
from .hub import Patience
from .launch import Shape
from .machine import ipv4

__all__ = ("WorkerSettings",)


class WorkerSettings:
    """Read once at the start, so that a mistake is said before anything begins; tokens are read when used."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Raises Refusal (ConfigInvalid)."""
        env = self._env = Env(variables)
        self.identity: Identity = Identity(env)
        self.shape: Shape = Shape.from_env(env)
        self.parts_dir: str = env.text(contract.ENV_PARTS_DIR)
        self.run_dir: str = env.text(contract.ENV_RUN_DIR, contract.RUN_DIR)
        self.ip: str = ipv4(env.text(contract.ENV_POD_IP))
        self.rendezvous: Tuple[str, int] = (
            env.text(contract.ENV_RENDEZVOUS_HOST, "" if self.identity.index == 0 else None),
            env.integer(contract.ENV_RENDEZVOUS_PORT, contract.RENDEZVOUS_PORT, least=1),
        )
        self.num_parts: int = env.integer(contract.ENV_NUM_PARTS, self.shape.workers, least=1)
        self.assemble_port: int = env.integer(contract.ENV_ASSEMBLE_PORT, contract.ASSEMBLE_PORT, least=1)
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
