# SPDX-License-Identifier: Apache-2.0
"""Parts that several pods have made: found again, cleared away, and vouched for by one manifest."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from .. import contract
from ..ending import Refusal
from ..env import Identity
from ..layout import clear_parts
from ..manifest import (
    Manifest,
    ManifestError,
    PartFile,
    load_manifest,
    save_manifest,
    sha256_of,
    verify_files,
)
from .write import config_name, part_files

if TYPE_CHECKING:
    from ..env import Env
    from .mesh import Mesh
    from .plan import Plan

__all__ = ("clear", "found_by_all", "vouched")


def found_by_all(mesh: Mesh, env: Env, folder: str) -> Optional[Dict[str, Any]]:
    """The last words about parts that every process finds whole already, None where they must be made."""
    manifest = None
    if env.maybe(contract.ENV_RETAIN_PARTS) != "0":
        manifest = _usable(
            folder, mesh.rank, Identity(env).job_uid, env.integer(contract.ENV_NUM_PARTS, least=1)
        )
    hashes = mesh.share(None if manifest is None else manifest.hash)
    if manifest is None or any(each != manifest.hash for each in hashes):
        return None
    return _words(manifest, reused=True)


def clear(mesh: Mesh, folder: str) -> bool:
    """Remove what an earlier partitioning left; whether all processes have one and the same folder."""
    os.makedirs(folder, exist_ok=True)
    mark = os.path.join(folder, ".dglrun-%s" % mesh.share(uuid.uuid4().hex)[0])
    if mesh.rank == 0:
        with open(mark, "w", encoding="utf-8"):
            pass
    mesh.share(None)
    shared = mesh.size > 1 and all(mesh.share(os.path.exists(mark)))
    if mesh.rank == 0:
        os.unlink(mark)
    if mesh.rank == 0 or not shared:
        clear_parts(folder)
    mesh.share(None)
    return shared


def vouched(mesh: Mesh, plan: Plan, folder: str, about: Mapping[str, Any], *, shared: bool) -> Dict[str, Any]:
    """The last words about parts that have just been written, of which all processes leave one manifest.

    `about`: job_uid, cut and method. Raises Refusal where not all have the same.
    """
    schema = plan.source.schema
    own = [_file(folder, path, part) for part in plan.own_parts() for path in part_files(part).values()]
    told = mesh.share([[file.path, file.size, file.sha256, file.part] for file in own])
    config = _file(folder, config_name(plan), None) if mesh.rank == 0 or not shared else None
    configs = mesh.share(None if config is None else [config.path, config.size, config.sha256, None])
    files: List[PartFile] = [PartFile(*configs[0])] + [PartFile(*each) for rank in told for each in rank]
    manifest = Manifest(
        unique=mesh.share(uuid.uuid4().hex)[0],
        job_uid=about["job_uid"],
        graph=schema.graph,
        config=config_name(plan),
        num_parts=plan.num_parts,
        part_method=about["method"],
        num_nodes=plan.nodes.total,
        num_edges=plan.edges.total,
        edge_cut=about["cut"],
        files=tuple(files),
    )
    if len(set(mesh.share(manifest.hash))) > 1 or (config is not None and config != files[0]):
        raise Refusal(
            "PartsChanged", contract.EXIT_RETRYABLE, "the Workers disagree about the parts they made"
        )
    if mesh.rank == 0 or not shared:
        save_manifest(folder, manifest)
    # nobody says that it is done before the manifest is where all need it
    mesh.share(None)
    return _words(manifest, reused=False)


def _usable(folder: str, part: int, job_uid: str, num_parts: int) -> Optional[Manifest]:
    try:
        manifest = load_manifest(folder)
        if manifest is None or manifest.job_uid != job_uid or manifest.num_parts != num_parts:
            return None
        verify_files(folder, manifest.of_part(part))
    except (ManifestError, OSError) as error:
        print("the partitioning in %s cannot be used: %s" % (folder, error), flush=True)
        return None
    return manifest


def _file(folder: str, path: str, part: Optional[int]) -> PartFile:
    size, digest = sha256_of(os.path.join(folder, path), sync=True)
    return PartFile(path, size, digest, part)


def _words(manifest: Manifest, *, reused: bool) -> Dict[str, Any]:
    words = {
        "manifest": manifest.hash,
        "parts": manifest.num_parts,
        "bytes": manifest.total_bytes,
        "nodes": manifest.num_nodes,
        "edges": manifest.num_edges,
        "reused": reused,
    }
    return words if manifest.edge_cut is None else dict(words, edgeCut=manifest.edge_cut)
