# SPDX-License-Identifier: Apache-2.0
"""Containers that the operator adds beside the user's: what they share of image, security and resources."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from dglop.dgljob.pods.env import as_words
from dglop.dgljob.pods.names import ZIPAPP
from dglop.dgljob.pods.volumes import mount_zipapp
from dglop.runtime.api import RawContainer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("dglrun_container", "plain_resources")

_NEEDS = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "2", "memory": "512Mi"}}


def dglrun_container(
    name: str,
    command: str,
    *,
    main: RawContainer,
    python: str,
    told: Mapping[str, str],
    resources: dict[str, Any] | None = None,
) -> RawContainer:
    """A container that runs `dglrun <command> <told>` in the main container's own image, as its user."""
    data: dict[str, Any] = {
        "name": name,
        "image": main.image,
        "command": [python, ZIPAPP, command, *as_words(told)],
        "resources": resources or copy.deepcopy(_NEEDS),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    for key in ("imagePullPolicy", "securityContext"):
        if key in main.data:
            data[key] = copy.deepcopy(main.data[key])
    container = RawContainer(data)
    mount_zipapp(container)
    return container


def plain_resources(main: RawContainer) -> dict[str, Any] | None:
    """The main container's CPU, memory and local storage without devices; None where it states none.

    An init container may use what its pod has anyway, so this reserves nothing more.
    """
    stated = main.data.get("resources") or {}
    plain = {
        kind: {name: amount for name, amount in (stated.get(kind) or {}).items() if "/" not in name}
        for kind in ("requests", "limits")
    }
    return {kind: amounts for kind, amounts in plain.items() if amounts} or None
