# SPDX-License-Identifier: Apache-2.0
"""The kinds of the soak: one of our own, and ConfigMaps, which are served without a watch cache."""

from __future__ import annotations

from dglop import CustomResource, Resource, Spec, Status

__all__ = ("CONFIG_MAP", "NAMESPACE", "Sample", "SampleSpec", "SampleStatus")

CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")
NAMESPACE = "default"


class SampleSpec(Spec):
    value: int = 0
    """What the writer wrote last."""


class SampleStatus(Status):
    seen: int | None = None
    """What the reconciler saw last."""


class Sample(CustomResource[SampleSpec, SampleStatus], group="soak.example.dev", version="v1"):
    """An object of a ConfigMap of the same name, which says the same value."""
