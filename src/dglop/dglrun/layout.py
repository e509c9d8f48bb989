# SPDX-License-Identifier: Apache-2.0
"""DGL's layout of a partitioned graph on disk, `<graph>.json` and `part*/`: found, checked and cleared."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from . import contract
from .ending import Refusal
from .manifest import inside, load_manifest, sha256_of

__all__ = ("Layout", "LayoutError", "check_latched", "clear_parts", "parts_identity", "read_layout")

_PART_FOLDER = re.compile(r"part[0-9]+\Z")
_PART_KEY = re.compile(r"part-([0-9]+)\Z")


class LayoutError(ValueError):
    """What lies in the parts' folder is no usable partitioning; the text says what is wrong with it."""


@dataclass(frozen=True)
class Layout:
    """DGL's metadata; `files` are (relative path, part or None where every Worker needs it)."""

    graph: str
    config: str
    num_parts: int
    part_method: str
    num_nodes: int
    num_edges: int
    files: Tuple[Tuple[str, Optional[int]], ...]


def read_layout(folder: str, num_parts: Optional[int] = None) -> Layout:
    """Read and check what a partition command left in `folder`.

    Raises LayoutError unless there is exactly one partition config, it has `num_parts` parts (any number
    where None) and every file that it names exists inside `folder`.
    """
    config, data = _the_config(folder)
    try:
        found = int(data["num_parts"])
        layout = Layout(
            graph=str(data["graph_name"]),
            config=config,
            num_parts=found,
            part_method=str(data.get("part_method", "unknown")),
            num_nodes=_total(data["num_nodes"]),
            num_edges=_total(data["num_edges"]),
            files=tuple(_files(folder, config, data, found)),
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError("%s is not a partition config of DGL: %r" % (config, error)) from error
    if num_parts is not None and found != num_parts:
        raise LayoutError(
            "%s has %d parts, the job has %d Workers: pass %s to your partition call as num_parts"
            % (config, found, num_parts, contract.ENV_NUM_PARTS)
        )
    return layout


def clear_parts(folder: str) -> List[str]:
    """Remove what an earlier, unfinished partitioning left, and nothing else; returns what went.

    The manifest goes first, so that no half of a clearing looks like a whole partitioning.
    """
    gone: List[str] = []
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, contract.MANIFEST_FILE))
        gone.append(contract.MANIFEST_FILE)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if _PART_FOLDER.match(name) and os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif _is_config(path) or name in (contract.STATS_FILE, contract.MANIFEST_FILE + ".tmp"):
            os.unlink(path)
        else:
            continue
        gone.append(name)
    return gone


def parts_identity(folder: str, num_parts: int) -> Tuple[str, str]:
    """(hash that the Workers compare, path of the partition config) of the parts in `folder`.

    Parts that were made elsewhere have no manifest: their config's own hash stands in. Raises LayoutError
    also when there are not `num_parts`, ManifestError, OSError.
    """
    manifest = load_manifest(folder)
    if manifest is None:
        path = os.path.join(folder, read_layout(folder, num_parts).config)
        return "config-" + sha256_of(path)[1], path
    if manifest.num_parts != num_parts:
        raise LayoutError("there are %d parts for %d Workers" % (manifest.num_parts, num_parts))
    return manifest.hash, os.path.join(folder, manifest.config)


def check_latched(found: str, latched: Optional[str]) -> None:
    """Raises Refusal (PartsChanged) when the attempt is for other parts than those with hash `found`."""
    if latched is not None and latched != found:
        raise Refusal(
            "PartsChanged",
            contract.EXIT_RETRYABLE,
            "the parts have manifest %s, this attempt is for %s: parts of two partitionings are never mixed"
            % (found, latched),
        )


def _the_config(folder: str) -> Tuple[str, Dict[str, Any]]:
    names = [name for name in sorted(os.listdir(folder)) if _is_config(os.path.join(folder, name))]
    if len(names) != 1:
        raise LayoutError(
            "%s must hold exactly one partition config (<graph>.json), found %s: let your command write "
            "its parts to $%s" % (folder, ", ".join(names) or "none", contract.ENV_PARTS_DIR)
        )
    with open(os.path.join(folder, names[0]), encoding="utf-8") as file:
        return names[0], json.load(file)


def _is_config(path: str) -> bool:
    if not path.endswith(".json") or os.path.basename(path) == contract.MANIFEST_FILE:
        return False
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and "num_parts" in data and "graph_name" in data


def _files(folder: str, config: str, data: Dict[str, Any], num_parts: int) -> List[Tuple[str, Optional[int]]]:
    files: List[Tuple[str, Optional[int]]] = [(config, None)]
    parts = {int(match.group(1)): data[key] for key in data for match in [_PART_KEY.match(key)] if match}
    if sorted(parts) != list(range(num_parts)):
        raise LayoutError("%s says num_parts %d but describes parts %s" % (config, num_parts, sorted(parts)))
    for part in sorted(parts):
        files += [(path, part) for path in sorted(set(_paths(config, parts[part])))]
    for key in ("node_map", "edge_map"):
        # older DGL keeps the maps in .npy files that every Worker loads; newer ones have ranges here
        if isinstance(data.get(key), str):
            files.append((_relative(config, data[key]), None))
    for path, _ in files:
        if not os.path.isfile(os.path.join(folder, path)):
            raise LayoutError("%s names %s, which does not exist" % (config, path))
    return files


def _paths(config: str, part: Any) -> List[str]:
    if isinstance(part, str):
        return [_relative(config, part)]
    if isinstance(part, dict):
        return [path for value in part.values() for path in _paths(config, value)]
    raise LayoutError("%s: a part's file must be a path, not %r" % (config, part))


def _relative(config: str, path: str) -> str:
    if not inside(path):
        raise LayoutError(
            "%s names %r: a path must be relative and stay inside the parts' folder" % (config, path)
        )
    return path


def _total(count: Any) -> int:
    return sum(int(value) for value in count.values()) if isinstance(count, dict) else int(count)
