# SPDX-License-Identifier: Apache-2.0
"""What a Manager can be told from outside: flags, environment variables and a file, from one model."""

import os
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, cast

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    CliSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from dglop.errors import ConfigError
from dglop.runtime.bind import Bind
from dglop.runtime.names import NamespaceName, Namespaces, ObjectName, namespaces_of
from dglop.runtime.settingsfile import SettingsFile, read_settings
from dglop.runtime.settingsnames import FlagHelp, misspelt

__all__ = ("Settings",)

_MAX_LEASE_SECONDS = 2**31 - 1


class Settings(BaseSettings):
    """The settings of a Manager; a program's own are a subclass with more fields.

    Each field is read from the flag `--<name>`, the variable `DGLOP_<NAME>` and `<name>` in the YAML file
    that `--config` or `DGLOP_CONFIG` names; the first of them that has it wins.
    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix="DGLOP_", use_attribute_docstrings=True, extra="ignore", frozen=True, cli_kebab_case=True
    )

    config: str = ""
    """Path of a YAML file with more settings, by the names of the flags; flags and the environment win."""
    kubeconfig: str = ""
    """Path of a kubeconfig; by default the service account in a cluster, else what KUBECONFIG names."""
    namespace: Namespaces = ""
    """The only namespace to look after, or several with commas between; all by default."""
    leader_elect: bool = False
    """Act only while holding a lease, so that several replicas can stand by."""
    leader_election_id: ObjectName = ""
    """Name of the lease; by default the Manager's name, so that two programs never share one unasked."""
    leader_election_namespace: NamespaceName = ""
    """Namespace of the lease; by default the one that the program runs in."""
    lease_duration: float = Field(15.0, gt=0, le=_MAX_LEASE_SECONDS)
    """Seconds after which others may take over a lease that was not renewed."""
    renew_deadline: float = Field(10.0, gt=0, le=_MAX_LEASE_SECONDS)
    """Seconds of failed renewals after which the leader stops by itself."""
    retry_period: float = Field(2.0, gt=0, le=_MAX_LEASE_SECONDS)
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
    """Where the API server finds the webhooks, for --install-crds: https://host:port, or a Service as
    name.namespace or name.namespace:port. What it must trust is ca.crt in --webhook-cert-path."""
    health_bind: Bind = ":8081"
    """Address of /healthz and /readyz; 0 turns it off."""
    debug_bind: Bind = "0"
    """Address of /debug/tasks, /debug/threads and /debug/memory, such as 127.0.0.1:6060; off by default."""
    log_format: Literal["auto", "json", "console"] = "auto"
    """How to log; auto is json unless the output is a terminal."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least serious messages to log."""
    graceful_shutdown_seconds: float = Field(30.0, ge=0)
    """Seconds that work in progress gets to finish after SIGTERM; inf is for ever."""
    cache_sync_seconds: float = Field(120.0, gt=0)
    """Seconds that the first lists may take before the program gives up."""
    cache_resync_seconds: float = Field(36_000.0, ge=0)
    """Seconds, a tenth more or less, after which every object is reconciled again unasked; 0 is never."""
    cache_check_seconds: float = Field(0.0, ge=0)
    """Seconds between two comparisons of the cache with the API server, to find defects; 0 is never."""
    cache_watch_seconds: float = Field(300.0, gt=0)
    """Seconds, up to twice as many, after which a watch is ended and opened anew; half a minute later it is
    given up if it was silent. Less is for networks that drop quiet connections without a word."""
    install_crds: bool = False
    """Apply the CRDs of the program's own kinds at start, and the webhooks' configurations."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces to look after; none is all."""
        return namespaces_of(self.namespace)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields.get(info.field_name or "")
        if isinstance(value, bool) and field is not None and field.annotation in (int, float):
            # YAML reads yes and on as true, which would pass for 1.
            raise ValueError(f"a number is wanted, not {str(value).lower()}")
        return value

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

    def lease_name(self, manager: str) -> str:
        """The name of the lease of a Manager with this name."""
        return self.leader_election_id or manager

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - no such files are read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Where values come from, the first that has one winning."""
        return init_settings, env_settings, SettingsFile(settings_cls)

    @classmethod
    def unread(cls) -> Self:
        """The defaults, with nothing read yet: a program's `with_flags` reads environment and file, too.

        So a flag can mend what a variable has wrong, and --help is there in any case.
        """
        return cast("Self", cls.model_construct())

    @classmethod
    def from_environment(cls) -> Self:
        """The settings that environment and file give. Raises ConfigError for a value that does not fit."""
        try:
            return cls()
        except ValidationError as error:
            path = os.environ.get(cls._variable("config"), "")
            raise ConfigError(_sentence(error, lambda field: cls._place(field, path))) from error

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
            formatter_class=FlagHelp,
        )
        flags = source()

        path = flags.get("config", self.config)
        replaced = read_settings(self.config, self._fields()) if path != self.config else {}
        given = {**self.model_dump(exclude_unset=True, exclude=set(replaced)), **flags}
        try:
            return type(self)(**given)
        except ValidationError as error:

            def name(field: str) -> str:
                otherwise = _flag(field) if flags else ""
                return _flag(field) if field in flags else self._place(field, path, otherwise)

            raise ConfigError(_sentence(error, name)) from error

    @classmethod
    def misspelt_variables(cls) -> dict[str, str]:
        """Variables of the environment that are no setting, each with the one that it looks like."""
        return misspelt(os.environ, cls.model_config.get("env_prefix", ""), cls.model_fields)

    @classmethod
    def _place(cls, field: str, path: str, otherwise: str = "") -> str:
        """Where the value of *field* stands, which is in no flag: a variable, or in the file at *path*."""
        if cls._variable(field).lower() in map(str.lower, os.environ):
            return cls._variable(field)
        if field in read_settings(path, cls._fields()):
            return f"{field.replace('_', '-')} in {path}"
        return otherwise or cls._variable(field)

    @classmethod
    def _fields(cls) -> frozenset[str]:
        return frozenset(cls.model_fields)

    @classmethod
    def _variable(cls, field: str) -> str:
        return f"{cls.model_config.get('env_prefix', '')}{field.upper()}"


def _flag(field: str) -> str:
    return f"--{field.replace('_', '-')}"


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
