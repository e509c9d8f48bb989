# SPDX-License-Identifier: Apache-2.0
"""One process of those that make the parts: what it is told, what it does, and what it leaves word of."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Mapping, Optional

from .. import contract
from ..ending import Refusal
from ..env import Env, Identity
from ..launch import write_whole
from ..stats import leave_stats, peak_bytes
from ..transfer import no_space
from .build import Built, build
from .choose import choose_parts, method_of
from .copied import open_spread
from .groups import balance_groups
from .meet import connect_mesh
from .mesh import Mesh, PeerLost
from .plan import Plan
from .vouch import clear, found_by_all, vouched
from .write import write_config, write_part

__all__ = ("ORDERS_ENV", "Orders", "rank_main", "read_report")

ORDERS_ENV = "DGLJOB_ASSEMBLE_ORDERS"


@dataclass(frozen=True)
class Orders:
    """What its supervisor tells a process.

    `report` is the file for its word; `scratch` a folder that all share: then all are in one pod, and whoever
    started them looks after the parts' folder and the manifest.
    """

    rank: int
    addresses: List[str]
    run: str
    report: str
    patience: float
    scratch: Optional[str] = None

    def to_env(self) -> Dict[str, str]:
        return {ORDERS_ENV: json.dumps(asdict(self))}


def rank_main(variables: Mapping[str, str]) -> int:
    """The exit code: 0, that of a refusal, or EXIT_PEER where only another one is gone."""
    orders = Orders(**json.loads(variables[ORDERS_ENV]))
    try:
        report = _work(orders, Env(variables))
    except Refusal as refusal:
        print("dglrun: " + refusal.sentence, file=sys.stderr, flush=True)
        report = {"reason": refusal.reason, "sentence": refusal.sentence}
        write_whole(orders.report, json.dumps(report))
        return refusal.exit_code
    except PeerLost as lost:
        print("dglrun: %s" % lost, file=sys.stderr, flush=True)
        return contract.EXIT_PEER
    write_whole(orders.report, json.dumps(report))
    return 0


def read_report(path: str) -> Dict[str, Any]:
    """What the process left word of; nothing where it was killed or lost a peer."""
    try:
        with open(path, encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError):
        return {}


def _work(orders: Orders, env: Env) -> Dict[str, Any]:
    began = time.monotonic()
    mesh = connect_mesh(
        orders.rank,
        orders.addresses,
        run=orders.run,
        token=None if orders.scratch else env.secret(contract.ENV_PARTS_TOKEN_FILE),
        patience=orders.patience,
    )
    folder = env.text(contract.ENV_PARTS_DIR)
    shared = True
    if orders.scratch is None:
        found = found_by_all(mesh, env, folder)
        if found is not None:
            return found
        shared = clear(mesh, folder)
    work = _Work(mesh, env, folder, began)
    built = work.parts(orders.scratch)
    cut = work.leave(built, shared=shared)
    if orders.scratch is not None:
        return {}
    about = {"job_uid": Identity(env).job_uid, "cut": cut, "method": work.method}
    return vouched(mesh, work.plan, folder, about, shared=shared)


class _Work:
    def __init__(self, mesh: Mesh, env: Env, folder: str, began: float) -> None:
        self._mesh, self._env, self._folder, self._began = mesh, env, folder, began

    def parts(self, scratch: Optional[str]) -> Built:
        chosen = method_of(self._env, spread=scratch is None)
        self.method: str = chosen.name
        source = open_spread(self._env, self._mesh, scratch)
        self.plan: Plan = Plan(source, self._mesh, self._env.integer(contract.ENV_NUM_PARTS, least=1))
        self._say("opened %s" % source.schema.graph)
        groups = balance_groups(self.plan, self._env.maybe(contract.ENV_BALANCE_NTYPES))
        parts = choose_parts(self.plan, chosen, groups)
        self._say("chose the parts by %s" % chosen.name)
        built = build(self.plan, parts)
        self._say("exchanged edges and features")
        return built

    def leave(self, built: Built, *, shared: bool) -> int:
        """Write parts, config and statistics; the number of cut edges, of all parts."""
        cut = sum(part.cut_edges() for part in built.parts)
        try:
            os.makedirs(self._folder, exist_ok=True)
            while built.parts:
                # a part that is written need not be kept until the last one is
                write_part(self.plan, built.parts.pop(), self._folder)
        except OSError as error:
            raise no_space(self._folder, error) from error
        seconds, peak = time.monotonic() - self._began, peak_bytes()
        self._say("wrote its parts")
        told = self._mesh.share({"cut": cut, "seconds": seconds, "peak": peak})
        if self._mesh.rank == 0 or not shared:
            write_config(self.plan, built, self.method, self._folder)
            leave_stats(
                self._folder,
                edge_cut=sum(each["cut"] for each in told),
                seconds=max(each["seconds"] for each in told),
                peak=max(each["peak"] for each in told),
                processes=self._mesh.size,
            )
        return int(sum(each["cut"] for each in told))

    def _say(self, done: str) -> None:
        print(
            "process %d of %d %s: %.1f s, at most %.0f MiB"
            % (
                self._mesh.rank,
                self._mesh.size,
                done,
                time.monotonic() - self._began,
                peak_bytes() / 2**20,
            ),
            flush=True,
        )
