# SPDX-License-Identifier: Apache-2.0
"""Typed reading of the environment, with errors that name the variable."""

from __future__ import annotations

from typing import Mapping, Optional

from . import contract
from .ending import config_refusal

__all__ = ("Env", "Identity")


class Env:
    """A view of environment variables; an absent or empty one counts as not set."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def text(self, name: str, default: Optional[str] = None) -> str:
        """Raises Refusal (ConfigInvalid) when it is not set and has no default."""
        value = self._variables.get(name) or default
        if value is None:
            raise config_refusal("%s is not set; the operator sets it in every pod of a job" % name)
        return value

    def maybe(self, name: str) -> Optional[str]:
        return self._variables.get(name) or None

    def integer(self, name: str, default: Optional[int] = None, *, least: int = 0) -> int:
        """Raises Refusal (ConfigInvalid) when it is no whole number of at least `least`."""
        text = self.text(name, None if default is None else str(default))
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise config_refusal("%s=%s: a whole number of at least %d is needed" % (name, text, least))
        return value

    def seconds(self, name: str, default: float) -> float:
        """Raises Refusal (ConfigInvalid) when it is no number above zero."""
        text = self.text(name, str(default))
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0.0 < value < float("inf"):
            raise config_refusal("%s=%s: a number of seconds above zero is needed" % (name, text))
        return value

    def secret(self, name: str) -> Optional[str]:
        """The content of the file that `name` names, or None where it names none.

        Read anew by every caller that needs it, as the kubelet swaps the files of a changed Secret.
        Raises Refusal (ConfigInvalid) when the file cannot be read or is empty.
        """
        path = self.maybe(name)
        if path is None:
            return None
        try:
            with open(path, encoding="utf-8") as file:
                content = file.read().strip()
        except OSError as error:
            raise config_refusal("cannot read the token that %s names: %s" % (name, error)) from error
        if not content:
            raise config_refusal("the token file %s (%s) is empty" % (path, name))
        return content


class Identity:
    """Who this pod is."""

    def __init__(self, env: Env) -> None:
        self.job_uid: str = env.text(contract.ENV_JOB_UID)
        self.job: str = env.text(contract.ENV_JOB_NAME, "job")
        self.attempt: int = env.integer(contract.ENV_ATTEMPT, 1, least=1)
        self.index: int = env.integer(contract.ENV_REPLICA_INDEX, 0)
        self.pod: str = env.text(contract.ENV_POD_NAME, "%s-%d" % (self.job, self.index))
