# SPDX-License-Identifier: Apache-2.0
"""Reads kubeconfigs, with their credential plugins, through the official client's config package.

The one module that needs the official client: it is imported when a kubeconfig is to be read, so a pod,
which has none, starts without the client's 0.5 s of imports.
"""

from __future__ import annotations

import ast
import asyncio
import logging
import os
import re
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from kubernetes.aio import config as official
from kubernetes.aio.client import Configuration

from dglop.errors import ConfigError
from dglop.runtime.client.endpoint import Endpoint, Loaded
from dglop.runtime.client.kubefile import entry, impersonation, read_content
from dglop.runtime.client.usable import endpoint_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ("read_kubeconfig",)

# What the official loader raises, beside its own error, for files of the wrong shape.
_LOADER_BUGS = (OSError, ValueError, KeyError, TypeError, AttributeError)
_TOKEN = "BearerToken"  # noqa: S105 - the official client's name for the entry
_PLUGINS = ("exec", "auth-provider")
_OFFICIAL_LOG = "kubernetes.aio.config.kube_config"
_BYTES = re.compile(r"""b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")$""", re.DOTALL)


async def read_kubeconfig(
    paths: str,
    *,
    context: str | None = None,
    namespace: str | None = None,
    remedy: str = "give the path of one that does",
) -> Loaded:
    """What a context, the current one by default, of the files says; `paths` is as in KUBECONFIG.

    Raises ConfigError, also for what could be read but never work, such as a server without a scheme; of
    files that are not there it says the *remedy*, which depends on who named them.
    """
    files = _existing(paths)
    if not files:
        raise ConfigError(f"the kubeconfig {paths} does not exist; {remedy}")
    try:
        return await _read(files, context, namespace)
    except (official.ConfigException, yaml.YAMLError, *_LOADER_BUGS) as problem:
        raise ConfigError(f"the kubeconfig {paths} cannot be used: {problem}") from problem


async def _read(files: list[str], context: str | None, namespace: str | None) -> Loaded:
    contents = [read_content(file) for file in files]
    wanted = context or _current_context(contents)
    if not wanted:
        raise ValueError("it names no current-context; name a context")
    name, user = _user(contents, wanted)
    configuration = Configuration()
    _forget_lost_files()
    with _heard() as told:
        loader = await official.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=os.pathsep.join(files),
            context=wanted,
            client_configuration=configuration,
            persist_config=False,
        )
    chosen = loader.current_context["context"]
    endpoint = _endpoint(configuration, user)
    problem = _credentials_problem(endpoint, name, user, told) or endpoint_problem(endpoint)
    if problem:
        raise ValueError(problem)
    expires = getattr(loader, "exec_plugin_expiry", None)
    return Loaded(
        endpoint,
        namespace or chosen.get("namespace") or "default",
        expires=expires.astimezone(UTC) if expires else None,
        context=wanted,
    )


def _forget_lost_files() -> None:
    """Have data that the loader wrote to files once written anew where they are not whole any more.

    It would go on to name a file that was tidied away from /tmp, or that a full disk cut off.
    """
    written: dict[str, str] = official.kube_config._temp_files  # noqa: SLF001 - nothing public knows of them
    for content, file in list(written.items()):
        if not _holds(file, content):
            del written[content]


def _holds(file: str, content: str) -> bool:
    try:
        data = Path(file).read_bytes()
    except OSError:
        return False
    return content in (str(data), data.decode("utf-8", "replace"))  # bytes go by what Python shows of them


def _user(contents: Sequence[Mapping[str, Any]], context: str) -> tuple[str, dict[str, Any]]:
    """The name and the entry of a context's user, where both it and the cluster can be used."""
    chosen = entry(contents, "contexts", context)
    if not chosen:
        raise ValueError(f"there is no context {context}, or it is empty; name another")
    cluster, name = chosen.get("cluster"), chosen.get("user")
    if not (entry(contents, "clusters", cluster) or {}).get("server"):
        raise ValueError(f"the cluster {cluster} of the context {context} has no server; write its URL there")
    user = entry(contents, "users", name)
    if name and user is None:
        raise ValueError(f"the context {context} means the user {name}, which none of the files has")
    return name or "", user or {}


def _endpoint(configuration: Any, user: Mapping[str, Any]) -> Endpoint:
    authorization = configuration.api_key.get(_TOKEN)
    return Endpoint(
        host=configuration.host,
        ca_file=configuration.ssl_ca_cert,
        cert_file=configuration.cert_file,
        key_file=configuration.key_file,
        # The line break at the end of a token's file is none of the token.
        authorization=authorization.strip() if authorization else None,
        verify=configuration.verify_ssl,
        server_name=configuration.tls_server_name,
        proxy=configuration.proxy,
        impersonation=impersonation(user),
    )


def _credentials_problem(endpoint: Endpoint, name: str, user: Mapping[str, Any], told: Sequence[str]) -> str:
    """Why a user that has credentials gives none: the official loader goes on without any."""
    has_token = bool(endpoint.authorization) and endpoint.authorization != "Bearer"
    plugin = next((each for each in _PLUGINS if user.get(each)), None)
    if (has_token or endpoint.cert_file) and not (plugin and told):
        return ""
    if plugin:
        program = user[plugin].get("command") or user[plugin].get("name") or plugin
        why = "; ".join(told) or "it said nothing of why"
        return f"the credential plugin {program} of the user {name} gave no credentials: {why}"
    if user.get("tokenFile") and not user.get("token"):
        return f"{user['tokenFile']}, the tokenFile of the user {name}, is empty; put a token there"
    if user.get("token") or user.get("username"):
        return f"the user {name} has no whole credentials; give a token, or a username and a password"
    return ""


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What the official loader, when this task calls it, would log of a plugin that failed.

    It goes into the error instead of past the program's own log.
    """
    told: list[str] = []
    task = asyncio.current_task()

    def take(record: logging.LogRecord) -> bool:
        if asyncio.current_task() is not task or record.levelno < logging.ERROR:
            return True
        told.append(_plain(record.getMessage()))
        return False

    log = logging.getLogger(_OFFICIAL_LOG)
    log.addFilter(take)
    try:
        yield told
    finally:
        log.removeFilter(take)


def _plain(text: str) -> str:
    """The loader's sentence; what the plugin wrote stands in it as Python shows bytes."""
    shown = _BYTES.search(text)
    if shown:
        text = text[: shown.start()] + ast.literal_eval(shown.group()).decode("utf-8", "replace").strip()
    return text.removeprefix("exec: ").replace("process returned ", "it ended with exit code ")


def _existing(paths: str) -> list[str]:
    return [path for path in paths.split(os.pathsep) if path and Path(path).expanduser().is_file()]


def _current_context(contents: Sequence[Mapping[str, Any]]) -> str | None:
    """The first that one of the files names, as kubectl has it; the official loader would take the last."""
    return next((name for each in contents if (name := each.get("current-context"))), None)
