# SPDX-License-Identifier: Apache-2.0
"""A Worker's part on the claim that all mount: it is read where it is, and must be what was made."""

from __future__ import annotations

from typing import Optional

from . import contract
from .ending import Refusal
from .layout import LayoutError, check_latched, parts_identity
from .manifest import ManifestError, load_manifest, verify_files

__all__ = ("verify_part",)


def verify_part(folder: str, part: Optional[int], num_parts: int, latched: Optional[str]) -> int:
    """Check the files of `part`, None: what all need, against the manifest; how many bytes were checked.

    Parts that were made elsewhere have no manifest: their layout alone is checked, 0 bytes. Raises Refusal.
    """
    try:
        manifest = load_manifest(folder)
        if manifest is None:
            found, _ = parts_identity(folder, num_parts)
            check_latched(found, latched)
            return 0
        check_latched(manifest.hash, latched)
        mine = manifest.of_part(part)
        verify_files(folder, mine)
    except (ManifestError, LayoutError, OSError) as error:
        sentence = "the parts in %s are refused: %s" % (folder, error)
        raise Refusal("PartsCorrupt", contract.EXIT_CORRUPT, sentence) from error
    return sum(file.size for file in mine)
