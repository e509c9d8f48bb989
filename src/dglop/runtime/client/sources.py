# SPDX-License-Identifier: Apache-2.0
"""Finds the API server: one that was named, a kubeconfig's, or the cluster that the program runs in."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dglop.errors import ConfigError
from dglop.runtime.client.endpoint import Endpoint, Loaded
from dglop.runtime.client.tokens import TokenFile
from dglop.runtime.client.usable import address_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dglop.runtime.client.config import ClientConfig

__all__ = ("load",)

_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
_OTHER = "give the path of one that does"
_UNSET = "set the variable KUBECONFIG, which names it, to one that does, or unset it"


async def load(
    config: ClientConfig, *, environ: Mapping[str, str] | None = None, monotonic: Callable[[], float]
) -> Loaded:
    """Reads the configuration by the order that ClientConfig states.

    Raises ConfigError, which says what was looked for and what to do.
    """
    env = os.environ if environ is None else environ
    if config.host:
        loaded = _direct(config, config.host, monotonic)
    elif config.kubeconfig:
        loaded = await _kubeconfig(config, config.kubeconfig, _OTHER)
    elif env.get("KUBECONFIG"):
        loaded = await _kubeconfig(config, env["KUBECONFIG"], _UNSET)
    elif env.get(_HOST) and env.get(_PORT):
        loaded = _in_cluster(config, env, monotonic)
    else:
        home = Path.home() / ".kube" / "config"
        if not home.is_file():
            raise ConfigError(
                f"no API server is known: {home} and the variable KUBECONFIG are absent, and this is no pod; "
                "give --kubeconfig or set KUBECONFIG"
            )
        loaded = await _kubeconfig(config, str(home), _OTHER)
    return replace(loaded, strict=config.tls_strict)


def _direct(config: ClientConfig, host: str, monotonic: Callable[[], float]) -> Loaded:
    problem = address_problem("server", host)
    if problem:
        raise ConfigError(f"the host that was given cannot be used: {problem}")
    ca_file = str(config.ca_file) if config.ca_file else None
    return Loaded(
        Endpoint(host.rstrip("/"), ca_file),
        config.namespace or "default",
        _token_file(config, monotonic, config.token_file),
    )


def _in_cluster(config: ClientConfig, env: Mapping[str, str], monotonic: Callable[[], float]) -> Loaded:
    ca = config.service_account / "ca.crt"
    if not ca.is_file():
        raise ConfigError(
            f"{_HOST} is set but {ca} is missing; does the pod have automountServiceAccountToken: false?"
        )
    host = env[_HOST]
    # An IPv6 address needs brackets in a URL.
    url = f"https://{f'[{host}]' if ':' in host else host}:{env[_PORT]}"
    problem = address_problem("server", url)
    if problem:
        raise ConfigError(f"{_HOST} and {_PORT} cannot be used: {problem}")
    namespace = config.namespace or _read(config.service_account / "namespace") or "default"
    token_file = _token_file(config, monotonic, config.service_account / "token")
    return Loaded(Endpoint(url, str(ca)), namespace, token_file)


async def _kubeconfig(config: ClientConfig, paths: str, remedy: str) -> Loaded:
    # Only a kubeconfig needs the official client, whose import costs more than all else at a start.
    from dglop.runtime.client.kubeconfig import read_kubeconfig  # noqa: PLC0415

    return await read_kubeconfig(paths, context=config.context, namespace=config.namespace, remedy=remedy)


def _token_file(config: ClientConfig, monotonic: Callable[[], float], path: Path | None) -> TokenFile | None:
    if path is None:
        return None
    return TokenFile(path, reread_seconds=config.token_reread_seconds, monotonic=monotonic)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
