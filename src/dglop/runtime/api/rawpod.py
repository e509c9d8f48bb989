# SPDX-License-Identifier: Apache-2.0
"""RawPod: a thin typed view over the JSON of a pod or pod template, which stays what the user wrote."""

from __future__ import annotations

import copy
from typing import Any, Self, cast

from dglop.errors import SchemaError
from dglop.runtime.api.rawcontainer import RawContainer
from dglop.runtime.api.rawvalues import as_text, set_default, texts_of

__all__ = ("RawPod",)


class RawPod:
    """A pod or pod template as a dict, with names for the parts that controllers touch.

    Changes go through to `data`. Fields it has no name for are left alone.
    Raises SchemaError where a part is not of the kind it must be, such as containers that are no list.
    """

    __slots__ = ("data",)

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        self.data: dict[str, Any] = {} if data is None else data

    def copy(self) -> Self:
        return type(self)(copy.deepcopy(self.data))

    @property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = set_default(self.data, "metadata", dict, "metadata")
        return found

    @property
    def labels(self) -> dict[str, Any]:
        found: dict[str, Any] = set_default(self.metadata, "labels", dict, "metadata.labels")
        return found

    @property
    def annotations(self) -> dict[str, Any]:
        found: dict[str, Any] = set_default(self.metadata, "annotations", dict, "metadata.annotations")
        return found

    @property
    def spec(self) -> dict[str, Any]:
        found: dict[str, Any] = set_default(self.data, "spec", dict, "spec")
        return found

    @property
    def containers(self) -> list[RawContainer]:
        return self._containers("containers")

    @property
    def init_containers(self) -> list[RawContainer]:
        return self._containers("initContainers")

    @property
    def volumes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = set_default(self.spec, "volumes", list, "spec.volumes")
        return found

    def container(self, which: str | int = 0) -> RawContainer:
        """The container of this name or index.

        Raises SchemaError, which lists the names there are.
        """
        found = self.containers
        if isinstance(which, int):
            if 0 <= which < len(found):
                return found[which]
            raise SchemaError(f"spec.containers has {len(found)} entries, so none has the index {which}")
        for each in found:
            if each.name == which:
                return each
        names = ", ".join(each.name or "(no name)" for each in found) or "none"
        raise SchemaError(f"spec.containers has no container named {which!r}; there are: {names}")

    def add_init_container(self, container: dict[str, Any], *, first: bool = False) -> RawContainer:
        """Adds an init container at the end, or before all others; one of its name is replaced."""
        listed = cast("list[dict[str, Any]]", set_default(self.spec, "initContainers", list, "spec"))
        kept = [each for each in listed if each.get("name") != container.get("name")]
        listed[:] = [container, *kept] if first else [*kept, container]
        return RawContainer(container)

    def volume(self, name: str, source: dict[str, Any]) -> None:
        """Adds the volume if there is none of this name: a volume of the user's stays."""
        if not self.has_volume(name):
            self.volumes.append({"name": name, **source})

    def has_volume(self, name: str) -> bool:
        return any(each.get("name") == name for each in self.volumes)

    def has_mount(self, path: str) -> bool:
        """Whether a container (not an init container) mounts something at exactly this path."""
        return any(each.has_mount(path) for each in self.containers)

    def normalised(self) -> RawPod:
        """A deep copy in which what YAML read as a number, but the API wants as text, is text.

        These are resource quantities, environment values, commands, arguments, labels and
        annotations. The API server refuses `nvidia.com/gpu: 1` in a Pod only as a JSON number
        where the client is strict; a custom resource keeps what was written.
        """
        pod = self.copy()
        for key in ("labels", "annotations"):
            if key in pod.metadata:
                pod.metadata[key] = texts_of(pod.metadata[key])
        for key in ("nodeSelector", "overhead"):
            if key in pod.spec:
                pod.spec[key] = texts_of(pod.spec[key])
        for each in (*pod.containers, *pod.init_containers):
            each.normalise()
        if "volumes" in pod.spec:
            for volume in pod.volumes:
                empty = volume.get("emptyDir")
                if isinstance(empty, dict) and "sizeLimit" in empty:
                    empty["sizeLimit"] = as_text(empty["sizeLimit"])
        return pod

    def _containers(self, key: str) -> list[RawContainer]:
        if self.spec.get(key) is None:
            return []
        listed = set_default(self.spec, key, list, f"spec.{key}")
        for index, each in enumerate(listed):
            if not isinstance(each, dict):
                raise SchemaError(f"spec.{key}[{index}] must be an object, not {type(each).__name__}")
        return [RawContainer(each) for each in listed]
