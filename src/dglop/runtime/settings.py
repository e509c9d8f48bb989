# SPDX-License-Identifier: Apache-2.0
"""What a Manager can be told from outside: environment variables and flags, from one model."""

from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, CliSettingsSource, SettingsConfigDict

from dglop.errors import ConfigError

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
    metrics_bind: str = ":8080"
    """Address of /metrics; 0 turns it off."""
    metrics_secure: bool = False
    """Serve /metrics over HTTPS, only to bearer tokens that may get it."""
    metrics_cert_path: str = ""
    """Folder with tls.crt and tls.key for secure /metrics; a change of them is seen without a restart.
    Without it a self-signed certificate is made, which needs dglop[tls]."""
    webhook_bind: str = ":9443"
    """Address of the webhooks, if the program has any."""
    webhook_cert_path: str = ""
    """Folder with tls.crt and tls.key for the webhooks; a change of them is seen without a restart."""
    webhook_client_ca: str = ""
    """File with the authority whose client certificates alone may call the webhooks; by default anybody."""
    webhook_target: str = ""
    """Where the API server finds the webhooks, for install_crds: https://host:port, or a Service as
    name.namespace or name.namespace:port. What it must trust is ca.crt in webhook_cert_path."""
    health_bind: str = ":8081"
    """Address of /healthz and /readyz; 0 turns it off."""
    debug_bind: str = "0"
    """Address of /debug/tasks, /debug/threads and /debug/memory, such as 127.0.0.1:6060; off by default."""
    log_format: Literal["auto", "json", "console"] = "auto"
    """How to log; auto is json unless the output is a terminal."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least serious messages to log."""
    graceful_shutdown_seconds: float = Field(30.0, ge=0)
    """Seconds that work in progress gets to finish after SIGTERM."""
    cache_sync_seconds: float = Field(120.0, gt=0)
    """Seconds that the first lists may take before the program gives up."""
    install_crds: bool = False
    """Apply the CRDs of the program's own kinds at start, and the webhooks' configurations."""

    @model_validator(mode="after")
    def _lease_times_fit(self) -> Self:
        if self.lease_duration <= self.renew_deadline:
            raise ValueError(
                f"lease_duration ({self.lease_duration:g} s) must be longer than renew_deadline "
                f"({self.renew_deadline:g} s), or two leaders could overlap"
            )
        if self.renew_deadline <= 1.2 * self.retry_period:
            raise ValueError(
                f"renew_deadline ({self.renew_deadline:g} s) must be longer than 1.2 times retry_period "
                f"({self.retry_period:g} s), or one failed try would end the leadership"
            )
        return self

    @classmethod
    def from_environment(cls) -> Self:
        """The settings that the environment gives. Raises ConfigError for a value that does not fit."""
        try:
            return cls()
        except ValidationError as error:
            raise ConfigError(f"in the environment: {_sentence(error, 'DGLOP_')}") from error

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
        try:
            return type(self)(**{**self.model_dump(exclude_defaults=True), **source()})
        except ValidationError as error:
            raise ConfigError(_sentence(error)) from error


def _sentence(error: ValidationError, prefix: str = "") -> str:
    parts = []
    for problem in error.errors():
        path = ".".join(str(step) for step in problem["loc"])
        name = f"{prefix}{path.upper()}: " if prefix and path else ""
        if path and not prefix:
            name = f"--{path.replace('_', '-')}: "
        parts.append(f"{name}{problem['msg'].removeprefix('Value error, ')}")
    return "; ".join(parts)
