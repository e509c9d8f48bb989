# SPDX-License-Identifier: Apache-2.0
"""Reads kubeconfigs, with their credential plugins, through the official client's config package.

The one module that needs the official client: it is imported when a kubeconfig is to be read, so a pod,
which has none, starts without the client's 0.5 s of imports.
"""

from __future__ import annotations

import os
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from kubernetes.aio import config as official
from kubernetes.aio.client import Configuration

from dglop.errors import ConfigError
from dglop.runtime.client.endpoint import Endpoint, Loaded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ("read_kubeconfig",)

# What the official loader raises, beside its own error, for files of the wrong shape.
_LOADER_BUGS = (OSError, ValueError, KeyError, TypeError, AttributeError)
_TOKEN = "BearerToken"  # noqa: S105 - the official client's name for the entry
_PLUGINS = ("exec", "auth-provider")


async def read_kubeconfig(paths: str, *, context: str | None = None, namespace: str | None = None) -> Loaded:
    """What a context, the current one by default, of the files says; `paths` is as in KUBECONFIG.

    Raises ConfigError.
    """
    files = _existing(paths)
    if not files:
        raise ConfigError(f"the kubeconfig {paths} does not exist; give another or unset KUBECONFIG")
    configuration = Configuration()
    try:
        contents = [_content(file) for file in files]
        loader = await official.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=os.pathsep.join(files),
            context=context or _current_context(contents),
            client_configuration=configuration,
            persist_config=False,
        )
        chosen = loader.current_context["context"]
        has_plugin = _has_plugin(contents, chosen.get("user"))
    except (official.ConfigException, yaml.YAMLError, *_LOADER_BUGS) as problem:
        raise ConfigError(f"the kubeconfig {paths} cannot be used: {problem}") from problem
    endpoint = _endpoint(configuration)
    if has_plugin and not endpoint.authorization and not endpoint.cert_file:
        # The official loader logs a failed plugin and goes on without credentials.
        raise ConfigError(
            f"the credential plugin of the kubeconfig {paths} gave no credentials; run it by hand"
        )
    expires = getattr(loader, "exec_plugin_expiry", None)
    return Loaded(
        endpoint,
        namespace or chosen.get("namespace") or "default",
        expires=expires.astimezone(UTC) if expires else None,
    )


def _endpoint(configuration: Any) -> Endpoint:
    return Endpoint(
        host=configuration.host,
        ca_file=configuration.ssl_ca_cert,
        cert_file=configuration.cert_file,
        key_file=configuration.key_file,
        authorization=configuration.api_key.get(_TOKEN),
        verify=configuration.verify_ssl,
        server_name=configuration.tls_server_name,
        proxy=configuration.proxy,
    )


def _existing(paths: str) -> list[str]:
    return [path for path in paths.split(os.pathsep) if path and Path(path).expanduser().is_file()]


def _content(file: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(Path(file).expanduser().read_text(encoding="utf-8")) or {}
    return content


def _current_context(contents: Sequence[Mapping[str, Any]]) -> str | None:
    """The first that one of the files names, as kubectl has it; the official loader would take the last."""
    return next((name for each in contents if (name := each.get("current-context"))), None)


def _has_plugin(contents: Sequence[Mapping[str, Any]], user: str | None) -> bool:
    """Whether this user, in the first file that has one of the name, gets credentials from a program."""
    for content in contents:
        for each in content.get("users") or ():
            if each["name"] == user:
                return any(plugin in (each.get("user") or {}) for plugin in _PLUGINS)
    return False
