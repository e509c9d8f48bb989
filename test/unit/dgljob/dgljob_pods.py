# SPDX-License-Identifier: Apache-2.0
"""The pods that a job gets, and short ways to read them."""

from __future__ import annotations

from test.unit.dgljob.dgljob_world import World, make_kind, template

__all__ = ("container", "env", "mounts", "pods", "variables", "volumes", "worker_of", "workers")


def pods(job, *, progress_url="http://progress:8082"):
    """The Partitioner's and a Worker's pod, once the parts are ready."""
    world = World(job, make_kind(progress_url))
    if job.spec.partition_mode == "Skip":
        world.settle()
    else:
        world.partition(manifest="cafe")
    return {name.split("-", 1)[1]: pod["spec"] for name, pod in world.pods.items()}


def container(spec, name="dgl"):
    every = [*spec.get("initContainers", []), *spec["containers"]]
    return next(each for each in every if each["name"] == name)


def variables(found):
    """What the kubelet puts into the environment."""
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in found.get("env", [])}


def env(found):
    """The environment of what the container starts: its own, and what dglrun is told before `--`."""
    words = found["command"][: found["command"].index("--")] if "--" in found["command"] else found["command"]
    return variables(found) | dict(each.split("=", 1) for each in words if "=" in each)


def mounts(found):
    return {each["mountPath"]: each for each in found["volumeMounts"]}


def volumes(spec):
    return {each["name"]: {k: v for k, v in each.items() if k != "name"} for each in spec["volumes"]}


def worker_of(job):
    return pods(job)["worker-0"]


def workers(**main):
    return {"Worker": {"replicas": 2, "template": template(**main)}}
