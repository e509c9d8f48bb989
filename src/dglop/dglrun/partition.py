# SPDX-License-Identifier: Apache-2.0
"""`partition`: run the user's partition command, check what it left and vouch for it with a manifest."""

from __future__ import annotations

import os
import sys
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from . import contract
from .children import ChildExit, Children, Command, become_reaper
from .ending import Ending, Refusal, config_refusal
from .env import Env, Identity
from .events import ChildrenEnded, Events, Told
from .layout import LayoutError, clear_parts, read_layout
from .manifest import Manifest, ManifestError, PartFile, load_manifest, save_manifest, sha256_of, verify_files
from .output import Stdout
from .pythonpath import child_env, own_argv
from .stats import read_stats
from .transfer import no_space

__all__ = ("partition",)

PROCESS = "partition"


def partition(argv: Sequence[str], variables: Mapping[str, str]) -> Ending:
    """Leave verified parts and their manifest in the parts' folder; see the contract for the last words.

    Parts that are whole, of this job and of the right number are kept, unless ENV_RETAIN_PARTS is 0: no pod
    is made for parts that the same attempt has. Raises Refusal.
    """
    env, say = Env(variables), Stdout().say
    identity = Identity(env)
    folder, num_parts = env.text(contract.ENV_PARTS_DIR), env.integer(contract.ENV_NUM_PARTS, least=1)
    try:
        os.makedirs(folder, exist_ok=True)
        keeps = env.maybe(contract.ENV_RETAIN_PARTS) != "0"
        found = _usable(folder, identity.job_uid, num_parts, say) if keeps else None
        if found is not None:
            say("%s holds these parts already: manifest %s" % (folder, found.hash))
            return Ending(0, _success(found, reused=True))
        gone = clear_parts(folder)
        if gone:
            say("removed what an earlier partitioning left: " + ", ".join(gone))
        failure = _run(_command(argv, env, variables), env)
        if failure is not None:
            return failure
        manifest = _vouch(folder, identity.job_uid, num_parts)
    except OSError as error:
        raise no_space(folder, error) from error
    say("%d parts, %d bytes: manifest %s" % (num_parts, manifest.total_bytes, manifest.hash))
    took = {name: value for name, value in read_stats(folder).items() if name in ("seconds", "peakBytes")}
    return Ending(0, dict(_success(manifest, reused=False), **took))


def _usable(folder: str, job_uid: str, num_parts: int, say: Callable[[str], None]) -> Optional[Manifest]:
    try:
        manifest = load_manifest(folder)
        trouble = None if manifest is None else _unfit(manifest, job_uid, num_parts)
        if manifest is not None and trouble is None:
            verify_files(folder, list(manifest.files))
    except ManifestError as error:
        manifest, trouble = None, str(error)
    if trouble is not None:
        say("the partitioning in %s cannot be used: %s" % (folder, trouble))
        return None
    return manifest


def _unfit(manifest: Manifest, job_uid: str, num_parts: int) -> Optional[str]:
    if manifest.job_uid != job_uid:
        return "it is of another job (%s)" % manifest.job_uid
    if manifest.num_parts != num_parts:
        return "it has %d parts, the job needs %d" % (manifest.num_parts, num_parts)
    return None


def _command(argv: Sequence[str], env: Env, variables: Mapping[str, str]) -> Command:
    if not argv:
        if env.maybe(contract.ENV_DATASET_NAME) is None and env.maybe(contract.ENV_DATASET_URL) is None:
            raise config_refusal(
                "nothing to partition: give the Partitioner a command that writes <graph>.json and part*/ to "
                "$%s, or give the job a dataset" % contract.ENV_PARTS_DIR
            )
        parallel = env.maybe(contract.ENV_PARTITION_MODE) == "SMP"
        argv = [sys.executable, *own_argv(), "partition-parallel" if parallel else "partition-dataset"]
    return Command(PROCESS, argv, child_env(variables))


def _run(command: Command, env: Env) -> Optional[Ending]:
    """None when the command did its work, else how this pod ends."""
    events = Events()
    events.listen_to_signals()
    become_reaper()
    children = Children(Stdout(), prefixed=False)
    end = children.start(command)
    patience = env.seconds(contract.ENV_KILL_SECONDS, 5.0)
    while end is None:
        event = events.get(None)
        if isinstance(event, Told):
            children.end(patience, events.wait_for_child)
            return Ending(
                contract.EXIT_PEER,
                {"cause": "stop", "process": PROCESS, "exitCode": contract.EXIT_PEER, "signal": event.number},
            )
        if isinstance(event, ChildrenEnded):
            end = next(iter(children.reap()), None)
    lines = children.last_lines(PROCESS)
    children.end(patience, events.wait_for_child)
    events.ignore_signals()
    return None if end.code == 0 else Ending(end.code, _failure(end, lines))


def _failure(end: ChildExit, lines: List[str]) -> Dict[str, Any]:
    message = {"cause": "self", "process": end.name, "exitCode": end.code, "lines": lines}
    return message if end.signal is None else dict(message, signal=end.signal)


def _vouch(folder: str, job_uid: str, num_parts: int) -> Manifest:
    try:
        layout = read_layout(folder, num_parts)
    except LayoutError as error:
        raise Refusal("PartitionInvalid", contract.EXIT_CONFIG, str(error)) from error
    files = []
    for path, part in layout.files:
        size, digest = sha256_of(os.path.join(folder, path), sync=True)
        files.append(PartFile(path, size, digest, part))
    manifest = Manifest(
        unique=uuid.uuid4().hex,
        job_uid=job_uid,
        graph=layout.graph,
        config=layout.config,
        num_parts=layout.num_parts,
        part_method=layout.part_method,
        num_nodes=layout.num_nodes,
        num_edges=layout.num_edges,
        edge_cut=read_stats(folder).get("edgeCut"),
        files=tuple(files),
    )
    save_manifest(folder, manifest)
    return manifest


def _success(manifest: Manifest, *, reused: bool) -> Dict[str, Any]:
    message = {
        "manifest": manifest.hash,
        "parts": manifest.num_parts,
        "bytes": manifest.total_bytes,
        "nodes": manifest.num_nodes,
        "edges": manifest.num_edges,
        "reused": reused,
    }
    return message if manifest.edge_cut is None else dict(message, edgeCut=manifest.edge_cut)
