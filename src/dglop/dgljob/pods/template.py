# SPDX-License-Identifier: Apache-2.0
"""The Partitioner that nobody wrote: the image of who holds a part, without devices, ports and probes."""

from __future__ import annotations

import copy
from typing import Any

from dglop.dgljob.pods.main import main_name
from dglop.dgljob.pods.sidekick import plain_resources
from dglop.runtime.api import RawPod

__all__ = ("partitioner_template",)

_NOT_ITS_OWN = ("ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resizePolicy")


def partitioner_template(holder: dict[str, Any], main_container: str) -> dict[str, Any]:
    """A template for the Partitioner from the Worker's or Server's: its main container alone.

    Devices such as nvidia.com/gpu are taken out of the resources: partitioning needs none.
    Raises SchemaError where that template is malformed.
    """
    pod = RawPod(copy.deepcopy(holder))
    name = main_name(main_container, pod)
    main = pod.container(name)
    for key in _NOT_ITS_OWN:
        main.data.pop(key, None)
    resources = plain_resources(main)
    main.data.pop("resources", None)
    main.data.pop("resourceClaims", None)
    if resources:
        main.data["resources"] = resources
    pod.spec["containers"] = [main.data]
    pod.spec.pop("resourceClaims", None)
    return pod.data
