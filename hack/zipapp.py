# SPDX-License-Identifier: Apache-2.0
"""Builds dglrun.pyz, byte for byte the same from the same sources: `python hack/zipapp.py OUT`."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

__all__ = ("build_zipapp",)

SOURCE = Path(__file__).resolve().parent.parent / "src" / "dglop" / "dglrun"
SHEBANG = b"#!/usr/bin/env python3\n"
MAIN = "import sys\n\nfrom dglrun.cli import main\n\nsys.exit(main(sys.argv[1:]))\n"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest date that zip can say


def build_zipapp(out: Path, source: Path = SOURCE) -> Path:
    """Write the zipapp to `out`, whole or not at all, with the package at the top level as `dglrun`."""
    entries = {"__main__.py": MAIN.encode()}
    for path in sorted(source.rglob("*.py")):
        entries["dglrun/" + path.relative_to(source).as_posix()] = path.read_bytes()
    out.parent.mkdir(parents=True, exist_ok=True)
    half = out.with_name(f"{out.name}.{os.getpid()}.tmp")
    with half.open("wb") as file:
        file.write(SHEBANG)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(entries):
                info = zipfile.ZipInfo(name, EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                info.create_system = 3
                archive.writestr(info, entries[name])
    half.chmod(0o755)
    half.replace(out)
    return out


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    print(build_zipapp(Path(argv[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
