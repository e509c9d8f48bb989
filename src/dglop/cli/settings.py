# SPDX-License-Identifier: Apache-2.0
"""What the program can be told beyond what the DGL operator can: which kinds it runs."""

from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from dglop.cli.kinds import DEFAULT, known_kinds
from dglop.dgljob.settings import OperatorSettings
from dglop.errors import ConfigError
from dglop.runtime.names import DomainName

__all__ = ("ProgramSettings",)


def _known(words: object) -> tuple[str, ...]:
    listed = [words] if isinstance(words, str) else list(words) if isinstance(words, list | tuple) else []
    try:
        return known_kinds(map(str, listed))
    except ConfigError as problem:
        raise ValueError(str(problem)) from problem


class ProgramSettings(OperatorSettings):
    """The settings of the operator of all kinds."""

    kinds: Annotated[list[str], NoDecode, BeforeValidator(_known)] = Field([DEFAULT])
    """The job kinds to run: DGLJob, PyTorchJob, MPIJob; with commas, or given more than once."""
    cluster_domain: DomainName = "cluster.local"
    """The domain of the cluster's DNS, in which the pods of an MPIJob look for its Launcher."""
