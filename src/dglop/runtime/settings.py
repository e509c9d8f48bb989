# SPDX-License-Identifier: Apache-2.0
"""What a Manager can be told from outside: environment variables and flags, from one model."""

import os
from collections.abc import Callable
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, CliSettingsSource, SettingsConfigDict

from dglop.errors import ConfigError
from dglop.runtime.bind import Bind

__all__ = ("Settings",)


class Settings(BaseSettings):
    """The settings of a Manager; a program's own are a subclass with more fields.

    Each field is read from `DGLOP_<NAME>` and from the flag `--<name>`; a flag wins.
    """

    model_config = SettingsConfigDict(
        env_prefix="DGLOP_", use_attribute_docstrings=True, extra="ignore", frozen=True, cli_kebab_case=True
    )

    kubeconfig: str = ""
    """Path of a kubeconfig; by default the service account in a cluster, else what KUBECONFIG names."""
    namespace: str = ""
    """The only namespace to look after; all by default."""
    leader_elect: bool = False
    """Act only while holding a lease, so that several replicas can stand by."""
    leader_election_id: str = "dglop"
    """Name of the lease."""
    leader_election_namespace: str = ""
    """Namespace of the lease; by default the one that the program runs in."""
    lease_duration: float = Field(15.0, gt=0)
    """Seconds after which others may take over a lease that was not renewed."""
    renew_deadline: float = Field(10.0, gt=0)
    """Seconds of failed renewals after which the leader stops by itself."""
    retry_period: float = Field(2.0, gt=0)
    """Seconds between two tries to renew or to get the lease."""
    metrics_bind: Bind = ":8080"
    """Address of /metrics; 0 turns it off."""
    metrics_secure: bool = False
    """Serve /metrics over HTTPS, only to bearer tokens that may get it."""
    metrics_cert_path: str = ""
    """Folder with tls.crt and tls.key for secure /metrics; a change of them is seen without a restart.
    Without it a self-signed certificate is made, which needs dglop[tls]."""
    webhook_bind: Bind = ":9443"
    """Address of the webhooks, if the program has any."""
    webhook_cert_path: str = ""
    """Folder with tls.crt and tls.key for the webhooks; a change of them is seen without a restart."""
    webhook_client_ca: str = ""
    """File with the authority whose client certificates alone may call the webhooks; by default anybody."""
    webhook_target: str = ""
    """Where the API server finds the webhooks, for install_crds: https://host:port, or a Service as
    name.namespace or name.namespace:port. What it must trust is ca.crt in webhook_cert_path."""
    health_bind: Bind = ":8081"
    """Address of /healthz and /readyz; 0 turns it off."""
    debug_bind: Bind = "0"
    """Address of /debug/tasks, /debug/threads and /debug/memory, such as 127.0.0.1:6060; off by default."""
    log_format: Literal["auto", "json", "console"] = "auto"
    """How to log; auto is json unless the output is a terminal."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least serious messages to log."""
    graceful_shutdown_seconds: float = Field(30.0, ge=0)
    """Seconds that work in progress gets to finish after SIGTERM."""
    cache_sync_seconds: float = Field(120.0, gt=0)
    """Seconds that the first lists may take before the program gives up."""
    cache_resync_seconds: float = Field(36_000.0, ge=0)
    """Seconds, a tenth more or less, after which every object is reconciled again unasked; 0 is never."""
    cache_watch_seconds: float = Field(300.0, gt=0)
    """Seconds, up to twice as many, after which a watch is ended and opened anew; half a minute later it is
    given up if it was silent. Less is for networks that drop quiet connections without a word."""
    install_crds: bool = False
    """Apply the CRDs of the program's own kinds at start, and the webhooks' configurations."""

    @model_validator(mode="after")
    def _lease_times_fit(self) -> Self:
        if self.lease_duration <= self.renew_deadline:
            raise _MisfitError(
                f"{{0}} ({self.lease_duration:g} s) must be longer than {{1}} ({self.renew_deadline:g} s), "
                "or two leaders could overlap",
                "lease_duration",
                "renew_deadline",
            )
        if self.renew_deadline <= 1.2 * self.retry_period:
            raise _MisfitError(
                f"{{0}} ({self.renew_deadline:g} s) must be longer than 1.2 times {{1}} "
                f"({self.retry_period:g} s), or one failed try would end the leadership",
                "renew_deadline",
                "retry_period",
            )
        return self

    @classmethod
    def from_environment(cls) -> Self:
        """The settings that the environment gives. Raises ConfigError for a value that does not fit."""
        try:
            return cls()
        except ValidationError as error:
            raise ConfigError(f"in the environment: {_sentence(error, cls._variable)}") from error

    def with_flags(self, argv: list[str], *, program: str | None = None) -> Self:
        """These settings with *argv* on top.

        Raises ConfigError for a value that does not fit; exits with help for --help, as argparse does.
        """
        source: CliSettingsSource[Any] = CliSettingsSource(
            type(self),
            cli_prog_name=program,
            cli_parse_args=argv,
            cli_implicit_flags=True,
            cli_kebab_case=True,
            cli_hide_none_type=True,
            cli_avoid_json=True,
        )
        flags = source()

        def name(field: str) -> str:
            is_flag = field in flags or self._variable(field).lower() not in map(str.lower, os.environ)
            return f"--{field.replace('_', '-')}" if is_flag else self._variable(field)

        try:
            return type(self)(**{**self.model_dump(exclude_defaults=True), **flags})
        except ValidationError as error:
            raise ConfigError(_sentence(error, name)) from error

    @classmethod
    def _variable(cls, field: str) -> str:
        return f"{cls.model_config.get('env_prefix', '')}{field.upper()}"


class _MisfitError(ValueError):
    """Settings that do not fit together; the text has a place for the name of each."""

    def __init__(self, text: str, *fields: str) -> None:
        super().__init__(text.format(*fields))
        self._text = text
        self._fields = fields

    def named(self, name: Callable[[str], str]) -> str:
        return self._text.format(*map(name, self._fields))


def _sentence(error: ValidationError, name: Callable[[str], str]) -> str:
    """What is wrong, in the names by which people set these settings."""
    parts = []
    for problem in error.errors():
        path = ".".join(str(step) for step in problem["loc"])
        misfit = problem.get("ctx", {}).get("error")
        text = misfit.named(name) if isinstance(misfit, _MisfitError) else problem["msg"]
        parts.append(f"{name(path)}: {text}" if path else text)
    return "; ".join(each.replace("Value error, ", "", 1) for each in parts)
