# SPDX-License-Identifier: Apache-2.0
"""RawContainer and RawEnv: views over one container of a RawPod."""

from __future__ import annotations

from typing import Any

from dglop.runtime.api.rawvalues import as_text, set_default, texts_of

__all__ = ("RawContainer", "RawEnv")


class RawEnv:
    """The environment of a container: by name, in order."""

    __slots__ = ("_owner",)

    def __init__(self, owner: dict[str, Any]) -> None:
        self._owner = owner

    def __contains__(self, name: str) -> bool:
        return self._entry(name) is not None

    @property
    def names(self) -> list[str]:
        return [str(each.get("name")) for each in self._owner.get("env") or []]

    def get(self, name: str, default: str | None = None) -> str | None:
        """The literal value, or `default` where there is none (a valueFrom is none)."""
        entry = self._entry(name)
        if entry is None or "value" not in entry:
            return default
        return as_text(entry["value"])

    def set(self, name: str, value: str | dict[str, Any], *, keep_user: bool = False) -> None:
        """Sets a variable: `value` is its text, or a valueFrom object.

        With keep_user an existing entry of this name stays as the user wrote it.
        """
        entry = {"name": name, **({"value": value} if isinstance(value, str) else {"valueFrom": value})}
        old = self._entry(name)
        if old is None:
            set_default(self._owner, "env", list, "env").append(entry)
        elif not keep_user:
            old.clear()
            old.update(entry)

    def _entry(self, name: str) -> dict[str, Any] | None:
        for each in self._owner.get("env") or []:
            if each.get("name") == name:
                found: dict[str, Any] = each
                return found
        return None


class RawContainer:
    """One container as a dict, with names for the parts that controllers touch."""

    __slots__ = ("data",)

    def __init__(self, data: dict[str, Any]) -> None:
        self.data: dict[str, Any] = data

    @property
    def name(self) -> str:
        return str(self.data.get("name") or "")

    @name.setter
    def name(self, value: str) -> None:
        self.data["name"] = value

    @property
    def image(self) -> str:
        return str(self.data.get("image") or "")

    @image.setter
    def image(self, value: str) -> None:
        self.data["image"] = value

    @property
    def command(self) -> list[str]:
        """The command as text, empty where the image's own is meant."""
        return [as_text(each) for each in self.data.get("command") or []]

    @command.setter
    def command(self, value: list[str]) -> None:
        self.data["command"] = value

    @property
    def args(self) -> list[str]:
        return [as_text(each) for each in self.data.get("args") or []]

    @args.setter
    def args(self, value: list[str]) -> None:
        self.data["args"] = value

    @property
    def env(self) -> RawEnv:
        return RawEnv(self.data)

    @property
    def ports(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = set_default(self.data, "ports", list, "ports")
        return found

    @property
    def mounts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = set_default(self.data, "volumeMounts", list, "volumeMounts")
        return found

    @property
    def resources(self) -> dict[str, Any]:
        found: dict[str, Any] = set_default(self.data, "resources", dict, "resources")
        return found

    def add_port(self, name: str, port: int, *, protocol: str = "TCP") -> None:
        """Declares a port unless one of this name or number is declared."""
        if any(each.get("name") == name or each.get("containerPort") == port for each in self.ports):
            return
        self.ports.append({"name": name, "containerPort": port, "protocol": protocol})

    def mount(self, name: str, path: str, *, read_only: bool = False, sub_path: str | None = None) -> None:
        """Mounts the volume unless something is mounted at this path already."""
        if self.has_mount(path):
            return
        entry: dict[str, Any] = {"name": name, "mountPath": path}
        if read_only:
            entry["readOnly"] = True
        if sub_path:
            entry["subPath"] = sub_path
        self.mounts.append(entry)

    def has_mount(self, path: str) -> bool:
        wanted = path.rstrip("/")
        mounts = self.data.get("volumeMounts") or []
        return any(str(each.get("mountPath")).rstrip("/") == wanted for each in mounts)

    def normalise(self) -> None:
        """Makes text of what the API wants as text, in place."""
        for each in self.data.get("env") or []:
            if "value" in each:
                each["value"] = as_text(each["value"])
        for key in ("command", "args"):
            if self.data.get(key):
                self.data[key] = [as_text(each) for each in self.data[key]]
        resources = self.data.get("resources")
        if isinstance(resources, dict):
            for key in ("limits", "requests"):
                if key in resources:
                    resources[key] = texts_of(resources[key])
