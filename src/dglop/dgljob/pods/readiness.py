# SPDX-License-Identifier: Apache-2.0
"""How the kubelet learns that a container is ready: by one probe that waits, and so never fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.runtime.api import RawContainer

__all__ = ("add_readiness",)

_WAIT: Final = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]):\n    time.sleep(0.2)"
_DAY: Final = 24 * 60 * 60


def add_readiness(container: RawContainer, python: str) -> None:
    """The container is ready from when dglrun has written its ready file; probes of the template stay.

    A probe that asks again and again fails until the answer is yes, and the kubelet makes a Warning event of
    each time; one that is still asked when the container ends fails too. So it is a startup probe, which is
    asked no more once it was answered, and its command ends when there is something to answer. It is never
    to end a container: that is dglrun's to decide.
    """
    name = "startupProbe" if "startupProbe" not in container.data else "readinessProbe"
    container.data.setdefault(name, _waiting(python))


def _waiting(python: str) -> dict[str, Any]:
    # Python starts no process of its own here, which dglrun, the first process, would have to take care of.
    return {
        "exec": {"command": [python, "-I", "-S", "-c", _WAIT, contract.READY_FILE]},
        "periodSeconds": 1,
        "timeoutSeconds": _DAY,
        "failureThreshold": 1_000_000,
    }
