# SPDX-License-Identifier: Apache-2.0
"""The Partitioner that nobody wrote: the Worker's image without its devices, ports and probes."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from dglop.dgljob.pods.main import main_name
from dglop.dgljob.pods.sidekick import plain_resources
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from dglop.runtime.api import RawContainer

__all__ = ("partitioner_template",)

_WHAT_RUNS = ("image", "command", "args", "workingDir")
_NOT_ITS_OWN = ("ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resizePolicy")


def partitioner_template(
    worker: dict[str, Any], main_container: str, launcher: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A template for the Partitioner from the Worker's: its main container alone.

    With `launcher` it runs the Launcher's image and command.
    Devices such as nvidia.com/gpu are taken out of the resources: partitioning needs none.
    Raises SchemaError where the Worker's template is malformed.
    """
    pod = RawPod(copy.deepcopy(worker))
    name = main_name(main_container, pod)
    main = pod.container(name)
    for key in _NOT_ITS_OWN:
        main.data.pop(key, None)
    resources = plain_resources(main)
    main.data.pop("resources", None)
    main.data.pop("resourceClaims", None)
    if resources:
        main.data["resources"] = resources
    if launcher is not None:
        _take_command(main, RawPod(copy.deepcopy(launcher)), main_container)
    pod.spec["containers"] = [main.data]
    pod.spec.pop("resourceClaims", None)
    return pod.data


def _take_command(main: RawContainer, launcher: RawPod, main_container: str) -> None:
    theirs = launcher.container(main_name(main_container, launcher))
    for key in _WHAT_RUNS:
        main.data.pop(key, None)
        if key in theirs.data:
            main.data[key] = theirs.data[key]
