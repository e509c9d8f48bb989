# SPDX-License-Identifier: Apache-2.0
"""The parts as they lie in the Workers: each looks at its own, and the Launcher is told where they are."""

from __future__ import annotations

import json
import shlex
import subprocess
from functools import partial
from typing import Any, Dict, List, Mapping, Sequence

from .. import contract
from ..ending import Refusal
from ..env import Env
from ..layout import LayoutError, check_latched, parts_identity
from ..manifest import ManifestError
from ..verify import verify_part
from .together import together

__all__ = ("ask_for_parts", "look_at_parts")

_AT_ONCE = 8


def look_at_parts(variables: Mapping[str, str]) -> Dict[str, Any]:
    """`look`, in a Worker: where the partition config is, or why the parts cannot be used.

    On a claim, which all mount, its own part is compared with the manifest; brought parts have been.
    """
    try:
        return {"config": _config(Env(variables))}
    except Refusal as refusal:
        return {"reason": refusal.reason, "exitCode": refusal.exit_code, "sentence": refusal.sentence}


def ask_for_parts(
    kubexec: str, workers: Sequence[str], dglrun: Sequence[str], variables: Mapping[str, str]
) -> str:
    """The partition config's path, the same in every Worker once each has found its part in order.

    Raises Refusal: a Worker's own, with its name.
    """
    told = {
        name: variables[name]
        for name in (contract.ENV_MANIFEST_HASH, contract.ENV_VERIFY_PARTS)
        if variables.get(name)
    }
    settings = ["%s=%s" % (name, shlex.quote(value)) for name, value in told.items()]
    command = " ".join(["exec", "env", *settings, *map(shlex.quote, dglrun), "look"])
    asked = [partial(_ask, kubexec, name, command, variables) for name in workers]
    paths: List[str] = together(asked, _AT_ONCE)
    return paths[0]


def _config(env: Env) -> str:
    folder, workers = env.text(contract.ENV_PARTS_DIR), env.integer(contract.ENV_NUM_WORKERS, 1, least=1)
    latched = env.maybe(contract.ENV_MANIFEST_HASH)
    try:
        found, config = parts_identity(folder, workers)
    except (LayoutError, ManifestError, OSError) as error:
        raise Refusal("PartsCorrupt", contract.EXIT_CORRUPT, "no usable parts: %s" % error) from error
    check_latched(found, latched)
    if env.maybe(contract.ENV_VERIFY_PARTS):
        verify_part(folder, env.integer(contract.ENV_REPLICA_INDEX, 0), workers, latched)
    return config


def _ask(kubexec: str, worker: str, command: str, variables: Mapping[str, str]) -> str:
    done = subprocess.run(
        [kubexec, worker, command],
        env=dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    try:
        said = json.loads(done.stdout.decode("utf-8"))
        if "config" in said:
            return str(said["config"])
        refusal = Refusal(said["reason"], said["exitCode"], "%s: %s" % (worker, said["sentence"]))
    except (ValueError, KeyError, TypeError) as error:
        words = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())[-300:]
        sentence = "%s does not say where its parts are (exit code %d): %s" % (
            worker,
            done.returncode,
            words or "no words",
        )
        raise Refusal("PartsUnreachable", contract.EXIT_RETRYABLE, sentence) from error
    raise refusal
