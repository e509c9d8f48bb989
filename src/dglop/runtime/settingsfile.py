# SPDX-License-Identifier: Apache-2.0
"""Settings out of a YAML file, beneath flags and the environment."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic_settings import PydanticBaseSettingsSource

from dglop.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic.fields import FieldInfo

__all__ = ("SettingsFile", "read_settings")


class SettingsFile(PydanticBaseSettingsSource):
    """The file that the sources before this one, flags and environment, name as `config`."""

    def __call__(self) -> dict[str, Any]:
        path = self.current_state.get("config")
        return read_settings(path, self.settings_cls.model_fields) if isinstance(path, str) else {}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        """The whole file is read at once; nothing comes field by field."""
        return None, field_name, False


def read_settings(path: str, known: Iterable[str]) -> dict[str, Any]:
    """
    The settings that the file at *path* has, by field name; none for an empty path.

    Names are those of the flags, as `log-level` or `log_level`. Raises ConfigError for a file that cannot be
    read, is no YAML mapping, names another file, has one setting twice or a name that is not *known*.
    """
    if not path:
        return {}
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"the settings in {path} cannot be read: {error}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"the settings in {path} must be a mapping such as 'log-level: debug'")
    found: dict[str, Any] = {}
    for key, value in content.items():
        name = _field(path, key, known)
        if name in found:
            raise ConfigError(f"{path} has {name.replace('_', '-')} and {name}, which are one; leave out one")
        found[name] = value
    return found


def _field(path: str, key: object, known: Iterable[str]) -> str:
    name = str(key).replace("-", "_")
    if name == "config":
        raise ConfigError(f"{path} cannot name another file of settings; leave out {key}")
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0].replace('_', '-')}?" if near else ""
        raise ConfigError(f"{path} has {key}, which is no setting{hint}")
    return name
