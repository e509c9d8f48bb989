# SPDX-License-Identifier: Apache-2.0
"""What the kubelet does where parts are made elsewhere than in a Partitioner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from test.unit.dgljob.dgljob_world import World

__all__ = ("assemble", "begin_init", "end_init", "said", "workers_of")


def said(manifest: str = "abc", **more: Any) -> str:
    """What dglrun says when parts are made."""
    words = {"manifest": manifest, "parts": 2, "bytes": 1000, "nodes": 1797, "edges": 28410, **more}
    return msgspec.json.encode(words).decode()


def workers_of(world: World) -> list[str]:
    return sorted(name for name in world.pods if "-worker-" in name)


def begin_init(world: World, name: str, container: str) -> None:
    """The init container runs; those before it are done."""
    _init(world, name, container, {"running": {"startedAt": world.now.isoformat()}})


def end_init(world: World, name: str, container: str, code: int = 0, message: str = "") -> None:
    """The init container ends; with an error the pod has failed."""
    ended = {"exitCode": code, "message": message, "finishedAt": world.now.isoformat()}
    _init(world, name, container, {"terminated": {"startedAt": world.now.isoformat(), **ended}})
    if code:
        world.pods[name]["status"]["phase"] = "Failed"
    else:
        _start_mains(world, name)


def assemble(world: World, manifest: str = "abc", **more: Any) -> None:
    """All Workers make their parts and say the same of them."""
    world.settle()
    for name in workers_of(world):
        begin_init(world, name, "dglop-assemble")
    world.settle()
    for name in workers_of(world):
        end_init(world, name, "dglop-assemble", 0, said(manifest, **more))
    world.settle()


def _init(world: World, name: str, container: str, state: dict[str, Any]) -> None:
    pod = world.pods[name]
    states: list[dict[str, Any]] = []
    for each in pod["spec"]["initContainers"]:
        own = each["name"] == container
        states.append({"name": each["name"], "state": state if own else {"terminated": {"exitCode": 0}}})
        if own:
            break
    pod["status"] = {"phase": "Pending", "initContainerStatuses": states, "containerStatuses": []}


def _start_mains(world: World, name: str) -> None:
    pod = world.pods[name]
    running = {"running": {"startedAt": world.now.isoformat()}}
    pod["status"]["phase"] = "Running"
    pod["status"]["containerStatuses"] = [
        {"name": each["name"], "state": running, "ready": False} for each in pod["spec"]["containers"]
    ]
