# SPDX-License-Identifier: Apache-2.0
"""Environment variables of a pod's main container, for `configure`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.constants import DEFAULT_CONTAINER_ANNOTATION

if TYPE_CHECKING:
    from dglop.runtime.api.rawcontainer import RawContainer
    from dglop.runtime.api.rawpod import RawPod

__all__ = ("default_env", "main_of", "set_env")


def main_of(pod: RawPod) -> RawContainer | None:
    """The container that decides; None where the pod has no containers at all."""
    named = pod.annotations.get(DEFAULT_CONTAINER_ANNOTATION)
    containers = pod.containers
    return next((each for each in containers if each.name == named), containers[0] if containers else None)


def set_env(pod: RawPod, /, **values: str) -> None:
    """Set variables of the main container; what the user wrote under these names is replaced."""
    _set(pod, values, keep_user=False)


def default_env(pod: RawPod, /, **values: str) -> None:
    """Set variables of the main container that the user has not set."""
    _set(pod, values, keep_user=True)


def _set(pod: RawPod, values: dict[str, str], *, keep_user: bool) -> None:
    main = main_of(pod)
    if main is None:
        return
    for name, value in values.items():
        main.env.set(name, value, keep_user=keep_user)
