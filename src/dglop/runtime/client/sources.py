# SPDX-License-Identifier: Apache-2.0
"""Loads host, credentials and certificates through the official client's config package."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from kubernetes.aio import config as official
from kubernetes.aio.client import Configuration

from dglop.errors import ConfigError
from dglop.runtime.client.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dglop.runtime.client.config import ClientConfig

__all__ = ("Loaded", "load")

_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
# What the official loader raises, beside its own error, for files of the wrong shape.
_LOADER_BUGS = (OSError, ValueError, KeyError, TypeError, AttributeError)
_TOKEN = "BearerToken"  # noqa: S105 - the official client's name for the entry


@dataclass(frozen=True, slots=True)
class Loaded:
    """One reading of the configuration; it is read anew when credentials or files change."""

    configuration: Any
    namespace: str
    token_file: TokenFile | None = None
    expires: datetime | None = None

    @property
    def host(self) -> str:
        return str(self.configuration.host)

    @property
    def files(self) -> tuple[str, ...]:
        """CA, certificate and key files, whose change means new connections."""
        found = (
            self.configuration.ssl_ca_cert,
            self.configuration.cert_file,
            self.configuration.key_file,
        )
        return tuple(str(each) for each in found if each)

    def authorization(self) -> str | None:
        """The Authorization header as of now."""
        if self.token_file is not None:
            return f"Bearer {self.token_file.current()}"
        token: str | None = self.configuration.api_key.get(_TOKEN)
        return token

    def is_expired(self, now: datetime) -> bool:
        return self.expires is not None and now >= self.expires


async def load(
    config: ClientConfig, *, environ: Mapping[str, str] | None = None, monotonic: Callable[[], float]
) -> Loaded:
    """Reads the configuration by the order that ClientConfig states.

    Raises ConfigError, which says what was looked for and what to do.
    """
    env = os.environ if environ is None else environ
    if config.host:
        loaded = _direct(config, config.host, monotonic)
    elif config.kubeconfig or env.get("KUBECONFIG"):
        loaded = await _kubeconfig(config, config.kubeconfig or env["KUBECONFIG"])
    elif env.get(_HOST) and env.get(_PORT):
        loaded = _in_cluster(config, env, monotonic)
    else:
        home = Path.home() / ".kube" / "config"
        if not home.is_file():
            raise ConfigError(
                f"no API server is known: {home} and the variable KUBECONFIG are absent, and this is no pod; "
                "give --kubeconfig or set KUBECONFIG"
            )
        loaded = await _kubeconfig(config, str(home))
    loaded.configuration.disable_strict_ssl_verification = not config.tls_strict
    return loaded


def _direct(config: ClientConfig, host: str, monotonic: Callable[[], float]) -> Loaded:
    configuration = Configuration(host=host.rstrip("/"))
    if config.ca_file:
        configuration.ssl_ca_cert = str(config.ca_file)
    return Loaded(
        configuration, config.namespace or "default", _token_file(config, monotonic, config.token_file)
    )


def _in_cluster(config: ClientConfig, env: Mapping[str, str], monotonic: Callable[[], float]) -> Loaded:
    ca = config.service_account / "ca.crt"
    if not ca.is_file():
        raise ConfigError(
            f"{_HOST} is set but {ca} is missing; does the pod have automountServiceAccountToken: false?"
        )
    host = env[_HOST]
    # An IPv6 address needs brackets in a URL.
    configuration = Configuration(host=f"https://{f'[{host}]' if ':' in host else host}:{env[_PORT]}")
    configuration.ssl_ca_cert = str(ca)
    namespace = config.namespace or _read(config.service_account / "namespace") or "default"
    token_file = _token_file(config, monotonic, config.service_account / "token")
    return Loaded(configuration, namespace, token_file)


async def _kubeconfig(config: ClientConfig, paths: str) -> Loaded:
    there = _existing(paths)
    if not there:
        raise ConfigError(f"the kubeconfig {paths} does not exist; give another or unset KUBECONFIG")
    configuration = Configuration()
    try:
        loader = await official.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=os.pathsep.join(there),
            context=config.context,
            client_configuration=configuration,
            persist_config=False,
        )
    except (official.ConfigException, yaml.YAMLError, *_LOADER_BUGS) as problem:
        raise ConfigError(f"the kubeconfig {paths} cannot be used: {problem}") from problem
    context = loader.current_context["context"]
    if "token" not in vars(loader) and not configuration.cert_file and _has_plugin(loader):
        # The official loader logs a failed plugin and goes on without credentials.
        raise ConfigError(
            f"the credential plugin of the kubeconfig {paths} gave no credentials; run it by hand"
        )
    expires = getattr(loader, "exec_plugin_expiry", None)
    namespace = config.namespace or context.get("namespace") or "default"
    return Loaded(configuration, namespace, expires=expires.astimezone(UTC) if expires else None)


def _existing(paths: str) -> list[str]:
    return [path for path in paths.split(os.pathsep) if path and Path(path).expanduser().is_file()]


def _has_plugin(loader: Any) -> bool:
    user = loader._user  # noqa: SLF001 - the loader has no public view of the chosen user
    return user is not None and ("exec" in user or "auth-provider" in user)


def _token_file(config: ClientConfig, monotonic: Callable[[], float], path: Path | None) -> TokenFile | None:
    if path is None:
        return None
    return TokenFile(path, reread_seconds=config.token_reread_seconds, monotonic=monotonic)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
